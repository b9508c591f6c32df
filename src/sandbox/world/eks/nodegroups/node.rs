//! Nodes: when a machine of a group joins its cluster, what the network add-on takes for it, and what both leave behind. Must
//! never let a node join without a network add-on, or with only the VPC's default group on its interface.

use super::Named;
use crate::{
    catalog::Catalog,
    model::Tags,
    sandbox::world::{
        Moment, World,
        compute::ready_after,
        eks::Cni,
        network::{Holder, NewInterface},
    },
};

/// Lets every machine join that is up and may; those that are gone are no nodes any more.
pub(super) fn join(world: &mut World, named: &Named) {
    let Some(group) = world.nodegroup(named).cloned() else { return };
    let Some(asg) = group.asg.as_ref().and_then(|name| world.scaling_group(&named.region, name)) else { return };
    let members: Vec<String> = asg.living().map(|(id, _)| id.clone()).collect();
    let Ok(home) = world.home(&named.region, &named.cluster) else { return };
    let mut joined: Vec<String> = group.joined.into_iter().filter(|id| members.contains(id)).collect();
    for id in members {
        if joined.contains(&id) || !is_up(world, named, &id) {
            continue;
        }
        let Some(cni) = home.cni.filter(|_| is_admitted(world, named, &id)) else { continue };
        take_addresses(world, named, &id, cni);
        joined.push(id);
    }
    if let Some(group) = world.nodegroup_mut(named) {
        group.joined = joined;
    }
}

fn is_up(world: &World, named: &Named, id: &str) -> bool {
    world.instance(&named.region, id).is_some_and(|instance| {
        let up = instance.launched + (ready_after(&instance.instance_type) * 1000.0) as Moment;
        instance.state == "running" && world.now >= up
    })
}

/// The control plane does not answer a node that only the VPC's default group lets through.
fn is_admitted(world: &World, named: &Named, id: &str) -> bool {
    let primary = world.interfaces_of(&named.region, id).into_iter().next();
    let interface = primary.as_ref().and_then(|eni| world.interface(&named.region, eni));
    interface.is_some_and(|interface| {
        let groups = &world.net(&named.region).groups;
        interface.groups.iter().any(|id| groups.get(id).is_some_and(|group| group.name != "default"))
    })
}

/// vpc-cni holds addresses for pods that don't run yet: as many as it is told, or whatever whole interfaces hold. A full subnet
/// leaves it with fewer, and pods without any.
fn take_addresses(world: &mut World, named: &Named, id: &str, cni: Cni) {
    let region = &named.region;
    let Some(primary) = world.interfaces_of(region, id).into_iter().next() else { return };
    let known =
        world.instance(region, id).and_then(|instance| Catalog::compiled().instance_type(&instance.instance_type));
    let each = known.map_or(1, |known| known.ipv4_per_interface as usize).max(1);
    let Some((subnet, groups)) = world.interface(region, &primary).map(|it| (it.subnet.clone(), it.groups.clone()))
    else {
        return;
    };
    let more = cni.minimum_ip_target.map_or(each - 1, |least| (least as usize).min(each - 1));
    let full = world.add_addresses(region, &primary, more).is_err();
    if full || cni.minimum_ip_target.is_some() {
        return;
    }
    let tags = cni_tags(named, id);
    let description = format!("aws-K8S-{id}");
    let new = NewInterface {
        subnet: &subnet,
        groups: &groups,
        kind: "interface",
        description: &description,
        addresses: each,
        requester: None,
        tags,
    };
    let Some(device) = free_device(world, region, id) else { return };
    if let Ok(eni) = world.make_interface(region, &new) {
        world.attach_interface(region, &eni, Holder::Instance { id, device, card: 0, delete_on_termination: true });
    }
}

/// The lowest place on card 0 that nothing sits on; `None` where the card is full.
fn free_device(world: &World, region: &str, id: &str) -> Option<u32> {
    let known = Catalog::compiled().instance_type(&world.instance(region, id)?.instance_type)?;
    let interfaces = world.interfaces_of(region, id);
    let seats = interfaces.iter().filter_map(|eni| world.interface(region, eni)?.seat.as_ref());
    let taken: Vec<u32> = seats.filter(|seat| seat.card == 0).map(|seat| seat.device).collect();
    let most = known.network_cards.first()?.max_interfaces;
    (0..most).find(|device| !taken.contains(device))
}

fn cni_tags(named: &Named, id: &str) -> Tags {
    Tags::from([
        ("cluster.k8s.amazonaws.com/name".to_owned(), named.cluster.clone()),
        ("node.k8s.amazonaws.com/instance_id".to_owned(), id.to_owned()),
        (format!("kubernetes.io/cluster/{}", named.cluster), "owned".to_owned()),
    ])
}

/// What a CNI that dies with its node, and a driver without one, leave: as the scenario says.
pub(super) fn leave_behind(world: &mut World, named: &Named) {
    let Some(group) = world.nodegroup(named).cloned() else { return };
    let (leaves, region) = (world.scenario.leaves, &named.region);
    let Some(node) = group.joined.first() else { return };
    let Some(primary) = world.interfaces_of(region, node).into_iter().next() else { return };
    let Some((subnet, groups)) = world.interface(region, &primary).map(|it| (it.subnet.clone(), it.groups.clone()))
    else {
        return;
    };
    for _ in 0..leaves.interfaces {
        let description = format!("aws-K8S-{node}");
        let new = NewInterface {
            subnet: &subnet,
            groups: &groups,
            kind: "interface",
            description: &description,
            addresses: 1,
            requester: None,
            tags: cni_tags(named, node),
        };
        // A full subnet has no room for leftovers.
        if world.make_interface(region, &new).is_err() {
            break;
        }
    }
    let zone = world.instance(region, node).map(|instance| instance.zone.clone()).unwrap_or_default();
    for n in 0..leaves.volumes {
        world.leave_volume(region, &zone, &named.cluster, n);
    }
}
