//! Answers about the account and region, one file a group of questions. Must never answer "none" where it could not look.

mod account;
mod machines;
mod network;
mod quotas;
mod versions;

pub(super) use super::answers::field;
use super::{Aws, answers::count};
use crate::{
    cloud::{Answer, Fact},
    contract::CloudError,
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

/// The time of an answer.
fn time(at: &aws_smithy_types::DateTime) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_second(at.secs()).ok()
}
