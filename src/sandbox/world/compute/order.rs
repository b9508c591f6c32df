//! What a launch asks for: its request laid over its template. Must never decide whether it can be had.

use super::{
    items,
    template_version::{TAGGED_AT_LAUNCH, judge_user_data, laid_over},
    text,
};
use crate::{
    model::Tags,
    sandbox::{
        wire::Fault,
        world::{World, tags::specifications},
    },
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A request by the members of RunInstances, with what its template adds.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub data: Value,
    /// By the kind of thing.
    pub tags: BTreeMap<String, Tags>,
}

impl Order {
    /// `subnet` is where a fleet or a scaling group puts the machine: into the interfaces, if the template lists them.
    pub fn read(world: &World, region: &str, request: &Value, subnet: Option<&str>) -> Result<Self, Fault> {
        let mut data = request.clone();
        let mut tags = specifications(items(request, "TagSpecifications"), TAGGED_AT_LAUNCH)?;
        if let Some(named) = request.get("LaunchTemplate").filter(|named| named.is_object()) {
            let of = |name: &str| text(named, &[name]);
            let template = world.machines(region).template_version(
                of("LaunchTemplateId"),
                of("LaunchTemplateName"),
                of("Version"),
            )?;
            let theirs = specifications(items(&template.data, "TagSpecifications"), TAGGED_AT_LAUNCH)?;
            for (kind, theirs) in theirs {
                let all = tags.entry(kind).or_default();
                theirs.into_iter().for_each(|(key, value)| {
                    all.entry(key).or_insert(value);
                });
            }
            data = laid_over(&template.data, request);
            // A request's subnet takes the place of the template's interfaces only where it lists its own.
            let instance = tags.entry("instance".to_owned()).or_default();
            instance.insert("aws:ec2launchtemplate:id".to_owned(), template.id);
            instance.insert("aws:ec2launchtemplate:version".to_owned(), template.number.to_string());
        }
        if let Some(subnet) = subnet {
            seat_in(&mut data, subnet);
        }
        if let Some(user_data) = text(&data, &["UserData"]) {
            judge_user_data(user_data)?;
        }
        Ok(Self { data, tags })
    }

    pub fn text(&self, path: &[&str]) -> Option<&str> {
        text(&self.data, path)
    }
}

fn seat_in(data: &mut Value, subnet: &str) {
    match data.get_mut("NetworkInterfaces").and_then(Value::as_array_mut).filter(|interfaces| !interfaces.is_empty()) {
        Some(interfaces) => interfaces.iter_mut().for_each(|interface| interface["SubnetId"] = json!(subnet)),
        None => data["SubnetId"] = json!(subnet),
    }
}
