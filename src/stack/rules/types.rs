//! Node classes against what their instance types can do. Must never refuse a type for not being known: live facts decide.

use super::{Judge, count};
use crate::catalog::{AmiOs, InstanceType, Placement, family};
use crate::stack::diagnostic::Diagnostic;
use crate::stack::{AmiFamily, Capacity, Efa, LocalStorage, NodeClass, PlacementStrategy};

impl Judge<'_> {
    pub(super) fn types(&mut self, class: &NodeClass, path: &str) {
        let at = format!("{path}/instanceTypes");
        if !self.sound(&[&at]) {
            return;
        }
        if class.instance_types.is_empty() {
            return self.error("types-none", &at, "a class needs an instance type", "add one, like `[g6e.xlarge]`");
        }
        let names = class.instance_types.iter().enumerate().map(|(i, name)| (format!("{at}/{i}"), name.as_str()));
        self.unique("type-twice", "the instance type", names);
        let mut known = Vec::new();
        for (index, name) in class.instance_types.iter().enumerate() {
            let at = format!("{at}/{index}");
            match self.catalog.instance_type(name) {
                Some(found) => {
                    self.offered(found, class, &at);
                    known.push(found);
                }
                None => {
                    let label = match self.catalog.nearest(name) {
                        Some(near) => format!("did you mean `{near}`? if not, what AWS says of it decides"),
                        None => "what AWS says of it decides".to_owned(),
                    };
                    self.warn("type-unknown", &at, format!("the catalogue knows no instance type `{name}`"), label);
                }
            }
        }
        self.alike(&known, &at);
        self.efa(class, &known, path);
        self.placement(class, &known, path);
        self.purchase(class, &known, path);
        self.storage_and_image(class, &known, path);
    }

    fn offered(&mut self, known: &InstanceType, class: &NodeClass, at: &str) {
        let region = &self.spec.region;
        if !self.sound(&["/region"]) || !self.catalog.regions().contains(region) {
            return;
        }
        let Some(zones) = self.catalog.offered_zones(&known.name, region).value else { return };
        if zones.is_empty() {
            let regions = known.regions.as_deref().unwrap_or_default();
            let label = match regions.len() {
                0 => "the account decides".to_owned(),
                1..=6 => format!("known in {}", regions.join(", ")),
                n => format!("known in {n} other regions, {} among them", regions[0]),
            };
            self.warn("type-region", at, format!("{} isn't known to be offered in {region}", known.name), label);
        } else if let Some(zone) = class.zone.as_ref().filter(|zone| !zones.contains(zone)) {
            let label = format!("known in {}; the account decides", zones.join(", "));
            self.warn("type-zone", at, format!("{} isn't known to be offered in {zone}", known.name), label);
        }
    }

    /// One image and one set of taints serve a whole class.
    fn alike(&mut self, known: &[&'static InstanceType], at: &str) {
        let Some((first, others)) = known.split_first() else { return };
        for other in others {
            let kind = |t: &InstanceType| t.accelerator.as_ref().map(|a| a.kind);
            let what = if kind(first) != kind(other) {
                "differ in their accelerators"
            } else if first.architectures.iter().all(|one| !other.architectures.contains(one)) {
                "differ in their architecture"
            } else {
                continue;
            };
            let message = format!("{} and {} {what}", first.name, other.name);
            let label = "a class has one machine image: make a class for each";
            return self.error("types-differ", at, message, label);
        }
    }

    fn efa(&mut self, class: &NodeClass, known: &[&'static InstanceType], path: &str) {
        let at = format!("{path}/efa");
        if class.efa == Efa::None || !self.sound(&[&at]) {
            return;
        }
        let place = if self.places.says(&at) { at.as_str() } else { path };
        if class.instance_types.len() > 1 {
            let diagnostic = Diagnostic::error(
                "efa-types",
                self.at(&format!("{path}/instanceTypes")),
                format!("{} in a class with EFA", count(class.instance_types.len() as u64, "instance type")),
                "the interfaces of a launch template fit one type: keep one, or a class for each",
            );
            return self.found.push(diagnostic.note("with `efa: none` the class works over plain networking"));
        }
        let Some(only) = known.first() else { return };
        if only.efa_max == 0 {
            let label = match self.catalog.smallest_with_efa_in_family(family(&only.name)) {
                Some(has) => {
                    format!("{} has no EFA; the smallest of its family that has one is {}", only.name, has.name)
                }
                None => format!("no {} has EFA", family(&only.name)),
            };
            let message = format!("{} × {} can't form an EFA cluster", class.nodes.desired.max(1), only.name);
            let diagnostic = Diagnostic::error("efa-missing", self.at(place), message, label);
            return self.found.push(diagnostic.note("with `efa: none` the group works over plain networking"));
        }
        if let Efa::Count(asked) = class.efa
            && asked > only.efa_max
        {
            let message = format!("{} on a {}", count(asked, "EFA interface"), only.name);
            let label = format!("it has {}: write `efa: all`, or a number up to that", only.efa_max);
            self.error("efa-count", place, message, label);
        }
    }

    fn placement(&mut self, class: &NodeClass, known: &[&'static InstanceType], path: &str) {
        let at = format!("{path}/placementGroup");
        let Some(name) = class.placement_group.as_ref().filter(|_| self.sound(&[&at, "/placementGroups"])) else {
            return;
        };
        let Some(group) = self.spec.placement_groups.iter().find(|group| group.name == *name) else { return };
        let (word, strategy) = match group.strategy {
            PlacementStrategy::Cluster => ("cluster", Placement::Cluster),
            PlacementStrategy::Partition { .. } => ("partition", Placement::Partition),
            PlacementStrategy::Spread => ("spread", Placement::Spread),
        };
        if let Some(cannot) = known.iter().find(|known| !known.allows(strategy)) {
            let message = format!("{} can't be in a {word} placement group", cannot.name);
            self.error("placement-type", &at, message, "take another type, or no placement group");
        }
    }

    fn purchase(&mut self, class: &NodeClass, known: &[&'static InstanceType], path: &str) {
        let at = format!("{path}/capacity");
        let blocks = matches!(class.capacity, Capacity::CapacityBlock(_));
        if let Some(without) = known.iter().find(|known| blocks && !known.capacity_block) {
            let message = format!("no capacity blocks are sold for {}", without.name);
            self.error("capacity-block-type", &at, message, "use `onDemand` or `{ reservation: cr-… }`");
        }
    }

    fn storage_and_image(&mut self, class: &NodeClass, known: &[&'static InstanceType], path: &str) {
        let storage = format!("{path}/localStorage");
        if class.local_storage == LocalStorage::Raid0
            && let Some(without) = known.iter().find(|known| known.instance_store_gb == 0)
        {
            let message = format!("{} has no instance store", without.name);
            self.error("storage-none", &storage, message, "leave `localStorage` out, or write `none`");
        }
        let (os, name, other) = match class.ami.family {
            AmiFamily::Al2023 => (AmiOs::Al2023, "Amazon Linux 2023", AmiOs::Bottlerocket),
            AmiFamily::Bottlerocket => (AmiOs::Bottlerocket, "Bottlerocket", AmiOs::Al2023),
        };
        if let Some(without) = known.iter().find(|known| known.ami_type(os).is_none()) {
            let at = format!("{path}/ami/family");
            let at = if self.places.says(&at) { at } else { format!("{path}/instanceTypes") };
            let label = match without.ami_type(other) {
                Some(_) => "take the other `ami.family`",
                None => "EKS has no image for it at all: take another type",
            };
            self.error("ami-none", &at, format!("EKS has no {name} image for {}", without.name), label);
        }
    }
}
