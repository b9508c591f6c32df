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

#[cfg(feature = "aws")]
mod live {
    use super::{Desired, Observed, TargetGroup};
    use crate::{
        aws::{
            Aws,
            answers::{byproduct, deleted, field, found},
            elbv2::tags_of,
            failed,
        },
        contract::{CloudError, Kind, Live},
        model::{PhysicalId, STACK, Scope, Stamp, Tags},
        resources::load_balancer::CLUSTER_TAG,
    };
    use aws_sdk_elasticloadbalancingv2::types;

    const DESCRIBE: &str = "elbv2:DescribeTargetGroups";

    fn observe(group: types::TargetGroup) -> Result<Observed, CloudError> {
        Ok(Observed {
            target_group_arn: field(DESCRIBE, "TargetGroupArn", group.target_group_arn)?,
            target_group_name: field(DESCRIBE, "TargetGroupName", group.target_group_name)?,
            // Those of functions stand in no VPC and listen on no port.
            vpc_id: group.vpc_id.unwrap_or_default(),
            protocol: group.protocol.map(|protocol| protocol.as_str().to_owned()).unwrap_or_default(),
            port: group.port.and_then(|port| u16::try_from(port).ok()).unwrap_or_default(),
            target_type: field(DESCRIBE, "TargetType", group.target_type)?.as_str().to_owned(),
            load_balancer_arns: group.load_balancer_arns.unwrap_or_default(),
            tags: Tags::new(),
        })
    }

    async fn tagged(aws: &Aws, mut found: Vec<Observed>) -> Result<Vec<Observed>, CloudError> {
        let arns = found.iter().map(|live| live.target_group_arn.clone()).collect();
        let mut tags = tags_of(aws, arns).await?;
        // What has no entry is gone by now.
        found.retain_mut(|live| match tags.remove(&live.target_group_arn) {
            Some(its) => {
                live.tags = its;
                true
            }
            None => false,
        });
        Ok(found)
    }

    impl Live<Aws> for TargetGroup {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            let pages = aws.load_balancing().describe_target_groups().into_paginator().items().send();
            let all = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(DESCRIBE))?;
            // The service has no filters: what the tags do not tell is told by the VPC.
            let all = tagged(aws, all.into_iter().map(observe).collect::<Result<_, _>>()?).await?;
            let ours = |live: &Observed| {
                live.tags.get(STACK) == Some(&scope.identity.stack)
                    || live.tags.get(CLUSTER_TAG) == Some(&scope.cluster)
                    || scope.vpc.as_ref() == Some(&live.vpc_id)
            };
            Ok(all.into_iter().filter(ours).collect())
        }

        async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
            let request = aws.load_balancing().describe_target_groups().target_group_arns(id);
            let answer = found(request.send().await.map_err(failed(DESCRIBE)))?;
            let Some(group) = answer.and_then(|answer| answer.target_groups?.pop()) else { return Ok(None) };
            Ok(tagged(aws, vec![observe(group)?]).await?.pop())
        }

        async fn create(_: &Aws, _: &Desired, _: &Stamp) -> Result<PhysicalId, CloudError> {
            byproduct(Self::NAME)
        }

        async fn update(_: &Aws, _: &str, _: &Desired, _: &[String], _: &Stamp) -> Result<(), CloudError> {
            byproduct(Self::NAME)
        }

        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            let request = aws.load_balancing().delete_target_group().target_group_arn(id);
            deleted(request.send().await.map_err(failed("elbv2:DeleteTargetGroup")))
        }
    }
}
