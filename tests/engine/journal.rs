//! Say it, then do it.

use crate::harness::World;
use infer_stack::{
    apply::{
        Copy, Event, Holder, IN_FLIGHT, Journal, Log, Surroundings, acquire, apply, guarded, journal_key, lock_key,
    },
    catalog::Catalog,
    cloud::{Cloud, memory::Memory},
    resources::KINDS,
};
use std::sync::Mutex;

/// Notes each line together with how many changes the account had seen by then; refuses once it holds `most`.
struct Notes<'a> {
    memory: &'a Memory,
    lines: Mutex<Vec<(serde_json::Value, usize)>>,
    most: usize,
}

fn changes(memory: &Memory) -> usize {
    let verbs = ["create ", "update ", "delete "];
    memory.made().iter().filter(|made| verbs.iter().any(|verb| made.call.starts_with(verb))).count()
}

impl Journal for Notes<'_> {
    fn append(&self, line: &str) -> std::io::Result<()> {
        let mut lines = self.lines.lock().unwrap();
        if lines.len() == self.most {
            return Err(std::io::Error::other("the disk is full"));
        }
        lines.push((serde_json::from_str(line).unwrap(), changes(self.memory)));
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn every_change_is_said_first_and_the_journal_is_copied() {
    let world = World::ready("minimal.yaml");
    let survey = world.survey().await;
    let (memory, clock) = (&world.memory, world.memory.clock());
    let notes = Notes { memory, lines: Mutex::default(), most: usize::MAX };
    let log = Log::new(&notes, "run-1", clock);
    let tell = |_: Event| {};
    let around = Surroundings {
        cloud: memory,
        kinds: KINDS,
        catalog: &survey.catalog,
        clock,
        log: &log,
        tell: &tell,
        stop: &world.stop.1,
        in_flight: IN_FLIGHT,
    };
    let me = Holder { run: "run-1".into(), who: "up".into(), host: "here".into(), boot_id: "boot".into(), pid: 1 };
    let lease = acquire(memory.store(), &lock_key(&world.identity()), &me, &|_| true, clock).await.unwrap();
    let key = journal_key(&world.identity(), "run-1");
    let copy = Copy { log: &log, store: memory.store(), key: &key };
    let work = apply(&survey.plan, &survey.snapshot, around);
    let outcome = guarded(work, &lease, copy, &world.stop.0, &tell, clock).await;
    assert!(outcome.is_complete(), "{:#?}", outcome.failed);
    lease.release().await.unwrap();

    let lines = notes.lines.lock().unwrap().clone();
    let mut said = 0;
    for (line, done_before) in &lines {
        if line["line"] == "call" {
            assert!(*done_before <= said, "{line}: {done_before} changes were made, {said} were said");
            said += 1;
        }
        assert_eq!(line["run"], "run-1");
        assert!(line.get("want").is_none() && line.get("tags").is_none());
    }
    assert_eq!(said, changes(memory));
    let kept = memory.store().get(&key).await.unwrap().unwrap();
    assert_eq!(String::from_utf8(kept.body).unwrap(), log.text());
    let copies = memory.made().iter().filter(|made| made.call == format!("put {key}")).count();
    assert!(copies as u64 >= outcome.seconds / 31, "{copies} copies in {} s", outcome.seconds);
}

#[tokio::test(start_paused = true)]
async fn what_can_not_be_said_is_not_done() {
    let world = World::ready("minimal.yaml");
    let survey = world.survey().await;
    let notes = Notes { memory: &world.memory, lines: Mutex::default(), most: 0 };
    let log = Log::new(&notes, "run-1", world.memory.clock());
    let around = Surroundings {
        cloud: &world.memory,
        kinds: KINDS,
        catalog: &Catalog::compiled(),
        clock: world.memory.clock(),
        log: &log,
        tell: &|_| {},
        stop: &world.stop.1,
        in_flight: IN_FLIGHT,
    };
    let outcome = apply(&survey.plan, &survey.snapshot, around).await;
    assert_eq!(changes(&world.memory), 0);
    assert!(outcome.done.is_empty());
    assert!(outcome.failed.iter().all(|failed| failed.why.contains("the disk is full")), "{:#?}", outcome.failed);
}
