//! Whether one more machine can be had: vCPU quotas, pools without capacity, reservations. Must never be asked by a dry run
//! for more than parameters.

use super::{Machine, Region, reservation::Reservation};
use crate::{
    catalog::{Catalog, Quota, VcpuQuota},
    contract::Purchase,
    sandbox::{wire::Fault, world::World},
};
use serde::{Deserialize, Serialize};

/// How a machine is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Market {
    OnDemand,
    Spot,
    CapacityBlock,
}

/// Which reservation a launch may take capacity from.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// Any open one that fits, else none.
    Open,
    /// None, though one fits.
    None,
    /// This one, or it fails.
    Target(String),
    /// Any that fits, or it fails.
    Only,
}

fn vcpus(instance_type: &str) -> u32 {
    Catalog::compiled().instance_type(instance_type).map_or(0, |known| known.vcpus)
}

impl World {
    /// vCPUs that a quota grants to the account; `None`: no limit is known.
    fn granted(&self, quota: &Quota) -> Option<f64> {
        let applied = quota.code.as_ref().and_then(|code| self.scenario.quotas.get(code)).copied();
        applied.or(quota.default)
    }

    /// vCPUs that draw on a quota: of instances that stand, and of what on-demand reservations hold for others to come.
    pub fn drawn_on(&self, region: &str, quota: &Quota) -> u32 {
        let (machines, catalog) = (self.machines(region), Catalog::compiled());
        let draws = |name: &str, purchase| catalog.vcpu_quota(name, purchase) == VcpuQuota::Of(quota);
        let running =
            machines.instances.values().filter(|instance| instance.stands() && instance.reservation.is_none());
        let running = running.filter(|instance| match instance.market {
            Market::OnDemand => draws(&instance.instance_type, Purchase::OnDemand),
            Market::Spot => draws(&instance.instance_type, Purchase::Spot),
            Market::CapacityBlock => false,
        });
        let reserved = machines.reservations.values().filter(|reservation| {
            reservation.state == "active" && !reservation.block && draws(&reservation.instance_type, Purchase::OnDemand)
        });
        running.map(|instance| vcpus(&instance.instance_type)).sum::<u32>()
            + reserved.map(|reservation| vcpus(&reservation.instance_type) * reservation.count).sum::<u32>()
    }

    /// Refuses what the account's quota does not hold: `n` more machines of a type.
    pub(super) fn within_quota(&self, region: &str, instance_type: &str, market: Market, n: u32) -> Result<(), Fault> {
        let purchase = match market {
            Market::OnDemand => Purchase::OnDemand,
            Market::Spot => Purchase::Spot,
            Market::CapacityBlock => return Ok(()),
        };
        let VcpuQuota::Of(quota) = Catalog::compiled().vcpu_quota(instance_type, purchase) else { return Ok(()) };
        let Some(granted) = self.granted(quota) else { return Ok(()) };
        let wanted = self.drawn_on(region, quota).saturating_add(vcpus(instance_type).saturating_mul(n));
        if f64::from(wanted) <= granted {
            return Ok(());
        }
        Err(match market {
            Market::Spot => Fault::new("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded"),
            _ => Fault::new(
                "VcpuLimitExceeded",
                format!(
                    "You have requested more vCPU capacity than your current vCPU limit of {granted} allows for the \
                     instance bucket that the specified instance type belongs to. Please visit \
                     http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit."
                ),
            ),
        })
    }

    /// Refuses what the zone's pool has not.
    pub(super) fn within_pool(
        &self,
        region: &str,
        instance_type: &str,
        zone: &str,
        market: Market,
    ) -> Result<(), Fault> {
        let catalog = Catalog::compiled();
        let is_empty = |zone: &str| self.scenario.is_empty(&catalog, instance_type, zone, region);
        if !is_empty(zone) {
            return Ok(());
        }
        if market == Market::Spot {
            let message = "There is no Spot capacity available that matches your request.";
            return Err(Fault::new("InsufficientInstanceCapacity", message));
        }
        let offered = catalog.offered_zones(instance_type, region).value;
        let zones = self.zones(region).into_iter();
        let others = zones
            .filter(|other| !is_empty(&other.id) && offered.as_ref().is_none_or(|offered| offered.contains(&other.id)));
        let others: Vec<_> = others.map(|other| other.name).collect();
        let elsewhere = match others.is_empty() {
            true => String::new(),
            false => format!(
                " You can currently get {instance_type} capacity by not specifying an Availability Zone in your request or \
                 choosing {}.",
                others.join(", ")
            ),
        };
        let message = format!(
            "We currently do not have sufficient {instance_type} capacity in the Availability Zone you requested ({}). Our \
             system will be working on provisioning additional capacity.{elsewhere}",
            self.zone_name(region, zone)
        );
        Err(Fault::new("InsufficientInstanceCapacity", message))
    }

    /// Finds room for one more machine: the reservation that it takes, or `None` where it takes from the open pool.
    pub(super) fn room_for(&self, region: &str, machine: &Machine) -> Result<Option<String>, Fault> {
        let machines = self.machines(region);
        let fitting = || {
            let mut all = machines.reservations.iter();
            all.find(|(id, reservation)| {
                !reservation.block && !reservation.targeted && machines.takes(id, reservation, machine, self, region)
            })
        };
        let exceeded = || {
            let message = "The requested reservation does not have sufficient compatible and available capacity for this request.";
            Fault::new("ReservationCapacityExceeded", message)
        };
        match &machine.wanted {
            Wanted::Target(id) => return self.targeted(region, id, machine).map(Some),
            Wanted::Open if machine.market == Market::OnDemand => {
                if let Some((id, _)) = fitting() {
                    return Ok(Some(id.clone()));
                }
            }
            Wanted::Only => return fitting().map(|(id, _)| Some(id.clone())).ok_or_else(exceeded),
            Wanted::Open | Wanted::None => {}
        }
        self.within_quota(region, &machine.instance_type, machine.market, 1)?;
        self.within_pool(region, &machine.instance_type, &machine.zone, machine.market)?;
        Ok(None)
    }

    fn targeted(&self, region: &str, id: &str, machine: &Machine) -> Result<String, Fault> {
        let machines = self.machines(region);
        let reservation = &machines.reservations[id];
        if reservation.state != "active" {
            let message = format!("The capacity reservation '{id}' is not active: its state is {}.", reservation.state);
            return Err(Fault::new("InvalidCapacityReservationState", message));
        }
        if !reservation.fits(machine) {
            let message = "The attributes of the targeted capacity reservation do not match those of the instance.";
            return Err(Fault::new("InvalidParameterValue", format!("{message} ({id})")));
        }
        // What is reserved stands in the group that it was reserved in, or in none: anywhere else EC2 has no capacity.
        if !machines.same_place(reservation, machine, self, region) {
            let message = format!(
                "We currently do not have sufficient {} capacity in the placement group you requested.",
                machine.instance_type
            );
            return Err(Fault::new("InsufficientInstanceCapacity", message));
        }
        match machines.free_of(id, reservation) {
            0 => {
                let message = "The requested reservation does not have sufficient compatible and available capacity for this request.";
                Err(Fault::new("ReservationCapacityExceeded", message))
            }
            _ => Ok(id.to_owned()),
        }
    }
}

impl Region {
    /// Machines that a reservation still has room for. Those that shut down hold theirs.
    pub(super) fn free_of(&self, id: &str, reservation: &Reservation) -> u32 {
        let inside =
            |instance: &&super::Instance| instance.reservation.as_deref() == Some(id) && instance.state != "terminated";
        let taken = self.instances.values().filter(inside).count();
        match reservation.state.as_str() {
            "active" => reservation.count.saturating_sub(u32::try_from(taken).unwrap_or(u32::MAX)),
            _ => 0,
        }
    }

    fn same_place(&self, reservation: &Reservation, machine: &Machine, world: &World, region: &str) -> bool {
        let name = machine.group.as_ref().and_then(|id| self.group_name(id));
        let arn = name.map(|name| super::placement_group::arn(world, region, name));
        arn == reservation.placement_group
    }

    fn takes(&self, id: &str, reservation: &Reservation, machine: &Machine, world: &World, region: &str) -> bool {
        let there = reservation.state == "active" && reservation.fits(machine);
        there && self.same_place(reservation, machine, world, region) && self.free_of(id, reservation) > 0
    }
}
