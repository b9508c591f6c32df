//! Subnets and the addresses in them. Must never give out an address twice, nor one that EC2 keeps for itself.

use super::{Region, vpc};
use crate::{
    resources::subnet::usable_addresses,
    sandbox::{
        wire::Fault,
        world::{
            Context, Moment, Output, World,
            ec2::{Listing, describe, find, find_mut, invalid, leaned_on, tagged},
            tags::specified,
        },
    },
};
use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{collections::BTreeSet, net::Ipv4Addr};

/// Addresses at a block's start that EC2 keeps: network, router, resolver, and one for later.
const KEPT_AT_START: u32 = 4;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Subnet {
    pub vpc: String,
    pub cidr: Ipv4Net,
    /// Zone id.
    pub zone: String,
    pub map_public_ip: bool,
    pub a_records: bool,
    /// Id of the association with its network ACL.
    pub acl_association: String,
}

impl Region {
    pub fn subnet(&self, id: &str) -> Result<&Subnet, Fault> {
        find(&self.subnets, id)
    }

    pub(super) fn taken(&self, subnet: &str) -> BTreeSet<Ipv4Addr> {
        let inside = self.interfaces.values().filter(|interface| interface.subnet == subnet);
        inside.flat_map(|interface| interface.address.iter().chain(&interface.secondary)).copied().collect()
    }

    /// Addresses that nothing has.
    pub fn free_addresses(&self, id: &str) -> u32 {
        let Some(subnet) = self.subnets.get(id) else { return 0 };
        let taken = u32::try_from(self.taken(id).len()).unwrap_or(u32::MAX);
        usable_addresses(subnet.cidr).saturating_sub(taken)
    }

    /// The next free addresses of a subnet, the lowest first; none where it has not that many.
    pub(super) fn next_addresses(&self, id: &str, n: usize) -> Result<Vec<Ipv4Addr>, Fault> {
        let subnet = self.subnet(id)?;
        let taken = self.taken(id);
        let first = u32::from(subnet.cidr.network()).saturating_add(KEPT_AT_START);
        let free = (first..u32::from(subnet.cidr.broadcast())).map(Ipv4Addr::from);
        let found: Vec<_> = free.filter(|address| !taken.contains(address)).take(n).collect();
        if found.len() == n {
            return Ok(found);
        }
        let message = format!("The specified subnet does not have enough free addresses to satisfy the request: {id}");
        Err(Fault::new("InsufficientFreeAddressesInSubnet", message))
    }
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let tags = specified(context, "subnet")?;
    vpc::refuse_unmodelled(
        context,
        &["Ipv6CidrBlock", "Ipv6Native", "Ipv4IpamPoolId", "Ipv6IpamPoolId", "OutpostArn"],
    )?;
    let (vpc_id, text) = (context.required("VpcId")?, context.required("CidrBlock")?);
    let cidr = vpc::block(text, "InvalidSubnet.Range")?;
    let net = world.net(context.region);
    if !net.vpc(vpc_id)?.cidr.contains(&cidr) {
        return Err(Fault::new("InvalidSubnet.Range", format!("The CIDR '{text}' is invalid.")));
    }
    let zones = world.zones(context.region);
    let zone = match (context.text("AvailabilityZoneId"), context.text("AvailabilityZone")) {
        (None, None) => zones.first(),
        (Some(id), _) => zones.iter().find(|zone| zone.id == id),
        (None, Some(name)) => zones.iter().find(|zone| zone.name == name),
    };
    let Some(zone) = zone.map(|zone| zone.id.clone()) else {
        let wrong = context.text("AvailabilityZoneId").or(context.text("AvailabilityZone")).unwrap_or_default();
        let names: Vec<_> = zones.into_iter().map(|zone| zone.name).collect();
        return Err(invalid(format!(
            "Value ({wrong}) for parameter availabilityZone is invalid. Subnets can currently only be created in the \
             following availability zones: {}.",
            names.join(", ")
        )));
    };
    let siblings: Vec<_> = net.subnets.values().filter(|subnet| subnet.vpc == vpc_id).collect();
    if siblings.iter().any(|subnet| subnet.cidr.contains(&cidr) || cidr.contains(&subnet.cidr)) {
        return Err(Fault::new("InvalidSubnet.Conflict", format!("The CIDR '{text}' conflicts with another subnet")));
    }
    if siblings.len() >= world.limit("subnet") {
        return Err(Fault::new("SubnetLimitExceeded", "The maximum number of subnets has been reached."));
    }
    let id = world.id("subnet");
    let subnet = Subnet {
        vpc: vpc_id.to_owned(),
        cidr,
        zone,
        map_public_ip: false,
        a_records: false,
        acl_association: world.id("aclassoc"),
    };
    world.net_mut(context.region).subnets.insert(id.clone(), subnet.clone());
    world.register(context.region, "subnet", &id, tags);
    let view = view(world, context.region, &id, &subnet);
    Ok(json!({ "Subnet": tagged(world, context.region, &id, view) }).into())
}

pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = context.required("SubnetId")?;
    let net = world.net_mut(context.region);
    net.subnet(id)?;
    if net.interfaces.values().any(|interface| interface.subnet == id) {
        return Err(leaned_on("subnet", id));
    }
    net.subnets.remove(id);
    // Its association with a route table goes with it.
    for table in net.route_tables.values_mut() {
        table.associations.retain(|association| association.subnet.as_deref() != Some(id));
    }
    world.unregister(context.region, id);
    Ok(Output::default())
}

pub(super) fn modify(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let subnet = find_mut(&mut world.net_mut(context.region).subnets, context.required("SubnetId")?)?;
    let known = ["MapPublicIpOnLaunch", "EnableResourceNameDnsARecordOnLaunch"];
    let given: Vec<_> = known.iter().filter_map(|name| Some((*name, vpc::switch(context, name)?))).collect();
    match given[..] {
        [("MapPublicIpOnLaunch", value)] => subnet.map_public_ip = value,
        [(_, value)] => subnet.a_records = value,
        [] => return Err(Fault::new("MissingParameter", "The request must contain an attribute to modify")),
        _ => return Err(Fault::new("InvalidParameterCombination", "Only one attribute can be modified at a time")),
    }
    Ok(Output::default())
}

fn state(world: &World, region: &str, id: &str) -> &'static str {
    // A subnet is there as soon as its VPC is.
    let since = world.registered(region, id).map_or(0, |tagged| tagged.since);
    let second: Moment = 1000;
    if world.now < since.saturating_add(second) { "pending" } else { "available" }
}

fn view(world: &World, region: &str, id: &str, subnet: &Subnet) -> Value {
    json!({
        "SubnetId": id,
        "SubnetArn": world.ec2_arn(region, &format!("subnet/{id}")),
        "OwnerId": world.account,
        "VpcId": subnet.vpc,
        "CidrBlock": subnet.cidr.to_string(),
        "AvailabilityZone": world.zone_name(region, &subnet.zone),
        "AvailabilityZoneId": subnet.zone,
        "State": state(world, region, id),
        "AvailableIpAddressCount": world.net(region).free_addresses(id),
        "MapPublicIpOnLaunch": subnet.map_public_ip,
        "DefaultForAz": false,
        "AssignIpv6AddressOnCreation": false,
        "Ipv6CidrBlockAssociationSet": [],
        "MapCustomerOwnedIpOnLaunch": false,
        "EnableDns64": false,
        "Ipv6Native": false,
        "PrivateDnsNameOptionsOnLaunch": {
            "HostnameType": "ip-name",
            "EnableResourceNameDnsARecord": subnet.a_records,
            "EnableResourceNameDnsAAAARecord": false,
        },
    })
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (world, region) = (&*world, context.region);
    let listing = Listing {
        ids: "SubnetIds",
        prefix: "subnet",
        member: "Subnets",
        values: &|id, subnet: &Subnet, name| {
            Some(vec![match name {
                "subnet-id" => id.to_owned(),
                "subnet-arn" => world.ec2_arn(region, &format!("subnet/{id}")),
                "vpc-id" => subnet.vpc.clone(),
                "cidr" | "cidr-block" | "cidrBlock" => subnet.cidr.to_string(),
                "availability-zone" | "availabilityZone" => world.zone_name(region, &subnet.zone),
                "availability-zone-id" | "availabilityZoneId" => subnet.zone.clone(),
                "available-ip-address-count" => world.net(region).free_addresses(id).to_string(),
                "map-public-ip-on-launch" => subnet.map_public_ip.to_string(),
                "default-for-az" | "defaultForAz" | "ipv6-native" | "enable-dns64" => "false".to_owned(),
                "owner-id" => world.account.clone(),
                "state" => state(world, region, id).to_owned(),
                _ => return None,
            }])
        },
        view: &|id, subnet| view(world, region, id, subnet),
    };
    describe(world, context, &world.net(region).subnets, listing)
}
