//! What an object asks of the account besides a call: quota, capacity, addresses, money. Must never hold a price.

use crate::model::Link;
use serde::{Deserialize, Serialize};

/// How an instance is paid for. Quotas are kept apart by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Purchase {
    OnDemand,
    Spot,
    /// An on-demand capacity reservation: consumes no vCPU quota of its own.
    Reservation,
    /// A capacity block: paid up front, consumes no vCPU quota.
    CapacityBlock,
}

/// One demand. `min`, `now` and `max` are what the object takes at its smallest, as it is wished to start, and at its largest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "demand", rename_all = "camelCase")]
pub enum Demand {
    /// Instances of a type: the source of vCPU quota, capacity, and instance price.
    Instances { instance_type: String, purchase: Purchase, zone: Option<String>, min: u32, now: u32, max: u32 },
    /// One of a countable thing with a quota of its own (`vpc`, `elasticIp`, `natGateway`, `cluster`, …: names of `catalog` quotas).
    Count { of: String, n: u32 },
    /// IPv4 addresses of a subnet (its address in the graph, or its id).
    Addresses { subnet: String, n: u32 },
    /// A billed unit other than an instance: `eksClusterHours`, `natGatewayHours`, `publicIpv4Hours`, `gp3GibMonths`,
    /// `fsxGibMonths:125`, `interfaceEndpointHours`, …: names of `catalog` prices; at its smallest, at start, at its largest.
    Billed { unit: String, min: f64, now: f64, max: f64 },
}

impl Demand {
    /// One of a countable thing.
    pub fn one(of: &str) -> Self {
        Self::Count { of: of.to_owned(), n: 1 }
    }

    /// Addresses of the subnet that a wish links to.
    pub fn addresses(subnet: &Link, n: u32) -> Self {
        Self::Addresses { subnet: subnet.target().to_owned(), n }
    }

    /// A unit billed alike at all sizes.
    pub fn billed(unit: &str, amount: f64) -> Self {
        Self::Billed { unit: unit.to_owned(), min: amount, now: amount, max: amount }
    }
}
