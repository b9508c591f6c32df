//! Managed policies: those that AWS publishes, and those of the account that stack files bring along. Must never be changed.

use super::{input, no_entity, paged, role::encoded};
use crate::sandbox::{
    wire::Fault,
    world::{Context, Output, World},
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{collections::BTreeMap, io::Read, sync::LazyLock};

/// A policy of AWS's, as `scripts/extract-policies.py` wrote it.
#[derive(Debug, Deserialize)]
pub(super) struct Published {
    path: String,
    version: String,
    /// Kept of what clusters, nodes and operators use.
    document: Option<Value>,
}

static PUBLISHED: LazyLock<BTreeMap<String, Published>> = LazyLock::new(|| {
    let packed = include_bytes!("../../models/policies.json.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed.as_slice())
        .read_to_string(&mut text)
        .expect("the policies are compiled in, and a test unpacks them");
    serde_json::from_str(&text).expect("the policies are compiled in, and a test reads them")
});

/// A managed policy that is there.
pub(super) struct Managed<'a> {
    path: &'a str,
    name: &'a str,
    version: &'a str,
    /// `None`: it is known to exist only.
    pub document: Option<Value>,
}

/// Path and name in the ARN of a policy.
pub(super) fn path_and_name(arn: &str) -> Option<(&str, &str)> {
    let (_, resource) = super::role::parts(arn)?;
    super::role::named(resource.strip_prefix("policy")?)
}

impl World {
    /// The policy of an ARN. One of the account's own is brought along, where such things appear, and lets everything through:
    /// no call makes any.
    pub(super) fn managed_policy<'a>(&self, arn: &'a str) -> Option<Managed<'a>> {
        let (path, name) = path_and_name(arn)?;
        if arn.contains(":iam::aws:") {
            let published = PUBLISHED.get(name).filter(|published| published.path == path)?;
            return Some(Managed { path, name, version: &published.version, document: published.document.clone() });
        }
        let own = arn.contains(&format!(":iam::{}:", self.account)) && self.scenario.brought_appears;
        let all =
            json!({ "Version": "2012-10-17", "Statement": [{ "Effect": "Allow", "Action": "*", "Resource": "*" }] });
        own.then_some(Managed { path, name, version: "v1", document: Some(all) })
    }

    fn policy<'a>(&self, arn: &'a str) -> Result<Managed<'a>, Fault> {
        if path_and_name(arn).is_none() {
            return Err(input(format!("ARN {arn} is not valid.")));
        }
        self.managed_policy(arn).ok_or_else(|| no_entity(format!("Policy {arn} was not found.")))
    }
}

pub(super) fn read(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let arn = context.required("PolicyArn")?;
    let policy = world.policy(arn)?;
    let roles = world.identity.roles.values();
    let (held, bound) = (
        roles.clone().filter(|role| role.managed.contains(arn)).count(),
        roles.filter(|role| role.boundary.as_deref() == Some(arn)).count(),
    );
    Ok(json!({ "Policy": {
        "PolicyName": policy.name,
        "PolicyId": format!("ANPA{}", crate::model::hash(arn, 17).to_ascii_uppercase()),
        "Arn": arn,
        "Path": policy.path,
        "DefaultVersionId": policy.version,
        "AttachmentCount": held,
        "PermissionsBoundaryUsageCount": bound,
        "IsAttachable": true,
    } })
    .into())
}

pub(super) fn version(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (arn, version) = (context.required("PolicyArn")?, context.required("VersionId")?);
    let policy = world.policy(arn)?;
    if policy.version != version {
        return Err(no_entity(format!("Policy {arn} version {version} does not exist or is not attachable.")));
    }
    // Nothing that AWS says fits what is not known here; an outage is at least no lie about the policy.
    let unknown =
        || Fault::new("ServiceFailure", format!("The sandbox does not hold the document of {arn}.")).status(500);
    let document = policy.document.ok_or_else(unknown)?;
    Ok(json!({ "PolicyVersion": {
        "VersionId": version,
        "IsDefaultVersion": true,
        "Document": encoded(&document.to_string()),
    } })
    .into())
}

pub(super) fn versions(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let policy = world.policy(context.required("PolicyArn")?)?;
    let view = json!({ "VersionId": policy.version, "IsDefaultVersion": true });
    paged(context, "Versions", vec![view])
}
