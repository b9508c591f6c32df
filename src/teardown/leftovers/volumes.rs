//! Volumes that pods claimed: they outlive the cluster and carry the driver's tags. Must never delete one that is attached.

use crate::{
    observed::Live,
    teardown::finder::{CLUSTER_TAG, Finder, STACK_TAG, Sweep},
};

pub const FINDERS: &[Finder] = &[Finder::new("volume", &[STACK_TAG, CLUSTER_TAG]).swept(sweep)];

fn sweep(live: &Live) -> Sweep {
    let attached = live.look.projected.get("attached").is_some_and(|instance| !instance.is_null());
    if attached || live.look.going { Sweep::Wait } else { Sweep::Delete }
}
