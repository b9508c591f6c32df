//! Every address and every AWS name that a stack derives, in one place, so that layers can link to each other and every name
//! stays inside AWS's limits. Must never look anything up.

pub use crate::model::hash;
use crate::model::{Address, Identity};

/// `text`, or its head and a stable hash of the whole when it is longer than `limit` characters.
pub fn fit(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let head: String = text.chars().take(limit.saturating_sub(9)).collect();
    format!("{}-{}", head.trim_end_matches('-'), hash(text, 8))
}

macro_rules! addresses {
    ($($(#[$doc:meta])* $function:ident => $kind:literal . $name:literal;)*) => {
        $($(#[$doc])* pub fn $function() -> Address { Address::new($kind, $name) })*
    };
}

addresses! {
    vpc => "vpc"."main";
    internet_gateway => "internet-gateway"."main";
    /// Route table of the public subnets.
    public_routes => "route-table"."public";
    /// All-protocol rules to and from itself: EFA.
    efa_group => "security-group"."efa";
    /// 988 and 1018–1023 from the cluster's group and itself: Lustre.
    fsx_group => "security-group"."fsx";
    /// 443 from the VPC: interface endpoints.
    endpoint_group => "security-group"."endpoints";
    s3_endpoint => "vpc-endpoint"."s3";
    cluster_role => "role"."cluster";
    node_role => "role"."node";
    karpenter_role => "role"."karpenter";
    autoscaler_role => "role"."cluster-autoscaler";
    ebs_csi_role => "role"."ebs-csi";
    fsx_csi_role => "role"."fsx-csi";
    s3_csi_role => "role"."mountpoint-csi";
    load_balancer_role => "role"."load-balancer-controller";
    /// Reads the weights; bound to the service account of the serving pods.
    weights_role => "role"."weights";
    /// Only where Karpenter can't make one itself (`natGateways: none`).
    node_profile => "instance-profile"."node";
    /// Admits the nodes: EKS would make it with the first managed group, and nobody for Karpenter.
    node_entry => "access-entry"."nodes";
    log_group => "log-group"."cluster";
    cluster => "cluster"."main";
    interruption_queue => "queue"."interruption";
    weights_bucket => "bucket"."weights";
    file_system => "file-system"."weights";
    data_repository => "data-repository"."weights";
    cost_tags => "cost-tags"."account";
}

pub fn private_subnet(zone: &str) -> Address {
    Address::new("subnet", &format!("private-{zone}"))
}
pub fn public_subnet(zone: &str) -> Address {
    Address::new("subnet", &format!("public-{zone}"))
}
/// `which` is a zone, or `main` for the only one.
pub fn elastic_ip(which: &str) -> Address {
    Address::new("elastic-ip", which)
}
pub fn nat_gateway(which: &str) -> Address {
    Address::new("nat-gateway", which)
}
pub fn private_routes(zone: &str) -> Address {
    Address::new("route-table", &format!("private-{zone}"))
}
pub fn interface_endpoint(service: &str) -> Address {
    Address::new("vpc-endpoint", &service.replace('.', "-"))
}
pub fn addon(name: &str) -> Address {
    Address::new("addon", name)
}
/// The access entry of a principal (a user, or a role with its path) that the file names. Named by whom it admits, not by its
/// place in the list: a list that is sorted anew moves nobody.
pub fn access_entry(principal: &str) -> Address {
    Address::new("access-entry", &principal_name(principal))
}
/// The access entry of a principal that got it by running `up`. Kept apart from those of the file: the next one who runs `up`
/// adds a second and takes the first from nobody.
pub fn caller_entry(principal: &str) -> Address {
    Address::new("access-entry", &format!("{CALLER}{}", principal_name(principal)))
}
/// True for the address of a [`caller_entry`].
pub fn is_caller_entry(address: &Address) -> bool {
    address.kind() == "access-entry" && address.name().starts_with(CALLER)
}
const CALLER: &str = "caller-";
/// The last part of the ARN for people, and a hash of the whole.
fn principal_name(principal: &str) -> String {
    let name = principal.rsplit(['/', ':']).next().unwrap_or(principal);
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let kind = if principal.contains(":user/") { "user" } else { "role" };
    format!("{kind}-{}-{}", plain.trim_matches('-'), hash(principal, 8))
}
pub fn pod_identity(name: &str) -> Address {
    Address::new("pod-identity", name)
}
pub fn placement_group(name: &str) -> Address {
    Address::new("placement-group", name)
}
pub fn launch_template(class: &str) -> Address {
    Address::new("launch-template", class)
}
/// A class in one zone is `class`; a class spread over several has a group a zone, `class-zone`.
pub fn node_group(name: &str) -> Address {
    Address::new("node-group", name)
}
/// Karpenter's pool of a class.
pub fn node_pool(class: &str) -> Address {
    Address::new("node-pool", class)
}
pub fn scaling_tags(node_group: &str) -> Address {
    Address::new("scaling-tags", node_group)
}
pub fn event_rule(name: &str) -> Address {
    Address::new("event-rule", name)
}

/// Kubernetes namespace of the serving pods.
pub const SERVING_NAMESPACE: &str = "inference";
/// Their service account, which takes the role [`weights_role`].
pub const SERVING_ACCOUNT: &str = "vllm";

/// EKS: 1–100 characters; the cluster is named like the stack (at most 32).
pub fn cluster_name(identity: &Identity) -> String {
    identity.stack.clone()
}
/// IAM: 64 characters, global in the account, so it carries the region.
pub fn role_name(identity: &Identity, role: &str) -> String {
    fit(&format!("{}-{}-{role}", identity.stack, identity.region), 64)
}
/// `/infer-stack/<region>/<stack>/`, after the path the user asked for.
pub fn iam_path(identity: &Identity, before: Option<&str>) -> String {
    format!("{}infer-stack/{}/{}/", before.unwrap_or("/"), identity.region, identity.stack)
}
/// EC2: 255 characters, one namespace a region.
pub fn placement_group_name(identity: &Identity, group: &str) -> String {
    format!("{}-{group}", identity.stack)
}
/// EC2: 3–128 characters of `[a-zA-Z0-9().\-/_]`.
pub fn launch_template_name(identity: &Identity, class: &str) -> String {
    fit(&format!("{}-{class}", identity.stack), 128)
}
/// EKS: 63 characters.
pub fn node_group_name(name: &str) -> String {
    fit(name, 63)
}
/// EC2: 255 characters, unique in the VPC, must not start with `sg-`.
pub fn security_group_name(identity: &Identity, group: &str) -> String {
    format!("{}-{group}", identity.stack)
}
/// CloudWatch Logs; EKS dictates it.
pub fn log_group_name(identity: &Identity) -> String {
    format!("/aws/eks/{}/cluster", identity.stack)
}
/// SQS: 80 characters.
pub fn queue_name(identity: &Identity) -> String {
    fit(&format!("{}-interruption", identity.stack), 80)
}
/// EventBridge: 64 characters.
pub fn event_rule_name(identity: &Identity, rule: &str) -> String {
    fit(&format!("{}-{rule}", identity.stack), 64)
}
/// S3: 3–63 characters, one namespace for all accounts, so it carries account and region.
pub fn weights_bucket_name(identity: &Identity) -> String {
    fit(&format!("{}-weights-{}-{}", identity.stack, identity.account, identity.region), 63)
}
/// S3: the operations bucket, one an account and region.
pub fn operations_bucket_name(account: &str, region: &str) -> String {
    fit(&format!("infer-stack-{account}-{region}"), 63)
}
