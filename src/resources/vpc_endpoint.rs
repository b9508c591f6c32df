//! A VPC endpoint to an AWS service: of the gateway kind (S3) or of the interface kind. Must never carry a policy of its own:
//! what may be reached is for roles and buckets to say.

use crate::{
    contract::{Demand, Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags},
};
use serde::{Deserialize, Serialize};

/// Groups of one interface (VPC quota L-2AFB9258's default).
const MOST_GROUPS: usize = 5;

pub struct VpcEndpoint;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Desired {
    /// Routes in tables; free of charge by the hour.
    Gateway {
        vpc: Link,
        /// `com.amazonaws.us-west-2.s3`
        service: String,
        route_tables: Vec<Link>,
    },
    /// A network interface in each subnet; billed for each zone.
    Interface {
        vpc: Link,
        service: String,
        /// At most one a zone.
        subnets: Vec<Link>,
        groups: Vec<Link>,
        /// The service's usual name leads here, inside the VPC.
        private_dns: bool,
    },
}

impl Desired {
    fn service(&self) -> &str {
        match self {
            Self::Gateway { service, .. } | Self::Interface { service, .. } => service,
        }
    }
}

/// DescribeVpcEndpoints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observed {
    pub vpc_endpoint_id: String,
    /// `Gateway`, `Interface`, or a kind that no wish has
    pub vpc_endpoint_type: String,
    pub vpc_id: String,
    pub service_name: String,
    /// `pendingAcceptance`, `pending`, `available`, `deleting`, `deleted`, `rejected`, `failed`, `expired`, `partial`: EC2's
    /// answers and its model disagree on capitals.
    pub state: String,
    pub failure: Option<String>,
    pub route_table_ids: Vec<String>,
    pub subnet_ids: Vec<String>,
    pub group_ids: Vec<String>,
    pub private_dns_enabled: bool,
    pub network_interface_ids: Vec<String>,
    /// True for what another AWS service made: GuardDuty puts endpoints into the VPC, which keep it from being deleted.
    pub requester_managed: bool,
    pub tags: Tags,
}

impl Observed {
    fn is(&self, state: &str) -> bool {
        self.state.eq_ignore_ascii_case(state)
    }
}

impl Kind for VpcEndpoint {
    const NAME: &'static str = "vpc-endpoint";
    const AWS_NAME: &'static str = "ec2:vpc-endpoint";
    const LAYER: Layer = Layer::Network;
    const OWNERSHIP: Ownership = Ownership::ByTag;
    const FIELDS: &'static [Field] = &[
        Field::immutable("/type"),
        Field::immutable("/vpc"),
        Field::immutable("/service"),
        // ModifyVpcEndpoint adds and removes tables, subnets and groups. Its interfaces keep their subnets and groups from
        // being deleted; a table goes after its endpoint too, so that nobody finds out what EC2 does otherwise.
        Field::in_place("/routeTables").set().holds(),
        Field::in_place("/subnets").set().holds(),
        Field::in_place("/groups").set().holds(),
        Field::in_place("/privateDns"),
    ];
    /// Interface endpoints take one to some minutes, with one wording all the while.
    const PATIENCE: Patience = Patience::new(5, 420, 900);

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.vpc_endpoint_id.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        Outputs::from([("id".to_owned(), live.vpc_endpoint_id.clone())])
    }
    fn project(live: &Observed) -> Desired {
        let links = |ids: &[String]| ids.iter().map(Link::is).collect();
        let (vpc, service) = (Link::is(&live.vpc_id), live.service_name.clone());
        if live.vpc_endpoint_type == "Gateway" {
            return Desired::Gateway { vpc, service, route_tables: links(&live.route_table_ids) };
        }
        Desired::Interface {
            vpc,
            service,
            subnets: links(&live.subnet_ids),
            groups: links(&live.group_ids),
            private_dns: live.private_dns_enabled,
        }
    }
    fn ready(live: &Observed) -> Readiness {
        if live.is("available") {
            return Readiness::Ready;
        }
        let news = match &live.failure {
            Some(failure) => format!("{}: {failure}", live.state),
            None => live.state.clone(),
        };
        if ["failed", "rejected", "expired"].iter().any(|state| live.is(state)) {
            Readiness::Broken(news)
        } else {
            Readiness::Pending(news)
        }
    }
    fn gone(live: &Observed) -> bool {
        live.is("deleted")
    }
    fn going(live: &Observed) -> bool {
        live.is("deleting")
    }
    fn headline(want: &Desired) -> String {
        let (kind, n, place) = match want {
            Desired::Gateway { route_tables, .. } => ("gateway", route_tables.len(), "route table"),
            Desired::Interface { subnets, .. } => ("interface", subnets.len(), "subnet"),
        };
        format!("{kind} to {}, in {n} {place}{}", want.service(), if n == 1 { "" } else { "s" })
    }
    fn demand(want: &Desired) -> Vec<Demand> {
        match want {
            Desired::Gateway { .. } => vec![Demand::one("gatewayEndpoint")],
            Desired::Interface { subnets, .. } => {
                let zones = u32::try_from(subnets.len()).unwrap_or(u32::MAX);
                let mut demand = vec![
                    Demand::one("interfaceEndpoint"),
                    // Billed for each zone that it stands in.
                    Demand::billed("interfaceEndpointHours", f64::from(zones)),
                ];
                demand.extend(subnets.iter().map(|subnet| Demand::addresses(subnet, 1)));
                demand
            }
        }
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = vec![];
        if !want.service().contains("com.amazonaws.") {
            broken.push(format!("{}: an AWS service's endpoint is com.amazonaws.<region>.<service>", want.service()));
        }
        if let Desired::Interface { subnets, groups, .. } = want {
            if subnets.is_empty() {
                broken.push("an interface endpoint without a subnet answers nobody".to_owned());
            }
            if groups.is_empty() || groups.len() > MOST_GROUPS {
                broken.push(format!(
                    "an interface carries 1 to {MOST_GROUPS} security groups; none means the VPC's default"
                ));
            }
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        let to = |kind: &str, name: &str| Link::to(&Address::new(kind, name), "id");
        vec![
            Desired::Gateway {
                vpc: to("vpc", "main"),
                service: "com.amazonaws.us-west-2.s3".to_owned(),
                route_tables: vec![to("route-table", "private-usw2-az1"), to("route-table", "private-usw2-az2")],
            },
            Desired::Interface {
                vpc: to("vpc", "main"),
                service: "com.amazonaws.us-west-2.ecr.api".to_owned(),
                subnets: vec![to("subnet", "private-usw2-az1"), to("subnet", "private-usw2-az2")],
                groups: vec![to("security-group", "endpoints")],
                private_dns: true,
            },
        ]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        let ids = |links: &[Link]| links.iter().map(|link| link.target().to_owned()).collect::<Vec<_>>();
        let bare = Observed {
            vpc_endpoint_id: id.to_owned(),
            vpc_endpoint_type: String::new(),
            vpc_id: String::new(),
            service_name: want.service().to_owned(),
            state: match phase {
                Phase::Coming => "pending",
                Phase::There | Phase::Changing => "available",
                Phase::Going => "deleting",
            }
            .to_owned(),
            failure: None,
            route_table_ids: vec![],
            subnet_ids: vec![],
            group_ids: vec![],
            private_dns_enabled: false,
            network_interface_ids: vec![],
            requester_managed: false,
            tags: stamp.tags.clone(),
        };
        match want {
            Desired::Gateway { vpc, route_tables, .. } => Observed {
                vpc_endpoint_type: "Gateway".to_owned(),
                vpc_id: vpc.target().to_owned(),
                route_table_ids: ids(route_tables),
                ..bare
            },
            Desired::Interface { vpc, subnets, groups, private_dns, .. } => {
                let interface = |n| format!("eni-{n}{}", id.trim_start_matches("vpce-0"));
                Observed {
                    vpc_endpoint_type: "Interface".to_owned(),
                    vpc_id: vpc.target().to_owned(),
                    subnet_ids: ids(subnets),
                    group_ids: ids(groups),
                    private_dns_enabled: *private_dns,
                    network_interface_ids: (0..subnets.len()).map(interface).collect(),
                    ..bare
                }
            }
        }
    }
    fn imagine_id(_: &Desired, serial: &str) -> PhysicalId {
        format!("vpce-0{serial}")
    }
}

#[cfg(feature = "aws")]
mod live {
    use super::{Desired, Observed, VpcEndpoint};
    use crate::{
        aws::{
            Aws,
            answers::{field, found},
            codes::class,
            ec2::{changes, in_vpc, listed, of_stack, retag, stamped, tags},
            failed,
        },
        contract::{Class, CloudError, Live},
        model::{Link, PhysicalId, Scope, Stamp},
    };
    use aws_sdk_ec2::types::{self, Filter, ResourceType, VpcEndpointType};

    const DESCRIBE: &str = "ec2:DescribeVpcEndpoints";

    fn observe(endpoint: types::VpcEndpoint) -> Result<Observed, CloudError> {
        let error = endpoint.last_error.and_then(|error| error.message.or(error.code));
        let group = |group: types::SecurityGroupIdentifier| field(DESCRIBE, "groupId", group.group_id);
        Ok(Observed {
            vpc_endpoint_id: field(DESCRIBE, "vpcEndpointId", endpoint.vpc_endpoint_id)?,
            vpc_endpoint_type: field(DESCRIBE, "vpcEndpointType", endpoint.vpc_endpoint_type)?.as_str().to_owned(),
            vpc_id: field(DESCRIBE, "vpcId", endpoint.vpc_id)?,
            service_name: endpoint.service_name.unwrap_or_default(),
            state: field(DESCRIBE, "state", endpoint.state)?.as_str().to_owned(),
            failure: endpoint.failure_reason.or(error),
            route_table_ids: endpoint.route_table_ids.unwrap_or_default(),
            subnet_ids: endpoint.subnet_ids.unwrap_or_default(),
            group_ids: endpoint.groups.into_iter().flatten().map(group).collect::<Result<_, _>>()?,
            private_dns_enabled: endpoint.private_dns_enabled.unwrap_or_default(),
            network_interface_ids: endpoint.network_interface_ids.unwrap_or_default(),
            requester_managed: endpoint.requester_managed.unwrap_or_default(),
            tags: tags(endpoint.tags),
        })
    }

    async fn look(aws: &Aws, filter: Filter) -> Result<Vec<Observed>, CloudError> {
        let pages = aws.ec2().describe_vpc_endpoints().filters(filter).into_paginator().items().send();
        let endpoints = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(DESCRIBE))?;
        endpoints.into_iter().map(observe).collect()
    }

    fn ids(links: &[Link]) -> Option<Vec<String>> {
        Some(links.iter().map(|link| link.target().to_owned()).collect())
    }

    /// What is wished and not there, and what is there and not wished.
    fn apart(have: &[String], want: &[Link]) -> (Option<Vec<String>>, Option<Vec<String>>) {
        let wanted = ids(want).unwrap_or_default();
        let more: Vec<_> = wanted.iter().filter(|id| !have.contains(id)).cloned().collect();
        let less: Vec<_> = have.iter().filter(|id| !wanted.contains(id)).cloned().collect();
        (Some(more).filter(|ids| !ids.is_empty()), Some(less).filter(|ids| !ids.is_empty()))
    }

    impl Live<Aws> for VpcEndpoint {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            // The stack makes endpoints in its own VPC only: what is in it is all there is, GuardDuty's included.
            let filter = in_vpc(scope, "vpc-id").unwrap_or_else(|| of_stack(scope));
            listed::<Self, _>([filter], |filter| look(aws, filter)).await
        }

        async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
            let request = aws.ec2().describe_vpc_endpoints().vpc_endpoint_ids(id);
            let answer = found(request.send().await.map_err(failed(DESCRIBE)))?;
            answer.and_then(|answer| answer.vpc_endpoints?.pop()).map(observe).transpose()
        }

        async fn create(aws: &Aws, want: &Desired, stamp: &Stamp) -> Result<PhysicalId, CloudError> {
            let call = "ec2:CreateVpcEndpoint";
            let request = aws
                .ec2()
                .create_vpc_endpoint()
                .service_name(want.service())
                .client_token(&stamp.token)
                .tag_specifications(stamped(ResourceType::VpcEndpoint, &stamp.tags));
            let request = match want {
                Desired::Gateway { vpc, route_tables, .. } => request
                    .vpc_endpoint_type(VpcEndpointType::Gateway)
                    .vpc_id(vpc.target())
                    .set_route_table_ids(ids(route_tables)),
                Desired::Interface { vpc, subnets, groups, private_dns, .. } => request
                    .vpc_endpoint_type(VpcEndpointType::Interface)
                    .vpc_id(vpc.target())
                    .set_subnet_ids(ids(subnets))
                    .set_security_group_ids(ids(groups))
                    .private_dns_enabled(*private_dns),
            };
            let answer = request.send().await.map_err(failed(call))?;
            field(call, "vpcEndpointId", answer.vpc_endpoint.and_then(|endpoint| endpoint.vpc_endpoint_id))
        }

        async fn update(
            aws: &Aws,
            id: &str,
            want: &Desired,
            changed: &[String],
            stamp: &Stamp,
        ) -> Result<(), CloudError> {
            if ["/routeTables", "/subnets", "/groups", "/privateDns"].iter().any(|field| changes(changed, field)) {
                let live = field(DESCRIBE, id, Self::read(aws, id).await?)?;
                let request = aws.ec2().modify_vpc_endpoint().vpc_endpoint_id(id);
                let request = match want {
                    Desired::Gateway { route_tables, .. } => {
                        let (more, less) = apart(&live.route_table_ids, route_tables);
                        request.set_add_route_table_ids(more).set_remove_route_table_ids(less)
                    }
                    Desired::Interface { subnets, groups, private_dns, .. } => {
                        let (more, less) = apart(&live.subnet_ids, subnets);
                        let request = request.set_add_subnet_ids(more).set_remove_subnet_ids(less);
                        let (more, less) = apart(&live.group_ids, groups);
                        let request = request.set_add_security_group_ids(more).set_remove_security_group_ids(less);
                        let dns = Some(*private_dns).filter(|dns| *dns != live.private_dns_enabled);
                        request.set_private_dns_enabled(dns)
                    }
                };
                request.send().await.map_err(failed("ec2:ModifyVpcEndpoint"))?;
            }
            retag(aws, id, changed, stamp).await
        }

        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            let call = "ec2:DeleteVpcEndpoints";
            let answer = aws.ec2().delete_vpc_endpoints().vpc_endpoint_ids(id).send().await.map_err(failed(call))?;
            // The call itself succeeds whatever becomes of the endpoint.
            let Some(refusal) = answer.unsuccessful.into_iter().flatten().find_map(|item| item.error) else {
                return Ok(());
            };
            let code = field(call, "code", refusal.code)?;
            let message = refusal.message.unwrap_or_default();
            match class(call, &code, &message) {
                Class::NotFound => Ok(()),
                class => Err(CloudError::new(call, class, &code, message)),
            }
        }
    }
}
