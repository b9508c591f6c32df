//! Every error code that the services are known to answer with means what the table says it means, call by call.

use infer_stack::{aws::codes::class, contract::Class};
use serde::Deserialize;
use std::collections::BTreeSet;

#[derive(Deserialize)]
struct Row {
    service: String,
    code: String,
    /// What a client does about it.
    handling: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    call: String,
    #[serde(default)]
    message: String,
    class: Class,
}

const ROWS: &str = include_str!("codes.json");

#[test]
fn every_known_code_has_its_class() {
    let rows: Vec<Row> = serde_json::from_str(ROWS).unwrap();
    assert_eq!(rows.iter().map(|row| &row.code).collect::<BTreeSet<_>>().len(), 63);
    let mut wrong = vec![];
    for row in &rows {
        assert!(!row.cases.is_empty(), "{}", row.code);
        for Case { call, message, class: expected } in &row.cases {
            let found = class(call, &row.code, message);
            if found != *expected {
                wrong.push(format!(
                    "{call} {} ({}; {}) `{message}`: {found:?}, not {expected:?}",
                    row.code, row.service, row.handling
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn further_codes_of_the_services_in_use_have_classes() {
    for (call, code, expected) in [
        ("s3:PutObject", "PreconditionFailed", Class::Conflict),
        ("s3:PutObject", "ConditionalRequestConflict", Class::Conflict),
        ("s3:CreateBucket", "OperationAborted", Class::Conflict),
        ("s3:CreateBucket", "BucketAlreadyOwnedByYou", Class::AlreadyExists),
        ("s3:DeleteBucket", "BucketNotEmpty", Class::InUse),
        ("s3:GetBucketLifecycleConfiguration", "NoSuchLifecycleConfiguration", Class::NotFound),
        ("s3:GetBucketEncryption", "ServerSideEncryptionConfigurationNotFoundError", Class::NotFound),
        ("s3:GetObject", "SlowDown", Class::Throttled),
        ("sqs:CreateQueue", "AWS.SimpleQueueService.QueueDeletedRecently", Class::Conflict),
        ("sqs:GetQueueUrl", "AWS.SimpleQueueService.NonExistentQueue", Class::NotFound),
        ("sqs:GetQueueUrl", "QueueDoesNotExist", Class::NotFound),
        ("events:PutTargets", "ResourceNotFoundException", Class::NotYet),
        ("autoscaling:CreateOrUpdateTags", "ResourceContention", Class::Conflict),
        ("elbv2:DeleteTargetGroup", "ResourceInUse", Class::InUse),
        ("ssm:GetParameter", "ParameterNotFound", Class::NotFound),
        ("iam:DeleteRole", "ConcurrentModification", Class::Conflict),
        ("ec2:CreateVpc", "VpcLimitExceeded", Class::Quota),
        ("ec2:AllocateAddress", "AddressLimitExceeded", Class::Quota),
        ("ec2:CreateVpc", "InvalidAction", Class::Unsupported),
        ("eks:CreateCluster", "UnknownOperationException", Class::Unsupported),
        ("eks:CreateCluster", "ServerException", Class::Outage),
        ("ec2:CreateVpc", "RequestExpired", Class::Expired),
        ("sts:GetCallerIdentity", "ExpiredToken", Class::Expired),
        ("ec2:CreateVpc", "InvalidVpc.Range", Class::Invalid),
        ("ec2:CreateVpc", "MissingParameter", Class::Invalid),
    ] {
        assert_eq!(class(call, code, ""), expected, "{call} {code}");
    }
}

#[test]
fn an_unknown_code_stays_unknown() {
    assert_eq!(class("ec2:CreateVpc", "BrandNewTrouble", "in use, in progress, does not exist"), Class::Unknown);
}
