//! The log group of a control plane. Must never outlive the stack: EKS neither sets its retention nor deletes it.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Outputs, PhysicalId, STACK, Stamp, Tags, imagined_arn},
};
use serde::{Deserialize, Serialize};

/// What PutRetentionPolicy takes, in days.
const RETENTIONS: &[u32] =
    &[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653];

pub struct LogGroup;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    pub name: String,
    /// Days; `None` keeps logs for ever.
    pub retention: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Observed {
    pub name: String,
    /// Without the `:*` that some answers end with.
    pub arn: String,
    pub retention: Option<u32>,
    pub tags: Tags,
}

impl Kind for LogGroup {
    const NAME: &'static str = "log-group";
    const AWS_NAME: &'static str = "logs:log-group";
    const LAYER: Layer = Layer::Cluster;
    const OWNERSHIP: Ownership = Ownership::ByName;
    const PATIENCE: Patience = Patience::INSTANT;
    // The control plane writes until its end and makes the group again when it is missing.
    const DELETED_AFTER: &'static [&'static str] = &["cluster"];
    const FIELDS: &'static [Field] = &[Field::immutable("/name"), Field::in_place("/retention")];

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
        Desired { name: live.name.clone(), retention: live.retention }
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
    /// A control plane that logs, or logged once more after its group was deleted, has made it, without a tag of ours.
    fn made_by_aws(live: &Observed) -> bool {
        live.name.starts_with("/aws/eks/") && live.name.ends_with("/cluster") && !live.tags.contains_key(STACK)
    }
    fn headline(want: &Desired) -> String {
        match want.retention {
            Some(days) => format!("kept {days} days"),
            None => "kept for ever".to_owned(),
        }
    }
    fn check(want: &Desired) -> Vec<String> {
        want.retention
            .filter(|days| !RETENTIONS.contains(days))
            .map(|days| format!("CloudWatch Logs keeps {RETENTIONS:?} days, not {days}"))
            .into_iter()
            .collect()
    }
    fn samples() -> Vec<Desired> {
        let group = |retention| Desired { name: "/aws/eks/llama-70b/cluster".into(), retention };
        vec![group(Some(30)), group(None)]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, _phase: Phase) -> Observed {
        Observed {
            name: id.to_owned(),
            arn: imagined_arn(stamp, "logs", &format!("log-group:{id}")),
            retention: want.retention,
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(want: &Desired, _serial: &str) -> PhysicalId {
        want.name.clone()
    }
}
