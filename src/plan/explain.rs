//! The sentences of a plan: why each object is made, changed, kept or refused. Must never decide anything.

use super::diff::Diff;
use crate::{
    contract::{CloudError, TAGS},
    model::{Address, PhysicalId},
};
use std::collections::BTreeSet;

pub(super) fn belongs_to(name: &str, stack: &str) -> String {
    format!("the name `{name}` is taken: it belongs to stack {stack}")
}

pub(super) fn untagged(name: &str, address: &Address) -> String {
    format!(
        "the name `{name}` is taken by something that carries no stack's tags; to make it part of this stack: --adopt {address}"
    )
}

pub(super) fn foreign_going(name: &str) -> String {
    format!("the name `{name}` is taken by something that is being deleted; plan again once it is gone")
}

pub(super) fn name_taken_by(name: &str, other: &Address) -> String {
    format!("the name `{name}` is used by {other} of this stack")
}

pub(super) fn blind(kind: &str, error: &CloudError) -> String {
    format!("could not look at any {kind}: {error}")
}

pub(super) fn not_looked_at(kind: &str) -> String {
    format!("no {kind} was looked at")
}

pub(super) fn unknown_kind(kind: &str) -> String {
    format!("`{kind}` is no kind that this program knows")
}

pub(super) fn not_in_stack() -> String {
    "is not part of the stack".to_owned()
}

pub(super) fn circle(members: &[&Address]) -> String {
    format!("leans on itself in a circle: {}", listed(members.iter().copied()))
}

pub(super) fn waits_for(target: &Address) -> String {
    format!("needs {target}, which is blocked")
}

pub(super) fn no_such_target(target: &Address) -> String {
    format!("needs {target}, which is not part of the stack")
}

pub(super) fn created(because: &str, gone: Option<&BTreeSet<PhysicalId>>) -> String {
    match gone.and_then(|ids| ids.last()) {
        Some(id) => format!("was deleted ({id}); {because}"),
        None => format!("does not exist yet; {because}"),
    }
}

pub(super) fn kept(news: Option<&str>) -> String {
    match news {
        Some(news) => format!("is as wished, and on its way: {news}"),
        None => "is as wished".to_owned(),
    }
}

pub(super) fn updated(diff: &Diff) -> String {
    let fields: Vec<&str> = diff.changed.iter().map(|path| if path == TAGS { "tags" } else { bare(path) }).collect();
    let verb = if fields.len() == 1 && fields != ["tags"] { "differs" } else { "differ" };
    let causes = match diff.causes.is_empty() {
        true => String::new(),
        false => format!(", since {} {}", listed(&diff.causes), many(&diff.causes, "changes", "change")),
    };
    format!("{} {verb}{causes}", fields.join(", "))
}

pub(super) fn moved(from: &Address, diff: &Diff) -> String {
    format!("was {from}; {}", updated(diff))
}

pub(super) fn adopted(id: &str, diff: &Diff) -> String {
    format!("{id} is taken over, as asked by --adopt; {}", updated(diff))
}

pub(super) fn made_by_aws(id: &str, diff: &Diff) -> String {
    format!("AWS itself made {id} under this name: it is taken over; {}", updated(diff))
}

pub(super) fn retagged(id: &str, diff: &Diff) -> String {
    format!("{id} lost its tags, and is otherwise as wished; {}", updated(diff))
}

pub(super) fn immutable(diff: &Diff) -> String {
    let paths: BTreeSet<&str> =
        diff.changes.iter().filter(|change| change.forces_replacement).map(|change| bare(&change.path)).collect();
    let paths = paths.into_iter().collect::<Vec<_>>().join(", ");
    match diff.causes.is_empty() {
        true => format!("{paths} can't be changed on a live object"),
        false => {
            let which = many(&diff.causes, "which is made anew", "which are made anew");
            format!("leans on {}, {which} ({paths})", listed(&diff.causes))
        }
    }
}

pub(super) fn broken(text: &str) -> String {
    format!("is broken: {text}")
}

pub(super) fn knot() -> String {
    "holds on to what has to be replaced before this could change in place".to_owned()
}

pub(super) fn going() -> String {
    "is being deleted: made again once it is gone".to_owned()
}

pub(super) fn not_ours_to_replace(id: &str, why: &str) -> String {
    format!("{id} can't be taken over, since it would have to be replaced: {why}")
}

pub(super) fn refused(why: &str, obstacle: &str) -> String {
    format!("would be replaced ({why}), but {obstacle}")
}

pub(super) fn refused_deletion(why: &str, obstacle: &str) -> String {
    format!("would be deleted ({why}), but {obstacle}")
}

pub(super) fn leans_and_stays(leaner: &Address) -> String {
    format!("{leaner} leans on it and stays")
}

pub(super) fn held_by(leaner: &Address, obstacle: &str) -> String {
    format!("{leaner} leans on it, and {obstacle}")
}

pub(super) fn undecided() -> String {
    "is blocked".to_owned()
}

pub(super) fn protected() -> String {
    "`protect: true` stands in the stack file".to_owned()
}

pub(super) fn holds_data() -> String {
    "it holds data, which only --delete-data deletes".to_owned()
}

pub(super) fn of_the_account() -> String {
    "it belongs to the whole account".to_owned()
}

pub(super) fn outside_only() -> String {
    "is outside what --only asks for".to_owned()
}

pub(super) fn may_be_leaned_on(kind: &str) -> String {
    format!("could not look at any {kind}, and one may lean on it")
}

pub(super) fn unwished() -> String {
    "no part of the stack file asks for it any more".to_owned()
}

pub(super) fn destroyed() -> String {
    "the stack is destroyed".to_owned()
}

pub(super) fn already_going() -> String {
    "is being deleted already".to_owned()
}

pub(super) fn twin(kept: &PhysicalId) -> String {
    format!("is a second one: {kept} stays, which others link to or which came first")
}

/// `/scaling/max` without its first stroke.
fn bare(path: &str) -> &str {
    path.strip_prefix('/').unwrap_or(path)
}

fn many<'a, T>(all: impl IntoIterator<Item = T>, one: &'a str, several: &'a str) -> &'a str {
    if all.into_iter().nth(1).is_none() { one } else { several }
}

fn listed<'a>(addresses: impl IntoIterator<Item = &'a Address>) -> String {
    addresses.into_iter().map(Address::as_str).collect::<Vec<_>>().join(", ")
}
