//! What differs between a wish and a live object, leaf by leaf and by the kind's field table. Must never decide what a
//! difference leads to beyond what the table says.

use super::FieldChange;
use crate::{
    contract::{AnyKind, Change, Field, Look, ShapeError, TAGS},
    model::{Address, Doc, Link, RUN, Tags, as_link, links},
};
use std::collections::{BTreeSet, HashSet};

/// Stands for a value that is only there once something else is made.
pub const LATER: &str = "(known after apply)";
/// Stands for a secret in every report.
pub const SECRET: &str = "(secret)";

/// Every difference between one wish and one live object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diff {
    pub changes: Vec<FieldChange>,
    /// The fields behind `changes`, as a task names them.
    pub changed: Vec<String>,
    /// Something that runs stops or restarts when the changes are made in place.
    pub interrupts: bool,
    /// Outputs that the changes move, so that who links to them changes too.
    pub moves: BTreeSet<&'static str>,
    /// Objects whose making, or making anew, is behind a change.
    pub causes: BTreeSet<Address>,
}

impl Diff {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub fn replaces(&self) -> bool {
        self.changes.iter().any(|change| change.forces_replacement)
    }
}

/// What is known of a link that can't be resolved yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// Its target stays as it is and shows no such output yet, or is made again under the same name: no difference.
    Same,
    /// Its target is made, or moves the output in place.
    Later,
    /// Its target is deleted and made again.
    Anew,
}

/// Answers for an unresolved link of a field, given the live value at the same place where there is one.
pub(super) type Judge<'a> = &'a dyn Fn(&Address, &str, Option<&str>, &Field) -> Unknown;

/// The pure diff that planner and engine share. `want` has its links resolved, except where the target is not made yet;
/// those count as different. `tags` are the complete tags of the wish.
pub fn diff(kind: &dyn AnyKind, want: &Doc, look: &Look, tags: &Tags) -> Result<Diff, ShapeError> {
    diff_judged(kind, want, look, tags, &|_, _, _, _| Unknown::Later)
}

pub(super) fn diff_judged(
    kind: &dyn AnyKind,
    want: &Doc,
    look: &Look,
    tags: &Tags,
    judge: Judge<'_>,
) -> Result<Diff, ShapeError> {
    let mut diff = Diff::default();
    if *want != look.projected {
        let fields = kind.fields(want)?;
        let mut walk = Walk { fields: &fields, judge, diff: &mut diff };
        walk.node(&mut String::new(), want, &look.projected);
    }
    if kind.tagged() {
        tag_changes(&mut diff, &look.tags, tags);
    }
    Ok(diff)
}

/// Key by key, so that tags which others put on the object stay, and are no drift.
fn tag_changes(diff: &mut Diff, live: &Tags, want: &Tags) {
    let before = diff.changes.len();
    for (key, value) in want.iter().filter(|(key, value)| *key != RUN && live.get(*key) != Some(value)) {
        diff.changes.push(FieldChange {
            path: format!("{TAGS}/{key}"),
            before: live.get(key).map_or(Doc::Null, |value| Doc::from(value.as_str())),
            after: Doc::from(value.as_str()),
            forces_replacement: false,
        });
    }
    if diff.changes.len() > before {
        diff.changed.push(TAGS.to_owned());
    }
}

/// A wish or a projection without what a diff ignores, to find a live object that differs in nothing but its tags.
pub(super) fn normal(doc: &Doc, fields: &[Field]) -> Doc {
    fn node(path: &mut String, doc: &Doc, fields: &[Field]) -> Doc {
        let field = fields.iter().find(|field| is_at(field, path));
        match field {
            Some(field) if field.change == Change::CreateOnly => return Doc::Null,
            Some(field) if field.set => {
                let mut items: Vec<Doc> = doc.as_array().cloned().unwrap_or_default();
                items.sort_by_cached_key(Doc::to_string);
                return Doc::Array(items);
            }
            _ => {}
        }
        match doc {
            Doc::Object(map) if as_link(doc).is_none() => Doc::Object(
                map.iter()
                    .map(|(key, value)| (key.clone(), below(path, key, |path| node(path, value, fields))))
                    .collect(),
            ),
            Doc::Array(items) => Doc::Array(
                (items.iter().enumerate())
                    .map(|(i, value)| below(path, &i.to_string(), |path| node(path, value, fields)))
                    .collect(),
            ),
            _ => doc.clone(),
        }
    }
    node(&mut String::new(), doc, fields)
}

/// The field that a path belongs to: the most exact one, should a table name two.
pub(super) fn field_at<'f>(fields: &'f [Field], path: &str) -> Option<&'f Field> {
    fields.iter().filter(|field| field.covers(path)).max_by_key(|field| field.at.len())
}

fn is_at(field: &Field, path: &str) -> bool {
    field.covers(path) && steps(field.at) == steps(path)
}

fn steps(path: &str) -> usize {
    path.bytes().filter(|byte| *byte == b'/').count()
}

fn below<T>(path: &mut String, key: &str, then: impl FnOnce(&mut String) -> T) -> T {
    let length = path.len();
    path.push('/');
    path.push_str(key);
    let result = then(path);
    path.truncate(length);
    result
}

struct Walk<'a> {
    fields: &'a [Field],
    judge: Judge<'a>,
    diff: &'a mut Diff,
}

impl Walk<'_> {
    fn node(&mut self, path: &mut String, want: &Doc, live: &Doc) {
        if want == live {
            return;
        }
        if let Some(field) = self.fields.iter().find(|field| field.set && is_at(field, path)) {
            return self.set(path, field, want, live);
        }
        match (want, live) {
            _ if as_link(want).is_some() || as_link(live).is_some() => self.leaf(path, want, live),
            // An absent part is compared as an empty one, so that the change names the leaves that come or go.
            (Doc::Object(want), Doc::Object(live)) => {
                let keys: BTreeSet<&String> = want.keys().chain(live.keys()).collect();
                for key in keys {
                    let (want, live) = (want.get(key).unwrap_or(&Doc::Null), live.get(key).unwrap_or(&Doc::Null));
                    below(path, key, |path| self.node(path, want, live));
                }
            }
            (Doc::Object(map), Doc::Null) if !map.is_empty() => {
                map.iter().for_each(|(key, want)| below(path, key, |path| self.node(path, want, &Doc::Null)));
            }
            (Doc::Null, Doc::Object(map)) if !map.is_empty() => {
                map.iter().for_each(|(key, live)| below(path, key, |path| self.node(path, &Doc::Null, live)));
            }
            (Doc::Array(want), Doc::Array(live)) => {
                for i in 0..want.len().max(live.len()) {
                    let (want, live) = (want.get(i).unwrap_or(&Doc::Null), live.get(i).unwrap_or(&Doc::Null));
                    below(path, &i.to_string(), |path| self.node(path, want, live));
                }
            }
            _ => self.leaf(path, want, live),
        }
    }

    /// Whole items by hash, so that ten thousand rules are ten thousand look-ups.
    fn set(&mut self, path: &str, field: &Field, want: &Doc, live: &Doc) {
        if field.change == Change::CreateOnly {
            return;
        }
        let items = |doc: &'_ Doc| doc.as_array().cloned().unwrap_or_default();
        let (want, live) = (items(want), items(live));
        let (wanted, lives): (HashSet<&Doc>, HashSet<&Doc>) = (want.iter().collect(), live.iter().collect());
        let mut unknowable = false;
        let mut coming = vec![];
        for item in want.iter().filter(|item| !lives.contains(item)) {
            let mut forces = field.change == Change::Immutable;
            let unresolved = links(item);
            let verdicts: Vec<Unknown> =
                unresolved.iter().map(|link| (self.judge)(&link.address, &link.output, None, field)).collect();
            if !verdicts.is_empty() && verdicts.iter().all(|unknown| *unknown == Unknown::Same) {
                unknowable = true;
                continue;
            }
            forces |= field.holds && verdicts.contains(&Unknown::Anew);
            self.diff.causes.extend(unresolved.into_iter().map(|link| link.address));
            coming.push((item, forces));
        }
        // An item that can't be told yet may be any of the live ones.
        let going: Vec<&Doc> = live.iter().filter(|item| !unknowable && !wanted.contains(item)).collect::<Vec<_>>();
        for item in going {
            self.push(path, field, Doc::Null, shown(item), field.change == Change::Immutable);
        }
        for (item, forces) in coming {
            self.push(path, field, shown(item), Doc::Null, forces);
        }
    }

    fn leaf(&mut self, path: &str, want: &Doc, live: &Doc) {
        // A leaf outside the table is a fault of the kind that a law finds; to change it in place is the mildest answer.
        let unlisted = Field::in_place("");
        let field = field_at(self.fields, path).copied().unwrap_or(unlisted);
        let change = field.change_between(live, want);
        if change == Change::CreateOnly {
            return;
        }
        let mut forces = change == Change::Immutable;
        if let Some(Link::To { address, output }) = as_link(want) {
            let value = as_link(live).and_then(|link| link.value().map(str::to_owned));
            match (self.judge)(&address, &output, value.as_deref(), &field) {
                Unknown::Same => return,
                Unknown::Later => {}
                Unknown::Anew => forces |= field.holds,
            }
            self.diff.causes.insert(address);
        }
        self.push(path, &field, shown(want), shown(live), forces);
    }

    fn push(&mut self, path: &str, field: &Field, after: Doc, before: Doc, forces_replacement: bool) {
        let veil = |doc: Doc| if field.secret && !doc.is_null() { Doc::from(SECRET) } else { doc };
        self.diff.changes.push(FieldChange {
            path: path.to_owned(),
            before: veil(before),
            after: veil(after),
            forces_replacement,
        });
        self.diff.interrupts |= field.interrupts;
        self.diff.moves.extend(field.moves);
        let named = head(path, steps(field.at));
        if !self.diff.changed.iter().any(|changed| changed == named) {
            self.diff.changed.push(named.to_owned());
        }
    }
}

/// The first `n` steps of a path, or all of it when `n` is 0 or more than there are.
fn head(path: &str, n: usize) -> &str {
    if n == 0 {
        return path;
    }
    path.match_indices('/').nth(n).map_or(path, |(end, _)| &path[..end])
}

/// A document for people: links as plain ids, or as not known yet.
fn shown(doc: &Doc) -> Doc {
    match as_link(doc) {
        Some(Link::Is(id)) => return Doc::from(id),
        Some(Link::To { .. }) => return Doc::from(LATER),
        None => {}
    }
    match doc {
        Doc::Object(map) => Doc::Object(map.iter().map(|(key, value)| (key.clone(), shown(value))).collect()),
        Doc::Array(items) => Doc::Array(items.iter().map(shown).collect()),
        _ => doc.clone(),
    }
}
