//! Network interfaces as EC2 describes and filters them. Must never change one.

use super::interface::{Interface, Public};
use crate::sandbox::{
    wire::Fault,
    world::{
        Context, Output, World,
        ec2::{Listing, describe},
        tags,
    },
};
use serde_json::{Value, json};
use std::net::Ipv4Addr;

fn private_name(region: &str, address: Ipv4Addr) -> String {
    let dashed = address.to_string().replace('.', "-");
    if region == "us-east-1" {
        format!("ip-{dashed}.ec2.internal")
    } else {
        format!("ip-{dashed}.{region}.compute.internal")
    }
}

fn public_name(region: &str, address: Ipv4Addr) -> String {
    let dashed = address.to_string().replace('.', "-");
    if region == "us-east-1" {
        format!("ec2-{dashed}.compute-1.amazonaws.com")
    } else {
        format!("ec2-{dashed}.{region}.compute.amazonaws.com")
    }
}

pub(super) fn view(world: &World, region: &str, id: &str, interface: &Interface) -> Value {
    let net = world.net(region);
    let zone = net.subnets.get(&interface.subnet).map(|subnet| subnet.zone.as_str()).unwrap_or_default();
    let association = interface.public.as_ref().map(|public| {
        json!({
            "PublicIp": public.address.to_string(),
            "PublicDnsName": public_name(region, public.address),
            "AllocationId": public.allocation,
            "AssociationId": public.association,
            "IpOwnerId": if public.allocation.is_some() { world.account.as_str() } else { "amazon" },
        })
    });
    let addresses: Vec<Value> = interface
        .address
        .iter()
        .chain(&interface.secondary)
        .enumerate()
        .map(|(n, address)| {
            json!({
                "PrivateIpAddress": address.to_string(),
                "PrivateDnsName": private_name(region, *address),
                "Primary": n == 0,
                "Association": association.as_ref().filter(|_| n == 0),
            })
        })
        .collect();
    let attachment = interface.seat.as_ref().map(|seat| {
        json!({
            "AttachmentId": seat.id,
            "InstanceId": seat.instance,
            "InstanceOwnerId": seat.owner,
            "DeviceIndex": seat.device,
            "NetworkCardIndex": seat.card,
            "DeleteOnTermination": seat.delete_on_termination,
            "AttachTime": seat.since as f64 / 1000.0,
            "Status": "attached",
        })
    });
    let group = |id: &String| json!({ "GroupId": id, "GroupName": net.groups.get(id).map(|group| &group.name) });
    json!({
        "NetworkInterfaceId": id,
        "VpcId": interface.vpc,
        "SubnetId": interface.subnet,
        "AvailabilityZone": world.zone_name(region, zone),
        "AvailabilityZoneId": zone,
        "OwnerId": world.account,
        "InterfaceType": interface.kind,
        "Description": interface.description,
        "Status": interface.status(),
        "Groups": interface.groups.iter().map(group).collect::<Vec<_>>(),
        "MacAddress": interface.mac,
        "PrivateIpAddress": interface.address.map(|address| address.to_string()),
        "PrivateDnsName": interface.address.map(|address| private_name(region, address)),
        "PrivateIpAddresses": addresses,
        "Ipv6Addresses": [],
        "Association": association,
        "Attachment": attachment,
        "RequesterId": interface.requester,
        "RequesterManaged": interface.requester.is_some(),
        "SourceDestCheck": interface.source_dest_check,
        // Alone among EC2's shapes, an interface calls its tags so.
        "TagSet": tags::listed(world.tags_of(region, id)),
    })
}

fn values(world: &World, region: &str, id: &str, interface: &Interface, name: &str) -> Option<Vec<String>> {
    let net = world.net(region);
    let subnet = net.subnets.get(&interface.subnet);
    let seat = interface.seat.as_ref();
    let public = interface.public.as_ref();
    let one = |value: Option<String>| value.into_iter().collect();
    Some(match name {
        "network-interface-id" => vec![id.to_owned()],
        "vpc-id" => vec![interface.vpc.clone()],
        "subnet-id" => vec![interface.subnet.clone()],
        "availability-zone" => one(subnet.map(|subnet| world.zone_name(region, &subnet.zone))),
        "availability-zone-id" => one(subnet.map(|subnet| subnet.zone.clone())),
        "group-id" => interface.groups.clone(),
        "group-name" => interface.groups.iter().filter_map(|id| Some(net.groups.get(id)?.name.clone())).collect(),
        "interface-type" => vec![interface.kind.clone()],
        "description" => vec![interface.description.clone()],
        "status" => vec![interface.status().to_owned()],
        "owner-id" => vec![world.account.clone()],
        "mac-address" => vec![interface.mac.clone()],
        "requester-id" => one(interface.requester.clone()),
        "requester-managed" => vec![interface.requester.is_some().to_string()],
        "source-dest-check" => vec![interface.source_dest_check.to_string()],
        "private-ip-address" => one(interface.address.map(|address| address.to_string())),
        "private-dns-name" => one(interface.address.map(|address| private_name(region, address))),
        "addresses.private-ip-address" => {
            interface.address.iter().chain(&interface.secondary).map(Ipv4Addr::to_string).collect()
        }
        "attachment.attachment-id" => one(seat.map(|seat| seat.id.clone())),
        "attachment.instance-id" => one(seat.and_then(|seat| seat.instance.clone())),
        "attachment.instance-owner-id" => one(seat.map(|seat| seat.owner.clone())),
        "attachment.device-index" => one(seat.map(|seat| seat.device.to_string())),
        "attachment.delete-on-termination" => one(seat.map(|seat| seat.delete_on_termination.to_string())),
        "attachment.status" => one(seat.map(|_| "attached".to_owned())),
        "association.allocation-id" => one(public.and_then(|public| public.allocation.clone())),
        "association.association-id" => one(public.and_then(|public| public.association.clone())),
        "association.public-ip" | "addresses.association.public-ip" => {
            one(public.map(|Public { address, .. }| address.to_string()))
        }
        _ => return None,
    })
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (world, region) = (&*world, context.region);
    let listing = Listing {
        ids: "NetworkInterfaceIds",
        prefix: "eni",
        member: "NetworkInterfaces",
        values: &|id, interface: &Interface, name| values(world, region, id, interface, name),
        view: &|id, interface| view(world, region, id, interface),
    };
    describe(world, context, &world.net(region).interfaces, listing)
}
