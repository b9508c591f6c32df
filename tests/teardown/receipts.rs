//! The proof in its three verdicts.

use crate::harness::World;
use infer_stack::{
    clock::pause,
    cloud::{Cloud, Expect, memory::Fault},
    contract::{Class, CloudError},
    teardown::{Check, Kept, Receipt, Remaining, Status, receipt_key},
};
use std::time::Duration;

fn denied() -> CloudError {
    CloudError::new("ec2:DescribeVolumes", Class::Denied, "UnauthorizedOperation", "not allowed")
}

#[tokio::test(start_paused = true)]
async fn absent_takes_two_looks_a_minute_apart() {
    let world = World::ready("llama-70b.yaml");
    let receipt = world.verify().await;
    assert_eq!(receipt.verdict, Status::Absent);
    assert!(receipt.checks.len() >= 17);
    for check in &receipt.checks {
        let (first, second): (jiff::Timestamp, jiff::Timestamp) =
            (check.first_read.parse().unwrap(), check.second_read.parse().unwrap());
        assert!(second.duration_since(first).as_secs() >= 60, "{check:#?}");
        assert!(!check.found_by.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_is_never_absence() {
    let world = World::ready("llama-70b.yaml");
    world.memory.fail("list volume", 2..=2, Fault::Fail(denied()));
    let receipt = world.verify().await;
    assert_eq!(receipt.verdict, Status::NotChecked);
    let volumes = receipt.checks.iter().find(|check| check.what == "ec2:volume").unwrap();
    assert_eq!((volumes.status, volumes.error.as_ref().unwrap()), (Status::NotChecked, &denied()));
    // One good look is not two: a third makes up for a first that failed.
    world.memory.recover();
    world.memory.forget_calls();
    world.memory.fail("list volume", 1..=1, Fault::Fail(denied()));
    let receipt = world.verify().await;
    let looks = world.memory.made().into_iter().filter(|made| made.call == "list volume").count();
    assert_eq!(looks, 3);
    let volumes = receipt.checks.iter().find(|check| check.what == "ec2:volume").unwrap();
    assert_eq!((volumes.status, volumes.error.as_ref()), (Status::Absent, None));
}

#[tokio::test(start_paused = true)]
async fn something_that_bills_weighs_more_than_something_unseen() {
    let world = World::ready("llama-70b.yaml");
    assert!(world.up().await.outcome.is_complete());
    world.memory.fail("list volume", 1..=9, Fault::Fail(denied()));
    let receipt = world.verify().await;
    assert_eq!(receipt.verdict, Status::Present);
    let volumes = receipt.checks.iter().find(|check| check.what == "ec2:volume").unwrap();
    assert_eq!(volumes.status, Status::NotChecked);
}

#[tokio::test(start_paused = true)]
async fn what_goes_between_the_looks_is_looked_at_once_more() {
    let world = World::ready("llama-70b.yaml");
    let kind = infer_stack::resources::kind("elastic-ip").unwrap();
    let tags = ["stack", "region"].map(|key| format!("infer-stack/{key}"));
    let tags = tags.into_iter().zip(["llama-70b".to_owned(), "us-west-2".to_owned()]).collect();
    let id = world.memory.plant(kind, &kind.samples().remove(0), tags).unwrap();
    let release = async {
        pause(Duration::from_secs(30)).await;
        Cloud::delete(&world.memory, kind, &id).await.unwrap();
    };
    let (receipt, ()) = tokio::join!(world.verify(), release);
    assert_eq!(receipt.verdict, Status::Absent);
    let looks = world.memory.made().into_iter().filter(|made| made.call == "list elastic-ip").count();
    assert_eq!(looks, 3);
}

#[tokio::test(start_paused = true)]
async fn the_operations_bucket_is_kept_and_said() {
    let world = World::ready("llama-70b.yaml");
    assert!(world.verify().await.kept.is_empty());
    let key = receipt_key(&world.identity(), "2026-12-01T14:32:10Z");
    assert_eq!(key, "llama-70b/2026-12-01T14-32-10Z.json");
    world.memory.store().put(&key, b"{}".to_vec(), Expect::Anything).await.unwrap();
    let receipt = world.verify().await;
    assert_eq!(receipt.verdict, Status::Absent);
    assert_eq!(receipt.kept.len(), 1);
    assert_eq!(receipt.kept[0].id, "infer-stack-123456789012-us-west-2");
}

#[test]
fn the_shape_is_the_contracts() {
    let check = Check {
        what: "ec2:instance".into(),
        found_by: vec!["tag infer-stack/stack".into()],
        first_read: "2026-12-01T14:31:07Z".into(),
        second_read: "2026-12-01T14:32:10Z".into(),
        status: Status::Present,
        remaining: vec![
            Remaining { id: "i-1".into(), state: "running".into(), hourly_usd: Some(55.04) },
            Remaining { id: "i-2".into(), state: "running".into(), hourly_usd: None },
        ],
        error: None,
    };
    let kept =
        Kept { what: "s3:bucket".into(), id: "w".into(), why: "onDestroy: keep".into(), hourly_usd: Some(0.0045) };
    let receipt = serde_json::to_value(Receipt::new(vec![check], vec![kept])).unwrap();
    assert_eq!(
        receipt,
        serde_json::json!({
            "verdict": "present",
            "checks": [{
                "what": "ec2:instance",
                "found_by": ["tag infer-stack/stack"],
                "first_read": "2026-12-01T14:31:07Z",
                "second_read": "2026-12-01T14:32:10Z",
                "status": "present",
                "remaining": [
                    { "id": "i-1", "state": "running", "hourly_usd": 55.04 },
                    { "id": "i-2", "state": "running", "hourly_usd": null },
                ],
                "error": null,
            }],
            "kept": [{ "what": "s3:bucket", "id": "w", "why": "onDestroy: keep", "hourly_usd": 0.0045 }],
            "remaining_hourly_usd": 55.04,
            "kept_hourly_usd": 0.0045,
            "unpriced": ["i-2"],
        })
    );
}
