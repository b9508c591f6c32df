//! The cluster layer and its kinds, rule by rule.

use super::{
    identity::{closed, karpenter},
    settled::{all_live, catalog, changes, replan, respell, wished},
};
use crate::samples::*;
use infer_stack::{
    contract::{AnyKind, Change, Demand, Layer, Phase, Readiness},
    desired::DesiredGraph,
    model::{Address, Doc, RESOURCE, Stamp, Tags, resolve},
    observed::Sight,
    plan::{Action, Options, plan},
    resources::{KINDS, kind},
    stack::*,
};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Every setting of the two layers at something else than its default.
pub fn everything() -> Spec {
    let mut spec = llama_70b();
    spec.protect = true;
    spec.tags = BTreeMap::from([("team".to_owned(), "ml".to_owned())]);
    spec.node_classes.push(karpenter());
    spec.cluster.support_type = SupportType::Extended;
    spec.cluster.logs = vec![LogType::Api, LogType::ControllerManager];
    spec.cluster.access = vec![
        Access { principal: "arn:aws:iam::123456789012:role/oncall".into(), policy: AccessPolicy::View },
        Access { principal: "arn:aws:iam::123456789012:user/ada".into(), policy: AccessPolicy::Edit },
    ];
    spec.cluster.secrets_key = Some("arn:aws:kms:us-west-2:123456789012:key/1".into());
    let configuration = json!({ "env": { "WARM_IP_TARGET": "5" } });
    spec.cluster.addons =
        BTreeMap::from([("vpc-cni".to_owned(), AddonSpec { version: None, configuration: Some(configuration) })]);
    let weights = spec.weights.as_mut().unwrap();
    weights.source = WeightSource::Fsx;
    weights.fsx = Some(Fsx { capacity: 4800, throughput: 250, efa: false, auto_import: vec![AutoImport::New] });
    spec.serving = Some(Serving {
        model: Model::Named("meta-llama/Llama-3.1-70B-Instruct".into()),
        precision: None,
        kv_cache: KvCache::Auto,
        max_model_len: 8192,
        node_class: "p5".into(),
        engine: Engine::default(),
        gpu_memory_utilization: 0.92,
        parallelism: Parallelism::Auto,
        replicas: Replicas { min: 2, max: 8 },
        autoscaling: None,
        routing: Routing::Service,
        ingress: Some(Ingress {
            hostname: "llm.example.com".into(),
            certificate: None,
            idle_timeout: 600,
            scheme: IngressScheme::Internal,
            allowed_cidrs: vec![],
            api_key_secret: None,
        }),
        monitoring: false,
    });
    spec
}

pub fn doc<'a>(graph: &'a DesiredGraph, address: &Address) -> &'a Doc {
    &graph.wishes[address].doc
}

/// What a wish waits for, links and what they wait for included.
fn before(graph: &DesiredGraph, address: &Address) -> Vec<Address> {
    let mut found = vec![];
    let mut open = vec![address.clone()];
    while let Some(next) = open.pop() {
        for need in graph.needs(&next) {
            if !found.contains(&need) {
                found.push(need.clone());
                open.push(need);
            }
        }
    }
    found
}

fn kinds() -> impl Iterator<Item = &'static dyn AnyKind> {
    KINDS.iter().copied().filter(|kind| matches!(kind.layer(), Layer::Identity | Layer::Cluster))
}

pub fn stamp(kind: &dyn AnyKind) -> Stamp {
    let address = Address::new(kind.name(), "sample");
    let tags = Tags::from([(RESOURCE.to_owned(), address.to_string())]);
    Stamp { address, tags, token: "token".to_owned() }
}

fn resolved(mut doc: Doc) -> Doc {
    assert!(resolve(&mut doc, &|address, output| Some(format!("{}-{output}", address.as_str().replace('.', "-")))));
    doc
}

#[test]
fn the_cluster_leaves_no_costly_or_open_default_to_eks() {
    let graph = wished(&llama_70b(), &nothing());
    let cluster = doc(&graph, &names::cluster());
    assert_eq!(cluster["authentication"], "API");
    assert_eq!(cluster["support"], "STANDARD", "the API's own default bills six times the price later");
    for off in ["bootstrapAddons", "creatorIsAdmin", "autoMode", "zonalShift", "deletionProtection"] {
        assert_eq!(cluster[off], false, "{off}");
    }
    assert_eq!(cluster["version"], "1.35");
    assert_eq!(cluster["name"], "llama-70b");
    assert_eq!(cluster["endpoint"], json!({"public": true, "private": true, "publicCidrs": ["203.0.113.7/32"]}));
}

#[test]
fn what_the_file_asks_of_the_cluster_reaches_it() {
    let graph = wished(&everything(), &nothing());
    let cluster = doc(&graph, &names::cluster());
    assert_eq!(cluster["support"], "EXTENDED");
    assert_eq!(cluster["deletionProtection"], true);
    assert_eq!(cluster["logs"], json!(["api", "controllerManager"]));
    assert_eq!(cluster["secretsKey"], "arn:aws:kms:us-west-2:123456789012:key/1");
}

#[test]
fn what_can_not_be_read_back_is_never_diffed() {
    let cluster = kind("cluster").unwrap();
    let fields = cluster.fields(&cluster.samples()[0]).unwrap();
    let only: Vec<_> = fields.iter().filter(|field| field.change == Change::CreateOnly).map(|field| field.at).collect();
    assert_eq!(only, ["/bootstrapAddons", "/creatorIsAdmin"]);
    let addon = kind("addon").unwrap();
    let fields = addon.fields(&addon.samples()[0]).unwrap();
    assert!(fields.iter().any(|field| field.at == "/resolveConflicts" && field.change == Change::CreateOnly));
}

#[test]
fn the_control_plane_sits_in_at_least_two_zones_which_eks_freezes() {
    let graph = wished(&llama_70b(), &nothing());
    let cluster = doc(&graph, &names::cluster());
    assert_eq!(cluster["zones"], json!(["usw2-az1", "usw2-az2"]));
    assert_eq!(cluster["subnets"].as_array().unwrap().len(), 2);
    let cluster = kind("cluster").unwrap();
    let mut one = cluster.samples().remove(0);
    one["zones"] = json!(["usw2-az1"]);
    assert_eq!(cluster.check(&one).unwrap().len(), 1);
    let fields = cluster.fields(&one).unwrap();
    assert!(fields.iter().any(|field| field.at == "/zones" && field.change == Change::Immutable));
    assert!(fields.iter().any(|field| field.at == "/subnets" && field.change == Change::InPlace && field.holds));
}

#[test]
fn a_key_for_secrets_is_taken_at_any_time_but_never_given_back() {
    let mut spec = llama_70b();
    let key = "arn:aws:kms:us-west-2:123456789012:key/1";
    let without = all_live(&wished(&spec, &nothing()));
    spec.cluster.secrets_key = Some(key.into());
    assert_eq!(changes(&replan(&spec, &without)), BTreeMap::from([("cluster.main".to_owned(), Action::Update)]));
    let with = all_live(&wished(&spec, &nothing()));
    spec.cluster.secrets_key = None;
    assert_eq!(changes(&replan(&spec, &with))["cluster.main"], Action::Replace);
}

#[test]
fn control_plane_then_entries_then_network_then_the_rest() {
    let graph = wished(&everything(), &nothing());
    let first = |address: &Address, earlier: &Address| {
        assert!(before(&graph, address).contains(earlier), "{address} must wait for {earlier}");
    };
    first(&names::cluster(), &names::log_group());
    first(&names::cluster(), &names::cluster_role());
    first(&names::caller_entry(CALLER), &names::cluster());
    for addon in ["vpc-cni", "kube-proxy", "eks-pod-identity-agent"] {
        first(&names::addon(addon), &names::caller_entry(CALLER));
        for later in ["coredns", "aws-ebs-csi-driver", "aws-fsx-csi-driver", "eks-node-monitoring-agent"] {
            first(&names::addon(later), &names::addon(addon));
        }
    }
    first(&names::addon("aws-ebs-csi-driver"), &names::pod_identity("ebs-csi"));
    first(&names::addon("aws-fsx-csi-driver"), &names::pod_identity("fsx-csi"));
    for group in graph.wishes.keys().filter(|address| address.kind() == "node-group") {
        for earlier in ["vpc-cni", "kube-proxy", "eks-pod-identity-agent"] {
            first(group, &names::addon(earlier));
        }
        first(group, &names::node_entry());
    }
}

#[test]
fn what_nodes_need_goes_after_them_and_the_control_plane_before_its_logs_and_roles() {
    for spec in [everything(), closed()] {
        let snapshot = all_live(&wished(&spec, &nothing()));
        let plan = plan(&DesiredGraph::empty(identity()), &snapshot, &Options::default());
        // Tasks stand in an order that respects what they wait for.
        let mut reach: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for task in &plan.tasks {
            let mut before: BTreeSet<usize> = task.after.iter().copied().collect();
            before.extend(task.after.iter().flat_map(|id| reach[id].clone()));
            reach.insert(task.id, before);
        }
        let of = |kind: &str| plan.tasks.iter().filter(move |task| task.kind == kind).collect::<Vec<_>>();
        let goes_after = |later: &str, earlier: &str| {
            for task in of(later) {
                for other in of(earlier) {
                    assert!(reach[&task.id].contains(&other.id), "{} must go after {}", task.address, other.address);
                }
            }
        };
        for needed in ["addon", "access-entry", "pod-identity"] {
            goes_after(needed, "node-group");
            goes_after("cluster", needed);
        }
        goes_after("role", "pod-identity");
        goes_after("log-group", "cluster");
        goes_after("instance-profile", "cluster");
        assert_eq!(of("cluster").len(), 1);
    }
}

#[test]
fn a_log_group_that_eks_made_is_taken_over_and_one_of_others_is_not() {
    let spec = llama_70b();
    let graph = wished(&spec, &nothing());
    let mut snapshot = all_live(&graph);
    respell(&mut snapshot, "log-group", &names::log_group(), |doc| {
        doc["tags"] = json!({});
        doc["retention"] = Doc::Null;
    });
    assert_eq!(changes(&replan(&spec, &snapshot)), BTreeMap::from([("log-group.cluster".to_owned(), Action::Update)]));
    let Some(Sight::Seen(all)) = snapshot.sights.get_mut("log-group") else { panic!() };
    all[0].doc["tags"] = json!({"infer-stack/stack": "other", "infer-stack/region": "us-west-2"});
    all[0].look = kind("log-group").unwrap().look(&all[0].doc).unwrap();
    assert_eq!(changes(&replan(&spec, &snapshot))["log-group.cluster"], Action::Blocked);
}

#[test]
fn logs_are_kept_for_thirty_days_also_where_none_are_written_yet() {
    assert_eq!(doc(&wished(&llama_70b(), &nothing()), &names::log_group())["retention"], 30);
}

#[test]
fn the_cluster_carries_run_and_expiry_and_nothing_else_of_the_layer_does() {
    let anchors: Vec<_> = kinds().filter(|kind| kind.anchor()).map(|kind| kind.name()).collect();
    assert_eq!(anchors, ["cluster"]);
}

#[test]
fn a_control_plane_bills_by_the_hour_and_counts() {
    let cluster = kind("cluster").unwrap();
    let demand = cluster.demand(&cluster.samples()[0]).unwrap();
    assert_eq!(
        demand,
        [
            Demand::Count { of: "cluster".to_owned(), n: 1 },
            Demand::Billed { unit: "eksClusterHours".to_owned(), min: 1.0, now: 1.0, max: 1.0 }
        ]
    );
    assert!(catalog().price("eksClusterHours", "us-west-2").is_some());
    assert!(catalog().count_quota("cluster").is_some());
}

#[test]
fn what_waits_says_what_for_and_what_failed_says_why() {
    let cluster = kind("cluster").unwrap();
    let want = resolved(cluster.samples().remove(0));
    let mut live = cluster.imagine(&want, "llama-70b", &stamp(cluster), Phase::Coming).unwrap();
    let look = cluster.look(&live).unwrap();
    assert_eq!(look.ready, Readiness::Pending("CREATING".to_owned()));
    assert!(!look.outputs.contains_key("endpoint"), "AWS shows none before it is made");
    live["status"] = json!("FAILED");
    live["issues"] = json!(["Ec2SubnetNotFound: subnet-1 is gone"]);
    let ready = cluster.look(&live).unwrap().ready;
    assert_eq!(ready, Readiness::Broken("FAILED; Ec2SubnetNotFound: subnet-1 is gone".to_owned()));

    let addon = kind("addon").unwrap();
    let want = resolved(addon.samples().remove(0));
    let mut live = addon.imagine(&want, "", &stamp(addon), Phase::There).unwrap();
    live["status"] = json!("DEGRADED");
    live["issues"] = json!(["InsufficientNumberOfReplicas: no node takes them"]);
    let ready = addon.look(&live).unwrap().ready;
    assert_eq!(ready, Readiness::Pending("DEGRADED; InsufficientNumberOfReplicas: no node takes them".to_owned()));
    live["status"] = json!("CREATE_FAILED");
    assert!(matches!(addon.look(&live).unwrap().ready, Readiness::Broken(_)));
}

#[test]
fn a_live_cluster_offers_what_others_link_to() {
    let cluster = kind("cluster").unwrap();
    let want = resolved(cluster.samples().remove(0));
    let live = cluster.imagine(&want, "llama-70b", &stamp(cluster), Phase::There).unwrap();
    let outputs = cluster.look(&live).unwrap().outputs;
    let names: Vec<_> = outputs.keys().map(String::as_str).collect();
    assert_eq!(names, ["arn", "ca", "endpoint", "id", "name", "oidc", "security-group", "version"]);
    let version = cluster.fields(&want).unwrap().into_owned().into_iter().find(|field| field.at == "/version").unwrap();
    assert_eq!((version.change, version.moves), (Change::InPlace, ["version"].as_slice()));
}
