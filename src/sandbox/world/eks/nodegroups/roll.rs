//! UpdateNodegroupVersion: nodes are replaced, as many at a time as the group allows. Must never start with the next before the
//! one before has joined.

use super::{
    Deed, Named, Nodegroup,
    calls::{find_template, found, named},
    config::refuse_unless_active,
    judge,
    life::{self, BETWEEN, GIVES_UP},
    node, template,
};
use crate::{
    catalog::eks,
    sandbox::{
        wire::Fault,
        world::{
            Context, Output, World,
            eks::{parameter, request},
        },
    },
};
use serde_json::{Value, json};

pub(in crate::sandbox::world::eks) fn upgrade(world: &mut World, context: &Context) -> Result<Output, Fault> {
    world.once(context, "clientRequestToken", "InvalidParameterException", |world| {
        let named = named(context)?;
        refuse_unless_active(world, &named)?;
        let home = world.home(&named.region, &named.cluster)?;
        let mut group = found(world, &named)?.clone();
        let asg = group.asg.clone().unwrap_or_default();
        let scaling = world.scaling_group(&named.region, &asg);
        let desired = scaling.map_or(0, |asg| asg.desired);
        // Somebody may have scaled it since.
        group.desired = desired;
        if group.capacity_type == "CAPACITY_BLOCK" && desired > 0 {
            return Err(request("The desired size of a CAPACITY_BLOCK nodegroup must be 0 for a version update."));
        }
        let wanted = context.text("version").unwrap_or(&group.version).to_owned();
        if eks::version(&wanted) < eks::version(&group.version) {
            let message = format!(
                "Requested Kubernetes version {wanted} is lower than the nodegroup's version {}.",
                group.version
            );
            return Err(parameter(message));
        }
        let release = context.text("releaseVersion");
        if group.ami_type == "CUSTOM" {
            if context.text("version").is_some() || release.is_some() {
                return Err(parameter("You cannot specify version or releaseVersion with a custom AMI."));
            }
        } else {
            judge::version(world, &group.ami_type, &wanted, release, &home)?;
        }
        let mut params = vec![("Version".to_owned(), wanted.clone())];
        // A new template alone keeps the release; anything else without one takes the newest.
        let only_template = context.input.get("launchTemplate").is_some() && context.text("version").is_none();
        group.release = match release {
            Some(release) => release.to_owned(),
            None if only_template => group.release,
            None => world.newest_release(&group.ami_type, &wanted).unwrap_or(group.release),
        };
        group.version = wanted;
        params.push(("ReleaseVersion".to_owned(), group.release.clone()));
        if let Some(wanted) = context.input.get("launchTemplate") {
            change_template(world, &named, &mut group, wanted)?;
            let version = group.template.as_ref().map(|(_, _, version)| version.to_string()).unwrap_or_default();
            params.push(("LaunchTemplateVersion".to_owned(), version));
        }
        let data = template::data(world, &named, &group)
            .ok_or_else(|| parameter("The launch template of the nodegroup can't be found."))?;
        let own = group.own_template.clone().unwrap_or_default();
        let version = world.make_template_version(&named.region, &own, data);
        if let (Some(asg), Some(version)) = (world.scaling_group_mut(&named.region, &asg), version) {
            asg.template = (own, version);
        }
        let update =
            world.begin_update(&named.region, &named.cluster, "VersionUpdate", params, Some(&named.name), None);
        group.update = Some(update.id.clone());
        group.status = "UPDATING".to_owned();
        group.modified = world.now;
        if let Some(place) = world.nodegroup_mut(&named) {
            *place = group;
        }
        world.nodegroup_later(BETWEEN, Deed::Rolls(named));
        Ok(json!({ "update": update.view() }))
    })
}

/// Only to another version of the same template.
fn change_template(world: &World, named: &Named, group: &mut Nodegroup, wanted: &Value) -> Result<(), Fault> {
    let found = find_template(world, &named.region, wanted)?;
    let Some((id, ..)) = &group.template else {
        return Err(request("Cannot update a nodegroup without a launch template to use one."));
    };
    if *id != found.id {
        return Err(request("The launch template of a nodegroup can't be changed, only its version."));
    }
    judge::template(group, &found)?;
    group.template = Some((found.id, found.name, found.number));
    Ok(())
}

fn at_a_time(group: &Nodegroup, nodes: usize) -> usize {
    let of = |name: &str| group.update_config.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let share = of("maxUnavailablePercentage").map(|percent| (nodes * percent).div_ceil(100));
    of("maxUnavailable").or(share).unwrap_or(1).max(1)
}

/// Looks how far it is, and goes one step on.
pub(super) fn step(world: &mut World, named: &Named) {
    let Some(group) = world.nodegroup(named).filter(|group| group.status == "UPDATING").cloned() else { return };
    let (Some(id), Some(name)) = (group.update.clone(), group.asg.clone()) else { return };
    node::join(world, named);
    let Some(asg) = world.scaling_group(&named.region, &name).cloned() else {
        return finish(world, named, &id, Some("The Auto Scaling group is gone."));
    };
    let joined = world.nodegroup(named).map(|group| group.joined.clone()).unwrap_or_default();
    let (old, new): (Vec<_>, Vec<_>) = asg.living().partition(|(_, member)| member.template != asg.template);
    let ready = new.iter().filter(|(id, _)| joined.contains(id)).count();
    if old.is_empty() && ready >= group.desired.min(asg.desired) as usize {
        let sizes = (group.min, group.max, group.desired.clamp(group.min, group.max));
        if asg.desired > group.desired || asg.max > group.max {
            let scaled = world.resize(&named.region, &name, sizes);
            debug_assert!(scaled.is_ok(), "{scaled:?}");
        }
        return finish(world, named, &id, None);
    }
    let since = new.iter().map(|(_, member)| member.since).max().unwrap_or(group.modified).max(group.modified);
    let waited = (world.now - since) as f64 / 1000.0;
    let coming = new.len() - ready;
    if waited >= GIVES_UP && (coming > 0 || asg.trouble().is_some()) {
        let message = asg.trouble().and_then(|activity| activity.message.clone());
        let message = message.unwrap_or_else(|| "Instances failed to join the kubernetes cluster".to_owned());
        return finish(world, named, &id, Some(&message));
    }
    advance(world, named, &group, &name);
    world.nodegroup_later(BETWEEN, Deed::Rolls(named.clone()));
}

fn advance(world: &mut World, named: &Named, group: &Nodegroup, name: &str) {
    let Some(asg) = world.scaling_group(&named.region, name).cloned() else { return };
    let joined = world.nodegroup(named).map(|group| group.joined.clone()).unwrap_or_default();
    let minimal = group.update_config["updateStrategy"] == json!("MINIMAL");
    let step = at_a_time(group, asg.desired as usize);
    let unready =
        asg.members.iter().filter(|(id, member)| member.state == "Terminating" || !joined.contains(id)).count();
    let old: Vec<String> =
        asg.living().filter(|(_, member)| member.template != asg.template).map(|(id, _)| id.clone()).collect();
    let missing = (asg.desired as usize).saturating_sub(asg.living().count());
    // DEFAULT has new nodes there before it ends old ones.
    if !minimal && asg.desired == group.desired && !old.is_empty() {
        let more = u32::try_from(step).unwrap_or(1);
        let desired = asg.desired.saturating_add(more);
        let scaled = world.resize(&named.region, name, (asg.min, asg.max.max(desired), desired));
        debug_assert!(scaled.is_ok(), "{scaled:?}");
        return;
    }
    let free = step.saturating_sub(unready + missing);
    for id in old.into_iter().take(free) {
        let cause =
            "an instance was taken out of service in response to a user request: EKS replaces the nodes of the group.";
        world.retire(&named.region, name, &id, cause);
    }
}

fn finish(world: &mut World, named: &Named, id: &str, failure: Option<&str>) {
    let error = failure.map(|message| ("NodeCreationFailure".to_owned(), message.to_owned(), vec![named.name.clone()]));
    world.end_update(&named.region, &named.cluster, id, error);
    if let Some(group) = world.nodegroup_mut(named) {
        group.update = None;
    }
    life::set_status(world, named, "ACTIVE", vec![]);
}
