//! Capacity reservations, on demand and of capacity blocks. Must never hold capacity that no pool has.

use super::{Deed, Machine, Market, seconds};
use crate::{
    catalog::Catalog,
    cloud,
    model::Tags,
    sandbox::{
        wire::Fault,
        world::{
            Context, Moment, Output, World,
            ec2::{Listing, describe, find, find_mut, invalid, tagged},
            tags::specified,
            time,
        },
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reservation {
    pub instance_type: String,
    pub count: u32,
    /// Zone id.
    pub zone: String,
    /// `active`, `scheduled`, `payment-pending`, `expired`, `cancelled`
    pub state: String,
    /// A capacity block, paid up front.
    pub block: bool,
    /// Only launches that name it use it.
    pub targeted: bool,
    pub created: Moment,
    pub start: Moment,
    /// `None`: until somebody cancels it.
    pub end: Option<Moment>,
    /// ARN of the placement group that it was made in.
    pub placement_group: Option<String>,
}

impl Reservation {
    /// True where type, zone and market are those of a machine.
    pub(super) fn fits(&self, machine: &Machine) -> bool {
        let market = if self.block { Market::CapacityBlock } else { Market::OnDemand };
        self.instance_type == machine.instance_type && self.zone == machine.zone && market == machine.market
    }
}

impl World {
    /// Lets a reservation be there that a stack file names and that nobody made by a call.
    pub fn bring_reservation(&mut self, region: &str, brought: &cloud::Reservation) {
        if self.machines(region).reservations.contains_key(&brought.id) {
            return;
        }
        let at = |text: &Option<String>| {
            let time = text.as_ref().and_then(|text| text.parse::<jiff::Timestamp>().ok());
            time.map(jiff::Timestamp::as_millisecond)
        };
        let reservation = Reservation {
            instance_type: brought.instance_type.clone(),
            count: brought.total,
            zone: brought.zone.clone(),
            state: brought.state.clone(),
            block: brought.block,
            targeted: brought.block,
            created: self.now,
            start: at(&brought.start).unwrap_or(self.now),
            end: at(&brought.end),
            placement_group: brought.placement_group.clone(),
        };
        self.hold(region, &brought.id, reservation, Tags::new());
    }

    /// Registers a reservation and lets its term run.
    pub(super) fn hold(&mut self, region: &str, id: &str, reservation: Reservation, tags: Tags) {
        self.machines_mut(region).reservations.insert(id.to_owned(), reservation.clone());
        self.register(region, "capacity-reservation", id, tags);
        self.schedule(region, id, &reservation);
    }
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let tags = specified(context, "capacity-reservation")?;
    world.once(context, "ClientToken", "IdempotentParameterMismatch", |world| {
        let region = context.region;
        let instance_type = context.required("InstanceType")?;
        let count = context.number("InstanceCount").and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
        if count == 0 {
            return Err(invalid("Value (0) for parameter instanceCount is invalid. Expecting at least 1."));
        }
        if Catalog::compiled().instance_type(instance_type).is_none() {
            let message = format!("The instance type {instance_type} is not supported for capacity reservations.");
            return Err(Fault::new("Unsupported", message));
        }
        let zones = world.zones(region);
        let zone = zones.iter().find(|zone| {
            context.text("AvailabilityZoneId") == Some(zone.id.as_str())
                || context.text("AvailabilityZone") == Some(zone.name.as_str())
        });
        let Some(zone) = zone.map(|zone| zone.id.clone()) else {
            return Err(Fault::new("MissingParameter", "The request must contain an Availability Zone of the region"));
        };
        if !world.zones_offering(region, instance_type).contains(&zone) {
            let message = format!("{instance_type} is not supported in {}.", world.zone_name(region, &zone));
            return Err(Fault::new("Unsupported", message));
        }
        let moment =
            |name: &str| context.input.get(name).and_then(Value::as_f64).map(|seconds| (seconds * 1000.0) as Moment);
        let (start, end) = (moment("StartDate").unwrap_or(world.now), moment("EndDate"));
        if (context.text("EndDateType") == Some("limited")) != end.is_some() {
            let message = "An EndDate must be given with EndDateType limited, and only then.";
            return Err(Fault::new("InvalidParameterCombination", message));
        }
        if end.is_some_and(|end| end <= start.max(world.now)) {
            return Err(invalid("The end date must be in the future."));
        }
        let placement_group = context.text("PlacementGroupArn").map(str::to_owned);
        if let Some(arn) = &placement_group {
            let name = arn.rsplit_once("placement-group/").map_or("", |(_, name)| name);
            world.machines(region).place(name, &zone, None)?;
        }
        world.within_quota(region, instance_type, Market::OnDemand, count)?;
        let scheduled = start > world.now;
        if !scheduled {
            world.within_pool(region, instance_type, &zone, Market::OnDemand)?;
        }
        let id = world.id("cr");
        let reservation = Reservation {
            instance_type: instance_type.to_owned(),
            count,
            zone,
            state: if scheduled { "scheduled" } else { "active" }.to_owned(),
            block: false,
            targeted: context.text("InstanceMatchCriteria") == Some("targeted"),
            created: world.now,
            start,
            end,
            placement_group,
        };
        world.hold(region, &id, reservation, tags);
        Ok(json!({ "CapacityReservation": shown(world, region, &id)? }))
    })
}

pub(super) fn cancel(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (id, region) = (context.required("CapacityReservationId")?, context.region);
    let reservation = find_mut(&mut world.machines_mut(region).reservations, id)?;
    if reservation.block {
        let message = format!("Capacity Blocks can't be cancelled: {id}");
        return Err(Fault::new("UnsupportedOperation", message));
    }
    if !matches!(reservation.state.as_str(), "active" | "scheduled") {
        let message = format!("The capacity reservation '{id}' is {}.", reservation.state);
        return Err(Fault::new("InvalidCapacityReservationState", message));
    }
    reservation.state = "cancelled".to_owned();
    world.release(region, id);
    Ok(json!({ "Return": true }).into())
}

pub(super) fn shown(world: &World, region: &str, id: &str) -> Result<Value, Fault> {
    let reservation = find(&world.machines(region).reservations, id)?;
    Ok(tagged(world, region, id, view(world, region, id, reservation)))
}

fn view(world: &World, region: &str, id: &str, reservation: &Reservation) -> Value {
    let ended = matches!(reservation.state.as_str(), "expired" | "cancelled");
    json!({
        "CapacityReservationId": id,
        "CapacityReservationArn": world.ec2_arn(region, &format!("capacity-reservation/{id}")),
        "OwnerId": world.account,
        "InstanceType": reservation.instance_type,
        "InstancePlatform": "Linux/UNIX",
        "AvailabilityZone": world.zone_name(region, &reservation.zone),
        "AvailabilityZoneId": reservation.zone,
        "Tenancy": "default",
        "TotalInstanceCount": if ended { 0 } else { reservation.count },
        "AvailableInstanceCount": world.machines(region).free_of(id, reservation),
        "EbsOptimized": true,
        "EphemeralStorage": false,
        "State": reservation.state,
        "StartDate": seconds(reservation.start),
        "EndDate": reservation.end.map(seconds),
        "EndDateType": if reservation.end.is_some() { "limited" } else { "unlimited" },
        "InstanceMatchCriteria": if reservation.targeted { "targeted" } else { "open" },
        "CreateDate": seconds(reservation.created),
        "PlacementGroupArn": reservation.placement_group,
        "ReservationType": if reservation.block { "capacity-block" } else { "default" },
    })
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (world, region) = (&*world, context.region);
    let listing = Listing {
        ids: "CapacityReservationIds",
        prefix: "cr",
        member: "CapacityReservations",
        values: &|_, reservation: &Reservation, name| {
            let group = &reservation.placement_group;
            Some(match name {
                "instance-type" => vec![reservation.instance_type.clone()],
                "state" => vec![reservation.state.clone()],
                "availability-zone" => vec![world.zone_name(region, &reservation.zone)],
                "availability-zone-id" => vec![reservation.zone.clone()],
                "owner-id" => vec![world.account.clone()],
                "instance-platform" => vec!["Linux/UNIX".to_owned()],
                "tenancy" => vec!["default".to_owned()],
                "start-date" => vec![seconds(reservation.start).to_string()],
                "end-date" => reservation.end.map(|end| seconds(end).to_string()).into_iter().collect(),
                "end-date-type" => vec![if reservation.end.is_some() { "limited" } else { "unlimited" }.to_owned()],
                "instance-match-criteria" => vec![if reservation.targeted { "targeted" } else { "open" }.to_owned()],
                "placement-group-arn" => group.iter().cloned().collect(),
                _ => return None,
            })
        },
        view: &|id, reservation| view(world, region, id, reservation),
    };
    describe(world, context, &world.machines(region).reservations, listing)
}

impl World {
    /// Instances of a reservation that is no more go on, on demand.
    pub(super) fn release(&mut self, region: &str, id: &str) {
        let inside = self.machines_mut(region).instances.values_mut();
        inside
            .filter(|instance| instance.reservation.as_deref() == Some(id) && instance.market == Market::OnDemand)
            .for_each(|instance| instance.reservation = None);
    }

    fn schedule(&mut self, region: &str, id: &str, reservation: &Reservation) {
        let until = |at: Moment, now: Moment| seconds(at.saturating_sub(now)).max(0.0);
        let (region, id, now) = (region.to_owned(), id.to_owned(), self.now);
        if reservation.state != "active" {
            let deed = Deed::ReservationStarts { region: region.clone(), id: id.clone() };
            self.later(until(reservation.start, now), time::Deed::Compute(deed));
        }
        let Some(end) = reservation.end else { return };
        if reservation.block {
            let deed = Deed::BlockEmpties { region: region.clone(), id: id.clone() };
            self.later(until(end - super::term::EMPTIED_BEFORE_END, now), time::Deed::Compute(deed));
        }
        self.later(until(end, now), time::Deed::Compute(Deed::ReservationEnds { region, id }));
    }
}
