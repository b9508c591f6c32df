//! Which role the pods of a service account take: an EKS Pod Identity association. Must never say what that role may do.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags, imagined_arn},
};
use serde::{Deserialize, Serialize};

pub struct PodIdentity;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    /// Name of the cluster.
    pub cluster: Link,
    pub namespace: String,
    pub service_account: String,
    /// ARN.
    pub role: Link,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Observed {
    pub cluster: String,
    /// `a-…`
    pub association: String,
    pub arn: String,
    pub namespace: String,
    pub service_account: String,
    pub role_arn: String,
    pub tags: Tags,
}

impl Kind for PodIdentity {
    const NAME: &'static str = "pod-identity";
    const AWS_NAME: &'static str = "eks:pod-identity-association";
    const LAYER: Layer = Layer::Cluster;
    const OWNERSHIP: Ownership = Ownership::ByName;
    const PATIENCE: Patience = Patience::INSTANT;
    // Controllers clean up behind the nodes with it.
    const DELETED_AFTER: &'static [&'static str] = &["node-group"];
    const FIELDS: &'static [Field] = &[
        Field::immutable("/cluster"),
        Field::immutable("/namespace"),
        Field::immutable("/serviceAccount"),
        // Not immutable: unlike an access entry it names the ARN only, and so works with a role made again.
        Field::in_place("/role"),
    ];

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        format!("{}/{}", live.cluster, live.association)
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
            namespace: live.namespace.clone(),
            service_account: live.service_account.clone(),
            role: Link::is(&live.role_arn),
        }
    }
    fn ready(_live: &Observed) -> Readiness {
        Readiness::Ready
    }
    /// A cluster has one association a service account.
    fn wished_name(want: &Desired) -> Option<String> {
        Some(format!("{}/{}", want.namespace, want.service_account))
    }
    fn live_name(live: &Observed) -> Option<String> {
        Some(format!("{}/{}", live.namespace, live.service_account))
    }
    fn headline(want: &Desired) -> String {
        format!("{}/{} takes {}", want.namespace, want.service_account, want.role)
    }
    fn samples() -> Vec<Desired> {
        vec![Desired {
            cluster: Link::to(&Address::new("cluster", "main"), "name"),
            namespace: "kube-system".into(),
            service_account: "karpenter".into(),
            role: Link::to(&Address::new("role", "karpenter"), "arn"),
        }]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, _phase: Phase) -> Observed {
        let association = id.rsplit('/').next().unwrap_or(id).to_owned();
        let cluster = want.cluster.value().unwrap_or_default().to_owned();
        Observed {
            arn: imagined_arn(stamp, "eks", &format!("podidentityassociation/{cluster}/{association}")),
            cluster,
            association,
            namespace: want.namespace.clone(),
            service_account: want.service_account.clone(),
            role_arn: want.role.value().unwrap_or_default().to_owned(),
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(want: &Desired, serial: &str) -> PhysicalId {
        format!("{}/a-{serial}", want.cluster.value().unwrap_or_default())
    }
}
