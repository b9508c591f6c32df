//! An IAM role with all that hangs on it: trust, attached and inline policies, boundary. Must never know who assumes it for what.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Doc, Outputs, PhysicalId, Policy, Stamp, Statement, Tags, iam_arn, imagined_region},
    model::{IMAGINED_ACCOUNT, aws_policy},
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// IAM: characters of the inline policies of a role together, white space left out.
pub const INLINE_LIMIT: usize = 10_240;
/// IAM: characters of a trust policy, unless the account's quota is raised.
pub const TRUST_LIMIT: usize = 2_048;
/// IAM: managed policies on a role, unless the account's quota is raised.
pub const MANAGED_LIMIT: usize = 10;

pub struct Role;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    pub name: String,
    /// With both slashes.
    pub path: String,
    pub description: String,
    pub trust: Policy,
    /// ARNs.
    pub managed: BTreeSet<String>,
    pub inline: BTreeMap<String, Policy>,
    /// ARN of the permissions boundary.
    pub boundary: Option<String>,
    /// Seconds.
    pub max_session: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Observed {
    pub name: String,
    pub path: String,
    pub arn: String,
    /// `AROA…`: another one when a role is made again under the same name, which breaks access entries silently.
    pub unique_id: String,
    pub description: Option<String>,
    /// Documents as IAM gives them, URL-decoded.
    pub trust: Doc,
    pub inline: BTreeMap<String, Doc>,
    pub managed: Vec<String>,
    pub boundary: Option<String>,
    pub max_session: u32,
    pub tags: Tags,
}

/// Trust of a service that assumes the role by itself: `eks.amazonaws.com`, `ec2.amazonaws.com`.
pub fn trust_service(service: &str) -> Policy {
    Policy::of([Statement::allow("").service(service).actions(&["sts:AssumeRole"])])
}

/// Trust of EKS Pod Identity, which tags the session with cluster, namespace and service account.
pub fn trust_pods() -> Policy {
    Policy::of([Statement::allow("").service("pods.eks.amazonaws.com").actions(&["sts:AssumeRole", "sts:TagSession"])])
}

impl Kind for Role {
    const NAME: &'static str = "role";
    const AWS_NAME: &'static str = "iam:role";
    const LAYER: Layer = Layer::Identity;
    // GetResources returns no roles: they are listed by their path, whose last parts are the stack's.
    const OWNERSHIP: Ownership = Ownership::ByName;
    const PATIENCE: Patience = Patience::INSTANT;
    // Controllers clean up with it until their association goes, and that waits for the nodes.
    const DELETED_AFTER: &'static [&'static str] = &["pod-identity"];
    const FIELDS: &'static [Field] = &[
        Field::immutable("/name"),
        // IAM has no call that moves a role.
        Field::immutable("/path"),
        Field::in_place("/description"),
        Field::in_place("/trust").set(),
        Field::in_place("/managed").set(),
        Field::in_place("/inline"),
        Field::in_place("/boundary"),
        Field::in_place("/maxSession"),
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
        Desired {
            name: live.name.clone(),
            path: live.path.clone(),
            description: live.description.clone().unwrap_or_default(),
            trust: Policy::parse(&live.trust),
            managed: live.managed.iter().cloned().collect(),
            inline: live.inline.iter().map(|(name, policy)| (name.clone(), Policy::parse(policy))).collect(),
            boundary: live.boundary.clone(),
            max_session: live.max_session,
        }
    }
    fn ready(_live: &Observed) -> Readiness {
        // It is there; that a service may assume it is seen some seconds later, by whoever is refused (`NotYet`).
        Readiness::Ready
    }
    fn wished_name(want: &Desired) -> Option<String> {
        Some(want.name.clone())
    }
    fn live_name(live: &Observed) -> Option<String> {
        Some(live.name.clone())
    }
    fn headline(want: &Desired) -> String {
        if want.description.is_empty() { want.name.clone() } else { want.description.clone() }
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = vec![];
        let inline: usize = want.inline.values().map(Policy::size).sum();
        if inline > INLINE_LIMIT {
            broken.push(format!("inline policies take {inline} characters, IAM allows {INLINE_LIMIT}"));
        }
        if want.trust.size() > TRUST_LIMIT {
            broken.push(format!("the trust policy takes {} characters, IAM allows {TRUST_LIMIT}", want.trust.size()));
        }
        if want.managed.len() > MANAGED_LIMIT {
            broken.push(format!("{} managed policies, IAM allows {MANAGED_LIMIT}", want.managed.len()));
        }
        if want.name.is_empty() || want.name.len() > 64 {
            broken.push(format!("a role's name has 1–64 characters, `{}` has {}", want.name, want.name.len()));
        }
        if !(want.path.starts_with('/') && want.path.ends_with('/') && want.path.len() <= 512) {
            broken.push(format!(
                "an IAM path starts and ends with a slash and has at most 512 characters: `{}`",
                want.path
            ));
        }
        if !(3_600..=43_200).contains(&want.max_session) {
            broken.push(format!("a session lasts 3600–43200 s, not {}", want.max_session));
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        let read = Statement::allow("Read").actions(&["s3:GetObject"]).on(["arn:aws:s3:::weights/llama/*"]).when(
            "StringEquals",
            "aws:RequestedRegion",
            ["us-west-2"],
        );
        vec![
            Desired {
                name: "llama-70b-us-west-2-weights".into(),
                path: "/platform/infer-stack/us-west-2/llama-70b/".into(),
                description: "reads the weights".into(),
                trust: trust_pods(),
                managed: [aws_policy("us-west-2", "AmazonSSMManagedInstanceCore")].into(),
                inline: [("weights".to_owned(), Policy::of([read]))].into(),
                boundary: Some("arn:aws:iam::123456789012:policy/boundary".into()),
                max_session: 3_600,
            },
            Desired {
                name: "llama-70b-us-west-2-cluster".into(),
                path: "/infer-stack/us-west-2/llama-70b/".into(),
                description: String::new(),
                trust: trust_service("eks.amazonaws.com"),
                managed: BTreeSet::new(),
                inline: BTreeMap::new(),
                boundary: None,
                max_session: 3_600,
            },
        ]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, _phase: Phase) -> Observed {
        Observed {
            name: id.to_owned(),
            path: want.path.clone(),
            arn: iam_arn(imagined_region(stamp), IMAGINED_ACCOUNT, &format!("role{}{id}", want.path)),
            unique_id: format!("AROA{}", stamp.token.to_ascii_uppercase().replace('-', "")),
            description: Some(want.description.clone()).filter(|text| !text.is_empty()),
            trust: want.trust.document(),
            inline: want.inline.iter().map(|(name, policy)| (name.clone(), policy.document())).collect(),
            managed: want.managed.iter().cloned().collect(),
            boundary: want.boundary.clone(),
            max_session: want.max_session,
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(want: &Desired, _serial: &str) -> PhysicalId {
        want.name.clone()
    }
}
