//! What the account behind the simulation grants and lacks, as a file says it. Must never change while a world lives.

use crate::catalog::Catalog;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scenario {
    /// ARN of the caller; `ACCOUNT` stands for the account.
    pub principal: String,
    pub caller_address: String,
    pub brought_appears: bool,
    pub quotas: BTreeMap<String, f64>,
    pub empty_pools: Vec<Pool>,
    pub latency_ms: Latency,
    pub lag_ms: u32,
    /// Kinds that the caller may not list: `[snapshot]`.
    #[serde(default)]
    pub denied: Vec<String>,
    pub leaves: Leaves,
    /// By Kubernetes version.
    pub ami_releases: BTreeMap<String, String>,
    /// Default version by name; `{version}` stands for the Kubernetes version.
    pub addons: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pool {
    /// A type, or `accelerated` for every type with accelerators.
    pub instance_type: String,
    /// A zone id, or `first` for the first zone that offers the type.
    pub zone: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Latency {
    pub read: u32,
    pub change: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Leaves {
    /// Detached network interfaces for each node group.
    pub interfaces: u32,
    /// Volumes for each node group.
    pub volumes: u32,
    /// The log group comes back once the cluster is gone.
    pub log_group: bool,
    /// EKS's own security group stays.
    pub cluster_group: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error("there is no scenario `{0}`: built in are ready, new-account and no-capacity")]
    Unknown(String),
    #[error("the scenario can't be read: {0}")]
    Unreadable(String),
}

const READY: &str = include_str!("../../../data/scenarios/ready.yaml");
const NEW_ACCOUNT: &str = include_str!("../../../data/scenarios/new-account.yaml");
const NO_CAPACITY: &str = include_str!("../../../data/scenarios/no-capacity.yaml");

/// Names of the scenarios that are compiled in.
pub const BUILT_IN: &[&str] = &["ready", "new-account", "no-capacity"];

impl Scenario {
    pub fn ready() -> Self {
        Self::parse(READY).expect("the built-in scenario is well formed: a test reads it")
    }

    pub fn built_in(name: &str) -> Result<Self, ScenarioError> {
        match name {
            "ready" => Self::parse(READY),
            "new-account" => Self::parse(NEW_ACCOUNT),
            "no-capacity" => Self::parse(NO_CAPACITY),
            _ => Err(ScenarioError::Unknown(name.to_owned())),
        }
    }

    /// Reads YAML or JSON that says how the account differs from `ready`.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let mut whole = read(READY)?;
        lay_over(&mut whole, read(text)?);
        serde_json::from_value(whole).map_err(|e| ScenarioError::Unreadable(e.to_string()))
    }

    /// True when no instance of that type can be had in the zone.
    pub fn is_empty(&self, catalog: &Catalog, instance_type: &str, zone: &str, region: &str) -> bool {
        let accelerated = || catalog.instance_type(instance_type).is_some_and(|t| t.devices() > 0);
        let first = || {
            let offered = catalog.offered_zones(instance_type, region).value.unwrap_or_default();
            offered.iter().min().is_some_and(|first| first == zone)
        };
        self.empty_pools.iter().any(|pool| {
            (pool.instance_type == instance_type || pool.instance_type == "accelerated" && accelerated())
                && (pool.zone == zone || pool.zone == "first" && first())
        })
    }
}

fn read(text: &str) -> Result<Value, ScenarioError> {
    serde_yaml::from_str(text).map_err(|e| ScenarioError::Unreadable(e.to_string()))
}

/// Maps are merged, everything else is replaced.
fn lay_over(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                lay_over(under.entry(key).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_scenario_reads() {
        for name in BUILT_IN {
            Scenario::built_in(name).unwrap();
        }
        assert!(Scenario::built_in("paradise").is_err());
    }

    #[test]
    fn a_scenario_says_only_how_it_differs() {
        let mine = Scenario::parse("quotas: { L-417A185B: 7 }").unwrap();
        assert_eq!(mine.quotas["L-417A185B"], 7.0);
        assert_eq!(mine.quotas["L-DB2E81BA"], Scenario::ready().quotas["L-DB2E81BA"]);
        assert!(Scenario::parse("quota: {}").is_err(), "an unknown key is refused");
    }

    #[test]
    fn only_the_first_zone_that_offers_a_type_is_empty() {
        let (scenario, catalog) = (Scenario::built_in("no-capacity").unwrap(), Catalog::compiled());
        let offered = catalog.offered_zones("p5.48xlarge", "us-west-2").value.unwrap();
        let empty: Vec<_> =
            offered.iter().filter(|zone| scenario.is_empty(&catalog, "p5.48xlarge", zone, "us-west-2")).collect();
        assert_eq!(empty, [offered.iter().min().unwrap()]);
        assert!(!scenario.is_empty(&catalog, "m6i.xlarge", offered.iter().min().unwrap(), "us-west-2"));
    }
}
