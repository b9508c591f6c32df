//! What EC2 does alike for every kind: tags, limits, dry runs, pages and lag, zones and services.

use super::{
    desk::Desk,
    network::{address, filter, vpc},
};
use infer_stack::cloud::memory::Scenario;
use serde_json::{Value, json};

#[test]
fn tags_are_set_taken_and_found() {
    let mut desk = Desk::new();
    let tags =
        |pairs: &[(&str, &str)]| -> Value { pairs.iter().map(|(k, v)| json!({ "Key": k, "Value": v })).collect() };
    let specification = |kind: &str| json!([{ "ResourceType": kind, "Tags": tags(&[("a", "1")]) }]);
    let wrong = json!({ "CidrBlock": "10.64.0.0/16", "TagSpecifications": specification("subnet") });
    assert_eq!(desk.code("ec2:CreateVpc", wrong), "InvalidParameterValue");
    let input = json!({ "CidrBlock": "10.64.0.0/16", "TagSpecifications": specification("vpc") });
    let id = desk.id("ec2:CreateVpc", input, "/Vpc/VpcId");
    vpc(&mut desk);
    let found = desk.ok("ec2:DescribeVpcs", json!({ "Filters": filter("tag:a", "1") }));
    assert_eq!(found["Vpcs"].as_array().unwrap().len(), 1);
    let aws = json!({ "Resources": [id], "Tags": tags(&[("aws:x", "1")]) });
    assert_eq!(desk.code("ec2:CreateTags", aws), "InvalidParameterValue");
    let nothing = json!({ "Resources": [id, "vpc-0123"], "Tags": tags(&[("b", "2")]) });
    let (code, message) = desk.refused("ec2:CreateTags", nothing);
    assert_eq!((code.as_str(), message.as_str()), ("InvalidVpcID.NotFound", "The vpc ID 'vpc-0123' does not exist"));
    desk.ok("ec2:CreateTags", json!({ "Resources": [id], "Tags": tags(&[("b", "2"), ("a", "3")]) }));
    desk.ok("ec2:DeleteTags", json!({ "Resources": [id], "Tags": tags(&[("a", "1")]) }));
    let listed =
        |desk: &mut Desk| desk.ok("ec2:DescribeTags", json!({ "Filters": filter("resource-id", &id) }))["Tags"].clone();
    assert_eq!(listed(&mut desk).as_array().unwrap().len(), 2, "another value than the named one stays");
    desk.ok("ec2:DeleteTags", json!({ "Resources": [id], "Tags": [{ "Key": "a" }] }));
    assert_eq!(listed(&mut desk)[0]["Key"], "b");
    let many: Vec<_> = (0..50).map(|n| json!({ "Key": format!("k{n}"), "Value": "" })).collect();
    assert_eq!(desk.code("ec2:CreateTags", json!({ "Resources": [id], "Tags": many })), "TagLimitExceeded");
}

#[test]
fn limits_of_the_account_hold() {
    let mut desk = Desk::new();
    for _ in 0..5 {
        vpc(&mut desk);
        address(&mut desk);
        desk.ok("ec2:CreateInternetGateway", json!({}));
    }
    assert_eq!(desk.code("ec2:CreateVpc", json!({ "CidrBlock": "10.64.0.0/16" })), "VpcLimitExceeded");
    assert_eq!(desk.code("ec2:AllocateAddress", json!({})), "AddressLimitExceeded");
    assert_eq!(desk.code("ec2:CreateInternetGateway", json!({})), "InternetGatewayLimitExceeded");
    let mut granted = Desk::of(Scenario::parse("quotas: { L-F678F1CE: 0 }").unwrap());
    assert_eq!(granted.code("ec2:CreateVpc", json!({ "CidrBlock": "10.64.0.0/16" })), "VpcLimitExceeded");
}

#[test]
fn a_dry_run_judges_and_does_nothing() {
    let mut desk = Desk::new();
    let create = |cidr: &str| json!({ "CidrBlock": cidr, "DryRun": true });
    assert_eq!(desk.code("ec2:CreateVpc", create("10.64.0.0/16")), "DryRunOperation");
    assert_eq!(desk.code("ec2:CreateVpc", create("10.64.0.0/8")), "InvalidVpc.Range");
    assert_eq!(desk.ok("ec2:DescribeVpcs", json!({}))["Vpcs"], json!([]));
}

#[test]
fn lists_lag_behind_and_come_in_pages() {
    let mut desk = Desk::of(Scenario::parse("lagMs: 5000").unwrap());
    let ids: Vec<_> =
        (0..3).map(|_| desk.id("ec2:CreateInternetGateway", json!({}), "/InternetGateway/InternetGatewayId")).collect();
    let by_id = json!({ "InternetGatewayIds": [ids[0]] });
    assert_eq!(desk.code("ec2:DescribeInternetGateways", by_id), "InvalidInternetGatewayID.NotFound");
    desk.wait(6);
    let first = desk.ok("ec2:DescribeInternetGateways", json!({ "MaxResults": 2 }));
    let second = desk.ok("ec2:DescribeInternetGateways", json!({ "MaxResults": 2, "NextToken": first["NextToken"] }));
    assert_eq!(first["InternetGateways"].as_array().unwrap().len(), 2);
    assert_eq!(second["InternetGateways"].as_array().unwrap().len(), 1);
    assert!(second["NextToken"].is_null());
    let unknown = json!({ "Filters": filter("colour", "red") });
    assert_eq!(desk.code("ec2:DescribeInternetGateways", unknown), "InvalidParameterValue");
    assert_eq!(desk.code("ec2:DescribeVpcs", json!({ "VpcIds": ["x"] })), "InvalidVpcID.Malformed");
}

#[test]
fn zones_have_ids_and_letters() {
    let mut desk = Desk::new();
    let zones = desk.ok("ec2:DescribeAvailabilityZones", json!({ "Filters": filter("zone-id", "usw2-az2") }));
    assert_eq!(zones["AvailabilityZones"][0]["ZoneName"], "us-west-2b");
    let regions = desk.ok("ec2:DescribeRegions", json!({ "RegionNames": ["us-west-2"] }));
    assert_eq!(regions["Regions"][0]["RegionName"], "us-west-2");
    let attributes = desk.ok("ec2:DescribeAccountAttributes", json!({ "AttributeNames": ["max-elastic-ips"] }));
    assert_eq!(attributes["AccountAttributes"][0]["AttributeValues"][0]["AttributeValue"], "5");
}

#[test]
fn services_with_endpoints_are_listed_with_their_prefix_lists() {
    let mut desk = Desk::new();
    let name = "com.amazonaws.us-west-2.s3";
    let lists = desk.ok("ec2:DescribePrefixLists", json!({ "Filters": filter("prefix-list-name", name) }));
    let managed = desk.ok("ec2:DescribeManagedPrefixLists", json!({ "Filters": filter("prefix-list-name", name) }));
    assert_eq!(lists["PrefixLists"][0]["PrefixListId"], managed["PrefixLists"][0]["PrefixListId"]);
    let services = desk.ok("ec2:DescribeVpcEndpointServices", json!({ "ServiceNames": [name] }));
    assert_eq!(services["ServiceDetails"].as_array().unwrap().len(), 2, "by route and by interface");
    let unknown = json!({ "ServiceNames": ["com.amazonaws.us-west-2.nothing"] });
    assert_eq!(desk.code("ec2:DescribeVpcEndpointServices", unknown), "InvalidServiceName");
}
