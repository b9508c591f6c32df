//! Reads from the snapshot what a default must not move away from. Must never take a kind that could not be seen for one
//! that has no objects where that would move something.

use crate::{
    choose::ChooseError,
    model::{Address, EXPIRES, as_link, identifiers},
    observed::{Live, Sight, Snapshot},
    stack::names,
};
use std::collections::{BTreeMap, BTreeSet};

/// What lives of one stack.
pub(super) struct World<'a> {
    snapshot: &'a Snapshot,
    /// Zone by id of subnet, of the live network made here or of the subnets brought along.
    subnet_zones: BTreeMap<String, String>,
}

impl<'a> World<'a> {
    /// `brought`: zones by id of the subnets that the file brings along.
    pub fn new(snapshot: &'a Snapshot, brought: BTreeMap<String, String>) -> Self {
        let mut subnet_zones = brought;
        for live in snapshot.seen("subnet").iter().filter(|live| there(live)) {
            if let Some(zone) = live.look.claims.as_ref().and_then(zone_of_subnet) {
                subnet_zones.insert(live.look.id.clone(), zone.to_owned());
            }
        }
        Self { snapshot, subnet_zones }
    }

    fn at(&self, address: &Address) -> Option<&'a Live> {
        self.snapshot.seen(address.kind()).iter().find(|live| there(live) && live.look.claims.as_ref() == Some(address))
    }

    /// The text, or the value of the link, at a path of the live object's projection.
    pub fn text(&self, address: &Address, path: &str) -> Option<String> {
        let doc = self.at(address)?.look.projected.pointer(path)?;
        match as_link(doc) {
            Some(link) => link.value().map(str::to_owned),
            None => doc.as_str().map(str::to_owned),
        }
    }

    /// Every live access entry, whoever made it.
    pub fn entries(&self) -> Vec<Entry> {
        let live = self.snapshot.seen("access-entry").iter().filter(|live| there(live));
        live.filter_map(|live| {
            let principal = as_link(live.look.projected.get("principal")?)?.value()?.to_owned();
            let of_caller = live.look.claims.as_ref().is_some_and(names::is_caller_entry);
            Some(Entry { principal, of_caller })
        })
        .collect()
    }

    /// Blocks that reach the live endpoint.
    pub fn public_cidrs(&self) -> Option<Vec<String>> {
        let items = self.at(&names::cluster())?.look.projected.pointer("/endpoint/publicCidrs")?.as_array()?;
        Some(items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
    }

    /// Of the live node group of a class.
    pub fn ami_release(&self, class: &str) -> Option<String> {
        self.text(&names::node_group(class), "/release")
    }

    pub fn id(&self, address: &Address) -> Option<&'a str> {
        self.at(address).map(|live| live.look.id.as_str())
    }

    /// Kubernetes version of the live control plane. Add-ons and nodes follow it, so a cluster that can't be seen is an
    /// error.
    pub fn cluster_version(&self) -> Result<Option<&'a str>, ChooseError> {
        self.seen("cluster", "the live cluster")?;
        let live = self.at(&names::cluster());
        Ok(live.and_then(|live| live.look.outputs.get("version")).map(String::as_str))
    }

    /// An error where the kind could not be looked at.
    pub fn seen(&self, kind: &str, what: &str) -> Result<(), ChooseError> {
        match self.snapshot.sights.get(kind) {
            Some(Sight::Blind(error)) => Err(ChooseError::could_not_look(what, error)),
            _ => Ok(()),
        }
    }

    /// Zones of the live network made here, in the order of their subnets' addresses, which is that of their numbers.
    /// Everything hangs on them, so subnets that can't be seen are an error.
    pub fn network_zones(&self) -> Result<Vec<String>, ChooseError> {
        self.seen("subnet", "the live subnets")?;
        let mut zones: Vec<(Option<ipnet::Ipv4Net>, &str)> = vec![];
        for live in self.snapshot.seen("subnet").iter().filter(|live| there(live)) {
            let Some(address) = &live.look.claims else { continue };
            let Some(zone) = zone_of_subnet(address) else { continue };
            if *address == names::private_subnet(zone) {
                let cidr = live.look.projected.pointer("/cidr").and_then(|cidr| cidr.as_str()?.parse().ok());
                zones.push((cidr, zone));
            }
        }
        zones.sort_unstable();
        zones.dedup_by_key(|(_, zone)| *zone);
        Ok(zones.into_iter().map(|(_, zone)| zone.to_owned()).collect())
    }

    /// Zones of the subnets that a live object names, in order; empty where there is no such object.
    pub fn zones_of(&self, address: &Address) -> Vec<String> {
        let Some(live) = self.at(address) else { return vec![] };
        let ids = identifiers(&live.look.projected);
        let zones: BTreeSet<_> = ids.iter().filter_map(|(_, id)| self.subnet_zones.get(id)).collect();
        zones.into_iter().cloned().collect()
    }

    /// Expiry as the live anchors carry it; the later one, should a run have died between the two.
    pub fn expires(&self) -> Option<&'a str> {
        let anchors = [names::cluster(), names::vpc()];
        anchors.iter().filter_map(|address| self.at(address)?.look.tags.get(EXPIRES)).map(String::as_str).max()
    }
}

/// Who may enter the live cluster.
pub(super) struct Entry {
    /// ARN.
    pub principal: String,
    /// It got in by running `up`, not by the file.
    pub of_caller: bool,
}

fn there(live: &Live) -> bool {
    !live.look.gone && !live.look.going
}

fn zone_of_subnet(address: &Address) -> Option<&str> {
    let name = address.name();
    name.strip_prefix("private-").or_else(|| name.strip_prefix("public-"))
}
