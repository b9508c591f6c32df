use super::case::Case;
use infer_stack::{
    cloud::{Answer, Fact, QuotaValue, RunningInstances},
    contract::Purchase,
    preflight::{Check, Verdict, worst},
    stack::{Capacity, Provisioner},
};
use std::collections::BTreeMap;

const P: &str = "L-417A185B";

fn limit(case: &mut Case, code: &str, service: &str, value: f64) {
    let fact = Fact::Quotas { codes: vec![(code.to_owned(), service.to_owned())] };
    let value = QuotaValue { value, applied: true };
    case.learn(fact, Answer::Quotas(BTreeMap::from([(code.to_owned(), value)])));
}

fn running(case: &mut Case, count: u32, stack: Option<&str>) {
    let instances = RunningInstances {
        instance_type: "p5.48xlarge".to_owned(),
        purchase: Purchase::OnDemand,
        count,
        stack: stack.map(str::to_owned),
    };
    case.learn(Fact::Running, Answer::Running(vec![instances]));
}

#[test]
fn a_new_account_is_told_the_number_and_the_line_to_ask_for() {
    let case = Case::of("llama-70b", "new-account");
    let finding = case.expect(Check::Quota, P, Verdict::Block, "need 384 vCPU, limit 0, in use 0");
    assert_eq!((finding.need, finding.limit, finding.used), (Some(384.0), Some(0.0), Some(0.0)));
    assert!(finding.message.contains("Running On-Demand P instances in us-west-2"), "{}", finding.message);
    assert!(
        finding.message.contains("2 × p5.48xlarge take 192 vCPU each. A new account has 0."),
        "{}",
        finding.message
    );
    assert_eq!(
        finding.remedy.as_deref(),
        Some(
            "aws service-quotas request-service-quota-increase --service-code ec2 --quota-code L-417A185B \
             --desired-value 384 --region us-west-2"
        )
    );
    assert_eq!(worst(&case.made().findings), Verdict::Block);
}

#[test]
fn a_granted_quota_passes() {
    let case = Case::of("llama-70b", "ready");
    case.expect(Check::Quota, P, Verdict::Pass, "need 384 vCPU, 1920 left of 1920");
}

#[test]
fn a_ready_account_has_nothing_against_any_example() {
    for (stem, text) in crate::stack::examples() {
        let case = Case::new(crate::stack::one(&text).spec, "ready");
        let made = case.made();
        let bad: Vec<_> =
            made.findings.iter().filter(|f| matches!(f.verdict, Verdict::Block | Verdict::Unknown)).collect();
        assert!(bad.is_empty(), "{stem}: {bad:#?}");
    }
}

#[test]
fn what_others_run_is_not_free() {
    let mut case = Case::of("llama-70b", "ready");
    limit(&mut case, P, "ec2", 768.0);
    running(&mut case, 3, None);
    let finding = case.expect(Check::Quota, P, Verdict::Block, "need 384 vCPU, limit 768, in use 576");
    assert!(finding.remedy.unwrap().contains("--desired-value 960 "));
}

#[test]
fn what_the_stack_runs_itself_is_covered() {
    let mut case = Case::of("llama-70b", "ready");
    limit(&mut case, P, "ec2", 1536.0);
    running(&mut case, 2, Some("llama-70b"));
    case.expect(Check::Quota, P, Verdict::Pass, "need 384 vCPU, 1536 left");
}

#[test]
fn enough_to_start_but_not_to_grow_is_a_warning() {
    let mut case = Case::of("llama-70b", "ready");
    limit(&mut case, P, "ec2", 768.0);
    let finding = case.expect(Check::Quota, P, Verdict::Warn, "at its largest the stack needs 1536 vCPU");
    assert!(finding.remedy.unwrap().contains("--desired-value 1536 "));
}

#[test]
fn the_nodes_that_a_rolling_update_adds_are_counted() {
    let mut case = Case::of("llama-70b", "ready");
    // Three m6i.xlarge at most: 12 vCPU, and up to four nodes more while they roll over two zones.
    limit(&mut case, "L-1216C47A", "ec2", 16.0);
    case.expect(Check::Quota, "L-1216C47A", Verdict::Warn, "a rolling update starts nodes of 16 more");
}

#[test]
fn nobody_looked_is_not_a_pass() {
    let mut case = Case::of("llama-70b", "ready");
    case.blind(Fact::Quotas { codes: vec![(P.to_owned(), "ec2".to_owned())] });
    case.expect(Check::Quota, P, Verdict::Unknown, "AccessDenied");
    let mut case = Case::of("llama-70b", "ready");
    case.blind(Fact::Running);
    case.expect(Check::Quota, P, Verdict::Unknown, "what runs already: could not look");
    // Without any room it is a block, whatever runs.
    let mut case = Case::of("llama-70b", "new-account");
    case.blind(Fact::Running);
    case.expect(Check::Quota, P, Verdict::Block, "limit 0");
}

#[test]
fn spot_draws_on_a_quota_of_its_own() {
    let mut case = Case::of("llama-70b", "ready");
    case.spec.node_classes[1].capacity = Capacity::Spot;
    case.ask("ready");
    let codes: Vec<_> = case.findings(Check::Quota).into_iter().map(|f| f.subject).collect();
    assert!(codes.contains(&"L-C4BD4855".to_owned()) && !codes.contains(&P.to_owned()), "{codes:?}");
}

#[test]
fn spot_of_a_family_without_a_published_quota_is_unknown() {
    let mut case = Case::of("llama-70b", "ready");
    case.spec.node_classes[1].instance_types = vec!["p6-b200.48xlarge".to_owned()];
    case.spec.node_classes[1].capacity = Capacity::Spot;
    case.ask("ready");
    case.expect(Check::Quota, "p6-b200.48xlarge", Verdict::Unknown, "only a launch tells");
}

#[test]
fn a_capacity_block_needs_no_quota() {
    let mut case = Case::of("capacity-block", "ready");
    case.facts.quotas.clear();
    let codes: Vec<_> = case.findings(Check::Quota).into_iter().map(|f| f.subject).collect();
    assert!(!codes.contains(&P.to_owned()), "{codes:?}");
}

#[test]
fn a_karpenter_pool_needs_quota_for_its_largest() {
    let mut case = Case::of("llama-70b", "ready");
    let p5 = &mut case.spec.node_classes[1];
    p5.provisioner = Provisioner::Karpenter;
    (p5.nodes.desired, p5.nodes.min) = (0, 0);
    limit(&mut case, P, "ec2", 768.0);
    case.expect(Check::Quota, P, Verdict::Warn, "1536 vCPU");
}

#[test]
fn addresses_that_are_used_up_block() {
    let mut case = Case::of("llama-70b", "ready");
    let mut counts = case.facts.counts.clone().unwrap().unwrap();
    counts.insert("elasticIp".to_owned(), 5);
    case.learn(Fact::Counts, Answer::Counts(counts.clone()));
    let finding = case.expect(Check::Quota, "L-0263D0A3", Verdict::Block, "need 1, limit 5, in use 5");
    assert!(finding.remedy.unwrap().contains("--service-code ec2 --quota-code L-0263D0A3 --desired-value 6 "));
    // Of NAT gateways only the number of all zones is known.
    counts.insert("natGateway".to_owned(), 5);
    case.learn(Fact::Counts, Answer::Counts(counts));
    case.expect(Check::Quota, "L-FE5A380F", Verdict::Warn, "of all zones together");
    case.blind(Fact::Counts);
    case.expect(Check::Quota, "L-0263D0A3", Verdict::Unknown, "AccessDenied");
}

#[test]
fn what_lives_of_the_stack_is_not_counted_again() {
    let mut case = Case::of("llama-70b", "ready");
    case.settle();
    let mut counts = case.facts.counts.clone().unwrap().unwrap();
    counts.insert("vpc".to_owned(), 5);
    case.learn(Fact::Counts, Answer::Counts(counts));
    case.expect(Check::Quota, "L-F678F1CE", Verdict::Pass, "need 0, 0 left of 5");
}

#[test]
fn more_node_groups_than_a_cluster_takes_block() {
    let mut case = Case::of("llama-70b", "ready");
    for n in 0..30 {
        let mut class = case.spec.node_classes[0].clone();
        class.name = format!("more-{n}");
        case.spec.node_classes.push(class);
    }
    case.expect(Check::Quota, "L-6D54EA21", Verdict::Block, "need 32, limit 30");
}
