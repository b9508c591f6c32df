//! What was left open by the file and is now decided, as plain data. Must never hold a choice without a reason.

use crate::{model::PhysicalId, sizing::Budget};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice<T> {
    pub value: T,
    /// Completes "…, because": `the live cluster has it`, `p5.48xlarge is offered there and the control plane takes it`.
    pub because: String,
}

impl<T> Choice<T> {
    pub fn new(value: impl Into<T>, because: impl Into<String>) -> Self {
        Self { value: value.into(), because: because.into() }
    }
}

/// What only the moment of the run knows. Passed in, so that the decision stays a pure function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Circumstances {
    /// RFC 3339, in UTC.
    pub now: String,
    /// Id of this run.
    pub run: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choices {
    /// Account of the caller.
    pub account: String,
    /// Principals that have, or now get, an access entry because they ran `up` ([`crate::stack::names::caller_entry`]).
    /// Only ever added to: who runs it next takes nobody's access away. Without those that the file's `cluster.access`
    /// names or that have another entry already, as EKS takes one entry a principal.
    pub callers: Choice<Vec<String>>,
    /// Zone ids of the network, in order; for a network brought along, those of its subnets.
    pub zones: Choice<Vec<String>>,
    /// Zone ids of the control plane's subnets: those of `zones` that EKS takes, and once the cluster lives its own, which
    /// EKS freezes.
    pub control_plane_zones: Choice<Vec<String>>,
    /// Zone of the one NAT gateway; `None` where there is none or not only one.
    pub nat_zone: Option<Choice<String>>,
    /// Subnet ids brought along, by zone: `nodes`, `controlPlane`, `loadBalancers`. Empty for a network made here.
    pub brought: BroughtSubnets,
    pub cluster_version: Choice<String>,
    /// Version of every add-on that the stack needs or names.
    pub addons: BTreeMap<String, Choice<String>>,
    pub public_cidrs: Choice<Vec<String>>,
    /// RFC 3339 or `never`.
    pub expires: Choice<String>,
    pub classes: BTreeMap<String, ClassChoice>,
    /// Name of the weights bucket; `None` where the weights are in the image or there is no serving.
    pub bucket: Option<Choice<String>>,
    /// Subnet zone of the file system, where there is one.
    pub file_system_zone: Option<Choice<String>>,
    /// How the model lies on its nodes; `None` without serving, or where model or instance type are not known.
    pub sizing: Option<Choice<Budget>>,
    pub offers: Vec<Offer>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BroughtSubnets {
    /// Zone id to subnet ids.
    pub nodes: BTreeMap<String, Vec<PhysicalId>>,
    pub control_plane: BTreeMap<String, Vec<PhysicalId>>,
    pub load_balancers: BTreeMap<String, Vec<PhysicalId>>,
}

/// How a node class becomes node groups (managed) or a node class of Karpenter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassChoice {
    /// One group a zone for scarce (accelerated) types, one group over all zones otherwise. For a Karpenter class: the one
    /// entry says the zones its nodes may be in.
    pub groups: Vec<GroupChoice>,
    /// `AL2023_x86_64_NVIDIA`, …
    pub ami_type: Choice<String>,
    /// `1.35.2-20261120`; `None` where nothing is known offline and nothing lives: EKS then takes the newest.
    pub ami_release: Choice<Option<String>>,
    /// EFA interfaces a node.
    pub efa: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupChoice {
    /// Name of the node group: the class, or `class-zone`.
    pub name: String,
    pub zones: Choice<Vec<String>>,
}

/// Something newer than what lives: shown in the plan, never a change by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Offer {
    /// `cluster.version`, `addon vpc-cni`, `ami p5`, `zone p5`
    pub subject: String,
    pub current: String,
    pub newer: String,
    /// What to write into the file to take it.
    pub take: String,
}
