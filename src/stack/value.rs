//! Values of a file once each has the shape its table asks for, and where they stand. Must never hold a value that was refused.

use super::diagnostic::Place;
use super::shape::Object;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(super) enum Value {
    Bool(bool),
    Whole(u64),
    Number(f64),
    /// Texts and words.
    Text(String),
    List(Vec<Value>),
    Object(Fields),
    Map(BTreeMap<String, Value>),
    Json(serde_json::Value),
    /// Refused and reported; keeps its place in a list.
    Broken,
}

/// The fields of one object that are there and sound.
pub(super) struct Fields {
    object: &'static Object,
    values: BTreeMap<&'static str, Value>,
}

impl std::fmt::Debug for Fields {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_map().entries(&self.values).finish()
    }
}

impl Fields {
    pub fn new(object: &'static Object) -> Self {
        Self { object, values: BTreeMap::new() }
    }

    pub fn set(&mut self, key: &'static str, value: Value) {
        self.values.insert(key, value);
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        debug_assert!(self.object.field(key).is_some(), "{} has no field {key}", self.object.name);
        self.values.get(key)
    }

    pub fn bool(&self, key: &str) -> Option<bool> {
        match self.get(key)? {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        match self.get(key)? {
            Value::Number(value) => Some(*value),
            _ => None,
        }
    }

    pub fn whole<T: TryFrom<u64>>(&self, key: &str) -> Option<T> {
        self.get(key)?.whole()
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    pub fn owned(&self, key: &str) -> Option<String> {
        self.text(key).map(str::to_owned)
    }

    pub fn word<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.get(key)?.word()
    }

    pub fn object(&self, key: &str) -> Option<&Fields> {
        match self.get(key)? {
            Value::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// Items of a list; an absent list is `None`, an empty one is empty.
    pub fn list(&self, key: &str) -> Option<&[Value]> {
        match self.get(key)? {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn objects(&self, key: &str) -> impl Iterator<Item = &Fields> {
        self.list(key).into_iter().flatten().filter_map(|item| match item {
            Value::Object(fields) => Some(fields),
            _ => None,
        })
    }

    pub fn texts(&self, key: &str) -> Option<Vec<String>> {
        self.list(key).map(|items| items.iter().filter_map(Value::text).map(str::to_owned).collect())
    }

    pub fn words<T: DeserializeOwned>(&self, key: &str) -> Option<Vec<T>> {
        self.list(key).map(|items| items.iter().filter_map(Value::word).collect())
    }

    pub fn map(&self, key: &str) -> impl Iterator<Item = (&String, &Value)> {
        match self.get(key) {
            Some(Value::Map(entries)) => Some(entries.iter()).into_iter().flatten(),
            _ => None.into_iter().flatten(),
        }
    }

    pub fn text_map(&self, key: &str) -> BTreeMap<String, String> {
        self.map(key).filter_map(|(key, value)| Some((key.clone(), value.text()?.to_owned()))).collect()
    }
}

impl Value {
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn whole<T: TryFrom<u64>>(&self) -> Option<T> {
        match self {
            Value::Whole(value) => T::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The variant of a [`super::Spec`] enum that is spelt like the word.
    pub fn word<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_value(self.text()?.into()).ok()
    }
}

/// Where everything of a document stands, by JSON pointer: `/nodeClasses/1/efa`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places(pub(super) BTreeMap<String, Place>);

impl Places {
    /// The place of a path, or of the nearest part of the file that holds it: a default has its parent's place.
    pub fn of(&self, path: &str) -> Place {
        let mut path = path;
        loop {
            if let Some(place) = self.0.get(path) {
                return *place;
            }
            match path.rfind('/') {
                Some(at) => path = &path[..at],
                None => return Place { line: 1, column: 1, start: 0, end: 0 },
            }
        }
    }

    /// True for what the file itself says.
    pub fn says(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }
}

/// Paths whose values were refused, so that no rule judges what stands in for them.
#[derive(Debug, Default)]
pub(super) struct Broken(pub BTreeSet<String>);

impl Broken {
    /// True when something at the path, inside it or around it was refused.
    pub fn touches(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        self.0.contains(path)
            || self.0.range(inside.clone()..).next().is_some_and(|broken| broken.starts_with(&inside))
            || path.match_indices('/').any(|(at, _)| self.0.contains(&path[..at]))
    }
}

/// One more step of a JSON pointer (RFC 6901).
pub(super) fn join(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}
