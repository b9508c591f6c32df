//! A stack as it is once everything was made, imagined kind by kind; and what must hold of it whatever the stack.

use crate::samples::*;
use infer_stack::{
    catalog::Catalog,
    choose::{Choices, choose},
    desired::{DesiredGraph, desired},
    model::{Address, links},
    observed::{Sight, Snapshot},
    plan::{Action, Options, Plan, plan},
    resources,
    stack::Spec,
};
use std::collections::BTreeMap;

pub fn catalog() -> Catalog {
    Account::default().catalog()
}

pub fn choices(spec: &Spec, snapshot: &Snapshot) -> Choices {
    choose(spec, snapshot, &catalog(), &circumstances()).unwrap()
}

/// What is wished of a stack beside `snapshot`.
pub fn wished(spec: &Spec, snapshot: &Snapshot) -> DesiredGraph {
    desired(spec, &choices(spec, snapshot), &catalog(), &identity(), &circumstances()).unwrap()
}

/// Everything made and ready, and every kind looked at.
pub fn all_live(graph: &DesiredGraph) -> Snapshot {
    let mut snapshot = settled(graph, &nothing());
    for kind in resources::KINDS {
        snapshot.sights.entry(kind.name().to_owned()).or_insert(Sight::Seen(vec![]));
    }
    snapshot
}

pub fn replan(spec: &Spec, snapshot: &Snapshot) -> Plan {
    plan(&wished(spec, snapshot), snapshot, &Options::default())
}

/// Addresses of a plan that something happens to.
pub fn changes(plan: &Plan) -> BTreeMap<String, Action> {
    let changed = plan.steps.iter().filter(|step| step.action != Action::Keep);
    changed.map(|step| (step.address.to_string(), step.action)).collect()
}

/// Stacks that between them take every branch of the two layers.
pub fn stacks() -> Vec<(&'static str, Spec)> {
    vec![
        ("managed", llama_70b()),
        ("everything", super::cluster::everything()),
        ("closed", super::identity::closed()),
        ("brought roles", super::identity::brought_roles()),
    ]
}

#[test]
fn a_stack_that_was_made_needs_no_change() {
    for (name, spec) in stacks() {
        let snapshot = all_live(&wished(&spec, &nothing()));
        let plan = replan(&spec, &snapshot);
        assert!(plan.is_settled(), "{name}: {:#?}", changes(&plan));
    }
}

#[test]
fn every_link_leads_to_a_wish_and_every_wish_says_why_it_is_there() {
    for (name, spec) in stacks() {
        let graph = wished(&spec, &nothing());
        for wish in graph.wishes.values() {
            assert!(!wish.because.is_empty(), "{name}: {}", wish.address);
            for link in links(&wish.doc) {
                assert!(
                    graph.wishes.contains_key(&link.address),
                    "{name}: {}{} to {}",
                    wish.address,
                    link.path,
                    link.address
                );
            }
            for (target, why) in &wish.after {
                assert!(graph.wishes.contains_key(target), "{name}: {} after {target}", wish.address);
                assert!(!why.is_empty());
            }
        }
    }
}

#[test]
fn no_wish_breaks_a_rule_of_aws_even_with_the_longest_names() {
    for (name, mut spec) in stacks() {
        spec.name = "a-stack-of-thirty-two-characters".to_owned();
        // The longest region names have fourteen characters.
        spec.region = "ap-southeast-7".to_owned();
        let choices = choices(&spec, &nothing());
        let mut of = identity();
        (of.stack, of.region) = (spec.name.clone(), spec.region.clone());
        let graph = desired(&spec, &choices, &catalog(), &of, &circumstances()).unwrap();
        for wish in graph.wishes.values() {
            let kind = resources::kind(wish.address.kind()).unwrap();
            assert_eq!(kind.check(&wish.doc).unwrap(), Vec::<String>::new(), "{name}: {}", wish.address);
        }
    }
}

#[test]
fn run_and_expiry_are_on_the_anchors_only() {
    for (name, spec) in stacks() {
        let graph = wished(&spec, &nothing());
        assert_eq!(graph.anchor_tags["infer-stack/run"], "run-1");
        assert_eq!(graph.anchor_tags["infer-stack/expires"], "2026-12-04T12:00:00Z");
        for wish in graph.wishes.values() {
            let text = wish.doc.to_string();
            assert!(
                !text.contains("infer-stack/run") && !text.contains("infer-stack/expires"),
                "{name}: {}",
                wish.address
            );
        }
        assert!(!graph.tags.contains_key("infer-stack/run"));
    }
}

#[test]
fn the_same_input_gives_the_same_wishes() {
    for (_, spec) in stacks() {
        let text = |graph: &DesiredGraph| serde_json::to_string(graph).unwrap();
        assert_eq!(text(&wished(&spec, &nothing())), text(&wished(&spec, &nothing())));
    }
}

/// Changes what AWS shows of one live object.
pub fn respell(
    snapshot: &mut Snapshot,
    name: &str,
    address: &Address,
    change: impl FnOnce(&mut infer_stack::model::Doc),
) {
    let Some(Sight::Seen(all)) = snapshot.sights.get_mut(name) else { panic!("{name} was not looked at") };
    let live = all.iter_mut().find(|live| live.look.claims.as_ref() == Some(address)).unwrap();
    change(&mut live.doc);
    live.look = resources::kind(name).unwrap().look(&live.doc).unwrap();
}
