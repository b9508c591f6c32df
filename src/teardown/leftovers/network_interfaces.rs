//! Interfaces: those that services own vanish with the service's object, those that a dying CNI detached stay for ever. Must
//! never delete one that something holds.

use crate::{
    observed::Live,
    resources::network_interface::Observed,
    teardown::finder::{CLUSTER_TAG, Finder, STACK_TAG, Sweep, VPC},
};
use serde::Deserialize;

pub const FINDERS: &[Finder] = &[Finder::new("network-interface", &[STACK_TAG, CLUSTER_TAG, VPC]).swept(sweep)];

fn sweep(live: &Live) -> Sweep {
    match Observed::deserialize(&live.doc) {
        Ok(observed) if observed.left_behind() => Sweep::Delete,
        _ => Sweep::Wait,
    }
}
