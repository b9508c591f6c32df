//! The lock: free, held, renewed, dead, run out, lost.

use crate::harness::{ACCOUNT, START};
use infer_stack::{
    apply::{Event, Holder, LEASE, LockError, Log, NoJournal, acquire, break_lock, guarded, held, is_dead, stop},
    clock::{Clock, pause},
    cloud::{
        Cloud,
        memory::{Fault, Memory, Scenario},
    },
    contract::{Class, CloudError},
};
use std::{sync::Mutex, time::Duration};

const KEY: &str = "llama-70b/lock";

fn account() -> Memory {
    Memory::new(Scenario::ready(), ACCOUNT, "us-west-2", START.parse().unwrap())
}

fn holder(run: &str, host: &str, pid: u32) -> Holder {
    Holder { run: run.into(), who: "up as ci".into(), host: host.into(), boot_id: "boot-1".into(), pid }
}

fn since(clock: Clock, before: Duration) -> u64 {
    (clock.elapsed() - before).as_secs()
}

#[tokio::test(start_paused = true)]
async fn a_free_lock_is_taken_and_given_back() {
    let memory = account();
    let lease = acquire(memory.store(), KEY, &holder("a", "here", 1), &|_| true, memory.clock()).await.unwrap();
    let seen = held(memory.store(), KEY).await.unwrap().unwrap();
    assert_eq!((seen.holder.run.as_str(), seen.since.as_str()), ("a", START));
    lease.release().await.unwrap();
    assert!(held(memory.store(), KEY).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_renewed_lock_is_refused_with_who_and_where() {
    let memory = account();
    let first = acquire(memory.store(), KEY, &holder("a", "there", 7), &|_| true, memory.clock()).await.unwrap();
    let begun = memory.clock().elapsed();
    let me = holder("b", "here", 1);
    let second = acquire(memory.store(), KEY, &me, &|_| true, memory.clock());
    tokio::select! {
        _ = first.keep() => panic!("the lease is ours"),
        refused = second => {
            let Err(LockError::Held(by)) = refused else { panic!("{:?}", refused.map(drop)) };
            assert_eq!((by.holder.run.as_str(), by.holder.host.as_str(), by.holder.pid), ("a", "there", 7));
            let text = LockError::Held(by).to_string();
            assert!(text.contains("up as ci") && text.contains("there") && text.contains(START), "{text}");
        }
    }
    assert!(since(memory.clock(), begun) <= LEASE + 2);
}

#[tokio::test(start_paused = true)]
async fn a_dead_holder_on_this_host_is_taken_over_at_once() {
    let memory = account();
    let lease = acquire(memory.store(), KEY, &holder("a", "here", 7), &|_| true, memory.clock()).await.unwrap();
    let begun = memory.clock().elapsed();
    let taken = acquire(memory.store(), KEY, &holder("b", "here", 8), &|pid| pid != 7, memory.clock()).await.unwrap();
    assert!(since(memory.clock(), begun) < 5);
    // The old one notices, and its release takes nothing.
    assert!(matches!(lease.keep().await, LockError::Lost(_)));
    lease.release().await.unwrap();
    assert_eq!(held(memory.store(), KEY).await.unwrap().unwrap().holder.run, "b");
    taken.release().await.unwrap();
}

#[test]
fn only_this_host_knows_its_dead() {
    let me = holder("b", "here", 8);
    let rebooted = Holder { boot_id: "boot-0".into(), ..holder("a", "here", 7) };
    assert!(is_dead(&rebooted, &me, &|_| true), "another boot, whatever runs under that id now");
    assert!(is_dead(&holder("a", "here", 7), &me, &|_| false));
    assert!(!is_dead(&holder("a", "here", 7), &me, &|_| true));
    assert!(!is_dead(&holder("a", "there", 7), &me, &|_| false), "of other hosts nothing is known");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_ran_out_is_taken_over_by_the_stores_clock() {
    let memory = account();
    let _silent = acquire(memory.store(), KEY, &holder("a", "there", 7), &|_| true, memory.clock()).await.unwrap();
    let begun = memory.clock().elapsed();
    let lease = acquire(memory.store(), KEY, &holder("b", "here", 1), &|_| true, memory.clock()).await.unwrap();
    let waited = since(memory.clock(), begun);
    assert!((LEASE - 2..=LEASE + 3).contains(&waited), "{waited} s");
    lease.release().await.unwrap();
    // One that is older is taken without waiting.
    let _silent = acquire(memory.store(), KEY, &holder("c", "there", 7), &|_| true, memory.clock()).await.unwrap();
    pause(Duration::from_secs(LEASE + 5)).await;
    let begun = memory.clock().elapsed();
    acquire(memory.store(), KEY, &holder("d", "here", 1), &|_| true, memory.clock()).await.unwrap();
    assert!(since(memory.clock(), begun) < 5);
}

#[tokio::test(start_paused = true)]
async fn lost_answers_cost_no_lock() {
    let memory = account();
    memory.fail("put *", 1..=1, Fault::Lose);
    memory.fail("put *", 3..=3, Fault::Lose);
    let lease = acquire(memory.store(), KEY, &holder("a", "here", 1), &|_| true, memory.clock()).await.unwrap();
    tokio::select! {
        lost = lease.keep() => panic!("{lost}"),
        () = pause(Duration::from_secs(300)) => {}
    }
    lease.release().await.unwrap();
    assert!(held(memory.store(), KEY).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_lost_lease_starts_nothing_new() {
    let memory = account();
    let lease = acquire(memory.store(), KEY, &holder("a", "here", 1), &|_| true, memory.clock()).await.unwrap();
    let outage = CloudError::new("s3:PutObject", Class::Outage, "SlowDown", "");
    memory.fail("put */lock", 1..=99, Fault::Fail(outage));
    let (handle, stopped) = stop();
    let events = Mutex::new(vec![]);
    let log = Log::new(&NoJournal, "a", memory.clock());
    let tell = |event: Event| events.lock().unwrap().push(event);
    let copy = infer_stack::apply::Copy { log: &log, store: memory.store(), key: "llama-70b/journals/a.jsonl" };
    let work = stopped.reached(1);
    guarded(work, &lease, copy, &handle, &tell, memory.clock()).await;
    assert_eq!(handle_level(&stopped), 1);
    assert!(events.into_inner().unwrap().iter().any(|event| matches!(event, Event::LeaseLost { .. })));
}

fn handle_level(stop: &infer_stack::apply::Stop) -> u8 {
    stop.level()
}

#[tokio::test(start_paused = true)]
async fn a_known_lock_is_broken_and_a_renewed_one_is_not() {
    let memory = account();
    let lease = acquire(memory.store(), KEY, &holder("a", "there", 7), &|_| true, memory.clock()).await.unwrap();
    let known = held(memory.store(), KEY).await.unwrap().unwrap();
    tokio::select! {
        _ = lease.keep() => {}
        () = pause(Duration::from_secs(25)) => {}
    }
    assert!(matches!(break_lock(memory.store(), KEY, &known).await, Err(LockError::Lost(_))));
    let known = held(memory.store(), KEY).await.unwrap().unwrap();
    break_lock(memory.store(), KEY, &known).await.unwrap();
    assert!(held(memory.store(), KEY).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn what_nobody_can_read_is_said_and_then_taken() {
    let memory = account();
    let put = memory.store().put(KEY, b"{}".to_vec(), infer_stack::cloud::Expect::Absent);
    put.await.unwrap();
    let taken = acquire(memory.store(), KEY, &holder("a", "here", 1), &|_| true, memory.clock()).await;
    assert!(matches!(taken, Err(LockError::Unreadable { .. })));
    pause(Duration::from_secs(LEASE)).await;
    acquire(memory.store(), KEY, &holder("a", "here", 1), &|_| true, memory.clock()).await.unwrap();
}
