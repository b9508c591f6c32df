//! The network of the simulated account: VPCs, subnets, ways out, route tables, security groups, endpoints, interfaces. Must
//! never let go of what something else leans on.
//!
//! Other areas put interfaces into subnets by [`World::make_interface`], [`World::attach_interface`],
//! [`World::detach_interface`] (which leaves one behind) and [`World::drop_interface`].

mod acl;
mod address;
mod brought;
mod endpoint;
mod group;
mod group_rule;
mod interface;
mod interface_view;
mod internet_gateway;
mod nat_gateway;
mod permission;
mod prefix_list;
mod route;
mod route_table;
mod subnet;
mod vpc;
mod zone;

pub use group::NewGroup;
pub use interface::{Holder, Interface, NewInterface, Public, Seat};
pub use permission::{Peer, Permission};
pub use subnet::Subnet;

use super::{Handler, Table, World};
use crate::stack::names::hash;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, net::Ipv4Addr};

pub(super) static TABLE: Table = &[
    ("ec2", "CreateVpc", vpc::create as Handler),
    ("ec2", "DeleteVpc", vpc::delete),
    ("ec2", "DescribeVpcs", vpc::list),
    ("ec2", "ModifyVpcAttribute", vpc::modify),
    ("ec2", "DescribeVpcAttribute", vpc::attribute),
    ("ec2", "CreateSubnet", subnet::create),
    ("ec2", "DeleteSubnet", subnet::delete),
    ("ec2", "DescribeSubnets", subnet::list),
    ("ec2", "ModifySubnetAttribute", subnet::modify),
    ("ec2", "CreateInternetGateway", internet_gateway::create),
    ("ec2", "AttachInternetGateway", internet_gateway::attach),
    ("ec2", "DetachInternetGateway", internet_gateway::detach),
    ("ec2", "DeleteInternetGateway", internet_gateway::delete),
    ("ec2", "DescribeInternetGateways", internet_gateway::list),
    ("ec2", "AllocateAddress", address::allocate),
    ("ec2", "ReleaseAddress", address::release),
    ("ec2", "DisassociateAddress", address::disassociate),
    ("ec2", "DescribeAddresses", address::list),
    ("ec2", "DescribeAddressesAttribute", address::attributes),
    ("ec2", "CreateNatGateway", nat_gateway::create),
    ("ec2", "DeleteNatGateway", nat_gateway::delete),
    ("ec2", "DescribeNatGateways", nat_gateway::list),
    ("ec2", "CreateRouteTable", route_table::create),
    ("ec2", "DeleteRouteTable", route_table::delete),
    ("ec2", "DescribeRouteTables", route_table::list),
    ("ec2", "AssociateRouteTable", route_table::associate),
    ("ec2", "DisassociateRouteTable", route_table::disassociate),
    ("ec2", "ReplaceRouteTableAssociation", route_table::replace_association),
    ("ec2", "CreateRoute", route::create),
    ("ec2", "ReplaceRoute", route::replace),
    ("ec2", "DeleteRoute", route::delete),
    ("ec2", "CreateVpcEndpoint", endpoint::create),
    ("ec2", "DeleteVpcEndpoints", endpoint::delete),
    ("ec2", "ModifyVpcEndpoint", endpoint::modify),
    ("ec2", "DescribeVpcEndpoints", endpoint::list),
    ("ec2", "DescribeVpcEndpointServices", prefix_list::services),
    ("ec2", "DescribePrefixLists", prefix_list::list),
    ("ec2", "DescribeManagedPrefixLists", prefix_list::managed),
    ("ec2", "CreateSecurityGroup", group::create),
    ("ec2", "DeleteSecurityGroup", group::delete),
    ("ec2", "DescribeSecurityGroups", group::list),
    ("ec2", "DescribeSecurityGroupRules", group_rule::list),
    ("ec2", "AuthorizeSecurityGroupIngress", group_rule::authorize),
    ("ec2", "AuthorizeSecurityGroupEgress", group_rule::authorize),
    ("ec2", "RevokeSecurityGroupIngress", group_rule::revoke),
    ("ec2", "RevokeSecurityGroupEgress", group_rule::revoke),
    ("ec2", "CreateNetworkInterface", interface::create),
    ("ec2", "DeleteNetworkInterface", interface::delete),
    ("ec2", "DetachNetworkInterface", interface::detach),
    ("ec2", "ModifyNetworkInterfaceAttribute", interface::modify),
    ("ec2", "DescribeNetworkInterfaces", interface_view::list),
    ("ec2", "DescribeNetworkAcls", acl::list),
    ("ec2", "DescribeAvailabilityZones", zone::list),
    ("ec2", "DescribeRegions", zone::regions),
    ("ec2", "DescribeAccountAttributes", zone::account_attributes),
];

/// What happens to networks by itself, later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Deed {
    /// A gateway that was asked for is there, or failed.
    NatGatewayComes {
        region: String,
        id: String,
    },
    NatGatewayGoes {
        region: String,
        id: String,
    },
    /// Its record is not listed any more.
    NatGatewayForgotten {
        region: String,
        id: String,
    },
    /// A regional gateway reaches zones of its VPC that got interfaces.
    NatGatewaySpreads {
        region: String,
        id: String,
    },
    EndpointComes {
        region: String,
        id: String,
    },
    EndpointGoes {
        region: String,
        id: String,
    },
}

pub(super) fn happen(world: &mut World, deed: Deed) {
    match deed {
        Deed::NatGatewayComes { region, id } => nat_gateway::comes(world, &region, &id),
        Deed::NatGatewayGoes { region, id } => nat_gateway::goes(world, &region, &id),
        Deed::NatGatewayForgotten { region, id } => nat_gateway::forgotten(world, &region, &id),
        Deed::NatGatewaySpreads { region, id } => nat_gateway::spreads(world, &region, &id),
        Deed::EndpointComes { region, id } => endpoint::comes(world, &region, &id),
        Deed::EndpointGoes { region, id } => endpoint::goes(world, &region, &id),
    }
}

/// By region.
pub type Network = BTreeMap<String, Region>;

/// The network of one region, by ids.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Region {
    pub(super) vpcs: BTreeMap<String, vpc::Vpc>,
    pub(super) subnets: BTreeMap<String, Subnet>,
    internet_gateways: BTreeMap<String, internet_gateway::InternetGateway>,
    addresses: BTreeMap<String, address::Address>,
    nat_gateways: BTreeMap<String, nat_gateway::NatGateway>,
    route_tables: BTreeMap<String, route_table::RouteTable>,
    endpoints: BTreeMap<String, endpoint::Endpoint>,
    pub(super) groups: BTreeMap<String, group::Group>,
    pub(super) interfaces: BTreeMap<String, Interface>,
    acls: BTreeMap<String, acl::Acl>,
    /// Public addresses given out so far.
    published: u32,
}

static EMPTY: Region = Region {
    vpcs: BTreeMap::new(),
    subnets: BTreeMap::new(),
    internet_gateways: BTreeMap::new(),
    addresses: BTreeMap::new(),
    nat_gateways: BTreeMap::new(),
    route_tables: BTreeMap::new(),
    endpoints: BTreeMap::new(),
    groups: BTreeMap::new(),
    interfaces: BTreeMap::new(),
    acls: BTreeMap::new(),
    published: 0,
};

impl Region {
    /// A public address that nothing had before, of the block that is set aside for benchmarks (RFC 2544): nobody's traffic
    /// goes there.
    fn next_public(&mut self) -> Ipv4Addr {
        self.published = (self.published + 1) % (1 << 17);
        Ipv4Addr::from(u32::from(Ipv4Addr::new(198, 18, 0, 0)) + self.published)
    }
}

impl World {
    pub fn net(&self, region: &str) -> &Region {
        self.network.get(region).unwrap_or(&EMPTY)
    }

    pub(super) fn net_mut(&mut self, region: &str) -> &mut Region {
        self.network.entry(region.to_owned()).or_default()
    }
}

/// A MAC address of the locally administered kind, the same for the same id.
fn random_mac(id: &str) -> String {
    let digits = hash(id, 10);
    let pairs: Vec<_> = (0..5).map(|n| &digits[2 * n..2 * n + 2]).collect();
    format!("02:{}", pairs.join(":"))
}
