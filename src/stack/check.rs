//! A tree against the table of shapes: every field known, every value of its type. Must never judge two fields together.

use super::diagnostic::{Diagnostic, Diagnostics, Place};
use super::scalar::{self, Wrong};
use super::shape::{Field, Object, STACK, Shape};
use super::suggest;
use super::tree::{Entry, Kind, Node};
use super::value::{Broken, Fields, Places, Value, join};
use std::collections::BTreeMap;

pub(super) struct Checked {
    pub root: Fields,
    pub places: Places,
    pub broken: Broken,
}

pub(super) fn document(root: &Node, found: &mut Diagnostics) -> Checked {
    let mut checker = Checker { found, places: Places::default(), broken: Broken::default() };
    checker.places.0.insert(String::new(), root.place);
    let fields = match &root.kind {
        Kind::Map(entries) => checker.object(&STACK, entries, root.place, ""),
        _ => {
            checker.found.push(
                Diagnostic::error("wrong-type", root.place, "this is no stack file", "expected `key: value` lines")
                    .note("a commented one to start from: infer-stack init"),
            );
            checker.broken.0.insert(String::new());
            Fields::new(&STACK)
        }
    };
    Checked { root: fields, places: checker.places, broken: checker.broken }
}

/// A single value against its shape, for values that stand in no file.
#[cfg(test)]
pub(super) fn value(shape: &'static Shape, node: &Node, found: &mut Diagnostics) {
    Checker { found, places: Places::default(), broken: Broken::default() }.value(shape, node, "", "example");
}

struct Checker<'a> {
    found: &'a mut Diagnostics,
    places: Places,
    broken: Broken,
}

impl Checker<'_> {
    fn object(&mut self, object: &'static Object, entries: &[Entry], place: Place, path: &str) -> Fields {
        let mut fields = Fields::new(object);
        let mut meant = Vec::new();
        for entry in entries {
            let at = join(path, &entry.key);
            let Some(field) = object.field(&entry.key) else {
                meant.extend(self.unknown(object, entry, path));
                continue;
            };
            self.places.0.insert(at.clone(), entry_place(entry));
            if entry.value.is_null() {
                continue;
            }
            match self.value(&field.shape, &entry.value, &at, field.key) {
                Value::Broken => {}
                value => fields.set(field.key, value),
            }
        }
        let absent = object.fields.iter().filter(|field| field.is_required() && fields.get(field.key).is_none());
        for field in absent {
            let at = join(path, field.key);
            if !self.broken.touches(&at) && !meant.contains(&field.key) {
                self.missing(field, entries, place, &at);
            }
            self.broken.0.insert(at);
        }
        self.broken.0.extend(meant.iter().map(|key| join(path, key)));
        fields
    }

    /// The field that was probably meant.
    fn unknown(&mut self, object: &'static Object, entry: &Entry, path: &str) -> Option<&'static str> {
        let key = &entry.key;
        let near = suggest::field(object, key);
        let label = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => match suggest::home(key) {
                Some(home) => format!("`{key}` belongs {home}"),
                None => {
                    let known = object.fields.iter().map(|field| field.key).collect::<Vec<_>>().join(", ");
                    format!("known here: {known}")
                }
            },
        };
        let message = match path {
            "" => format!("unknown field `{key}`"),
            _ => format!("unknown field `{key}` in `{}`", readable(path)),
        };
        self.found.push(Diagnostic::error("unknown-field", entry.key_place, message, label));
        near
    }

    fn missing(&mut self, field: &Field, entries: &[Entry], place: Place, at: &str) {
        let place = match self.places.0.get(at) {
            Some(place) => *place,
            None => entries.first().map_or(place, |first| Place { end: first.key_place.end, ..first.key_place }),
        };
        let of = match at.rsplit_once('/') {
            Some(("", _)) | None => String::new(),
            Some((parent, _)) => format!(" in `{}`", readable(parent)),
        };
        self.found.push(
            Diagnostic::error(
                "missing-field",
                place,
                format!("`{}` is missing{of}", field.key),
                format!("add `{}: {}`", field.key, field.example),
            )
            .note(field.doc),
        );
    }

    fn value(&mut self, shape: &'static Shape, node: &Node, path: &str, key: &str) -> Value {
        let value = match (shape, &node.kind) {
            (_, Kind::Broken) => Value::Broken,
            (Shape::Json, _) => match json(node) {
                Some(document) => Value::Json(document),
                None => Value::Broken,
            },
            (Shape::Either(shapes), _) => {
                let fit = shapes.iter().filter(|shape| same_form(shape, &node.kind)).collect::<Vec<_>>();
                match (fit.as_slice(), &node.kind) {
                    ([shape], _) => return self.value(shape, node, path, key),
                    ([], _) => self.wrong_type(shape, node, key),
                    (many, Kind::Scalar(scalar)) => {
                        let read = many.iter().find_map(|shape| scalar::read(shape, scalar).ok());
                        read.unwrap_or_else(|| {
                            let wrong = scalar::refuse(shape, scalar);
                            self.refused(&wrong, key, node.place)
                        })
                    }
                    ([shape, ..], _) => return self.value(shape, node, path, key),
                }
            }
            (Shape::Object(object), Kind::Map(entries)) => {
                Value::Object(self.object(object, entries, node.place, path))
            }
            (Shape::List(item), Kind::List(nodes)) => Value::List(
                nodes
                    .iter()
                    .enumerate()
                    .map(|(index, node)| {
                        let at = format!("{path}/{index}");
                        self.places.0.insert(at.clone(), item_place(node));
                        self.item(item, node, &at, key)
                    })
                    .collect(),
            ),
            (Shape::Map(format, shape), Kind::Map(entries)) => {
                let mut map = BTreeMap::new();
                for entry in entries {
                    let at = join(path, &entry.key);
                    self.places.0.insert(at.clone(), entry_place(entry));
                    if let Err(wrong) = scalar::text(format, &entry.key) {
                        self.refused(&wrong, key, entry.key_place);
                        self.broken.0.insert(at);
                        continue;
                    }
                    let value = match (shape, entry.value.is_null()) {
                        // `coredns:` with nothing behind it is `coredns: {}`.
                        (Shape::Object(object), true) => Value::Object(Fields::new(object)),
                        (_, true) => self.wrong_type(shape, &entry.value, &entry.key),
                        _ => self.value(shape, &entry.value, &at, &entry.key),
                    };
                    match value {
                        Value::Broken => {
                            self.broken.0.insert(at);
                        }
                        value => {
                            map.insert(entry.key.clone(), value);
                        }
                    }
                }
                Value::Map(map)
            }
            (
                Shape::Bool | Shape::Text(_) | Shape::Whole { .. } | Shape::Number { .. } | Shape::Word(_),
                Kind::Scalar(scalar),
            ) => match scalar::read(shape, scalar) {
                Ok(value) => value,
                Err(wrong) => self.refused(&wrong, key, node.place),
            },
            _ => self.wrong_type(shape, node, key),
        };
        if matches!(value, Value::Broken) {
            self.broken.0.insert(path.to_owned());
        }
        value
    }

    fn item(&mut self, shape: &'static Shape, node: &Node, path: &str, key: &str) -> Value {
        if node.is_null() {
            self.broken.0.insert(path.to_owned());
            return self.wrong_type(shape, node, key);
        }
        self.value(shape, node, path, key)
    }

    fn wrong_type(&mut self, shape: &Shape, node: &Node, key: &str) -> Value {
        let is = match &node.kind {
            Kind::List(_) => "is a list",
            Kind::Map(_) => "is a mapping",
            Kind::Scalar(_) if node.is_null() => "has no value",
            Kind::Scalar(_) | Kind::Broken => "is a single value",
        };
        self.found.push(Diagnostic::error(
            "wrong-type",
            node.place,
            format!("`{key}` {is}"),
            format!("expected {}", shape.expected()),
        ));
        Value::Broken
    }

    fn refused(&mut self, wrong: &Wrong, key: &str, place: Place) -> Value {
        self.found.push(Diagnostic::error(
            wrong.rule,
            place,
            format!("`{key}`: {}", wrong.message),
            wrong.label.clone(),
        ));
        Value::Broken
    }
}

fn same_form(shape: &Shape, kind: &Kind) -> bool {
    match shape {
        Shape::Object(_) | Shape::Map(..) => matches!(kind, Kind::Map(_)),
        Shape::List(_) => matches!(kind, Kind::List(_)),
        Shape::Json => true,
        Shape::Either(shapes) => shapes.iter().any(|shape| same_form(shape, kind)),
        Shape::Bool | Shape::Text(_) | Shape::Whole { .. } | Shape::Number { .. } | Shape::Word(_) => {
            matches!(kind, Kind::Scalar(_))
        }
    }
}

/// Key and value where they share a line, else the key.
fn entry_place(entry: &Entry) -> Place {
    let (key, value) = (entry.key_place, entry.value.place);
    if value.line == key.line && value.end > key.end { Place { end: value.end, ..key } } else { key }
}

/// Of a mapping its first entry: a list's item has no name of its own.
fn item_place(node: &Node) -> Place {
    match &node.kind {
        Kind::Map(entries) => entries.first().map_or(node.place, entry_place),
        _ => node.place,
    }
}

/// `/nodeClasses/1/efa` as people write it: `nodeClasses[1].efa`.
pub(super) fn readable(path: &str) -> String {
    let mut out = String::new();
    for part in path.split('/').skip(1) {
        if !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) {
            out.push_str(&format!("[{part}]"));
        } else {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(&part.replace("~1", "/").replace("~0", "~"));
        }
    }
    out
}

/// A document by YAML's core schema; `None` where a part of it is broken.
pub(super) fn json(node: &Node) -> Option<serde_json::Value> {
    Some(match &node.kind {
        Kind::Broken => return None,
        Kind::Scalar(_) if node.is_null() => serde_json::Value::Null,
        Kind::Scalar(scalar) => scalar::json(scalar),
        Kind::List(items) => items.iter().map(json).collect::<Option<Vec<_>>>()?.into(),
        Kind::Map(entries) => {
            let members = entries.iter().map(|entry| Some((entry.key.clone(), json(&entry.value)?)));
            serde_json::Value::Object(members.collect::<Option<_>>()?)
        }
    })
}
