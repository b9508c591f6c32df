//! Roles: who may act as one, under which name and path. Must never be found under a path that it was not made with.

use super::{Identity, exists, grammar, key, leaned_on, limit, no_role, paged, tagging, validation};
use crate::{
    model::{Tags, iam_arn},
    resources::role::TRUST_LIMIT,
    sandbox::{
        wire::Fault,
        world::{Context, Moment, Output, World},
    },
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Roles of an account, unless the quota is raised (IAM user guide, quotas).
const MOST: usize = 1_000;
/// Milliseconds until other services see a role, a trust or a profile as it is now (IAM user guide, eventual consistency: seconds).
pub(super) const LAG: Moment = 8_000;
/// What AWS says of a session's length where nobody does, in seconds.
const SESSION: i64 = 3_600;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Role {
    pub name: String,
    /// With both slashes.
    pub path: String,
    pub arn: String,
    /// `AROA…`
    pub id: String,
    pub description: Option<String>,
    /// As it was given.
    pub trust: String,
    /// What other services still see, and since when they should see the trust above.
    pub trust_before: Option<String>,
    pub trusted: Moment,
    pub inline: BTreeMap<String, String>,
    /// ARNs.
    pub managed: BTreeSet<String>,
    pub boundary: Option<String>,
    /// Seconds.
    pub max_session: i64,
    pub tags: Tags,
    pub created: Moment,
}

impl Role {
    pub(super) fn new(name: &str, path: &str, arn: String, id: String, trust: &str, now: Moment) -> Self {
        Self {
            name: name.to_owned(),
            path: path.to_owned(),
            arn,
            id,
            description: None,
            trust: trust.to_owned(),
            trust_before: None,
            trusted: now,
            inline: BTreeMap::new(),
            managed: BTreeSet::new(),
            boundary: None,
            max_session: SESSION,
            tags: Tags::new(),
            created: now,
        }
    }

    /// The role that the account's caller acts as; `None` where it is a user.
    pub(super) fn of_caller(principal: &str, account: &str, now: Moment) -> Option<Self> {
        let (partition, resource) = parts(principal)?;
        let (path, name) = named(resource.strip_prefix("role")?)?;
        let root = json!({ "AWS": format!("arn:{partition}:iam::{account}:root") });
        let trust = json!({
            "Version": "2012-10-17",
            "Statement": [{ "Effect": "Allow", "Principal": root, "Action": "sts:AssumeRole" }],
        });
        let id = format!("AROA{}", crate::model::hash(principal, 17).to_ascii_uppercase());
        // It was there long before.
        let mut role = Self::new(name, path, principal.to_owned(), id, &trust.to_string(), now - LAG);
        role.managed.insert(format!("arn:{partition}:iam::aws:policy/AdministratorAccess"));
        Some(role)
    }

    /// The trust that other services see; `None` where they do not see the role yet.
    pub(super) fn trust_seen(&self, now: Moment) -> Option<&str> {
        match now >= self.trusted + LAG {
            true => Some(&self.trust),
            false => self.trust_before.as_deref(),
        }
    }

    pub(super) fn view(&self) -> Value {
        json!({
            "Path": self.path,
            "RoleName": self.name,
            "RoleId": self.id,
            "Arn": self.arn,
            "CreateDate": self.created as f64 / 1000.0,
            "AssumeRolePolicyDocument": encoded(&self.trust),
            "Description": self.description,
            "MaxSessionDuration": self.max_session,
        })
    }

    /// With what lists leave out.
    fn whole(&self) -> Value {
        let mut view = self.view();
        view["Tags"] = tagging::listed(&self.tags);
        view["RoleLastUsed"] = json!({});
        if let Some(arn) = &self.boundary {
            view["PermissionsBoundary"] = json!({ "PermissionsBoundaryType": "Policy", "PermissionsBoundaryArn": arn });
        }
        view
    }
}

/// Partition and resource of an IAM ARN: `aws` and `role/platform/ci`.
pub(super) fn parts(arn: &str) -> Option<(&str, &str)> {
    let mut parts = arn.splitn(6, ':');
    let (_, partition, service) = (parts.next()?, parts.next()?, parts.next()?);
    let (_, _, resource) = (parts.next()?, parts.next()?, parts.next()?);
    (service == "iam").then_some((partition, resource))
}

/// Path and name of `/platform/ci`.
pub(super) fn named(rest: &str) -> Option<(&str, &str)> {
    let at = rest.rfind('/')?;
    let (path, name) = rest.split_at(at + 1);
    (!name.is_empty()).then_some((path, name))
}

/// RFC 3986: what IAM leaves as it is in documents that it gives.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A policy document as IAM gives it.
pub(super) fn encoded(document: &str) -> String {
    utf8_percent_encode(document, PLAIN).to_string()
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (name, path) = (context.required("RoleName")?, context.text("Path").unwrap_or("/"));
    let trust = context.required("AssumeRolePolicyDocument")?;
    let tags = tagging::given(context)?;
    path_fits(path)?;
    if path.starts_with(super::service_role::PATH) {
        return Err(validation(format!("The path {path} is reserved for roles of AWS's services.")));
    }
    if world.identity.roles.contains_key(&key(name)) {
        return Err(exists(format!("Role with name {name} already exists.")));
    }
    if world.identity.roles.len() >= MOST {
        return Err(limit("RolesPerAccount", MOST));
    }
    judge_trust(world, trust)?;
    let boundary = context.text("PermissionsBoundary").map(str::to_owned);
    if let Some(arn) = &boundary {
        world.attachable(arn)?;
    }
    let arn = iam_arn(context.region, &world.account, &format!("role{path}{name}"));
    let mut role = Role::new(name, path, arn, world.unique_id("AROA"), trust, world.now);
    role.description = context.text("Description").map(str::to_owned);
    role.max_session = context.number("MaxSessionDuration").unwrap_or(SESSION);
    (role.boundary, role.tags) = (boundary, tags);
    let mut view = role.view();
    view["Tags"] = tagging::listed(&role.tags);
    world.identity.add_role(role);
    Ok(json!({ "Role": view }).into())
}

/// Whether a path has no empty part; what else it may hold is in the model.
pub(super) fn path_fits(path: &str) -> Result<(), Fault> {
    match path.starts_with('/') && path.ends_with('/') && !path.contains("//") {
        true => Ok(()),
        false => Err(validation(
            "The specified value for path is invalid. It must begin and end with / and contain only alphanumeric characters \
             and/or / characters.",
        )),
    }
}

fn judge_trust(world: &World, trust: &str) -> Result<(), Fault> {
    if trust.chars().filter(|c| !c.is_whitespace()).count() > TRUST_LIMIT {
        return Err(limit("ACLSizePerRole", TRUST_LIMIT));
    }
    grammar::trust(world, trust)
}

pub(super) fn read(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let name = context.required("RoleName")?;
    let role = world.identity.role(name)?;
    if !world.shows(role.created) {
        return Err(no_role(name));
    }
    Ok(json!({ "Role": role.whole() }).into())
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let prefix = context.text("PathPrefix").unwrap_or("/");
    let roles = world.identity.roles.values();
    let shown = roles.filter(|role| role.path.starts_with(prefix) && world.shows(role.created));
    paged(context, "Roles", shown.map(Role::view).collect())
}

pub(super) fn update(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let role = world.identity.role_mut(context.required("RoleName")?)?;
    if let Some(description) = context.text("Description") {
        role.description = Some(description.to_owned());
    }
    // Who leaves the length of a session out sets it back.
    role.max_session = context.number("MaxSessionDuration").unwrap_or(SESSION);
    Ok(json!({}).into())
}

pub(super) fn trust(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (name, document) = (context.required("RoleName")?, context.required("PolicyDocument")?);
    world.identity.role_mut(name)?;
    judge_trust(world, document)?;
    let now = world.now;
    let role = world.identity.role_mut(name)?;
    role.trust_before = role.trust_seen(now).map(str::to_owned);
    (role.trust, role.trusted) = (document.to_owned(), now);
    Ok(Output::default())
}

pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let name = context.required("RoleName")?;
    let role = world.identity.role_mut(name)?;
    if !role.managed.is_empty() {
        return Err(leaned_on("Cannot delete entity, must detach all policies first."));
    }
    if !role.inline.is_empty() {
        return Err(leaned_on("Cannot delete entity, must delete policies first."));
    }
    let Identity { roles, profiles, .. } = &mut world.identity;
    if profiles.values().any(|profile| profile.holds(name)) {
        return Err(leaned_on("Cannot delete entity, must remove roles from instance profile first."));
    }
    roles.remove(&key(name));
    Ok(Output::default())
}
