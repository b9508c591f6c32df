//! Node classes, with the defaults that depend on the instance type. Must never refuse a type that the catalogue lacks.

use super::Reader;
use crate::catalog::{AcceleratorKind, Catalog};
use crate::stack::value::{Fields, Value};
use crate::stack::*;

impl Reader<'_> {
    pub(super) fn node_classes(&mut self, root: &Fields) -> Vec<NodeClass> {
        let items = root.list("nodeClasses").unwrap_or_default();
        let mut classes = Vec::new();
        for (index, item) in items.iter().enumerate() {
            // A broken item keeps its number, so that paths go on pointing to where things stand.
            let none = Fields::new(&crate::stack::shape::NODE_CLASS);
            let fields = match item {
                Value::Object(fields) => fields,
                _ => &none,
            };
            classes.push(self.node_class(fields, &format!("/nodeClasses/{index}")));
        }
        let free = |class: &NodeClass| {
            class.provisioner == Provisioner::Managed && !accelerated(self.catalog, &class.instance_types)
        };
        let judged = !self.broken.touches("/nodeClasses");
        if judged && !classes.is_empty() && !classes.iter().any(free) {
            classes.push(system());
        }
        classes
    }

    fn node_class(&mut self, fields: &Fields, path: &str) -> NodeClass {
        let instance_types = fields.texts("instanceTypes").unwrap_or_default();
        let provisioner = fields.word("provisioner").unwrap_or(Provisioner::Managed);
        let known = instance_types.iter().map(|name| self.catalog.instance_type(name)).collect::<Vec<_>>();
        let all = |what: &dyn Fn(&crate::catalog::InstanceType) -> bool| {
            !known.is_empty() && known.iter().all(|known| known.is_some_and(what))
        };
        let efa = if all(&|known| known.efa_max > 0) { Efa::All } else { Efa::None };
        let local = if all(&|known| known.instance_store_gb > 0) { LocalStorage::Raid0 } else { LocalStorage::None };
        let volume = fields.object("volume");
        let size = if accelerated(self.catalog, &instance_types) { 500 } else { 100 };
        let ami = fields.object("ami");
        NodeClass {
            name: fields.owned("name").unwrap_or_default(),
            capacity: capacity(fields),
            zone: fields.owned("zone"),
            placement_group: fields.owned("placementGroup"),
            efa: match (fields.text("efa"), fields.whole("efa")) {
                (Some("all"), _) => Efa::All,
                (Some(_), _) => Efa::None,
                (None, Some(count)) => Efa::Count(count),
                (None, None) => efa,
            },
            nodes: nodes(fields.object("nodes"), provisioner),
            volume: Volume {
                size: volume.and_then(|v| self.gib(v, &format!("{path}/volume"), "size")).unwrap_or(size),
                r#type: volume.and_then(|v| v.word("type")).unwrap_or(VolumeType::Gp3),
                iops: volume.and_then(|v| v.whole("iops")),
                throughput: volume.and_then(|v| v.whole("throughput")),
                kms_key: volume.and_then(|v| v.owned("kmsKey")),
            },
            local_storage: fields.word("localStorage").unwrap_or(local),
            ami: Ami {
                family: ami.and_then(|a| a.word("family")).unwrap_or(AmiFamily::Al2023),
                release: ami.and_then(|a| a.owned("release")),
            },
            labels: fields.text_map("labels"),
            taints: match fields.list("taints") {
                Some(_) => fields.objects("taints").filter_map(taint).collect(),
                None => default_taint(self.catalog, &instance_types).into_iter().collect(),
            },
            provisioner,
            instance_types,
        }
    }
}

/// True where a type has accelerators; by the family's letters for a type that the catalogue lacks.
pub(in crate::stack) fn accelerated(catalog: &Catalog, instance_types: &[String]) -> bool {
    instance_types.iter().any(|name| accelerator(catalog, name).is_some())
}

fn accelerator(catalog: &Catalog, name: &str) -> Option<AcceleratorKind> {
    if let Some(known) = catalog.instance_type(name) {
        return known.accelerator.as_ref().map(|accelerator| accelerator.kind);
    }
    let letters = name.split(|c: char| !c.is_ascii_lowercase()).next().unwrap_or_default();
    match letters {
        "p" | "g" | "gr" => Some(AcceleratorKind::Nvidia),
        "trn" | "inf" => Some(AcceleratorKind::Neuron),
        "dl" => Some(AcceleratorKind::Other),
        _ => None,
    }
}

fn default_taint(catalog: &Catalog, instance_types: &[String]) -> Option<Taint> {
    let resource = instance_types.iter().find_map(|name| accelerator(catalog, name))?.resource()?;
    Some(Taint { key: resource.to_owned(), value: None, effect: TaintEffect::NoSchedule })
}

fn capacity(fields: &Fields) -> Capacity {
    match (fields.text("capacity"), fields.object("capacity")) {
        (Some("spot"), _) => Capacity::Spot,
        (_, Some(reserved)) => match (reserved.owned("reservation"), reserved.owned("capacityBlock")) {
            (Some(id), _) => Capacity::Reservation(id),
            (None, Some(id)) => Capacity::CapacityBlock(id),
            (None, None) => Capacity::OnDemand,
        },
        _ => Capacity::OnDemand,
    }
}

/// What is not said follows from what is: `{ desired: 2 }` asks for a max of 2.
fn nodes(fields: Option<&Fields>, provisioner: Provisioner) -> Nodes {
    let said = |key| fields.and_then(|fields| fields.whole::<u32>(key));
    let (min, desired, max) = (said("min"), said("desired"), said("max"));
    let start = if provisioner == Provisioner::Managed { 1 } else { 0 };
    let least = min.unwrap_or(0);
    let desired = desired.unwrap_or_else(|| start.max(least).min(max.unwrap_or(u32::MAX)).max(least));
    Nodes { min: least, desired, max: max.unwrap_or_else(|| 1.max(least).max(desired)) }
}

fn taint(fields: &Fields) -> Option<Taint> {
    Some(Taint { key: fields.owned("key")?, value: fields.owned("value"), effect: fields.word("effect")? })
}

/// Two small nodes for controllers, so that one can be replaced.
fn system() -> NodeClass {
    NodeClass {
        name: SYSTEM.to_owned(),
        provisioner: Provisioner::Managed,
        instance_types: vec!["m6i.xlarge".to_owned()],
        capacity: Capacity::OnDemand,
        zone: None,
        placement_group: None,
        efa: Efa::None,
        nodes: Nodes { min: 2, desired: 2, max: 3 },
        volume: Volume { size: 100, r#type: VolumeType::Gp3, iops: None, throughput: None, kms_key: None },
        local_storage: LocalStorage::None,
        ami: Ami { family: AmiFamily::Al2023, release: None },
        labels: Default::default(),
        taints: Vec::new(),
    }
}

/// Name of the class that a file without one for controllers gets.
pub(in crate::stack) const SYSTEM: &str = "system";
