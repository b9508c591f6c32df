//! Route tables and their associations. Must never go while associated; a VPC's main table goes with its VPC.

use super::{Region, route::Route};
use crate::sandbox::{
    wire::Fault,
    world::{
        Context, Output, World,
        ec2::{Listing, describe, find, find_mut, invalid, leaned_on, missing, tagged},
        tags::specified,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RouteTable {
    pub vpc: String,
    pub routes: Vec<Route>,
    pub associations: Vec<Association>,
    /// The regional NAT gateway that came with it, and that it goes with.
    pub made_by: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Association {
    pub id: String,
    /// `None`: the association that makes it the main one.
    pub subnet: Option<String>,
}

impl RouteTable {
    pub fn new(cidr: &str, vpc: &str) -> Self {
        let local = Route::new(cidr, "GatewayId", "local", "CreateRouteTable");
        Self { vpc: vpc.to_owned(), routes: vec![local], associations: vec![], made_by: None }
    }

    pub fn is_main(&self) -> bool {
        self.associations.iter().any(|association| association.subnet.is_none())
    }

    /// The part of an association that a describe call shows.
    fn view(&self, world: &World, region: &str, id: &str) -> Value {
        let net = world.net(region);
        let association = |its: &Association| {
            json!({
                "RouteTableAssociationId": its.id,
                "RouteTableId": id,
                "SubnetId": its.subnet,
                "Main": its.subnet.is_none(),
                "AssociationState": { "State": "associated" },
            })
        };
        json!({
            "RouteTableId": id,
            "VpcId": self.vpc,
            "OwnerId": world.account,
            "Routes": self.routes.iter().map(|route| route.view(net, &self.vpc)).collect::<Vec<_>>(),
            "Associations": self.associations.iter().map(association).collect::<Vec<_>>(),
            "PropagatingVgws": [],
        })
    }
}

impl Region {
    fn association(&self, id: &str) -> Result<(String, usize), Fault> {
        let found = self.route_tables.iter().find_map(|(table, its)| {
            Some((table.clone(), its.associations.iter().position(|association| association.id == id)?))
        });
        found.ok_or_else(|| missing(id))
    }
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let tags = specified(context, "route-table")?;
    world.once(context, "ClientToken", "IdempotentParameterMismatch", |world| {
        let vpc = context.required("VpcId")?;
        let net = world.net(context.region);
        let cidr = net.vpc(vpc)?.cidr.to_string();
        let siblings = net.route_tables.values().filter(|table| table.vpc == vpc).count();
        if siblings >= world.limit("routeTable") {
            return Err(Fault::new("RouteTableLimitExceeded", "The maximum number of route tables has been reached."));
        }
        let id = world.id("rtb");
        let table = RouteTable::new(&cidr, vpc);
        world.net_mut(context.region).route_tables.insert(id.clone(), table.clone());
        world.register(context.region, "route-table", &id, tags);
        let view = table.view(world, context.region, &id);
        Ok(json!({ "RouteTable": tagged(world, context.region, &id, view) }))
    })
}

pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = context.required("RouteTableId")?;
    let net = world.net_mut(context.region);
    let table = find(&net.route_tables, id)?;
    if !table.associations.is_empty() || table.made_by.is_some() {
        return Err(leaned_on("routeTable", id));
    }
    net.route_tables.remove(id);
    for endpoint in net.endpoints.values_mut() {
        endpoint.route_tables.retain(|its| its != id);
    }
    world.unregister(context.region, id);
    Ok(Output::default())
}

pub(super) fn associate(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = context.required("RouteTableId")?;
    let net = world.net(context.region);
    let vpc = &find(&net.route_tables, id)?.vpc;
    let Some(subnet) = context.text("SubnetId") else {
        return Err(Fault::new("MissingParameter", "The request must contain the parameter subnetId"));
    };
    if net.subnet(subnet)?.vpc != *vpc {
        return Err(invalid(format!("Route table {id} and subnet {subnet} belong to different networks")));
    }
    let own = net.route_tables.iter().flat_map(|(table, its)| its.associations.iter().map(move |a| (table, a)));
    if let Some((table, its)) = own.into_iter().find(|(_, its)| its.subnet.as_deref() == Some(subnet)) {
        // The same association again is answered as the first time.
        if table == id {
            return Ok(answer(&its.id));
        }
        let message = format!("the specified association for route table {id} conflicts with an existing association");
        return Err(Fault::new("Resource.AlreadyAssociated", message));
    }
    let association = Association { id: world.id("rtbassoc"), subnet: Some(subnet.to_owned()) };
    let output = answer(&association.id);
    find_mut(&mut world.net_mut(context.region).route_tables, id)?.associations.push(association);
    Ok(output)
}

fn answer(id: &str) -> Output {
    json!({ "AssociationId": id, "AssociationState": { "State": "associated" } }).into()
}

pub(super) fn disassociate(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = context.required("AssociationId")?;
    let net = world.net_mut(context.region);
    let (table, at) = net.association(id)?;
    let associations = &mut find_mut(&mut net.route_tables, &table)?.associations;
    if associations[at].subnet.is_none() {
        return Err(invalid(format!("cannot disassociate the main route table association {id}")));
    }
    associations.remove(at);
    Ok(Output::default())
}

pub(super) fn replace_association(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (id, to) = (context.required("AssociationId")?, context.required("RouteTableId")?);
    let net = world.net(context.region);
    let (from, at) = net.association(id)?;
    if find(&net.route_tables, to)?.vpc != net.route_tables[&from].vpc {
        return Err(invalid(format!("Route tables {from} and {to} belong to different networks")));
    }
    let new = world.id("rtbassoc");
    let net = world.net_mut(context.region);
    let association = find_mut(&mut net.route_tables, &from)?.associations.remove(at);
    find_mut(&mut net.route_tables, to)?.associations.push(Association { id: new.clone(), ..association });
    Ok(json!({ "NewAssociationId": new, "AssociationState": { "State": "associated" } }).into())
}

fn values(world: &World, region: &str, id: &str, table: &RouteTable, name: &str) -> Option<Vec<String>> {
    let net = world.net(region);
    let of_routes = |member: &str| -> Vec<String> {
        let views = table.routes.iter().map(|route| route.view(net, &table.vpc));
        views.filter_map(|view| view[member].as_str().map(str::to_owned)).collect()
    };
    let of_associations = |value: &dyn Fn(&Association) -> Option<String>| -> Vec<String> {
        table.associations.iter().filter_map(value).collect()
    };
    Some(match name {
        "route-table-id" => vec![id.to_owned()],
        "vpc-id" => vec![table.vpc.clone()],
        "owner-id" => vec![world.account.clone()],
        "association.main" => of_associations(&|its| Some(its.subnet.is_none().to_string())),
        "association.subnet-id" => of_associations(&|its| its.subnet.clone()),
        "association.route-table-id" => of_associations(&|_| Some(id.to_owned())),
        "association.route-table-association-id" => of_associations(&|its| Some(its.id.clone())),
        "association.gateway-id" => vec![],
        "route.destination-cidr-block" => of_routes("DestinationCidrBlock"),
        "route.destination-ipv6-cidr-block" => of_routes("DestinationIpv6CidrBlock"),
        "route.destination-prefix-list-id" => of_routes("DestinationPrefixListId"),
        "route.gateway-id" => of_routes("GatewayId"),
        "route.nat-gateway-id" => of_routes("NatGatewayId"),
        "route.instance-id" => of_routes("InstanceId"),
        "route.origin" => of_routes("Origin"),
        "route.state" => of_routes("State"),
        "route.transit-gateway-id" | "route.vpc-peering-connection-id" | "route.egress-only-internet-gateway-id" => {
            vec![]
        }
        _ => return None,
    })
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (world, region) = (&*world, context.region);
    let listing = Listing {
        ids: "RouteTableIds",
        prefix: "rtb",
        member: "RouteTables",
        values: &|id, table: &RouteTable, name| values(world, region, id, table, name),
        view: &|id, table| table.view(world, region, id),
    };
    describe(world, context, &world.net(region).route_tables, listing)
}
