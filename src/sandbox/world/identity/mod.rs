//! IAM and STS of the simulated account: roles, instance profiles, providers of web identities, policies and sessions. Must
//! never let a role go that something still leans on, nor let another service see a new one at once: IAM's copies lag.
//!
//! Other areas ask only what `fit` answers: who may act as a role, and with which instance profile a machine may start.

mod evaluate;
mod fit;
mod grammar;
mod permission;
mod profile;
mod provider;
mod published;
mod role;
mod service_role;
mod session;
mod simulate;
mod tagging;

pub use fit::Unfit;

use super::{Context, Handler, Output, Table, World, page};
use crate::{cloud::memory::Scenario, sandbox::wire::Fault, sandbox::world::Moment};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static TABLE: Table = &[
    ("iam", "CreateRole", role::create as Handler),
    ("iam", "GetRole", role::read),
    ("iam", "ListRoles", role::list),
    ("iam", "UpdateRole", role::update),
    ("iam", "UpdateAssumeRolePolicy", role::trust),
    ("iam", "DeleteRole", role::delete),
    ("iam", "PutRolePermissionsBoundary", permission::bound),
    ("iam", "DeleteRolePermissionsBoundary", permission::unbound),
    ("iam", "AttachRolePolicy", permission::attach),
    ("iam", "DetachRolePolicy", permission::detach),
    ("iam", "ListAttachedRolePolicies", permission::attached),
    ("iam", "PutRolePolicy", permission::put),
    ("iam", "DeleteRolePolicy", permission::remove),
    ("iam", "GetRolePolicy", permission::read),
    ("iam", "ListRolePolicies", permission::list),
    ("iam", "TagRole", tagging::tag_role),
    ("iam", "UntagRole", tagging::untag_role),
    ("iam", "ListRoleTags", tagging::tags_of_role),
    ("iam", "CreateInstanceProfile", profile::create),
    ("iam", "DeleteInstanceProfile", profile::delete),
    ("iam", "GetInstanceProfile", profile::read),
    ("iam", "ListInstanceProfiles", profile::list),
    ("iam", "ListInstanceProfilesForRole", profile::of_role),
    ("iam", "AddRoleToInstanceProfile", profile::add_role),
    ("iam", "RemoveRoleFromInstanceProfile", profile::remove_role),
    ("iam", "TagInstanceProfile", tagging::tag_profile),
    ("iam", "UntagInstanceProfile", tagging::untag_profile),
    ("iam", "CreateServiceLinkedRole", service_role::create),
    ("iam", "GetUser", session::user),
    ("iam", "GetPolicy", published::read),
    ("iam", "GetPolicyVersion", published::version),
    ("iam", "ListPolicyVersions", published::versions),
    ("iam", "SimulatePrincipalPolicy", simulate::principal),
    ("iam", "CreateOpenIDConnectProvider", provider::create),
    ("iam", "DeleteOpenIDConnectProvider", provider::delete),
    ("iam", "GetOpenIDConnectProvider", provider::read),
    ("iam", "ListOpenIDConnectProviders", provider::list),
    ("sts", "GetCallerIdentity", session::caller),
    ("sts", "AssumeRole", session::assume),
    ("sts", "AssumeRoleWithWebIdentity", session::assume_by_token),
];

/// The account's own; IAM has no regions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Identity {
    /// By name in lower case: IAM keeps names apart by letters only, not by case.
    roles: BTreeMap<String, role::Role>,
    profiles: BTreeMap<String, profile::Profile>,
    /// By ARN.
    providers: BTreeMap<String, provider::Provider>,
    /// By access key.
    sessions: BTreeMap<String, session::Session>,
    /// Names in lower case that are or were roles: such a one does not appear by itself.
    known: BTreeSet<String>,
}

impl Identity {
    /// An account whose caller is there already.
    pub(super) fn new(account: &str, scenario: &Scenario, now: Moment) -> Self {
        let mut new = Self::default();
        let principal = scenario.principal.replace("ACCOUNT", account);
        if let Some(caller) = role::Role::of_caller(&principal, account, now) {
            new.add_role(caller);
        }
        new
    }

    fn add_role(&mut self, role: role::Role) {
        let key = key(&role.name);
        self.known.insert(key.clone());
        self.roles.insert(key, role);
    }

    fn role(&self, name: &str) -> Result<&role::Role, Fault> {
        self.roles.get(&key(name)).ok_or_else(|| no_role(name))
    }

    fn profile(&self, name: &str) -> Result<&profile::Profile, Fault> {
        self.profiles.get(&key(name)).ok_or_else(|| no_profile(name))
    }

    fn profile_mut(&mut self, name: &str) -> Result<&mut profile::Profile, Fault> {
        self.profiles.get_mut(&key(name)).ok_or_else(|| no_profile(name))
    }

    /// A role that a call may change; those of AWS's services are changed by AWS only.
    fn role_mut(&mut self, name: &str) -> Result<&mut role::Role, Fault> {
        let role = self.roles.get_mut(&key(name)).ok_or_else(|| no_role(name))?;
        match role.path.starts_with(service_role::PATH) {
            true => Err(Fault::new(
                "UnmodifiableEntity",
                format!(
                    "Cannot perform the operation on the protected role '{}' - this role is only modifiable by AWS",
                    role.name
                ),
            )),
            false => Ok(role),
        }
    }
}

fn key(name: &str) -> String {
    name.to_ascii_lowercase()
}

fn no_role(name: &str) -> Fault {
    no_entity(format!("The role with name {name} cannot be found."))
}

fn no_profile(name: &str) -> Fault {
    no_entity(format!("Instance Profile {name} cannot be found."))
}

fn no_entity(message: impl Into<String>) -> Fault {
    Fault::new("NoSuchEntity", message).status(404)
}

fn exists(message: impl Into<String>) -> Fault {
    Fault::new("EntityAlreadyExists", message).status(409)
}

fn leaned_on(message: &str) -> Fault {
    Fault::new("DeleteConflict", message).status(409)
}

fn limit(quota: &str, most: usize) -> Fault {
    Fault::new("LimitExceeded", format!("Cannot exceed quota for {quota}: {most}")).status(409)
}

fn input(message: impl Into<String>) -> Fault {
    Fault::new("InvalidInput", message)
}

fn validation(message: impl Into<String>) -> Fault {
    Fault::new("ValidationError", message)
}

impl World {
    /// An id in IAM's way: `AROA` and 17 letters and digits.
    fn unique_id(&mut self, prefix: &str) -> String {
        format!("{prefix}{}", self.serial(17).to_ascii_uppercase())
    }
}

/// Items of a page where nobody says (IAM API reference, MaxItems).
const PAGE: i64 = 100;

/// One page of a list, under the output's name for it.
fn paged(context: &Context, member: &str, items: Vec<Value>) -> Result<Output, Fault> {
    let most = context.number("MaxItems").unwrap_or(PAGE);
    let (items, next) = page(items, context.text("Marker"), Some(most), "ValidationError")?;
    Ok(json!({ (member): items, "IsTruncated": next.is_some(), "Marker": next }).into())
}
