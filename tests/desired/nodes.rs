//! The nodes layer: what a node is launched with, and how node groups are wished.

use crate::samples::{Account, circumstances, class, identity, llama_70b, nothing};
use infer_stack::{
    catalog::Catalog,
    choose::{Choices, choose},
    cloud::{Answer, Fact, Reservation},
    contract::{Demand, Purchase},
    desired::{DesiredGraph, desired, names, nodes::NODE_CLASS},
    model::{Address, EXPIRES, Link, RESOURCE, RUN, STACK},
    resources::{
        self,
        launch_template::{self, InterfaceType},
        node_group::{self, CapacityType, UpdateStrategy},
        scaling_tags,
    },
    stack::*,
};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

pub fn choices(spec: &Spec) -> Choices {
    choose(spec, &nothing(), &Account::default().catalog(), &circumstances()).unwrap()
}

pub fn graph_with(spec: &Spec, choices: &Choices, catalog: &Catalog) -> DesiredGraph {
    desired(spec, choices, catalog, &identity(), &circumstances()).unwrap()
}

pub fn graph(spec: &Spec) -> DesiredGraph {
    graph_with(spec, &choices(spec), &Account::default().catalog())
}

pub fn want<T: DeserializeOwned>(graph: &DesiredGraph, address: &Address) -> T {
    let wish = graph.wishes.get(address).unwrap_or_else(|| panic!("{address} is not wished"));
    serde_json::from_value(wish.doc.clone()).unwrap()
}

pub fn p5(spec: &mut Spec) -> &mut NodeClass {
    spec.node_classes.iter_mut().find(|class| class.name == "p5").unwrap()
}

fn template(graph: &DesiredGraph) -> launch_template::Desired {
    want(graph, &names::launch_template("p5"))
}

fn group(graph: &DesiredGraph) -> node_group::Desired {
    want(graph, &names::node_group("p5"))
}

/// The template of a class of that type with all the EFA it has.
fn template_of(instance_type: &str) -> launch_template::Desired {
    let mut spec = llama_70b();
    let mut choices = choices(&spec);
    p5(&mut spec).instance_types = vec![instance_type.to_owned()];
    choices.classes.get_mut("p5").unwrap().efa = Catalog::compiled().instance_type(instance_type).unwrap().efa_max;
    template(&graph_with(&spec, &choices, &Catalog::compiled()))
}

fn places(template: &launch_template::Desired, of: InterfaceType) -> Vec<(u32, u32)> {
    template.interfaces.iter().filter(|i| i.r#type == of).map(|i| (i.card, i.device)).collect()
}

#[test]
fn p5_has_an_ip_interface_and_32_efa_only_ones_of_which_the_first_is_the_second_on_card_0() {
    let template = template_of("p5.48xlarge");
    assert_eq!(template.interfaces.len(), 33);
    assert_eq!(places(&template, InterfaceType::Ena), [(0, 0)]);
    let efa: Vec<_> = std::iter::once((0, 1)).chain((1..32).map(|card| (card, 0))).collect();
    assert_eq!(places(&template, InterfaceType::EfaOnly), efa);
}

#[test]
fn efa_is_counted_by_what_the_type_has_and_never_by_cards() {
    let count = |name: &str| {
        let template = template_of(name);
        (template.interfaces.len(), places(&template, InterfaceType::EfaOnly))
    };
    let on_cards = |cards: std::ops::Range<u32>| cards.map(|card| (card, u32::from(card == 0))).collect::<Vec<_>>();
    assert_eq!(count("p5en.48xlarge"), (17, on_cards(0..16)));
    assert_eq!(count("trn2.48xlarge"), (17, on_cards(0..16)));
    assert_eq!(count("g6e.48xlarge"), (5, on_cards(0..4)));
    // 17 cards, 16 EFA, and none on card 0.
    assert_eq!(count("p6-b300.48xlarge"), (17, on_cards(1..17)));
    // A single card carries both in one.
    let small = template_of("p5.4xlarge");
    assert_eq!(places(&small, InterfaceType::Efa), [(0, 0)]);
    assert_eq!(small.interfaces.len(), 1);
    assert_eq!(places(&template_of("g6e.xlarge"), InterfaceType::Ena), [(0, 0)]);
}

#[test]
fn every_layout_passes_the_checks_of_ec2() {
    for name in ["p5.48xlarge", "p5en.48xlarge", "p6-b300.48xlarge", "trn2.48xlarge", "g6e.48xlarge", "p4d.24xlarge"] {
        let doc = serde_json::to_value(template_of(name)).unwrap();
        let kind = resources::kind("launch-template").unwrap();
        assert_eq!(kind.check(&doc).unwrap(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn every_interface_names_its_groups_and_goes_with_its_instance() {
    let graph = graph(&llama_70b());
    let both = vec![Link::to(&names::cluster(), "security-group"), Link::to(&names::efa_group(), "id")];
    for interface in &template(&graph).interfaces {
        assert_eq!(interface.groups, both);
        assert!(interface.delete_on_termination);
    }
    let system: launch_template::Desired = want(&graph, &names::launch_template("system"));
    assert_eq!(system.interfaces.len(), 1);
    assert_eq!(system.interfaces[0].groups, both[..1]);
}

#[test]
fn fewer_efa_are_the_first_ones_and_none_leave_a_plain_interface() {
    let spec = llama_70b();
    let mut choices = choices(&spec);
    let mut with = |n: u32| {
        choices.classes.get_mut("p5").unwrap().efa = n;
        template(&graph_with(&spec, &choices, &Catalog::compiled()))
    };
    assert_eq!(places(&with(2), InterfaceType::EfaOnly), [(0, 1), (1, 0)]);
    let none = with(0);
    assert_eq!(places(&none, InterfaceType::Ena), [(0, 0)]);
    assert_eq!(none.interfaces[0].groups.len(), 1);
}

#[test]
fn max_pods_come_from_the_real_layout_and_local_disks_are_one_array() {
    let mut spec = llama_70b();
    p5(&mut spec).local_storage = LocalStorage::Raid0;
    insta::assert_snapshot!(template(&graph(&spec)).user_data.unwrap());
}

#[test]
fn bottlerocket_is_told_the_same_in_its_own_words() {
    let mut spec = llama_70b();
    p5(&mut spec).local_storage = LocalStorage::Raid0;
    let choices = choices(&spec);
    p5(&mut spec).ami.family = AmiFamily::Bottlerocket;
    let template = template(&graph_with(&spec, &choices, &Account::default().catalog()));
    insta::assert_snapshot!(template.user_data.unwrap());
}

#[test]
fn nothing_to_say_is_no_user_data() {
    let system: launch_template::Desired = want(&graph(&llama_70b()), &names::launch_template("system"));
    assert_eq!(system.user_data, None);
}

#[test]
fn the_volume_is_the_disk_that_images_fill() {
    let mut spec = llama_70b();
    p5(&mut spec).volume = Volume {
        size: 500,
        r#type: VolumeType::Gp3,
        iops: Some(6000),
        throughput: Some(500),
        kms_key: Some("k".into()),
    };
    let choices = choices(&spec);
    let mut disk = |family| {
        p5(&mut spec).ami.family = family;
        template(&graph_with(&spec, &choices, &Catalog::compiled())).volumes.remove(0)
    };
    assert_eq!(disk(AmiFamily::Bottlerocket).device, "/dev/xvdb");
    let root = disk(AmiFamily::Al2023);
    assert_eq!(root.device, "/dev/xvda");
    assert_eq!((root.volume.size, root.volume.iops, root.volume.throughput), (500, Some(6000), Some(500)));
    assert!(root.encrypted && root.delete_on_termination);
    assert_eq!(root.kms_key.as_deref(), Some("k"));
}

#[test]
fn metadata_wants_a_token_reaches_one_hop_and_shows_no_tags() {
    let metadata = template(&graph(&llama_70b())).metadata;
    assert!(metadata.tokens_required);
    assert_eq!(metadata.hop_limit, 1);
    assert!(!metadata.instance_tags);
}

#[test]
fn instances_volumes_and_interfaces_carry_the_tags_but_never_run_or_expires() {
    let mut spec = llama_70b();
    spec.tags.insert("workload".to_owned(), "llm".to_owned());
    let graph = graph(&spec);
    assert!(graph.anchor_tags.contains_key(RUN) && graph.anchor_tags.contains_key(EXPIRES));
    let tags = template(&graph).instance_tags;
    assert_eq!(tags["workload"], "llm");
    assert_eq!(tags[STACK], "llama-70b");
    assert_eq!(tags[RESOURCE], "launch-template.p5");
    assert!(!tags.contains_key(RUN) && !tags.contains_key(EXPIRES));
    assert_eq!(group(&graph).instance_tags["workload"], "llm");
}

#[test]
fn accelerated_groups_end_old_nodes_first_are_repaired_and_start_empty() {
    let graph = graph(&llama_70b());
    let p5 = group(&graph);
    assert_eq!((p5.update.strategy, p5.update.max_unavailable), (UpdateStrategy::Minimal, 1));
    assert!(p5.node_repair && p5.create_empty);
    let system: node_group::Desired = want(&graph, &names::node_group("system"));
    assert_eq!(system.update.strategy, UpdateStrategy::Default);
    assert!(!system.node_repair && !system.create_empty);
}

#[test]
fn a_scarce_group_has_one_subnet_and_a_plain_one_has_all() {
    let graph = graph(&llama_70b());
    assert_eq!(group(&graph).subnets, [Link::to(&names::private_subnet("usw2-az2"), "id")]);
    assert_eq!(group(&graph).footprint.zone.as_deref(), Some("usw2-az2"));
    let system: node_group::Desired = want(&graph, &names::node_group("system"));
    assert!(system.subnets.len() > 1);
    assert_eq!(system.footprint.zone, None);
}

#[test]
fn labels_find_the_class_and_let_nvidias_plugin_run() {
    let mut spec = llama_70b();
    p5(&mut spec).labels.insert("team".to_owned(), "ml".to_owned());
    let labels = group(&graph(&spec)).labels;
    let expected = [(NODE_CLASS, "p5"), ("nvidia.com/gpu.present", "true"), ("team", "ml")];
    assert_eq!(labels, BTreeMap::from(expected.map(|(key, value)| (key.to_owned(), value.to_owned()))));
}

#[test]
fn taints_are_the_groups_and_spelt_as_eks_does() {
    let mut spec = llama_70b();
    let taint = |effect| Taint { key: "nvidia.com/gpu".to_owned(), value: None, effect };
    p5(&mut spec).taints =
        [TaintEffect::NoSchedule, TaintEffect::NoExecute, TaintEffect::PreferNoSchedule].map(taint).into();
    let graph = graph(&spec);
    let doc = &graph.wishes[&names::node_group("p5")].doc;
    let effects: Vec<_> = doc["taints"].as_array().unwrap().iter().map(|taint| taint["effect"].clone()).collect();
    assert_eq!(effects, ["NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE"]);
    assert!(template(&graph).user_data.is_none_or(|text| !text.contains("aint")));
}

#[test]
fn a_roles_arn_and_subnets_that_were_brought_along_are_links_to_what_is() {
    let mut spec = llama_70b();
    spec.iam.node_role = Some("arn:aws:iam::123456789012:role/theirs".to_owned());
    assert_eq!(group(&graph(&spec)).role, Link::is("arn:aws:iam::123456789012:role/theirs"));
    assert_eq!(group(&graph(&llama_70b())).role, Link::to(&names::node_role(), "arn"));
}

#[test]
fn a_release_of_another_kubernetes_version_is_not_asked_for() {
    let spec = llama_70b();
    let mut choices = choices(&spec);
    let version = choices.cluster_version.value.clone();
    let mut with = |release: Option<String>| {
        choices.classes.get_mut("p5").unwrap().ami_release.value = release;
        group(&graph_with(&spec, &choices, &Catalog::compiled())).release
    };
    let fitting = format!("{version}.2-20261120");
    assert_eq!(with(Some(fitting.clone())), Some(fitting));
    assert_eq!(with(Some("1.20.2-20261120".to_owned())), None);
    assert_eq!(with(None), None);
}

#[test]
fn the_first_groups_need_the_network_plugin_and_their_roles_agent() {
    let graph = graph(&llama_70b());
    for group in ["p5", "system"] {
        let needs = graph.needs(&names::node_group(group));
        for addon in ["vpc-cni", "kube-proxy", "eks-pod-identity-agent"] {
            assert!(needs.contains(&names::addon(addon)), "{group} {addon}");
        }
    }
}

#[test]
fn a_karpenter_class_leaves_everything_but_the_placement_group_to_karpenter() {
    let mut spec = llama_70b();
    p5(&mut spec).provisioner = Provisioner::Karpenter;
    let graph = graph(&spec);
    assert!(graph.wishes.contains_key(&names::placement_group("p5")));
    for address in [names::launch_template("p5"), names::node_group("p5"), names::scaling_tags("p5")] {
        assert!(!graph.wishes.contains_key(&address), "{address}");
    }
}

#[test]
fn placement_groups_are_as_the_file_says() {
    let mut spec = llama_70b();
    let group = |name: &str, strategy| PlacementGroup { name: name.to_owned(), strategy };
    spec.placement_groups.push(group("parts", PlacementStrategy::Partition { partitions: 3 }));
    spec.placement_groups.push(group("apart", PlacementStrategy::Spread));
    let graph = graph(&spec);
    let of = |name: &str| graph.wishes[&names::placement_group(name)].doc.clone();
    assert_eq!(of("p5")["strategy"], "cluster");
    assert_eq!(of("p5")["name"], "llama-70b-p5");
    assert_eq!(of("parts")["partitions"], 3);
    assert_eq!(of("apart")["spreadLevel"], "rack");
    assert_eq!(template(&graph).placement_group, Some(Link::to(&names::placement_group("p5"), "name")));
}

fn reserved(capacity: Capacity, reservation: Option<Reservation>) -> DesiredGraph {
    let mut spec = llama_70b();
    p5(&mut spec).capacity = capacity;
    let mut facts = Account::default().facts();
    if let Some(reservation) = reservation {
        let question = Fact::Reservations { ids: vec![reservation.id.clone()] };
        facts.learn(&question, Ok(Answer::Reservations(vec![reservation])));
    }
    let catalog = Catalog::with(facts);
    let choices = choose(&spec, &nothing(), &catalog, &circumstances()).unwrap();
    graph_with(&spec, &choices, &catalog)
}

fn reservation(block: bool, state: &str, group: Option<&str>) -> Reservation {
    let arn = |group: &str| format!("arn:aws:ec2:us-west-2:123456789012:placement-group/{group}");
    Reservation {
        id: "cr-1".to_owned(),
        instance_type: "p5.48xlarge".to_owned(),
        zone: "usw2-az2".to_owned(),
        total: 2,
        available: 2,
        state: state.to_owned(),
        block,
        start: Some("2026-12-09T11:30:00Z".to_owned()),
        end: Some("2026-12-23T11:30:00Z".to_owned()),
        placement_group: group.map(arn),
    }
}

fn odcr() -> Capacity {
    Capacity::Reservation("cr-1".to_owned())
}

fn block() -> Capacity {
    Capacity::CapacityBlock("cr-1".to_owned())
}

#[test]
fn a_reservation_without_a_placement_group_gets_none_though_the_class_names_one() {
    for (capacity, is_block) in [(odcr(), false), (block(), true)] {
        let graph = reserved(capacity.clone(), Some(reservation(is_block, "active", None)));
        assert_eq!(template(&graph).placement_group, None);
        assert_eq!(group(&graph).placement_group, None);
        let because = &graph.wishes[&names::launch_template("p5")].because;
        assert!(because.contains("cr-1 was made in no placement group"), "{because}");
        // Nobody looked: not known to have one.
        assert_eq!(template(&reserved(capacity, None)).placement_group, None);
    }
}

#[test]
fn a_reservation_made_in_a_placement_group_takes_its_nodes_there() {
    let theirs = reserved(odcr(), Some(reservation(false, "active", Some("shared"))));
    assert_eq!(template(&theirs).placement_group, Some(Link::is("shared")));
    let ours = reserved(odcr(), Some(reservation(false, "active", Some("llama-70b-p5"))));
    assert_eq!(template(&ours).placement_group, Some(Link::to(&names::placement_group("p5"), "name")));
}

#[test]
fn what_a_reservation_is_comes_from_the_reservation_and_not_from_the_file() {
    let of = |capacity, block| {
        let graph = reserved(capacity, Some(reservation(block, "active", None)));
        (group(&graph).capacity_type, template(&graph).capacity_block)
    };
    assert_eq!(of(odcr(), true), (CapacityType::CapacityBlock, true));
    assert_eq!(of(block(), false), (CapacityType::OnDemand, false));
    let unseen = reserved(block(), None);
    assert_eq!(group(&unseen).capacity_type, CapacityType::CapacityBlock);
}

#[test]
fn only_a_capacity_block_has_its_instance_type_in_the_template() {
    let graph = reserved(block(), Some(reservation(true, "active", None)));
    assert_eq!(template(&graph).instance_type.as_deref(), Some("p5.48xlarge"));
    assert_eq!(template(&graph).reservation.as_deref(), Some("cr-1"));
    let graph = reserved(odcr(), Some(reservation(false, "active", None)));
    assert_eq!(template(&graph).instance_type, None);
    assert_eq!(template(&graph).reservation.as_deref(), Some("cr-1"));
}

#[test]
fn a_block_that_is_not_active_yet_has_its_group_at_0_and_the_plan_says_when() {
    let graph = reserved(block(), Some(reservation(true, "scheduled", None)));
    let waiting = group(&graph);
    assert_eq!((waiting.min, waiting.start, waiting.max), (0, 0, 8));
    let because = &graph.wishes[&names::node_group("p5")].because;
    assert!(
        because.ends_with("it is scheduled, and starts at 2026-12-09T11:30:00Z: no node until it is active"),
        "{because}"
    );
    let active = reserved(block(), Some(reservation(true, "active", None)));
    assert_eq!(group(&active).start, 2);
}

#[test]
fn demands_are_of_quota_addresses_and_money() {
    let graph = graph(&llama_70b());
    let kind = resources::kind("node-group").unwrap();
    let demands = kind.demand(&graph.wishes[&names::node_group("p5")].doc).unwrap();
    let instances = Demand::Instances {
        instance_type: "p5.48xlarge".to_owned(),
        purchase: Purchase::OnDemand,
        zone: Some("usw2-az2".to_owned()),
        min: 0,
        now: 2,
        max: 8,
    };
    assert!(demands.contains(&instances));
    let disks = Demand::Billed { unit: "gp3GibMonths".to_owned(), min: 0.0, now: 200.0, max: 800.0 };
    assert!(demands.contains(&disks), "{demands:?}");
    // 32 interfaces are efa-only and take no address: one of the node, ten that vpc-cni keeps for pods.
    let addresses = Demand::addresses(&Link::to(&names::private_subnet("usw2-az2"), "id"), 88);
    assert!(demands.contains(&addresses), "{demands:?}");
}

#[test]
fn reservations_and_blocks_say_so_in_what_they_demand() {
    let purchase = |graph: DesiredGraph| group(&graph).purchase();
    let of = |capacity, block| purchase(reserved(capacity, Some(reservation(block, "active", None))));
    assert_eq!(of(odcr(), false), Purchase::Reservation);
    assert_eq!(of(block(), true), Purchase::CapacityBlock);
    let mut spec = llama_70b();
    p5(&mut spec).capacity = Capacity::Spot;
    assert_eq!(purchase(graph(&spec)), Purchase::Spot);
}

#[test]
fn the_line_of_a_group_says_how_many_of_what_where() {
    let mut spec = llama_70b();
    p5(&mut spec).volume.size = 500;
    let kind = resources::kind("node-group").unwrap();
    let line = |graph: &DesiredGraph| kind.words(&graph.wishes[&names::node_group("p5")].doc).unwrap().headline;
    assert_eq!(line(&graph(&spec)), "2 × p5.48xlarge (0–8), placement group p5, 32 EFA, 500 GiB gp3");
    let block = reserved(block(), Some(reservation(true, "active", None)));
    assert_eq!(line(&block), "2 × p5.48xlarge (0–8), capacity block cr-1, 32 EFA, 100 GiB gp3");
}

#[test]
fn cluster_autoscaler_learns_what_a_node_of_an_empty_group_offers() {
    let mut spec = llama_70b();
    p5(&mut spec).taints =
        vec![Taint { key: "nvidia.com/gpu".to_owned(), value: None, effect: TaintEffect::NoSchedule }];
    let tags: scaling_tags::Desired = want(&graph(&spec), &names::scaling_tags("p5"));
    assert_eq!(tags.asg, Link::to(&names::node_group("p5"), "asg"));
    insta::assert_snapshot!(tags.keys.iter().map(|(key, value)| format!("{key} = {value}\n")).collect::<String>());
}

#[test]
fn a_group_that_nothing_moves_has_no_scaling_tags() {
    let mut spec = llama_70b();
    p5(&mut spec).nodes = Nodes { min: 2, desired: 2, max: 2 };
    assert!(!graph(&spec).wishes.contains_key(&names::scaling_tags("p5")));
}

#[test]
fn a_type_that_the_catalogue_does_not_know_has_one_plain_interface() {
    let mut spec = llama_70b();
    let choices = choices(&spec);
    p5(&mut spec).instance_types = vec!["p9.48xlarge".to_owned()];
    let template = template(&graph_with(&spec, &choices, &Catalog::compiled()));
    assert_eq!(places(&template, InterfaceType::Ena), [(0, 0)]);
    assert_eq!(template.user_data, None);
}

#[test]
fn a_class_in_several_zones_starts_its_nodes_in_the_first() {
    let mut spec = llama_70b();
    spec.node_classes.push(class("g6", "g6.xlarge", 1, 2, 4));
    let mut choices = choices(&spec);
    let group = |zone: &str| infer_stack::choose::GroupChoice {
        name: format!("g6-{zone}"),
        zones: infer_stack::choose::Choice::new(vec![zone.to_owned()], "the test says so"),
    };
    choices.classes.get_mut("g6").unwrap().groups = vec![group("usw2-az1"), group("usw2-az2")];
    let graph = graph_with(&spec, &choices, &Account::default().catalog());
    let sizes = |zone: &str| {
        let group: node_group::Desired = want(&graph, &names::node_group(&format!("g6-{zone}")));
        assert_eq!(group.subnets, [Link::to(&names::private_subnet(zone), "id")]);
        (group.min, group.start, group.max)
    };
    assert_eq!(sizes("usw2-az1"), (1, 2, 4));
    assert_eq!(sizes("usw2-az2"), (0, 0, 4));
}
