//! Network kinds, each from its making to its end, with drift in between.

use super::desk::{Desk, IN};
use infer_stack::{
    contract::Kind,
    model::{Link, Tags},
    resources::{
        elastic_ip::{self, AMAZON_POOL, ElasticIp},
        internet_gateway::{self, InternetGateway},
        nat_gateway::{self, NatGateway},
        network_interface::NetworkInterface,
        route_table::{self, RouteTable, Via, default_route},
        security_group::{self, Peer, Rule, SecurityGroup},
        subnet::{self, ROLE_ELB, ROLE_INTERNAL_ELB, Subnet},
        vpc::{self, Vpc},
        vpc_endpoint::{self, VpcEndpoint},
    },
    sandbox::world::network::NewInterface,
};

pub fn vpc() -> vpc::Desired {
    vpc::Desired { cidr: "10.64.0.0/16".parse().unwrap(), dns_support: true, dns_hostnames: true }
}

pub fn subnet(vpc: &str, n: u8, role: &str) -> subnet::Desired {
    subnet::Desired {
        vpc: Link::is(vpc),
        cidr: format!("10.64.{n}.0/24").parse().unwrap(),
        zone: format!("usw2-az{n}"),
        map_public_ip: false,
        roles: Tags::from([(role.to_owned(), "1".to_owned())]),
    }
}

pub fn door(vpc: &str) -> internet_gateway::Desired {
    internet_gateway::Desired { vpc: Some(Link::is(vpc)) }
}

pub fn address() -> elastic_ip::Desired {
    elastic_ip::Desired { pool: AMAZON_POOL.to_owned() }
}

pub fn nat(vpc: &str, subnet: &str, allocation: &str) -> nat_gateway::Desired {
    nat_gateway::Desired::Zonal { vpc: Link::is(vpc), subnet: Link::is(subnet), allocation: Some(Link::is(allocation)) }
}

pub fn table(vpc: &str, via: Via, subnets: &[&str]) -> route_table::Desired {
    let subnets = subnets.iter().map(|id| Link::is(*id)).collect();
    route_table::Desired { vpc: Link::is(vpc), routes: vec![default_route(via)], subnets }
}

pub fn group(vpc: &str, name: &str, ingress: Vec<Rule>) -> security_group::Desired {
    security_group::Desired {
        vpc: Link::is(vpc),
        name: format!("llama-{name}"),
        description: name.to_owned(),
        ingress,
        egress: vec![Rule::all(Peer::Itself)],
    }
}

fn s3(vpc: &str, tables: &[&str]) -> vpc_endpoint::Desired {
    vpc_endpoint::Desired::Gateway {
        vpc: Link::is(vpc),
        service: "com.amazonaws.us-west-2.s3".to_owned(),
        route_tables: tables.iter().map(|id| Link::is(*id)).collect(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_whole_network_is_made_found_and_taken_down_in_order() {
    let mut desk = Desk::new();
    let vpc = desk.make::<Vpc>("main", &vpc()).await;
    let public = desk.make::<Subnet>("public", &subnet(&vpc, 1, ROLE_ELB)).await;
    let private = desk.make::<Subnet>("private", &subnet(&vpc, 2, ROLE_INTERNAL_ELB)).await;
    let gateway = desk.make::<InternetGateway>("main", &door(&vpc)).await;
    let allocation = desk.make::<ElasticIp>("main", &address()).await;
    let nat = desk.make::<NatGateway>("main", &nat(&vpc, &public, &allocation)).await;
    let out = table(&vpc, Via::InternetGateway(Link::is(&gateway)), &[&public]);
    let out = desk.make::<RouteTable>("public", &out).await;
    let inner = table(&vpc, Via::NatGateway(Link::is(&nat)), &[&private]);
    let inner = desk.make::<RouteTable>("private", &inner).await;
    let s3 = desk.make::<VpcEndpoint>("s3", &s3(&vpc, &[&inner])).await;
    let efa = desk.make::<SecurityGroup>("efa", &group(&vpc, "efa", vec![Rule::all(Peer::Itself)])).await;
    // By tag, and by VPC once it is known, each object is listed once; what AWS made by itself is listed as nobody's.
    for known in [None, Some(vpc.clone())] {
        desk.scope.vpc = known;
        assert_eq!(desk.list::<Vpc>().await, [vpc.as_str()]);
        assert_eq!(desk.list::<Subnet>().await.len(), 2);
        assert_eq!(desk.list::<InternetGateway>().await, [gateway.as_str()]);
        assert_eq!(desk.list::<ElasticIp>().await, [allocation.as_str()]);
        assert_eq!(desk.list::<NatGateway>().await, [nat.as_str()]);
        assert_eq!(desk.list::<RouteTable>().await.len(), 2, "never the main table");
        assert_eq!(desk.list::<VpcEndpoint>().await, [s3.as_str()]);
        assert_eq!(desk.list::<SecurityGroup>().await, [efa.as_str()], "never the group default");
    }
    let interfaces = desk.list::<NetworkInterface>().await;
    assert_eq!(interfaces.len(), 1, "the gateway's");
    desk.end::<VpcEndpoint>(&s3).await;
    desk.end::<RouteTable>(&inner).await;
    desk.end::<NatGateway>(&nat).await;
    desk.end::<ElasticIp>(&allocation).await;
    desk.end::<RouteTable>(&out).await;
    desk.end::<InternetGateway>(&gateway).await;
    desk.end::<SecurityGroup>(&efa).await;
    desk.end::<Subnet>(&public).await;
    desk.end::<Subnet>(&private).await;
    desk.end::<Vpc>(&vpc).await;
    assert_eq!(desk.list::<Vpc>().await, [] as [&str; 0]);
    let left = desk.sandbox.with(|world| world.all_registered(IN).map(|(id, _)| id.to_owned()).collect::<Vec<_>>());
    assert_eq!(left, [nat], "a record of the gateway for an hour");
}

#[tokio::test(start_paused = true)]
async fn a_repeated_create_is_one_object_where_aws_takes_a_token() {
    let desk = Desk::new();
    let vpc = desk.make::<Vpc>("main", &vpc()).await;
    let want = table(&vpc, Via::Other("pcx-0".to_owned()), &[]);
    let want = route_table::Desired { routes: vec![], ..want };
    let first = desk.make::<RouteTable>("private", &want).await;
    assert_eq!(desk.make::<RouteTable>("private", &want).await, first);
    let s3 = s3(&vpc, &[&first]);
    assert_eq!(desk.make::<VpcEndpoint>("s3", &s3).await, desk.make::<VpcEndpoint>("s3", &s3).await);
}

#[tokio::test(start_paused = true)]
async fn a_vpc_and_a_subnet_come_back_from_drift() {
    let desk = Desk::new();
    let want = vpc();
    let id = desk.make::<Vpc>("main", &want).await;
    // Hostnames go with support, and come back after it.
    let off = vpc::Desired { dns_support: false, dns_hostnames: false, ..want.clone() };
    assert_eq!(desk.bring::<Vpc>("main", &id, &off).await, ["/dnsHostnames", "/dnsSupport"]);
    assert_eq!(desk.bring::<Vpc>("main", &id, &want).await, ["/dnsHostnames", "/dnsSupport"]);
    let want = subnet(&id, 1, ROLE_ELB);
    let inside = desk.make::<Subnet>("public", &want).await;
    let other = subnet::Desired { map_public_ip: true, ..subnet(&id, 1, ROLE_INTERNAL_ELB) };
    assert_eq!(desk.bring::<Subnet>("public", &inside, &other).await, ["/mapPublicIp", "/roles"]);
    assert_eq!(desk.bring::<Subnet>("public", &inside, &want).await, ["/mapPublicIp", "/roles"]);
    assert_eq!(desk.look::<Subnet>(&inside).await.unwrap().outputs["zone"], "usw2-az1");
}

#[tokio::test(start_paused = true)]
async fn lost_tags_come_back_and_foreign_ones_stay() {
    let desk = Desk::new();
    let want = address();
    let id = desk.make::<ElasticIp>("main", &want).await;
    desk.sandbox.with(|world| {
        let other = Tags::from([("team".to_owned(), "x".to_owned()), ("theirs".to_owned(), "1".to_owned())]);
        world.set_tags(IN, &id, other);
    });
    assert_eq!(desk.bring::<ElasticIp>("main", &id, &want).await, ["/tags"]);
    let tags = desk.look::<ElasticIp>(&id).await.unwrap().tags;
    assert_eq!((tags["team"].as_str(), tags["theirs"].as_str()), ("serving", "1"));
}

#[tokio::test(start_paused = true)]
async fn a_gateway_that_was_detached_is_attached_again() {
    let mut desk = Desk::new();
    let id = desk.make::<Vpc>("main", &vpc()).await;
    let want = door(&id);
    let gateway = desk.make::<InternetGateway>("main", &want).await;
    desk.aws.ec2().detach_internet_gateway().internet_gateway_id(&gateway).vpc_id(&id).send().await.unwrap();
    desk.scope.vpc = Some(id);
    assert_eq!(desk.list::<InternetGateway>().await, [gateway.as_str()], "its tag finds it");
    assert_eq!(desk.bring::<InternetGateway>("main", &gateway, &want).await, ["/vpc"]);
}

#[tokio::test(start_paused = true)]
async fn a_route_table_keeps_what_is_wished_and_moves_subnets_to_itself() {
    let desk = Desk::new();
    let vpc = desk.make::<Vpc>("main", &vpc()).await;
    let inside = desk.make::<Subnet>("private", &subnet(&vpc, 2, ROLE_INTERNAL_ELB)).await;
    let gateway = desk.make::<InternetGateway>("main", &door(&vpc)).await;
    let want = table(&vpc, Via::InternetGateway(Link::is(&gateway)), &[&inside]);
    let id = desk.make::<RouteTable>("main", &want).await;
    let ec2 = desk.aws.ec2();
    // Somebody leads traffic elsewhere, adds a route, and moves the subnet.
    let interface = desk.sandbox.with(|world| {
        let new = NewInterface { subnet: &inside, kind: "interface", addresses: 1, ..Default::default() };
        world.make_interface(IN, &new).unwrap()
    });
    let elsewhere = ec2.replace_route().route_table_id(&id).destination_cidr_block("0.0.0.0/0");
    elsewhere.network_interface_id(&interface).send().await.unwrap();
    let office = ec2.create_route().route_table_id(&id).destination_cidr_block("192.168.0.0/16");
    office.gateway_id(&gateway).send().await.unwrap();
    let other = desk.make::<RouteTable>("other", &route_table::Desired { subnets: vec![], ..want.clone() }).await;
    let other = desk.seen::<RouteTable>(&other).await;
    let theirs = desk.seen::<RouteTable>(&id).await.associations.remove(0).association_id;
    let moved = ec2.replace_route_table_association().association_id(theirs).route_table_id(&other.route_table_id);
    moved.send().await.unwrap();
    assert_eq!(desk.bring::<RouteTable>("main", &id, &want).await, ["/routes", "/subnets"]);
    let less = route_table::Desired { routes: vec![], subnets: vec![], ..want };
    assert_eq!(desk.bring::<RouteTable>("main", &id, &less).await, ["/routes", "/subnets"]);
}

#[tokio::test(start_paused = true)]
async fn a_route_to_a_gateway_that_is_gone_is_put_right() {
    let desk = Desk::new();
    let vpc = desk.make::<Vpc>("main", &vpc()).await;
    let public = desk.make::<Subnet>("public", &subnet(&vpc, 1, ROLE_ELB)).await;
    desk.make::<InternetGateway>("main", &door(&vpc)).await;
    let addresses = [desk.make::<ElasticIp>("a", &address()).await, desk.make::<ElasticIp>("b", &address()).await];
    let first = desk.make::<NatGateway>("a", &nat(&vpc, &public, &addresses[0])).await;
    let id = desk.make::<RouteTable>("private", &table(&vpc, Via::NatGateway(Link::is(&first)), &[])).await;
    desk.end::<NatGateway>(&first).await;
    assert_eq!(desk.seen::<RouteTable>(&id).await.routes[1].state, "blackhole");
    let second = desk.make::<NatGateway>("b", &nat(&vpc, &public, &addresses[1])).await;
    let want = table(&vpc, Via::NatGateway(Link::is(&second)), &[]);
    assert_eq!(desk.bring::<RouteTable>("private", &id, &want).await, ["/routes"]);
    assert_eq!(desk.seen::<RouteTable>(&id).await.routes[1].state, "active");
}

#[tokio::test(start_paused = true)]
async fn a_regional_gateway_stands_beside_the_subnets() {
    let mut desk = Desk::new();
    let vpc = desk.make::<Vpc>("main", &vpc()).await;
    desk.make::<Subnet>("private", &subnet(&vpc, 1, ROLE_INTERNAL_ELB)).await;
    desk.make::<InternetGateway>("main", &door(&vpc)).await;
    let want = nat_gateway::Desired::Regional { vpc: Link::is(&vpc), zones: 2 };
    let id = desk.make::<NatGateway>("main", &want).await;
    desk.scope.vpc = Some(vpc);
    assert_eq!(desk.list::<ElasticIp>().await, [] as [&str; 0], "its addresses are AWS's");
    let tables = desk.list::<RouteTable>().await;
    assert_eq!(tables.len(), 1, "AWS's own");
    desk.end::<NatGateway>(&id).await;
    assert_eq!(desk.list::<RouteTable>().await, [] as [&str; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_group_has_the_wished_rules_and_no_others() {
    let desk = Desk::new();
    let vpc = desk.make::<Vpc>("main", &vpc()).await;
    let web = Rule::tcp(443, 443, Peer::Cidr("10.64.0.0/16".parse().unwrap()));
    let lustre = Rule::tcp(1018, 1023, Peer::Itself);
    let want = group(&vpc, "fsx", vec![web.clone(), lustre]);
    let id = desk.make::<SecurityGroup>("fsx", &want).await;
    let live = desk.seen::<SecurityGroup>(&id).await;
    assert_eq!(live.ip_permissions_egress.len(), 2, "EC2's own rule to everywhere stays");
    assert!(live.group_arn.ends_with(&id));
    // Somebody opens the group, and closes what it needs.
    let ec2 = desk.aws.ec2();
    let open = ec2.authorize_security_group_ingress().group_id(&id).ip_protocol("tcp").from_port(22).to_port(22);
    open.cidr_ip("0.0.0.0/0").send().await.unwrap();
    let close = ec2.revoke_security_group_ingress().group_id(&id).ip_protocol("tcp").from_port(443).to_port(443);
    close.cidr_ip("10.64.0.0/16").send().await.unwrap();
    assert_eq!(desk.bring::<SecurityGroup>("fsx", &id, &want).await, ["/ingress"]);
    let less = security_group::Desired { ingress: vec![web], egress: vec![], ..want };
    assert_eq!(desk.bring::<SecurityGroup>("fsx", &id, &less).await, ["/egress", "/ingress"]);
    assert_eq!(desk.seen::<SecurityGroup>(&id).await.ip_permissions_egress.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_group_of_our_name_is_found_without_its_tags() {
    let mut desk = Desk::new();
    let vpc = desk.make::<Vpc>("main", &vpc()).await;
    let ec2 = desk.aws.ec2();
    let foreign = ec2.create_security_group().group_name("llama-efa").description("x").vpc_id(&vpc);
    let foreign = foreign.send().await.unwrap().group_id.unwrap();
    assert_eq!(desk.list::<SecurityGroup>().await, [] as [&str; 0]);
    desk.scope.names.insert(SecurityGroup::NAME.to_owned(), vec!["llama-efa".to_owned()]);
    assert_eq!(desk.list::<SecurityGroup>().await, [foreign.as_str()]);
    desk.scope.vpc = Some(vpc);
    assert_eq!(desk.list::<SecurityGroup>().await, [foreign.as_str()], "once");
}

#[tokio::test(start_paused = true)]
async fn endpoints_follow_their_tables_subnets_and_groups() {
    let mut desk = Desk::new();
    let vpc = desk.make::<Vpc>("main", &vpc()).await;
    let bare = |vpc: &str| route_table::Desired { vpc: Link::is(vpc), routes: vec![], subnets: vec![] };
    let [a, b] = [desk.make::<RouteTable>("a", &bare(&vpc)).await, desk.make::<RouteTable>("b", &bare(&vpc)).await];
    let by_route = desk.make::<VpcEndpoint>("s3", &s3(&vpc, &[&a])).await;
    assert_eq!(desk.bring::<VpcEndpoint>("s3", &by_route, &s3(&vpc, &[&b])).await, ["/routeTables"]);
    // The route that it brings is no route of the table's own.
    assert_eq!(desk.bring::<RouteTable>("b", &b, &bare(&vpc)).await, [] as [&str; 0]);
    let subnets = [
        desk.make::<Subnet>("1", &subnet(&vpc, 1, ROLE_INTERNAL_ELB)).await,
        desk.make::<Subnet>("2", &subnet(&vpc, 2, ROLE_INTERNAL_ELB)).await,
    ];
    let groups = [
        desk.make::<SecurityGroup>("a", &group(&vpc, "a", vec![])).await,
        desk.make::<SecurityGroup>("b", &group(&vpc, "b", vec![])).await,
    ];
    let ecr = |subnets: &[String], group: &str, private_dns| vpc_endpoint::Desired::Interface {
        vpc: Link::is(&vpc),
        service: "com.amazonaws.us-west-2.ecr.dkr".to_owned(),
        subnets: subnets.iter().map(Link::is).collect(),
        groups: vec![Link::is(group)],
        private_dns,
    };
    let id = desk.make::<VpcEndpoint>("ecr", &ecr(&subnets[..1], &groups[0], true)).await;
    let more = ecr(&subnets, &groups[1], false);
    let changed = desk.bring::<VpcEndpoint>("ecr", &id, &more).await;
    assert_eq!(changed, ["/groups", "/privateDns", "/subnets"]);
    assert_eq!(desk.seen::<VpcEndpoint>(&id).await.network_interface_ids.len(), 2);
    let changed = desk.bring::<VpcEndpoint>("ecr", &id, &ecr(&subnets[1..], &groups[1], true)).await;
    assert_eq!(changed, ["/privateDns", "/subnets"]);
    desk.scope.vpc = Some(vpc);
    desk.end::<VpcEndpoint>(&id).await;
    assert_eq!(desk.list::<NetworkInterface>().await, [] as [&str; 0]);
}
