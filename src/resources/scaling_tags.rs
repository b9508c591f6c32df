//! Tags on a node group's Auto Scaling group from which cluster-autoscaler learns what a node of an empty group would offer. Must
//! never touch the tags that EKS put there.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags},
};
use serde::{Deserialize, Serialize};

pub struct ScalingTags;

/// What cluster-autoscaler reads of an ASG.
pub const PREFIX: &str = "k8s.io/cluster-autoscaler/";
/// What only we write there: EKS itself sets `enabled` and the cluster's name on the ASGs of managed groups.
pub const NODE_TEMPLATE: &str = "k8s.io/cluster-autoscaler/node-template/";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Desired {
    /// Name of the ASG, an output of the node group.
    pub asg: Link,
    /// Key to value, each key under [`PREFIX`].
    pub keys: Tags,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    pub asg: String,
    /// The tag `eks:nodegroup-name` of the ASG.
    pub node_group: String,
    /// All tags of the ASG (autoscaling DescribeTags).
    pub asg_tags: Tags,
}

impl Kind for ScalingTags {
    const NAME: &'static str = "scaling-tags";
    const LAYER: Layer = Layer::Nodes;
    const OWNERSHIP: Ownership = Ownership::PartOf("node-group");
    const FIELDS: &'static [Field] = &[Field::immutable("/asg"), Field::in_place("/keys")];
    const PATIENCE: Patience = Patience::INSTANT;
    const TAGGED: bool = false;
    const AWS_NAME: &'static str = "autoscaling:tag";

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.asg.clone()
    }
    fn tags(_live: &Observed) -> Tags {
        Tags::new()
    }
    fn outputs(live: &Observed) -> Outputs {
        [("id".to_owned(), live.asg.clone())].into()
    }
    fn project(live: &Observed) -> Desired {
        let ours = live.asg_tags.iter().filter(|(key, _)| key.starts_with(PREFIX));
        Desired { asg: Link::is(&live.asg), keys: ours.map(|(key, value)| (key.clone(), value.clone())).collect() }
    }
    fn ready(_live: &Observed) -> Readiness {
        Readiness::Ready
    }
    /// What EKS wrote by itself stays for as long as the ASG: it is not the object.
    fn gone(live: &Observed) -> bool {
        !live.asg_tags.keys().any(|key| key.starts_with(NODE_TEMPLATE))
    }
    fn claims(live: &Observed) -> Option<Address> {
        Some(Address::new(Self::NAME, &live.node_group))
    }
    fn headline(want: &Desired) -> String {
        let resource = |(key, value): (&String, &String)| {
            Some(format!("{value} {}", key.strip_prefix(NODE_TEMPLATE)?.strip_prefix("resources/")?))
        };
        let offers: Vec<_> = want.keys.iter().filter_map(resource).collect();
        format!("an empty group offers {}", offers.join(", "))
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = vec![];
        if want.keys.len() > 40 {
            broken.push("an Auto Scaling group takes 50 tags, EKS's own among them".to_owned());
        }
        if let Some(key) = want.keys.keys().find(|key| !key.starts_with(PREFIX)) {
            broken.push(format!("{key} is not a key that cluster-autoscaler reads"));
        }
        if let Some(key) = want.keys.keys().find(|key| key.len() > 128) {
            broken.push(format!("a tag key takes 128 characters: {key}"));
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        let keys = [
            ("k8s.io/cluster-autoscaler/enabled", "true"),
            ("k8s.io/cluster-autoscaler/llama-70b", "owned"),
            ("k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu", "8"),
            ("k8s.io/cluster-autoscaler/node-template/taint/nvidia.com/gpu", ":NoSchedule"),
        ];
        vec![Desired {
            asg: Link::to(&Address::new("node-group", "p5"), "asg"),
            keys: keys.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
        }]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, _phase: Phase) -> Observed {
        Observed { asg: id.to_owned(), node_group: stamp.address.name().to_owned(), asg_tags: want.keys.clone() }
    }
    fn imagine_id(want: &Desired, _serial: &str) -> PhysicalId {
        want.asg.to_string()
    }
}

#[cfg(feature = "aws")]
mod live {
    use super::{Desired, NODE_TEMPLATE, Observed, ScalingTags};
    use crate::{
        aws::{
            Aws,
            answers::{deleted, field},
            failed,
        },
        contract::{CloudError, Live},
        model::{PhysicalId, Scope, Stamp, Tags},
    };
    use aws_sdk_autoscaling::types::{self, Filter, Tag};

    const DESCRIBE: &str = "autoscaling:DescribeAutoScalingGroups";
    const RESOURCE_TYPE: &str = "auto-scaling-group";

    fn observe(group: types::AutoScalingGroup) -> Result<Observed, CloudError> {
        let pair = |tag: types::TagDescription| Some((tag.key?, tag.value.unwrap_or_default()));
        let asg_tags: Tags = group.tags.into_iter().flatten().filter_map(pair).collect();
        Ok(Observed {
            asg: field(DESCRIBE, "AutoScalingGroupName", group.auto_scaling_group_name)?,
            node_group: asg_tags.get("eks:nodegroup-name").cloned().unwrap_or_default(),
            asg_tags,
        })
    }

    /// Not for the group's instances: cluster-autoscaler reads them of the group.
    fn tag(asg: &str, key: &str, value: Option<&String>) -> Tag {
        let builder = Tag::builder().resource_id(asg).resource_type(RESOURCE_TYPE).key(key).set_value(value.cloned());
        builder.propagate_at_launch(false).build()
    }

    async fn put<'a>(
        aws: &Aws,
        asg: &str,
        keys: impl Iterator<Item = (&'a String, &'a String)>,
    ) -> Result<(), CloudError> {
        let tags: Vec<_> = keys.map(|(key, value)| tag(asg, key, Some(value))).collect();
        if tags.is_empty() {
            return Ok(());
        }
        let request = aws.autoscaling().create_or_update_tags().set_tags(Some(tags));
        request.send().await.map_err(failed("autoscaling:CreateOrUpdateTags")).map(drop)
    }

    async fn take(aws: &Aws, asg: &str, keys: impl Iterator<Item = &String>) -> Result<(), CloudError> {
        let tags: Vec<_> = keys.map(|key| tag(asg, key, None)).collect();
        if tags.is_empty() {
            return Ok(());
        }
        let request = aws.autoscaling().delete_tags().set_tags(Some(tags));
        deleted(request.send().await.map_err(failed("autoscaling:DeleteTags")))
    }

    impl Live<Aws> for ScalingTags {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            let of_cluster = Filter::builder().name("tag:eks:cluster-name").values(&scope.cluster).build();
            let request = aws.autoscaling().describe_auto_scaling_groups().filters(of_cluster);
            let pages = request.include_instances(false).into_paginator().items().send();
            let groups = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(DESCRIBE))?;
            groups.into_iter().map(observe).collect()
        }

        async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
            let request = aws.autoscaling().describe_auto_scaling_groups().auto_scaling_group_names(id);
            let answer = request.include_instances(false).send().await.map_err(failed(DESCRIBE))?;
            answer.auto_scaling_groups.and_then(|mut groups| groups.pop()).map(observe).transpose()
        }

        /// EKS's own keys are there already, and reach instances: they are left as they are.
        async fn create(aws: &Aws, want: &Desired, _: &Stamp) -> Result<PhysicalId, CloudError> {
            let asg = want.asg.target();
            put(aws, asg, want.keys.iter().filter(|(key, _)| key.starts_with(NODE_TEMPLATE))).await?;
            Ok(asg.to_owned())
        }

        async fn update(aws: &Aws, id: &str, want: &Desired, _: &[String], _: &Stamp) -> Result<(), CloudError> {
            let have = Self::read(aws, id).await?.map(|live| live.asg_tags).unwrap_or_default();
            put(aws, id, want.keys.iter().filter(|(key, value)| have.get(*key) != Some(*value))).await?;
            let surplus = |key: &&String| key.starts_with(NODE_TEMPLATE) && !want.keys.contains_key(*key);
            take(aws, id, have.keys().filter(surplus)).await
        }

        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            let Some(live) = Self::read(aws, id).await? else { return Ok(()) };
            take(aws, id, live.asg_tags.keys().filter(|key| key.starts_with(NODE_TEMPLATE))).await
        }
    }
}
