//! Checks an input against the API model as AWS does: required, enum, pattern, length, range, unknown parameters. Must never
//! check what the model does not say.

use super::{
    Fault,
    form::{self, Form},
    model::{Model, Operation, Protocol, Shape, Type},
};
use regex::Regex;
use serde_json::Value;
use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
};

/// The first violation, in the words and with the code of the service's protocol.
pub fn check(model: &Model, name: &str, operation: &Operation, input: &Value) -> Result<(), Fault> {
    match &operation.input {
        Some(shape) => structure(model, name, model.shape(shape), input, ""),
        None => Ok(()),
    }
}

/// Parameters of a form that the operation does not have. EC2 refuses them; the other query services ignore them.
pub fn names(model: &Model, operation: &Operation, form: &Form) -> Result<(), Fault> {
    if model.protocol != Protocol::Ec2 {
        return Ok(());
    }
    let shape = operation.input.as_deref().map(|name| model.shape(name));
    for name in form.names() {
        let known =
            matches!(name.as_str(), "Action" | "Version") || name.starts_with("X-Amz") || name == "AWSAccessKeyId";
        let member = shape
            .is_some_and(|shape| shape.members.iter().any(|(m, member)| form::wire_name(model, m, member) == name));
        if !known && !member {
            return Err(Fault::new("UnknownParameter", format!("The parameter {name} is not recognized")));
        }
    }
    Ok(())
}

fn structure(model: &Model, operation: &str, shape: &Shape, value: &Value, at: &str) -> Result<(), Fault> {
    for name in &shape.required {
        if value.get(name).is_none_or(Value::is_null) && !carried_elsewhere(shape, name) {
            return Err(missing(model, &format!("{at}{name}")));
        }
    }
    for (name, member) in &shape.members {
        if let Some(value) = value.get(name).filter(|value| !value.is_null()) {
            self::value(model, operation, model.shape(&member.shape), value, &format!("{at}{name}"))?;
        }
    }
    Ok(())
}

/// Streaming bodies are not in the document.
fn carried_elsewhere(shape: &Shape, name: &str) -> bool {
    shape.payload.as_deref() == Some(name)
}

fn value(model: &Model, operation: &str, shape: &Shape, value: &Value, at: &str) -> Result<(), Fault> {
    match (shape.r#type, value) {
        (Type::Structure, Value::Object(_)) => structure(model, operation, shape, value, &format!("{at}.")),
        (Type::List, Value::Array(items)) => {
            size(model, shape, items.len() as f64, at)?;
            let item = shape.member.as_ref().expect("a list shape names its member");
            for (i, value) in items.iter().enumerate() {
                self::value(model, operation, model.shape(&item.shape), value, &format!("{at}.{}", i + 1))?;
            }
            Ok(())
        }
        (Type::Map, Value::Object(entries)) => {
            size(model, shape, entries.len() as f64, at)?;
            let (key, of) = (shape.key.as_ref(), shape.value.as_ref());
            for (name, value) in entries {
                if let Some(key) = key {
                    self::value(model, operation, model.shape(&key.shape), &Value::String(name.clone()), at)?;
                }
                if let Some(of) = of {
                    self::value(model, operation, model.shape(&of.shape), value, &format!("{at}.{name}"))?;
                }
            }
            Ok(())
        }
        (Type::Structure | Type::List | Type::Map, _) => Err(invalid(model, at, "has the wrong type")),
        (Type::String | Type::Character, Value::String(text)) => {
            if !shape.r#enum.is_empty() && !shape.r#enum.contains(text) {
                return Err(invalid(model, at, &format!("`{text}` is not one of: {}", shape.r#enum.join(", "))));
            }
            size(model, shape, text.chars().count() as f64, at)?;
            match &shape.pattern {
                Some(pattern) if !matches(pattern, text) => {
                    Err(invalid(model, at, &format!("`{text}` does not match the pattern {pattern}")))
                }
                _ => Ok(()),
            }
        }
        (Type::Integer | Type::Long | Type::Float | Type::Double, Value::Number(number)) => {
            size(model, shape, number.as_f64().unwrap_or_default(), at)
        }
        (Type::Boolean, Value::Bool(_)) | (Type::Blob | Type::Timestamp, _) => Ok(()),
        _ => Err(invalid(model, at, "has the wrong type")),
    }
}

fn size(model: &Model, shape: &Shape, size: f64, at: &str) -> Result<(), Fault> {
    if shape.min.is_some_and(|min| size < min) {
        return Err(invalid(model, at, &format!("is below the minimum of {}", shape.min.unwrap_or_default())));
    }
    if shape.max.is_some_and(|max| size > max) {
        return Err(invalid(model, at, &format!("is above the maximum of {}", shape.max.unwrap_or_default())));
    }
    Ok(())
}

fn missing(model: &Model, at: &str) -> Fault {
    match model.protocol {
        Protocol::Ec2 => Fault::new("MissingParameter", format!("The request must contain the parameter {at}")),
        Protocol::Query => {
            Fault::new("ValidationError", format!("1 validation error detected: Value at '{at}' must not be null"))
        }
        Protocol::RestXml => Fault::new("InvalidRequest", format!("Missing required parameter: {at}")),
        _ => {
            Fault::new(validation_code(model), format!("1 validation error detected: Value at '{at}' must not be null"))
        }
    }
}

fn invalid(model: &Model, at: &str, why: &str) -> Fault {
    match model.protocol {
        Protocol::Ec2 => Fault::new("InvalidParameterValue", format!("Value for parameter {at} is invalid: {why}")),
        Protocol::Query => Fault::new("ValidationError", format!("1 validation error detected: Value at '{at}' {why}")),
        Protocol::RestXml => Fault::new("InvalidArgument", format!("{at} {why}")),
        _ => Fault::new(validation_code(model), format!("1 validation error detected: Value at '{at}' {why}")),
    }
}

fn validation_code(model: &Model) -> &'static str {
    match model.signing_name.as_str() {
        "eks" => "InvalidParameterException",
        "fsx" => "BadRequest",
        "servicequotas" => "IllegalArgumentException",
        "logs" => "InvalidParameterException",
        _ => "ValidationException",
    }
}

/// Compiled patterns. One that this expression engine can't compile (look-ahead) is not checked; a test counts them.
static PATTERNS: LazyLock<Mutex<HashMap<String, Option<Regex>>>> = LazyLock::new(Mutex::default);

fn matches(pattern: &str, text: &str) -> bool {
    let mut patterns = PATTERNS.lock().unwrap_or_else(PoisonError::into_inner);
    let compiled = patterns.entry(pattern.to_owned()).or_insert_with(|| compile(pattern));
    compiled.as_ref().is_none_or(|regex| regex.is_match(text))
}

/// The whole text must match, whatever anchors the model writes.
pub(super) fn compile(pattern: &str) -> Option<Regex> {
    Regex::new(&format!("^(?s:{pattern})$")).ok()
}
