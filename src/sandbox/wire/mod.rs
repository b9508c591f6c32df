//! AWS's wire protocols by model: reads a request into a document, checks it against AWS's own API model, and builds the
//! answer from it. Must never know what an operation does.

mod answer;
mod check;
mod form;
mod model;
mod read;
mod rest;
mod xml;

pub use answer::{answer, refuse};
pub use model::{Model, Models, Operation, Protocol, Shape, models};
pub use read::{Call, read};

use serde_json::Value;

/// How a call fails: AWS's code, its message, and the HTTP status that carries them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Fault {
    pub code: String,
    pub message: String,
    pub status: u16,
    /// Members of the error beside its message, by the model's names.
    pub details: Vec<(String, Value)>,
    /// Headers that travel with it: the region of a bucket, when to come again.
    pub headers: Vec<(String, String)>,
}

impl Fault {
    /// A mistake of the caller: HTTP 400.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), status: 400, details: vec![], headers: vec![] }
    }

    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.push((name.to_owned(), value.into()));
        self
    }

    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}
