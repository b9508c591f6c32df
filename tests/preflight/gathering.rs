use super::case::{Case, NOW};
use infer_stack::{
    catalog::{Catalog, Source},
    choose::facts_needed,
    cloud::{
        Cloud,
        memory::{Fault, Memory, Scenario},
    },
    contract::{Class, CloudError},
    preflight::gather,
};

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(work)
}

/// What `gather` brings of an account that a test has changed, and how it was asked.
fn gathered(case: &Case, change: impl FnOnce(&Memory)) -> (Catalog, u64, usize) {
    run(async {
        let cloud = Memory::new(Scenario::ready(), "123456789012", &case.spec.region, NOW.parse().unwrap());
        cloud.bring(&case.spec);
        change(&cloud);
        let catalog = gather(&cloud, &case.spec, &case.snapshot, &case.circumstances()).await;
        (catalog, cloud.calls().facts, cloud.most_in_flight())
    })
}

#[test]
fn every_question_is_asked_once_and_all_at_the_same_time() {
    let case = Case::of("llama-70b", "ready");
    let needed = facts_needed(&case.spec, &case.snapshot, &Catalog::compiled(), &case.circumstances()).len();
    let (_, calls, most) = gathered(&case, |_| ());
    assert_eq!((calls, most), (needed as u64, needed));
}

#[test]
fn a_failed_look_is_kept_and_does_not_stop_the_others() {
    let case = Case::of("llama-70b", "ready");
    let (catalog, ..) = gathered(&case, |cloud| {
        let refused =
            CloudError::new("ec2:DescribeInstanceTypeOfferings", Class::Denied, "UnauthorizedOperation", "no");
        cloud.fail("ask offerings", 1..=9, Fault::Fail(refused));
    });
    let offered = catalog.offered_zones("p5.48xlarge", "us-west-2");
    assert!(matches!(offered.source, Source::CompiledAfter(error) if error.class == Class::Denied));
    assert_eq!(catalog.zones("us-west-2").source, Source::Live);
}
