//! Balancers that a controller in the cluster made: nobody deletes them once it is gone. Must never take a target group before
//! its balancer.

use crate::teardown::finder::{CLUSTER_TAG, Finder, STACK_TAG, Sweep, VPC};

pub const FINDERS: &[Finder] = &[
    Finder::new("load-balancer", &[STACK_TAG, CLUSTER_TAG, VPC])
        .swept(|live| if live.look.going { Sweep::Wait } else { Sweep::Delete }),
    Finder::new("target-group", &[STACK_TAG, CLUSTER_TAG, VPC]).swept(|_| Sweep::Delete),
];
