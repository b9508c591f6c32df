//! Snapshots of volumes that pods claimed. Must never take one that has neither our tag nor the cluster's.

use crate::teardown::finder::{CLUSTER_TAG, Finder, STACK_TAG, Sweep};

pub const FINDERS: &[Finder] = &[Finder::new("snapshot", &[STACK_TAG, CLUSTER_TAG]).swept(|_| Sweep::Delete)];
