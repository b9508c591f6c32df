//! The look: wide, and honest about what it could not see.

use crate::harness::World;
use infer_stack::{
    cloud::memory::Fault,
    contract::{Class, CloudError},
    observed::{Sight, look, relook},
    plan::Action,
    resources::{KINDS, kind},
};

#[tokio::test(start_paused = true)]
async fn every_kind_is_looked_at_once_in_at_most_three_round_trips() {
    let world = World::ready("llama-70b.yaml");
    world.up().await;
    world.memory.forget_calls();
    let begun = world.memory.clock().elapsed();
    let snapshot = look(&world.memory, world.scope(), KINDS, &world.memory.clock()).await;
    let took = world.memory.clock().elapsed() - begun;
    // A read takes 60 ms.
    assert!(took.as_millis() <= 3 * 65, "{took:?}");
    assert_eq!(world.memory.made().len(), KINDS.len());
    assert_eq!(snapshot.sights.len(), KINDS.len());
    assert_eq!(snapshot.scope.vpc.as_ref(), Some(&world.objects("vpc")[0].id));
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_looked_at_is_blocked_and_never_made() {
    let world = World::ready("llama-70b.yaml");
    world.up().await;
    let denied = CloudError::new("ec2:DescribePlacementGroups", Class::Denied, "UnauthorizedOperation", "not allowed");
    world.memory.fail("list placement-group", 1..=1, Fault::Fail(denied.clone()));
    let survey = world.survey().await;
    let blind: Vec<_> = survey.snapshot.blind().collect();
    assert_eq!(blind, [("placement-group", &denied)]);
    assert!(survey.plan.tasks.iter().all(|task| task.kind != "placement-group"));
    let blocked = |step: &&infer_stack::plan::Step| step.kind == "placement-group" && step.action == Action::Blocked;
    assert!(survey.plan.steps.iter().any(|step| blocked(&step)));
    let again = relook(&world.memory, &survey.snapshot.scope, kind("placement-group").unwrap()).await;
    assert!(matches!(again, Sight::Seen(seen) if seen.len() == 1));
}

#[tokio::test(start_paused = true)]
async fn a_lost_tag_is_found_by_the_vpc() {
    let world = World::ready("llama-70b.yaml");
    world.up().await;
    let text = world.memory.to_json();
    let mut saved: serde_json::Value = serde_json::from_str(&text).unwrap();
    let objects = saved["world"]["objects"].as_array_mut().unwrap();
    let subnet = objects.iter_mut().find(|object| object["kind"] == "subnet").unwrap();
    subnet["stamp"]["tags"] = serde_json::json!({});
    let world = World::saved("llama-70b.yaml", &saved.to_string());
    let before = world.objects("subnet").len();
    let up = world.up().await;
    assert!(up.outcome.is_complete(), "{:#?}", up.outcome.failed);
    assert_eq!(world.objects("subnet").len(), before, "drift, and no twin");
    assert!(world.survey().await.plan.is_settled());
}
