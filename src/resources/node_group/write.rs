//! What changes a node group: EKS's two updates, and its tags. Must never send what a call is not about.

use super::{CapacityType, Desired, Effect, Taint, Update, UpdateStrategy};
use crate::{
    aws::{Aws, answers::count, failed},
    contract::CloudError,
    model::Tags,
};
use aws_sdk_eks::types::{self, Nodegroup};

pub(super) fn capacity_type(kind: CapacityType) -> types::CapacityTypes {
    match kind {
        CapacityType::OnDemand => types::CapacityTypes::OnDemand,
        CapacityType::Spot => types::CapacityTypes::Spot,
        CapacityType::CapacityBlock => types::CapacityTypes::CapacityBlock,
    }
}

pub(super) fn taint(taint: &Taint) -> types::Taint {
    let effect = match taint.effect {
        Effect::NoSchedule => types::TaintEffect::NoSchedule,
        Effect::NoExecute => types::TaintEffect::NoExecute,
        Effect::PreferNoSchedule => types::TaintEffect::PreferNoSchedule,
    };
    types::Taint::builder().key(&taint.key).set_value(taint.value.clone()).effect(effect).build()
}

fn signed(n: u32) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

pub(super) fn sizes(min: u32, max: u32, desired: u32) -> types::NodegroupScalingConfig {
    let builder = types::NodegroupScalingConfig::builder();
    builder.min_size(signed(min)).max_size(signed(max)).desired_size(signed(desired)).build()
}

pub(super) fn update_config(update: &Update) -> types::NodegroupUpdateConfig {
    let strategy = match update.strategy {
        UpdateStrategy::Minimal => types::NodegroupUpdateStrategies::Minimal,
        UpdateStrategy::Default => types::NodegroupUpdateStrategies::Default,
    };
    let builder = types::NodegroupUpdateConfig::builder();
    builder.max_unavailable(signed(update.max_unavailable)).update_strategy(strategy).build()
}

pub(super) fn repair(enabled: bool) -> types::NodeRepairConfig {
    types::NodeRepairConfig::builder().enabled(enabled).build()
}

/// Sets tags of the group itself; others that it has stay.
pub(super) async fn tag(aws: &Aws, arn: &str, tags: Tags) -> Result<(), CloudError> {
    let request = aws.eks().tag_resource().resource_arn(arn).set_tags(Some(tags.into_iter().collect()));
    request.send().await.map_err(failed("eks:TagResource")).map(drop)
}

/// Takes tags off the group itself.
pub(super) async fn untag(aws: &Aws, arn: &str, keys: Vec<String>) -> Result<(), CloudError> {
    if keys.is_empty() {
        return Ok(());
    }
    let request = aws.eks().untag_resource().resource_arn(arn).set_tag_keys(Some(keys));
    request.send().await.map_err(failed("eks:UntagResource")).map(drop)
}

/// UpdateNodegroupConfig with what changed.
pub(super) async fn configure(
    aws: &Aws,
    cluster: &str,
    name: &str,
    want: &Desired,
    live: &Nodegroup,
    changed: &[String],
) -> Result<(), CloudError> {
    let changes = |field: &str| changed.iter().any(|path| path == field);
    let labels = changes("/labels").then(|| {
        let surplus = live.labels.iter().flatten().map(|(key, _)| key.clone());
        let surplus: Vec<_> = surplus.filter(|key| !want.labels.contains_key(key)).collect();
        types::UpdateLabelsPayload::builder()
            .set_add_or_update_labels(Some(want.labels.clone().into_iter().collect()))
            .set_remove_labels((!surplus.is_empty()).then_some(surplus))
            .build()
    });
    let taints = changes("/taints").then(|| {
        let wanted: Vec<_> = want.taints.iter().map(taint).collect();
        let stays = |old: &types::Taint| wanted.iter().any(|new| new.key == old.key && new.effect == old.effect);
        let surplus: Vec<_> = live.taints.iter().flatten().filter(|old| !stays(old)).cloned().collect();
        types::UpdateTaintsPayload::builder()
            .set_add_or_update_taints((!wanted.is_empty()).then_some(wanted))
            .set_remove_taints((!surplus.is_empty()).then_some(surplus))
            .build()
    });
    let sized = changes("/start") || changes("/min") || changes("/max");
    let scaling = sized.then(|| {
        let now = count(live.scaling_config.as_ref().and_then(|sizes| sizes.desired_size));
        // A size that somebody else chose stays, as far as the bounds let it.
        let desired = if changes("/start") { want.start } else { now };
        sizes(want.min, want.max, desired.clamp(want.min, want.max.max(want.min)))
    });
    let request = aws
        .eks()
        .update_nodegroup_config()
        .cluster_name(cluster)
        .nodegroup_name(name)
        .set_labels(labels)
        .set_taints(taints)
        .set_scaling_config(scaling)
        .set_update_config(changes("/update").then(|| update_config(&want.update)))
        .set_node_repair_config(changes("/nodeRepair").then(|| repair(want.node_repair)));
    request.send().await.map_err(failed("eks:UpdateNodegroupConfig")).map(drop)
}

/// UpdateNodegroupVersion with what changed: placement group, security groups and reservation come by the template's version.
pub(super) async fn upgrade(
    aws: &Aws,
    cluster: &str,
    name: &str,
    want: &Desired,
    live: &Nodegroup,
    changed: &[String],
) -> Result<(), CloudError> {
    let changes = |field: &str| changed.iter().any(|path| path == field);
    let version = want.template_version.target();
    let runs = live.launch_template.as_ref().and_then(|template| template.version.as_deref());
    let template = (runs != Some(version))
        .then(|| types::LaunchTemplateSpecification::builder().id(want.template.target()).version(version).build());
    // A Kubernetes version without a release takes the newest one; a wished one goes with it.
    let release = want.release.clone().filter(|_| changes("/release") || changes("/version"));
    let request = aws
        .eks()
        .update_nodegroup_version()
        .cluster_name(cluster)
        .nodegroup_name(name)
        .set_launch_template(template)
        .set_version(changes("/version").then(|| want.version.clone()))
        .set_release_version(release);
    request.send().await.map_err(failed("eks:UpdateNodegroupVersion")).map(drop)
}
