//! The network layer: VPC, subnets, ways out, endpoints, security groups. Must never wish anything into a network that was
//! brought along, but for security groups.

use crate::{
    choose::Choices,
    desired::{DesiredGraph, names},
    model::{Address, Link, Tags},
    resources::{
        elastic_ip::{self, AMAZON_POOL, ElasticIp},
        internet_gateway::{self, InternetGateway},
        nat_gateway::{self, NatGateway},
        route_table::{self, RouteTable, Via, default_route},
        security_group::{self, Peer, Rule, SecurityGroup},
        subnet::{self, ROLE_ELB, ROLE_INTERNAL_ELB, Subnet},
        vpc::{self, Vpc},
        vpc_endpoint::{self, VpcEndpoint},
    },
    stack::{
        IngressScheme, NatGateways, Network, Spec, WeightSource,
        carve::{CarveError, Share, carve},
    },
};
use ipnet::{IpNet, Ipv4Net};
use std::collections::{BTreeMap, BTreeSet};

/// What nodes, controllers and EKS talk to; without a way out each needs an interface endpoint (EKS user guide, private
/// clusters; `eks-auth` for pod identities, `sqs` for Karpenter's queue of interruptions).
const SERVICES_WITHOUT_WAY_OUT: &[&str] = &[
    "ec2",
    "ecr.api",
    "ecr.dkr",
    "sts",
    "eks",
    "eks-auth",
    "logs",
    "elasticloadbalancing",
    "autoscaling",
    "ssm",
    "sqs",
];

/// TCP ports of Lustre: its service, and the range in which client and server connect (FSx for Lustre user guide, access
/// control).
const LUSTRE: [(u16, u16); 2] = [(988, 988), (1018, 1023)];

/// Adds the wishes of the layer.
pub fn network(graph: &mut DesiredGraph, spec: &Spec, choices: &Choices) -> Result<(), CarveError> {
    if let Network::Made { cidr, nat_gateways, .. } = &spec.network {
        let shares = carve(*cidr, &choices.zones.value)?;
        Made { spec, choices, cidr: *cidr, nat_gateways: *nat_gateways, shares }.wish(graph);
    }
    efa_group(graph, spec, choices);
    lustre_group(graph, spec);
    Ok(())
}

/// The VPC, made or brought along.
pub fn vpc(spec: &Spec) -> Link {
    match &spec.network {
        Network::Made { .. } => Link::to(&names::vpc(), "id"),
        Network::Brought { vpc, .. } => Link::is(vpc),
    }
}

/// Subnets for nodes in a zone: one where the network is made here, any number where it was brought along.
pub fn node_subnets(spec: &Spec, choices: &Choices, zone: &str) -> Vec<Link> {
    subnets(spec, &choices.brought.nodes, zone)
}

/// Subnets for the control plane's interfaces, in its zones.
pub fn control_plane_subnets(spec: &Spec, choices: &Choices) -> Vec<Link> {
    let zones = choices.control_plane_zones.value.iter();
    zones.flat_map(|zone| subnets(spec, &choices.brought.control_plane, zone)).collect()
}

fn subnets(spec: &Spec, brought: &BTreeMap<String, Vec<String>>, zone: &str) -> Vec<Link> {
    match &spec.network {
        Network::Made { .. } => vec![Link::to(&names::private_subnet(zone), "id")],
        Network::Brought { .. } => brought.get(zone).into_iter().flatten().map(Link::is).collect(),
    }
}

/// What must stand before the first node of these zones starts, though no link says so: a node that finds no way to EKS and ECR
/// never joins, and its group fails.
pub fn way_out(spec: &Spec, zones: &[String]) -> Vec<(Address, &'static str)> {
    let Network::Made { nat_gateways, .. } = &spec.network else { return vec![] };
    let mut needs: Vec<_> =
        zones.iter().map(|zone| (names::private_routes(zone), "nodes find EKS and ECR by these routes")).collect();
    needs.push((names::s3_endpoint(), "image layers come from S3"));
    if *nat_gateways == NatGateways::None {
        let endpoint = |service: &&str| (names::interface_endpoint(service), "nodes have no other way to it");
        needs.extend(SERVICES_WITHOUT_WAY_OUT.iter().map(endpoint));
    }
    needs
}

/// True where the stack has the group [`names::efa_group`]: every EFA interface of a node carries it, and so does a file system
/// that speaks EFA.
pub fn has_efa_group(spec: &Spec, choices: &Choices) -> bool {
    efa_reasons(spec, choices).is_some()
}

fn efa_reasons(spec: &Spec, choices: &Choices) -> Option<String> {
    let classes: Vec<_> =
        choices.classes.iter().filter(|(_, class)| class.efa > 0).map(|(name, _)| name.as_str()).collect();
    let mut reasons: Vec<String> = vec![];
    if !classes.is_empty() {
        reasons.push(format!("nodeClasses[].efa of {}", classes.join(", ")));
    }
    if spec.weights.as_ref().and_then(|weights| weights.fsx.as_ref()).is_some_and(|fsx| fsx.efa) {
        reasons.push("weights.fsx.efa".to_owned());
    }
    (!reasons.is_empty()).then(|| reasons.join(" and "))
}

/// Wished whatever the Kubernetes version: from 1.33 on EKS puts the same rules into the cluster's group, but only there and for
/// managed groups.
fn efa_group(graph: &mut DesiredGraph, spec: &Spec, choices: &Choices) {
    let Some(reasons) = efa_reasons(spec, choices) else { return };
    let want = security_group::Desired {
        vpc: vpc(spec),
        name: names::security_group_name(&graph.identity, "efa"),
        description: "infer-stack: EFA between nodes".to_owned(),
        ingress: vec![Rule::all(Peer::Itself)],
        // Not covered by the rule to 0.0.0.0/0: EFA wants a rule that names the group, in both directions.
        egress: vec![Rule::all(Peer::Itself)],
    };
    graph.wish(
        &SecurityGroup,
        &names::efa_group(),
        &want,
        format!("{reasons}: EFA wants a group that trusts itself both ways"),
    );
}

fn lustre_group(graph: &mut DesiredGraph, spec: &Spec) {
    if spec.weights.as_ref().is_none_or(|weights| weights.source != WeightSource::Fsx) {
        return;
    }
    let nodes = Peer::Group(Link::to(&names::cluster(), "security-group"));
    let rules = |peer: &Peer| LUSTRE.map(|(from, to)| Rule::tcp(from, to, peer.clone()));
    let want = security_group::Desired {
        vpc: vpc(spec),
        name: names::security_group_name(&graph.identity, "fsx"),
        description: "infer-stack: Lustre from the nodes".to_owned(),
        ingress: [rules(&nodes), rules(&Peer::Itself)].concat(),
        // Out goes everything by EC2's own rule.
        egress: vec![],
    };
    let because = "weights.source: fsx, which is refused without the Lustre ports 988 and 1018–1023";
    graph.wish(&SecurityGroup, &names::fsx_group(), &want, because);
}

/// A network made here.
struct Made<'a> {
    spec: &'a Spec,
    choices: &'a Choices,
    cidr: Ipv4Net,
    nat_gateways: NatGateways,
    shares: BTreeMap<String, Share>,
}

impl Made<'_> {
    fn wish(&self, graph: &mut DesiredGraph) {
        let want = vpc::Desired { cidr: self.cidr, dns_support: true, dns_hostnames: true };
        graph.wish(&Vpc, &names::vpc(), &want, format!("network.cidr: {}", self.cidr));
        self.subnets(graph);
        self.internet_gateway(graph);
        self.nat_gateways(graph);
        self.private_routes(graph);
        self.s3_endpoint(graph);
        if self.nat_gateways == NatGateways::None {
            self.interface_endpoints(graph);
        }
    }

    fn zones(&self) -> impl Iterator<Item = &String> {
        self.choices.zones.value.iter().collect::<BTreeSet<_>>().into_iter()
    }

    /// The file's setting, for reasons.
    fn setting(&self) -> &'static str {
        match self.nat_gateways {
            NatGateways::One => "network.natGateways: one",
            NatGateways::PerZone => "network.natGateways: perZone",
            NatGateways::Regional => "network.natGateways: regional",
            NatGateways::None => "network.natGateways: none",
        }
    }

    /// Where each zonal gateway stands: its name, and its zone.
    fn zonal_gateways(&self) -> BTreeMap<&str, &str> {
        match self.nat_gateways {
            NatGateways::One => {
                let zone = self.choices.nat_zone.as_ref().map(|choice| choice.value.as_str());
                zone.or_else(|| self.zones().next().map(String::as_str))
                    .map(|zone| ("main", zone))
                    .into_iter()
                    .collect()
            }
            NatGateways::PerZone => self.zones().map(|zone| (zone.as_str(), zone.as_str())).collect(),
            NatGateways::Regional | NatGateways::None => BTreeMap::new(),
        }
    }

    fn faces_internet(&self) -> bool {
        let ingress = self.spec.serving.as_ref().and_then(|serving| serving.ingress.as_ref());
        ingress.is_some_and(|ingress| ingress.scheme == IngressScheme::InternetFacing)
    }

    /// Zones with a public subnet, and why. Nothing is public that nothing stands in: a public subnet holds a zonal NAT gateway or
    /// an internet-facing balancer, which wants two zones or more; a regional gateway stands beside the subnets.
    fn public_zones(&self) -> BTreeMap<&str, String> {
        let mut zones: BTreeMap<&str, String> =
            self.zonal_gateways().into_values().map(|zone| (zone, self.setting().to_owned())).collect();
        if self.faces_internet() {
            for zone in self.zones() {
                let because = "serving.ingress.scheme: internetFacing".to_owned();
                zones.entry(zone).and_modify(|why| *why = format!("{why}, {because}")).or_insert(because);
            }
        }
        zones
    }

    fn subnets(&self, graph: &mut DesiredGraph) {
        let subnet = |zone: &str, cidr: Ipv4Net, role: &str| subnet::Desired {
            vpc: Link::to(&names::vpc(), "id"),
            cidr,
            zone: zone.to_owned(),
            map_public_ip: false,
            roles: Tags::from([(role.to_owned(), "1".to_owned())]),
        };
        for (zone, share) in &self.shares {
            let want = subnet(zone, share.private, ROLE_INTERNAL_ELB);
            let because = format!("network.zones: {zone}, because {}", self.choices.zones.because);
            graph.wish(&Subnet, &names::private_subnet(zone), &want, because);
        }
        for (zone, because) in self.public_zones() {
            if let Some(share) = self.shares.get(zone) {
                let want = subnet(zone, share.public, ROLE_ELB);
                graph.wish(&Subnet, &names::public_subnet(zone), &want, because);
            }
        }
    }

    /// With its public routes, where there are public subnets.
    fn internet_gateway(&self, graph: &mut DesiredGraph) {
        let public = self.public_zones();
        if public.is_empty() && self.nat_gateways != NatGateways::Regional {
            return;
        }
        let because = public.values().next().cloned().unwrap_or_else(|| self.setting().to_owned());
        let want = internet_gateway::Desired { vpc: Some(Link::to(&names::vpc(), "id")) };
        graph.wish(&InternetGateway, &names::internet_gateway(), &want, because);
        if public.is_empty() {
            return;
        }
        let want = route_table::Desired {
            vpc: Link::to(&names::vpc(), "id"),
            routes: vec![default_route(Via::InternetGateway(Link::to(&names::internet_gateway(), "id")))],
            subnets: public.keys().map(|zone| Link::to(&names::public_subnet(zone), "id")).collect(),
        };
        graph.wish(&RouteTable, &names::public_routes(), &want, "public subnets are public by their route");
    }

    fn nat_gateways(&self, graph: &mut DesiredGraph) {
        let vpc = Link::to(&names::vpc(), "id");
        let mut wishes = vec![];
        for (name, zone) in self.zonal_gateways() {
            let want = elastic_ip::Desired { pool: AMAZON_POOL.to_owned() };
            graph.wish(&ElasticIp, &names::elastic_ip(name), &want, format!("{}: its address", self.setting()));
            let want = nat_gateway::Desired::Zonal {
                vpc: vpc.clone(),
                subnet: Link::to(&names::public_subnet(zone), "id"),
                allocation: Some(Link::to(&names::elastic_ip(name), "id")),
            };
            let because = match &self.choices.nat_zone {
                Some(choice) if name == "main" => format!("{}, in {zone}, because {}", self.setting(), choice.because),
                _ => self.setting().to_owned(),
            };
            wishes.push((names::nat_gateway(name), want, because));
        }
        if self.nat_gateways == NatGateways::Regional {
            let zones = u32::try_from(self.shares.len()).unwrap_or(u32::MAX);
            wishes.push((regional_gateway(), nat_gateway::Desired::Regional { vpc, zones }, self.setting().to_owned()));
        }
        for (address, want, because) in wishes {
            graph
                .wish(&NatGateway, &address, &want, because)
                .after(names::internet_gateway(), "a NAT gateway is refused in a VPC without an internet gateway");
        }
    }

    /// One table a zone, also where all lead to one gateway, so that a change of `natGateways` changes routes, not tables.
    fn private_routes(&self, graph: &mut DesiredGraph) {
        let zonal = self.zonal_gateways();
        for zone in self.zones() {
            let gateway = match self.nat_gateways {
                NatGateways::One => zonal.keys().next().map(|name| names::nat_gateway(name)),
                NatGateways::PerZone => Some(names::nat_gateway(zone)),
                NatGateways::Regional => Some(regional_gateway()),
                NatGateways::None => None,
            };
            let route = |gateway: &Address| default_route(Via::NatGateway(Link::to(gateway, "id")));
            let want = route_table::Desired {
                vpc: Link::to(&names::vpc(), "id"),
                routes: gateway.iter().map(route).collect(),
                subnets: vec![Link::to(&names::private_subnet(zone), "id")],
            };
            graph.wish(&RouteTable, &names::private_routes(zone), &want, self.setting());
        }
    }

    fn s3_endpoint(&self, graph: &mut DesiredGraph) {
        let want = vpc_endpoint::Desired::Gateway {
            vpc: Link::to(&names::vpc(), "id"),
            service: self.service("s3"),
            // Only where nodes are: nothing in a public subnet reads from S3.
            route_tables: self.zones().map(|zone| Link::to(&names::private_routes(zone), "id")).collect(),
        };
        let because = "weights and image layers come from S3, and a gateway endpoint bills neither hours nor gigabytes";
        graph.wish(&VpcEndpoint, &names::s3_endpoint(), &want, because);
    }

    fn interface_endpoints(&self, graph: &mut DesiredGraph) {
        let want = security_group::Desired {
            vpc: Link::to(&names::vpc(), "id"),
            name: names::security_group_name(&graph.identity, "endpoints"),
            description: "infer-stack: AWS services from inside the VPC".to_owned(),
            ingress: vec![Rule::tcp(443, 443, Peer::Cidr(IpNet::V4(self.cidr)))],
            egress: vec![],
        };
        graph.wish(
            &SecurityGroup,
            &names::endpoint_group(),
            &want,
            format!("{}: interface endpoints answer on 443", self.setting()),
        );
        for service in SERVICES_WITHOUT_WAY_OUT {
            let want = vpc_endpoint::Desired::Interface {
                vpc: Link::to(&names::vpc(), "id"),
                service: self.service(service),
                subnets: self.zones().map(|zone| Link::to(&names::private_subnet(zone), "id")).collect(),
                groups: vec![Link::to(&names::endpoint_group(), "id")],
                private_dns: true,
            };
            let because = format!("{}: there is no other way to {service}", self.setting());
            graph.wish(&VpcEndpoint, &names::interface_endpoint(service), &want, because);
        }
    }

    fn service(&self, service: &str) -> String {
        format!("com.amazonaws.{}.{service}", self.spec.region)
    }
}

/// Not `main`: a change between zonal and regional then makes the new gateway beside the old one, and routes move before the old
/// one goes.
fn regional_gateway() -> Address {
    names::nat_gateway("regional")
}
