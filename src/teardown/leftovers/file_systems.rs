//! File systems bill by the hour whether they are mounted or not. Must never be swept: the plan deletes them.

use crate::teardown::finder::{Finder, NAME, STACK_TAG};

pub const FINDERS: &[Finder] =
    &[Finder::new("file-system", &[STACK_TAG]), Finder::new("data-repository", &[STACK_TAG, NAME])];
