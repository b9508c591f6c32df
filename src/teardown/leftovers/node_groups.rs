//! Node groups and the tags on their scaling groups. Must never be swept: the plan deletes them, and their instances with them.

use crate::teardown::finder::{Finder, NAME, STACK_TAG};

pub const FINDERS: &[Finder] =
    &[Finder::new("node-group", &[STACK_TAG, NAME]).billed_elsewhere(), Finder::new("scaling-tags", &[NAME])];
