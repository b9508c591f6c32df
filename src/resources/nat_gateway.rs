//! A public NAT gateway, zonal or regional: the way out for nodes without public addresses. Must never be private: the
//! stack's nodes go to the internet or, with `natGateways: none`, nowhere.

use crate::{
    contract::{Demand, Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

pub struct NatGateway;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Desired {
    /// In one public subnet, with one Elastic IP.
    Zonal {
        vpc: Link,
        subnet: Link,
        /// `None` only in what lives: a private gateway that somebody made.
        allocation: Option<Link>,
    },
    /// `AvailabilityMode=regional`: beside the subnets of the VPC, with a route table and addresses that AWS makes, one in each
    /// zone where the VPC has network interfaces.
    Regional {
        vpc: Link,
        /// Zones it will spread to: for the price. AWS follows the interfaces, so it is neither sent nor compared.
        zones: u32,
    },
}

/// DescribeNatGateways.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observed {
    pub nat_gateway_id: String,
    pub vpc_id: String,
    /// `None` where regional.
    pub subnet_id: Option<String>,
    /// `pending`, `failed`, `available`, `deleting`, `deleted`
    pub state: String,
    pub failure_code: Option<String>,
    pub failure_message: Option<String>,
    pub addresses: Vec<GatewayAddress>,
    pub tags: Tags,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GatewayAddress {
    pub allocation_id: Option<String>,
    pub public_ip: Option<String>,
    pub network_interface_id: Option<String>,
    pub availability_zone_id: Option<String>,
    /// False for secondary addresses.
    pub primary: bool,
}

impl Kind for NatGateway {
    const NAME: &'static str = "nat-gateway";
    const AWS_NAME: &'static str = "ec2:natgateway";
    const LAYER: Layer = Layer::Network;
    const OWNERSHIP: Ownership = Ownership::ByTag;
    const FIELDS: &'static [Field] = &[
        Field::immutable("/mode"),
        Field::immutable("/vpc"),
        Field::immutable("/subnet"),
        // AssociateNatGatewayAddress adds secondary addresses only; the primary one stays.
        Field::immutable("/allocation"),
        Field::create_only("/zones"),
    ];
    /// Seen: 85 to 125 s until available, with one wording all the while; botocore's waiter gives up after 600 s.
    const PATIENCE: Patience = Patience::new(5, 420, 600);

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.nat_gateway_id.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        Outputs::from([("id".to_owned(), live.nat_gateway_id.clone())])
    }
    fn project(live: &Observed) -> Desired {
        match &live.subnet_id {
            Some(subnet) => Desired::Zonal {
                vpc: Link::is(&live.vpc_id),
                subnet: Link::is(subnet),
                // Secondary addresses, which relieve port exhaustion, are somebody's addition and are left alone.
                allocation: live
                    .addresses
                    .iter()
                    .find(|address| address.primary)
                    .and_then(|address| address.allocation_id.as_ref())
                    .map(Link::is),
            },
            None => {
                let zones: BTreeSet<_> = live.addresses.iter().map(|address| &address.availability_zone_id).collect();
                Desired::Regional { vpc: Link::is(&live.vpc_id), zones: u32::try_from(zones.len()).unwrap_or(u32::MAX) }
            }
        }
    }
    fn ready(live: &Observed) -> Readiness {
        match live.state.as_str() {
            "available" => Readiness::Ready,
            "failed" => {
                let code = live.failure_code.as_deref().unwrap_or("failed");
                Readiness::Broken(match &live.failure_message {
                    Some(message) => format!("{code}: {message}"),
                    None => code.to_owned(),
                })
            }
            state => Readiness::Pending(state.to_owned()),
        }
    }
    /// Listed for about an hour after its end.
    fn gone(live: &Observed) -> bool {
        live.state == "deleted"
    }
    fn going(live: &Observed) -> bool {
        live.state == "deleting"
    }
    fn headline(want: &Desired) -> String {
        match want {
            Desired::Zonal { subnet, .. } => format!("in {}", subnet.target()),
            Desired::Regional { zones: 1, .. } => "regional, in 1 zone".to_owned(),
            Desired::Regional { zones, .. } => format!("regional, in {zones} zones"),
        }
    }
    fn demand(want: &Desired) -> Vec<Demand> {
        let gateway = Demand::one("natGateway");
        match want {
            // Its public address is the Elastic IP's to count and to pay.
            Desired::Zonal { subnet, .. } => {
                vec![gateway, Demand::billed("natGatewayHours", 1.0), Demand::addresses(subnet, 1)]
            }
            // Billed in every zone that it has spread to. Its addresses are AWS's own (`ServiceManaged=rnat`): they cost, but
            // are no Elastic IPs of the account.
            Desired::Regional { zones, .. } => {
                let spread = |unit: &str| Demand::Billed {
                    unit: unit.to_owned(),
                    min: 1.0,
                    now: f64::from(*zones),
                    max: f64::from(*zones),
                };
                vec![gateway, spread("natGatewayHours"), spread("publicIpv4Hours")]
            }
        }
    }
    fn check(want: &Desired) -> Vec<String> {
        match want {
            Desired::Zonal { allocation: None, .. } => {
                vec!["a public NAT gateway takes the allocation of an Elastic IP".to_owned()]
            }
            _ => vec![],
        }
    }
    fn samples() -> Vec<Desired> {
        let to = |kind: &str, name: &str| Link::to(&Address::new(kind, name), "id");
        vec![
            Desired::Zonal {
                vpc: to("vpc", "main"),
                subnet: to("subnet", "public-usw2-az1"),
                allocation: Some(to("elastic-ip", "main")),
            },
            Desired::Regional { vpc: to("vpc", "main"), zones: 2 },
        ]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        let interface = |n: u32| Some(format!("eni-{n}{}", id.trim_start_matches("nat-0")));
        let (vpc, subnet_id, addresses) = match want {
            Desired::Zonal { vpc, subnet, allocation } => {
                let address = GatewayAddress {
                    allocation_id: allocation.as_ref().map(|link| link.target().to_owned()),
                    public_ip: (phase != Phase::Coming).then(|| "203.0.113.1".to_owned()),
                    network_interface_id: interface(0),
                    availability_zone_id: None,
                    primary: true,
                };
                (vpc, Some(subnet.target().to_owned()), vec![address])
            }
            Desired::Regional { vpc, zones } => {
                let address = |n: u32| GatewayAddress {
                    allocation_id: None,
                    public_ip: (phase != Phase::Coming).then(|| format!("203.0.113.{n}")),
                    network_interface_id: interface(n),
                    availability_zone_id: Some(format!("usw2-az{}", n + 1)),
                    primary: n == 0,
                };
                (vpc, None, (0..*zones).map(address).collect())
            }
        };
        Observed {
            nat_gateway_id: id.to_owned(),
            vpc_id: vpc.target().to_owned(),
            subnet_id,
            state: match phase {
                Phase::Coming => "pending",
                Phase::There | Phase::Changing => "available",
                Phase::Going => "deleting",
            }
            .to_owned(),
            failure_code: None,
            failure_message: None,
            addresses,
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(_: &Desired, serial: &str) -> PhysicalId {
        format!("nat-0{serial}")
    }
}

#[cfg(feature = "aws")]
mod live {
    use super::{Desired, GatewayAddress, NatGateway, Observed};
    use crate::{
        aws::{
            Aws,
            answers::{deleted, field, found},
            ec2::{in_vpc, listed, of_stack, retag, stamped, tags},
            failed,
        },
        contract::{CloudError, Live},
        model::{PhysicalId, Scope, Stamp},
    };
    use aws_sdk_ec2::types::{self, AvailabilityMode, Filter, ResourceType};

    const DESCRIBE: &str = "ec2:DescribeNatGateways";

    fn observe(gateway: types::NatGateway) -> Result<Observed, CloudError> {
        let address = |address: types::NatGatewayAddress| GatewayAddress {
            allocation_id: address.allocation_id,
            public_ip: address.public_ip,
            network_interface_id: address.network_interface_id,
            availability_zone_id: address.availability_zone_id,
            primary: address.is_primary.unwrap_or_default(),
        };
        Ok(Observed {
            nat_gateway_id: field(DESCRIBE, "natGatewayId", gateway.nat_gateway_id)?,
            vpc_id: field(DESCRIBE, "vpcId", gateway.vpc_id)?,
            subnet_id: gateway.subnet_id,
            state: field(DESCRIBE, "state", gateway.state)?.as_str().to_owned(),
            failure_code: gateway.failure_code,
            failure_message: gateway.failure_message,
            addresses: gateway.nat_gateway_addresses.into_iter().flatten().map(address).collect(),
            tags: tags(gateway.tags),
        })
    }

    async fn look(aws: &Aws, filter: Filter) -> Result<Vec<Observed>, CloudError> {
        let pages = aws.ec2().describe_nat_gateways().filter(filter).into_paginator().items().send();
        let gateways = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(DESCRIBE))?;
        gateways.into_iter().map(observe).collect()
    }

    impl Live<Aws> for NatGateway {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            // The stack makes gateways in its own VPC only: what is in it is all there is.
            let filter = in_vpc(scope, "vpc-id").unwrap_or_else(|| of_stack(scope));
            listed::<Self, _>([filter], |filter| look(aws, filter)).await
        }

        async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
            let answer = aws.ec2().describe_nat_gateways().nat_gateway_ids(id).send().await.map_err(failed(DESCRIBE));
            found(answer)?.and_then(|answer| answer.nat_gateways?.pop()).map(observe).transpose()
        }

        async fn create(aws: &Aws, want: &Desired, stamp: &Stamp) -> Result<PhysicalId, CloudError> {
            let call = "ec2:CreateNatGateway";
            let request = aws
                .ec2()
                .create_nat_gateway()
                .client_token(&stamp.token)
                .tag_specifications(stamped(ResourceType::Natgateway, &stamp.tags));
            let request = match want {
                Desired::Zonal { subnet, allocation, .. } => request
                    .subnet_id(subnet.target())
                    .set_allocation_id(allocation.as_ref().map(|link| link.target().to_owned())),
                Desired::Regional { vpc, .. } => {
                    request.availability_mode(AvailabilityMode::Regional).vpc_id(vpc.target())
                }
            };
            let answer = request.send().await.map_err(failed(call))?;
            field(call, "natGatewayId", answer.nat_gateway.and_then(|gateway| gateway.nat_gateway_id))
        }

        async fn update(aws: &Aws, id: &str, _: &Desired, changed: &[String], stamp: &Stamp) -> Result<(), CloudError> {
            retag(aws, id, changed, stamp).await
        }

        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            let request = aws.ec2().delete_nat_gateway().nat_gateway_id(id);
            deleted(request.send().await.map_err(failed("ec2:DeleteNatGateway")))
        }
    }
}
