//! The operations bucket: conditions, ages, and how it comes to be.

use super::{Heard, Toy, aws, base, reply, with_header, xml_error};
use infer_stack::{
    cloud::{Cloud, Entry, Expect, StoreError},
    contract::Class,
    sandbox::Reply,
};

const BUCKET: &str = "/infer-stack-123456789012-us-west-2";

/// What S3 calls the request.
fn request(heard: &Heard) -> String {
    let rest = heard.path.strip_prefix(BUCKET).unwrap_or_else(|| panic!("{}", heard.path));
    let rest = rest.split(['&']).next().unwrap().trim_end_matches('=').trim_end_matches("x-id=").to_owned();
    format!("{} {}", heard.method, rest.split("?x-id").next().unwrap().trim_start_matches('/'))
}

/// A bucket that is as it should be, and answers to everything else as told.
fn settled(recite: impl Fn(&Heard) -> Reply + Send + Sync + 'static) -> impl Fn(usize, &Heard) -> Reply + Send + Sync {
    move |_, heard| match request(heard).as_str() {
        "GET ?lifecycle" => reply(200, "<LifecycleConfiguration/>"),
        _ => recite(heard),
    }
}

fn written() -> Reply {
    with_header(reply(200, ""), "etag", "\"e2\"")
}

#[tokio::test(start_paused = true)]
async fn an_entry_s_age_is_told_by_s3_s_own_clock() {
    let toy = Toy::new(settled(|_| {
        let found = with_header(reply(200, "{}"), "etag", "\"e1\"");
        let found = with_header(found, "last-modified", "Tue, 01 Dec 2020 11:59:00 GMT");
        with_header(found, "date", "Tue, 01 Dec 2020 12:00:17 GMT")
    }));
    let (aws, _) = aws(&toy);
    let entry = aws.store().get("llama/lock").await.unwrap();
    assert_eq!(entry, Some(Entry { body: b"{}".to_vec(), etag: "\"e1\"".to_owned(), age_seconds: 77 }));
    assert_eq!(toy.heard()[0].header("x-amz-expected-bucket-owner"), Some("123456789012"));
    assert_eq!(base().as_millisecond(), toy.heard()[0].at, "a look makes nothing first");
}

#[tokio::test(start_paused = true)]
async fn nothing_there_is_nothing_whether_the_bucket_is_there_or_not() {
    for code in ["NoSuchKey", "NoSuchBucket"] {
        let toy = Toy::new(move |_, _| xml_error(404, code));
        let (aws, _) = aws(&toy);
        assert_eq!(aws.store().get("llama/lock").await.unwrap(), None);
        assert!(toy.heard().iter().all(|heard| heard.method == "GET"));
    }
    let toy = Toy::new(|_, _| xml_error(404, "NoSuchBucket"));
    let (aws, _) = aws(&toy);
    assert_eq!(aws.store().list("llama/").await.unwrap(), Vec::<String>::new());
    aws.store().delete("llama/lock", Expect::Anything).await.unwrap();
    assert!(toy.heard().iter().all(|heard| heard.method != "PUT"));
}

#[tokio::test(start_paused = true)]
async fn writes_carry_their_condition() {
    let toy = Toy::new(settled(|_| written()));
    let (aws, _) = aws(&toy);
    assert_eq!(aws.store().put("llama/lock", b"a".to_vec(), Expect::Absent).await.unwrap(), "\"e2\"");
    aws.store().put("llama/lock", b"b".to_vec(), Expect::Same("\"e1\"".to_owned())).await.unwrap();
    aws.store().put("llama/lock", b"c".to_vec(), Expect::Anything).await.unwrap();
    aws.store().delete("llama/lock", Expect::Same("\"e2\"".to_owned())).await.unwrap();
    let heard = toy.heard();
    let conditions: Vec<_> = heard
        .iter()
        .map(|heard| (heard.method.as_str(), heard.header("if-none-match"), heard.header("if-match")))
        .collect();
    let expected = [
        ("GET", None, None),
        ("PUT", Some("*"), None),
        ("PUT", None, Some("\"e1\"")),
        ("PUT", None, None),
        ("DELETE", None, Some("\"e2\"")),
    ];
    assert_eq!(conditions, expected);
    assert!(heard.iter().all(|heard| heard.header("x-amz-expected-bucket-owner") == Some("123456789012")));
}

#[tokio::test(start_paused = true)]
async fn a_condition_that_does_not_hold_is_a_lost_race() {
    let same = || Expect::Same("\"e1\"".to_owned());
    for (status, code, expect) in [
        (412, "PreconditionFailed", Expect::Absent),
        (412, "PreconditionFailed", same()),
        (409, "ConditionalRequestConflict", Expect::Absent),
        (404, "NoSuchKey", same()),
    ] {
        let (aws, _) = aws(&Toy::new(settled(move |_| xml_error(status, code))));
        let lost = aws.store().put("llama/lock", vec![], expect.clone()).await;
        assert!(matches!(lost, Err(StoreError::Lost(_))), "{code} {expect:?}: {lost:?}");
    }
    let (aws, _) = aws(&Toy::new(settled(|_| xml_error(403, "AccessDenied"))));
    let denied = aws.store().put("llama/lock", vec![], Expect::Absent).await;
    assert!(matches!(&denied, Err(StoreError::Cloud(error)) if error.class == Class::Denied), "{denied:?}");
}

/// S3 from before the bucket is there; `creation` answers CreateBucket.
fn unmade(creation: impl Fn(usize) -> Reply + Send + Sync + 'static) -> impl Fn(usize, &Heard) -> Reply + Send + Sync {
    move |n, heard| match request(heard).as_str() {
        "GET ?lifecycle" => xml_error(404, "NoSuchBucket"),
        "PUT " => creation(n),
        "PUT llama/lock" => written(),
        _ => reply(200, ""),
    }
}

const MADE: &[&str] = &[
    "GET ?lifecycle",
    "PUT ",
    "PUT ?publicAccessBlock",
    "PUT ?encryption",
    "PUT ?policy",
    "PUT ?lifecycle",
    "PUT llama/lock",
];

#[tokio::test(start_paused = true)]
async fn the_first_write_makes_the_bucket_and_closes_it() {
    let toy = Toy::new(unmade(|_| reply(200, "")));
    let (aws, _) = aws(&toy);
    aws.store().put("llama/lock", b"a".to_vec(), Expect::Absent).await.unwrap();
    let heard = toy.heard();
    assert_eq!(heard.iter().map(request).collect::<Vec<_>>(), MADE);
    assert!(heard[1].body.contains("<LocationConstraint>us-west-2</LocationConstraint>"), "{}", heard[1].body);
    assert!(heard[1].body.contains("<Key>infer-stack/region</Key>"), "{}", heard[1].body);
    assert_eq!(heard[2].body.matches("true").count(), 4, "{}", heard[2].body);
    assert!(heard[4].body.contains("aws:SecureTransport"), "{}", heard[4].body);
    aws.store().put("llama/lock", b"b".to_vec(), Expect::Anything).await.unwrap();
    assert_eq!(toy.heard().len(), MADE.len() + 1, "once is enough");
}

#[tokio::test(start_paused = true)]
async fn two_runs_may_make_the_bucket_at_once() {
    let toy = Toy::new(unmade(|n| match n {
        1 => xml_error(409, "OperationAborted"),
        _ => xml_error(409, "BucketAlreadyOwnedByYou"),
    }));
    let (aws, _) = aws(&toy);
    aws.store().put("llama/lock", b"a".to_vec(), Expect::Absent).await.unwrap();
    let mut expected = MADE.to_vec();
    expected.insert(1, "PUT ");
    assert_eq!(toy.heard().iter().map(request).collect::<Vec<_>>(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_bucket_that_was_left_half_made_is_finished() {
    let toy = Toy::new(|_, heard| match request(heard).as_str() {
        "GET ?lifecycle" => xml_error(404, "NoSuchLifecycleConfiguration"),
        "PUT llama/lock" => written(),
        _ => reply(200, ""),
    });
    let (aws, _) = aws(&toy);
    aws.store().put("llama/lock", b"a".to_vec(), Expect::Absent).await.unwrap();
    let mut expected = MADE.to_vec();
    expected.remove(1);
    assert_eq!(toy.heard().iter().map(request).collect::<Vec<_>>(), expected);
}

#[tokio::test(start_paused = true)]
async fn somebody_else_s_bucket_is_said_and_left_alone() {
    let toy = Toy::new(unmade(|_| xml_error(409, "BucketAlreadyExists")));
    let (aws, _) = aws(&toy);
    let error = aws.store().put("llama/lock", b"a".to_vec(), Expect::Absent).await.unwrap_err();
    assert!(error.to_string().contains("belongs to another account"), "{error}");
    assert_eq!(toy.heard().len(), 2);
}
