//! What plans make of nodes: what rolls, what is replaced, what is neither, and in which order.

use super::nodes::{graph, p5, want};
use crate::samples::{identity, llama_70b, nothing, settled};
use infer_stack::{
    desired::{DesiredGraph, names},
    model::{Address, Doc, Tags},
    observed::{Sight, Snapshot, live},
    plan::{Action, Options, Plan, Step, Verb, plan},
    resources,
    stack::*,
};
use serde_json::json;

fn planned(wish: &DesiredGraph, live: &Snapshot) -> Plan {
    plan(wish, live, &Options::default())
}

/// The plan from one stack to another.
fn change(edit: impl FnOnce(&mut Spec)) -> Plan {
    let mut spec = llama_70b();
    let before = settled(&graph(&spec), &nothing());
    edit(&mut spec);
    planned(&graph(&spec), &before)
}

/// The live objects of the stack, one of them edited.
fn edited(address: &Address, edit: impl FnOnce(&mut Doc)) -> Snapshot {
    let mut snapshot = settled(&graph(&llama_70b()), &nothing());
    let Some(Sight::Seen(all)) = snapshot.sights.get_mut(address.kind()) else { panic!("{address} was seen") };
    let seen = all.iter_mut().find(|live| live.look.claims.as_ref() == Some(address)).unwrap();
    edit(&mut seen.doc);
    *seen = live(resources::kind(address.kind()).unwrap(), seen.doc.clone()).unwrap();
    snapshot
}

fn changed(plan: &Plan) -> Vec<(&str, Action)> {
    let moved = plan.steps.iter().filter(|step| step.action != Action::Keep);
    moved.map(|step| (step.address.as_str(), step.action)).collect()
}

fn step<'a>(plan: &'a Plan, address: &Address) -> &'a Step {
    plan.steps.iter().find(|step| step.address == *address).unwrap()
}

fn paths(step: &Step) -> Vec<&str> {
    step.fields.iter().map(|field| field.path.as_str()).collect()
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
    found.unwrap_or_else(|| panic!("no task to {verb} {address}: {:#?}", changed(plan)))
}

#[test]
fn what_was_made_needs_nothing() {
    let plan = change(|_| {});
    assert!(plan.is_settled(), "{:?}", changed(&plan));
}

#[test]
fn another_largest_size_is_one_update_of_one_field() {
    let plan = change(|spec| p5(spec).nodes.max = 10);
    assert_eq!(changed(&plan), [("node-group.p5", Action::Update)]);
    let step = step(&plan, &names::node_group("p5"));
    assert_eq!(paths(step), ["/max"]);
    assert!(!step.interrupts);
}

#[test]
fn another_start_size_is_one_update_of_one_field() {
    let plan = change(|spec| p5(spec).nodes.desired = 4);
    assert_eq!(changed(&plan), [("node-group.p5", Action::Update)]);
    assert_eq!(paths(step(&plan, &names::node_group("p5"))), ["/start"]);
}

#[test]
fn a_live_size_between_min_and_max_is_no_drift() {
    let live = edited(&names::node_group("p5"), |doc| {
        doc["desiredSize"] = json!(7);
        doc["inService"] = json!(7);
    });
    assert!(planned(&graph(&llama_70b()), &live).is_settled());
    // EKS scales the group of a capacity block to 0 before the block ends.
    let live = edited(&names::node_group("p5"), |doc| {
        doc["desiredSize"] = json!(0);
        doc["inService"] = json!(0);
        doc["memberTags"] = json!([]);
    });
    assert!(planned(&graph(&llama_70b()), &live).is_settled());
}

#[test]
fn a_group_that_was_never_scaled_is_scaled_by_one_update() {
    let live = edited(&names::node_group("p5"), |doc| {
        doc["tags"].as_object_mut().unwrap().remove("infer-stack/desired");
        doc["desiredSize"] = json!(0);
        doc["inService"] = json!(0);
    });
    let plan = planned(&graph(&llama_70b()), &live);
    assert_eq!(changed(&plan), [("node-group.p5", Action::Update)]);
    assert_eq!(paths(step(&plan, &names::node_group("p5"))), ["/start"]);
}

#[test]
fn a_larger_disk_is_a_new_version_that_rolls_the_nodes() {
    let plan = change(|spec| p5(spec).volume.size = 800);
    let template = step(&plan, &names::launch_template("p5"));
    assert_eq!((template.action, template.interrupts), (Action::Update, false));
    let group = step(&plan, &names::node_group("p5"));
    assert_eq!((group.action, group.interrupts), (Action::Update, true));
    assert_eq!(paths(group), ["/templateVersion"]);
    assert_eq!(step(&plan, &names::node_group("system")).action, Action::Keep);
    assert!(at(&plan, "update", &names::launch_template("p5")) < at(&plan, "update", &names::node_group("p5")));
}

#[test]
fn a_changed_tag_reaches_live_nodes_and_rolls_none() {
    let plan = change(|spec| {
        spec.tags.insert("workload".to_owned(), "llm".to_owned());
    });
    assert!(plan.steps.iter().all(|step| !step.interrupts && step.action != Action::Replace));
    let group = step(&plan, &names::node_group("p5"));
    assert_eq!(paths(group), ["/instanceTags/workload", "/tags/workload"]);
    // Of the template itself only.
    assert_eq!(paths(step(&plan, &names::launch_template("p5"))), ["/tags/workload"]);
}

#[test]
fn a_member_without_a_tag_is_drift_and_an_empty_group_is_not() {
    let group = names::node_group("p5");
    let wish = graph(&llama_70b());
    let own: infer_stack::resources::node_group::Desired = want(&wish, &group);
    let mut stray = own.instance_tags.clone();
    stray.remove("infer-stack/stack");
    let members = |tags: Vec<&Tags>| edited(&group, |doc| doc["memberTags"] = json!(tags));
    let plan = planned(&wish, &members(vec![&own.instance_tags, &stray]));
    assert_eq!(paths(step(&plan, &group)), ["/instanceTags/infer-stack/stack"]);
    assert!(planned(&wish, &members(vec![])).is_settled());
    // What EKS and drivers put on members is theirs.
    let mut more = own.instance_tags.clone();
    more.insert("eks:nodegroup-name".to_owned(), "p5".to_owned());
    more.insert("kubernetes.io/created-for/pvc/name".to_owned(), "x".to_owned());
    assert!(planned(&wish, &members(vec![&more])).is_settled());
}

#[test]
fn another_placement_group_rolls_the_nodes_and_the_old_one_goes_afterwards() {
    let plan = change(|spec| {
        spec.placement_groups[0].name = "fresh".to_owned();
        p5(spec).placement_group = Some("fresh".to_owned());
    });
    let group = names::node_group("p5");
    assert_eq!(step(&plan, &group).action, Action::Update);
    assert!(step(&plan, &group).interrupts);
    assert!(at(&plan, "create", &names::placement_group("fresh")) < at(&plan, "update", &names::launch_template("p5")));
    assert!(at(&plan, "update", &names::launch_template("p5")) < at(&plan, "update", &group));
    assert!(at(&plan, "update", &group) < at(&plan, "delete", &names::placement_group("p5")));
}

#[test]
fn a_placement_group_is_made_anew_only_without_its_nodes() {
    let plan = change(|spec| spec.placement_groups[0].strategy = PlacementStrategy::Spread);
    let (group, nodes) = (names::placement_group("p5"), names::node_group("p5"));
    assert_eq!(step(&plan, &group).action, Action::Replace);
    assert_eq!(step(&plan, &nodes).action, Action::Replace);
    assert!(at(&plan, "delete", &nodes) < at(&plan, "delete", &group));
    assert!(at(&plan, "delete", &group) < at(&plan, "create", &group));
    assert!(at(&plan, "create", &group) < at(&plan, "create", &nodes));
}

#[test]
fn a_security_group_goes_only_once_no_node_wears_it() {
    let plan = change(|spec| p5(spec).efa = Efa::None);
    let group = names::node_group("p5");
    assert!(paths(step(&plan, &group)).contains(&"/securityGroups"));
    assert!(at(&plan, "update", &group) < at(&plan, "delete", &names::efa_group()));
}

#[test]
fn what_eks_takes_at_creation_only_replaces_the_group() {
    let plan = change(|spec| p5(spec).capacity = Capacity::Spot);
    assert_eq!(step(&plan, &names::node_group("p5")).action, Action::Replace);
    assert_eq!(step(&plan, &names::launch_template("p5")).action, Action::Keep);
}

#[test]
fn a_release_that_eks_picked_is_no_drift() {
    let mut wish = graph(&llama_70b());
    wish.wishes.get_mut(&names::node_group("p5")).unwrap().doc["release"] = Doc::Null;
    let live = edited(&names::node_group("p5"), |doc| doc["release"] = json!("1.35.9-20270101"));
    assert!(planned(&wish, &live).is_settled());
    // One that somebody wished for rolls the nodes.
    let plan = planned(&graph(&llama_70b()), &live);
    assert!(step(&plan, &names::node_group("p5")).interrupts);
}

#[test]
fn tags_that_eks_wrote_on_an_asg_are_no_scaling_tags() {
    let live = edited(&names::scaling_tags("p5"), |doc| {
        doc["asgTags"] = json!({
            "k8s.io/cluster-autoscaler/enabled": "true",
            "k8s.io/cluster-autoscaler/llama-70b": "owned",
            "eks:nodegroup-name": "p5",
        });
    });
    let plan = planned(&graph(&llama_70b()), &live);
    assert_eq!(changed(&plan), [("scaling-tags.p5", Action::Create)]);
    // Nor are they ever taken away.
    let mut fixed = llama_70b();
    p5(&mut fixed).nodes = Nodes { min: 2, desired: 2, max: 2 };
    let plan = planned(&graph(&fixed), &live);
    assert!(plan.tasks.iter().all(|task| task.address != names::scaling_tags("p5")));
}

#[test]
fn destroy_deletes_nodes_before_what_they_lean_on() {
    let plan = planned(&DesiredGraph::empty(identity()), &settled(&graph(&llama_70b()), &nothing()));
    let nodes = at(&plan, "delete", &names::node_group("p5"));
    let after = [
        names::launch_template("p5"),
        names::placement_group("p5"),
        names::efa_group(),
        names::cluster(),
        names::node_role(),
        names::private_subnet("usw2-az2"),
    ];
    for address in after {
        assert!(nodes < at(&plan, "delete", &address), "{address}");
    }
}
