//! The kinds of the network, rule by rule.

use infer_stack::{
    contract::{self, Change, Demand, Kind, Layer, Ownership, Phase, Readiness, leaves},
    model::{Address, Doc, Link, RESOURCE, Stamp, Tags, resolve},
    resources::{
        KINDS,
        elastic_ip::ElasticIp,
        internet_gateway::{self, InternetGateway},
        load_balancer::LoadBalancer,
        nat_gateway::{self, NatGateway},
        network_interface::{self, NetworkInterface},
        route_table::{self, Route, RouteTable, Via},
        security_group::{self, LivePeer, Peer, Permission, Ports, Rule, SecurityGroup, Traffic},
        subnet::{self, Subnet, usable_addresses},
        target_group::TargetGroup,
        vpc::{self, Vpc},
        vpc_endpoint::{self, VpcEndpoint},
    },
};
use ipnet::IpNet;
use serde::{Serialize, de::DeserializeOwned};

fn kinds() -> impl Iterator<Item = &'static dyn contract::AnyKind> {
    KINDS.iter().copied().filter(|kind| kind.layer() == Layer::Network)
}

fn stamp(kind: &dyn contract::AnyKind) -> Stamp {
    let address = Address::new(kind.name(), "sample");
    let tags = Tags::from([(RESOURCE.to_owned(), address.to_string())]);
    Stamp { address, tags, token: "token".to_owned() }
}

fn resolved(mut doc: Doc) -> Doc {
    assert!(resolve(&mut doc, &|address, output| Some(format!("{}-{output}", address.as_str().replace('.', "-")))));
    doc
}

#[test]
fn every_leaf_of_a_network_kind_has_exactly_one_field() {
    for kind in kinds() {
        for sample in kind.samples() {
            let fields = kind.fields(&sample).unwrap();
            for leaf in leaves(&sample) {
                assert_eq!(fields.iter().filter(|field| field.covers(&leaf)).count(), 1, "{} {leaf}", kind.name());
            }
        }
    }
}

#[test]
fn a_network_kind_as_aws_shows_it_projects_to_its_wish() {
    for kind in kinds() {
        for sample in kind.samples() {
            let (want, stamp) = (resolved(sample), stamp(kind));
            let id = kind.imagine_id(&want, "a1b2c3d4e5f60718").unwrap();
            let look = kind.look(&kind.imagine(&want, &id, &stamp, Phase::There).unwrap()).unwrap();
            assert_eq!(look.projected, want, "{}", kind.name());
            assert_eq!(look.id, id);
            assert_eq!(look.outputs["id"], id);
            assert_eq!(look.claims, Some(stamp.address));
            assert_eq!(look.ready, Readiness::Ready, "{}", kind.name());
            assert_eq!((look.gone, look.going), (false, false));
        }
    }
}

#[test]
fn samples_of_network_kinds_break_no_rule_of_aws() {
    for kind in kinds() {
        for sample in kind.samples() {
            assert_eq!(kind.check(&sample).unwrap(), Vec::<String>::new(), "{}", kind.name());
            assert!(!kind.words(&sample).unwrap().headline.is_empty());
        }
    }
}

/// A sample with its links resolved, and what AWS shows of it.
fn live<K: Kind>(n: usize, phase: Phase) -> (K::Desired, K::Observed)
where
    K::Desired: Serialize + DeserializeOwned,
{
    let sample = K::samples().into_iter().nth(n).unwrap();
    let want: K::Desired = serde_json::from_value(resolved(serde_json::to_value(sample).unwrap())).unwrap();
    let id = K::imagine_id(&want, "a1b2c3d4e5f60718");
    let stamp = Stamp { address: Address::new(K::NAME, "sample"), tags: Tags::new(), token: String::new() };
    let observed = K::imagine(&want, &id, &stamp, phase);
    (want, observed)
}

fn cidr(text: &str) -> IpNet {
    text.parse().unwrap()
}

fn change<K: Kind>(path: &str) -> Change {
    K::FIELDS.iter().find(|field| field.at == path).unwrap().change
}

fn holds<K: Kind>(path: &str) -> bool {
    K::FIELDS.iter().find(|field| field.at == path).unwrap().holds
}

#[test]
fn a_vpc_needs_both_dns_attributes_for_eks() {
    let mut want = Vpc::samples().remove(0);
    want.dns_hostnames = false;
    assert!(Vpc::check(&want)[0].contains("DNS"));
    assert_eq!(change::<Vpc>("/dnsHostnames"), Change::InPlace);
    assert_eq!(change::<Vpc>("/cidr"), Change::Immutable);
}

#[test]
fn only_the_vpc_carries_what_anchors_carry() {
    let anchors: Vec<_> = kinds().filter(|kind| kind.anchor()).map(|kind| kind.name()).collect();
    assert_eq!(anchors, ["vpc"]);
}

#[test]
fn blocks_are_what_ec2_takes() {
    let check =
        |text: &str| Vpc::check(&vpc::Desired { cidr: text.parse().unwrap(), dns_support: true, dns_hostnames: true });
    for good in ["10.64.0.0/16", "172.20.16.0/28", "100.64.0.0/16"] {
        assert_eq!(check(good), Vec::<String>::new(), "{good}");
    }
    for (bad, why) in [
        ("10.0.0.0/15", "/16 to /28"),
        ("10.0.0.0/29", "/16 to /28"),
        ("10.0.1.0/16", "starts at 10.0.0.0"),
        ("127.0.0.0/16", "loopback"),
        ("169.254.0.0/16", "loopback"),
        ("224.0.0.0/16", "loopback"),
    ] {
        assert!(check(bad).iter().any(|text| text.contains(why)), "{bad}: {:?}", check(bad));
    }
}

#[test]
fn ec2_keeps_five_addresses_of_every_subnet() {
    assert_eq!(usable_addresses("10.0.0.0/28".parse().unwrap()), 11);
    assert_eq!(usable_addresses("10.0.0.0/19".parse().unwrap()), 8187);
    assert_eq!(usable_addresses("10.0.0.0/30".parse().unwrap()), 0);
    assert_eq!(usable_addresses("0.0.0.0/0".parse().unwrap()), u32::MAX - 4);
}

#[test]
fn a_zone_is_named_by_its_id_as_letters_differ_between_accounts() {
    let mut want = Subnet::samples().remove(0);
    want.zone = "us-west-2a".to_owned();
    assert!(Subnet::check(&want)[0].contains("by id"));
}

#[test]
fn only_the_roles_of_a_subnet_are_read_from_its_tags() {
    let (want, mut live) = live::<Subnet>(0, Phase::There);
    for (key, value) in [("kubernetes.io/cluster/other", "shared"), ("Name", "x"), ("infer-stack/stack", "y")] {
        live.tags.insert(key.to_owned(), value.to_owned());
    }
    assert_eq!(Subnet::project(&live), want);
    live.tags.remove(subnet::ROLE_INTERNAL_ELB);
    assert!(Subnet::project(&live).roles.is_empty());
}

#[test]
fn a_new_internet_gateway_is_ready_and_differs_in_its_attachment_alone() {
    let (want, mut live) = live::<InternetGateway>(0, Phase::There);
    live.attachments.clear();
    assert_eq!(InternetGateway::ready(&live), Readiness::Ready);
    assert_eq!(InternetGateway::project(&live), internet_gateway::Desired { vpc: None });
    assert_ne!(InternetGateway::project(&live), want);
    assert_eq!(change::<InternetGateway>("/vpc"), Change::InPlace);
    assert!(holds::<InternetGateway>("/vpc"), "a VPC can't go while its gateway is attached");
}

#[test]
fn an_attachment_on_its_way_is_waited_for_and_one_that_leaves_does_not_count() {
    let (want, coming) = live::<InternetGateway>(0, Phase::Coming);
    assert_eq!(InternetGateway::ready(&coming), Readiness::Pending("attaching to vpc-main-id".to_owned()));
    assert_eq!(InternetGateway::project(&coming), want);
    let (_, going) = live::<InternetGateway>(0, Phase::Going);
    assert_eq!(InternetGateway::project(&going).vpc, None);
}

#[test]
fn an_internet_gateway_goes_after_everything_that_has_a_public_address() {
    for kind in ["nat-gateway", "elastic-ip", "load-balancer", "instance"] {
        assert!(InternetGateway::DELETED_AFTER.contains(&kind), "{kind}");
    }
}

#[test]
fn an_elastic_ip_waits_for_its_nat_gateway_and_costs_from_the_start() {
    assert_eq!(change::<NatGateway>("/allocation"), Change::Immutable);
    let demand = ElasticIp::demand(&ElasticIp::samples()[0]);
    assert_eq!(demand, [Demand::one("elasticIp"), Demand::billed("publicIpv4Hours", 1.0)]);
}

#[test]
fn a_nat_gateway_goes_through_the_states_that_ec2_shows() {
    let state = |phase| live::<NatGateway>(0, phase).1;
    assert_eq!(NatGateway::ready(&state(Phase::Coming)), Readiness::Pending("pending".to_owned()));
    assert_eq!(NatGateway::ready(&state(Phase::There)), Readiness::Ready);
    let mut going = state(Phase::Going);
    assert!(NatGateway::going(&going) && !NatGateway::gone(&going), "still there for a proof");
    going.state = "deleted".to_owned();
    assert!(NatGateway::gone(&going), "listed for an hour after its end");
}

#[test]
fn a_failed_nat_gateway_says_why() {
    let (_, mut live) = live::<NatGateway>(0, Phase::Coming);
    live.state = "failed".to_owned();
    live.failure_code = Some("Gateway.NotAttached".to_owned());
    live.failure_message = Some("Network vpc-1 has no Internet gateway attached".to_owned());
    let why = "Gateway.NotAttached: Network vpc-1 has no Internet gateway attached".to_owned();
    assert_eq!(NatGateway::ready(&live), Readiness::Broken(why));
    assert!(!NatGateway::gone(&live));
}

#[test]
fn more_addresses_on_a_nat_gateway_are_no_drift() {
    let (want, mut live) = live::<NatGateway>(0, Phase::There);
    let mut second = live.addresses[0].clone();
    second.primary = false;
    second.allocation_id = Some("eipalloc-second".to_owned());
    live.addresses.insert(0, second);
    assert_eq!(NatGateway::project(&live), want);
}

#[test]
fn a_regional_nat_gateway_bills_by_zone_and_takes_no_elastic_ip_of_the_account() {
    let (want, mut live) = live::<NatGateway>(1, Phase::There);
    let demand = NatGateway::demand(&want);
    assert!(!demand.contains(&Demand::one("elasticIp")));
    let hours = Demand::Billed { unit: "natGatewayHours".to_owned(), min: 1.0, now: 2.0, max: 2.0 };
    assert!(demand.contains(&hours));
    // How far it has spread is AWS's doing.
    live.addresses.pop();
    assert_eq!(NatGateway::project(&live), nat_gateway::Desired::Regional { vpc: Link::is("vpc-main-id"), zones: 1 });
    assert_eq!(change::<NatGateway>("/zones"), Change::CreateOnly);
}

#[test]
fn routes_that_aws_keeps_by_itself_are_no_drift() {
    let (want, mut live) = live::<RouteTable>(0, Phase::There);
    let bare = live.routes[0].clone();
    assert_eq!(bare.gateway_id.as_deref(), Some("local"), "every table has its VPC's own route");
    live.routes.push(route_table::LiveRoute {
        destination: None,
        prefix_list_id: Some("pl-68a54001".to_owned()),
        gateway_id: Some("vpce-0a1b".to_owned()),
        origin: "CreateRoute".to_owned(),
        ..bare.clone()
    });
    live.routes.push(route_table::LiveRoute {
        destination: Some(cidr("192.168.9.0/24")),
        gateway_id: Some("vgw-0a1b".to_owned()),
        origin: "EnableVgwRoutePropagation".to_owned(),
        ..bare
    });
    assert_eq!(RouteTable::project(&live), want);
}

#[test]
fn a_black_hole_differs_from_the_route_to_the_gateway_that_lives() {
    let (want, mut live) = live::<RouteTable>(1, Phase::There);
    let route = live.routes.iter_mut().find(|route| route.origin == "CreateRoute").unwrap();
    route.state = "blackhole".to_owned();
    route.gateway_id = Some("igw-deleted".to_owned());
    assert_ne!(RouteTable::project(&live), want);
    assert!(!holds::<RouteTable>("/routes"), "a gateway can go while routes name it");
}

#[test]
fn an_association_that_failed_or_leaves_is_missing() {
    let (_, mut live) = live::<RouteTable>(1, Phase::There);
    assert_eq!(RouteTable::project(&live).subnets.len(), 2);
    live.associations[0].state = "failed".to_owned();
    live.associations[1].state = "disassociating".to_owned();
    assert_eq!(RouteTable::project(&live).subnets, []);
    live.associations[0].state = "associating".to_owned();
    assert!(matches!(RouteTable::ready(&live), Readiness::Pending(_)));
}

#[test]
fn a_destination_has_one_route() {
    let mut want = RouteTable::samples().remove(0);
    want.routes.push(Route { to: cidr("0.0.0.0/0"), via: Via::Other("eni-1".to_owned()) });
    assert_eq!(RouteTable::check(&want), ["0.0.0.0/0: a destination has one route"]);
}

#[test]
fn the_first_egress_rule_of_ec2_is_neither_wished_nor_drift() {
    let (want, live) = live::<SecurityGroup>(0, Phase::There);
    let everywhere = LivePeer::Cidr(cidr("0.0.0.0/0"));
    assert!(live.ip_permissions_egress.iter().any(|rule| rule.ip_protocol == "-1" && rule.peer == everywhere));
    assert_eq!(SecurityGroup::project(&live), want);
    let mut wished = want;
    wished.egress.push(Rule::all(Peer::Cidr(cidr("0.0.0.0/0"))));
    assert!(SecurityGroup::check(&wished)[0].contains("EC2's own"));
    // Open to the world for one port is somebody's decision, and so is any way in.
    wished.egress = vec![Rule::tcp(443, 443, Peer::Cidr(cidr("0.0.0.0/0")))];
    wished.ingress = vec![Rule::all(Peer::Cidr(cidr("0.0.0.0/0")))];
    assert_eq!(SecurityGroup::check(&wished), Vec::<String>::new());
}

#[test]
fn a_rule_that_somebody_added_to_our_group_is_seen() {
    let (want, mut live) = live::<SecurityGroup>(0, Phase::There);
    live.ip_permissions.push(Permission {
        ip_protocol: "udp".to_owned(),
        from_port: Some(53),
        to_port: Some(53),
        peer: LivePeer::Cidr(cidr("::/0")),
    });
    let seen = SecurityGroup::project(&live).ingress;
    assert_eq!(seen[..1], want.ingress[..]);
    let traffic = Traffic::Other { protocol: "udp".to_owned(), from: Some(53), to: Some(53) };
    assert_eq!(seen[1], Rule { traffic, peer: Peer::Cidr(cidr("::/0")) });
}

#[test]
fn a_group_that_names_itself_is_told_from_one_that_names_another() {
    let (_, mut live) = live::<SecurityGroup>(0, Phase::There);
    assert_eq!(SecurityGroup::project(&live).ingress, [Rule::all(Peer::Itself)]);
    live.ip_permissions[0].peer = LivePeer::GroupId("sg-other".to_owned());
    assert_eq!(SecurityGroup::project(&live).ingress, [Rule::all(Peer::Group(Link::is("sg-other")))]);
}

#[test]
fn a_group_named_in_a_rule_is_deleted_after_the_rule() {
    assert!(holds::<SecurityGroup>("/ingress") && holds::<SecurityGroup>("/egress"));
}

#[test]
fn a_security_group_holds_sixty_rules_each_way() {
    let mut want = SecurityGroup::samples().remove(0);
    let rule = |port| Rule::tcp(port, port, Peer::Itself);
    want.ingress = (0..60).map(rule).collect();
    assert_eq!(SecurityGroup::check(&want), Vec::<String>::new());
    want.ingress = (0..61).map(rule).collect();
    assert_eq!(SecurityGroup::check(&want), ["61 inbound rules: a security group holds 60"]);
    want.ingress = vec![rule(1), rule(1)];
    assert_eq!(SecurityGroup::check(&want), ["the inbound rule tcp 1 itself stands twice"]);
    want.ingress = vec![Rule { traffic: Traffic::Tcp(Ports { from: 2, to: 1 }), peer: Peer::Itself }];
    assert_eq!(SecurityGroup::check(&want).len(), 1);
}

#[test]
fn names_of_groups_are_what_ec2_takes() {
    let check = |name: &str| {
        let mut want: security_group::Desired = SecurityGroup::samples().remove(0);
        want.name = name.to_owned();
        SecurityGroup::check(&want).len()
    };
    assert_eq!(check("llama-70b-efa"), 0);
    for bad in ["", "sg-efa", "default", "efa→efa", &"x".repeat(256)] {
        assert_eq!(check(bad), 1, "{bad}");
    }
    assert_eq!(SecurityGroup::wished_name(&SecurityGroup::samples()[0]).as_deref(), Some("llama-70b-efa"));
}

#[test]
fn a_new_group_is_believed_on_the_second_look() {
    assert_eq!(SecurityGroup::PATIENCE.streak, 2);
}

#[test]
fn an_endpoint_goes_through_the_states_that_ec2_shows_in_any_capitals() {
    let (_, mut live) = live::<VpcEndpoint>(1, Phase::Coming);
    assert_eq!(VpcEndpoint::ready(&live), Readiness::Pending("pending".to_owned()));
    for (state, ready) in [("available", true), ("Available", true), ("pendingAcceptance", false)] {
        live.state = state.to_owned();
        assert_eq!(VpcEndpoint::ready(&live) == Readiness::Ready, ready, "{state}");
    }
    live.state = "Failed".to_owned();
    live.failure = Some("private DNS is off in the VPC".to_owned());
    assert_eq!(VpcEndpoint::ready(&live), Readiness::Broken("Failed: private DNS is off in the VPC".to_owned()));
    live.state = "deleting".to_owned();
    assert!(VpcEndpoint::going(&live) && !VpcEndpoint::gone(&live));
    live.state = "Deleted".to_owned();
    assert!(VpcEndpoint::gone(&live));
}

#[test]
fn an_interface_endpoint_bills_and_takes_an_address_in_every_zone() {
    let demand = VpcEndpoint::demand(&VpcEndpoint::samples()[1]);
    let address = |n| Demand::Addresses { subnet: format!("subnet.private-usw2-az{n}"), n: 1 };
    let billed = Demand::billed("interfaceEndpointHours", 2.0);
    assert_eq!(demand, [Demand::one("interfaceEndpoint"), billed, address(1), address(2)]);
    // S3's bills no hours.
    assert_eq!(VpcEndpoint::demand(&VpcEndpoint::samples()[0]), [Demand::one("gatewayEndpoint")]);
}

#[test]
fn an_endpoint_changes_tables_subnets_and_groups_in_place_and_nothing_else() {
    for (path, expected) in [
        ("/routeTables", Change::InPlace),
        ("/subnets", Change::InPlace),
        ("/groups", Change::InPlace),
        ("/privateDns", Change::InPlace),
        ("/type", Change::Immutable),
        ("/vpc", Change::Immutable),
        ("/service", Change::Immutable),
    ] {
        assert_eq!(change::<VpcEndpoint>(path), expected, "{path}");
    }
    assert!(holds::<VpcEndpoint>("/subnets") && holds::<VpcEndpoint>("/groups"), "its interfaces keep both");
}

#[test]
fn an_interface_without_a_group_would_get_the_default_one() {
    let vpc_endpoint::Desired::Interface { vpc, service, subnets, .. } = VpcEndpoint::samples().remove(1) else {
        panic!("the second sample is an interface endpoint")
    };
    let want = vpc_endpoint::Desired::Interface { vpc, service, subnets, groups: vec![], private_dns: true };
    assert!(VpcEndpoint::check(&want)[0].contains("default"));
}

#[test]
fn an_interface_is_left_behind_only_where_nobody_else_deletes_it() {
    let (_, mut efa) = live::<NetworkInterface>(0, Phase::There);
    assert!(!efa.left_behind(), "in use");
    efa.attachment = None;
    efa.status = "available".to_owned();
    assert!(efa.left_behind(), "the CNI detached it and died");
    let (_, mut gateway) = live::<NetworkInterface>(1, Phase::There);
    gateway.status = "available".to_owned();
    assert!(!gateway.left_behind(), "its gateway's to delete");
}

#[test]
fn interfaces_tell_how_a_node_came_out() {
    let (_, live) = live::<NetworkInterface>(0, Phase::There);
    assert!(live.is_efa());
    assert_eq!(live.private_ip, None, "efa-only takes no address");
    let projected: network_interface::Desired = NetworkInterface::project(&live);
    assert_eq!(projected.groups, [Link::is("cluster-main-security-group"), Link::is("security-group-efa-id")]);
    let seat = projected.instance.unwrap();
    assert_eq!((seat.card, seat.device), (31, 1));
}

#[test]
fn subnets_and_groups_wait_for_the_interfaces_and_balancers_on_them() {
    assert_eq!(change::<NetworkInterface>("/subnet"), Change::Immutable);
    assert!(holds::<NetworkInterface>("/groups"));
    assert!(holds::<LoadBalancer>("/subnets") && holds::<LoadBalancer>("/groups"));
}

#[test]
fn target_groups_go_after_their_balancers() {
    assert_eq!(TargetGroup::DELETED_AFTER, ["load-balancer"]);
}

#[test]
fn an_impaired_balancer_serves_and_a_failed_one_does_not() {
    let (_, mut live) = live::<LoadBalancer>(0, Phase::There);
    live.state = "active_impaired".to_owned();
    assert_eq!(LoadBalancer::ready(&live), Readiness::Ready);
    live.state = "failed".to_owned();
    live.reason = Some("no free addresses".to_owned());
    assert_eq!(LoadBalancer::ready(&live), Readiness::Broken("failed: no free addresses".to_owned()));
}

#[test]
fn what_controllers_bring_is_never_wished() {
    let brought: Vec<_> =
        kinds().filter(|kind| kind.ownership() == Ownership::Byproduct).map(|kind| kind.name()).collect();
    assert_eq!(brought, ["network-interface", "load-balancer", "target-group"]);
}
