//! The registry of resource kinds: one file and one line a kind. Must never hold logic of a kind.

use crate::contract::AnyKind;
#[cfg(feature = "aws")]
use crate::{aws::Aws, contract::AnyLive};

/// `module::Kind,` registers a kind's pure half; `module::Kind live,` its live half over AWS too.
macro_rules! kinds {
    ($($module:ident :: $kind:ident $($live:ident)?),* $(,)?) => {
        $(pub mod $module;)*
        /// Every kind, in the order of the registry.
        pub static KINDS: &[&dyn AnyKind] = &[$(&$module::$kind),*];
        /// What each of them does with AWS.
        #[cfg(feature = "aws")]
        pub static LIVE: &[&dyn AnyLive<Aws>] = &[$($(registered!($live $module::$kind),)?)*];
    };
}

#[cfg(feature = "aws")]
macro_rules! registered {
    (live $kind:path) => {
        &$kind
    };
}

kinds! {
    vpc::Vpc live,
    subnet::Subnet live,
    internet_gateway::InternetGateway live,
    elastic_ip::ElasticIp live,
    nat_gateway::NatGateway live,
    route_table::RouteTable live,
    security_group::SecurityGroup live,
    vpc_endpoint::VpcEndpoint live,
    network_interface::NetworkInterface live,
    load_balancer::LoadBalancer live,
    target_group::TargetGroup live,
    role::Role live,
    instance_profile::InstanceProfile,
    log_group::LogGroup,
    cluster::Cluster,
    access_entry::AccessEntry,
    addon::Addon,
    pod_identity::PodIdentity,
    queue::Queue,
    event_rule::EventRule,
    placement_group::PlacementGroup live,
    launch_template::LaunchTemplate live,
    node_group::NodeGroup live,
    scaling_tags::ScalingTags live,
    instance::Instance live,
    volume::Volume live,
    bucket::Bucket,
    file_system::FileSystem,
    data_repository::DataRepository,
    snapshot::Snapshot live,
    cost_tags::CostTags,
}

/// The kind of that name.
pub fn kind(name: &str) -> Option<&'static dyn AnyKind> {
    KINDS.iter().copied().find(|kind| kind.name() == name)
}

/// What the kind of that name does with AWS.
#[cfg(feature = "aws")]
pub fn live(name: &str) -> Option<&'static dyn AnyLive<Aws>> {
    LIVE.iter().copied().find(|kind| kind.name() == name)
}
