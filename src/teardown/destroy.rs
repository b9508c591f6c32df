//! Carries out a plan of destruction while what nobody planned is swept from under it. Must never say that it is gone: that is
//! the receipt's.

use super::sweep::{Swept, sweep};
use crate::{
    apply::{Outcome, Surroundings, apply},
    observed::Snapshot,
    plan::Plan,
};
use tokio::sync::watch;

/// What a destruction did.
#[derive(Clone, Debug)]
pub struct Destroyed {
    pub outcome: Outcome,
    /// What nobody planned: made, and left behind, by AWS and by controllers.
    pub swept: Vec<Swept>,
}

/// Both at once, as a leftover keeps subnets and groups from being deleted: the engine asks for those again until the sweep
/// has freed them.
pub async fn destroy(plan: &Plan, snapshot: &Snapshot, around: Surroundings<'_>) -> Destroyed {
    let (over, planned) = watch::channel(false);
    let planning = async {
        let outcome = apply(plan, snapshot, around).await;
        over.send_replace(true);
        outcome
    };
    let (outcome, swept) = tokio::join!(planning, sweep(around, &snapshot.scope, planned));
    Destroyed { outcome, swept }
}
