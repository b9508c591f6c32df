//! Node groups: how they come, fail, change, roll and go.

use super::{
    desk::{Desk, REGION},
    ground::{Ground, ZONES, with},
};
use infer_stack::{cloud::memory::Scenario, sandbox::world::eks::Cni};
use serde_json::{Value, json};

fn wish(ground: &Ground, more: Value) -> Value {
    let group = json!({
        "clusterName": "main", "nodegroupName": "nodes", "subnets": [ground.subnets[0]], "instanceTypes": ["m6i.large"],
        "nodeRole": "arn:aws:iam::123456789012:role/node",
        "scalingConfig": { "minSize": 0, "desiredSize": 1, "maxSize": 4 },
    });
    with(group, more)
}

fn named() -> Value {
    json!({ "clusterName": "main", "nodegroupName": "nodes" })
}

fn read(ground: &mut Ground) -> Value {
    ground.desk.ok("eks:DescribeNodegroup", named())["nodegroup"].clone()
}

fn create(ground: &mut Ground, more: Value) -> Value {
    let wish = wish(ground, more);
    ground.desk.ok("eks:CreateNodegroup", wish)["nodegroup"].clone()
}

fn tags(of: &Value) -> Vec<&str> {
    of["Tags"].as_array().unwrap().iter().map(|tag| tag["Key"].as_str().unwrap()).collect()
}

#[test]
fn a_group_comes_with_its_nodes_and_tags_reach_only_what_they_reach() {
    let mut ground = Ground::with_cluster(Desk::new());
    let data = json!({
        "NetworkInterfaces": ground.layout("p5.48xlarge", None),
        "BlockDeviceMappings": [{ "DeviceName": "/dev/xvda", "Ebs": { "VolumeSize": 500, "VolumeType": "gp3", "Encrypted": true } }],
        "TagSpecifications": [
            { "ResourceType": "instance", "Tags": [{ "Key": "infer-stack/stack", "Value": "s" }] },
            { "ResourceType": "volume", "Tags": [{ "Key": "infer-stack/stack", "Value": "s" }] },
            { "ResourceType": "network-interface", "Tags": [{ "Key": "infer-stack/stack", "Value": "s" }] },
        ],
    });
    let template = ground.template("p5", data);
    let made = create(
        &mut ground,
        json!({
            "instanceTypes": ["p5.48xlarge"], "amiType": "AL2023_x86_64_NVIDIA", "tags": { "group": "only" },
            "launchTemplate": { "id": template, "version": "1" },
        }),
    );
    assert_eq!((&made["status"], &made["resources"]["autoScalingGroups"]), (&json!("CREATING"), &json!([])));
    ground.desk.wait(60);
    assert_eq!(read(&mut ground)["resources"]["autoScalingGroups"].as_array().unwrap().len(), 1);
    ground.desk.wait(150);
    assert_eq!(read(&mut ground)["status"], "CREATING", "a p5 boots longer than that");
    ground.desk.wait(120);
    let group = read(&mut ground);
    assert_eq!((&group["status"], &group["health"]["issues"]), (&json!("ACTIVE"), &json!([])));
    assert_eq!(
        (&group["releaseVersion"], &group["launchTemplate"]["version"]),
        (&json!("1.35.2-20261120"), &json!("1"))
    );
    let node = ground.standing()[0].clone();
    assert_eq!(node["NetworkInterfaces"].as_array().unwrap().len(), 33);
    let keys = tags(&node);
    for key in ["infer-stack/stack", "eks:nodegroup-name", "kubernetes.io/cluster/main", "aws:autoscaling:groupName"] {
        assert!(keys.contains(&key), "{key}: {keys:?}");
    }
    assert!(!keys.contains(&"group"), "a group's own tags stay with it");
    let volumes = ground.desk.ok("ec2:DescribeVolumes", json!({}))["Volumes"].clone();
    assert_eq!((volumes.as_array().unwrap().len(), &volumes[0]["Size"]), (1, &json!(500)));
    let free = ground.desk.world.net(REGION).free_addresses(&ground.subnets[0]);
    assert_eq!(free, 4091 - 1 - 10, "one address, and MINIMUM_IP_TARGET");
}

#[test]
fn without_a_network_add_on_nodes_never_join_but_an_empty_group_is_fine() {
    let mut ground = Ground::with_cluster(Desk::new());
    let bare = ground.home(None);
    ground.desk.world.set_home(REGION, "main", bare);
    create(&mut ground, json!({}));
    let empty = json!({ "minSize": 0, "desiredSize": 0, "maxSize": 4 });
    let other = wish(&ground, json!({ "nodegroupName": "empty", "scalingConfig": empty }));
    ground.desk.ok("eks:CreateNodegroup", other);
    ground.desk.wait(600);
    let empty = json!({ "clusterName": "main", "nodegroupName": "empty" });
    assert_eq!(ground.desk.ok("eks:DescribeNodegroup", empty)["nodegroup"]["status"], "ACTIVE");
    assert_eq!(read(&mut ground)["status"], "CREATING");
    ground.desk.wait(900);
    let failed = read(&mut ground);
    assert_eq!(failed["status"], "CREATE_FAILED");
    assert_eq!(failed["health"]["issues"][0]["code"], "NodeCreationFailure");
    assert_eq!(failed["health"]["issues"][0]["message"], "Instances failed to join the kubernetes cluster");
    ground.desk.ok("eks:DeleteNodegroup", named());
    ground.desk.wait(900);
    assert_eq!(ground.desk.code("eks:DescribeNodegroup", named()), "ResourceNotFoundException");
    assert!(ground.standing().is_empty());
}

#[test]
fn a_node_that_only_the_default_group_lets_through_never_joins() {
    let mut ground = Ground::with_cluster(Desk::new());
    // Interfaces without groups get the VPC's default one, and EKS adds none to interfaces that a template lists.
    let data = json!({ "NetworkInterfaces": [{ "DeviceIndex": 0, "DeleteOnTermination": true }] });
    let template = ground.template("bare", data);
    create(&mut ground, json!({ "launchTemplate": { "id": template, "version": "1" } }));
    ground.desk.wait(1_500);
    assert_eq!(read(&mut ground)["health"]["issues"][0]["code"], "NodeCreationFailure");
}

#[test]
fn missing_capacity_fails_a_creation_with_nodes_and_not_an_empty_one() {
    let mut ground = Ground::with_cluster(Desk::of(Scenario::built_in("no-capacity").unwrap()));
    create(&mut ground, json!({ "instanceTypes": ["p5.48xlarge"], "amiType": "AL2023_x86_64_NVIDIA" }));
    ground.desk.wait(300);
    let waiting = read(&mut ground);
    assert_eq!(waiting["status"], "CREATING");
    assert_eq!(waiting["health"]["issues"][0]["code"], "AsgInstanceLaunchFailures");
    ground.desk.wait(1_200);
    assert_eq!(read(&mut ground)["status"], "CREATE_FAILED");
}

#[test]
fn a_whole_interface_is_held_warm_unless_the_add_on_is_told_otherwise() {
    let mut ground = Ground::with_cluster(Desk::new());
    let plain = ground.home(Some(Cni { minimum_ip_target: None }));
    ground.desk.world.set_home(REGION, "main", plain);
    create(&mut ground, json!({}));
    ground.desk.wait(400);
    assert_eq!(read(&mut ground)["status"], "ACTIVE");
    let free = ground.desk.world.net(REGION).free_addresses(&ground.subnets[0]);
    assert_eq!(4091 - free, 20, "two interfaces of an m6i.large with ten addresses each");
    ground.desk.ok("eks:DeleteNodegroup", named());
    ground.desk.wait(900);
    assert!(ground.standing().is_empty());
    assert_eq!(ground.desk.world.net(REGION).free_addresses(&ground.subnets[0]), 4091);
}

#[test]
fn deletion_takes_its_time_and_leaves_what_the_scenario_says() {
    let leaves = "leaves: { interfaces: 2, volumes: 1, logGroup: false, clusterGroup: false }";
    let mut ground = Ground::with_cluster(Desk::of(Scenario::parse(leaves).unwrap()));
    create(&mut ground, json!({}));
    ground.desk.wait(400);
    let templates = ground.desk.ok("ec2:DescribeLaunchTemplates", json!({}))["LaunchTemplates"].clone();
    assert!(templates[0]["LaunchTemplateName"].as_str().unwrap().starts_with("eks-"), "EKS has one of its own");
    assert!(ground.desk.world.has_nodegroups(REGION, "main"));
    ground.desk.ok("eks:DeleteNodegroup", named());
    assert_eq!(read(&mut ground)["status"], "DELETING");
    ground.desk.wait(150);
    assert_eq!(read(&mut ground)["status"], "DELETING");
    ground.desk.wait(600);
    assert_eq!(ground.desk.code("eks:DeleteNodegroup", named()), "ResourceNotFoundException");
    assert!(!ground.desk.world.has_nodegroups(REGION, "main"));
    assert_eq!(ground.desk.ok("eks:ListNodegroups", json!({ "clusterName": "main" }))["nodegroups"], json!([]));
    assert_eq!(ground.desk.ok("ec2:DescribeLaunchTemplates", json!({}))["LaunchTemplates"], json!([]));
    assert_eq!(ground.desk.ok("autoscaling:DescribeAutoScalingGroups", json!({}))["AutoScalingGroups"], json!([]));
    let left = ground.desk.ok("ec2:DescribeNetworkInterfaces", json!({}))["NetworkInterfaces"].clone();
    assert_eq!(left.as_array().unwrap().len(), 2);
    assert!(left[0]["Description"].as_str().unwrap().starts_with("aws-K8S-i-"));
    let volumes = ground.desk.ok("ec2:DescribeVolumes", json!({}))["Volumes"].clone();
    assert_eq!((volumes.as_array().unwrap().len(), &volumes[0]["State"]), (1, &json!("available")));
    let subnet = json!({ "SubnetId": ground.subnets[0] });
    assert_eq!(ground.desk.code("ec2:DeleteSubnet", subnet), "DependencyViolation");
}

#[test]
fn a_configuration_is_an_update_of_its_own_and_one_at_a_time() {
    let mut ground = Ground::with_cluster(Desk::new());
    create(&mut ground, json!({ "labels": { "a": "1", "b": "2" } }));
    let labels = |more: Value| with(named(), json!({ "labels": more }));
    let early = labels(json!({ "addOrUpdateLabels": { "c": "3" } }));
    assert_eq!(
        ground.desk.code("eks:UpdateNodegroupConfig", early.clone()),
        "ResourceInUseException",
        "it comes still"
    );
    ground.desk.wait(400);
    let change = with(
        named(),
        json!({
            "labels": { "addOrUpdateLabels": { "c": "3" }, "removeLabels": ["a"] },
            "taints": { "addOrUpdateTaints": [{ "key": "gpu", "effect": "NO_SCHEDULE" }] },
            "scalingConfig": { "minSize": 1, "maxSize": 3, "desiredSize": 2 },
            "updateConfig": { "maxUnavailable": 2 },
            "nodeRepairConfig": { "enabled": true },
        }),
    );
    let update = ground.desk.ok("eks:UpdateNodegroupConfig", change)["update"].clone();
    assert_eq!((&update["status"], &update["type"]), (&json!("InProgress"), &json!("ConfigUpdate")));
    assert_eq!(ground.desk.code("eks:UpdateNodegroupConfig", early), "ResourceInUseException");
    assert_eq!(ground.desk.code("eks:DeleteNodegroup", named()), "ResourceInUseException");
    ground.desk.wait(200);
    let of = json!({ "name": "main", "nodegroupName": "nodes", "updateId": update["id"] });
    assert_eq!(ground.desk.ok("eks:DescribeUpdate", of)["update"]["status"], "Successful");
    let ids = ground.desk.ok("eks:ListUpdates", json!({ "name": "main", "nodegroupName": "nodes" }));
    assert_eq!(ids["updateIds"], json!([update["id"]]));
    let group = read(&mut ground);
    assert_eq!(group["labels"], json!({ "b": "2", "c": "3" }));
    assert_eq!(group["taints"][0]["key"], "gpu");
    assert_eq!(group["scalingConfig"], json!({ "minSize": 1, "maxSize": 3, "desiredSize": 2 }));
    assert_eq!(group["updateConfig"], json!({ "maxUnavailable": 2, "updateStrategy": "DEFAULT" }));
    assert_eq!(ground.standing().len(), 2);
}

/// Rolls a group of two to its template's second version, and tells the least and the most nodes there were.
fn roll(strategy: &str) -> (usize, usize) {
    let mut ground = Ground::with_cluster(Desk::new());
    let template = ground.template("nodes", json!({ "KeyName": "first" }));
    create(
        &mut ground,
        json!({
            "launchTemplate": { "id": template, "version": "1" },
            "scalingConfig": { "minSize": 0, "desiredSize": 2, "maxSize": 2 },
            "updateConfig": { "maxUnavailable": 1, "updateStrategy": strategy },
        }),
    );
    ground.desk.wait(600);
    let before: Vec<_> = ground.standing().iter().map(|one| one["InstanceId"].clone()).collect();
    let second = json!({ "LaunchTemplateId": template, "LaunchTemplateData": { "KeyName": "second" } });
    ground.desk.ok("ec2:CreateLaunchTemplateVersion", second);
    let update = with(named(), json!({ "launchTemplate": { "id": template, "version": "2" } }));
    let id = ground.desk.ok("eks:UpdateNodegroupVersion", update)["update"]["id"].clone();
    let (mut least, mut most) = (before.len(), 0);
    for _ in 0..400 {
        ground.desk.wait(10);
        let serving = ground.standing().iter().filter(|one| one["State"]["Name"] != "shutting-down").count();
        (least, most) = (least.min(serving), most.max(serving));
        if read(&mut ground)["status"] == "ACTIVE" {
            break;
        }
    }
    let of = json!({ "name": "main", "nodegroupName": "nodes", "updateId": id });
    assert_eq!(ground.desk.ok("eks:DescribeUpdate", of)["update"]["status"], "Successful", "{strategy}");
    ground.desk.wait(300);
    let after = ground.standing();
    assert_eq!(after.len(), 2);
    assert!(after.iter().all(|one| !before.contains(&one["InstanceId"]) && one["KeyName"] == "second"), "{strategy}");
    assert_eq!(read(&mut ground)["scalingConfig"], json!({ "minSize": 0, "maxSize": 2, "desiredSize": 2 }));
    (least, most)
}

#[test]
fn a_roll_replaces_every_node_and_minimal_starts_none_before_it_ended_one() {
    assert_eq!(roll("MINIMAL"), (1, 2));
    assert_eq!(roll("DEFAULT"), (2, 3));
}

#[test]
fn a_version_goes_up_to_the_clusters_and_never_down() {
    let mut ground = Ground::with_cluster(Desk::new());
    create(&mut ground, json!({ "version": "1.34" }));
    ground.desk.wait(400);
    assert_eq!(read(&mut ground)["releaseVersion"], "1.34.5-20261117");
    let update = |version: &str| with(named(), json!({ "version": version }));
    let (code, message) = ground.desk.refused("eks:UpdateNodegroupVersion", update("1.36"));
    assert_eq!(code, "InvalidParameterException");
    assert!(message.contains("equal to or less than Cluster kubernetes version 1.35"), "{message}");
    assert_eq!(ground.desk.code("eks:UpdateNodegroupVersion", update("1.33")), "InvalidParameterException");
    ground.desk.ok("eks:UpdateNodegroupVersion", update("1.35"));
    ground.desk.wait(1_500);
    let group = read(&mut ground);
    assert_eq!((&group["status"], &group["version"]), (&json!("ACTIVE"), &json!("1.35")));
    assert_eq!(group["releaseVersion"], "1.35.2-20261120");
    let image = ground.image("AL2023_x86_64_STANDARD");
    assert!(ground.standing().iter().all(|one| one["ImageId"] == json!(image)));
}

#[test]
fn a_roll_without_capacity_fails_and_says_why() {
    let mut ground = Ground::with_cluster(Desk::new());
    create(
        &mut ground,
        json!({
            "instanceTypes": ["p5.48xlarge"], "amiType": "AL2023_x86_64_NVIDIA", "releaseVersion": "1.35.1-20261001",
            "updateConfig": { "updateStrategy": "MINIMAL" },
        }),
    );
    ground.desk.wait(600);
    assert_eq!(read(&mut ground)["status"], "ACTIVE");
    let none = Scenario::built_in("no-capacity").unwrap();
    ground.desk.world.scenario.empty_pools = none.empty_pools;
    let id = ground.desk.ok("eks:UpdateNodegroupVersion", named())["update"]["id"].clone();
    ground.desk.wait(3_000);
    let of = json!({ "name": "main", "nodegroupName": "nodes", "updateId": id });
    let update = ground.desk.ok("eks:DescribeUpdate", of)["update"].clone();
    assert_eq!(update["status"], "Failed");
    assert!(update["errors"][0]["errorMessage"].as_str().unwrap().contains("InsufficientInstanceCapacity"), "{update}");
}

#[test]
fn a_deleted_template_shows_in_the_groups_health() {
    let mut ground = Ground::with_cluster(Desk::new());
    let template = ground.template("nodes", json!({}));
    create(&mut ground, json!({ "launchTemplate": { "id": template, "version": "1" } }));
    ground.desk.wait(400);
    ground.desk.ok("ec2:DeleteLaunchTemplate", json!({ "LaunchTemplateId": template }));
    assert_eq!(read(&mut ground)["health"]["issues"][0]["code"], "SourceEc2LaunchTemplateNotFound");
}

#[test]
fn a_group_in_a_capacity_block_is_scaled_to_nothing_before_its_end() {
    let mut ground = Ground::with_cluster(Desk::new());
    let brought = infer_stack::cloud::Reservation {
        id: "cr-0123456789abcdef0".to_owned(),
        instance_type: "p5.48xlarge".to_owned(),
        zone: ZONES[0].to_owned(),
        total: 2,
        available: 2,
        state: "active".to_owned(),
        block: true,
        start: None,
        end: Some("2026-11-30T03:20:00Z".to_owned()),
        placement_group: None,
    };
    ground.desk.world.bring_reservation(REGION, &brought);
    let end = brought.end.unwrap().parse::<jiff::Timestamp>().unwrap().as_second() - 1_796_000_000;
    let template = ground.template("block", json!({
        "InstanceType": "p5.48xlarge",
        "InstanceMarketOptions": { "MarketType": "capacity-block" },
        "CapacityReservationSpecification": { "CapacityReservationTarget": { "CapacityReservationId": brought.id } },
    }));
    create(
        &mut ground,
        json!({
            "instanceTypes": null, "amiType": "AL2023_x86_64_NVIDIA", "capacityType": "CAPACITY_BLOCK",
            "launchTemplate": { "id": template, "version": "1" },
        }),
    );
    ground.desk.wait(700);
    assert_eq!(read(&mut ground)["status"], "ACTIVE");
    let busy = with(named(), json!({ "releaseVersion": "1.35.2-20261120" }));
    assert_eq!(ground.desk.code("eks:UpdateNodegroupVersion", busy), "InvalidRequestException", "not above 0");
    ground.desk.wait(end - 700 - 38 * 60);
    let scaled = read(&mut ground)["scalingConfig"]["desiredSize"].clone();
    assert_eq!(scaled, 0, "forty minutes before the end");
}
