//! Karpenter's interruption queue and the rules that feed it. Must never be swept: the plan deletes them.

use crate::teardown::finder::{Finder, NAME, STACK_TAG};

pub const FINDERS: &[Finder] =
    &[Finder::new("queue", &[STACK_TAG, NAME]), Finder::new("event-rule", &[STACK_TAG, NAME])];
