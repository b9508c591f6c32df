//! The impure half of a kind, over the client of an adapter. Must never name an adapter.

use crate::{
    contract::{AnyKind, CloudError, Kind, ShapeError},
    model::{Doc, PhysicalId, Scope, Stamp},
};
use futures::future::BoxFuture;
use serde::{Serialize, de::DeserializeOwned};
use std::future::Future;

/// What a kind does with a cloud's client. Authors write plain `async fn` in their impls.
pub trait Live<C: Send + Sync + 'static>: Kind {
    /// Every live object in scope, paged to the end, records of gone ones included. What the parent's absence implies is
    /// "none"; any other error is an error.
    fn list(client: &C, scope: &Scope) -> impl Future<Output = Result<Vec<Self::Observed>, CloudError>> + Send;
    /// One object; `None` only when the cloud says that it does not exist.
    fn read(client: &C, id: &str) -> impl Future<Output = Result<Option<Self::Observed>, CloudError>> + Send;
    /// Exactly one mutating call, with tags and token.
    fn create(
        client: &C,
        want: &Self::Desired,
        stamp: &Stamp,
    ) -> impl Future<Output = Result<PhysicalId, CloudError>> + Send;
    /// Brings the fields at `changed` to the wish; `/tags` stands for tags.
    fn update(
        client: &C,
        id: &str,
        want: &Self::Desired,
        changed: &[String],
        stamp: &Stamp,
    ) -> impl Future<Output = Result<(), CloudError>> + Send;
    /// Starts deletion; what does not exist is deleted.
    fn delete(client: &C, id: &str) -> impl Future<Output = Result<(), CloudError>> + Send;
}

/// The same over documents.
pub trait AnyLive<C>: AnyKind {
    fn list<'a>(&'a self, client: &'a C, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<Doc>, CloudError>>;
    fn read<'a>(&'a self, client: &'a C, id: &'a str) -> BoxFuture<'a, Result<Option<Doc>, CloudError>>;
    fn create<'a>(
        &'a self,
        client: &'a C,
        want: &'a Doc,
        stamp: &'a Stamp,
    ) -> BoxFuture<'a, Result<PhysicalId, CloudError>>;
    fn update<'a>(
        &'a self,
        client: &'a C,
        id: &'a str,
        want: &'a Doc,
        changed: &'a [String],
        stamp: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), CloudError>>;
    fn delete<'a>(&'a self, client: &'a C, id: &'a str) -> BoxFuture<'a, Result<(), CloudError>>;
}

fn typed<T: DeserializeOwned>(kind: &'static str, doc: &Doc) -> Result<T, CloudError> {
    T::deserialize(doc).map_err(|e| ShapeError { kind, message: e.to_string() }.into())
}

fn erased<T: Serialize>(kind: &'static str, value: &T) -> Result<Doc, CloudError> {
    serde_json::to_value(value).map_err(|e| ShapeError { kind, message: e.to_string() }.into())
}

impl<C: Send + Sync + 'static, K: Live<C>> AnyLive<C> for K {
    fn list<'a>(&'a self, client: &'a C, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<Doc>, CloudError>> {
        Box::pin(async move {
            <K as Live<C>>::list(client, scope).await?.iter().map(|live| erased(K::NAME, live)).collect()
        })
    }
    fn read<'a>(&'a self, client: &'a C, id: &'a str) -> BoxFuture<'a, Result<Option<Doc>, CloudError>> {
        Box::pin(async move { <K as Live<C>>::read(client, id).await?.map(|live| erased(K::NAME, &live)).transpose() })
    }
    fn create<'a>(
        &'a self,
        client: &'a C,
        want: &'a Doc,
        stamp: &'a Stamp,
    ) -> BoxFuture<'a, Result<PhysicalId, CloudError>> {
        Box::pin(async move { <K as Live<C>>::create(client, &typed(K::NAME, want)?, stamp).await })
    }
    fn update<'a>(
        &'a self,
        client: &'a C,
        id: &'a str,
        want: &'a Doc,
        changed: &'a [String],
        stamp: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), CloudError>> {
        Box::pin(async move { <K as Live<C>>::update(client, id, &typed(K::NAME, want)?, changed, stamp).await })
    }
    fn delete<'a>(&'a self, client: &'a C, id: &'a str) -> BoxFuture<'a, Result<(), CloudError>> {
        Box::pin(<K as Live<C>>::delete(client, id))
    }
}
