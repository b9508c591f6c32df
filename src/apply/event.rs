//! What happens during a run, as values. Must never be printed here: human text, lines and NDJSON are all made from these.

use crate::{
    contract::CloudError,
    model::{Address, PhysicalId},
    plan::Verb,
};
use serde::{Deserialize, Serialize};

/// One line of the event stream. `at` is RFC 3339; unknown types must be ignorable for readers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    StepStarted {
        at: String,
        address: Address,
        verb: Verb,
    },
    /// News, or a heartbeat: what it waits for and why.
    StepWaiting {
        at: String,
        address: Address,
        id: Option<PhysicalId>,
        seconds: u64,
        expected_seconds: Option<u64>,
        waiting_for: String,
    },
    StepRetried {
        at: String,
        address: Address,
        attempt: u32,
        error: CloudError,
    },
    StepDone {
        at: String,
        address: Address,
        id: Option<PhysicalId>,
        seconds: u64,
        verb: Verb,
    },
    StepFailed {
        at: String,
        address: Address,
        id: Option<PhysicalId>,
        seconds: u64,
        why: String,
        error: Option<CloudError>,
    },
    /// A dependency failed, or the run was stopped first.
    StepSkipped {
        at: String,
        address: Address,
        because: String,
    },
    /// The waiter could not look and goes on trying.
    LookFailed {
        at: String,
        address: Address,
        error: CloudError,
    },
    /// The journal or its copy can't be written.
    JournalFailed {
        at: String,
        why: String,
    },
    /// The lock is somebody else's by now: nothing new is started.
    LeaseLost {
        at: String,
        why: String,
    },
    /// Something that AWS or a controller made and left behind is being deleted.
    LeftoverFound {
        at: String,
        what: String,
        id: PhysicalId,
        state: String,
    },
    LeftoverGone {
        at: String,
        what: String,
        id: PhysicalId,
        seconds: u64,
    },
    /// Deletion waits for things that only AWS can let go.
    LeftoverWaiting {
        at: String,
        seconds: u64,
        waiting_for: String,
    },
    /// It could not be looked at or deleted; the sweep goes on, and the proof will say what is left.
    LeftoverFailed {
        at: String,
        what: String,
        id: Option<PhysicalId>,
        error: CloudError,
    },
    Interrupted {
        at: String,
        running: usize,
    },
    Summary {
        at: String,
        done: usize,
        failed: usize,
        skipped: usize,
        seconds: u64,
    },
}
