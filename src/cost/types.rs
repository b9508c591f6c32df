//! What a stack costs, as plain data in the shape that `plan` and `cost` print. Must never hold a zero that stands for
//! "not known".

use serde::{Deserialize, Serialize};

/// Sums leave out what [`Cost::unknown`] lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cost {
    /// `USD`
    pub currency: String,
    /// An hour of what lives and runs.
    pub hourly_now: f64,
    /// An hour of the stack as it starts.
    pub hourly_after: f64,
    /// An hour at the smallest sizes …
    pub hourly_min: f64,
    /// … and at the largest.
    pub hourly_max: f64,
    /// `hourly_after` times the hours left; `None` for a stack that does not expire.
    pub until_expiry: Option<f64>,
    /// By address, of the stack as it starts; what is 0 there and more at its largest is listed too.
    pub items: Vec<Item>,
    /// Date of the oldest price used, `YYYY-MM-DD`.
    pub as_of: Option<String>,
    /// What has no known price.
    pub unknown: Vec<Unpriced>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Item {
    /// `node-group.p5`
    pub address: String,
    /// `p5.48xlarge`, `eksClusterHours`, `gp3GibMonths`, …
    pub unit: String,
    /// Of the unit, as the stack starts.
    pub quantity: f64,
    /// At that quantity.
    pub hourly: f64,
    pub hourly_min: f64,
    pub hourly_max: f64,
    /// True when the price is not confirmed by a page of AWS's or by its price list for the region.
    pub estimate: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Unpriced {
    pub address: String,
    pub unit: String,
    /// `no price of p5e.48xlarge in us-east-2 is known`
    pub why: String,
}
