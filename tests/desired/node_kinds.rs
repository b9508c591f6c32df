//! What kinds of nodes say of what lives, and refuse of what is wished.

use infer_stack::{
    contract::{AnyKind, Look, Phase, Readiness},
    model::{Address, Doc, Stamp, Tags, resolve},
    resources,
};
use serde_json::{Value, json};

fn kind(name: &str) -> &'static dyn AnyKind {
    resources::kind(name).unwrap()
}

pub fn seen(name: &str, phase: Phase, edit: impl FnOnce(&mut Value)) -> Look {
    let kind = kind(name);
    let mut want = kind.samples().remove(0);
    resolve(&mut want, &|address, output| Some(format!("{address}-{output}")));
    let stamp = Stamp { address: Address::new(name, "p5"), tags: Tags::new(), token: String::new() };
    let mut doc: Doc = kind.imagine(&want, "id", &stamp, phase).unwrap();
    edit(&mut doc);
    kind.look(&doc).unwrap()
}

fn pending(look: &Look) -> &str {
    match &look.ready {
        Readiness::Pending(news) => news,
        other => panic!("{other:?}"),
    }
}

fn broken(look: &Look) -> &str {
    match &look.ready {
        Readiness::Broken(why) => why,
        other => panic!("{other:?}"),
    }
}

/// The sentences on the first sample once edited.
pub fn complaints(name: &str, edit: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut want = kind(name).samples().remove(0);
    edit(&mut want);
    kind(name).check(&want).unwrap()
}

#[test]
fn a_group_that_is_created_empty_shows_neither_size_nor_the_tag_of_it() {
    let look = seen("node-group", Phase::Coming, |_| {});
    assert_eq!((look.projected["start"].clone(), look.projected["min"].clone()), (json!(0), json!(0)));
    assert!(!look.outputs.contains_key("asg"));
}

#[test]
fn a_group_on_its_way_says_what_it_waits_for() {
    let look = seen("node-group", Phase::Coming, |doc| {
        doc["desiredSize"] = json!(2);
        doc["inService"] = json!(1);
        doc["activity"] = json!("Launching a new EC2 instance: i-0aa");
    });
    assert_eq!(pending(&look), "CREATING, 1 of 2 instances in service; ASG: Launching a new EC2 instance: i-0aa");
}

#[test]
fn an_active_group_is_ready_once_its_instances_are_in_service() {
    let look = seen("node-group", Phase::There, |doc| {
        doc["inService"] = json!(1);
        doc["activity"] = json!("InsufficientInstanceCapacity");
    });
    assert_eq!(pending(&look), "1 of 2 instances in service; ASG: InsufficientInstanceCapacity");
    assert_eq!(seen("node-group", Phase::There, |_| {}).ready, Readiness::Ready);
}

#[test]
fn a_failed_group_says_the_first_issue_in_eks_own_words() {
    for status in ["CREATE_FAILED", "DEGRADED", "DELETE_FAILED"] {
        let look = seen("node-group", Phase::There, |doc| {
            doc["status"] = json!(status);
            doc["issues"] = json!([
                {"code": "NodeCreationFailure", "message": "Instances failed to join", "resources": ["i-1", "i-2"]},
                {"code": "Unknown", "message": "later", "resources": []},
            ]);
        });
        assert_eq!(broken(&look), "NodeCreationFailure: Instances failed to join (i-1, i-2)");
    }
    let silent = seen("node-group", Phase::There, |doc| doc["status"] = json!("CREATE_FAILED"));
    assert_eq!(broken(&silent), "CREATE_FAILED");
}

#[test]
fn the_tag_of_the_start_size_is_a_field_and_no_tag() {
    let look = seen("node-group", Phase::There, |_| {});
    assert_eq!(look.projected["start"], 2);
    assert!(!look.tags.contains_key("infer-stack/desired"));
    let odd = seen("node-group", Phase::There, |doc| doc["tags"]["infer-stack/desired"] = json!("many"));
    assert_eq!(odd.projected["start"], 0);
}

#[test]
fn eks_leaves_out_an_update_strategy_that_is_its_default() {
    let look = seen("node-group", Phase::There, |doc| {
        doc["updateStrategy"] = Value::Null;
        doc["maxUnavailable"] = Value::Null;
    });
    assert_eq!(look.projected["update"], json!({"strategy": "DEFAULT", "maxUnavailable": 1}));
}

#[test]
fn a_group_of_no_nodes_at_most_is_refused() {
    let said = complaints("node-group", |want| {
        want["max"] = json!(0);
        want["start"] = json!(0);
    });
    assert_eq!(said, ["EKS takes no node group with a largest size of 0"]);
}

#[test]
fn sizes_types_taints_and_names_are_held_to_what_eks_takes() {
    assert_eq!(complaints("node-group", |want| want["start"] = json!(9)).len(), 1);
    assert_eq!(complaints("node-group", |want| want["instanceTypes"] = json!([])).len(), 1);
    assert_eq!(complaints("node-group", |want| want["name"] = json!("x".repeat(64))).len(), 1);
    assert_eq!(complaints("node-group", |want| want["securityGroups"] = json!([])).len(), 1);
    let taints: Vec<_> = (0..51).map(|n| json!({"key": format!("k{n}"), "effect": "NO_SCHEDULE"})).collect();
    assert_eq!(complaints("node-group", |want| want["taints"] = json!(taints)), ["EKS takes 50 taints a node group"]);
}

#[test]
fn a_capacity_block_has_one_subnet_of_one_zone() {
    let said = complaints("node-group", |want| {
        want["capacityType"] = json!("CAPACITY_BLOCK");
        want["subnets"] = json!([{"$id": "subnet-a"}, {"$id": "subnet-b"}]);
    });
    assert_eq!(said, ["a capacity block is of one type, and the group's one subnet stands in its zone"]);
}

#[test]
fn a_template_is_held_to_what_ec2_and_eks_refuse() {
    let say = |edit: &dyn Fn(&mut Value)| complaints("launch-template", edit);
    assert!(say(&|want| want["interfaces"][0]["groups"] = json!([]))[0].contains("default group"));
    assert!(say(&|want| want["interfaces"][0]["type"] = json!("efa-only"))[0].contains("primary interface"));
    assert!(say(&|want| want["interfaces"][0]["device"] = json!(1))[0].contains("card 0, device 0"));
    assert!(say(&|want| want["instanceType"] = json!("p5.48xlarge"))[0].contains("never from both"));
    assert!(say(&|want| want["capacityBlock"] = json!(true))[0].contains("capacity block"));
    assert!(say(&|want| want["metadata"]["instanceTags"] = json!(true))[0].contains("slash"));
    assert!(say(&|want| want["instanceTags"]["infer-stack/run"] = json!("r"))[0].contains("rolls every node"));
    assert!(say(&|want| want["instanceTags"]["infer-stack/expires"] = json!("never"))[0].contains("rolls every node"));
    assert!(say(&|want| want["userData"] = json!("x".repeat(16_385)))[0].contains("16384"));
    assert!(say(&|want| want["volumes"][0]["volume"]["iops"] = json!(2_999))[0].contains("3000 to 80000"));
    assert!(say(&|want| want["volumes"][0]["volume"]["throughput"] = json!(2_001))[0].contains("125 to 2000"));
    assert!(say(&|want| want["volumes"][0]["volume"]["type"] = json!("io2"))[0].contains("wants IOPS"));
    let twice = say(&|want| {
        let first = want["interfaces"][0].clone();
        want["interfaces"].as_array_mut().unwrap().push(first);
    });
    assert!(twice[0].contains("one interface for each device index"));
}

#[test]
fn other_data_is_another_version_and_other_tags_are_not() {
    let version = |edit: &dyn Fn(&mut Value)| {
        let kind = kind("launch-template");
        let mut want = kind.samples().remove(0);
        edit(&mut want);
        let stamp = Stamp { address: Address::new("launch-template", "p5"), tags: Tags::new(), token: String::new() };
        let live = kind.imagine(&want, "lt-1", &stamp, Phase::There).unwrap();
        kind.look(&live).unwrap().outputs["version"].clone()
    };
    assert_eq!(version(&|_| {}), version(&|_| {}));
    assert_ne!(version(&|_| {}), version(&|want| want["volumes"][0]["volume"]["size"] = json!(101)));
}

#[test]
fn partitions_belong_to_their_strategy() {
    assert_eq!(complaints("placement-group", |want| want["partitions"] = json!(3)).len(), 1);
    let many = complaints("placement-group", |want| {
        want["strategy"] = json!("partition");
        want["partitions"] = json!(8);
    });
    assert_eq!(many, ["EC2 takes 1 to 7 partitions a placement group"]);
    assert_eq!(complaints("placement-group", |want| want["spreadLevel"] = json!("rack")).len(), 1);
}

#[test]
fn a_placement_group_is_named_by_its_name_and_never_by_its_id() {
    let look = seen("placement-group", Phase::There, |_| {});
    assert_eq!(look.id, "llama-70b-p5");
    assert_eq!(look.outputs["name"], "llama-70b-p5");
    assert!(seen("placement-group", Phase::There, |doc| doc["state"] = json!("deleted")).gone);
    assert!(seen("placement-group", Phase::Going, |_| {}).going);
}

#[test]
fn an_instance_that_shuts_down_still_holds_what_it_stands_in() {
    let going = seen("instance", Phase::Going, |_| {});
    assert!(going.going && !going.gone);
    let held = infer_stack::model::identifiers(&going.projected);
    assert!(held.iter().any(|(path, _)| path == "/placementGroup"));
    assert!(held.iter().any(|(path, _)| path == "/subnet"));
    assert!(held.iter().any(|(path, _)| path.starts_with("/interfaces/0/groups")));
    assert!(seen("instance", Phase::There, |doc| doc["state"] = json!("terminated")).gone);
}

#[test]
fn a_volume_that_is_attached_says_to_what_and_a_deleted_one_is_gone() {
    let look = seen("volume", Phase::There, |_| {});
    assert!(infer_stack::model::identifiers(&look.projected).iter().any(|(path, _)| path == "/attached"));
    assert!(seen("volume", Phase::There, |doc| doc["state"] = json!("deleted")).gone);
    assert!(seen("volume", Phase::Going, |_| {}).going);
}

#[test]
fn scaling_tags_are_found_by_the_group_that_eks_names() {
    let look = seen("scaling-tags", Phase::There, |doc| {
        doc["nodeGroup"] = json!("p5");
        doc["asgTags"]["eks:cluster-name"] = json!("llama-70b");
    });
    assert_eq!(look.claims, Some(Address::new("scaling-tags", "p5")));
    assert!(look.projected["keys"].get("eks:cluster-name").is_none());
}
