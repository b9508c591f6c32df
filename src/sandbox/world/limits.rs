//! What the account is granted, and how long services take. Must never be a number of its own: catalogue and scenario say.

use super::World;
use crate::catalog::Catalog;

impl World {
    /// The account's limit of what [`crate::contract::Demand::Count`] calls `of`: the scenario's, else a new account's. A
    /// thing without a known limit has none here.
    pub fn limit(&self, of: &str) -> usize {
        let catalog = Catalog::compiled();
        let quota = catalog.count_quota(of);
        let applied =
            quota.and_then(|quota| quota.code.as_ref()).and_then(|code| self.scenario.quotas.get(code).copied());
        match applied.or(quota.and_then(|quota| quota.default)) {
            Some(limit) if limit >= 0.0 => limit as usize,
            _ => usize::MAX,
        }
    }
}

/// Seconds until a new object of a kind ([`crate::contract::Kind::NAME`]) is ready.
pub fn creation(kind: &str) -> f64 {
    Catalog::compiled().timing(kind).and_then(|timing| timing.expected_create()).unwrap_or(1).into()
}

/// Seconds until a deleted one is gone.
pub fn deletion(kind: &str) -> f64 {
    Catalog::compiled().timing(kind).and_then(|timing| timing.expected_delete()).unwrap_or(1).into()
}
