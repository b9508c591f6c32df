//! Security groups. Must never go while an interface carries them or another group's rule names them.

use super::{
    Region,
    permission::{Peer, Permission, grouped},
};
use crate::{
    model::Tags,
    sandbox::{
        wire::Fault,
        world::{
            Context, Output, World,
            ec2::{Listing, describe, find, find_mut, invalid, missing},
            tags::{listed, specified},
        },
    },
};
use ipnet::{IpNet, Ipv4Net};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Group {
    pub vpc: String,
    pub name: String,
    pub description: String,
    pub rules: Vec<Rule>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rule {
    /// `sgr-…`
    pub id: String,
    pub permission: Permission,
    pub description: Option<String>,
}

/// A group that a service makes.
#[derive(Clone, Debug)]
pub struct NewGroup<'a> {
    pub vpc: &'a str,
    pub name: &'a str,
    pub description: &'a str,
    pub tags: Tags,
}

impl Group {
    /// A VPC's own: open to itself, and to everywhere outward.
    pub fn default_of(world: &mut World, vpc: &str, id: &str) -> Self {
        let mut group = Self::new(world, vpc, "default", "default VPC security group");
        let permission = Permission::all(false, Peer::Group(id.to_owned()));
        group.rules.push(Rule { id: world.id("sgr"), permission, description: None });
        group
    }

    fn new(world: &mut World, vpc: &str, name: &str, description: &str) -> Self {
        let permission = Permission::all(true, Peer::Cidr(IpNet::V4(Ipv4Net::default())));
        Self {
            vpc: vpc.to_owned(),
            name: name.to_owned(),
            description: description.to_owned(),
            rules: vec![Rule { id: world.id("sgr"), permission, description: None }],
        }
    }

    pub fn is_default(&self) -> bool {
        self.name == "default"
    }

    pub fn names(&self, group: &str) -> bool {
        self.rules.iter().any(|rule| rule.permission.peer == Peer::Group(group.to_owned()))
    }
}

impl Region {
    pub fn has_group(&self, vpc: &str, id: &str) -> bool {
        self.groups.get(id).is_some_and(|group| group.vpc == vpc)
    }

    pub fn group_named(&self, vpc: &str, name: &str) -> Option<&str> {
        let mut all = self.groups.iter().filter(|(_, group)| group.vpc == vpc);
        all.find(|(_, group)| group.name == name).map(|(id, _)| id.as_str())
    }

    /// True while a group can't be deleted.
    pub(super) fn group_in_use(&self, id: &str) -> bool {
        self.interfaces.values().any(|interface| interface.groups.iter().any(|its| its == id))
            || self.groups.iter().any(|(other, group)| other != id && group.names(id))
    }
}

impl World {
    /// Makes a group with the rule to everywhere that EC2 gives every group.
    pub fn make_group(&mut self, region: &str, new: NewGroup) -> Result<String, Fault> {
        let net = self.net(region);
        net.vpc(new.vpc)?;
        if net.groups.values().any(|group| group.vpc == new.vpc && group.name == new.name) {
            let message = format!("The security group '{}' already exists for VPC '{}'", new.name, new.vpc);
            return Err(Fault::new("InvalidGroup.Duplicate", message));
        }
        if net.groups.len() >= self.limit("securityGroup") {
            let message = format!("The maximum number of security groups for VPC '{}' has been reached.", new.vpc);
            return Err(Fault::new("SecurityGroupLimitExceeded", message));
        }
        let id = self.id("sg");
        let group = Group::new(self, new.vpc, new.name, new.description);
        let rules: Vec<_> = group.rules.iter().map(|rule| rule.id.clone()).collect();
        self.net_mut(region).groups.insert(id.clone(), group);
        self.register(region, "security-group", &id, new.tags);
        rules.iter().for_each(|rule| self.register(region, "security-group-rule", rule, Tags::new()));
        Ok(id)
    }

    /// Adds a rule to a group, as a service does; one that it has already stays as it is.
    pub fn admit(&mut self, region: &str, group: &str, permission: Permission) -> Result<(), Fault> {
        let rule = self.id("sgr");
        let its = find_mut(&mut self.net_mut(region).groups, group)?;
        if its.rules.iter().all(|rule| rule.permission != permission) {
            its.rules.push(Rule { id: rule.clone(), permission, description: None });
            self.register(region, "security-group-rule", &rule, Tags::new());
        }
        Ok(())
    }

    /// Deletes a group as its maker does: refused as for anybody.
    pub fn drop_group(&mut self, region: &str, id: &str) -> Result<(), Fault> {
        let group = find(&self.net(region).groups, id)?;
        if group.is_default() {
            let message = format!("the specified group: \"{id}\" name: \"default\" cannot be deleted by a user");
            return Err(Fault::new("CannotDelete", message));
        }
        if self.net(region).group_in_use(id) {
            return Err(Fault::new("DependencyViolation", format!("resource {id} has a dependent object")));
        }
        let rules = self.net_mut(region).groups.remove(id).map(|group| group.rules).unwrap_or_default();
        rules.iter().for_each(|rule| self.unregister(region, &rule.id));
        self.unregister(region, id);
        Ok(())
    }
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let tags = specified(context, "security-group")?;
    let (name, description) = (context.required("GroupName")?, context.required("Description")?);
    let Some(vpc) = context.text("VpcId") else {
        return Err(Fault::new("VPCIdNotSpecified", "No default VPC for this user"));
    };
    let odd = |text: &str| {
        text.chars().any(|c| !c.is_ascii_alphanumeric() && !" ._-:/()#,@[]+=&;{}!$*".contains(c)) || text.len() > 255
    };
    for (what, text) in [("groupName", name), ("groupDescription", description)] {
        if text.is_empty() || odd(text) {
            return Err(invalid(format!(
                "Value ({text}) for parameter {what} is invalid. Character sets beyond ASCII are not supported."
            )));
        }
    }
    if name.starts_with("sg-") {
        return Err(invalid(format!(
            "Value ({name}) for parameter groupName is invalid. It must not begin with 'sg-'"
        )));
    }
    if name == "default" {
        return Err(invalid("Cannot use reserved security group name: default"));
    }
    let id = world.make_group(context.region, NewGroup { vpc, name, description, tags })?;
    Ok(json!({
        "GroupId": id,
        "Tags": listed(world.tags_of(context.region, &id)),
        "SecurityGroupArn": world.ec2_arn(context.region, &format!("security-group/{id}")),
    })
    .into())
}

/// The group that a call names.
pub(super) fn named(net: &Region, context: &Context) -> Result<String, Fault> {
    match (context.text("GroupId"), context.text("GroupName")) {
        (Some(id), _) if net.groups.contains_key(id) => Ok(id.to_owned()),
        (Some(id), _) => Err(missing(id)),
        // Names are looked for in the default VPC, and this account has none.
        (None, Some(name)) => {
            let message = format!("The security group '{name}' does not exist in default VPC 'none'");
            Err(Fault::new("InvalidGroup.NotFound", message))
        }
        (None, None) => {
            Err(Fault::new("MissingParameter", "The request must contain the parameter groupName or groupId"))
        }
    }
}

pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = named(world.net(context.region), context)?;
    world.drop_group(context.region, &id)?;
    Ok(json!({ "Return": true, "GroupId": id }).into())
}

fn view(world: &World, region: &str, id: &str, group: &Group) -> Value {
    json!({
        "GroupId": id,
        "GroupName": group.name,
        "Description": group.description,
        "VpcId": group.vpc,
        "OwnerId": world.account,
        "SecurityGroupArn": world.ec2_arn(region, &format!("security-group/{id}")),
        "IpPermissions": grouped(&group.rules, false, &world.account),
        "IpPermissionsEgress": grouped(&group.rules, true, &world.account),
    })
}

fn values(world: &World, id: &str, group: &Group, name: &str) -> Option<Vec<String>> {
    let (egress, of_rules) = match name.strip_prefix("egress.ip-permission.") {
        Some(part) => (true, Some(part)),
        None => (false, name.strip_prefix("ip-permission.")),
    };
    let Some(part) = of_rules else {
        return Some(vec![match name {
            "group-id" => id.to_owned(),
            "group-name" => group.name.clone(),
            "description" => group.description.clone(),
            "vpc-id" => group.vpc.clone(),
            "owner-id" => world.account.clone(),
            _ => return None,
        }]);
    };
    let rules = group.rules.iter().map(|rule| &rule.permission).filter(|permission| permission.egress == egress);
    let value = |permission: &Permission| match (part, &permission.peer) {
        ("cidr", Peer::Cidr(IpNet::V4(cidr))) => Some(cidr.to_string()),
        ("ipv6-cidr", Peer::Cidr(IpNet::V6(cidr))) => Some(cidr.to_string()),
        ("group-id", Peer::Group(id)) | ("prefix-list-id", Peer::PrefixList(id)) => Some(id.clone()),
        ("user-id", Peer::Group(_)) => Some(world.account.clone()),
        ("protocol", _) => Some(permission.protocol.clone()),
        ("from-port", _) => permission.from.map(|port| port.to_string()),
        ("to-port", _) => permission.to.map(|port| port.to_string()),
        _ => None,
    };
    let known = ["cidr", "ipv6-cidr", "group-id", "prefix-list-id", "user-id", "protocol", "from-port", "to-port"];
    known.contains(&part).then(|| rules.filter_map(value).collect())
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (world, region) = (&*world, context.region);
    if let Some(name) = context.texts("GroupNames").first() {
        let message = format!("The security group '{name}' does not exist in default VPC 'none'");
        return Err(Fault::new("InvalidGroup.NotFound", message));
    }
    let listing = Listing {
        ids: "GroupIds",
        prefix: "sg",
        member: "SecurityGroups",
        values: &|id, group: &Group, name| values(world, id, group, name),
        view: &|id, group| view(world, region, id, group),
    };
    describe(world, context, &world.net(region).groups, listing)
}

/// Name of a group, where it is there.
pub(super) fn name_of<'a>(net: &'a Region, id: &str) -> Option<&'a str> {
    net.groups.get(id).map(|group| group.name.as_str())
}
