//! Elastic IP addresses. Must never be released while anything is reached by it.

use super::{Region, interface::Interface};
use crate::sandbox::{
    wire::Fault,
    world::{
        Context, Output, World,
        ec2::{Listing, describe, find, missing},
        tags::specified,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::net::Ipv4Addr;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Address {
    pub public: Ipv4Addr,
    /// The service whose address it is: `rnat` for those of a regional NAT gateway. They are no Elastic IPs of the account.
    pub service: Option<String>,
}

impl Region {
    /// The interface that an allocation is mapped to.
    pub(super) fn mapped_to(&self, allocation: &str) -> Option<(&str, &Interface)> {
        let mapped = |interface: &&Interface| {
            interface.public.as_ref().is_some_and(|public| public.allocation.as_deref() == Some(allocation))
        };
        self.interfaces.iter().find(|(_, interface)| mapped(interface)).map(|(id, interface)| (id.as_str(), interface))
    }
}

pub(super) fn allocate(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let tags = specified(context, "elastic-ip")?;
    let pool = context.text("PublicIpv4Pool").unwrap_or("amazon");
    if pool != "amazon" {
        return Err(Fault::new(
            "InvalidPublicIpv4PoolID.NotFound",
            format!("The public IPv4 pool '{pool}' does not exist"),
        ));
    }
    let own = world.net(context.region).addresses.values().filter(|address| address.service.is_none()).count();
    if own >= world.limit("elasticIp") {
        return Err(Fault::new("AddressLimitExceeded", "The maximum number of addresses has been reached."));
    }
    let id = world.id("eipalloc");
    let public = world.net_mut(context.region).next_public();
    world.net_mut(context.region).addresses.insert(id.clone(), Address { public, service: None });
    world.register(context.region, "elastic-ip", &id, tags);
    Ok(json!({
        "AllocationId": id,
        "PublicIp": public.to_string(),
        "PublicIpv4Pool": "amazon",
        "NetworkBorderGroup": context.region,
        "Domain": "vpc",
    })
    .into())
}

pub(super) fn release(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = context.required("AllocationId")?;
    let net = world.net(context.region);
    let address = find(&net.addresses, id)?;
    if address.service.is_some() {
        return Err(denied());
    }
    if net.mapped_to(id).is_some() {
        return Err(Fault::new("InvalidIPAddress.InUse", format!("Address {} is in use.", address.public)));
    }
    world.net_mut(context.region).addresses.remove(id);
    world.unregister(context.region, id);
    Ok(Output::default())
}

fn denied() -> Fault {
    Fault::new("AuthFailure", "You do not have permission to access the specified resource.").status(403)
}

pub(super) fn disassociate(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let association = context.required("AssociationId")?;
    let mut all = world.net_mut(context.region).interfaces.values_mut();
    let found = all.find(|interface| {
        interface.public.as_ref().is_some_and(|public| public.association.as_deref() == Some(association))
    });
    let interface = found.ok_or_else(|| missing(association))?;
    // A gateway's address is the gateway's while it stands.
    if interface.requester.is_some() {
        return Err(denied());
    }
    interface.public = None;
    Ok(Output::default())
}

fn view(world: &World, region: &str, id: &str, address: &Address) -> Value {
    let mapped = world.net(region).mapped_to(id);
    let interface = mapped.map(|(_, interface)| interface);
    json!({
        "AllocationId": id,
        "PublicIp": address.public.to_string(),
        "PublicIpv4Pool": "amazon",
        "NetworkBorderGroup": region,
        "Domain": "vpc",
        "ServiceManaged": address.service,
        "NetworkInterfaceId": mapped.map(|(id, _)| id),
        "NetworkInterfaceOwnerId": mapped.map(|_| &world.account),
        "AssociationId": interface.and_then(|interface| interface.public.as_ref()?.association.as_ref()),
        "PrivateIpAddress": interface.and_then(|interface| interface.address).map(|address| address.to_string()),
        "InstanceId": interface.and_then(|interface| interface.seat.as_ref()?.instance.as_ref()),
    })
}

fn values(world: &World, region: &str, id: &str, address: &Address, name: &str) -> Option<Vec<String>> {
    let member = match name {
        "allocation-id" => "AllocationId",
        "association-id" => "AssociationId",
        "instance-id" => "InstanceId",
        "network-border-group" => "NetworkBorderGroup",
        "network-interface-id" => "NetworkInterfaceId",
        "network-interface-owner-id" => "NetworkInterfaceOwnerId",
        "private-ip-address" => "PrivateIpAddress",
        "public-ip" => "PublicIp",
        "domain" => "Domain",
        _ => return None,
    };
    Some(view(world, region, id, address)[member].as_str().map(str::to_owned).into_iter().collect())
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (world, region) = (&*world, context.region);
    let wanted = context.texts("PublicIps");
    let all = &world.net(region).addresses;
    if let Some(wrong) = wanted.iter().find(|ip| all.values().all(|address| address.public.to_string() != **ip)) {
        return Err(Fault::new("InvalidAddress.NotFound", format!("Address '{wrong}' not found.")));
    }
    let fitting = all.iter().filter(|(_, address)| wanted.is_empty() || wanted.contains(&address.public.to_string()));
    let fitting = fitting.map(|(id, address)| (id.clone(), address.clone())).collect();
    let listing = Listing {
        ids: "AllocationIds",
        prefix: "eipalloc",
        member: "Addresses",
        values: &|id, address: &Address, name| values(world, region, id, address, name),
        view: &|id, address| view(world, region, id, address),
    };
    describe(world, context, &fitting, listing)
}

/// Reverse names of addresses: this account has set none.
pub(super) fn attributes(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let wanted = context.texts("AllocationIds");
    let all = &world.net(context.region).addresses;
    if let Some(id) = wanted.iter().find(|id| !all.contains_key(*id)) {
        return Err(missing(id));
    }
    let found: Vec<_> = all
        .iter()
        .filter(|(id, _)| wanted.is_empty() || wanted.contains(id))
        .map(|(id, address)| json!({ "AllocationId": id, "PublicIp": address.public.to_string() }))
        .collect();
    Ok(json!({ "Addresses": found }).into())
}
