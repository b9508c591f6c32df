//! Internet gateways and their attachments. Must never be detached from a VPC in which a public address is mapped.

use super::Region;
use crate::sandbox::{
    wire::Fault,
    world::{
        Context, Output, World,
        ec2::{Listing, describe, find, find_mut, invalid, leaned_on, tagged},
        tags::specified,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InternetGateway {
    pub vpc: Option<String>,
}

impl Region {
    /// True where the internet reaches into a VPC.
    pub fn has_internet(&self, vpc: &str) -> bool {
        self.internet_gateways.values().any(|gateway| gateway.vpc.as_deref() == Some(vpc))
    }
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let tags = specified(context, "internet-gateway")?;
    if world.net(context.region).internet_gateways.len() >= world.limit("internetGateway") {
        let message = "The maximum number of internet gateways has been reached.";
        return Err(Fault::new("InternetGatewayLimitExceeded", message));
    }
    let id = world.id("igw");
    let gateway = InternetGateway::default();
    world.net_mut(context.region).internet_gateways.insert(id.clone(), gateway.clone());
    world.register(context.region, "internet-gateway", &id, tags);
    Ok(json!({ "InternetGateway": tagged(world, context.region, &id, view(world, &id, &gateway)) }).into())
}

pub(super) fn attach(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (id, vpc) = (context.required("InternetGatewayId")?, context.required("VpcId")?);
    let net = world.net_mut(context.region);
    let attached = find(&net.internet_gateways, id)?.vpc.clone();
    net.vpc(vpc)?;
    if let Some(other) = attached {
        let message = format!("resource {id} is already attached to network {other}");
        return Err(Fault::new("Resource.AlreadyAssociated", message));
    }
    if net.has_internet(vpc) {
        return Err(invalid(format!("Network {vpc} already has an internet gateway attached")));
    }
    find_mut(&mut net.internet_gateways, id)?.vpc = Some(vpc.to_owned());
    Ok(Output::default())
}

pub(super) fn detach(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (id, vpc) = (context.required("InternetGatewayId")?, context.required("VpcId")?);
    let net = world.net_mut(context.region);
    if find(&net.internet_gateways, id)?.vpc.as_deref() != Some(vpc) {
        let message = format!("resource {id} is not attached to network {vpc}");
        return Err(Fault::new("Gateway.NotAttached", message));
    }
    let mapped = net.interfaces.values().any(|interface| interface.vpc == vpc && interface.public.is_some())
        || net.nat_gateways.values().any(|gateway| gateway.vpc == vpc && gateway.is_regional() && gateway.stands());
    if mapped {
        let message = format!(
            "Network {vpc} has some mapped public address(es). Please unmap those public address(es) before detaching the \
             gateway."
        );
        return Err(Fault::new("DependencyViolation", message));
    }
    find_mut(&mut net.internet_gateways, id)?.vpc = None;
    Ok(Output::default())
}

pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = context.required("InternetGatewayId")?;
    if find(&world.net(context.region).internet_gateways, id)?.vpc.is_some() {
        return Err(leaned_on("internetGateway", id));
    }
    world.net_mut(context.region).internet_gateways.remove(id);
    world.unregister(context.region, id);
    Ok(Output::default())
}

fn view(world: &World, id: &str, gateway: &InternetGateway) -> Value {
    // The model says `attached`; EC2 says this.
    let attachments: Vec<_> = gateway.vpc.iter().map(|vpc| json!({ "VpcId": vpc, "State": "available" })).collect();
    json!({ "InternetGatewayId": id, "OwnerId": world.account, "Attachments": attachments })
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let world = &*world;
    let listing = Listing {
        ids: "InternetGatewayIds",
        prefix: "igw",
        member: "InternetGateways",
        values: &|id, gateway: &InternetGateway, name| {
            Some(match name {
                "internet-gateway-id" => vec![id.to_owned()],
                "attachment.vpc-id" => gateway.vpc.iter().cloned().collect(),
                "attachment.state" => gateway.vpc.iter().map(|_| "available".to_owned()).collect(),
                "owner-id" => vec![world.account.clone()],
                _ => return None,
            })
        },
        view: &|id, gateway| view(world, id, gateway),
    };
    describe(world, context, &world.net(context.region).internet_gateways, listing)
}
