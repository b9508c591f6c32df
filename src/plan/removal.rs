//! What becomes of live objects of the stack that no wish stands for. Must never delete what something that stays leans on.

use super::{
    Action, Options,
    cascade::{Cascade, Verdict},
    explain,
    ownership::Found,
    world::World,
};
use crate::{
    contract::Ownership,
    model::{Address, identifiers},
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The verdict on one live object without a wish.
#[derive(Debug)]
pub(super) struct Removal {
    pub object: usize,
    pub action: Action,
    pub reason: String,
}

/// What the decided wishes hold on to.
pub(super) struct Settled<'a> {
    verdicts: &'a [Option<Verdict>],
    taken: &'a HashMap<usize, usize>,
    /// Ids in the wish of an object that changes in place, by object.
    wanted: HashMap<usize, HashSet<String>>,
}

impl<'a> Settled<'a> {
    pub fn new(cascade: &'a Cascade<'_>) -> Self {
        let changing = cascade.taken.iter().filter_map(|(object, w)| {
            let verdict = cascade.verdicts[*w].as_ref()?;
            (verdict.action == Action::Update).then(|| {
                (*object, identifiers(&verdict.want).into_iter().map(|(_, id)| id).collect::<HashSet<String>>())
            })
        });
        Self { verdicts: &cascade.verdicts, taken: &cascade.taken, wanted: changing.collect() }
    }

    /// True when the object stands for a wish and goes on leaning on `value` after this plan.
    fn stays_on(&self, object: usize, value: &str) -> bool {
        let Some(verdict) = self.taken.get(&object).and_then(|w| self.verdicts[*w].as_ref()) else { return false };
        match verdict.action {
            Action::Replace | Action::Create | Action::Delete => false,
            Action::Update => !self.drops(object, value),
            Action::Keep | Action::Blocked => true,
        }
    }

    /// True when the update of a live object lets go of `value`.
    pub fn drops(&self, object: usize, value: &str) -> bool {
        self.wanted.get(&object).is_some_and(|wanted| !wanted.contains(value))
    }
}

pub(super) fn removals(
    cascade: &Cascade<'_>,
    settled: &Settled<'_>,
    options: &Options,
    shadowed: &BTreeMap<String, String>,
) -> Vec<Removal> {
    let world = cascade.world;
    let mut removals: Vec<Removal> = vec![];
    let mut by_object: HashMap<usize, usize> = HashMap::new();
    for object in 0..world.objects.len() {
        let subject = &world.objects[object];
        if !subject.ours() || subject.kind.ownership() == Ownership::Byproduct || cascade.taken.contains_key(&object) {
            continue;
        }
        if let Some(removal) = removal(cascade, options, shadowed, object) {
            by_object.insert(object, removals.len());
            removals.push(removal);
        }
    }
    hold(world, settled, &mut removals, &by_object);
    removals
}

fn removal(
    cascade: &Cascade<'_>,
    options: &Options,
    shadowed: &BTreeMap<String, String>,
    object: usize,
) -> Option<Removal> {
    let world = cascade.world;
    let subject = &world.objects[object];
    let address = subject.address();
    let kept = match cascade.wishes.index(address.as_str()) {
        None if !options.only.is_empty() && !options.only.contains(&address) => return None,
        None => None,
        // Which of two is the right one can't be told while the wish itself is blocked.
        Some(w) => match (&cascade.found[w], &cascade.verdicts[w]) {
            (Found::Live { object, .. }, Some(verdict)) if verdict.decided => Some(*object),
            _ => return None,
        },
    };
    let why = match kept {
        Some(kept) => explain::twin(&world.objects[kept].look.id),
        None if subject.look.going => explain::already_going(),
        None if cascade.graph.wishes.is_empty() => explain::destroyed(),
        None => explain::unwished(),
    };
    let (action, reason) = match subject.kind.ownership() {
        Ownership::Shared => (Action::Keep, explain::of_the_account()),
        Ownership::Retained if !options.delete_data => (Action::Keep, explain::holds_data()),
        _ => match (shadowed.get(subject.kind.name()), kept) {
            (Some(blind), _) => (Action::Blocked, explain::refused_deletion(&why, &explain::may_be_leaned_on(blind))),
            // A twin that nothing leans on is an accident, not what protection is for.
            (None, kept) if options.protect && (kept.is_none() || world.leaning_on(object).next().is_some()) => {
                (Action::Blocked, explain::refused_deletion(&why, &explain::protected()))
            }
            _ => (Action::Delete, why),
        },
    };
    Some(Removal { object, action, reason })
}

/// Blocks every deletion of something that an object which stays holds on to, and what that leans on in turn.
fn hold(world: &World<'_>, settled: &Settled<'_>, removals: &mut [Removal], by_object: &HashMap<usize, usize>) {
    let mut blocked: Vec<(usize, Address)> = vec![];
    for (i, removal) in removals.iter().enumerate() {
        let holder = world.leaning_on(removal.object).find(|lean| {
            let stays = || by_object.get(&lean.from).is_some_and(|i| removals[*i].action != Action::Delete);
            lean.holds && (settled.stays_on(lean.from, lean.value) || stays())
        });
        if let Some(lean) = holder {
            blocked.push((i, world.objects[lean.from].address()));
        }
    }
    while let Some((i, holder)) = blocked.pop() {
        let removal = &mut removals[i];
        if removal.action != Action::Delete {
            continue;
        }
        removal.action = Action::Blocked;
        removal.reason = explain::refused_deletion(&removal.reason, &explain::leans_and_stays(&holder));
        let holder = world.objects[removal.object].address();
        let held = world.leans_of(removal.object).iter().filter(|lean| lean.holds);
        blocked.extend(held.filter_map(|lean| by_object.get(&lean.to)).map(|i| (*i, holder.clone())));
    }
}
