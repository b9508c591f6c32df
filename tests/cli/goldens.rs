//! The plan of every stack file as people read it, kept beside it. `INFER_STACK_GENERATE=1` writes them anew.

use super::desk::{Desk, stacks};
use serde_json::json;
use std::{fs, path::PathBuf};

/// The moment at which every plan is made.
const NOW: &str = "2026-12-01T14:00:00Z";

fn golden(stack: &str, file: &str, text: &str, stale: &mut Vec<String>) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/plans").join(stack).join(file);
    if crate::generated::writes() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        return;
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    if let Some(n) = (1..).zip(kept.lines().chain([""; 1]).zip(text.lines().chain([""; 1]))).find(|(_, (a, b))| a != b)
    {
        stale.push(format!("{stack}/{file}:{}\n  kept {}\n  now  {}", n.0, n.1.0, n.1.1));
    } else if kept != text {
        stale.push(format!("{stack}/{file} is longer or shorter than it was"));
    }
}

#[test]
fn plans_read_as_they_did() {
    let mut stale = vec![];
    for stack in stacks() {
        let desk = Desk::of_scenario("ready");
        let mut world = desk.world();
        world["world"]["now"] = json!(NOW.parse::<jiff::Timestamp>().unwrap().as_millisecond());
        desk.set_world(&world);
        let plan = desk.run(&format!("plan stacks/{stack}.yaml")).exits(0);
        golden(&stack, "plan.txt", &plan.out, &mut stale);
        if stack == "llama-70b" {
            desk.set_world(&world);
            golden(
                &stack,
                "plan.json",
                &desk.run(&format!("plan stacks/{stack}.yaml --json")).exits(0).out,
                &mut stale,
            );
        }
    }
    assert!(stale.is_empty(), "INFER_STACK_GENERATE=1 writes them anew:\n{}", stale.join("\n"));
}
