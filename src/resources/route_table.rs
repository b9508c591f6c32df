//! A route table with its routes and the subnets that use it. Must never touch the VPC's main table: ours are explicit.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags},
};
use ipnet::{IpNet, Ipv4Net};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Routes of a table that are not propagated (VPC quota L-93826ACB's default).
const MOST_ROUTES: usize = 50;

pub struct RouteTable;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    pub vpc: Link,
    /// All routes of the table but those that AWS keeps by itself.
    pub routes: Vec<Route>,
    /// Subnets with an explicit association.
    pub subnets: Vec<Link>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Route {
    pub to: IpNet,
    pub via: Via,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Via {
    InternetGateway(Link),
    NatGateway(Link),
    /// A target that no wish has: a peering, a transit gateway, an interface.
    Other(String),
}

impl Via {
    fn target(&self) -> &str {
        match self {
            Self::InternetGateway(link) | Self::NatGateway(link) => link.target(),
            Self::Other(id) => id,
        }
    }
}

/// Where all traffic that is not for the VPC goes.
pub fn default_route(via: Via) -> Route {
    Route { to: IpNet::V4(Ipv4Net::default()), via }
}

/// DescribeRouteTables. The VPC's main table is never listed: it comes and goes with its VPC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observed {
    pub route_table_id: String,
    pub vpc_id: String,
    pub routes: Vec<LiveRoute>,
    pub associations: Vec<Association>,
    pub tags: Tags,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LiveRoute {
    /// `None` where the destination is a prefix list: what a gateway endpoint brings.
    pub destination: Option<IpNet>,
    pub prefix_list_id: Option<String>,
    /// `local`, `igw-…`, `vgw-…`, and `vpce-…` where a gateway endpoint brought it.
    pub gateway_id: Option<String>,
    pub nat_gateway_id: Option<String>,
    /// Whatever else it leads to: `pcx-…`, `tgw-…`, `eni-…`.
    pub other_target: Option<String>,
    /// `CreateRouteTable`, `CreateRoute`, `EnableVgwRoutePropagation`, `Advertisement`
    pub origin: String,
    /// `active`, `blackhole` (the target is gone), `filtered`
    pub state: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Association {
    pub association_id: String,
    /// `None` for a gateway's association.
    pub subnet_id: Option<String>,
    /// `associating`, `associated`, `disassociating`, `disassociated`, `failed`
    pub state: String,
}

impl LiveRoute {
    /// True for what AWS keeps in the table without being told: the VPC's own block, the prefix lists of gateway endpoints, and
    /// what routers and route servers announce.
    fn kept_by_aws(&self) -> bool {
        let gateway = self.gateway_id.as_deref().unwrap_or_default();
        gateway == "local" || gateway.starts_with("vpce-") || self.origin != "CreateRoute"
    }

    fn project(&self) -> Option<Route> {
        let to = self.destination.filter(|_| !self.kept_by_aws())?;
        let via = match (&self.nat_gateway_id, &self.gateway_id, &self.other_target) {
            (Some(nat), _, _) => Via::NatGateway(Link::is(nat)),
            (None, Some(gateway), _) if gateway.starts_with("vgw-") => Via::Other(gateway.clone()),
            (None, Some(gateway), _) => Via::InternetGateway(Link::is(gateway)),
            (None, None, other) => Via::Other(other.clone()?),
        };
        Some(Route { to, via })
    }

    fn imagine(to: IpNet, origin: &str) -> Self {
        Self {
            destination: Some(to),
            prefix_list_id: None,
            gateway_id: None,
            nat_gateway_id: None,
            other_target: None,
            origin: origin.to_owned(),
            state: "active".to_owned(),
        }
    }
}

impl Association {
    fn holds(&self) -> bool {
        matches!(self.state.as_str(), "associating" | "associated")
    }
}

impl Kind for RouteTable {
    const NAME: &'static str = "route-table";
    const AWS_NAME: &'static str = "ec2:route-table";
    const LAYER: Layer = Layer::Network;
    const OWNERSHIP: Ownership = Ownership::ByTag;
    const FIELDS: &'static [Field] = &[
        Field::immutable("/vpc"),
        // A gateway can be deleted while routes name it: they turn to black holes, and the next look puts them right.
        Field::in_place("/routes").set(),
        // A subnet can be deleted while associated; the association goes with it. The table can't: its live half takes the
        // associations off first.
        Field::in_place("/subnets").set(),
    ];
    const PATIENCE: Patience = Patience::INSTANT;

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.route_table_id.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        Outputs::from([("id".to_owned(), live.route_table_id.clone())])
    }
    fn project(live: &Observed) -> Desired {
        let held = live.associations.iter().filter(|association| association.holds());
        Desired {
            vpc: Link::is(&live.vpc_id),
            routes: live.routes.iter().filter_map(LiveRoute::project).collect(),
            subnets: held.filter_map(|association| association.subnet_id.as_ref()).map(Link::is).collect(),
        }
    }
    fn ready(live: &Observed) -> Readiness {
        match live.associations.iter().find(|association| association.state == "associating") {
            Some(association) => {
                Readiness::Pending(format!("associating {}", association.subnet_id.as_deref().unwrap_or("a gateway")))
            }
            None => Readiness::Ready,
        }
    }
    fn headline(want: &Desired) -> String {
        let route = |route: &Route| format!("{} → {}", route.to, route.via.target());
        let routes = match &want.routes[..] {
            [] => "local only".to_owned(),
            routes => routes.iter().map(route).collect::<Vec<_>>().join(", "),
        };
        let subnets = want.subnets.iter().map(Link::target).collect::<Vec<_>>().join(", ");
        if subnets.is_empty() { routes } else { format!("{routes}, for {subnets}") }
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = vec![];
        if want.routes.len() > MOST_ROUTES {
            broken.push(format!("{} routes: a route table holds {MOST_ROUTES}", want.routes.len()));
        }
        let mut seen = BTreeSet::new();
        for route in want.routes.iter().filter(|route| !seen.insert(route.to)) {
            broken.push(format!("{}: a destination has one route", route.to));
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        let to = |kind: &str, name: &str| Link::to(&Address::new(kind, name), "id");
        let table = |via, subnets| Desired { vpc: to("vpc", "main"), routes: vec![default_route(via)], subnets };
        let mut peered = table(Via::NatGateway(to("nat-gateway", "main")), vec![to("subnet", "private-usw2-az1")]);
        let office = IpNet::V4(Ipv4Net::new_assert([192, 168, 0, 0].into(), 16));
        peered.routes.push(Route { to: office, via: Via::Other("pcx-0a1b2c3d4e5f60718".to_owned()) });
        let public = vec![to("subnet", "public-usw2-az1"), to("subnet", "public-usw2-az2")];
        vec![peered, table(Via::InternetGateway(to("internet-gateway", "main")), public)]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        let route = |route: &Route| {
            let bare = LiveRoute::imagine(route.to, "CreateRoute");
            match &route.via {
                Via::InternetGateway(link) => LiveRoute { gateway_id: Some(link.target().to_owned()), ..bare },
                Via::NatGateway(link) => LiveRoute { nat_gateway_id: Some(link.target().to_owned()), ..bare },
                Via::Other(id) => LiveRoute { other_target: Some(id.clone()), ..bare },
            }
        };
        let own_block = IpNet::V4(Ipv4Net::new_assert([10, 64, 0, 0].into(), 16));
        let local =
            LiveRoute { gateway_id: Some("local".to_owned()), ..LiveRoute::imagine(own_block, "CreateRouteTable") };
        let state = if phase == Phase::Changing { "associating" } else { "associated" };
        let association = |(n, subnet): (usize, &Link)| Association {
            association_id: format!("rtbassoc-{n}{}", id.trim_start_matches("rtb-0")),
            subnet_id: Some(subnet.target().to_owned()),
            state: state.to_owned(),
        };
        Observed {
            route_table_id: id.to_owned(),
            vpc_id: want.vpc.target().to_owned(),
            routes: std::iter::once(local).chain(want.routes.iter().map(route)).collect(),
            associations: want.subnets.iter().enumerate().map(association).collect(),
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(_: &Desired, serial: &str) -> PhysicalId {
        format!("rtb-0{serial}")
    }
}
