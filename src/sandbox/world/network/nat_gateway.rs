//! NAT gateways, zonal and regional. Must never give an address back before they are gone, and never skip a state.

use super::{
    Deed, Holder, NewInterface, address::Address, interface::Interface, route::Route, route_table::RouteTable,
};
use crate::{
    model::Tags,
    sandbox::{
        wire::Fault,
        world::{
            Context, Moment, Output, World,
            ec2::{Listing, describe, find, find_mut, invalid, missing, tagged},
            limits,
            tags::specified,
            time,
        },
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{collections::BTreeSet, net::Ipv4Addr};

/// Seconds for which a deleted or failed gateway goes on being listed.
const RECORD: f64 = 3600.0;
/// Seconds until a regional gateway reaches a zone that got its first interface; AWS says up to an hour.
const SPREAD: f64 = 900.0;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NatGateway {
    pub vpc: String,
    /// `None` where regional.
    pub subnet: Option<String>,
    pub connectivity: String,
    /// `pending`, `failed`, `available`, `deleting`, `deleted`
    pub state: String,
    /// Code and message of what will fail it, or has.
    pub failure: Option<(String, String)>,
    pub addresses: Vec<NatAddress>,
    pub route_table: Option<String>,
    pub created: Moment,
    pub deleted: Option<Moment>,
    /// It is on its way to more zones.
    pub spreading: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NatAddress {
    pub allocation: Option<String>,
    pub interface: Option<String>,
    pub public: Option<Ipv4Addr>,
    pub private: Option<Ipv4Addr>,
    pub zone: String,
}

impl NatGateway {
    /// True while it has what it needs: also on its way in and out.
    pub fn stands(&self) -> bool {
        matches!(self.state.as_str(), "pending" | "available" | "deleting")
    }

    pub fn is_regional(&self) -> bool {
        self.subnet.is_none()
    }

    fn new(vpc: &str, subnet: Option<&str>, connectivity: &str, created: Moment) -> Self {
        Self {
            vpc: vpc.to_owned(),
            subnet: subnet.map(str::to_owned),
            connectivity: connectivity.to_owned(),
            state: "pending".to_owned(),
            failure: None,
            addresses: vec![],
            route_table: None,
            created,
            deleted: None,
            spreading: false,
        }
    }
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let tags = specified(context, "natgateway")?;
    world.once(context, "ClientToken", "IdempotentParameterMismatch", |world| {
        let id = world.id("nat");
        let gateway = match context.text("AvailabilityMode") {
            Some("regional") => regional(world, context, &id)?,
            _ => zonal(world, context, &id)?,
        };
        let region = context.region.to_owned();
        // What fails, fails early.
        let seconds = limits::creation("nat-gateway") * if gateway.failure.is_some() { 0.2 } else { 1.0 };
        world.net_mut(&region).nat_gateways.insert(id.clone(), gateway.clone());
        world.register(&region, "natgateway", &id, tags);
        world.later(seconds, time::Deed::Network(Deed::NatGatewayComes { region, id: id.clone() }));
        let view = view(world, context.region, &id, &gateway);
        Ok(json!({ "ClientToken": context.text("ClientToken"), "NatGateway": tagged(world, context.region, &id, view) }))
    })
}

fn zonal(world: &mut World, context: &Context, id: &str) -> Result<NatGateway, Fault> {
    let Some(subnet) = context.text("SubnetId") else {
        return Err(Fault::new("MissingParameter", "The request must contain the parameter subnetId"));
    };
    let connectivity = context.text("ConnectivityType").unwrap_or("public");
    let (allocation, region) = (context.text("AllocationId"), context.region);
    match (connectivity, allocation) {
        ("public", None) => {
            return Err(Fault::new("MissingParameter", "The request must contain the parameter allocationId"));
        }
        ("private", Some(_)) => return Err(invalid("A private NAT gateway cannot have an Elastic IP address")),
        _ => {}
    }
    let net = world.net(region);
    let its = net.subnet(subnet)?;
    if let Some(allocation) = allocation {
        find(&net.addresses, allocation)?;
    }
    let in_zone = |gateway: &&super::nat_gateway::NatGateway| {
        let subnet = gateway.subnet.as_ref().and_then(|subnet| net.subnets.get(subnet));
        gateway.stands() && subnet.is_some_and(|subnet| subnet.zone == its.zone)
    };
    if net.nat_gateways.values().filter(in_zone).count() >= world.limit("natGateway") {
        let message =
            format!("Performing this operation would exceed the limit of {} NAT gateways", world.limit("natGateway"));
        return Err(Fault::new("NatGatewayLimitExceeded", message));
    }
    let (vpc, zone) = (its.vpc.clone(), its.zone.clone());
    let mut gateway = NatGateway::new(&vpc, Some(subnet), connectivity, world.now);
    let fail = |code: &str, message: String| Some((code.to_owned(), message));
    gateway.failure = match allocation {
        Some(_) if !net.has_internet(&vpc) => {
            fail("Gateway.NotAttached", format!("Network {vpc} has no Internet gateway attached"))
        }
        Some(allocation) if net.mapped_to(allocation).is_some() => {
            fail("Resource.AlreadyAssociated", format!("Elastic IP address [{allocation}] is already associated"))
        }
        _ => None,
    };
    let mut address =
        NatAddress { allocation: allocation.map(str::to_owned), interface: None, public: None, private: None, zone };
    if gateway.failure.is_none() {
        let new = NewInterface {
            subnet,
            kind: "nat_gateway",
            description: &format!("Interface for NAT Gateway {id}"),
            addresses: 1,
            requester: Some("amazon-aws"),
            ..NewInterface::default()
        };
        match world.make_interface(region, &new) {
            Ok(interface) => {
                world.attach_interface(region, &interface, Holder::Service("amazon-aws"));
                // It carries no group.
                find_mut(&mut world.net_mut(region).interfaces, &interface)?.groups.clear();
                if allocation.is_some() {
                    world.map_public(region, &interface, allocation);
                }
                let made = find(&world.net(region).interfaces, &interface)?;
                address.private = made.address;
                address.public = made.public.as_ref().map(|public| public.address);
                address.interface = Some(interface);
            }
            Err(fault) => gateway.failure = Some((fault.code, fault.message)),
        }
    }
    gateway.addresses.push(address);
    Ok(gateway)
}

fn regional(world: &mut World, context: &Context, id: &str) -> Result<NatGateway, Fault> {
    if context.text("SubnetId").is_some() || context.text("AllocationId").is_some() {
        let message = "A regional NAT gateway takes no subnetId and no allocationId";
        return Err(Fault::new("InvalidParameterCombination", message));
    }
    let Some(vpc) = context.text("VpcId") else {
        return Err(Fault::new("MissingParameter", "The request must contain the parameter vpcId"));
    };
    let net = world.net(context.region);
    let cidr = net.vpc(vpc)?.cidr.to_string();
    let door = net.internet_gateways.iter().find(|(_, gateway)| gateway.vpc.as_deref() == Some(vpc));
    let mut gateway = NatGateway::new(vpc, None, "public", world.now);
    let Some(door) = door.map(|(id, _)| id.clone()) else {
        let message = format!("Network {vpc} has no Internet gateway attached");
        gateway.failure = Some(("Gateway.NotAttached".to_owned(), message));
        return Ok(gateway);
    };
    let mut table = RouteTable { made_by: Some(id.to_owned()), ..RouteTable::new(&cidr, vpc) };
    table.routes.push(Route::new("0.0.0.0/0", "GatewayId", &door, "CreateRoute"));
    let route_table = world.id("rtb");
    world.net_mut(context.region).route_tables.insert(route_table.clone(), table);
    world.register(context.region, "route-table", &route_table, Tags::new());
    gateway.route_table = Some(route_table);
    Ok(gateway)
}

impl World {
    /// Sends regional gateways of a VPC on their way to zones that got their first interface.
    pub(super) fn spread_gateways(&mut self, region: &str, vpc: &str) {
        let wanted = zones_in_use(self, region, vpc);
        let net = self.net_mut(region);
        let mut sent = vec![];
        for (id, gateway) in net.nat_gateways.iter_mut().filter(|(_, gateway)| gateway.vpc == vpc) {
            let reached = |zone: &String| gateway.addresses.iter().any(|address| address.zone == *zone);
            let late = gateway.is_regional() && gateway.state == "available" && !wanted.iter().all(reached);
            if late && !gateway.spreading {
                gateway.spreading = true;
                sent.push(id.clone());
            }
        }
        for id in sent {
            self.later(SPREAD, time::Deed::Network(Deed::NatGatewaySpreads { region: region.to_owned(), id }));
        }
    }
}

/// Zones where a VPC has interfaces; its first subnet's, where it has none.
fn zones_in_use(world: &World, region: &str, vpc: &str) -> BTreeSet<String> {
    let net = world.net(region);
    let used = net.interfaces.values().filter(|interface: &&Interface| interface.vpc == vpc);
    let zones: BTreeSet<_> =
        used.filter_map(|interface| Some(net.subnets.get(&interface.subnet)?.zone.clone())).collect();
    if !zones.is_empty() {
        return zones;
    }
    net.subnets
        .values()
        .filter(|subnet| subnet.vpc == vpc)
        .map(|subnet| subnet.zone.clone())
        .min()
        .into_iter()
        .collect()
}

pub(super) fn spreads(world: &mut World, region: &str, id: &str) {
    let Some(gateway) = world.net(region).nat_gateways.get(id).filter(|gateway| gateway.state == "available") else {
        return;
    };
    let reached: BTreeSet<_> = gateway.addresses.iter().map(|address| address.zone.clone()).collect();
    let vpc = gateway.vpc.clone();
    for zone in zones_in_use(world, region, &vpc).difference(&reached) {
        let allocation = world.id("eipalloc");
        let public = world.net_mut(region).next_public();
        let address = Address { public, service: Some("rnat".to_owned()) };
        world.net_mut(region).addresses.insert(allocation.clone(), address);
        world.register(region, "elastic-ip", &allocation, Tags::new());
        let address = NatAddress {
            allocation: Some(allocation),
            interface: None,
            public: Some(public),
            private: None,
            zone: zone.clone(),
        };
        if let Some(gateway) = world.net_mut(region).nat_gateways.get_mut(id) {
            gateway.addresses.push(address);
        }
    }
    if let Some(gateway) = world.net_mut(region).nat_gateways.get_mut(id) {
        gateway.spreading = false;
    }
}

pub(super) fn comes(world: &mut World, region: &str, id: &str) {
    let Some(gateway) = world.net_mut(region).nat_gateways.get_mut(id).filter(|gateway| gateway.state == "pending")
    else {
        return;
    };
    let failed = gateway.failure.is_some();
    gateway.state = if failed { "failed" } else { "available" }.to_owned();
    let regional = gateway.is_regional();
    if failed {
        forget_later(world, region, id);
    } else if regional {
        spreads(world, region, id);
    }
}

fn forget_later(world: &mut World, region: &str, id: &str) {
    world
        .later(RECORD, time::Deed::Network(Deed::NatGatewayForgotten { region: region.to_owned(), id: id.to_owned() }));
}

pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (id, region) = (context.required("NatGatewayId")?, context.region);
    let gateway = find_mut(&mut world.net_mut(region).nat_gateways, id)?;
    match gateway.state.as_str() {
        "deleted" => return Err(missing(id)),
        "deleting" => {}
        _ => {
            gateway.state = "deleting".to_owned();
            let deed = Deed::NatGatewayGoes { region: region.to_owned(), id: id.to_owned() };
            world.later(limits::deletion("nat-gateway"), time::Deed::Network(deed));
        }
    }
    Ok(json!({ "NatGatewayId": id }).into())
}

pub(super) fn goes(world: &mut World, region: &str, id: &str) {
    let now = world.now;
    let net = world.net_mut(region);
    let Some(gateway) = net.nat_gateways.get_mut(id) else { return };
    gateway.state = "deleted".to_owned();
    gateway.deleted = Some(now);
    let table = gateway.route_table.take();
    let interfaces: Vec<_> = gateway.addresses.iter().filter_map(|address| address.interface.clone()).collect();
    let lent: Vec<_> = match gateway.is_regional() {
        true => gateway.addresses.iter().filter_map(|address| address.allocation.clone()).collect(),
        false => vec![],
    };
    for allocation in lent {
        world.net_mut(region).addresses.remove(&allocation);
        world.unregister(region, &allocation);
    }
    if let Some(table) = table {
        world.net_mut(region).route_tables.remove(&table);
        world.unregister(region, &table);
    }
    interfaces.iter().for_each(|interface| world.drop_interface(region, interface));
    forget_later(world, region, id);
}

pub(super) fn forgotten(world: &mut World, region: &str, id: &str) {
    world.net_mut(region).nat_gateways.remove(id);
    world.unregister(region, id);
}

fn view(world: &World, region: &str, id: &str, gateway: &NatGateway) -> Value {
    let net = world.net(region);
    let settled = gateway.state == "available" || gateway.state == "deleting";
    let addresses = gateway.addresses.iter().enumerate().map(|(n, address)| {
        let interface = address.interface.as_ref().and_then(|id| net.interfaces.get(id));
        json!({
            "AllocationId": address.allocation,
            "NetworkInterfaceId": address.interface,
            "PublicIp": address.public.filter(|_| settled || gateway.state == "deleted").map(|ip| ip.to_string()),
            "PrivateIp": address.private.map(|ip| ip.to_string()),
            "AssociationId": interface.and_then(|its| its.public.as_ref()?.association.as_ref()).filter(|_| settled),
            "IsPrimary": n == 0,
            "Status": if gateway.state == "failed" { "failed" } else { "succeeded" },
            "AvailabilityZone": gateway.is_regional().then(|| world.zone_name(region, &address.zone)),
            "AvailabilityZoneId": gateway.is_regional().then_some(&address.zone),
        })
    });
    let regional = gateway.is_regional();
    let shown = gateway.failure.as_ref().filter(|_| gateway.state == "failed");
    json!({
        "NatGatewayId": id,
        "VpcId": gateway.vpc,
        "SubnetId": gateway.subnet,
        "State": gateway.state,
        "ConnectivityType": gateway.connectivity,
        "AvailabilityMode": if regional { "regional" } else { "zonal" },
        "AutoProvisionZones": regional.then_some("enabled"),
        "AutoScalingIps": regional.then_some("enabled"),
        "RouteTableId": gateway.route_table,
        "NatGatewayAddresses": addresses.collect::<Vec<_>>(),
        "FailureCode": shown.map(|(code, _)| code),
        "FailureMessage": shown.map(|(_, message)| message),
        "CreateTime": gateway.created as f64 / 1000.0,
        "DeleteTime": gateway.deleted.map(|at| at as f64 / 1000.0),
    })
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (world, region) = (&*world, context.region);
    let listing = Listing {
        ids: "NatGatewayIds",
        prefix: "nat",
        member: "NatGateways",
        values: &|id, gateway: &NatGateway, name| {
            Some(match name {
                "nat-gateway-id" => vec![id.to_owned()],
                "state" => vec![gateway.state.clone()],
                "subnet-id" => gateway.subnet.iter().cloned().collect(),
                "vpc-id" => vec![gateway.vpc.clone()],
                _ => return None,
            })
        },
        view: &|id, gateway| view(world, region, id, gateway),
    };
    describe(world, context, &world.net(region).nat_gateways, listing)
}
