//! Questions about the account and region that no resource kind answers. Must never grow open: every adapter
//! answers all.

use crate::{contract::Purchase, model::PhysicalId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A question. Lists are never empty: an adapter may send them as they are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Fact {
    /// STS GetCallerIdentity, with the role's ARN resolved to the one with its path.
    Caller,
    /// This machine's public address as the internet sees it.
    CallerAddress,
    /// EC2 DescribeAvailabilityZones.
    Zones,
    /// EC2 DescribeInstanceTypeOfferings by availability-zone-id.
    Offerings { instance_types: Vec<String> },
    /// Service Quotas: the applied value, else the default, by quota code (`L-417A185B`) with its service (`ec2`).
    Quotas { codes: Vec<(String, String)> },
    /// EC2 DescribeInstances, pending and stopping included, counted by type and purchase.
    Running,
    /// EC2 count of things that have a quota of their own, by the names of [`crate::contract::Demand::Count`].
    Counts,
    /// EKS DescribeClusterVersions.
    ClusterVersions,
    /// EKS DescribeAddonVersions for a Kubernetes version.
    AddonVersions { cluster_version: String, addons: Vec<String> },
    /// SSM: newest AMI release (`1.35.2-20261120`) by EKS AMI type, for a Kubernetes version.
    AmiReleases { cluster_version: String, ami_types: Vec<String> },
    /// EC2 DescribeCapacityReservations by id.
    Reservations { ids: Vec<String> },
    /// EC2 DescribeSubnets by id, for a network brought along.
    Subnets { ids: Vec<String> },
    /// S3: does the bucket exist, may we reach it, and in which region.
    Bucket { name: String },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    Caller(Caller),
    CallerAddress(String),
    Zones(Vec<Zone>),
    Offerings(Vec<Offering>),
    Quotas(BTreeMap<String, QuotaValue>),
    Running(Vec<RunningInstances>),
    /// By name; 0 where there is none. A name that is not in the answer was not counted.
    Counts(BTreeMap<String, u32>),
    ClusterVersions(Vec<ClusterVersion>),
    AddonVersions(Vec<AddonVersion>),
    AmiReleases(BTreeMap<String, String>),
    Reservations(Vec<Reservation>),
    Subnets(Vec<SubnetFacts>),
    /// Region of the bucket; `None` where there is no such bucket.
    Bucket(Option<String>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    pub account: String,
    /// ARN that an access entry takes: of a user, or of a role with its path.
    pub principal: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zone {
    /// Zone id, like `usw2-az2`: the same place in every account.
    pub id: String,
    /// Letter name, like `us-west-2a`: differs between accounts.
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offering {
    pub instance_type: String,
    pub zone: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuotaValue {
    pub value: f64,
    /// False: no value was ever applied to this account, this is AWS's default.
    pub applied: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningInstances {
    pub instance_type: String,
    pub purchase: Purchase,
    pub count: u32,
    /// Stack that owns them by tag; theirs are not counted against the plan's own need.
    pub stack: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterVersion {
    pub version: String,
    /// `YYYY-MM-DD`; after it the control plane costs $0.60 an hour.
    pub end_of_standard_support: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddonVersion {
    pub addon: String,
    /// EKS's default for the Kubernetes version.
    pub version: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    pub id: PhysicalId,
    pub instance_type: String,
    pub zone: String,
    pub total: u32,
    pub available: u32,
    /// `active`, `scheduled`, `payment-pending`, `expired`, …
    pub state: String,
    /// True for a capacity block, false for an on-demand capacity reservation.
    pub block: bool,
    /// RFC 3339.
    pub start: Option<String>,
    pub end: Option<String>,
    /// ARN of the placement group the reservation was made in.
    pub placement_group: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubnetFacts {
    pub id: PhysicalId,
    pub vpc: PhysicalId,
    pub zone: String,
    pub cidr: String,
    pub free_addresses: u32,
}
