//! A process that dies after any change, before or after its effect: the same command again ends in the same world.

use crate::harness::World;
use infer_stack::{cloud::memory::Crash, teardown::Status};

fn changes(world: &World) -> u32 {
    let verbs = ["create ", "update ", "delete "];
    let made = world.memory.made();
    u32::try_from(made.iter().filter(|made| verbs.iter().any(|verb| made.call.starts_with(verb))).count()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn up_goes_on_after_a_crash_before_any_change() {
    up_goes_on(Crash::BeforeEffect).await;
}

#[tokio::test(start_paused = true)]
async fn up_goes_on_after_a_crash_after_any_change() {
    up_goes_on(Crash::AfterEffect).await;
}

#[tokio::test(start_paused = true)]
async fn destroy_goes_on_after_a_crash_before_any_change() {
    destroy_goes_on(Crash::BeforeEffect).await;
}

#[tokio::test(start_paused = true)]
async fn destroy_goes_on_after_a_crash_after_any_change() {
    destroy_goes_on(Crash::AfterEffect).await;
}

async fn up_goes_on(mode: Crash) {
    let reference = World::ready("llama-70b.yaml");
    reference.up().await;
    let (calls, census) = (changes(&reference), reference.census());
    assert!(calls > 20);
    for k in 1..=calls {
        let world = World::ready("llama-70b.yaml");
        world.memory.crash_after(k, mode);
        world.up_until_crash().await;
        let up = world.up().await;
        assert!(up.outcome.is_complete(), "{k}: {:#?}", (up.outcome.failed, up.outcome.skipped));
        assert_eq!(world.census(), census, "{k}");
        assert!(world.survey().await.plan.is_settled(), "{k}");
    }
}

async fn destroy_goes_on(mode: Crash) {
    let reference = World::ready("llama-70b.yaml");
    reference.up().await;
    let text = reference.memory.to_json();
    reference.memory.forget_calls();
    reference.destroy().await;
    let census = reference.census();
    for k in 1..=changes(&reference) {
        let world = World::saved("llama-70b.yaml", &text);
        world.memory.crash_after(k, mode);
        world.destroy_until_crash().await;
        let down = world.destroy().await;
        assert!(down.outcome.is_complete(), "{k}: {:#?}", (down.outcome.failed, down.outcome.skipped));
        assert_eq!(world.census(), census, "{k}");
        assert_eq!(world.verify().await.verdict, Status::Absent, "{k}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_twin_that_a_late_list_hid_is_taken_away_by_the_next_run() {
    let world = World::ready("llama-70b.yaml");
    world.up().await;
    let subnet = world.objects("subnet").remove(0);
    // What a create call makes whose answer was lost and which no list showed when the next run looked.
    let kind = infer_stack::resources::kind("subnet").unwrap();
    world.memory.plant(kind, &subnet.want, subnet.stamp.tags.clone()).unwrap();
    let before = world.objects("subnet").len();
    let up = world.up().await;
    assert!(up.outcome.is_complete(), "{:#?}", up.outcome.failed);
    assert_eq!(world.objects("subnet").len(), before - 1);
    assert!(world.objects("subnet").iter().any(|object| object.id == subnet.id), "the one that others link to stays");
}
