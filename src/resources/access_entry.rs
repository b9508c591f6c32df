//! Who may enter the cluster: an EKS access entry with its policies. Must never outlive the role that it names: the entry of a
//! role that was made again under the same ARN looks right and does not work.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, STACK, Stamp, Tags, imagined_arn, partition},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

pub struct AccessEntry;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EntryType {
    /// People, pipelines: what they may do is said by policies.
    Standard,
    /// Nodes.
    Ec2Linux,
    /// Types that EKS or others make and that we never wish for.
    #[serde(other)]
    Other,
}

/// A policy of EKS on the entry, for the whole cluster or for namespaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Association {
    /// ARN.
    pub policy: String,
    /// Empty: the whole cluster.
    pub namespaces: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    /// Name of the cluster.
    pub cluster: Link,
    /// ARN of a user, or of a role **with its path**.
    pub principal: Link,
    pub r#type: EntryType,
    /// Kubernetes groups beyond those that EKS gives the type.
    pub groups: BTreeSet<String>,
    pub policies: BTreeSet<Association>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Observed {
    pub cluster: String,
    pub principal: String,
    pub arn: String,
    pub r#type: EntryType,
    pub groups: Vec<String>,
    pub policies: Vec<Association>,
    pub tags: Tags,
}

/// An access policy that EKS publishes: `AmazonEKSClusterAdminPolicy`.
pub fn eks_policy(region: &str, name: &str) -> String {
    format!("arn:{}:eks::aws:cluster-access-policy/{name}", partition(region))
}

impl Kind for AccessEntry {
    const NAME: &'static str = "access-entry";
    const AWS_NAME: &'static str = "eks:access-entry";
    const LAYER: Layer = Layer::Cluster;
    const OWNERSHIP: Ownership = Ownership::ByName;
    const PATIENCE: Patience = Patience::INSTANT;
    // A node whose entry goes is NotReady at once and can't be drained.
    const DELETED_AFTER: &'static [&'static str] = &["node-group"];
    const FIELDS: &'static [Field] = &[
        Field::immutable("/cluster"),
        // The key of an entry. Immutable, so that it goes before its role and is made again with it.
        Field::immutable("/principal"),
        Field::immutable("/type"),
        Field::in_place("/groups").set(),
        // Calls of their own (AssociateAccessPolicy): the create call takes none.
        Field::in_place("/policies").set(),
    ];

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        format!("{}/{}", live.cluster, live.principal)
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        [("id", Self::id(live)), ("arn", live.arn.clone())].map(|(k, v)| (k.to_owned(), v)).into()
    }
    fn project(live: &Observed) -> Desired {
        Desired {
            cluster: Link::is(&live.cluster),
            principal: Link::is(&live.principal),
            r#type: live.r#type,
            // `system:nodes` and the like are EKS's own.
            groups: live.groups.iter().filter(|group| !group.starts_with("system:")).cloned().collect(),
            policies: live.policies.iter().cloned().collect(),
        }
    }
    fn ready(_live: &Observed) -> Readiness {
        Readiness::Ready
    }
    fn wished_name(want: &Desired) -> Option<String> {
        want.principal.value().map(str::to_owned)
    }
    fn live_name(live: &Observed) -> Option<String> {
        Some(live.principal.clone())
    }
    /// EKS makes the entry of a node role with the first managed node group.
    fn made_by_aws(live: &Observed) -> bool {
        live.r#type == EntryType::Ec2Linux && !live.tags.contains_key(STACK)
    }
    fn headline(want: &Desired) -> String {
        let policies: Vec<&str> =
            want.policies.iter().map(|a| a.policy.rsplit('/').next().unwrap_or(&a.policy)).collect();
        match want.r#type {
            EntryType::Ec2Linux => format!("nodes of {}", want.principal),
            _ => format!("{} as {}", want.principal, policies.join(", ")),
        }
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = vec![];
        if want.r#type != EntryType::Standard && !(want.policies.is_empty() && want.groups.is_empty()) {
            broken.push("EKS takes policies and groups for entries of type STANDARD only".to_owned());
        }
        if want.principal.value().is_some_and(|arn| arn.contains(":assumed-role/")) {
            broken.push(format!("an entry takes the ARN of the role, not of its session: {}", want.principal));
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        let cluster = Link::to(&Address::new("cluster", "main"), "name");
        vec![
            Desired {
                cluster: cluster.clone(),
                principal: Link::is("arn:aws:iam::123456789012:role/platform/ci"),
                r#type: EntryType::Standard,
                groups: ["viewers".to_owned()].into(),
                policies: [Association {
                    policy: eks_policy("us-west-2", "AmazonEKSEditPolicy"),
                    namespaces: ["serving".to_owned()].into(),
                }]
                .into(),
            },
            Desired {
                cluster,
                principal: Link::to(&Address::new("role", "node"), "arn"),
                r#type: EntryType::Ec2Linux,
                groups: BTreeSet::new(),
                policies: BTreeSet::new(),
            },
        ]
    }
    fn imagine(want: &Desired, _id: &str, stamp: &Stamp, _phase: Phase) -> Observed {
        let cluster = want.cluster.value().unwrap_or_default().to_owned();
        let principal = want.principal.value().unwrap_or_default().to_owned();
        let own = (want.r#type == EntryType::Ec2Linux).then(|| "system:nodes".to_owned());
        Observed {
            arn: imagined_arn(stamp, "eks", &format!("access-entry/{cluster}/{}", stamp.token)),
            cluster,
            principal,
            r#type: want.r#type,
            groups: want.groups.iter().cloned().chain(own).collect(),
            policies: want.policies.iter().cloned().collect(),
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(want: &Desired, _serial: &str) -> PhysicalId {
        let (cluster, principal) = (want.cluster.value(), want.principal.value());
        format!("{}/{}", cluster.unwrap_or_default(), principal.unwrap_or_default())
    }
}
