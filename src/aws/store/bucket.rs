//! How the operations bucket comes to be, also when two runs make it at once. Must never touch a bucket of another account.

use crate::{
    aws::{Aws, failed},
    clock::pause,
    contract::{Class, CloudError},
    model::{Policy, REGION, Statement, partition},
};
use aws_sdk_s3::types::{
    AbortIncompleteMultipartUpload, BucketLifecycleConfiguration, BucketLocationConstraint, CreateBucketConfiguration,
    ExpirationStatus, LifecycleExpiration, LifecycleRule, LifecycleRuleFilter, ObjectOwnership,
    PublicAccessBlockConfiguration, ServerSideEncryption, ServerSideEncryptionByDefault,
    ServerSideEncryptionConfiguration, ServerSideEncryptionRule, Tag,
};
use std::{future::Future, time::Duration};

/// Days until a journal or a receipt goes: longer than a year, so that last year's is there. A lock is renewed all the time.
const KEPT_DAYS: i32 = 400;

/// Looks whether the bucket is as it should be, and makes it so where it is not. The lifecycle is set last, so that it says
/// that all the rest is.
pub(super) async fn ready(aws: &Aws) -> Result<(), CloudError> {
    let request = aws.s3().get_bucket_lifecycle_configuration().bucket(aws.bucket());
    let found = request.expected_bucket_owner(&aws.account).send().await;
    match found.map_err(failed("s3:GetBucketLifecycleConfiguration")) {
        Ok(_) => return Ok(()),
        Err(error) if error.code == "NoSuchLifecycleConfiguration" => {}
        Err(error) if error.class == Class::NotFound => make(aws).await?,
        Err(error) => return Err(error),
    }
    settle(aws).await
}

async fn make(aws: &Aws) -> Result<(), CloudError> {
    let call = "s3:CreateBucket";
    let made = || async {
        let tag = Tag::builder().key(REGION).value(&aws.region).build().map_err(unsendable(call))?;
        let location = (aws.region != "us-east-1").then(|| BucketLocationConstraint::from(aws.region.as_str()));
        let configuration = CreateBucketConfiguration::builder().set_location_constraint(location).tags(tag).build();
        let request = aws.s3().create_bucket().bucket(aws.bucket()).create_bucket_configuration(configuration);
        request.object_ownership(ObjectOwnership::BucketOwnerEnforced).send().await.map_err(failed(call))
    };
    match soon(Class::Conflict, made).await {
        Ok(_) => Ok(()),
        // Another run of this account was quicker.
        Err(error) if error.code == "BucketAlreadyOwnedByYou" => Ok(()),
        Err(error) if error.code == "BucketAlreadyExists" => Err(CloudError {
            class: Class::Denied,
            message: format!("the bucket {} belongs to another account: {}", aws.bucket(), error.message),
            ..error
        }),
        Err(error) => Err(error),
    }
}

/// Every setting by one call that may be repeated.
async fn settle(aws: &Aws) -> Result<(), CloudError> {
    let (bucket, owner) = (aws.bucket(), aws.account.as_str());
    let call = "s3:PutPublicAccessBlock";
    soon(Class::NotFound, || async {
        let nobody = PublicAccessBlockConfiguration::builder()
            .block_public_acls(true)
            .ignore_public_acls(true)
            .block_public_policy(true)
            .restrict_public_buckets(true)
            .build();
        let request = aws.s3().put_public_access_block().bucket(&bucket).expected_bucket_owner(owner);
        request.public_access_block_configuration(nobody).send().await.map_err(failed(call))
    })
    .await?;
    let call = "s3:PutBucketEncryption";
    soon(Class::NotFound, || async {
        let by_default = ServerSideEncryptionByDefault::builder().sse_algorithm(ServerSideEncryption::Aes256);
        let by_default = by_default.build().map_err(unsendable(call))?;
        let rule = ServerSideEncryptionRule::builder().apply_server_side_encryption_by_default(by_default).build();
        let encryption = ServerSideEncryptionConfiguration::builder().rules(rule).build().map_err(unsendable(call))?;
        let request = aws.s3().put_bucket_encryption().bucket(&bucket).expected_bucket_owner(owner);
        request.server_side_encryption_configuration(encryption).send().await.map_err(failed(call))
    })
    .await?;
    let call = "s3:PutBucketPolicy";
    soon(Class::NotFound, || async {
        let request = aws.s3().put_bucket_policy().bucket(&bucket).expected_bucket_owner(owner);
        request.policy(policy(&aws.region, &bucket)).send().await.map_err(failed(call))
    })
    .await?;
    let call = "s3:PutBucketLifecycleConfiguration";
    soon(Class::NotFound, || async {
        let everything = LifecycleRuleFilter::builder().prefix("").build();
        let rule = LifecycleRule::builder()
            .id("infer-stack")
            .status(ExpirationStatus::Enabled)
            .filter(everything)
            .expiration(LifecycleExpiration::builder().days(KEPT_DAYS).build())
            .abort_incomplete_multipart_upload(
                AbortIncompleteMultipartUpload::builder().days_after_initiation(1).build(),
            );
        let rule = rule.build().map_err(unsendable(call))?;
        let lifecycle = BucketLifecycleConfiguration::builder().rules(rule).build().map_err(unsendable(call))?;
        let request = aws.s3().put_bucket_lifecycle_configuration().bucket(&bucket).expected_bucket_owner(owner);
        request.lifecycle_configuration(lifecycle).send().await.map_err(failed(call))
    })
    .await?;
    Ok(())
}

/// Nobody comes without TLS.
fn policy(region: &str, bucket: &str) -> String {
    let arn = format!("arn:{}:s3:::{bucket}", partition(region));
    let tls = Statement::deny("OnlyOverTls").principal("*", "*").actions(&["s3:*"]);
    let tls = tls.on([arn.clone(), format!("{arn}/*")]).when("Bool", "aws:SecureTransport", ["false"]);
    Policy::of([tls]).document().to_string()
}

/// The SDK's builders refuse what lacks a required member; ours have them all.
fn unsendable<E: std::fmt::Display>(call: &'static str) -> impl Fn(E) -> CloudError {
    move |error| CloudError::new(call, Class::Invalid, "NotSent", error.to_string())
}

/// Tries of one step.
const TRIES: u32 = 8;
/// Seconds between them.
const PAUSE: u64 = 2;

/// A bucket that is just being made, by us or by another run, refuses for seconds with `class`: the first write of a run
/// has no engine above it that would try again.
async fn soon<T, F>(class: Class, step: impl Fn() -> F) -> Result<T, CloudError>
where
    F: Future<Output = Result<T, CloudError>>,
{
    let mut left = TRIES;
    loop {
        left -= 1;
        match step().await {
            Err(error) if error.class == class && left > 0 => pause(Duration::from_secs(PAUSE)).await,
            outcome => return outcome,
        }
    }
}
