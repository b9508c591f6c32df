//! Load balancers: what they need, what they leave for a while, and what the controller in a cluster makes.

use super::desk::{Desk, REGION};
use infer_stack::{model::Tags, sandbox::world::load_balancing::Exposed};
use serde_json::{Value, json};

struct Net {
    vpc: String,
    subnets: Vec<String>,
}

fn net(desk: &mut Desk) -> Net {
    let vpc = desk.id("ec2:CreateVpc", json!({ "CidrBlock": "10.64.0.0/16" }), "/Vpc/VpcId");
    let gateway = desk.id("ec2:CreateInternetGateway", json!({}), "/InternetGateway/InternetGatewayId");
    desk.ok("ec2:AttachInternetGateway", json!({ "InternetGatewayId": gateway, "VpcId": vpc }));
    let subnets = (1..=2).map(|n| {
        let zone = format!("usw2-az{n}");
        let input = json!({ "VpcId": vpc, "CidrBlock": format!("10.64.{n}.0/24"), "AvailabilityZoneId": zone });
        desk.id("ec2:CreateSubnet", input, "/Subnet/SubnetId")
    });
    let subnets = subnets.collect();
    Net { vpc, subnets }
}

fn balancer(desk: &mut Desk, net: &Net) -> String {
    let input = json!({ "Name": "web", "Subnets": net.subnets });
    desk.id("elbv2:CreateLoadBalancer", input, "/LoadBalancers/0/LoadBalancerArn")
}

#[test]
fn a_balancer_stands_in_two_zones_and_its_interfaces_outlive_it() {
    let mut desk = Desk::new();
    let net = net(&mut desk);
    let one = json!({ "Name": "web", "Subnets": [net.subnets[0]] });
    assert_eq!(desk.code("elbv2:CreateLoadBalancer", one), "ValidationError");
    let arn = balancer(&mut desk, &net);
    let again = json!({ "Name": "web", "Subnets": net.subnets });
    assert_eq!(desk.code("elbv2:CreateLoadBalancer", again), "DuplicateLoadBalancerName");
    let state = |desk: &mut Desk| {
        desk.ok("elbv2:DescribeLoadBalancers", json!({ "Names": ["web"] }))["LoadBalancers"][0]["State"]["Code"].clone()
    };
    assert_eq!(state(&mut desk), "provisioning");
    desk.wait(240);
    assert_eq!(state(&mut desk), "active");
    desk.ok("elbv2:DeleteLoadBalancer", json!({ "LoadBalancerArn": arn }));
    assert_eq!(desk.code("elbv2:DescribeLoadBalancers", json!({ "LoadBalancerArns": [arn] })), "LoadBalancerNotFound");
    desk.ok("elbv2:DeleteLoadBalancer", json!({ "LoadBalancerArn": arn }));
    let subnet = json!({ "SubnetId": net.subnets[0] });
    assert_eq!(desk.code("ec2:DeleteSubnet", subnet.clone()), "DependencyViolation");
    desk.wait(60);
    desk.ok("ec2:DeleteSubnet", subnet);
}

#[test]
fn a_target_group_stays_while_a_listener_sends_to_it() {
    let mut desk = Desk::new();
    let net = net(&mut desk);
    let arn = balancer(&mut desk, &net);
    let group = json!({ "Name": "web", "Protocol": "HTTP", "Port": 80, "VpcId": net.vpc, "TargetType": "ip" });
    let group = desk.id("elbv2:CreateTargetGroup", group, "/TargetGroups/0/TargetGroupArn");
    let listener = json!({
        "LoadBalancerArn": arn, "Port": 80, "Protocol": "HTTP",
        "DefaultActions": [{ "Type": "forward", "TargetGroupArn": group }],
    });
    let listener = desk.id("elbv2:CreateListener", listener, "/Listeners/0/ListenerArn");
    let seen = desk.ok("elbv2:DescribeTargetGroups", json!({ "TargetGroupArns": [group] }));
    assert_eq!(seen["TargetGroups"][0]["LoadBalancerArns"], json!([arn]));
    let delete = json!({ "TargetGroupArn": group });
    assert_eq!(desk.code("elbv2:DeleteTargetGroup", delete.clone()), "ResourceInUse");
    desk.ok("elbv2:DeleteListener", json!({ "ListenerArn": listener }));
    desk.ok("elbv2:DeleteTargetGroup", delete);
}

#[test]
fn tags_are_described_for_twenty_at_most() {
    let mut desk = Desk::new();
    let net = net(&mut desk);
    let arn = balancer(&mut desk, &net);
    desk.ok("elbv2:AddTags", json!({ "ResourceArns": [arn], "Tags": [{ "Key": "a", "Value": "1" }] }));
    let described = desk.ok("elbv2:DescribeTags", json!({ "ResourceArns": [arn] }));
    assert_eq!(described["TagDescriptions"][0]["Tags"], json!([{ "Key": "a", "Value": "1" }]));
    let many: Vec<Value> = (0..21).map(|_| json!(arn)).collect();
    assert_eq!(desk.code("elbv2:DescribeTags", json!({ "ResourceArns": many })), "ValidationError");
    let unknown = json!({ "ResourceArns": [arn.replace("web", "net")] });
    assert_eq!(desk.code("elbv2:DescribeTags", unknown), "LoadBalancerNotFound");
}

#[test]
fn a_controller_makes_groups_that_name_each_other_with_the_nodes() {
    let mut desk = Desk::new();
    let net = net(&mut desk);
    let nodes = json!({ "GroupName": "nodes", "Description": "nodes", "VpcId": net.vpc });
    let nodes = desk.id("ec2:CreateSecurityGroup", nodes, "/GroupId");
    let exposed = Exposed {
        cluster: "llama",
        namespace: "serving",
        name: "vllm",
        kind: "application",
        scheme: "internal",
        vpc: &net.vpc,
        subnets: &net.subnets,
        port: 8000,
        node_group: Some(&nodes),
        tags: Tags::new(),
    };
    let arn = desk.world.expose(REGION, &exposed).unwrap();
    let groups = desk.ok(
        "ec2:DescribeSecurityGroups",
        json!({ "Filters": [
            { "Name": "tag:elbv2.k8s.aws/cluster", "Values": ["llama"] },
        ]}),
    );
    let names: Vec<_> =
        groups["SecurityGroups"].as_array().unwrap().iter().map(|g| g["GroupName"].as_str().unwrap()).collect();
    assert!(names.iter().any(|name| name.starts_with("k8s-traffic-llama-")), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("k8s-serving-vllm-")), "{names:?}");
    desk.ok("elbv2:DeleteLoadBalancer", json!({ "LoadBalancerArn": arn }));
    desk.wait(60);
    let back = groups["SecurityGroups"].as_array().unwrap();
    let back = back.iter().find(|g| g["GroupName"].as_str().unwrap().starts_with("k8s-traffic")).unwrap();
    let delete = json!({ "GroupId": back["GroupId"] });
    assert_eq!(desk.code("ec2:DeleteSecurityGroup", delete), "DependencyViolation", "a rule of the nodes names it");
}
