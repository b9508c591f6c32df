//! Tags of what EKS holds, by ARN. Must never reach the machines of a node group.

use super::{not_found, parameter};
use crate::{
    model::Tags,
    sandbox::{
        wire::Fault,
        world::{Context, Output, World},
    },
};
use serde_json::{Value, json};

/// Tags of one resource (EKS API reference).
const MOST: usize = 50;

/// Tags of a call; AWS's own keys are refused.
pub(super) fn given(value: Option<&Value>) -> Result<Tags, Fault> {
    let all = value.and_then(Value::as_object).into_iter().flatten();
    let tags: Tags = all.map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned())).collect();
    within(&tags)?;
    match tags.keys().find(|key| key.to_ascii_lowercase().starts_with("aws:")) {
        Some(key) => Err(parameter(format!("Tag keys starting with aws: are reserved: {key}"))),
        None => Ok(tags),
    }
}

fn within(tags: &Tags) -> Result<(), Fault> {
    match tags.keys().filter(|key| !key.starts_with("aws:")).count() > MOST {
        true => Err(parameter(format!("The number of tags must be at most {MOST}."))),
        false => Ok(()),
    }
}

/// Where the tags of a resource are.
fn tags_of<'w>(world: &'w mut World, context: &Context) -> Result<&'w mut Tags, Fault> {
    let arn = context.required("resourceArn")?;
    let region = world.eks_mut(context.region);
    let found = region.groups.values_mut().flat_map(|groups| groups.values_mut()).find(|group| group.arn == arn);
    found
        .map(|group| &mut group.tags)
        .ok_or_else(|| not_found(format!("The specified resource could not be found: {arn}")))
}

pub(super) fn put(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let new = given(context.input.get("tags"))?;
    let tags = tags_of(world, context)?;
    let mut all = tags.clone();
    all.extend(new);
    within(&all)?;
    *tags = all;
    Ok(Output::default())
}

pub(super) fn remove(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let keys = context.texts("tagKeys");
    tags_of(world, context)?.retain(|key, _| !keys.contains(key));
    Ok(Output::default())
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    Ok(json!({ "tags": tags_of(world, context)? }).into())
}
