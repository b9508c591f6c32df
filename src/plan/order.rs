//! The tasks of a plan and what each waits for. Must never leave a circle, and must give the same order for the same input.

use super::{
    Action, Task, TaskId, Verb,
    cascade::{Cascade, tags_of},
    removal::{Removal, Settled},
};
use crate::{
    contract::Layer,
    model::{Address, Stamp},
};
use petgraph::{algo::tarjan_scc, graph::DiGraph};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet},
};

/// How hard it is that one task waits for another. Where waits form a circle the softest go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wait {
    /// `DELETED_AFTER` of a kind: the object would only be made again by something that ends anyway.
    Etiquette,
    /// An update lets go of what is then deleted.
    Dropped,
    /// `Wish::after`.
    Asked,
    /// An update lets go of what AWS refuses to delete until then. In a circle, no order of updates works out: what holds on
    /// has to be replaced.
    Released,
    /// A link, or the two halves of a replacement.
    Needed,
}

/// Place among tasks that are free at the same time: what comes before what goes, by layer and address.
type Key = (bool, Layer, Address, u8);

#[derive(Default)]
struct Draft {
    tasks: Vec<Task>,
    keys: Vec<Key>,
    waits: Vec<BTreeMap<usize, Wait>>,
}

impl Draft {
    fn add(&mut self, goes: bool, layer: Layer, task: Task) -> usize {
        let rank = match task.verb {
            Verb::Delete { .. } => 0,
            Verb::Await { .. } => 1,
            Verb::Create => 2,
            Verb::Update { .. } => 3,
        };
        self.keys.push((goes, layer, task.address.clone(), rank));
        self.tasks.push(task);
        self.waits.push(BTreeMap::new());
        self.tasks.len() - 1
    }

    fn wait(&mut self, task: usize, before: usize, wait: Wait) {
        let strongest = self.waits[task].entry(before).or_insert(wait);
        *strongest = wait.max(*strongest);
    }
}

/// Live objects that hold on to something which has to go before they can be changed in place.
pub(super) type Knots = BTreeSet<usize>;

/// The tasks of all verdicts, each after what it waits for, numbered in that order; or what must be replaced for there to be
/// such an order. They get their wishes from [`hand_over`].
pub(super) fn tasks(cascade: &Cascade<'_>, settled: &Settled<'_>, removals: &[Removal]) -> Result<Vec<Task>, Knots> {
    let mut draft = Draft::default();
    let mut deletions: HashMap<usize, usize> = HashMap::new();
    let mut updates: HashMap<usize, usize> = HashMap::new();
    // By wish: the task after which it is as wished.
    let ready: Vec<Option<usize>> =
        (0..cascade.wishes.len()).map(|w| wish_tasks(cascade, w, &mut draft, &mut deletions, &mut updates)).collect();
    for removal in removals.iter().filter(|removal| removal.action == Action::Delete) {
        let subject = &cascade.world.objects[removal.object];
        let task = deletion(subject.address(), subject.kind.name(), &subject.look.id);
        deletions.insert(removal.object, draft.add(true, subject.kind.layer(), task));
    }
    for w in 0..cascade.wishes.len() {
        needs(cascade, w, &ready, &mut draft);
    }
    let objects: BTreeMap<usize, usize> = deletions.iter().map(|(object, task)| (*object, *task)).collect();
    let mut by_kind: HashMap<&str, Vec<usize>> = HashMap::new();
    for (object, task) in &objects {
        by_kind.entry(cascade.world.objects[*object].kind.name()).or_default().push(*task);
    }
    for (&object, &task) in &objects {
        for lean in cascade.world.leaning_on(object) {
            if let Some(before) = deletions.get(&lean.from) {
                draft.wait(task, *before, Wait::Needed);
            } else if let Some(before) = updates.get(&lean.from)
                && settled.drops(lean.from, lean.value)
                && (lean.holds || !still_needs(cascade, lean.from, object))
            {
                draft.wait(task, *before, if lean.holds { Wait::Released } else { Wait::Dropped });
            }
        }
        for kind in cascade.world.objects[object].kind.deleted_after() {
            for before in by_kind.get(kind).into_iter().flatten().filter(|before| **before != task) {
                draft.wait(task, *before, Wait::Etiquette);
            }
        }
    }
    let knotted = |tasks: BTreeSet<usize>| -> Knots {
        updates.iter().filter(|(_, task)| tasks.contains(task)).map(|(object, _)| *object).collect()
    };
    sorted(draft).map_err(knotted)
}

/// Gives every task the wish of its verdict, which needs it no more.
pub(super) fn hand_over(cascade: &mut Cascade<'_>, tasks: &mut [Task]) {
    for task in tasks.iter_mut().filter(|task| task.stamp.is_some()) {
        let verdict = cascade.wishes.index(task.address.as_str()).and_then(|w| cascade.verdicts[w].as_mut());
        task.want = verdict.map(|verdict| match task.verb {
            // An update may come after it.
            Verb::Await { .. } => verdict.want.clone(),
            _ => verdict.want.take(),
        });
    }
}

fn deletion(address: Address, kind: &str, id: &str) -> Task {
    let verb = Verb::Delete { id: id.to_owned() };
    Task { id: 0, address, kind: kind.to_owned(), verb, want: None, stamp: None, after: vec![] }
}

/// Adds the tasks of one wish; the answer is the last of them.
fn wish_tasks(
    cascade: &Cascade<'_>,
    w: usize,
    draft: &mut Draft,
    deletions: &mut HashMap<usize, usize>,
    updates: &mut HashMap<usize, usize>,
) -> Option<usize> {
    let (verdict, kind, wish) = (cascade.verdicts[w].as_ref()?, cascade.wishes.kind(w)?, cascade.wishes.get(w));
    let id = verdict.object.map(|object| cascade.world.objects[object].look.id.clone());
    let task = |verb| {
        let tags = tags_of(cascade.graph, kind, &wish.address);
        let stamp = Stamp { address: wish.address.clone(), tags, token: String::new() };
        let kind = kind.name().to_owned();
        Task { id: 0, address: wish.address.clone(), kind, verb, want: None, stamp: Some(stamp), after: vec![] }
    };
    let mut last = None;
    let mut then = |draft: &mut Draft, task: Task| {
        let added = draft.add(false, wish.layer, task);
        if let Some(before) = last.replace(added) {
            draft.wait(added, before, Wait::Needed);
        }
        added
    };
    match (verdict.action, id, verdict.object) {
        (Action::Create, ..) => {
            then(draft, task(Verb::Create));
        }
        (Action::Replace, Some(id), Some(object)) => {
            let delete = then(draft, deletion(wish.address.clone(), kind.name(), &id));
            deletions.insert(object, delete);
            then(draft, task(Verb::Create));
        }
        (Action::Update | Action::Keep, Some(id), Some(object)) => {
            if verdict.waits {
                then(draft, task(Verb::Await { id: id.clone() }));
            }
            if verdict.action == Action::Update {
                let update = then(draft, task(Verb::Update { id, changed: verdict.diff.changed.clone() }));
                updates.insert(object, update);
            }
        }
        _ => {}
    }
    last
}

/// What is made or changed waits for all that its wish needs. An await changes nothing, and waits for nothing.
fn needs(cascade: &Cascade<'_>, w: usize, ready: &[Option<usize>], draft: &mut Draft) {
    let Some(task) = ready[w].filter(|task| !matches!(draft.tasks[*task].verb, Verb::Await { .. })) else { return };
    for target in cascade.wishes.needs(w) {
        if let Some(before) = ready[*target] {
            let wait = if cascade.wishes.links(w, *target) { Wait::Needed } else { Wait::Asked };
            draft.wait(task, before, wait);
        }
    }
}

/// True when the wish behind a live object links to what is made in place of another.
fn still_needs(cascade: &Cascade<'_>, leaner: usize, target: usize) -> bool {
    let (Some(w), Some(t)) = (cascade.taken.get(&leaner), cascade.taken.get(&target)) else { return false };
    cascade.wishes.needs(*w).contains(t)
}

/// The error names the tasks that should not be updates.
fn sorted(mut draft: Draft) -> Result<Vec<Task>, BTreeSet<usize>> {
    let order = loop {
        match topological(&draft) {
            Ok(order) => break order,
            Err(stuck) => loosen(&mut draft, &stuck)?,
        }
    };
    let mut place: Vec<TaskId> = vec![0; order.len()];
    order.iter().enumerate().for_each(|(id, task)| place[*task] = id);
    let mut tasks: Vec<Task> = draft.tasks;
    for (task, waits) in tasks.iter_mut().zip(&draft.waits) {
        task.after = waits.keys().map(|before| place[*before]).collect();
        task.after.sort_unstable();
    }
    for (task, id) in tasks.iter_mut().zip(&place) {
        task.id = *id;
    }
    tasks.sort_unstable_by_key(|task| task.id);
    Ok(tasks)
}

/// An order that respects every wait, or the tasks that a circle keeps from one.
fn topological(draft: &Draft) -> Result<Vec<usize>, HashSet<usize>> {
    let mut missing: Vec<usize> = draft.waits.iter().map(BTreeMap::len).collect();
    let mut waited_by: Vec<Vec<usize>> = vec![vec![]; missing.len()];
    for (task, waits) in draft.waits.iter().enumerate() {
        waits.keys().for_each(|before| waited_by[*before].push(task));
    }
    let mut free: BinaryHeap<Reverse<(&Key, usize)>> =
        (0..missing.len()).filter(|task| missing[*task] == 0).map(|task| Reverse((&draft.keys[task], task))).collect();
    let mut order = Vec::with_capacity(missing.len());
    while let Some(Reverse((_, task))) = free.pop() {
        order.push(task);
        for &next in &waited_by[task] {
            missing[next] -= 1;
            if missing[next] == 0 {
                free.push(Reverse((&draft.keys[next], next)));
            }
        }
    }
    match order.len() == missing.len() {
        true => Ok(order),
        false => Err((0..missing.len()).filter(|task| missing[*task] > 0).collect()),
    }
}

/// Takes the softest waits out of every circle; of a circle that is all hard, those of its first task. The error names tasks
/// whose release of something is the softest wait there is.
fn loosen(draft: &mut Draft, stuck: &HashSet<usize>) -> Result<(), BTreeSet<usize>> {
    let edges: Vec<(u32, u32)> = stuck
        .iter()
        .flat_map(|task| draft.waits[*task].keys().map(move |before| (*task as u32, *before as u32)))
        .filter(|(_, before)| stuck.contains(&(*before as usize)))
        .collect();
    let mut knots = BTreeSet::new();
    for circle in tarjan_scc(&DiGraph::<(), (), u32>::from_edges(edges)).iter().filter(|circle| circle.len() > 1) {
        let circle: BTreeSet<usize> = circle.iter().map(|node| node.index()).collect();
        let mut inside: Vec<(Wait, usize, usize)> = vec![];
        for task in &circle {
            let waits = draft.waits[*task].iter().filter(|(before, _)| circle.contains(before));
            inside.extend(waits.map(|(before, wait)| (*wait, *task, *before)));
        }
        let softest = inside.iter().map(|(wait, ..)| *wait).min();
        let first = circle.iter().copied().min_by_key(|task| &draft.keys[*task]);
        for (wait, task, before) in inside.into_iter().filter(|(wait, ..)| Some(*wait) == softest) {
            match wait {
                Wait::Released => {
                    knots.insert(before);
                }
                Wait::Needed if Some(task) != first => {}
                _ => {
                    draft.waits[task].remove(&before);
                }
            }
        }
    }
    if knots.is_empty() { Ok(()) } else { Err(knots) }
}

/// The chain of tasks that takes longest, with its length in the unit of `seconds`, and whose objects it goes through.
pub fn critical_path(plan: &super::Plan, seconds: &dyn Fn(&Task) -> u64) -> (u64, Vec<Address>) {
    // Tasks come after what they wait for, so one pass is enough.
    let mut ends: Vec<(u64, Option<TaskId>)> = Vec::with_capacity(plan.tasks.len());
    for task in &plan.tasks {
        let before = task
            .after
            .iter()
            .filter_map(|id| Some((ends.get(*id)?.0, *id)))
            .max_by_key(|(end, id)| (*end, Reverse(*id)));
        let start = before.map_or(0, |(end, _)| end);
        ends.push((start.saturating_add(seconds(task)), before.map(|(_, id)| id)));
    }
    let Some(last) = (0..ends.len()).max_by_key(|id| (ends[*id].0, Reverse(*id))) else { return (0, vec![]) };
    let mut path = vec![];
    let mut at = Some(last);
    while let Some(id) = at {
        path.push(plan.tasks[id].address.clone());
        at = ends[id].1;
    }
    path.reverse();
    path.dedup();
    (ends[last].0, path)
}
