//! Launch templates. Must never be swept: the plan deletes ours.

use crate::teardown::finder::{Finder, NAME, STACK_TAG};

pub const FINDERS: &[Finder] = &[Finder::new("launch-template", &[STACK_TAG, NAME])];
