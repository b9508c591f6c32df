//! Do the subnets hold the addresses of nodes, pods and gateways? Must never count an `efa-only` interface, which takes none.

use crate::{
    contract::Demand,
    cost::Taken,
    preflight::{Check, Finding, Input, words::not_had},
    resources::subnet,
    stack::names,
};
use std::collections::{BTreeMap, BTreeSet};

/// Addresses of a subnet that AWS keeps for itself (VPC user guide, subnet sizing).
const RESERVED: u32 = 5;
/// Free addresses that EKS wants in each subnet of a control plane, and what it advises (EKS user guide, network
/// requirements).
const CONTROL_PLANE: u32 = 6;
const CONTROL_PLANE_ADVISED: u32 = 16;

#[derive(Default, Clone, Copy)]
struct Need {
    now: u32,
    max: u32,
}

pub(super) fn judge(input: &Input<'_>) -> Vec<Finding> {
    let wished = needs(&input.wished);
    let lived = needs(&input.lived);
    let control_plane = control_plane(input);
    let subnets: BTreeSet<&String> = wished.keys().chain(control_plane.iter()).collect();
    subnets
        .into_iter()
        .map(|subnet| {
            let mut need = wished.get(subnet).copied().unwrap_or_default();
            let mut advised = need.max;
            if control_plane.contains(subnet) {
                need.now += CONTROL_PLANE;
                need.max += CONTROL_PLANE;
                advised += CONTROL_PLANE_ADVISED;
            }
            match room(input, subnet, lived.get(subnet).map_or(0, |live| live.now)) {
                Ok(room) => judge_one(subnet, need, advised, room),
                Err(why) => {
                    Finding::unknown(Check::Addresses, subnet, format!("how many addresses {subnet} has free: {why}"))
                }
            }
        })
        .collect()
}

fn judge_one(subnet: &str, need: Need, advised: u32, room: u32) -> Finding {
    let numbers = |finding: Finding, need: u32| finding.numbers(f64::from(need), Some(f64::from(room)), None);
    let remedy = "a wider network.cidr, or lower nodes.max";
    if need.now > room {
        let message = format!("{subnet} holds {room} addresses, {} are needed to start", need.now);
        numbers(Finding::block(Check::Addresses, subnet, message).remedy(remedy), need.now)
    } else if need.max > room {
        let message =
            format!("{subnet} holds {room} addresses: enough to start, but {} are needed at the largest", need.max);
        numbers(Finding::warn(Check::Addresses, subnet, message).remedy(remedy), need.max)
    } else if advised > room {
        let message = format!(
            "{subnet} holds {room} addresses: enough, but EKS advises {CONTROL_PLANE_ADVISED} for the control plane, {advised} in all"
        );
        numbers(Finding::warn(Check::Addresses, subnet, message).remedy(remedy), advised)
    } else {
        let message = format!("{subnet}: {} of {room} addresses at the largest", need.max);
        numbers(Finding::pass(Check::Addresses, subnet, message), need.max)
    }
}

/// Addresses by subnet, as the demands name it. They are counted at the largest size of their object; at the present one
/// they are as many fewer as its instances are.
fn needs(taken: &[Taken]) -> BTreeMap<String, Need> {
    let mut sizes = BTreeMap::new();
    for taken in taken {
        if let Demand::Instances { now, max, .. } = &taken.demand {
            sizes.insert(&taken.address, (*now, *max));
        }
    }
    let mut needs = BTreeMap::<String, Need>::new();
    for taken in taken {
        let Demand::Addresses { subnet, n } = &taken.demand else { continue };
        let need = needs.entry(subnet.clone()).or_default();
        need.max = need.max.saturating_add(*n);
        let now = match sizes.get(&taken.address) {
            Some((now, max @ 1..)) => {
                let part = (u64::from(*n) * u64::from(*now)).div_ceil(u64::from(*max));
                u32::try_from(part).unwrap_or(u32::MAX)
            }
            Some(_) => 0,
            None => *n,
        };
        need.now = need.now.saturating_add(now);
    }
    needs
}

/// Subnets of the control plane, as demands name them: by address where made here, by id where brought along.
fn control_plane(input: &Input<'_>) -> BTreeSet<String> {
    let brought: BTreeSet<String> = input.choices.brought.control_plane.values().flatten().cloned().collect();
    if !brought.is_empty() {
        return brought;
    }
    let zones = &input.choices.control_plane_zones.value;
    zones.iter().map(|zone| names::private_subnet(zone).to_string()).collect()
}

/// Addresses that the stack may take of a subnet, those of `live` objects of its own included.
fn room(input: &Input<'_>, subnet: &str, live: u32) -> Result<u32, String> {
    let made = input.graph.wishes.values().find(|wish| wish.address.as_str() == subnet);
    if let Some(wish) = made {
        let wish: subnet::Desired = serde_json::from_value(wish.doc.clone()).map_err(|e| e.to_string())?;
        let all = 1u64 << (32 - u32::from(wish.cidr.prefix_len()));
        return Ok(u32::try_from(all.saturating_sub(u64::from(RESERVED))).unwrap_or(u32::MAX));
    }
    match input.catalog.facts().subnets.get(subnet) {
        Some(Ok(Some(facts))) => Ok(facts.free_addresses.saturating_add(live)),
        other => Err(not_had(other)),
    }
}
