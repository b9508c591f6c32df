//! Will AWS have the instances? What a reservation or capacity block holds, when, and where; what is left to luck. Must never
//! promise capacity that nobody reserved.

use crate::{
    catalog::family,
    choose::{ClassChoice, is_accelerated},
    cloud::Reservation,
    contract::Class,
    preflight::{
        Check, Finding, Input,
        words::{count, not_had},
    },
    stack::{Capacity, NodeClass, names},
};
use jiff::{SignedDuration, Timestamp};

/// EC2 ends instances of a block this long before the block's end; of UltraServers twice as long (EKS user guide,
/// capacity blocks).
const ENDS_BEFORE: SignedDuration = SignedDuration::from_mins(30);
const ULTRA_ENDS_BEFORE: SignedDuration = SignedDuration::from_mins(60);
/// EKS scales a group to 0 this long before the block's end.
const SCALES_BEFORE: SignedDuration = SignedDuration::from_mins(40);

pub(super) fn judge(input: &Input<'_>) -> Vec<Finding> {
    input
        .classes()
        .flat_map(|(class, choice)| match &class.capacity {
            Capacity::OnDemand => on_demand(input, class, choice).into_iter().collect(),
            Capacity::Spot => spot(class).into_iter().collect(),
            Capacity::Reservation(id) => reserved(input, class, choice, id, false),
            Capacity::CapacityBlock(id) => reserved(input, class, choice, id, true),
        })
        .collect()
}

fn on_demand(input: &Input<'_>, class: &NodeClass, choice: &ClassChoice) -> Option<Finding> {
    if !is_accelerated(class, input.catalog) {
        return None;
    }
    let (now, max, live) = input.nodes(class, choice);
    let types = class.instance_types.join(" or ");
    if now <= live {
        let message = format!("{} {types} on demand run already, the class goes up to {max}", live);
        return (live > 0).then(|| Finding::pass(Check::Capacity, &class.name, message));
    }
    let new = now - live;
    let message = format!("no reservation: {} {types} on demand may not be had on the day", count(new));
    let first = class.instance_types.first()?;
    Some(
        Finding::warn(Check::Capacity, &class.name, message)
            .numbers(f64::from(new), None, None)
            .remedy(format!("infer-stack capacity find --type {first} --count {new}")),
    )
}

fn spot(class: &NodeClass) -> Option<Finding> {
    let types = class.instance_types.join(" or ");
    (class.nodes.max > 0).then(|| {
        let message = format!("{types} on Spot may not be had on the day, and is taken back with two minutes' notice");
        Finding::warn(Check::Capacity, &class.name, message)
            .remedy(format!("nodeClasses[{}].capacity: onDemand", class.name))
    })
}

fn reserved(input: &Input<'_>, class: &NodeClass, choice: &ClassChoice, id: &str, block: bool) -> Vec<Finding> {
    let check = Check::Capacity;
    let looked = input.catalog.facts().reservations.get(id);
    let reservation = match looked {
        Some(Ok(Some(reservation))) => reservation,
        Some(Ok(None)) => return vec![missing(input, class, id)],
        Some(Err(error)) if error.class == Class::NotFound => return vec![missing(input, class, id)],
        other => return vec![Finding::unknown(check, id, format!("what {id} holds: {}", not_had(other)))],
    };
    let mut findings = shape(input, class, choice, reservation, block);
    findings.extend(window(input, class, reservation));
    findings.extend(size(input, class, choice, reservation));
    if findings.is_empty() {
        let message = format!(
            "{id} holds {} {} in {}, {} free",
            reservation.total, reservation.instance_type, reservation.zone, reservation.available
        );
        findings.push(Finding::pass(check, id, message));
    }
    findings
}

fn missing(input: &Input<'_>, class: &NodeClass, id: &str) -> Finding {
    let message = format!("{id}, which node class {} names, does not exist in {}", class.name, input.region());
    Finding::block(Check::Capacity, id, message).remedy("infer-stack capacity find lists what there is")
}

/// Kind, type, zone and placement group: each lets launches fail with "no capacity" while the reservation stays free.
fn shape(
    input: &Input<'_>,
    class: &NodeClass,
    choice: &ClassChoice,
    reservation: &Reservation,
    block: bool,
) -> Vec<Finding> {
    let id = &reservation.id;
    let mut findings = vec![];
    let mut refuse = |message: String, remedy: String| {
        findings.push(Finding::block(Check::Capacity, id, message).remedy(remedy));
    };
    if reservation.block != block {
        let (is, write) = if reservation.block {
            ("a capacity block", "capacityBlock")
        } else {
            ("an on-demand reservation", "reservation")
        };
        refuse(format!("{id} is {is}"), format!("nodeClasses[{}].capacity: {{ {write}: {id} }}", class.name));
    }
    if class.instance_types.iter().any(|name| *name != reservation.instance_type) {
        let types = class.instance_types.join(", ");
        refuse(
            format!("{id} holds {}, node class {} wants {types}", reservation.instance_type, class.name),
            format!("nodeClasses[{}].instanceTypes: [{}]", class.name, reservation.instance_type),
        );
    }
    if Input::zones(choice).iter().any(|zone| *zone != reservation.zone) {
        let zones = Input::zones(choice).join(", ");
        refuse(
            format!("{id} is in {}, node class {} in {zones}", reservation.zone, class.name),
            format!("nodeClasses[{}].zone: {}", class.name, reservation.zone),
        );
    }
    let group = class.placement_group.as_ref();
    let named = group.map(|group| names::placement_group_name(&input.graph.identity, group));
    match (&reservation.placement_group, &named) {
        (None, Some(_)) => refuse(
            format!(
                "{id} was not made in a placement group: instances in one can't use it, though node class {} names one",
                class.name
            ),
            format!("leave out nodeClasses[{}].placementGroup", class.name),
        ),
        (Some(arn), named) if named.as_deref() != arn.rsplit('/').next() => {
            let has = named.as_deref().unwrap_or("none");
            refuse(
                format!(
                    "{id} was made in placement group {arn}: only instances in it can use it, node class {} has {has}",
                    class.name
                ),
                "make the reservation without a placement group, or in the stack's own".to_owned(),
            );
        }
        _ => {}
    }
    findings
}

/// States of DescribeCapacityReservations from which a reservation may still become active.
const TO_COME: &[&str] = &["scheduled", "pending", "payment-pending", "assessing", "delayed"];

fn window(input: &Input<'_>, class: &NodeClass, reservation: &Reservation) -> Vec<Finding> {
    let id = &reservation.id;
    let time = |text: &Option<String>| text.as_deref().and_then(|text| text.parse::<Timestamp>().ok());
    let Ok(now) = input.circumstances.now.parse::<Timestamp>() else {
        let message = format!("`{}` is no time, so whether {id} is open is not known", input.circumstances.now);
        return vec![Finding::unknown(Check::Capacity, id, message)];
    };
    let (start, end) = (time(&reservation.start), time(&reservation.end));
    if let Some(end) = end
        && now.duration_until(end) <= SCALES_BEFORE
    {
        let ended = now.duration_until(end) <= SignedDuration::ZERO;
        let message = if ended {
            format!("{id} ended at {end}")
        } else {
            format!("{id} ends at {end}: EKS scales its nodes to 0 forty minutes before")
        };
        return vec![Finding::block(Check::Capacity, id, message).remedy("infer-stack capacity find")];
    }
    let to_come = TO_COME.contains(&reservation.state.as_str());
    if to_come || start.is_some_and(|start| now < start) {
        let when = start.map_or_else(|| "its state changes".to_owned(), |start| start.to_string());
        let message = format!(
            "{id} is {}: node class {} stays at 0 until {when}, then run up again",
            reservation.state, class.name
        );
        return vec![Finding::warn(Check::Capacity, id, message)];
    }
    if reservation.state != "active" {
        let message = format!("{id} is {}: nothing can launch into it", reservation.state);
        return vec![Finding::block(Check::Capacity, id, message).remedy("infer-stack capacity find")];
    }
    let Some(end) = end else { return vec![] };
    let expires = input.choices.expires.value.parse::<Timestamp>().ok();
    if expires.is_some_and(|expires| expires <= end) {
        return vec![];
    }
    let before = if is_ultra(&reservation.instance_type) { ULTRA_ENDS_BEFORE } else { ENDS_BEFORE };
    let last = end.saturating_sub(before).unwrap_or(end);
    let message = format!("{id} ends at {end}, before the stack expires: EC2 ends its instances at {last}");
    vec![
        Finding::warn(Check::Capacity, id, message)
            .remedy(format!("nodeClasses[{}].nodes.desired: 0 before that", class.name)),
    ]
}

/// Types that are sold as UltraServers.
fn is_ultra(instance_type: &str) -> bool {
    matches!(family(instance_type), "p6e-gb200" | "p6e-gb300" | "trn2u")
}

fn size(input: &Input<'_>, class: &NodeClass, choice: &ClassChoice, reservation: &Reservation) -> Option<Finding> {
    let id = &reservation.id;
    let (now, max, live) = input.nodes(class, choice);
    let new = now.saturating_sub(live);
    let numbers = |finding: Finding| {
        let used = reservation.total.saturating_sub(reservation.available);
        finding.numbers(f64::from(now), Some(f64::from(reservation.total)), Some(f64::from(used)))
    };
    let smaller =
        || format!("nodeClasses[{}].nodes.desired: {}", class.name, reservation.available.saturating_add(live));
    if now > reservation.total {
        let message =
            format!("{id} holds {} instances, node class {} starts with {now}", reservation.total, class.name);
        return Some(numbers(Finding::block(Check::Capacity, id, message).remedy(smaller())));
    }
    if reservation.state == "active" && new > reservation.available {
        let message =
            format!("{id} has {} of {} instances free, {new} are needed", reservation.available, reservation.total);
        return Some(numbers(Finding::block(Check::Capacity, id, message).remedy(smaller())));
    }
    if max > reservation.total {
        let message = format!("{id} holds {} instances, node class {} goes up to {max}", reservation.total, class.name);
        let remedy = format!("nodeClasses[{}].nodes.max: {}", class.name, reservation.total);
        return Some(numbers(Finding::warn(Check::Capacity, id, message).remedy(remedy)));
    }
    None
}
