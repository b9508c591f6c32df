//! What happens when one field of an object differs from the wish. Must cover every leaf of a wish exactly once.

use crate::model::{Doc, as_link};

/// Stands for all of an object's tags in a list of changed paths; a single tag is `/tags/<key>`.
pub const TAGS: &str = "/tags";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A difference replaces the object.
    Immutable,
    /// AWS changes it on the live object.
    InPlace,
    /// Sent at creation, never read back or never to be changed later: not diffed, said in the plan at creation.
    CreateOnly,
}

/// One line of a kind's field table: `Field::in_place("/rules").set()`.
///
/// A path names a leaf of the wish's document; `*` stands for one step (an index or a key of a map). Everything below a
/// path belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub at: &'static str,
    pub change: Change,
    /// Shown as `(secret)` in every report.
    pub secret: bool,
    /// A list whose order means nothing: compared, and shown, as a set of whole items.
    pub set: bool,
    /// Outputs that an in-place change moves, so that whoever links to them is updated in the same plan.
    pub moves: &'static [&'static str],
    /// A change of this field, though in place, interrupts what runs (nodes roll).
    pub interrupts: bool,
    /// While the live object holds this link its target can't be deleted: a replaced target replaces the object too.
    pub holds: bool,
    /// A number that AWS only lets grow: a smaller one replaces the object.
    pub grows: bool,
}

impl Field {
    const fn new(at: &'static str, change: Change) -> Self {
        Self { at, change, secret: false, set: false, moves: &[], interrupts: false, holds: false, grows: false }
    }
    pub const fn immutable(at: &'static str) -> Self {
        Self::new(at, Change::Immutable)
    }
    pub const fn in_place(at: &'static str) -> Self {
        Self::new(at, Change::InPlace)
    }
    pub const fn create_only(at: &'static str) -> Self {
        Self::new(at, Change::CreateOnly)
    }
    pub const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }
    pub const fn set(mut self) -> Self {
        self.set = true;
        self
    }
    pub const fn changes(mut self, outputs: &'static [&'static str]) -> Self {
        self.moves = outputs;
        self
    }
    pub const fn interrupts(mut self) -> Self {
        self.interrupts = true;
        self
    }
    pub const fn holds(mut self) -> Self {
        self.holds = true;
        self
    }

    pub const fn only_grows(mut self) -> Self {
        self.grows = true;
        self
    }

    /// What going from one value to another does: [`Field::change`], but for a number that would have to shrink and can't.
    pub fn change_between(&self, before: &Doc, after: &Doc) -> Change {
        match (before.as_f64(), after.as_f64()) {
            (Some(before), Some(after)) if self.grows && after < before => Change::Immutable,
            _ => self.change,
        }
    }

    /// True when `leaf` is this field's path or stands below it.
    pub fn covers(&self, leaf: &str) -> bool {
        let (mut pattern, mut steps) = (self.at.split('/'), leaf.split('/'));
        loop {
            match (pattern.next(), steps.next()) {
                (None, _) => return true,
                (Some("*"), Some(_)) => {}
                (Some(a), Some(b)) if a == b => {}
                _ => return false,
            }
        }
    }
}

/// Paths of every leaf of a document: scalars, links, and empty lists and maps.
pub fn leaves(doc: &Doc) -> Vec<String> {
    fn walk(path: &str, doc: &Doc, found: &mut Vec<String>) {
        match doc {
            Doc::Object(map) if !map.is_empty() && as_link(doc).is_none() => {
                map.iter().for_each(|(key, value)| walk(&format!("{path}/{key}"), value, found));
            }
            Doc::Array(items) if !items.is_empty() => {
                items.iter().enumerate().for_each(|(i, value)| walk(&format!("{path}/{i}"), value, found));
            }
            _ => found.push(path.to_owned()),
        }
    }
    let mut found = vec![];
    walk("", doc, &mut found);
    found
}
