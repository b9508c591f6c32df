//! Versions of launch templates. Must never change one: a change is a new version.

use super::{
    items, seconds,
    template::{Template, Version, named, no_such_version},
    text,
};
use crate::{
    model::Tags,
    sandbox::{
        wire::Fault,
        world::{
            Context, Output, World,
            ec2::{find, find_mut, invalid},
            keep, page,
            tags::specifications,
        },
    },
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Kinds of things that a launch tags.
pub(super) const TAGGED_AT_LAUNCH: &[&str] =
    &["instance", "volume", "network-interface", "spot-instances-request", "elastic-gpu"];

/// Bytes of user data that EC2 takes, before base64.
const USER_DATA_BYTES: usize = 16_384;

/// What EC2 refuses when data becomes a version, whatever the data is for.
pub(super) fn judge(data: &Value) -> Result<(), Fault> {
    specifications(items(data, "TagSpecifications"), TAGGED_AT_LAUNCH)?;
    if let Some(user_data) = text(data, &["UserData"]) {
        judge_user_data(user_data)?;
    }
    let both = |a: &str, b: &str| data.get(a).is_some() && data.get(b).is_some();
    if both("InstanceType", "InstanceRequirements") {
        let message = "The parameters InstanceType and InstanceRequirements cannot be used together.";
        return Err(Fault::new("InvalidParameterCombination", message));
    }
    Ok(())
}

pub(super) fn judge_user_data(text: &str) -> Result<(), Fault> {
    let known = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    let body = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - body.len() > 2 || !body.bytes().all(known) {
        return Err(Fault::new("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data."));
    }
    if body.len() * 3 / 4 > USER_DATA_BYTES {
        return Err(Fault::new("InvalidParameterValue", "User data is limited to 16384 bytes"));
    }
    Ok(())
}

/// `over` laid over `under`, member by member, as EC2 does with a source version.
pub(super) fn laid_over(under: &Value, over: &Value) -> Value {
    let mut whole = under.as_object().cloned().unwrap_or_default();
    whole.extend(over.as_object().cloned().unwrap_or_default());
    Value::Object(whole)
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    world.once(context, "ClientToken", "IdempotentParameterMismatch", |world| {
        let (id, now) = (named(world, context)?, world.now);
        let data = context.input.get("LaunchTemplateData").cloned().unwrap_or(Value::Null);
        let template = find(&world.machines(context.region).templates, &id)?;
        let data = match context.text("SourceVersion") {
            Some(source) => {
                let number = template.number(source).and_then(|n| template.versions.get(&n));
                laid_over(&number.ok_or_else(|| no_such_version(&id, source))?.data, &data)
            }
            None => data,
        };
        judge(&data)?;
        let version =
            Version { description: context.text("VersionDescription").map(str::to_owned), created: now, data };
        let template = find_mut(&mut world.machines_mut(context.region).templates, &id)?;
        template.latest += 1;
        let number = template.latest;
        template.versions.insert(number, version.clone());
        let template = template.clone();
        Ok(json!({ "LaunchTemplateVersion": view(world, &id, &template, number, &version) }))
    })
}

pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = named(world, context)?;
    let template = find_mut(&mut world.machines_mut(context.region).templates, &id)?;
    let (mut done, mut failed) = (vec![], vec![]);
    for text in context.texts("Versions") {
        let number = template.number(&text);
        let row = json!({ "LaunchTemplateId": id, "LaunchTemplateName": template.name, "VersionNumber": number });
        let refusal = match number {
            Some(n) if n == template.default => {
                Some(("unexpectedError", "You cannot delete the default version of a launch template.".to_owned()))
            }
            Some(n) if template.versions.remove(&n).is_some() => None,
            _ => Some(("launchTemplateVersionDoesNotExist", no_such_version(&id, &text).message)),
        };
        match refusal {
            None => done.push(row),
            Some((code, message)) => {
                let mut row = row;
                row["ResponseError"] = json!({ "Code": code, "Message": message });
                failed.push(row);
            }
        }
    }
    Ok(json!({
        "SuccessfullyDeletedLaunchTemplateVersions": done,
        "UnsuccessfullyDeletedLaunchTemplateVersions": failed,
    })
    .into())
}

fn view(world: &World, id: &str, template: &Template, number: u64, version: &Version) -> Value {
    let mut data = version.data.clone();
    if let Some(members) = data.as_object_mut() {
        members.remove(super::image::NOTE);
    }
    json!({
        "LaunchTemplateId": id,
        "LaunchTemplateName": template.name,
        "VersionNumber": number,
        "VersionDescription": version.description,
        "CreateTime": seconds(version.created),
        "CreatedBy": world.creator(),
        "DefaultVersion": number == template.default,
        "LaunchTemplateData": data,
    })
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let world = &*world;
    let templates = &world.machines(context.region).templates;
    let wanted = context.texts("Versions");
    let one = context.text("LaunchTemplateId").is_some() || context.text("LaunchTemplateName").is_some();
    let chosen: BTreeMap<&String, &Template> = if one {
        let id = named(world, context)?;
        templates.iter().filter(|(known, _)| **known == id).collect()
    } else {
        // Of all templates only the latest and the default versions can be asked for.
        if wanted.is_empty() || wanted.iter().any(|version| version != "$Latest" && version != "$Default") {
            let message = "Either a launch template ID or a launch template name must be specified in the request.";
            return Err(Fault::new("MissingParameter", message));
        }
        templates.iter().collect()
    };
    let bound = |name: &str| match context.text(name) {
        Some(digits) => digits.parse::<u64>().map(Some).map_err(|_| invalid(format!("Invalid {name}: {digits}"))),
        None => Ok(None),
    };
    let (least, most) = (bound("MinVersion")?, bound("MaxVersion")?);
    let mut found = vec![];
    for (id, template) in chosen {
        if world.registered(context.region, id).is_some_and(|tagged| !world.shows(tagged.since)) {
            continue;
        }
        let mut numbers: Vec<u64> = vec![];
        for version in &wanted {
            let number = template.number(version).filter(|n| template.versions.contains_key(n));
            numbers.push(number.ok_or_else(|| no_such_version(id, version))?);
        }
        if wanted.is_empty() {
            numbers.extend(template.versions.keys().rev());
        }
        numbers.dedup();
        for number in numbers {
            let Some(version) = template.versions.get(&number) else { continue };
            let within = least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most);
            if within && keep(context, &Tags::new(), &|name| values(template, number, version, name))? {
                found.push(view(world, id, template, number, version));
            }
        }
    }
    let (found, next) = page(found, context.text("NextToken"), context.number("MaxResults"), "InvalidNextToken")?;
    Ok(json!({ "LaunchTemplateVersions": found, "NextToken": next }).into())
}

fn values(template: &Template, number: u64, version: &Version, name: &str) -> Option<Vec<String>> {
    let of = |path: &[&str]| text(&version.data, path).map(str::to_owned).into_iter().collect();
    Some(match name {
        "create-time" => vec![seconds(version.created).to_string()],
        "is-default-version" => vec![(number == template.default).to_string()],
        "image-id" => of(&["ImageId"]),
        "instance-type" => of(&["InstanceType"]),
        "iam-instance-profile" => of(&["IamInstanceProfile", "Name"]),
        "http-tokens" => of(&["MetadataOptions", "HttpTokens"]),
        "http-endpoint" => of(&["MetadataOptions", "HttpEndpoint"]),
        _ => return None,
    })
}
