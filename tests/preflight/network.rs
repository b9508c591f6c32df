use super::case::Case;
use infer_stack::{
    cloud::{Answer, Fact, Zone},
    preflight::{Check, Verdict},
    stack::Network,
};

/// The stack that brings its network along.
fn brought() -> Case {
    Case::of("existing-vpc", "ready")
}

/// Changes what EC2 says of every subnet brought along.
fn subnets(case: &mut Case, change: impl Fn(&mut infer_stack::cloud::SubnetFacts)) {
    for looked in case.facts.subnets.values_mut() {
        change(looked.as_mut().unwrap().as_mut().unwrap());
    }
}

#[test]
fn control_plane_zones_are_checked_by_id() {
    let case = Case::of("llama-70b", "ready");
    case.expect(Check::Zones, "control plane", Verdict::Pass, "usw2-az1, usw2-az2");

    let mut case = brought();
    case.choose = |choices| {
        let subnet = vec!["subnet-1".to_owned()];
        choices.brought.control_plane.insert("use1-az3".to_owned(), subnet);
    };
    case.expect(Check::Zones, "control plane", Verdict::Block, "EKS refuses control-plane subnets in use1-az3");
}

#[test]
fn zones_that_the_account_lacks_block() {
    let mut case = Case::of("llama-70b", "ready");
    let zone = |id: &str| Zone { id: id.to_owned(), name: id.to_owned() };
    if let Network::Made { zones, .. } = &mut case.spec.network {
        *zones = Some(vec!["usw2-az1".to_owned(), "usw2-az7".to_owned()]);
    }
    case.learn(Fact::Zones, Answer::Zones(["usw2-az1", "usw2-az2"].map(zone).into()));
    case.expect(Check::Zones, "us-west-2", Verdict::Block, "has no zone usw2-az7");
    case.blind(Fact::Zones);
    case.expect(Check::Zones, "us-west-2", Verdict::Unknown, "AccessDenied");
}

#[test]
fn subnets_of_another_vpc_block() {
    let mut case = brought();
    subnets(&mut case, |subnet| subnet.vpc = "vpc-other".to_owned());
    let id = case.facts.subnets.keys().next().unwrap().clone();
    case.expect(Check::Zones, &id, Verdict::Block, "is in vpc-other");
}

#[test]
fn a_roomy_network_passes() {
    for finding in Case::of("llama-70b", "ready").findings(Check::Addresses) {
        assert_eq!(finding.verdict, Verdict::Pass, "{finding:#?}");
    }
}

#[test]
fn a_subnet_that_can_not_hold_the_first_nodes_blocks_and_one_too_small_for_all_warns() {
    let mut case = brought();
    let verdicts = |case: &Case| -> Vec<Verdict> {
        case.findings(Check::Addresses).into_iter().map(|finding| finding.verdict).collect()
    };
    assert!(verdicts(&case).iter().all(|verdict| *verdict == Verdict::Pass), "{:?}", verdicts(&case));
    subnets(&mut case, |subnet| subnet.free_addresses = 3);
    assert!(verdicts(&case).contains(&Verdict::Block), "{:?}", verdicts(&case));

    let needs: Vec<_> = case.findings(Check::Addresses).into_iter().filter_map(|f| f.need).collect();
    let most = needs.iter().copied().fold(0.0, f64::max);
    subnets(&mut case, |subnet| subnet.free_addresses = most as u32);
    let found = case.findings(Check::Addresses);
    assert!(found.iter().any(|f| f.verdict == Verdict::Warn), "{found:#?}");
    assert!(!found.iter().any(|f| f.verdict == Verdict::Block), "{found:#?}");
}

#[test]
fn a_tiny_network_of_ones_own_is_noticed() {
    let mut case = Case::of("llama-70b", "ready");
    case.spec.node_classes[1].nodes.max = 4000;
    let found = case.findings(Check::Addresses);
    assert!(found.iter().any(|f| f.verdict == Verdict::Warn && f.message.contains("at the largest")), "{found:#?}");
}
