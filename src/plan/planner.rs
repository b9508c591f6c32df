//! The whole decision: index, find, decide, remove, order, explain. Must never fail: what can't be decided is blocked, and said.

use super::{
    Action, Options, Plan, Step,
    cascade::{Cascade, find_early},
    diff::Diff,
    explain,
    fixed::{fixed, shadowed},
    order::{self, Knots},
    ownership::Found,
    removal::{Removal, Settled, removals},
    wishes::Wishes,
    world::{Kinds, World},
};
use crate::{
    contract::{AnyKind, Layer, Ownership},
    desired::DesiredGraph,
    model::Address,
    observed::{Sight, Snapshot},
    resources::KINDS,
};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Compares what is wished with what lives. Same input, same plan, byte for byte.
pub fn plan(graph: &DesiredGraph, snapshot: &Snapshot, options: &Options) -> Plan {
    plan_over(KINDS, graph, snapshot, options)
}

/// [`plan`] over other kinds than the registry's.
pub fn plan_over(kinds: &[&'static dyn AnyKind], graph: &DesiredGraph, snapshot: &Snapshot, options: &Options) -> Plan {
    let kinds: Kinds = kinds.iter().map(|kind| (kind.name(), *kind)).collect();
    let world = World::new(&graph.identity, snapshot, &kinds);
    let wishes = Wishes::new(graph, options, &kinds);
    let mut undecidable = undecidable(&wishes, snapshot);
    let (found, taken) = find_early(&world, graph, options, &wishes, &mut undecidable);
    let refused = |w: &usize| undecidable[*w].is_some() || matches!(found[*w], Found::Refused(_));
    let undecided: HashSet<usize> = wishes.downstream((0..wishes.len()).filter(refused));
    let shadowed = shadowed(snapshot, &kinds);
    let fixed = fixed(&world, &wishes, options, &shadowed, &undecided);
    let mut knots = Knots::new();
    // Each round replaces at least one object more, so it ends; the first is nearly always the last.
    let (mut cascade, removals, mut tasks) = loop {
        let mut cascade = Cascade {
            graph,
            options,
            world: &world,
            wishes: &wishes,
            undecidable: &undecidable,
            found: found.clone(),
            fixed: &fixed,
            knots: &knots,
            taken: taken.clone(),
            verdicts: std::iter::repeat_with(|| None).take(wishes.len()).collect(),
        };
        cascade.run();
        let settled = Settled::new(&cascade);
        let removals = removals(&cascade, &settled, options, &shadowed);
        match order::tasks(&cascade, &settled, &removals) {
            Ok(tasks) => break (cascade, removals, tasks),
            Err(more) => knots.extend(more),
        }
    };
    order::hand_over(&mut cascade, &mut tasks);
    let gone = gone(&cascade);
    let mut steps = blind_steps(&cascade, snapshot, &kinds);
    steps.extend(removals.iter().map(|removal| removal_step(&world, removal)));
    steps.extend((0..wishes.len()).filter_map(|w| wish_step(&cascade, w)));
    let known: HashSet<&Address> = steps.iter().map(|step| &step.address).collect();
    let unknown: Vec<Address> = options.only.iter().filter(|address| !known.contains(address)).cloned().collect();
    steps.extend(unknown.into_iter().map(|address| {
        let layer = kinds.get(address.kind()).map_or(Layer::Costs, |kind| kind.layer());
        blocked(address, layer, explain::not_in_stack())
    }));
    steps.sort_by(|a, b| (a.layer, &a.address, a.action, &a.id).cmp(&(b.layer, &b.address, b.action, &b.id)));
    Plan { steps, tasks, gone }
}

/// What is known before any comparison to have no verdict.
fn undecidable(wishes: &Wishes<'_>, snapshot: &Snapshot) -> Vec<Option<String>> {
    let mut reasons: Vec<Option<String>> = (wishes.iter().enumerate())
        .map(|(w, wish)| {
            let name = wish.address.kind();
            match (wishes.kind(w), snapshot.sights.get(name)) {
                (None, _) => Some(explain::unknown_kind(name)),
                (Some(_), Some(Sight::Seen(_))) => None,
                (Some(_), Some(Sight::Blind(error))) => Some(explain::blind(name, error)),
                (Some(_), None) => Some(explain::not_looked_at(name)),
            }
        })
        .collect();
    for (w, reason) in wishes.circles() {
        reasons[w].get_or_insert(reason);
    }
    reasons
}

fn gone(cascade: &Cascade<'_>) -> BTreeMap<Address, Vec<String>> {
    let mut gone: BTreeMap<Address, BTreeSet<String>> = BTreeMap::new();
    for (w, wish) in cascade.wishes.iter().enumerate() {
        let records = cascade.world.gone.get(&wish.address).into_iter().flatten().cloned();
        let replaced = cascade.verdicts[w].as_ref().filter(|verdict| verdict.action == Action::Replace);
        let replaced =
            replaced.and_then(|verdict| verdict.object).map(|object| cascade.world.objects[object].look.id.clone());
        let ids: BTreeSet<String> = records.chain(replaced).collect();
        if !ids.is_empty() {
            gone.insert(wish.address.clone(), ids);
        }
    }
    gone.into_iter().map(|(address, ids)| (address, ids.into_iter().collect())).collect()
}

fn wish_step(cascade: &Cascade<'_>, w: usize) -> Option<Step> {
    let (wish, verdict) = (cascade.wishes.get(w), cascade.verdicts[w].as_ref()?);
    let Diff { changes, .. } = &verdict.diff;
    // Where there is none the reason says what does not fit.
    let headline = cascade.wishes.words(w).map(|words| words.headline.clone()).unwrap_or_default();
    Some(Step {
        address: wish.address.clone(),
        kind: wish.address.kind().to_owned(),
        layer: wish.layer,
        action: verdict.action,
        id: verdict.object.map(|object| cascade.world.objects[object].look.id.clone()),
        reason: verdict.reason.clone(),
        interrupts: verdict.interrupts,
        fields: changes.clone(),
        headline,
    })
}

fn removal_step(world: &World<'_>, removal: &Removal) -> Step {
    let object = &world.objects[removal.object];
    Step {
        address: object.address(),
        kind: object.kind.name().to_owned(),
        layer: object.kind.layer(),
        action: removal.action,
        id: Some(object.look.id.clone()),
        reason: removal.reason.clone(),
        interrupts: removal.action == Action::Delete && world.runs(removal.object),
        fields: vec![],
        headline: object.look.headline.clone(),
    }
}

/// One step for each kind that could not be looked at and of which nothing is wished: there may be objects to delete.
fn blind_steps(cascade: &Cascade<'_>, snapshot: &Snapshot, kinds: &Kinds) -> Vec<Step> {
    if !cascade.options.only.is_empty() {
        return vec![];
    }
    let wished: HashSet<&str> = cascade.wishes.iter().map(|wish| wish.address.kind()).collect();
    let unwished = snapshot.blind().filter(|(name, _)| !wished.contains(name));
    unwished
        .filter_map(|(name, error)| kinds.get(name).map(|kind| (kind, error)))
        .filter(|(kind, _)| kind.ownership() != Ownership::Byproduct)
        .map(|(kind, error)| blocked(Address::new(kind.name(), "*"), kind.layer(), explain::blind(kind.name(), error)))
        .collect()
}

fn blocked(address: Address, layer: Layer, reason: String) -> Step {
    Step {
        kind: address.kind().to_owned(),
        address,
        layer,
        action: Action::Blocked,
        id: None,
        reason,
        interrupts: false,
        fields: vec![],
        headline: String::new(),
    }
}
