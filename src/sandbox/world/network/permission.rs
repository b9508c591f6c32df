//! What one rule of a security group admits: read from a call's IpPermissions or its older single fields, and shown in both of
//! EC2's views. Must never keep two spellings of one rule.

use super::{Region, group::Rule};
use crate::sandbox::{
    wire::Fault,
    world::{Context, ec2::invalid},
};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Permission {
    pub egress: bool,
    /// `-1`, `tcp`, `udp`, `icmp`, `icmpv6`, or a number
    pub protocol: String,
    pub from: Option<i64>,
    pub to: Option<i64>,
    pub peer: Peer,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Peer {
    Cidr(IpNet),
    Group(String),
    PrefixList(String),
}

impl Permission {
    /// Every protocol.
    pub fn all(egress: bool, peer: Peer) -> Self {
        Self { egress, protocol: "-1".to_owned(), from: None, to: None, peer }
    }

    pub fn tcp(egress: bool, from: u16, to: u16, peer: Peer) -> Self {
        Self { egress, protocol: "tcp".to_owned(), from: Some(from.into()), to: Some(to.into()), peer }
    }

    /// EC2's sentence for a rule that a group has already.
    pub fn sentence(&self) -> String {
        let peer = match &self.peer {
            Peer::Cidr(cidr) => cidr.to_string(),
            Peer::Group(id) | Peer::PrefixList(id) => id.clone(),
        };
        let traffic = match (self.protocol.as_str(), self.from, self.to) {
            ("-1", ..) => "ALL".to_owned(),
            (protocol, Some(from), Some(to)) => {
                format!("{}, from port: {from}, to port: {to}", protocol.to_ascii_uppercase())
            }
            (protocol, ..) => protocol.to_ascii_uppercase(),
        };
        format!("peer: {peer}, {traffic}, ALLOW")
    }
}

/// The rules that a call names, each with its description.
pub fn read(
    context: &Context,
    net: &Region,
    vpc: &str,
    egress: bool,
) -> Result<Vec<(Permission, Option<String>)>, Fault> {
    let mut found = vec![];
    for permission in context.list("IpPermissions") {
        read_one(permission, net, vpc, egress, &mut found)?;
    }
    if let Some(protocol) = context.text("IpProtocol") {
        let mut older = json!({
            "IpProtocol": protocol, "FromPort": context.number("FromPort"), "ToPort": context.number("ToPort"),
        });
        match (context.text("CidrIp"), context.text("SourceSecurityGroupName")) {
            (Some(cidr), _) => older["IpRanges"] = json!([{ "CidrIp": cidr }]),
            (None, Some(name)) => older["UserIdGroupPairs"] = json!([{ "GroupName": name }]),
            (None, None) => {}
        }
        read_one(&older, net, vpc, egress, &mut found)?;
    }
    if found.is_empty() {
        let message = "One of the following parameters must be specified: ipPermissions, ipProtocol";
        return Err(Fault::new("MissingParameter", message));
    }
    Ok(found)
}

fn read_one(
    permission: &Value,
    net: &Region,
    vpc: &str,
    egress: bool,
    found: &mut Vec<(Permission, Option<String>)>,
) -> Result<(), Fault> {
    let (protocol, from, to) = traffic(permission)?;
    let text = |peer: &Value, member: &str| peer.get(member).and_then(Value::as_str).map(str::to_owned);
    let peers = |member: &str| permission.get(member).and_then(Value::as_array).cloned().unwrap_or_default();
    let before = found.len();
    let mut add = |peer: Peer, of: &Value| {
        let permission = Permission { egress, protocol: protocol.clone(), from, to, peer };
        found.push((permission, text(of, "Description")));
    };
    for (member, key) in [("IpRanges", "CidrIp"), ("Ipv6Ranges", "CidrIpv6")] {
        for peer in peers(member) {
            let cidr = text(&peer, key).unwrap_or_default();
            let block: IpNet = cidr.parse().map_err(|_| invalid(format!("CIDR block {cidr} is malformed")))?;
            add(Peer::Cidr(block.trunc()), &peer);
        }
    }
    for peer in peers("UserIdGroupPairs") {
        let (id, name) = (text(&peer, "GroupId"), text(&peer, "GroupName"));
        add(Peer::Group(group(net, vpc, id.as_deref(), name.as_deref())?), &peer);
    }
    for peer in peers("PrefixListIds") {
        add(Peer::PrefixList(text(&peer, "PrefixListId").unwrap_or_default()), &peer);
    }
    if found.len() == before {
        return Err(invalid("A rule names who it is for: a block, a group or a prefix list"));
    }
    Ok(())
}

/// A group that a rule may name: one of the same network.
fn group(net: &Region, vpc: &str, id: Option<&str>, name: Option<&str>) -> Result<String, Fault> {
    let found = net.groups.iter().find(|(its, group)| match (id, name) {
        (Some(id), _) => *its == id,
        (None, name) => group.vpc == vpc && name == Some(group.name.as_str()),
    });
    match found {
        Some((_, group)) if group.vpc != vpc => Err(Fault::new(
            "InvalidGroup.NotFound",
            "You have specified two resources that belong to different networks.",
        )),
        Some((id, _)) => Ok(id.clone()),
        None => {
            let wanted = id.or(name).unwrap_or_default();
            Err(Fault::new("InvalidGroup.NotFound", format!("The security group '{wanted}' does not exist")))
        }
    }
}

fn traffic(permission: &Value) -> Result<(String, Option<i64>, Option<i64>), Fault> {
    let given = permission.get("IpProtocol").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
    let port = |member: &str| permission.get(member).and_then(Value::as_i64);
    let protocol = match given.as_str() {
        "-1" | "all" => return Ok(("-1".to_owned(), None, None)),
        "tcp" | "6" => "tcp",
        "udp" | "17" => "udp",
        "icmp" | "1" => "icmp",
        "icmpv6" | "58" => "icmpv6",
        number if number.parse::<u8>().is_ok() => return Ok((number.to_owned(), None, None)),
        other => return Err(invalid(format!("Invalid value '{other}' for IP protocol. Unknown protocol."))),
    };
    let (from, to) = (port("FromPort"), port("ToPort"));
    if protocol.starts_with("icmp") {
        return Ok((protocol.to_owned(), Some(from.unwrap_or(-1)), Some(to.unwrap_or(-1))));
    }
    let (Some(low), Some(high)) = (from, to) else {
        return Err(invalid("Invalid value 'Must specify both from and to ports with TCP/UDP.' for portRange."));
    };
    if !(0..=65535).contains(&low) || !(0..=65535).contains(&high) || low > high {
        return Err(invalid(format!("Invalid TCP/UDP port range ({low}:{high})")));
    }
    Ok((protocol.to_owned(), from, to))
}

/// Rules in the older view, in which one entry lists every peer of the same traffic.
pub fn grouped(rules: &[Rule], egress: bool, account: &str) -> Vec<Value> {
    let mut entries: Vec<Value> = vec![];
    for rule in rules.iter().filter(|rule| rule.permission.egress == egress) {
        let permission = &rule.permission;
        let same = |entry: &&mut Value| {
            entry["IpProtocol"] == json!(permission.protocol)
                && entry["FromPort"] == json!(permission.from)
                && entry["ToPort"] == json!(permission.to)
        };
        let (member, peer) = match &permission.peer {
            Peer::Cidr(IpNet::V4(cidr)) => ("IpRanges", json!({ "CidrIp": cidr.to_string() })),
            Peer::Cidr(IpNet::V6(cidr)) => ("Ipv6Ranges", json!({ "CidrIpv6": cidr.to_string() })),
            Peer::Group(id) => ("UserIdGroupPairs", json!({ "GroupId": id, "UserId": account })),
            Peer::PrefixList(id) => ("PrefixListIds", json!({ "PrefixListId": id })),
        };
        let mut peer = peer;
        peer["Description"] = json!(rule.description);
        if let Some(entry) = entries.iter_mut().find(same) {
            if let Some(peers) = entry[member].as_array_mut() {
                peers.push(peer);
            }
            continue;
        }
        let mut entry = json!({
            "IpProtocol": permission.protocol, "FromPort": permission.from, "ToPort": permission.to,
            "IpRanges": [], "Ipv6Ranges": [], "UserIdGroupPairs": [], "PrefixListIds": [],
        });
        entry[member] = json!([peer]);
        entries.push(entry);
    }
    entries
}
