//! Tags of load balancers and target groups, which their describe calls leave out. Must never ask for more at once than the
//! service answers.

use super::{
    Aws,
    answers::{field, found},
    failed,
};
use crate::{contract::CloudError, model::Tags};
use futures::future::{join_all, try_join_all};
use std::collections::BTreeMap;

const DESCRIBE: &str = "elbv2:DescribeTags";

/// ARNs in one call (API reference, DescribeTags).
const AT_ONCE: usize = 20;

/// Tags by ARN. What is gone by now is not among them: one that does not exist fails the whole call, so each of its batch is
/// asked for by itself then.
pub async fn tags_of(aws: &Aws, arns: Vec<String>) -> Result<BTreeMap<String, Tags>, CloudError> {
    let batches = try_join_all(arns.chunks(AT_ONCE).map(|arns| batch(aws, arns))).await?;
    Ok(batches.into_iter().flatten().collect())
}

async fn batch(aws: &Aws, arns: &[String]) -> Result<Vec<(String, Tags)>, CloudError> {
    if let Some(tags) = found(described(aws, arns).await)? {
        return Ok(tags);
    }
    let each = join_all(arns.iter().map(|arn| described(aws, std::slice::from_ref(arn)))).await;
    let each = each.into_iter().map(found).collect::<Result<Vec<_>, _>>()?;
    Ok(each.into_iter().flatten().flatten().collect())
}

async fn described(aws: &Aws, arns: &[String]) -> Result<Vec<(String, Tags)>, CloudError> {
    let request = aws.load_balancing().describe_tags().set_resource_arns(Some(arns.to_vec()));
    let answer = request.send().await.map_err(failed(DESCRIBE))?;
    let described = answer.tag_descriptions.into_iter().flatten().map(|its| {
        let pairs = its.tags.into_iter().flatten();
        let tags = pairs.filter_map(|tag| Some((tag.key?, tag.value.unwrap_or_default()))).collect();
        Ok((field(DESCRIBE, "ResourceArn", its.resource_arn)?, tags))
    });
    described.collect()
}
