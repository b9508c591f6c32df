//! Managed node groups: what EKS makes of them, and how they live. Must never be ACTIVE before their nodes are.

mod calls;
mod config;
mod judge;
mod life;
mod node;
mod roll;
mod template;

pub(super) use calls::{create, delete, list, read};
pub(super) use config::configure;
pub(super) use roll::upgrade;

use crate::{
    model::Tags,
    sandbox::world::{Moment, World},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Nodegroup {
    pub arn: String,
    /// `CREATING`, `ACTIVE`, `UPDATING`, `DELETING`, `CREATE_FAILED`
    pub status: String,
    pub created: Moment,
    pub modified: Moment,
    pub version: String,
    pub release: String,
    pub ami_type: String,
    /// `ON_DEMAND`, `SPOT`, `CAPACITY_BLOCK`
    pub capacity_type: String,
    /// Of the call; none where the template names the type.
    pub instance_types: Vec<String>,
    pub subnets: Vec<String>,
    pub role: String,
    pub labels: BTreeMap<String, String>,
    /// Key, value, effect.
    pub taints: Vec<(String, Option<String>, String)>,
    pub min: u32,
    pub max: u32,
    /// Until the scaling group is there, which has the say then.
    pub desired: u32,
    /// By the members of EKS's NodegroupUpdateConfig and NodeRepairConfig.
    pub update_config: Value,
    pub repair: Value,
    /// GiB, without a template.
    pub disk_size: Option<u32>,
    /// The caller's template: id, name, version.
    pub template: Option<(String, String, u64)>,
    /// EKS's own copy of it, with image and join data.
    pub own_template: Option<String>,
    pub asg: Option<String>,
    pub tags: Tags,
    /// What ended its creation: code, message, resources.
    pub issues: Vec<Issue>,
    /// Id of the update that runs.
    pub update: Option<String>,
    /// Nodes that have joined.
    pub joined: Vec<String>,
    /// EKS looks at it again before long.
    pub looked_at: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Issue {
    pub code: String,
    pub message: String,
    pub resources: Vec<String>,
}

impl Issue {
    fn view(&self) -> Value {
        json!({ "code": self.code, "message": self.message, "resourceIds": self.resources })
    }
}

/// What happens to node groups by itself, later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Deed {
    /// EKS has its template and its scaling group.
    Forms(Named),
    /// EKS looks whether nodes joined, a creation is done, a capacity block ends.
    Looks(Named),
    /// A configuration is in force.
    Configured(Named),
    /// One step of replacing nodes.
    Rolls(Named),
    /// Its nodes are told to end.
    Drains(Named),
    Goes(Named),
}

/// Which group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    pub region: String,
    pub cluster: String,
    pub name: String,
}

pub(super) fn happen(world: &mut World, deed: Deed) {
    match deed {
        Deed::Forms(named) => life::forms(world, &named),
        Deed::Looks(named) => life::looks(world, &named),
        Deed::Configured(named) => config::configured(world, &named),
        Deed::Rolls(named) => roll::step(world, &named),
        Deed::Drains(named) => life::drains(world, &named),
        Deed::Goes(named) => life::goes(world, &named),
    }
}

impl World {
    /// True while a cluster can't be deleted for its node groups.
    pub fn has_nodegroups(&self, region: &str, cluster: &str) -> bool {
        self.eks(region).groups.get(cluster).is_some_and(|groups| !groups.is_empty())
    }

    fn nodegroup(&self, named: &Named) -> Option<&Nodegroup> {
        self.eks(&named.region).groups.get(&named.cluster)?.get(&named.name)
    }

    fn nodegroup_mut(&mut self, named: &Named) -> Option<&mut Nodegroup> {
        self.eks_mut(&named.region).groups.get_mut(&named.cluster)?.get_mut(&named.name)
    }

    /// A machine of a scaling group is up: its node may join before long.
    pub(in crate::sandbox::world) fn node_comes(&mut self, region: &str, asg: &str) {
        let groups = self
            .eks(region)
            .groups
            .iter()
            .flat_map(|(cluster, groups)| groups.iter().map(move |(name, group)| (cluster, name, group)));
        let found = groups.into_iter().find(|(_, _, group)| group.asg.as_deref() == Some(asg));
        let named = found.map(|(cluster, name, _)| Named {
            region: region.to_owned(),
            cluster: cluster.clone(),
            name: name.clone(),
        });
        if let Some(named) = named {
            self.look_at_nodegroup(&named, life::BETWEEN);
        }
    }

    /// Lets EKS look at a group, unless it will anyway.
    fn look_at_nodegroup(&mut self, named: &Named, seconds: f64) {
        match self.nodegroup_mut(named) {
            Some(group) if !group.looked_at => group.looked_at = true,
            _ => return,
        }
        self.nodegroup_later(seconds, Deed::Looks(named.clone()));
    }

    fn nodegroup_later(&mut self, seconds: f64, deed: Deed) {
        let deed = super::Deed::Nodegroup(deed);
        self.later(seconds, crate::sandbox::world::Deed::Eks(deed));
    }
}
