//! Streams, colours, characters and formats.

use super::desk::{ACCOUNT, Desk};
use serde_json::Value;

const ESCAPE: char = '\u{1b}';

#[test]
fn results_are_on_stdout_and_progress_on_stderr() {
    let desk = Desk::new();
    let plan = desk.run("plan stacks/minimal.yaml").exits(0);
    assert!(plan.out.contains("36 to create") && plan.err.is_empty(), "{}", plan.err);
    let up = desk.run("up stacks/minimal.yaml --yes").exits(0);
    assert!(up.out.contains("minimal is up") && !up.out.contains("start "), "{}", up.out);
    assert!(up.err.contains("36 to create"), "the plan goes before: {}", up.err);
    let waits = up.err.lines().filter(|line| line.contains(" wait ") && line.contains("node-group.gpu"));
    assert!(waits.clone().count() > 2, "a heartbeat every 30 s");
    assert!(waits.clone().any(|line| line.contains("instances in service; ASG:")), "with its cause: {}", up.err);
    let down = desk.run("destroy stacks/minimal.yaml --yes --confirm minimal --json").exits(0);
    assert_eq!(down.json()["kind"], "receipt");
}

#[test]
fn json_beside_the_human_text_is_the_same_document() {
    let desk = Desk::new();
    let human = desk.run("plan stacks/minimal.yaml --also-json out/plan.json").exits(0);
    assert!(human.out.contains("Apply with:"));
    let beside: Value = serde_json::from_str(&desk.read("out/plan.json")).unwrap();
    assert_eq!(beside["kind"], "plan");
    let blocked = Desk::of_scenario("new-account");
    blocked.run("up stacks/llama-70b.yaml --yes --also-json plan.json").exits(3);
    let beside: Value = serde_json::from_str(&blocked.read("plan.json")).unwrap();
    // Only what blocks: the expiry is counted from the moment of each run.
    let blocks = |document: &Value| -> Vec<Value> {
        let findings = document["preflight"].as_array().unwrap();
        findings.iter().filter(|finding| finding["verdict"] == "block").cloned().collect()
    };
    assert_eq!(blocks(&beside).len(), 1);
    let ran = blocked.run("up stacks/llama-70b.yaml --yes --json").exits(3);
    assert_eq!(blocks(&ran.json()), blocks(&beside));
}

#[test]
fn colour_only_where_it_is_wanted() {
    let desk = Desk::new();
    let colours = |environment: &[(&str, &str)], args: &str| {
        let ran = desk.with(&format!("plan stacks/minimal.yaml {args}"), environment, "").exits(0);
        ran.out.contains(ESCAPE)
    };
    assert!(!colours(&[], ""), "no terminal");
    assert!(colours(&[("CLICOLOR_FORCE", "1")], ""));
    assert!(!colours(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], ""));
    assert!(colours(&[("NO_COLOR", "1")], "--color always"));
    assert!(!colours(&[("CLICOLOR_FORCE", "1")], "--color never"));
    assert!(!colours(&[("CLICOLOR_FORCE", "1")], "--json"));
}

#[test]
fn colour_repeats_what_the_words_say() {
    let desk = Desk::new();
    let plain = desk.run("plan stacks/minimal.yaml").out;
    let coloured = desk.run("plan stacks/minimal.yaml --color always").out;
    let mut bare = String::new();
    let mut escaped = false;
    for c in coloured.chars() {
        match (escaped, c) {
            (false, ESCAPE) => escaped = true,
            (false, c) => bare.push(c),
            (true, 'm') => escaped = false,
            (true, _) => {}
        }
    }
    assert_eq!(bare, plain);
}

#[test]
fn without_utf8_everything_is_ascii() {
    let desk = Desk::new();
    let ascii = |args: &str| {
        let ran = desk.with(args, &[("LC_ALL", "C")], "");
        assert!(ran.out.is_ascii() && ran.err.is_ascii(), "{args}\n{}{}", ran.out, ran.err);
        ran
    };
    ascii("plan stacks/llama-70b.yaml --verbose").exits(0).says(&["2 x p5.48xlarge", "->"]);
    ascii("size stacks/llama-70b.yaml").exits(0);
    ascii("up stacks/minimal.yaml --yes").exits(0);
    ascii("status stacks/minimal.yaml").exits(0);
    ascii("destroy stacks/minimal.yaml --yes --confirm minimal").exits(0);
    ascii("validate stacks/llama-70b.yaml").exits(0);
}

#[test]
fn markdown_masks_ids_unless_asked() {
    let desk = Desk::with_minimal_up();
    for format in ["markdown", "github"] {
        for command in ["plan stacks/llama-70b.yaml", "status stacks/minimal.yaml -v", "verify stacks/minimal.yaml"] {
            let masked = desk.run(&format!("{command} --format {format}")).out;
            assert!(masked.contains("```"), "{masked}");
            assert!(!masked.contains(ACCOUNT), "{command} {format} shows the account:\n{masked}");
        }
        let shown = desk.run(&format!("plan stacks/llama-70b.yaml --format {format} --show-ids")).out;
        assert!(shown.contains(ACCOUNT) && !shown.contains("••••"), "{shown}");
    }
    let human = desk.run("plan stacks/llama-70b.yaml --show-ids").out;
    assert!(human.contains(&format!("account {ACCOUNT}")), "{human}");
}

#[test]
fn every_line_of_the_stream_has_a_type_and_the_first_is_the_version() {
    let desk = Desk::new();
    let up = desk.run("up stacks/minimal.yaml --yes --format ndjson").exits(0).lines();
    assert_eq!(up[0]["type"], "version");
    assert_eq!(up[0]["schema_version"], 1);
    assert_eq!(up.last().unwrap()["type"], "up");
    let types: Vec<&str> = up.iter().map(|line| line["type"].as_str().expect("every line has a type")).collect();
    for wanted in ["planned_change", "step_started", "step_waiting", "step_done", "summary"] {
        assert!(types.contains(&wanted), "{wanted}");
    }
    for command in [
        "plan stacks/minimal.yaml",
        "destroy stacks/minimal.yaml --yes --confirm minimal",
        "destroy stacks/minimal.yaml --yes --confirm minimal",
    ] {
        let lines = desk.run(&format!("{command} --format ndjson")).exits(0).lines();
        assert_eq!(lines[0]["type"], "version", "{command}");
        assert!(lines.iter().all(|line| line["type"].is_string()), "{command}");
    }
}

#[test]
fn a_failed_step_and_a_blocked_check_are_in_the_stream() {
    let desk = Desk::of_scenario("new-account");
    let blocked = desk.run("up stacks/llama-70b.yaml --yes --format ndjson").exits(3).lines();
    assert_eq!(blocked[0]["type"], "version");
    assert_eq!(blocked.last().unwrap()["type"], "plan");
    let desk = Desk::of_scenario("no-capacity");
    let failed = desk.run("up stacks/minimal.yaml --yes --format ndjson").exits(1).lines();
    let step = failed.iter().find(|line| line["type"] == "step_failed").unwrap();
    assert_eq!(step["address"], "node-group.gpu");
    assert!(step["why"].as_str().unwrap().contains("InsufficientInstanceCapacity"), "{step}");
}
