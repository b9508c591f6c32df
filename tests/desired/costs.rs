//! The costs layer, rule by rule.

use super::nodes::{graph, want};
use crate::samples::{identity, llama_70b, nothing, settled};
use infer_stack::{
    desired::{DesiredGraph, names},
    observed::{Sight, Snapshot, live},
    plan::{Action, Options, Plan, plan},
    resources::{self, cost_tags},
    stack::Spec,
};
use serde_json::json;

fn spec(activate: &[&str]) -> Spec {
    let mut spec = llama_70b();
    spec.tags = activate.iter().map(|key| ((*key).to_owned(), "x".to_owned())).collect();
    spec.cost_allocation.activate = activate.iter().map(|key| (*key).to_owned()).collect();
    spec.cost_allocation.backfill_months = 12;
    spec
}

/// The account as billing shows it to a stack that asks about `workload` and `model`.
fn billing(statuses: serde_json::Value) -> Snapshot {
    let mut snapshot = settled(&graph(&spec(&["workload", "model"])), &nothing());
    let doc = json!({ "asked": ["model", "workload"], "statuses": statuses });
    let kind = resources::kind("cost-tags").unwrap();
    snapshot.sights.insert("cost-tags".to_owned(), Sight::Seen(vec![live(kind, doc).unwrap()]));
    snapshot
}

fn action(plan: &Plan) -> Action {
    plan.steps.iter().find(|step| step.address == names::cost_tags()).unwrap().action
}

fn planned(snapshot: &Snapshot) -> Plan {
    plan(&graph(&spec(&["workload", "model"])), snapshot, &Options::default())
}

#[test]
fn keys_of_the_file_are_wished_active() {
    let tags: cost_tags::Desired = want(&graph(&spec(&["workload", "model"])), &names::cost_tags());
    assert_eq!(tags.active, ["model", "workload"].map(str::to_owned).into());
    assert_eq!(tags.backfill_months, 12);
    assert!(!graph(&llama_70b()).wishes.contains_key(&names::cost_tags()));
}

#[test]
fn a_key_that_billing_has_not_seen_is_neither_change_nor_failure() {
    let plan = planned(&billing(json!({ "workload": "Active" })));
    assert!(plan.is_settled(), "{:#?}", plan.tasks);
    assert!(planned(&billing(json!({}))).is_settled());
    let seen = cost_tags::Observed {
        asked: ["model", "workload"].map(str::to_owned).into(),
        statuses: [("workload".to_owned(), cost_tags::Status::Active)].into(),
    };
    assert_eq!(seen.pending().collect::<Vec<_>>(), ["model"]);
}

#[test]
fn a_key_that_billing_knows_and_does_not_split_by_is_activated() {
    let plan = planned(&billing(json!({ "workload": "Active", "model": "Inactive" })));
    assert_eq!(action(&plan), Action::Update);
    let step = plan.steps.iter().find(|step| step.address == names::cost_tags()).unwrap();
    assert_eq!(step.fields.len(), 1, "{:?}", step.fields);
    assert_eq!(step.fields[0].after, json!("model"));
}

#[test]
fn a_back_fill_is_asked_for_once_and_never_diffed() {
    let plan = planned(&billing(json!({ "workload": "Active", "model": "Active" })));
    assert!(plan.is_settled());
}

#[test]
fn destroy_deactivates_nothing() {
    let live = billing(json!({ "workload": "Active", "model": "Active" }));
    let plan = plan(&DesiredGraph::empty(identity()), &live, &Options::default());
    assert!(plan.tasks.iter().all(|task| task.kind != "cost-tags"));
}

#[test]
fn the_name_of_a_set_of_keys_tells_them_all() {
    let keys = ["model", "team,sub", "workload"].map(str::to_owned).into();
    assert_eq!(cost_tags::keys_of(&cost_tags::name_of(&keys)), keys);
}
