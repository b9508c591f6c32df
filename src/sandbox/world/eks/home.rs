//! What node groups must know of their cluster. Must never be changed by a node group.

use super::not_found;
use crate::sandbox::{wire::Fault, world::World};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Home {
    /// `ACTIVE`, `CREATING`, …
    pub status: String,
    /// Kubernetes version.
    pub version: String,
    pub vpc: String,
    /// The group that EKS made for it.
    pub security_group: String,
    /// `None`: pods get no addresses, and nodes stay NotReady.
    pub cni: Option<Cni>,
}

/// How many addresses the network add-on keeps on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cni {
    /// `MINIMUM_IP_TARGET`; `None`: a whole further interface is held warm.
    pub minimum_ip_target: Option<u32>,
}

impl World {
    /// A cluster as its node groups see it.
    pub fn home(&self, region: &str, cluster: &str) -> Result<Home, Fault> {
        let found = self.eks(region).homes.get(cluster).cloned();
        found.ok_or_else(|| not_found(format!("No cluster found for name: {cluster}.")))
    }

    /// Lets a cluster be there for node groups.
    pub fn set_home(&mut self, region: &str, cluster: &str, home: Home) {
        self.eks_mut(region).homes.insert(cluster.to_owned(), home);
    }
}
