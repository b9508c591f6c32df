//! What live halves of EC2's kinds share: filters by which they list, tags in both directions. Must never know one kind.

use super::{Aws, failed};
use crate::{
    contract::{CloudError, Kind},
    model::{STACK, Scope, Stamp, Tags},
};
use aws_sdk_ec2::types::{Filter, ResourceType, Tag, TagSpecification};
use futures::future::try_join_all;
use std::{collections::BTreeSet, future::Future};

pub fn filter(name: &str, value: impl Into<String>) -> Filter {
    Filter::builder().name(name).values(value).build()
}

/// By the stack's tag.
pub fn of_stack(scope: &Scope) -> Filter {
    filter(&format!("tag:{STACK}"), &scope.identity.stack)
}

/// By the stack's VPC, where one is known; `name` is how the describe call spells that filter.
pub fn in_vpc(scope: &Scope, name: &str) -> Option<Filter> {
    Some(filter(name, scope.vpc.as_ref()?))
}

/// What the filters find, one describe call each and all at once; what two of them find is there once.
pub async fn listed<K, F>(
    filters: impl IntoIterator<Item = Filter>,
    look: impl Fn(Filter) -> F,
) -> Result<Vec<K::Observed>, CloudError>
where
    K: Kind,
    F: Future<Output = Result<Vec<K::Observed>, CloudError>>,
{
    let looks = try_join_all(filters.into_iter().map(look)).await?;
    let mut seen = BTreeSet::new();
    Ok(looks.into_iter().flatten().filter(|live| seen.insert(K::id(live))).collect())
}

/// Tags as EC2 lists them.
pub fn tags(list: Option<Vec<Tag>>) -> Tags {
    let pair = |tag: Tag| Some((tag.key?, tag.value.unwrap_or_default()));
    list.into_iter().flatten().filter_map(pair).collect()
}

/// Tags of a create call.
pub fn stamped(kind: ResourceType, tags: &Tags) -> TagSpecification {
    TagSpecification::builder().resource_type(kind).set_tags(Some(tag_list(tags))).build()
}

fn tag_list(tags: &Tags) -> Vec<Tag> {
    tags.iter().map(|(key, value)| Tag::builder().key(key).value(value).build()).collect()
}

/// Sets tags; others that the object has stay.
pub async fn tag(aws: &Aws, id: &str, tags: &Tags) -> Result<(), CloudError> {
    let request = aws.ec2().create_tags().resources(id).set_tags(Some(tag_list(tags)));
    request.send().await.map_err(failed("ec2:CreateTags")).map(drop)
}

/// Takes tags off, whatever their values.
pub async fn untag(aws: &Aws, id: &str, keys: &[&str]) -> Result<(), CloudError> {
    let tags = keys.iter().map(|key| Tag::builder().key(*key).build()).collect();
    let request = aws.ec2().delete_tags().resources(id).set_tags(Some(tags));
    request.send().await.map_err(failed("ec2:DeleteTags")).map(drop)
}

/// Brings tags to the stamp's, where they are among what changed.
pub async fn retag(aws: &Aws, id: &str, changed: &[String], stamp: &Stamp) -> Result<(), CloudError> {
    if changed.iter().any(|path| path == crate::contract::TAGS) {
        tag(aws, id, &stamp.tags).await?;
    }
    Ok(())
}

/// True where a field is among what changed.
pub fn changes(changed: &[String], field: &str) -> bool {
    changed.iter().any(|path| path == field)
}
