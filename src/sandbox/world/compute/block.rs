//! Capacity blocks: what is offered, and buying it. Must never offer what the zone's pool has not.

use super::{Deed, Reservation, reservation, seconds, term};
use crate::{
    catalog::Catalog,
    contract::Purchase,
    sandbox::{
        wire::Fault,
        world::{Context, Moment, Output, World, ec2::invalid, page, tags::specified, time},
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const HOUR: Moment = 3_600_000;
const DAY: Moment = 24 * HOUR;
/// Blocks start and end at 11:30 UTC.
const GRID: Moment = 11 * HOUR + HOUR / 2;
/// Instances of one block (EC2 user guide, Capacity Blocks).
const MOST: u32 = 64;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Offering {
    pub instance_type: String,
    pub count: u32,
    /// Zone id.
    pub zone: String,
    pub start: Moment,
    pub end: Moment,
    /// US dollars for all of it.
    pub fee: f64,
}

/// The first start on the grid that is not before a moment.
fn next_start(at: Moment) -> Moment {
    let day = at.div_euclid(DAY) * DAY + GRID;
    if day >= at { day } else { day + DAY }
}

/// Whole days up to 14, whole weeks up to 182 days.
fn is_sold(hours: i64) -> bool {
    hours > 0 && hours % 24 == 0 && (hours <= 14 * 24 || hours % (7 * 24) == 0 && hours <= 182 * 24)
}

pub(super) fn offerings(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let region = context.region.to_owned();
    let hours = context.number("CapacityDurationHours").unwrap_or(0);
    let instance_type = context.required("InstanceType")?;
    let count = context.number("InstanceCount").and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
    if !is_sold(hours) {
        return Err(invalid(format!(
            "Value ({hours}) for parameter capacityDurationHours is invalid: whole days up to 14, then whole weeks up to 182 \
             days."
        )));
    }
    if !(1..=MOST).contains(&count) {
        return Err(invalid(format!("Value ({count}) for parameter instanceCount is invalid: 1 to {MOST}.")));
    }
    let catalog = Catalog::compiled();
    if !catalog.instance_type(instance_type).is_some_and(|known| known.capacity_block) {
        let message = format!("The instance type {instance_type} is not supported for Capacity Blocks.");
        return Err(Fault::new("Unsupported", message));
    }
    let moment = |name: &str| context.input.get(name).and_then(Value::as_f64).map(|at| (at * 1000.0) as Moment);
    let start = next_start(moment("StartDateRange").unwrap_or(world.now).max(world.now));
    let end = start + hours * HOUR;
    let mut found = vec![];
    // What has no published price is not sold here: an offering without a fee would be a gift.
    let hourly = catalog.instance_price(instance_type, Purchase::OnDemand, &region).map(|price| price.usd);
    let zones = world.zones_offering(&region, instance_type);
    let with_capacity = zones.iter().filter(|zone| !world.scenario.is_empty(&catalog, instance_type, zone, &region));
    let with_capacity: Vec<String> = with_capacity.cloned().collect();
    if let Some(hourly) = hourly.filter(|_| moment("EndDateRange").is_none_or(|latest| end <= latest)) {
        for zone in with_capacity {
            let fee = hourly * f64::from(count) * hours as f64;
            let offering = Offering { instance_type: instance_type.to_owned(), count, zone, start, end, fee };
            let id = world.id("cb");
            found.push(view(world, &region, &id, &offering));
            world.machines_mut(&region).offerings.insert(id, offering);
        }
    }
    let (found, next) = page(found, context.text("NextToken"), context.number("MaxResults"), "InvalidNextToken")?;
    Ok(json!({ "CapacityBlockOfferings": found, "NextToken": next }).into())
}

fn view(world: &World, region: &str, id: &str, offering: &Offering) -> Value {
    let hours = (offering.end - offering.start) / HOUR;
    json!({
        "CapacityBlockOfferingId": id,
        "InstanceType": offering.instance_type,
        "InstanceCount": offering.count,
        "AvailabilityZone": world.zone_name(region, &offering.zone),
        "StartDate": seconds(offering.start),
        "EndDate": seconds(offering.end),
        "CapacityBlockDurationHours": hours,
        "CapacityBlockDurationMinutes": hours * 60,
        "UpfrontFee": format!("{:.2}", offering.fee),
        "CurrencyCode": "USD",
        "Tenancy": "default",
    })
}

/// Takes no token: a repeat buys another one, if the offering is still there.
pub(super) fn purchase(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let tags = specified(context, "capacity-reservation")?;
    let (offer, region) = (context.required("CapacityBlockOfferingId")?, context.region.to_owned());
    let offering = world.machines_mut(&region).offerings.remove(offer).filter(|offering| offering.end > world.now);
    let Some(offering) = offering else {
        let message = format!("The capacity block offering '{offer}' does not exist or is no longer available.");
        return Err(Fault::new("InvalidCapacityBlockOfferingId.NotFound", message));
    };
    let id = world.id("cr");
    let held = Reservation {
        instance_type: offering.instance_type,
        count: offering.count,
        zone: offering.zone,
        state: "payment-pending".to_owned(),
        block: true,
        targeted: true,
        created: world.now,
        start: offering.start,
        end: Some(offering.end),
        placement_group: None,
    };
    world.hold(&region, &id, held, tags);
    let view = reservation::shown(world, &region, &id)?;
    world.later(term::PAYMENT, time::Deed::Compute(Deed::BlockPaid { region, id }));
    Ok(json!({ "CapacityReservation": view }).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_start_on_the_grid_and_last_what_is_sold() {
        assert_eq!(next_start(GRID), GRID);
        assert_eq!(next_start(GRID + 1), GRID + DAY);
        assert!([24, 14 * 24, 21 * 24, 182 * 24].into_iter().all(is_sold));
        assert!([0, 23, 15 * 24, 189 * 24, -24].into_iter().all(|hours| !is_sold(hours)));
    }
}
