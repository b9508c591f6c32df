//! An IAM instance profile: how EC2 hands a role to an instance. Must never be made where EKS or Karpenter makes its own.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{IMAGINED_ACCOUNT, Link, Outputs, PhysicalId, Stamp, Tags, iam_arn, imagined_region},
};
use serde::{Deserialize, Serialize};

pub struct InstanceProfile;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    pub name: String,
    pub path: String,
    /// Name of the role, the only one a profile holds; `None` right after its creation, which takes no role.
    pub role: Option<Link>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Observed {
    pub name: String,
    pub path: String,
    pub arn: String,
    pub role: Option<String>,
    pub tags: Tags,
}

impl Kind for InstanceProfile {
    const NAME: &'static str = "instance-profile";
    const AWS_NAME: &'static str = "iam:instance-profile";
    const LAYER: Layer = Layer::Identity;
    const OWNERSHIP: Ownership = Ownership::ByName;
    const PATIENCE: Patience = Patience::INSTANT;
    // Karpenter's instances act with it to their end, and they are gone before the cluster.
    const DELETED_AFTER: &'static [&'static str] = &["cluster"];
    const FIELDS: &'static [Field] = &[
        Field::immutable("/name"),
        Field::immutable("/path"),
        // A role that is still in a profile can't be deleted (DeleteConflict).
        Field::in_place("/role").holds(),
    ];

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.name.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        [("id", &live.name), ("name", &live.name), ("arn", &live.arn)].map(|(k, v)| (k.to_owned(), v.clone())).into()
    }
    fn project(live: &Observed) -> Desired {
        Desired { name: live.name.clone(), path: live.path.clone(), role: live.role.as_ref().map(Link::is) }
    }
    fn ready(_live: &Observed) -> Readiness {
        Readiness::Ready
    }
    fn wished_name(want: &Desired) -> Option<String> {
        Some(want.name.clone())
    }
    fn live_name(live: &Observed) -> Option<String> {
        Some(live.name.clone())
    }
    fn headline(want: &Desired) -> String {
        want.role.as_ref().map_or_else(|| "no role".to_owned(), |role| format!("role {role}"))
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = vec![];
        if want.name.is_empty() || want.name.len() > 128 {
            broken.push(format!("a profile's name has 1–128 characters, `{}` has {}", want.name, want.name.len()));
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        let role = crate::model::Address::new("role", "node");
        let profile = |role| Desired {
            name: "llama-70b-us-west-2-node".into(),
            path: "/infer-stack/us-west-2/llama-70b/".into(),
            role,
        };
        vec![profile(Some(Link::to(&role, "name"))), profile(None)]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, _phase: Phase) -> Observed {
        Observed {
            name: id.to_owned(),
            path: want.path.clone(),
            arn: iam_arn(imagined_region(stamp), IMAGINED_ACCOUNT, &format!("instance-profile{}{id}", want.path)),
            role: want.role.as_ref().and_then(Link::value).map(str::to_owned),
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(want: &Desired, _serial: &str) -> PhysicalId {
        want.name.clone()
    }
}
