//! How a node group comes, waits for its nodes, and goes. Must never fail a group for capacity that it did not ask for.

use super::{Deed, Issue, Named, Nodegroup, node, template};
use crate::sandbox::world::{
    Moment, World,
    autoscaling::{NewGroup, Tag},
};

/// Share of its creation after which a group has its template and scaling group.
pub(super) const FORMING: f64 = 0.2;
/// Share of its deletion after which its nodes end.
pub(super) const DRAINING: f64 = 0.1;
/// Seconds between two looks of EKS.
pub(super) const BETWEEN: f64 = 10.0;
/// Seconds between two looks at the end of a capacity block.
const BLOCK: f64 = 60.0;
/// Seconds after which EKS gives up on nodes that don't come or don't join.
pub(super) const GIVES_UP: f64 = 1_080.0;
/// EKS scales a group of a capacity block to 0 this long before the block's end (EKS user guide, Capacity Blocks): 40 minutes.
const SCALED_BEFORE_END: Moment = 40 * 60 * 1000;

pub(super) fn forms(world: &mut World, named: &Named) {
    let Some(group) = world.nodegroup(named).filter(|group| group.status == "CREATING").cloned() else { return };
    let region = &named.region;
    let Some(data) = template::data(world, named, &group) else { return };
    let id = crate::model::hash(&group.arn, 32);
    let unique = format!("{}-{}-{}-{}-{}", &id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..32]);
    let own = world.make_template(region, &format!("eks-{unique}"), data, template::own_tags(named));
    let asg = format!("eks-{}-{unique}", named.name);
    let tags = template::asg_tags(named).into_iter().map(|(key, value)| (key, Tag { value, at_launch: true }));
    let new = NewGroup {
        template: (own.clone(), 1),
        instance_types: group.instance_types.clone(),
        spot: group.capacity_type == "SPOT",
        subnets: group.subnets.clone(),
        min: group.min,
        max: group.max,
        desired: group.desired,
        tags: tags.collect(),
    };
    world.make_scaling_group(region, &asg, new);
    if let Some(group) = world.nodegroup_mut(named) {
        (group.own_template, group.asg) = (Some(own), Some(asg));
    }
}

/// What keeps a group from having its nodes right now.
pub(super) fn trouble(world: &World, named: &Named, group: &Nodegroup) -> Vec<Issue> {
    let mut issues = vec![];
    let mut issue = |code: &str, message: String, resources: Vec<String>| {
        issues.push(Issue { code: code.to_owned(), message, resources });
    };
    if let Some((id, _, version)) = &group.template {
        let version = version.to_string();
        if world.machines(&named.region).template_version(Some(id), None, Some(&version)).is_err() {
            let message = format!("We couldn't find the Amazon EC2 launch template {id} version {version}.");
            issue("SourceEc2LaunchTemplateNotFound", message, vec![id.clone()]);
        }
    }
    let Some(name) = &group.asg else { return issues };
    let Some(asg) = world.scaling_group(&named.region, name) else {
        let message = format!("We couldn't find the Auto Scaling group {name} associated with the managed node group.");
        issue("AutoScalingGroupNotFound", message, vec![name.clone()]);
        return issues;
    };
    if let Some(message) = asg.trouble().and_then(|activity| activity.message.clone()) {
        issue("AsgInstanceLaunchFailures", message, vec![name.clone()]);
    }
    issues
}

/// Goes on while something of the group is under way.
pub(super) fn looks(world: &mut World, named: &Named) {
    let Some(group) = world.nodegroup_mut(named) else { return };
    group.looked_at = false;
    let (status, block) = (group.status.clone(), group.capacity_type == "CAPACITY_BLOCK");
    if status == "DELETING" {
        return;
    }
    node::join(world, named);
    if status == "CREATING" {
        settle(world, named);
    }
    scale_out_of_block(world, named);
    let coming = world.nodegroup(named).is_some_and(|group| group.status == "CREATING") || waits(world, named);
    if coming {
        world.look_at_nodegroup(named, BETWEEN);
    } else if block {
        world.look_at_nodegroup(named, BLOCK);
    }
}

/// True while nodes of a group have not joined.
fn waits(world: &World, named: &Named) -> bool {
    let Some(group) = world.nodegroup(named) else { return false };
    let asg = group.asg.as_ref().and_then(|name| world.scaling_group(&named.region, name));
    asg.is_some_and(|asg| asg.living().count() > group.joined.len())
}

fn settle(world: &mut World, named: &Named) {
    let Some(group) = world.nodegroup(named).cloned() else { return };
    let asg = group.asg.as_ref().and_then(|name| world.scaling_group(&named.region, name));
    let wanted = asg.map_or(group.desired, |asg| asg.desired) as usize;
    let age = (world.now - group.created) as f64 / 1000.0;
    let there = group.asg.is_some() && asg.is_some();
    if there && group.joined.len() >= wanted {
        set_status(world, named, "ACTIVE", vec![]);
    } else if age >= GIVES_UP {
        let mut issues = trouble(world, named, &group);
        if issues.is_empty() {
            let living: Vec<String> =
                asg.map(|asg| asg.living().map(|(id, _)| id.clone()).collect()).unwrap_or_default();
            let message = "Instances failed to join the kubernetes cluster".to_owned();
            issues.push(Issue { code: "NodeCreationFailure".to_owned(), message, resources: living });
        }
        set_status(world, named, "CREATE_FAILED", issues);
    }
}

pub(super) fn set_status(world: &mut World, named: &Named, status: &str, issues: Vec<Issue>) {
    let now = world.now;
    if let Some(group) = world.nodegroup_mut(named) {
        group.status = status.to_owned();
        group.issues = issues;
        group.modified = now;
    }
}

fn scale_out_of_block(world: &mut World, named: &Named) {
    let Some(group) = world.nodegroup(named).filter(|group| group.capacity_type == "CAPACITY_BLOCK") else { return };
    let (Some((id, _, version)), Some(asg)) = (group.template.clone(), group.asg.clone()) else { return };
    let found = world.machines(&named.region).template_version(Some(&id), None, Some(&version.to_string()));
    let target = found.ok().and_then(|found| {
        let path = ["CapacityReservationSpecification", "CapacityReservationTarget", "CapacityReservationId"];
        path.iter().try_fold(&found.data, |value, name| value.get(name))?.as_str().map(str::to_owned)
    });
    let machines = world.machines(&named.region);
    let end = target.and_then(|target| machines.reservations.get(&target)).and_then(|reservation| reservation.end);
    let near = end.is_some_and(|end| world.now >= end - SCALED_BEFORE_END);
    let Some((max, desired)) = world.scaling_group(&named.region, &asg).map(|asg| (asg.max, asg.desired)) else {
        return;
    };
    if near && desired > 0 {
        // Sizes from 0 to the largest are always in order.
        let scaled = world.resize(&named.region, &asg, (0, max, 0));
        debug_assert!(scaled.is_ok(), "{scaled:?}");
    }
}

pub(super) fn drains(world: &mut World, named: &Named) {
    let Some(asg) = world.nodegroup(named).and_then(|group| group.asg.clone()) else { return };
    node::leave_behind(world, named);
    world.end_scaling_group(&named.region, &asg);
}

pub(super) fn goes(world: &mut World, named: &Named) {
    let Some(group) = world.nodegroup(named).cloned() else { return };
    if group.asg.as_ref().is_some_and(|name| world.scaling_group(&named.region, name).is_some()) {
        world.nodegroup_later(BETWEEN, Deed::Goes(named.clone()));
        return;
    }
    if let Some(own) = &group.own_template {
        world.drop_template(&named.region, own);
    }
    world.drop_instance_profile(&template::profile(named, &group));
    if let Some(groups) = world.eks_mut(&named.region).groups.get_mut(&named.cluster) {
        groups.remove(&named.name);
    }
}
