//! What AWS refuses in networks, once each, and what that means to whoever asked.

use super::{
    desk::{Desk, IN, doc, kind},
    network::{address, door, group, nat, subnet, table, vpc},
};
use infer_stack::{
    cloud::Cloud,
    contract::{Class, CloudError, Kind},
    model::{Link, Tags},
    resources::{
        elastic_ip::ElasticIp,
        internet_gateway::InternetGateway,
        nat_gateway::NatGateway,
        network_interface::NetworkInterface,
        route_table::{RouteTable, Via},
        security_group::{Peer, Rule, SecurityGroup},
        subnet::{ROLE_ELB, Subnet},
        vpc::Vpc,
        vpc_endpoint::VpcEndpoint,
    },
    sandbox::world::network::{Holder, NewGroup, NewInterface, Permission},
};

fn class(outcome: Result<impl std::fmt::Debug, CloudError>) -> (Class, String) {
    let error = outcome.unwrap_err();
    (error.class, error.code)
}

fn leaned(code: &str) -> (Class, String) {
    (Class::InUse, code.to_owned())
}

#[tokio::test(start_paused = true)]
async fn what_is_leaned_on_is_in_use_and_nothing_else() {
    let desk = Desk::new();
    let vpc = desk.make::<Vpc>("main", &vpc()).await;
    assert_eq!(desk.list::<NetworkInterface>().await, [] as [&str; 0]);
    let public = desk.make::<Subnet>("public", &subnet(&vpc, 1, ROLE_ELB)).await;
    let gateway = desk.make::<InternetGateway>("main", &door(&vpc)).await;
    let allocation = desk.make::<ElasticIp>("main", &address()).await;
    let nat = desk.make::<NatGateway>("main", &nat(&vpc, &public, &allocation)).await;
    let efa = desk.make::<SecurityGroup>("efa", &group(&vpc, "efa", vec![])).await;
    let interface = desk.sandbox.with(|world| {
        let groups = [efa.clone()];
        let new = NewInterface { subnet: &public, groups: &groups, kind: "efa", addresses: 1, ..Default::default() };
        let id = world.make_interface(IN, &new).unwrap();
        let holder = Holder::Instance { id: "i-0a", device: 0, card: 0, delete_on_termination: true };
        world.attach_interface(IN, &id, holder);
        id
    });
    assert_eq!(class(desk.delete::<Vpc>(&vpc).await), leaned("DependencyViolation"));
    assert_eq!(class(desk.delete::<Subnet>(&public).await), leaned("DependencyViolation"));
    assert_eq!(class(desk.delete::<InternetGateway>(&gateway).await), leaned("DependencyViolation"));
    assert_eq!(class(desk.delete::<ElasticIp>(&allocation).await), leaned("InvalidIPAddress.InUse"));
    assert_eq!(class(desk.delete::<SecurityGroup>(&efa).await), leaned("DependencyViolation"));
    assert_eq!(class(desk.delete::<NetworkInterface>(&interface).await), leaned("InUse"));
    let requested = desk.aws.ec2().describe_network_interfaces().send().await.unwrap();
    let of_nat = requested.network_interfaces().iter().find(|its| its.requester_managed() == Some(true)).unwrap();
    let of_nat = of_nat.network_interface_id().unwrap();
    let before = desk.changes().len();
    assert_eq!(class(desk.delete::<NetworkInterface>(of_nat).await), leaned("InUse"));
    assert_eq!(desk.changes().len(), before, "what only a service can end is not even tried");
    // Once the instance is gone its interface may be left behind, and is deleted.
    desk.sandbox.with(|world| world.detach_interface(IN, &interface));
    desk.end::<NetworkInterface>(&interface).await;
    desk.end::<SecurityGroup>(&efa).await;
    desk.end::<NatGateway>(&nat).await;
    desk.end::<ElasticIp>(&allocation).await;
    desk.end::<InternetGateway>(&gateway).await;
    desk.end::<Subnet>(&public).await;
    desk.end::<Vpc>(&vpc).await;
}

#[tokio::test(start_paused = true)]
async fn groups_that_name_each_other_go() {
    let desk = Desk::new();
    let vpc = desk.make::<Vpc>("main", &vpc()).await;
    let a = desk.make::<SecurityGroup>("a", &group(&vpc, "a", vec![])).await;
    let of_a = Rule::all(Peer::Group(Link::is(&a)));
    let b = desk.make::<SecurityGroup>("b", &group(&vpc, "b", vec![of_a])).await;
    let of_b = Rule::all(Peer::Group(Link::is(&b)));
    desk.bring::<SecurityGroup>("a", &a, &group(&vpc, "a", vec![of_b])).await;
    // EKS's own group, left behind, and somebody else's.
    let [eks, foreign] = desk.sandbox.with(|world| {
        [("eks-cluster-sg-llama-1", "aws:eks:cluster-name"), ("theirs", "owner")].map(|(name, tag)| {
            let tags = Tags::from([(tag.to_owned(), "llama".to_owned())]);
            let id = world.make_group(IN, NewGroup { vpc: &vpc, name, description: name, tags }).unwrap();
            world
                .admit(IN, &id, Permission::all(true, infer_stack::sandbox::world::network::Peer::Group(b.clone())))
                .unwrap();
            id
        })
    });
    desk.end::<SecurityGroup>(&a).await;
    assert_eq!(
        class(desk.delete::<SecurityGroup>(&b).await),
        leaned("DependencyViolation"),
        "a foreign rule is not ours"
    );
    let freed = desk.seen::<SecurityGroup>(&eks).await;
    assert_eq!(freed.ip_permissions_egress.len(), 1, "EKS's group let go");
    desk.end::<SecurityGroup>(&foreign).await;
    desk.end::<SecurityGroup>(&b).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_gone_is_absent_and_its_deletion_is_done() {
    let desk = Desk::new();
    async fn absent<K: Kind>(desk: &Desk, id: &str) {
        assert!(desk.look::<K>(id).await.is_none(), "{id}");
        desk.delete::<K>(id).await.unwrap_or_else(|e| panic!("{id}: {e}"));
    }
    absent::<Vpc>(&desk, "vpc-0123456789abcdef0").await;
    absent::<Subnet>(&desk, "subnet-0123456789abcdef0").await;
    absent::<InternetGateway>(&desk, "igw-0123456789abcdef0").await;
    absent::<ElasticIp>(&desk, "eipalloc-0123456789abcdef0").await;
    absent::<NatGateway>(&desk, "nat-0123456789abcdef0").await;
    absent::<RouteTable>(&desk, "rtb-0123456789abcdef0").await;
    absent::<SecurityGroup>(&desk, "sg-0123456789abcdef0").await;
    absent::<VpcEndpoint>(&desk, "vpce-0123456789abcdef0").await;
    absent::<NetworkInterface>(&desk, "eni-0123456789abcdef0").await;
}

#[tokio::test(start_paused = true)]
async fn limits_names_and_missing_things_have_their_classes() {
    let desk = Desk::new();
    let vpc = desk.make::<Vpc>("main", &vpc()).await;
    let efa = group(&vpc, "efa", vec![]);
    desk.make::<SecurityGroup>("efa", &efa).await;
    let again = desk.aws.create(kind::<SecurityGroup>(), &doc(&efa), &desk.stamp::<SecurityGroup>("efa")).await;
    assert_eq!(class(again), (Class::AlreadyExists, "InvalidGroup.Duplicate".to_owned()));
    let nowhere = subnet("vpc-0123456789abcdef0", 1, ROLE_ELB);
    let nowhere = desk.aws.create(kind::<Subnet>(), &doc(&nowhere), &desk.stamp::<Subnet>("x")).await;
    assert_eq!(class(nowhere), (Class::NotYet, "InvalidVpcID.NotFound".to_owned()));
    for n in 0..5 {
        desk.make::<ElasticIp>(&format!("{n}"), &address()).await;
    }
    let sixth = desk.aws.create(kind::<ElasticIp>(), &doc(address()), &desk.stamp::<ElasticIp>("5")).await;
    assert_eq!(class(sixth), (Class::Quota, "AddressLimitExceeded".to_owned()));
    let id = desk.make::<RouteTable>("t", &table_without_routes(&vpc)).await;
    let lost = table(&vpc, Via::NatGateway(Link::is("nat-0123456789abcdef0")), &[]);
    let changed = ["/routes".to_owned()];
    let update = desk.aws.update(kind::<RouteTable>(), &id, &doc(lost), &changed, &desk.stamp::<RouteTable>("t")).await;
    assert_eq!(class(update), (Class::NotYet, "InvalidNatGatewayID.NotFound".to_owned()));
}

fn table_without_routes(vpc: &str) -> infer_stack::resources::route_table::Desired {
    infer_stack::resources::route_table::Desired { vpc: Link::is(vpc), routes: vec![], subnets: vec![] }
}

#[tokio::test(start_paused = true)]
async fn interfaces_are_never_made_by_hand() {
    let desk = Desk::new();
    let want = doc(NetworkInterface::samples().remove(0));
    let stamp = desk.stamp::<NetworkInterface>("x");
    let made = desk.aws.create(kind::<NetworkInterface>(), &want, &stamp).await;
    assert_eq!(class(made), (Class::Unsupported, "Byproduct".to_owned()));
}
