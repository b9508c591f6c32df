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

#[cfg(feature = "aws")]
mod live {
    use super::{Association, Desired, LiveRoute, Observed, Route, RouteTable, Via};
    use crate::{
        aws::{
            Aws,
            answers::{deleted, field, found, parsed},
            ec2::{changes, filter, in_vpc, listed, of_stack, retag, stamped, tags},
            failed,
        },
        contract::{CloudError, Kind, Live},
        model::{Link, PhysicalId, Scope, Stamp},
    };
    use aws_sdk_ec2::types::{self, Filter, ResourceType};
    use ipnet::IpNet;

    const DESCRIBE: &str = "ec2:DescribeRouteTables";

    fn route(route: types::Route) -> Result<LiveRoute, CloudError> {
        let destination = route.destination_cidr_block.or(route.destination_ipv6_cidr_block);
        let others = [
            route.vpc_peering_connection_id,
            route.transit_gateway_id,
            route.network_interface_id,
            route.egress_only_internet_gateway_id,
            route.local_gateway_id,
            route.carrier_gateway_id,
            route.core_network_arn,
            route.instance_id,
        ];
        Ok(LiveRoute {
            destination: destination.map(|block| parsed(DESCRIBE, "destination", Some(block))).transpose()?,
            prefix_list_id: route.destination_prefix_list_id,
            gateway_id: route.gateway_id,
            nat_gateway_id: route.nat_gateway_id,
            other_target: others.into_iter().flatten().next(),
            origin: field(DESCRIBE, "origin", route.origin)?.as_str().to_owned(),
            state: field(DESCRIBE, "state", route.state)?.as_str().to_owned(),
        })
    }

    fn association(association: types::RouteTableAssociation) -> Result<Association, CloudError> {
        let state = association.association_state.and_then(|state| state.state);
        Ok(Association {
            association_id: field(DESCRIBE, "associationId", association.route_table_association_id)?,
            subnet_id: association.subnet_id,
            state: field(DESCRIBE, "associationState", state)?.as_str().to_owned(),
        })
    }

    fn observe(table: types::RouteTable) -> Result<Observed, CloudError> {
        Ok(Observed {
            route_table_id: field(DESCRIBE, "routeTableId", table.route_table_id)?,
            vpc_id: field(DESCRIBE, "vpcId", table.vpc_id)?,
            routes: table.routes.into_iter().flatten().map(route).collect::<Result<_, _>>()?,
            associations: table.associations.into_iter().flatten().map(association).collect::<Result<_, _>>()?,
            tags: tags(table.tags),
        })
    }

    fn is_main(table: &types::RouteTable) -> bool {
        table.associations.iter().flatten().any(|association| association.main == Some(true))
    }

    async fn look(aws: &Aws, filter: Filter) -> Result<Vec<Observed>, CloudError> {
        let pages = aws.ec2().describe_route_tables().filters(filter).into_paginator().items().send();
        let tables = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(DESCRIBE))?;
        tables.into_iter().filter(|table| !is_main(table)).map(observe).collect()
    }

    async fn there(aws: &Aws, id: &str) -> Result<Observed, CloudError> {
        field(DESCRIBE, id, RouteTable::read(aws, id).await?)
    }

    /// Sets the one route of a destination: a new one, or another target for one that is there.
    macro_rules! lead {
        ($request:expr, $id:expr, $route:expr) => {{
            let request = $request.route_table_id($id);
            let request = match $route.to {
                IpNet::V4(block) => request.destination_cidr_block(block.to_string()),
                IpNet::V6(block) => request.destination_ipv6_cidr_block(block.to_string()),
            };
            match &$route.via {
                Via::InternetGateway(link) => request.gateway_id(link.target()),
                Via::NatGateway(link) => request.nat_gateway_id(link.target()),
                Via::Other(other) => match other.split('-').next() {
                    Some("pcx") => request.vpc_peering_connection_id(other),
                    Some("tgw") => request.transit_gateway_id(other),
                    Some("eni") => request.network_interface_id(other),
                    Some("eigw") => request.egress_only_internet_gateway_id(other),
                    _ => request.gateway_id(other),
                },
            }
        }};
    }

    async fn bring_routes(aws: &Aws, id: &str, live: &Observed, want: &[Route]) -> Result<(), CloudError> {
        let have = RouteTable::project(live).routes;
        for route in want.iter().filter(|route| !have.contains(route)) {
            if have.iter().any(|other| other.to == route.to) {
                let request = lead!(aws.ec2().replace_route(), id, route);
                request.send().await.map_err(failed("ec2:ReplaceRoute"))?;
            } else {
                let request = lead!(aws.ec2().create_route(), id, route);
                request.send().await.map_err(failed("ec2:CreateRoute"))?;
            }
        }
        for route in have.iter().filter(|route| want.iter().all(|other| other.to != route.to)) {
            let request = aws.ec2().delete_route().route_table_id(id);
            let request = match route.to {
                IpNet::V4(block) => request.destination_cidr_block(block.to_string()),
                IpNet::V6(block) => request.destination_ipv6_cidr_block(block.to_string()),
            };
            deleted(request.send().await.map_err(failed("ec2:DeleteRoute")))?;
        }
        Ok(())
    }

    async fn bring_subnets(aws: &Aws, id: &str, live: &Observed, want: &[Link]) -> Result<(), CloudError> {
        let have = RouteTable::project(live).subnets;
        for subnet in want.iter().filter(|subnet| !have.contains(subnet)) {
            associate(aws, id, subnet.target()).await?;
        }
        let surplus = live.associations.iter().filter(|association| {
            association.holds()
                && association.subnet_id.as_ref().is_some_and(|subnet| want.iter().all(|link| link.target() != subnet))
        });
        for association in surplus {
            disassociate(aws, association).await?;
        }
        Ok(())
    }

    /// A subnet has one explicit association: one with another table is moved, so that it is never without.
    async fn associate(aws: &Aws, id: &str, subnet: &str) -> Result<(), CloudError> {
        let elsewhere = look(aws, filter("association.subnet-id", subnet)).await?;
        let held = elsewhere.iter().flat_map(|table| &table.associations);
        let moved = held.into_iter().find(|its| its.subnet_id.as_deref() == Some(subnet) && its.holds());
        match moved {
            Some(association) => {
                let request = aws.ec2().replace_route_table_association().route_table_id(id);
                let request = request.association_id(&association.association_id);
                request.send().await.map_err(failed("ec2:ReplaceRouteTableAssociation")).map(drop)
            }
            None => {
                let request = aws.ec2().associate_route_table().route_table_id(id).subnet_id(subnet);
                request.send().await.map_err(failed("ec2:AssociateRouteTable")).map(drop)
            }
        }
    }

    async fn disassociate(aws: &Aws, association: &Association) -> Result<(), CloudError> {
        let request = aws.ec2().disassociate_route_table().association_id(&association.association_id);
        deleted(request.send().await.map_err(failed("ec2:DisassociateRouteTable")))
    }

    impl Live<Aws> for RouteTable {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            // The stack makes tables in its own VPC only: what is in it is all there is.
            let filter = in_vpc(scope, "vpc-id").unwrap_or_else(|| of_stack(scope));
            listed::<Self, _>([filter], |filter| look(aws, filter)).await
        }

        async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
            let answer = aws.ec2().describe_route_tables().route_table_ids(id).send().await.map_err(failed(DESCRIBE));
            found(answer)?.and_then(|answer| answer.route_tables?.pop()).map(observe).transpose()
        }

        async fn create(aws: &Aws, want: &Desired, stamp: &Stamp) -> Result<PhysicalId, CloudError> {
            let call = "ec2:CreateRouteTable";
            let request = aws
                .ec2()
                .create_route_table()
                .vpc_id(want.vpc.target())
                .client_token(&stamp.token)
                .tag_specifications(stamped(ResourceType::RouteTable, &stamp.tags));
            let answer = request.send().await.map_err(failed(call))?;
            field(call, "routeTableId", answer.route_table.and_then(|table| table.route_table_id))
        }

        async fn update(
            aws: &Aws,
            id: &str,
            want: &Desired,
            changed: &[String],
            stamp: &Stamp,
        ) -> Result<(), CloudError> {
            let (routes, subnets) = (changes(changed, "/routes"), changes(changed, "/subnets"));
            if routes || subnets {
                let live = there(aws, id).await?;
                // Routes first: a subnet that joins finds its way out.
                if routes {
                    bring_routes(aws, id, &live, &want.routes).await?;
                }
                if subnets {
                    bring_subnets(aws, id, &live, &want.subnets).await?;
                }
            }
            retag(aws, id, changed, stamp).await
        }

        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            let Some(live) = Self::read(aws, id).await? else { return Ok(()) };
            for association in live.associations.iter().filter(|association| association.holds()) {
                disassociate(aws, association).await?;
            }
            let request = aws.ec2().delete_route_table().route_table_id(id);
            deleted(request.send().await.map_err(failed("ec2:DeleteRouteTable")))
        }
    }
}
