//! Instances and how they live: pending, running, shutting down, gone, and a record for an hour. Must never let go of a
//! subnet, a group or a volume before it is terminated.

use super::{Deed, Market};
use crate::{
    catalog::{Catalog, InstanceType},
    sandbox::{
        wire::Fault,
        world::{
            Moment, World,
            ec2::{find, find_mut},
            time,
        },
    },
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Seconds for which a terminated instance goes on being listed (EC2: "usually about one hour").
const RECORD: f64 = 3600.0;

/// Tag by which an instance names the scaling group that it is of.
pub const SCALING_GROUP: &str = "aws:autoscaling:groupName";
/// Seconds until a scaling group's health check sees that one of its instances ends.
const HEALTH_CHECK: f64 = 60.0;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Instance {
    pub instance_type: String,
    pub image: String,
    /// `r-…`: what one call started.
    pub batch: String,
    pub launch_index: usize,
    pub vpc: String,
    pub subnet: String,
    /// Zone id, and the letter name that this account has for it.
    pub zone: String,
    pub zone_name: String,
    /// `pending`, `running`, `shutting-down`, `terminated`
    pub state: String,
    /// Code and message of why it ended.
    pub reason: Option<(String, String)>,
    pub launched: Moment,
    /// When somebody asked for its end.
    pub ending: Option<Moment>,
    /// Id of its placement group.
    pub group: Option<String>,
    pub partition: Option<u32>,
    pub market: Market,
    /// Reservation whose capacity it takes.
    pub reservation: Option<String>,
    pub disks: Vec<Attached>,
    pub metadata: Value,
    pub profile: Option<String>,
    pub key: Option<String>,
    /// As sent, in base64.
    pub user_data: Option<String>,
    pub client_token: Option<String>,
    pub protected: bool,
    /// Service that launched it for the account, and hides it by default.
    pub operator: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attached {
    pub device: String,
    pub volume: String,
}

impl Instance {
    /// True while it takes capacity: from its launch until its end was asked for.
    pub fn stands(&self) -> bool {
        matches!(self.state.as_str(), "pending" | "running")
    }

    pub fn code(&self) -> u32 {
        match self.state.as_str() {
            "pending" => 0,
            "running" => 16,
            "shutting-down" => 32,
            _ => 48,
        }
    }
}

fn has_accelerators(instance_type: &str) -> bool {
    Catalog::compiled().instance_type(instance_type).map_or(0, InstanceType::devices) > 0
}

/// Seconds from a launch until the machine serves as a node. Machines with accelerators boot longest.
pub fn ready_after(instance_type: &str) -> f64 {
    let timing = Catalog::compiled().timing("instance");
    let whole = timing.and_then(|timing| timing.expected_create()).unwrap_or(1);
    f64::from(whole) * if has_accelerators(instance_type) { 1.0 } else { 0.3 }
}

/// Seconds from a launch until EC2 calls it `running`, long before the operating system is up.
fn running_after(instance_type: &str) -> f64 {
    ready_after(instance_type) * 0.1
}

/// Seconds in which it ends: local disks of machines with accelerators are wiped for minutes.
fn ends_after(instance_type: &str) -> f64 {
    let timing = Catalog::compiled().timing("instance");
    let slow = timing.and_then(|timing| timing.expected_delete()).unwrap_or(1);
    let fast = timing.and_then(|timing| timing.delete).map_or(slow, |(least, _)| least);
    f64::from(if has_accelerators(instance_type) { slow } else { fast })
}

impl World {
    pub fn instance(&self, region: &str, id: &str) -> Option<&Instance> {
        self.machines(region).instances.get(id)
    }

    /// Starts the end of an instance; one that ends already goes on. `reason` is EC2's code and message.
    pub fn terminate(&mut self, region: &str, id: &str, reason: (&str, &str)) -> Result<(), Fault> {
        let now = self.now;
        let instance = find_mut(&mut self.machines_mut(region).instances, id)?;
        if !instance.stands() {
            return Ok(());
        }
        instance.state = "shutting-down".to_owned();
        instance.reason = Some((reason.0.to_owned(), reason.1.to_owned()));
        instance.ending = Some(now);
        let seconds = ends_after(&instance.instance_type);
        let deed = Deed::InstanceEnds { region: region.to_owned(), id: id.to_owned() };
        self.later(seconds, time::Deed::Compute(deed));
        if let Some(group) = self.tags_of(region, id).get(SCALING_GROUP).cloned() {
            self.look_again(region, &group, HEALTH_CHECK);
        }
        Ok(())
    }

    /// Lets a new instance come.
    pub(super) fn boot(&mut self, region: &str, id: &str) -> Result<(), Fault> {
        let instance = find(&self.machines(region).instances, id)?;
        let seconds = running_after(&instance.instance_type);
        let deed = Deed::InstanceRuns { region: region.to_owned(), id: id.to_owned() };
        self.later(seconds, time::Deed::Compute(deed));
        Ok(())
    }

    /// Takes everything with it that goes with an instance; the rest is left, attached to nothing.
    pub(super) fn empty(&mut self, region: &str, id: &str) {
        for interface in self.interfaces_of(region, id) {
            let seat = self.interface(region, &interface).and_then(|interface| interface.seat.as_ref());
            match seat.is_some_and(|seat| seat.delete_on_termination) {
                true => self.drop_interface(region, &interface),
                false => self.detach_interface(region, &interface),
            }
        }
        let disks = self.machines(region).instances.get(id).map(|instance| instance.disks.clone()).unwrap_or_default();
        for disk in disks {
            self.detach_volume(region, &disk.volume, id);
        }
        if let Some(instance) = self.machines_mut(region).instances.get_mut(id) {
            instance.disks.clear();
        }
    }

    /// Undoes a launch of which EC2 says that it never was.
    pub(super) fn erase(&mut self, region: &str, id: &str) {
        self.empty(region, id);
        self.machines_mut(region).instances.remove(id);
        self.unregister(region, id);
    }
}

pub(super) fn runs(world: &mut World, region: &str, id: &str) {
    if let Some(instance) = world.machines_mut(region).instances.get_mut(id).filter(|found| found.state == "pending") {
        instance.state = "running".to_owned();
    }
}

pub(super) fn ends(world: &mut World, region: &str, id: &str) {
    world.empty(region, id);
    if let Some(instance) = world.machines_mut(region).instances.get_mut(id) {
        instance.state = "terminated".to_owned();
    }
    let deed = Deed::InstanceForgotten { region: region.to_owned(), id: id.to_owned() };
    world.later(RECORD, time::Deed::Compute(deed));
}

pub(super) fn forgotten(world: &mut World, region: &str, id: &str) {
    world.machines_mut(region).instances.remove(id);
    world.unregister(region, id);
}
