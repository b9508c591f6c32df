//! A stack as it is once parsed, defaulted and checked. Must never hold a value that depends on live state.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One document of a stack file, every offline default filled in; `None` means "read from what lives, else chosen".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    pub name: String,
    pub region: String,
    /// Guard: any other account is refused.
    pub account: Option<String>,
    pub expires: Expires,
    pub protect: bool,
    pub tags: BTreeMap<String, String>,
    pub cost_allocation: CostAllocation,
    pub budget: Option<Budget>,
    pub network: Network,
    pub cluster: Cluster,
    pub iam: Iam,
    pub placement_groups: Vec<PlacementGroup>,
    pub node_classes: Vec<NodeClass>,
    pub weights: Option<Weights>,
    pub serving: Option<Serving>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Expires {
    /// Seconds from the first `up`.
    After(u64),
    /// RFC 3339.
    At(String),
    Never,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CostAllocation {
    pub activate: Vec<String>,
    /// 0–12.
    pub backfill_months: u8,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    pub max_hourly_usd: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Network {
    Made { cidr: ipnet::Ipv4Net, zones: Option<Vec<String>>, nat_gateways: NatGateways },
    Brought { vpc: String, nodes: Vec<String>, control_plane: Vec<String>, load_balancers: Vec<String> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NatGateways {
    One,
    PerZone,
    /// One regional NAT gateway (EC2 `AvailabilityMode=regional`), which follows the zones by itself.
    Regional,
    None,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// `1.35`; `None`: the live cluster's, else the newest that the pinned charts admit.
    pub version: Option<String>,
    pub support_type: SupportType,
    pub endpoint: Endpoint,
    pub logs: Vec<LogType>,
    pub access: Vec<Access>,
    pub addons: BTreeMap<String, AddonSpec>,
    /// KMS key ARN.
    pub secrets_key: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SupportType {
    Standard,
    Extended,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    pub public: bool,
    pub private: bool,
    /// CIDR blocks, or the word `caller`.
    pub public_cidrs: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LogType {
    Api,
    Audit,
    Authenticator,
    ControllerManager,
    Scheduler,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Access {
    pub principal: String,
    pub policy: AccessPolicy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AccessPolicy {
    Admin,
    Edit,
    View,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddonSpec {
    pub version: Option<String>,
    /// EKS `configurationValues`, as a document.
    pub configuration: Option<serde_json::Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Iam {
    pub permissions_boundary: Option<String>,
    /// IAM path with both slashes, like `/platform/`; ours follows it.
    pub path: Option<String>,
    /// ARNs of roles brought along.
    pub cluster_role: Option<String>,
    pub node_role: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlacementGroup {
    pub name: String,
    pub strategy: PlacementStrategy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlacementStrategy {
    Cluster,
    /// 1–7 partitions.
    Partition {
        partitions: u8,
    },
    Spread,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeClass {
    pub name: String,
    pub provisioner: Provisioner,
    pub instance_types: Vec<String>,
    pub capacity: Capacity,
    /// Zone id; `None`: chosen.
    pub zone: Option<String>,
    pub placement_group: Option<String>,
    pub efa: Efa,
    pub nodes: Nodes,
    pub volume: Volume,
    pub local_storage: LocalStorage,
    pub ami: Ami,
    pub labels: BTreeMap<String, String>,
    pub taints: Vec<Taint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Provisioner {
    Managed,
    Karpenter,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Capacity {
    OnDemand,
    Spot,
    /// `cr-…`
    Reservation(String),
    /// `cr-…`
    CapacityBlock(String),
}

/// EFA interfaces a node. The parser turns an absent key into `All` where the type has EFA, else `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Efa {
    All,
    None,
    Count(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Nodes {
    pub min: u32,
    /// Where it starts; any live size in `min..=max` is right afterwards.
    pub desired: u32,
    pub max: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Volume {
    /// GiB.
    pub size: u32,
    pub r#type: VolumeType,
    pub iops: Option<u32>,
    /// MiB/s.
    pub throughput: Option<u32>,
    /// KMS key ARN.
    pub kms_key: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VolumeType {
    Gp3,
    Gp2,
    Io1,
    Io2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LocalStorage {
    Raid0,
    None,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ami {
    pub family: AmiFamily,
    /// EKS AMI release, `1.35.2-20261120`; `None`: the live group's, else the newest.
    pub release: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AmiFamily {
    Al2023,
    Bottlerocket,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Taint {
    pub key: String,
    pub value: Option<String>,
    pub effect: TaintEffect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TaintEffect {
    NoSchedule,
    PreferNoSchedule,
    NoExecute,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Weights {
    pub source: WeightSource,
    /// `None` only with source `image`.
    pub bucket: Option<Bucket>,
    /// Present exactly with source `fsx`.
    pub fsx: Option<Fsx>,
    pub populate: Option<Populate>,
    pub on_destroy: OnDestroy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WeightSource {
    S3Stream,
    Fsx,
    Mountpoint,
    Image,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bucket {
    /// `None`: made for the stack, named from stack, account and region.
    pub name: Option<String>,
    pub create: bool,
    /// Empty, or ends in `/`.
    pub prefix: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fsx {
    /// GiB.
    pub capacity: u32,
    /// MB/s per TiB: 125, 250, 500 or 1000.
    pub throughput: u32,
    pub efa: bool,
    pub auto_import: Vec<AutoImport>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AutoImport {
    New,
    Changed,
    Deleted,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Populate {
    /// `hf:org/model` or `s3://bucket/prefix`.
    pub from: String,
    pub revision: Option<String>,
    pub token_secret: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnDestroy {
    Keep,
    Delete,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Serving {
    pub model: Model,
    /// `None`: as the model is published.
    pub precision: Option<Precision>,
    pub kv_cache: KvCache,
    /// Tokens; the parser fills in the smaller of 8192 and the model's.
    pub max_model_len: u32,
    pub node_class: String,
    pub engine: Engine,
    pub gpu_memory_utilization: f64,
    pub parallelism: Parallelism,
    pub replicas: Replicas,
    pub autoscaling: Option<Autoscaling>,
    pub routing: Routing,
    pub ingress: Option<Ingress>,
    pub monitoring: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Model {
    /// A name of the catalogue, `meta-llama/Llama-3.1-70B-Instruct`.
    Named(String),
    /// A Hugging Face `config.json`: its path as written, and its text as read when the file was parsed.
    Config { path: String, text: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    Fp16,
    Bf16,
    Fp8,
    Int4,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KvCache {
    Auto,
    Fp8,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Engine {
    /// `None`: the default image for the accelerator.
    pub image: Option<String>,
    pub ofi_nccl: bool,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub secret_refs: Vec<String>,
    pub image_pull_secrets: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Parallelism {
    Auto,
    Fixed { tensor: u32, pipeline: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replicas {
    pub min: u32,
    pub max: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Autoscaling {
    pub waiting_requests: u32,
    /// Seconds.
    pub scale_down_after: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Routing {
    InferenceExtension,
    Service,
    None,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ingress {
    pub hostname: String,
    /// ACM certificate ARN.
    pub certificate: Option<String>,
    /// Seconds.
    pub idle_timeout: u64,
    pub scheme: IngressScheme,
    pub allowed_cidrs: Vec<String>,
    pub api_key_secret: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IngressScheme {
    Internal,
    InternetFacing,
}
