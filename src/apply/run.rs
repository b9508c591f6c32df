//! What every step of a run needs, and what comes out of a run. Must never outlive it.

use super::{Event, journal::Log, stop::Stop};
use crate::{
    catalog::Catalog,
    clock::Clock,
    cloud::Cloud,
    contract::{AnyKind, CloudError, ShapeError},
    model::{Address, Outputs, PhysicalId, Scope},
    plan::Verb,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tokio::sync::Semaphore;

/// Calls in flight at once. A step that waits for AWS has no call in flight, so that forty node groups come up together.
pub const IN_FLIGHT: usize = 16;

/// Everything around the plan: passed in, so that a run in a test differs from a real one in nothing.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    pub cloud: &'a dyn Cloud,
    pub kinds: &'static [&'static dyn AnyKind],
    pub catalog: &'a Catalog,
    pub clock: Clock,
    pub log: &'a Log<'a>,
    /// Takes each event as it happens; must not block.
    pub tell: &'a (dyn Fn(Event) + Sync),
    pub stop: &'a Stop,
    /// Most calls in flight; [`IN_FLIGHT`] unless there is a reason.
    pub in_flight: usize,
}

pub(crate) struct Run<'a> {
    pub around: Surroundings<'a>,
    pub scope: &'a Scope,
    places: Semaphore,
}

impl<'a> Run<'a> {
    pub fn new(around: Surroundings<'a>, scope: &'a Scope) -> Self {
        Self { around, scope, places: Semaphore::new(around.in_flight.max(1)) }
    }

    pub fn kind(&self, name: &str) -> Result<&'static dyn AnyKind, Failure> {
        let found = self.around.kinds.iter().copied().find(|kind| kind.name() == name);
        found.ok_or_else(|| Failure::Fault(format!("there is no kind `{name}`")))
    }

    pub fn tell(&self, event: Event) {
        (self.around.tell)(event);
    }

    pub fn now(&self) -> String {
        self.around.clock.text()
    }

    /// Makes one call in one of the places.
    pub async fn call<T>(&self, call: impl Future<Output = T>) -> T {
        let place = self.places.acquire().await.expect("the places are never closed");
        let answer = call.await;
        drop(place);
        answer
    }
}

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Cloud(#[from] CloudError),
    /// The waiter's last word.
    #[error("{0}")]
    GaveUp(String),
    /// AWS accepted a change that does not show.
    #[error("{} still differs after the change was made {times} times", paths.join(", "))]
    NotTaken { paths: Vec<String>, times: u32 },
    /// The object with the name or the token is somebody else's.
    #[error("{error}; what has that name is not of this stack")]
    Foreign { error: CloudError },
    #[error(transparent)]
    Journal(#[from] super::journal::JournalError),
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// Told to leave while the step waited.
    #[error("stopped while it was on its way")]
    Left,
    /// The plan contradicts itself: a fault of the program.
    #[error("{0}")]
    Fault(String),
}

impl Failure {
    pub fn cloud(&self) -> Option<&CloudError> {
        match self {
            Failure::Cloud(error) | Failure::Foreign { error } => Some(error),
            _ => None,
        }
    }
}

/// What a run did. Nothing is taken back: the answer to failure is a new plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    pub done: Vec<Done>,
    pub failed: Vec<Failed>,
    pub skipped: Vec<Skipped>,
    /// On its way when the run was left; the next run finds it.
    pub in_flight: Vec<InFlight>,
    /// Values of everything that is known to live now.
    pub outputs: BTreeMap<Address, Outputs>,
    pub seconds: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Done {
    pub address: Address,
    pub verb: Verb,
    pub id: Option<PhysicalId>,
    /// From the start of the run.
    pub started_after: u64,
    pub seconds: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failed {
    pub address: Address,
    pub verb: Verb,
    pub id: Option<PhysicalId>,
    pub why: String,
    pub error: Option<CloudError>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    pub address: Address,
    pub because: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InFlight {
    pub address: Address,
    pub id: Option<PhysicalId>,
}

impl Outcome {
    /// Everything that was planned is done.
    pub fn is_complete(&self) -> bool {
        self.failed.is_empty() && self.skipped.is_empty() && self.in_flight.is_empty()
    }
}
