//! What live halves of IAM's kinds share: which objects are the stack's, documents as IAM gives them, tags in both directions.
//! Must never know one kind.

use super::answers::{field, parsed};
use crate::{
    contract::CloudError,
    model::{Doc, Scope, Tags},
    stack::names,
};
use aws_sdk_iam::types::Tag;
use percent_encoding::percent_decode_str;

/// The most that IAM lists in one page.
pub const PAGE: i32 = 1_000;

/// Whether an object is the stack's by its path, or has a name that the stack's file gives. GetResources knows no object of
/// IAM, and the user's part of the path stands before ours, so that no prefix could be asked for.
pub fn is_ours(scope: &Scope, kind: &str, path: &str, name: &str) -> bool {
    let named = || scope.names.get(kind).is_some_and(|names| names.iter().any(|its| its.eq_ignore_ascii_case(name)));
    path.ends_with(&names::iam_path(&scope.identity, None)) || named()
}

/// A policy document, which IAM gives percent-encoded.
pub fn document(call: &str, name: &str, text: Option<String>) -> Result<Doc, CloudError> {
    let text = field(call, name, text)?;
    let decoded = percent_decode_str(&text).decode_utf8_lossy().into_owned();
    parsed(call, name, Some(decoded))
}

pub fn tags(list: Option<Vec<Tag>>) -> Tags {
    list.into_iter().flatten().map(|tag| (tag.key, tag.value)).collect()
}

/// Tags of a call.
pub fn tag_list(tags: &Tags) -> Vec<Tag> {
    let built = tags.iter().map(|(key, value)| Tag::builder().key(key).value(value).build());
    built.map(|tag| tag.expect("key and value are both set")).collect()
}
