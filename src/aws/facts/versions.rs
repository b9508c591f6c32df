//! Versions that EKS offers: of Kubernetes, of add-ons, of node images. Must never say which to take.

use super::{field, time};
use crate::{
    aws::{Aws, failed},
    cloud::{AddonVersion, ClusterVersion},
    contract::{Class, CloudError},
};
use futures::future::try_join_all;
use std::collections::BTreeMap;

pub(super) async fn clusters(aws: &Aws) -> Result<Vec<ClusterVersion>, CloudError> {
    let call = "eks:DescribeClusterVersions";
    let mut pages = aws.eks().describe_cluster_versions().cluster_type("eks").into_paginator().items().send();
    let mut versions = vec![];
    while let Some(found) = pages.try_next().await.map_err(failed(call))? {
        let end = found.end_of_standard_support_date.as_ref().and_then(time);
        versions.push(ClusterVersion {
            version: field(call, "clusterVersion", found.cluster_version)?,
            end_of_standard_support: end.map(|end| end.strftime("%Y-%m-%d").to_string()),
        });
    }
    Ok(versions)
}

/// One small answer an add-on: all at once would be every product of the marketplace.
pub(super) async fn addons(aws: &Aws, version: &str, names: &[String]) -> Result<Vec<AddonVersion>, CloudError> {
    let asked = names.iter().map(|name| addon(aws, version, name));
    Ok(try_join_all(asked).await?.into_iter().flatten().collect())
}

/// EKS's default of an add-on for a Kubernetes version; `None`: it has none.
async fn addon(aws: &Aws, cluster_version: &str, name: &str) -> Result<Option<AddonVersion>, CloudError> {
    let call = "eks:DescribeAddonVersions";
    let request = aws.eks().describe_addon_versions().kubernetes_version(cluster_version).addon_name(name);
    let mut pages = request.into_paginator().items().send();
    loop {
        let addon = match pages.try_next().await.map_err(failed(call)) {
            Ok(Some(addon)) => addon,
            Ok(None) => return Ok(None),
            Err(error) if error.class == Class::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let default = addon.addon_versions.unwrap_or_default().into_iter().find(|version| {
            let mut fits = version.compatibilities().iter();
            fits.any(|fit| fit.default_version && fit.cluster_version.as_deref() == Some(cluster_version))
        });
        if let Some(version) = default.and_then(|version| version.addon_version) {
            return Ok(Some(AddonVersion { addon: name.to_owned(), version }));
        }
    }
}

/// `GetParameters` takes this many names.
const PARAMETERS: usize = 10;

/// From the public parameters in which AWS publishes its images; a type without one is not in the answer.
pub(super) async fn ami_releases(
    aws: &Aws,
    cluster_version: &str,
    ami_types: &[String],
) -> Result<BTreeMap<String, String>, CloudError> {
    let call = "ssm:GetParameters";
    let named: BTreeMap<String, &String> =
        ami_types.iter().filter_map(|ami| Some((parameter(cluster_version, ami)?, ami))).collect();
    let names: Vec<String> = named.keys().cloned().collect();
    let mut releases = BTreeMap::new();
    for names in names.chunks(PARAMETERS) {
        let answer = aws.ssm().get_parameters().set_names(Some(names.to_vec())).send().await.map_err(failed(call))?;
        for parameter in answer.parameters.unwrap_or_default() {
            let ami = parameter.name.as_ref().and_then(|name| named.get(name));
            if let (Some(ami), Some(value)) = (ami, parameter.value) {
                releases.insert((*ami).clone(), value);
            }
        }
    }
    Ok(releases)
}

/// Where AWS publishes the newest release of an EKS AMI type, as `CreateNodegroup` takes it; `None`: nowhere known.
fn parameter(cluster_version: &str, ami_type: &str) -> Option<String> {
    if let Some(rest) = ami_type.strip_prefix("AL2023_") {
        let (arch, variant) = split(rest)?;
        return Some(format!(
            "/aws/service/eks/optimized-ami/{cluster_version}/amazon-linux-2023/{arch}/{}/recommended/release_version",
            variant.to_lowercase()
        ));
    }
    let (arch, variant) = split(ami_type.strip_prefix("BOTTLEROCKET_")?)?;
    let variant = if variant.is_empty() { String::new() } else { format!("-{}", variant.to_lowercase()) };
    Some(format!("/aws/service/bottlerocket/aws-k8s-{cluster_version}{variant}/{arch}/latest/image_version"))
}

/// Architecture, as the parameters spell it, and what follows it in an AMI type.
fn split(rest: &str) -> Option<(&'static str, &str)> {
    let (arch, variant) = match rest.strip_prefix("x86_64") {
        Some(variant) => ("x86_64", variant),
        None => ("arm64", rest.strip_prefix("ARM_64")?),
    };
    Some((arch, variant.trim_start_matches('_')))
}

#[cfg(test)]
mod tests {
    use super::parameter;

    #[test]
    fn every_ami_type_has_its_parameter() {
        let of = |ami: &str| parameter("1.35", ami).unwrap();
        assert_eq!(
            of("AL2023_x86_64_NVIDIA"),
            "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/nvidia/recommended/release_version"
        );
        assert_eq!(
            of("AL2023_ARM_64_STANDARD"),
            "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/arm64/standard/recommended/release_version"
        );
        assert_eq!(of("BOTTLEROCKET_x86_64"), "/aws/service/bottlerocket/aws-k8s-1.35/x86_64/latest/image_version");
        assert_eq!(
            of("BOTTLEROCKET_ARM_64_NVIDIA"),
            "/aws/service/bottlerocket/aws-k8s-1.35-nvidia/arm64/latest/image_version"
        );
        assert_eq!(parameter("1.35", "CUSTOM"), None);
    }
}
