//! Rules of security groups: authorized, revoked and listed one by one. Must never take half of a call's rules.

use super::{
    group::{Rule, named},
    permission::{Peer, Permission, read},
};
use crate::sandbox::{
    wire::Fault,
    world::{
        Context, Output, World,
        ec2::{Listing, describe, find, find_mut, missing, tagged},
        tags::specified,
    },
};
use ipnet::IpNet;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn egress(context: &Context) -> bool {
    context.operation.ends_with("Egress")
}

pub(super) fn authorize(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (region, egress) = (context.region, egress(context));
    let tags = specified(context, "security-group-rule")?;
    let net = world.net(region);
    let id = named(net, context)?;
    let group = find(&net.groups, &id)?;
    let new = read(context, net, &group.vpc, egress)?;
    for (n, (permission, _)) in new.iter().enumerate() {
        let twice = new[..n].iter().any(|(before, _)| before == permission);
        if twice || group.rules.iter().any(|rule| rule.permission == *permission) {
            let message = format!("the specified rule \"{}\" already exists", permission.sentence());
            return Err(Fault::new("InvalidPermission.Duplicate", message));
        }
    }
    let there = group.rules.iter().filter(|rule| rule.permission.egress == egress).count();
    if there + new.len() > world.limit("securityGroupRule") {
        let message = "The maximum number of rules per security group has been reached.";
        return Err(Fault::new("RulesPerSecurityGroupLimitExceeded", message));
    }
    let rules: Vec<_> = new
        .into_iter()
        .map(|(permission, description)| Rule { id: world.id("sgr"), permission, description })
        .collect();
    rules.iter().for_each(|rule| world.register(region, "security-group-rule", &rule.id, tags.clone()));
    let views: Vec<_> = rules.iter().map(|rule| standing(world, region, &id, rule)).collect();
    find_mut(&mut world.net_mut(region).groups, &id)?.rules.extend(rules);
    Ok(json!({ "Return": true, "SecurityGroupRules": views }).into())
}

pub(super) fn revoke(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (region, egress) = (context.region, egress(context));
    let net = world.net(region);
    let id = named(net, context)?;
    let group = find(&net.groups, &id)?;
    let ids = context.texts("SecurityGroupRuleIds");
    let mine = |rule: &&Rule| rule.permission.egress == egress;
    let gone: Vec<String> = if ids.is_empty() {
        let wanted = read(context, net, &group.vpc, egress)?;
        let found = |permission: &Permission| {
            let rule = group.rules.iter().filter(mine).find(|rule| rule.permission == *permission);
            rule.map(|rule| rule.id.clone()).ok_or_else(|| {
                let message = "The specified rule does not exist in this security group.";
                Fault::new("InvalidPermission.NotFound", message)
            })
        };
        wanted.iter().map(|(permission, _)| found(permission)).collect::<Result<_, _>>()?
    } else {
        if let Some(wrong) = ids.iter().find(|id| group.rules.iter().filter(mine).all(|rule| rule.id != **id)) {
            return Err(missing(wrong));
        }
        ids
    };
    let taken = |rule: &Rule| gone.contains(&rule.id);
    let views: Vec<_> = group.rules.iter().filter(|rule| taken(rule)).map(|rule| revoked(&id, rule)).collect();
    find_mut(&mut world.net_mut(region).groups, &id)?.rules.retain(|rule| !taken(rule));
    gone.iter().for_each(|rule| world.unregister(region, rule));
    Ok(json!({ "Return": true, "RevokedSecurityGroupRules": views }).into())
}

/// What both shapes of a rule say: that of one that stands, and that of one that was revoked.
fn view(group: &str, rule: &Rule) -> Value {
    let permission = &rule.permission;
    let mut view = json!({
        "SecurityGroupRuleId": rule.id,
        "GroupId": group,
        "IsEgress": permission.egress,
        "IpProtocol": permission.protocol,
        // This view says what the older one leaves out.
        "FromPort": permission.from.unwrap_or(-1),
        "ToPort": permission.to.unwrap_or(-1),
        "Description": rule.description,
    });
    match &permission.peer {
        Peer::Cidr(IpNet::V4(cidr)) => view["CidrIpv4"] = json!(cidr.to_string()),
        Peer::Cidr(IpNet::V6(cidr)) => view["CidrIpv6"] = json!(cidr.to_string()),
        Peer::PrefixList(id) => view["PrefixListId"] = json!(id),
        Peer::Group(_) => {}
    }
    view
}

fn standing(world: &World, region: &str, group: &str, rule: &Rule) -> Value {
    let mut view = view(group, rule);
    view["GroupOwnerId"] = json!(world.account);
    view["SecurityGroupRuleArn"] = json!(world.ec2_arn(region, &format!("security-group-rule/{}", rule.id)));
    if let Peer::Group(id) = &rule.permission.peer {
        view["ReferencedGroupInfo"] = json!({ "GroupId": id, "UserId": world.account });
    }
    tagged(world, region, &rule.id, view)
}

fn revoked(group: &str, rule: &Rule) -> Value {
    let mut view = view(group, rule);
    if let Peer::Group(id) = &rule.permission.peer {
        view["ReferencedGroupId"] = json!(id);
    }
    view
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (world, region) = (&*world, context.region);
    let groups = world.net(region).groups.iter();
    let all: BTreeMap<String, (&String, &Rule)> =
        groups.flat_map(|(id, group)| group.rules.iter().map(move |rule| (rule.id.clone(), (id, rule)))).collect();
    let listing = Listing {
        ids: "SecurityGroupRuleIds",
        prefix: "sgr",
        member: "SecurityGroupRules",
        values: &|id, (group, _): &(&String, &Rule), name| match name {
            "security-group-rule-id" => Some(vec![id.to_owned()]),
            "group-id" => Some(vec![(*group).clone()]),
            _ => None,
        },
        view: &|_, (group, rule)| standing(world, region, group, rule),
    };
    describe(world, context, &all, listing)
}
