//! The proof that a stack is gone, in the shape that `verify` prints. Must never say `absent` of what was not looked at twice.

use crate::{
    contract::CloudError,
    model::{Identity, PhysicalId},
};
use serde::{Deserialize, Serialize};

/// In the order of what weighs more: something that bills, then something that could not be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Absent,
    NotChecked,
    Present,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Receipt {
    pub verdict: Status,
    pub checks: Vec<Check>,
    pub kept: Vec<Kept>,
    /// Of everything whose price is known.
    pub remaining_hourly_usd: f64,
    pub kept_hourly_usd: f64,
    /// Ids of what is left or kept and has no known price.
    pub unpriced: Vec<PhysicalId>,
}

/// One kind, read twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Check {
    /// `ec2:instance`
    pub what: String,
    pub found_by: Vec<String>,
    /// RFC 3339: when each look began.
    pub first_read: String,
    pub second_read: String,
    pub status: Status,
    pub remaining: Vec<Remaining>,
    pub error: Option<CloudError>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Remaining {
    pub id: PhysicalId,
    pub state: String,
    /// `None`: no price is known.
    pub hourly_usd: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Kept {
    pub what: String,
    pub id: PhysicalId,
    pub why: String,
    pub hourly_usd: Option<f64>,
}

impl Receipt {
    pub fn new(checks: Vec<Check>, kept: Vec<Kept>) -> Self {
        let left = || checks.iter().flat_map(|check| &check.remaining);
        let prices = || left().map(|r| (&r.id, r.hourly_usd)).chain(kept.iter().map(|k| (&k.id, k.hourly_usd)));
        Self {
            verdict: checks.iter().map(|check| check.status).max().unwrap_or(Status::NotChecked),
            remaining_hourly_usd: left().filter_map(|remaining| remaining.hourly_usd).sum(),
            kept_hourly_usd: kept.iter().filter_map(|kept| kept.hourly_usd).sum(),
            unpriced: prices().filter(|(_, price)| price.is_none()).map(|(id, _)| id.clone()).collect(),
            checks,
            kept,
        }
    }
}

/// Where a receipt is kept in the store: `llama-70b/2026-12-01T14-32-10Z.json`.
pub fn receipt_key(identity: &Identity, at: &str) -> String {
    format!("{}/{}.json", identity.stack, at.replace(':', "-"))
}
