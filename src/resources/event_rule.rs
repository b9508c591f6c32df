//! An EventBridge rule of the default bus with its targets. Must never act by itself: it only passes events on.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Doc, Link, Outputs, PhysicalId, Stamp, Tags, imagined_arn},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub struct EventRule;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Target {
    /// Unique in the rule.
    pub id: String,
    /// ARN.
    pub to: Link,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    pub name: String,
    pub description: String,
    pub pattern: Doc,
    pub enabled: bool,
    pub targets: Vec<Target>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Observed {
    pub name: String,
    pub arn: String,
    pub description: Option<String>,
    /// JSON text.
    pub pattern: String,
    pub enabled: bool,
    /// Target id and ARN.
    pub targets: Vec<(String, String)>,
    pub tags: Tags,
}

impl Kind for EventRule {
    const NAME: &'static str = "event-rule";
    const AWS_NAME: &'static str = "events:rule";
    const LAYER: Layer = Layer::Cluster;
    const OWNERSHIP: Ownership = Ownership::ByName;
    const PATIENCE: Patience = Patience::INSTANT;
    const FIELDS: &'static [Field] = &[
        Field::immutable("/name"),
        Field::in_place("/description"),
        Field::in_place("/pattern"),
        Field::in_place("/enabled"),
        // Calls of their own (PutTargets, RemoveTargets); a rule with targets can't be deleted, so its deletion removes them.
        Field::in_place("/targets").set(),
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
            description: live.description.clone().unwrap_or_default(),
            pattern: serde_json::from_str(&live.pattern).unwrap_or_else(|_| json!(live.pattern)),
            enabled: live.enabled,
            targets: live.targets.iter().map(|(id, arn)| Target { id: id.clone(), to: Link::is(arn) }).collect(),
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
        if want.description.is_empty() { want.name.clone() } else { want.description.clone() }
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = vec![];
        if want.name.is_empty() || want.name.len() > 64 {
            broken.push(format!("a rule's name has 1–64 characters, `{}` has {}", want.name, want.name.len()));
        }
        if want.targets.len() > 5 {
            broken.push(format!("{} targets, EventBridge allows 5 a rule", want.targets.len()));
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        let pattern = json!({"source": ["aws.ec2"], "detail-type": ["EC2 Spot Instance Interruption Warning"]});
        let queue = Link::to(&Address::new("queue", "interruption"), "arn");
        vec![
            Desired {
                name: "llama-70b-spot-interruption".into(),
                description: "Spot interruptions to Karpenter's queue".into(),
                pattern: pattern.clone(),
                enabled: true,
                targets: vec![Target { id: "interruption".into(), to: queue }],
            },
            Desired { name: "r".into(), description: String::new(), pattern, enabled: false, targets: vec![] },
        ]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, _phase: Phase) -> Observed {
        Observed {
            name: id.to_owned(),
            arn: imagined_arn(stamp, "events", &format!("rule/{id}")),
            description: Some(want.description.clone()).filter(|text| !text.is_empty()),
            pattern: want.pattern.to_string(),
            enabled: want.enabled,
            targets: want
                .targets
                .iter()
                .filter_map(|target| Some((target.id.clone(), target.to.value()?.to_owned())))
                .collect(),
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(want: &Desired, _serial: &str) -> PhysicalId {
        want.name.clone()
    }
}
