//! How a call to a cloud fails, in words that decide what happens next. Must never be turned into "nothing there".

use crate::contract::ShapeError;
use serde::{Deserialize, Serialize};

/// What a failure means for the caller. A function of operation, code and message: the same code can mean "try again"
/// in a create and "done" in a delete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Class {
    /// Too many requests; the adapter has already retried.
    Throttled,
    /// Something this call needs is made but not visible yet (a new role, a new group).
    NotYet,
    /// The object of the call does not exist.
    NotFound,
    /// The name is taken, or the same create was done before with other parameters.
    AlreadyExists,
    /// Something else still leans on the object.
    InUse,
    /// Another change of the same object is running.
    Conflict,
    Denied,
    /// A service quota is used up.
    Quota,
    /// AWS has no such capacity right now.
    NoCapacity,
    Invalid,
    /// The service or the network failed.
    Outage,
    /// The credentials expired.
    Expired,
    /// The endpoint does not know the operation.
    Unsupported,
    Unknown,
}

/// What a failed call may have left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Residue {
    Nothing,
    /// The answer was lost: the object may exist, and the next look finds it by tag or name.
    MayExist,
}

/// `{call}: {code}: {message} (request {request_id})`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error, schemars::JsonSchema)]
#[error("{call}: {code}: {message}{}", self.request())]
pub struct CloudError {
    /// The AWS operation, like `ec2:CreateVpc`.
    pub call: String,
    pub class: Class,
    /// The code as AWS spells it.
    pub code: String,
    pub message: String,
    pub request_id: Option<String>,
    pub residue: Residue,
}

impl CloudError {
    pub fn new(call: &str, class: Class, code: &str, message: impl Into<String>) -> Self {
        Self {
            call: call.to_owned(),
            class,
            code: code.to_owned(),
            message: message.into(),
            request_id: None,
            residue: Residue::Nothing,
        }
    }

    fn request(&self) -> String {
        self.request_id.as_ref().map(|id| format!(" (request {id})")).unwrap_or_default()
    }
}

/// A document that does not fit its kind reached a call: a fault of the program or of a saved file, not of the cloud.
impl From<ShapeError> for CloudError {
    fn from(error: ShapeError) -> Self {
        Self::new(error.kind, Class::Invalid, "Misshapen", error.message)
    }
}
