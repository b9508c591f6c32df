//! A load balancer that a controller in the cluster makes for an Ingress, a Gateway or a Service. Must never be wished for: it
//! is deleted through Kubernetes while its controller lives, and here only when that is no longer so.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags},
};
use serde::{Deserialize, Serialize};

/// The load balancer controller tags what it makes with the cluster's name.
pub const CLUSTER_TAG: &str = "elbv2.k8s.aws/cluster";

pub struct LoadBalancer;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    pub name: String,
    /// `application`, `network`, `gateway`
    pub balancer_type: String,
    /// `internal`, `internet-facing`
    pub scheme: String,
    pub vpc: Link,
    pub subnets: Vec<Link>,
    pub groups: Vec<Link>,
}

/// ELBv2 DescribeLoadBalancers, with DescribeTags.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observed {
    pub load_balancer_arn: String,
    pub load_balancer_name: String,
    pub load_balancer_type: String,
    pub scheme: String,
    pub dns_name: String,
    pub vpc_id: String,
    pub subnet_ids: Vec<String>,
    pub security_groups: Vec<String>,
    /// `provisioning`, `active`, `active_impaired`, `failed`
    pub state: String,
    pub reason: Option<String>,
    pub tags: Tags,
}

impl Kind for LoadBalancer {
    const NAME: &'static str = "load-balancer";
    const AWS_NAME: &'static str = "elasticloadbalancing:loadbalancer";
    const LAYER: Layer = Layer::Network;
    const OWNERSHIP: Ownership = Ownership::Byproduct;
    const FIELDS: &'static [Field] = &[
        Field::immutable("/name"),
        Field::immutable("/balancerType"),
        Field::immutable("/scheme"),
        Field::immutable("/vpc"),
        // SetSubnets and SetSecurityGroups; its interfaces keep both from being deleted.
        Field::in_place("/subnets").set().holds(),
        Field::in_place("/groups").set().holds(),
    ];
    const PATIENCE: Patience = Patience::new(10, 600, 900);

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.load_balancer_arn.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        Outputs::from([
            ("id".to_owned(), live.load_balancer_arn.clone()),
            ("arn".to_owned(), live.load_balancer_arn.clone()),
            ("name".to_owned(), live.load_balancer_name.clone()),
            ("dns".to_owned(), live.dns_name.clone()),
        ])
    }
    fn project(live: &Observed) -> Desired {
        Desired {
            name: live.load_balancer_name.clone(),
            balancer_type: live.load_balancer_type.clone(),
            scheme: live.scheme.clone(),
            vpc: Link::is(&live.vpc_id),
            subnets: live.subnet_ids.iter().map(Link::is).collect(),
            groups: live.security_groups.iter().map(Link::is).collect(),
        }
    }
    fn ready(live: &Observed) -> Readiness {
        let news = match &live.reason {
            Some(reason) => format!("{}: {reason}", live.state),
            None => live.state.clone(),
        };
        match live.state.as_str() {
            // Impaired: it serves, but could not scale as it should.
            "active" | "active_impaired" => Readiness::Ready,
            "failed" => Readiness::Broken(news),
            _ => Readiness::Pending(news),
        }
    }
    fn wished_name(want: &Desired) -> Option<String> {
        Some(want.name.clone())
    }
    fn live_name(live: &Observed) -> Option<String> {
        Some(live.load_balancer_name.clone())
    }
    fn headline(want: &Desired) -> String {
        format!("{} {}, {}", want.scheme, want.balancer_type, want.name)
    }
    fn samples() -> Vec<Desired> {
        let to = |kind: &str, name: &str| Link::to(&Address::new(kind, name), "id");
        vec![Desired {
            name: "k8s-serving-vllm-0a1b2c3d4e".to_owned(),
            balancer_type: "application".to_owned(),
            scheme: "internal".to_owned(),
            vpc: to("vpc", "main"),
            subnets: vec![to("subnet", "private-usw2-az1"), to("subnet", "private-usw2-az2")],
            groups: vec![Link::to(&Address::new("cluster", "main"), "security-group")],
        }]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        let ids = |links: &[Link]| links.iter().map(|link| link.target().to_owned()).collect();
        let internal = if want.scheme == "internal" { "internal-" } else { "" };
        Observed {
            load_balancer_arn: id.to_owned(),
            load_balancer_name: want.name.clone(),
            load_balancer_type: want.balancer_type.clone(),
            scheme: want.scheme.clone(),
            dns_name: format!("{internal}{}-123456789.us-west-2.elb.amazonaws.com", want.name),
            vpc_id: want.vpc.target().to_owned(),
            subnet_ids: ids(&want.subnets),
            security_groups: ids(&want.groups),
            state: if phase == Phase::Coming { "provisioning" } else { "active" }.to_owned(),
            reason: None,
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(want: &Desired, serial: &str) -> PhysicalId {
        let short = match want.balancer_type.as_str() {
            "network" => "net",
            "gateway" => "gwy",
            _ => "app",
        };
        let name = &want.name;
        format!("arn:aws:elasticloadbalancing:us-west-2:123456789012:loadbalancer/{short}/{name}/{serial}")
    }
}

#[cfg(feature = "aws")]
mod live {
    use super::{CLUSTER_TAG, Desired, LoadBalancer, Observed};
    use crate::{
        aws::{
            Aws,
            answers::{byproduct, deleted, field, found},
            elbv2::tags_of,
            failed,
        },
        contract::{CloudError, Kind, Live},
        model::{PhysicalId, STACK, Scope, Stamp, Tags},
    };
    use aws_sdk_elasticloadbalancingv2::types;

    const DESCRIBE: &str = "elbv2:DescribeLoadBalancers";

    fn observe(balancer: types::LoadBalancer) -> Result<Observed, CloudError> {
        let (state, reason) = balancer.state.map(|state| (state.code, state.reason)).unwrap_or_default();
        let zones = balancer.availability_zones.into_iter().flatten();
        Ok(Observed {
            load_balancer_arn: field(DESCRIBE, "LoadBalancerArn", balancer.load_balancer_arn)?,
            load_balancer_name: field(DESCRIBE, "LoadBalancerName", balancer.load_balancer_name)?,
            load_balancer_type: field(DESCRIBE, "Type", balancer.r#type)?.as_str().to_owned(),
            // Gateway balancers have neither scheme nor name of their own.
            scheme: balancer.scheme.map(|scheme| scheme.as_str().to_owned()).unwrap_or_default(),
            dns_name: balancer.dns_name.unwrap_or_default(),
            vpc_id: field(DESCRIBE, "VpcId", balancer.vpc_id)?,
            subnet_ids: zones.filter_map(|zone| zone.subnet_id).collect(),
            security_groups: balancer.security_groups.unwrap_or_default(),
            state: field(DESCRIBE, "State", state)?.as_str().to_owned(),
            reason,
            tags: Tags::new(),
        })
    }

    async fn tagged(aws: &Aws, mut found: Vec<Observed>) -> Result<Vec<Observed>, CloudError> {
        let arns = found.iter().map(|live| live.load_balancer_arn.clone()).collect();
        let mut tags = tags_of(aws, arns).await?;
        // What has no entry is gone by now.
        found.retain_mut(|live| match tags.remove(&live.load_balancer_arn) {
            Some(its) => {
                live.tags = its;
                true
            }
            None => false,
        });
        Ok(found)
    }

    impl Live<Aws> for LoadBalancer {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            let pages = aws.load_balancing().describe_load_balancers().into_paginator().items().send();
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
            let request = aws.load_balancing().describe_load_balancers().load_balancer_arns(id);
            let answer = found(request.send().await.map_err(failed(DESCRIBE)))?;
            let Some(balancer) = answer.and_then(|answer| answer.load_balancers?.pop()) else { return Ok(None) };
            Ok(tagged(aws, vec![observe(balancer)?]).await?.pop())
        }

        async fn create(_: &Aws, _: &Desired, _: &Stamp) -> Result<PhysicalId, CloudError> {
            byproduct(Self::NAME)
        }

        async fn update(_: &Aws, _: &str, _: &Desired, _: &[String], _: &Stamp) -> Result<(), CloudError> {
            byproduct(Self::NAME)
        }

        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            let request = aws.load_balancing().delete_load_balancer().load_balancer_arn(id);
            deleted(request.send().await.map_err(failed("elbv2:DeleteLoadBalancer")))
        }
    }
}
