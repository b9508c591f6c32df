//! What can't be deleted, not even to be made again, and all that it leans on. Must never be asked about what changes in place.

use super::{
    Options, explain,
    wishes::Wishes,
    world::{World, target_kinds},
};
use crate::{contract::Ownership, model::Address, observed::Snapshot, plan::world::Kinds};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// By object of the world: what stands in the way of its deletion.
pub(super) struct Fixed(Vec<Option<String>>);

impl Fixed {
    pub fn obstacle(&self, object: usize) -> Option<&str> {
        self.0[object].as_deref()
    }
}

/// Kinds that one may lean on which could not be looked at, with the name of that one.
pub(super) fn shadowed(snapshot: &Snapshot, kinds: &Kinds) -> BTreeMap<String, String> {
    let mut shadowed = BTreeMap::new();
    for (name, _) in snapshot.blind() {
        // What AWS or controllers make is found and proven gone by the teardown, not here.
        if let Some(kind) = kinds.get(name).filter(|kind| kind.ownership() != Ownership::Byproduct) {
            shadowed.extend(target_kinds(*kind).into_iter().map(|target| (target, name.to_owned())));
        }
    }
    shadowed
}

/// `undecided` are wishes that nothing is done about in this plan.
pub(super) fn fixed(
    world: &World<'_>,
    wishes: &Wishes<'_>,
    options: &Options,
    shadowed: &BTreeMap<String, String>,
    undecided: &HashSet<usize>,
) -> Fixed {
    let mut obstacles: Vec<Option<String>> = vec![None; world.objects.len()];
    let mut queue = VecDeque::new();
    for (at, object) in world.objects.iter().enumerate() {
        if !object.ours() || object.kind.ownership() == Ownership::Byproduct {
            continue;
        }
        let obstacle = own_obstacle(world, wishes, options, shadowed, undecided, at);
        if obstacle.is_some() {
            obstacles[at] = obstacle;
            queue.push_back((at, at));
        }
    }
    // Whatever a fixed object holds on to is fixed with it.
    while let Some((at, root)) = queue.pop_front() {
        let address: Address = world.objects[at].address();
        for lean in world.leans_of(at).iter().filter(|lean| lean.holds) {
            if obstacles[lean.to].is_none() {
                let because = obstacles[root].as_deref().unwrap_or_default();
                obstacles[lean.to] = Some(explain::held_by(&address, because));
                queue.push_back((lean.to, root));
            }
        }
    }
    Fixed(obstacles)
}

fn own_obstacle(
    world: &World<'_>,
    wishes: &Wishes<'_>,
    options: &Options,
    shadowed: &BTreeMap<String, String>,
    undecided: &HashSet<usize>,
    at: usize,
) -> Option<String> {
    let object = &world.objects[at];
    let wish = wishes.index(object.address().as_str());
    match object.kind.ownership() {
        Ownership::Shared => return Some(explain::of_the_account()),
        Ownership::Retained if !options.delete_data => return Some(explain::holds_data()),
        _ => {}
    }
    if let Some(blind) = shadowed.get(object.kind.name()) {
        return Some(explain::may_be_leaned_on(blind));
    }
    if options.protect && world.runs(at) {
        return Some(explain::protected());
    }
    if wish.is_some_and(|wish| undecided.contains(&wish)) {
        return Some(explain::undecided());
    }
    (!options.only.is_empty() && wish.is_none() && !options.only.contains(&object.address()))
        .then(explain::outside_only)
}
