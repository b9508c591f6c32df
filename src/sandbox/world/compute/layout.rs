//! Network interfaces of a launch against the cards of its type. Must never seat what EC2 would not.

use super::{items, number, text};
use crate::{
    catalog::InstanceType,
    sandbox::{
        wire::Fault,
        world::{
            ec2::{find, invalid},
            network::Region,
            texts,
        },
    },
};
use serde_json::Value;
use std::collections::BTreeSet;

/// One interface of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSeat {
    pub card: u32,
    pub device: u32,
    /// `interface`, `efa`, `efa-only`
    pub kind: String,
    pub subnet: String,
    pub groups: Vec<String>,
    pub description: String,
    /// Private addresses; 0 for `efa-only`.
    pub addresses: usize,
    pub delete_on_termination: bool,
    /// `None`: as the subnet has it.
    pub public: Option<bool>,
    /// An interface that is there already.
    pub existing: Option<String>,
}

fn combination(message: &str) -> Fault {
    Fault::new("InvalidParameterCombination", message)
}

/// Interfaces as a launch lists them, or the one that its subnet and groups stand for.
pub(super) fn read(data: &Value, net: &Region) -> Result<Vec<NewSeat>, Fault> {
    let listed = items(data, "NetworkInterfaces");
    let (subnet, groups) = (text(data, &["SubnetId"]), texts(data.get("SecurityGroupIds")));
    if listed.is_empty() {
        let subnet = subnet.ok_or_else(|| {
            // The account has no default VPC.
            let message = "No default VPC for this user. GroupName is only supported for EC2-Classic and default VPC.";
            Fault::new("VPCIdNotSpecified", message)
        })?;
        return Ok(vec![NewSeat {
            card: 0,
            device: 0,
            kind: "interface".to_owned(),
            subnet: subnet.to_owned(),
            groups,
            description: String::new(),
            addresses: 1,
            delete_on_termination: true,
            public: None,
            existing: None,
        }]);
    }
    if subnet.is_some() {
        return Err(combination(
            "Network interfaces and an instance-level subnet ID may not be specified on the same request",
        ));
    }
    if !groups.is_empty() {
        let message =
            "Network interfaces and an instance-level security groups may not be specified on the same request";
        return Err(combination(message));
    }
    listed.iter().map(|interface| seat(interface, net)).collect()
}

fn seat(interface: &Value, net: &Region) -> Result<NewSeat, Fault> {
    let flag = |name: &str| interface.get(name).and_then(Value::as_bool);
    let kind = text(interface, &["InterfaceType"]).unwrap_or("interface");
    if !matches!(kind, "interface" | "efa" | "efa-only") {
        return Err(invalid(format!(
            "Invalid value '{kind}' for InterfaceType. Allowed values are [interface, efa, efa-only]"
        )));
    }
    let existing = text(interface, &["NetworkInterfaceId"]);
    let (subnet, kind) = match existing {
        Some(id) => {
            let found = find(&net.interfaces, id)?;
            if found.seat.is_some() {
                let message = format!("Interface: [{id}] in use.");
                return Err(Fault::new("InvalidNetworkInterface.InUse", message));
            }
            (found.subnet.clone(), found.kind.clone())
        }
        None => {
            let message = "The request must contain the parameter subnetId of each network interface";
            let subnet = text(interface, &["SubnetId"]).ok_or_else(|| Fault::new("MissingParameter", message))?;
            (subnet.to_owned(), kind.to_owned())
        }
    };
    let more = number(interface, "SecondaryPrivateIpAddressCount").unwrap_or(0) as usize;
    if kind == "efa-only" && (more > 0 || text(interface, &["PrivateIpAddress"]).is_some()) {
        return Err(combination("IP addresses cannot be assigned to EFA-only network interfaces."));
    }
    Ok(NewSeat {
        card: number(interface, "NetworkCardIndex").unwrap_or(0),
        device: number(interface, "DeviceIndex").ok_or_else(|| {
            Fault::new(
                "MissingParameter",
                "The request must contain the parameter deviceIndex of each network interface",
            )
        })?,
        addresses: if kind == "efa-only" { 0 } else { 1 + more },
        kind,
        subnet,
        groups: texts(interface.get("Groups")),
        description: text(interface, &["Description"]).unwrap_or_default().to_owned(),
        // What is made with an instance goes with it unless told otherwise; what was there before stays.
        delete_on_termination: flag("DeleteOnTermination").unwrap_or(existing.is_none()),
        public: flag("AssociatePublicIpAddress"),
        existing: existing.map(str::to_owned),
    })
}

/// What EC2 refuses of a list of interfaces, whatever the type.
pub(super) fn judge(seats: &[NewSeat]) -> Result<(), Fault> {
    let places: BTreeSet<_> = seats.iter().map(|seat| (seat.card, seat.device)).collect();
    if places.len() < seats.len() {
        return Err(combination("Each network interface requires a unique device index on its network card."));
    }
    match seats.iter().find(|seat| (seat.card, seat.device) == (0, 0)) {
        None => return Err(combination("When specifying network interfaces, you must include a device at index 0.")),
        Some(primary) if primary.kind == "efa-only" => {
            return Err(combination("EFA-only network interfaces cannot be used as the primary network interface."));
        }
        Some(_) => {}
    }
    if seats.len() > 1 && seats.iter().any(|seat| seat.public == Some(true)) {
        let message = "The associatePublicIPAddress parameter cannot be specified when launching with multiple network \
                       interfaces.";
        return Err(combination(message));
    }
    Ok(())
}

/// What EC2 refuses of them for a type.
pub(super) fn fit(seats: &[NewSeat], known: &InstanceType) -> Result<(), Fault> {
    let (name, limit) = (&known.name, "AttachmentLimitExceeded");
    let cards = known.network_cards.len();
    if let Some(seat) = seats.iter().find(|seat| seat.card as usize >= cards) {
        let message = format!("Network card index {} exceeds the limit for {name}: it has {cards}", seat.card);
        return Err(invalid(message));
    }
    let count = u32::try_from(seats.len()).unwrap_or(u32::MAX);
    if count > known.max_network_interfaces {
        return Err(Fault::new(limit, format!("Interface count {count} exceeds the limit for {name}")));
    }
    for (index, card) in known.network_cards.iter().enumerate() {
        let on_card = seats.iter().filter(|seat| seat.card as usize == index);
        let (count, efa) = on_card.fold((0, 0), |(n, efa), seat| (n + 1, efa + u32::from(seat.kind != "interface")));
        if count > card.max_interfaces {
            let message = format!("Interface count {count} exceeds the limit for {name} on network card {index}");
            return Err(Fault::new(limit, message));
        }
        if efa > 1 {
            let message = format!("EFA interface count {efa} exceeds the limit for {name} on network card {index}");
            return Err(Fault::new(limit, message));
        }
    }
    let efa: Vec<_> = seats.iter().filter(|seat| seat.kind != "interface").collect();
    if !efa.is_empty() && known.efa_max == 0 {
        let message = format!("{name} instances do not support Elastic Fabric Adapters.");
        return Err(Fault::new("InvalidParameterCombination", message));
    }
    if efa.len() > known.efa_max as usize {
        let message = format!("EFA interface count {} exceeds the limit for {name}", efa.len());
        return Err(Fault::new(limit, message));
    }
    // Card 0 of a type with more cards than EFAs (p6-b300) has ENA only.
    if known.efa_max as usize + 1 == cards && efa.iter().any(|seat| seat.card == 0) {
        let message = format!("Network card 0 of {name} does not support Elastic Fabric Adapters.");
        return Err(Fault::new("InvalidParameterCombination", message));
    }
    Ok(())
}
