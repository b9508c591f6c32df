//! Tags of Auto Scaling groups, which EC2 does not know. Must never reach instances that run already.

use super::group::{Tag, invalid, no_such};
use crate::sandbox::{
    wire::Fault,
    world::{Context, Output, World, matches, page, texts},
};
use serde_json::{Value, json};

/// Tags of one group (Auto Scaling user guide, tags).
const MOST: usize = 50;

fn text<'v>(tag: &'v Value, name: &str) -> &'v str {
    tag.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn view(group: &str, key: &str, tag: &Tag) -> Value {
    json!({
        "ResourceId": group,
        "ResourceType": "auto-scaling-group",
        "Key": key,
        "Value": tag.value,
        "PropagateAtLaunch": tag.at_launch,
    })
}

/// Either all of a call or nothing.
fn judge(world: &World, context: &Context) -> Result<(), Fault> {
    for tag in context.list("Tags") {
        let (name, key) = (text(tag, "ResourceId"), text(tag, "Key"));
        if world.scaling_group(context.region, name).is_none() {
            return Err(no_such(name));
        }
        if key.to_ascii_lowercase().starts_with("aws:") {
            return Err(invalid("The aws: prefix is reserved for AWS use."));
        }
    }
    Ok(())
}

pub(super) fn put(world: &mut World, context: &Context) -> Result<Output, Fault> {
    judge(world, context)?;
    for tag in context.list("Tags") {
        let key = text(tag, "Key");
        let Some(group) = world.scaling_group_mut(context.region, text(tag, "ResourceId")) else { continue };
        if !group.tags.contains_key(key) && group.tags.len() >= MOST {
            return Err(Fault::new("LimitExceeded", format!("A group can have at most {MOST} tags.")));
        }
        let at_launch = tag.get("PropagateAtLaunch").and_then(Value::as_bool).unwrap_or(false);
        group.tags.insert(key.to_owned(), Tag { value: text(tag, "Value").to_owned(), at_launch });
    }
    Ok(Output::default())
}

pub(super) fn remove(world: &mut World, context: &Context) -> Result<Output, Fault> {
    judge(world, context)?;
    for tag in context.list("Tags") {
        if let Some(group) = world.scaling_group_mut(context.region, text(tag, "ResourceId")) {
            group.tags.remove(text(tag, "Key"));
        }
    }
    Ok(Output::default())
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let mut found = vec![];
    for (name, group) in world.scaling.get(context.region).into_iter().flatten() {
        for (key, tag) in &group.tags {
            if fits(context, name, key, tag)? {
                found.push(view(name, key, tag));
            }
        }
    }
    let most = context.number("MaxRecords").unwrap_or(50);
    let (rows, next) = page(found, context.text("NextToken"), Some(most), "InvalidNextToken")?;
    Ok(json!({ "Tags": rows, "NextToken": next }).into())
}

fn fits(context: &Context, group: &str, key: &str, tag: &Tag) -> Result<bool, Fault> {
    for filter in context.list("Filters") {
        let name = text(filter, "Name");
        let have = match name {
            "auto-scaling-group" => group.to_owned(),
            "key" => key.to_owned(),
            "value" => tag.value.clone(),
            "propagate-at-launch" => tag.at_launch.to_string(),
            _ => return Err(invalid(format!("Filter type {name} is not correct"))),
        };
        if !texts(filter.get("Values")).iter().any(|wanted| matches(wanted, &have)) {
            return Ok(false);
        }
    }
    Ok(true)
}
