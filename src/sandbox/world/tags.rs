//! Tags of everything that EC2 holds, in one place: every area registers here what it makes and takes out what it deletes, and
//! every describe call reads its tags here. Must never hold what another service tags by itself.

use super::{Context, Handler, Moment, Output, Table, World, ec2, matches, page, texts};
use crate::{model::Tags, sandbox::wire::Fault};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(super) static TABLE: Table = &[
    ("ec2", "CreateTags", create_tags as Handler),
    ("ec2", "DeleteTags", delete_tags),
    ("ec2", "DescribeTags", describe_tags),
];

/// User tags that EC2 lets one object have; those of AWS are not counted (EC2 user guide, tag restrictions).
const MOST: usize = 50;

/// By region and id.
pub type Registry = BTreeMap<String, BTreeMap<String, Tagged>>;

/// What the registry knows of one object.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tagged {
    /// EC2's ResourceType: `vpc`, `natgateway`, `elastic-ip`, …
    pub kind: String,
    pub tags: Tags,
    pub since: Moment,
}

static NO_TAGS: Tags = Tags::new();

impl World {
    /// Registers a new object of EC2 under its id, with the tags of its create call.
    pub fn register(&mut self, region: &str, kind: &str, id: &str, tags: Tags) {
        let tagged = Tagged { kind: kind.to_owned(), tags, since: self.now };
        self.ec2_objects.entry(region.to_owned()).or_default().insert(id.to_owned(), tagged);
    }

    /// Takes an object out that is no longer there, not even as a record.
    pub fn unregister(&mut self, region: &str, id: &str) {
        if let Some(objects) = self.ec2_objects.get_mut(region) {
            objects.remove(id);
        }
    }

    /// Tags of an object of EC2; none where there is no such object.
    pub fn tags_of(&self, region: &str, id: &str) -> &Tags {
        self.registered(region, id).map_or(&NO_TAGS, |tagged| &tagged.tags)
    }

    pub fn registered(&self, region: &str, id: &str) -> Option<&Tagged> {
        self.ec2_objects.get(region)?.get(id)
    }

    /// Every object of EC2 in a region, by id.
    pub fn all_registered(&self, region: &str) -> impl Iterator<Item = (&str, &Tagged)> {
        self.ec2_objects.get(region).into_iter().flatten().map(|(id, tagged)| (id.as_str(), tagged))
    }

    /// Sets tags, also such that only AWS can set.
    pub fn set_tags(&mut self, region: &str, id: &str, tags: Tags) {
        if let Some(tagged) = self.ec2_objects.get_mut(region).and_then(|objects| objects.get_mut(id)) {
            tagged.tags.extend(tags);
        }
    }
}

/// Tags of a create call that makes one kind of thing.
pub fn specified(context: &Context, kind: &str) -> Result<Tags, Fault> {
    let mut all = specifications(context.list("TagSpecifications"), &[kind])?;
    Ok(all.remove(kind).unwrap_or_default())
}

/// TagSpecifications by resource type, of a call that makes things of the `allowed` types.
pub fn specifications(list: &[Value], allowed: &[&str]) -> Result<BTreeMap<String, Tags>, Fault> {
    let mut all = BTreeMap::<String, Tags>::new();
    for specification in list {
        let kind = specification.get("ResourceType").and_then(Value::as_str).unwrap_or_default();
        if !allowed.contains(&kind) {
            let message = format!("'{kind}' is not a valid taggable resource type for this operation.");
            return Err(Fault::new("InvalidParameterValue", message));
        }
        let tags = all.entry(kind.to_owned()).or_default();
        for (key, value) in pairs(specification.get("Tags"))? {
            if tags.insert(key.clone(), value).is_some() {
                return Err(Fault::new("InvalidParameterValue", format!("Duplicate tag key '{key}' specified.")));
            }
        }
    }
    if all.values().any(|tags| tags.len() > MOST) {
        return Err(too_many());
    }
    Ok(all)
}

/// Tags as EC2 lists them.
pub fn listed(tags: &Tags) -> Value {
    tags.iter().map(|(key, value)| json!({ "Key": key, "Value": value })).collect()
}

fn too_many() -> Fault {
    Fault::new("TagLimitExceeded", "The maximum number of Tags for a resource has been reached.")
}

/// Keys and values of a list of tags; AWS's own keys are refused.
fn pairs(list: Option<&Value>) -> Result<Vec<(String, String)>, Fault> {
    let list = list.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    list.iter()
        .map(|tag| {
            let text = |member: &str| tag.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (key, value) = (text("Key"), text("Value"));
            let invalid = |message: String| Err(Fault::new("InvalidParameterValue", message));
            match () {
                () if key.is_empty() => Err(Fault::new("MissingParameter", "Tag key cannot be empty")),
                () if key.to_ascii_lowercase().starts_with("aws:") => {
                    invalid("Tag keys starting with 'aws:' are reserved for internal use".to_owned())
                }
                () if key.chars().count() > 128 => invalid(format!("Tag key exceeds the maximum length of 128: {key}")),
                () if value.chars().count() > 256 => {
                    invalid(format!("Tag value exceeds the maximum length of 256: {value}"))
                }
                () => Ok((key, value)),
            }
        })
        .collect()
}

/// Every object of a tagging call exists, or none is touched.
fn all_there(world: &World, context: &Context) -> Result<Vec<String>, Fault> {
    let ids = context.texts("Resources");
    match ids.iter().find(|id| world.registered(context.region, id).is_none()) {
        Some(id) => Err(ec2::missing(id)),
        None => Ok(ids),
    }
}

fn create_tags(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let new: Tags = pairs(context.input.get("Tags"))?.into_iter().collect();
    let ids = all_there(world, context)?;
    for id in &ids {
        let mut all = world.tags_of(context.region, id).clone();
        all.extend(new.clone());
        if all.keys().filter(|key| !key.starts_with("aws:")).count() > MOST {
            return Err(too_many());
        }
    }
    for id in &ids {
        world.set_tags(context.region, id, new.clone());
    }
    Ok(Output::default())
}

fn delete_tags(world: &mut World, context: &Context) -> Result<Output, Fault> {
    pairs(context.input.get("Tags"))?;
    let ids = all_there(world, context)?;
    let objects = world.ec2_objects.entry(context.region.to_owned()).or_default();
    for id in ids {
        let Some(tagged) = objects.get_mut(&id) else { continue };
        // No list means all; a key without a value means whatever its value is.
        let taken = |key: &str, value: &str| {
            context.input.get("Tags").is_none()
                || context.list("Tags").iter().any(|tag| {
                    tag.get("Key").and_then(Value::as_str) == Some(key)
                        && tag.get("Value").and_then(Value::as_str).is_none_or(|its| its == value)
                })
        };
        tagged.tags.retain(|key, value| key.starts_with("aws:") || !taken(key, value));
    }
    Ok(Output::default())
}

fn describe_tags(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let mut found = vec![];
    for (id, tagged) in world.all_registered(context.region).filter(|(_, tagged)| world.shows(tagged.since)) {
        for (key, value) in &tagged.tags {
            if fits(context, id, &tagged.kind, key, value)? {
                found.push(json!({ "Key": key, "ResourceId": id, "ResourceType": tagged.kind, "Value": value }));
            }
        }
    }
    let (tags, next) = page(found, context.text("NextToken"), context.number("MaxResults"), "InvalidNextToken")?;
    Ok(json!({ "Tags": tags, "NextToken": next }).into())
}

fn fits(context: &Context, id: &str, kind: &str, key: &str, value: &str) -> Result<bool, Fault> {
    for filter in context.list("Filters") {
        let name = filter.get("Name").and_then(Value::as_str).unwrap_or_default();
        let have = match name {
            "key" => key,
            "value" => value,
            "resource-id" => id,
            "resource-type" => kind,
            _ => match name.strip_prefix("tag:") {
                Some(wanted) if wanted == key => value,
                Some(_) => return Ok(false),
                None => {
                    return Err(Fault::new("InvalidParameterValue", format!("The filter '{name}' is invalid")));
                }
            },
        };
        if !texts(filter.get("Values")).iter().any(|pattern| matches(pattern, have)) {
            return Ok(false);
        }
    }
    Ok(true)
}
