//! Add-ons, the roles of pods, and what Karpenter hears.

use super::{
    cluster::{doc, everything},
    identity::closed,
    settled::{all_live, catalog, changes, replan, respell, wished},
};
use crate::samples::*;
use infer_stack::{
    desired::DesiredGraph,
    model::{Address, Tags},
    plan::Action,
    stack::names,
};
use serde_json::json;
use std::collections::BTreeMap;

#[test]
fn addons_with_pods_of_their_own_wait_for_nodes_that_take_them() {
    let graph = wished(&everything(), &nothing());
    let (system, p5) = (names::node_group("system"), names::node_group("p5"));
    for (address, wish) in graph.wishes.iter().filter(|(address, _)| address.kind() == "addon") {
        let early = ["vpc-cni", "kube-proxy", "eks-pod-identity-agent"].contains(&address.name());
        assert_eq!(wish.after.contains_key(&system), !early, "{address}");
        assert!(!wish.after.contains_key(&p5), "{address} would wait for accelerators");
    }
}

#[test]
fn the_needed_addons_are_ones_that_eks_knows() {
    let graph = wished(&everything(), &nothing());
    let addons: Vec<_> = graph.wishes.keys().filter(|a| a.kind() == "addon").map(Address::name).collect();
    assert_eq!(
        addons,
        [
            "aws-ebs-csi-driver",
            "aws-fsx-csi-driver",
            "coredns",
            "eks-node-monitoring-agent",
            "eks-pod-identity-agent",
            "kube-proxy",
            "vpc-cni"
        ]
    );
    for addon in addons {
        assert!(catalog().addons().iter().any(|known| known == addon), "{addon}");
    }
    assert!(wished(&closed(), &nothing()).wishes.contains_key(&names::addon("aws-mountpoint-s3-csi-driver")));
}

#[test]
fn the_network_plugin_keeps_few_addresses_warm_and_the_file_may_say_otherwise() {
    let env = |graph: &DesiredGraph| doc(graph, &names::addon("vpc-cni"))["configuration"]["env"].clone();
    let usual = env(&wished(&llama_70b(), &nothing()));
    assert_eq!((usual["WARM_IP_TARGET"].as_str(), usual["MINIMUM_IP_TARGET"].as_str()), (Some("2"), Some("10")));
    assert_eq!(env(&wished(&everything(), &nothing()))["WARM_IP_TARGET"], "5");
}

#[test]
fn what_controllers_make_carries_the_stacks_tags() {
    let graph = wished(&everything(), &nothing());
    let cni = &doc(&graph, &names::addon("vpc-cni"))["configuration"]["env"]["ADDITIONAL_ENI_TAGS"];
    let tags: Tags = serde_json::from_str(cni.as_str().unwrap()).unwrap();
    assert_eq!(tags, graph.tags);
    assert_eq!(tags["team"], "ml");
    let ebs = &doc(&graph, &names::addon("aws-ebs-csi-driver"))["configuration"];
    assert_eq!(ebs["controller"]["extraVolumeTags"], json!(graph.tags));
    assert_eq!(ebs["controller"]["region"], "us-west-2", "pods don't reach the instance metadata");
    assert_eq!(ebs["defaultStorageClass"]["enabled"], true);
}

#[test]
fn a_configuration_that_says_the_same_in_other_words_is_no_drift() {
    let spec = llama_70b();
    let mut snapshot = all_live(&wished(&spec, &nothing()));
    respell(&mut snapshot, "addon", &names::addon("vpc-cni"), |doc| {
        let text = doc["configuration"].as_str().unwrap();
        doc["configuration"] = json!(format!("  {}\n", text.replace(':', " : ").replace("\\\" : ", "\\\":")));
    });
    assert!(replan(&spec, &snapshot).is_settled());
    respell(&mut snapshot, "addon", &names::addon("vpc-cni"), |doc| doc["configuration"] = json!("env: {}"));
    assert_eq!(changes(&replan(&spec, &snapshot)), BTreeMap::from([("addon.vpc-cni".to_owned(), Action::Update)]));
}

#[test]
fn each_controller_takes_its_role_by_its_service_account() {
    let graph = wished(&everything(), &nothing());
    let accounts: BTreeMap<_, _> = graph
        .wishes
        .iter()
        .filter(|(address, _)| address.kind() == "pod-identity")
        .map(|(address, wish)| {
            assert_eq!(wish.doc["role"], json!({"$link": format!("role.{}#arn", address.name())}));
            let text = |key: &str| wish.doc[key].as_str().unwrap().to_owned();
            (address.name(), format!("{}/{}", text("namespace"), text("serviceAccount")))
        })
        .collect();
    let expected = [
        ("cluster-autoscaler", "kube-system/cluster-autoscaler"),
        ("ebs-csi", "kube-system/ebs-csi-controller-sa"),
        ("fsx-csi", "kube-system/fsx-csi-controller-sa"),
        ("karpenter", "kube-system/karpenter"),
        ("load-balancer-controller", "kube-system/aws-load-balancer-controller"),
    ];
    assert_eq!(accounts, expected.map(|(role, account)| (role, account.to_owned())).into());
    let weights = wished(&llama_70b(), &nothing());
    assert_eq!(doc(&weights, &names::pod_identity("weights"))["serviceAccount"], "vllm");
}

#[test]
fn karpenter_hears_of_every_way_in_which_ec2_takes_an_instance() {
    let graph = wished(&everything(), &nothing());
    let heard: Vec<_> = graph
        .wishes
        .iter()
        .filter(|(address, _)| address.kind() == "event-rule")
        .map(|(_, wish)| {
            assert_eq!(wish.doc["targets"], json!([{"id": "interruption", "to": {"$link": "queue.interruption#arn"}}]));
            wish.doc["pattern"]["detail-type"][0].as_str().unwrap()
        })
        .collect();
    assert_eq!(
        heard,
        [
            "AWS Health Event",
            "EC2 Instance Rebalance Recommendation",
            "EC2 Capacity Reservation Instance Interruption Warning",
            "EC2 Spot Instance Interruption Warning",
            "EC2 Instance State-change Notification",
        ]
    );
    let queue = doc(&graph, &names::interruption_queue());
    assert_eq!((queue["retention"].as_u64(), queue["encrypted"].as_bool()), (Some(300), Some(true)));
    let policy = queue["policy"].to_string();
    assert!(policy.contains("arn:aws:sqs:us-west-2:123456789012:llama-70b-interruption"), "{policy}");
    assert!(policy.contains(r#""aws:SecureTransport":["false"]"#), "{policy}");
    let without = wished(&llama_70b(), &nothing());
    assert!(!without.wishes.keys().any(|address| ["queue", "event-rule"].contains(&address.kind())));
}
