//! Answers about the account, from what AWS says.

use super::{Heard, Toy, aws, ec2_error, json_error, reply, with_header};
use infer_stack::{
    cloud::{Answer, Caller, Cloud, ClusterVersion, Fact, QuotaValue, RunningInstances},
    contract::{Class, Purchase},
    sandbox::Reply,
};

async fn ask(fact: Fact, recite: impl Fn(usize, &Heard) -> Reply + Send + Sync + 'static) -> Answer {
    let (aws, _) = aws(&Toy::new(recite));
    aws.ask(&fact).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_session_stands_for_its_role_with_the_role_s_path() {
    let answer = ask(Fact::Caller, |_, heard| match heard.action() {
        "GetCallerIdentity" => reply(
            200,
            "<GetCallerIdentityResponse><GetCallerIdentityResult>\
             <Arn>arn:aws:sts::123456789012:assumed-role/ci/run-7</Arn><Account>123456789012</Account>\
             </GetCallerIdentityResult></GetCallerIdentityResponse>",
        ),
        "GetRole" => {
            assert!(heard.body.contains("RoleName=ci"));
            reply(
                200,
                "<GetRoleResponse><GetRoleResult><Role><Path>/platform/</Path><RoleName>ci</RoleName><RoleId>A</RoleId>\
                 <Arn>arn:aws:iam::123456789012:role/platform/ci</Arn><CreateDate>2026-01-01T00:00:00Z</CreateDate>\
                 </Role></GetRoleResult></GetRoleResponse>",
            )
        }
        other => panic!("{other}"),
    });
    let expected = Caller {
        account: "123456789012".to_owned(),
        principal: "arn:aws:iam::123456789012:role/platform/ci".to_owned(),
    };
    assert_eq!(answer.await, Answer::Caller(expected));
}

#[tokio::test(start_paused = true)]
async fn the_caller_s_address_is_asked_without_credentials() {
    let answer = ask(Fact::CallerAddress, |_, heard| {
        assert_eq!((heard.method.as_str(), heard.host.as_str()), ("GET", "checkip.amazonaws.com"));
        assert_eq!(heard.header("authorization"), None);
        reply(200, "203.0.113.7\n")
    });
    assert_eq!(answer.await, Answer::CallerAddress("203.0.113.7".to_owned()));
    let (aws, _) = aws(&Toy::new(|_, _| reply(200, "<html>log in to this hotel</html>")));
    let error = aws.ask(&Fact::CallerAddress).await.unwrap_err();
    assert_eq!((error.class, error.code.as_str()), (Class::Outage, "UnreadableAnswer"));
}

#[tokio::test(start_paused = true)]
async fn a_quota_without_an_applied_value_has_aws_s_default() {
    let codes = [("L-1", "ec2"), ("L-2", "ec2"), ("L-3", "ec2"), ("L-4", "fsx")];
    let codes = codes.map(|(code, service)| (code.to_owned(), service.to_owned())).to_vec();
    let answer = ask(Fact::Quotas { codes }, |_, heard| match heard.action() {
        "ListServiceQuotas" if heard.body.contains("\"ec2\"") && !heard.body.contains("NextToken") => {
            reply(200, r#"{"NextToken":"more","Quotas":[{"QuotaCode":"L-9","Value":1}]}"#)
        }
        "ListServiceQuotas" if heard.body.contains("\"ec2\"") => {
            reply(200, r#"{"Quotas":[{"QuotaCode":"L-1","Value":192}]}"#)
        }
        "ListServiceQuotas" => json_error("NoSuchResourceException"),
        "GetAWSDefaultServiceQuota" if heard.body.contains("L-2") => reply(200, r#"{"Quota":{"Value":5}}"#),
        "GetAWSDefaultServiceQuota" if heard.body.contains("L-4") => reply(200, r#"{"Quota":{"Value":100}}"#),
        "GetAWSDefaultServiceQuota" => json_error("NoSuchResourceException"),
        other => panic!("{other}"),
    });
    let Answer::Quotas(values) = answer.await else { panic!() };
    let of = |value, applied| QuotaValue { value, applied };
    let expected = [("L-1", of(192.0, true)), ("L-2", of(5.0, false)), ("L-4", of(100.0, false))];
    assert_eq!(values, expected.map(|(code, value)| (code.to_owned(), value)).into());
}

#[tokio::test(start_paused = true)]
async fn a_refused_look_at_quotas_is_no_default() {
    let (aws, _) = aws(&Toy::new(|_, _| json_error("AccessDeniedException")));
    let codes = vec![("L-1".to_owned(), "ec2".to_owned())];
    assert_eq!(aws.ask(&Fact::Quotas { codes }).await.unwrap_err().class, Class::Denied);
}

#[tokio::test(start_paused = true)]
async fn instances_are_counted_with_those_that_start_and_stop_and_hide() {
    let answer = ask(Fact::Running, |_, heard| {
        let body = form_urlencoded::parse(heard.body.as_bytes()).into_owned().collect::<Vec<_>>();
        let has = |key: &str, value: &str| body.iter().any(|(k, v)| k == key && v == value);
        assert!(has("IncludeManagedResources", "true"), "{body:?}");
        assert!(has("Filter.1.Value.1", "pending") && has("Filter.1.Value.3", "stopping"), "{body:?}");
        let one = |more: &str| format!("<item><instanceType>p5.48xlarge</instanceType>{more}</item>");
        let ours = "<tagSet><item><key>infer-stack/stack</key><value>llama</value></item></tagSet>";
        let all = [
            one(ours),
            one(ours),
            one("<instanceLifecycle>spot</instanceLifecycle>"),
            one(
                "<instanceLifecycle>capacity-block</instanceLifecycle><capacityReservationId>cr-1</capacityReservationId>",
            ),
            one("<capacityReservationId>cr-2</capacityReservationId>"),
        ];
        reply(
            200,
            format!(
                "<DescribeInstancesResponse><reservationSet><item><instancesSet>{}</instancesSet></item></reservationSet>\
                 </DescribeInstancesResponse>",
                all.concat()
            ),
        )
    });
    let row = |purchase, count, stack: Option<&str>| RunningInstances {
        instance_type: "p5.48xlarge".to_owned(),
        purchase,
        count,
        stack: stack.map(str::to_owned),
    };
    let expected = vec![
        row(Purchase::OnDemand, 2, Some("llama")),
        row(Purchase::Spot, 1, None),
        row(Purchase::Reservation, 1, None),
        row(Purchase::CapacityBlock, 1, None),
    ];
    assert_eq!(answer.await, Answer::Running(expected));
}

#[tokio::test(start_paused = true)]
async fn a_bucket_is_found_wherever_it_is() {
    let bucket = || Fact::Bucket { name: "weights".to_owned() };
    let here = ask(bucket(), |_, heard| {
        assert_eq!((heard.host.as_str(), heard.path.as_str()), ("s3.us-west-2.amazonaws.com", "/weights/"));
        with_header(reply(200, ""), "x-amz-bucket-region", "us-west-2")
    });
    assert_eq!(here.await, Answer::Bucket(Some("us-west-2".to_owned())));
    let there = ask(bucket(), |_, _| with_header(reply(301, ""), "x-amz-bucket-region", "eu-west-1"));
    assert_eq!(there.await, Answer::Bucket(Some("eu-west-1".to_owned())));
    assert_eq!(ask(bucket(), |_, _| reply(404, "")).await, Answer::Bucket(None));
    let (aws, _) = aws(&Toy::new(|_, _| reply(403, "")));
    assert_eq!(aws.ask(&bucket()).await.unwrap_err().class, Class::Denied);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_support_is_a_day() {
    let answer = ask(Fact::ClusterVersions, |_, heard| {
        assert!(heard.path.starts_with("/cluster-versions"), "{}", heard.path);
        reply(200, r#"{"clusterVersions":[{"clusterVersion":"1.35","endOfStandardSupportDate":1806105600}]}"#)
    });
    let expected =
        ClusterVersion { version: "1.35".to_owned(), end_of_standard_support: Some("2027-03-27".to_owned()) };
    assert_eq!(answer.await, Answer::ClusterVersions(vec![expected]));
}

#[tokio::test(start_paused = true)]
async fn a_reservation_that_does_not_exist_is_an_error() {
    let (aws, _) =
        aws(&Toy::new(|_, _| ec2_error(400, "InvalidCapacityReservationId.NotFound", "The ID does not exist")));
    let error = aws.ask(&Fact::Reservations { ids: vec!["cr-1".to_owned()] }).await.unwrap_err();
    assert_eq!(error.class, Class::NotFound, "{error}");
}
