//! Routes. Must never lead two ways for one destination, nor anywhere that does not exist when the route is made.

use super::{Region, route_table::RouteTable};
use crate::sandbox::{
    wire::Fault,
    world::{
        Context, Output, World,
        ec2::{find, find_mut, invalid, missing},
    },
};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Routes of a table that are not propagated (VPC quota L-93826ACB's default).
const MOST: usize = 50;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// A block, or `pl-…` where a gateway endpoint brought it.
    pub to: String,
    /// The model's member for the target: `GatewayId`, `NatGatewayId`, `NetworkInterfaceId`.
    pub member: String,
    pub target: String,
    /// `CreateRouteTable`, `CreateRoute`
    pub origin: String,
}

impl Route {
    pub fn new(to: &str, member: &str, target: &str, origin: &str) -> Self {
        let [to, member, target, origin] = [to, member, target, origin].map(str::to_owned);
        Self { to, member, target, origin }
    }

    /// `blackhole` once the target is gone: the route stays.
    pub fn state(&self, net: &Region, vpc: &str) -> &'static str {
        let leads = match self.member.as_str() {
            "NatGatewayId" => net.nat_gateways.get(&self.target).is_some_and(|gateway| gateway.stands()),
            "NetworkInterfaceId" => net.interfaces.get(&self.target).is_some_and(|its| its.seat.is_some()),
            _ if self.target.starts_with("igw-") => {
                net.internet_gateways.get(&self.target).is_some_and(|gateway| gateway.vpc.as_deref() == Some(vpc))
            }
            _ => true,
        };
        if leads { "active" } else { "blackhole" }
    }

    pub fn view(&self, net: &Region, vpc: &str) -> Value {
        let destination = match (self.to.starts_with("pl-"), self.to.contains(':')) {
            (true, _) => "DestinationPrefixListId",
            (_, true) => "DestinationIpv6CidrBlock",
            _ => "DestinationCidrBlock",
        };
        json!({
            (destination): self.to,
            (self.member.as_str()): self.target,
            "Origin": self.origin,
            "State": self.state(net, vpc),
        })
    }
}

/// Where a call sends traffic for, in EC2's own form.
fn destination(context: &Context) -> Result<String, Fault> {
    let members = ["DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId"];
    let mut given = members.iter().filter_map(|member| context.text(member));
    let to = given.next().ok_or_else(|| {
        Fault::new(
            "MissingParameter",
            "The request must contain the parameter destinationCidrBlock or destinationIpv6CidrBlock",
        )
    })?;
    if to.starts_with("pl-") {
        return Ok(to.to_owned());
    }
    let block: IpNet = to.parse().map_err(|_| {
        invalid(format!("Value ({to}) for parameter destinationCidrBlock is invalid. This is not a valid CIDR block."))
    })?;
    Ok(block.trunc().to_string())
}

/// The target of a call: one, and there.
fn target(net: &Region, table: &str, vpc: &str, context: &Context) -> Result<(String, String), Fault> {
    let members = [
        "GatewayId",
        "NatGatewayId",
        "NetworkInterfaceId",
        "InstanceId",
        "TransitGatewayId",
        "VpcPeeringConnectionId",
        "EgressOnlyInternetGatewayId",
        "VpcEndpointId",
        "LocalGatewayId",
        "CarrierGatewayId",
        "CoreNetworkArn",
    ];
    let mut given = members.iter().filter_map(|member| Some((*member, context.text(member)?)));
    let (Some((member, id)), None) = (given.next(), given.next()) else {
        let message =
            "Only one of the following parameters can be specified: gatewayId, natGatewayId, networkInterfaceId, …";
        return Err(Fault::new("InvalidParameterCombination", message));
    };
    let elsewhere = |what: &str| invalid(format!("route table {table} and {what} {id} belong to different networks"));
    match member {
        "GatewayId" => {
            let gateway = net.internet_gateways.get(id).ok_or_else(|| {
                Fault::new("InvalidGatewayID.NotFound", format!("The gateway ID '{id}' does not exist"))
            })?;
            if gateway.vpc.as_deref() != Some(vpc) {
                return Err(elsewhere("network gateway"));
            }
        }
        "NatGatewayId" => {
            let gateway = net.nat_gateways.get(id).filter(|gateway| gateway.stands()).ok_or_else(|| {
                Fault::new("InvalidNatGatewayID.NotFound", format!("The natGateway ID '{id}' does not exist"))
            })?;
            if gateway.vpc != vpc {
                return Err(elsewhere("nat gateway"));
            }
        }
        "NetworkInterfaceId" => {
            if find(&net.interfaces, id)?.vpc != vpc {
                return Err(elsewhere("interface"));
            }
        }
        _ => return Err(missing(id)),
    }
    Ok((member.to_owned(), id.to_owned()))
}

/// A route as the call wishes it.
fn wished(world: &World, context: &Context) -> Result<(String, Route), Fault> {
    let net = world.net(context.region);
    let id = context.required("RouteTableId")?;
    let vpc = &find(&net.route_tables, id)?.vpc;
    let to = destination(context)?;
    let (member, target) = target(net, id, vpc, context)?;
    let inside = to.parse::<IpNet>().is_ok_and(|block| IpNet::V4(net.vpcs[vpc].cidr).contains(&block));
    if inside && member != "NetworkInterfaceId" {
        return Err(invalid(format!(
            "The destination CIDR block {to} is equal to or more specific than one of this VPC's CIDR blocks. This route can \
             target only an interface or an instance."
        )));
    }
    Ok((id.to_owned(), Route { to, member, target, origin: "CreateRoute".to_owned() }))
}

fn absent(to: &str, table: &str) -> Fault {
    let message =
        format!("There is no route defined for '{to}' in the route table. Specify an existing route: {table}");
    Fault::new("InvalidRoute.NotFound", message)
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (id, route) = wished(world, context)?;
    let table = find_mut(&mut world.net_mut(context.region).route_tables, &id)?;
    if table.routes.iter().any(|its| its.to == route.to) {
        let message = format!("The route identified by {} already exists.", route.to);
        return Err(Fault::new("RouteAlreadyExists", message));
    }
    if table.routes.len() > MOST {
        return Err(Fault::new("RouteLimitExceeded", "The maximum number of routes has been reached."));
    }
    table.routes.push(route);
    Ok(json!({ "Return": true }).into())
}

pub(super) fn replace(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (id, route) = wished(world, context)?;
    let table = find_mut(&mut world.net_mut(context.region).route_tables, &id)?;
    match table.routes.iter_mut().find(|its| its.to == route.to) {
        Some(its) => *its = route,
        None => return Err(absent(&route.to, &id)),
    }
    Ok(Output::default())
}

pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = context.required("RouteTableId")?;
    let to = destination(context)?;
    let table: &mut RouteTable = find_mut(&mut world.net_mut(context.region).route_tables, id)?;
    let Some(at) = table.routes.iter().position(|route| route.to == to) else {
        return Err(Fault::new(
            "InvalidRoute.NotFound",
            format!("no route with destination-cidr-block {to} in route table {id}"),
        ));
    };
    let route = &table.routes[at];
    if route.target == "local" || route.target.starts_with("vpce-") {
        return Err(invalid(format!("cannot remove {} route {to} in route table {id}", route.target)));
    }
    table.routes.remove(at);
    Ok(Output::default())
}
