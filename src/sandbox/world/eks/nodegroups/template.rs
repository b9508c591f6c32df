//! The template that EKS makes for a group's own use: the caller's, with image, join data and what the caller left open. Must
//! never change the caller's.

use super::{Named, Nodegroup};
use crate::{
    model::{Tags, hash},
    sandbox::world::{World, compute::NOTE},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// GiB of a node's disk where nobody says (EKS API reference, diskSize).
const DISK: u32 = 20;

/// Tags that EKS puts on what it makes for a group.
pub(super) fn own_tags(named: &Named) -> Tags {
    Tags::from([
        ("eks:cluster-name".to_owned(), named.cluster.clone()),
        ("eks:nodegroup-name".to_owned(), named.name.clone()),
    ])
}

/// `None` where the image or the caller's template is not there any more.
pub(super) fn data(world: &World, named: &Named, group: &Nodegroup) -> Option<Value> {
    let region = &named.region;
    let mut data = match &group.template {
        Some((id, _, version)) => {
            let version = version.to_string();
            world.machines(region).template_version(Some(id), None, Some(&version)).ok()?.data
        }
        None => json!({}),
    };
    let home = world.home(region, &named.cluster).ok()?;
    if group.ami_type != "CUSTOM" {
        let image = world.eks_image(region, &group.ami_type, &group.version, Some(&group.release))?;
        data["ImageId"] = json!(image.id);
        data[NOTE] = json!({ "AmiType": group.ami_type, "Version": group.version, "Release": group.release });
    }
    let listed = data.get("NetworkInterfaces").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    let grouped = data.get("SecurityGroupIds").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    // Whoever names groups, or lists interfaces, gets none from EKS.
    if !listed && !grouped {
        data["SecurityGroupIds"] = json!([home.security_group]);
    }
    if data.get("BlockDeviceMappings").is_none() {
        let size = group.disk_size.unwrap_or(DISK);
        data["BlockDeviceMappings"] = json!([{ "DeviceName": "/dev/xvda", "Ebs": { "VolumeSize": size, "VolumeType": "gp3", "DeleteOnTermination": true } }]);
    }
    if data.get("MetadataOptions").is_none() {
        data["MetadataOptions"] = json!({ "HttpTokens": "required", "HttpPutResponseHopLimit": 2 });
    }
    data["IamInstanceProfile"] = json!({ "Name": profile(named, group) });
    Some(data)
}

/// Name of the instance profile that EKS makes for the node role.
pub(super) fn profile(named: &Named, group: &Nodegroup) -> String {
    let digits = hash(&format!("{} {} {}", named.cluster, named.name, group.created), 32);
    let part = |from: usize, to: usize| &digits[from..to];
    format!("eks-{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}

/// Tags of the scaling group, all of which reach its instances.
pub(super) fn asg_tags(named: &Named) -> BTreeMap<String, String> {
    let cluster = &named.cluster;
    let mut tags = own_tags(named);
    tags.extend([
        (format!("kubernetes.io/cluster/{cluster}"), "owned".to_owned()),
        ("k8s.io/cluster-autoscaler/enabled".to_owned(), "true".to_owned()),
        (format!("k8s.io/cluster-autoscaler/{cluster}"), "owned".to_owned()),
    ]);
    tags
}
