//! Service quotas: their codes, what draws on them, and what a new account has. Must never claim an applied value.

use crate::contract::Purchase;
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Quota {
    /// Service Quotas' service code: elastic addresses are under `ec2`, other network things under `vpc`.
    pub service: String,
    /// `None`: a documented limit without a code, not to be asked for (placement groups).
    pub code: Option<String>,
    /// As AWS spells it.
    pub name: String,
    /// Of a new account; `None`: not known. An account's own can be higher or lower.
    pub default: Option<f64>,
    pub unit: String,
    /// Instance family or families of a vCPU quota.
    pub family: Option<String>,
    pub purchase: Option<Purchase>,
    /// Prefixes of instance types that draw on it.
    #[serde(default)]
    pub prefixes: Vec<String>,
    /// The name that [`crate::contract::Demand::Count`] uses.
    pub counts: Option<String>,
    pub per: Per,
}

/// What a limit holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Per {
    Region,
    Zone,
    Vpc,
    Cluster,
    NodeGroup,
    SecurityGroup,
    NetworkInterface,
}

/// Which vCPU quota an instance draws on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VcpuQuota<'a> {
    Of(&'a Quota),
    /// Reservations and capacity blocks hold their own capacity.
    NotNeeded,
    /// No published quota names the family for this purchase (Spot of p6): only a launch tells.
    Unknown,
}

/// The quota whose prefix fits an instance type best: `inf2.xlarge` is of Inf, not of Standard's `i`.
pub(super) fn by_prefix<'a>(quotas: &'a [Quota], instance_type: &str, purchase: Purchase) -> Option<&'a Quota> {
    let fit = |quota: &Quota| {
        let fitting = quota.prefixes.iter().filter(|prefix| instance_type.starts_with(prefix.as_str()));
        fitting.map(String::len).max()
    };
    quotas
        .iter()
        .filter(|quota| quota.purchase == Some(purchase))
        .filter_map(|quota| fit(quota).map(|length| (length, quota)))
        .max_by_key(|(length, _)| *length)
        .map(|(_, quota)| quota)
}
