//! Does EKS take the zones of the control plane, and does the account have all zones? Must never read a zone's letter.

use crate::{
    preflight::{Check, Finding, Input, words::not_live},
    stack::Network,
};
use std::collections::BTreeSet;

pub(super) fn judge(input: &Input<'_>) -> Vec<Finding> {
    let mut findings = vec![control_plane(input)];
    findings.extend(exist(input));
    findings.extend(one_vpc(input));
    findings
}

fn control_plane(input: &Input<'_>) -> Finding {
    let refused = input.catalog.refused_control_plane_zones();
    let brought = input.choices.brought.control_plane.keys();
    let zones: BTreeSet<&String> = input.choices.control_plane_zones.value.iter().chain(brought).collect();
    let bad: Vec<_> = zones.iter().filter(|zone| refused.contains(zone)).map(|zone| zone.as_str()).collect();
    let all: Vec<_> = zones.iter().map(|zone| zone.as_str()).collect();
    let (check, subject) = (Check::Zones, "control plane");
    if !bad.is_empty() {
        let message = format!("EKS refuses control-plane subnets in {}; nodes may be there", bad.join(", "));
        return Finding::block(check, subject, message)
            .remedy("leave those subnets out of network.subnets.controlPlane");
    }
    if zones.len() < 2 {
        let message = format!("the control plane needs subnets in two zones, it has {}", all.join(", "));
        return Finding::block(check, subject, message).remedy("add a zone to network.zones");
    }
    Finding::pass(check, subject, format!("the control plane takes {}", all.join(", ")))
}

fn exist(input: &Input<'_>) -> Option<Finding> {
    let region = input.region();
    let known = input.catalog.zones(region);
    let check = Check::Zones;
    let zones = match (known.value, not_live(&known.source)) {
        (Some(zones), None) => zones,
        (_, why) => {
            let why = why.unwrap_or_else(|| "EC2 does not say".to_owned());
            return Some(Finding::unknown(check, region, format!("whether the zones exist in this account: {why}")));
        }
    };
    let used = input.classes().flat_map(|(_, choice)| Input::zones(choice));
    let used = used.chain(input.choices.zones.value.iter().map(String::as_str)).collect::<BTreeSet<_>>();
    let missing: Vec<_> = used.into_iter().filter(|zone| !zones.iter().any(|z| z == zone)).collect();
    (!missing.is_empty()).then(|| {
        Finding::block(check, region, format!("{region} has no zone {}", missing.join(", ")))
            .remedy(format!("its zones: {}", zones.join(", ")))
    })
}

fn one_vpc(input: &Input<'_>) -> Vec<Finding> {
    let Network::Brought { vpc, .. } = &input.spec.network else { return vec![] };
    let subnets = input.catalog.facts().subnets.values().filter_map(|looked| looked.as_ref().ok()?.as_ref());
    subnets
        .filter(|subnet| subnet.vpc != *vpc)
        .map(|subnet| {
            let message = format!("{} is in {}, not in {vpc}", subnet.id, subnet.vpc);
            Finding::block(Check::Zones, &subnet.id, message).remedy("name subnets of one VPC in network.subnets")
        })
        .collect()
}
