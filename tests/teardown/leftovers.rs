//! What node groups, controllers and EKS leave behind.

use crate::harness::{World, stack};
use infer_stack::{
    apply::Event,
    cloud::memory::{Leaves, Scenario},
    contract::Purchase,
    model::{Link, Tags},
    resources::{instance, kind},
    teardown::Status,
};

/// A node that Karpenter started and nobody knows any more: no tag of ours, only the cluster's.
fn leak(world: &World) -> String {
    let subnet = world.objects("subnet").remove(0);
    let want = instance::Desired {
        instance_type: "p5.48xlarge".to_owned(),
        purchase: Purchase::OnDemand,
        zone: subnet.want["zone"].as_str().unwrap().to_owned(),
        vpc: Link::is(world.objects("vpc").remove(0).id),
        subnet: Link::is(&subnet.id),
        interfaces: vec![],
        placement_group: None,
        reservation: None,
    };
    let tags: Tags = [("kubernetes.io/cluster/llama-70b".to_owned(), "owned".to_owned())].into();
    world.memory.plant(kind("instance").unwrap(), &serde_json::to_value(want).unwrap(), tags).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_leaked_instance_is_found_billed_and_deleted() {
    let world = World::ready("llama-70b.yaml");
    assert!(world.up().await.outcome.is_complete());
    let id = leak(&world);
    let receipt = world.verify().await;
    assert_eq!(receipt.verdict, Status::Present);
    let instances = receipt.checks.iter().find(|check| check.what == "ec2:instance").unwrap();
    let leaked = instances.remaining.iter().find(|remaining| remaining.id == id).unwrap();
    assert_eq!((leaked.state.as_str(), leaked.hourly_usd), ("running", Some(55.04)));
    assert!(receipt.remaining_hourly_usd > 55.0);

    let down = world.destroy().await;
    assert!(down.outcome.is_complete(), "{:#?}", down.outcome.failed);
    assert!(down.swept.iter().any(|swept| swept.id == id), "{:#?}", down.swept);
    assert!(down.events.iter().any(|event| matches!(event, Event::LeftoverFound { id: found, .. } if *found == id)));
    assert_eq!(world.verify().await.verdict, Status::Absent);
}

#[tokio::test(start_paused = true)]
async fn everything_that_stays_behind_is_swept() {
    let leaves = Leaves { interfaces: 2, volumes: 1, log_group: true, cluster_group: true };
    let world = World::new(stack("llama-70b.yaml"), Scenario { leaves, ..Scenario::ready() });
    assert!(world.up().await.outcome.is_complete());
    let down = world.destroy().await;
    assert!(down.outcome.is_complete(), "{:#?}", (down.outcome.failed, down.outcome.skipped));
    for what in ["ec2:network-interface", "ec2:volume", "ec2:security-group", "logs:log-group"] {
        assert!(down.swept.iter().any(|swept| swept.what == what), "{what}: {:#?}", down.swept);
    }
    let receipt = world.verify().await;
    assert_eq!(receipt.verdict, Status::Absent, "{:#?}", receipt.checks);
}

#[tokio::test(start_paused = true)]
async fn a_second_destroy_sweeps_what_is_left_without_a_plan() {
    let world = World::ready("llama-70b.yaml");
    assert!(world.up().await.outcome.is_complete());
    let id = leak(&world);
    // A deletion by hand took everything but the node, its subnet and its VPC.
    let down = world.down().await;
    assert!(!down.outcome.failed.is_empty());
    let again = world.destroy().await;
    assert!(again.outcome.is_complete(), "{:#?}", again.outcome.failed);
    assert!(again.swept.iter().any(|swept| swept.id == id));
    assert_eq!(world.verify().await.verdict, Status::Absent);
}

#[tokio::test(start_paused = true)]
async fn another_stack_in_the_account_is_left_alone() {
    let world = World::ready("llama-70b.yaml");
    assert!(world.up().await.outcome.is_complete());
    let text = world.memory.to_json();
    let other = World {
        spec: infer_stack::stack::Spec { name: "other".into(), ..world.spec.clone() },
        ..World::saved("llama-70b.yaml", &text)
    };
    assert!(other.up().await.outcome.is_complete());
    let mut survivors = other.census();
    let down = other.destroy().await;
    assert!(down.outcome.is_complete(), "{:#?}", down.outcome.failed);
    survivors.clone_from(&other.census());
    let mine = world.census();
    for line in &mine {
        assert!(survivors.contains(line), "{line}");
    }
    let back = World { spec: world.spec.clone(), ..other };
    let again = back.survey().await.plan;
    assert!(again.is_settled(), "{:#?}", again.tasks);
}
