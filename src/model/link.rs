//! How one object names another, in typed structs and in the documents they become. Must never resolve by guessing.

use crate::model::Address;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess, Visitor},
    ser::SerializeMap,
};
use std::fmt;

/// A typed `Desired` or `Observed`, erased.
pub type Doc = serde_json::Value;

const TO: &str = "$link";
const IS: &str = "$id";

/// `To` in a wish, `Is` in a live object and in a wish once it is resolved. Both are leaves of a document:
/// `{"$link": "vpc.main#id"}` and `{"$id": "vpc-0abc"}`, so that dependencies are read from documents of any kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Link {
    To { address: Address, output: String },
    Is(String),
}

impl Link {
    pub fn to(address: &Address, output: &str) -> Self {
        Link::To { address: address.clone(), output: output.to_owned() }
    }

    pub fn is(id: impl Into<String>) -> Self {
        Link::Is(id.into())
    }

    /// The physical value, where it is known. Steps are only applied once every link of their wish is.
    pub fn value(&self) -> Option<&str> {
        match self {
            Link::Is(value) => Some(value),
            Link::To { .. } => None,
        }
    }

    /// What the link names, known or not: the physical value, or the address of what will have it.
    pub fn target(&self) -> &str {
        match self {
            Link::Is(value) => value,
            Link::To { address, .. } => address.as_str(),
        }
    }
}

/// For text only: `vpc-0abc`, or `(vpc.main)` while unknown.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Link::Is(value) => f.write_str(value),
            Link::To { address, .. } => write!(f, "({address})"),
        }
    }
}

impl Serialize for Link {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(1))?;
        match self {
            Link::To { address, output } => map.serialize_entry(TO, &format!("{address}#{output}"))?,
            Link::Is(value) => map.serialize_entry(IS, value)?,
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Link {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct LinkVisitor;
        impl<'de> Visitor<'de> for LinkVisitor {
            type Value = Link;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("{\"$id\": …} or {\"$link\": \"address#output\"}")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Link, A::Error> {
                let (key, value): (String, String) =
                    map.next_entry()?.ok_or_else(|| de::Error::custom("empty link"))?;
                match key.as_str() {
                    IS => Ok(Link::Is(value)),
                    TO => {
                        let (address, output) =
                            split(&value).ok_or_else(|| de::Error::custom("link without address#output"))?;
                        Ok(Link::To { address, output })
                    }
                    _ => Err(de::Error::unknown_field(&key, &[TO, IS])),
                }
            }
        }
        d.deserialize_map(LinkVisitor)
    }
}

fn split(text: &str) -> Option<(Address, String)> {
    let (address, output) = text.split_once('#')?;
    Some((Address::parse(address).ok()?, output.to_owned()))
}

/// Reads a document's node as a link, if it is one.
pub fn as_link(doc: &Doc) -> Option<Link> {
    let map = doc.as_object().filter(|map| map.len() == 1)?;
    if let Some(value) = map.get(IS) {
        return Some(Link::Is(value.as_str()?.to_owned()));
    }
    let (address, output) = split(map.get(TO)?.as_str()?)?;
    Some(Link::To { address, output })
}

/// One unresolved link of a document: where it stands, and what it wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTo {
    pub path: String,
    pub address: Address,
    pub output: String,
}

fn walk(path: &mut String, doc: &Doc, visit: &mut dyn FnMut(&str, Link)) {
    if let Some(link) = as_link(doc) {
        visit(path, link);
        return;
    }
    let mut child = |key: &str, doc: &Doc, path: &mut String| {
        let length = path.len();
        path.push('/');
        path.push_str(key);
        walk(path, doc, visit);
        path.truncate(length);
    };
    match doc {
        Doc::Object(map) => map.iter().for_each(|(key, value)| child(key, value, path)),
        Doc::Array(items) => {
            items.iter().enumerate().for_each(|(i, value)| child(&i.to_string(), value, path));
        }
        _ => {}
    }
}

/// Every unresolved link of a wish, in document order.
pub fn links(doc: &Doc) -> Vec<LinkTo> {
    let mut found = vec![];
    walk(&mut String::new(), doc, &mut |path, link| {
        if let Link::To { address, output } = link {
            found.push(LinkTo { path: path.to_owned(), address, output });
        }
    });
    found
}

/// Every physical value that a live object's projection links to, with its path.
pub fn identifiers(doc: &Doc) -> Vec<(String, String)> {
    let mut found = vec![];
    walk(&mut String::new(), doc, &mut |path, link| {
        if let Link::Is(value) = link {
            found.push((path.to_owned(), value));
        }
    });
    found
}

/// Replaces every `To` whose value `find` knows by `Is`. True when none is left.
pub fn resolve(doc: &mut Doc, find: &dyn Fn(&Address, &str) -> Option<String>) -> bool {
    if let Some(link) = as_link(doc) {
        return match link {
            Link::Is(_) => true,
            Link::To { address, output } => match find(&address, &output) {
                Some(value) => {
                    *doc = serde_json::json!({ IS: value });
                    true
                }
                None => false,
            },
        };
    }
    match doc {
        Doc::Object(map) => map.values_mut().fold(true, |known, value| resolve(value, find) & known),
        Doc::Array(items) => items.iter_mut().fold(true, |known, value| resolve(value, find) & known),
        _ => true,
    }
}
