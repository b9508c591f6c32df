//! What all areas of EC2 share: how it says that something does not exist, how its describe calls choose, filter and page, and
//! its dry runs. Must never know one kind of thing more than by its id.

use super::{Context, Handler, Moment, Output, World, keep, page, tags};
use crate::{model::arn, sandbox::wire::Fault};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// By prefix of the id: the stem of EC2's codes, and its sentence around the id.
const KINDS: &[(&str, &str, &str, &str)] = &[
    ("vpc", "InvalidVpcID", "The vpc ID '", "' does not exist"),
    ("subnet", "InvalidSubnetID", "The subnet ID '", "' does not exist"),
    ("igw", "InvalidInternetGatewayID", "The internetGateway ID '", "' does not exist"),
    ("eipalloc", "InvalidAllocationID", "The allocation ID '", "' does not exist"),
    ("eipassoc", "InvalidAssociationID", "The association ID '", "' does not exist"),
    ("nat", "NatGateway", "The Nat Gateway ", " was not found"),
    ("rtb", "InvalidRouteTableID", "The routeTable ID '", "' does not exist"),
    ("rtbassoc", "InvalidAssociationID", "The association ID '", "' does not exist"),
    ("vpce", "InvalidVpcEndpointId", "The Vpc Endpoint Id '", "' does not exist"),
    ("sg", "InvalidGroup", "The security group '", "' does not exist"),
    ("sgr", "InvalidSecurityGroupRuleId", "The security group rule ID '", "' does not exist"),
    ("eni", "InvalidNetworkInterfaceID", "The networkInterface ID '", "' does not exist"),
    ("eni-attach", "InvalidAttachmentID", "The attachment '", "' does not exist."),
    ("acl", "InvalidNetworkAclID", "The networkAcl ID '", "' does not exist"),
    ("pl", "InvalidPrefixListID", "The prefix list ID '", "' does not exist"),
    ("i", "InvalidInstanceID", "The instance ID '", "' does not exist"),
    ("vol", "InvalidVolume", "The volume '", "' does not exist."),
    ("snap", "InvalidSnapshot", "The snapshot '", "' does not exist."),
    ("lt", "InvalidLaunchTemplateId", "The specified launch template, with template ID ", ", does not exist."),
    ("cr", "InvalidCapacityReservationId", "The capacity reservation '", "' does not exist"),
    ("ami", "InvalidAMIID", "The image id '[", "]' does not exist"),
    ("pg", "InvalidPlacementGroup", "The Placement Group '", "' is unknown."),
    ("fleet", "InvalidFleetId", "The fleet ID '", "' does not exist"),
];

/// How EC2 says that there is no object of that id.
pub fn missing(id: &str) -> Fault {
    let prefix = id.rsplit_once('-').map_or("", |(prefix, _)| prefix);
    match KINDS.iter().find(|(known, ..)| *known == prefix) {
        Some(("nat", _, before, after)) => Fault::new("NatGatewayNotFound", format!("{before}{id}{after}")),
        Some(("pg", stem, before, after)) => Fault::new(&format!("{stem}.Unknown"), format!("{before}{id}{after}")),
        Some((_, stem, before, after)) => Fault::new(&format!("{stem}.NotFound"), format!("{before}{id}{after}")),
        None => Fault::new("InvalidID", format!("The ID '{id}' is not valid")),
    }
}

/// How EC2 says that text is no id of the kind with that prefix.
pub fn malformed(id: &str, prefix: &str) -> Fault {
    let stem = match prefix {
        "sg" => "InvalidGroupId",
        _ => KINDS.iter().find(|(known, ..)| *known == prefix).map_or("InvalidID", |(_, stem, ..)| stem),
    };
    Fault::new(&format!("{stem}.Malformed"), format!("Invalid id: \"{id}\" (expecting \"{prefix}-...\")"))
}

/// The object of an id that a call must name.
pub fn find<'w, T>(all: &'w BTreeMap<String, T>, id: &str) -> Result<&'w T, Fault> {
    all.get(id).ok_or_else(|| missing(id))
}

pub fn find_mut<'w, T>(all: &'w mut BTreeMap<String, T>, id: &str) -> Result<&'w mut T, Fault> {
    all.get_mut(id).ok_or_else(|| missing(id))
}

/// What something leans on can't be deleted.
pub fn leaned_on(what: &str, id: &str) -> Fault {
    Fault::new("DependencyViolation", format!("The {what} '{id}' has dependencies and cannot be deleted."))
}

pub fn invalid(message: impl Into<String>) -> Fault {
    Fault::new("InvalidParameterValue", message)
}

/// What an object, by its id, has under a filter's name.
pub type Values<'a, T> = &'a dyn Fn(&str, &T, &str) -> Option<Vec<String>>;

/// What a describe call lists, and under which names its model says it.
#[derive(Clone, Copy)]
pub struct Listing<'a, T> {
    /// The input's member for ids: `VpcIds`.
    pub ids: &'a str,
    /// Prefix of these ids.
    pub prefix: &'a str,
    /// The output's member: `Vpcs`.
    pub member: &'a str,
    /// What an object has under a filter's name; `None`: the call has no such filter. Tags need none.
    pub values: Values<'a, T>,
    /// An object by the model's names, without its tags.
    pub view: &'a dyn Fn(&str, &T) -> Value,
}

/// Answers a describe call over `all`: by ids, of which unknown ones are refused, by filters, and page by page.
pub fn describe<T>(
    world: &World,
    context: &Context,
    all: &BTreeMap<String, T>,
    listing: Listing<T>,
) -> Result<Output, Fault> {
    let wanted = context.texts(listing.ids);
    let shows = |id: &str| world.registered(context.region, id).is_none_or(|tagged| world.shows(tagged.since));
    for id in &wanted {
        if id.rsplit_once('-').is_none_or(|(prefix, _)| prefix != listing.prefix) {
            return Err(malformed(id, listing.prefix));
        }
        if !all.contains_key(id) || !shows(id) {
            return Err(missing(id));
        }
    }
    let mut found = vec![];
    for (id, object) in all.iter().filter(|(id, _)| shows(id) && (wanted.is_empty() || wanted.contains(id))) {
        let own = world.tags_of(context.region, id);
        if keep(context, own, &|name| (listing.values)(id, object, name))? {
            found.push((id, object));
        }
    }
    let (found, next) = page(found, context.text("NextToken"), context.number("MaxResults"), "InvalidNextToken")?;
    let views = found.into_iter().map(|(id, object)| tagged(world, context.region, id, (listing.view)(id, object)));
    Ok(json!({ (listing.member): views.collect::<Vec<_>>(), "NextToken": next }).into())
}

/// A view of an object with its tags; what is not registered, because it is AWS's own, has none.
pub fn tagged(world: &World, region: &str, id: &str, mut view: Value) -> Value {
    if let Some(tagged) = world.registered(region, id) {
        view["Tags"] = tags::listed(&tagged.tags);
    }
    view
}

/// Codes that a dry run does not foresee: it shows permission and parameters, never capacity or limits.
const NOT_FORESEEN: &[&str] =
    &["Capacity", "LimitExceeded", "CountExceeded", "DependencyViolation", "AddressesInSubnet"];

impl World {
    /// What a dry run of a call answers: the call's own refusal, or that it would have been done. Nothing changes.
    pub(super) fn rehearse(&self, handler: Handler, context: &Context) -> Fault {
        match handler(&mut self.clone(), context) {
            Err(fault) if !NOT_FORESEEN.iter().any(|part| fault.code.contains(part)) => fault,
            _ => Fault::new("DryRunOperation", "Request would have succeeded, but DryRun flag is set.").status(412),
        }
    }

    /// False while a new object does not show in lists yet.
    pub fn shows(&self, since: Moment) -> bool {
        self.now >= since.saturating_add(self.scenario.lag_ms.into())
    }

    /// `arn:aws:ec2:us-west-2:123456789012:vpc/vpc-0…`
    pub fn ec2_arn(&self, region: &str, resource: &str) -> String {
        arn("ec2", region, &self.account, resource)
    }
}
