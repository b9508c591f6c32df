use super::case::{Case, reservation, reserve};
use infer_stack::{
    cloud::{Answer, Fact},
    contract::{Class, CloudError},
    preflight::{Check, Verdict},
    stack::{Capacity, PlacementStrategy},
};

/// The block that `stacks/capacity-block.yaml` names, and its class.
fn block() -> (Case, String, usize) {
    let case = Case::of("capacity-block", "ready");
    let found = case.spec.node_classes.iter().enumerate().find_map(|(at, class)| match &class.capacity {
        Capacity::CapacityBlock(id) => Some((id.clone(), at)),
        _ => None,
    });
    let (id, at) = found.unwrap();
    (case, id, at)
}

#[test]
fn on_demand_accelerators_are_left_to_luck_and_that_is_said() {
    let case = Case::of("llama-70b", "ready");
    let finding = case.expect(Check::Capacity, "p5", Verdict::Warn, "no reservation: two p5.48xlarge on demand");
    assert_eq!(finding.remedy.as_deref(), Some("infer-stack capacity find --type p5.48xlarge --count 2"));
    assert!(!case.findings(Check::Capacity).iter().any(|finding| finding.subject == "system"));
}

#[test]
fn what_runs_already_needs_no_luck() {
    let mut case = Case::of("llama-70b", "ready");
    case.settle();
    case.expect(Check::Capacity, "p5", Verdict::Pass, "2 p5.48xlarge on demand run already");
}

#[test]
fn a_fitting_block_passes() {
    let (mut case, id, _) = block();
    let mut held = reservation(&case, &id);
    held.end = Some("2026-12-20T11:30:00Z".to_owned());
    reserve(&mut case, held);
    case.expect(Check::Capacity, &id, Verdict::Pass, "free");
}

#[test]
fn a_reservation_that_is_not_there_blocks_and_one_that_can_not_be_seen_is_unknown() {
    let (mut case, id, _) = block();
    let fact = Fact::Reservations { ids: vec![id.clone()] };
    case.learn(fact.clone(), Answer::Reservations(vec![]));
    case.expect(Check::Capacity, &id, Verdict::Block, "does not exist");
    let gone = CloudError::new("ec2", Class::NotFound, "InvalidCapacityReservationId.NotFound", "no such");
    case.facts.learn(&fact, Err(gone));
    case.expect(Check::Capacity, &id, Verdict::Block, "does not exist");
    case.facts.reservations.clear();
    case.expect(Check::Capacity, &id, Verdict::Unknown, "nobody asked");
}

#[test]
fn kind_type_and_zone_must_be_the_reservations() {
    let (mut case, id, at) = block();
    let held = reservation(&case, &id);
    let mut other = held.clone();
    other.block = false;
    reserve(&mut case, other);
    let finding = case.expect(Check::Capacity, &id, Verdict::Block, "is an on-demand reservation");
    assert!(finding.remedy.unwrap().contains("{ reservation: "));

    let mut other = held.clone();
    other.instance_type = "p5e.48xlarge".to_owned();
    reserve(&mut case, other);
    case.expect(Check::Capacity, &id, Verdict::Block, "holds p5e.48xlarge");

    let mut other = held.clone();
    case.spec.node_classes[at].zone = Some(held.zone.clone());
    other.zone = "usw2-az9".to_owned();
    reserve(&mut case, other);
    case.expect(Check::Capacity, &id, Verdict::Block, "is in usw2-az9");
}

#[test]
fn a_placement_group_must_be_the_reservations_own() {
    let (mut case, id, at) = block();
    let group = infer_stack::stack::PlacementGroup { name: "near".to_owned(), strategy: PlacementStrategy::Cluster };
    case.spec.placement_groups = vec![group];
    case.spec.node_classes[at].placement_group = Some("near".to_owned());
    let finding = case.expect(Check::Capacity, &id, Verdict::Block, "was not made in a placement group");
    assert!(finding.remedy.unwrap().starts_with("leave out"));

    let mut held = reservation(&case, &id);
    held.end = None;
    let name = format!("{}-near", case.spec.name);
    held.placement_group = Some(format!("arn:aws:ec2:us-west-2:123456789012:placement-group/{name}"));
    reserve(&mut case, held);
    case.expect(Check::Capacity, &id, Verdict::Pass, "free");
    case.spec.node_classes[at].placement_group = None;
    case.expect(Check::Capacity, &id, Verdict::Block, "only instances in it can use it");
}

#[test]
fn a_block_has_a_window() {
    let (mut case, id, _) = block();
    let mut held = reservation(&case, &id);
    held.start = Some("2026-12-02T11:30:00Z".to_owned());
    held.end = Some("2026-12-03T11:30:00Z".to_owned());
    held.state = "scheduled".to_owned();
    held.available = 0;
    reserve(&mut case, held.clone());
    case.expect(Check::Capacity, &id, Verdict::Warn, "stays at 0 until 2026-12-02T11:30:00Z");

    held.state = "active".to_owned();
    held.available = held.total;
    reserve(&mut case, held.clone());
    case.now = "2026-12-02T12:00:00Z".to_owned();
    case.expect(Check::Capacity, &id, Verdict::Warn, "EC2 ends its instances at 2026-12-03T11:00:00Z");
    case.now = "2026-12-03T10:55:00Z".to_owned();
    case.expect(Check::Capacity, &id, Verdict::Block, "scales its nodes to 0 forty minutes before");
    case.now = "2026-12-03T11:31:00Z".to_owned();
    case.expect(Check::Capacity, &id, Verdict::Block, "ended at 2026-12-03T11:30:00Z");

    case.now = "2026-12-02T12:00:00Z".to_owned();
    held.state = "payment-failed".to_owned();
    reserve(&mut case, held);
    case.expect(Check::Capacity, &id, Verdict::Block, "payment-failed");
}

#[test]
fn a_reservation_must_hold_what_is_wished() {
    let (mut case, id, at) = block();
    let mut held = reservation(&case, &id);
    held.end = None;
    case.spec.node_classes[at].nodes.desired = 2;
    case.spec.node_classes[at].nodes.max = 4;
    held.total = 1;
    held.available = 1;
    reserve(&mut case, held.clone());
    case.expect(Check::Capacity, &id, Verdict::Block, "holds 1 instances");
    held.total = 2;
    reserve(&mut case, held.clone());
    case.expect(Check::Capacity, &id, Verdict::Block, "has 1 of 2 instances free, 2 are needed");
    held.available = 2;
    reserve(&mut case, held.clone());
    case.expect(Check::Capacity, &id, Verdict::Warn, "goes up to 4");
    // Our own nodes run in it: nothing is free, and nothing more is needed.
    held.total = 4;
    held.available = 4;
    reserve(&mut case, held.clone());
    case.settle();
    held.available = 0;
    reserve(&mut case, held);
    case.expect(Check::Capacity, &id, Verdict::Pass, "0 free");
}

#[test]
fn placement_groups_take_one_zone_and_fitting_types() {
    let case = Case::of("llama-70b", "ready");
    case.expect(Check::Placement, "p5", Verdict::Pass, "cluster group p5, all of it in usw2-az");
    case.expect(Check::Placement, "p5", Verdict::Pass, "32 EFA interfaces a node");

    let mut case = Case::of("llama-70b", "ready");
    let mut second = case.spec.node_classes[1].clone();
    second.name = "far".to_owned();
    second.zone = Some("usw2-az3".to_owned());
    case.spec.node_classes[1].zone = Some("usw2-az2".to_owned());
    case.spec.node_classes.push(second);
    case.expect(Check::Placement, "p5", Verdict::Block, "can be in one zone only");

    let mut case = Case::of("llama-70b", "ready");
    case.spec.node_classes[1].instance_types = vec!["p9.48xlarge".to_owned()];
    case.expect(Check::Placement, "p5", Verdict::Unknown, "p9.48xlarge");

    let mut case = Case::of("llama-70b", "ready");
    case.spec.placement_groups[0].strategy = PlacementStrategy::Spread;
    case.expect(Check::Placement, "p5", Verdict::Warn, "holds 7 instances a zone");
}

#[test]
fn a_group_that_still_holds_nodes_elsewhere_is_said() {
    let mut case = Case::of("llama-70b", "ready");
    case.spec.node_classes[1].zone = Some("usw2-az2".to_owned());
    case.settle();
    case.spec.node_classes[1].zone = Some("usw2-az3".to_owned());
    case.expect(Check::Placement, "p5", Verdict::Warn, "holds nodes in usw2-az2 until they are gone");
}

#[test]
fn efa_is_counted_by_what_the_type_takes() {
    let mut case = Case::of("llama-70b", "ready");
    case.expect(Check::Efa, "p5 (p5.48xlarge)", Verdict::Pass, "32 EFA interfaces");
    case.choose = |choices| choices.classes.get_mut("p5").unwrap().efa = 33;
    case.expect(Check::Efa, "p5 (p5.48xlarge)", Verdict::Block, "takes 32 EFA interfaces at most, not 33");
    case.spec.node_classes[1].instance_types = vec!["p9.48xlarge".to_owned()];
    case.expect(Check::Efa, "p5 (p9.48xlarge)", Verdict::Unknown, "not known");
    case.spec.node_classes[1].instance_types = vec!["g5.xlarge".to_owned()];
    let finding = case.expect(Check::Efa, "p5 (g5.xlarge)", Verdict::Block, "has no EFA");
    assert!(finding.remedy.unwrap().contains("g5.8xlarge"));
}

#[test]
fn types_must_be_offered_where_the_nodes_go() {
    let mut case = Case::of("llama-70b", "ready");
    case.expect(Check::Offering, "p5.48xlarge", Verdict::Pass, "p5.48xlarge in usw2-az1");
    case.facts.offerings.insert("p5.48xlarge".to_owned(), Ok(vec!["usw2-az3".to_owned()]));
    case.spec.node_classes[1].zone = Some("usw2-az1".to_owned());
    let finding = case.expect(Check::Offering, "p5.48xlarge", Verdict::Block, "is not offered in usw2-az1");
    assert_eq!(finding.remedy.as_deref(), Some("nodeClasses[p5].zone: one of usw2-az3"));
    case.facts.offerings.insert("p5.48xlarge".to_owned(), Ok(vec![]));
    case.expect(Check::Offering, "p5.48xlarge", Verdict::Block, "is not offered in us-west-2");
    case.blind(Fact::Offerings { instance_types: vec!["p5.48xlarge".to_owned()] });
    case.expect(Check::Offering, "p5.48xlarge", Verdict::Unknown, "AccessDenied");
}
