//! XML as the models describe it, both ways. Must never emit text unescaped.

use super::{
    Fault,
    model::{Member, Model, Shape, Type},
};
use quick_xml::{Reader, escape::escape, events::Event};
use serde_json::{Map, Value};
use std::fmt::Write;

/// Writes a structure's members that stand in the body.
pub fn members(model: &Model, shape: &Shape, value: &Value, out: &mut String) {
    for (name, member) in &shape.members {
        if member.location.is_none()
            && !member.xml_attribute
            && let Some(value) = value.get(name).filter(|value| !value.is_null())
        {
            element(model, member.location_name.as_deref().unwrap_or(name), member, value, out);
        }
    }
}

fn element(model: &Model, name: &str, member: &Member, value: &Value, out: &mut String) {
    let shape = model.shape(&member.shape);
    match (shape.r#type, value) {
        (Type::List, Value::Array(items)) => {
            let item = shape.member.as_ref().expect("a list shape names its member");
            if shape.flattened || member.flattened {
                items.iter().for_each(|value| element(model, name, item, value, out));
            } else {
                let item_name = item.location_name.as_deref().unwrap_or("member");
                let _ = write!(out, "<{name}>");
                items.iter().for_each(|value| element(model, item_name, item, value, out));
                let _ = write!(out, "</{name}>");
            }
        }
        (Type::Map, Value::Object(entries)) => {
            let (key, of) = (shape.key.as_ref(), shape.value.as_ref().expect("a map shape names its value"));
            let key_name = key.and_then(|key| key.location_name.as_deref()).unwrap_or("key");
            let value_name = of.location_name.as_deref().unwrap_or("value");
            let _ = write!(out, "<{name}>");
            for (key, value) in entries {
                let _ = write!(out, "<entry><{key_name}>{}</{key_name}>", escape(key));
                element(model, value_name, of, value, out);
                out.push_str("</entry>");
            }
            let _ = write!(out, "</{name}>");
        }
        (Type::Structure, value) => {
            let _ = write!(out, "<{name}");
            if let Some(namespace) = member.xml_namespace.as_ref().or(shape.xml_namespace.as_ref()) {
                let _ = write!(out, " xmlns=\"{}\"", escape(namespace.uri()));
            }
            for (attribute, member) in shape.members.iter().filter(|(_, member)| member.xml_attribute) {
                if let Some(value) = value.get(attribute) {
                    let name = member.location_name.as_deref().unwrap_or(attribute);
                    let _ = write!(out, " {name}=\"{}\"", escape(text(shape, member, value)));
                }
            }
            out.push('>');
            members(model, shape, value, out);
            let _ = write!(out, "</{name}>");
        }
        (_, value) => {
            let _ = write!(out, "<{name}>{}</{name}>", escape(text(shape, member, value)));
        }
    }
}

/// A scalar's text. Timestamps are seconds since 1970 in our documents.
fn text(shape: &Shape, member: &Member, value: &Value) -> String {
    if shape.r#type == Type::Timestamp
        && let Some(seconds) = value.as_f64()
    {
        let format = member.timestamp_format.as_deref().or(shape.timestamp_format.as_deref());
        return timestamp(seconds, format.unwrap_or("iso8601"));
    }
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// `iso8601`, `rfc822` or `unixTimestamp`.
pub fn timestamp(seconds: f64, format: &str) -> String {
    let time = jiff::Timestamp::from_millisecond((seconds * 1000.0) as i64).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    match format {
        "rfc822" => time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string(),
        "unixTimestamp" => seconds.to_string(),
        _ => time.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string(),
    }
}

/// Reads a document's root element by a shape.
pub fn read(model: &Model, shape: &Shape, body: &[u8]) -> Result<Value, Fault> {
    let root = tree(body)?;
    Ok(Value::Object(structure(model, shape, &root)?))
}

struct Node {
    name: String,
    text: String,
    children: Vec<Node>,
}

/// Nesting of a request's document: far above what any AWS shape has.
const DEEPEST: usize = 64;

fn tree(body: &[u8]) -> Result<Node, Fault> {
    let malformed =
        |why: String| Fault::new("MalformedXML", format!("The XML you provided was not well-formed: {why}"));
    let mut reader = Reader::from_reader(body);
    let mut open = vec![Node { name: String::new(), text: String::new(), children: vec![] }];
    let node =
        |name: &[u8]| Node { name: String::from_utf8_lossy(name).into_owned(), text: String::new(), children: vec![] };
    loop {
        let event = reader.read_event().map_err(|e| malformed(e.to_string()))?;
        let depth = open.len();
        let top = open.last_mut().expect("the document's own node is never closed");
        match event {
            Event::Start(start) if depth > DEEPEST => {
                return Err(malformed(format!(
                    "{} is nested too deeply",
                    String::from_utf8_lossy(start.name().as_ref())
                )));
            }
            Event::Start(start) => open.push(node(start.local_name().as_ref())),
            Event::Empty(start) => top.children.push(node(start.local_name().as_ref())),
            Event::End(_) => {
                let closed =
                    open.pop().filter(|_| !open.is_empty()).ok_or_else(|| malformed("an end too many".into()))?;
                open.last_mut().expect("checked").children.push(closed);
            }
            Event::Text(text) => top.text.push_str(&text.decode().map_err(|e| malformed(e.to_string()))?),
            Event::CData(text) => top.text.push_str(&String::from_utf8_lossy(&text)),
            Event::GeneralRef(reference) => {
                let name = String::from_utf8_lossy(&reference).into_owned();
                let text = quick_xml::escape::unescape(&format!("&{name};"))
                    .map_err(|e| malformed(e.to_string()))?
                    .into_owned();
                top.text.push_str(&text);
            }
            Event::Eof => break,
            _ => {}
        }
    }
    let mut document =
        open.pop().filter(|_| open.is_empty()).ok_or_else(|| malformed("an element is not closed".into()))?;
    document.children.pop().ok_or_else(|| malformed("it is empty".into()))
}

fn structure(model: &Model, shape: &Shape, node: &Node) -> Result<Map<String, Value>, Fault> {
    let mut out = Map::new();
    for (name, member) in shape.members.iter().filter(|(_, member)| member.location.is_none()) {
        let wire = member.location_name.as_deref().unwrap_or(name);
        let of = model.shape(&member.shape);
        let mut found = node.children.iter().filter(|child| child.name == wire).peekable();
        if found.peek().is_none() {
            continue;
        }
        let read = if of.r#type == Type::List && (of.flattened || member.flattened) {
            let item = of.member.as_ref().expect("a list shape names its member");
            Value::Array(found.map(|node| value(model, item, node)).collect::<Result<_, _>>()?)
        } else {
            value(model, member, found.next().expect("peeked"))?
        };
        out.insert(name.clone(), read);
    }
    Ok(out)
}

fn value(model: &Model, member: &Member, node: &Node) -> Result<Value, Fault> {
    let shape = model.shape(&member.shape);
    Ok(match shape.r#type {
        Type::Structure => Value::Object(structure(model, shape, node)?),
        Type::List => {
            let item = shape.member.as_ref().expect("a list shape names its member");
            Value::Array(node.children.iter().map(|child| value(model, item, child)).collect::<Result<_, _>>()?)
        }
        _ => super::form::scalar(shape, node.text.trim())?,
    })
}
