use super::case::Case;
use infer_stack::{
    cloud::{Answer, Caller, ClusterVersion, Fact},
    preflight::{Check, Verdict},
    stack::{Access, AccessPolicy, Budget, Expires, SupportType},
};

fn bucket(case: &mut Case, name: &str, region: Option<&str>) {
    case.learn(Fact::Bucket { name: name.to_owned() }, Answer::Bucket(region.map(str::to_owned)));
}

#[test]
fn only_the_account_that_the_file_names_passes() {
    let mut case = Case::of("llama-70b", "ready");
    assert!(case.findings(Check::Account).is_empty());
    case.spec.account = Some("123456789012".to_owned());
    case.expect(Check::Account, "123456789012", Verdict::Pass, "");
    case.spec.account = Some("210987654321".to_owned());
    case.expect(Check::Account, "210987654321", Verdict::Block, "the credentials are of account 123456789012");
    case.settle();
    case.blind(Fact::Caller);
    case.expect(Check::Account, "210987654321", Verdict::Unknown, "AccessDenied");
}

#[test]
fn the_budget_is_of_the_largest_size() {
    let mut case = Case::of("llama-70b", "ready");
    case.expect(Check::Budget, "budget.maxHourlyUsd", Verdict::Pass, "of $500.00/h");
    case.spec.budget = Some(Budget { max_hourly_usd: 400.0 });
    let finding = case.expect(Check::Budget, "budget.maxHourlyUsd", Verdict::Block, "the file allows $400.00/h");
    assert!(finding.need.unwrap() > 440.0, "{finding:#?}");
    // A price that is not known may be any.
    case.spec.budget = Some(Budget { max_hourly_usd: 500.0 });
    case.spec.node_classes[1].capacity = infer_stack::stack::Capacity::Spot;
    case.expect(Check::Budget, "budget.maxHourlyUsd", Verdict::Unknown, "the market sets it");
    case.spec.budget = None;
    assert!(case.findings(Check::Budget).is_empty());
}

#[test]
fn a_time_that_has_passed_stops_a_new_stack_and_warns_a_live_one() {
    let mut case = Case::of("llama-70b", "ready");
    case.expect(Check::Expiry, "llama-70b", Verdict::Pass, "expires 2026-12-04T12:00:00Z");
    case.settle();
    case.now = "2026-12-05T12:00:00Z".to_owned();
    let finding = case.expect(Check::Expiry, "llama-70b", Verdict::Warn, "the stack expired");
    assert!(finding.remedy.unwrap().starts_with("infer-stack extend --name llama-70b"));
    let mut case = Case::of("llama-70b", "ready");
    case.spec.expires = Expires::At("2026-11-30T00:00:00Z".to_owned());
    case.expect(Check::Expiry, "llama-70b", Verdict::Block, "has passed");
    case.spec.expires = Expires::Never;
    case.expect(Check::Expiry, "llama-70b", Verdict::Pass, "does not expire");
}

#[test]
fn a_bucket_to_make_must_be_free_and_one_to_use_must_be_there() {
    let mut case = Case::of("llama-70b", "ready");
    let name = case.made().choices.bucket.unwrap().value;
    case.expect(Check::Bucket, &name, Verdict::Pass, "will be made");
    bucket(&mut case, &name, Some("us-west-2"));
    case.expect(Check::Bucket, &name, Verdict::Block, "exists already");
    case.settle();
    case.expect(Check::Bucket, &name, Verdict::Pass, "is the stack's");

    let mut case = Case::of("llama-70b", "ready");
    let brought = case.spec.weights.as_mut().unwrap().bucket.as_mut().unwrap();
    (brought.name, brought.create) = (Some("theirs".to_owned()), false);
    case.expect(Check::Bucket, "theirs", Verdict::Unknown, "nobody asked");
    bucket(&mut case, "theirs", None);
    case.expect(Check::Bucket, "theirs", Verdict::Block, "does not exist");
    bucket(&mut case, "theirs", Some("us-west-2"));
    case.expect(Check::Bucket, "theirs", Verdict::Pass, "is in us-west-2");
    bucket(&mut case, "theirs", Some("eu-west-1"));
    case.expect(Check::Bucket, "theirs", Verdict::Warn, "crosses regions");
    case.blind(Fact::Bucket { name: "theirs".to_owned() });
    case.expect(Check::Bucket, "theirs", Verdict::Unknown, "AccessDenied");
}

#[test]
fn fsx_imports_only_from_its_own_region() {
    let mut case = Case::of("fsx", "ready");
    let weights = case.spec.weights.as_mut().unwrap();
    let brought = weights.bucket.as_mut().unwrap();
    (brought.name, brought.create) = (Some("theirs".to_owned()), false);
    bucket(&mut case, "theirs", Some("eu-west-1"));
    case.expect(Check::Bucket, "theirs", Verdict::Block, "FSx imports by itself only from");
}

#[test]
fn whoever_runs_it_must_get_into_the_cluster() {
    let mut case = Case::of("llama-70b", "ready");
    let caller = "arn:aws:iam::123456789012:role/platform/ci";
    case.expect(Check::Access, caller, Verdict::Pass, "gets, or has, an access entry");
    case.spec.cluster.access = vec![Access { principal: caller.to_owned(), policy: AccessPolicy::View }];
    case.expect(Check::Access, caller, Verdict::Warn, "has policy view");
    case.spec.cluster.access.clear();
    case.choose = |choices| choices.callers.value.clear();
    let other =
        Caller { account: "123456789012".to_owned(), principal: "arn:aws:iam::123456789012:user/me".to_owned() };
    case.learn(Fact::Caller, Answer::Caller(other));
    case.expect(Check::Access, "arn:aws:iam::123456789012:user/me", Verdict::Warn, "Unauthorized");
    case.choose = |_| ();
    case.settle();
    case.blind(Fact::Caller);
    case.expect(Check::Access, "caller", Verdict::Unknown, "AccessDenied");
}

#[test]
fn the_endpoint_must_be_in_reach_and_not_of_everybody() {
    let mut case = Case::of("llama-70b", "ready");
    let subject = "cluster.endpoint";
    assert!(!case.findings(Check::Access).iter().any(|finding| finding.subject == subject));
    case.spec.cluster.endpoint.public_cidrs = vec!["198.51.100.0/24".to_owned()];
    case.expect(Check::Access, subject, Verdict::Warn, "203.0.113.7 is in none of 198.51.100.0/24");
    case.spec.cluster.endpoint.public_cidrs = vec!["0.0.0.0/0".to_owned()];
    case.expect(Check::Access, subject, Verdict::Warn, "open to the whole internet");
    case.spec.cluster.endpoint.public = false;
    case.expect(Check::Access, subject, Verdict::Warn, "only be applied from inside the VPC");
}

#[test]
fn the_end_of_a_versions_support_is_said_in_time() {
    let mut case = Case::of("llama-70b", "ready");
    let ends = |case: &mut Case, end: &str| {
        let version = ClusterVersion { version: "1.35".to_owned(), end_of_standard_support: Some(end.to_owned()) };
        case.learn(Fact::ClusterVersions, Answer::ClusterVersions(vec![version]));
    };
    case.expect(Check::Support, "Kubernetes 1.35", Verdict::Pass, "until 2027-03-27");
    ends(&mut case, "2027-01-20");
    case.expect(Check::Support, "Kubernetes 1.35", Verdict::Warn, "then EKS upgrades it by itself");
    case.spec.cluster.version = Some("1.35".to_owned());
    ends(&mut case, "2026-11-01");
    case.expect(Check::Support, "Kubernetes 1.35", Verdict::Warn, "EKS upgrades the cluster by itself");
    case.spec.cluster.support_type = SupportType::Extended;
    case.expect(Check::Support, "Kubernetes 1.35", Verdict::Warn, "$0.60/h");
    case.learn(Fact::ClusterVersions, Answer::ClusterVersions(vec![]));
    case.expect(Check::Support, "Kubernetes 1.35", Verdict::Block, "does not offer");
    case.blind(Fact::ClusterVersions);
    case.expect(Check::Support, "Kubernetes 1.35", Verdict::Unknown, "AccessDenied");
}

#[test]
fn a_wish_that_breaks_a_rule_of_its_kind_blocks() {
    let mut case = Case::of("llama-70b", "ready");
    case.expect(Check::Names, "llama-70b", Verdict::Pass, "keep AWS's rules");
    case.spec.cluster.endpoint.public = false;
    case.spec.cluster.endpoint.private = false;
    case.expect(Check::Names, "cluster.main", Verdict::Block, "a public or a private endpoint");
}
