//! Placement groups. Must never hold a cluster in two zones, nor go while an instance or a reservation is in them.

use super::{Deed, Region};
use crate::sandbox::{
    wire::Fault,
    world::{
        Context, Moment, Output, World,
        ec2::{Listing, describe, invalid, missing, tagged},
        limits,
        tags::specified,
        time,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlacementGroup {
    pub name: String,
    /// `cluster`, `partition`, `spread`
    pub strategy: String,
    pub partitions: Option<u32>,
    pub spread_level: Option<String>,
    /// `pending`, `available`, `deleting`
    pub state: String,
    pub since: Moment,
}

/// Instances that a spread group holds in one zone (EC2 user guide, placement strategies).
const SPREAD_IN_ZONE: usize = 7;

fn unknown(name: &str) -> Fault {
    Fault::new("InvalidPlacementGroup.Unknown", format!("The Placement Group '{name}' is unknown."))
}

impl Region {
    /// Id of a group that is there, by its name or id.
    pub(super) fn group_named(&self, name: &str) -> Option<&String> {
        let found = self.placement_groups.iter().find(|(id, group)| group.name == name || **id == name);
        found.map(|(id, _)| id)
    }

    /// The group that a launch names, as far as one more instance of a type fits into it in a zone.
    pub(super) fn place(&self, name: &str, zone: &str, partition: Option<u32>) -> Result<String, Fault> {
        let id = self.group_named(name).ok_or_else(|| unknown(name))?;
        let group = &self.placement_groups[id];
        if group.state == "deleting" {
            return Err(unknown(name));
        }
        match (group.strategy.as_str(), partition) {
            ("partition", Some(n)) if !(1..=group.partitions.unwrap_or(1)).contains(&n) => {
                Err(invalid(format!("Value ({n}) for parameter partitionNumber is invalid.")))
            }
            ("partition", _) | (_, None) => Ok(id.clone()),
            (_, Some(_)) => {
                let message = "The parameter PartitionNumber can only be used with partition placement groups.";
                Err(Fault::new("InvalidParameterCombination", message))
            }
        }?;
        let members =
            || self.instances.values().filter(|instance| instance.group.as_ref() == Some(id) && instance.stands());
        match group.strategy.as_str() {
            "cluster" => match members().find(|member| member.zone != zone) {
                Some(elsewhere) => {
                    let message = format!(
                        "The placement group '{}' is in use in another availability zone: {}",
                        group.name, elsewhere.zone_name
                    );
                    Err(Fault::new("InvalidPlacementGroup.InUse", message))
                }
                None => Ok(id.clone()),
            },
            "spread" if members().filter(|member| member.zone == zone).count() >= SPREAD_IN_ZONE => {
                let message = format!(
                    "The spread placement group '{}' holds {SPREAD_IN_ZONE} instances in this Availability Zone already.",
                    group.name
                );
                Err(Fault::new("InsufficientInstanceCapacity", message))
            }
            _ => Ok(id.clone()),
        }
    }

    pub(super) fn group_name(&self, id: &str) -> Option<&str> {
        Some(self.placement_groups.get(id)?.name.as_str())
    }

    pub(super) fn group_strategy(&self, id: &str) -> Option<&str> {
        Some(self.placement_groups.get(id)?.strategy.as_str())
    }
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let tags = specified(context, "placement-group")?;
    let (name, strategy) = (context.required("GroupName")?, context.required("Strategy")?);
    let partitions = context.number("PartitionCount");
    let spread_level = context.text("SpreadLevel");
    if name.is_empty() || name.chars().count() > 255 {
        return Err(invalid(format!("Value ({name}) for parameter groupName is invalid. At most 255 characters.")));
    }
    let combination = |message: &str| Err(Fault::new("InvalidParameterCombination", message));
    match (strategy, partitions, spread_level) {
        ("partition", Some(n), _) if !(1..=7).contains(&n) => {
            return Err(invalid(format!("Value ({n}) for parameter partitionCount is invalid. At most 7 partitions.")));
        }
        ("cluster" | "spread", Some(_), _) => {
            return combination("PartitionCount can only be specified with the partition strategy.");
        }
        ("cluster" | "partition", _, Some(_)) => {
            return combination("SpreadLevel can only be specified with the spread strategy.");
        }
        ("spread", _, Some("host")) => return combination("Host level spread is for Outposts only."),
        _ => {}
    }
    let groups = &world.machines(context.region).placement_groups;
    if groups.values().any(|group| group.name == name) {
        let message = format!("The placement group '{name}' already exists.");
        return Err(Fault::new("InvalidPlacementGroup.Duplicate", message));
    }
    if groups.len() >= world.limit("placementGroup") {
        let message = "You have reached the limit on the number of placement groups.";
        return Err(Fault::new("PlacementGroupLimitExceeded", message));
    }
    let (id, region) = (world.id("pg"), context.region.to_owned());
    let group = PlacementGroup {
        name: name.to_owned(),
        strategy: strategy.to_owned(),
        partitions: (strategy == "partition").then(|| partitions.and_then(|n| u32::try_from(n).ok()).unwrap_or(2)),
        spread_level: (strategy == "spread").then(|| spread_level.unwrap_or("rack").to_owned()),
        state: "pending".to_owned(),
        since: world.now,
    };
    world.machines_mut(&region).placement_groups.insert(id.clone(), group.clone());
    world.register(&region, "placement-group", &id, tags);
    let view = tagged(world, &region, &id, view(world, &region, &id, &group));
    world.later(limits::creation("placement-group"), time::Deed::Compute(Deed::PlacementGroupComes { region, id }));
    Ok(json!({ "PlacementGroup": view }).into())
}

pub(super) fn comes(world: &mut World, region: &str, id: &str) {
    if let Some(group) =
        world.machines_mut(region).placement_groups.get_mut(id).filter(|group| group.state == "pending")
    {
        group.state = "available".to_owned();
    }
}

pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (name, region) = (context.required("GroupName")?, context.region.to_owned());
    let machines = world.machines(&region);
    let by_name = machines.placement_groups.iter().find(|(_, group)| group.name == name);
    let (id, group) = by_name.ok_or_else(|| unknown(name))?;
    if group.state == "deleting" {
        return Ok(Output::default());
    }
    // Instances that shut down are in it still.
    let holds = |instance: &super::Instance| instance.group.as_ref() == Some(id) && instance.state != "terminated";
    let arn = arn(world, &region, name);
    let reserved = machines.reservations.values().any(|reservation| {
        reservation.placement_group.as_ref() == Some(&arn)
            && !matches!(reservation.state.as_str(), "cancelled" | "expired")
    });
    if reserved || machines.instances.values().any(holds) {
        let message = format!("The placement group '{name}' is in use and may not be deleted.");
        return Err(Fault::new("InvalidPlacementGroup.InUse", message));
    }
    let id = id.clone();
    if let Some(group) = world.machines_mut(&region).placement_groups.get_mut(&id) {
        group.state = "deleting".to_owned();
    }
    world.later(limits::deletion("placement-group"), time::Deed::Compute(Deed::PlacementGroupGoes { region, id }));
    Ok(Output::default())
}

pub(super) fn goes(world: &mut World, region: &str, id: &str) {
    world.machines_mut(region).placement_groups.remove(id);
    world.unregister(region, id);
}

pub(super) fn arn(world: &World, region: &str, name: &str) -> String {
    world.ec2_arn(region, &format!("placement-group/{name}"))
}

fn view(world: &World, region: &str, id: &str, group: &PlacementGroup) -> Value {
    json!({
        "GroupId": id,
        "GroupName": group.name,
        "GroupArn": arn(world, region, &group.name),
        "State": group.state,
        "Strategy": group.strategy,
        "PartitionCount": group.partitions,
        "SpreadLevel": group.spread_level,
    })
}

/// Not paged: EC2 gives all of them.
pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (world, region) = (&*world, context.region);
    let mut all = world.machines(region).placement_groups.clone();
    let names = context.texts("GroupNames");
    if let Some(name) = names.iter().find(|name| all.values().all(|group| group.name != **name)) {
        return Err(unknown(name));
    }
    if let Some(id) = context.texts("GroupIds").iter().find(|id| !all.contains_key(*id)) {
        return Err(missing(id));
    }
    all.retain(|_, group| names.is_empty() || names.contains(&group.name));
    let listing = Listing {
        ids: "GroupIds",
        prefix: "pg",
        member: "PlacementGroups",
        values: &|_, group: &PlacementGroup, name| {
            Some(match name {
                "group-name" => vec![group.name.clone()],
                "group-arn" => vec![arn(world, region, &group.name)],
                "state" => vec![group.state.clone()],
                "strategy" => vec![group.strategy.clone()],
                "spread-level" => group.spread_level.iter().cloned().collect(),
                _ => return None,
            })
        },
        view: &|id, group| view(world, region, id, group),
    };
    describe(world, context, &all, listing)
}
