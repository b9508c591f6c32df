//! VPCs with their attributes, and what comes and goes with them: the group `default`, the main route table, the default
//! network ACL. Must never let a VPC go while anything of somebody's is in it.

use super::{
    Region,
    acl::Acl,
    group::Group,
    route_table::{Association, RouteTable},
};
use crate::{
    model::Tags,
    sandbox::{
        wire::Fault,
        world::{
            Context, Moment, Output, World,
            ec2::{Listing, describe, find, find_mut, invalid, leaned_on, tagged},
            limits,
            tags::specified,
        },
    },
};
use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Vpc {
    pub cidr: Ipv4Net,
    /// Id of the primary block's association.
    pub block: String,
    pub dns_support: bool,
    pub dns_hostnames: bool,
    pub usage_metrics: bool,
    pub tenancy: String,
    /// `pending` before.
    pub ready: Moment,
}

/// The block of a VPC or subnet as EC2 reads it: it takes the bits of the host away by itself.
pub(super) fn block(text: &str, code: &str) -> Result<Ipv4Net, Fault> {
    let cidr: Ipv4Net = text.parse().map_err(|_| {
        invalid(format!("Value ({text}) for parameter cidrBlock is invalid. This is not a valid CIDR block."))
    })?;
    if (16..=28).contains(&cidr.prefix_len()) {
        Ok(cidr.trunc())
    } else {
        Err(Fault::new(code, format!("The CIDR '{text}' is invalid.")))
    }
}

/// What this account's networks do not have: addresses of version 6, and pools of IPAM.
pub(super) fn refuse_unmodelled(context: &Context, members: &[&str]) -> Result<(), Fault> {
    match members.iter().find(|member| context.input.get(**member).is_some_and(|value| *value != Value::Bool(false))) {
        Some(member) => Err(Fault::new("UnsupportedOperation", format!("{member} is not available in this account."))),
        None => Ok(()),
    }
}

impl Region {
    pub fn vpc(&self, id: &str) -> Result<&Vpc, Fault> {
        find(&self.vpcs, id)
    }
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let tags = specified(context, "vpc")?;
    refuse_unmodelled(context, &["AmazonProvidedIpv6CidrBlock", "Ipv6CidrBlock", "Ipv6IpamPoolId", "Ipv4IpamPoolId"])?;
    let cidr = block(context.required("CidrBlock")?, "InvalidVpc.Range")?;
    let id = world.id("vpc");
    make(world, context.region, &id, cidr, tags)?;
    if let Some(tenancy) = context.text("InstanceTenancy") {
        find_mut(&mut world.net_mut(context.region).vpcs, &id)?.tenancy = tenancy.to_owned();
    }
    let vpc = view(world, &id, world.net(context.region).vpc(&id)?);
    Ok(json!({ "Vpc": tagged(world, context.region, &id, vpc) }).into())
}

/// Makes a VPC with everything that EC2 puts into it.
pub(super) fn make(world: &mut World, region: &str, id: &str, cidr: Ipv4Net, tags: Tags) -> Result<(), Fault> {
    if world.net(region).vpcs.len() >= world.limit("vpc") {
        return Err(Fault::new("VpcLimitExceeded", "The maximum number of VPCs has been reached."));
    }
    let ready = world.now.saturating_add((limits::creation("vpc") * 1000.0) as Moment);
    let vpc = Vpc {
        cidr,
        block: world.id("vpc-cidr-assoc"),
        dns_support: true,
        dns_hostnames: false,
        usage_metrics: false,
        tenancy: "default".to_owned(),
        ready,
    };
    let (group, table, acl) = (world.id("sg"), world.id("rtb"), world.id("acl"));
    let default_group = Group::default_of(world, id, &group);
    let main_table = RouteTable {
        associations: vec![Association { id: world.id("rtbassoc"), subnet: None }],
        ..RouteTable::new(&cidr.to_string(), id)
    };
    let net = world.net_mut(region);
    net.vpcs.insert(id.to_owned(), vpc);
    let rules: Vec<_> = default_group.rules.iter().map(|rule| rule.id.clone()).collect();
    net.groups.insert(group.clone(), default_group);
    net.route_tables.insert(table.clone(), main_table);
    net.acls.insert(acl.clone(), Acl::default_of(id));
    world.register(region, "vpc", id, tags);
    world.register(region, "security-group", &group, Tags::new());
    rules.iter().for_each(|rule| world.register(region, "security-group-rule", rule, Tags::new()));
    world.register(region, "route-table", &table, Tags::new());
    world.register(region, "network-acl", &acl, Tags::new());
    Ok(())
}

pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = context.required("VpcId")?;
    let net = world.net(context.region);
    net.vpc(id)?;
    let leans = net.subnets.values().any(|subnet| subnet.vpc == id)
        || net.internet_gateways.values().any(|gateway| gateway.vpc.as_deref() == Some(id))
        || net.nat_gateways.values().any(|gateway| gateway.vpc == id && gateway.stands())
        || net.endpoints.values().any(|endpoint| endpoint.vpc == id)
        || net.groups.values().any(|group| group.vpc == id && !group.is_default())
        || net.route_tables.values().any(|table| table.vpc == id && !table.is_main());
    if leans {
        return Err(leaned_on("vpc", id));
    }
    let net = world.net_mut(context.region);
    net.vpcs.remove(id);
    let mut gone = vec![id.to_owned()];
    for (group, its) in net.groups.extract_if(.., |_, group| group.vpc == id) {
        gone.push(group);
        gone.extend(its.rules.into_iter().map(|rule| rule.id));
    }
    gone.extend(net.route_tables.extract_if(.., |_, table| table.vpc == id).map(|(id, _)| id));
    gone.extend(net.acls.extract_if(.., |_, acl| acl.vpc == id).map(|(id, _)| id));
    gone.iter().for_each(|id| world.unregister(context.region, id));
    Ok(Output::default())
}

fn view(world: &World, id: &str, vpc: &Vpc) -> Value {
    json!({
        "VpcId": id,
        "OwnerId": world.account,
        "State": state(world, vpc),
        "CidrBlock": vpc.cidr.to_string(),
        "CidrBlockAssociationSet": [{
            "AssociationId": vpc.block,
            "CidrBlock": vpc.cidr.to_string(),
            "CidrBlockState": { "State": "associated" },
        }],
        "Ipv6CidrBlockAssociationSet": [],
        "DhcpOptionsId": "default",
        "InstanceTenancy": vpc.tenancy,
        "IsDefault": false,
    })
}

fn state(world: &World, vpc: &Vpc) -> &'static str {
    if world.now < vpc.ready { "pending" } else { "available" }
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let world = &*world;
    let listing = Listing {
        ids: "VpcIds",
        prefix: "vpc",
        member: "Vpcs",
        values: &|id, vpc: &Vpc, name| {
            Some(vec![match name {
                "vpc-id" => id.to_owned(),
                "cidr" | "cidr-block-association.cidr-block" => vpc.cidr.to_string(),
                "cidr-block-association.association-id" => vpc.block.clone(),
                "cidr-block-association.state" => "associated".to_owned(),
                "dhcp-options-id" => "default".to_owned(),
                "is-default" | "isDefault" => "false".to_owned(),
                "owner-id" => world.account.clone(),
                "state" => state(world, vpc).to_owned(),
                _ => return None,
            }])
        },
        view: &|id, vpc| view(world, id, vpc),
    };
    describe(world, context, &world.net(context.region).vpcs, listing)
}

/// One attribute a call, as its own shape: `{"EnableDnsSupport": {"Value": true}}`.
pub(super) fn switch(context: &Context, name: &str) -> Option<bool> {
    context.input.get(name)?.get("Value")?.as_bool()
}

pub(super) fn modify(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let vpc = find_mut(&mut world.net_mut(context.region).vpcs, context.required("VpcId")?)?;
    let attributes = [
        ("EnableDnsSupport", &mut vpc.dns_support),
        ("EnableDnsHostnames", &mut vpc.dns_hostnames),
        ("EnableNetworkAddressUsageMetrics", &mut vpc.usage_metrics),
    ];
    let given: Vec<_> =
        attributes.into_iter().filter_map(|(name, at)| Some((name, at, switch(context, name)?))).collect();
    match given.len() {
        0 => return Err(Fault::new("MissingParameter", "The request must contain an attribute to modify")),
        1 => {}
        _ => return Err(Fault::new("InvalidParameterCombination", "Fields for multiple attribute types specified")),
    }
    let wants_hostnames = given.iter().any(|(name, _, value)| *name == "EnableDnsHostnames" && *value);
    for (_, at, value) in given {
        *at = value;
    }
    if wants_hostnames && !vpc.dns_support {
        vpc.dns_hostnames = false;
        return Err(invalid("DNS hostnames can be enabled only where DNS support is enabled."));
    }
    Ok(Output::default())
}

pub(super) fn attribute(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = context.required("VpcId")?;
    let vpc = world.net(context.region).vpc(id)?;
    let (name, value) = match context.required("Attribute")? {
        "enableDnsSupport" => ("EnableDnsSupport", vpc.dns_support),
        "enableDnsHostnames" => ("EnableDnsHostnames", vpc.dns_hostnames),
        _ => ("EnableNetworkAddressUsageMetrics", vpc.usage_metrics),
    };
    Ok(json!({ "VpcId": id, (name): { "Value": value } }).into())
}
