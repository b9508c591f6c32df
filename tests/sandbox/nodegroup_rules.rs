//! What EKS refuses of a node group before it makes anything: each rule broken once.

use super::{
    desk::{Desk, REGION},
    ground::{Ground, with},
};
use infer_stack::sandbox::world::eks::Home;
use serde_json::{Value, json};

fn wish(ground: &Ground, more: Value) -> Value {
    let group = json!({
        "clusterName": "main", "nodegroupName": "nodes", "subnets": [ground.subnets[0]], "instanceTypes": ["m6i.large"],
        "nodeRole": "arn:aws:iam::123456789012:role/node",
        "scalingConfig": { "minSize": 0, "desiredSize": 0, "maxSize": 4 },
    });
    with(group, more)
}

fn refused(ground: &mut Ground, more: Value) -> (String, String) {
    let wish = wish(ground, more);
    ground.desk.refused("eks:CreateNodegroup", wish)
}

const PARAMETER: &str = "InvalidParameterException";
const REQUEST: &str = "InvalidRequestException";

#[test]
fn what_a_template_may_not_say() {
    let mut ground = Ground::with_cluster(Desk::new());
    let block = json!({
        "InstanceMarketOptions": { "MarketType": "capacity-block" },
        "CapacityReservationSpecification": { "CapacityReservationTarget": { "CapacityReservationId": "cr-1" } },
    });
    let typed = with(block.clone(), json!({ "InstanceType": "p5.48xlarge" }));
    let seat = json!([{ "DeviceIndex": 0, "SubnetId": ground.subnets[0] }]);
    let image = ground.image("AL2023_x86_64_STANDARD");
    // "ls" in base64: no MIME.
    for (n, (data, more, code, says)) in [
        (json!({ "NetworkInterfaces": seat }), json!({}), PARAMETER, "should not specify a subnet"),
        (
            json!({ "IamInstanceProfile": { "Name": "mine" } }),
            json!({}),
            PARAMETER,
            "should not specify an instance profile",
        ),
        (json!({ "ImageId": image }), json!({}), REQUEST, "cannot specify an image id"),
        (json!({ "InstanceInitiatedShutdownBehavior": "stop" }), json!({}), PARAMETER, "shutdown behavior"),
        (json!({ "HibernationOptions": { "Configured": true } }), json!({}), PARAMETER, "hibernation"),
        (json!({ "InstanceMarketOptions": { "MarketType": "spot" } }), json!({}), PARAMETER, "market options"),
        (
            json!({ "InstanceType": "m6i.large" }),
            json!({}),
            REQUEST,
            "Cannot specify instance types in launch template and API",
        ),
        (json!({}), json!({ "diskSize": 100 }), REQUEST, "Disk size must be specified within the launch template"),
        (json!({}), json!({ "remoteAccess": { "ec2SshKey": "k" } }), REQUEST, "Remote access"),
        (json!({ "UserData": "bHM=" }), json!({}), PARAMETER, "MIME multipart"),
        (
            json!({ "UserData": "TUlNRS1WZXJzaW9uOiAxLjA=" }),
            json!({ "amiType": "BOTTLEROCKET_x86_64" }),
            PARAMETER,
            "TOML",
        ),
        (block.clone(), json!({ "capacityType": "CAPACITY_BLOCK" }), PARAMETER, "an instance type is"),
        (json!({}), json!({ "capacityType": "CAPACITY_BLOCK" }), PARAMETER, "market type capacity-block"),
        (
            typed,
            json!({ "instanceTypes": null, "amiType": "AL2023_x86_64_NVIDIA" }),
            PARAMETER,
            "requires capacityType",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let template = ground.template(&format!("template-{n}"), data.clone());
        let more = with(more, json!({ "launchTemplate": { "id": template, "version": "1" } }));
        let (found, message) = refused(&mut ground, more);
        assert!(found == code && message.contains(says), "{data}: {found}: {message}");
    }
    let missing = json!({ "launchTemplate": { "id": "lt-0123456789abcdef0" } });
    assert_eq!(refused(&mut ground, missing).0, PARAMETER);
    let both = json!({ "launchTemplate": { "id": "lt-0123456789abcdef0", "name": "x" } });
    assert_eq!(refused(&mut ground, both).0, PARAMETER);
}

#[test]
fn what_a_group_may_not_be() {
    let mut ground = Ground::with_cluster(Desk::new());
    let other = ground.desk.id("ec2:CreateVpc", json!({ "CidrBlock": "10.70.0.0/16" }), "/Vpc/VpcId");
    let input = json!({ "VpcId": other, "CidrBlock": "10.70.0.0/20", "AvailabilityZoneId": "usw2-az1" });
    let abroad = ground.desk.id("ec2:CreateSubnet", input, "/Subnet/SubnetId");
    let sizes = |min: u32, desired: u32, max: u32| json!({ "scalingConfig": { "minSize": min, "desiredSize": desired, "maxSize": max } });
    let taints: Vec<Value> = (0..51).map(|n| json!({ "key": format!("k{n}"), "effect": "NO_SCHEDULE" })).collect();
    let twice = json!([{ "key": "a", "value": "1", "effect": "NO_SCHEDULE" }, { "key": "a", "value": "2", "effect": "NO_SCHEDULE" }]);
    let many: serde_json::Map<String, Value> = (0..51).map(|n| (format!("t{n}"), json!(""))).collect();
    let types: Vec<String> = (0..21).map(|_| "m6i.large".to_owned()).collect();
    for (more, code, says) in [
        (json!({ "nodegroupName": "-bad" }), PARAMETER, "must start with a letter or digit"),
        (json!({ "nodegroupName": "x".repeat(64) }), PARAMETER, "63 characters"),
        (json!({ "subnets": [abroad] }), PARAMETER, "is not in the VPC of the cluster"),
        (json!({ "subnets": ["subnet-0123456789abcdef0"] }), PARAMETER, "does not exist"),
        (sizes(2, 1, 4), PARAMETER, "Minimum capacity 2 can't be greater than desired size 1"),
        (sizes(0, 5, 4), PARAMETER, "can't be greater than max size 4"),
        (sizes(0, 0, 0), PARAMETER, "less than 1"),
        (sizes(0, 0, 451), "ResourceLimitExceededException", "450"),
        (json!({ "labels": { "node.kubernetes.io/mine": "x" } }), PARAMETER, "reserved prefixes"),
        (json!({ "labels": { "infer-stack/x": "a b" } }), PARAMETER, "not valid in Kubernetes"),
        (json!({ "taints": taints }), PARAMETER, "50 taints"),
        (json!({ "taints": twice }), PARAMETER, "unique"),
        (json!({ "tags": many }), PARAMETER, "at most 50"),
        (json!({ "tags": { "aws:mine": "x" } }), PARAMETER, "reserved"),
        (json!({ "updateConfig": { "maxUnavailable": 1, "maxUnavailablePercentage": 10 } }), PARAMETER, "both"),
        (json!({ "updateConfig": { "maxUnavailable": 101 } }), PARAMETER, "between 1 and 100"),
        (
            json!({ "amiType": "AL2023_x86_64_NVIDIA" }),
            PARAMETER,
            "[m6i.large] is not a valid instance type for requested amiType",
        ),
        (json!({ "amiType": "AL2023_ARM_64_STANDARD" }), PARAMETER, "not a valid instance type"),
        (json!({ "instanceTypes": types }), PARAMETER, "20 instance types"),
        (json!({ "version": "1.36" }), PARAMETER, "equal to or less than Cluster kubernetes version 1.35"),
        (json!({ "releaseVersion": "1.34.5-20261117" }), PARAMETER, "not valid for kubernetes version 1.35"),
        (json!({ "releaseVersion": "1.35.9-20301231" }), PARAMETER, "not valid for kubernetes version 1.35"),
        (json!({ "amiType": "CUSTOM" }), PARAMETER, "image id is required"),
        (json!({ "capacityType": "CAPACITY_BLOCK" }), PARAMETER, "launch template is required"),
        (json!({ "clusterName": "other" }), "ResourceNotFoundException", "No cluster found for name: other."),
    ] {
        let (found, message) = refused(&mut ground, more.clone());
        assert!(found == code && message.contains(says), "{more}: {found}: {message}");
    }
    assert!(!ground.desk.world.has_nodegroups(REGION, "main"));
}

#[test]
fn a_name_is_taken_once_a_token_is_one_group_and_thirty_are_the_most() {
    let mut ground = Ground::with_cluster(Desk::new());
    let once = wish(&ground, json!({ "clientRequestToken": "token" }));
    let first = ground.desk.ok("eks:CreateNodegroup", once.clone());
    assert_eq!(ground.desk.ok("eks:CreateNodegroup", once), first);
    let (code, message) = refused(&mut ground, json!({}));
    assert_eq!(code, "ResourceInUseException");
    assert_eq!(message, "NodeGroup already exists with name nodes and cluster name main");
    for n in 1..30 {
        let next = wish(&ground, json!({ "nodegroupName": format!("n{n}") }));
        ground.desk.ok("eks:CreateNodegroup", next);
    }
    assert_eq!(refused(&mut ground, json!({ "nodegroupName": "n30" })).0, "ResourceLimitExceededException");
    let page = ground.desk.ok("eks:ListNodegroups", json!({ "clusterName": "main", "maxResults": 20 }));
    assert_eq!(page["nodegroups"].as_array().unwrap().len(), 20);
    let rest = json!({ "clusterName": "main", "maxResults": 20, "nextToken": page["nextToken"] });
    assert_eq!(ground.desk.ok("eks:ListNodegroups", rest)["nodegroups"].as_array().unwrap().len(), 10);
}

#[test]
fn a_cluster_on_its_way_takes_no_group() {
    let mut ground = Ground::with_cluster(Desk::new());
    let home = ground.home(None);
    ground.desk.world.set_home(REGION, "main", Home { status: "CREATING".to_owned(), ..home });
    let (code, message) = refused(&mut ground, json!({}));
    assert!(code == REQUEST && message.contains("CREATING"), "{code}: {message}");
}

#[test]
fn a_block_is_of_one_zone_and_an_update_keeps_to_its_template() {
    let mut ground = Ground::with_cluster(Desk::new());
    let template = ground.template(
        "block",
        json!({
            "InstanceType": "p5.48xlarge",
            "InstanceMarketOptions": { "MarketType": "capacity-block" },
            "CapacityReservationSpecification": { "CapacityReservationTarget": { "CapacityReservationId": "cr-1" } },
        }),
    );
    let block = json!({
        "subnets": ground.subnets, "instanceTypes": null, "amiType": "AL2023_x86_64_NVIDIA",
        "capacityType": "CAPACITY_BLOCK", "launchTemplate": { "id": template, "version": "1" },
    });
    let (code, message) = refused(&mut ground, block);
    assert!(code == PARAMETER && message.contains("zone of the capacity block"), "{message}");
    let plain = wish(&ground, json!({}));
    ground.desk.ok("eks:CreateNodegroup", plain);
    let other = ground.template("other", json!({}));
    let with_template =
        wish(&ground, json!({ "nodegroupName": "with", "launchTemplate": { "id": other, "version": "1" } }));
    ground.desk.ok("eks:CreateNodegroup", with_template);
    ground.desk.wait(400);
    let another = ground.template("another", json!({}));
    let update = |name: &str, id: &str| json!({ "clusterName": "main", "nodegroupName": name, "launchTemplate": { "id": id, "version": "1" } });
    assert_eq!(ground.desk.code("eks:UpdateNodegroupVersion", update("nodes", &other)), REQUEST, "it has none");
    assert_eq!(ground.desk.code("eks:UpdateNodegroupVersion", update("with", &another)), REQUEST, "it has another");
    let sizes = json!({
        "clusterName": "main", "nodegroupName": "with", "scalingConfig": { "minSize": 3, "maxSize": 2, "desiredSize": 3 },
    });
    assert_eq!(ground.desk.code("eks:UpdateNodegroupConfig", sizes), PARAMETER);
}

#[test]
fn tags_are_put_and_taken_by_arn() {
    let mut ground = Ground::with_cluster(Desk::new());
    let wish = wish(&ground, json!({ "tags": { "a": "1" } }));
    let arn = ground.desk.id("eks:CreateNodegroup", wish, "/nodegroup/nodegroupArn");
    ground.desk.ok("eks:TagResource", json!({ "resourceArn": arn, "tags": { "infer-stack/desired": "2" } }));
    ground.desk.ok("eks:UntagResource", json!({ "resourceArn": arn, "tagKeys": ["a"] }));
    let tags = ground.desk.ok("eks:ListTagsForResource", json!({ "resourceArn": arn }))["tags"].clone();
    assert_eq!(tags, json!({ "infer-stack/desired": "2" }));
    let many: serde_json::Map<String, Value> = (0..50).map(|n| (format!("t{n}"), json!(""))).collect();
    assert_eq!(ground.desk.code("eks:TagResource", json!({ "resourceArn": arn, "tags": many })), PARAMETER);
    let nowhere =
        json!({ "resourceArn": "arn:aws:eks:us-west-2:123456789012:nodegroup/main/x/0", "tags": { "a": "1" } });
    assert_eq!(ground.desk.code("eks:TagResource", nowhere), "ResourceNotFoundException");
}
