//! How the terms of reservations and capacity blocks run. Must never end an on-demand instance: it goes on without its
//! reservation.

use super::Deed;
use crate::sandbox::world::{Moment, World, time};

/// EC2 ends what runs in a block this long before its end (EC2 user guide, Capacity Blocks): 30 minutes in milliseconds.
pub const EMPTIED_BEFORE_END: Moment = 30 * 60 * 1000;

/// Seconds until the payment of a block has gone through.
pub(super) const PAYMENT: f64 = 60.0;

fn set(world: &mut World, region: &str, id: &str, from: &[&str], to: &str) -> bool {
    let found = world.machines_mut(region).reservations.get_mut(id);
    match found.filter(|reservation| from.contains(&reservation.state.as_str())) {
        Some(reservation) => {
            reservation.state = to.to_owned();
            true
        }
        None => false,
    }
}

pub(super) fn paid(world: &mut World, region: &str, id: &str) {
    set(world, region, id, &["payment-pending"], "scheduled");
}

pub(super) fn starts(world: &mut World, region: &str, id: &str) {
    // It waits for its money.
    if world.machines(region).reservations.get(id).is_some_and(|found| found.state == "payment-pending") {
        let deed = Deed::ReservationStarts { region: region.to_owned(), id: id.to_owned() };
        world.later(PAYMENT, time::Deed::Compute(deed));
        return;
    }
    set(world, region, id, &["scheduled", "pending"], "active");
}

pub(super) fn empties(world: &mut World, region: &str, id: &str) {
    let inside = world.machines(region).instances.iter();
    let inside: Vec<String> = inside
        .filter(|(_, instance)| instance.reservation.as_deref() == Some(id) && instance.stands())
        .map(|(id, _)| id.clone())
        .collect();
    for instance in inside {
        let reason = ("Server.CapacityBlockExpired", "Server.CapacityBlockExpired: The Capacity Block is about to end");
        // It was found a line ago.
        if world.terminate(region, &instance, reason).is_err() {
            continue;
        }
    }
}

pub(super) fn ends(world: &mut World, region: &str, id: &str) {
    if set(world, region, id, &["active", "scheduled", "payment-pending"], "expired") {
        world.release(region, id);
    }
}
