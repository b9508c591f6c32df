//! The port: everything the program may ask of a cloud. Must never say which cloud is behind it.

mod cached;
mod fact;
pub mod memory;
mod store;

pub use cached::{Cached, cache_directory, lifetime};
pub use fact::{
    AddonVersion, Answer, Caller, ClusterVersion, Fact, Offering, QuotaValue, Reservation, RunningInstances,
    SubnetFacts, Zone,
};
pub use store::{Entry, Expect, Store, StoreError};

use crate::{
    contract::{AnyKind, CloudError},
    model::{Doc, PhysicalId, Scope, Stamp},
};
use futures::future::BoxFuture;

/// A cloud, over documents. Every method may be called from many tasks at once.
pub trait Cloud: Send + Sync {
    /// Every live object of a kind in scope, `gone` records included, paged to the end.
    fn list<'a>(&'a self, kind: &'static dyn AnyKind, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<Doc>, CloudError>>;
    /// One live object; `None` only when the cloud says that it does not exist.
    fn read<'a>(&'a self, kind: &'static dyn AnyKind, id: &'a str) -> BoxFuture<'a, Result<Option<Doc>, CloudError>>;
    /// Exactly one mutating call, with tags and token. `want` holds no unresolved link.
    fn create<'a>(
        &'a self,
        kind: &'static dyn AnyKind,
        want: &'a Doc,
        stamp: &'a Stamp,
    ) -> BoxFuture<'a, Result<PhysicalId, CloudError>>;
    /// Brings the fields at `changed` (paths of `want`; `/tags` for tags) to the wish.
    fn update<'a>(
        &'a self,
        kind: &'static dyn AnyKind,
        id: &'a str,
        want: &'a Doc,
        changed: &'a [String],
        stamp: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), CloudError>>;
    /// Starts deletion. An object that does not exist is success.
    fn delete<'a>(&'a self, kind: &'static dyn AnyKind, id: &'a str) -> BoxFuture<'a, Result<(), CloudError>>;
    fn ask<'a>(&'a self, fact: &'a Fact) -> BoxFuture<'a, Result<Answer, CloudError>>;
    /// The operations bucket: lock, copies of journals, receipts.
    fn store(&self) -> &dyn Store;
    /// Calls so far.
    fn calls(&self) -> Calls;
}

/// Calls made through the port, retries included, by purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub state: u64,
    pub facts: u64,
    pub kubernetes: u64,
    pub changes: u64,
    pub retries: u64,
    pub throttles: u64,
}
