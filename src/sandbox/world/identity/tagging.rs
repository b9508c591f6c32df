//! Tags of roles and profiles. Must never take one of AWS's own from a caller.

use super::{input, paged};
use crate::{
    model::Tags,
    sandbox::{
        wire::Fault,
        world::{Context, Output, World},
    },
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Tags of one role or profile (IAM user guide, quotas).
const MOST: usize = 50;

/// Tags of a call.
pub(super) fn given(context: &Context) -> Result<Tags, Fault> {
    let text = |tag: &Value, member: &str| tag.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
    let pairs: Vec<_> = context.list("Tags").iter().map(|tag| (text(tag, "Key"), text(tag, "Value"))).collect();
    let keys: BTreeSet<_> = pairs.iter().map(|(key, _)| key.to_lowercase()).collect();
    if keys.len() < pairs.len() {
        return Err(input("Duplicate tag keys found. Please note that Tag keys are case insensitive."));
    }
    if keys.iter().any(|key| key.starts_with("aws:")) {
        return Err(input("Tag keys starting with aws: are reserved for internal use."));
    }
    if keys.len() > MOST {
        return Err(too_many());
    }
    Ok(pairs.into_iter().collect())
}

fn too_many() -> Fault {
    Fault::new("LimitExceeded", "The number of tags has reached the maximum limit.").status(409)
}

pub(super) fn listed(tags: &Tags) -> Value {
    tags.iter().map(|(key, value)| json!({ "Key": key, "Value": value })).collect()
}

fn put(tags: &mut Tags, new: Tags) -> Result<Output, Fault> {
    // A key in other letters is the same key, and takes the new letters.
    let mut all = tags.clone();
    all.retain(|key, _| !new.keys().any(|its| its.to_lowercase() == key.to_lowercase()));
    all.extend(new);
    if all.len() > MOST {
        return Err(too_many());
    }
    *tags = all;
    Ok(Output::default())
}

fn remove(tags: &mut Tags, context: &Context) -> Output {
    let keys: BTreeSet<_> = context.texts("TagKeys").iter().map(|key| key.to_lowercase()).collect();
    tags.retain(|key, _| !keys.contains(&key.to_lowercase()));
    Output::default()
}

pub(super) fn tag_role(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let new = given(context)?;
    put(&mut world.identity.role_mut(context.required("RoleName")?)?.tags, new)
}

pub(super) fn untag_role(world: &mut World, context: &Context) -> Result<Output, Fault> {
    Ok(remove(&mut world.identity.role_mut(context.required("RoleName")?)?.tags, context))
}

pub(super) fn tags_of_role(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let role = world.identity.role(context.required("RoleName")?)?;
    let tags = role.tags.iter().map(|(key, value)| json!({ "Key": key, "Value": value }));
    paged(context, "Tags", tags.collect())
}

pub(super) fn tag_profile(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let new = given(context)?;
    put(&mut world.identity.profile_mut(context.required("InstanceProfileName")?)?.tags, new)
}

pub(super) fn untag_profile(world: &mut World, context: &Context) -> Result<Output, Fault> {
    Ok(remove(&mut world.identity.profile_mut(context.required("InstanceProfileName")?)?.tags, context))
}
