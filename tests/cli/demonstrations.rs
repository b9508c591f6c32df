//! What the program is for, shown on every stack file.

use super::desk::{Desk, Ran, stacks};
use serde_json::{Value, json};
use std::{collections::BTreeSet, thread};

const UP: &str = "up stacks/llama-70b.yaml --yes";

#[test]
fn every_stack_comes_up_settles_and_goes_without_a_rest() {
    let life = |stack: String| {
        let desk = Desk::of_scenario("ready");
        desk.run(&format!("up stacks/{stack}.yaml --yes")).exits(0);
        let plan = desk.run(&format!("plan stacks/{stack}.yaml --detailed-exitcode --json")).exits(0).json();
        let changes = plan["changes"].as_array().unwrap();
        assert!(changes.iter().all(|change| change["action"] == "keep"), "{stack}: {changes:#?}");
        let destroy = format!("destroy stacks/{stack}.yaml --yes --confirm {} --json", plan["stack"].as_str().unwrap());
        let destroyed = desk.run(&destroy).exits(0).json();
        let verified = desk.run(&format!("verify stacks/{stack}.yaml --json")).exits(0).json();
        assert_eq!((&destroyed["verdict"], &verified["verdict"]), (&"absent".into(), &"absent".into()), "{stack}");
        assert_eq!(destroyed["kept"], verified["kept"], "{stack}");
        let ids = |list: &Value| -> BTreeSet<String> {
            list.as_array().unwrap().iter().map(|thing| thing["id"].as_str().unwrap().to_owned()).collect()
        };
        let left = ids(&desk.run("sandbox status --json").exits(0).json()["objects"]);
        let unsaid: Vec<_> = left.difference(&ids(&verified["kept"])).cloned().collect();
        assert!(unsaid.is_empty(), "{stack}: {unsaid:?} are left and not in the receipt");
    };
    thread::scope(|scope| {
        for stack in stacks() {
            scope.spawn(move || life(stack));
        }
    });
}

fn changed(ran: &Ran) -> Vec<(String, String)> {
    let plan = ran.json();
    let changes = plan["changes"].as_array().unwrap().iter().filter(|change| change["action"] != "keep");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    changes.map(|change| (text(&change["address"]), text(&change["action"]))).collect()
}

#[test]
fn edits_of_a_live_stack_change_what_they_must_and_no_more() {
    let desk = Desk::new();
    desk.run(UP).exits(0);

    // More nodes at most: one update, in place.
    desk.edit("llama-70b", "more.yaml", &[("min: 2, desired: 2, max: 3", "min: 2, desired: 2, max: 5")]);
    let plan = desk.run("plan more.yaml --json --detailed-exitcode").exits(2);
    assert_eq!(changed(&plan), [("node-group.system".to_owned(), "update".to_owned())]);
    let only = &plan.json()["changes"].as_array().unwrap().iter().find(|c| c["action"] == "update").unwrap().clone();
    assert_eq!(only["interrupts"], false);
    assert_eq!(only["fields"], json!([{ "path": "/max", "before": 3, "after": 5, "forces_replacement": false }]));
    desk.run("plan more.yaml").exits(0).says(&["~ node-group.system", "max 3 → 5, in place", "1 to change"]);
    desk.run("up more.yaml --yes").exits(0);
    desk.run("plan more.yaml --detailed-exitcode").exits(0);

    // Another range of addresses: everything that lies in the network is made anew.
    let cidr = [
        ("min: 2, desired: 2, max: 3", "min: 2, desired: 2, max: 5"),
        ("region: us-west-2", "region: us-west-2\nnetwork: { cidr: 10.65.0.0/16 }"),
    ];
    desk.edit("llama-70b", "moved.yaml", &cidr);
    let plan = desk.run("plan moved.yaml --json").exits(0).json();
    let action = |address: &str| {
        let changes = plan["changes"].as_array().unwrap();
        let change = changes.iter().find(|change| change["address"] == address);
        change.unwrap_or_else(|| panic!("{address} is not in the plan")).clone()
    };
    for address in [
        "vpc.main",
        "subnet.private-usw2-az1",
        "subnet.public-usw2-az1",
        "nat-gateway.main",
        "security-group.efa",
        "cluster.main",
        "addon.vpc-cni",
        "access-entry.nodes",
        "node-group.p5",
        "node-group.system",
    ] {
        let change = action(address);
        assert_eq!((&change["action"], &change["interrupts"]), (&"replace".into(), &true.into()), "{change:#}");
    }
    assert_eq!(action("launch-template.p5")["action"], "update", "a template gets a new version");
    for address in ["bucket.weights", "role.node", "role.weights", "elastic-ip.main", "placement-group.p5"] {
        assert_eq!(action(address)["action"], "keep", "{address}");
    }
    desk.run("plan moved.yaml").exits(0).says(&[
        "-/+ vpc.main",
        "cidr 10.64.0.0/16 → 10.65.0.0/16; can't change in place",
        "interrupts what runs",
        "leans on cluster.main, which is made anew",
    ]);
    let lines = desk.run("up moved.yaml --yes --format ndjson").exits(0).lines();
    let at = |event: &str, verb: &str, address: &str| {
        let is = |line: &Value| line["type"] == event && line["verb"]["verb"] == verb && line["address"] == address;
        lines.iter().position(is).unwrap_or_else(|| panic!("no {event} {verb} {address}"))
    };
    let away = ["node-group.p5", "cluster.main", "subnet.private-usw2-az1", "vpc.main"];
    for pair in away.windows(2) {
        assert!(at("step_done", "delete", pair[0]) < at("step_started", "delete", pair[1]), "{pair:?}");
        assert!(at("step_done", "create", pair[1]) < at("step_started", "create", pair[0]), "{pair:?}");
    }
    assert!(at("step_done", "delete", "vpc.main") < at("step_started", "create", "vpc.main"));
    assert!(at("step_done", "update", "launch-template.p5") < at("step_started", "create", "node-group.p5"));
    desk.run("plan moved.yaml --detailed-exitcode").exits(0);
    desk.run("destroy moved.yaml --yes --confirm llama-70b").exits(0);
}

#[test]
fn a_new_account_is_told_before_anything_is_made_and_in_the_same_words_by_plan() {
    let desk = Desk::of_scenario("new-account");
    let up = desk.run(UP).exits(3);
    assert!(up.out.is_empty(), "{}", up.out);
    assert_eq!(desk.census(), [""; 0]);
    assert!(up.err.contains("Nothing was created."), "{}", up.err);
    assert!(!up.err.contains("+ vpc.main"), "what blocks stands alone: {}", up.err);
    let plan = desk.run("plan stacks/llama-70b.yaml").exits(3);
    assert!(plan.out.contains("+ vpc.main"), "{}", plan.out);
    let begin = up.err.find("✗ quota").expect("the finding is shown");
    let block: String = up.err[begin..]
        .lines()
        .take_while(|line| !line.is_empty())
        .fold(String::new(), |text, line| text + line + "\n");
    for word in ["need 384 vCPU, limit 0, in use 0", "192 vCPU each", "L-417A185B", "--desired-value 384"] {
        assert!(block.contains(word), "{word}: {block}");
    }
    assert!(plan.out.contains(&block), "plan says it in other words:\n{block}\n---\n{}", plan.out);
    assert!(!plan.out.contains("Apply with:"), "{}", plan.out);
}

#[test]
fn a_pool_that_is_empty_ends_part_way_and_a_second_run_goes_on() {
    let desk = Desk::of_scenario("no-capacity");
    let failed = desk.run(&format!("{UP} --also-json first.json")).exits(1).says(&[
        "✗ node-group.p5",
        "InsufficientInstanceCapacity",
        "kept ",
        "go on      infer-stack up stacks/llama-70b.yaml",
        "or stop    infer-stack destroy stacks/llama-70b.yaml",
    ]);
    let document: Value = serde_json::from_str(&desk.read("first.json")).unwrap();
    assert!(document["hourly_usd"].as_f64().unwrap() < 2.0, "nodes that never came are not billed: {}", failed.out);
    assert_eq!(document["verified"], false);
    let mut world = desk.world();
    world["scenario"]["emptyPools"] = json!([]);
    desk.set_world(&world);
    let lines = desk.run(&format!("{UP} --format ndjson")).exits(0).lines();
    let started: BTreeSet<&str> =
        lines.iter().filter(|l| l["type"] == "step_started").map(|l| l["address"].as_str().unwrap()).collect();
    assert!(started.iter().all(|address| address.ends_with(".p5")), "only what was missing: {started:?}");
    desk.run("plan stacks/llama-70b.yaml --detailed-exitcode").exits(0);
    desk.run("destroy stacks/llama-70b.yaml --yes --confirm llama-70b").exits(0);
}
