//! A node group of EKS in our words. Must never take what could not be read for a default.

use super::{CapacityType, Effect, Footprint, Issue, Observed, Taint, live::update_of, members::Members};
use crate::{
    aws::{
        Aws,
        answers::{count, field, found},
        failed,
    },
    contract::CloudError,
    model::Link,
    resources::launch_template::{self, InterfaceType, Volume},
};
use aws_sdk_eks::types::{self, Nodegroup};
use std::collections::BTreeSet;

const DESCRIBE: &str = "eks:DescribeNodegroup";

fn taint(taint: types::Taint) -> Result<Taint, CloudError> {
    let effect = match field(DESCRIBE, "effect", taint.effect)? {
        types::TaintEffect::NoExecute => Effect::NoExecute,
        types::TaintEffect::PreferNoSchedule => Effect::PreferNoSchedule,
        _ => Effect::NoSchedule,
    };
    Ok(Taint { key: field(DESCRIBE, "key", taint.key)?, value: taint.value.filter(|value| !value.is_empty()), effect })
}

fn issue(issue: types::Issue) -> Issue {
    Issue {
        code: issue.code.map_or_else(String::new, |code| code.as_str().to_owned()),
        message: issue.message.unwrap_or_default(),
        resources: issue.resource_ids.unwrap_or_default(),
    }
}

/// Newest activity of a scaling group in its own words, with why it failed. None where the group is gone.
async fn activity(aws: &Aws, asg: &str) -> Result<Option<String>, CloudError> {
    let request = aws.autoscaling().describe_scaling_activities().auto_scaling_group_name(asg).max_records(1);
    let answer = found(request.send().await.map_err(failed("autoscaling:DescribeScalingActivities")))?;
    let newest = answer.and_then(|answer| answer.activities?.into_iter().next());
    Ok(newest.map(|activity| {
        let failed = activity.status_code == Some(aws_sdk_autoscaling::types::ScalingActivityStatusCode::Failed);
        let description = activity.description.unwrap_or_default();
        match activity.status_message.filter(|message| failed && !description.contains(message.as_str())) {
            Some(message) => format!("{description}: {message}"),
            None => description,
        }
    }))
}

fn volume(template: Option<&launch_template::Desired>) -> Volume {
    let disk = template.and_then(|template| template.volumes.first());
    disk.map_or_else(
        || Volume { r#type: "gp3".to_owned(), size: 20, iops: None, throughput: None },
        |disk| disk.volume.clone(),
    )
}

/// `template` is the version that the group runs, where it is still there.
pub(super) async fn observe(
    aws: &Aws,
    group: Nodegroup,
    template: Option<&launch_template::Desired>,
    members: &Members,
) -> Result<Observed, CloudError> {
    let name = field(DESCRIBE, "nodegroupName", group.nodegroup_name)?;
    let own = members.of(&name);
    let in_service = u32::try_from(own.iter().filter(|member| member.running).count()).unwrap_or(u32::MAX);
    let sizes = field(DESCRIBE, "scalingConfig", group.scaling_config)?;
    let desired_size = count(sizes.desired_size);
    let scaling_groups = group.resources.and_then(|resources| resources.auto_scaling_groups);
    let asg = scaling_groups.and_then(|groups| groups.into_iter().find_map(|group| group.name));
    let activity = match &asg {
        // Only where something is missing does anybody want to know what it does.
        Some(asg) if in_service < desired_size => activity(aws, asg).await?,
        _ => None,
    };
    let interfaces = template.map_or(&[][..], |template| template.interfaces.as_slice());
    let groups: BTreeSet<_> = interfaces.iter().flat_map(|interface| &interface.groups).map(Link::target).collect();
    let kinds = |wanted: fn(InterfaceType) -> bool| {
        u32::try_from(interfaces.iter().filter(|one| wanted(one.r#type)).count()).unwrap_or(u32::MAX)
    };
    let zones: BTreeSet<_> = own.iter().filter_map(|member| member.zone.as_ref()).collect();
    let zone = zones.first().filter(|_| zones.len() == 1).map(|zone| (*zone).clone());
    let (max_unavailable, update_strategy) = update_of(group.update_config);
    let types = group.instance_types.filter(|types| !types.is_empty());
    let own_template = group.launch_template.unwrap_or_else(|| types::LaunchTemplateSpecification::builder().build());
    Ok(Observed {
        cluster: field(DESCRIBE, "clusterName", group.cluster_name)?,
        arn: field(DESCRIBE, "nodegroupArn", group.nodegroup_arn)?,
        status: field(DESCRIBE, "status", group.status)?.as_str().to_owned(),
        issues: group.health.and_then(|health| health.issues).into_iter().flatten().map(issue).collect(),
        // A group of an image of its own has neither.
        version: group.version.unwrap_or_default(),
        release: group.release_version,
        capacity_type: match group.capacity_type {
            Some(types::CapacityTypes::Spot) => CapacityType::Spot,
            Some(types::CapacityTypes::CapacityBlock) => CapacityType::CapacityBlock,
            _ => CapacityType::OnDemand,
        },
        ami_type: group.ami_type.map_or_else(String::new, |kind| kind.as_str().to_owned()),
        instance_types: types.or_else(|| Some(vec![template?.instance_type.clone()?])).unwrap_or_default(),
        subnets: group.subnets.unwrap_or_default(),
        role: group.node_role.unwrap_or_default(),
        labels: group.labels.into_iter().flatten().collect(),
        taints: group.taints.into_iter().flatten().map(taint).collect::<Result<_, _>>()?,
        min_size: count(sizes.min_size),
        max_size: count(sizes.max_size),
        desired_size,
        max_unavailable,
        update_strategy,
        node_repair: group.node_repair_config.and_then(|repair| repair.enabled).unwrap_or(false),
        template_id: own_template.id.unwrap_or_default(),
        template_version: own_template.version.unwrap_or_default(),
        placement_group: template.and_then(|template| Some(template.placement_group.as_ref()?.target().to_owned())),
        security_groups: groups.into_iter().map(str::to_owned).collect(),
        reservation: template.and_then(|template| template.reservation.clone()),
        footprint: Footprint {
            zone,
            efa: kinds(|kind| kind != InterfaceType::Ena),
            addresses: kinds(|kind| kind != InterfaceType::EfaOnly),
            volume: volume(template),
        },
        asg,
        in_service,
        activity,
        member_tags: own
            .iter()
            .flat_map(|member| {
                std::iter::once(&member.tags).chain(member.volumes.iter().map(|(_, tags)| tags)).cloned()
            })
            .collect(),
        tags: group.tags.into_iter().flatten().collect(),
        name,
    })
}
