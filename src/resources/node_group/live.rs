//! Node groups over EKS, with what their templates, scaling groups and instances say. Must never ask EKS for two updates in one
//! go: it takes one at a time, and the next look brings the rest.

use super::{CapacityType, Desired, NodeGroup, Observed, START, members::Members, write};
use crate::{
    aws::{
        Aws,
        answers::{deleted, field, found},
        failed,
    },
    contract::{Class, CloudError, Live, TAGS},
    model::{PhysicalId, Scope, Stamp},
    resources::launch_template::{self, live::Version},
};
use aws_sdk_eks::types::{self, Nodegroup};
use futures::future::{try_join, try_join_all, try_join3};

const DESCRIBE: &str = "eks:DescribeNodegroup";

/// Cluster and name of an id.
fn split(id: &str) -> Result<(&str, &str), CloudError> {
    id.split_once('/').ok_or_else(|| {
        CloudError::new(DESCRIBE, Class::Invalid, "NoSuchId", format!("{id:?} is not cluster and name of a node group"))
    })
}

async fn describe(aws: &Aws, cluster: &str, name: &str) -> Result<Option<Nodegroup>, CloudError> {
    let request = aws.eks().describe_nodegroup().cluster_name(cluster).nodegroup_name(name);
    Ok(found(request.send().await.map_err(failed(DESCRIBE)))?.and_then(|answer| answer.nodegroup))
}

/// Names of a cluster's groups; none where there is no such cluster.
async fn names(aws: &Aws, cluster: &str) -> Result<Vec<String>, CloudError> {
    let pages = aws.eks().list_nodegroups().cluster_name(cluster).into_paginator().items().send();
    let names = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed("eks:ListNodegroups"));
    Ok(found(names)?.unwrap_or_default())
}

/// Id and version of the template of a group, where it has one.
fn template_of(group: &Nodegroup) -> Option<(&str, &str)> {
    let template = group.launch_template.as_ref()?;
    Some((template.id.as_deref()?, template.version.as_deref()?))
}

/// The version that a group runs, if not among those at hand: only one that is not the latest costs a call of its own.
async fn version<'v>(
    aws: &Aws,
    group: &Nodegroup,
    latest: &'v [Version],
) -> Result<Option<std::borrow::Cow<'v, launch_template::Desired>>, CloudError> {
    use std::borrow::Cow;
    let Some((id, number)) = template_of(group) else { return Ok(None) };
    let fits = |version: &&Version| version.template == id && version.number.to_string() == number;
    if let Some(version) = latest.iter().find(fits) {
        return Ok(Some(Cow::Borrowed(&version.data)));
    }
    Ok(launch_template::live::one(aws, id, number).await?.map(|version| Cow::Owned(version.data)))
}

impl Live<Aws> for NodeGroup {
    async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
        let cluster = &scope.cluster;
        let groups = async {
            let names = names(aws, cluster).await?;
            try_join_all(names.iter().map(|name| describe(aws, cluster, name))).await
        };
        let (groups, latest, members) =
            try_join3(groups, launch_template::live::latest(aws), Members::of_cluster(aws, cluster)).await?;
        // What is gone since the list is not there.
        let observed = groups.into_iter().flatten().map(async |group| {
            let template = version(aws, &group, &latest).await?;
            super::observed::observe(aws, group, template.as_deref(), &members).await
        });
        try_join_all(observed).await
    }

    async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
        let (cluster, name) = split(id)?;
        let (group, members) = try_join(describe(aws, cluster, name), Members::of_group(aws, cluster, name)).await?;
        let Some(group) = group else { return Ok(None) };
        let template = version(aws, &group, &[]).await?;
        super::observed::observe(aws, group, template.as_deref(), &members).await.map(Some)
    }

    async fn create(aws: &Aws, want: &Desired, stamp: &Stamp) -> Result<PhysicalId, CloudError> {
        let call = "eks:CreateNodegroup";
        // One that is created empty has its sizes from the update that follows.
        let (min, start) = if want.create_empty { (0, 0) } else { (want.min, want.start) };
        let mut tags = want.instance_tags.clone();
        tags.extend(stamp.tags.clone());
        if start > 0 {
            tags.insert(START.to_owned(), start.to_string());
        }
        let template = types::LaunchTemplateSpecification::builder()
            .id(want.template.target())
            .version(want.template_version.target())
            .build();
        // A capacity block's type is in its template, and EKS refuses it in both.
        let block = want.capacity_type == CapacityType::CapacityBlock;
        let instance_types = (!block).then(|| want.instance_types.clone());
        let request = aws
            .eks()
            .create_nodegroup()
            .client_request_token(&stamp.token)
            .cluster_name(want.cluster.target())
            .nodegroup_name(&want.name)
            .set_subnets(Some(want.subnets.iter().map(|subnet| subnet.target().to_owned()).collect()))
            .node_role(want.role.target())
            .set_instance_types(instance_types)
            .ami_type(types::AmiTypes::from(want.ami_type.as_str()))
            .capacity_type(write::capacity_type(want.capacity_type))
            .launch_template(template)
            .version(&want.version)
            .set_release_version(want.release.clone())
            .set_labels(Some(want.labels.clone().into_iter().collect()))
            .set_taints(Some(want.taints.iter().map(write::taint).collect()))
            .scaling_config(write::sizes(min, want.max, start))
            .update_config(write::update_config(&want.update))
            .node_repair_config(write::repair(want.node_repair))
            .set_tags(Some(tags.into_iter().collect()));
        let answer = request.send().await.map_err(failed(call))?;
        let made = field(call, "nodegroup", answer.nodegroup)?;
        let name = field(call, "nodegroupName", made.nodegroup_name)?;
        Ok(format!("{}/{name}", want.cluster.target()))
    }

    async fn update(aws: &Aws, id: &str, want: &Desired, changed: &[String], stamp: &Stamp) -> Result<(), CloudError> {
        let (cluster, name) = split(id)?;
        let changes = |paths: &[&str]| changed.iter().any(|path| paths.contains(&path.as_str()));
        let gone =
            || CloudError::new(DESCRIBE, Class::NotFound, "ResourceNotFoundException", format!("no node group {id}"));
        let live = describe(aws, cluster, name).await?.ok_or_else(gone)?;
        let arn = field(DESCRIBE, "nodegroupArn", live.nodegroup_arn.clone())?;
        if changes(&[TAGS, "/instanceTags"]) {
            let mut tags = want.instance_tags.clone();
            tags.extend(stamp.tags.clone());
            write::tag(aws, &arn, tags).await?;
        }
        if changes(&["/instanceTags"]) {
            let carried = live.tags.iter().flatten().map(|(key, _)| key.clone()).filter(|key| super::carried(key));
            let surplus: Vec<_> = carried.filter(|key| !want.instance_tags.contains_key(key)).collect();
            Members::of_group(aws, cluster, name).await?.retag(aws, &want.instance_tags, &surplus).await?;
            write::untag(aws, &arn, surplus).await?;
        }
        if changes(&["/templateVersion", "/version", "/release", "/placementGroup", "/securityGroups", "/reservation"])
        {
            return write::upgrade(aws, cluster, name, want, &live, changed).await;
        }
        if changes(&["/labels", "/taints", "/min", "/max", "/start", "/update", "/nodeRepair"]) {
            write::configure(aws, cluster, name, want, &live, changed).await?;
        }
        if changes(&["/start"]) {
            write::tag(aws, &arn, [(START.to_owned(), want.start.to_string())].into()).await?;
        }
        Ok(())
    }

    async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
        let (cluster, name) = split(id)?;
        let request = aws.eks().delete_nodegroup().cluster_name(cluster).nodegroup_name(name);
        deleted(request.send().await.map_err(failed("eks:DeleteNodegroup")))
    }
}

/// What an update strategy of EKS is in ours; unknown ones are none of ours.
pub(super) fn update_of(config: Option<types::NodegroupUpdateConfig>) -> (Option<u32>, Option<super::UpdateStrategy>) {
    let Some(config) = config else { return (None, None) };
    let strategy = match config.update_strategy {
        Some(types::NodegroupUpdateStrategies::Minimal) => Some(super::UpdateStrategy::Minimal),
        Some(types::NodegroupUpdateStrategies::Default) => Some(super::UpdateStrategy::Default),
        _ => None,
    };
    (config.max_unavailable.and_then(|n| u32::try_from(n).ok()), strategy)
}
