//! Node groups that nobody made: samples for the laws, and what EKS would show of a wish. Must never differ from what EKS shows.

use super::{CapacityType, Desired, Effect, Footprint, Observed, START, Taint, Update, UpdateStrategy};
use crate::{
    contract::Phase,
    model::{Address, Link, Stamp, hash, imagined_arn},
    resources::launch_template::Volume,
};

pub(super) fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
    let coming = phase == Phase::Coming;
    let (status, issues) = match phase {
        Phase::Coming => ("CREATING", vec![]),
        Phase::There => ("ACTIVE", vec![]),
        Phase::Changing => ("UPDATING", vec![]),
        Phase::Going => ("DELETING", vec![]),
    };
    // A group that is created empty has its size, and the tag that says so, from the update that follows.
    let start = if coming && want.create_empty { 0 } else { want.start };
    let mut tags = want.instance_tags.clone();
    tags.extend(stamp.tags.clone());
    if start > 0 {
        tags.insert(START.to_owned(), start.to_string());
    }
    let ids = |links: &[Link]| links.iter().map(Link::to_string).collect::<Vec<_>>();
    Observed {
        cluster: want.cluster.to_string(),
        name: want.name.clone(),
        arn: imagined_arn(stamp, "eks", &format!("nodegroup/{id}")),
        status: status.to_owned(),
        issues,
        version: want.version.clone(),
        release: want.release.clone().or_else(|| Some(format!("{}.0-20261120", want.version))),
        capacity_type: want.capacity_type,
        ami_type: want.ami_type.clone(),
        instance_types: want.instance_types.clone(),
        subnets: ids(&want.subnets),
        role: want.role.to_string(),
        labels: want.labels.clone(),
        taints: want.taints.clone(),
        min_size: if coming && want.create_empty { 0 } else { want.min },
        max_size: want.max,
        desired_size: start,
        max_unavailable: Some(want.update.max_unavailable),
        update_strategy: Some(want.update.strategy),
        node_repair: want.node_repair,
        template_id: want.template.to_string(),
        template_version: want.template_version.to_string(),
        placement_group: want.placement_group.as_ref().map(Link::to_string),
        security_groups: ids(&want.security_groups),
        reservation: want.reservation.clone(),
        footprint: want.footprint.clone(),
        asg: (!coming).then(|| format!("eks-{}-{}", want.name, hash(id, 8))),
        in_service: if coming { 0 } else { start },
        activity: (start > 0 && coming).then(|| "Launching a new EC2 instance".to_owned()),
        member_tags: if start > 0 { vec![want.instance_tags.clone()] } else { vec![] },
        tags,
    }
}

pub(super) fn samples() -> Vec<Desired> {
    let cluster = Address::new("cluster", "main");
    let template = Address::new("launch-template", "p5");
    let own = [("infer-stack/region", "us-west-2"), ("infer-stack/stack", "llama-70b"), ("workload", "llm-inference")];
    let p5 = Desired {
        cluster: Link::to(&cluster, "id"),
        name: "p5".to_owned(),
        subnets: vec![Link::to(&Address::new("subnet", "private-usw2-az2"), "id")],
        role: Link::to(&Address::new("role", "node"), "arn"),
        instance_types: vec!["p5.48xlarge".to_owned()],
        ami_type: "AL2023_x86_64_NVIDIA".to_owned(),
        capacity_type: CapacityType::OnDemand,
        template: Link::to(&template, "id"),
        template_version: Link::to(&template, "version"),
        version: "1.35".to_owned(),
        release: Some("1.35.2-20261120".to_owned()),
        labels: [("infer-stack/node-class".to_owned(), "p5".to_owned())].into(),
        taints: vec![
            Taint { key: "nvidia.com/gpu".to_owned(), value: None, effect: Effect::NoSchedule },
            Taint { key: "team".to_owned(), value: Some("ml".to_owned()), effect: Effect::PreferNoSchedule },
        ],
        min: 0,
        max: 8,
        start: 2,
        create_empty: true,
        update: Update { strategy: UpdateStrategy::Minimal, max_unavailable: 1 },
        node_repair: true,
        instance_tags: own.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
        placement_group: Some(Link::to(&Address::new("placement-group", "p5"), "name")),
        security_groups: vec![
            Link::to(&cluster, "security-group"),
            Link::to(&Address::new("security-group", "efa"), "id"),
        ],
        reservation: None,
        footprint: Footprint {
            zone: Some("usw2-az2".to_owned()),
            efa: 32,
            addresses: 11,
            volume: Volume { r#type: "gp3".to_owned(), size: 500, iops: Some(6_000), throughput: Some(250) },
        },
    };
    let block = Desired {
        capacity_type: CapacityType::CapacityBlock,
        reservation: Some("cr-0123456789abcdef0".to_owned()),
        placement_group: None,
        ..p5.clone()
    };
    let spot = Desired {
        capacity_type: CapacityType::Spot,
        instance_types: vec!["m6i.xlarge".to_owned(), "m7i.xlarge".to_owned()],
        ami_type: "AL2023_x86_64_STANDARD".to_owned(),
        release: None,
        create_empty: false,
        update: Update { strategy: UpdateStrategy::Default, max_unavailable: 1 },
        node_repair: false,
        placement_group: None,
        footprint: Footprint { zone: None, efa: 0, ..p5.footprint.clone() },
        ..p5.clone()
    };
    vec![p5, block, spot]
}
