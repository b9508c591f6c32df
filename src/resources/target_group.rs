//! A target group that a controller in the cluster makes beside a load balancer. Must never be wished for.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags},
};
use serde::{Deserialize, Serialize};

pub struct TargetGroup;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    pub name: String,
    pub vpc: Link,
    pub protocol: String,
    pub port: u16,
    /// `instance`, `ip`, `lambda`, `alb`
    pub target_type: String,
}

/// ELBv2 DescribeTargetGroups, with DescribeTags.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observed {
    pub target_group_arn: String,
    pub target_group_name: String,
    pub vpc_id: String,
    pub protocol: String,
    pub port: u16,
    pub target_type: String,
    /// Balancers whose listeners send here: DeleteTargetGroup is refused (ResourceInUse) while there are any. They lean on this
    /// group, so they are no links of it.
    pub load_balancer_arns: Vec<String>,
    pub tags: Tags,
}

impl Kind for TargetGroup {
    const NAME: &'static str = "target-group";
    const AWS_NAME: &'static str = "elasticloadbalancing:targetgroup";
    const LAYER: Layer = Layer::Network;
    const OWNERSHIP: Ownership = Ownership::Byproduct;
    const FIELDS: &'static [Field] = &[
        // ModifyTargetGroup changes health checks, nothing else.
        Field::immutable("/name"),
        Field::immutable("/vpc"),
        Field::immutable("/protocol"),
        Field::immutable("/port"),
        Field::immutable("/targetType"),
    ];
    const PATIENCE: Patience = Patience::INSTANT;
    const DELETED_AFTER: &'static [&'static str] = &["load-balancer"];

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.target_group_arn.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        Outputs::from([
            ("id".to_owned(), live.target_group_arn.clone()),
            ("arn".to_owned(), live.target_group_arn.clone()),
            ("name".to_owned(), live.target_group_name.clone()),
        ])
    }
    fn project(live: &Observed) -> Desired {
        Desired {
            name: live.target_group_name.clone(),
            vpc: Link::is(&live.vpc_id),
            protocol: live.protocol.clone(),
            port: live.port,
            target_type: live.target_type.clone(),
        }
    }
    fn ready(_: &Observed) -> Readiness {
        Readiness::Ready
    }
    fn wished_name(want: &Desired) -> Option<String> {
        Some(want.name.clone())
    }
    fn live_name(live: &Observed) -> Option<String> {
        Some(live.target_group_name.clone())
    }
    fn headline(want: &Desired) -> String {
        format!("{} {}, targets by {}", want.protocol, want.port, want.target_type)
    }
    fn samples() -> Vec<Desired> {
        vec![Desired {
            name: "k8s-serving-vllm-5f6a7b8c9d".to_owned(),
            vpc: Link::to(&Address::new("vpc", "main"), "id"),
            protocol: "HTTP".to_owned(),
            port: 8000,
            target_type: "ip".to_owned(),
        }]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, _: Phase) -> Observed {
        Observed {
            target_group_arn: id.to_owned(),
            target_group_name: want.name.clone(),
            vpc_id: want.vpc.target().to_owned(),
            protocol: want.protocol.clone(),
            port: want.port,
            target_type: want.target_type.clone(),
            load_balancer_arns: vec![],
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(want: &Desired, serial: &str) -> PhysicalId {
        let name = &want.name;
        format!("arn:aws:elasticloadbalancing:us-west-2:123456789012:targetgroup/{name}/{serial}")
    }
}
