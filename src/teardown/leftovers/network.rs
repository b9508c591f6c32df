//! The VPC and what it is made of, and endpoints that other services put into it (GuardDuty does), which keep it from being
//! deleted. Must never look into a VPC that was brought along.

use crate::teardown::finder::{Finder, STACK_TAG, Sweep, VPC};

pub const FINDERS: &[Finder] = &[
    Finder::new("vpc", &[STACK_TAG]),
    Finder::new("subnet", &[STACK_TAG, VPC]),
    Finder::new("route-table", &[STACK_TAG, VPC]),
    Finder::new("vpc-endpoint", &[STACK_TAG, VPC])
        .swept(|live| if live.look.going { Sweep::Wait } else { Sweep::Delete }),
];
