//! The port onto the simulated account: latency, script, effect, saving. Must never hold its lock while it waits.

use super::{
    brought::Brought,
    facts,
    faults::{Crash, Fault, Script, Word, lost},
    mutations, nodes,
    scenario::Scenario,
    world::{Moment, Object, World},
};
use crate::{
    catalog::Catalog,
    clock::{Clock, pause},
    cloud::{Answer, Calls, Cloud, Fact, Store},
    contract::{AnyKind, Class, CloudError, Kind, ShapeError},
    model::{Address, Doc, PhysicalId, Scope, Stamp, Tags},
    resources::{KINDS, instance::Instance, node_group::NodeGroup},
    stack::Spec,
};
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::Notify;

/// Called with the whole account as JSON after each call that changed it.
type Hook = Box<dyn Fn(&str) + Send + Sync>;

/// A tiny AWS account behind the port. It lives by the runtime's clock: paused, hours pass in a moment.
pub struct Memory {
    inner: Mutex<Inner>,
    clock: Clock,
    dead: Notify,
    hook: Option<Hook>,
}

pub(super) struct Inner {
    pub world: World,
    pub scenario: Scenario,
    pub catalog: Catalog,
    pub region: String,
    kinds: &'static [&'static dyn AnyKind],
    script: Script,
    calls: Calls,
    made: Vec<Made>,
    in_flight: usize,
    most_in_flight: usize,
}

/// One call, as it reached the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Milliseconds since the epoch.
    pub at: Moment,
    /// `create vpc`, `list subnet`, `ask zones`, `put llama-70b/lock`.
    pub call: String,
    /// Address of what a create call is for; id of what others are for.
    pub subject: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Look,
    Fact,
    Change,
    File,
    FileChange,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    format: u32,
    scenario: Scenario,
    world: World,
}

const FORMAT: u32 = 1;

#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error("the saved account can't be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error("the saved account has format {0}; this program reads {FORMAT}: start over with `sandbox reset`")]
    Format(u32),
}

impl Memory {
    pub fn new(scenario: Scenario, account: &str, region: &str, start: Timestamp) -> Self {
        let world = World { account: account.to_owned(), now: start.as_millisecond(), ..World::default() };
        Self::with(scenario, world, region)
    }

    /// The account as it was saved, at the time it was saved.
    pub fn from_json(text: &str, region: &str) -> Result<Self, MemoryError> {
        let saved: Saved = serde_json::from_str(text)?;
        match saved.format {
            FORMAT => Ok(Self::with(saved.scenario, saved.world, region)),
            other => Err(MemoryError::Format(other)),
        }
    }

    fn with(scenario: Scenario, world: World, region: &str) -> Self {
        let start = Timestamp::from_millisecond(world.now).unwrap_or(Timestamp::UNIX_EPOCH);
        let inner = Inner {
            world,
            scenario,
            catalog: Catalog::compiled(),
            region: region.to_owned(),
            kinds: KINDS,
            script: Script::default(),
            calls: Calls::default(),
            made: vec![],
            in_flight: 0,
            most_in_flight: 0,
        };
        Self { inner: Mutex::new(inner), clock: Clock::starting_at(start), dead: Notify::new(), hook: None }
    }

    /// Other kinds than the registry's.
    pub fn with_kinds(self, kinds: &'static [&'static dyn AnyKind]) -> Self {
        self.lock().kinds = kinds;
        self
    }

    pub fn on_change(mut self, hook: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.hook = Some(Box::new(hook));
        self
    }

    /// The account as JSON.
    pub fn to_json(&self) -> String {
        let mut inner = self.lock();
        inner.world.now = self.moment();
        let saved = Saved { format: FORMAT, scenario: inner.scenario.clone(), world: inner.world.clone() };
        serde_json::to_string_pretty(&saved).expect("a world is plain data with text keys")
    }

    /// The account's time: the program's own clock must be a copy of it.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    pub fn account(&self) -> String {
        self.lock().world.account.clone()
    }

    /// What the file names and the account lacks appears, where the scenario says so.
    pub fn bring(&self, spec: &Spec) {
        let mut inner = self.lock();
        if !inner.scenario.brought_appears {
            return;
        }
        let zones = suitable_zones(&inner, spec);
        let day = SignedDuration::from_hours(24);
        let now = self.clock.now();
        let end = |days: i32| now.saturating_add(day * days).map_or_else(|_| now.to_string(), crate::clock::rfc3339);
        inner.world.brought.appear(spec, &zones, (end(-1), end(29)));
    }

    /// Lets the calls that fit `pattern` and are counted by `calls` (from 1) fail. `*` stands for any run of characters.
    pub fn fail(&self, pattern: &str, calls: std::ops::RangeInclusive<u32>, fault: Fault) {
        self.lock().script.add(pattern, calls, fault);
    }

    /// Lets the process die with the `changes`th create, update or delete: that call and all later ones never return.
    pub fn crash_after(&self, changes: u32, when: Crash) {
        self.lock().script.crash_after(changes, when);
    }

    /// Returns when the process is to die: whoever runs it drops it then.
    pub async fn crashed(&self) {
        self.dead.notified().await;
    }

    /// Ends the script; a crashed account answers again.
    pub fn recover(&self) {
        self.lock().script = Script::default();
    }

    /// Puts an object into the account that no call made: what a controller leaves, or somebody else's.
    pub fn plant(&self, kind: &'static dyn AnyKind, want: &Doc, tags: Tags) -> Result<PhysicalId, CloudError> {
        let now = self.moment();
        let mut inner = self.lock();
        let serial = inner.world.serial();
        let id = kind.imagine_id(want, &serial).map_err(|e| inner.misshapen(&e))?;
        let stamp = Stamp { address: Address::new(kind.name(), &serial), tags, token: String::new() };
        let mut object = mutations::insert(&mut inner, kind, want.clone(), id.clone(), stamp, None, now)?;
        object.ready = now;
        if let Some(last) = inner.world.objects.last_mut() {
            *last = object;
        }
        Ok(id)
    }

    /// Every object that exists now, in the order of making.
    pub fn objects(&self) -> Vec<Object> {
        let now = self.moment();
        self.lock().world.living(now).cloned().collect()
    }

    pub fn brought(&self) -> Brought {
        self.lock().world.brought.clone()
    }

    /// Every call so far, in order.
    pub fn made(&self) -> Vec<Made> {
        self.lock().made.clone()
    }

    /// Forgets the calls so far, as far as they are recorded.
    pub fn forget_calls(&self) {
        let mut inner = self.lock();
        inner.made.clear();
        inner.most_in_flight = inner.in_flight;
    }

    pub fn most_in_flight(&self) -> usize {
        self.lock().most_in_flight
    }

    fn moment(&self) -> Moment {
        self.clock.now().as_millisecond()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic elsewhere says nothing against the world: every effect is one step.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn call<T>(
        &self,
        call: String,
        purpose: Purpose,
        effect: impl FnOnce(&mut Inner, Moment) -> Result<T, CloudError>,
    ) -> Result<T, CloudError> {
        self.call_for(call, String::new(), purpose, effect).await
    }

    async fn call_for<T>(
        &self,
        call: String,
        subject: String,
        purpose: Purpose,
        effect: impl FnOnce(&mut Inner, Moment) -> Result<T, CloudError>,
    ) -> Result<T, CloudError> {
        let changes = matches!(purpose, Purpose::Change | Purpose::FileChange);
        let half = {
            let mut inner = self.lock();
            inner.in_flight += 1;
            inner.most_in_flight = inner.most_in_flight.max(inner.in_flight);
            let latency = inner.scenario.latency_ms;
            Duration::from_millis(u64::from(if changes { latency.change } else { latency.read } / 2))
        };
        let flying = Flying(self);
        pause(half).await;
        let outcome = self.reach(&call, subject, purpose, effect);
        if let Some(hook) = self.hook.as_ref().filter(|_| changes) {
            hook(&self.to_json());
        }
        let Some(outcome) = outcome else {
            drop(flying);
            return std::future::pending().await;
        };
        pause(half).await;
        outcome
    }

    /// What happens when the call arrives; `None`: it never returns.
    fn reach<T>(
        &self,
        call: &str,
        subject: String,
        purpose: Purpose,
        effect: impl FnOnce(&mut Inner, Moment) -> Result<T, CloudError>,
    ) -> Option<Result<T, CloudError>> {
        let now = self.moment();
        let mut inner = self.lock();
        inner.world.prune(now);
        inner.made.push(Made { at: now, call: call.to_owned(), subject });
        match purpose {
            Purpose::Look | Purpose::File => inner.calls.state += 1,
            Purpose::Fact => inner.calls.facts += 1,
            Purpose::Change | Purpose::FileChange => inner.calls.changes += 1,
        }
        match inner.script.judge(call, purpose == Purpose::Change) {
            Word::Pass => Some(effect(&mut inner, now)),
            Word::Fail(error) => Some(Err(error)),
            Word::Lose => Some(effect(&mut inner, now).and_then(|_| Err(lost(call)))),
            Word::Hang { effect: takes_effect } => {
                if takes_effect {
                    // Refused or done: nobody will ever hear.
                    drop(effect(&mut inner, now));
                }
                if inner.script.crashed {
                    self.dead.notify_one();
                }
                None
            }
        }
    }
}

/// Counts a call as over even when whoever waits for it is dropped.
struct Flying<'a>(&'a Memory);

impl Drop for Flying<'_> {
    fn drop(&mut self) {
        self.0.lock().in_flight -= 1;
    }
}

impl Inner {
    pub fn kind(&self, name: &str) -> Option<&'static dyn AnyKind> {
        self.kinds.iter().copied().find(|kind| kind.name() == name)
    }

    pub fn misshapen(&self, error: &ShapeError) -> CloudError {
        self.unreadable(&error.to_string())
    }

    fn may_look(&self, kind: &dyn AnyKind) -> Result<(), CloudError> {
        if !self.scenario.denied.iter().any(|denied| denied == kind.name()) {
            return Ok(());
        }
        let message = format!("the caller is not authorized to look at {}", kind.aws_name());
        Err(CloudError::new(&format!("list {}", kind.name()), Class::Denied, "UnauthorizedOperation", message))
    }

    pub fn unreadable(&self, message: &str) -> CloudError {
        CloudError::new("sandbox", Class::Invalid, "ValidationException", message)
    }

    /// What AWS shows of an object: the kind's own picture, with what only its surroundings and its past know.
    pub fn shown(&self, object: &Object, kind: &dyn AnyKind, now: Moment) -> Result<Doc, CloudError> {
        let mut doc =
            kind.imagine(&object.want, &object.id, &object.stamp, object.phase(now)).map_err(|e| self.misshapen(&e))?;
        if object.is_record(now) {
            doc["state"] = Doc::from(if object.kind == Instance::NAME { "terminated" } else { "deleted" });
        } else if object.kind == NodeGroup::NAME {
            nodes::dress(self, object, &mut doc, now)?;
        }
        Ok(doc)
    }
}

/// Zones for what a stack brings along: those its classes name or can be had in, then the rest that EKS takes.
fn suitable_zones(inner: &Inner, spec: &Spec) -> Vec<String> {
    let all = inner.catalog.zones(&spec.region).value.unwrap_or_default();
    let mut zones: Vec<String> = spec.node_classes.iter().filter_map(|class| class.zone.clone()).collect();
    for class in &spec.node_classes {
        for instance_type in &class.instance_types {
            zones.extend(inner.catalog.offered_zones(instance_type, &spec.region).value.unwrap_or_default());
        }
    }
    zones.extend(all);
    let refused = inner.catalog.refused_control_plane_zones();
    let mut seen = std::collections::BTreeSet::new();
    zones.retain(|zone| !refused.contains(zone) && seen.insert(zone.clone()));
    zones
}

impl Cloud for Memory {
    fn list<'a>(&'a self, kind: &'static dyn AnyKind, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<Doc>, CloudError>> {
        Box::pin(self.call(format!("list {}", kind.name()), Purpose::Look, move |inner, now| {
            inner.may_look(kind)?;
            if kind.name() == NodeGroup::NAME {
                nodes::go_on_trying(inner, now)?;
            }
            let lag = Moment::from(inner.scenario.lag_ms);
            let listed = inner.world.listed(kind, scope, now, lag);
            let listed = listed.map_err(|e| inner.misshapen(&e))?;
            listed.into_iter().map(|object| inner.shown(object, kind, now)).collect()
        }))
    }

    fn read<'a>(&'a self, kind: &'static dyn AnyKind, id: &'a str) -> BoxFuture<'a, Result<Option<Doc>, CloudError>> {
        let call = format!("read {}", kind.name());
        Box::pin(self.call_for(call, id.to_owned(), Purpose::Look, move |inner, now| {
            inner.may_look(kind)?;
            if kind.name() == NodeGroup::NAME {
                nodes::go_on_trying(inner, now)?;
            }
            let lag = Moment::from(inner.scenario.lag_ms);
            let found = inner.world.find(kind.name(), id, now).map(|at| &inner.world.objects[at]);
            found.filter(|object| object.created <= now - lag).map(|object| inner.shown(object, kind, now)).transpose()
        }))
    }

    fn create<'a>(
        &'a self,
        kind: &'static dyn AnyKind,
        want: &'a Doc,
        stamp: &'a Stamp,
    ) -> BoxFuture<'a, Result<PhysicalId, CloudError>> {
        let call = format!("create {}", kind.name());
        Box::pin(self.call_for(call, stamp.address.to_string(), Purpose::Change, move |inner, now| {
            mutations::create(inner, kind, want, stamp, now)
        }))
    }

    fn update<'a>(
        &'a self,
        kind: &'static dyn AnyKind,
        id: &'a str,
        want: &'a Doc,
        changed: &'a [String],
        stamp: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), CloudError>> {
        let call = format!("update {}", kind.name());
        Box::pin(self.call_for(call, id.to_owned(), Purpose::Change, move |inner, now| {
            mutations::update(inner, kind, id, want, changed, stamp, now)
        }))
    }

    fn delete<'a>(&'a self, kind: &'static dyn AnyKind, id: &'a str) -> BoxFuture<'a, Result<(), CloudError>> {
        let call = format!("delete {}", kind.name());
        Box::pin(
            self.call_for(call, id.to_owned(), Purpose::Change, move |inner, now| {
                mutations::delete(inner, kind, id, now)
            }),
        )
    }

    fn ask<'a>(&'a self, fact: &'a Fact) -> BoxFuture<'a, Result<Answer, CloudError>> {
        Box::pin(
            self.call(format!("ask {}", asked(fact)), Purpose::Fact, move |inner, now| facts::answer(inner, fact, now)),
        )
    }

    fn store(&self) -> &dyn Store {
        self
    }

    fn calls(&self) -> Calls {
        self.lock().calls
    }
}

fn asked(fact: &Fact) -> &'static str {
    match fact {
        Fact::Caller => "caller",
        Fact::CallerAddress => "caller-address",
        Fact::Zones => "zones",
        Fact::Offerings { .. } => "offerings",
        Fact::Quotas { .. } => "quotas",
        Fact::Running => "running",
        Fact::Counts => "counts",
        Fact::ClusterVersions => "cluster-versions",
        Fact::AddonVersions { .. } => "addon-versions",
        Fact::AmiReleases { .. } => "ami-releases",
        Fact::Reservations { .. } => "reservations",
        Fact::Subnets { .. } => "subnets",
        Fact::Bucket { .. } => "bucket",
    }
}
