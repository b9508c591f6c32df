//! Up, nothing to do, down: for every stack file.

use crate::harness::{World, stack};
use infer_stack::{
    apply::Event,
    cloud::memory::{Fault, Scenario},
    contract::Ownership,
    resources::kind,
    teardown::Status,
};

fn files() -> Vec<String> {
    let directory = std::fs::read_dir(format!("{}/stacks", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut files: Vec<String> = directory.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.retain(|file| file.ends_with(".yaml"));
    files.sort();
    files
}

#[tokio::test(start_paused = true)]
async fn every_stack_comes_up_settles_and_goes() {
    for file in files() {
        let world = World::new(stack(&file), Scenario::ready());
        let up = world.up().await;
        assert!(up.outcome.is_complete(), "{file}: {:#?}", (up.outcome.failed, up.outcome.skipped));
        let again = world.survey().await;
        assert!(again.plan.is_settled(), "{file}: {:#?}", again.plan.tasks);
        let down = world.destroy().await;
        assert!(down.outcome.is_complete(), "{file}: {:#?}", (down.outcome.failed, down.outcome.skipped));
        let receipt = world.verify().await;
        assert_eq!(receipt.verdict, Status::Absent, "{file}: {:#?}", receipt.checks);
        for object in world.memory.objects() {
            let kept = matches!(kind(&object.kind).unwrap().ownership(), Ownership::Retained | Ownership::Shared);
            assert!(kept, "{file}: {} {} is left", object.kind, object.id);
            assert!(receipt.kept.iter().any(|kept| kept.id == object.id), "{file}: {} is not said", object.id);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_made_before_what_it_links_to_or_deleted_while_leaned_on() {
    // The account refuses both, so a run in the right order is never refused: no step is ever retried.
    let world = World::ready("llama-70b.yaml");
    let up = world.up().await;
    let down = world.destroy().await;
    let retried: Vec<_> =
        up.events.iter().chain(&down.events).filter(|event| matches!(event, Event::StepRetried { .. })).collect();
    assert!(retried.is_empty(), "{retried:#?}");
}

#[tokio::test(start_paused = true)]
async fn every_answer_may_be_lost() {
    let reference = World::ready("llama-70b.yaml");
    reference.up().await;
    let world = World::ready("llama-70b.yaml");
    for call in ["create *", "update *", "delete *"] {
        // Every other one, so that repeats get through.
        for n in (1..400).step_by(2) {
            world.memory.fail(call, n..=n, Fault::Lose);
        }
    }
    let up = world.up().await;
    assert!(up.outcome.is_complete(), "{:#?}", (up.outcome.failed, up.outcome.skipped));
    assert_eq!(world.census(), reference.census());
    let down = world.destroy().await;
    assert!(down.outcome.is_complete(), "{:#?}", (down.outcome.failed, down.outcome.skipped));
    assert_eq!(world.verify().await.verdict, Status::Absent);
}
