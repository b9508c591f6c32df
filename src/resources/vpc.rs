//! A VPC: the stack's own network, and the anchor that carries its expiry where the network is made here. Must never be wished
//! for where the network was brought along.

use crate::{
    contract::{Demand, Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Outputs, PhysicalId, Stamp, Tags},
};
use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};

pub struct Vpc;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    /// The primary block. Secondary ones are somebody else's addition and are left alone.
    pub cidr: Ipv4Net,
    pub dns_support: bool,
    pub dns_hostnames: bool,
}

/// DescribeVpcs, with the two attributes that only DescribeVpcAttribute tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observed {
    pub vpc_id: String,
    pub cidr_block: Ipv4Net,
    /// `pending`, `available`
    pub state: String,
    pub enable_dns_support: bool,
    pub enable_dns_hostnames: bool,
    pub tags: Tags,
}

impl Kind for Vpc {
    const NAME: &'static str = "vpc";
    const AWS_NAME: &'static str = "ec2:vpc";
    const LAYER: Layer = Layer::Network;
    const OWNERSHIP: Ownership = Ownership::ByTag;
    const ANCHOR: bool = true;
    const FIELDS: &'static [Field] = &[
        // EC2 can add blocks to a VPC, but the primary one stays.
        Field::immutable("/cidr"),
        // ModifyVpcAttribute takes one attribute a call, and hostnames only once support is on. CreateVpc takes neither.
        Field::in_place("/dnsSupport"),
        Field::in_place("/dnsHostnames"),
    ];
    const PATIENCE: Patience = Patience::INSTANT;

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.vpc_id.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        Outputs::from([("id".to_owned(), live.vpc_id.clone())])
    }
    fn project(live: &Observed) -> Desired {
        Desired {
            cidr: live.cidr_block,
            dns_support: live.enable_dns_support,
            dns_hostnames: live.enable_dns_hostnames,
        }
    }
    fn ready(live: &Observed) -> Readiness {
        match live.state.as_str() {
            "available" => Readiness::Ready,
            state => Readiness::Pending(state.to_owned()),
        }
    }
    fn headline(want: &Desired) -> String {
        want.cidr.to_string()
    }
    fn demand(_: &Desired) -> Vec<Demand> {
        vec![Demand::one("vpc")]
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = block(want.cidr, "VPC");
        if !(want.dns_support && want.dns_hostnames) {
            broken.push("an EKS cluster needs both DNS attributes of its VPC, or nodes do not find it".to_owned());
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        vec![Desired { cidr: block_of([10, 64, 0, 0], 16), dns_support: true, dns_hostnames: true }]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        Observed {
            vpc_id: id.to_owned(),
            cidr_block: want.cidr,
            state: if phase == Phase::Coming { "pending" } else { "available" }.to_owned(),
            enable_dns_support: want.dns_support,
            enable_dns_hostnames: want.dns_hostnames,
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(_: &Desired, serial: &str) -> PhysicalId {
        format!("vpc-0{serial}")
    }
}

/// What EC2 demands of the block of a VPC or subnet.
pub(super) fn block(cidr: Ipv4Net, of: &str) -> Vec<String> {
    let mut broken = vec![];
    if !(16..=28).contains(&cidr.prefix_len()) {
        broken.push(format!("{cidr}: the block of a {of} is /16 to /28"));
    }
    if cidr != cidr.trunc() {
        broken.push(format!("{cidr}: the block starts at {}", cidr.network()));
    }
    let first = cidr.network();
    if first.is_loopback() || first.is_link_local() || first.is_multicast() || first.octets()[0] == 0 {
        broken.push(format!("{cidr}: EC2 takes no loopback, link-local, multicast or 0.0.0.0/8 addresses"));
    }
    broken
}

/// A block for samples.
pub(super) fn block_of(address: [u8; 4], prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(address.into(), prefix)
}

#[cfg(feature = "aws")]
mod live {
    use super::{Desired, Observed, Vpc};
    use crate::{
        aws::{
            Aws,
            answers::{deleted, field, found, parsed},
            ec2::{changes, listed, of_stack, retag, stamped, tags},
            failed,
        },
        contract::{CloudError, Live},
        model::{PhysicalId, Scope, Stamp},
    };
    use aws_sdk_ec2::types::{self, AttributeBooleanValue, Filter, ResourceType, VpcAttributeName};
    use futures::future::{try_join, try_join_all};

    const DESCRIBE: &str = "ec2:DescribeVpcs";

    async fn attribute(aws: &Aws, id: &str, name: VpcAttributeName) -> Result<bool, CloudError> {
        let call = "ec2:DescribeVpcAttribute";
        let request = aws.ec2().describe_vpc_attribute().vpc_id(id).attribute(name);
        let answer = request.send().await.map_err(failed(call))?;
        let value = answer.enable_dns_support.or(answer.enable_dns_hostnames).and_then(|attribute| attribute.value);
        field(call, "value", value)
    }

    async fn observe(aws: &Aws, vpc: types::Vpc) -> Result<Observed, CloudError> {
        let vpc_id = field(DESCRIBE, "vpcId", vpc.vpc_id)?;
        let (enable_dns_support, enable_dns_hostnames) = try_join(
            attribute(aws, &vpc_id, VpcAttributeName::EnableDnsSupport),
            attribute(aws, &vpc_id, VpcAttributeName::EnableDnsHostnames),
        )
        .await?;
        Ok(Observed {
            vpc_id,
            cidr_block: parsed(DESCRIBE, "cidrBlock", vpc.cidr_block)?,
            state: field(DESCRIBE, "state", vpc.state)?.as_str().to_owned(),
            enable_dns_support,
            enable_dns_hostnames,
            tags: tags(vpc.tags),
        })
    }

    async fn look(aws: &Aws, filter: Filter) -> Result<Vec<Observed>, CloudError> {
        let pages = aws.ec2().describe_vpcs().filters(filter).into_paginator().items().send();
        let vpcs = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(DESCRIBE))?;
        try_join_all(vpcs.into_iter().map(|vpc| observe(aws, vpc))).await
    }

    async fn set(aws: &Aws, id: &str, name: VpcAttributeName, value: bool) -> Result<(), CloudError> {
        let value = AttributeBooleanValue::builder().value(value).build();
        let request = aws.ec2().modify_vpc_attribute().vpc_id(id);
        let request = match name {
            VpcAttributeName::EnableDnsHostnames => request.enable_dns_hostnames(value),
            _ => request.enable_dns_support(value),
        };
        request.send().await.map_err(failed("ec2:ModifyVpcAttribute")).map(drop)
    }

    impl Live<Aws> for Vpc {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            listed::<Self, _>([of_stack(scope)], |filter| look(aws, filter)).await
        }

        async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
            let answer = aws.ec2().describe_vpcs().vpc_ids(id).send().await.map_err(failed(DESCRIBE));
            let Some(vpc) = found(answer)?.and_then(|answer| answer.vpcs?.pop()) else { return Ok(None) };
            // It may go between the two looks.
            found(observe(aws, vpc).await)
        }

        async fn create(aws: &Aws, want: &Desired, stamp: &Stamp) -> Result<PhysicalId, CloudError> {
            let call = "ec2:CreateVpc";
            let request = aws
                .ec2()
                .create_vpc()
                .cidr_block(want.cidr.to_string())
                .tag_specifications(stamped(ResourceType::Vpc, &stamp.tags));
            let answer = request.send().await.map_err(failed(call))?;
            field(call, "vpcId", answer.vpc.and_then(|vpc| vpc.vpc_id))
        }

        async fn update(
            aws: &Aws,
            id: &str,
            want: &Desired,
            changed: &[String],
            stamp: &Stamp,
        ) -> Result<(), CloudError> {
            let (support, hostnames) = (VpcAttributeName::EnableDnsSupport, VpcAttributeName::EnableDnsHostnames);
            // Hostnames need support: support comes first and goes last.
            if changes(changed, "/dnsSupport") && want.dns_support {
                set(aws, id, support.clone(), true).await?;
            }
            if changes(changed, "/dnsHostnames") {
                set(aws, id, hostnames, want.dns_hostnames).await?;
            }
            if changes(changed, "/dnsSupport") && !want.dns_support {
                set(aws, id, support, false).await?;
            }
            retag(aws, id, changed, stamp).await
        }

        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            deleted(aws.ec2().delete_vpc().vpc_id(id).send().await.map_err(failed("ec2:DeleteVpc")))
        }
    }
}
