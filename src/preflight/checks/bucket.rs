//! Is the weights bucket there, ours, and in reach? Must never take a bucket of somebody else's for a free name.

use crate::{
    preflight::{Check, Finding, Input, words::not_had},
    stack::names,
};

pub(super) fn judge(input: &Input<'_>) -> Vec<Finding> {
    let Some(weights) = &input.spec.weights else { return vec![] };
    let (Some(bucket), Some(name)) = (&weights.bucket, &input.choices.bucket) else { return vec![] };
    let (check, name, region) = (Check::Bucket, &name.value, input.region());
    let looked = input.catalog.facts().buckets.get(name);
    let ours = input.snapshot.at(&names::weights_bucket()).any(|live| live.look.id == *name);
    vec![match looked {
        _ if ours => Finding::pass(check, name, format!("bucket {name} is the stack's")),
        Some(Ok(Some(found))) if bucket.create => {
            Finding::block(check, name, format!("bucket {name} exists already, in {found}, and is not the stack's"))
                .remedy("weights.bucket.create: false to use it as it is, or another name")
        }
        Some(Ok(None)) if bucket.create => Finding::pass(check, name, format!("bucket {name} will be made")),
        Some(Ok(Some(found))) if found == region => Finding::pass(check, name, format!("bucket {name} is in {region}")),
        Some(Ok(Some(found))) => {
            if weights.fsx.as_ref().is_some_and(|fsx| !fsx.auto_import.is_empty()) {
                let message =
                    format!("bucket {name} is in {found}: FSx imports by itself only from {region}, where it is");
                Finding::block(check, name, message)
                    .remedy("a bucket of the same region, or weights.fsx.autoImport: []")
            } else {
                let message = format!("bucket {name} is in {found}: every byte crosses regions, slower and billed");
                Finding::warn(check, name, message).remedy(format!("a bucket in {region}"))
            }
        }
        Some(Ok(None)) => Finding::block(check, name, format!("bucket {name} does not exist"))
            .remedy("weights.bucket.create: true to make it"),
        other => Finding::unknown(check, name, format!("bucket {name}: {}", not_had(other))),
    }]
}
