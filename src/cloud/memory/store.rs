//! The simulated operations bucket, with S3's conditional writes. Must never be looked into for the account's objects.

use super::{Memory, account::Purpose, world::File};
use crate::{
    cloud::{Entry, Expect, Store, StoreError},
    contract::{Class, CloudError},
};
use futures::future::BoxFuture;

impl Store for Memory {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Entry>, StoreError>> {
        Box::pin(async move {
            let found = self.call(format!("get {key}"), Purpose::File, |inner, now| {
                Ok(inner.world.files.get(key).map(|file| Entry {
                    body: file.body.clone().into_bytes(),
                    etag: file.etag.clone(),
                    age_seconds: u64::try_from((now - file.written) / 1000).unwrap_or(0),
                }))
            });
            Ok(found.await?)
        })
    }

    fn put<'a>(&'a self, key: &'a str, body: Vec<u8>, expect: Expect) -> BoxFuture<'a, Result<String, StoreError>> {
        Box::pin(async move {
            let call = format!("put {key}");
            let body = String::from_utf8(body).map_err(|_| {
                let message = "the simulated bucket keeps text only";
                CloudError::new(&call, Class::Unsupported, "NotImplemented", message)
            })?;
            let written = self.call(call, Purpose::FileChange, |inner, now| {
                let files = &inner.world.files;
                if !holds(files.get(key), &expect) {
                    return Ok(None);
                }
                let etag = inner.world.serial();
                inner.world.files.insert(key.to_owned(), File { body, etag: etag.clone(), written: now });
                Ok(Some(etag))
            });
            written.await?.ok_or_else(|| StoreError::Lost(key.to_owned()))
        })
    }

    fn delete<'a>(&'a self, key: &'a str, expect: Expect) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let deleted = self.call(format!("remove {key}"), Purpose::FileChange, |inner, _| {
                if !holds(inner.world.files.get(key), &expect) {
                    return Ok(false);
                }
                inner.world.files.remove(key);
                Ok(true)
            });
            if deleted.await? { Ok(()) } else { Err(StoreError::Lost(key.to_owned())) }
        })
    }

    fn list<'a>(&'a self, prefix: &'a str) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        Box::pin(async move {
            let listed = self.call(format!("files {prefix}"), Purpose::File, |inner, _| {
                Ok(inner.world.files.keys().filter(|key| key.starts_with(prefix)).cloned().collect())
            });
            Ok(listed.await?)
        })
    }
}

fn holds(file: Option<&File>, expect: &Expect) -> bool {
    match expect {
        Expect::Absent => file.is_none(),
        Expect::Same(etag) => file.is_some_and(|file| file.etag == *etag),
        Expect::Anything => true,
    }
}
