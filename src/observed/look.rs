//! The look itself: two waves of lists, the second as wide as there are kinds. Must never retry: the adapter has.

use super::{Live, Sight, Snapshot};
use crate::{
    clock::Clock,
    cloud::Cloud,
    contract::{AnyKind, Class, CloudError, ShapeError},
    model::{Doc, Scope},
};
use futures::future::join_all;
use std::collections::BTreeMap;

/// The kinds whose objects widen the scope of all others.
const FIRST: &[&str] = &["vpc", "cluster"];

/// Looks at every kind of `kinds` once. The VPC and the cluster come first and alone: what sits in that VPC is then found
/// without its tags. A VPC counts only when its tags say that it is the stack's.
pub async fn look(cloud: &dyn Cloud, scope: Scope, kinds: &[&'static dyn AnyKind], clock: &Clock) -> Snapshot {
    let (first, rest): (Vec<_>, Vec<_>) = kinds.iter().copied().partition(|kind| FIRST.contains(&kind.name()));
    let mut snapshot = Snapshot { taken_at: clock.text(), scope, sights: BTreeMap::new() };
    let sights = wave(cloud, &snapshot.scope, &first).await;
    snapshot.sights.extend(sights);
    if snapshot.scope.vpc.is_none() {
        snapshot.scope.vpc = own_vpc(&snapshot);
    }
    let sights = wave(cloud, &snapshot.scope, &rest).await;
    snapshot.sights.extend(sights);
    snapshot
}

/// Looks at one kind again, in the snapshot's scope.
pub async fn relook(cloud: &dyn Cloud, scope: &Scope, kind: &'static dyn AnyKind) -> Sight {
    match cloud.list(kind, scope).await {
        Ok(docs) => match docs.into_iter().map(|doc| live(kind, doc)).collect() {
            Ok(seen) => Sight::Seen(seen),
            Err(error) => Sight::Blind(misshapen(kind, &error)),
        },
        Err(error) => Sight::Blind(error),
    }
}

/// Names that wishes give to things which carry names, by kind: for [`Scope::names`].
pub fn wished_names<'a>(
    wishes: impl IntoIterator<Item = (&'static dyn AnyKind, &'a Doc)>,
) -> Result<BTreeMap<String, Vec<String>>, ShapeError> {
    let mut names = BTreeMap::<String, Vec<String>>::new();
    for (kind, want) in wishes {
        if let Some(name) = kind.words(want)?.name {
            names.entry(kind.name().to_owned()).or_default().push(name);
        }
    }
    Ok(names)
}

async fn wave(cloud: &dyn Cloud, scope: &Scope, kinds: &[&'static dyn AnyKind]) -> Vec<(String, Sight)> {
    join_all(kinds.iter().map(|kind| async move { (kind.name().to_owned(), relook(cloud, scope, *kind).await) })).await
}

/// A live object in the planner's words.
pub fn live(kind: &dyn AnyKind, doc: Doc) -> Result<Live, ShapeError> {
    Ok(Live { kind: kind.name().to_owned(), look: kind.look(&doc)?, doc })
}

/// An answer that the kind can't read is no answer: the kind was not seen.
pub fn misshapen(kind: &dyn AnyKind, error: &ShapeError) -> CloudError {
    CloudError::new(&format!("list {}", kind.name()), Class::Unknown, "UnreadableAnswer", error.to_string())
}

fn own_vpc(snapshot: &Snapshot) -> Option<String> {
    let identity = &snapshot.scope.identity;
    let mut ours =
        snapshot.seen("vpc").iter().map(|live| &live.look).filter(|look| !look.gone && identity.owns(&look.tags));
    let vpc = ours.next()?.id.clone();
    // Two VPCs of one stack: neither may pull in what sits in it by mistake; the tags still find all that is tagged.
    ours.next().is_none().then_some(vpc)
}
