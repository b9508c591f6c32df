//! AWS behind the port: each question to the live half of its kind, or to the facts. Must never know a kind by name.

use super::{Aws, Purpose, facts};
use crate::{
    cloud::{Answer, Calls, Cloud, Fact, Store},
    contract::{AnyKind, AnyLive, Class, CloudError},
    model::{Doc, PhysicalId, Scope, Stamp},
    resources::live,
};
use futures::future::BoxFuture;

fn half(kind: &dyn AnyKind) -> Result<&'static dyn AnyLive<Aws>, CloudError> {
    live(kind.name()).ok_or_else(|| {
        let message = format!("this version can't work with {} on AWS", kind.name());
        CloudError::new(kind.name(), Class::Unsupported, "NoLiveHalf", message)
    })
}

impl Cloud for Aws {
    fn list<'a>(&'a self, kind: &'static dyn AnyKind, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<Doc>, CloudError>> {
        Box::pin(Purpose::State.of(async move { half(kind)?.list(self, scope).await }))
    }

    fn read<'a>(&'a self, kind: &'static dyn AnyKind, id: &'a str) -> BoxFuture<'a, Result<Option<Doc>, CloudError>> {
        Box::pin(Purpose::State.of(async move { half(kind)?.read(self, id).await }))
    }

    fn create<'a>(
        &'a self,
        kind: &'static dyn AnyKind,
        want: &'a Doc,
        stamp: &'a Stamp,
    ) -> BoxFuture<'a, Result<PhysicalId, CloudError>> {
        Box::pin(Purpose::Change.of(async move { half(kind)?.create(self, want, stamp).await }))
    }

    fn update<'a>(
        &'a self,
        kind: &'static dyn AnyKind,
        id: &'a str,
        want: &'a Doc,
        changed: &'a [String],
        stamp: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), CloudError>> {
        Box::pin(Purpose::Change.of(async move { half(kind)?.update(self, id, want, changed, stamp).await }))
    }

    fn delete<'a>(&'a self, kind: &'static dyn AnyKind, id: &'a str) -> BoxFuture<'a, Result<(), CloudError>> {
        Box::pin(async move {
            let half = half(kind)?;
            match Purpose::Change.of(half.delete(self, id)).await {
                // A policy that allows by tag refuses what has no tags any more because it is gone.
                Err(error) if error.class == Class::Denied => match Purpose::State.of(half.read(self, id)).await {
                    Ok(None) => Ok(()),
                    Ok(Some(_)) | Err(_) => Err(error),
                },
                outcome => outcome,
            }
        })
    }

    fn ask<'a>(&'a self, fact: &'a Fact) -> BoxFuture<'a, Result<Answer, CloudError>> {
        Box::pin(Purpose::Facts.of(facts::answer(self, fact)))
    }

    fn store(&self) -> &dyn Store {
        self
    }

    fn calls(&self) -> Calls {
        self.meter.calls()
    }
}
