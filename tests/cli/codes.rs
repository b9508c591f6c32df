//! Exit codes of the commands that change something: pipelines branch on them.

use super::desk::Desk;
use serde_json::json;
use std::fs::File;

const DESTROY: &str = "destroy stacks/minimal.yaml --yes --confirm minimal";

#[test]
fn a_life_from_up_to_the_proof_ends_well_at_each_step() {
    let desk = Desk::new();
    desk.run("plan stacks/minimal.yaml").exits(0);
    desk.run("plan stacks/minimal.yaml --detailed-exitcode").exits(2);
    desk.run("up stacks/minimal.yaml --yes").exits(0);
    desk.run("plan stacks/minimal.yaml --detailed-exitcode").exits(0);
    desk.run("up stacks/minimal.yaml --yes").exits(0).says(&["is as the file says"]);
    desk.run("verify stacks/minimal.yaml").exits(5).says(&["present."]);
    desk.run(DESTROY).exits(0).says(&["destroyed minimal", "absent.", "receipt: .infer-stack/receipts/minimal/"]);
    desk.run("verify stacks/minimal.yaml").exits(0);
    desk.run(DESTROY).exits(0);
}

#[test]
fn drift_is_2_and_only_where_there_is_some() {
    let desk = Desk::with_minimal_up();
    let command = "plan stacks/minimal.yaml --drift-only --detailed-exitcode";
    desk.run(command).exits(0);
    let mut world = desk.world();
    let group = world["world"]["objects"].as_array_mut().unwrap().iter_mut().find(|o| o["kind"] == "node-group");
    group.unwrap()["want"]["max"] = json!(7);
    desk.set_world(&world);
    let ran = desk.run(command).exits(2).says(&["max 7 → 1, in place"]);
    assert!(!ran.out.contains("Preflight"), "{}", ran.out);
    desk.run("plan stacks/minimal.yaml --drift-only").exits(0);
}

#[test]
fn what_blocks_is_3_before_anything_is_made() {
    let desk = Desk::of_scenario("new-account");
    for command in ["preflight stacks/llama-70b.yaml", "plan stacks/llama-70b.yaml", "up stacks/llama-70b.yaml --yes"] {
        desk.run(command).exits(3).says(&["L-417A185B", "need 384 vCPU, limit 0"]);
    }
    assert_eq!(desk.census(), [""; 0]);
}

#[test]
fn a_second_process_on_one_account_is_4() {
    let desk = Desk::with_minimal_up();
    let lock = File::create(desk.path(".infer-stack/sandbox.json.lock")).unwrap();
    lock.lock().unwrap();
    for command in ["plan stacks/minimal.yaml", "up stacks/minimal.yaml --yes", DESTROY, "sandbox status"] {
        desk.run(command).exits(4).says(&["another process works on the simulated account"]);
    }
    lock.unlock().unwrap();
    desk.run("plan stacks/minimal.yaml").exits(0);
}

#[test]
fn what_remains_is_5_and_destroy_finds_it_without_a_file() {
    let desk = Desk::with_minimal_up();
    let up = desk.world();
    desk.run(DESTROY).exits(0);
    let mut world = desk.world();
    let left = up["world"]["objects"].as_array().unwrap().iter().find(|o| o["kind"] == "instance").unwrap().clone();
    let id = left["id"].as_str().unwrap().to_owned();
    world["world"]["objects"].as_array_mut().unwrap().push(left);
    desk.set_world(&world);
    let receipt = desk.run("verify --name minimal --region us-west-2 --json").exits(5).json();
    assert_eq!(receipt["verdict"], "present");
    let checks = receipt["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["what"] == "ec2:instance").unwrap();
    assert_eq!(check["status"], "present");
    assert_eq!(check["remaining"][0]["id"], id);
    assert!(receipt["remaining_hourly_usd"].as_f64().unwrap() > 0.0);
    desk.run("verify stacks/minimal.yaml").exits(5).says(&[&id, "running", "/h", "infer-stack verify --name minimal"]);
    desk.run("destroy --name minimal --region us-west-2 --yes --confirm minimal").exits(0);
    desk.run("verify --name minimal --region us-west-2").exits(0);
}

#[test]
fn another_account_is_6() {
    let desk = Desk::of_scenario("ready");
    let account = [("region: us-west-2", "region: us-west-2\naccount: \"999999999999\"")];
    desk.edit("minimal", "other.yaml", &account);
    for command in
        ["plan other.yaml", "up other.yaml --yes", "destroy other.yaml --yes --confirm minimal", "verify other.yaml"]
    {
        desk.run(command).exits(6).says(&["999999999999", "AWS_PROFILE"]);
    }
    assert_eq!(desk.census(), [""; 0]);
}

#[test]
fn protection_is_6_and_nothing_goes() {
    let desk = Desk::with_minimal_up();
    desk.edit("minimal", "kept.yaml", &[("region: us-west-2", "region: us-west-2\nprotect: true")]);
    let before = desk.census();
    desk.run("destroy kept.yaml --yes --confirm minimal").exits(6).says(&["protect"]);
    let replaced = [("region: us-west-2", "region: us-west-2\nprotect: true\nnetwork: { cidr: 10.99.0.0/16 }")];
    desk.edit("minimal", "moved.yaml", &replaced);
    desk.run("plan moved.yaml").exits(6).says(&["protect"]);
    desk.run("up moved.yaml --yes").exits(6).says(&["nothing was"]);
    assert_eq!(desk.census(), before);
}

#[test]
fn a_budget_is_6() {
    let desk = Desk::of_scenario("ready");
    desk.edit("minimal", "dear.yaml", &[("region: us-west-2", "region: us-west-2\nbudget: { maxHourlyUsd: 1 }")]);
    for command in ["plan dear.yaml", "preflight dear.yaml", "up dear.yaml --yes"] {
        desk.run(command).exits(6).says(&["budget"]);
    }
    assert_eq!(desk.census(), [""; 0]);
}

#[test]
fn a_wrong_confirmation_is_6_and_a_missing_one_64() {
    let desk = Desk::with_minimal_up();
    let before = desk.census();
    desk.run("destroy stacks/minimal.yaml --yes --confirm minimum").exits(6).says(&["nothing was deleted"]);
    desk.run("destroy stacks/minimal.yaml --yes").exits(64).says(&["--confirm"]);
    desk.run("destroy stacks/minimal.yaml").exits(64).says(&["--yes --confirm minimal"]);
    desk.run("destroy stacks/minimal.yaml --confirm minimal").exits(64).says(&["--yes"]);
    assert_eq!(desk.census(), before);
    let fresh = Desk::new();
    fresh.run("up stacks/minimal.yaml").exits(64).says(&["--yes"]);
    assert_eq!(fresh.census(), [""; 0]);
}

#[test]
fn a_saved_plan_is_applied_and_one_of_another_world_is_6() {
    let desk = Desk::new();
    desk.run("plan stacks/minimal.yaml --save first.plan").exits(0);
    desk.run("plan stacks/minimal.yaml --save second.plan").exits(0);
    let ran = desk.run("up --plan first.plan").exits(0);
    assert!(ran.out.contains("minimal is up"), "{}", ran.out);
    desk.run("up --plan second.plan").exits(6).says(&["another world", "is new", "--save PLAN"]);
    desk.write("no.plan", "{}");
    desk.run("up --plan no.plan").exits(64).says(&["no saved plan"]);
    desk.run("up stacks/minimal.yaml --plan first.plan").exits(64);
}

#[test]
fn a_saved_plan_of_another_account_is_6() {
    let desk = Desk::new();
    desk.run("plan stacks/minimal.yaml --save first.plan").exits(0);
    let mut world = desk.world();
    world["world"]["account"] = json!("999999999999");
    desk.set_world(&world);
    desk.run("up --plan first.plan").exits(6).says(&["123456789012", "999999999999"]);
    assert_eq!(desk.census(), [""; 0]);
}

#[test]
fn what_could_not_be_looked_at_is_8() {
    let desk = Desk::with_minimal_up();
    let mut world = desk.world();
    world["scenario"]["denied"] = json!(["security-group", "snapshot"]);
    desk.set_world(&world);
    for command in ["plan stacks/minimal.yaml", "status stacks/minimal.yaml", "preflight stacks/minimal.yaml"] {
        desk.run(command).exits(8).says(&["could not look"]);
    }
    desk.run("up stacks/minimal.yaml --yes")
        .exits(8)
        .says(&["could not look at security-group", "UnauthorizedOperation"]);
    world["scenario"]["denied"] = json!(["snapshot"]);
    desk.set_world(&world);
    let receipt = desk.run(&format!("{DESTROY} --json")).exits(8).json();
    assert_eq!(receipt["verdict"], "not_checked");
    desk.run("verify stacks/minimal.yaml").exits(8).says(&["not checked.", "ec2:snapshot", "is not authorized"]);
    world = desk.world();
    world["scenario"]["denied"] = json!([]);
    desk.set_world(&world);
    desk.run("verify stacks/minimal.yaml").exits(0);
}

#[test]
fn something_left_weighs_more_than_something_not_seen() {
    let desk = Desk::with_minimal_up();
    let mut world = desk.world();
    world["scenario"]["denied"] = json!(["snapshot"]);
    desk.set_world(&world);
    desk.run("verify stacks/minimal.yaml").exits(5).says(&["not checked", "present."]);
}

#[test]
fn wrong_usage_is_64() {
    let desk = Desk::new();
    for command in [
        "frobnicate",
        "plan",
        "plan stacks/minimal.yaml --frobnicate",
        "plan stacks/minimal.yaml --format xml",
        "plan stacks/minimal.yaml --json --format human",
        "plan stacks/minimal.yaml --destroy --save x",
        "up",
        "up stacks/minimal.yaml --yes --only nonsense",
        "verify",
        "verify --name minimal",
        "verify stacks/minimal.yaml --name minimal --region us-west-2",
        "size",
        "size --model meta-llama/Llama-3.1-8B-Instruct",
        "schema nonsense",
        "completions tcsh",
        "sandbox",
        "sandbox reset --scenario paradise",
        "sandbox status",
    ] {
        let ran = desk.run(command).exits(64);
        assert!(ran.out.is_empty(), "{command}: {}", ran.out);
        assert!(!ran.err.is_empty(), "{command} ends without a word");
    }
    for command in ["--help", "plan --help", "--version"] {
        let ran = desk.run(command).exits(0);
        assert!(!ran.out.is_empty() && ran.err.is_empty(), "{command}");
    }
}
