//! Roles and instance profiles, by path and name, as the tagging API lists neither. Must never be swept: a role may be in use by
//! what has its name in another region.

use crate::teardown::finder::{Finder, NAME, STACK_TAG};

pub const FINDERS: &[Finder] =
    &[Finder::new("role", &[STACK_TAG, NAME]), Finder::new("instance-profile", &[STACK_TAG, NAME])];
