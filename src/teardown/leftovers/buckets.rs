//! Buckets hold data: a receipt names them under what is kept. Must never be swept.

use crate::teardown::finder::{Finder, NAME, STACK_TAG};

pub const FINDERS: &[Finder] = &[Finder::new("bucket", &[STACK_TAG, NAME]), Finder::new("cost-tags", &[NAME])];
