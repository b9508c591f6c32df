//! A subnet: one zone's share of the network. Must never hand out public addresses by itself.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags},
    resources::vpc::{block, block_of},
};
use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};

/// Value `1`: the load balancer controller may put internet-facing balancers here.
pub const ROLE_ELB: &str = "kubernetes.io/role/elb";
/// Value `1`: … internal balancers.
pub const ROLE_INTERNAL_ELB: &str = "kubernetes.io/role/internal-elb";

pub struct Subnet;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    pub vpc: Link,
    pub cidr: Ipv4Net,
    /// Zone id, like `usw2-az2`.
    pub zone: String,
    /// Whether instances get a public address at launch. Also false in public subnets: gateways and balancers bring their own,
    /// and a launch with several network cards refuses it.
    pub map_public_ip: bool,
    /// What the subnet is to Kubernetes: tags that only this object has, beside the stack's. Not named `tags`, which stands
    /// for the stack's in lists of changes.
    pub roles: Tags,
}

/// DescribeSubnets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observed {
    pub subnet_id: String,
    pub subnet_arn: String,
    pub vpc_id: String,
    pub cidr_block: Ipv4Net,
    pub availability_zone_id: String,
    /// `pending`, `available`, `unavailable`, `failed`, `failed-insufficient-capacity`
    pub state: String,
    pub map_public_ip_on_launch: bool,
    pub available_ip_address_count: u32,
    pub tags: Tags,
}

/// Addresses of a block that instances can have: EC2 keeps the first four and the last.
pub fn usable_addresses(cidr: Ipv4Net) -> u32 {
    let size = 1u64 << (32 - u32::from(cidr.prefix_len()));
    u32::try_from(size.saturating_sub(5)).unwrap_or(u32::MAX)
}

impl Kind for Subnet {
    const NAME: &'static str = "subnet";
    const AWS_NAME: &'static str = "ec2:subnet";
    const LAYER: Layer = Layer::Network;
    const OWNERSHIP: Ownership = Ownership::ByTag;
    const FIELDS: &'static [Field] = &[
        Field::immutable("/vpc"),
        Field::immutable("/cidr"),
        Field::immutable("/zone"),
        Field::in_place("/mapPublicIp"),
        // CreateTags and DeleteTags.
        Field::in_place("/roles"),
    ];
    const PATIENCE: Patience = Patience::INSTANT;

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.subnet_id.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        Outputs::from([
            ("id".to_owned(), live.subnet_id.clone()),
            ("arn".to_owned(), live.subnet_arn.clone()),
            ("zone".to_owned(), live.availability_zone_id.clone()),
        ])
    }
    fn project(live: &Observed) -> Desired {
        // `kubernetes.io/cluster/…`, which old clusters and other tools add, is not ours to judge.
        let role = |key: &String| [ROLE_ELB, ROLE_INTERNAL_ELB].contains(&key.as_str());
        Desired {
            vpc: Link::is(&live.vpc_id),
            cidr: live.cidr_block,
            zone: live.availability_zone_id.clone(),
            map_public_ip: live.map_public_ip_on_launch,
            roles: live.tags.clone().into_iter().filter(|(key, _)| role(key)).collect(),
        }
    }
    fn ready(live: &Observed) -> Readiness {
        match live.state.as_str() {
            "available" => Readiness::Ready,
            "failed" | "failed-insufficient-capacity" => Readiness::Broken(live.state.clone()),
            state => Readiness::Pending(state.to_owned()),
        }
    }
    fn headline(want: &Desired) -> String {
        want.cidr.to_string()
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = block(want.cidr, "subnet");
        if !want.zone.contains("-az") {
            broken
                .push(format!("{}: zones are named by id, like usw2-az2: letters differ between accounts", want.zone));
        }
        if let Some(key) = want.roles.keys().find(|key| ![ROLE_ELB, ROLE_INTERNAL_ELB].contains(&key.as_str())) {
            broken.push(format!("{key} is no role of a subnet"));
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        let vpc = Link::to(&Address::new("vpc", "main"), "id");
        let role = |key: &str| Tags::from([(key.to_owned(), "1".to_owned())]);
        let private = Desired {
            vpc,
            cidr: block_of([10, 64, 32, 0], 19),
            zone: "usw2-az2".to_owned(),
            map_public_ip: false,
            roles: role(ROLE_INTERNAL_ELB),
        };
        let public = Desired {
            cidr: block_of([10, 64, 228, 0], 22),
            map_public_ip: true,
            roles: role(ROLE_ELB),
            ..private.clone()
        };
        vec![private, public]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        Observed {
            subnet_id: id.to_owned(),
            subnet_arn: format!("arn:aws:ec2:us-west-2:123456789012:subnet/{id}"),
            vpc_id: want.vpc.target().to_owned(),
            cidr_block: want.cidr,
            availability_zone_id: want.zone.clone(),
            state: if phase == Phase::Coming { "pending" } else { "available" }.to_owned(),
            map_public_ip_on_launch: want.map_public_ip,
            available_ip_address_count: usable_addresses(want.cidr),
            tags: stamp.tags.clone().into_iter().chain(want.roles.clone()).collect(),
        }
    }
    fn imagine_id(_: &Desired, serial: &str) -> PhysicalId {
        format!("subnet-0{serial}")
    }
}

#[cfg(feature = "aws")]
mod live {
    use super::{Desired, Observed, ROLE_ELB, ROLE_INTERNAL_ELB, Subnet};
    use crate::{
        aws::{
            Aws,
            answers::{count, deleted, field, found, parsed},
            ec2::{changes, in_vpc, listed, of_stack, retag, stamped, tag, tags, untag},
            failed,
        },
        contract::{CloudError, Live},
        model::{PhysicalId, Scope, Stamp, Tags},
    };
    use aws_sdk_ec2::types::{self, AttributeBooleanValue, Filter, ResourceType};

    const DESCRIBE: &str = "ec2:DescribeSubnets";

    fn observe(subnet: types::Subnet) -> Result<Observed, CloudError> {
        Ok(Observed {
            subnet_id: field(DESCRIBE, "subnetId", subnet.subnet_id)?,
            subnet_arn: field(DESCRIBE, "subnetArn", subnet.subnet_arn)?,
            vpc_id: field(DESCRIBE, "vpcId", subnet.vpc_id)?,
            cidr_block: parsed(DESCRIBE, "cidrBlock", subnet.cidr_block)?,
            availability_zone_id: field(DESCRIBE, "availabilityZoneId", subnet.availability_zone_id)?,
            state: field(DESCRIBE, "state", subnet.state)?.as_str().to_owned(),
            map_public_ip_on_launch: subnet.map_public_ip_on_launch.unwrap_or_default(),
            available_ip_address_count: count(subnet.available_ip_address_count),
            tags: tags(subnet.tags),
        })
    }

    async fn look(aws: &Aws, filter: Filter) -> Result<Vec<Observed>, CloudError> {
        let pages = aws.ec2().describe_subnets().filters(filter).into_paginator().items().send();
        let subnets = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(DESCRIBE))?;
        subnets.into_iter().map(observe).collect()
    }

    impl Live<Aws> for Subnet {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            // The stack makes subnets in its own VPC only: what is in it is all there is.
            let filter = in_vpc(scope, "vpc-id").unwrap_or_else(|| of_stack(scope));
            listed::<Self, _>([filter], |filter| look(aws, filter)).await
        }

        async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
            let answer = aws.ec2().describe_subnets().subnet_ids(id).send().await.map_err(failed(DESCRIBE));
            found(answer)?.and_then(|answer| answer.subnets?.pop()).map(observe).transpose()
        }

        async fn create(aws: &Aws, want: &Desired, stamp: &Stamp) -> Result<PhysicalId, CloudError> {
            let call = "ec2:CreateSubnet";
            let all: Tags = stamp.tags.clone().into_iter().chain(want.roles.clone()).collect();
            let request = aws
                .ec2()
                .create_subnet()
                .vpc_id(want.vpc.target())
                .cidr_block(want.cidr.to_string())
                .availability_zone_id(&want.zone)
                .tag_specifications(stamped(ResourceType::Subnet, &all));
            let answer = request.send().await.map_err(failed(call))?;
            field(call, "subnetId", answer.subnet.and_then(|subnet| subnet.subnet_id))
        }

        async fn update(
            aws: &Aws,
            id: &str,
            want: &Desired,
            changed: &[String],
            stamp: &Stamp,
        ) -> Result<(), CloudError> {
            if changes(changed, "/mapPublicIp") {
                let value = AttributeBooleanValue::builder().value(want.map_public_ip).build();
                let request = aws.ec2().modify_subnet_attribute().subnet_id(id).map_public_ip_on_launch(value);
                request.send().await.map_err(failed("ec2:ModifySubnetAttribute"))?;
            }
            if changes(changed, "/roles") {
                if !want.roles.is_empty() {
                    tag(aws, id, &want.roles).await?;
                }
                let known = [ROLE_ELB, ROLE_INTERNAL_ELB].into_iter();
                let surplus: Vec<_> = known.filter(|key| !want.roles.contains_key(*key)).collect();
                if !surplus.is_empty() {
                    untag(aws, id, &surplus).await?;
                }
            }
            retag(aws, id, changed, stamp).await
        }

        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            deleted(aws.ec2().delete_subnet().subnet_id(id).send().await.map_err(failed("ec2:DeleteSubnet")))
        }
    }
}
