//! One call as a handler sees it. Must never be changed by a handler.

use crate::sandbox::wire::Fault;
use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;

#[derive(Debug)]
pub struct Context<'a> {
    pub service: &'a str,
    pub operation: &'a str,
    /// Of the signature; the partition's own for services without regions.
    pub region: &'a str,
    pub request_id: &'a str,
    pub access_key: Option<&'a str>,
    /// Members by the model's names, checked against the model.
    pub input: &'a Value,
    /// The streaming body, where the operation has one.
    pub body: &'a Bytes,
    pub headers: &'a HeaderMap,
}

impl<'a> Context<'a> {
    /// A text member.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.input.get(name)?.as_str()
    }

    /// A text member that the model requires.
    pub fn required(&self, name: &str) -> Result<&'a str, Fault> {
        self.text(name)
            .ok_or_else(|| Fault::new("MissingParameter", format!("The request must contain the parameter {name}")))
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        self.input.get(name)?.as_bool()
    }

    pub fn number(&self, name: &str) -> Option<i64> {
        self.input.get(name)?.as_i64()
    }

    pub fn list(&self, name: &str) -> &'a [Value] {
        self.input.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The texts of a list member.
    pub fn texts(&self, name: &str) -> Vec<String> {
        super::texts(self.input.get(name))
    }

    /// What AWS says of an action that the service does not have.
    pub fn unknown_action(&self) -> Fault {
        Fault::new("InvalidAction", format!("The action {} is not valid for this web service.", self.operation))
    }
}

/// What a handler gives back.
#[derive(Debug, Default)]
pub struct Output {
    /// Members by the model's names; timestamps as seconds since 1970.
    pub value: Value,
    /// The streaming body, where the operation has one.
    pub body: Bytes,
}

impl From<Value> for Output {
    fn from(value: Value) -> Self {
        Self { value, body: Bytes::new() }
    }
}
