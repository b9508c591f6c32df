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
