//! What EKS refuses of a node group before it makes anything. Must never accept what only fails an hour later on AWS.

use super::Nodegroup;
use crate::{
    catalog::{AcceleratorKind, Catalog, eks},
    model::partition,
    sandbox::{
        wire::Fault,
        world::{
            World,
            compute::TemplateVersion,
            eks::{Home, parameter, request},
            identity::Unfit,
        },
    },
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;
use std::collections::BTreeSet;

fn text<'v>(data: &'v Value, path: &[&str]) -> Option<&'v str> {
    path.iter().try_fold(data, |value, name| value.get(name))?.as_str()
}

/// Rules on the caller's template (EKS user guide, launch template support).
pub(super) fn template(group: &Nodegroup, template: &TemplateVersion) -> Result<(), Fault> {
    let data = &template.data;
    let interfaces = data.get("NetworkInterfaces").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if interfaces.iter().any(|interface| interface.get("SubnetId").is_some()) {
        return Err(parameter("Launch template should not specify a subnet: the subnets in your request are used."));
    }
    if data.get("IamInstanceProfile").is_some() {
        return Err(parameter(
            "Launch template should not specify an instance profile. The noderole in your request will be used to construct \
             an instance profile.",
        ));
    }
    if data.get("ImageId").is_some() && group.ami_type != "CUSTOM" {
        return Err(request(
            "You cannot specify an image id within the launch template, since your nodegroup is configured to use an EKS AMI.",
        ));
    }
    if data.get("InstanceInitiatedShutdownBehavior").is_some_and(|behaviour| behaviour != "terminate") {
        return Err(parameter("Launch template should not specify a shutdown behavior other than terminate."));
    }
    if data.get("HibernationOptions").and_then(|options| options.get("Configured")) == Some(&Value::Bool(true)) {
        return Err(parameter("Launch template should not specify hibernation."));
    }
    let market = text(data, &["InstanceMarketOptions", "MarketType"]);
    if market.is_some_and(|market| market != "capacity-block") {
        return Err(parameter(
            "Launch template should not specify instance market options. Use the capacityType field.",
        ));
    }
    let typed = text(data, &["InstanceType"]).is_some();
    if typed && !group.instance_types.is_empty() {
        return Err(request("Cannot specify instance types in launch template and API request"));
    }
    if group.disk_size.is_some() {
        return Err(request("Disk size must be specified within the launch template."));
    }
    let target =
        text(data, &["CapacityReservationSpecification", "CapacityReservationTarget", "CapacityReservationId"]);
    match (group.capacity_type.as_str(), market) {
        ("CAPACITY_BLOCK", Some(_)) if target.is_some() && typed => {}
        ("CAPACITY_BLOCK", _) => {
            return Err(parameter(
                "A launch template with market type capacity-block, a capacity reservation target and an instance type is \
                 required when capacityType is CAPACITY_BLOCK.",
            ));
        }
        (_, Some(_)) => {
            return Err(parameter("Market type capacity-block requires capacityType CAPACITY_BLOCK."));
        }
        _ => {}
    }
    user_data(group, data)
}

/// EKS merges the caller's user data with its own.
fn user_data(group: &Nodegroup, data: &Value) -> Result<(), Fault> {
    let Some(encoded) = text(data, &["UserData"]) else { return Ok(()) };
    let decoded = STANDARD.decode(encoded).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let fits = decoded.is_some_and(|text| match group.ami_type.starts_with("BOTTLEROCKET") {
        true => !text.trim_start().starts_with("MIME-Version"),
        false => group.ami_type == "CUSTOM" || text.trim_start().starts_with("MIME-Version"),
    });
    match fits {
        true => Ok(()),
        false if group.ami_type.starts_with("BOTTLEROCKET") => {
            Err(parameter("User data was not in the TOML format expected by Bottlerocket."))
        }
        false => Err(parameter("User data was not in the MIME multipart format.")),
    }
}

/// EKS puts the role into an instance profile of its own making, from which EC2 takes it.
pub(super) fn role(world: &mut World, region: &str, arn: &str) -> Result<(), Fault> {
    let service = if partition(region) == "aws-cn" { "ec2.amazonaws.com.cn" } else { "ec2.amazonaws.com" };
    world.assumable(arn, service, &["sts:AssumeRole"]).map_err(|unfit| match unfit {
        Unfit::Missing => parameter(format!("The nodeRole {arn} does not exist.")),
        Unfit::Distrusting => parameter(format!(
            "Following required service principals [{service}] were not found in the trust relationships of nodeRole {arn}"
        )),
    })
}

/// Types and image must be for each other.
pub(super) fn types(group: &Nodegroup, named: Option<&str>) -> Result<(), Fault> {
    if group.instance_types.len() > 20 {
        return Err(parameter("At most 20 instance types can be specified."));
    }
    let all = group.instance_types.iter().map(String::as_str).chain(named);
    for name in all {
        let Some(known) = Catalog::compiled().instance_type(name) else { continue };
        let kind = known.accelerator.as_ref().map(|accelerator| accelerator.kind);
        let arm = group.ami_type.contains("ARM_64");
        let architecture = known.architectures.iter().any(|one| (*one == crate::catalog::Architecture::Arm64) == arm);
        let fits = match &group.ami_type {
            ami if ami == "CUSTOM" => true,
            ami if ami.contains("NVIDIA") => architecture && kind == Some(AcceleratorKind::Nvidia),
            ami if ami.contains("NEURON") => architecture && kind == Some(AcceleratorKind::Neuron),
            _ => architecture,
        };
        if !fits {
            let message = format!("[{name}] is not a valid instance type for requested amiType {}", group.ami_type);
            return Err(parameter(message));
        }
    }
    Ok(())
}

pub(super) fn sizes(world: &World, (min, max, desired): (u32, u32, u32)) -> Result<(), Fault> {
    if max < 1 {
        return Err(parameter("Maximum capacity can't be less than 1."));
    }
    if min > desired {
        return Err(parameter(format!("Minimum capacity {min} can't be greater than desired size {desired}")));
    }
    if desired > max {
        return Err(parameter(format!("desired capacity {desired} can't be greater than max size {max}")));
    }
    if max as usize > world.limit("nodeOfGroup") {
        let message = format!("Nodegroup size {max} exceeds the limit of {} nodes.", world.limit("nodeOfGroup"));
        return Err(Fault::new("ResourceLimitExceededException", message));
    }
    Ok(())
}

/// Prefixes of keys that only Kubernetes and EKS may set.
const RESERVED: &[&str] = &["kubernetes.io/", "k8s.io/", "eks.amazonaws.com/"];

pub(super) fn labels(group: &Nodegroup) -> Result<(), Fault> {
    for (key, value) in &group.labels {
        if RESERVED.iter().any(|prefix| key.starts_with(prefix) || key.contains(&format!(".{prefix}"))) {
            return Err(parameter(format!("Label cannot contain reserved prefixes [{}]", RESERVED.join(", "))));
        }
        let name = key.rsplit_once('/').map_or(key.as_str(), |(_, name)| name);
        let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        if name.is_empty() || name.len() > 63 || value.len() > 63 || !plain(name) || !plain(value) {
            return Err(parameter(format!("The label {key}={value} is not valid in Kubernetes.")));
        }
    }
    Ok(())
}

pub(super) fn taints(group: &Nodegroup) -> Result<(), Fault> {
    if group.taints.len() > 50 {
        return Err(parameter("At most 50 taints can be specified."));
    }
    let places: BTreeSet<_> = group.taints.iter().map(|(key, _, effect)| (key, effect)).collect();
    match places.len() < group.taints.len() {
        true => Err(parameter("Taints must be unique by key and effect.")),
        false => Ok(()),
    }
}

pub(super) fn update_config(config: &Value) -> Result<(), Fault> {
    let of = |name: &str| config.get(name).and_then(Value::as_i64);
    match (of("maxUnavailable"), of("maxUnavailablePercentage")) {
        (Some(_), Some(_)) => Err(parameter("maxUnavailable and maxUnavailablePercentage can't both be specified.")),
        (Some(n), None) | (None, Some(n)) if !(1..=100).contains(&n) => {
            Err(parameter(format!("maxUnavailable of {n} is not between 1 and 100.")))
        }
        _ => Ok(()),
    }
}

/// Subnets exist, in the cluster's network, and fit what the group launches into.
pub(super) fn subnets(world: &World, region: &str, group: &Nodegroup, home: &Home) -> Result<(), Fault> {
    let net = world.net(region);
    if group.subnets.is_empty() {
        return Err(parameter("Subnets cannot be empty."));
    }
    let mut zones = BTreeSet::new();
    for id in &group.subnets {
        let subnet = net.subnet(id).map_err(|_| parameter(format!("The subnet ID '{id}' does not exist")))?;
        if subnet.vpc != home.vpc {
            return Err(parameter(format!("Subnet {id} is not in the VPC of the cluster, {}.", home.vpc)));
        }
        zones.insert(subnet.zone.clone());
    }
    if group.capacity_type == "CAPACITY_BLOCK" && zones.len() > 1 {
        return Err(parameter("All subnets of a CAPACITY_BLOCK nodegroup must be in the zone of the capacity block."));
    }
    Ok(())
}

/// A version that a group may have in a cluster, and a release of it.
pub(super) fn version(
    world: &World,
    ami_type: &str,
    version: &str,
    release: Option<&str>,
    home: &Home,
) -> Result<(), Fault> {
    if eks::version(version) > eks::version(&home.version) {
        return Err(parameter(format!(
            "Nodegroup Kubernetes version should be equal to or less than Cluster kubernetes version {}",
            home.version
        )));
    }
    let newest = world.newest_release(ami_type, version).ok_or_else(|| {
        parameter(format!("Requested Nodegroup release version for {ami_type} and {version} is not available."))
    })?;
    let Some(release) = release else { return Ok(()) };
    let fits = match ami_type.starts_with("BOTTLEROCKET") {
        true => eks::is_ami_release(release, crate::catalog::AmiOs::Bottlerocket),
        false => eks::is_release_of(release, version) && build(release) <= build(&newest),
    };
    match fits {
        true => Ok(()),
        false => {
            let message = format!("Requested release version {release} is not valid for kubernetes version {version}.");
            Err(parameter(message))
        }
    }
}

fn build(release: &str) -> &str {
    release.split_once('-').map_or("", |(_, build)| build)
}
