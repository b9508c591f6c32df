//! Which EKS add-ons a stack needs, and why. Must never leave out what the file names.

use crate::{
    catalog::{Catalog, VcpuQuota},
    contract::Purchase,
    stack::{NodeClass, Spec, WeightSource},
};
use std::collections::BTreeMap;

/// Names of EKS add-ons, each with what completes "…, because".
pub fn needed_addons(spec: &Spec, catalog: &Catalog) -> BTreeMap<String, String> {
    let mut needed = BTreeMap::new();
    let mut need = |name: &str, why: &str| {
        needed.entry(name.to_owned()).or_insert_with(|| why.to_owned());
    };
    need("vpc-cni", "the cluster is made without it, and no node becomes ready without a network");
    need("kube-proxy", "services don't work without it");
    need("coredns", "names don't resolve without it");
    need("eks-pod-identity-agent", "it hands the pods their roles");
    need("aws-ebs-csi-driver", "EKS has no storage class that works without it");
    if spec.node_classes.iter().any(|class| is_accelerated(class, catalog)) {
        need("eks-node-monitoring-agent", "node repair learns of broken accelerators from it");
    }
    match spec.weights.as_ref().map(|weights| weights.source) {
        Some(WeightSource::Fsx) => need("aws-fsx-csi-driver", "weights.source is fsx"),
        Some(WeightSource::Mountpoint) => need("aws-mountpoint-s3-csi-driver", "weights.source is mountpoint"),
        Some(WeightSource::S3Stream | WeightSource::Image) | None => {}
    }
    for name in spec.cluster.addons.keys() {
        need(name, "cluster.addons names it");
    }
    needed
}

/// True for a class with accelerators: scarce, dear, and so kept in one zone and started from 0.
pub fn is_accelerated(class: &NodeClass, catalog: &Catalog) -> bool {
    class.instance_types.iter().any(|name| match catalog.instance_type(name) {
        Some(known) => known.accelerator.is_some(),
        // A type newer than the catalogue still names its quota family.
        None => matches!(
            catalog.vcpu_quota(name, Purchase::OnDemand),
            VcpuQuota::Of(quota) if quota.family.as_deref().is_some_and(|f| ACCELERATED_FAMILIES.contains(&f))
        ),
    })
}

/// As the names of the vCPU quotas spell them.
const ACCELERATED_FAMILIES: &[&str] = &["P", "G and VT", "Inf", "Trn", "DL"];
