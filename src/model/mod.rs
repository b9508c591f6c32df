//! The words that all rooms share. Must never know a resource kind, a cloud or a file format.

mod address;
mod arn;
mod hash;
mod link;
mod policy;
mod tags;

pub use address::Address;
pub use arn::{IMAGINED_ACCOUNT, arn, aws_policy, iam_arn, imagined_arn, imagined_region, partition};
pub use hash::hash;
pub use link::{Doc, Link, LinkRef, LinkTo, as_link, each_link, identifiers, links, meets, resolve};
pub use policy::{Conditions, Effect, Policy, Statement};
pub use tags::{EXPIRES, Identity, NEVER, REGION, RESOURCE, RUN, STACK, Scope, Stamp, Tags, anchor_only, reserved};

/// What AWS calls the object: an id, a name or an ARN, whichever its API takes for reading and deleting.
pub type PhysicalId = String;

/// Values that a live object offers to whoever links to it, by output name (`id`, `arn`, …).
pub type Outputs = std::collections::BTreeMap<String, String>;
