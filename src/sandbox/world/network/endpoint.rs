//! VPC endpoints to AWS's services: by routes or by interfaces. Must never leave a route or an interface behind when they go.

use super::{Deed, Holder, NewInterface, Region, group, prefix_list, route::Route};
use crate::sandbox::{
    wire::Fault,
    world::{
        Context, Moment, Output, World,
        ec2::{Listing, describe, find, find_mut, malformed, missing, tagged},
        limits,
        tags::specified,
        time,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Endpoint {
    pub vpc: String,
    /// `Gateway`, `Interface`
    pub kind: String,
    pub service: String,
    /// `pending`, `available`, `deleting`
    pub state: String,
    pub route_tables: Vec<String>,
    /// Subnet and its interface.
    pub seats: Vec<(String, String)>,
    pub groups: Vec<String>,
    pub private_dns: bool,
    pub policy: String,
    /// The service that made it by itself: GuardDuty puts endpoints into VPCs.
    pub requester: Option<String>,
    pub created: Moment,
}

const OPEN_POLICY: &str = r#"{"Statement":[{"Action":"*","Effect":"Allow","Principal":"*","Resource":"*"}]}"#;

fn refused(message: String) -> Fault {
    Fault::new("InvalidParameter", message)
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let tags = specified(context, "vpc-endpoint")?;
    world.once(context, "ClientToken", "IdempotentParameterMismatch", |world| {
        let kind = context.text("VpcEndpointType").unwrap_or("Gateway");
        let (region, vpc) = (context.region, context.required("VpcId")?);
        if !["Gateway", "Interface"].contains(&kind) {
            return Err(Fault::new(
                "UnsupportedOperation",
                format!("{kind} endpoints are not available in this account."),
            ));
        }
        let service = prefix_list::service(context, kind)?;
        let net = world.net(region);
        net.vpc(vpc)?;
        limit(world, region, vpc, kind)?;
        let id = world.id("vpce");
        let endpoint = Endpoint {
            vpc: vpc.to_owned(),
            kind: kind.to_owned(),
            service,
            state: if kind == "Gateway" { "available" } else { "pending" }.to_owned(),
            route_tables: vec![],
            seats: vec![],
            groups: vec![],
            private_dns: false,
            policy: context.text("PolicyDocument").unwrap_or(OPEN_POLICY).to_owned(),
            requester: None,
            created: world.now,
        };
        let endpoint = match kind {
            "Gateway" => join_tables(world, region, &id, endpoint, &context.texts("RouteTableIds"))?,
            _ => by_interfaces(world, context, &id, endpoint)?,
        };
        if kind == "Interface" {
            let deed = Deed::EndpointComes { region: region.to_owned(), id: id.clone() };
            world.later(limits::creation("vpc-endpoint"), time::Deed::Network(deed));
        }
        world.net_mut(region).endpoints.insert(id.clone(), endpoint);
        world.register(region, "vpc-endpoint", &id, tags);
        let view = view(world, region, &id, find(&world.net(region).endpoints, &id)?);
        let endpoint = tagged(world, region, &id, view);
        Ok(json!({ "VpcEndpoint": endpoint, "ClientToken": context.text("ClientToken") }))
    })
}

fn limit(world: &World, region: &str, vpc: &str, kind: &str) -> Result<(), Fault> {
    let same = |endpoint: &&Endpoint| endpoint.kind == kind && (kind == "Gateway" || endpoint.vpc == vpc);
    let of = if kind == "Gateway" { "gatewayEndpoint" } else { "interfaceEndpoint" };
    if world.net(region).endpoints.values().filter(same).count() < world.limit(of) {
        return Ok(());
    }
    Err(Fault::new("VpcEndpointLimitExceeded", "The maximum number of VPC endpoints has been reached."))
}

/// Puts a gateway endpoint's route into tables.
fn join_tables(
    world: &mut World,
    region: &str,
    id: &str,
    mut endpoint: Endpoint,
    tables: &[String],
) -> Result<Endpoint, Fault> {
    let list = prefix_list::prefix_list(region, &endpoint.service).unwrap_or_default();
    let net = world.net_mut(region);
    for table in tables {
        let its = find(&net.route_tables, table)?;
        if its.vpc != endpoint.vpc {
            return Err(refused(format!("Route table {table} does not belong to {}", endpoint.vpc)));
        }
        if its.routes.iter().any(|route| route.to == list && route.target != id) {
            let message = format!("route table {table} already has a route with destination-prefix-list-id {list}");
            return Err(Fault::new("RouteAlreadyExists", message));
        }
    }
    for table in tables.iter().filter(|table| !endpoint.route_tables.contains(table)).cloned().collect::<Vec<_>>() {
        let route = Route::new(&list, "GatewayId", id, "CreateRoute");
        find_mut(&mut net.route_tables, &table)?.routes.push(route);
        endpoint.route_tables.push(table);
    }
    Ok(endpoint)
}

fn leave_tables(net: &mut Region, id: &str, endpoint: &mut Endpoint, tables: &[String]) {
    for table in tables {
        if let Some(its) = net.route_tables.get_mut(table) {
            its.routes.retain(|route| route.target != id);
        }
    }
    endpoint.route_tables.retain(|table| !tables.contains(table));
}

fn by_interfaces(world: &mut World, context: &Context, id: &str, mut endpoint: Endpoint) -> Result<Endpoint, Fault> {
    let region = context.region;
    let most = world.limit("securityGroupOfInterface");
    endpoint.groups = world.net(region).groups_for(&endpoint.vpc, &context.texts("SecurityGroupIds"), most)?;
    if context.flag("PrivateDnsEnabled") != Some(false) {
        allow_private_dns(world, region, id, &endpoint)?;
        endpoint.private_dns = true;
    }
    stand_in(world, region, id, endpoint, &context.texts("SubnetIds"))
}

fn allow_private_dns(world: &World, region: &str, id: &str, endpoint: &Endpoint) -> Result<(), Fault> {
    let net = world.net(region);
    let vpc = net.vpc(&endpoint.vpc)?;
    if !(vpc.dns_support && vpc.dns_hostnames) {
        return Err(refused(format!(
            "Enabling private DNS requires both enableDnsSupport and enableDnsHostnames VPC attributes set to true for {}",
            endpoint.vpc
        )));
    }
    let taken = |(other, its): (&String, &Endpoint)| {
        other != id && its.private_dns && its.vpc == endpoint.vpc && its.service == endpoint.service
    };
    if net.endpoints.iter().any(taken) {
        return Err(refused(format!(
            "private-dns-enabled cannot be set because there is already a conflicting DNS domain for {} in the VPC {}",
            prefix_list::private_name(region, &endpoint.service),
            endpoint.vpc
        )));
    }
    Ok(())
}

/// Puts an interface into each subnet; all subnets are looked at first, so that a refusal leaves nothing behind.
fn stand_in(
    world: &mut World,
    region: &str,
    id: &str,
    mut endpoint: Endpoint,
    subnets: &[String],
) -> Result<Endpoint, Fault> {
    let net = world.net(region);
    let mut zones: Vec<&str> = vec![];
    let taken: Vec<_> = endpoint.seats.iter().map(|(subnet, _)| subnet.as_str()).collect();
    for subnet in taken.into_iter().chain(subnets.iter().map(String::as_str)) {
        let its = net.subnet(subnet)?;
        if its.vpc != endpoint.vpc {
            return Err(refused(format!("Subnet {subnet} does not belong to {}", endpoint.vpc)));
        }
        if zones.contains(&its.zone.as_str()) {
            let message = format!("Found another VPC endpoint subnet in the availability zone of {subnet}");
            return Err(Fault::new("DuplicateSubnetsInSameZone", message));
        }
        net.next_addresses(subnet, 1)?;
        zones.push(&its.zone);
    }
    for subnet in subnets {
        let new = NewInterface {
            subnet,
            groups: &endpoint.groups,
            kind: "vpc_endpoint",
            description: &format!("VPC Endpoint Interface {id}"),
            addresses: 1,
            requester: Some("amazon-aws"),
            ..NewInterface::default()
        };
        let interface = world.make_interface(region, &new)?;
        world.attach_interface(region, &interface, Holder::Service("amazon-aws"));
        endpoint.seats.push((subnet.clone(), interface));
    }
    Ok(endpoint)
}

pub(super) fn modify(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (region, id) = (context.region, context.required("VpcEndpointId")?);
    let mut endpoint = find(&world.net(region).endpoints, id)?.clone();
    if endpoint.state == "deleting" {
        let message = format!("The VPC endpoint {id} is in the state deleting");
        return Err(Fault::new("InvalidStateTransition", message));
    }
    if let Some(policy) = context.text("PolicyDocument") {
        endpoint.policy = policy.to_owned();
    }
    if context.flag("ResetPolicy") == Some(true) {
        endpoint.policy = OPEN_POLICY.to_owned();
    }
    if endpoint.kind == "Gateway" {
        leave_tables(world.net_mut(region), id, &mut endpoint, &context.texts("RemoveRouteTableIds"));
        endpoint = join_tables(world, region, id, endpoint, &context.texts("AddRouteTableIds"))?;
    } else {
        let (more, less) = (context.texts("AddSecurityGroupIds"), context.texts("RemoveSecurityGroupIds"));
        endpoint.groups.retain(|group| !less.contains(group));
        endpoint.groups.extend(more.into_iter().filter(|group| !endpoint.groups.contains(group)).collect::<Vec<_>>());
        let most = world.limit("securityGroupOfInterface");
        endpoint.groups = world.net(region).groups_for(&endpoint.vpc, &endpoint.groups, most)?;
        let less = context.texts("RemoveSubnetIds");
        let (gone, stay): (Vec<_>, Vec<_>) = endpoint.seats.into_iter().partition(|(subnet, _)| less.contains(subnet));
        endpoint.seats = stay;
        endpoint = stand_in(world, region, id, endpoint, &context.texts("AddSubnetIds"))?;
        gone.iter().for_each(|(_, interface)| world.drop_interface(region, interface));
        for (_, interface) in &endpoint.seats {
            find_mut(&mut world.net_mut(region).interfaces, interface)?.groups = endpoint.groups.clone();
        }
        if let Some(private) = context.flag("PrivateDnsEnabled") {
            if private {
                allow_private_dns(world, region, id, &endpoint)?;
            }
            endpoint.private_dns = private;
        }
    }
    world.net_mut(region).endpoints.insert(id.to_owned(), endpoint);
    Ok(json!({ "Return": true }).into())
}

/// Each endpoint on its own: what can't be deleted is listed, and the call succeeds.
pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let region = context.region;
    let mut unsuccessful = vec![];
    for id in context.texts("VpcEndpointIds") {
        let Some(endpoint) = world.net_mut(region).endpoints.get_mut(&id) else {
            let fault = if id.starts_with("vpce-") { missing(&id) } else { malformed(&id, "vpce") };
            // Alone here EC2 spells the code without the `Id`.
            let code = fault.code.replace("InvalidVpcEndpointId", "InvalidVpcEndpoint");
            unsuccessful.push(json!({ "ResourceId": id, "Error": { "Code": code, "Message": fault.message } }));
            continue;
        };
        if endpoint.state != "deleting" {
            endpoint.state = "deleting".to_owned();
            let deed = Deed::EndpointGoes { region: region.to_owned(), id };
            world.later(limits::deletion("vpc-endpoint"), time::Deed::Network(deed));
        }
    }
    Ok(json!({ "Unsuccessful": unsuccessful }).into())
}

pub(super) fn comes(world: &mut World, region: &str, id: &str) {
    if let Some(endpoint) = world.net_mut(region).endpoints.get_mut(id).filter(|its| its.state == "pending") {
        endpoint.state = "available".to_owned();
    }
}

pub(super) fn goes(world: &mut World, region: &str, id: &str) {
    let net = world.net_mut(region);
    let Some(mut endpoint) = net.endpoints.remove(id) else { return };
    let tables = endpoint.route_tables.clone();
    leave_tables(net, id, &mut endpoint, &tables);
    endpoint.seats.iter().for_each(|(_, interface)| world.drop_interface(region, interface));
    world.unregister(region, id);
}

fn view(world: &World, region: &str, id: &str, endpoint: &Endpoint) -> Value {
    let group = |id: &String| json!({ "GroupId": id, "GroupName": group::name_of(world.net(region), id) });
    let interface = endpoint.kind == "Interface";
    let dns = prefix_list::private_name(region, &endpoint.service);
    let entries: Vec<Value> = match (interface, endpoint.private_dns) {
        (false, _) => vec![],
        (true, false) => vec![json!({ "DnsName": format!("{id}.{dns}"), "HostedZoneId": "Z1HUB23UULQXV" })],
        (true, true) => vec![
            json!({ "DnsName": format!("{id}.{dns}"), "HostedZoneId": "Z1HUB23UULQXV" }),
            json!({ "DnsName": dns, "HostedZoneId": "Z1HUB23UULQXV" }),
        ],
    };
    json!({
        "VpcEndpointId": id,
        "VpcEndpointType": endpoint.kind,
        "VpcId": endpoint.vpc,
        "ServiceName": endpoint.service,
        "ServiceRegion": region,
        "State": endpoint.state,
        "PolicyDocument": endpoint.policy,
        "RouteTableIds": endpoint.route_tables,
        "SubnetIds": endpoint.seats.iter().map(|(subnet, _)| subnet).collect::<Vec<_>>(),
        "NetworkInterfaceIds": endpoint.seats.iter().map(|(_, interface)| interface).collect::<Vec<_>>(),
        "Groups": endpoint.groups.iter().map(group).collect::<Vec<_>>(),
        "PrivateDnsEnabled": endpoint.private_dns,
        "RequesterManaged": endpoint.requester.is_some(),
        "IpAddressType": interface.then_some("ipv4"),
        "DnsEntries": entries,
        "CreationTimestamp": endpoint.created as f64 / 1000.0,
        "OwnerId": world.account,
    })
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (world, region) = (&*world, context.region);
    let listing = Listing {
        ids: "VpcEndpointIds",
        prefix: "vpce",
        member: "VpcEndpoints",
        values: &|id, endpoint: &Endpoint, name| {
            Some(vec![match name {
                "vpc-endpoint-id" => id.to_owned(),
                "vpc-endpoint-state" => endpoint.state.clone(),
                "vpc-endpoint-type" => endpoint.kind.clone(),
                "vpc-id" => endpoint.vpc.clone(),
                "service-name" => endpoint.service.clone(),
                "ip-address-type" => "ipv4".to_owned(),
                "service-region" => region.to_owned(),
                _ => return None,
            }])
        },
        view: &|id, endpoint| view(world, region, id, endpoint),
    };
    describe(world, context, &world.net(region).endpoints, listing)
}
