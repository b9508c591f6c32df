//! Ctrl-C once, and twice.

use crate::harness::World;
use infer_stack::{
    apply::{Event, LEAVE, SETTLE},
    clock::pause,
};
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn once_lets_what_runs_settle_and_starts_nothing_new() {
    let world = World::ready("llama-70b.yaml");
    let press = async {
        pause(Duration::from_secs(200)).await;
        world.stop.0.raise(SETTLE);
    };
    let (up, ()) = tokio::join!(world.up(), press);
    // The control plane was on its way and came up; what needs it was not started.
    assert!(up.outcome.done.iter().any(|done| done.address.as_str() == "cluster.main"), "{:#?}", up.outcome.done);
    assert!(up.outcome.failed.is_empty() && up.outcome.in_flight.is_empty());
    assert!(up.outcome.skipped.iter().all(|skipped| skipped.because == "the run was stopped"));
    assert!(up.outcome.skipped.iter().any(|skipped| skipped.address.kind() == "addon"));
    assert!(up.events.iter().any(|event| matches!(event, Event::Interrupted { running, .. } if *running > 0)));
}

#[tokio::test(start_paused = true)]
async fn twice_leaves_at_once_and_says_what_is_in_flight() {
    let world = World::ready("llama-70b.yaml");
    let press = async {
        pause(Duration::from_secs(200)).await;
        assert_eq!(world.stop.0.press(), SETTLE);
        pause(Duration::from_secs(5)).await;
        assert_eq!(world.stop.0.press(), LEAVE);
    };
    let (up, ()) = tokio::join!(world.up(), press);
    assert!(up.outcome.seconds < 220, "{} s", up.outcome.seconds);
    let left: Vec<_> = up.outcome.in_flight.iter().map(|left| (left.address.as_str(), left.id.as_deref())).collect();
    assert!(left.contains(&("cluster.main", Some("llama-70b"))), "{left:?}");
    // The next run attaches to it.
    let world = World { stop: infer_stack::apply::stop(), ..world };
    let up = world.up().await;
    assert!(up.outcome.is_complete(), "{:#?}", up.outcome.failed);
    assert_eq!(world.objects("cluster").len(), 1);
}
