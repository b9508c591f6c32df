//! Network interfaces: what instances, gateways, endpoints, balancers and EKS put into subnets. Must never go while attached,
//! and must never be taken from the service that made it.

use super::{Region, interface_view::view, random_mac};
use crate::{
    model::Tags,
    sandbox::{
        wire::Fault,
        world::{
            Context, Moment, Output, World,
            ec2::{find, find_mut, invalid, missing},
            tags::specified,
        },
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::net::Ipv4Addr;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Interface {
    pub vpc: String,
    pub subnet: String,
    pub groups: Vec<String>,
    /// EC2's InterfaceType: `interface`, `efa`, `efa-only`, `nat_gateway`, `vpc_endpoint`, …
    pub kind: String,
    pub description: String,
    /// `None` for `efa-only`.
    pub address: Option<Ipv4Addr>,
    pub secondary: Vec<Ipv4Addr>,
    /// Service that made it, and that alone deletes it.
    pub requester: Option<String>,
    pub seat: Option<Seat>,
    pub public: Option<Public>,
    pub mac: String,
    pub source_dest_check: bool,
}

/// What an interface is attached to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Seat {
    /// `eni-attach-…` of instances, `ela-attach-…` of services.
    pub id: String,
    pub instance: Option<String>,
    /// The account, or the service that holds it: `amazon-elb`, `amazon-aws`.
    pub owner: String,
    pub device: u32,
    pub card: u32,
    pub delete_on_termination: bool,
    pub since: Moment,
}

/// A public address mapped to an interface.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Public {
    pub address: Ipv4Addr,
    /// `None` for an address that AWS lends.
    pub allocation: Option<String>,
    pub association: Option<String>,
}

impl Interface {
    /// `available` is what leftovers are: attached to nothing.
    pub fn status(&self) -> &'static str {
        if self.seat.is_some() { "in-use" } else { "available" }
    }
}

/// An interface to make.
#[derive(Clone, Debug, Default)]
pub struct NewInterface<'a> {
    pub subnet: &'a str,
    /// None: the VPC's group `default`.
    pub groups: &'a [String],
    pub kind: &'a str,
    pub description: &'a str,
    /// Private addresses, the primary one included; 0 for `efa-only`.
    pub addresses: usize,
    /// Service that makes it for itself: `amazon-elb`, an id of EKS, …
    pub requester: Option<&'a str>,
    pub tags: Tags,
}

/// What an interface is to be attached to.
#[derive(Clone, Copy, Debug)]
pub enum Holder<'a> {
    Instance {
        id: &'a str,
        device: u32,
        card: u32,
        delete_on_termination: bool,
    },
    /// A service's machine that the account does not see: `amazon-elb`, `amazon-aws`.
    Service(&'a str),
}

impl Region {
    /// Groups that an interface in a VPC may carry: there, of that VPC, and not too many. None means the default one.
    pub(super) fn groups_for(&self, vpc: &str, ids: &[String], most: usize) -> Result<Vec<String>, Fault> {
        if ids.is_empty() {
            return Ok(self
                .groups
                .iter()
                .filter(|(_, g)| g.vpc == vpc && g.is_default())
                .map(|(id, _)| id.clone())
                .collect());
        }
        for id in ids {
            if find(&self.groups, id)?.vpc != vpc {
                let message =
                    format!("You have specified two resources that belong to different networks: {id}, {vpc}");
                return Err(Fault::new("InvalidGroup.NotFound", message));
            }
        }
        if ids.len() > most {
            let message = format!("You have exceeded the number of security groups allowed for an interface: {most}");
            return Err(Fault::new("SecurityGroupsPerInterfaceLimitExceeded", message));
        }
        Ok(ids.to_vec())
    }
}

impl World {
    /// Makes an interface, attached to nothing. Refused as EC2 refuses a launch: for a full subnet, an unknown group, a limit.
    pub fn make_interface(&mut self, region: &str, new: &NewInterface) -> Result<String, Fault> {
        let net = self.net(region);
        let vpc = net.subnet(new.subnet)?.vpc.clone();
        let groups = net.groups_for(&vpc, new.groups, self.limit("securityGroupOfInterface"))?;
        let mut addresses = net.next_addresses(new.subnet, new.addresses)?.into_iter();
        if net.interfaces.len() >= self.limit("networkInterface") {
            let message = "The maximum number of network interfaces has been reached.";
            return Err(Fault::new("NetworkInterfaceLimitExceeded", message));
        }
        let id = self.id("eni");
        let interface = Interface {
            vpc: vpc.clone(),
            subnet: new.subnet.to_owned(),
            groups,
            kind: new.kind.to_owned(),
            description: new.description.to_owned(),
            address: addresses.next(),
            secondary: addresses.collect(),
            requester: new.requester.map(str::to_owned),
            seat: None,
            public: None,
            mac: random_mac(&id),
            source_dest_check: new.kind != "nat_gateway",
        };
        self.net_mut(region).interfaces.insert(id.clone(), interface);
        self.register(region, "network-interface", &id, new.tags.clone());
        self.spread_gateways(region, &vpc);
        Ok(id)
    }

    pub fn attach_interface(&mut self, region: &str, id: &str, to: Holder) {
        let seat = match to {
            Holder::Instance { id, device, card, delete_on_termination } => Seat {
                id: self.id("eni-attach"),
                instance: Some(id.to_owned()),
                owner: self.account.clone(),
                device,
                card,
                delete_on_termination,
                since: self.now,
            },
            Holder::Service(owner) => Seat {
                id: self.id("ela-attach"),
                instance: None,
                owner: owner.to_owned(),
                device: 1,
                card: 0,
                delete_on_termination: false,
                since: self.now,
            },
        };
        if let Some(interface) = self.net_mut(region).interfaces.get_mut(id) {
            interface.seat = Some(seat);
        }
    }

    /// Leaves an interface behind: there, and attached to nothing.
    pub fn detach_interface(&mut self, region: &str, id: &str) {
        if let Some(interface) = self.net_mut(region).interfaces.get_mut(id) {
            interface.seat = None;
        }
    }

    /// Ends an interface, attached or not, and frees its addresses; an Elastic IP stays with the account.
    pub fn drop_interface(&mut self, region: &str, id: &str) {
        self.net_mut(region).interfaces.remove(id);
        self.unregister(region, id);
    }

    /// Interfaces of an instance, its primary one first.
    pub fn interfaces_of(&self, region: &str, instance: &str) -> Vec<String> {
        let all = self.net(region).interfaces.iter();
        let mut seats: Vec<_> = all
            .filter_map(|(id, interface)| Some((interface.seat.as_ref()?, id)))
            .filter(|(seat, _)| seat.instance.as_deref() == Some(instance))
            .map(|(seat, id)| (seat.card, seat.device, id.clone()))
            .collect();
        seats.sort();
        seats.into_iter().map(|(_, _, id)| id).collect()
    }

    pub fn interface(&self, region: &str, id: &str) -> Option<&Interface> {
        self.net(region).interfaces.get(id)
    }

    /// An interface as EC2 describes it.
    pub fn interface_view(&self, region: &str, id: &str) -> Option<Value> {
        Some(view(self, region, id, self.interface(region, id)?))
    }

    /// Gives an interface `n` more private addresses, as the CNI does.
    pub fn add_addresses(&mut self, region: &str, id: &str, n: usize) -> Result<(), Fault> {
        let net = self.net(region);
        let more = net.next_addresses(&find(&net.interfaces, id)?.subnet, n)?;
        find_mut(&mut self.net_mut(region).interfaces, id)?.secondary.extend(more);
        Ok(())
    }

    /// Maps a public address to an interface: that of an allocation, or one that AWS lends while it is there.
    pub fn map_public(&mut self, region: &str, id: &str, allocation: Option<&str>) {
        let address = match allocation.and_then(|id| self.net(region).addresses.get(id)) {
            Some(address) => address.public,
            None => self.net_mut(region).next_public(),
        };
        let association = allocation.map(|_| self.id("eipassoc"));
        if let Some(interface) = self.net_mut(region).interfaces.get_mut(id) {
            interface.public = Some(Public { address, allocation: allocation.map(str::to_owned), association });
        }
    }
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let tags = specified(context, "network-interface")?;
    world.once(context, "ClientToken", "IdempotentParameterMismatch", |world| {
        let kind = context.text("InterfaceType").unwrap_or("interface");
        let more = context.number("SecondaryPrivateIpAddressCount").and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let new = NewInterface {
            subnet: context.required("SubnetId")?,
            groups: &context.texts("Groups"),
            kind,
            description: context.text("Description").unwrap_or_default(),
            addresses: if kind == "efa-only" { 0 } else { 1 + more },
            requester: None,
            tags,
        };
        let id = world.make_interface(context.region, &new)?;
        Ok(json!({ "NetworkInterface": world.interface_view(context.region, &id) }))
    })
}

pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = context.required("NetworkInterfaceId")?;
    let interface = find(&world.net(context.region).interfaces, id)?;
    if interface.seat.is_some() {
        return Err(invalid(format!("Network interface '{id}' is currently in use.")));
    }
    refuse_foreign(interface)?;
    world.drop_interface(context.region, id);
    Ok(Output::default())
}

fn refuse_foreign(interface: &Interface) -> Result<(), Fault> {
    match interface.requester {
        Some(_) => {
            Err(Fault::new("AuthFailure", "You do not have permission to access the specified resource.").status(403))
        }
        None => Ok(()),
    }
}

pub(super) fn detach(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let attachment = context.required("AttachmentId")?;
    let all = world.net_mut(context.region).interfaces.values_mut();
    let seated = |interface: &&mut Interface| interface.seat.as_ref().is_some_and(|seat| seat.id == attachment);
    let interface = all.into_iter().find(seated).ok_or_else(|| missing(attachment))?;
    match &interface.seat {
        Some(Seat { instance: None, .. }) => {
            Err(Fault::new("OperationNotPermitted", "You are not allowed to manage 'ela-attach' attachments."))
        }
        Some(Seat { device: 0, card: 0, .. }) => {
            let message = "The network interface at device index 0 and networkCard index 0 cannot be detached.";
            Err(Fault::new("OperationNotPermitted", message))
        }
        _ => {
            interface.seat = None;
            Ok(Output::default())
        }
    }
}

pub(super) fn modify(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = context.required("NetworkInterfaceId")?;
    let net = world.net(context.region);
    let interface = find(&net.interfaces, id)?;
    refuse_foreign(interface)?;
    let wanted = context.texts("Groups");
    let groups = match wanted.is_empty() {
        true => None,
        false => Some(net.groups_for(&interface.vpc, &wanted, world.limit("securityGroupOfInterface"))?),
    };
    let interface = find_mut(&mut world.net_mut(context.region).interfaces, id)?;
    if let Some(groups) = groups {
        interface.groups = groups;
    }
    if let Some(text) = context.input.get("Description").and_then(|shape| shape.get("Value")).and_then(Value::as_str) {
        interface.description = text.to_owned();
    }
    if let Some(check) = super::vpc::switch(context, "SourceDestCheck") {
        interface.source_dest_check = check;
    }
    Ok(Output::default())
}
