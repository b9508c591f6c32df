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

#[cfg(feature = "aws")]
mod live {
    use super::{AMAZON_POOL, Desired, ElasticIp, Observed};
    use crate::{
        aws::{
            Aws,
            answers::{deleted, field, found},
            ec2::{listed, of_stack, retag, stamped, tags},
            failed,
        },
        contract::{CloudError, Live},
        model::{PhysicalId, Scope, Stamp},
    };
    use aws_sdk_ec2::types::{self, DomainType, Filter, ResourceType};

    const DESCRIBE: &str = "ec2:DescribeAddresses";

    fn observe(address: types::Address) -> Result<Observed, CloudError> {
        Ok(Observed {
            allocation_id: field(DESCRIBE, "allocationId", address.allocation_id)?,
            public_ip: field(DESCRIBE, "publicIp", address.public_ip)?,
            public_ipv4_pool: address.public_ipv4_pool.unwrap_or_else(|| AMAZON_POOL.to_owned()),
            association_id: address.association_id,
            network_interface_id: address.network_interface_id,
            tags: tags(address.tags),
        })
    }

    async fn look(aws: &Aws, filter: Filter) -> Result<Vec<Observed>, CloudError> {
        let answer = aws.ec2().describe_addresses().filters(filter).send().await.map_err(failed(DESCRIBE))?;
        answer.addresses.into_iter().flatten().map(observe).collect()
    }

    impl Live<Aws> for ElasticIp {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            // An address is in no VPC: only its tag tells whose it is.
            listed::<Self, _>([of_stack(scope)], |filter| look(aws, filter)).await
        }

        async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
            let answer = aws.ec2().describe_addresses().allocation_ids(id).send().await.map_err(failed(DESCRIBE));
            found(answer)?.and_then(|answer| answer.addresses?.pop()).map(observe).transpose()
        }

        async fn create(aws: &Aws, want: &Desired, stamp: &Stamp) -> Result<PhysicalId, CloudError> {
            let call = "ec2:AllocateAddress";
            let pool = Some(&want.pool).filter(|pool| *pool != AMAZON_POOL).cloned();
            let request = aws
                .ec2()
                .allocate_address()
                .domain(DomainType::Vpc)
                .set_public_ipv4_pool(pool)
                .tag_specifications(stamped(ResourceType::ElasticIp, &stamp.tags));
            let answer = request.send().await.map_err(failed(call))?;
            field(call, "allocationId", answer.allocation_id)
        }

        async fn update(aws: &Aws, id: &str, _: &Desired, changed: &[String], stamp: &Stamp) -> Result<(), CloudError> {
            retag(aws, id, changed, stamp).await
        }

        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            deleted(aws.ec2().release_address().allocation_id(id).send().await.map_err(failed("ec2:ReleaseAddress")))
        }
    }
}
