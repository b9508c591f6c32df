//! How AWS spells the name of a thing. Must never ask AWS for one.

use crate::model::{REGION, Stamp};

/// Account of a cloud that is only imagined; AWS's own documentation uses it too.
pub const IMAGINED_ACCOUNT: &str = "123456789012";

/// The partition of a region: policies and roles of China and GovCloud are spelled with their own.
pub fn partition(region: &str) -> &'static str {
    match region {
        _ if region.starts_with("cn-") => "aws-cn",
        _ if region.starts_with("us-gov-") => "aws-us-gov",
        _ if region.starts_with("us-iso-") => "aws-iso",
        _ if region.starts_with("us-isob-") => "aws-iso-b",
        _ if region.starts_with("eusc-") => "aws-eusc",
        _ => "aws",
    }
}

/// `arn:aws:eks:us-west-2:123456789012:cluster/llama-70b`, for a service that has regions.
pub fn arn(service: &str, region: &str, account: &str, resource: &str) -> String {
    format!("arn:{}:{service}:{region}:{account}:{resource}", partition(region))
}

/// The same for IAM, which has no regions but has partitions.
pub fn iam_arn(region: &str, account: &str, resource: &str) -> String {
    format!("arn:{}:iam::{account}:{resource}", partition(region))
}

/// ARN of a policy that AWS publishes: `AmazonEKSClusterPolicy`, `service-role/AmazonEBSCSIDriverPolicy`.
pub fn aws_policy(region: &str, name: &str) -> String {
    iam_arn(region, "aws", &format!("policy/{name}"))
}

/// ARN of an imagined object of the stack whose stamp it carries.
pub fn imagined_arn(stamp: &Stamp, service: &str, resource: &str) -> String {
    arn(service, imagined_region(stamp), IMAGINED_ACCOUNT, resource)
}

/// Region of the stack whose stamp it is.
pub fn imagined_region(stamp: &Stamp) -> &str {
    stamp.tags.get(REGION).map_or("us-east-1", String::as_str)
}
