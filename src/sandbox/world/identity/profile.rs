//! Instance profiles. Must never hold more than one role, nor go while they hold one.

use super::{exists, key, leaned_on, limit, no_entity, no_profile, paged, role, tagging};
use crate::{
    model::{Tags, iam_arn},
    sandbox::{
        wire::Fault,
        world::{Context, Moment, Output, World},
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Profiles of an account, unless the quota is raised (IAM user guide, quotas).
const MOST: usize = 1_000;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Profile {
    pub name: String,
    pub path: String,
    pub arn: String,
    /// `AIPA…`
    pub id: String,
    /// Name of its role, and when it came.
    pub role: Option<(String, Moment)>,
    pub tags: Tags,
    pub created: Moment,
}

impl Profile {
    pub(super) fn holds(&self, role: &str) -> bool {
        self.role.as_ref().is_some_and(|(its, _)| key(its) == key(role))
    }
}

fn view(world: &World, profile: &Profile) -> Value {
    let role = profile.role.as_ref().and_then(|(name, _)| world.identity.role(name).ok());
    json!({
        "Path": profile.path,
        "InstanceProfileName": profile.name,
        "InstanceProfileId": profile.id,
        "Arn": profile.arn,
        "CreateDate": profile.created as f64 / 1000.0,
        "Roles": role.iter().map(|role| role.view()).collect::<Vec<_>>(),
    })
}

/// With what lists leave out.
fn whole(world: &World, profile: &Profile) -> Value {
    let mut view = view(world, profile);
    view["Tags"] = tagging::listed(&profile.tags);
    view
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (name, path) = (context.required("InstanceProfileName")?, context.text("Path").unwrap_or("/"));
    let tags = tagging::given(context)?;
    role::path_fits(path)?;
    if world.identity.profiles.contains_key(&key(name)) {
        return Err(exists(format!("Instance Profile {name} already exists.")));
    }
    if world.identity.profiles.len() >= MOST {
        return Err(limit("InstanceProfilesPerAccount", MOST));
    }
    let profile = Profile {
        name: name.to_owned(),
        path: path.to_owned(),
        arn: iam_arn(context.region, &world.account, &format!("instance-profile{path}{name}")),
        id: world.unique_id("AIPA"),
        role: None,
        tags,
        created: world.now,
    };
    let view = whole(world, &profile);
    world.identity.profiles.insert(key(name), profile);
    Ok(json!({ "InstanceProfile": view }).into())
}

pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let name = context.required("InstanceProfileName")?;
    if world.identity.profile(name)?.role.is_some() {
        return Err(leaned_on("Cannot delete entity, must remove roles from instance profile first."));
    }
    world.identity.profiles.remove(&key(name));
    Ok(Output::default())
}

pub(super) fn read(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let name = context.required("InstanceProfileName")?;
    let profile = world.identity.profile(name)?;
    if !world.shows(profile.created) {
        return Err(no_profile(name));
    }
    Ok(json!({ "InstanceProfile": whole(world, profile) }).into())
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let prefix = context.text("PathPrefix").unwrap_or("/");
    let profiles = world.identity.profiles.values();
    let shown = profiles.filter(|profile| profile.path.starts_with(prefix) && world.shows(profile.created));
    paged(context, "InstanceProfiles", shown.map(|profile| view(world, profile)).collect())
}

pub(super) fn of_role(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let name = context.required("RoleName")?;
    world.identity.role(name)?;
    let profiles = world.identity.profiles.values();
    let with = profiles.filter(|profile| profile.holds(name) && world.shows(profile.created));
    paged(context, "InstanceProfiles", with.map(|profile| view(world, profile)).collect())
}

pub(super) fn add_role(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (name, role) = (context.required("InstanceProfileName")?, context.required("RoleName")?);
    let now = world.now;
    world.identity.profile(name)?;
    let role = world.identity.role_mut(role)?.name.clone();
    let profile = world.identity.profile_mut(name)?;
    if profile.role.is_some() {
        return Err(limit("InstanceSessionsPerInstanceProfile", 1));
    }
    profile.role = Some((role, now));
    Ok(Output::default())
}

pub(super) fn remove_role(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (name, role) = (context.required("InstanceProfileName")?, context.required("RoleName")?);
    world.identity.profile(name)?;
    world.identity.role(role)?;
    let profile = world.identity.profile_mut(name)?;
    if !profile.holds(role) {
        return Err(no_entity(format!("The role with name {role} cannot be found in the instance profile {name}.")));
    }
    profile.role = None;
    Ok(Output::default())
}
