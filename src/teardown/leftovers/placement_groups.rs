//! Placement groups cost nothing and keep their name taken. Must never be swept: the plan deletes them.

use crate::teardown::finder::{Finder, NAME, STACK_TAG};

pub const FINDERS: &[Finder] = &[Finder::new("placement-group", &[STACK_TAG, NAME])];
