//! Capacity: quotas, empty pools, reservations, capacity blocks, fleets.

use super::{
    desk::{Desk, REGION},
    ground::{Ground, ZONES, with},
};
use infer_stack::cloud::{Reservation, memory::Scenario};
use serde_json::{Value, json};

fn refused(ground: &mut Ground, instance_type: &str, more: Value) -> (String, String) {
    let run = ground.run(instance_type, more);
    ground.desk.refused("ec2:RunInstances", run)
}

#[test]
fn vcpu_quotas_hold_on_demand_and_spot_apart() {
    let mut ground = Ground::new(Desk::of(Scenario::parse("quotas: { L-417A185B: 200, L-C4BD4855: 0 }").unwrap()));
    let one = ground.run("p5.48xlarge", json!({}));
    ground.desk.ok("ec2:RunInstances", one);
    let (code, message) = refused(&mut ground, "p5.48xlarge", json!({}));
    assert_eq!(code, "VcpuLimitExceeded");
    assert!(message.contains("current vCPU limit of 200 allows for the instance bucket"), "{message}");
    let spot = json!({ "InstanceMarketOptions": { "MarketType": "spot" } });
    assert_eq!(refused(&mut ground, "p5.48xlarge", spot).0, "MaxSpotInstanceCountExceeded");
    let standing = ground.standing();
    ground.desk.ok("ec2:TerminateInstances", json!({ "InstanceIds": [standing[0]["InstanceId"]] }));
    let again = ground.run("p5.48xlarge", json!({}));
    ground.desk.ok("ec2:RunInstances", again);
}

#[test]
fn an_empty_pool_names_the_zones_that_are_not() {
    let mut ground = Ground::new(Desk::of(Scenario::built_in("no-capacity").unwrap()));
    let (code, message) = refused(&mut ground, "p5.48xlarge", json!({}));
    assert_eq!(code, "InsufficientInstanceCapacity");
    assert!(
        message.contains("sufficient p5.48xlarge capacity in the Availability Zone you requested (us-west-2a)"),
        "{message}"
    );
    assert!(message.contains("choosing us-west-2b"), "{message}");
    let elsewhere = ground.run("p5.48xlarge", json!({ "SubnetId": ground.subnets[1] }));
    ground.desk.ok("ec2:RunInstances", elsewhere);
    let general = ground.run("m6i.large", json!({}));
    ground.desk.ok("ec2:RunInstances", general);
}

fn reserve(ground: &mut Ground, more: Value) -> String {
    let input = json!({
        "InstanceType": "p5.48xlarge", "InstancePlatform": "Linux/UNIX", "InstanceCount": 1, "AvailabilityZoneId": ZONES[0],
    });
    ground.desk.id("ec2:CreateCapacityReservation", with(input, more), "/CapacityReservation/CapacityReservationId")
}

fn into(id: &str) -> Value {
    json!({ "CapacityReservationSpecification": { "CapacityReservationTarget": { "CapacityReservationId": id } } })
}

#[test]
fn a_reservation_holds_its_capacity_against_quota_and_pool() {
    let mut ground = Ground::new(Desk::of(Scenario::parse("quotas: { L-417A185B: 192 }").unwrap()));
    let id = reserve(&mut ground, json!({ "InstanceMatchCriteria": "targeted" }));
    assert_eq!(refused(&mut ground, "p5.48xlarge", json!({})).0, "VcpuLimitExceeded", "what is reserved counts");
    let run = ground.run("p5.48xlarge", into(&id));
    let made = ground.desk.ok("ec2:RunInstances", run);
    assert_eq!(made["Instances"][0]["CapacityReservationId"], json!(id));
    let shown = ground.desk.ok("ec2:DescribeCapacityReservations", json!({ "CapacityReservationIds": [id] }));
    assert_eq!(shown["CapacityReservations"][0]["AvailableInstanceCount"], 0);
    assert_eq!(refused(&mut ground, "p5.48xlarge", into(&id)).0, "ReservationCapacityExceeded");
    assert_eq!(refused(&mut ground, "m6i.large", into(&id)).0, "InvalidParameterValue", "another type");
    assert_eq!(
        refused(&mut ground, "p5.48xlarge", into("cr-0123456789abcdef0")).0,
        "InvalidCapacityReservationId.NotFound"
    );
    let block = with(into(&id), json!({ "InstanceMarketOptions": { "MarketType": "capacity-block" } }));
    assert_eq!(refused(&mut ground, "p5.48xlarge", block).0, "InvalidParameterCombination", "it is no block");
    let spot = with(into(&id), json!({ "InstanceMarketOptions": { "MarketType": "spot" } }));
    assert_eq!(refused(&mut ground, "p5.48xlarge", spot).0, "InvalidParameterCombination");
    ground.desk.ok("ec2:CancelCapacityReservation", json!({ "CapacityReservationId": id }));
    assert_eq!(ground.standing()[0]["CapacityReservationId"], Value::Null, "it goes on, on demand");
    assert_eq!(refused(&mut ground, "p5.48xlarge", into(&id)).0, "InvalidCapacityReservationState");
}

#[test]
fn an_open_reservation_takes_what_fits_and_none_declines_it() {
    let mut ground = Ground::new(Desk::new());
    let id = reserve(&mut ground, json!({}));
    let declined = json!({ "CapacityReservationSpecification": { "CapacityReservationPreference": "none" } });
    let run = ground.run("p5.48xlarge", declined);
    assert_eq!(ground.desk.ok("ec2:RunInstances", run)["Instances"][0]["CapacityReservationId"], Value::Null);
    let run = ground.run("p5.48xlarge", json!({}));
    assert_eq!(ground.desk.ok("ec2:RunInstances", run.clone())["Instances"][0]["CapacityReservationId"], json!(id));
    assert_eq!(ground.desk.ok("ec2:RunInstances", run)["Instances"][0]["CapacityReservationId"], Value::Null);
    let only = json!({ "CapacityReservationSpecification": { "CapacityReservationPreference": "capacity-reservations-only" } });
    assert_eq!(refused(&mut ground, "p5.48xlarge", only).0, "ReservationCapacityExceeded");
}

#[test]
fn what_is_reserved_stands_in_the_group_it_was_reserved_in() {
    let mut ground = Ground::new(Desk::new());
    let made = ground.desk.ok("ec2:CreatePlacementGroup", json!({ "GroupName": "near", "Strategy": "cluster" }));
    let arn = made["PlacementGroup"]["GroupArn"].clone();
    let inside = reserve(&mut ground, json!({ "PlacementGroupArn": arn, "InstanceMatchCriteria": "targeted" }));
    let outside = reserve(&mut ground, json!({ "InstanceMatchCriteria": "targeted" }));
    let near = json!({ "Placement": { "GroupName": "near" } });
    assert_eq!(
        refused(&mut ground, "p5.48xlarge", into(&inside)).0,
        "InsufficientInstanceCapacity",
        "not in its group"
    );
    let wrong = with(into(&outside), near.clone());
    assert_eq!(refused(&mut ground, "p5.48xlarge", wrong).0, "InsufficientInstanceCapacity", "in a group it is not of");
    let run = ground.run("p5.48xlarge", with(into(&inside), near));
    ground.desk.ok("ec2:RunInstances", run);
    assert_eq!(
        ground.desk.code("ec2:DeletePlacementGroup", json!({ "GroupName": "near" })),
        "InvalidPlacementGroup.InUse"
    );
}

#[test]
fn a_capacity_block_is_bought_paid_started_emptied_and_over() {
    let mut ground = Ground::new(Desk::of(Scenario::parse("quotas: { L-417A185B: 0 }").unwrap()));
    let ask = |hours: u32| json!({ "InstanceType": "p5.48xlarge", "InstanceCount": 2, "CapacityDurationHours": hours });
    assert_eq!(ground.desk.code("ec2:DescribeCapacityBlockOfferings", ask(30)), "InvalidParameterValue");
    let general = json!({ "InstanceType": "m6i.large", "CapacityDurationHours": 24 });
    assert_eq!(ground.desk.code("ec2:DescribeCapacityBlockOfferings", general), "Unsupported");
    let offers = ground.desk.ok("ec2:DescribeCapacityBlockOfferings", ask(24))["CapacityBlockOfferings"].clone();
    let offer = offers.as_array().unwrap().iter().find(|offer| offer["AvailabilityZone"] == "us-west-2a").unwrap();
    let buy = json!({ "CapacityBlockOfferingId": offer["CapacityBlockOfferingId"], "InstancePlatform": "Linux/UNIX" });
    let bought = ground.desk.ok("ec2:PurchaseCapacityBlock", buy.clone())["CapacityReservation"].clone();
    let id = bought["CapacityReservationId"].as_str().unwrap().to_owned();
    assert_eq!((&bought["State"], &bought["ReservationType"]), (&json!("payment-pending"), &json!("capacity-block")));
    assert_eq!(ground.desk.code("ec2:PurchaseCapacityBlock", buy), "InvalidCapacityBlockOfferingId.NotFound", "sold");
    let state = |ground: &mut Ground| {
        let found = ground.desk.ok("ec2:DescribeCapacityReservations", json!({ "CapacityReservationIds": [id] }));
        found["CapacityReservations"][0]["State"].as_str().unwrap().to_owned()
    };
    ground.desk.wait(120);
    assert_eq!(state(&mut ground), "scheduled");
    let block = with(into(&id), json!({ "InstanceMarketOptions": { "MarketType": "capacity-block" } }));
    assert_eq!(refused(&mut ground, "p5.48xlarge", block.clone()).0, "InvalidCapacityReservationState", "not yet");
    let now = 1_796_000_000 + 120;
    let start = bought["StartDate"].as_f64().unwrap() as i64;
    ground.desk.wait(start - now + 1);
    assert_eq!(state(&mut ground), "active");
    assert_eq!(
        refused(&mut ground, "p5.48xlarge", into(&id)).0,
        "InvalidParameterCombination",
        "without its market type"
    );
    let none = json!({ "InstanceMarketOptions": { "MarketType": "capacity-block" } });
    assert_eq!(refused(&mut ground, "p5.48xlarge", none).0, "InvalidParameterCombination", "without its target");
    let run = ground.run("p5.48xlarge", block);
    let made = ground.desk.ok("ec2:RunInstances", run);
    assert_eq!(made["Instances"][0]["InstanceLifecycle"], "capacity-block", "and no vCPU quota");
    let cancel = json!({ "CapacityReservationId": id });
    assert_eq!(ground.desk.code("ec2:CancelCapacityReservation", cancel), "UnsupportedOperation");
    ground.desk.wait(24 * 3600 - 29 * 60);
    let left = ground.standing();
    assert_eq!(left[0]["State"]["Name"], "shutting-down", "half an hour before the end");
    assert_eq!(left[0]["StateReason"]["Code"], "Server.CapacityBlockExpired");
    ground.desk.wait(30 * 60);
    assert_eq!(state(&mut ground), "expired");
}

#[test]
fn a_brought_reservation_is_there_as_its_file_says() {
    let mut ground = Ground::new(Desk::new());
    let brought = Reservation {
        id: "cr-0123456789abcdef0".to_owned(),
        instance_type: "p5.48xlarge".to_owned(),
        zone: ZONES[0].to_owned(),
        total: 4,
        available: 4,
        state: "scheduled".to_owned(),
        block: true,
        start: Some("2026-12-02T11:30:00Z".to_owned()),
        end: Some("2026-12-03T11:30:00Z".to_owned()),
        placement_group: None,
    };
    ground.desk.world.bring_reservation(REGION, &brought);
    let shown = ground.desk.ok("ec2:DescribeCapacityReservations", json!({}))["CapacityReservations"][0].clone();
    assert_eq!((&shown["State"], &shown["TotalInstanceCount"]), (&json!("scheduled"), &json!(4)));
}

#[test]
fn a_fleet_takes_the_cheapest_that_can_be_had_and_says_what_could_not() {
    let mut ground = Ground::new(Desk::of(Scenario::built_in("no-capacity").unwrap()));
    let image = ground.image("AL2023_x86_64_NVIDIA");
    let template = ground.template(
        "karpenter",
        json!({
            "ImageId": image,
            "NetworkInterfaces": [{ "DeviceIndex": 0, "InterfaceType": "interface", "Groups": [ground.group] }],
        }),
    );
    let over = |subnet: usize| json!({ "InstanceType": "p5.48xlarge", "SubnetId": ground.subnets[subnet] });
    let fleet = json!({
        "Type": "instant",
        "LaunchTemplateConfigs": [{
            "LaunchTemplateSpecification": { "LaunchTemplateId": template, "Version": "$Latest" },
            "Overrides": [over(0), over(1)],
        }],
        "TargetCapacitySpecification": { "TotalTargetCapacity": 1, "DefaultTargetCapacityType": "on-demand" },
        "TagSpecifications": [
            { "ResourceType": "instance", "Tags": [{ "Key": "karpenter.sh/nodepool", "Value": "gpu" }] },
            { "ResourceType": "fleet", "Tags": [{ "Key": "karpenter.sh/nodepool", "Value": "gpu" }] },
        ],
    });
    let made = ground.desk.ok("ec2:CreateFleet", fleet.clone());
    assert_eq!(made["Errors"][0]["ErrorCode"], "InsufficientInstanceCapacity");
    assert_eq!(made["Instances"][0]["LaunchTemplateAndOverrides"]["Overrides"]["SubnetId"], json!(ground.subnets[1]));
    let tags = ground.standing()[0]["Tags"].clone();
    let keys: Vec<_> = tags.as_array().unwrap().iter().map(|tag| tag["Key"].as_str().unwrap()).collect();
    assert!(keys.contains(&"karpenter.sh/nodepool") && keys.contains(&"aws:ec2:fleet-id"), "{keys:?}");
    let shown = ground.desk.ok("ec2:DescribeFleets", json!({ "FleetIds": [made["FleetId"]] }));
    assert_eq!(shown["Fleets"][0]["FleetState"], "active");
    let mut spot = fleet.clone();
    spot["TargetCapacitySpecification"]["DefaultTargetCapacityType"] = json!("spot");
    let made = ground.desk.ok("ec2:CreateFleet", spot);
    assert_eq!(made["Instances"][0]["Lifecycle"], "spot");
    let maintained = with(fleet, json!({ "Type": "maintain" }));
    assert_eq!(ground.desk.code("ec2:CreateFleet", maintained), "UnsupportedOperation");
}

#[test]
fn types_offerings_images_and_spot_prices_are_the_catalogues() {
    let mut desk = Desk::of(Scenario::built_in("no-capacity").unwrap());
    let p5 =
        desk.ok("ec2:DescribeInstanceTypes", json!({ "InstanceTypes": ["p5.48xlarge"] }))["InstanceTypes"][0].clone();
    assert_eq!(p5["NetworkInfo"]["EfaInfo"]["MaximumEfaInterfaces"], 32);
    assert_eq!(p5["NetworkInfo"]["NetworkCards"].as_array().unwrap().len(), 32);
    assert_eq!(p5["GpuInfo"]["Gpus"][0]["Name"], "H100");
    let efa = json!({ "Filters": [{ "Name": "network-info.efa-supported", "Values": ["true"] }] });
    let found = desk.ok("ec2:DescribeInstanceTypes", efa)["InstanceTypes"].clone();
    assert!(found.as_array().unwrap().iter().all(|one| one["NetworkInfo"]["EfaSupported"] == true));
    let unknown = json!({ "InstanceTypes": ["c1.medium"] });
    assert_eq!(desk.code("ec2:DescribeInstanceTypes", unknown), "InvalidInstanceType");
    let zones = json!({
        "LocationType": "availability-zone-id", "Filters": [{ "Name": "instance-type", "Values": ["p6-b300.48xlarge"] }],
    });
    let offered = desk.ok("ec2:DescribeInstanceTypeOfferings", zones)["InstanceTypeOfferings"].clone();
    assert_eq!(
        offered,
        json!([{ "InstanceType": "p6-b300.48xlarge", "LocationType": "availability-zone-id", "Location": "usw2-az2" }])
    );
    let nvidia = json!({ "Owners": ["amazon"], "Filters": [{ "Name": "name", "Values": ["amazon-eks-node-al2023-x86_64-nvidia-1.35-*"] }] });
    assert_eq!(desk.ok("ec2:DescribeImages", nvidia)["Images"].as_array().unwrap().len(), 1);
    let scores = json!({ "InstanceTypes": ["p5.48xlarge"], "TargetCapacity": 1, "SingleAvailabilityZone": true });
    let scores = desk.ok("ec2:GetSpotPlacementScores", scores)["SpotPlacementScores"].clone();
    assert_eq!((&scores[0]["Score"], &scores[1]["Score"]), (&json!(1), &json!(9)));
    let prices = json!({ "InstanceTypes": ["p5.48xlarge"], "AvailabilityZone": "us-west-2b" });
    assert_eq!(desk.ok("ec2:DescribeSpotPriceHistory", prices)["SpotPriceHistory"].as_array().unwrap().len(), 1);
}
