//! Placement groups: what types and zones they take, and where they are held already. Must never add a group by itself.

use crate::{
    catalog::Placement,
    cost::size,
    preflight::{Check, Finding, Input},
    stack::{NodeClass, PlacementGroup, PlacementStrategy, names},
};
use std::collections::{BTreeMap, BTreeSet};

/// Instances of a spread group in one zone (EC2 user guide, placement groups).
const SPREAD_A_ZONE: u32 = 7;

pub(super) fn judge(input: &Input<'_>) -> Vec<Finding> {
    let groups: BTreeMap<&str, &PlacementGroup> =
        input.spec.placement_groups.iter().map(|group| (group.name.as_str(), group)).collect();
    let mut findings = vec![];
    for group in groups.values() {
        let classes =
            || input.classes().filter(|(class, _)| class.placement_group.as_deref() == Some(group.name.as_str()));
        let mut bad = vec![];
        let mut zones = BTreeSet::new();
        for (class, choice) in classes() {
            bad.extend(types(input, class, group));
            zones.extend(Input::zones(choice));
            if group.strategy == PlacementStrategy::Spread {
                bad.extend(spread(input, class, group, Input::zones(choice).len()));
            }
        }
        if group.strategy == PlacementStrategy::Cluster {
            bad.extend(one_zone(input, group, &zones));
        }
        if !bad.is_empty() {
            findings.extend(bad);
            continue;
        }
        let efa = classes().map(|(_, choice)| choice.efa).max().unwrap_or(0);
        let zones = zones.into_iter().collect::<Vec<_>>().join(", ");
        let with = if efa > 0 { format!(", {efa} EFA interfaces a node") } else { String::new() };
        let message = match group.strategy {
            PlacementStrategy::Cluster => format!("cluster group {}, all of it in {zones}{with}", group.name),
            PlacementStrategy::Partition { partitions } => {
                format!("partition group {} of {partitions} in {zones}{with}", group.name)
            }
            PlacementStrategy::Spread => format!("spread group {} in {zones}{with}", group.name),
        };
        findings.push(Finding::pass(Check::Placement, &group.name, message));
    }
    findings
}

fn types(input: &Input<'_>, class: &NodeClass, group: &PlacementGroup) -> Vec<Finding> {
    let (placement, word) = match group.strategy {
        PlacementStrategy::Cluster => (Placement::Cluster, "cluster"),
        PlacementStrategy::Partition { .. } => (Placement::Partition, "partition"),
        PlacementStrategy::Spread => (Placement::Spread, "spread"),
    };
    let judge = |name: &String| match input.catalog.instance_type(name) {
        Some(known) if known.placement_strategies.is_empty() => Some(Finding::unknown(
            Check::Placement,
            &group.name,
            format!("which placement groups {name} takes is not known"),
        )),
        Some(known) if !known.allows(placement) => Some(
            Finding::block(
                Check::Placement,
                &group.name,
                format!("{name} of node class {} can't be in a {word} group", class.name),
            )
            .remedy(format!("leave out nodeClasses[{}].placementGroup", class.name)),
        ),
        Some(_) => None,
        None => Some(Finding::unknown(
            Check::Placement,
            &group.name,
            format!("whether {name} can be in a {word} group is not known"),
        )),
    };
    class.instance_types.iter().filter_map(judge).collect()
}

fn spread(input: &Input<'_>, class: &NodeClass, group: &PlacementGroup, zones: usize) -> Option<Finding> {
    let choice = input.choices.classes.get(&class.name)?;
    let (now, max, _) = input.nodes(class, choice);
    let limit = SPREAD_A_ZONE * u32::try_from(zones).unwrap_or(u32::MAX);
    let message = format!(
        "spread group {} holds {SPREAD_A_ZONE} instances a zone, {limit} in all; node class {} goes up to {max}",
        group.name, class.name
    );
    let finding = if now > limit {
        Finding::block(Check::Placement, &group.name, message)
    } else if max > limit {
        Finding::warn(Check::Placement, &group.name, message)
    } else {
        return None;
    };
    Some(finding.numbers(f64::from(max), Some(f64::from(limit)), None).remedy("use strategy partition"))
}

/// A cluster group is where its first instance is, and stays there until its last one is gone.
fn one_zone(input: &Input<'_>, group: &PlacementGroup, zones: &BTreeSet<&str>) -> Option<Finding> {
    let list = |zones: &BTreeSet<&str>| zones.iter().copied().collect::<Vec<_>>().join(", ");
    if zones.len() > 1 {
        let message =
            format!("cluster group {} can be in one zone only, its node classes are in {}", group.name, list(zones));
        return Some(
            Finding::block(Check::Placement, &group.name, message)
                .remedy("give each zone a placement group of its own, or its classes one `zone`"),
        );
    }
    let held: BTreeSet<String> = input
        .classes()
        .filter(|(class, _)| class.placement_group.as_deref() == Some(group.name.as_str()))
        .flat_map(|(_, choice)| choice.groups.iter().map(|group| names::node_group(&group.name)))
        .filter_map(|address| {
            let live = input.snapshot.at(&address).next()?;
            let zone = live.look.projected.pointer("/footprint/zone")?.as_str()?;
            (size(live) != Some(0)).then(|| zone.to_owned())
        })
        .filter(|zone| !zones.contains(zone.as_str()))
        .collect();
    if held.is_empty() {
        return None;
    }
    let message = format!(
        "cluster group {} holds nodes in {} until they are gone; new ones are to go to {}",
        group.name,
        held.into_iter().collect::<Vec<_>>().join(", "),
        list(zones)
    );
    Some(Finding::warn(Check::Placement, &group.name, message).remedy("scale the class to 0 first: nodes.desired: 0"))
}
