//! Tags of balancers, listeners and target groups. Must never answer for more ARNs than AWS does in one call.

use super::{missing, read_tags, too_many_tags};
use crate::sandbox::{
    wire::Fault,
    world::{Context, Output, World},
};
use serde_json::json;

/// ARNs in one call (API reference, DescribeTags).
const MOST_ARNS: usize = 20;

/// The ARNs of a call, each of something that is there.
fn arns(world: &World, context: &Context) -> Result<Vec<String>, Fault> {
    let arns = context.texts("ResourceArns");
    if arns.len() > MOST_ARNS {
        let message = format!("Up to {MOST_ARNS} resource ARNs can be specified in one request");
        return Err(Fault::new("ValidationError", message));
    }
    let balancing = world.balancing(context.region);
    match arns.iter().find(|arn| balancing.tags(arn).is_none()) {
        Some(arn) => Err(missing(arn)),
        None => Ok(arns),
    }
}

pub(super) fn add(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let new = read_tags(context.list("Tags"))?;
    for arn in arns(world, context)? {
        if let Some(tags) = world.balancing_mut(context.region).tags_mut(&arn) {
            if tags.keys().chain(new.keys()).collect::<std::collections::BTreeSet<_>>().len() > 50 {
                return Err(too_many_tags());
            }
            tags.extend(new.clone());
        }
    }
    Ok(json!({}).into())
}

pub(super) fn remove(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let keys = context.texts("TagKeys");
    for arn in arns(world, context)? {
        if let Some(tags) = world.balancing_mut(context.region).tags_mut(&arn) {
            tags.retain(|key, _| !keys.contains(key));
        }
    }
    Ok(json!({}).into())
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let arns = arns(world, context)?;
    let balancing = world.balancing(context.region);
    let described = arns.iter().map(|arn| {
        let tags = balancing.tags(arn).into_iter().flatten();
        let tags: Vec<_> = tags.map(|(key, value)| json!({ "Key": key, "Value": value })).collect();
        json!({ "ResourceArn": arn, "Tags": tags })
    });
    Ok(json!({ "TagDescriptions": described.collect::<Vec<_>>() }).into())
}
