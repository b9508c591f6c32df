//! Money: what is counted, at which size, and what is not known.

use crate::preflight::case::Case;
use infer_stack::{
    cost::Cost,
    model::Doc,
    observed::Sight,
    stack::{Capacity, Expires, Provisioner, SupportType},
};

fn hourly(cost: &Cost, address: &str, unit: &str) -> f64 {
    let item = cost.items.iter().find(|item| item.address == address && item.unit == unit);
    item.unwrap_or_else(|| panic!("{address} {unit} in {:#?}", cost.items)).hourly
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

#[test]
fn a_stack_costs_what_its_parts_do() {
    let cost = Case::of("llama-70b", "ready").made().cost;
    assert!(close(cost.hourly_now, 0.0));
    assert!(close(hourly(&cost, "node-group.p5", "p5.48xlarge"), 2.0 * 55.04));
    assert!(close(hourly(&cost, "cluster.main", "eksClusterHours"), 0.10));
    // Two volumes of 500 GiB at $0.08 a month of 730 hours.
    assert!(close(hourly(&cost, "node-group.p5", "gp3GibMonths"), 1000.0 * 0.08 / 730.0));
    let sum: f64 = cost.items.iter().map(|item| item.hourly).sum();
    assert!(close(cost.hourly_after, sum));
    assert!(cost.hourly_min < 1.0 && cost.hourly_max > 8.0 * 55.04, "{cost:#?}");
    assert!(close(cost.until_expiry.unwrap(), cost.hourly_after * 72.0));
    assert!(cost.unknown.is_empty(), "{:?}", cost.unknown);
    assert!(cost.as_of.is_some());
}

#[test]
fn a_stack_that_does_not_expire_has_no_sum() {
    let mut case = Case::of("llama-70b", "ready");
    case.spec.expires = Expires::Never;
    assert_eq!(case.made().cost.until_expiry, None);
}

#[test]
fn an_unknown_price_is_listed_and_not_nothing() {
    let mut case = Case::of("llama-70b", "ready");
    case.spec.node_classes[1].capacity = Capacity::Spot;
    let cost = case.made().cost;
    assert!(cost.unknown.iter().any(|u| u.unit == "p5.48xlarge" && u.why.contains("market")), "{:?}", cost.unknown);
    assert!(!cost.items.iter().any(|item| item.unit == "p5.48xlarge"));
}

#[test]
fn what_lives_costs_what_its_scaler_made_of_it() {
    let mut case = Case::of("llama-70b", "ready");
    case.settle();
    let cost = case.made().cost;
    assert!(close(cost.hourly_now, cost.hourly_after), "{cost:#?}");
    let Some(Sight::Seen(groups)) = case.snapshot.sights.get_mut("node-group") else { panic!() };
    let p5 = groups.iter_mut().find(|live| live.doc["name"] == "p5").unwrap();
    p5.doc["desiredSize"] = Doc::from(5);
    let asked = case.made().cost;
    assert!(close(asked.hourly_now, cost.hourly_now), "what could not be had yet is not billed: {asked:#?}");
    let Some(Sight::Seen(groups)) = case.snapshot.sights.get_mut("node-group") else { panic!() };
    let p5 = groups.iter_mut().find(|live| live.doc["name"] == "p5").unwrap();
    p5.doc["inService"] = Doc::from(5);
    let scaled = case.made().cost;
    assert!(close(scaled.hourly_now - cost.hourly_now, 3.0 * (55.04 + 500.0 * 0.08 / 730.0)), "{scaled:#?}");
    // The file leaves the size alone, so that it stays.
    assert!(close(scaled.hourly_after, scaled.hourly_now));
    // It does not any more.
    case.spec.node_classes[1].nodes.desired = 1;
    assert!(close(hourly(&case.made().cost, "node-group.p5", "p5.48xlarge"), 55.04));
}

#[test]
fn a_pool_of_karpenter_costs_at_its_largest() {
    let mut case = Case::of("llama-70b", "ready");
    let p5 = &mut case.spec.node_classes[1];
    (p5.provisioner, p5.nodes.desired) = (Provisioner::Karpenter, 0);
    let cost = case.made().cost;
    assert!(cost.hourly_after < 2.0 && cost.hourly_max > 8.0 * 55.04, "{cost:#?}");
}

#[test]
fn extended_support_bills_six_times_as_much() {
    let mut case = Case::of("llama-70b", "ready");
    case.spec.cluster.version = Some("1.33".to_owned());
    case.spec.cluster.support_type = SupportType::Extended;
    case.ask("ready");
    let cost = case.made().cost;
    assert!(close(hourly(&cost, "cluster.main", "eksClusterExtendedHours"), 0.60));
    assert!(!cost.items.iter().any(|item| item.unit == "eksClusterHours"));
}
