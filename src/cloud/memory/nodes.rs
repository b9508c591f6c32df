//! Instances as node groups start them, with the interfaces and disks that the launch template says, and what ends and stays
//! with them. Must never start what no pool or quota holds.

use super::{
    account::Inner,
    births::{bring, brought_by, typed, vpc_of},
    facts::instances,
    mutations::end,
    world::{Moment, Object, Trouble},
};
use crate::{
    catalog::VcpuQuota,
    contract::{CloudError, Kind, Purchase},
    model::{Doc, Link, Tags},
    resources::{
        instance::{self, Instance},
        launch_template::{self, InterfaceType, LaunchTemplate},
        network_interface::{self, NetworkInterface, Seat},
        node_group::{self, NodeGroup},
        volume::{self, Volume},
    },
};
use serde_json::json;

/// Seconds in which EC2 ends an instance.
const ENDING: Moment = 60;

/// What the create call of a group can't carry yet: one that is created empty gets its size later.
pub(super) fn created(want: &mut Doc) {
    if want["createEmpty"] == json!(true) {
        want["start"] = json!(0);
        want["min"] = json!(0);
    }
}

/// Brings a group to the size it starts with.
pub(super) fn scale(inner: &mut Inner, group: &Object, now: Moment) -> Result<(), CloudError> {
    let want: node_group::Desired = typed(inner, &group.want)?;
    resize(inner, group, &want, want.start, now)
}

/// What a changed wish does to the nodes.
pub(super) fn follow(inner: &mut Inner, before: &Object, group: &Object, now: Moment) -> Result<(), CloudError> {
    let (old, want): (node_group::Desired, node_group::Desired) =
        (typed(inner, &before.want)?, typed(inner, &group.want)?);
    retag(inner, group, &old.instance_tags, &want.instance_tags, now);
    let members = members(inner, group, now);
    let rolls =
        (&old.template_version, &old.version, &old.release) != (&want.template_version, &want.version, &want.release);
    if rolls {
        let ids: Vec<String> = members.iter().map(|at| inner.world.objects[*at].id.clone()).collect();
        for id in ids {
            terminate(inner, &id, now, now + ENDING * 1000)?;
        }
    }
    let now_at = u32::try_from(members.len()).unwrap_or(u32::MAX);
    let size = if old.start == want.start { now_at.clamp(want.min, want.max) } else { want.start };
    resize(inner, group, &want, size, now)
}

/// An ASG that could not have its instances asks for them again and again.
pub(super) fn go_on_trying(inner: &mut Inner, now: Moment) -> Result<(), CloudError> {
    let waits = |object: &&Object| object.trouble.is_some() && object.deleting.is_none() && object.exists(now);
    let waiting: Vec<Object> = inner.world.objects.iter().filter(waits).cloned().collect();
    for group in waiting {
        let want: node_group::Desired = typed(inner, &group.want)?;
        if want.create_empty {
            resize(inner, &group, &want, group.size.unwrap_or(0), now)?;
        }
    }
    Ok(())
}

/// The nodes go with their group; what a CNI and a volume driver leave when they die with the nodes stays.
pub(super) fn leave(inner: &mut Inner, group: &Object, gone: Moment, now: Moment) -> Result<(), CloudError> {
    let want: node_group::Desired = typed(inner, &group.want)?;
    let ids: Vec<String> = members(inner, group, now).iter().map(|at| inner.world.objects[*at].id.clone()).collect();
    for id in &ids {
        terminate(inner, id, now, gone.min(now + 4 * ENDING * 1000))?;
    }
    let cluster = want.cluster.to_string();
    let driver = |key: &str, value: &str| {
        Tags::from([
            (key.to_owned(), value.to_owned()),
            (format!("kubernetes.io/cluster/{cluster}"), "owned".to_owned()),
        ])
    };
    let subnet = want.subnets.first().map(Link::to_string).unwrap_or_default();
    let node = ids.first().map_or("i-0", String::as_str);
    let leaves = inner.scenario.leaves;
    for _ in 0..leaves.interfaces {
        let left = network_interface::Desired {
            vpc: Link::is(vpc_of(inner, &subnet).unwrap_or_default()),
            subnet: Link::is(&subnet),
            groups: want.security_groups.clone(),
            interface_type: "interface".to_owned(),
            description: format!("aws-K8S-{node}"),
            instance: None,
            requester_managed: false,
        };
        let id = format!("eni-0{}", inner.world.serial());
        bring(inner, NetworkInterface::NAME, &left, id, driver("node.k8s.amazonaws.com/instance_id", node), None, now)?;
    }
    for _ in 0..leaves.volumes {
        let left = volume::Desired {
            volume: want.footprint.volume.clone(),
            zone: zone_of(inner, &want, &subnet),
            encrypted: true,
            attached: None,
            delete_on_termination: false,
        };
        let id = format!("vol-0{}", inner.world.serial());
        bring(inner, Volume::NAME, &left, id, driver("kubernetes.io/created-for/pvc/name", "data-0"), None, now)?;
    }
    Ok(())
}

/// Interfaces and disks of an instance that ends.
pub(super) fn empty(inner: &mut Inner, instance: &str, gone: Moment, now: Moment) -> Result<(), CloudError> {
    for at in brought_by(inner, instance, now) {
        let object = &mut inner.world.objects[at];
        if object.kind == Volume::NAME && object.want["deleteOnTermination"] == json!(false) {
            object.want["attached"] = Doc::Null;
            object.made_by = None;
            continue;
        }
        end(inner, at, now, gone);
    }
    Ok(())
}

/// What EKS and the ASG say of a group: its nodes, their tags, and what keeps further ones away.
pub(super) fn dress(inner: &Inner, group: &Object, doc: &mut Doc, now: Moment) -> Result<(), CloudError> {
    let members = members(inner, group, now);
    let all: Vec<&Object> = members.iter().map(|at| &inner.world.objects[*at]).collect();
    let size = group.size.unwrap_or(0);
    let in_service = all.iter().filter(|object| object.ready <= now).count();
    let disks = |id: &str| {
        let mine = brought_by(inner, id, now).into_iter().map(|at| &inner.world.objects[at]);
        mine.filter(|object| object.kind == Volume::NAME).map(|object| &object.stamp.tags).collect::<Vec<_>>()
    };
    let tags: Vec<&Tags> =
        all.iter().flat_map(|object| [vec![&object.stamp.tags], disks(&object.id)].concat()).collect();
    doc["desiredSize"] = json!(size);
    doc["inService"] = json!(in_service);
    doc["memberTags"] = json!(tags);
    doc["activity"] = match &group.trouble {
        Some(trouble) => json!(format!("Failed: {} - {}", trouble.code, trouble.message)),
        None if in_service < size as usize => json!("Launching a new EC2 instance"),
        None => Doc::Null,
    };
    // A group that is created with nodes fails when they can't be had; one that is scaled later stays healthy, and its ASG goes
    // on trying.
    let created_full = group.want["createEmpty"] == json!(false);
    if let Some(trouble) = group.trouble.as_ref().filter(|_| created_full && now >= group.ready) {
        doc["status"] = json!("CREATE_FAILED");
        doc["issues"] =
            json!([{ "code": "AsgInstanceLaunchFailures", "message": trouble.message, "resources": [asg(group)] }]);
    }
    Ok(())
}

fn asg(group: &Object) -> String {
    group.outputs.get("asg").cloned().unwrap_or_default()
}

fn members(inner: &Inner, group: &Object, now: Moment) -> Vec<usize> {
    let mut all = brought_by(inner, &group.id, now);
    all.retain(|at| inner.world.objects[*at].kind == Instance::NAME && inner.world.objects[*at].deleting.is_none());
    all
}

fn terminate(inner: &mut Inner, id: &str, now: Moment, gone: Moment) -> Result<(), CloudError> {
    if let Some(at) = inner.world.find(Instance::NAME, id, now) {
        end(inner, at, now, gone);
    }
    empty(inner, id, gone, now)
}

fn resize(
    inner: &mut Inner,
    group: &Object,
    want: &node_group::Desired,
    size: u32,
    now: Moment,
) -> Result<(), CloudError> {
    let living = members(inner, group, now);
    let mut trouble = None;
    if living.len() > size as usize {
        let surplus: Vec<String> =
            living[size as usize..].iter().map(|at| inner.world.objects[*at].id.clone()).collect();
        for id in surplus {
            terminate(inner, &id, now, now + ENDING * 1000)?;
        }
    }
    for n in living.len()..size as usize {
        let subnet = want.subnets.get(n % want.subnets.len().max(1)).map(Link::to_string).unwrap_or_default();
        if let Err(why) = launch(inner, group, want, &subnet, now)? {
            trouble = Some(why);
            break;
        }
    }
    if let Some(at) = inner.world.find(NodeGroup::NAME, &group.id, now) {
        let group = &mut inner.world.objects[at];
        (group.size, group.trouble) = (Some(size), trouble);
    }
    Ok(())
}

/// Starts one instance, or says why EC2 doesn't.
fn launch(
    inner: &mut Inner,
    group: &Object,
    want: &node_group::Desired,
    subnet: &str,
    now: Moment,
) -> Result<Result<(), Trouble>, CloudError> {
    let template = inner.world.find(LaunchTemplate::NAME, &want.template.to_string(), now);
    let Some(template) = template.map(|at| inner.world.objects[at].want.clone()) else {
        let message = format!("The launch template {} could not be found.", want.template);
        return Ok(Err(Trouble { code: "Ec2LaunchTemplateNotFound".to_owned(), message }));
    };
    let template: launch_template::Desired = typed(inner, &template)?;
    let kind = want.instance_types.first().or(template.instance_type.as_ref()).cloned().unwrap_or_default();
    let (zone, purchase) = (zone_of(inner, want, subnet), want.purchase());
    if let Some(trouble) = refused(inner, &kind, &zone, purchase, now)? {
        return Ok(Err(trouble));
    }
    let vpc = Link::is(vpc_of(inner, subnet).unwrap_or_default());
    let interfaces = template.interfaces.iter().map(|interface| instance::Interface {
        card: interface.card,
        device: interface.device,
        r#type: interface.r#type,
        groups: interface.groups.clone(),
    });
    let made = instance::Desired {
        instance_type: kind,
        purchase,
        zone: zone.clone(),
        vpc: vpc.clone(),
        subnet: Link::is(subnet),
        interfaces: interfaces.collect(),
        placement_group: template.placement_group.clone(),
        reservation: template.reservation.clone(),
    };
    let mut tags = template.instance_tags.clone();
    tags.extend([
        ("aws:autoscaling:groupName".to_owned(), asg(group)),
        ("eks:nodegroup-name".to_owned(), want.name.clone()),
        ("eks:cluster-name".to_owned(), want.cluster.to_string()),
        (format!("kubernetes.io/cluster/{}", want.cluster), "owned".to_owned()),
    ]);
    let id = format!("i-0{}", inner.world.serial());
    bring(inner, Instance::NAME, &made, id.clone(), tags, Some(group), now)?;
    let Some(at) = inner.world.find(Instance::NAME, &id, now) else { return Ok(Ok(())) };
    let machine = inner.world.objects[at].clone();
    for interface in &template.interfaces {
        let seat = network_interface::Desired {
            vpc: vpc.clone(),
            subnet: Link::is(subnet),
            groups: interface.groups.clone(),
            interface_type: match interface.r#type {
                InterfaceType::Ena => "interface",
                InterfaceType::Efa => "efa",
                InterfaceType::EfaOnly => "efa-only",
            }
            .to_owned(),
            description: String::new(),
            instance: Some(Seat { instance: Link::is(&id), device: interface.device, card: interface.card }),
            requester_managed: false,
        };
        let eni = format!("eni-0{}", inner.world.serial());
        bring(inner, NetworkInterface::NAME, &seat, eni, template.instance_tags.clone(), Some(&machine), now)?;
    }
    for disk in &template.volumes {
        let made = volume::Desired {
            volume: disk.volume.clone(),
            zone: zone.clone(),
            encrypted: disk.encrypted,
            attached: Some(Link::is(&id)),
            delete_on_termination: disk.delete_on_termination,
        };
        let vol = format!("vol-0{}", inner.world.serial());
        bring(inner, Volume::NAME, &made, vol, template.instance_tags.clone(), Some(&machine), now)?;
    }
    Ok(Ok(()))
}

/// Why EC2 can't start one more instance, in its words.
fn refused(
    inner: &Inner,
    instance_type: &str,
    zone: &str,
    purchase: Purchase,
    now: Moment,
) -> Result<Option<Trouble>, CloudError> {
    let reserved = matches!(purchase, Purchase::Reservation | Purchase::CapacityBlock);
    if !reserved && inner.scenario.is_empty(&inner.catalog, instance_type, zone, &inner.region) {
        let message = format!(
            "We currently do not have sufficient {instance_type} capacity in the Availability Zone you requested ({zone})."
        );
        return Ok(Some(Trouble { code: "InsufficientInstanceCapacity".to_owned(), message }));
    }
    let VcpuQuota::Of(quota) = inner.catalog.vcpu_quota(instance_type, purchase) else { return Ok(None) };
    let granted = quota.code.as_ref().and_then(|code| inner.scenario.quotas.get(code)).copied().or(quota.default);
    let vcpus = |name: &str| inner.catalog.instance_type(name).map_or(0, |known| known.vcpus);
    let mut used = 0;
    for (other, bought, _) in instances(inner, now)? {
        if inner.catalog.vcpu_quota(&other, bought) == VcpuQuota::Of(quota) {
            used += vcpus(&other);
        }
    }
    Ok(granted.filter(|limit| f64::from(used + vcpus(instance_type)) > *limit).map(|limit| Trouble {
        code: "VcpuLimitExceeded".to_owned(),
        message: format!(
            "You have requested more vCPU capacity than your current vCPU limit of {limit} allows for the instance bucket \
             that the specified instance type belongs to."
        ),
    }))
}

fn zone_of(inner: &Inner, want: &node_group::Desired, subnet: &str) -> String {
    let made = inner.world.objects.iter().find(|object| object.kind == "subnet" && object.id == subnet);
    let zone = made.and_then(|object| object.want["zone"].as_str()).map(str::to_owned);
    let brought = || inner.world.brought.subnets.get(subnet).map(|facts| facts.zone.clone());
    zone.or_else(brought).or_else(|| want.footprint.zone.clone()).unwrap_or_default()
}

/// A changed tag goes to the living nodes, their disks and interfaces directly.
fn retag(inner: &mut Inner, group: &Object, old: &Tags, new: &Tags, now: Moment) {
    let mut all = members(inner, group, now);
    for at in all.clone() {
        let id = inner.world.objects[at].id.clone();
        all.extend(brought_by(inner, &id, now));
    }
    for at in all {
        let tags = &mut inner.world.objects[at].stamp.tags;
        tags.retain(|key, _| !old.contains_key(key) || new.contains_key(key));
        tags.extend(new.clone());
    }
}
