//! Placement groups and node classes by what the file says of them. Must never need the catalogue: `types` does.

use super::cluster::did_you_mean;
use super::{Judge, count};
use crate::stack::diagnostic::Diagnostic;
use crate::stack::read::SYSTEM;
use crate::stack::{Capacity, Network, NodeClass, PlacementStrategy, Provisioner, VolumeType};

/// Running instances of a spread group in one zone (EC2 user guide, placement groups).
const SPREAD_PER_ZONE: u32 = 7;
/// EKS, a node group.
const MOST_TAINTS: usize = 50;

impl Judge<'_> {
    pub(super) fn placement_groups(&mut self) {
        let groups = &self.spec.placement_groups;
        let names = groups.iter().enumerate().map(|(i, g)| (format!("/placementGroups/{i}/name"), g.name.as_str()));
        self.unique("group-twice", "the placement group", names);
        for (index, fields) in self.fields.objects("placementGroups").enumerate() {
            let path = format!("/placementGroups/{index}");
            match (fields.text("strategy"), fields.get("partitions")) {
                (Some("partition"), None) if self.sound(&[&path]) => {
                    let label = "add `partitions: 3`, from 1 to 7";
                    self.error("group-partitions", &path, "a partition group needs `partitions`", label);
                }
                (Some(strategy @ ("cluster" | "spread")), Some(_)) => {
                    let message = format!("a {strategy} group has no partitions");
                    let label = "leave it out, or set `strategy: partition`";
                    self.error("group-partitions", &format!("{path}/partitions"), message, label);
                }
                _ => {}
            }
        }
        if self.sound(&["/nodeClasses", "/placementGroups"]) {
            for (index, group) in groups.iter().enumerate() {
                if !self.spec.node_classes.iter().any(|class| class.placement_group.as_ref() == Some(&group.name)) {
                    let label = "name it in a class with `placementGroup`, or leave it out";
                    let message = format!("no node class uses the placement group `{}`", group.name);
                    self.warn("group-unused", &format!("/placementGroups/{index}"), message, label);
                }
                self.one_zone(index);
            }
        }
    }

    /// Classes that share a cluster group share its zone.
    fn one_zone(&mut self, index: usize) {
        let group = &self.spec.placement_groups[index];
        if group.strategy != PlacementStrategy::Cluster {
            return;
        }
        let members = self.spec.node_classes.iter().enumerate();
        let members = members.filter(|(_, class)| class.placement_group.as_ref() == Some(&group.name));
        let zones = members.filter_map(|(index, class)| Some((index, class.zone.as_deref()?))).collect::<Vec<_>>();
        let Some((first, zone)) = zones.first() else { return };
        for (other, elsewhere) in zones.iter().filter(|(_, elsewhere)| elsewhere != zone) {
            let diagnostic = Diagnostic::error(
                "group-zones",
                self.at(&format!("/nodeClasses/{other}/zone")),
                format!("the cluster group `{}` can't be in {zone} and in {elsewhere}", group.name),
                "a cluster placement group means one zone: use that zone, or a group for each zone",
            );
            let first = self.at(&format!("/nodeClasses/{first}/zone"));
            self.found.push(diagnostic.related(first, format!("{zone} here")));
        }
    }

    pub(super) fn node_classes(&mut self) {
        let classes = &self.spec.node_classes;
        if classes.is_empty() && self.sound(&["/nodeClasses"]) {
            let label = "add `- { name: gpu, instanceTypes: [g6e.xlarge] }`";
            return self.error("classes-none", "/nodeClasses", "a stack needs a node class", label);
        }
        // The class that the file got by default stands behind its own, and has no place.
        let made = classes.len() > self.fields.list("nodeClasses").map_or(0, <[_]>::len);
        let own = if made { &classes[..classes.len() - 1] } else { classes };
        let names = own.iter().enumerate().map(|(i, class)| (format!("/nodeClasses/{i}/name"), class.name.as_str()));
        self.unique("class-twice", "the node class", names);
        if let Some(index) = own.iter().position(|class| made && class.name == SYSTEM) {
            let path = format!("/nodeClasses/{index}/name");
            let message = format!("`{SYSTEM}` is the class that this file gets for its controllers");
            let label = "it has no managed class free of accelerators: rename this one, or add one for controllers";
            self.error("class-twice", &path, message, label);
        }
        for (index, class) in own.iter().enumerate() {
            let path = format!("/nodeClasses/{index}");
            self.sizes(class, &path);
            self.group_of(class, &path);
            self.zone_of(class, &path);
            self.capacity(index, class, &path);
            self.volume(class, &path);
            self.taints(class, &path);
            self.types(class, &path);
        }
        self.controllers(own, made);
    }

    fn sizes(&mut self, class: &NodeClass, path: &str) {
        let at = |key: &str| match self.places.says(&format!("{path}/nodes/{key}")) {
            true => format!("{path}/nodes/{key}"),
            false => format!("{path}/nodes"),
        };
        let nodes = class.nodes;
        if !self.sound(&[&format!("{path}/nodes"), &format!("{path}/provisioner")]) {
            return;
        }
        if class.provisioner == Provisioner::Karpenter && nodes.min + nodes.desired > 0 {
            let key = if nodes.min > 0 { "min" } else { "desired" };
            let message = format!("`{key}` in a Karpenter class: pods decide how many nodes there are");
            let label = "write `{ max: N }` alone, which becomes Karpenter's limit";
            return self.error("karpenter-nodes", &at(key), message, label);
        }
        let (min, desired, max) = (nodes.min, nodes.desired, nodes.max);
        if min > max {
            self.error("nodes-order", &at("min"), format!("min {min} is above max {max}"), "min ≤ desired ≤ max");
        } else if desired < min {
            self.error(
                "nodes-order",
                &at("desired"),
                format!("desired {desired} is below min {min}"),
                "min ≤ desired ≤ max",
            );
        } else if desired > max {
            self.error(
                "nodes-order",
                &at("desired"),
                format!("desired {desired} is above max {max}"),
                "min ≤ desired ≤ max",
            );
        }
    }

    fn group_of(&mut self, class: &NodeClass, path: &str) {
        let at = format!("{path}/placementGroup");
        let Some(name) = class.placement_group.as_ref().filter(|_| self.sound(&[&at, "/placementGroups"])) else {
            return;
        };
        let groups = &self.spec.placement_groups;
        let Some(group) = groups.iter().find(|group| group.name == *name) else {
            let known = groups.iter().map(|group| group.name.as_str());
            let none = format!("add it: `placementGroups: [{{ name: {name}, strategy: cluster }}]`");
            let label = did_you_mean(name, known, &none);
            return self.error("group-unknown", &at, format!("no placement group `{name}` in this file"), label);
        };
        let zones = match (&class.zone, &self.spec.network) {
            (Some(_), _) => Some(1),
            (None, Network::Made { zones: Some(zones), .. }) => u32::try_from(zones.len()).ok(),
            _ => None,
        };
        if let (PlacementStrategy::Spread, Some(zones)) = (group.strategy, zones)
            && class.nodes.max > SPREAD_PER_ZONE * zones
        {
            let message =
                format!("{} don't fit a spread group over {}", count(class.nodes.max, "node"), count(zones, "zone"));
            let label = format!("a spread group holds {SPREAD_PER_ZONE} running instances a zone");
            self.error("group-full", &at, message, label);
        }
    }

    fn zone_of(&mut self, class: &NodeClass, path: &str) {
        let at = format!("{path}/zone");
        let Some(zone) = class.zone.as_ref().filter(|_| self.sound(&[&at, "/network"])) else { return };
        self.zone_of_region(zone, &at);
        if let Network::Made { zones: Some(zones), .. } = &self.spec.network
            && !zones.contains(zone)
        {
            let label = format!("add {zone} to `network.zones`, or take one of {}", zones.join(", "));
            self.error("zone-outside", &at, format!("the network has no subnet in {zone}"), label);
        }
    }

    fn capacity(&mut self, index: usize, class: &NodeClass, path: &str) {
        let at = format!("{path}/capacity");
        if !self.sound(&[&at]) {
            return;
        }
        let reserved = self.fields.objects("nodeClasses").nth(index).and_then(|fields| fields.object("capacity"));
        if let Some(fields) = reserved {
            let both = (fields.get("reservation").is_some(), fields.get("capacityBlock").is_some());
            if both.0 == both.1 {
                let label = "write `{ reservation: cr-… }` or `{ capacityBlock: cr-… }`";
                self.error("capacity-one", &at, "`capacity` names one reservation or one capacity block", label);
            }
        }
        if matches!(class.capacity, Capacity::Reservation(_) | Capacity::CapacityBlock(_))
            && class.instance_types.len() > 1
        {
            let label = "keep the type that was reserved; give others a class of their own";
            self.error(
                "reserved-types",
                &format!("{path}/instanceTypes"),
                "what is reserved is of one instance type",
                label,
            );
        }
    }

    fn volume(&mut self, class: &NodeClass, path: &str) {
        let path = format!("{path}/volume");
        if !self.sound(&[&path]) {
            return;
        }
        let volume = &class.volume;
        // EBS user guide, volume types: GiB at most, IOPS at most, IOPS for each GiB at most.
        let (name, largest, most_iops, iops_per_gib) = match volume.r#type {
            VolumeType::Gp3 => ("gp3", 65_536, 80_000, 500),
            VolumeType::Gp2 => ("gp2", 16_384, 0, 0),
            VolumeType::Io1 => ("io1", 16_384, 64_000, 50),
            VolumeType::Io2 => ("io2", 65_536, 256_000, 1_000),
        };
        let at = |key: &str| format!("{path}/{key}");
        if volume.size > largest {
            let message = format!("{} GiB are too many for {name}", volume.size);
            self.error("volume-size", &at("size"), message, format!("at most {largest}Gi"));
        }
        match volume.iops {
            Some(_) if most_iops == 0 => {
                let label = "leave it out, or take gp3";
                self.error("volume-iops", &at("iops"), "gp2 has no `iops` of its own: they follow its size", label);
            }
            Some(iops)
                if iops > most_iops || u64::from(iops) > u64::from(volume.size) * iops_per_gib && iops > 3_000 =>
            {
                let message = format!("{iops} IOPS are too many for {} GiB of {name}", volume.size);
                let label = format!("at most {most_iops}, and {iops_per_gib} for each GiB");
                self.error("volume-iops", &at("iops"), message, label);
            }
            Some(iops) if name == "gp3" && iops < 3_000 => {
                self.error(
                    "volume-iops",
                    &at("iops"),
                    "gp3 has 3000 IOPS at least",
                    "write 3000 or more, or leave it out",
                );
            }
            None if matches!(volume.r#type, VolumeType::Io1 | VolumeType::Io2) => {
                self.error("volume-iops", &at("type"), format!("{name} needs `iops`"), "add `iops: 6000`");
            }
            _ => {}
        }
        let Some(throughput) = volume.throughput else { return };
        if volume.r#type != VolumeType::Gp3 {
            let label = "leave it out, or take gp3";
            self.error("volume-throughput", &at("throughput"), format!("{name} has no `throughput` of its own"), label);
        } else if throughput * 4 > volume.iops.unwrap_or(3_000) {
            let message = format!("{throughput} MiB/s need more IOPS");
            let label = format!("a quarter of a MiB/s for each: add `iops: {}`", throughput * 4);
            self.error("volume-throughput", &at("throughput"), message, label);
        }
    }

    fn taints(&mut self, class: &NodeClass, path: &str) {
        let at = format!("{path}/taints");
        if class.taints.len() > MOST_TAINTS {
            let message = format!("{} taints are too many", class.taints.len());
            self.error("taints-many", &at, message, format!("EKS takes {MOST_TAINTS}"));
        }
        for (index, taint) in class.taints.iter().enumerate() {
            let same = |other: &&crate::stack::Taint| (&other.key, other.effect) == (&taint.key, taint.effect);
            if class.taints[..index].iter().any(|other| same(&other)) {
                let message = format!("the taint `{}` is there twice with one effect", taint.key);
                self.error("taint-twice", &format!("{at}/{index}"), message, "leave one out");
            }
        }
    }

    /// Controllers run on managed nodes without accelerators; with none at all they wait for ever.
    fn controllers(&mut self, own: &[NodeClass], made: bool) {
        if made || !self.sound(&["/nodeClasses"]) {
            return;
        }
        let plain = own.iter().enumerate().filter(|(_, class)| {
            class.provisioner == Provisioner::Managed
                && !crate::stack::read::accelerated(self.catalog, &class.instance_types)
        });
        let plain = plain.collect::<Vec<_>>();
        if let (Some((index, _)), true) = (plain.first(), plain.iter().all(|(_, class)| class.nodes.desired == 0)) {
            let path = format!("/nodeClasses/{index}/nodes");
            let label = "let `desired` be 2, so that one can be replaced";
            self.warn(
                "controllers-nowhere",
                &path,
                "no class without accelerators has a node for the controllers",
                label,
            );
        }
    }
}
