//! Form-encoded requests (the `query` and `ec2` protocols) as documents. Must never guess: names come from the model.

use super::{
    Fault,
    model::{Member, Model, Protocol, Shape, Type},
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// `A.1.B=x` as a tree. Keys that are numbers sort as numbers.
#[derive(Debug, Default)]
pub struct Form {
    value: Option<String>,
    children: BTreeMap<Key, Form>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Index(u32),
    Name(String),
}

impl Key {
    fn of(text: &str) -> Self {
        text.parse().map_or_else(|_| Key::Name(text.to_owned()), Key::Index)
    }
}

impl Form {
    pub fn parse(body: &[u8]) -> Self {
        let mut root = Form::default();
        for (name, value) in form_urlencoded::parse(body) {
            let mut node = &mut root;
            for part in name.split('.') {
                node = node.children.entry(Key::of(part)).or_default();
            }
            node.value = Some(value.into_owned());
        }
        root
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.child(name)?.value.as_deref()
    }

    fn child(&self, name: &str) -> Option<&Form> {
        let mut node = self;
        for part in name.split('.') {
            node = node.children.get(&Key::of(part))?;
        }
        Some(node)
    }

    /// Names at the top, in order.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.children.keys().map(|key| match key {
            Key::Index(i) => i.to_string(),
            Key::Name(name) => name.clone(),
        })
    }

    fn items(&self) -> impl Iterator<Item = &Form> {
        self.children.iter().filter(|(key, _)| matches!(key, Key::Index(_))).map(|(_, form)| form)
    }
}

/// The name under which a member travels.
pub fn wire_name(model: &Model, name: &str, member: &Member) -> String {
    match model.protocol {
        Protocol::Ec2 => member
            .query_name
            .clone()
            .or_else(|| member.location_name.as_deref().map(capitalized))
            .unwrap_or_else(|| capitalized(name)),
        _ => member.location_name.clone().unwrap_or_else(|| name.to_owned()),
    }
}

fn capitalized(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Reads a structure's members from a form.
pub fn structure(model: &Model, shape: &Shape, form: &Form) -> Result<Map<String, Value>, Fault> {
    let mut out = Map::new();
    for (name, member) in &shape.members {
        let wire = wire_name(model, name, member);
        if let Some(child) = form.child(&list_name(model, &wire, member))
            && let Some(value) = value(model, member, child)?
        {
            out.insert(name.clone(), value);
        }
    }
    Ok(out)
}

/// A flattened list of the `query` protocol travels under its items' name.
fn list_name(model: &Model, wire: &str, member: &Member) -> String {
    let shape = model.shape(&member.shape);
    let flattened = shape.flattened || member.flattened;
    match (&shape.member, model.protocol) {
        (Some(item), Protocol::Query) if flattened => item.location_name.clone().unwrap_or_else(|| wire.to_owned()),
        _ => wire.to_owned(),
    }
}

fn value(model: &Model, member: &Member, form: &Form) -> Result<Option<Value>, Fault> {
    let shape = model.shape(&member.shape);
    Ok(match shape.r#type {
        Type::Structure => Some(Value::Object(structure(model, shape, form)?)),
        Type::List => {
            let item = shape.member.as_ref().expect("a list shape names its member");
            let flat = model.protocol == Protocol::Ec2 || shape.flattened || member.flattened;
            let items = if flat { Some(form) } else { form.child(item.location_name.as_deref().unwrap_or("member")) };
            let Some(items) = items else { return Ok(Some(Value::Array(vec![]))) };
            let values: Result<Vec<Option<Value>>, Fault> =
                items.items().map(|form| value(model, item, form)).collect();
            Some(Value::Array(values?.into_iter().flatten().collect()))
        }
        Type::Map => {
            let (key, of) = (shape.key.as_ref(), shape.value.as_ref());
            let entries = if shape.flattened || member.flattened { Some(form) } else { form.child("entry") };
            let mut out = Map::new();
            for entry in entries.into_iter().flat_map(Form::items) {
                let key_name = key.and_then(|k| k.location_name.as_deref()).unwrap_or("key");
                let value_name = of.and_then(|v| v.location_name.as_deref()).unwrap_or("value");
                if let (Some(key), Some(of), Some(form)) = (entry.get(key_name), of, entry.child(value_name))
                    && let Some(value) = value(model, of, form)?
                {
                    out.insert(key.to_owned(), value);
                }
            }
            Some(Value::Object(out))
        }
        _ => form.value.as_deref().map(|text| scalar(shape, text)).transpose()?,
    })
}

/// A scalar's text in the type that the model gives it.
pub fn scalar(shape: &Shape, text: &str) -> Result<Value, Fault> {
    let wrong = |what: &str| Fault::new("MalformedInput", format!("`{text}` is not {what}"));
    Ok(match shape.r#type {
        Type::Integer | Type::Long => Value::from(text.parse::<i64>().map_err(|_| wrong("an integer"))?),
        Type::Float | Type::Double => Value::from(text.parse::<f64>().map_err(|_| wrong("a number"))?),
        Type::Boolean => match text {
            "true" | "True" | "1" => Value::Bool(true),
            "false" | "False" | "0" => Value::Bool(false),
            _ => return Err(wrong("a boolean")),
        },
        _ => Value::String(text.to_owned()),
    })
}
