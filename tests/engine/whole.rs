//! Up, nothing to do, down: for every stack file.

use crate::harness::{Ran, World, files, stack};
use infer_stack::{
    apply::Event,
    cloud::memory::{Fault, Scenario},
    contract::Ownership,
    resources::kind,
    teardown::Status,
};

#[tokio::test(start_paused = true)]
async fn every_stack_comes_up_settles_and_goes() {
    for file in files() {
        let world = World::new(stack(&file), Scenario::ready());
        let up = world.up().await;
        assert!(up.outcome.is_complete(), "{file}: {:#?}", (up.outcome.failed, up.outcome.skipped));
        assert_tight(&file, &up);
        let again = world.survey().await;
        assert!(again.plan.is_settled(), "{file}: {:#?}", again.plan.tasks);
        let down = world.destroy().await;
        assert!(down.outcome.is_complete(), "{file}: {:#?}", (down.outcome.failed, down.outcome.skipped));
        assert_tight(&file, &down);
        let receipt = world.verify().await;
        assert_eq!(receipt.verdict, Status::Absent, "{file}: {:#?}", receipt.checks);
        for object in world.memory.objects() {
            let kept = matches!(kind(&object.kind).unwrap().ownership(), Ownership::Retained | Ownership::Shared);
            assert!(kept, "{file}: {} {} is left", object.kind, object.id);
            assert!(receipt.kept.iter().any(|kept| kept.id == object.id), "{file}: {} is not said", object.id);
        }
    }
}

/// Nothing waits but for what it comes after.
fn assert_tight(file: &str, ran: &Ran) {
    let (longest, through) = ran.longest_chain();
    let took = ran.outcome.seconds;
    assert!(took * 100 <= longest * 105, "{file}: {took} s, of which the longest chain is {longest} s: {through:?}");
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
async fn forty_node_groups_come_up_together() {
    let mut spec = stack("minimal.yaml");
    let class = spec.node_classes[0].clone();
    let quota = [("L-6D54EA21".to_owned(), 60.0)];
    for n in 1..40 {
        spec.node_classes.push(infer_stack::stack::NodeClass { name: format!("n{n}"), ..class.clone() });
    }
    let mut scenario = Scenario::ready();
    scenario.quotas.extend(quota);
    scenario.quotas.values_mut().for_each(|value| *value *= 10.0);
    let world = World::new(spec, scenario);
    let up = world.up().await;
    assert!(up.outcome.is_complete(), "{:#?}", up.outcome.failed);
    assert!(world.objects("node-group").len() >= 40);
    assert_tight("40 node groups", &up);
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
