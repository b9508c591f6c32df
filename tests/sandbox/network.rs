//! Networks: what EC2 makes by itself, what it refuses, and how things change over time.

use super::desk::{Desk, REGION};
use infer_stack::sandbox::world::network::{Holder, NewInterface};
use serde_json::{Value, json};

pub(super) fn vpc(desk: &mut Desk) -> String {
    desk.id("ec2:CreateVpc", json!({ "CidrBlock": "10.64.0.0/16" }), "/Vpc/VpcId")
}

fn subnet(desk: &mut Desk, vpc: &str, cidr: &str, zone: &str) -> String {
    let input = json!({ "VpcId": vpc, "CidrBlock": cidr, "AvailabilityZoneId": zone });
    desk.id("ec2:CreateSubnet", input, "/Subnet/SubnetId")
}

fn door(desk: &mut Desk, vpc: &str) -> String {
    let gateway = desk.id("ec2:CreateInternetGateway", json!({}), "/InternetGateway/InternetGatewayId");
    desk.ok("ec2:AttachInternetGateway", json!({ "InternetGatewayId": gateway, "VpcId": vpc }));
    gateway
}

fn group(desk: &mut Desk, vpc: &str, name: &str) -> String {
    let input = json!({ "GroupName": name, "Description": name, "VpcId": vpc });
    desk.id("ec2:CreateSecurityGroup", input, "/GroupId")
}

pub(super) fn address(desk: &mut Desk) -> String {
    desk.id("ec2:AllocateAddress", json!({ "Domain": "vpc" }), "/AllocationId")
}

fn table(desk: &mut Desk, vpc: &str) -> String {
    desk.id("ec2:CreateRouteTable", json!({ "VpcId": vpc }), "/RouteTable/RouteTableId")
}

fn nat(desk: &mut Desk, subnet: &str, allocation: &str) -> String {
    let input = json!({ "SubnetId": subnet, "AllocationId": allocation });
    desk.id("ec2:CreateNatGateway", input, "/NatGateway/NatGatewayId")
}

fn nat_state(desk: &mut Desk, id: &str) -> Value {
    desk.ok("ec2:DescribeNatGateways", json!({ "NatGatewayIds": [id] }))["NatGateways"][0].clone()
}

pub(super) fn filter(name: &str, value: &str) -> Value {
    json!([{ "Name": name, "Values": [value] }])
}

#[test]
fn a_vpc_is_born_with_a_group_a_main_table_and_an_acl_and_takes_them_along() {
    let mut desk = Desk::new();
    let vpc = vpc(&mut desk);
    let of = filter("vpc-id", &vpc);
    let groups = desk.ok("ec2:DescribeSecurityGroups", json!({ "Filters": of }));
    assert_eq!(groups["SecurityGroups"][0]["GroupName"], "default");
    let default = groups["SecurityGroups"][0]["GroupId"].as_str().unwrap().to_owned();
    let (code, message) = desk.refused("ec2:DeleteSecurityGroup", json!({ "GroupId": default }));
    assert_eq!(code, "CannotDelete");
    assert!(message.ends_with("name: \"default\" cannot be deleted by a user"), "{message}");
    let tables = desk.ok("ec2:DescribeRouteTables", json!({ "Filters": of }));
    assert_eq!(tables["RouteTables"][0]["Associations"][0]["Main"], true);
    let main = tables["RouteTables"][0]["RouteTableId"].clone();
    assert_eq!(desk.code("ec2:DeleteRouteTable", json!({ "RouteTableId": main })), "DependencyViolation");
    assert_eq!(desk.ok("ec2:DescribeNetworkAcls", json!({ "Filters": of }))["NetworkAcls"][0]["IsDefault"], true);
    desk.ok("ec2:DeleteVpc", json!({ "VpcId": vpc }));
    for (call, member) in [
        ("ec2:DescribeSecurityGroups", "SecurityGroups"),
        ("ec2:DescribeRouteTables", "RouteTables"),
        ("ec2:DescribeNetworkAcls", "NetworkAcls"),
        ("ec2:DescribeTags", "Tags"),
    ] {
        assert_eq!(desk.ok(call, json!({}))[member], json!([]), "{call}");
    }
}

#[test]
fn attributes_come_one_a_call_and_hostnames_only_with_support() {
    let mut desk = Desk::new();
    let vpc = vpc(&mut desk);
    let hostnames = json!({ "VpcId": vpc, "EnableDnsHostnames": { "Value": true } });
    desk.ok("ec2:ModifyVpcAttribute", hostnames.clone());
    let read = json!({ "VpcId": vpc, "Attribute": "enableDnsHostnames" });
    assert_eq!(desk.ok("ec2:DescribeVpcAttribute", read)["EnableDnsHostnames"]["Value"], true);
    let both = json!({ "VpcId": vpc, "EnableDnsHostnames": { "Value": true }, "EnableDnsSupport": { "Value": true } });
    assert_eq!(desk.code("ec2:ModifyVpcAttribute", both), "InvalidParameterCombination");
    desk.ok("ec2:ModifyVpcAttribute", json!({ "VpcId": vpc, "EnableDnsSupport": { "Value": false } }));
    assert_eq!(desk.code("ec2:ModifyVpcAttribute", hostnames), "InvalidParameterValue");
}

#[test]
fn blocks_fit_and_do_not_meet() {
    let mut desk = Desk::new();
    assert_eq!(desk.code("ec2:CreateVpc", json!({ "CidrBlock": "10.0.0.0/8" })), "InvalidVpc.Range");
    let vpc = vpc(&mut desk);
    subnet(&mut desk, &vpc, "10.64.0.0/20", "usw2-az1");
    let new = |cidr: &str| json!({ "VpcId": vpc, "CidrBlock": cidr });
    let (code, message) = desk.refused("ec2:CreateSubnet", new("10.64.8.0/24"));
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("InvalidSubnet.Conflict", "The CIDR '10.64.8.0/24' conflicts with another subnet")
    );
    assert_eq!(desk.code("ec2:CreateSubnet", new("10.65.0.0/24")), "InvalidSubnet.Range");
    let zone = json!({ "VpcId": vpc, "CidrBlock": "10.64.16.0/24", "AvailabilityZone": "us-west-2z" });
    assert_eq!(desk.code("ec2:CreateSubnet", zone), "InvalidParameterValue");
}

#[test]
fn nothing_goes_that_something_leans_on() {
    let mut desk = Desk::new();
    let vpc = vpc(&mut desk);
    let public = subnet(&mut desk, &vpc, "10.64.0.0/24", "usw2-az1");
    let gateway = door(&mut desk, &vpc);
    let allocation = address(&mut desk);
    let nat = nat(&mut desk, &public, &allocation);
    let routes = table(&mut desk, &vpc);
    desk.ok("ec2:AssociateRouteTable", json!({ "RouteTableId": routes, "SubnetId": public }));
    desk.ok(
        "ec2:CreateRoute",
        json!({ "RouteTableId": routes, "DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": nat }),
    );
    let mut violations = vec![];
    for (call, input) in [
        ("ec2:DeleteVpc", json!({ "VpcId": vpc })),
        ("ec2:DeleteSubnet", json!({ "SubnetId": public })),
        ("ec2:DetachInternetGateway", json!({ "InternetGatewayId": gateway, "VpcId": vpc })),
        ("ec2:DeleteInternetGateway", json!({ "InternetGatewayId": gateway })),
        ("ec2:ReleaseAddress", json!({ "AllocationId": allocation })),
        ("ec2:DeleteRouteTable", json!({ "RouteTableId": routes })),
    ] {
        let (code, message) = desk.refused(call, input);
        let message = [&vpc, &public, &gateway, &routes].iter().fold(message, |m, id| m.replace(*id, "ID"));
        violations.push(format!("{call}: {code}: {message}"));
    }
    insta::assert_snapshot!(violations.join("\n"));
    desk.ok("ec2:DeleteNatGateway", json!({ "NatGatewayId": nat }));
    assert_eq!(desk.code("ec2:ReleaseAddress", json!({ "AllocationId": allocation })), "InvalidIPAddress.InUse");
    desk.wait(300);
    let seen = desk.ok("ec2:DescribeRouteTables", json!({ "RouteTableIds": [routes] }));
    assert_eq!(seen["RouteTables"][0]["Routes"][1]["State"], "blackhole");
    desk.ok("ec2:ReleaseAddress", json!({ "AllocationId": allocation }));
    desk.ok("ec2:DetachInternetGateway", json!({ "InternetGatewayId": gateway, "VpcId": vpc }));
    desk.ok("ec2:DeleteInternetGateway", json!({ "InternetGatewayId": gateway }));
    // Its association goes with a subnet.
    desk.ok("ec2:DeleteSubnet", json!({ "SubnetId": public }));
    desk.ok("ec2:DeleteRouteTable", json!({ "RouteTableId": routes }));
    desk.ok("ec2:DeleteVpc", json!({ "VpcId": vpc }));
}

#[test]
fn a_gateway_goes_through_its_states_and_its_record_stays_an_hour() {
    let mut desk = Desk::new();
    let vpc = vpc(&mut desk);
    let public = subnet(&mut desk, &vpc, "10.64.0.0/24", "usw2-az1");
    door(&mut desk, &vpc);
    let allocation = address(&mut desk);
    let nat = nat(&mut desk, &public, &allocation);
    assert_eq!(nat_state(&mut desk, &nat)["State"], "pending");
    desk.wait(130);
    let there = nat_state(&mut desk, &nat);
    assert_eq!(there["State"], "available");
    assert_eq!(there["NatGatewayAddresses"][0]["AllocationId"], json!(allocation));
    desk.ok("ec2:DeleteNatGateway", json!({ "NatGatewayId": nat }));
    assert_eq!(nat_state(&mut desk, &nat)["State"], "deleting");
    desk.wait(100);
    assert_eq!(nat_state(&mut desk, &nat)["State"], "deleted");
    desk.wait(3601);
    let gone = json!({ "NatGatewayIds": [nat] });
    assert_eq!(desk.code("ec2:DescribeNatGateways", gone), "NatGatewayNotFound");
}

#[test]
fn a_gateway_without_a_door_or_with_a_taken_address_fails() {
    let mut desk = Desk::new();
    let vpc = vpc(&mut desk);
    let public = subnet(&mut desk, &vpc, "10.64.0.0/24", "usw2-az1");
    let allocation = address(&mut desk);
    let doorless = nat(&mut desk, &public, &allocation);
    desk.wait(130);
    let failed = nat_state(&mut desk, &doorless);
    assert_eq!((&failed["State"], &failed["FailureCode"]), (&json!("failed"), &json!("Gateway.NotAttached")));
    door(&mut desk, &vpc);
    nat(&mut desk, &public, &allocation);
    let second = nat(&mut desk, &public, &allocation);
    desk.wait(130);
    assert_eq!(nat_state(&mut desk, &second)["FailureCode"], "Resource.AlreadyAssociated");
}

#[test]
fn a_regional_gateway_follows_the_interfaces_and_leaves_nothing() {
    let mut desk = Desk::new();
    let vpc = vpc(&mut desk);
    let gateway = door(&mut desk, &vpc);
    let first = subnet(&mut desk, &vpc, "10.64.0.0/24", "usw2-az1");
    let second = subnet(&mut desk, &vpc, "10.64.1.0/24", "usw2-az2");
    desk.ok("ec2:CreateNetworkInterface", json!({ "SubnetId": first }));
    let input = json!({ "AvailabilityMode": "regional", "VpcId": vpc });
    let nat = desk.id("ec2:CreateNatGateway", input, "/NatGateway/NatGatewayId");
    desk.wait(130);
    let zones = |view: &Value| {
        let all = view["NatGatewayAddresses"].as_array().unwrap().clone();
        all.into_iter().map(|address| address["AvailabilityZoneId"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(zones(&nat_state(&mut desk, &nat)), ["usw2-az1"]);
    desk.ok("ec2:CreateNetworkInterface", json!({ "SubnetId": second }));
    desk.wait(901);
    assert_eq!(zones(&nat_state(&mut desk, &nat)), ["usw2-az1", "usw2-az2"]);
    let detach = json!({ "InternetGatewayId": gateway, "VpcId": vpc });
    assert_eq!(desk.code("ec2:DetachInternetGateway", detach.clone()), "DependencyViolation");
    assert_eq!(desk.ok("ec2:DescribeAddresses", json!({}))["Addresses"][0]["ServiceManaged"], "rnat");
    desk.ok("ec2:DeleteNatGateway", json!({ "NatGatewayId": nat }));
    desk.wait(100);
    desk.ok("ec2:DetachInternetGateway", detach);
    assert_eq!(desk.ok("ec2:DescribeAddresses", json!({}))["Addresses"], json!([]));
    assert_eq!(desk.ok("ec2:DescribeRouteTables", json!({}))["RouteTables"].as_array().unwrap().len(), 1);
}

#[test]
fn a_group_stays_while_an_interface_or_another_groups_rule_names_it() {
    let mut desk = Desk::new();
    let vpc = vpc(&mut desk);
    let inside = subnet(&mut desk, &vpc, "10.64.0.0/24", "usw2-az1");
    let (a, b) = (group(&mut desk, &vpc, "a"), group(&mut desk, &vpc, "b"));
    let twice = json!({ "GroupName": "a", "Description": "a", "VpcId": vpc });
    assert_eq!(desk.code("ec2:CreateSecurityGroup", twice), "InvalidGroup.Duplicate");
    let rule = |peer: &str| json!([{ "IpProtocol": "-1", "UserIdGroupPairs": [{ "GroupId": peer }] }]);
    desk.ok("ec2:AuthorizeSecurityGroupIngress", json!({ "GroupId": a, "IpPermissions": rule(&a) }));
    desk.ok("ec2:AuthorizeSecurityGroupIngress", json!({ "GroupId": b, "IpPermissions": rule(&a) }));
    let delete = json!({ "GroupId": a });
    let (code, message) = desk.refused("ec2:DeleteSecurityGroup", delete.clone());
    assert_eq!((code.as_str(), message), ("DependencyViolation", format!("resource {a} has a dependent object")));
    desk.ok("ec2:RevokeSecurityGroupIngress", json!({ "GroupId": b, "IpPermissions": rule(&a) }));
    let input = json!({ "SubnetId": inside, "Groups": [a] });
    let interface = desk.id("ec2:CreateNetworkInterface", input, "/NetworkInterface/NetworkInterfaceId");
    assert_eq!(desk.code("ec2:DeleteSecurityGroup", delete.clone()), "DependencyViolation");
    desk.ok("ec2:DeleteNetworkInterface", json!({ "NetworkInterfaceId": interface }));
    // A rule that names its own group holds nothing.
    desk.ok("ec2:DeleteSecurityGroup", delete.clone());
    assert_eq!(desk.code("ec2:DeleteSecurityGroup", delete), "InvalidGroup.NotFound");
}

#[test]
fn rules_are_one_set_in_two_views() {
    let mut desk = Desk::new();
    let vpc = vpc(&mut desk);
    let id = group(&mut desk, &vpc, "web");
    let rules = json!([{ "IpProtocol": "6", "FromPort": 443, "ToPort": 443, "IpRanges": [
        { "CidrIp": "10.1.2.3/8", "Description": "inside" }, { "CidrIp": "192.0.2.0/24" },
    ]}]);
    let input = json!({ "GroupId": id, "IpPermissions": rules });
    desk.ok("ec2:AuthorizeSecurityGroupIngress", input.clone());
    let (code, message) = desk.refused("ec2:AuthorizeSecurityGroupIngress", input);
    assert_eq!(code, "InvalidPermission.Duplicate");
    let sentence = "the specified rule \"peer: 10.0.0.0/8, TCP, from port: 443, to port: 443, ALLOW\" already exists";
    assert_eq!(message, sentence);
    let seen = desk.ok("ec2:DescribeSecurityGroups", json!({ "GroupIds": [id] }))["SecurityGroups"][0].clone();
    assert_eq!(seen["IpPermissions"][0]["IpRanges"][0], json!({ "CidrIp": "10.0.0.0/8", "Description": "inside" }));
    assert_eq!(seen["IpPermissionsEgress"][0]["IpProtocol"], "-1");
    let listed = desk.ok("ec2:DescribeSecurityGroupRules", json!({ "Filters": filter("group-id", &id) }));
    let listed = listed["SecurityGroupRules"].as_array().unwrap().clone();
    assert_eq!(listed.len(), 3, "two inbound, and the one to everywhere");
    let inbound = listed.iter().find(|rule| rule["IsEgress"] == false).unwrap();
    let one = json!({ "GroupId": id, "SecurityGroupRuleIds": [inbound["SecurityGroupRuleId"]] });
    desk.ok("ec2:RevokeSecurityGroupIngress", one.clone());
    assert_eq!(desk.code("ec2:RevokeSecurityGroupIngress", one), "InvalidSecurityGroupRuleId.NotFound");
    let absent =
        json!({ "GroupId": id, "IpPermissions": [{ "IpProtocol": "-1", "IpRanges": [{ "CidrIp": "1.0.0.0/8" }] }] });
    assert_eq!(desk.code("ec2:RevokeSecurityGroupIngress", absent), "InvalidPermission.NotFound");
    let many: Vec<_> = (0..60).map(|n| json!({ "CidrIp": format!("10.{n}.0.0/16") })).collect();
    let many = json!({ "GroupId": id, "IpPermissions": [{ "IpProtocol": "-1", "IpRanges": many }] });
    assert_eq!(desk.code("ec2:AuthorizeSecurityGroupIngress", many), "RulesPerSecurityGroupLimitExceeded");
}

#[test]
fn routes_lead_one_way_and_tables_are_associated_once() {
    let mut desk = Desk::new();
    let vpc = vpc(&mut desk);
    let inside = subnet(&mut desk, &vpc, "10.64.0.0/24", "usw2-az1");
    let (a, b) = (table(&mut desk, &vpc), table(&mut desk, &vpc));
    let gateway = desk.id("ec2:CreateInternetGateway", json!({}), "/InternetGateway/InternetGatewayId");
    let route = json!({ "RouteTableId": a, "DestinationCidrBlock": "0.0.0.0/0", "GatewayId": gateway });
    assert_eq!(desk.code("ec2:CreateRoute", route.clone()), "InvalidParameterValue", "not attached to this VPC");
    desk.ok("ec2:AttachInternetGateway", json!({ "InternetGatewayId": gateway, "VpcId": vpc }));
    desk.ok("ec2:CreateRoute", route.clone());
    assert_eq!(desk.code("ec2:CreateRoute", route), "RouteAlreadyExists");
    let absent = json!({ "RouteTableId": b, "DestinationCidrBlock": "0.0.0.0/0" });
    assert_eq!(desk.code("ec2:DeleteRoute", absent), "InvalidRoute.NotFound");
    let input = json!({ "RouteTableId": a, "SubnetId": inside });
    let association = desk.id("ec2:AssociateRouteTable", input.clone(), "/AssociationId");
    assert_eq!(desk.id("ec2:AssociateRouteTable", input, "/AssociationId"), association);
    let other = json!({ "RouteTableId": b, "SubnetId": inside });
    assert_eq!(desk.code("ec2:AssociateRouteTable", other), "Resource.AlreadyAssociated");
    let moved = json!({ "AssociationId": association, "RouteTableId": b });
    let association = desk.id("ec2:ReplaceRouteTableAssociation", moved, "/NewAssociationId");
    desk.ok("ec2:DeleteRouteTable", json!({ "RouteTableId": a }));
    desk.ok("ec2:DisassociateRouteTable", json!({ "AssociationId": association }));
    let again = json!({ "AssociationId": association });
    assert_eq!(desk.code("ec2:DisassociateRouteTable", again), "InvalidAssociationID.NotFound");
}

#[test]
fn endpoints_bring_routes_and_interfaces_and_take_them_away() {
    let mut desk = Desk::new();
    let vpc = vpc(&mut desk);
    let inside = subnet(&mut desk, &vpc, "10.64.0.0/24", "usw2-az1");
    let beside = subnet(&mut desk, &vpc, "10.64.1.0/24", "usw2-az1");
    let routes = table(&mut desk, &vpc);
    let s3 = json!({
        "VpcId": vpc, "ServiceName": "com.amazonaws.us-west-2.s3", "RouteTableIds": [routes], "ClientToken": "s3",
    });
    let by_route = desk.id("ec2:CreateVpcEndpoint", s3.clone(), "/VpcEndpoint/VpcEndpointId");
    assert_eq!(desk.id("ec2:CreateVpcEndpoint", s3.clone(), "/VpcEndpoint/VpcEndpointId"), by_route, "one token, one");
    let mut other = s3;
    other["RouteTableIds"] = json!([]);
    assert_eq!(desk.code("ec2:CreateVpcEndpoint", other), "IdempotentParameterMismatch");
    let seen = desk.ok("ec2:DescribeRouteTables", json!({ "RouteTableIds": [routes] }));
    assert_eq!(seen["RouteTables"][0]["Routes"][1]["GatewayId"], json!(by_route));
    let ecr = |subnets: &[&String]| {
        json!({
            "VpcId": vpc, "ServiceName": "com.amazonaws.us-west-2.ecr.api", "VpcEndpointType": "Interface",
            "SubnetIds": subnets,
        })
    };
    let (code, message) = desk.refused("ec2:CreateVpcEndpoint", ecr(&[&inside]));
    assert_eq!(code, "InvalidParameter");
    assert!(message.starts_with("Enabling private DNS requires both"), "{message}");
    desk.ok("ec2:ModifyVpcAttribute", json!({ "VpcId": vpc, "EnableDnsHostnames": { "Value": true } }));
    assert_eq!(desk.code("ec2:CreateVpcEndpoint", ecr(&[&inside, &beside])), "DuplicateSubnetsInSameZone");
    let by_interface = desk.id("ec2:CreateVpcEndpoint", ecr(&[&inside]), "/VpcEndpoint/VpcEndpointId");
    assert_eq!(desk.code("ec2:CreateVpcEndpoint", ecr(&[&beside])), "InvalidParameter", "the name is taken");
    assert_eq!(desk.code("ec2:DeleteSubnet", json!({ "SubnetId": inside })), "DependencyViolation");
    let its = desk.ok("ec2:DescribeNetworkInterfaces", json!({}))["NetworkInterfaces"][0].clone();
    assert_eq!((&its["RequesterManaged"], &its["Status"]), (&json!(true), &json!("in-use")));
    let id = its["NetworkInterfaceId"].clone();
    assert_eq!(desk.code("ec2:DeleteNetworkInterface", json!({ "NetworkInterfaceId": id })), "InvalidParameterValue");
    let attachment = its["Attachment"]["AttachmentId"].clone();
    assert_eq!(desk.code("ec2:DetachNetworkInterface", json!({ "AttachmentId": attachment })), "OperationNotPermitted");
    let unknown = json!({ "VpcEndpointIds": [by_route, by_interface, "vpce-0123"] });
    let answer = desk.ok("ec2:DeleteVpcEndpoints", unknown);
    assert_eq!(answer["Unsuccessful"][0]["Error"]["Code"], "InvalidVpcEndpoint.NotFound");
    desk.wait(60);
    assert_eq!(desk.ok("ec2:DescribeVpcEndpoints", json!({}))["VpcEndpoints"], json!([]));
    desk.ok("ec2:DeleteSubnet", json!({ "SubnetId": inside }));
    desk.ok("ec2:DeleteRouteTable", json!({ "RouteTableId": routes }));
}

#[test]
fn addresses_of_a_subnet_are_counted_and_run_out() {
    let mut desk = Desk::new();
    let vpc = vpc(&mut desk);
    let small = subnet(&mut desk, &vpc, "10.64.0.0/28", "usw2-az1");
    let free = |desk: &mut Desk| {
        desk.ok("ec2:DescribeSubnets", json!({ "SubnetIds": [small] }))["Subnets"][0]["AvailableIpAddressCount"].clone()
    };
    assert_eq!(free(&mut desk), 11);
    let efa_only = json!({ "SubnetId": small, "InterfaceType": "efa-only" });
    desk.ok("ec2:CreateNetworkInterface", efa_only);
    assert_eq!(free(&mut desk), 11, "it takes none");
    let input = json!({ "SubnetId": small, "SecondaryPrivateIpAddressCount": 10 });
    let made = desk.ok("ec2:CreateNetworkInterface", input);
    assert_eq!(made["NetworkInterface"]["PrivateIpAddress"], "10.64.0.4");
    let full = json!({ "SubnetId": small });
    assert_eq!(desk.code("ec2:CreateNetworkInterface", full), "InsufficientFreeAddressesInSubnet");
    let id = &made["NetworkInterface"]["NetworkInterfaceId"];
    desk.ok("ec2:DeleteNetworkInterface", json!({ "NetworkInterfaceId": id }));
    assert_eq!(free(&mut desk), 11);
}

#[test]
fn an_instances_interfaces_are_seated_and_can_be_left_behind() {
    let mut desk = Desk::new();
    let vpc = vpc(&mut desk);
    let inside = subnet(&mut desk, &vpc, "10.64.0.0/24", "usw2-az1");
    let world = &mut desk.world;
    let new = |kind| NewInterface {
        subnet: &inside,
        kind,
        addresses: usize::from(kind == "interface"),
        ..Default::default()
    };
    let ids = ["interface", "efa-only"].map(|kind| world.make_interface(REGION, &new(kind)).unwrap());
    for (device, id) in ids.iter().enumerate() {
        let device = device as u32;
        let to = Holder::Instance { id: "i-0", device, card: 0, delete_on_termination: true };
        world.attach_interface(REGION, id, to);
    }
    assert_eq!(world.interfaces_of(REGION, "i-0"), ids);
    let seen = desk.ok("ec2:DescribeNetworkInterfaces", json!({ "Filters": filter("attachment.instance-id", "i-0") }));
    assert_eq!(seen["NetworkInterfaces"].as_array().unwrap().len(), 2);
    desk.world.detach_interface(REGION, &ids[1]);
    desk.world.drop_interface(REGION, &ids[0]);
    let left = desk.ok("ec2:DescribeNetworkInterfaces", json!({ "Filters": filter("status", "available") }));
    assert_eq!(left["NetworkInterfaces"][0]["NetworkInterfaceId"], json!(ids[1]));
    desk.ok("ec2:DeleteNetworkInterface", json!({ "NetworkInterfaceId": ids[1] }));
}

#[test]
fn a_network_that_is_brought_along_appears_once_and_fits() {
    let mut desk = Desk::new();
    let subnets = [("subnet-0a".to_owned(), "usw2-az1".to_owned()), ("subnet-0b".to_owned(), "usw2-az2".to_owned())];
    desk.world.bring_network(REGION, "vpc-0a", &subnets[..1]).unwrap();
    desk.world.bring_network(REGION, "vpc-0a", &subnets).unwrap();
    let seen = desk.ok("ec2:DescribeSubnets", json!({ "SubnetIds": ["subnet-0a", "subnet-0b"] }));
    let blocks: Vec<_> = seen["Subnets"].as_array().unwrap().iter().map(|its| its["CidrBlock"].clone()).collect();
    assert_eq!(blocks, ["10.0.0.0/20", "10.0.16.0/20"]);
    let hostnames = json!({ "VpcId": "vpc-0a", "Attribute": "enableDnsHostnames" });
    assert_eq!(desk.ok("ec2:DescribeVpcAttribute", hostnames)["EnableDnsHostnames"]["Value"], true);
    let main = desk.ok("ec2:DescribeRouteTables", json!({ "Filters": filter("vpc-id", "vpc-0a") }));
    assert_eq!(main["RouteTables"][0]["Routes"][1]["State"], "active");
}
