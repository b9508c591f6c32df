//! The control plane's log group, which EKS writes again when lines arrive late. Must never take a log group of another owner
//! that has the name.

use crate::teardown::finder::{Finder, NAME, STACK_TAG, Sweep};

pub const FINDERS: &[Finder] = &[Finder::new("log-group", &[STACK_TAG, NAME]).swept(|_| Sweep::Delete)];
