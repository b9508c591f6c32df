//! A simulated account behind the adapter, and what an engine does with one object: make it, wait, compare, change, delete.

use infer_stack::{
    aws::{Aws, WireClient},
    clock::{Clock, pause},
    cloud::{Cloud, memory::Scenario},
    contract::{AnyKind, CloudError, Kind, Look, Readiness},
    model::{Address, Doc, Identity, REGION, RESOURCE, STACK, Scope, Stamp, Tags},
    plan::diff,
    resources,
    sandbox::{Sandbox, is_change, world::World},
    stack::names::hash,
};
use serde::de::DeserializeOwned;
use std::{sync::Arc, time::Duration};

pub const IN: &str = "us-west-2";

pub struct Desk {
    pub sandbox: Arc<Sandbox>,
    pub aws: Aws,
    pub scope: Scope,
}

/// A kind by its type.
pub fn kind<K: Kind>() -> &'static dyn AnyKind {
    resources::kind(K::NAME).unwrap()
}

pub fn doc(value: impl serde::Serialize) -> Doc {
    serde_json::to_value(value).unwrap()
}

impl Desk {
    pub fn new() -> Self {
        let clock = Clock::starting_at("2026-12-01T12:00:00Z".parse().unwrap());
        let world = World::new("123456789012", Scenario::ready(), clock.now().as_millisecond());
        let sandbox = Arc::new(Sandbox::new(world));
        sandbox.listen();
        let client = WireClient::new(sandbox.clone(), clock);
        let identity =
            Identity { account: "123456789012".to_owned(), region: IN.to_owned(), stack: "llama".to_owned() };
        let scope = Scope { identity, cluster: "llama".to_owned(), vpc: None, names: Default::default() };
        Self { sandbox, aws: Aws::sandbox(&client, clock, "123456789012", IN), scope }
    }

    pub async fn wait(&self, seconds: u64) {
        pause(Duration::from_secs(seconds)).await;
    }

    pub fn stamp<K: Kind>(&self, name: &str) -> Stamp {
        let address = Address::new(K::NAME, name);
        let tags = [(STACK, "llama"), (REGION, IN), (RESOURCE, address.as_str()), ("team", "serving")];
        let tags: Tags = tags.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let token = hash(address.as_str(), 40);
        Stamp { address, tags, token }
    }

    /// Calls that changed something, so far.
    pub fn changes(&self) -> Vec<String> {
        let heard = self.sandbox.heard();
        let changes = heard.into_iter().filter(|heard| is_change(heard.call.split_once(':').unwrap().1));
        changes.map(|heard| heard.call).collect()
    }

    /// Creates, waits, brings the rest, and holds the result to the wish. Its id.
    pub async fn make<K: Kind>(&self, name: &str, want: &K::Desired) -> String {
        let stamp = self.stamp::<K>(name);
        let before = self.changes().len();
        let id = self.aws.create(kind::<K>(), &doc(want), &stamp).await.unwrap_or_else(|e| panic!("{name}: {e}"));
        let made = self.changes().split_off(before);
        assert_eq!(made.len(), 1, "{name}: a create is one mutating call: {made:?}");
        self.bring::<K>(name, &id, want).await;
        id
    }

    /// Waits until ready, and changes what differs until nothing does. The fields that were changed.
    pub async fn bring<K: Kind>(&self, name: &str, id: &str, want: &K::Desired) -> Vec<String> {
        let (stamp, want) = (self.stamp::<K>(name), doc(want));
        let mut all = vec![];
        for _ in 0..3 {
            let look = self.ready::<K>(id).await;
            let diff = diff(kind::<K>(), &want, &look, &stamp.tags).unwrap();
            if diff.is_empty() {
                return all;
            }
            assert!(!diff.replaces(), "{name}: {:?}", diff.changes);
            let update = self.aws.update(kind::<K>(), id, &want, &diff.changed, &stamp).await;
            update.unwrap_or_else(|e| panic!("{name} {:?}: {e}", diff.changed));
            all.extend(diff.changed);
        }
        panic!("{name} still differs after three changes: {all:?}");
    }

    pub async fn ready<K: Kind>(&self, id: &str) -> Look {
        for _ in 0..100 {
            match self.look::<K>(id).await {
                Some(look) if look.ready == Readiness::Ready => return look,
                Some(Look { ready: Readiness::Broken(why), .. }) => panic!("{id}: {why}"),
                _ => self.wait(5).await,
            }
        }
        panic!("{id} is not ready");
    }

    pub async fn look<K: Kind>(&self, id: &str) -> Option<Look> {
        let seen = self.aws.read(kind::<K>(), id).await.unwrap();
        seen.map(|doc| kind::<K>().look(&doc).unwrap())
    }

    pub async fn seen<K: Kind>(&self, id: &str) -> K::Observed
    where
        K::Observed: DeserializeOwned,
    {
        serde_json::from_value(self.aws.read(kind::<K>(), id).await.unwrap().expect(id)).unwrap()
    }

    /// Ids of everything that a list shows and that is not gone.
    pub async fn list<K: Kind>(&self) -> Vec<String> {
        let docs = self.aws.list(kind::<K>(), &self.scope).await.unwrap();
        let looks = docs.iter().map(|doc| kind::<K>().look(doc).unwrap());
        looks.filter(|look| !look.gone).map(|look| look.id).collect()
    }

    pub async fn delete<K: Kind>(&self, id: &str) -> Result<(), CloudError> {
        self.aws.delete(kind::<K>(), id).await
    }

    /// Deletes, and waits until it is proven gone.
    pub async fn end<K: Kind>(&self, id: &str) {
        self.delete::<K>(id).await.unwrap_or_else(|e| panic!("{id}: {e}"));
        for _ in 0..100 {
            match self.look::<K>(id).await {
                None => return,
                Some(look) if look.gone => return,
                Some(_) => self.wait(5).await,
            }
        }
        panic!("{id} does not go");
    }
}
