//! Choices of a stack that does not live yet.

use crate::samples::*;
use infer_stack::{
    choose::{ChooseError, choose, facts_needed},
    cloud::{Answer, Fact, Reservation, SubnetFacts},
    stack::{Access, AccessPolicy, Capacity, Efa, Network, Provisioner},
};

#[test]
fn everything_open_is_chosen_with_a_reason() {
    let choices = choose(&llama_70b(), &nothing(), &Account::default().catalog(), &circumstances()).unwrap();
    assert_eq!(choices.account, "123456789012");
    assert_eq!(choices.callers.value, [CALLER]);
    assert_eq!(choices.zones.value, ["usw2-az1", "usw2-az2"]);
    assert_eq!(choices.zones.because, "usw2-az2 for node class p5, usw2-az1 as the control plane needs two");
    assert_eq!(choices.control_plane_zones.value, ["usw2-az1", "usw2-az2"]);
    assert_eq!(choices.cluster_version.value, "1.35");
    assert!(choices.cluster_version.because.contains("Karpenter 1.12"), "{}", choices.cluster_version.because);
    assert_eq!(choices.public_cidrs.value, ["203.0.113.7/32"]);
    assert_eq!(choices.expires.value, "2026-12-04T12:00:00Z");
    assert_eq!(choices.expires.because, "72h after this first up");
    assert_eq!(choices.bucket.unwrap().value, "llama-70b-weights-123456789012-us-west-2");
    assert!(choices.offers.is_empty(), "{:?}", choices.offers);

    let p5 = &choices.classes["p5"];
    assert_eq!(p5.groups.len(), 1);
    assert_eq!(p5.groups[0].name, "p5");
    assert_eq!(p5.groups[0].zones.value, ["usw2-az2"]);
    assert_eq!(p5.groups[0].zones.because, "p5.48xlarge is offered there and the control plane takes it");
    assert_eq!(p5.ami_type.value, "AL2023_x86_64_NVIDIA");
    assert_eq!(p5.ami_release.value.as_deref(), Some("1.35.2-20261120"));
    assert_eq!(p5.efa, 32);
    let system = &choices.classes["system"];
    assert_eq!(system.groups[0].zones.value, ["usw2-az1", "usw2-az2"]);
    assert_eq!((system.ami_type.value.as_str(), system.efa), ("AL2023_x86_64_STANDARD", 0));
    let addons: Vec<_> = choices.addons.keys().map(String::as_str).collect();
    assert_eq!(
        addons,
        [
            "aws-ebs-csi-driver",
            "coredns",
            "eks-node-monitoring-agent",
            "eks-pod-identity-agent",
            "kube-proxy",
            "vpc-cni"
        ]
    );
}

#[test]
fn the_same_input_gives_the_same_choices() {
    let made = || choose(&llama_70b(), &lived(), &Account::default().catalog(), &circumstances()).unwrap();
    assert_eq!(made(), made());
}

#[test]
fn a_version_whose_standard_support_has_ended_is_not_chosen() {
    let account =
        Account { versions: vec![("1.34", Some("2027-12-02")), ("1.35", Some("2026-11-30"))], ..Account::default() };
    let choices = choose(&llama_70b(), &nothing(), &account.catalog(), &circumstances()).unwrap();
    assert_eq!(choices.cluster_version.value, "1.34");
}

#[test]
fn nodes_may_be_where_the_control_plane_may_not() {
    let mut spec = llama_70b();
    spec.region = "us-east-1".to_owned();
    spec.node_classes[1].zone = Some("use1-az3".to_owned());
    let account =
        Account { zones: vec!["use1-az1", "use1-az2", "use1-az3"], p5: vec!["use1-az3"], ..Account::default() };
    let choices = choose(&spec, &nothing(), &account.catalog(), &circumstances()).unwrap();
    assert_eq!(choices.zones.value, ["use1-az1", "use1-az2", "use1-az3"]);
    assert_eq!(choices.control_plane_zones.value, ["use1-az1", "use1-az2"]);
    assert_eq!(choices.classes["p5"].groups[0].zones.value, ["use1-az3"]);
}

#[test]
fn a_zone_that_the_control_plane_takes_goes_before_one_it_refuses() {
    let mut spec = llama_70b();
    spec.region = "ca-central-1".to_owned();
    let zones = vec!["cac1-az1", "cac1-az3", "cac1-az4"];
    let account = Account { zones, p5: vec!["cac1-az3", "cac1-az4"], ..Account::default() };
    let choices = choose(&spec, &nothing(), &account.catalog(), &circumstances()).unwrap();
    assert_eq!(choices.classes["p5"].groups[0].zones.value, ["cac1-az4"]);
}

#[test]
fn too_few_zones_for_the_control_plane_are_refused() {
    let mut spec = llama_70b();
    spec.network = Network::Made {
        cidr: "10.64.0.0/16".parse().unwrap(),
        zones: Some(vec!["use1-az3".to_owned(), "use1-az1".to_owned()]),
        nat_gateways: infer_stack::stack::NatGateways::One,
    };
    let error = choose(&spec, &nothing(), &Account::default().catalog(), &circumstances()).unwrap_err();
    assert!(matches!(error, ChooseError::TooFewZones { .. }), "{error}");
}

#[test]
fn a_reservation_says_where_its_nodes_are() {
    let mut spec = llama_70b();
    spec.node_classes[1].capacity = Capacity::CapacityBlock("cr-1".to_owned());
    let block = Reservation {
        id: "cr-1".to_owned(),
        instance_type: "p5.48xlarge".to_owned(),
        zone: "usw2-az3".to_owned(),
        total: 8,
        available: 8,
        state: "active".to_owned(),
        block: true,
        start: None,
        end: None,
        placement_group: None,
    };
    let question = Fact::Reservations { ids: vec!["cr-1".to_owned()] };
    let mut facts = Account::default().facts();
    facts.learn(&question, Ok(Answer::Reservations(vec![block])));
    let zones = |facts| {
        let catalog = infer_stack::catalog::Catalog::with(facts);
        choose(&spec, &nothing(), &catalog, &circumstances()).map(|c| c.classes["p5"].groups[0].zones.clone())
    };
    let chosen = zones(facts.clone()).unwrap();
    assert_eq!((chosen.value, chosen.because.as_str()), (vec!["usw2-az3".to_owned()], "cr-1 is there"));
    facts.learn(&question, Err(denied("ec2:DescribeCapacityReservations")));
    assert!(matches!(zones(facts).unwrap_err(), ChooseError::CouldNotLook { .. }));
}

#[test]
fn karpenter_without_efa_may_use_every_zone_that_offers_the_type() {
    let mut spec = llama_70b();
    let p5 = &mut spec.node_classes[1];
    (p5.provisioner, p5.placement_group, p5.efa) = (Provisioner::Karpenter, None, Efa::None);
    let account = Account { p5: vec!["usw2-az1", "usw2-az2"], ..Account::default() };
    let choices = choose(&spec, &nothing(), &account.catalog(), &circumstances()).unwrap();
    assert_eq!(choices.classes["p5"].groups[0].zones.value, ["usw2-az1", "usw2-az2"]);
}

#[test]
fn subnets_brought_along_say_where_everything_is() {
    let mut spec = llama_70b();
    let ids: Vec<String> = ["subnet-a", "subnet-b"].map(str::to_owned).into();
    spec.network = Network::Brought {
        vpc: "vpc-1".to_owned(),
        nodes: ids.clone(),
        control_plane: ids.clone(),
        load_balancers: ids.clone(),
    };
    let subnet = |id: &str, zone: &str| SubnetFacts {
        id: id.to_owned(),
        vpc: "vpc-1".to_owned(),
        zone: zone.to_owned(),
        cidr: "10.0.0.0/20".to_owned(),
        free_addresses: 4000,
    };
    let mut facts = Account::default().facts();
    let question = Fact::Subnets { ids };
    let both = vec![subnet("subnet-a", "usw2-az3"), subnet("subnet-b", "usw2-az1")];
    facts.learn(&question, Ok(Answer::Subnets(both)));
    let choose = |facts| choose(&spec, &nothing(), &infer_stack::catalog::Catalog::with(facts), &circumstances());
    let choices = choose(facts.clone()).unwrap();
    assert_eq!(choices.zones.value, ["usw2-az1", "usw2-az3"]);
    assert_eq!(choices.classes["p5"].groups[0].zones.value, ["usw2-az3"]);
    assert_eq!(choices.brought.nodes["usw2-az3"], ["subnet-a"]);

    facts.learn(&question, Ok(Answer::Subnets(vec![subnet("subnet-a", "usw2-az3")])));
    assert!(matches!(choose(facts.clone()).unwrap_err(), ChooseError::NoSuchSubnet(id, _) if id == "subnet-b"));
    facts.learn(&question, Err(denied("ec2:DescribeSubnets")));
    assert!(matches!(choose(facts).unwrap_err(), ChooseError::CouldNotLook { .. }));
}

#[test]
fn a_principal_that_the_file_names_gets_no_second_entry() {
    let mut spec = llama_70b();
    spec.cluster.access = vec![Access { principal: CALLER.to_owned(), policy: AccessPolicy::Edit }];
    let choices = choose(&spec, &nothing(), &Account::default().catalog(), &circumstances()).unwrap();
    assert!(choices.callers.value.is_empty());
}

#[test]
fn an_unknown_address_is_an_error_and_not_the_whole_internet() {
    let mut facts = Account::default().facts();
    facts.learn(&Fact::CallerAddress, Err(denied("GET checkip")));
    let catalog = infer_stack::catalog::Catalog::with(facts);
    let error = choose(&llama_70b(), &nothing(), &catalog, &circumstances()).unwrap_err();
    assert!(matches!(error, ChooseError::CouldNotLook { .. }), "{error}");
}

#[test]
fn what_is_asked_is_what_choosing_needs() {
    let spec = llama_70b();
    let catalog = infer_stack::catalog::Catalog::compiled();
    let facts = facts_needed(&spec, &nothing(), &catalog, &circumstances());
    assert!(facts.contains(&Fact::CallerAddress));
    let types = vec!["m6i.xlarge".to_owned(), "p5.48xlarge".to_owned()];
    assert!(facts.contains(&Fact::Offerings { instance_types: types }));
    assert!(
        facts
            .iter()
            .any(|fact| matches!(fact, Fact::AddonVersions { cluster_version, .. } if cluster_version == "1.35"))
    );
    let quotas = facts.iter().find_map(|fact| match fact {
        Fact::Quotas { codes } => Some(codes),
        _ => None,
    });
    assert!(quotas.unwrap().contains(&("L-417A185B".to_owned(), "ec2".to_owned())));
    // The live cluster's version, not that of a new one.
    let facts = facts_needed(&spec, &lived(), &catalog, &circumstances());
    assert!(
        facts
            .iter()
            .any(|fact| matches!(fact, Fact::AddonVersions { cluster_version, .. } if cluster_version == "1.34"))
    );
}

#[test]
fn parallelism_is_explained_by_memory() {
    let mut case = crate::preflight::case::Case::of("llama-70b", "ready");
    case.spec.serving.as_mut().unwrap().max_model_len = 8192;
    case.spec.serving.as_mut().unwrap().gpu_memory_utilization = 0.9;
    let sizing = case.made().choices.sizing.unwrap();
    assert_eq!((sizing.value.tensor, sizing.value.pipeline), (8, 1));
    assert_eq!(
        sizing.because,
        "141 GB of weights and 82 GB of overhead leave 464 GB of KV cache, 172 conversations of 8,192 tokens"
    );
    case.spec.serving = None;
    assert_eq!(case.made().choices.sizing, None);
}
