//! How long a plan takes, by the times that AWS was seen to need. Must never be a limit.

use super::{Plan, Task, Verb, critical_path};
use crate::{catalog::Catalog, model::Address, resources::kind};

/// Seconds along the longest path of tasks, and that path.
pub fn duration(plan: &Plan, catalog: &Catalog) -> (u64, Vec<Address>) {
    critical_path(plan, &|task| seconds(task, catalog))
}

fn seconds(task: &Task, catalog: &Catalog) -> u64 {
    let create = |kind| catalog.timing(kind).and_then(|timing| timing.expected_create());
    let own = match task.verb {
        Verb::Delete { .. } => catalog.timing(&task.kind).and_then(|timing| timing.expected_delete()),
        Verb::Create | Verb::Await { .. } | Verb::Update { .. } => create(&task.kind),
    };
    let brought = match (&task.verb, &task.want) {
        // A wish that its own kind can't read fails where it is applied.
        (Verb::Create, Some(want)) => kind(&task.kind).and_then(|kind| kind.brings(want).ok().flatten()),
        _ => None,
    };
    u64::from(own.unwrap_or(1)) + u64::from(brought.and_then(create).unwrap_or(0))
}
