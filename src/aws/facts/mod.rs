//! Answers about the account and region, one file a group of questions. Must never answer "none" where it could not look.

mod account;
mod machines;
mod network;
mod quotas;
mod versions;

use super::Aws;
use crate::{
    cloud::{Answer, Fact},
    contract::{Class, CloudError},
};

pub(super) async fn answer(aws: &Aws, fact: &Fact) -> Result<Answer, CloudError> {
    Ok(match fact {
        Fact::Caller => Answer::Caller(account::caller(aws).await?),
        Fact::CallerAddress => Answer::CallerAddress(account::caller_address(aws).await?),
        Fact::Bucket { name } => Answer::Bucket(account::bucket(aws, name).await?),
        Fact::Zones => Answer::Zones(network::zones(aws).await?),
        Fact::Subnets { ids } => Answer::Subnets(network::subnets(aws, ids).await?),
        Fact::Offerings { instance_types } => Answer::Offerings(machines::offerings(aws, instance_types).await?),
        Fact::Running => Answer::Running(machines::running(aws).await?),
        Fact::Reservations { ids } => Answer::Reservations(machines::reservations(aws, ids).await?),
        Fact::Quotas { codes } => Answer::Quotas(quotas::values(aws, codes).await?),
        Fact::Counts => Answer::Counts(quotas::counts(aws).await?),
        Fact::ClusterVersions => Answer::ClusterVersions(versions::clusters(aws).await?),
        Fact::AddonVersions { cluster_version, addons } => {
            Answer::AddonVersions(versions::addons(aws, cluster_version, addons).await?)
        }
        Fact::AmiReleases { cluster_version, ami_types } => {
            Answer::AmiReleases(versions::ami_releases(aws, cluster_version, ami_types).await?)
        }
    })
}

/// A member that AWS always sends, although its model does not say so.
pub(super) fn field<T>(call: &str, name: &str, value: Option<T>) -> Result<T, CloudError> {
    value.ok_or_else(|| CloudError::new(call, Class::Unknown, "UnreadableAnswer", format!("the answer has no {name}")))
}

/// AWS's counts are signed, and never negative.
fn count(n: Option<i32>) -> u32 {
    n.and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
}

/// The time of an answer.
fn time(at: &aws_smithy_types::DateTime) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_second(at.secs()).ok()
}
