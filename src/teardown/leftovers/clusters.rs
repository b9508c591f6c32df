//! The control plane and what is only a part of it. Must never be swept: the plan knows their order.

use crate::teardown::finder::{Finder, NAME, STACK_TAG};

pub const FINDERS: &[Finder] = &[
    Finder::new("cluster", &[STACK_TAG, NAME]),
    Finder::new("addon", &[NAME]),
    Finder::new("access-entry", &[NAME]),
    Finder::new("pod-identity", &[NAME]),
];
