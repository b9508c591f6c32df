//! What other services ask of IAM: who may act as a role, and with which profile a machine may start. Must never let them see
//! what is newer than IAM's lag.

use super::{
    evaluate::{self, Keys, Request},
    key,
    profile::Profile,
    role::{LAG, Role, named, parts},
};
use crate::{
    model::{Effect, Policy, Tags},
    sandbox::{
        wire::Fault,
        world::{World, ec2::invalid},
    },
};
use serde_json::json;

/// Why a service can't act as a role. Each service has its own words for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// There is no such role, or it can't be seen yet.
    Missing,
    /// It does not trust the service.
    Distrusting,
}

impl World {
    /// Whether a service (`eks.amazonaws.com`) may take all of the actions (`sts:AssumeRole`) on a role. A role that nobody
    /// made appears fitting, where such things are brought along.
    pub fn assumable(&mut self, arn: &str, service: &str, actions: &[&str]) -> Result<(), Unfit> {
        let (_, name) = role_of(arn).ok_or(Unfit::Missing)?;
        if self.scenario.brought_appears && !self.identity.known.contains(&key(name)) {
            self.bring_role(arn, service, actions);
        }
        let role = self.identity.role(name).ok().filter(|role| role.arn == arn).ok_or(Unfit::Missing)?;
        let trust = role.trust_seen(self.now).ok_or(Unfit::Missing)?;
        match actions.iter().all(|action| trusts(trust, service, action)) {
            true => Ok(()),
            false => Err(Unfit::Distrusting),
        }
    }

    /// Whether one of AWS's managed policies (`AmazonEKSClusterPolicy`) hangs on a role.
    pub fn has_policy(&self, arn: &str, policy: &str) -> bool {
        let role = role_of(arn).and_then(|(_, name)| self.identity.role(name).ok());
        let suffix = format!(":iam::aws:policy/{policy}");
        role.is_some_and(|role| role.managed.iter().any(|arn| arn.ends_with(&suffix)))
    }

    fn bring_role(&mut self, arn: &str, service: &str, actions: &[&str]) {
        let Some((path, name)) = role_of(arn).filter(|_| arn.contains(&format!(":iam::{}:", self.account))) else {
            return;
        };
        let trust = json!({
            "Version": "2012-10-17",
            "Statement": [{ "Effect": "Allow", "Principal": { "Service": service }, "Action": actions }],
        });
        let id = self.unique_id("AROA");
        let long_ago = self.now.saturating_sub(LAG);
        let mut role = Role::new(name, path, arn.to_owned(), id, &trust.to_string(), long_ago);
        let partition = arn.split(':').nth(1).unwrap_or("aws");
        role.managed.insert(format!("arn:{partition}:iam::aws:policy/AdministratorAccess"));
        self.identity.add_role(role);
    }

    /// ARN of the profile that a launch names by name or ARN, as EC2 sees it.
    pub fn instance_profile(&self, name: Option<&str>, arn: Option<&str>) -> Result<String, Fault> {
        let (by, wanted) = match (name, arn) {
            (Some(name), _) => (("name", "name"), name),
            (None, arn) => (("arn", "ARN"), arn.unwrap_or_default()),
        };
        let is = |profile: &&Profile| profile.name == wanted || profile.arn == wanted;
        let found = self.identity.profiles.values().find(is).filter(|profile| self.now >= profile.created + LAG);
        let profile = found.ok_or_else(|| {
            let (parameter, word) = by;
            invalid(format!(
                "Value ({wanted}) for parameter iamInstanceProfile.{parameter} is invalid. Invalid IAM Instance Profile {word}"
            ))
        })?;
        match &profile.role {
            Some((_, since)) if self.now >= since + LAG => Ok(profile.arn.clone()),
            _ => Err(invalid(format!("IAM Instance Profile \"{}\" has no associated IAM Roles", profile.arn))),
        }
    }

    /// A profile that a service makes for a role, which it has waited for.
    pub fn make_instance_profile(&mut self, region: &str, name: &str, role_arn: &str) {
        let role = role_of(role_arn).map(|(_, name)| name.to_owned()).unwrap_or_default();
        let long_ago = self.now.saturating_sub(LAG);
        let profile = Profile {
            name: name.to_owned(),
            path: "/".to_owned(),
            arn: crate::model::iam_arn(region, &self.account, &format!("instance-profile/{name}")),
            id: self.unique_id("AIPA"),
            role: Some((role, long_ago)),
            tags: Tags::new(),
            created: long_ago,
        };
        self.identity.profiles.insert(key(name), profile);
    }

    /// Takes away a profile that a service made.
    pub fn drop_instance_profile(&mut self, name: &str) {
        self.identity.profiles.remove(&key(name));
    }
}

/// Path and name of a role, by its ARN.
fn role_of(arn: &str) -> Option<(&str, &str)> {
    named(parts(arn)?.1.strip_prefix("role")?)
}

/// Conditions are left out: what a service sends with its request is for the service to know.
fn trusts(trust: &str, service: &str, action: &str) -> bool {
    let Ok(document) = serde_json::from_str(trust) else { return false };
    let none = Keys::new();
    let request = Request { action, resource: "", keys: &none };
    Policy::parse(&document).statements().any(|statement| {
        let named = statement.principals.get("Service").is_some_and(|all| all.contains(service));
        named && statement.effect == Effect::Allow && evaluate::is_about(statement, &request)
    })
}
