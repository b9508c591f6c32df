//! One file a check, each a pure function from the input to findings. Must never ask a cloud: what a check needs is gathered
//! before.

mod access;
mod account;
mod addresses;
mod bucket;
mod budget;
mod capacity;
mod counts;
mod efa;
mod expiry;
mod names;
mod offering;
mod placement;
mod quota;
mod support;
mod zones;

use crate::preflight::{Finding, Input};

/// In the order in which people read them.
const CHECKS: &[fn(&Input<'_>) -> Vec<Finding>] = &[
    account::judge,
    quota::judge,
    counts::judge,
    offering::judge,
    capacity::judge,
    placement::judge,
    efa::judge,
    zones::judge,
    addresses::judge,
    names::judge,
    bucket::judge,
    access::judge,
    support::judge,
    expiry::judge,
    budget::judge,
];

/// Every finding of every check.
pub fn judge(input: &Input<'_>) -> Vec<Finding> {
    CHECKS.iter().flat_map(|check| check(input)).collect()
}
