//! Auto Scaling groups as EKS makes them: what they do, what they say of it, and what may be done to them.

use super::{desk::Desk, ground::Ground};
use infer_stack::cloud::memory::Scenario;
use serde_json::{Value, json};

/// A node group of one type that has come; the name of its scaling group.
fn grown(ground: &mut Ground, instance_type: &str, ami_type: &str, sizes: (u32, u32, u32)) -> String {
    let group = json!({
        "clusterName": "main", "nodegroupName": "nodes", "subnets": [ground.subnets[0]], "instanceTypes": [instance_type],
        "nodeRole": "arn:aws:iam::123456789012:role/node", "amiType": ami_type,
        "scalingConfig": { "minSize": sizes.0, "desiredSize": sizes.1, "maxSize": sizes.2 },
    });
    ground.desk.ok("eks:CreateNodegroup", group);
    ground.desk.wait(700);
    let named = json!({ "clusterName": "main", "nodegroupName": "nodes" });
    let found = ground.desk.ok("eks:DescribeNodegroup", named);
    found["nodegroup"]["resources"]["autoScalingGroups"][0]["name"].as_str().unwrap().to_owned()
}

fn shown(ground: &mut Ground, name: &str) -> Value {
    let input = json!({ "AutoScalingGroupNames": [name] });
    ground.desk.ok("autoscaling:DescribeAutoScalingGroups", input)["AutoScalingGroups"][0].clone()
}

fn activities(ground: &mut Ground, name: &str) -> Vec<Value> {
    let input = json!({ "AutoScalingGroupName": name });
    ground.desk.ok("autoscaling:DescribeScalingActivities", input)["Activities"].as_array().unwrap().clone()
}

const GENERAL: (&str, &str) = ("m6i.large", "AL2023_x86_64_STANDARD");
const P5: (&str, &str) = ("p5.48xlarge", "AL2023_x86_64_NVIDIA");

#[test]
fn a_group_starts_and_ends_what_differs_and_says_why() {
    let mut ground = Ground::with_cluster(Desk::new());
    let name = grown(&mut ground, GENERAL.0, GENERAL.1, (0, 2, 4));
    let group = shown(&mut ground, &name);
    assert_eq!((group["Instances"].as_array().unwrap().len(), &group["DesiredCapacity"]), (2, &json!(2)));
    assert!(group["Instances"].as_array().unwrap().iter().all(|one| one["LifecycleState"] == "InService"));
    let said = activities(&mut ground, &name);
    assert_eq!((said.len(), &said[0]["StatusCode"]), (2, &json!("Successful")));
    assert!(
        said[0]["Cause"].as_str().unwrap().ends_with("increasing the capacity from 1 to 2."),
        "{}",
        said[0]["Cause"]
    );
    let desired = |n: u32| json!({ "AutoScalingGroupName": name, "DesiredCapacity": n });
    let (code, message) = ground.desk.refused("autoscaling:SetDesiredCapacity", desired(5));
    assert_eq!(code, "ValidationError");
    assert_eq!(message, "New SetDesiredCapacity value 5 is above max value 4 for the AutoScalingGroup.");
    ground.desk.ok("autoscaling:SetDesiredCapacity", desired(1));
    ground.desk.wait(5);
    assert!(
        activities(&mut ground, &name)[0]["Description"].as_str().unwrap().starts_with("Terminating EC2 instance: i-")
    );
    ground.desk.wait(300);
    assert_eq!(ground.standing().len(), 1);
    let named = json!({ "clusterName": "main", "nodegroupName": "nodes" });
    let node_group = ground.desk.ok("eks:DescribeNodegroup", named);
    assert_eq!(node_group["nodegroup"]["scalingConfig"]["desiredSize"], 1, "EKS shows what the group has");
}

#[test]
fn a_group_replaces_what_died() {
    let mut ground = Ground::with_cluster(Desk::new());
    let name = grown(&mut ground, GENERAL.0, GENERAL.1, (1, 1, 1));
    let before = ground.standing()[0]["InstanceId"].clone();
    ground.desk.ok("ec2:TerminateInstances", json!({ "InstanceIds": [before] }));
    ground.desk.wait(400);
    let after = ground.standing();
    assert!(after.len() == 1 && after[0]["InstanceId"] != before, "{after:?}");
    let said = activities(&mut ground, &name);
    assert!(said.iter().any(|one| one["Cause"].as_str().unwrap().contains("EC2 health check")), "{said:?}");
}

#[test]
fn a_group_goes_on_trying_and_starts_once_there_is_capacity() {
    let mut ground = Ground::with_cluster(Desk::of(Scenario::built_in("no-capacity").unwrap()));
    let name = grown(&mut ground, P5.0, P5.1, (0, 0, 2));
    let resized = json!({
        "clusterName": "main", "nodegroupName": "nodes", "scalingConfig": { "minSize": 0, "maxSize": 2, "desiredSize": 1 },
    });
    ground.desk.ok("eks:UpdateNodegroupConfig", resized);
    ground.desk.wait(600);
    let said = activities(&mut ground, &name);
    assert!(said.len() >= 3, "it tried again and again: {}", said.len());
    let first = &said[0];
    assert_eq!(first["StatusCode"], "Failed");
    let message = first["StatusMessage"].as_str().unwrap();
    assert!(
        message.starts_with("Could not launch On-Demand Instances. InsufficientInstanceCapacity - We"),
        "{message}"
    );
    assert!(message.ends_with("Launching EC2 instance failed."), "{message}");
    let named = json!({ "clusterName": "main", "nodegroupName": "nodes" });
    let group = ground.desk.ok("eks:DescribeNodegroup", named)["nodegroup"].clone();
    assert_eq!(group["status"], "ACTIVE", "a group that was scaled later stays what it was");
    assert_eq!(group["health"]["issues"][0]["code"], "AsgInstanceLaunchFailures");
    ground.desk.world.scenario.empty_pools.clear();
    ground.desk.wait(1_500);
    assert_eq!(ground.standing().len(), 1);
    let named = json!({ "clusterName": "main", "nodegroupName": "nodes" });
    let healed = ground.desk.ok("eks:DescribeNodegroup", named)["nodegroup"].clone();
    assert_eq!(healed["health"]["issues"], json!([]));
}

#[test]
fn quotas_stop_a_group_in_ec2s_own_words() {
    let mut ground = Ground::with_cluster(Desk::of(Scenario::parse("quotas: { L-417A185B: 0 }").unwrap()));
    let name = grown(&mut ground, P5.0, P5.1, (0, 1, 1));
    let message = activities(&mut ground, &name)[0]["StatusMessage"].as_str().unwrap().to_owned();
    assert!(message.contains("VcpuLimitExceeded - You have requested more vCPU capacity"), "{message}");
}

#[test]
fn instances_are_spread_over_zones_and_go_where_there_is_capacity() {
    let mut ground = Ground::with_cluster(Desk::of(Scenario::built_in("no-capacity").unwrap()));
    for (name, instance_type, ami_type) in [("general", GENERAL.0, GENERAL.1), ("p5", P5.0, P5.1)] {
        let group = json!({
            "clusterName": "main", "nodegroupName": name, "subnets": ground.subnets, "instanceTypes": [instance_type],
            "nodeRole": "arn:aws:iam::123456789012:role/node", "amiType": ami_type,
            "scalingConfig": { "minSize": 0, "desiredSize": 2, "maxSize": 2 },
        });
        ground.desk.ok("eks:CreateNodegroup", group);
    }
    ground.desk.wait(700);
    let standing = ground.standing();
    let zones = |instance_type: &str| {
        let its = standing.iter().filter(|one| one["InstanceType"] == instance_type);
        let mut zones: Vec<_> = its.map(|one| one["Placement"]["AvailabilityZoneId"].as_str().unwrap()).collect();
        zones.sort_unstable();
        zones
    };
    assert_eq!(zones(GENERAL.0), ["usw2-az1", "usw2-az2"]);
    assert_eq!(zones(P5.0), ["usw2-az2", "usw2-az2"], "the first zone has none");
}

#[test]
fn tags_of_a_group_are_its_own() {
    let mut ground = Ground::with_cluster(Desk::new());
    let name = grown(&mut ground, GENERAL.0, GENERAL.1, (0, 1, 2));
    let tag = |key: &str| json!({ "ResourceId": name, "ResourceType": "auto-scaling-group", "Key": key, "Value": "8", "PropagateAtLaunch": false });
    let key = "k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu";
    ground.desk.ok("autoscaling:CreateOrUpdateTags", json!({ "Tags": [tag(key)] }));
    let of = json!({ "Filters": [{ "Name": "auto-scaling-group", "Values": [name] }] });
    let all = ground.desk.ok("autoscaling:DescribeTags", of.clone())["Tags"].clone();
    let keys: Vec<_> = all.as_array().unwrap().iter().map(|tag| tag["Key"].as_str().unwrap()).collect();
    for expected in
        ["eks:cluster-name", "eks:nodegroup-name", "kubernetes.io/cluster/main", "k8s.io/cluster-autoscaler/main", key]
    {
        assert!(keys.contains(&expected), "{expected}: {keys:?}");
    }
    let by_tag = json!({ "Filters": [{ "Name": "tag:eks:cluster-name", "Values": ["main"] }] });
    let found = ground.desk.ok("autoscaling:DescribeAutoScalingGroups", by_tag);
    assert_eq!(found["AutoScalingGroups"][0]["AutoScalingGroupName"], json!(name));
    ground.desk.ok("autoscaling:DeleteTags", json!({ "Tags": [tag(key)] }));
    let left = ground.desk.ok("autoscaling:DescribeTags", of)["Tags"].as_array().unwrap().len();
    assert_eq!(left, keys.len() - 1);
    let mut nowhere = tag(key);
    nowhere["ResourceId"] = json!("nowhere");
    assert_eq!(ground.desk.code("autoscaling:CreateOrUpdateTags", json!({ "Tags": [nowhere] })), "ValidationError");
    let reserved = json!({ "Tags": [tag("aws:mine")] });
    assert_eq!(ground.desk.code("autoscaling:CreateOrUpdateTags", reserved), "ValidationError");
}

#[test]
fn a_group_with_instances_is_deleted_by_force_only_and_its_node_group_says_so() {
    let mut ground = Ground::with_cluster(Desk::new());
    let name = grown(&mut ground, GENERAL.0, GENERAL.1, (0, 1, 2));
    let delete = json!({ "AutoScalingGroupName": name });
    assert_eq!(ground.desk.code("autoscaling:DeleteAutoScalingGroup", delete), "ResourceInUse");
    ground.desk.ok("autoscaling:DeleteAutoScalingGroup", json!({ "AutoScalingGroupName": name, "ForceDelete": true }));
    assert_eq!(shown(&mut ground, &name)["Status"], "Delete in progress");
    ground.desk.wait(600);
    assert_eq!(shown(&mut ground, &name), Value::Null);
    let named = json!({ "clusterName": "main", "nodegroupName": "nodes" });
    let group = ground.desk.ok("eks:DescribeNodegroup", named)["nodegroup"].clone();
    assert_eq!(group["health"]["issues"][0]["code"], "AutoScalingGroupNotFound");
    let update = json!({ "AutoScalingGroupName": name, "MaxSize": 3 });
    assert_eq!(ground.desk.code("autoscaling:UpdateAutoScalingGroup", update), "ValidationError");
}
