//! The identity layer and its kinds, rule by rule.

use super::settled::{all_live, changes, replan, respell, wished};
use crate::samples::*;
use infer_stack::{
    contract::Change,
    desired::DesiredGraph,
    model::{Address, Doc},
    plan::Action,
    resources::kind,
    stack::*,
};
use serde_json::json;
use std::collections::BTreeMap;

/// No way out of the network, Karpenter, weights by Mountpoint.
pub fn closed() -> Spec {
    let mut spec = llama_70b();
    spec.network =
        Network::Made { cidr: "10.64.0.0/16".parse().unwrap(), zones: None, nat_gateways: NatGateways::None };
    spec.node_classes.push(karpenter());
    let weights = spec.weights.as_mut().unwrap();
    weights.source = WeightSource::Mountpoint;
    weights.bucket = Some(Bucket { name: Some("models".into()), create: false, prefix: "llama/".into() });
    spec
}

/// Cluster and node role, and a boundary, given from outside.
pub fn brought_roles() -> Spec {
    let mut spec = llama_70b();
    spec.iam = Iam {
        permissions_boundary: Some("arn:aws:iam::123456789012:policy/edge".into()),
        path: Some("/platform/".into()),
        cluster_role: Some("arn:aws:iam::123456789012:role/shared/eks".into()),
        node_role: Some("arn:aws:iam::123456789012:role/shared/nodes".into()),
    };
    spec.node_classes.push(karpenter());
    spec
}

pub fn karpenter() -> NodeClass {
    let mut class = class("burst", "m6i.xlarge", 0, 0, 20);
    class.provisioner = Provisioner::Karpenter;
    class
}

fn role<'a>(graph: &'a DesiredGraph, name: &str) -> &'a Doc {
    &graph.wishes[&Address::new("role", name)].doc
}

fn roles(graph: &DesiredGraph) -> Vec<&str> {
    graph.wishes.keys().filter(|address| address.kind() == "role").map(Address::name).collect()
}

fn statements(graph: &DesiredGraph, name: &str) -> BTreeMap<String, Doc> {
    let all = role(graph, name)["inline"][name].as_array().unwrap();
    all.iter().map(|statement| (statement["sid"].as_str().unwrap().to_owned(), statement.clone())).collect()
}

#[test]
fn each_thing_that_acts_in_aws_has_one_role_and_nothing_else_has() {
    let mut spec = llama_70b();
    assert_eq!(roles(&wished(&spec, &nothing())), ["cluster", "cluster-autoscaler", "ebs-csi", "node", "weights"]);
    spec.weights = None;
    spec.node_classes.iter_mut().for_each(|class| class.nodes.max = class.nodes.min.max(1));
    spec.node_classes.iter_mut().for_each(|class| class.nodes.min = class.nodes.max);
    // Nothing moves the size of groups that have no room.
    assert_eq!(roles(&wished(&spec, &nothing())), ["cluster", "ebs-csi", "node"]);
    let all = wished(&super::cluster::everything(), &nothing());
    assert_eq!(
        roles(&all),
        ["cluster", "cluster-autoscaler", "ebs-csi", "fsx-csi", "karpenter", "load-balancer-controller", "node"]
    );
    assert_eq!(
        roles(&wished(&closed(), &nothing())),
        ["cluster", "cluster-autoscaler", "ebs-csi", "karpenter", "mountpoint-csi", "node"]
    );
}

#[test]
fn the_node_role_joins_pulls_and_gives_addresses_and_nothing_more() {
    let graph = wished(&llama_70b(), &nothing());
    let policy = |name: &str| format!("arn:aws:iam::aws:policy/{name}");
    assert_eq!(role(&graph, "cluster")["managed"], json!([policy("AmazonEKSClusterPolicy")]));
    assert_eq!(
        role(&graph, "node")["managed"],
        json!([
            policy("AmazonEC2ContainerRegistryPullOnly"),
            policy("AmazonEKSWorkerNodePolicy"),
            policy("AmazonEKS_CNI_Policy"),
            policy("AmazonSSMManagedInstanceCore"),
        ])
    );
    assert_eq!(role(&graph, "node")["inline"], json!({}));
}

#[test]
fn pods_assume_their_role_and_tag_the_session() {
    let graph = wished(&super::cluster::everything(), &nothing());
    for name in roles(&graph) {
        let trust = &role(&graph, name)["trust"][0];
        let (service, actions) = match name {
            "cluster" => ("eks.amazonaws.com", json!(["sts:AssumeRole"])),
            "node" => ("ec2.amazonaws.com", json!(["sts:AssumeRole"])),
            _ => ("pods.eks.amazonaws.com", json!(["sts:AssumeRole", "sts:TagSession"])),
        };
        assert_eq!(trust["principals"], json!({ "Service": [service] }), "{name}");
        assert_eq!(trust["actions"], actions, "{name}");
    }
}

#[test]
fn roles_sit_under_the_stacks_path_after_the_users_and_carry_the_region_in_their_names() {
    let graph = wished(&llama_70b(), &nothing());
    assert_eq!(role(&graph, "node")["path"], "/infer-stack/us-west-2/llama-70b/");
    assert_eq!(role(&graph, "node")["name"], "llama-70b-us-west-2-node");
    assert_eq!(
        role(&wished(&brought_roles(), &nothing()), "ebs-csi")["path"],
        "/platform/infer-stack/us-west-2/llama-70b/"
    );
}

#[test]
fn every_role_made_here_stays_within_the_boundary() {
    let graph = wished(&brought_roles(), &nothing());
    for name in roles(&graph) {
        assert_eq!(role(&graph, name)["boundary"], "arn:aws:iam::123456789012:policy/edge", "{name}");
    }
}

#[test]
fn roles_brought_along_are_named_but_never_wished() {
    let graph = wished(&brought_roles(), &nothing());
    assert!(!roles(&graph).contains(&"cluster") && !roles(&graph).contains(&"node"));
    let cluster = &graph.wishes[&names::cluster()].doc;
    assert_eq!(cluster["role"], json!({"$id": "arn:aws:iam::123456789012:role/shared/eks"}));
    let entry = &graph.wishes[&names::node_entry()].doc;
    assert_eq!(entry["principal"], json!({"$id": "arn:aws:iam::123456789012:role/shared/nodes"}));
    let pass = &statements(&graph, "karpenter")["AllowPassingInstanceRole"];
    assert_eq!(pass["resources"], json!(["arn:aws:iam::123456789012:role/shared/nodes"]));
}

#[test]
fn karpenter_passes_the_node_role_by_its_arn_with_the_path() {
    let graph = wished(&super::cluster::everything(), &nothing());
    let pass = &statements(&graph, "karpenter")["AllowPassingInstanceRole"];
    let arn = "arn:aws:iam::123456789012:role/infer-stack/us-west-2/llama-70b/llama-70b-us-west-2-node";
    assert_eq!(pass["resources"], json!([arn]));
    assert_eq!(pass["conditions"], json!({"StringEquals": {"iam:PassedToService": ["ec2.amazonaws.com"]}}));
}

#[test]
fn karpenter_launches_into_placement_groups_and_reservations_and_only_for_its_cluster() {
    let graph = wished(&super::cluster::everything(), &nothing());
    let all = statements(&graph, "karpenter");
    let launch = all["AllowScopedEC2InstanceAccessActions"]["resources"].to_string();
    assert!(launch.contains("arn:aws:ec2:us-west-2:*:placement-group/*"), "{launch}");
    assert!(launch.contains("arn:aws:ec2:us-west-2:*:capacity-reservation/*"), "{launch}");
    let reads = all["AllowRegionalReadActions"]["actions"].to_string();
    assert!(
        reads.contains("ec2:DescribePlacementGroups") && reads.contains("ec2:DescribeCapacityReservations"),
        "{reads}"
    );
    for (sid, statement) in &all {
        let actions: Vec<&str> = statement["actions"].as_array().unwrap().iter().filter_map(Doc::as_str).collect();
        let ends = actions.iter().any(|action| action.starts_with("ec2:Terminate") || action.starts_with("ec2:Delete"));
        let tags = actions.contains(&"ec2:CreateTags");
        if ends || tags {
            let conditions = statement["conditions"].to_string();
            assert!(conditions.contains("kubernetes.io/cluster/llama-70b"), "{sid}: {conditions}");
        }
    }
}

#[test]
fn karpenter_takes_a_profile_made_here_only_where_it_has_no_way_to_iam() {
    let open = wished(&super::cluster::everything(), &nothing());
    assert!(!open.wishes.contains_key(&names::node_profile()));
    assert!(statements(&open, "karpenter").contains_key("AllowScopedInstanceProfileCreationActions"));
    let closed = wished(&closed(), &nothing());
    assert_eq!(closed.wishes[&names::node_profile()].doc["role"], json!({"$link": "role.node#name"}));
    assert!(!statements(&closed, "karpenter").contains_key("AllowScopedInstanceProfileCreationActions"));
    assert!(!wished(&llama_70b(), &nothing()).wishes.contains_key(&names::node_profile()));
}

#[test]
fn cluster_autoscaler_scales_only_groups_that_eks_tagged_for_this_cluster() {
    let graph = wished(&llama_70b(), &nothing());
    let scale = &statements(&graph, "cluster-autoscaler")["ScaleOwnGroups"];
    assert_eq!(
        scale["conditions"],
        json!({"StringEquals": {"aws:ResourceTag/k8s.io/cluster-autoscaler/llama-70b": ["owned"]}})
    );
}

#[test]
fn weights_are_read_under_their_prefix_and_never_written() {
    let mut spec = llama_70b();
    let bucket = Bucket { name: Some("models".into()), create: false, prefix: "llama/".into() };
    spec.weights.as_mut().unwrap().bucket = Some(bucket);
    let graph = wished(&spec, &nothing());
    let all = statements(&graph, "weights");
    assert_eq!(all["Read"]["actions"], json!(["s3:GetObject"]));
    assert_eq!(all["Read"]["resources"], json!(["arn:aws:s3:::models/llama/*"]));
    assert_eq!(all["List"]["actions"], json!(["s3:ListBucket"]));
    assert_eq!(all["List"]["resources"], json!(["arn:aws:s3:::models"]));
    assert_eq!(all["List"]["conditions"], json!({"StringLike": {"s3:prefix": ["llama", "llama/*"]}}));
    // A bucket brought along may be encrypted with a key of its owner.
    assert_eq!(all["DecryptThroughS3"]["actions"], json!(["kms:Decrypt"]));
    let own = statements(&wished(&llama_70b(), &nothing()), "weights");
    assert_eq!(own.keys().collect::<Vec<_>>(), ["List", "Read"]);
}

#[test]
fn the_load_balancer_controller_changes_no_balancer_of_another_cluster() {
    let graph = wished(&super::cluster::everything(), &nothing());
    let all = statements(&graph, "load-balancer-controller");
    for sid in ["ChangeOwn", "Make", "TagNew", "TagOwn", "DeleteOwnGroups"] {
        let conditions = all[sid]["conditions"].to_string();
        assert!(conditions.contains(r#"elbv2.k8s.aws/cluster":["llama-70b"]"#), "{sid}: {conditions}");
    }
}

#[test]
fn iams_own_spelling_of_a_policy_is_no_drift() {
    let spec = llama_70b();
    let mut snapshot = all_live(&wished(&spec, &nothing()));
    respell(&mut snapshot, "role", &names::weights_role(), |doc| {
        let statements = doc["inline"]["weights"]["Statement"].as_array_mut().unwrap();
        statements.reverse();
        for statement in statements {
            let one = statement["Action"][0].clone();
            statement["Action"] = one;
        }
        doc["inline"]["weights"]["Version"] = json!("2012-10-17");
    });
    assert!(replan(&spec, &snapshot).is_settled());
    respell(&mut snapshot, "role", &names::weights_role(), |doc| {
        doc["inline"]["weights"]["Statement"][0]["Action"] = json!(["s3:*"]);
    });
    assert_eq!(changes(&replan(&spec, &snapshot)), BTreeMap::from([("role.weights".to_owned(), Action::Update)]));
}

#[test]
fn a_role_that_moves_takes_its_access_entry_with_it() {
    let mut spec = llama_70b();
    let snapshot = all_live(&wished(&spec, &nothing()));
    spec.iam.cluster_role = None;
    spec.iam.path = Some("/moved/".into());
    let plan = replan(&spec, &snapshot);
    let changes = changes(&plan);
    assert_eq!(changes["role.node"], Action::Replace);
    assert_eq!(changes["access-entry.nodes"], Action::Replace);
    let deletion = |address: &str| {
        plan.tasks.iter().position(|task| {
            task.address.as_str() == address && matches!(task.verb, infer_stack::plan::Verb::Delete { .. })
        })
    };
    assert!(deletion("access-entry.nodes").unwrap() < deletion("role.node").unwrap(), "the entry goes before its role");
}

#[test]
fn a_role_is_replaced_only_for_what_iam_can_not_change() {
    let role = kind("role").unwrap();
    for sample in role.samples() {
        for field in &*role.fields(&sample).unwrap() {
            let immutable = ["/name", "/path"].contains(&field.at);
            assert_eq!(field.change == Change::Immutable, immutable, "{}", field.at);
        }
    }
}

#[test]
fn what_is_too_large_for_iam_is_refused_before_any_call() {
    let role = kind("role").unwrap();
    let mut want = role.samples().remove(0);
    let resources: Vec<String> = (0..400).map(|i| format!("arn:aws:s3:::bucket-{i:04}/some/prefix/*")).collect();
    want["inline"]["weights"][0]["resources"] = json!(resources);
    want["name"] = json!("n".repeat(65));
    let broken = role.check(&want).unwrap();
    assert_eq!(broken.len(), 2, "{broken:?}");
}
