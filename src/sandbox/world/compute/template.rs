//! Launch templates. Must never look into what a version's data means: launches and EKS judge it.

use super::{Region, seconds, template_version::judge};
use crate::sandbox::{
    wire::Fault,
    world::{
        Context, Moment, Output, World,
        ec2::{Listing, describe, find, find_mut, missing, tagged},
        tags::specified,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Template {
    pub name: String,
    pub created: Moment,
    pub default: u64,
    /// The highest number ever given: a deleted one never comes back.
    pub latest: u64,
    pub versions: BTreeMap<u64, Version>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Version {
    pub description: Option<String>,
    pub created: Moment,
    /// By the members of EC2's LaunchTemplateData.
    pub data: Value,
}

/// One version of a template, found.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateVersion {
    pub id: String,
    pub name: String,
    pub number: u64,
    pub data: Value,
}

pub(super) fn no_such_name(name: &str) -> Fault {
    let message = format!("The specified launch template, with template name {name}, does not exist.");
    Fault::new("InvalidLaunchTemplateName.NotFoundException", message)
}

pub(super) fn no_such_version(id: &str, version: &str) -> Fault {
    let message = format!("Could not find the specified version {version} for the launch template with ID {id}.");
    Fault::new("InvalidLaunchTemplateId.VersionNotFound", message)
}

impl Template {
    /// The number that `$Latest`, `$Default` or digits name, whether there or not.
    pub fn number(&self, version: &str) -> Option<u64> {
        match version {
            "$Latest" => Some(self.latest),
            "$Default" => Some(self.default),
            digits => digits.parse().ok(),
        }
    }
}

impl Region {
    /// Id of the template that a call names by id or by name.
    pub(super) fn template_id(&self, id: Option<&str>, name: Option<&str>) -> Result<String, Fault> {
        match (id, name) {
            (Some(_), Some(_)) => {
                let message = "Only one of launch template ID and launch template name may be specified.";
                Err(Fault::new("InvalidParameterCombination", message))
            }
            (Some(id), None) => find(&self.templates, id).map(|_| id.to_owned()),
            (None, Some(name)) => {
                let found = self.templates.iter().find(|(_, template)| template.name == name);
                found.map(|(id, _)| id.clone()).ok_or_else(|| no_such_name(name))
            }
            (None, None) => {
                let message = "Either a launch template ID or a launch template name must be specified in the request.";
                Err(Fault::new("MissingParameter", message))
            }
        }
    }

    /// The version that a specification names: its id or name, and a number, `$Latest` or `$Default`, which is default.
    pub fn template_version(
        &self,
        id: Option<&str>,
        name: Option<&str>,
        version: Option<&str>,
    ) -> Result<TemplateVersion, Fault> {
        let id = self.template_id(id, name)?;
        let template = find(&self.templates, &id)?;
        let version = version.unwrap_or("$Default");
        let found = template.number(version).and_then(|n| Some((n, template.versions.get(&n)?)));
        let (number, found) = found.ok_or_else(|| no_such_version(&id, version))?;
        Ok(TemplateVersion { name: template.name.clone(), number, data: found.data.clone(), id })
    }
}

impl World {
    /// Makes a template as a service makes one for itself.
    pub(in crate::sandbox::world) fn make_template(
        &mut self,
        region: &str,
        name: &str,
        data: Value,
        tags: crate::model::Tags,
    ) -> String {
        let id = self.id("lt");
        let version = Version { description: None, created: self.now, data };
        let template = Template {
            name: name.to_owned(),
            created: self.now,
            default: 1,
            latest: 1,
            versions: BTreeMap::from([(1, version)]),
        };
        self.machines_mut(region).templates.insert(id.clone(), template);
        self.register(region, "launch-template", &id, tags);
        id
    }

    /// Adds a version to a service's own template; its number.
    pub(in crate::sandbox::world) fn make_template_version(
        &mut self,
        region: &str,
        id: &str,
        data: Value,
    ) -> Option<u64> {
        let version = Version { description: None, created: self.now, data };
        let template = self.machines_mut(region).templates.get_mut(id)?;
        template.latest += 1;
        template.default = template.latest;
        template.versions.insert(template.latest, version);
        Some(template.latest)
    }

    pub(in crate::sandbox::world) fn drop_template(&mut self, region: &str, id: &str) {
        self.machines_mut(region).templates.remove(id);
        self.unregister(region, id);
    }
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let tags = specified(context, "launch-template")?;
    world.once(context, "ClientToken", "IdempotentParameterMismatch", |world| {
        let (name, region) = (context.required("LaunchTemplateName")?, context.region);
        let data = context.input.get("LaunchTemplateData").cloned().unwrap_or(Value::Null);
        judge(&data)?;
        if world.machines(region).templates.values().any(|template| template.name == name) {
            let message = "Launch template name already in use.";
            return Err(Fault::new("InvalidLaunchTemplateName.AlreadyExistsException", message));
        }
        let id = world.make_template(region, name, data, tags);
        let template = find_mut(&mut world.machines_mut(region).templates, &id)?;
        if let Some(version) = template.versions.get_mut(&1) {
            version.description = context.text("VersionDescription").map(str::to_owned);
        }
        Ok(json!({ "LaunchTemplate": shown(world, region, &id)? }))
    })
}

pub(super) fn modify(world: &mut World, context: &Context) -> Result<Output, Fault> {
    world.once(context, "ClientToken", "IdempotentParameterMismatch", |world| {
        let region = context.region;
        let id = named(world, context)?;
        let template = find_mut(&mut world.machines_mut(region).templates, &id)?;
        if let Some(version) = context.text("DefaultVersion") {
            let number = template.number(version).filter(|n| template.versions.contains_key(n));
            template.default = number.ok_or_else(|| no_such_version(&id, version))?;
        }
        Ok(json!({ "LaunchTemplate": shown(world, region, &id)? }))
    })
}

pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = named(world, context)?;
    let view = shown(world, context.region, &id)?;
    world.drop_template(context.region, &id);
    Ok(json!({ "LaunchTemplate": view }).into())
}

/// Id of the template that a call is about.
pub(super) fn named(world: &World, context: &Context) -> Result<String, Fault> {
    let machines = world.machines(context.region);
    machines.template_id(context.text("LaunchTemplateId"), context.text("LaunchTemplateName"))
}

fn shown(world: &World, region: &str, id: &str) -> Result<Value, Fault> {
    let template = find(&world.machines(region).templates, id)?;
    Ok(tagged(world, region, id, view(world, id, template)))
}

fn view(world: &World, id: &str, template: &Template) -> Value {
    json!({
        "LaunchTemplateId": id,
        "LaunchTemplateName": template.name,
        "CreateTime": seconds(template.created),
        "CreatedBy": world.creator(),
        "DefaultVersionNumber": template.default,
        "LatestVersionNumber": template.latest,
    })
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let world = &*world;
    let mut all = world.machines(context.region).templates.clone();
    let names = context.texts("LaunchTemplateNames");
    if let Some(name) = names.iter().find(|name| all.values().all(|template| template.name != **name)) {
        return Err(no_such_name(name));
    }
    if let Some(id) = context.texts("LaunchTemplateIds").iter().find(|id| !all.contains_key(*id)) {
        return Err(missing(id));
    }
    all.retain(|_, template| names.is_empty() || names.contains(&template.name));
    let listing = Listing {
        ids: "LaunchTemplateIds",
        prefix: "lt",
        member: "LaunchTemplates",
        values: &|_, template: &Template, name| {
            Some(vec![match name {
                "launch-template-name" => template.name.clone(),
                "create-time" => seconds(template.created).to_string(),
                _ => return None,
            }])
        },
        view: &|id, template| view(world, id, template),
    };
    describe(world, context, &all, listing)
}
