//! The network layer, rule by rule.

use crate::samples::{Account, circumstances, identity, lived, llama_70b, nothing, put};
use infer_stack::{
    choose::{BroughtSubnets, Choices, choose},
    contract::Demand,
    desired::{DesiredGraph, names, network},
    model::{Address, Link, as_link},
    resources,
    stack::*,
};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

fn choices(spec: &Spec) -> Choices {
    choose(spec, &nothing(), &Account::default().catalog(), &circumstances()).unwrap()
}

fn graph_of(spec: &Spec, choices: &Choices) -> DesiredGraph {
    let mut graph = DesiredGraph::empty(identity());
    network::network(&mut graph, spec, choices).unwrap();
    graph
}

pub fn graph(spec: &Spec) -> DesiredGraph {
    graph_of(spec, &choices(spec))
}

pub fn with(nat: NatGateways) -> Spec {
    let mut spec = llama_70b();
    spec.network = made(nat, &["usw2-az1", "usw2-az2"]);
    spec
}

pub fn made(nat_gateways: NatGateways, zones: &[&str]) -> Network {
    let zones = zones.iter().map(|zone| (*zone).to_owned()).collect();
    Network::Made { cidr: "10.64.0.0/16".parse().unwrap(), zones: Some(zones), nat_gateways }
}

fn facing_internet(spec: &mut Spec) {
    spec.serving = Some(Serving {
        model: Model::Named("meta-llama/Llama-3.1-70B-Instruct".to_owned()),
        precision: None,
        kv_cache: KvCache::Auto,
        max_model_len: 8192,
        node_class: "p5".to_owned(),
        engine: Engine::default(),
        gpu_memory_utilization: 0.92,
        parallelism: Parallelism::Auto,
        replicas: Replicas { min: 1, max: 1 },
        autoscaling: None,
        routing: Routing::Service,
        ingress: Some(Ingress {
            hostname: "llm.example.com".to_owned(),
            certificate: None,
            idle_timeout: 600,
            scheme: IngressScheme::InternetFacing,
            allowed_cidrs: vec!["198.51.100.0/24".to_owned()],
            api_key_secret: None,
        }),
        monitoring: false,
    });
}

fn on_fsx(spec: &mut Spec, efa: bool) {
    let weights = spec.weights.as_mut().unwrap();
    weights.source = WeightSource::Fsx;
    weights.fsx = Some(Fsx { capacity: 4800, throughput: 250, efa, auto_import: vec![] });
}

fn brought(spec: &mut Spec, choices: &mut Choices) {
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    spec.network = Network::Brought {
        vpc: "vpc-theirs".to_owned(),
        nodes: ids(&["subnet-a", "subnet-b"]),
        control_plane: ids(&["subnet-a", "subnet-b"]),
        load_balancers: vec![],
    };
    let by_zone =
        BTreeMap::from([("usw2-az1".to_owned(), ids(&["subnet-a"])), ("usw2-az2".to_owned(), ids(&["subnet-b"]))]);
    choices.brought =
        BroughtSubnets { nodes: by_zone.clone(), control_plane: by_zone, load_balancers: BTreeMap::new() };
    choices.nat_zone = None;
}

fn addresses(graph: &DesiredGraph) -> BTreeSet<String> {
    graph.wishes.keys().map(Address::to_string).collect()
}

fn of_kind(graph: &DesiredGraph, kind: &str) -> Vec<String> {
    graph.wishes.keys().filter(|address| address.kind() == kind).map(|address| address.name().to_owned()).collect()
}

/// One line a wish: what, how it reads, why.
fn overview(graph: &DesiredGraph) -> String {
    let line = |(address, wish): (&Address, &infer_stack::desired::Wish)| {
        let headline = resources::kind(address.kind()).unwrap().words(&wish.doc).unwrap().headline;
        format!("{address}\n    {headline}\n    {}\n", wish.because)
    };
    graph.wishes.iter().map(line).collect()
}

/// Sum of a billed unit over the graph, as it starts.
fn billed(graph: &DesiredGraph, unit: &str) -> f64 {
    let demands = graph
        .wishes
        .iter()
        .flat_map(|(address, wish)| resources::kind(address.kind()).unwrap().demand(&wish.doc).unwrap());
    demands
        .filter_map(|demand| match demand {
            Demand::Billed { unit: billed, now, .. } if billed == unit => Some(now),
            _ => None,
        })
        .sum()
}

fn every_way() -> Vec<(&'static str, Spec)> {
    let mut ways = vec![
        ("one", with(NatGateways::One)),
        ("perZone", with(NatGateways::PerZone)),
        ("regional", with(NatGateways::Regional)),
        ("none", with(NatGateways::None)),
    ];
    for (_, spec) in &mut ways {
        on_fsx(spec, true);
    }
    ways
}

#[test]
fn a_network_reads_well() {
    insta::assert_snapshot!("network-of-one-gateway", overview(&graph(&with(NatGateways::One))));
    let mut without = with(NatGateways::None);
    on_fsx(&mut without, false);
    insta::assert_snapshot!("network-without-a-way-out", overview(&graph(&without)));
}

#[test]
fn every_wish_fits_its_kind_and_breaks_no_rule_of_aws() {
    for (way, mut spec) in every_way() {
        facing_internet(&mut spec);
        for (address, wish) in graph(&spec).wishes {
            let kind = resources::kind(address.kind()).unwrap();
            assert_eq!(kind.check(&wish.doc).unwrap(), Vec::<String>::new(), "{way}: {address}");
            assert!(!wish.because.is_empty());
        }
    }
}

#[test]
fn every_link_of_the_layer_leads_to_a_wish_or_to_the_cluster() {
    for (way, spec) in every_way() {
        let graph = graph(&spec);
        for address in graph.wishes.keys() {
            for need in graph.needs(address) {
                assert!(graph.wishes.contains_key(&need) || need == names::cluster(), "{way}: {address} needs {need}");
            }
        }
    }
}

#[test]
fn no_group_of_ours_carries_the_clusters_tag() {
    for (_, spec) in every_way() {
        for (address, wish) in graph(&spec).wishes {
            assert!(!wish.doc.to_string().contains("kubernetes.io/cluster"), "{address}");
        }
    }
}

#[test]
fn one_gateway_stands_in_one_public_subnet_and_serves_every_zone() {
    let graph = graph(&with(NatGateways::One));
    assert_eq!(of_kind(&graph, "nat-gateway"), ["main"]);
    assert_eq!(of_kind(&graph, "elastic-ip"), ["main"]);
    assert_eq!(of_kind(&graph, "subnet"), ["private-usw2-az1", "private-usw2-az2", "public-usw2-az1"]);
    for zone in ["usw2-az1", "usw2-az2"] {
        let route = &graph.wishes[&names::private_routes(zone)].doc["routes"][0];
        let gateway = as_link(&route["via"]["natGateway"]).unwrap();
        assert_eq!(gateway, Link::to(&names::nat_gateway("main"), "id"));
    }
    assert!((billed(&graph, "natGatewayHours") - 1.0).abs() < f64::EPSILON);
    assert!((billed(&graph, "publicIpv4Hours") - 1.0).abs() < f64::EPSILON);
}

#[test]
fn the_one_gateway_stays_where_it_lives_when_a_zone_is_added() {
    let mut snapshot = lived();
    put(&mut snapshot, &names::public_subnet("usw2-az2"), "subnet-public", json!({}), &[], &[]);
    let gateway = json!({ "mode": "zonal", "subnet": { "$id": "subnet-public" } });
    put(&mut snapshot, &names::nat_gateway("main"), "nat-1", gateway, &[], &[]);
    let mut spec = llama_70b();
    spec.network = made(NatGateways::One, &["usw2-az1", "usw2-az2", "usw2-az3"]);
    let choices = choose(&spec, &snapshot, &Account::default().catalog(), &circumstances()).unwrap();
    let graph = graph_of(&spec, &choices);
    let subnet = as_link(&graph.wishes[&names::nat_gateway("main")].doc["subnet"]).unwrap();
    assert_eq!(subnet, Link::to(&names::public_subnet("usw2-az2"), "id"));
    assert!(graph.wishes[&names::nat_gateway("main")].because.contains("the live gateway is there"));
}

#[test]
fn a_gateway_a_zone_keeps_each_zones_traffic_in_it() {
    let graph = graph(&with(NatGateways::PerZone));
    for zone in ["usw2-az1", "usw2-az2"] {
        let gateway = &graph.wishes[&names::nat_gateway(zone)].doc;
        assert_eq!(as_link(&gateway["subnet"]).unwrap(), Link::to(&names::public_subnet(zone), "id"));
        assert_eq!(as_link(&gateway["allocation"]).unwrap(), Link::to(&names::elastic_ip(zone), "id"));
        let route = &graph.wishes[&names::private_routes(zone)].doc["routes"][0];
        assert_eq!(as_link(&route["via"]["natGateway"]).unwrap(), Link::to(&names::nat_gateway(zone), "id"));
    }
}

#[test]
fn a_regional_gateway_needs_the_internet_gateway_but_no_public_subnet_and_no_elastic_ip() {
    let graph = graph(&with(NatGateways::Regional));
    assert_eq!(of_kind(&graph, "nat-gateway"), ["regional"]);
    assert!(of_kind(&graph, "elastic-ip").is_empty());
    assert!(of_kind(&graph, "subnet").iter().all(|name| name.starts_with("private-")));
    assert!(graph.needs(&names::nat_gateway("regional")).contains(&names::internet_gateway()));
    assert!(!graph.wishes.contains_key(&names::public_routes()));
    assert!((billed(&graph, "natGatewayHours") - 2.0).abs() < f64::EPSILON);
}

#[test]
fn a_nat_gateway_waits_for_the_internet_gateway_though_it_does_not_name_it() {
    for nat in [NatGateways::One, NatGateways::PerZone, NatGateways::Regional] {
        let graph = graph(&with(nat));
        for name in of_kind(&graph, "nat-gateway") {
            assert!(graph.needs(&names::nat_gateway(&name)).contains(&names::internet_gateway()));
        }
    }
}

#[test]
fn without_a_way_out_every_service_that_nodes_talk_to_has_an_endpoint() {
    let graph = graph(&with(NatGateways::None));
    let expected = [
        "autoscaling",
        "ec2",
        "ecr-api",
        "ecr-dkr",
        "eks",
        "eks-auth",
        "elasticloadbalancing",
        "logs",
        "s3",
        "sqs",
        "ssm",
        "sts",
    ];
    assert_eq!(of_kind(&graph, "vpc-endpoint"), expected);
    let ecr = &graph.wishes[&names::interface_endpoint("ecr.api")].doc;
    assert_eq!(ecr["service"], "com.amazonaws.us-west-2.ecr.api");
    assert_eq!(ecr["privateDns"], true);
    assert_eq!(ecr["subnets"].as_array().unwrap().len(), 2, "one interface a zone");
    // Eleven services in two zones.
    assert!((billed(&graph, "interfaceEndpointHours") - 22.0).abs() < f64::EPSILON);
    for kind in ["nat-gateway", "elastic-ip", "internet-gateway"] {
        assert!(of_kind(&graph, kind).is_empty(), "{kind}");
    }
    assert_eq!(graph.wishes[&names::private_routes("usw2-az1")].doc["routes"], json!([]));
}

#[test]
fn endpoints_are_open_on_443_to_the_network_and_to_nobody_else() {
    let graph = graph(&with(NatGateways::None));
    let group = &graph.wishes[&names::endpoint_group()].doc;
    let rule = json!({ "traffic": { "tcp": { "from": 443, "to": 443 } }, "peer": { "cidr": "10.64.0.0/16" } });
    assert_eq!(group["ingress"], json!([rule]));
}

#[test]
fn nothing_is_public_but_what_something_public_stands_in() {
    let public = |spec: &Spec| {
        let graph = graph(spec);
        of_kind(&graph, "subnet").into_iter().filter(|name| name.starts_with("public-")).collect::<Vec<_>>()
    };
    assert_eq!(public(&with(NatGateways::One)), ["public-usw2-az1"]);
    assert!(public(&with(NatGateways::None)).is_empty());
    let mut facing = with(NatGateways::None);
    facing_internet(&mut facing);
    // A balancer wants two zones; nodes still have no way out.
    assert_eq!(public(&facing), ["public-usw2-az1", "public-usw2-az2"]);
    let graph = graph(&facing);
    assert_eq!(of_kind(&graph, "internet-gateway"), ["main"]);
    assert_eq!(graph.wishes[&names::private_routes("usw2-az1")].doc["routes"], json!([]));
}

#[test]
fn subnets_say_what_they_are_to_balancers_and_hand_out_no_public_address() {
    let graph = graph(&with(NatGateways::One));
    let of = |address: &Address| &graph.wishes[address].doc;
    assert_eq!(of(&names::private_subnet("usw2-az1"))["roles"], json!({ "kubernetes.io/role/internal-elb": "1" }));
    assert_eq!(of(&names::public_subnet("usw2-az1"))["roles"], json!({ "kubernetes.io/role/elb": "1" }));
    for name in of_kind(&graph, "subnet") {
        assert_eq!(of(&Address::new("subnet", &name))["mapPublicIp"], false);
    }
}

#[test]
fn a_zone_more_changes_no_wish_of_another_zone() {
    let (mut two, mut three) = (with(NatGateways::PerZone), with(NatGateways::PerZone));
    two.network = made(NatGateways::PerZone, &["usw2-az2", "usw2-az3"]);
    three.network = made(NatGateways::PerZone, &["usw2-az1", "usw2-az2", "usw2-az3"]);
    let (before, after) = (graph(&two), graph(&three));
    for (address, wish) in before.wishes {
        // The public table and the S3 endpoint grow by a zone, in place.
        if address != names::public_routes() && address != names::s3_endpoint() {
            assert_eq!(after.wishes[&address].doc, wish.doc, "{address}");
        }
    }
}

#[test]
fn the_s3_endpoint_is_in_every_table_that_nodes_use() {
    for (way, spec) in every_way() {
        let graph = graph(&spec);
        let tables = graph.wishes[&names::s3_endpoint()].doc["routeTables"].as_array().unwrap();
        let tables: Vec<_> = tables.iter().map(|table| as_link(table).unwrap()).collect();
        let private = ["usw2-az1", "usw2-az2"].map(|zone| Link::to(&names::private_routes(zone), "id"));
        assert_eq!(tables, private, "{way}");
    }
}

#[test]
fn efa_wants_a_group_that_trusts_itself_both_ways_on_every_version_of_eks() {
    for version in ["1.32", "1.33", "1.35"] {
        let spec = with(NatGateways::One);
        let mut choices = choices(&spec);
        choices.cluster_version.value = version.to_owned();
        let graph = graph_of(&spec, &choices);
        let group = &graph.wishes[&names::efa_group()];
        let own = json!([{ "traffic": "all", "peer": "itself" }]);
        assert_eq!((&group.doc["ingress"], &group.doc["egress"]), (&own, &own), "{version}");
        assert!(group.because.contains("p5"), "{}", group.because);
        assert!(network::has_efa_group(&spec, &choices));
    }
}

#[test]
fn without_efa_there_is_no_group_for_it_unless_the_file_system_speaks_it() {
    let mut spec = with(NatGateways::One);
    spec.node_classes[1].efa = Efa::None;
    assert!(!graph(&spec).wishes.contains_key(&names::efa_group()));
    on_fsx(&mut spec, false);
    assert!(!graph(&spec).wishes.contains_key(&names::efa_group()));
    on_fsx(&mut spec, true);
    assert_eq!(graph(&spec).wishes[&names::efa_group()].because.split(':').next(), Some("weights.fsx.efa"));
}

#[test]
fn lustre_is_open_to_the_nodes_and_to_itself_on_its_ports() {
    let mut spec = with(NatGateways::One);
    assert!(!graph(&spec).wishes.contains_key(&names::fsx_group()));
    on_fsx(&mut spec, false);
    let graph = graph(&spec);
    let rule = |from: u16, to: u16, peer: serde_json::Value| json!({ "traffic": { "tcp": { "from": from, "to": to } }, "peer": peer });
    let nodes = json!({ "group": { "$link": "cluster.main#security-group" } });
    let own = json!("itself");
    let expected = json!([
        rule(988, 988, nodes.clone()),
        rule(1018, 1023, nodes),
        rule(988, 988, own.clone()),
        rule(1018, 1023, own),
    ]);
    assert_eq!(graph.wishes[&names::fsx_group()].doc["ingress"], expected);
}

#[test]
fn a_network_that_was_brought_along_gets_groups_and_nothing_else() {
    let mut spec = with(NatGateways::One);
    on_fsx(&mut spec, false);
    let mut choices = choices(&spec);
    brought(&mut spec, &mut choices);
    let graph = graph_of(&spec, &choices);
    assert_eq!(addresses(&graph), BTreeSet::from(["security-group.efa".to_owned(), "security-group.fsx".to_owned()]));
    for wish in graph.wishes.values() {
        assert_eq!(as_link(&wish.doc["vpc"]), Some(Link::is("vpc-theirs")));
    }
    assert_eq!(network::node_subnets(&spec, &choices, "usw2-az2"), [Link::is("subnet-b")]);
    assert_eq!(network::node_subnets(&spec, &choices, "usw2-az4"), []);
    assert_eq!(network::way_out(&spec, &choices.zones.value), []);
}

#[test]
fn the_control_plane_stands_in_private_subnets_of_the_zones_it_takes() {
    let spec = with(NatGateways::One);
    let mut choices = choices(&spec);
    choices.control_plane_zones.value = vec!["usw2-az2".to_owned()];
    let expected = [Link::to(&names::private_subnet("usw2-az2"), "id")];
    assert_eq!(network::control_plane_subnets(&spec, &choices), expected);
}

#[test]
fn nodes_wait_for_their_way_out() {
    let zones = ["usw2-az2".to_owned()];
    let needs = |nat| network::way_out(&with(nat), &zones).into_iter().map(|(need, _)| need).collect::<Vec<_>>();
    assert_eq!(needs(NatGateways::One), [names::private_routes("usw2-az2"), names::s3_endpoint()]);
    let without = needs(NatGateways::None);
    assert!(without.contains(&names::interface_endpoint("ecr.dkr")));
    let graph = graph(&with(NatGateways::None));
    assert!(without.iter().all(|need| graph.wishes.contains_key(need)));
}

#[test]
fn a_network_too_small_for_its_zones_is_refused_and_not_squeezed() {
    let mut spec = with(NatGateways::One);
    let choices = choices(&spec);
    spec.network = Network::Made { cidr: "10.64.0.0/24".parse().unwrap(), zones: None, nat_gateways: NatGateways::One };
    let mut graph = DesiredGraph::empty(identity());
    let error = network::network(&mut graph, &spec, &choices).unwrap_err();
    assert!(error.to_string().contains("10.64.0.0/24 is too small"), "{error}");
    assert!(graph.wishes.is_empty());
}
