//! The shape of a stack file as data: one table that the reader checks against and the JSON Schema is written from.
//! Must never hold a rule that needs two fields.

mod cluster;
mod formats;
mod nodes;
mod serving;
mod stack;
mod weights;

use regex_lite::Regex;
use std::sync::OnceLock;

pub(super) use nodes::NODE_CLASS;
pub(super) use stack::STACK;

/// What may stand at a place of the file.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Bool,
    Text(&'static Format),
    Whole {
        min: u64,
        max: u64,
    },
    /// More than `above`, at most `max`.
    Number {
        above: f64,
        max: f64,
    },
    /// One of these, each with its meaning.
    Word(&'static [(&'static str, &'static str)]),
    Object(&'static Object),
    List(&'static Shape),
    /// Keys that the user names.
    Map(&'static Format, &'static Shape),
    /// Any document, as JSON knows them.
    Json,
    /// The first that fits.
    Either(&'static [Shape]),
}

/// A text and its syntax.
pub(super) struct Format {
    /// Completes "expected": `a region`.
    pub what: &'static str,
    /// Regular expression of the whole text, in the subset that JSON Schema and regex-lite share. Empty: any text.
    pub pattern: &'static str,
    /// How to write it.
    pub way_out: &'static str,
    compiled: OnceLock<Regex>,
}

impl Format {
    pub fn admits(&self, text: &str) -> bool {
        let compile = || Regex::new(self.pattern).expect("a test compiles every pattern of the table");
        self.pattern.is_empty() || self.compiled.get_or_init(compile).is_match(text)
    }
}

pub(super) struct Object {
    /// Name in the schema's `$defs`.
    pub name: &'static str,
    pub doc: &'static str,
    pub fields: &'static [Field],
}

pub(super) struct Field {
    pub key: &'static str,
    pub shape: Shape,
    pub doc: &'static str,
    /// In words or as a value; empty for a required field.
    pub default: &'static str,
    /// In YAML.
    pub example: &'static str,
}

impl Field {
    pub const fn required(key: &'static str, shape: Shape, example: &'static str, doc: &'static str) -> Self {
        Self { key, shape, doc, default: "", example }
    }

    pub const fn optional(
        key: &'static str,
        shape: Shape,
        default: &'static str,
        example: &'static str,
        doc: &'static str,
    ) -> Self {
        Self { key, shape, doc, default, example }
    }

    pub fn is_required(&self) -> bool {
        self.default.is_empty()
    }
}

impl Object {
    pub fn field(&self, key: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.key == key)
    }
}

impl Shape {
    /// Completes "expected".
    pub fn expected(&self) -> String {
        match self {
            Shape::Bool => "`true` or `false`".into(),
            Shape::Text(format) => format.what.into(),
            Shape::Whole { min, max: u64::MAX } => format!("a whole number from {min}"),
            Shape::Whole { min, max } => format!("a whole number from {min} to {max}"),
            Shape::Number { above, max } if *max == f64::MAX => format!("a number above {above}"),
            Shape::Number { above, max } => format!("a number above {above}, at most {max}"),
            Shape::Word(_) => one_of(self.choices()),
            Shape::Object(object) => {
                let keys = object.fields.iter().map(|field| format!("`{}`", field.key)).collect::<Vec<_>>();
                match keys.len() {
                    0..=4 => format!("a mapping of {}", keys.join(", ")),
                    _ => format!("a mapping like `{}: …`", object.fields[0].key),
                }
            }
            Shape::List(item) => format!("a list, each item {}", item.expected()),
            Shape::Map(key, value) => format!("a mapping from {} to {}", key.what, value.expected()),
            Shape::Json => "any value".into(),
            Shape::Either(_) => one_of(self.choices()),
        }
    }

    fn choices(&self) -> Vec<String> {
        match self {
            Shape::Word(words) => words.iter().map(|(word, _)| format!("`{word}`")).collect(),
            Shape::Either(shapes) => shapes.iter().flat_map(Shape::choices).collect(),
            other => vec![other.expected()],
        }
    }
}

fn one_of(mut all: Vec<String>) -> String {
    match all.pop() {
        Some(last) if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        only => only.unwrap_or_default(),
    }
}
