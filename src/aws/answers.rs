//! How answers of AWS are read, whatever the service: what must be in them, and what absence means. Must never take an error
//! for absence.

use crate::contract::{Class, CloudError};

/// A member that AWS always sends, although its model does not say so.
pub fn field<T>(call: &str, name: &str, value: Option<T>) -> Result<T, CloudError> {
    value.ok_or_else(|| unreadable(call, &format!("the answer has no {name}")))
}

/// A member that is text in the model, and has a form of its own.
pub fn parsed<T: std::str::FromStr>(call: &str, name: &str, value: Option<String>) -> Result<T, CloudError> {
    let text = field(call, name, value)?;
    text.parse().map_err(|_| unreadable(call, &format!("{text:?} is no {name}")))
}

fn unreadable(call: &str, message: &str) -> CloudError {
    CloudError::new(call, Class::Unknown, "UnreadableAnswer", message)
}

/// AWS's counts are signed, and never negative.
pub fn count(n: Option<i32>) -> u32 {
    n.and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
}

/// The answer of a call about one object; `None` where AWS says that it does not exist.
pub fn found<T>(answer: Result<T, CloudError>) -> Result<Option<T>, CloudError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.class == Class::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The outcome of a deletion: what does not exist is deleted.
pub fn deleted<T>(answer: Result<T, CloudError>) -> Result<(), CloudError> {
    found(answer).map(drop)
}

/// The answer to making or changing what only AWS and controllers make.
pub fn byproduct<T>(kind: &'static str) -> Result<T, CloudError> {
    let message = format!("a {kind} is made by AWS or by a controller; it is only looked at and deleted");
    Err(CloudError::new(kind, Class::Unsupported, "Byproduct", message))
}
