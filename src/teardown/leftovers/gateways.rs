//! Gateways and the addresses that stay allocated, and billed, after them. Must never take an address of another stack.

use crate::teardown::finder::{Finder, STACK_TAG, VPC};

pub const FINDERS: &[Finder] = &[
    Finder::new("nat-gateway", &[STACK_TAG, VPC]),
    Finder::new("elastic-ip", &[STACK_TAG]),
    Finder::new("internet-gateway", &[STACK_TAG, VPC]),
];
