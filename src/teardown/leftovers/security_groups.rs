//! Security groups in the stack's VPC: EKS's own, balancers', GuardDuty's. Must never take the VPC's default group, which no
//! list of ours shows.

use crate::teardown::finder::{CLUSTER_TAG, Finder, STACK_TAG, Sweep, VPC};

pub const FINDERS: &[Finder] =
    &[Finder::new("security-group", &[STACK_TAG, CLUSTER_TAG, VPC]).swept(|_| Sweep::Delete)];
