//! The nodes layer: placement groups, and for managed classes launch templates, node groups and what cluster-autoscaler reads.
//! Must never put a reservation into a placement group that it was not made in.

use crate::{
    catalog::{Catalog, InstanceType, Interface, InterfaceKind, eks::is_release_of, max_pods},
    choose::{Choices, ClassChoice, GroupChoice, is_accelerated},
    cloud::Reservation,
    desired::{
        DesiredGraph, cluster, identity, network,
        user_data::{Start, user_data},
    },
    model::{Link, RESOURCE, Tags, anchor_only},
    resources::{
        addon::MINIMUM_IP_TARGET,
        launch_template::{self, Disk, InterfaceType, LaunchTemplate, Metadata, Volume},
        node_group::{self, CapacityType, Footprint, NodeGroup, Update, UpdateStrategy},
        placement_group::{self, PlacementGroup, SpreadLevel, Strategy},
        scaling_tags::{self, NODE_TEMPLATE, PREFIX, ScalingTags},
    },
    stack::{
        AmiFamily, Capacity, LocalStorage, NodeClass, PlacementStrategy, Provisioner, Spec, Taint, TaintEffect,
        VolumeType, names,
    },
};
use std::collections::BTreeMap;

/// Label by which pods find the nodes of a class.
pub const NODE_CLASS: &str = "infer-stack/node-class";

/// Adds the wishes of the layer. A Karpenter class adds none: Karpenter makes its own templates and instances.
pub fn nodes(graph: &mut DesiredGraph, spec: &Spec, choices: &Choices, catalog: &Catalog) {
    placement_groups(graph, spec);
    let managed = spec.node_classes.iter().filter(|class| class.provisioner == Provisioner::Managed);
    for class in managed {
        let Some(choice) = choices.classes.get(&class.name) else { continue };
        let plan = Plan::of(graph, spec, choices, catalog, class, choice);
        plan.launch_template(graph);
        for (i, group) in choice.groups.iter().enumerate() {
            plan.node_group(graph, group, i == 0);
            if class.nodes.min < class.nodes.max {
                plan.scaling_tags(graph, group);
            }
        }
    }
}

/// All of the file's: nobody else makes one, Karpenter included, which only selects by name.
fn placement_groups(graph: &mut DesiredGraph, spec: &Spec) {
    for group in &spec.placement_groups {
        let (strategy, partitions, spread_level) = match group.strategy {
            PlacementStrategy::Cluster => (Strategy::Cluster, None, None),
            PlacementStrategy::Partition { partitions } => (Strategy::Partition, Some(u32::from(partitions)), None),
            PlacementStrategy::Spread => (Strategy::Spread, None, Some(SpreadLevel::Rack)),
        };
        let name = names::placement_group_name(&graph.identity, &group.name);
        let want = placement_group::Desired { name, strategy, partitions, spread_level };
        let because = format!("placementGroups[{}]", group.name);
        graph.wish(&PlacementGroup, &names::placement_group(&group.name), &want, because);
    }
}

/// A managed class with everything that template and groups share.
struct Plan<'a> {
    spec: &'a Spec,
    choices: &'a Choices,
    catalog: &'a Catalog,
    class: &'a NodeClass,
    choice: &'a ClassChoice,
    /// `None` for a type that the catalogue does not know.
    known: Option<&'static InstanceType>,
    accelerated: bool,
    interfaces: Vec<Interface>,
    /// The one that the class names, where it was looked at.
    reservation: Option<&'a Reservation>,
    capacity_type: CapacityType,
    placement_group: Option<Link>,
    security_groups: Vec<Link>,
    instance_tags: Tags,
}

impl<'a> Plan<'a> {
    fn of(
        graph: &DesiredGraph,
        spec: &'a Spec,
        choices: &'a Choices,
        catalog: &'a Catalog,
        class: &'a NodeClass,
        choice: &'a ClassChoice,
    ) -> Self {
        let first = class.instance_types.first().map_or("", String::as_str);
        let plain = || vec![Interface { card: 0, device: 0, kind: InterfaceKind::Ena }];
        let interfaces = match choice.efa {
            0 => plain(),
            n => catalog.efa_layout(first, Some(n)).unwrap_or_else(plain),
        };
        let reservation = reservation_id(class)
            .and_then(|id| catalog.facts().reservations.get(id))
            .and_then(|looked| looked.as_ref().ok().and_then(Option::as_ref));
        let mut security_groups = vec![Link::to(&names::cluster(), "security-group")];
        if interfaces.iter().any(|interface| interface.kind.is_efa()) {
            security_groups.push(Link::to(&names::efa_group(), "id"));
        }
        let lasting = graph.tags.iter().filter(|(key, _)| !anchor_only(key));
        Self {
            spec,
            choices,
            catalog,
            class,
            choice,
            known: catalog.instance_type(first),
            accelerated: is_accelerated(class, catalog),
            interfaces,
            reservation,
            capacity_type: capacity_type(class, reservation),
            placement_group: placement(graph, spec, class, reservation),
            security_groups,
            instance_tags: lasting.map(|(key, value)| (key.clone(), value.clone())).collect(),
        }
    }

    fn launch_template(&self, graph: &mut DesiredGraph) {
        let class = self.class;
        let address = names::launch_template(&class.name);
        let block = self.capacity_type == CapacityType::CapacityBlock;
        let mut instance_tags = self.instance_tags.clone();
        // A node says what it came from; which of the class's groups it is in, EKS says.
        instance_tags.insert(RESOURCE.to_owned(), address.to_string());
        let want = launch_template::Desired {
            name: names::launch_template_name(&graph.identity, &class.name),
            interfaces: self.interfaces.iter().map(|interface| self.interface(*interface)).collect(),
            volumes: vec![self.disk()],
            placement_group: self.placement_group.clone(),
            reservation: reservation_id(class).cloned(),
            capacity_block: block,
            instance_type: class.instance_types.first().filter(|_| block).cloned(),
            metadata: Metadata { tokens_required: true, hop_limit: 1, instance_tags: false },
            user_data: user_data(class.ami.family, self.start()),
            instance_tags,
        };
        graph.wish(&LaunchTemplate, &address, &want, self.because());
    }

    /// One way to say who may reach a node: EKS adds no group to interfaces that a template lists.
    fn interface(&self, interface: Interface) -> launch_template::Interface {
        launch_template::Interface {
            card: interface.card,
            device: interface.device,
            r#type: match interface.kind {
                InterfaceKind::Ena => InterfaceType::Ena,
                InterfaceKind::Efa => InterfaceType::Efa,
                InterfaceKind::EfaOnly => InterfaceType::EfaOnly,
            },
            groups: self.security_groups.clone(),
            delete_on_termination: true,
        }
    }

    fn volume(&self) -> Volume {
        let volume = &self.class.volume;
        let r#type = match volume.r#type {
            VolumeType::Gp3 => "gp3",
            VolumeType::Gp2 => "gp2",
            VolumeType::Io1 => "io1",
            VolumeType::Io2 => "io2",
        };
        Volume { r#type: r#type.to_owned(), size: volume.size, iops: volume.iops, throughput: volume.throughput }
    }

    /// The disk that images and pods fill: Bottlerocket's root is read-only and small, and stays as its image has it.
    fn disk(&self) -> Disk {
        let device = match self.class.ami.family {
            AmiFamily::Al2023 => "/dev/xvda",
            AmiFamily::Bottlerocket => "/dev/xvdb",
        };
        Disk {
            device: device.to_owned(),
            volume: self.volume(),
            encrypted: true,
            kms_key: self.class.volume.kms_key.clone(),
            delete_on_termination: true,
        }
    }

    fn start(&self) -> Start {
        let counted = self.known.filter(|_| self.interfaces.iter().any(|interface| interface.kind.is_efa()));
        let disks = |name: &String| self.catalog.instance_type(name).is_some_and(|known| known.instance_store_gb > 0);
        Start {
            // Of the real layout: an `efa-only` takes a slot of card 0, and the image counts as if it didn't.
            max_pods: counted.map(|known| max_pods(known, &self.interfaces)),
            raid0: self.class.local_storage == LocalStorage::Raid0 && self.class.instance_types.iter().any(disks),
        }
    }

    fn node_group(&self, graph: &mut DesiredGraph, group: &GroupChoice, first: bool) {
        let class = self.class;
        let template = names::launch_template(&class.name);
        let zones = &group.zones.value;
        // The class's own numbers are those of its first group: others are there to be scaled when its zone has none.
        let own = |n: u32| if first && self.can_launch() { n } else { 0 };
        let want = node_group::Desired {
            cluster: cluster::name(),
            name: names::node_group_name(&group.name),
            subnets: zones.iter().flat_map(|zone| network::node_subnets(self.spec, self.choices, zone)).collect(),
            role: identity::node_role(self.spec, "arn"),
            instance_types: class.instance_types.clone(),
            ami_type: self.choice.ami_type.value.clone(),
            capacity_type: self.capacity_type,
            template: Link::to(&template, "id"),
            template_version: Link::to(&template, "version"),
            version: self.choices.cluster_version.value.clone(),
            release: self.release(),
            labels: self.labels(),
            taints: class.taints.iter().map(taint).collect(),
            min: own(class.nodes.min),
            max: class.nodes.max,
            start: own(class.nodes.desired),
            create_empty: self.accelerated,
            update: Update {
                // The other strategy starts a second p5 before it ends the first.
                strategy: if self.accelerated { UpdateStrategy::Minimal } else { UpdateStrategy::Default },
                max_unavailable: 1,
            },
            node_repair: self.accelerated,
            instance_tags: self.instance_tags.clone(),
            placement_group: self.placement_group.clone(),
            security_groups: self.security_groups.clone(),
            reservation: reservation_id(class).cloned(),
            footprint: Footprint {
                zone: match zones.as_slice() {
                    [zone] => Some(zone.clone()),
                    _ => None,
                },
                efa: self.choice.efa,
                addresses: self.addresses(),
                volume: self.volume(),
            },
        };
        graph.wish(&NodeGroup, &names::node_group(&group.name), &want, self.because());
    }

    /// False while the reservation is not there yet, or no longer: a launch would only fail, and EKS wants such a group at 0.
    fn can_launch(&self) -> bool {
        self.reservation.is_none_or(|reservation| reservation.state == "active")
    }

    /// A release of another Kubernetes version can't be asked for together with this one; Bottlerocket's are of none.
    fn release(&self) -> Option<String> {
        let version = &self.choices.cluster_version.value;
        let release = self.choice.ami_release.value.clone()?;
        (self.class.ami.family == AmiFamily::Bottlerocket || is_release_of(&release, version)).then_some(release)
    }

    fn labels(&self) -> BTreeMap<String, String> {
        let mut labels = self.class.labels.clone();
        labels.insert(NODE_CLASS.to_owned(), self.class.name.clone());
        if self.resource().is_some_and(|(name, _)| name == "nvidia.com/gpu") {
            // NVIDIA's device plugin runs where this label is, or where node feature discovery found a device.
            labels.entry("nvidia.com/gpu.present".to_owned()).or_insert_with(|| "true".to_owned());
        }
        labels
    }

    /// What a node offers to pods, and how many of it.
    fn resource(&self) -> Option<(&'static str, u32)> {
        let known = self.known?;
        Some((known.accelerator.as_ref()?.kind.resource()?, known.devices()))
    }

    /// Addresses of the interfaces that take one, and those that vpc-cni keeps for pods.
    fn addresses(&self) -> u32 {
        let own = self.interfaces.iter().filter(|interface| interface.kind.has_address()).count();
        u32::try_from(own).unwrap_or(u32::MAX).saturating_add(MINIMUM_IP_TARGET)
    }

    fn scaling_tags(&self, graph: &mut DesiredGraph, group: &GroupChoice) {
        let mut keys = Tags::new();
        let mut tag = |key: String, value: &str| keys.insert(key, value.to_owned());
        tag(format!("{PREFIX}enabled"), "true");
        tag(format!("{PREFIX}{}", names::cluster_name(&graph.identity)), "owned");
        let resource = |name: &str| format!("{NODE_TEMPLATE}resources/{name}");
        if let Some((name, n)) = self.resource() {
            tag(resource(name), &n.to_string());
        }
        if self.choice.efa > 0 {
            tag(resource("vpc.amazonaws.com/efa"), &self.choice.efa.to_string());
        }
        // Where the local disks hold the pods the volume's size says nothing, and what is not said is not missed.
        if !self.start().raid0 {
            tag(resource("ephemeral-storage"), &format!("{}Gi", self.class.volume.size));
        }
        for (key, value) in self.labels() {
            tag(format!("{NODE_TEMPLATE}label/{key}"), &value);
        }
        for taint in &self.class.taints {
            let value = format!("{}:{}", taint.value.as_deref().unwrap_or(""), effect(taint.effect));
            tag(format!("{NODE_TEMPLATE}taint/{}", taint.key), &value);
        }
        let want = scaling_tags::Desired { asg: Link::to(&names::node_group(&group.name), "asg"), keys };
        let class = self.class;
        let because = format!(
            "nodeClasses[{}].nodes: {} to {}, so that cluster-autoscaler may start the first one",
            class.name, class.nodes.min, class.nodes.max
        );
        graph.wish(&ScalingTags, &names::scaling_tags(&group.name), &want, because);
    }

    fn because(&self) -> String {
        let name = &self.class.name;
        let mut because = format!("nodeClasses[{name}]");
        let Some(reservation) = self.reservation else { return because };
        because += &match &self.placement_group {
            None => format!("; {} was made in no placement group, so its nodes are in none", reservation.id),
            Some(group) => format!("; {} was made in placement group {}", reservation.id, group.target()),
        };
        if !self.can_launch() {
            let when = match (reservation.state.as_str(), &reservation.start) {
                ("scheduled" | "payment-pending" | "pending", Some(start)) => format!(", and starts at {start}"),
                _ => String::new(),
            };
            because += &format!("; it is {}{when}: no node until it is active", reservation.state);
        }
        because
    }
}

/// `cr-…` that the class names, whichever of the two it is.
fn reservation_id(class: &NodeClass) -> Option<&String> {
    match &class.capacity {
        Capacity::Reservation(id) | Capacity::CapacityBlock(id) => Some(id),
        Capacity::OnDemand | Capacity::Spot => None,
    }
}

/// What a reservation is, it says itself; the file's word counts where nobody looked.
fn capacity_type(class: &NodeClass, reservation: Option<&Reservation>) -> CapacityType {
    let block = match reservation {
        Some(reservation) => reservation.block,
        None => matches!(class.capacity, Capacity::CapacityBlock(_)),
    };
    match class.capacity {
        _ if block => CapacityType::CapacityBlock,
        Capacity::Spot => CapacityType::Spot,
        Capacity::OnDemand | Capacity::Reservation(_) | Capacity::CapacityBlock(_) => CapacityType::OnDemand,
    }
}

/// The group that the class's nodes stand in. A launch into a reservation fits only the group that the reservation was made in:
/// with any other, or with one where it has none, EC2 answers InsufficientInstanceCapacity while what is reserved lies idle.
fn placement(graph: &DesiredGraph, spec: &Spec, class: &NodeClass, reservation: Option<&Reservation>) -> Option<Link> {
    let ours = |group: &str| Link::to(&names::placement_group(group), "name");
    if reservation_id(class).is_none() {
        return class.placement_group.as_deref().map(ours);
    }
    let (_, name) = reservation?.placement_group.as_ref()?.split_once(":placement-group/")?;
    let mine = spec.placement_groups.iter().find(|g| names::placement_group_name(&graph.identity, &g.name) == name);
    Some(mine.map_or_else(|| Link::is(name), |group| ours(&group.name)))
}

fn taint(taint: &Taint) -> node_group::Taint {
    node_group::Taint {
        key: taint.key.clone(),
        value: taint.value.clone(),
        effect: match taint.effect {
            TaintEffect::NoSchedule => node_group::Effect::NoSchedule,
            TaintEffect::PreferNoSchedule => node_group::Effect::PreferNoSchedule,
            TaintEffect::NoExecute => node_group::Effect::NoExecute,
        },
    }
}

/// As Kubernetes spells it.
fn effect(effect: TaintEffect) -> &'static str {
    match effect {
        TaintEffect::NoSchedule => "NoSchedule",
        TaintEffect::PreferNoSchedule => "PreferNoSchedule",
        TaintEffect::NoExecute => "NoExecute",
    }
}
