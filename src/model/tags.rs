//! Whose an object is: the stack's identity, its tags, and the stamp a create call carries. Must never read a clock.

use crate::model::Address;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub type Tags = BTreeMap<String, String>;

/// Name of the stack that owns the object.
pub const STACK: &str = "infer-stack/stack";
/// Region of that stack: IAM and S3 are global, so a name alone would be ambiguous.
pub const REGION: &str = "infer-stack/region";
/// The object's address in the stack.
pub const RESOURCE: &str = "infer-stack/resource";
/// Id of the run that last touched the stack; on its anchors only, and never diffed.
pub const RUN: &str = "infer-stack/run";
/// RFC 3339 time, or [`NEVER`]; on the stack's anchors only.
pub const EXPIRES: &str = "infer-stack/expires";
/// Value of [`EXPIRES`] for a stack that does not expire.
pub const NEVER: &str = "never";

/// True for the tags that only anchors (the VPC where ours, the cluster) carry: in a launch template or a node class a
/// changed value would roll every node.
pub fn anchor_only(key: &str) -> bool {
    key == RUN || key == EXPIRES
}

/// True for keys that a stack file may not set: ours, AWS's and EKS's.
pub fn reserved(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["infer-stack/", "aws:", "eks:"].iter().any(|prefix| key.starts_with(prefix))
}

/// A stack is an account, a region and a name; there is no other identity, and no state file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub account: String,
    pub region: String,
    pub stack: String,
}

impl Identity {
    /// True when tags say that the object is this stack's.
    pub fn owns(&self, tags: &Tags) -> bool {
        tags.get(STACK) == Some(&self.stack) && tags.get(REGION) == Some(&self.region)
    }
}

/// Where `list` looks: everything that carries the stack's tags, plus, once they are known, what sits in the stack's
/// VPC or belongs to its cluster, so that a lost tag is drift and not a second object.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scope {
    pub identity: Identity,
    /// Name of the stack's cluster, the same as the stack's.
    pub cluster: String,
    /// Id of the live VPC, where one is known and ours.
    pub vpc: Option<String>,
    /// Names the file gives to things of ours that carry names (`kind` to names), so that one without our tag is
    /// found and refused or adopted instead of colliding at creation.
    pub names: BTreeMap<String, Vec<String>>,
}

/// What a create call carries besides its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stamp {
    pub address: Address,
    /// Tags of the object, [`anchor_only`] ones excepted in a create call.
    pub tags: Tags,
    /// Idempotency token: at most 63 characters of `[a-z0-9-]`, so that FSx takes it too.
    pub token: String,
}
