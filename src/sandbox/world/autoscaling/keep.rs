//! How a group keeps its number: starts what is missing where it has the fewest, ends what is too many, replaces what died, and
//! tries again. Must never give up: only its desired size stops it.

use super::{Group, Member};
use crate::{
    model::Tags,
    sandbox::{
        wire::Fault,
        world::{World, compute::SCALING_GROUP},
    },
};
use serde_json::{Map, Value, json};

/// Seconds between two looks while something comes or goes.
const BETWEEN: f64 = 5.0;
/// Seconds until the first retry of a failed launch; each further one waits twice as long, up to the most.
const RETRY: f64 = 60.0;
const RETRY_MOST: f64 = 900.0;

pub(super) fn look(world: &mut World, region: &str, name: &str) {
    let now = world.now;
    match world.scaling_group_mut(region, name) {
        // An earlier look has taken this one's place.
        Some(group) if group.next == Some(now) => group.next = None,
        _ => return,
    }
    watch(world, region, name);
    let Some(group) = world.scaling_group(region, name).cloned() else { return };
    if group.deleting && group.members.is_empty() {
        if let Some(groups) = world.scaling.get_mut(region) {
            groups.remove(name);
        }
        return;
    }
    let (living, wanted) = (group.living().count(), if group.deleting { 0 } else { group.desired as usize });
    let mut failed = false;
    for n in living..wanted {
        if !grow(world, region, name, n) {
            failed = true;
            break;
        }
    }
    for n in (wanted..living).rev() {
        shrink(world, region, name, n + 1);
    }
    let Some(group) = world.scaling_group_mut(region, name) else { return };
    group.failures = if failed { group.failures + 1 } else { 0 };
    let retry = (RETRY * 2f64.powi(group.failures.saturating_sub(1).min(10) as i32)).min(RETRY_MOST);
    let moving = group.deleting || group.members.values().any(|member| member.state != "InService");
    if moving {
        world.look_again(region, name, BETWEEN);
    } else if failed {
        world.look_again(region, name, retry);
    }
}

/// Takes notice of what became of the members.
fn watch(world: &mut World, region: &str, name: &str) {
    let Some(group) = world.scaling_group(region, name).cloned() else { return };
    for (id, member) in &group.members {
        let state = world.instance(region, id).map_or("terminated", |instance| instance.state.as_str()).to_owned();
        match (member.state.as_str(), state.as_str()) {
            ("Pending", "running") => {
                world.close(region, name, &member.activity, None);
                set(world, region, name, id, "InService");
                world.node_comes(region, name);
            }
            ("Terminating", "terminated") => {
                world.close(region, name, &member.activity, None);
                if let Some(group) = world.scaling_group_mut(region, name) {
                    group.members.remove(id);
                }
            }
            ("Pending" | "InService", "shutting-down" | "terminated") => {
                world.close(region, name, &member.activity, None);
                let cause = "an instance was taken out of service in response to an EC2 health check indicating it has been \
                             terminated or stopped.";
                let activity = world.note(region, name, format!("Terminating EC2 instance: {id}"), cause);
                leave(world, region, name, id, activity);
            }
            _ => {}
        }
    }
}

fn set(world: &mut World, region: &str, name: &str, id: &str, state: &str) {
    if let Some(member) = world.scaling_group_mut(region, name).and_then(|group| group.members.get_mut(id)) {
        member.state = state.to_owned();
    }
}

fn leave(world: &mut World, region: &str, name: &str, id: &str, activity: String) {
    if let Some(member) = world.scaling_group_mut(region, name).and_then(|group| group.members.get_mut(id)) {
        member.state = "Terminating".to_owned();
        member.activity = activity;
    }
}

/// Starts one more, or writes down why not.
fn grow(world: &mut World, region: &str, name: &str, before: usize) -> bool {
    let Some(group) = world.scaling_group(region, name).cloned() else { return false };
    let cause = format!(
        "an instance was started in response to a difference between desired and actual capacity, increasing the capacity from \
         {before} to {}.",
        before + 1
    );
    match launch(world, region, name, &group) {
        Ok((id, zone)) => {
            let activity = world.note(region, name, format!("Launching a new EC2 instance: {id}"), &cause);
            let (since, template) = (world.now, group.template);
            if let Some(group) = world.scaling_group_mut(region, name) {
                let member = Member { state: "Pending".to_owned(), template, zone, since, activity };
                group.members.insert(id, member);
            }
            true
        }
        Err(fault) => {
            let kind = if group.spot { "Spot" } else { "On-Demand" };
            let message = format!(
                "Could not launch {kind} Instances. {} - {} Launching EC2 instance failed.",
                fault.code, fault.message
            );
            let activity = world.note(region, name, "Launching a new EC2 instance".to_owned(), &cause);
            world.close(region, name, &activity, Some(message));
            false
        }
    }
}

/// Tries each subnet, that of the zone with the fewest members first, and in it each type. The first refusal is the one that
/// is told.
fn launch(world: &mut World, region: &str, name: &str, group: &Group) -> Result<(String, String), Fault> {
    let zone_of = |world: &World, subnet: &str| {
        world.net(region).subnet(subnet).map_or_else(|_| String::new(), |subnet| subnet.zone.clone())
    };
    let mut subnets: Vec<(usize, &String)> = group
        .subnets
        .iter()
        .map(|subnet| {
            let zone = zone_of(world, subnet);
            (group.living().filter(|(_, member)| member.zone == zone).count(), subnet)
        })
        .collect();
    subnets.sort_by_key(|(members, _)| *members);
    let types: Vec<Option<&String>> = match group.instance_types.as_slice() {
        [] => vec![None],
        types => types.iter().map(Some).collect(),
    };
    let mut first = None;
    for (_, subnet) in subnets {
        for instance_type in &types {
            match launch_in(world, region, name, group, subnet, *instance_type) {
                Ok(id) => return Ok((id, zone_of(world, subnet))),
                Err(fault) => first = first.or(Some(fault)),
            }
        }
    }
    Err(first.unwrap_or_else(|| Fault::new("ValidationError", "The group has no subnet.")))
}

fn launch_in(
    world: &mut World,
    region: &str,
    name: &str,
    group: &Group,
    subnet: &str,
    instance_type: Option<&String>,
) -> Result<String, Fault> {
    let (template, version) = &group.template;
    let mut request = Map::new();
    request
        .insert("LaunchTemplate".to_owned(), json!({ "LaunchTemplateId": template, "Version": version.to_string() }));
    if let Some(instance_type) = instance_type {
        request.insert("InstanceType".to_owned(), json!(instance_type));
    }
    if group.spot {
        request.insert("InstanceMarketOptions".to_owned(), json!({ "MarketType": "spot" }));
    }
    let mut machine = world.prepare(region, &Value::Object(request), Some(subnet))?;
    let at_launch = group.tags.iter().filter(|(_, tag)| tag.at_launch);
    let mut tags: Tags = at_launch.map(|(key, tag)| (key.clone(), tag.value.clone())).collect();
    tags.insert(SCALING_GROUP.to_owned(), name.to_owned());
    machine.tags.entry("instance".to_owned()).or_default().extend(tags);
    let started = world.start(region, &machine, 1, 1)?;
    started.into_iter().next().ok_or_else(|| Fault::new("InternalError", "Nothing was started."))
}

/// Ends one: of an older template first, then in the zone with the most, then the oldest.
fn shrink(world: &mut World, region: &str, name: &str, before: usize) {
    let Some(group) = world.scaling_group(region, name).cloned() else { return };
    let in_zone = |zone: &str| group.living().filter(|(_, member)| member.zone == zone).count();
    let chosen = group.living().min_by_key(|(id, member)| {
        (member.template == group.template, std::cmp::Reverse(in_zone(&member.zone)), member.since, (*id).clone())
    });
    let Some((id, _)) = chosen else { return };
    let cause = format!(
        "an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the \
         capacity from {before} to {}.",
        before - 1
    );
    world.retire(region, name, id, &cause);
}

impl World {
    /// Ends a member of a group, for a reason in Auto Scaling's words. What is missing then the group starts anew.
    pub(in crate::sandbox::world) fn retire(&mut self, region: &str, name: &str, id: &str, cause: &str) {
        let activity = self.note(region, name, format!("Terminating EC2 instance: {id}"), cause);
        leave(self, region, name, id, activity);
        let reason = ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown");
        if let Err(fault) = self.terminate(region, id, reason) {
            // It is gone already, which the next look sees.
            debug_assert!(fault.code.contains("NotFound"), "{fault}");
        }
        self.look_again(region, name, BETWEEN);
    }
}
