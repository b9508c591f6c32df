//! The instances of node groups, and the tags that they and their volumes carry. Must never count one that ends.

use crate::{
    aws::{
        Aws,
        answers::field,
        ec2::{filter, tags},
        failed,
    },
    contract::CloudError,
    model::Tags,
};
use aws_sdk_ec2::types::{self, Filter};
use futures::future::try_join_all;
use std::collections::BTreeMap;

const DESCRIBE: &str = "ec2:DescribeInstances";
const VOLUMES: &str = "ec2:DescribeVolumes";
/// Tags that AWS puts on the instances of managed node groups.
const CLUSTER: &str = "eks:cluster-name";
const GROUP: &str = "eks:nodegroup-name";

/// EC2 takes this many values of one filter.
const FILTER_VALUES: usize = 200;
/// Resources in one CreateTags or DeleteTags call (EC2 API reference).
const TAGGED_AT_ONCE: usize = 1000;

/// Live instances by the name of their group.
pub(super) struct Members {
    by_group: BTreeMap<String, Vec<Member>>,
}

pub(super) struct Member {
    pub id: String,
    pub running: bool,
    pub zone: Option<String>,
    pub tags: Tags,
    pub volumes: Vec<(String, Tags)>,
}

fn member(instance: types::Instance) -> Result<(String, Member), CloudError> {
    let state = instance.state.and_then(|state| state.name);
    let tags = tags(instance.tags);
    let group = tags.get(GROUP).cloned().unwrap_or_default();
    let member = Member {
        id: field(DESCRIBE, "instanceId", instance.instance_id)?,
        running: state == Some(types::InstanceStateName::Running),
        zone: instance.placement.and_then(|placement| placement.availability_zone_id),
        tags,
        volumes: vec![],
    };
    Ok((group, member))
}

async fn volumes(aws: &Aws, ids: &[String]) -> Result<Vec<(String, String, Tags)>, CloudError> {
    let attached = Filter::builder().name("attachment.instance-id").set_values(Some(ids.to_vec())).build();
    let request = aws.ec2().describe_volumes().filters(attached).include_managed_resources(true);
    let pages = request.into_paginator().items().send();
    let found = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(VOLUMES))?;
    let owned = |volume: types::Volume| {
        let holder = volume.attachments?.into_iter().find_map(|attachment| attachment.instance_id)?;
        Some((holder, volume.volume_id?, tags(volume.tags)))
    };
    Ok(found.into_iter().filter_map(owned).collect())
}

impl Members {
    pub async fn of_cluster(aws: &Aws, cluster: &str) -> Result<Self, CloudError> {
        Self::by(aws, vec![filter(&format!("tag:{CLUSTER}"), cluster)]).await
    }

    pub async fn of_group(aws: &Aws, cluster: &str, group: &str) -> Result<Self, CloudError> {
        let filters = vec![filter(&format!("tag:{CLUSTER}"), cluster), filter(&format!("tag:{GROUP}"), group)];
        Self::by(aws, filters).await
    }

    async fn by(aws: &Aws, mut filters: Vec<Filter>) -> Result<Self, CloudError> {
        filters.push(Filter::builder().name("instance-state-name").values("pending").values("running").build());
        let request = aws.ec2().describe_instances().set_filters(Some(filters)).include_managed_resources(true);
        let pages = request.into_paginator().page_size(1000).items().send();
        let batches = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(DESCRIBE))?;
        let instances = batches.into_iter().flat_map(|batch| batch.instances.unwrap_or_default());
        let mut all = instances.map(member).collect::<Result<Vec<_>, _>>()?;
        let ids: Vec<String> = all.iter().map(|(_, member)| member.id.clone()).collect();
        let disks = try_join_all(ids.chunks(FILTER_VALUES).map(|ids| volumes(aws, ids))).await?;
        for (holder, id, tags) in disks.into_iter().flatten() {
            if let Some((_, member)) = all.iter_mut().find(|(_, member)| member.id == holder) {
                member.volumes.push((id, tags));
            }
        }
        let mut by_group = BTreeMap::<String, Vec<Member>>::new();
        for (group, member) in all {
            by_group.entry(group).or_default().push(member);
        }
        Ok(Self { by_group })
    }

    pub fn of(&self, group: &str) -> &[Member] {
        self.by_group.get(group).map_or(&[], Vec::as_slice)
    }

    /// Gives every member and its volumes these tags, and takes others off. What EKS, AWS or a driver put there stays.
    pub async fn retag(&self, aws: &Aws, tags: &Tags, surplus: &[String]) -> Result<(), CloudError> {
        let members = self.by_group.values().flatten();
        let ids: Vec<String> = members
            .flat_map(|member| std::iter::once(&member.id).chain(member.volumes.iter().map(|(id, _)| id)))
            .cloned()
            .collect();
        let set: Vec<_> = tags.iter().map(|(key, value)| types::Tag::builder().key(key).value(value).build()).collect();
        let take: Vec<_> = surplus.iter().map(|key| types::Tag::builder().key(key).build()).collect();
        let calls = ids.chunks(TAGGED_AT_ONCE).map(async |ids| {
            if !set.is_empty() {
                let request = aws.ec2().create_tags().set_resources(Some(ids.to_vec())).set_tags(Some(set.clone()));
                request.send().await.map_err(failed("ec2:CreateTags"))?;
            }
            if !take.is_empty() {
                let request = aws.ec2().delete_tags().set_resources(Some(ids.to_vec())).set_tags(Some(take.clone()));
                request.send().await.map_err(failed("ec2:DeleteTags"))?;
            }
            Ok(())
        });
        try_join_all(calls).await.map(drop)
    }
}
