//! The network ACL that each VPC is born with. Must never be changed: nobody's stack has one of its own.

use super::Region;
use crate::sandbox::{
    wire::Fault,
    world::{
        Context, Output, World,
        ec2::{Listing, describe},
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Acl {
    pub vpc: String,
}

impl Acl {
    pub fn default_of(vpc: &str) -> Self {
        Self { vpc: vpc.to_owned() }
    }
}

fn associations(net: &Region, id: &str, acl: &Acl) -> Vec<Value> {
    let inside = net.subnets.iter().filter(|(_, subnet)| subnet.vpc == acl.vpc);
    let association = |(subnet, its): (&String, &super::subnet::Subnet)| json!({ "NetworkAclAssociationId": its.acl_association, "NetworkAclId": id, "SubnetId": subnet });
    inside.map(association).collect()
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (world, net) = (&*world, world.net(context.region));
    let entry = |number: u32, egress: bool, action: &str| {
        json!({
            "RuleNumber": number, "Egress": egress, "RuleAction": action, "Protocol": "-1", "CidrBlock": "0.0.0.0/0",
        })
    };
    let entries = json!([
        entry(100, true, "allow"),
        entry(32767, true, "deny"),
        entry(100, false, "allow"),
        entry(32767, false, "deny"),
    ]);
    let listing = Listing {
        ids: "NetworkAclIds",
        prefix: "acl",
        member: "NetworkAcls",
        values: &|id, acl: &Acl, name| {
            let subnets = || net.subnets.iter().filter(|(_, subnet)| subnet.vpc == acl.vpc);
            Some(match name {
                "network-acl-id" | "association.network-acl-id" => vec![id.to_owned()],
                "vpc-id" => vec![acl.vpc.clone()],
                "default" => vec!["true".to_owned()],
                "owner-id" => vec![world.account.clone()],
                "association.subnet-id" => subnets().map(|(id, _)| id.clone()).collect(),
                "association.association-id" => subnets().map(|(_, its)| its.acl_association.clone()).collect(),
                _ => return None,
            })
        },
        view: &|id, acl| {
            json!({
                "NetworkAclId": id,
                "VpcId": acl.vpc,
                "IsDefault": true,
                "OwnerId": world.account,
                "Entries": entries,
                "Associations": associations(net, id, acl),
            })
        },
    };
    describe(world, context, &net.acls, listing)
}
