//! A process that dies after any change, before or after its effect: the same command again ends in the same world.

use crate::harness::World;
use infer_stack::{cloud::memory::Crash, teardown::Status};
use std::sync::{Arc, Mutex};

const FILE: &str = "llama-70b.yaml";

fn changes(world: &World) -> u32 {
    let verbs = ["create ", "update ", "delete "];
    let made = world.memory.made();
    u32::try_from(made.iter().filter(|made| verbs.iter().any(|verb| made.call.starts_with(verb))).count()).unwrap()
}

/// The world as each change leaves it. A process that dies before the effect of a change leaves what the one before it left;
/// one whose answer is lost leaves what the change itself left: so these are all the worlds that a crash can leave.
fn recorded(world: World) -> (World, Arc<Mutex<Vec<String>>>) {
    let texts = Arc::new(Mutex::new(vec![world.memory.to_json()]));
    let kept = texts.clone();
    let memory = world.memory.on_change(move |text| kept.lock().unwrap().push(text.to_owned()));
    (World { memory, ..world }, texts)
}

fn taken(texts: &Mutex<Vec<String>>) -> Vec<String> {
    std::mem::take(&mut texts.lock().unwrap())
}

async fn goes_on_up(world: World, census: &[String], what: &str) {
    let up = world.up().await;
    assert!(up.outcome.is_complete(), "{what}: {:#?}", (up.outcome.failed, up.outcome.skipped));
    assert_eq!(world.census(), census, "{what}");
    assert!(world.survey().await.plan.is_settled(), "{what}");
}

async fn goes_on_down(world: World, census: &[String], what: &str) {
    let down = world.destroy().await;
    assert!(down.outcome.is_complete(), "{what}: {:#?}", (down.outcome.failed, down.outcome.skipped));
    assert_eq!(world.census(), census, "{what}");
    assert_eq!(world.verify().await.verdict, Status::Absent, "{what}");
}

#[tokio::test(start_paused = true)]
async fn up_goes_on_from_every_world_that_a_crash_leaves() {
    let (reference, texts) = recorded(World::ready(FILE));
    reference.up().await;
    let (census, texts) = (reference.census(), taken(&texts));
    assert!(texts.len() > 50);
    for (k, text) in texts.iter().enumerate() {
        goes_on_up(World::saved(FILE, text), &census, &format!("after {k} changes")).await;
    }
}

#[tokio::test(start_paused = true)]
async fn destroy_goes_on_from_every_world_that_a_crash_leaves() {
    let (reference, texts) = recorded(World::ready(FILE));
    reference.up().await;
    taken(&texts);
    reference.destroy().await;
    let (census, texts) = (reference.census(), taken(&texts));
    assert!(texts.len() > 40);
    for (k, text) in texts.iter().enumerate() {
        goes_on_down(World::saved(FILE, text), &census, &format!("after {} changes", k + 1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_half_made_is_also_destroyed() {
    let (reference, texts) = recorded(World::ready(FILE));
    reference.up().await;
    for (k, text) in taken(&texts).iter().enumerate().step_by(5) {
        let world = World::saved(FILE, text);
        let down = world.destroy().await;
        assert!(down.outcome.is_complete(), "{k}: {:#?}", (down.outcome.failed, down.outcome.skipped));
        assert_eq!(world.verify().await.verdict, Status::Absent, "{k}");
    }
}

/// The process itself dies: its calls never return, and the run is dropped where it stands, at every change of the run. What
/// one test covers is a quarter, so that they run side by side.
async fn dropped_at_every_change_of_up(mode: Crash) {
    let reference = World::ready(FILE);
    reference.up().await;
    let (census, built) = (reference.census(), changes(&reference));
    assert!(built > 50);
    for k in 1..=built {
        let world = World::ready(FILE);
        world.memory.crash_after(k, mode);
        world.up_until_crash().await;
        goes_on_up(world, &census, &format!("{mode:?} change {k}")).await;
    }
}

async fn dropped_at_every_change_of_destroy(mode: Crash) {
    let reference = World::ready(FILE);
    reference.up().await;
    let text = reference.memory.to_json();
    reference.memory.forget_calls();
    reference.destroy().await;
    let (census, torn) = (reference.census(), changes(&reference));
    assert!(torn > 40);
    for k in 1..=torn {
        let world = World::saved(FILE, &text);
        world.memory.crash_after(k, mode);
        world.destroy_until_crash().await;
        goes_on_down(world, &census, &format!("{mode:?} change {k}")).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_up_that_dies_before_a_change_is_gone_on_with() {
    dropped_at_every_change_of_up(Crash::BeforeEffect).await;
}

#[tokio::test(start_paused = true)]
async fn an_up_whose_last_answer_is_lost_is_gone_on_with() {
    dropped_at_every_change_of_up(Crash::AfterEffect).await;
}

#[tokio::test(start_paused = true)]
async fn a_destroy_that_dies_before_a_change_is_gone_on_with() {
    dropped_at_every_change_of_destroy(Crash::BeforeEffect).await;
}

#[tokio::test(start_paused = true)]
async fn a_destroy_whose_last_answer_is_lost_is_gone_on_with() {
    dropped_at_every_change_of_destroy(Crash::AfterEffect).await;
}

#[tokio::test(start_paused = true)]
async fn a_twin_that_a_late_list_hid_is_taken_away_by_the_next_run() {
    let world = World::ready(FILE);
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
