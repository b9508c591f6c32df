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
                        Ok(Link::from(LinkRef::To { address, output }))
                    }
                    _ => Err(de::Error::unknown_field(&key, &[TO, IS])),
                }
            }
        }
        d.deserialize_map(LinkVisitor)
    }
}

/// A link where it stands in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkRef<'a> {
    /// `address` is the text of an [`Address`].
    To {
        address: &'a str,
        output: &'a str,
    },
    Is(&'a str),
}

impl<'a> LinkRef<'a> {
    /// Reads a document's node as a link, if it is one.
    pub fn of(doc: &'a Doc) -> Option<Self> {
        let map = doc.as_object().filter(|map| map.len() == 1)?;
        let (key, value) = map.iter().next()?;
        match key.as_str() {
            IS => Some(LinkRef::Is(value.as_str()?)),
            TO => split(value.as_str()?).map(|(address, output)| LinkRef::To { address, output }),
            _ => None,
        }
    }
}

impl From<LinkRef<'_>> for Link {
    fn from(link: LinkRef<'_>) -> Self {
        match link {
            LinkRef::Is(value) => Link::Is(value.to_owned()),
            LinkRef::To { address, output } => Link::To { address: known(address), output: output.to_owned() },
        }
    }
}

fn known(address: &str) -> Address {
    Address::parse(address).expect("a link is only split where its address is one")
}

fn split(text: &str) -> Option<(&str, &str)> {
    let (address, output) = text.split_once('#')?;
    let (kind, name) = address.split_once('.')?;
    (!kind.is_empty() && !name.is_empty()).then_some((address, output))
}

/// Reads a document's node as a link, if it is one.
pub fn as_link(doc: &Doc) -> Option<Link> {
    LinkRef::of(doc).map(Link::from)
}

/// One unresolved link of a document: where it stands, and what it wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTo {
    pub path: String,
    pub address: Address,
    pub output: String,
}

/// Shows every link of a document with its path, in document order.
pub fn each_link<'a>(doc: &'a Doc, visit: &mut dyn FnMut(&str, LinkRef<'a>)) {
    fn walk<'a>(path: &mut String, doc: &'a Doc, visit: &mut dyn FnMut(&str, LinkRef<'a>)) {
        if let Some(link) = LinkRef::of(doc) {
            visit(path, link);
            return;
        }
        let length = path.len();
        match doc {
            Doc::Object(map) => {
                for (key, value) in map {
                    path.push('/');
                    path.push_str(key);
                    walk(path, value, visit);
                    path.truncate(length);
                }
            }
            Doc::Array(items) => {
                for (i, value) in items.iter().enumerate() {
                    path.push('/');
                    path.push_str(&i.to_string());
                    walk(path, value, visit);
                    path.truncate(length);
                }
            }
            _ => {}
        }
    }
    walk(&mut String::new(), doc, visit);
}

/// Every unresolved link of a wish, in document order.
pub fn links(doc: &Doc) -> Vec<LinkTo> {
    let mut found = vec![];
    each_link(doc, &mut |path, link| {
        if let LinkRef::To { address, output } = link {
            found.push(LinkTo { path: path.to_owned(), address: known(address), output: output.to_owned() });
        }
    });
    found
}

/// Every physical value that a live object's projection links to, with its path.
pub fn identifiers(doc: &Doc) -> Vec<(String, String)> {
    let mut found = vec![];
    each_link(doc, &mut |path, link| {
        if let LinkRef::Is(value) = link {
            found.push((path.to_owned(), value.to_owned()));
        }
    });
    found
}

/// True when a wish, every link of it resolved by `find`, is the live document.
pub fn meets<'v>(want: &Doc, live: &Doc, find: &dyn Fn(&str, &str) -> Option<&'v str>) -> bool {
    if let Some(LinkRef::To { address, output }) = LinkRef::of(want) {
        return matches!(LinkRef::of(live), Some(LinkRef::Is(value)) if find(address, output) == Some(value));
    }
    match (want, live) {
        (Doc::Object(want), Doc::Object(live)) => {
            want.len() == live.len() && want.iter().zip(live).all(|((k, w), (l, v))| k == l && meets(w, v, find))
        }
        (Doc::Array(want), Doc::Array(live)) => {
            want.len() == live.len() && want.iter().zip(live).all(|(w, v)| meets(w, v, find))
        }
        _ => want == live,
    }
}

/// Replaces every `To` whose value `find` knows by `Is`. True when none is left.
pub fn resolve(doc: &mut Doc, find: &dyn Fn(&Address, &str) -> Option<String>) -> bool {
    match LinkRef::of(doc) {
        Some(LinkRef::Is(_)) => return true,
        Some(LinkRef::To { address, output }) => {
            let value = find(&known(address), output);
            return value.is_some_and(|value| {
                *doc = serde_json::json!({ IS: value });
                true
            });
        }
        None => {}
    }
    match doc {
        Doc::Object(map) => map.values_mut().fold(true, |known, value| resolve(value, find) & known),
        Doc::Array(items) => items.iter_mut().fold(true, |known, value| resolve(value, find) & known),
        _ => true,
    }
}
