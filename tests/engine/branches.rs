//! What a failure does to the rest of a run, and how many calls are under way at once.

use crate::harness::{Ran, World, stack};
use infer_stack::{
    apply::{Event, IN_FLIGHT},
    cloud::memory::{Fault, Scenario},
    contract::{Class, CloudError},
};

fn error(class: Class) -> CloudError {
    CloudError::new("ec2:Some", class, "SomeCode", "some message")
}

fn is_done(ran: &Ran, address: &str) -> bool {
    ran.outcome.done.iter().any(|done| done.address.as_str() == address)
}

#[tokio::test(start_paused = true)]
async fn independents_finish_and_dependents_are_skipped_and_said() {
    let world = World::ready("llama-70b.yaml");
    world.memory.fail("create nat-gateway", 1..=99, Fault::Fail(error(Class::Invalid)));
    let up = world.up().await;
    assert_eq!(up.outcome.failed.len(), 1);
    assert_eq!(up.outcome.failed[0].address.kind(), "nat-gateway");
    assert!(is_done(&up, "cluster.main") && is_done(&up, "vpc.main"), "{:#?}", up.outcome.done);
    let nat = up.outcome.failed[0].address.to_string();
    let because = up.outcome.skipped.iter().find(|skipped| skipped.address.kind() == "route-table").unwrap();
    assert_eq!(because.because, format!("{nat} failed"));
    assert!(up.events.iter().any(|event| matches!(event, Event::StepSkipped { .. })));
    let planned = up.plan.tasks.len();
    assert_eq!(up.outcome.done.len() + up.outcome.failed.len() + up.outcome.skipped.len(), planned);
    // And the next run goes on.
    world.memory.recover();
    assert!(world.up().await.outcome.is_complete());
}

#[tokio::test(start_paused = true)]
async fn expired_credentials_start_nothing_new() {
    let world = World::ready("llama-70b.yaml");
    world.memory.fail("create placement-group", 1..=1, Fault::Fail(error(Class::Expired)));
    let up = world.up().await;
    let subnet = up.outcome.skipped.iter().find(|skipped| skipped.address.kind() == "subnet").unwrap();
    assert_eq!(subnet.because, "the credentials expired");
    assert!(is_done(&up, "vpc.main"), "what was under way settles");
}

#[tokio::test(start_paused = true)]
async fn a_role_that_is_not_visible_yet_is_waited_for() {
    let world = World::ready("llama-70b.yaml");
    world.memory.fail("create cluster", 1..=3, Fault::Fail(error(Class::NotYet)));
    world.memory.fail("delete *", 1..=5, Fault::Fail(error(Class::InUse)));
    let up = world.up().await;
    assert!(up.outcome.is_complete(), "{:#?}", up.outcome.failed);
    let attempts: Vec<u32> = (up.events.iter())
        .filter_map(|event| match event {
            Event::StepRetried { attempt, address, .. } if address.kind() == "cluster" => Some(*attempt),
            _ => None,
        })
        .collect();
    assert_eq!(attempts, [1, 2, 3]);
    assert!(world.destroy().await.outcome.is_complete());
}

#[tokio::test(start_paused = true)]
async fn a_name_of_somebody_else_is_not_attached_to() {
    let world = World::ready("llama-70b.yaml");
    let survey = world.survey().await;
    let role = survey.plan.tasks.iter().find(|task| task.kind == "role").unwrap();
    let kind = infer_stack::resources::kind("role").unwrap();
    let other = [("infer-stack/stack".to_owned(), "other".to_owned())].into();
    // Between the plan and the call.
    world.memory.plant(kind, role.want.as_ref().unwrap(), other).unwrap();
    let address = role.address.clone();
    let up = world.run(survey).await;
    let failed = up.outcome.failed.iter().find(|failed| failed.address == address).unwrap();
    assert_eq!(failed.error.as_ref().unwrap().class, Class::AlreadyExists, "{failed:#?}");
}

#[tokio::test(start_paused = true)]
async fn calls_in_flight_are_bounded() {
    let survey_width = {
        let world = World::ready("llama-405b.yaml");
        world.survey().await;
        world.memory.most_in_flight()
    };
    for most in [1, 3, IN_FLIGHT] {
        let mut world = World::new(stack("llama-405b.yaml"), Scenario::ready());
        world.in_flight = most;
        let survey = world.survey().await;
        assert_eq!(world.memory.most_in_flight(), survey_width);
        world.memory.forget_calls();
        assert!(world.run(survey).await.outcome.is_complete());
        let seen = world.memory.most_in_flight();
        assert!(seen <= most, "{seen} calls at once, {most} allowed");
        assert!(most == IN_FLIGHT || seen == most, "the bound is used");
    }
}
