//! EKS of the simulated account. Must never let a cluster go that something belongs to.
//!
//! Node groups ask their cluster only what [`Home`] says.

mod home;
mod nodegroups;
mod tags;
mod updates;

pub use home::{Cni, Home};
pub use nodegroups::Nodegroup;
pub use updates::Update;

use super::{Handler, Table, World};
use crate::sandbox::wire::Fault;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(super) static TABLE: Table = &[
    ("eks", "CreateNodegroup", nodegroups::create as Handler),
    ("eks", "DeleteNodegroup", nodegroups::delete),
    ("eks", "DescribeNodegroup", nodegroups::read),
    ("eks", "ListNodegroups", nodegroups::list),
    ("eks", "UpdateNodegroupConfig", nodegroups::configure),
    ("eks", "UpdateNodegroupVersion", nodegroups::upgrade),
    ("eks", "DescribeUpdate", updates::read),
    ("eks", "ListUpdates", updates::list),
    ("eks", "TagResource", tags::put),
    ("eks", "UntagResource", tags::remove),
    ("eks", "ListTagsForResource", tags::list),
];

/// What happens to clusters and what is in them by itself, later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Deed {
    Nodegroup(nodegroups::Deed),
}

pub(super) fn happen(world: &mut World, deed: Deed) {
    match deed {
        Deed::Nodegroup(deed) => nodegroups::happen(world, deed),
    }
}

/// By region.
pub type Eks = BTreeMap<String, Region>;

/// EKS of one region, by the names of clusters.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Region {
    homes: BTreeMap<String, Home>,
    groups: BTreeMap<String, BTreeMap<String, Nodegroup>>,
    updates: BTreeMap<String, Vec<Update>>,
}

static EMPTY: Region = Region { homes: BTreeMap::new(), groups: BTreeMap::new(), updates: BTreeMap::new() };

impl World {
    pub(super) fn eks(&self, region: &str) -> &Region {
        self.eks.get(region).unwrap_or(&EMPTY)
    }

    pub(super) fn eks_mut(&mut self, region: &str) -> &mut Region {
        self.eks.entry(region.to_owned()).or_default()
    }
}

fn parameter(message: impl Into<String>) -> Fault {
    Fault::new("InvalidParameterException", message)
}

fn request(message: impl Into<String>) -> Fault {
    Fault::new("InvalidRequestException", message)
}

fn in_use(message: impl Into<String>) -> Fault {
    Fault::new("ResourceInUseException", message).status(409)
}

fn not_found(message: impl Into<String>) -> Fault {
    Fault::new("ResourceNotFoundException", message).status(404)
}
