//! What wishes and live objects take, by address, at the sizes they have. Must never forget a size that a scaler set.

use crate::{
    choose::purchase,
    contract::{Demand, Ownership, ShapeError},
    desired::DesiredGraph,
    model::Address,
    observed::{Live, Snapshot},
    resources::{self, node_group},
    stack::{Provisioner, Spec, names},
};
use serde::Deserialize;

/// One demand and whose it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    pub address: Address,
    pub demand: Demand,
}

/// Demands of every wish. `now` of a node group is the size it will have: the live one where the wish leaves it alone, else
/// the one it starts with.
pub fn wished(graph: &DesiredGraph, snapshot: &Snapshot) -> Result<Vec<Taken>, ShapeError> {
    let mut taken = vec![];
    for (address, wish) in &graph.wishes {
        let Some(kind) = resources::kind(address.kind()) else { continue };
        let demands = kind.demand(&wish.doc)?;
        let live = snapshot.at(address).find(|live| !live.look.going);
        let kept = live.filter(|live| live.look.projected.get("start") == wish.doc.get("start"));
        taken.extend(at(address, sized(demands, kept.and_then(size))));
    }
    Ok(taken)
}

/// Demands of every live object of the stack, at the size that it is to have. What controllers and node groups bring is
/// counted by who brings it.
pub fn lived(snapshot: &Snapshot) -> Result<Vec<Taken>, ShapeError> {
    lived_at(snapshot, size)
}

/// The same at the size that it has: nodes which could not be had are not billed.
pub fn running(snapshot: &Snapshot) -> Result<Vec<Taken>, ShapeError> {
    lived_at(snapshot, |live| Some(group(live)?.in_service))
}

fn lived_at(snapshot: &Snapshot, size: impl Fn(&Live) -> Option<u32>) -> Result<Vec<Taken>, ShapeError> {
    let mut taken = vec![];
    for live in snapshot.objects().filter(|live| !live.look.gone) {
        let Some(kind) = resources::kind(&live.kind).filter(|kind| kind.ownership() != Ownership::Byproduct) else {
            continue;
        };
        let owned = live.look.tags.is_empty() || snapshot.scope.identity.owns(&live.look.tags);
        let Some(address) = live.look.claims.as_ref().filter(|_| owned) else { continue };
        taken.extend(at(address, sized(kind.demand(&live.look.projected)?, size(live))));
    }
    Ok(taken)
}

/// Instances that Karpenter may start. Its pools are Kubernetes objects, which demand nothing of the account themselves:
/// pods decide how many nodes there are, up to the class's largest.
pub fn pools(spec: &Spec) -> Vec<Taken> {
    let pools = spec.node_classes.iter().filter(|class| class.provisioner == Provisioner::Karpenter);
    pools
        .filter_map(|class| {
            let demand = Demand::Instances {
                instance_type: class.instance_types.first()?.clone(),
                purchase: purchase(class),
                zone: class.zone.clone(),
                min: class.nodes.min,
                now: class.nodes.desired,
                max: class.nodes.max,
            };
            Some(Taken { address: names::node_pool(&class.name), demand })
        })
        .collect()
}

fn at(address: &Address, demands: Vec<Demand>) -> impl Iterator<Item = Taken> {
    demands.into_iter().map(|demand| Taken { address: address.clone(), demand })
}

/// Nodes that a live group has by its own settings; `None` of other kinds.
pub fn size(live: &Live) -> Option<u32> {
    Some(group(live)?.desired_size)
}

fn group(live: &Live) -> Option<node_group::Observed> {
    (live.kind == "node-group").then(|| node_group::Observed::deserialize(&live.doc))?.ok()
}

/// The same demands with `now` at a size. What is billed beside the instances (volumes) goes with them.
fn sized(demands: Vec<Demand>, size: Option<u32>) -> Vec<Demand> {
    let most = demands.iter().find_map(|demand| match demand {
        Demand::Instances { max, .. } => Some(*max),
        _ => None,
    });
    let (Some(size), Some(most @ 1..)) = (size, most) else { return demands };
    let scale = f64::from(size) / f64::from(most);
    demands
        .into_iter()
        .map(|demand| match demand {
            Demand::Instances { instance_type, purchase, zone, min, max, .. } => {
                Demand::Instances { instance_type, purchase, zone, min, now: size, max }
            }
            Demand::Billed { unit, min, max, .. } => Demand::Billed { unit, min, now: max * scale, max },
            other => other,
        })
        .collect()
}
