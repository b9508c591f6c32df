//! Choices of a stack that lives: what is newer is offered, never taken.

use crate::samples::*;
use infer_stack::{
    catalog::Catalog,
    choose::{Choices, ChooseError, choose},
    cloud::{Answer, Caller, Fact},
    model::Address,
    observed::{Sight, Snapshot},
    stack::{Expires, Network, Spec, names},
};

fn chosen(spec: &Spec, snapshot: &Snapshot, account: &Account) -> Choices {
    choose(spec, snapshot, &account.catalog(), &circumstances()).unwrap()
}

/// The account on the day the stack was made.
fn then() -> Account {
    Account {
        versions: vec![("1.34", Some("2026-12-02"))],
        addon: "v1.9.9-eksbuild.3",
        ami: "20261001",
        ..Account::default()
    }
}

#[test]
fn on_the_day_it_was_made_nothing_is_offered() {
    let choices = chosen(&llama_70b(), &lived(), &then());
    assert!(choices.offers.is_empty(), "{:?}", choices.offers);
}

#[test]
fn newer_things_are_offered_and_change_nothing() {
    let before = chosen(&llama_70b(), &lived(), &then());
    // A new Kubernetes version, add-ons, images, and a zone that sorts before the one in use.
    let now = Account { p5: vec!["usw2-az1", "usw2-az2", "usw2-az3"], ..Account::default() };
    let mut after = chosen(&llama_70b(), &lived(), &now);
    let offers = std::mem::take(&mut after.offers);
    assert_eq!(before, after);

    let offered: Vec<_> = offers.iter().map(|o| format!("{}: {} -> {}", o.subject, o.current, o.newer)).collect();
    assert!(offered.contains(&"cluster.version: 1.34 -> 1.35".to_owned()), "{offered:#?}");
    assert!(offered.contains(&"addon vpc-cni: v1.9.9-eksbuild.3 -> v1.20.4-eksbuild.1".to_owned()), "{offered:#?}");
    assert!(offered.contains(&"ami p5: 1.34.2-20261001 -> 1.34.2-20261120".to_owned()), "{offered:#?}");
    assert!(offered.contains(&"zone p5: usw2-az2 -> usw2-az1".to_owned()), "{offered:#?}");
    assert!(offers.iter().any(|offer| offer.take == "cluster.version: \"1.35\""));
}

#[test]
fn live_values_are_the_defaults() {
    let choices = chosen(&llama_70b(), &lived(), &Account::default());
    assert_eq!(choices.cluster_version.value, "1.34");
    assert_eq!(choices.cluster_version.because, "the live cluster has it");
    assert_eq!(choices.expires.value, "2026-12-03T09:00:00Z");
    assert_eq!(choices.bucket.unwrap().value, "llama-70b-weights-old");
    // Whoever made the cluster keeps reaching it; this machine is added.
    assert_eq!(choices.public_cidrs.value, ["198.51.100.4/32", "203.0.113.7/32"]);
}

#[test]
fn whoever_runs_it_next_is_added_and_nobody_loses() {
    let other = "arn:aws:iam::123456789012:user/somebody".to_owned();
    let mut facts = Account::default().facts();
    let caller = Caller { account: identity().account, principal: other.clone() };
    facts.learn(&Fact::Caller, Ok(Answer::Caller(caller)));
    let choices = choose(&llama_70b(), &lived(), &Catalog::with(facts), &circumstances()).unwrap();
    assert_eq!(choices.callers.value, [CALLER.to_owned(), other]);
}

#[test]
fn an_address_that_can_not_be_had_does_not_close_the_endpoint() {
    let mut facts = Account::default().facts();
    facts.learn(&Fact::CallerAddress, Err(denied("GET checkip")));
    let choices = choose(&llama_70b(), &lived(), &Catalog::with(facts), &circumstances()).unwrap();
    assert_eq!(choices.public_cidrs.value, ["198.51.100.4/32"]);
}

#[test]
fn the_file_goes_before_what_lives() {
    let mut spec = llama_70b();
    spec.cluster.version = Some("1.35".to_owned());
    spec.expires = Expires::Never;
    spec.node_classes[1].ami.release = Some("1.35.2-20261101".to_owned());
    let choices = chosen(&spec, &lived(), &Account::default());
    assert_eq!(choices.cluster_version.value, "1.35");
    assert_eq!(choices.expires.value, "never");
    let release = |class: &str| choices.classes[class].ami_release.value.clone().unwrap();
    assert_eq!(release("p5"), "1.35.2-20261101");
    // Add-ons and nodes follow the control plane to its new version.
    assert_eq!(release("system"), "1.35.2-20261120");
    assert_eq!(choices.addons["vpc-cni"].value, "v1.20.4-eksbuild.1");
}

#[test]
fn a_version_goes_up_one_minor_at_a_time_and_never_down() {
    let mut spec = llama_70b();
    spec.cluster.version = Some("1.36".to_owned());
    let refused = |spec: &Spec| choose(spec, &lived(), &Account::default().catalog(), &circumstances()).unwrap_err();
    assert!(matches!(refused(&spec), ChooseError::VersionSkips { next, .. } if next == "1.35"));
    spec.cluster.version = Some("1.33".to_owned());
    assert!(matches!(refused(&spec), ChooseError::VersionDown { .. }));
    spec.cluster.version = Some("newest".to_owned());
    assert!(matches!(refused(&spec), ChooseError::NoVersion(_)));
}

#[test]
fn a_type_that_the_live_zone_lacks_moves_and_brings_its_zone() {
    let account = Account { p5: vec!["usw2-az3"], ..Account::default() };
    let choices = chosen(&llama_70b(), &lived(), &account);
    assert_eq!(choices.classes["p5"].groups[0].zones.value, ["usw2-az3"]);
    // Appended: the order of the others, and with it their addresses, stays.
    assert_eq!(choices.zones.value, ["usw2-az1", "usw2-az2", "usw2-az3"]);
    // EKS freezes the zones of the control plane.
    assert_eq!(choices.control_plane_zones.value, ["usw2-az1", "usw2-az2"]);
}

#[test]
fn a_class_outside_the_networks_stated_zones_is_refused() {
    let mut spec = llama_70b();
    spec.network = Network::Made {
        cidr: "10.64.0.0/16".parse().unwrap(),
        zones: Some(vec!["usw2-az1".to_owned(), "usw2-az2".to_owned()]),
        nat_gateways: infer_stack::stack::NatGateways::One,
    };
    spec.node_classes[1].zone = Some("usw2-az4".to_owned());
    let error = choose(&spec, &lived(), &Account::default().catalog(), &circumstances()).unwrap_err();
    assert!(matches!(error, ChooseError::OutsideNetwork { .. }), "{error}");
}

#[test]
fn what_could_not_be_seen_is_not_taken_for_absent() {
    for kind in ["subnet", "cluster"] {
        let mut snapshot = lived();
        snapshot.sights.insert(kind.to_owned(), Sight::Blind(denied("Describe")));
        let error = choose(&llama_70b(), &snapshot, &Account::default().catalog(), &circumstances()).unwrap_err();
        assert!(matches!(error, ChooseError::CouldNotLook { .. }), "{kind}: {error}");
    }
}

#[test]
fn what_is_being_deleted_is_no_default() {
    let mut snapshot = lived();
    let address: Address = names::weights_bucket();
    if let Some(Sight::Seen(all)) = snapshot.sights.get_mut(address.kind()) {
        all.iter_mut().for_each(|live| live.look.going = true);
    }
    let choices = chosen(&llama_70b(), &snapshot, &Account::default());
    assert_eq!(choices.bucket.unwrap().value, "llama-70b-weights-123456789012-us-west-2");
}
