//! Where an object stands in a stack: `kind.name`. Must never hold an AWS id.

use serde::{Deserialize, Serialize};
use std::{borrow::Borrow, fmt};

/// `subnet.private-usw2-az2`: the kind, a dot, and a name that is unique among objects of that kind in the stack.
///
/// It is the value of the tag `infer-stack/resource` and the key of every plan, so it never changes once released.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(with = "String")]
#[serde(try_from = "String", into = "String")]
pub struct Address(String);

/// Text that is no address.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not an address: expected `kind.name`, like `vpc.main`")]
pub struct NotAnAddress(String);

impl Address {
    pub fn new(kind: &str, name: &str) -> Self {
        Self(format!("{kind}.{name}"))
    }

    pub fn parse(text: &str) -> Result<Self, NotAnAddress> {
        match text.split_once('.') {
            Some((kind, name)) if !kind.is_empty() && !name.is_empty() => Ok(Self(text.to_owned())),
            _ => Err(NotAnAddress(text.to_owned())),
        }
    }

    pub fn kind(&self) -> &str {
        self.0.split_once('.').map_or("", |(kind, _)| kind)
    }

    pub fn name(&self) -> &str {
        self.0.split_once('.').map_or("", |(_, name)| name)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Maps by address are asked by its text too.
impl Borrow<str> for Address {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Address {
    type Error = NotAnAddress;
    fn try_from(text: String) -> Result<Self, NotAnAddress> {
        Self::parse(&text)
    }
}

impl From<Address> for String {
    fn from(address: Address) -> String {
        address.0
    }
}
