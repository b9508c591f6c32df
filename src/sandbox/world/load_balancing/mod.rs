//! Load balancers, their listeners and target groups, and what the controller in a cluster makes of them. Must never free an
//! interface, or a group that it carries, at the moment a balancer is deleted: both stay for a while.

mod balancer;
mod controller;
mod tagging;
mod target_group;

pub use balancer::NewBalancer;
pub use controller::Exposed;

use super::{Handler, Table, World, time};
use crate::{model::Tags, sandbox::wire::Fault};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static TABLE: Table = &[
    ("elbv2", "CreateLoadBalancer", balancer::create as Handler),
    ("elbv2", "DescribeLoadBalancers", balancer::list),
    ("elbv2", "DeleteLoadBalancer", balancer::delete),
    ("elbv2", "CreateTargetGroup", target_group::create),
    ("elbv2", "DescribeTargetGroups", target_group::list),
    ("elbv2", "DeleteTargetGroup", target_group::delete),
    ("elbv2", "CreateListener", balancer::listen),
    ("elbv2", "DescribeListeners", balancer::listeners),
    ("elbv2", "DeleteListener", balancer::unlisten),
    ("elbv2", "AddTags", tagging::add),
    ("elbv2", "RemoveTags", tagging::remove),
    ("elbv2", "DescribeTags", tagging::list),
];

/// What happens to balancers by itself, later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Deed {
    /// Interfaces of a balancer that was deleted before.
    InterfacesGo { region: String, ids: Vec<String> },
}

pub(super) fn happen(world: &mut World, deed: Deed) {
    let Deed::InterfacesGo { region, ids } = deed;
    ids.iter().for_each(|id| world.drop_interface(&region, id));
}

/// By region.
pub type Balancing = BTreeMap<String, Region>;

/// Everything of one region, by ARN.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Region {
    balancers: BTreeMap<String, balancer::Balancer>,
    target_groups: BTreeMap<String, target_group::TargetGroup>,
    listeners: BTreeMap<String, balancer::Listener>,
}

static EMPTY: Region =
    Region { balancers: BTreeMap::new(), target_groups: BTreeMap::new(), listeners: BTreeMap::new() };

impl Region {
    fn tags_mut(&mut self, arn: &str) -> Option<&mut Tags> {
        if let Some(balancer) = self.balancers.get_mut(arn) {
            return Some(&mut balancer.tags);
        }
        if let Some(listener) = self.listeners.get_mut(arn) {
            return Some(&mut listener.tags);
        }
        self.target_groups.get_mut(arn).map(|group| &mut group.tags)
    }

    fn tags(&self, arn: &str) -> Option<&Tags> {
        let balancer = self.balancers.get(arn).map(|balancer| &balancer.tags);
        let listener = || self.listeners.get(arn).map(|listener| &listener.tags);
        balancer.or_else(listener).or_else(|| self.target_groups.get(arn).map(|group| &group.tags))
    }
}

impl World {
    fn balancing(&self, region: &str) -> &Region {
        self.load_balancing.get(region).unwrap_or(&EMPTY)
    }

    fn balancing_mut(&mut self, region: &str) -> &mut Region {
        self.load_balancing.entry(region.to_owned()).or_default()
    }

    fn interfaces_go(&mut self, region: &str, ids: Vec<String>) {
        let deed = Deed::InterfacesGo { region: region.to_owned(), ids };
        self.later(super::limits::deletion("load-balancer"), time::Deed::LoadBalancing(deed));
    }
}

/// How the service says that there is nothing of that ARN.
fn missing(arn: &str) -> Fault {
    let (code, what) = match arn.split(':').nth(5).and_then(|resource| resource.split('/').next()) {
        Some("loadbalancer") => ("LoadBalancerNotFound", "Load balancer"),
        Some("targetgroup") => ("TargetGroupNotFound", "Target group"),
        Some("listener") => ("ListenerNotFound", "Listener"),
        _ => return Fault::new("ValidationError", format!("'{arn}' is not a valid load balancer ARN")),
    };
    Fault::new(code, format!("{what} '{arn}' not found"))
}

/// Tags of a call.
fn read_tags(list: &[Value]) -> Result<Tags, Fault> {
    let text = |tag: &Value, member: &str| tag.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
    let keys: BTreeSet<_> = list.iter().map(|tag| text(tag, "Key")).collect();
    if keys.len() < list.len() {
        return Err(Fault::new("DuplicateTagKeys", "A tag key was specified more than once"));
    }
    if keys.iter().any(|key| key.to_ascii_lowercase().starts_with("aws:")) {
        return Err(Fault::new("ValidationError", "Tag keys starting with 'aws:' are reserved for system use"));
    }
    if keys.len() > 50 {
        return Err(too_many_tags());
    }
    Ok(list.iter().map(|tag| (text(tag, "Key"), text(tag, "Value"))).collect())
}

fn too_many_tags() -> Fault {
    Fault::new("TooManyTags", "The maximum number of tags has been reached")
}

/// Names of balancers and target groups (API reference, CreateLoadBalancer).
fn check_name(name: &str, what: &str) -> Result<(), Fault> {
    let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let fits = !name.is_empty() && name.len() <= 32 && letters && !name.starts_with('-') && !name.ends_with('-');
    if fits && !name.starts_with("internal-") {
        return Ok(());
    }
    Err(Fault::new(
        "ValidationError",
        format!(
            "The {what} name '{name}' can only contain characters that are alphanumeric characters and hyphens(-), and must be between 1 and 32 characters long"
        ),
    ))
}
