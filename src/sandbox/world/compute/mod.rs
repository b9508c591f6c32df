//! Machines of the simulated account, and what they are made from, of and in: launch templates, placement groups, instances,
//! fleets, volumes, reservations, capacity blocks. Must never start what no pool, quota or card holds.
//!
//! Other areas start machines by [`World::prepare`] and [`World::start`], and end them by [`World::terminate`].

mod block;
mod disk;
mod fleet;
mod image;
mod instance;
mod instance_type;
mod instance_view;
mod launch;
mod layout;
mod market;
mod order;
mod placement_group;
mod reservation;
mod run;
mod snapshot;
mod spot;
mod template;
mod template_version;
mod term;
mod volume;

pub use image::{Image, NOTE};
pub use instance::{Instance, SCALING_GROUP, ready_after};
pub use launch::Machine;
pub use market::Market;
pub use reservation::Reservation;
pub use template::TemplateVersion;

use super::{Handler, Moment, Table, World};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) static TABLE: Table = &[
    ("ec2", "CreateLaunchTemplate", template::create as Handler),
    ("ec2", "ModifyLaunchTemplate", template::modify),
    ("ec2", "DeleteLaunchTemplate", template::delete),
    ("ec2", "DescribeLaunchTemplates", template::list),
    ("ec2", "CreateLaunchTemplateVersion", template_version::create),
    ("ec2", "DeleteLaunchTemplateVersions", template_version::delete),
    ("ec2", "DescribeLaunchTemplateVersions", template_version::list),
    ("ec2", "CreatePlacementGroup", placement_group::create),
    ("ec2", "DeletePlacementGroup", placement_group::delete),
    ("ec2", "DescribePlacementGroups", placement_group::list),
    ("ec2", "RunInstances", run::run),
    ("ec2", "TerminateInstances", run::terminate),
    ("ec2", "GetConsoleOutput", run::console),
    ("ec2", "DescribeInstances", instance_view::list),
    ("ec2", "DescribeInstanceStatus", instance_view::statuses),
    ("ec2", "DescribeInstanceAttribute", instance_view::attribute),
    ("ec2", "CreateFleet", fleet::create),
    ("ec2", "DescribeFleets", fleet::list),
    ("ec2", "CreateVolume", volume::create),
    ("ec2", "DeleteVolume", volume::delete),
    ("ec2", "DescribeVolumes", volume::list),
    ("ec2", "CreateSnapshot", snapshot::create),
    ("ec2", "DeleteSnapshot", snapshot::delete),
    ("ec2", "DescribeSnapshots", snapshot::list),
    ("ec2", "CreateCapacityReservation", reservation::create),
    ("ec2", "CancelCapacityReservation", reservation::cancel),
    ("ec2", "DescribeCapacityReservations", reservation::list),
    ("ec2", "DescribeCapacityBlockOfferings", block::offerings),
    ("ec2", "PurchaseCapacityBlock", block::purchase),
    ("ec2", "DescribeInstanceTypes", instance_type::list),
    ("ec2", "DescribeInstanceTypeOfferings", instance_type::offerings),
    ("ec2", "DescribeImages", image::list),
    ("ec2", "DescribeSpotPriceHistory", spot::prices),
    ("ec2", "GetSpotPlacementScores", spot::scores),
];

/// What happens to machines by itself, later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Deed {
    PlacementGroupComes {
        region: String,
        id: String,
    },
    PlacementGroupGoes {
        region: String,
        id: String,
    },
    InstanceRuns {
        region: String,
        id: String,
    },
    InstanceEnds {
        region: String,
        id: String,
    },
    /// Its record is not listed any more.
    InstanceForgotten {
        region: String,
        id: String,
    },
    VolumeComes {
        region: String,
        id: String,
    },
    VolumeGoes {
        region: String,
        id: String,
    },
    SnapshotComes {
        region: String,
        id: String,
    },
    /// A capacity block is paid for.
    BlockPaid {
        region: String,
        id: String,
    },
    ReservationStarts {
        region: String,
        id: String,
    },
    /// EC2 ends what runs in a capacity block, before its end.
    BlockEmpties {
        region: String,
        id: String,
    },
    ReservationEnds {
        region: String,
        id: String,
    },
}

pub(super) fn happen(world: &mut World, deed: Deed) {
    match deed {
        Deed::PlacementGroupComes { region, id } => placement_group::comes(world, &region, &id),
        Deed::PlacementGroupGoes { region, id } => placement_group::goes(world, &region, &id),
        Deed::InstanceRuns { region, id } => instance::runs(world, &region, &id),
        Deed::InstanceEnds { region, id } => instance::ends(world, &region, &id),
        Deed::InstanceForgotten { region, id } => instance::forgotten(world, &region, &id),
        Deed::VolumeComes { region, id } => volume::comes(world, &region, &id),
        Deed::VolumeGoes { region, id } => volume::goes(world, &region, &id),
        Deed::SnapshotComes { region, id } => snapshot::comes(world, &region, &id),
        Deed::BlockPaid { region, id } => term::paid(world, &region, &id),
        Deed::ReservationStarts { region, id } => term::starts(world, &region, &id),
        Deed::BlockEmpties { region, id } => term::empties(world, &region, &id),
        Deed::ReservationEnds { region, id } => term::ends(world, &region, &id),
    }
}

/// By region.
pub type Compute = BTreeMap<String, Region>;

/// The machines of one region, by ids.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Region {
    templates: BTreeMap<String, template::Template>,
    placement_groups: BTreeMap<String, placement_group::PlacementGroup>,
    pub(super) instances: BTreeMap<String, Instance>,
    fleets: BTreeMap<String, fleet::Fleet>,
    pub(super) volumes: BTreeMap<String, volume::Volume>,
    snapshots: BTreeMap<String, snapshot::Snapshot>,
    pub(super) reservations: BTreeMap<String, Reservation>,
    offerings: BTreeMap<String, block::Offering>,
}

static EMPTY: Region = Region {
    templates: BTreeMap::new(),
    placement_groups: BTreeMap::new(),
    instances: BTreeMap::new(),
    fleets: BTreeMap::new(),
    volumes: BTreeMap::new(),
    snapshots: BTreeMap::new(),
    reservations: BTreeMap::new(),
    offerings: BTreeMap::new(),
};

impl World {
    pub fn machines(&self, region: &str) -> &Region {
        self.compute.get(region).unwrap_or(&EMPTY)
    }

    pub(super) fn machines_mut(&mut self, region: &str) -> &mut Region {
        self.compute.entry(region.to_owned()).or_default()
    }

    /// ARN of who makes things by the calls of this account.
    fn creator(&self) -> String {
        self.scenario.principal.replace("ACCOUNT", &self.account)
    }
}

/// A moment as outputs state it.
fn seconds(at: Moment) -> f64 {
    at as f64 / 1000.0
}

/// A text below members of a document: `text(data, &["Placement", "GroupName"])`.
fn text<'v>(value: &'v Value, path: &[&str]) -> Option<&'v str> {
    path.iter().try_fold(value, |value, name| value.get(name))?.as_str()
}

fn number(value: &Value, name: &str) -> Option<u32> {
    value.get(name).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok())
}

fn items<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
