//! An Elastic IP address, which a zonal NAT gateway speaks with. Must never be released while a gateway holds it.

use crate::{
    contract::{Demand, Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Outputs, PhysicalId, Stamp, Tags},
};
use serde::{Deserialize, Serialize};

/// EC2's name of the pool that AWS gives addresses from.
pub const AMAZON_POOL: &str = "amazon";

pub struct ElasticIp;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    pub pool: String,
}

/// DescribeAddresses.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observed {
    pub allocation_id: String,
    pub public_ip: String,
    pub public_ipv4_pool: String,
    /// Present while something uses the address; one without is idle and billed all the same.
    pub association_id: Option<String>,
    pub network_interface_id: Option<String>,
    pub tags: Tags,
}

impl Kind for ElasticIp {
    const NAME: &'static str = "elastic-ip";
    const AWS_NAME: &'static str = "ec2:elastic-ip";
    const LAYER: Layer = Layer::Network;
    const OWNERSHIP: Ownership = Ownership::ByTag;
    const FIELDS: &'static [Field] = &[Field::immutable("/pool")];
    const PATIENCE: Patience = Patience::INSTANT;

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.allocation_id.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        Outputs::from([("id".to_owned(), live.allocation_id.clone()), ("address".to_owned(), live.public_ip.clone())])
    }
    fn project(live: &Observed) -> Desired {
        Desired { pool: live.public_ipv4_pool.clone() }
    }
    fn ready(_: &Observed) -> Readiness {
        Readiness::Ready
    }
    fn headline(want: &Desired) -> String {
        match want.pool.as_str() {
            AMAZON_POOL => "a public address of AWS".to_owned(),
            pool => format!("a public address of {pool}"),
        }
    }
    fn demand(_: &Desired) -> Vec<Demand> {
        // Billed from allocation on, in use or idle.
        vec![Demand::one("elasticIp"), Demand::billed("publicIpv4Hours", 1.0)]
    }
    fn samples() -> Vec<Desired> {
        vec![Desired { pool: AMAZON_POOL.to_owned() }]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, _: Phase) -> Observed {
        Observed {
            allocation_id: id.to_owned(),
            public_ip: documentation_address(id),
            public_ipv4_pool: want.pool.clone(),
            association_id: None,
            network_interface_id: None,
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(_: &Desired, serial: &str) -> PhysicalId {
        format!("eipalloc-0{serial}")
    }
}

/// An address of TEST-NET-3 (RFC 5737), which nobody can reach.
fn documentation_address(id: &str) -> String {
    let last = id.bytes().fold(0u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte));
    format!("203.0.113.{last}")
}
