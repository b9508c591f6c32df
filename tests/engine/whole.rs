//! Up, nothing to do, down: for every stack file.

use crate::harness::{World, stack};
use infer_stack::cloud::memory::Scenario;

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
        let down = world.down().await;
        assert!(down.outcome.is_complete(), "{file}: {:#?}", (down.outcome.failed, down.outcome.skipped));
        println!("{file}: up {} s, down {} s, left {:?}", up.outcome.seconds, down.outcome.seconds, world.census());
    }
}
