//! Instances that outlive their node group or Karpenter: the dearest thing to forget. Must never end one whose node group
//! lives: the sweep asks for that first.

use crate::teardown::finder::{CLUSTER_TAG, Finder, STACK_TAG, Sweep, VPC};

pub const FINDERS: &[Finder] = &[Finder::new("instance", &[STACK_TAG, CLUSTER_TAG, VPC])
    .swept(|live| if live.look.going { Sweep::Wait } else { Sweep::Delete })];
