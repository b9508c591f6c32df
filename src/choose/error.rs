//! Why no choice can be made. Must never stand for something that a check of preflight can say of a complete plan.

use crate::contract::CloudError;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChooseError {
    /// Exit 8: the account has the answer, but it could not be read.
    #[error("could not look at {what}, and nothing can be chosen without it")]
    CouldNotLook {
        what: String,
        #[source]
        source: Box<CloudError>,
    },
    /// Nobody asked: a fault of the caller.
    #[error("{0} was not asked for, and nothing can be chosen without it")]
    NotAsked(String),
    #[error("subnet {0} of the file does not exist in {1}")]
    NoSuchSubnet(String, String),
    #[error("zones of {0} are not known: name them with `network.zones`")]
    NoZones(String),
    #[error("the control plane needs subnets in two zones that EKS takes; of the zones {have} it takes {takes}")]
    TooFewZones { have: String, takes: String },
    #[error("node class {class} is in {zone}, where the network has no subnet: it is in {zones}")]
    OutsideNetwork { class: String, zone: String, zones: String },
    #[error(
        "the file says Kubernetes {wanted}, the live cluster has {live}: a version can't go down; write `version: \"{live}\"`"
    )]
    VersionDown { live: String, wanted: String },
    #[error(
        "the file says Kubernetes {wanted}, the live cluster has {live}: a version goes up one minor at a time; write `version: \"{next}\"` first"
    )]
    VersionSkips { live: String, wanted: String, next: String },
    #[error("`{0}` is not a Kubernetes version: it is written like 1.35")]
    NoVersion(String),
    #[error("node class {class} mixes instance types that need different AMIs: {types}")]
    MixedAmi { class: String, types: String },
    #[error("EKS has no {family} AMI for {instance_type} of node class {class}")]
    NoAmi { class: String, instance_type: String, family: String },
    #[error("EKS has no add-on {addon} for Kubernetes {version}")]
    NoAddon { addon: String, version: String },
    #[error("`{0}` is not a time: it is written like 2026-12-04T15:00:00Z")]
    NoTime(String),
}

impl ChooseError {
    pub(super) fn could_not_look(what: impl Into<String>, error: &CloudError) -> Self {
        Self::CouldNotLook { what: what.into(), source: Box::new(error.clone()) }
    }
}
