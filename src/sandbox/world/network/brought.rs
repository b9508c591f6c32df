//! Networks that stack files bring along and that somebody else made. Must never change one that is there.

use super::{internet_gateway::InternetGateway, route::Route, subnet::Subnet, vpc};
use crate::{
    model::Tags,
    sandbox::{wire::Fault, world::World},
};
use ipnet::Ipv4Net;

impl World {
    /// Lets a VPC appear under its id, with subnets (id, zone id) and all that a stack asks of a network: both DNS attributes
    /// and a way out. Of one that is there only missing subnets appear, as far as its block reaches.
    pub fn bring_network(&mut self, region: &str, id: &str, subnets: &[(String, String)]) -> Result<(), Fault> {
        if self.net(region).vpc(id).is_err() {
            let n = u8::try_from(self.net(region).vpcs.len() % 200).unwrap_or_default();
            let cidr = Ipv4Net::new_assert([10, n, 0, 0].into(), 16);
            vpc::make(self, region, id, cidr, Tags::new())?;
            let door = self.id("igw");
            let net = self.net_mut(region);
            if let Some(vpc) = net.vpcs.get_mut(id) {
                vpc.dns_hostnames = true;
                vpc.ready = 0;
            }
            net.internet_gateways.insert(door.clone(), InternetGateway { vpc: Some(id.to_owned()) });
            let route = Route::new("0.0.0.0/0", "GatewayId", &door, "CreateRoute");
            let mains = net.route_tables.values_mut().filter(|table| table.vpc == id && table.is_main());
            mains.for_each(|table| table.routes.push(route.clone()));
            self.register(region, "internet-gateway", &door, Tags::new());
        }
        for (subnet, zone) in subnets {
            if self.net(region).subnet(subnet).is_ok() {
                continue;
            }
            let net = self.net(region);
            let blocks = net.vpc(id)?.cidr.subnets(20).into_iter().flatten();
            let taken: Vec<_> = net.subnets.values().filter(|its| its.vpc == id).map(|its| its.cidr).collect();
            let free = blocks
                .into_iter()
                .find(|block| !taken.iter().any(|other| other.contains(block) || block.contains(other)));
            let Some(cidr) = free else { continue };
            let new = Subnet {
                vpc: id.to_owned(),
                cidr,
                zone: zone.clone(),
                map_public_ip: false,
                a_records: false,
                acl_association: self.id("aclassoc"),
            };
            self.net_mut(region).subnets.insert(subnet.clone(), new);
            self.register(region, "subnet", subnet, Tags::new());
        }
        Ok(())
    }
}
