//! Instances: what EC2 refuses of a launch, what it makes of it, and what an end leaves.

use super::{
    desk::Desk,
    ground::{Ground, ZONES, with},
};
use serde_json::{Value, json};

fn code_of(ground: &mut Ground, instance_type: &str, more: Value) -> (String, String) {
    let run = ground.run(instance_type, more);
    ground.desk.refused("ec2:RunInstances", run)
}

#[test]
fn a_p5_starts_with_its_whole_layout_and_takes_one_address() {
    let mut ground = Ground::new(Desk::new());
    let interfaces = ground.layout("p5.48xlarge", Some(&ground.subnets[0].clone()));
    let more = json!({ "SubnetId": null, "SecurityGroupIds": null, "NetworkInterfaces": interfaces });
    let before = ground.desk.world.net("us-west-2").free_addresses(&ground.subnets[0]);
    let run = ground.run("p5.48xlarge", more);
    let made = ground.desk.ok("ec2:RunInstances", run);
    let instance = &made["Instances"][0];
    let seats = instance["NetworkInterfaces"].as_array().unwrap();
    assert_eq!(seats.len(), 33, "one interface and 32 EFAs");
    assert_eq!(seats.iter().filter(|seat| seat["InterfaceType"] == "efa-only").count(), 32);
    assert_eq!(seats.iter().filter(|seat| seat["PrivateIpAddress"].is_string()).count(), 1);
    assert_eq!(ground.desk.world.net("us-west-2").free_addresses(&ground.subnets[0]), before - 1);
    assert_eq!(seats[32]["Attachment"]["NetworkCardIndex"], 31);
    assert_eq!((&instance["State"]["Name"], &instance["Architecture"]), (&json!("pending"), &json!("x86_64")));
    ground.desk.wait(60);
    assert_eq!(ground.standing()[0]["State"]["Name"], "running");
}

#[test]
fn cards_hold_what_they_hold() {
    let mut ground = Ground::new(Desk::new());
    let subnet = ground.subnets[0].clone();
    let seat = |card: u32, device: u32, kind: &str| json!({ "NetworkCardIndex": card, "DeviceIndex": device, "InterfaceType": kind, "SubnetId": subnet });
    let launch = |seats: Vec<Value>| json!({ "SubnetId": null, "SecurityGroupIds": null, "NetworkInterfaces": seats });
    let ena = |n: u32| (0..n).map(|device| seat(0, device, "interface")).collect::<Vec<_>>();
    for (instance_type, seats, code, says) in [
        ("m6i.xlarge", ena(5), "AttachmentLimitExceeded", "Interface count 5 exceeds the limit for m6i.xlarge"),
        ("p5.48xlarge", ena(3), "AttachmentLimitExceeded", "on network card 0"),
        (
            "m6i.xlarge",
            vec![seat(0, 0, "efa")],
            "InvalidParameterCombination",
            "do not support Elastic Fabric Adapters",
        ),
        ("p5.48xlarge", vec![seat(0, 0, "efa-only")], "InvalidParameterCombination", "primary"),
        ("p5.48xlarge", vec![seat(1, 0, "efa-only")], "InvalidParameterCombination", "device at index 0"),
        (
            "p5.48xlarge",
            vec![seat(0, 0, "interface"), seat(32, 0, "efa-only")],
            "InvalidParameterValue",
            "card index 32",
        ),
        ("p5.48xlarge", vec![seat(0, 0, "interface"), seat(0, 0, "efa-only")], "InvalidParameterCombination", "unique"),
        (
            "p5.48xlarge",
            vec![seat(0, 0, "efa"), seat(0, 1, "efa-only")],
            "AttachmentLimitExceeded",
            "EFA interface count 2",
        ),
        ("p5.48xlarge", vec![seat(0, 0, "rdma")], "InvalidParameterValue", "InterfaceType"),
    ] {
        let (found, message) = code_of(&mut ground, instance_type, launch(seats.clone()));
        assert!(found == code && message.contains(says), "{instance_type} {seats:?}: {found}: {message}");
    }
    // Card 0 of p6-b300 has no EFA.
    let input = json!({ "VpcId": ground.vpc, "CidrBlock": "10.64.64.0/20", "AvailabilityZoneId": ZONES[1] });
    let there = ground.desk.id("ec2:CreateSubnet", input, "/Subnet/SubnetId");
    let mut first = seat(0, 0, "efa");
    first["SubnetId"] = json!(there);
    let (code, message) = code_of(&mut ground, "p6-b300.48xlarge", launch(vec![first]));
    assert!(code == "InvalidParameterCombination" && message.contains("card 0"), "{message}");
    let public =
        json!({ "NetworkCardIndex": 0, "DeviceIndex": 0, "SubnetId": subnet, "AssociatePublicIpAddress": true });
    let (code, message) = code_of(&mut ground, "p5.48xlarge", launch(vec![public, seat(1, 0, "efa-only")]));
    assert!(code == "InvalidParameterCombination" && message.contains("multiple network interfaces"), "{message}");
    let both = json!({ "NetworkInterfaces": ena(1) });
    assert_eq!(code_of(&mut ground, "m6i.xlarge", both).0, "InvalidParameterCombination", "subnet said twice");
}

#[test]
fn a_launch_is_judged_before_anything_is_made() {
    let mut ground = Ground::new(Desk::new());
    let ebs = |ebs: Value| json!({ "BlockDeviceMappings": [{ "DeviceName": "/dev/xvda", "Ebs": ebs }] });
    let tagged = json!({
        "MetadataOptions": { "InstanceMetadataTags": "enabled" },
        "TagSpecifications": [{ "ResourceType": "instance", "Tags": [{ "Key": "infer-stack/stack", "Value": "x" }] }],
    });
    for (instance_type, more, code) in [
        ("m6i.xlarge", json!({ "ImageId": "ami-0123456789abcdef0" }), "InvalidAMIID.NotFound"),
        ("m6i.xlarge", json!({ "ImageId": null }), "MissingParameter"),
        ("m6g.xlarge", json!({ "ImageId": ground.image("AL2023_x86_64_STANDARD") }), "InvalidParameterValue"),
        ("m6i.xlarge", json!({ "SubnetId": "subnet-0123456789abcdef0" }), "InvalidSubnetID.NotFound"),
        ("m6i.xlarge", json!({ "SecurityGroupIds": ["sg-0123456789abcdef0"] }), "InvalidGroup.NotFound"),
        ("m6i.xlarge", json!({ "Placement": { "GroupName": "nowhere" } }), "InvalidPlacementGroup.Unknown"),
        (
            "m6i.xlarge",
            json!({ "LaunchTemplate": { "LaunchTemplateName": "none" } }),
            "InvalidLaunchTemplateName.NotFoundException",
        ),
        ("m6i.xlarge", ebs(json!({ "VolumeSize": 10 })), "InvalidBlockDeviceMapping"),
        ("m6i.xlarge", ebs(json!({ "VolumeSize": 100, "VolumeType": "gp3", "Iops": 90_000 })), "InvalidParameterValue"),
        (
            "m6i.xlarge",
            ebs(json!({ "VolumeSize": 100, "VolumeType": "gp3", "Throughput": 1_000 })),
            "InvalidParameterValue",
        ),
        (
            "m6i.xlarge",
            ebs(json!({ "VolumeSize": 100, "VolumeType": "gp2", "Iops": 3_000 })),
            "InvalidParameterCombination",
        ),
        ("m6i.xlarge", ebs(json!({ "VolumeSize": 100, "VolumeType": "io1" })), "MissingParameter"),
        ("m6i.xlarge", ebs(json!({ "VolumeSize": 100, "KmsKeyId": "alias/x" })), "InvalidParameterDependency"),
        ("m6i.xlarge", tagged, "InvalidParameterValue"),
        ("trn1.32xlarge", json!({ "SubnetId": ground.subnets[1] }), "Unsupported"),
        ("m6i.xlarge", json!({ "MinCount": 2 }), "InvalidParameterValue"),
    ] {
        let (found, message) = code_of(&mut ground, instance_type, more.clone());
        assert_eq!(found, code, "{more}: {message}");
    }
    assert!(ground.standing().is_empty());
    let free = ground.desk.world.net("us-west-2").free_addresses(&ground.subnets[0]);
    assert_eq!(free, 4091, "nothing was left behind");
}

#[test]
fn a_dry_run_sees_parameters_and_never_capacity() {
    let mut ground = Ground::new(Desk::of(infer_stack::cloud::memory::Scenario::built_in("new-account").unwrap()));
    let run = ground.run("p5.48xlarge", json!({ "DryRun": true }));
    assert_eq!(ground.desk.code("ec2:RunInstances", run), "DryRunOperation", "although the quota is 0");
    let run = ground.run("p5.48xlarge", json!({ "DryRun": true, "SubnetId": "subnet-0123456789abcdef0" }));
    assert_eq!(ground.desk.code("ec2:RunInstances", run), "InvalidSubnetID.NotFound");
    assert!(ground.standing().is_empty());
}

#[test]
fn a_cluster_group_is_one_zone_and_a_spread_group_seven_a_zone() {
    let mut ground = Ground::new(Desk::new());
    for (name, strategy) in [("near", "cluster"), ("far", "spread"), ("parts", "partition")] {
        ground.desk.ok("ec2:CreatePlacementGroup", json!({ "GroupName": name, "Strategy": strategy }));
    }
    let near = ground.run("m6i.xlarge", json!({ "Placement": { "GroupName": "near" } }));
    ground.desk.ok("ec2:RunInstances", near.clone());
    let other = with(near, json!({ "SubnetId": ground.subnets[1] }));
    let (code, message) = ground.desk.refused("ec2:RunInstances", other);
    assert_eq!(code, "InvalidPlacementGroup.InUse");
    assert_eq!(message, "The placement group 'near' is in use in another availability zone: us-west-2a");
    let far = json!({ "Placement": { "GroupName": "far" }, "MinCount": 7, "MaxCount": 7 });
    let far = ground.run("m6i.xlarge", far);
    ground.desk.ok("ec2:RunInstances", far.clone());
    let eighth = with(far, json!({ "MinCount": 1, "MaxCount": 1 }));
    assert_eq!(ground.desk.code("ec2:RunInstances", eighth), "InsufficientInstanceCapacity");
    let wrong = json!({ "Placement": { "GroupName": "near", "PartitionNumber": 1 } });
    assert_eq!(code_of(&mut ground, "m6i.xlarge", wrong).0, "InvalidParameterCombination");
    let third = json!({ "Placement": { "GroupName": "parts", "PartitionNumber": 3 } });
    assert_eq!(code_of(&mut ground, "m6i.xlarge", third).0, "InvalidParameterValue", "it has two");
}

#[test]
fn an_end_takes_what_goes_with_it_and_leaves_the_rest() {
    let mut ground = Ground::new(Desk::new());
    let subnet = ground.subnets[0].clone();
    let more = json!({
        "SubnetId": null, "SecurityGroupIds": null,
        "NetworkInterfaces": [
            { "DeviceIndex": 0, "SubnetId": subnet, "DeleteOnTermination": true },
            { "DeviceIndex": 1, "SubnetId": subnet, "DeleteOnTermination": false },
        ],
        "BlockDeviceMappings": [
            { "DeviceName": "/dev/xvda", "Ebs": { "VolumeSize": 50, "VolumeType": "gp3" } },
            { "DeviceName": "/dev/sdf", "Ebs": { "VolumeSize": 9, "VolumeType": "gp3", "DeleteOnTermination": false } },
        ],
        "TagSpecifications": [{ "ResourceType": "volume", "Tags": [{ "Key": "of", "Value": "me" }] }],
    });
    let run = ground.run("m6i.xlarge", more);
    let id = ground.desk.id("ec2:RunInstances", run, "/Instances/0/InstanceId");
    let volumes = |ground: &mut Ground| ground.desk.ok("ec2:DescribeVolumes", json!({}))["Volumes"].clone();
    let found = volumes(&mut ground);
    assert_eq!(found.as_array().unwrap().len(), 2);
    assert_eq!((&found[0]["State"], &found[0]["Tags"][0]["Value"]), (&json!("in-use"), &json!("me")));
    let held = found[0]["VolumeId"].clone();
    assert_eq!(ground.desk.code("ec2:DeleteVolume", json!({ "VolumeId": held })), "VolumeInUse");
    assert_eq!(ground.desk.code("ec2:DeleteSubnet", json!({ "SubnetId": subnet })), "DependencyViolation");
    ground.desk.ok("ec2:TerminateInstances", json!({ "InstanceIds": [id] }));
    assert_eq!(ground.standing()[0]["State"]["Name"], "shutting-down");
    assert_eq!(volumes(&mut ground).as_array().unwrap().len(), 2, "it holds them until it is terminated");
    ground.desk.wait(600);
    let left = volumes(&mut ground);
    assert_eq!(
        (left.as_array().unwrap().len(), &left[0]["Size"], &left[0]["State"]),
        (1, &json!(9), &json!("available"))
    );
    let interfaces = ground.desk.ok("ec2:DescribeNetworkInterfaces", json!({}))["NetworkInterfaces"].clone();
    assert_eq!(interfaces.as_array().unwrap().len(), 1);
    assert_eq!(interfaces[0]["Status"], "available");
    let record = ground.desk.ok("ec2:DescribeInstances", json!({ "InstanceIds": [id] }));
    let record = &record["Reservations"][0]["Instances"][0];
    assert_eq!((&record["State"]["Name"], &record["VpcId"]), (&json!("terminated"), &Value::Null));
    ground.desk.wait(4_000);
    assert_eq!(ground.desk.code("ec2:DescribeInstances", json!({ "InstanceIds": [id] })), "InvalidInstanceID.NotFound");
}

#[test]
fn instances_are_listed_by_page_and_filter_and_managed_ones_only_on_demand() {
    let mut ground = Ground::new(Desk::new());
    for _ in 0..3 {
        let run = ground.run("m6i.large", json!({ "MinCount": 2, "MaxCount": 2 }));
        ground.desk.ok("ec2:RunInstances", run);
    }
    let hidden = ground.run("m6i.large", json!({ "Operator": { "Principal": "eks.amazonaws.com" } }));
    ground.desk.ok("ec2:RunInstances", hidden);
    let mut seen = vec![];
    let mut token = Value::Null;
    loop {
        let page = ground.desk.ok("ec2:DescribeInstances", json!({ "MaxResults": 5, "NextToken": token }));
        for batch in page["Reservations"].as_array().unwrap() {
            seen.extend(batch["Instances"].as_array().unwrap().iter().map(|one| one["InstanceId"].to_string()));
        }
        token = page["NextToken"].clone();
        if token.is_null() {
            break;
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 6);
    let all = ground.desk.ok("ec2:DescribeInstances", json!({ "IncludeManagedResources": true }));
    let count = all["Reservations"].as_array().unwrap().iter().map(|one| one["Instances"].as_array().unwrap().len());
    assert_eq!(count.sum::<usize>(), 7);
    let none = json!({ "Filters": [{ "Name": "vpc-id", "Values": ["vpc-0"] }] });
    assert_eq!(ground.desk.ok("ec2:DescribeInstances", none)["Reservations"], json!([]));
    let wrong = json!({ "Filters": [{ "Name": "colour", "Values": ["red"] }] });
    assert_eq!(ground.desk.code("ec2:DescribeInstances", wrong), "InvalidParameterValue");
    assert_eq!(ground.desk.code("ec2:DescribeInstances", json!({ "MaxResults": 3 })), "InvalidParameterValue");
    let statuses = ground.desk.ok("ec2:DescribeInstanceStatus", json!({}));
    assert_eq!(statuses["InstanceStatuses"], json!([]), "nothing runs yet");
    ground.desk.wait(600);
    let statuses = ground.desk.ok("ec2:DescribeInstanceStatus", json!({}));
    assert_eq!(statuses["InstanceStatuses"][0]["InstanceStatus"]["Status"], "ok");
}

#[test]
fn a_repeated_launch_is_one_launch_and_a_full_subnet_undoes_one() {
    let mut ground = Ground::new(Desk::new());
    let run = ground.run("m6i.large", json!({ "ClientToken": "once" }));
    let first = ground.desk.ok("ec2:RunInstances", run.clone());
    assert_eq!(ground.desk.ok("ec2:RunInstances", run), first);
    assert_eq!(ground.standing().len(), 1);
    let input = json!({ "VpcId": ground.vpc, "CidrBlock": "10.64.128.0/28", "AvailabilityZoneId": ZONES[0] });
    let small = ground.desk.id("ec2:CreateSubnet", input, "/Subnet/SubnetId");
    let many = ground.run("m6i.large", json!({ "SubnetId": small, "MinCount": 12, "MaxCount": 12 }));
    assert_eq!(ground.desk.code("ec2:RunInstances", many.clone()), "InsufficientFreeAddressesInSubnet");
    assert_eq!(ground.standing().len(), 1, "none of the twelve");
    assert_eq!(ground.desk.world.net("us-west-2").free_addresses(&small), 11);
    let fewer = with(many, json!({ "MinCount": 1 }));
    assert_eq!(ground.desk.ok("ec2:RunInstances", fewer)["Instances"].as_array().unwrap().len(), 11);
}

#[test]
fn what_is_protected_is_not_terminated() {
    let mut ground = Ground::new(Desk::new());
    let run = ground.run("m6i.large", json!({ "DisableApiTermination": true }));
    let id = ground.desk.id("ec2:RunInstances", run, "/Instances/0/InstanceId");
    let end = json!({ "InstanceIds": [id] });
    assert_eq!(ground.desk.code("ec2:TerminateInstances", end), "OperationNotPermitted");
    let unknown = json!({ "InstanceIds": ["i-0123456789abcdef0"] });
    assert_eq!(ground.desk.code("ec2:TerminateInstances", unknown), "InvalidInstanceID.NotFound");
    let shown = json!({ "InstanceId": id, "Attribute": "disableApiTermination" });
    assert_eq!(ground.desk.ok("ec2:DescribeInstanceAttribute", shown)["DisableApiTermination"]["Value"], true);
    assert_eq!(ground.desk.ok("ec2:GetConsoleOutput", json!({ "InstanceId": id }))["Output"], "");
}

#[test]
fn volumes_and_snapshots_live_by_themselves() {
    let mut desk = Desk::new();
    let input = json!({ "AvailabilityZoneId": ZONES[0], "Size": 10, "VolumeType": "gp3", "Encrypted": true });
    let volume = desk.id("ec2:CreateVolume", input, "/VolumeId");
    desk.wait(10);
    let found = desk.ok("ec2:DescribeVolumes", json!({ "VolumeIds": [volume] }));
    assert_eq!((&found["Volumes"][0]["State"], &found["Volumes"][0]["Iops"]), (&json!("available"), &json!(3_000)));
    let tags = json!([{ "ResourceType": "snapshot", "Tags": [{ "Key": "of", "Value": "me" }] }]);
    let snapshot =
        desk.id("ec2:CreateSnapshot", json!({ "VolumeId": volume, "TagSpecifications": tags }), "/SnapshotId");
    desk.ok("ec2:DeleteVolume", json!({ "VolumeId": volume }));
    desk.wait(1_000);
    assert_eq!(desk.code("ec2:DescribeVolumes", json!({ "VolumeIds": [volume] })), "InvalidVolume.NotFound");
    let filter = json!({ "OwnerIds": ["self"], "Filters": [{ "Name": "tag:of", "Values": ["me"] }] });
    let found = desk.ok("ec2:DescribeSnapshots", filter)["Snapshots"].clone();
    assert_eq!((&found[0]["State"], &found[0]["Progress"]), (&json!("completed"), &json!("100%")));
    let small = json!({ "AvailabilityZoneId": ZONES[0], "Size": 5, "SnapshotId": snapshot, "VolumeType": "gp3" });
    assert_eq!(desk.code("ec2:CreateVolume", small), "InvalidParameterValue");
    desk.ok("ec2:DeleteSnapshot", json!({ "SnapshotId": snapshot }));
    assert_eq!(desk.code("ec2:DeleteSnapshot", json!({ "SnapshotId": snapshot })), "InvalidSnapshot.NotFound");
    let nowhere = json!({ "AvailabilityZone": "us-west-2z", "Size": 5 });
    assert_eq!(desk.code("ec2:CreateVolume", nowhere), "InvalidZone.NotFound");
}
