//! Facts on disk: how long they hold, for whom, and what a bad file costs.

use infer_stack::{
    clock::{Clock, pause},
    cloud::{
        Cached, Cloud, Fact, cache_directory, lifetime,
        memory::{Memory, Scenario},
    },
};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

const ACCOUNT: &str = "123456789012";

fn memory() -> Arc<Memory> {
    Arc::new(Memory::new(Scenario::ready(), ACCOUNT, "us-west-2", "2026-12-01T12:00:00Z".parse().unwrap()))
}

fn cached(memory: &Arc<Memory>, root: &Path) -> Cached {
    Cached::new(memory.clone(), root, ACCOUNT, "us-west-2", memory.clock())
}

fn quotas() -> Fact {
    Fact::Quotas { codes: vec![("L-417A185B".to_owned(), "ec2".to_owned())] }
}

fn files(root: &Path) -> Vec<PathBuf> {
    let directory = root.join(ACCOUNT).join("us-west-2");
    fs::read_dir(directory).map(|entries| entries.map(|entry| entry.unwrap().path()).collect()).unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn an_answer_holds_for_its_time_and_in_other_processes() {
    let (memory, root) = (memory(), tempfile::tempdir().unwrap());
    let first = cached(&memory, root.path()).ask(&quotas()).await.unwrap();
    pause(Duration::from_secs(14 * 60)).await;
    let second = cached(&memory, root.path());
    assert_eq!(second.ask(&quotas()).await.unwrap(), first);
    assert_eq!(memory.calls().facts, 1);
    let ages = second.ages();
    assert!(ages[0].0 == quotas() && ages[0].1 >= Duration::from_secs(14 * 60), "{ages:?}");
    pause(Duration::from_secs(2 * 60)).await;
    assert_eq!(second.ask(&quotas()).await.unwrap(), first);
    assert_eq!(memory.calls().facts, 2);
    assert_eq!(second.ages().len(), 1, "the second answer was asked");
}

#[tokio::test(start_paused = true)]
async fn other_questions_accounts_and_regions_have_other_answers() {
    let (memory, root) = (memory(), tempfile::tempdir().unwrap());
    cached(&memory, root.path()).ask(&quotas()).await.unwrap();
    let other = Fact::Quotas { codes: vec![("L-DB2E81BA".to_owned(), "ec2".to_owned())] };
    cached(&memory, root.path()).ask(&other).await.unwrap();
    for (account, region) in [("210987654321", "us-west-2"), (ACCOUNT, "us-east-1")] {
        Cached::new(memory.clone(), root.path(), account, region, memory.clock()).ask(&quotas()).await.unwrap();
    }
    assert_eq!(memory.calls().facts, 4);
}

#[tokio::test(start_paused = true)]
async fn what_must_be_fresh_is_asked_each_time() {
    let (memory, root) = (memory(), tempfile::tempdir().unwrap());
    let cached = cached(&memory, root.path());
    for fact in [Fact::Caller, Fact::CallerAddress, Fact::Running, Fact::Counts] {
        assert_eq!(lifetime(&fact), None);
        cached.ask(&fact).await.unwrap();
        cached.ask(&fact).await.unwrap();
    }
    assert_eq!(lifetime(&Fact::Reservations { ids: vec!["cr-1".to_owned()] }), None);
    assert_eq!(memory.calls().facts, 8);
    assert_eq!(files(root.path()), Vec::<PathBuf>::new());
}

#[tokio::test(start_paused = true)]
async fn a_refresh_asks_and_keeps() {
    let (memory, root) = (memory(), tempfile::tempdir().unwrap());
    cached(&memory, root.path()).ask(&Fact::Zones).await.unwrap();
    pause(Duration::from_secs(6 * 86400)).await;
    cached(&memory, root.path()).refreshing().ask(&Fact::Zones).await.unwrap();
    assert_eq!(memory.calls().facts, 2);
    pause(Duration::from_secs(6 * 86400)).await;
    cached(&memory, root.path()).ask(&Fact::Zones).await.unwrap();
    assert_eq!(memory.calls().facts, 2);
}

#[tokio::test(start_paused = true)]
async fn a_bad_file_costs_a_question_and_a_note() {
    let (memory, root) = (memory(), tempfile::tempdir().unwrap());
    let answer = cached(&memory, root.path()).ask(&Fact::Zones).await.unwrap();
    let file = files(root.path()).remove(0);
    fs::write(&file, "{ half a docu").unwrap();
    let again = cached(&memory, root.path());
    assert_eq!(again.ask(&Fact::Zones).await.unwrap(), answer);
    assert_eq!(memory.calls().facts, 2);
    let notes = again.notes();
    assert!(notes.len() == 1 && notes[0].contains(file.to_str().unwrap()), "{notes:?}");
    cached(&memory, root.path()).ask(&Fact::Zones).await.unwrap();
    assert_eq!(memory.calls().facts, 2, "the file was mended");
    assert_eq!(files(root.path()).len(), 1, "nothing is left beside it");
}

#[tokio::test(start_paused = true)]
async fn a_directory_that_can_t_be_written_is_no_failure() {
    let (memory, root) = (memory(), tempfile::tempdir().unwrap());
    fs::write(root.path().join(ACCOUNT), "a file where a directory should be").unwrap();
    let cached = cached(&memory, root.path());
    cached.ask(&Fact::Zones).await.unwrap();
    assert!(!cached.notes().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_was_set_back_makes_nothing_older_than_new() {
    let (memory, root) = (memory(), tempfile::tempdir().unwrap());
    cached(&memory, root.path()).ask(&Fact::Zones).await.unwrap();
    let before = Clock::starting_at("2020-01-01T00:00:00Z".parse().unwrap());
    Cached::new(memory.clone(), root.path(), ACCOUNT, "us-west-2", before).ask(&Fact::Zones).await.unwrap();
    assert_eq!(memory.calls().facts, 2);
}

#[test]
fn the_cache_stands_where_the_machine_says() {
    let (xdg, home) = (Path::new("/var/cache/me"), Path::new("/home/me"));
    assert_eq!(cache_directory(Some(xdg), Some(home)), Some("/var/cache/me/infer-stack".into()));
    assert_eq!(cache_directory(None, Some(home)), Some("/home/me/.cache/infer-stack".into()));
    assert_eq!(cache_directory(Some(Path::new("relative")), Some(home)), Some("/home/me/.cache/infer-stack".into()));
    assert_eq!(cache_directory(None, None), None);
}
