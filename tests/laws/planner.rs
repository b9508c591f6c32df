//! The verdicts, one case each: what is done, and what a person reads about it.

use super::{
    toys::{Desired, Item},
    world::{World, address, graph, identity, wish},
};
use infer_stack::{
    contract::{Class, CloudError},
    desired::DesiredGraph,
    model::{Doc, Link, STACK},
    plan::{Action, LATER, Options, Plan, SECRET, Step, Verb},
};
use serde_json::json;
use std::collections::BTreeSet;

fn to(at: &str, output: &str) -> Option<Link> {
    Some(Link::to(&address(at), output))
}

fn named(name: &str) -> Desired {
    Desired { name: name.to_owned(), ..Desired::default() }
}

/// A net, a role, a template in the net, and a pool that leans on all of them.
fn stack() -> DesiredGraph {
    let mut graph = graph();
    wish(&mut graph, "net.main", Desired::default());
    wish(&mut graph, "role.node", named("node"));
    wish(&mut graph, "template.p5", Desired { parent: to("net.main", "id"), loose: "1".into(), ..Desired::default() });
    let pool = Desired {
        parent: to("net.main", "id"),
        grip: to("role.node", "id"),
        glance: to("template.p5", "id"),
        version: to("template.p5", "version"),
        ..named("p5")
    };
    wish(&mut graph, "pool.p5", pool);
    graph
}

fn settled(graph: &DesiredGraph) -> World {
    let mut world = World::default();
    world.bring(graph, &Options::default(), 1).unwrap();
    world
}

fn change(graph: &mut DesiredGraph, at: &str, field: &str, value: Doc) {
    graph.wishes.get_mut(&address(at)).unwrap().doc[field] = value;
}

fn step<'p>(plan: &'p Plan, at: &str) -> &'p Step {
    plan.steps.iter().find(|step| step.address == address(at)).unwrap_or_else(|| panic!("no {at} in {plan:#?}"))
}

fn actions(plan: &Plan) -> Vec<(String, Action)> {
    plan.steps.iter().map(|step| (step.address.to_string(), step.action)).collect()
}

fn verbs(plan: &Plan) -> Vec<String> {
    let word = |verb: &Verb| match verb {
        Verb::Create => "create",
        Verb::Update { .. } => "update",
        Verb::Delete { .. } => "delete",
        Verb::Await { .. } => "await",
    };
    plan.tasks.iter().map(|task| format!("{} {}", word(&task.verb), task.address)).collect()
}

fn denied() -> CloudError {
    CloudError::new("toy:List", Class::Denied, "AccessDenied", "no")
}

#[test]
fn a_moved_output_updates_who_links_to_it() {
    let mut graph = stack();
    let world = settled(&graph);
    change(&mut graph, "template.p5", "loose", json!("2"));
    let plan = world.plan(&graph, &Options::default());
    assert_eq!(verbs(&plan), ["update template.p5", "update pool.p5"]);
    let pool = step(&plan, "pool.p5");
    assert!(pool.interrupts);
    assert_eq!((pool.fields[0].path.as_str(), &pool.fields[0].after), ("/version", &json!(LATER)));
    assert!(pool.reason.contains("template.p5"), "{}", pool.reason);
    assert!(!step(&plan, "template.p5").interrupts);
}

#[test]
fn a_replacement_reaches_what_can_not_let_go_and_no_further() {
    let mut graph = stack();
    let world = settled(&graph);
    change(&mut graph, "role.node", "fixed", json!("new"));
    let plan = world.plan(&graph, &Options::default());
    let expected = [
        ("net.main", Action::Keep),
        ("role.node", Action::Replace),
        ("template.p5", Action::Keep),
        ("pool.p5", Action::Replace),
    ];
    assert_eq!(actions(&plan), expected.map(|(at, action)| (at.to_owned(), action)));
    assert_eq!(verbs(&plan), ["delete pool.p5", "delete role.node", "create role.node", "create pool.p5"]);
    assert_eq!(plan.gone[&address("role.node")], ["node"]);
    // An in-place link that does not hold follows by an update.
    let mut graph = stack();
    change(&mut graph, "template.p5", "fixed", json!("new"));
    let plan = world.plan(&graph, &Options::default());
    assert_eq!(verbs(&plan), ["delete template.p5", "create template.p5", "update pool.p5"]);
}

#[test]
fn what_is_made_again_under_its_name_moves_nobody() {
    let graph = stack();
    let mut world = settled(&graph);
    world.objects.retain(|(kind, _)| kind != "role");
    let mut named_again = graph;
    // A glance sees the name only; a grip on something that is gone has to be renewed.
    change(&mut named_again, "pool.p5", "grip", json!(null));
    change(&mut named_again, "pool.p5", "glance", json!({"$link": "role.node#id"}));
    world.edit("pool", "p5", |doc| doc["is"]["grip"] = json!(null));
    world.edit("pool", "p5", |doc| doc["is"]["glance"] = json!({"$id": "node"}));
    let plan = world.plan(&named_again, &Options::default());
    assert_eq!(verbs(&plan), ["create role.node"]);
}

#[test]
fn sets_are_compared_by_item_and_secrets_are_veiled() {
    let mut graph = graph();
    let item = |port| Item { port, peer: None };
    let first = Desired { items: vec![item(1), item(2)], password: "old".into(), ..Desired::default() };
    wish(&mut graph, "net.main", first);
    let world = settled(&graph);
    change(&mut graph, "net.main", "items", json!([{"port": 2, "peer": null}, {"port": 1, "peer": null}]));
    assert!(world.plan(&graph, &Options::default()).is_settled());
    change(&mut graph, "net.main", "items", json!([{"port": 2, "peer": null}, {"port": 3, "peer": null}]));
    change(&mut graph, "net.main", "password", json!("new"));
    let plan = world.plan(&graph, &Options::default());
    let shown: Vec<(&str, &Doc, &Doc)> =
        step(&plan, "net.main").fields.iter().map(|f| (f.path.as_str(), &f.before, &f.after)).collect();
    let (null, secret) = (json!(null), json!(SECRET));
    let (one, three) = (json!({"port": 1, "peer": null}), json!({"port": 3, "peer": null}));
    assert_eq!(shown, [("/items", &one, &null), ("/items", &null, &three), ("/password", &secret, &secret)]);
    assert!(matches!(&plan.tasks[0].verb, Verb::Update { changed, .. } if changed == &["/items", "/password"]));
    assert!(!serde_json::to_string(&plan.steps).unwrap().contains("\"old\""));
}

#[test]
fn what_only_grows_is_replaced_to_shrink() {
    let mut graph = graph();
    wish(&mut graph, "net.main", Desired { size: 5, ..Desired::default() });
    let world = settled(&graph);
    change(&mut graph, "net.main", "size", json!(6));
    assert_eq!(step(&world.plan(&graph, &Options::default()), "net.main").action, Action::Update);
    change(&mut graph, "net.main", "size", json!(4));
    assert_eq!(step(&world.plan(&graph, &Options::default()), "net.main").action, Action::Replace);
}

#[test]
fn tags_are_compared_by_key_and_others_stay() {
    let mut graph = stack();
    let mut world = settled(&graph);
    let net = world.id("net.main");
    world.edit("net", &net, |doc| {
        doc["tags"]["cost"] = json!("theirs");
        doc["tags"]["infer-stack/run"] = json!("r0");
        doc["tags"]["team"] = json!("blue");
    });
    graph.anchor_tags.insert("infer-stack/run".into(), "r1".into());
    let plan = world.plan(&graph, &Options::default());
    assert_eq!(verbs(&plan), ["update net.main"]);
    let fields = &step(&plan, "net.main").fields;
    assert_eq!((fields.len(), fields[0].path.as_str()), (1, "/tags/team"));
    let tags = &plan.tasks[0].stamp.as_ref().unwrap().tags;
    assert_eq!((tags["infer-stack/run"].as_str(), tags["infer-stack/expires"].as_str()), ("r1", "never"));
}

#[test]
fn a_name_of_another_stack_is_refused_and_an_untagged_one_adopted_on_request() {
    let mut graph = graph();
    wish(&mut graph, "role.node", Desired { loose: "x".into(), ..named("node") });
    let mut world = settled(&graph);
    world.edit("role", "node", |doc| doc["tags"][STACK] = json!("other"));
    let plan = world.plan(&graph, &Options { adopt: BTreeSet::from([address("role.node")]), ..Options::default() });
    assert_eq!(step(&plan, "role.node").action, Action::Blocked);
    assert!(step(&plan, "role.node").reason.contains("belongs to stack `other`"));

    world.edit("role", "node", |doc| doc["tags"] = json!({}));
    world.edit("role", "node", |doc| doc["is"]["loose"] = json!("y"));
    let plan = world.plan(&graph, &Options::default());
    assert!(step(&plan, "role.node").reason.contains("--adopt role.node"), "{plan:#?}");
    assert!(plan.tasks.is_empty() && !plan.is_settled());

    let adopt = Options { adopt: BTreeSet::from([address("role.node")]), ..Options::default() };
    let plan = world.plan(&graph, &adopt);
    assert_eq!(verbs(&plan), ["update role.node"]);
    change(&mut graph, "role.node", "fixed", json!("immutable"));
    let plan = world.plan(&graph, &adopt);
    assert_eq!(
        (step(&plan, "role.node").action, plan.tasks.len()),
        (Action::Blocked, 0),
        "never deletes what is not ours"
    );
    change(&mut graph, "role.node", "fixed", json!(""));
    world.edit("role", "node", |doc| doc["made_by_aws"] = json!(true));
    let plan = world.plan(&graph, &Options::default());
    assert_eq!(verbs(&plan), ["update role.node"]);
    assert!(step(&plan, "role.node").reason.contains("AWS itself made"));
}

#[test]
fn lost_tags_are_drift_and_not_a_twin() {
    let graph = stack();
    let mut world = settled(&graph);
    let template = world.id("template.p5");
    world.edit("template", &template, |doc| doc["tags"] = json!({}));
    let net = world.id("net.main");
    world.vpc = Some(net.clone());
    assert_eq!(verbs(&world.plan(&graph, &Options::default())), ["update template.p5"]);
    world.edit("net", &net, |doc| doc["tags"] = json!({}));
    let plan = world.plan(&graph, &Options::default());
    assert_eq!(step(&plan, "net.main").action, Action::Update, "{plan:#?}");
    assert!(step(&plan, "net.main").reason.contains("lost its tags"));
}

#[test]
fn of_twins_the_one_that_is_linked_to_stays() {
    let graph = stack();
    let mut world = settled(&graph);
    let (kind, mut twin) = world.objects[0].clone();
    assert_eq!(kind, "net");
    twin["id"] = json!("a-first-one");
    world.objects.insert(0, (kind, twin));
    let plan = world.plan(&graph, &Options::default());
    assert_eq!(verbs(&plan), ["delete net.main"]);
    assert!(matches!(&plan.tasks[0].verb, Verb::Delete { id } if id == "a-first-one"));
    assert_eq!(plan.steps.iter().filter(|step| step.address == address("net.main")).count(), 2);
}

#[test]
fn what_can_not_be_seen_is_neither_made_nor_deleted() {
    let graph = stack();
    let mut world = settled(&graph);
    world.blind.insert("role".into(), denied());
    let plan = world.plan(&graph, &Options::default());
    assert!(step(&plan, "role.node").reason.contains("AccessDenied"));
    assert!(step(&plan, "pool.p5").reason.contains("role.node"));
    assert!(plan.tasks.is_empty());
    // Nothing is wished: what the unseen may lean on stays, and the plan does not claim to be done.
    world.blind = [("pool".to_owned(), denied())].into();
    let plan = world.plan(&DesiredGraph::empty(identity()), &Options::default());
    assert!(plan.tasks.is_empty(), "{:?}", verbs(&plan));
    assert_eq!(step(&plan, "pool.*").action, Action::Blocked);
}

#[test]
fn broken_and_going_ones_are_made_again_and_pending_ones_awaited() {
    let graph = stack();
    let mut world = settled(&graph);
    world.edit("pool", "p5", |doc| doc["ready"] = json!({"state": "broken", "why": "CREATE_FAILED: no capacity"}));
    let plan = world.plan(&graph, &Options { protect: true, ..Options::default() });
    assert_eq!(verbs(&plan), ["delete pool.p5", "create pool.p5"]);
    assert!(step(&plan, "pool.p5").reason.contains("no capacity"));
    assert!(!step(&plan, "pool.p5").interrupts);

    world.edit("pool", "p5", |doc| doc["ready"] = json!({"state": "pending", "why": "CREATING"}));
    let plan = world.plan(&graph, &Options::default());
    assert_eq!((step(&plan, "pool.p5").action, verbs(&plan)), (Action::Keep, vec!["await pool.p5".to_owned()]));

    world.edit("pool", "p5", |doc| doc["going"] = json!(true));
    let plan = world.plan(&graph, &Options::default());
    assert_eq!(verbs(&plan), ["delete pool.p5", "create pool.p5"]);
}

#[test]
fn protection_refuses_what_interrupts_and_lets_the_rest_through() {
    let mut graph = stack();
    let world = settled(&graph);
    let protect = Options { protect: true, ..Options::default() };
    change(&mut graph, "net.main", "fixed", json!("new"));
    change(&mut graph, "role.node", "loose", json!("new"));
    let plan = world.plan(&graph, &protect);
    assert_eq!(step(&plan, "net.main").action, Action::Blocked);
    assert!(step(&plan, "net.main").reason.contains("protect"));
    assert!(!step(&plan, "net.main").fields.is_empty());
    assert_eq!(verbs(&plan), ["update role.node"]);
    let plan = world.plan(&DesiredGraph::empty(identity()), &protect);
    assert!(plan.tasks.is_empty() && plan.steps.iter().all(|step| step.action == Action::Blocked));
}

#[test]
fn destroy_goes_backwards_and_keeps_data_and_what_is_the_accounts() {
    let mut graph = stack();
    wish(&mut graph, "log.main", named("log"));
    wish(&mut graph, "data.weights", named("weights"));
    wish(&mut graph, "bill.tags", named("tags"));
    let world = settled(&graph);
    let nothing = DesiredGraph::empty(identity());
    let plan = world.plan(&nothing, &Options::default());
    // The log group goes after the pool that writes to it, though no link says so.
    let expected = ["delete pool.p5", "delete role.node", "delete template.p5", "delete net.main", "delete log.main"];
    let mut all = verbs(&plan);
    let place = |what: &str| expected.iter().position(|e| *e == what).unwrap();
    assert!(all.iter().position(|v| v == "delete pool.p5") < all.iter().position(|v| v == "delete log.main"));
    all.sort_by_key(|verb| place(verb));
    assert_eq!(all, expected);
    assert_eq!(step(&plan, "data.weights").action, Action::Keep);
    assert_eq!(step(&plan, "bill.tags").action, Action::Keep);
    let plan = world.plan(&nothing, &Options { delete_data: true, ..Options::default() });
    assert_eq!(step(&plan, "data.weights").action, Action::Delete);
    assert_eq!(step(&plan, "bill.tags").action, Action::Keep);
}

#[test]
fn only_takes_an_address_with_what_it_needs_and_deletes_nothing_else() {
    let graph = stack();
    let only = |at: &str| Options { only: BTreeSet::from([address(at)]), ..Options::default() };
    let plan = World::default().plan(&graph, &only("template.p5"));
    assert_eq!(verbs(&plan), ["create net.main", "create template.p5"]);
    let world = settled(&graph);
    let mut smaller = graph.clone();
    change(&mut smaller, "template.p5", "fixed", json!("new"));
    smaller.wishes.remove(&address("pool.p5"));
    // The pool, though in no wish, does not hold on to the template.
    assert_eq!(verbs(&world.plan(&smaller, &only("template.p5"))), ["delete template.p5", "create template.p5"]);
    change(&mut smaller, "net.main", "fixed", json!("new"));
    let plan = world.plan(&smaller, &only("net.main"));
    assert_eq!((step(&plan, "net.main").action, plan.tasks.len()), (Action::Blocked, 0));
    assert_eq!(step(&world.plan(&graph, &only("pool.none")), "pool.none").action, Action::Blocked);
}

#[test]
fn an_update_lets_go_before_what_it_held_is_deleted() {
    let mut graph = stack();
    let world = settled(&graph);
    graph.wishes.remove(&address("role.node"));
    change(&mut graph, "pool.p5", "grip", json!(null));
    assert_eq!(verbs(&world.plan(&graph, &Options::default())), ["update pool.p5", "delete role.node"]);
}

#[test]
fn a_knot_is_cut_by_replacing_what_holds() {
    // The pool holds the role, which has to be made anew; the pool lets go of it, but only for something that needs the new one.
    let mut graph = stack();
    let world = settled(&graph);
    change(&mut graph, "role.node", "fixed", json!("new"));
    wish(&mut graph, "group.new", Desired { parent: to("role.node", "id"), ..Desired::default() });
    change(&mut graph, "pool.p5", "grip", json!({"$link": "group.new#id"}));
    let plan = world.plan(&graph, &Options::default());
    assert_eq!(step(&plan, "pool.p5").action, Action::Replace);
    let mut world = world;
    world.apply(&plan);
    assert!(world.plan(&graph, &Options::default()).is_settled());
}

#[test]
fn a_circle_of_wishes_is_said_and_blocks_those_that_need_it() {
    let mut graph = graph();
    wish(&mut graph, "group.a", Desired { glance: to("group.b", "id"), ..Desired::default() });
    wish(&mut graph, "group.b", Desired { glance: to("group.a", "id"), ..Desired::default() });
    wish(&mut graph, "net.c", Desired { glance: to("group.a", "id"), ..Desired::default() });
    wish(&mut graph, "net.d", Desired::default());
    let plan = World::default().plan(&graph, &Options::default());
    assert_eq!(verbs(&plan), ["create net.d"]);
    assert!(step(&plan, "group.a").reason.contains("group.a, group.b"));
    assert!(step(&plan, "net.c").reason.contains("group.a"));
}

#[test]
fn gone_records_are_no_objects_but_change_the_token() {
    let graph = stack();
    let mut world = settled(&graph);
    let net = world.id("net.main");
    world.objects.retain(|(kind, _)| kind == "net");
    world.edit("net", &net, |doc| doc["gone"] = json!(true));
    let plan = world.plan(&graph, &Options::default());
    assert_eq!(step(&plan, "net.main").action, Action::Create);
    assert!(step(&plan, "net.main").reason.contains(&net));
    assert_eq!(plan.gone[&address("net.main")], [net]);
}
