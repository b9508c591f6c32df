//! What plans make of the network: what is made, moved and deleted, and in which order.

use super::{
    network::{graph, made, with},
    settled::all_live,
};
use crate::samples::identity;
use infer_stack::{
    desired::{DesiredGraph, names},
    model::{Address, Doc, REGION, STACK, Tags},
    observed::{Sight, live},
    plan::{Action, Options, Plan, Verb, plan},
    resources,
    stack::{NatGateways, Spec},
};

fn tagged(mut graph: DesiredGraph) -> DesiredGraph {
    graph.tags = Tags::from([(STACK.to_owned(), identity().stack), (REGION.to_owned(), identity().region)]);
    graph
}

/// The plan that leads from one network to another.
fn change(from: &Spec, to: &Spec) -> Plan {
    let from = tagged(graph(from));
    plan(&tagged(graph(to)), &all_live(&from), &Options::default())
}

fn destroy(spec: &Spec) -> Plan {
    plan(&DesiredGraph::empty(identity()), &all_live(&tagged(graph(spec))), &Options::default())
}

fn addresses(plan: &Plan, action: Action) -> Vec<String> {
    plan.steps.iter().filter(|step| step.action == action).map(|step| step.address.to_string()).collect()
}

/// Place of the task that makes, changes or deletes.
fn at(plan: &Plan, verb: &str, address: &Address) -> usize {
    let is = |task: &Verb| match task {
        Verb::Create => verb == "create",
        Verb::Update { .. } => verb == "update",
        Verb::Delete { .. } => verb == "delete",
        Verb::Await { .. } => verb == "await",
    };
    let found = plan.tasks.iter().position(|task| task.address == *address && is(&task.verb));
    found.unwrap_or_else(|| panic!("no task to {verb} {address}"))
}

/// True where the second task waits for the first, directly or through others.
fn waits(plan: &Plan, first: usize, second: usize) -> bool {
    plan.tasks[second].after.iter().any(|before| *before == first || waits(plan, first, *before))
}

fn every_way() -> [Spec; 4] {
    [NatGateways::One, NatGateways::PerZone, NatGateways::Regional, NatGateways::None].map(with)
}

#[test]
fn a_network_as_wished_needs_nothing() {
    for spec in every_way() {
        let plan = change(&spec, &spec);
        assert!(plan.is_settled(), "{:#?}", plan.steps.iter().filter(|s| s.action != Action::Keep).collect::<Vec<_>>());
    }
}

#[test]
fn what_is_made_waits_for_what_it_stands_on() {
    let plan =
        plan(&tagged(graph(&with(NatGateways::One))), &all_live(&DesiredGraph::empty(identity())), &Options::default());
    let create = |address: &Address| at(&plan, "create", address);
    let gateway = create(&names::nat_gateway("main"));
    for before in [names::vpc(), names::public_subnet("usw2-az1"), names::elastic_ip("main"), names::internet_gateway()]
    {
        assert!(waits(&plan, create(&before), gateway), "{before}");
    }
    assert!(waits(&plan, gateway, create(&names::private_routes("usw2-az2"))));
}

#[test]
fn what_goes_waits_for_what_leans_on_it() {
    let plan = destroy(&with(NatGateways::One));
    let delete = |address: &Address| at(&plan, "delete", address);
    let gateway = delete(&names::nat_gateway("main"));
    assert!(waits(&plan, gateway, delete(&names::elastic_ip("main"))));
    assert!(waits(&plan, gateway, delete(&names::public_subnet("usw2-az1"))));
    assert!(waits(&plan, gateway, delete(&names::internet_gateway())), "its address is mapped behind it");
    assert!(waits(&plan, delete(&names::elastic_ip("main")), delete(&names::internet_gateway())));
    let vpc = delete(&names::vpc());
    for task in plan.tasks.iter().filter(|task| !["vpc", "elastic-ip"].contains(&task.address.kind())) {
        assert!(waits(&plan, task.id, vpc), "{}", task.address);
    }
}

#[test]
fn subnets_and_groups_go_after_the_endpoints_that_stand_in_them() {
    let plan = destroy(&with(NatGateways::None));
    let delete = |address: &Address| at(&plan, "delete", address);
    for service in ["ecr.api", "sts"] {
        let endpoint = delete(&names::interface_endpoint(service));
        assert!(waits(&plan, endpoint, delete(&names::private_subnet("usw2-az1"))));
        assert!(waits(&plan, endpoint, delete(&names::endpoint_group())));
    }
}

#[test]
fn a_gateway_more_a_zone_moves_routes_before_the_old_one_goes() {
    let plan = change(&with(NatGateways::One), &with(NatGateways::PerZone));
    assert!(addresses(&plan, Action::Replace).is_empty());
    assert_eq!(addresses(&plan, Action::Delete), ["elastic-ip.main", "nat-gateway.main"]);
    for zone in ["usw2-az1", "usw2-az2"] {
        let routes = at(&plan, "update", &names::private_routes(zone));
        assert!(waits(&plan, at(&plan, "create", &names::nat_gateway(zone)), routes));
        assert!(waits(&plan, routes, at(&plan, "delete", &names::nat_gateway("main"))), "{zone} is never cut off");
    }
}

#[test]
fn a_change_to_a_regional_gateway_cuts_off_nobody() {
    let plan = change(&with(NatGateways::One), &with(NatGateways::Regional));
    assert!(addresses(&plan, Action::Replace).is_empty());
    let routes = at(&plan, "update", &names::private_routes("usw2-az2"));
    assert!(waits(&plan, at(&plan, "create", &names::nat_gateway("regional")), routes));
    assert!(waits(&plan, routes, at(&plan, "delete", &names::nat_gateway("main"))));
}

#[test]
fn closing_the_way_out_makes_endpoints_and_takes_the_door_away_last() {
    let plan = change(&with(NatGateways::One), &with(NatGateways::None));
    assert!(addresses(&plan, Action::Replace).is_empty());
    let gone = addresses(&plan, Action::Delete);
    let expected = ["elastic-ip.main", "internet-gateway.main", "nat-gateway.main", "route-table.public"];
    assert_eq!(gone[..4], expected);
    assert_eq!(gone[4..], ["subnet.public-usw2-az1"]);
    let door = at(&plan, "delete", &names::internet_gateway());
    assert!(waits(&plan, at(&plan, "delete", &names::nat_gateway("main")), door));
}

#[test]
fn a_zone_more_makes_its_own_and_changes_two_things_in_place() {
    let mut more = with(NatGateways::PerZone);
    more.network = made(NatGateways::PerZone, &["usw2-az1", "usw2-az2", "usw2-az3"]);
    let plan = change(&with(NatGateways::PerZone), &more);
    assert_eq!(addresses(&plan, Action::Update), ["route-table.public", "vpc-endpoint.s3"]);
    assert!(addresses(&plan, Action::Replace).is_empty() && addresses(&plan, Action::Delete).is_empty());
    assert!(addresses(&plan, Action::Create).iter().all(|address| address.ends_with("usw2-az3")));
}

#[test]
fn another_block_makes_the_whole_network_again() {
    let mut spec = with(NatGateways::One);
    spec.network = infer_stack::stack::Network::Made {
        cidr: "10.80.0.0/16".parse().unwrap(),
        zones: Some(vec!["usw2-az1".to_owned(), "usw2-az2".to_owned()]),
        nat_gateways: NatGateways::One,
    };
    let plan = change(&with(NatGateways::One), &spec);
    // An Elastic IP stands in no VPC: it may stay.
    assert_eq!(addresses(&plan, Action::Keep), ["elastic-ip.main"]);
    assert_eq!(addresses(&plan, Action::Replace).len(), plan.steps.len() - 1);
}

/// Changes one observed document and plans for the same wish.
fn after(address: &Address, edit: impl FnOnce(&mut Doc)) -> Plan {
    let graph = tagged(graph(&with(NatGateways::One)));
    let mut snapshot = all_live(&graph);
    let Some(Sight::Seen(all)) = snapshot.sights.get_mut(address.kind()) else { panic!("{address} was seen") };
    let seen = all.iter_mut().find(|live| live.look.claims.as_ref() == Some(address)).unwrap();
    edit(&mut seen.doc);
    *seen = live(resources::kind(address.kind()).unwrap(), seen.doc.clone()).unwrap();
    plan(&graph, &snapshot, &Options::default())
}

#[test]
fn a_gateway_whose_attachment_was_lost_is_attached_again() {
    let plan = after(&names::internet_gateway(), |doc| doc["attachments"] = Doc::Array(vec![]));
    assert_eq!(addresses(&plan, Action::Update), ["internet-gateway.main"]);
    assert_eq!(plan.tasks.len(), 1);
}

#[test]
fn a_rule_that_somebody_added_to_our_group_is_taken_away() {
    let plan = after(&names::efa_group(), |doc| {
        let rule = serde_json::json!({
            "ip_protocol": "tcp", "from_port": 22, "to_port": 22, "peer": { "cidr": "0.0.0.0/0" },
        });
        doc["ip_permissions"].as_array_mut().unwrap().push(rule);
    });
    assert_eq!(addresses(&plan, Action::Update), ["security-group.efa"]);
    assert!(plan.steps.iter().any(|step| step.fields.iter().any(|field| field.path.starts_with("/ingress"))));
}

#[test]
fn a_lost_efa_rule_is_put_back_in_either_direction() {
    for side in ["ip_permissions", "ip_permissions_egress"] {
        let plan = after(&names::efa_group(), |doc| {
            doc[side].as_array_mut().unwrap().retain(|rule| rule["peer"].get("group_id").is_none());
        });
        assert_eq!(addresses(&plan, Action::Update), ["security-group.efa"], "{side}");
    }
}

#[test]
fn a_deleted_gateway_that_is_still_listed_is_made_again() {
    let plan = after(&names::nat_gateway("main"), |doc| doc["state"] = "deleted".into());
    assert_eq!(addresses(&plan, Action::Create), ["nat-gateway.main"]);
    let routes = ["route-table.private-usw2-az1", "route-table.private-usw2-az2"];
    assert_eq!(addresses(&plan, Action::Update), routes, "black holes lead to the new one");
}

#[test]
fn a_public_address_at_launch_is_switched_off_again() {
    let plan = after(&names::private_subnet("usw2-az1"), |doc| doc["map_public_ip_on_launch"] = true.into());
    assert_eq!(addresses(&plan, Action::Update), ["subnet.private-usw2-az1"]);
}

#[test]
fn a_lost_role_of_a_subnet_is_one_update() {
    let plan = after(&names::private_subnet("usw2-az1"), |doc| {
        doc["tags"].as_object_mut().unwrap().remove("kubernetes.io/role/internal-elb");
    });
    assert_eq!(addresses(&plan, Action::Update), ["subnet.private-usw2-az1"]);
    assert!(plan.steps.iter().any(|step| step.fields.iter().any(|field| field.path.starts_with("/roles"))));
}
