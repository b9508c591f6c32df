//! What lives outside of every stack and is only named by stack files: a network, buckets, reservations. Must never be
//! changed or deleted by anything but the world's owner.

use crate::{
    cloud::{Reservation, SubnetFacts},
    stack::{Capacity, Network, Spec},
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Brought {
    pub subnets: BTreeMap<String, SubnetFacts>,
    /// Region of each bucket.
    pub buckets: BTreeMap<String, String>,
    pub reservations: BTreeMap<String, Reservation>,
    /// Other ids and ARNs that links may hold: a VPC, roles, keys.
    pub others: BTreeSet<String>,
}

impl Brought {
    /// Takes in everything that a stack file names and that the account does not have yet. `zones` are those that suit
    /// the stack, the best first; `days` are the ends of a term that runs now.
    pub fn appear(&mut self, spec: &Spec, zones: &[String], days: (String, String)) {
        if let Network::Brought { vpc, nodes, control_plane, load_balancers } = &spec.network {
            self.others.insert(vpc.clone());
            let mut block = self.subnets.len();
            for list in [control_plane, nodes, load_balancers] {
                for (id, zone) in list.iter().zip(zones.iter().cycle()) {
                    if self.subnets.contains_key(id) {
                        continue;
                    }
                    let cidr = format!("10.{}.{}.0/20", block / 16 % 256, block * 16 % 256);
                    let facts = SubnetFacts {
                        id: id.clone(),
                        vpc: vpc.clone(),
                        zone: zone.clone(),
                        cidr,
                        free_addresses: 4091,
                    };
                    self.subnets.insert(id.clone(), facts);
                    block += 1;
                }
            }
        }
        self.others.extend(spec.iam.cluster_role.iter().chain(&spec.iam.node_role).cloned());
        self.others.extend(spec.cluster.access.iter().map(|access| access.principal.clone()));
        let bucket = spec.weights.as_ref().and_then(|weights| weights.bucket.as_ref()).filter(|bucket| !bucket.create);
        if let Some(name) = bucket.and_then(|bucket| bucket.name.as_ref()) {
            self.buckets.entry(name.clone()).or_insert_with(|| spec.region.clone());
        }
        for class in &spec.node_classes {
            let (id, block) = match &class.capacity {
                Capacity::Reservation(id) => (id, false),
                Capacity::CapacityBlock(id) => (id, true),
                Capacity::OnDemand | Capacity::Spot => continue,
            };
            let zone = class.zone.clone().or_else(|| zones.first().cloned()).unwrap_or_default();
            self.reservations.entry(id.clone()).or_insert_with(|| Reservation {
                id: id.clone(),
                instance_type: class.instance_types.first().cloned().unwrap_or_default(),
                zone,
                total: class.nodes.max,
                available: class.nodes.max,
                state: "active".to_owned(),
                block,
                start: block.then(|| days.0.clone()),
                end: block.then(|| days.1.clone()),
                placement_group: None,
            });
        }
    }

    pub fn knows(&self, value: &str) -> bool {
        self.others.contains(value)
            || self.subnets.contains_key(value)
            || self.buckets.contains_key(value)
            || self.reservations.contains_key(value)
    }
}
