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
