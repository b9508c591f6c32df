//! Which live object stands for a wish: by claim, by name, or by what it is when its tags were lost. Must never take what
//! belongs to somebody else.

use super::{
    Options, explain,
    world::{Owner, World},
};
use crate::{
    contract::{AnyKind, Ownership, Readiness},
    desired::DesiredGraph,
    model::{Address, Doc},
};
use std::{cmp::Reverse, collections::HashMap};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Found {
    Nothing,
    Live {
        object: usize,
        how: How,
    },
    /// Its name is taken, and why that is not ours to change.
    Refused(String),
}

/// How a live object came to stand for a wish.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum How {
    Claimed,
    /// Ours, under another address that no wish has any more.
    Moved(Address),
    Adopted,
    MadeByAws,
    /// Ours, with lost tags.
    Retagged,
    /// Can't be tagged: whoever has the name is it.
    Named,
}

impl How {
    /// True for what somebody else made: it may be changed, never deleted for a wish's sake.
    pub fn is_taken_over(&self) -> bool {
        matches!(self, How::Adopted | How::MadeByAws)
    }
}

/// Finds by claim or name. What is not found so, or refused, may still be found by [`lost`] once the wish's links are resolved.
pub(super) fn find(
    world: &World<'_>,
    graph: &DesiredGraph,
    options: &Options,
    address: &Address,
    kind: &'static dyn AnyKind,
    name: Option<&str>,
) -> Found {
    if let Some(object) = best(world, world.claiming(address)) {
        return Found::Live { object, how: How::Claimed };
    }
    let Some(name) = name else { return Found::Nothing };
    let Some(object) = best(world, world.named(kind.name(), name)) else { return Found::Nothing };
    let live = &world.objects[object];
    let found = |how| Found::Live { object, how };
    match &live.owner {
        Owner::Ours => {
            let claimed = live.address();
            match graph.wishes.contains_key(&claimed) {
                true => Found::Refused(explain::name_taken_by(name, &claimed)),
                false => found(How::Moved(claimed)),
            }
        }
        Owner::Other(stack) => Found::Refused(explain::belongs_to(name, stack)),
        Owner::Nobody if live.look.going => Found::Refused(explain::foreign_going(name)),
        Owner::Nobody if !kind.tagged() => match kind.ownership() {
            Ownership::PartOf(_) | Ownership::Shared => found(How::Named),
            _ => Found::Refused(explain::untagged(name, address)),
        },
        Owner::Nobody if live.look.made_by_aws => found(How::MadeByAws),
        Owner::Nobody if options.adopt.contains(address) => found(How::Adopted),
        Owner::Nobody => Found::Refused(explain::untagged(name, address)),
    }
}

/// An object that differs from the wish in nothing but its tags, and leans on something of ours.
pub(super) fn lost(
    world: &World<'_>,
    taken: &HashMap<usize, usize>,
    address: &Address,
    kind: &'static dyn AnyKind,
    want: &Doc,
) -> Option<usize> {
    // Two that fit are not told apart by guessing.
    let mut fitting = world.lost(address, kind, want).iter().filter(|object| !taken.contains_key(object));
    fitting.next().copied().filter(|_| fitting.next().is_none())
}

/// Of several live objects of one address the one that most others link to, then the one that works, then the first seen.
fn best(world: &World<'_>, objects: &[usize]) -> Option<usize> {
    objects.iter().copied().min_by_key(|object| {
        let look = &world.objects[*object].look;
        let state = match look.ready {
            Readiness::Ready => 0,
            Readiness::Pending(_) => 1,
            Readiness::Broken(_) => 2,
        };
        (look.going, Reverse(world.leaning_on(*object).count()), state, *object)
    })
}
