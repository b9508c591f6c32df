//! Deletes what AWS and controllers left behind, and waits for what only they can let go. Must never touch anything while the
//! cluster that may still use it lives.

use super::{
    finder::{Sweep, is_claimed, is_ours, state, widened},
    leftovers::finders,
};
use crate::{
    apply::{Event, LEAVE, Surroundings},
    clock::pause,
    contract::{AnyKind, Class, CloudError},
    model::{PhysicalId, Scope},
    observed::{Live, Sight, relook},
};
use futures::future::join_all;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use tokio::sync::watch;

/// Between two rounds.
const ROUND: Duration = Duration::from_secs(10);
/// Without anything coming or going the sweep gives up; the proof then says what is left.
const STALL: Duration = Duration::from_secs(1200);
const HEARTBEAT: Duration = Duration::from_secs(30);
/// Quiet rounds in a row, after the plan is carried out, before the sweep believes that nothing more comes: a log group is
/// written again up to a minute after its cluster.
const QUIET: u32 = 4;

/// Something that was left behind and is gone now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Swept {
    /// `ec2:network-interface`
    pub what: String,
    pub id: PhysicalId,
    pub seconds: u64,
}

/// Sweeps until `planned` says that the plan is carried out and nothing is left to delete or to wait for.
pub(super) async fn sweep(around: Surroundings<'_>, scope: &Scope, planned: watch::Receiver<bool>) -> Vec<Swept> {
    let mut broom = Broom {
        around,
        scope: widened(scope),
        begun: around.clock.elapsed(),
        known: BTreeMap::new(),
        said: BTreeSet::new(),
        swept: vec![],
    };
    let (mut last_change, mut told, mut quiet) = (broom.begun, broom.begun, 0);
    loop {
        let over = *planned.borrow();
        let before = (broom.known.len(), broom.swept.len());
        let waiting = broom.round().await;
        let now = around.clock.elapsed();
        if before != (broom.known.len(), broom.swept.len()) {
            last_change = now;
        }
        quiet = if over && waiting.as_ref().is_some_and(Vec::is_empty) { quiet + 1 } else { 0 };
        // With the cluster alive after the plan, what is left is in use: the plan failed, and its next run goes on.
        let pointless = over && waiting.is_none();
        if quiet == QUIET || pointless || over && now - last_change > STALL {
            return broom.swept;
        }
        if let Some(waiting) = waiting.filter(|waiting| !waiting.is_empty() && now - told >= HEARTBEAT) {
            told = now;
            let seconds = (now - broom.begun).as_secs();
            (around.tell)(Event::LeftoverWaiting { at: around.clock.text(), seconds, waiting_for: waiting.join(", ") });
        }
        tokio::select! {
            () = pause(ROUND) => {}
            () = around.stop.reached(LEAVE) => return broom.swept,
        }
    }
}

type Key = (&'static str, PhysicalId);

struct Broom<'a> {
    around: Surroundings<'a>,
    scope: Scope,
    begun: Duration,
    /// What is on its way out, and since when.
    known: BTreeMap<Key, Duration>,
    /// Failures that were told: once each.
    said: BTreeSet<(&'static str, Option<PhysicalId>, Class)>,
    swept: Vec<Swept>,
}

impl Broom<'_> {
    /// One look at everything, and a deletion of each thing that can go. Answers what is waited for; `None` while the cluster
    /// or a node group is there, or could not be looked at.
    async fn round(&mut self) -> Option<Vec<String>> {
        if !self.nobody_uses_it().await {
            return None;
        }
        let (around, scope) = (self.around, self.scope.clone());
        let looked = finders().filter_map(|finder| {
            let kind = around.kinds.iter().copied().find(|kind| kind.name() == finder.kind)?;
            Some((finder.sweep?, kind))
        });
        let sights = join_all(looked.map(|(sweep, kind)| {
            let scope = &scope;
            async move { (sweep, kind, relook(around.cloud, scope, kind).await) }
        }))
        .await;
        let mut waiting = vec![];
        let mut blind = BTreeSet::new();
        let mut there = BTreeSet::new();
        let mut deletions = vec![];
        for (sweep, kind, sight) in sights {
            let seen = match sight {
                Sight::Seen(seen) => seen,
                Sight::Blind(error) => {
                    blind.insert(kind.name());
                    waiting.push(format!("a look at {}", kind.name()));
                    self.failed(kind, None, error);
                    continue;
                }
            };
            for live in seen.into_iter().filter(|live| is_ours(kind, live, &scope.identity)) {
                if is_claimed(kind, &live, &scope.identity) {
                    continue;
                }
                there.insert((kind.name(), live.look.id.clone()));
                waiting.push(format!("{} {} ({})", kind.name(), live.look.id, state(&live)));
                if sweep(&live) == Sweep::Delete {
                    deletions.push((kind, live));
                }
            }
        }
        self.say_gone(&there, &blind);
        for (kind, live) in deletions {
            self.delete(kind, &live).await;
        }
        Some(waiting)
    }

    /// True once no node group is left and the cluster is at least on its way out.
    async fn nobody_uses_it(&mut self) -> bool {
        for name in ["node-group", "cluster"] {
            let Some(kind) = self.around.kinds.iter().copied().find(|kind| kind.name() == name) else { continue };
            match relook(self.around.cloud, &self.scope, kind).await {
                Sight::Seen(seen) => {
                    let ours = seen.iter().filter(|live| is_ours(kind, live, &self.scope.identity));
                    if ours.into_iter().any(|live| name == "node-group" || !live.look.going) {
                        return false;
                    }
                }
                Sight::Blind(error) => {
                    self.failed(kind, None, error);
                    return false;
                }
            }
        }
        true
    }

    async fn delete(&mut self, kind: &'static dyn AnyKind, live: &Live) {
        let key = (kind.name(), live.look.id.clone());
        let asked = self.around.cloud.delete(kind, &live.look.id).await;
        match asked {
            Ok(()) if !self.known.contains_key(&key) => {
                self.known.insert(key, self.around.clock.elapsed());
                (self.around.tell)(Event::LeftoverFound {
                    at: self.around.clock.text(),
                    what: kind.aws_name().to_owned(),
                    id: live.look.id.clone(),
                    state: state(live),
                });
            }
            Ok(()) => {}
            // Something leans on it still: the next round asks again.
            Err(error) if matches!(error.class, Class::InUse | Class::Conflict | Class::NotYet) => {}
            Err(error) if error.class == Class::NotFound => {}
            Err(error) => self.failed(kind, Some(live.look.id.clone()), error),
        }
    }

    /// What was on its way out and is not seen any more, where the look worked.
    fn say_gone(&mut self, there: &BTreeSet<Key>, blind: &BTreeSet<&'static str>) {
        let gone = |key: &Key| !there.contains(key) && !blind.contains(key.0);
        let keys: Vec<Key> = self.known.keys().filter(|key| gone(key)).cloned().collect();
        for key in keys {
            let Some(since) = self.known.remove(&key) else { continue };
            let seconds = (self.around.clock.elapsed() - since).as_secs();
            let kind = self.around.kinds.iter().find(|kind| kind.name() == key.0);
            let what = kind.map_or(key.0, |kind| kind.aws_name()).to_owned();
            let id = key.1;
            let (at, told) = (self.around.clock.text(), (what.clone(), id.clone()));
            (self.around.tell)(Event::LeftoverGone { at, what: told.0, id: told.1, seconds });
            self.swept.push(Swept { what, id, seconds });
        }
    }

    fn failed(&mut self, kind: &'static dyn AnyKind, id: Option<PhysicalId>, error: CloudError) {
        if self.said.insert((kind.name(), id.clone(), error.class)) {
            let (at, what) = (self.around.clock.text(), kind.aws_name().to_owned());
            (self.around.tell)(Event::LeftoverFailed { at, what, id, error });
        }
    }
}
