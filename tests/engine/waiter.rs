//! The one waiter: as a pure function, and in a run.

use crate::harness::World;
use infer_stack::{
    apply::{Event, Goal, History, Seen, Wait, settled},
    cloud::memory::{Fault, Latency, Scenario},
    contract::{Class, CloudError, Look, Patience, Readiness},
    model::{Outputs, Tags},
};
use std::time::Duration;

const PATIENCE: Patience = Patience { poll: 10, stall: 100, total: 400, streak: 2 };

fn look(ready: Readiness) -> Look {
    Look {
        id: "x-1".to_owned(),
        name: None,
        claims: None,
        tags: Tags::new(),
        outputs: Outputs::new(),
        projected: serde_json::json!({}),
        headline: String::new(),
        ready,
        gone: false,
        going: false,
        made_by_aws: false,
    }
}

fn pending(news: &str) -> Look {
    look(Readiness::Pending(news.to_owned()))
}

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn good_looks_count_only_in_a_row() {
    let (mut history, ready, coming) = (History::default(), look(Readiness::Ready), pending("CREATING"));
    let mut see = |seen, seconds| settled(Goal::Ready, seen, PATIENCE, &mut history, at(seconds));
    assert_eq!(see(Seen::Object(&ready), 0), Wait::Wait);
    assert_eq!(see(Seen::Object(&coming), 10), Wait::Wait);
    assert_eq!(see(Seen::Object(&ready), 20), Wait::Wait);
    assert_eq!(see(Seen::Object(&ready), 30), Wait::Done);
}

#[test]
fn an_error_is_neither_absence_nor_a_good_look() {
    let error = CloudError::new("eks:DescribeCluster", Class::Outage, "ServerException", "");
    let mut history = History::of_known();
    let mut see = |seen, seconds| settled(Goal::Gone, seen, PATIENCE, &mut history, at(seconds));
    assert_eq!(see(Seen::Nothing, 0), Wait::Wait);
    assert_eq!(see(Seen::Blind(&error), 10), Wait::Wait);
    assert_eq!(see(Seen::Nothing, 20), Wait::Wait);
    assert_eq!(see(Seen::Nothing, 30), Wait::Done);
}

#[test]
fn a_record_of_something_gone_is_gone() {
    let mut record = look(Readiness::Broken("deleted".to_owned()));
    record.gone = true;
    let patience = Patience { streak: 1, ..PATIENCE };
    assert_eq!(settled(Goal::Gone, Seen::Object(&record), patience, &mut History::of_known(), at(0)), Wait::Done);
    let verdict = settled(Goal::Ready, Seen::Object(&record), patience, &mut History::default(), at(0));
    assert!(matches!(verdict, Wait::GiveUp(_)));
}

#[test]
fn news_resets_the_stall_and_nothing_resets_the_total() {
    let mut history = History::default();
    for seconds in (0..400).step_by(50) {
        let news = pending(&format!("{seconds} %"));
        assert_eq!(settled(Goal::Ready, Seen::Object(&news), PATIENCE, &mut history, at(seconds)), Wait::Wait);
    }
    let last = settled(Goal::Ready, Seen::Object(&pending("400 %")), PATIENCE, &mut history, at(400));
    assert_eq!(last, Wait::GiveUp("not ready after 400 s, the last word was: 400 %".to_owned()));

    let mut history = History::default();
    let same = pending("CREATING");
    assert_eq!(settled(Goal::Ready, Seen::Object(&same), PATIENCE, &mut history, at(0)), Wait::Wait);
    assert_eq!(settled(Goal::Ready, Seen::Object(&same), PATIENCE, &mut history, at(99)), Wait::Wait);
    let stalled = settled(Goal::Ready, Seen::Object(&same), PATIENCE, &mut history, at(100));
    assert_eq!(stalled, Wait::GiveUp("no news for 100 s, the last word was: CREATING".to_owned()));
}

#[test]
fn what_was_seen_and_is_not_there_any_more_is_not_waited_for() {
    let mut history = History::default();
    assert_eq!(settled(Goal::Ready, Seen::Nothing, PATIENCE, &mut history, at(0)), Wait::Wait);
    let coming = pending("CREATING");
    assert_eq!(settled(Goal::Ready, Seen::Object(&coming), PATIENCE, &mut history, at(10)), Wait::Wait);
    assert!(matches!(settled(Goal::Ready, Seen::Nothing, PATIENCE, &mut history, at(20)), Wait::GiveUp(_)));
    let broken = look(Readiness::Broken("CREATE_FAILED: no subnet".to_owned()));
    let verdict = settled(Goal::Ready, Seen::Object(&broken), PATIENCE, &mut History::default(), at(0));
    assert_eq!(verdict, Wait::GiveUp("CREATE_FAILED: no subnet".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_wait_says_why_every_half_minute_and_survives_looks_that_fail() {
    let world = World::ready("llama-70b.yaml");
    let outage = CloudError::new("eks:DescribeCluster", Class::Outage, "ServerException", "");
    world.memory.fail("read cluster", 2..=4, Fault::Fail(outage));
    let up = world.up().await;
    assert!(up.outcome.is_complete(), "{:#?}", up.outcome.failed);
    let failed = up.events.iter().filter(|event| matches!(event, Event::LookFailed { .. })).count();
    assert_eq!(failed, 3);
    let beats: Vec<(u64, &str, Option<u64>)> = (up.events.iter())
        .filter_map(|event| match event {
            Event::StepWaiting { address, seconds, waiting_for, expected_seconds, .. }
                if address.as_str() == "cluster.main" =>
            {
                Some((*seconds, waiting_for.as_str(), *expected_seconds))
            }
            _ => None,
        })
        .collect();
    assert!(beats.len() > 15, "{beats:?}");
    assert!(beats.iter().all(|(_, why, expected)| !why.is_empty() && *expected == Some(592)), "{beats:?}");
    assert!(beats.windows(2).all(|pair| pair[1].0 - pair[0].0 < 60), "{beats:?}");
}

#[tokio::test(start_paused = true)]
async fn things_that_lists_show_late_are_waited_for() {
    let scenario = Scenario { lag_ms: 7_000, latency_ms: Latency { read: 50, change: 200 }, ..Scenario::ready() };
    let world = World::new(crate::harness::stack("minimal.yaml"), scenario);
    let up = world.up().await;
    assert!(up.outcome.is_complete(), "{:#?}", up.outcome.failed);
    let again = world.survey().await.plan;
    assert!(again.is_settled(), "{:#?}", again.tasks);
}
