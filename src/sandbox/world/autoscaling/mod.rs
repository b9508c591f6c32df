//! Auto Scaling groups, as EKS makes them for its node groups: they start and end instances until their number is right, and go
//! on trying where there is no capacity. Must never be told twice: they follow their desired size by themselves.

mod activity;
mod group;
mod keep;
mod sizes;
mod tags;

pub use activity::Activity;
pub use group::{Group, Member, NewGroup, Tag};

use super::{Handler, Table, World};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(super) static TABLE: Table = &[
    ("autoscaling", "DescribeAutoScalingGroups", group::list as Handler),
    ("autoscaling", "DeleteAutoScalingGroup", sizes::delete),
    ("autoscaling", "UpdateAutoScalingGroup", sizes::update),
    ("autoscaling", "SetDesiredCapacity", sizes::set_desired),
    ("autoscaling", "DescribeScalingActivities", activity::list),
    ("autoscaling", "CreateOrUpdateTags", tags::put),
    ("autoscaling", "DeleteTags", tags::remove),
    ("autoscaling", "DescribeTags", tags::list),
];

/// What a group does by itself, later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Deed {
    /// It compares what it has with what it should have.
    Looks { region: String, name: String },
}

pub(super) fn happen(world: &mut World, deed: Deed) {
    match deed {
        Deed::Looks { region, name } => keep::look(world, &region, &name),
    }
}

/// By region and name.
pub type Scaling = BTreeMap<String, BTreeMap<String, Group>>;
