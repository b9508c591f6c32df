//! What was chosen once is what is read afterwards: a second run changes nothing, in every example.

use crate::{preflight::case::Case, stack};
use infer_stack::{
    catalog::Catalog,
    choose::Choices,
    cloud::{Answer, ClusterVersion, Fact},
    plan::Action,
    stack::{Provisioner, Spec},
};

/// Values alone: reasons differ, since what lives is now one. Karpenter's classes are left out: what they were given is in
/// Kubernetes, which is not looked at here.
fn values(spec: &Spec, choices: &Choices) -> Vec<String> {
    let mut values = vec![
        format!("callers {:?}", choices.callers.value),
        format!("zones {:?}", choices.zones.value),
        format!("control plane {:?}", choices.control_plane_zones.value),
        format!("version {}", choices.cluster_version.value),
        format!("cidrs {:?}", choices.public_cidrs.value),
        format!("expires {}", choices.expires.value),
        format!("bucket {:?}", choices.bucket.as_ref().map(|c| &c.value)),
        format!("file system {:?}", choices.file_system_zone.as_ref().map(|c| &c.value)),
    ];
    values.extend(choices.addons.iter().map(|(name, choice)| format!("addon {name} {}", choice.value)));
    for class in spec.node_classes.iter().filter(|class| class.provisioner == Provisioner::Managed) {
        let (name, class) = (&class.name, &choices.classes[&class.name]);
        let zones: Vec<_> = class.groups.iter().map(|group| &group.zones.value).collect();
        values.push(format!("class {name} {zones:?} {} {:?}", class.ami_type.value, class.ami_release.value));
    }
    values
}

/// Everything that may be newer one day.
fn move_on(case: &mut Case) {
    let version = |version: &str, end: &str| ClusterVersion {
        version: version.to_owned(),
        end_of_standard_support: Some(end.to_owned()),
    };
    let later = vec![version("1.34", "2027-12-02"), version("1.35", "2028-03-27"), version("1.36", "2028-08-01")];
    case.learn(Fact::ClusterVersions, Answer::ClusterVersions(later));
    for looked in case.facts.addon_versions.values_mut() {
        *looked = Ok(Some("v99.0.0-eksbuild.1".to_owned()));
    }
    for ((version, _), looked) in &mut case.facts.ami_releases {
        *looked = Ok(Some(format!("{version}.99-20291231")));
    }
    let region = case.spec.region.clone();
    let zones = Catalog::compiled().zones(&region).value.unwrap();
    for looked in case.facts.offerings.values_mut() {
        *looked = Ok(zones.clone());
    }
}

fn unchanged(case: &Case, stem: &str) {
    let plan = case.settled_plan();
    assert!(plan.steps.len() > 20, "{stem}");
    let changed: Vec<_> = plan.steps.iter().filter(|step| step.action != Action::Keep).collect();
    assert!(changed.is_empty(), "{stem}: {changed:#?}");
}

#[test]
fn a_second_look_chooses_the_same_and_offers_nothing() {
    for (stem, text) in stack::examples() {
        let mut case = Case::new(stack::one(&text).spec, "ready");
        let before = case.made().choices;
        case.settle();
        case.now = "2026-12-02T08:00:00Z".to_owned();
        let after = case.made();
        assert_eq!(values(&case.spec, &before), values(&case.spec, &after.choices), "{stem}");
        assert_eq!(after.choices.offers, [], "{stem}");
        unchanged(&case, &stem);
    }
}

#[test]
fn the_world_moves_on_and_the_stack_does_not() {
    for (stem, text) in stack::examples() {
        let mut case = Case::new(stack::one(&text).spec, "ready");
        case.settle();
        let before = case.made().choices;
        move_on(&mut case);
        let after = case.made().choices;
        assert_eq!(values(&case.spec, &before), values(&case.spec, &after), "{stem}");
        let addons = after.offers.iter().filter(|offer| offer.subject.starts_with("addon ")).count();
        assert_eq!(addons, after.addons.len(), "{stem}: {:#?}", after.offers);
        unchanged(&case, &stem);
    }
}
