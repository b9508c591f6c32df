//! The network: either made or brought along, large enough, in zones that exist and that EKS takes. Must never ask what is there.

use super::{Judge, count};
use crate::resources::addon::MINIMUM_IP_TARGET;
use crate::stack::carve::LONGEST_PREFIX;
use crate::stack::diagnostic::Diagnostic;
use crate::stack::read::accelerated;
use crate::stack::{Network, suggest};
use ipnet::Ipv4Net;

/// A VPC's prefix lengths.
const SHORTEST_PREFIX: u8 = 16;
/// What control plane, balancers and EC2 itself take of a subnet (EKS advises 16 free ones; EC2 keeps 5).
const KEPT: u64 = 21;

impl Judge<'_> {
    pub(super) fn network(&mut self) {
        self.region();
        let says = |key: &str| self.places.says(&format!("/network/{key}"));
        let made = ["cidr", "zones", "natGateways"].into_iter().find(|key| says(key));
        let brought = ["vpc", "subnets"].into_iter().find(|key| says(key));
        if let (Some(made), Some(brought)) = (made, brought) {
            let diagnostic = Diagnostic::error(
                "network-mixed",
                self.at(&format!("/network/{made}")),
                format!("`{made}` is for a network that is made, `{brought}` for one brought along"),
                "a network is either made or brought along: leave one out",
            );
            let other = self.at(&format!("/network/{brought}"));
            self.found.push(diagnostic.related(other, "brought along here"));
        }
        match &self.spec.network {
            Network::Made { cidr, zones, .. } => {
                if self.sound(&["/network/cidr"]) {
                    self.cidr(*cidr);
                }
                if let Some(zones) = zones.as_ref().filter(|_| self.sound(&["/network/zones", "/region"])) {
                    self.zones(zones);
                }
            }
            Network::Brought { vpc, nodes, control_plane, load_balancers } => {
                let lists = [("nodes", nodes), ("controlPlane", control_plane), ("loadBalancers", load_balancers)];
                self.brought(vpc, lists);
            }
        }
    }

    fn region(&mut self) {
        let region = self.spec.region.as_str();
        let known = self.catalog.regions();
        if !self.sound(&["/region"]) || known.contains(region) {
            return;
        }
        let label = match suggest::nearest(region, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "the account decides whether it is there".to_owned(),
        };
        self.warn("region-unknown", "/region", format!("the catalogue knows no region `{region}`"), label);
    }

    fn cidr(&mut self, cidr: Ipv4Net) {
        const PATH: &str = "/network/cidr";
        let prefix = cidr.prefix_len();
        if cidr.trunc() != cidr {
            let label = format!("the block that holds it is `{}`", cidr.trunc());
            return self.error(
                "cidr-host-bits",
                PATH,
                format!("`{cidr}` is an address inside a block, no block"),
                label,
            );
        }
        if !(SHORTEST_PREFIX..=28).contains(&prefix) {
            let label = "a VPC is /16 to /28: write `10.64.0.0/16`";
            return self.error("cidr-size", PATH, format!("a VPC can't be a /{prefix}"), label);
        }
        if prefix > LONGEST_PREFIX {
            let label = format!("/{LONGEST_PREFIX} is the smallest that leaves every zone room: widen it");
            return self.error("cidr-small", PATH, format!("a /{prefix} is too small to be cut into zones"), label);
        }
        if !cidr.addr().is_private() && !shared(cidr) {
            self.warn(
                "cidr-public",
                PATH,
                format!("`{cidr}` are addresses of the internet"),
                "nodes could not reach their true owners: take a block of 10/8, 172.16/12, 192.168/16 or 100.64/10",
            );
        }
        self.room(cidr);
    }

    /// A class with accelerators stands in one zone, so its most nodes share one private subnet: an eighth of the block.
    fn room(&mut self, cidr: Ipv4Net) {
        let one_zone =
            |class: &&crate::stack::NodeClass| class.zone.is_some() || accelerated(self.catalog, &class.instance_types);
        let Some(largest) = self.spec.node_classes.iter().filter(one_zone).max_by_key(|class| class.nodes.max) else {
            return;
        };
        if !self.sound(&["/nodeClasses"]) {
            return;
        }
        let each = u64::from(MINIMUM_IP_TARGET) + 1;
        let needed = u64::from(largest.nodes.max) * each + KEPT;
        let holds = |prefix: u8| 1_u64 << (32 - u32::from(prefix) - 3);
        if needed <= holds(cidr.prefix_len()) {
            return;
        }
        let wide = (SHORTEST_PREFIX..=LONGEST_PREFIX).rev().find(|prefix| needed <= holds(*prefix));
        let label = match wide {
            Some(prefix) => format!("a /{prefix} has room"),
            None => "not even a /16 has room: lower `max`, or use several classes in several zones".to_owned(),
        };
        let message = format!(
            "`{cidr}` gives a zone {} addresses, and {} of `{}` need {needed}",
            holds(cidr.prefix_len()),
            count(largest.nodes.max, "node"),
            largest.name,
        );
        self.error("cidr-small", "/network/cidr", message, label);
    }

    fn zones(&mut self, zones: &[String]) {
        let path = |index: usize| format!("/network/zones/{index}");
        self.unique("zone-twice", "zone", zones.iter().enumerate().map(|(i, zone)| (path(i), zone.as_str())));
        for (index, zone) in zones.iter().enumerate() {
            self.zone_of_region(zone, &path(index));
        }
        let refused = self.catalog.refused_control_plane_zones();
        let mut able = zones.iter().filter(|zone| !refused.contains(zone)).collect::<Vec<_>>();
        able.sort();
        able.dedup();
        for (index, zone) in zones.iter().enumerate().filter(|(_, zone)| refused.contains(zone)) {
            let used = self.spec.node_classes.iter().any(|class| class.zone.as_ref() == Some(zone));
            if !used {
                let label = "take another zone; only a class that names it with `zone` can use it, beside two others";
                self.error("zone-refused", &path(index), format!("EKS takes no control plane in {zone}"), label);
            }
        }
        if able.len() < 2 {
            let message = format!("the control plane needs two zones, and gets {}", able.len());
            self.error("zones-few", "/network/zones", message, "name another zone of the region, or leave `zones` out");
        }
    }

    /// A zone id that begins like another region's.
    pub(super) fn zone_of_region(&mut self, zone: &str, path: &str) {
        let region = self.spec.region.as_str();
        let (Some(short), Some((head, _))) = (short(region), zone.split_once("-az")) else { return };
        if !self.sound(&["/region", path]) {
            return;
        }
        if head != short {
            let label = format!("zone ids of {region} begin with `{short}-az`");
            return self.error("zone-region", path, format!("{zone} is no zone of {region}"), label);
        }
        let known = self.catalog.zones(region).value;
        if let Some(known) = known.filter(|known| !known.iter().any(|id| id == zone)) {
            let label = format!("known are {}; the account decides", known.join(", "));
            self.warn("zone-unknown", path, format!("the catalogue knows no zone {zone}"), label);
        }
    }

    fn brought(&mut self, vpc: &str, lists: [(&str, &Vec<String>); 3]) {
        if !self.sound(&["/network"]) {
            return;
        }
        if vpc.is_empty() {
            let label = "add `vpc: vpc-…`, the VPC of these subnets";
            return self.error("network-incomplete", "/network/subnets", "`subnets` without `vpc`", label);
        }
        if !self.places.says("/network/subnets") {
            let label = "add `subnets: [subnet-…, subnet-…]`, the ones to use";
            return self.error("network-incomplete", "/network/vpc", "`vpc` without `subnets`", label);
        }
        for (key, subnets) in lists {
            let path = match self.places.says(&format!("/network/subnets/{key}")) {
                true => format!("/network/subnets/{key}"),
                false => "/network/subnets".to_owned(),
            };
            let names = subnets.iter().enumerate().map(|(index, id)| (format!("{path}/{index}"), id.as_str()));
            self.unique("subnet-twice", "subnet", names);
            let needed = key != "loadBalancers" || self.spec.serving.as_ref().is_some_and(|s| s.ingress.is_some());
            let least = if key == "nodes" { 1 } else { 2 };
            if needed && subnets.len() < least {
                let why = match key {
                    "controlPlane" => "EKS wants two subnets for the control plane, in two zones",
                    "loadBalancers" => "a load balancer wants two subnets, in two zones",
                    _ => "nodes need a subnet",
                };
                self.error("subnets-few", &path, why, "add another subnet");
            }
        }
    }
}

/// 100.64.0.0/10, which providers share among customers and VPCs may use.
fn shared(cidr: Ipv4Net) -> bool {
    let [a, b, ..] = cidr.addr().octets();
    a == 100 && (64..128).contains(&b)
}

/// `usw2` of `us-west-2`: what zone ids of a region begin with. `None` for a region that is named by no direction.
fn short(region: &str) -> Option<String> {
    let mut parts = region.split('-').collect::<Vec<_>>();
    let number = parts.pop()?;
    let direction = match parts.pop()? {
        "north" => "n",
        "south" => "s",
        "east" => "e",
        "west" => "w",
        "central" => "c",
        "northeast" => "ne",
        "northwest" => "nw",
        "southeast" => "se",
        "southwest" => "sw",
        _ => return None,
    };
    let area = match parts.as_slice() {
        [area] => (*area).to_owned(),
        [area, "gov"] => format!("{area}g"),
        _ => return None,
    };
    Some(format!("{area}{direction}{number}"))
}

#[cfg(test)]
mod tests {
    use super::short;
    use crate::catalog::Catalog;

    #[test]
    fn zone_ids_begin_with_their_region_in_short() {
        let catalog = Catalog::compiled();
        for region in catalog.regions() {
            let short = short(region).unwrap_or_else(|| panic!("{region}"));
            for zone in catalog.zones(region).value.unwrap_or_default() {
                assert_eq!(zone.split_once("-az").map(|(head, _)| head), Some(short.as_str()), "{region}");
            }
        }
        assert_eq!(short("us-gov-west-1").as_deref(), Some("usgw1"));
        assert_eq!(short("ap-southeast-2").as_deref(), Some("apse2"));
        assert_eq!(short("cn-northwest-1").as_deref(), Some("cnnw1"));
    }
}
