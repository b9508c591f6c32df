//! Cuts the network's block into one private and one public subnet a zone. Must never move the subnets of one zone because
//! another came or went.

use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The block is cut into eight parts: zones 1 to 7 (by the number in their id) take one each for their private subnet; the last
/// part is cut into eight again, for the public ones. So a zone's blocks depend on nothing but the block and the zone.
const PARTS_AS_PREFIX: u8 = 3;
/// No region has more: us-east-1 has six.
const MOST_ZONES: u8 = 7;
/// Longest prefix that can be cut: public subnets come out as /27, the least that a load balancer takes.
pub const LONGEST_PREFIX: u8 = 21;

/// A zone's share of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Nodes, pods, control plane, file systems: an eighth of the whole.
    pub private: Ipv4Net,
    /// NAT gateways and internet-facing balancers: a sixty-fourth.
    pub public: Ipv4Net,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CarveError {
    #[error("{0} is too small to be cut into zones: /{LONGEST_PREFIX} is the smallest that leaves load balancers room")]
    TooSmall(Ipv4Net),
    #[error(
        "`{0}` is no availability zone that the network can have: expected an id like `usw2-az2`, numbered 1 to {MOST_ZONES}"
    )]
    NotAZone(String),
    #[error("`{0}` and `{1}` would get the same part of the network: zones of one region have numbers of their own")]
    SamePart(String, String),
}

/// Blocks of every zone.
pub fn carve(cidr: Ipv4Net, zones: &[String]) -> Result<BTreeMap<String, Share>, CarveError> {
    if cidr.prefix_len() > LONGEST_PREFIX {
        return Err(CarveError::TooSmall(cidr));
    }
    let mut shares = BTreeMap::new();
    let mut taken = BTreeMap::new();
    for zone in zones {
        let number = zone_number(zone).ok_or_else(|| CarveError::NotAZone(zone.clone()))?;
        if let Some(other) = taken.insert(number, zone).filter(|other| *other != zone) {
            return Err(CarveError::SamePart(other.clone(), zone.clone()));
        }
        let public = part(cidr, MOST_ZONES);
        let share = Share { private: part(cidr, number - 1), public: part(public, number - 1) };
        shares.insert(zone.clone(), share);
    }
    Ok(shares)
}

/// `n` from 0 to 7: that eighth of a block that is not longer than /29.
fn part(cidr: Ipv4Net, n: u8) -> Ipv4Net {
    let prefix = cidr.prefix_len() + PARTS_AS_PREFIX;
    let start = u32::from(cidr.network()) | (u32::from(n) << (32 - u32::from(prefix)));
    Ipv4Net::new(start.into(), prefix).expect("a prefix of at most 24 + 3 is a prefix")
}

/// 2 of `usw2-az2`. Local and Wavelength zones (`usw2-lax1-az1`) have none: a control plane and its balancers don't go there.
fn zone_number(zone: &str) -> Option<u8> {
    let (region, number) = zone.split_once("-az")?;
    let plain = !region.is_empty() && region.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let number = number.parse().ok().filter(|n| (1..=MOST_ZONES).contains(n) && number.len() == 1);
    number.filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cidr(text: &str) -> Ipv4Net {
        text.parse().unwrap()
    }

    fn zones(numbers: &[u8]) -> Vec<String> {
        numbers.iter().map(|n| format!("usw2-az{n}")).collect()
    }

    fn overlap(a: Ipv4Net, b: Ipv4Net) -> bool {
        a.contains(&b) || b.contains(&a)
    }

    prop_compose! {
        fn network()(address: u32, prefix in 13u8..=LONGEST_PREFIX) -> Ipv4Net {
            Ipv4Net::new(address.into(), prefix).unwrap()
        }
    }

    fn some_zones() -> impl Strategy<Value = Vec<u8>> {
        proptest::sample::subsequence((1..=MOST_ZONES).collect::<Vec<_>>(), 1..=usize::from(MOST_ZONES)).prop_shuffle()
    }

    proptest! {
        #[test]
        fn subnets_lie_inside_the_network_and_apart_from_each_other(cidr in network(), numbers in some_zones()) {
            let shares = carve(cidr, &zones(&numbers)).unwrap();
            prop_assert_eq!(shares.len(), numbers.len());
            let blocks: Vec<_> = shares.values().flat_map(|share| [share.private, share.public]).collect();
            for (i, block) in blocks.iter().enumerate() {
                prop_assert!(cidr.contains(block), "{} outside {}", block, cidr);
                prop_assert_eq!(block.trunc(), *block);
                prop_assert!((16..=28).contains(&block.prefix_len()));
                for other in &blocks[..i] {
                    prop_assert!(!overlap(*block, *other), "{} and {}", block, other);
                }
            }
        }

        #[test]
        fn a_zone_more_moves_nobody(cidr in network(), numbers in some_zones()) {
            let all = carve(cidr, &zones(&numbers)).unwrap();
            for n in 1..numbers.len() {
                for (zone, share) in carve(cidr, &zones(&numbers[..n])).unwrap() {
                    prop_assert_eq!(all[&zone], share);
                }
            }
        }

        #[test]
        fn no_input_panics(address: u32, prefix in 0u8..=32, names in proptest::collection::vec("[a-z0-9-]{0,12}", 0..4)) {
            let _ = carve(Ipv4Net::new(address.into(), prefix).unwrap(), &names);
        }
    }

    #[test]
    fn the_default_network_gives_every_zone_room_for_pods_on_p5_nodes() {
        let shares = carve(cidr("10.64.0.0/16"), &zones(&[1, 2])).unwrap();
        let of = |zone: &str| (shares[zone].private.to_string(), shares[zone].public.to_string());
        assert_eq!(of("usw2-az1"), ("10.64.0.0/19".to_owned(), "10.64.224.0/22".to_owned()));
        assert_eq!(of("usw2-az2"), ("10.64.32.0/19".to_owned(), "10.64.228.0/22".to_owned()));
        // A p5 takes some 50 addresses where the CNI holds a whole interface warm.
        assert!(shares["usw2-az2"].private.hosts().count() > 150 * 50);
    }

    #[test]
    fn what_can_not_be_cut_is_refused_with_its_reason() {
        assert_eq!(carve(cidr("10.0.0.0/22"), &zones(&[1])), Err(CarveError::TooSmall(cidr("10.0.0.0/22"))));
        for odd in ["us-west-2a", "usw2-lax1-az1", "usw2-az0", "usw2-az8", "usw2-az01", "-az1", "usw2-az"] {
            assert_eq!(carve(cidr("10.0.0.0/16"), &[odd.to_owned()]), Err(CarveError::NotAZone(odd.to_owned())));
        }
        let two = ["usw2-az1".to_owned(), "use1-az1".to_owned()];
        assert_eq!(carve(cidr("10.0.0.0/16"), &two), Err(CarveError::SamePart(two[0].clone(), two[1].clone())));
        // The same zone twice is one zone.
        assert_eq!(carve(cidr("10.0.0.0/16"), &zones(&[1, 1])).unwrap().len(), 1);
    }
}
