//! The operations bucket over S3: one an account and region, with conditional writes. Must never come to be by a look: only
//! the first write makes it.

mod bucket;

use super::{Aws, Purpose, answers::field, failed};
use crate::{
    cloud::{Entry, Expect, Store, StoreError},
    contract::{Class, CloudError, Residue},
    stack::names::operations_bucket_name,
};
use aws_smithy_runtime_api::{
    box_error::BoxError,
    client::{
        interceptors::{Intercept, context::BeforeDeserializationInterceptorContextRef, dyn_dispatch_hint},
        runtime_components::RuntimeComponents,
    },
};
use aws_smithy_types::config_bag::ConfigBag;
use futures::future::BoxFuture;
use jiff::{Timestamp, fmt::rfc2822::DateTimeParser};
use std::sync::{Arc, Mutex, PoisonError};

impl Aws {
    fn bucket(&self) -> String {
        operations_bucket_name(&self.account, &self.region)
    }

    async fn get_entry(&self, key: &str) -> Result<Option<Entry>, CloudError> {
        let call = "s3:GetObject";
        let date = DateOf::default();
        let request = self.s3().get_object().bucket(self.bucket()).key(key).expected_bucket_owner(&self.account);
        let object = match request.customize().interceptor(date.clone()).send().await.map_err(failed(call)) {
            Ok(object) => object,
            Err(error) if error.class == Class::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let etag = field(call, "ETag", object.e_tag)?;
        let written = field(call, "Last-Modified", object.last_modified)?.secs();
        let now = field(call, "Date", date.get())?;
        let body = object.body.collect().await.map_err(|error| {
            let message = format!("the body broke off: {error}");
            CloudError::new(call, Class::Outage, "UnreadableAnswer", message)
        })?;
        let age_seconds = u64::try_from(now.as_second().saturating_sub(written)).unwrap_or(0);
        Ok(Some(Entry { body: body.to_vec(), etag, age_seconds }))
    }

    async fn put_entry(&self, key: &str, body: Vec<u8>, expect: Expect) -> Result<String, StoreError> {
        self.operations.get_or_try_init(|| bucket::ready(self)).await?;
        let call = "s3:PutObject";
        let request = self.s3().put_object().bucket(self.bucket()).key(key).body(body.into());
        let request = request.expected_bucket_owner(&self.account);
        let request = match &expect {
            Expect::Absent => request.if_none_match("*"),
            Expect::Same(etag) => request.if_match(etag),
            Expect::Anything => request,
        };
        let written = request.send().await.map_err(failed(call)).map_err(|error| lost(key, &expect, error))?;
        Ok(field(call, "ETag", written.e_tag)?)
    }

    async fn delete_entry(&self, key: &str, expect: Expect) -> Result<(), StoreError> {
        if expect == Expect::Absent {
            return match self.get_entry(key).await? {
                Some(_) => Err(StoreError::Lost(key.to_owned())),
                None => Ok(()),
            };
        }
        let request = self.s3().delete_object().bucket(self.bucket()).key(key).expected_bucket_owner(&self.account);
        let request = match &expect {
            Expect::Same(etag) => request.if_match(etag),
            Expect::Absent | Expect::Anything => request,
        };
        match request.send().await.map_err(failed("s3:DeleteObject")).map_err(|error| lost(key, &expect, error)) {
            // Without a bucket there is nothing to delete.
            Err(StoreError::Cloud(error)) if error.class == Class::NotFound => Ok(()),
            outcome => outcome.map(|_| ()),
        }
    }

    async fn list_entries(&self, prefix: &str) -> Result<Vec<String>, CloudError> {
        let request = self.s3().list_objects_v2().bucket(self.bucket()).prefix(prefix);
        let mut pages = request.expected_bucket_owner(&self.account).into_paginator().send();
        let mut keys = vec![];
        while let Some(page) = pages.next().await {
            match page.map_err(failed("s3:ListObjectsV2")) {
                Ok(page) => keys.extend(page.contents.unwrap_or_default().into_iter().filter_map(|object| object.key)),
                Err(error) if error.class == Class::NotFound => return Ok(vec![]),
                Err(error) => return Err(error),
            }
        }
        Ok(keys)
    }
}

/// A condition that did not hold. With a condition on what is there, that nothing is there is the same.
fn lost(key: &str, expect: &Expect, error: CloudError) -> StoreError {
    let gone = error.class == Class::NotFound && matches!(expect, Expect::Same(_));
    let condition = matches!(error.code.as_str(), "PreconditionFailed" | "ConditionalRequestConflict");
    // HTTP 412 and 409 of S3's compatibles, which answer without a code.
    let bare = error.residue == Residue::Nothing && matches!(error.code.as_str(), "HTTP 412" | "HTTP 409");
    if gone || condition || bare { StoreError::Lost(key.to_owned()) } else { error.into() }
}

/// Catches the `Date` of an answer: the clock that an object's age is told by.
#[derive(Clone, Debug, Default)]
struct DateOf(Arc<Mutex<Option<Timestamp>>>);

impl DateOf {
    fn get(&self) -> Option<Timestamp> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[dyn_dispatch_hint]
impl Intercept for DateOf {
    fn name(&self) -> &'static str {
        "DateOf"
    }

    fn read_before_deserialization(
        &self,
        context: &BeforeDeserializationInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let date = context.response().headers().get("date");
        let date = date.and_then(|date| DateTimeParser::new().parse_timestamp(date).ok());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = date;
        Ok(())
    }
}

impl Store for Aws {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Entry>, StoreError>> {
        Box::pin(Purpose::State.of(async move { Ok(self.get_entry(key).await?) }))
    }

    fn put<'a>(&'a self, key: &'a str, body: Vec<u8>, expect: Expect) -> BoxFuture<'a, Result<String, StoreError>> {
        Box::pin(Purpose::Change.of(self.put_entry(key, body, expect)))
    }

    fn delete<'a>(&'a self, key: &'a str, expect: Expect) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(Purpose::Change.of(self.delete_entry(key, expect)))
    }

    fn list<'a>(&'a self, prefix: &'a str) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        Box::pin(Purpose::State.of(async move { Ok(self.list_entries(prefix).await?) }))
    }
}
