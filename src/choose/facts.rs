//! What to ask the account before choosing and judging, as one list that can be asked at once. Must never hold a question
//! whose answer nobody reads.

use crate::{
    catalog::{Catalog, VcpuQuota},
    choose::{Circumstances, needed_addons, versions},
    cloud::Fact,
    contract::Purchase,
    observed::Snapshot,
    stack::{Capacity, Network, NodeClass, Spec, names},
};
use std::collections::BTreeSet;

/// Every question, each once. Versions of add-ons and AMIs hang on the Kubernetes version: the file's, else the live one,
/// else what a new cluster gets by what the catalogue knows. So the list may grow once its answers are in: ask what it then
/// names more.
pub fn facts_needed(spec: &Spec, snapshot: &Snapshot, catalog: &Catalog, circumstances: &Circumstances) -> Vec<Fact> {
    let mut facts = vec![Fact::Caller, Fact::Zones, Fact::Running, Fact::Counts, Fact::ClusterVersions];
    if spec.cluster.endpoint.public && spec.cluster.endpoint.public_cidrs.iter().any(|cidr| cidr == "caller") {
        facts.push(Fact::CallerAddress);
    }
    let types: BTreeSet<_> = spec.node_classes.iter().flat_map(|class| class.instance_types.iter().cloned()).collect();
    if !types.is_empty() {
        facts.push(Fact::Offerings { instance_types: types.into_iter().collect() });
    }
    let reservations = spec.node_classes.iter().filter_map(|class| match &class.capacity {
        Capacity::Reservation(id) | Capacity::CapacityBlock(id) => Some(id.clone()),
        Capacity::OnDemand | Capacity::Spot => None,
    });
    // One by one: EC2 refuses the whole list for one id that does not exist.
    facts.extend(unique(reservations).into_iter().map(|id| Fact::Reservations { ids: vec![id] }));
    if let Network::Brought { nodes, control_plane, load_balancers, .. } = &spec.network {
        let ids = unique(nodes.iter().chain(control_plane).chain(load_balancers).cloned());
        facts.extend(ids.into_iter().map(|id| Fact::Subnets { ids: vec![id] }));
    }
    let codes = quota_codes(spec, catalog);
    if !codes.is_empty() {
        facts.push(Fact::Quotas { codes });
    }
    let cluster_version = version_to_come(spec, snapshot, catalog, circumstances);
    let addons = needed_addons(spec, catalog).into_keys().collect();
    facts.push(Fact::AddonVersions { cluster_version: cluster_version.clone(), addons });
    let ami_types = spec.node_classes.iter().filter_map(|class| versions::ami_type(class, catalog).ok());
    let ami_types = unique(ami_types.map(|choice| choice.value));
    if !ami_types.is_empty() {
        facts.push(Fact::AmiReleases { cluster_version, ami_types });
    }
    if let Some(bucket) = spec.weights.as_ref().and_then(|weights| weights.bucket.as_ref()) {
        let derived = || names::weights_bucket_name(&snapshot.scope.identity);
        facts.push(Fact::Bucket { name: bucket.name.clone().unwrap_or_else(derived) });
    }
    facts
}

fn unique(items: impl Iterator<Item = String>) -> Vec<String> {
    items.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The version that [`crate::choose::choose`] will come to, by what is known so far.
fn version_to_come(spec: &Spec, snapshot: &Snapshot, catalog: &Catalog, circumstances: &Circumstances) -> String {
    let cluster = names::cluster();
    let live = snapshot.at(&cluster).find_map(|live| live.look.outputs.get("version").cloned());
    let version = spec.cluster.version.clone().or(live);
    version.unwrap_or_else(|| versions::newest_version(spec, catalog, circumstances).0)
}

/// Codes with their services: the vCPU quotas that the classes draw on, and those of countable things.
fn quota_codes(spec: &Spec, catalog: &Catalog) -> Vec<(String, String)> {
    let vcpu = spec.node_classes.iter().flat_map(|class| {
        class.instance_types.iter().filter_map(|name| match catalog.vcpu_quota(name, purchase(class)) {
            VcpuQuota::Of(quota) => Some(quota),
            VcpuQuota::NotNeeded | VcpuQuota::Unknown => None,
        })
    });
    let counted = catalog.quotas().iter().filter(|quota| quota.counts.is_some());
    let codes = vcpu.chain(counted).filter_map(|quota| Some((quota.code.clone()?, quota.service.clone())));
    codes.collect::<BTreeSet<_>>().into_iter().collect()
}

/// How a class's instances are paid for.
pub fn purchase(class: &NodeClass) -> Purchase {
    match class.capacity {
        Capacity::OnDemand => Purchase::OnDemand,
        Capacity::Spot => Purchase::Spot,
        Capacity::Reservation(_) => Purchase::Reservation,
        Capacity::CapacityBlock(_) => Purchase::CapacityBlock,
    }
}
