//! A small object store with conditional writes, in the words of S3. Must never be needed for a decision: what it holds is a
//! lock and copies.

use crate::contract::CloudError;
use futures::future::BoxFuture;

/// What a conditional write or delete requires of the object that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// `If-None-Match: *`
    Absent,
    /// `If-Match: <etag>`
    Same(String),
    Anything,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub body: Vec<u8>,
    pub etag: String,
    /// Seconds since it was last written, by the store's own clock (`Date` minus `Last-Modified`), never by ours.
    pub age_seconds: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Somebody else wrote first (`412 PreconditionFailed`, `409 ConditionalRequestConflict`).
    #[error("`{0}` was changed by somebody else")]
    Lost(String),
    #[error(transparent)]
    Cloud(#[from] CloudError),
}

pub trait Store: Send + Sync {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Entry>, StoreError>>;
    /// Returns the new etag.
    fn put<'a>(&'a self, key: &'a str, body: Vec<u8>, expect: Expect) -> BoxFuture<'a, Result<String, StoreError>>;
    fn delete<'a>(&'a self, key: &'a str, expect: Expect) -> BoxFuture<'a, Result<(), StoreError>>;
    fn list<'a>(&'a self, prefix: &'a str) -> BoxFuture<'a, Result<Vec<String>, StoreError>>;
}
