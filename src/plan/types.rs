//! The plan as data: a verdict with a reason for every object, and the tasks that carry it out. Must never hold a choice.

use crate::{
    contract::Layer,
    model::{Address, Doc, PhysicalId, Stamp},
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    Create,
    Update,
    Replace,
    Delete,
    Keep,
    /// Could not be decided (the kind could not be looked at), or refused (another owner, protection).
    Blocked,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FieldChange {
    /// Path in the kind's wish, `/cidr`; `/tags/workload` for a tag. A field whose order means nothing (`.set()`) brings one
    /// change an item, all with the field's path: `before` is `Null` for an item that comes, `after` for one that goes.
    pub path: String,
    /// `Null` where there was none; links as plain ids; `"(secret)"` for secrets.
    pub before: Doc,
    /// `"(known after apply)"` for an output of something not made yet.
    pub after: Doc,
    pub forces_replacement: bool,
}

/// What a person asked of this plan beyond the stack file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The file's `protect`: deletions, and replacements that interrupt, are refused.
    pub protect: bool,
    /// Untagged things under names of the stack that are taken over knowingly.
    pub adopt: BTreeSet<Address>,
    /// Deletes what destroy otherwise keeps (buckets).
    pub delete_data: bool,
    /// These addresses and what they need; empty for the whole stack.
    pub only: BTreeSet<Address>,
}

/// The verdict on one object. Two steps have the same address when a second live object claims it: `id` tells them apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Step {
    pub address: Address,
    pub kind: String,
    pub layer: Layer,
    pub action: Action,
    /// Of the live object, where there is one.
    pub id: Option<PhysicalId>,
    /// Why this action, also for what is kept.
    pub reason: String,
    /// True when something that runs stops or restarts.
    pub interrupts: bool,
    pub fields: Vec<FieldChange>,
    /// The kind's one line on the wish, or on the live object when it goes.
    pub headline: String,
}

pub type TaskId = usize;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "verb", rename_all = "camelCase")]
pub enum Verb {
    /// Create, wait until ready, then bring what the create call could not carry to the wish.
    Create,
    /// Fields that differ, as concrete paths of the wish (`/scaling`, `/launchTemplate`): a change below a field of the
    /// kind's table names the field. `/tags` for tags.
    Update { id: PhysicalId, changed: Vec<String> },
    /// Delete, wait until gone.
    Delete { id: PhysicalId },
    /// Somebody (an earlier run) started it: wait until ready.
    Await { id: PhysicalId },
}

/// One thing the engine does. `Replace` is a Delete and a Create.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    pub address: Address,
    pub kind: String,
    #[serde(flatten)]
    pub verb: Verb,
    /// The wish, with links by address where their target is not made yet; `None` for a deletion.
    pub want: Option<Doc>,
    /// Complete tags of the wish, anchors' included. The token is that of a create with every link resolved, so the engine
    /// computes it when it is; here it is empty.
    pub stamp: Option<Stamp>,
    /// Tasks that must have succeeded before.
    pub after: Vec<TaskId>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Summary {
    pub create: usize,
    pub update: usize,
    pub replace: usize,
    pub delete: usize,
    pub keep: usize,
    pub blocked: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Every object, by layer and address; changed ones and kept ones.
    pub steps: Vec<Step>,
    /// In an order that respects `after`.
    pub tasks: Vec<Task>,
    /// Ids of `gone` records and of objects that this plan deletes and makes again, per address: part of the token, so that
    /// a create after a delete is not taken for its repeat.
    pub gone: BTreeMap<Address, Vec<PhysicalId>>,
}

impl Plan {
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for step in &self.steps {
            *match step.action {
                Action::Create => &mut summary.create,
                Action::Update => &mut summary.update,
                Action::Replace => &mut summary.replace,
                Action::Delete => &mut summary.delete,
                Action::Keep => &mut summary.keep,
                Action::Blocked => &mut summary.blocked,
            } += 1;
        }
        summary
    }

    /// Nothing to do, and nothing undecided.
    pub fn is_settled(&self) -> bool {
        self.tasks.is_empty() && !self.steps.iter().any(|step| step.action == Action::Blocked)
    }
}
