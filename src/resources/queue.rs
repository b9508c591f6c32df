//! The queue that tells Karpenter of interruptions. Must never carry anything that is worth keeping.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{
        Doc, IMAGINED_ACCOUNT, Outputs, PhysicalId, Policy, Stamp, Statement, Tags, imagined_arn, imagined_region,
    },
};
use serde::{Deserialize, Serialize};

pub struct Queue;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    pub name: String,
    /// Seconds that a message is kept.
    pub retention: u32,
    /// `SqsManagedSseEnabled`
    pub encrypted: bool,
    pub policy: Policy,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Observed {
    pub url: String,
    pub arn: String,
    pub name: String,
    pub retention: u32,
    pub encrypted: bool,
    pub policy: Option<Doc>,
    pub tags: Tags,
}

impl Kind for Queue {
    const NAME: &'static str = "queue";
    const AWS_NAME: &'static str = "sqs:queue";
    const LAYER: Layer = Layer::Cluster;
    const OWNERSHIP: Ownership = Ownership::ByName;
    // SQS refuses a name for 60 s after a queue of that name was deleted, and shows a new one some seconds late.
    const PATIENCE: Patience = Patience::new(2, 120, 180);
    const FIELDS: &'static [Field] = &[
        Field::immutable("/name"),
        Field::in_place("/retention"),
        Field::in_place("/encrypted"),
        Field::in_place("/policy").set(),
    ];

    type Desired = Desired;
    type Observed = Observed;

    // The calls take the URL, which GetQueueUrl gives for the name.
    fn id(live: &Observed) -> PhysicalId {
        live.name.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        [("id", &live.name), ("name", &live.name), ("arn", &live.arn), ("url", &live.url)]
            .map(|(k, v)| (k.to_owned(), v.clone()))
            .into()
    }
    fn project(live: &Observed) -> Desired {
        Desired {
            name: live.name.clone(),
            retention: live.retention,
            encrypted: live.encrypted,
            policy: live.policy.as_ref().map(Policy::parse).unwrap_or_default(),
        }
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
        format!("messages kept {} s", want.retention)
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = vec![];
        if want.name.is_empty() || want.name.len() > 80 {
            broken.push(format!("a queue's name has 1–80 characters, `{}` has {}", want.name, want.name.len()));
        }
        if !(60..=1_209_600).contains(&want.retention) {
            broken.push(format!("SQS keeps messages 60–1209600 s, not {}", want.retention));
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        let arn = "arn:aws:sqs:us-west-2:123456789012:llama-70b-interruption";
        vec![Desired {
            name: "llama-70b-interruption".into(),
            retention: 300,
            encrypted: true,
            policy: Policy::of([
                Statement::allow("Events").service("events.amazonaws.com").actions(&["sqs:SendMessage"]).on([arn]),
                Statement::deny("Tls").principal("*", "*").actions(&["sqs:*"]).on([arn]).when(
                    "Bool",
                    "aws:SecureTransport",
                    ["false"],
                ),
            ]),
        }]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, _phase: Phase) -> Observed {
        let region = imagined_region(stamp);
        Observed {
            url: format!("https://sqs.{region}.amazonaws.com/{IMAGINED_ACCOUNT}/{id}"),
            arn: imagined_arn(stamp, "sqs", &want.name),
            name: want.name.clone(),
            retention: want.retention,
            encrypted: want.encrypted,
            policy: Some(want.policy.document()),
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(want: &Desired, _serial: &str) -> PhysicalId {
        want.name.clone()
    }
}
