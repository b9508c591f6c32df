//! What a role may do: managed policies that hang on it, inline ones, its boundary. Must never hold more than IAM allows.

use super::{grammar, input, limit, no_entity, paged, published, role::encoded};
use crate::{
    resources::role::{INLINE_LIMIT, MANAGED_LIMIT},
    sandbox::{
        wire::Fault,
        world::{Context, Output, World},
    },
};
use serde_json::json;

pub(super) fn bound(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (name, arn) = (context.required("RoleName")?, context.required("PermissionsBoundary")?);
    world.identity.role_mut(name)?;
    world.attachable(arn)?;
    world.identity.role_mut(name)?.boundary = Some(arn.to_owned());
    Ok(Output::default())
}

pub(super) fn unbound(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let name = context.required("RoleName")?;
    match world.identity.role_mut(name)?.boundary.take() {
        Some(_) => Ok(Output::default()),
        None => Err(no_entity(format!("Role {name} does not have a permissions boundary."))),
    }
}

/// Attaching again what hangs there already changes nothing.
pub(super) fn attach(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (name, arn) = (context.required("RoleName")?, context.required("PolicyArn")?);
    world.identity.role_mut(name)?;
    world.attachable(arn)?;
    let role = world.identity.role_mut(name)?;
    if role.managed.len() >= MANAGED_LIMIT && !role.managed.contains(arn) {
        return Err(limit("PoliciesPerRole", MANAGED_LIMIT));
    }
    role.managed.insert(arn.to_owned());
    Ok(Output::default())
}

pub(super) fn detach(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (name, arn) = (context.required("RoleName")?, context.required("PolicyArn")?);
    match world.identity.role_mut(name)?.managed.remove(arn) {
        true => Ok(Output::default()),
        false => Err(no_entity(format!("Policy {arn} was not found."))),
    }
}

pub(super) fn attached(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let prefix = context.text("PathPrefix").unwrap_or("/");
    let role = world.identity.role(context.required("RoleName")?)?;
    let policies = role.managed.iter().filter_map(|arn| Some((arn, published::path_and_name(arn)?)));
    let inside = policies.filter(|(_, (path, _))| path.starts_with(prefix));
    let views = inside.map(|(arn, (_, name))| json!({ "PolicyName": name, "PolicyArn": arn }));
    paged(context, "AttachedPolicies", views.collect())
}

pub(super) fn put(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (name, policy) = (context.required("PolicyName")?, context.required("PolicyDocument")?);
    let role = world.identity.role_mut(context.required("RoleName")?)?;
    grammar::permissions(policy)?;
    let size = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    let others: usize = role.inline.iter().filter(|(its, _)| *its != name).map(|(_, text)| size(text)).sum();
    if others + size(policy) > INLINE_LIMIT {
        let message = format!("Maximum policy size of {INLINE_LIMIT} bytes exceeded for role {}", role.name);
        return Err(Fault::new("LimitExceeded", message).status(409));
    }
    role.inline.insert(name.to_owned(), policy.to_owned());
    Ok(Output::default())
}

fn none(name: &str) -> Fault {
    no_entity(format!("The role policy with name {name} cannot be found."))
}

pub(super) fn remove(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let name = context.required("PolicyName")?;
    let role = world.identity.role_mut(context.required("RoleName")?)?;
    role.inline.remove(name).map(|_| Output::default()).ok_or_else(|| none(name))
}

pub(super) fn read(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let name = context.required("PolicyName")?;
    let role = world.identity.role(context.required("RoleName")?)?;
    let policy = role.inline.get(name).ok_or_else(|| none(name))?;
    Ok(json!({ "RoleName": role.name, "PolicyName": name, "PolicyDocument": encoded(policy) }).into())
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let role = world.identity.role(context.required("RoleName")?)?;
    paged(context, "PolicyNames", role.inline.keys().map(|name| json!(name)).collect())
}

impl World {
    /// Whether a managed policy is there, to be attached or to bound a role.
    pub(super) fn attachable(&self, arn: &str) -> Result<(), Fault> {
        if published::path_and_name(arn).is_none() {
            return Err(input(format!("ARN {arn} is not valid.")));
        }
        match self.managed_policy(arn) {
            Some(_) => Ok(()),
            None => Err(no_entity(format!("Policy {arn} does not exist or is not attachable."))),
        }
    }
}
