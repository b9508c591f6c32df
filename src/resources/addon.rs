//! An add-on that EKS runs in the cluster. Must never be one that EKS does not know: charts are another matter.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Doc, Link, Outputs, PhysicalId, Stamp, Tags, imagined_arn},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Addresses that vpc-cni keeps free on a node beside those in use. Without the two it keeps a whole interface warm: about 50
/// addresses on a p5.
pub const WARM_IP_TARGET: u32 = 2;
/// Addresses that vpc-cni takes on a node at least.
pub const MINIMUM_IP_TARGET: u32 = 10;

pub struct Addon;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Conflicts {
    Overwrite,
    None,
    Preserve,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    /// Name of the cluster.
    pub cluster: Link,
    pub name: String,
    /// `None`: EKS's default for the cluster's version, where none is known yet.
    pub version: Option<String>,
    /// `configurationValues`, as a document.
    pub configuration: Option<Doc>,
    /// What EKS does at creation with settings that something else made.
    pub resolve_conflicts: Conflicts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    Creating,
    Active,
    CreateFailed,
    Updating,
    Deleting,
    DeleteFailed,
    Degraded,
    UpdateFailed,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Observed {
    pub cluster: String,
    pub name: String,
    pub arn: String,
    pub status: Status,
    pub version: Option<String>,
    /// JSON or YAML, as it was given.
    pub configuration: Option<String>,
    /// `code: message` of each issue.
    pub issues: Vec<String>,
    pub tags: Tags,
}

impl Kind for Addon {
    const NAME: &'static str = "addon";
    const AWS_NAME: &'static str = "eks:addon";
    const LAYER: Layer = Layer::Cluster;
    const OWNERSHIP: Ownership = Ownership::ByName;
    // EKS itself gives up on an add-on whose pods don't start after about twenty minutes.
    const PATIENCE: Patience = Patience::new(5, 1_500, 1_500);
    // Nodes that still run need their network, names and credentials until they are gone.
    const DELETED_AFTER: &'static [&'static str] = &["node-group"];
    const FIELDS: &'static [Field] = &[
        Field::immutable("/cluster"),
        Field::immutable("/name"),
        Field::in_place("/version"),
        Field::in_place("/configuration"),
        // Sent, never read back.
        Field::create_only("/resolveConflicts"),
    ];

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        format!("{}/{}", live.cluster, live.name)
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        [("id", Self::id(live)), ("name", live.name.clone()), ("arn", live.arn.clone())]
            .map(|(k, v)| (k.to_owned(), v))
            .into()
    }
    fn project(live: &Observed) -> Desired {
        Desired {
            cluster: Link::is(&live.cluster),
            name: live.name.clone(),
            version: live.version.clone(),
            // A text that is not JSON was not written by us: it stays a text, and so a difference.
            configuration: live
                .configuration
                .as_ref()
                .filter(|text| !text.trim().is_empty())
                .map(|text| serde_json::from_str(text).unwrap_or_else(|_| json!(text))),
            resolve_conflicts: Conflicts::Overwrite,
        }
    }
    fn ready(live: &Observed) -> Readiness {
        let issues = live.issues.iter().map(|issue| format!("; {issue}")).collect::<String>();
        match live.status {
            Status::Active => Readiness::Ready,
            Status::Creating => Readiness::Pending(format!("CREATING{issues}")),
            Status::Updating => Readiness::Pending(format!("UPDATING{issues}")),
            Status::Deleting => Readiness::Pending(format!("DELETING{issues}")),
            // Passes by itself when a node comes that can run its pods.
            Status::Degraded => Readiness::Pending(format!("DEGRADED{issues}")),
            Status::CreateFailed => Readiness::Broken(format!("CREATE_FAILED{issues}")),
            Status::UpdateFailed => Readiness::Broken(format!("UPDATE_FAILED{issues}")),
            Status::DeleteFailed => Readiness::Broken(format!("DELETE_FAILED{issues}")),
        }
    }
    fn going(live: &Observed) -> bool {
        live.status == Status::Deleting
    }
    fn wished_name(want: &Desired) -> Option<String> {
        Some(want.name.clone())
    }
    fn live_name(live: &Observed) -> Option<String> {
        Some(live.name.clone())
    }
    fn headline(want: &Desired) -> String {
        want.version.clone().unwrap_or_else(|| "EKS's default version".to_owned())
    }
    fn samples() -> Vec<Desired> {
        let cluster = Link::to(&Address::new("cluster", "main"), "name");
        vec![
            Desired {
                cluster: cluster.clone(),
                name: "vpc-cni".into(),
                version: Some("v1.20.4-eksbuild.1".into()),
                configuration: Some(json!({"env": {"WARM_IP_TARGET": "2"}})),
                resolve_conflicts: Conflicts::Overwrite,
            },
            Desired {
                cluster,
                name: "kube-proxy".into(),
                version: None,
                configuration: None,
                resolve_conflicts: Conflicts::Overwrite,
            },
        ]
    }
    fn imagine(want: &Desired, _id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        let cluster = want.cluster.value().unwrap_or_default().to_owned();
        Observed {
            arn: imagined_arn(stamp, "eks", &format!("addon/{cluster}/{}/{}", want.name, stamp.token)),
            cluster,
            name: want.name.clone(),
            status: match phase {
                Phase::Coming => Status::Creating,
                Phase::There => Status::Active,
                Phase::Changing => Status::Updating,
                Phase::Going => Status::Deleting,
            },
            version: want.version.clone(),
            configuration: want.configuration.as_ref().map(Doc::to_string),
            issues: vec![],
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(want: &Desired, _serial: &str) -> PhysicalId {
        format!("{}/{}", want.cluster.value().unwrap_or_default(), want.name)
    }
}
