//! The documents that commands print: stable keys, to which more may come. Human text is rendered from the same values, so
//! that no format knows more than another. Must never hold what a renderer could derive.

use crate::{
    apply::Outcome,
    choose::Offer,
    cloud::Calls,
    cost::Cost,
    plan::{Step, Summary},
    preflight::Finding,
    teardown::Receipt,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of every document's shape; a key that changes its meaning raises it.
pub const SCHEMA_VERSION: u32 = 1;

/// What every document begins with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Header {
    pub schema_version: u32,
    /// `plan`, `receipt`, `size`, …
    pub kind: String,
    pub stack: String,
    /// `null` where no account was asked.
    pub account: Option<String>,
    pub region: String,
    /// RFC 3339.
    pub started_at: String,
}

impl Header {
    pub fn new(kind: &str, stack: &str, account: Option<&str>, region: &str, started_at: &str) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            kind: kind.to_owned(),
            stack: stack.to_owned(),
            account: account.map(str::to_owned),
            region: region.to_owned(),
            started_at: started_at.to_owned(),
        }
    }
}

/// One line of `Choices`: what was left open, and why it is as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ChoiceLine {
    pub subject: String,
    pub value: String,
    pub because: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Estimate {
    pub seconds: u64,
    /// Addresses of the critical path, in order.
    pub longest: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ApiCalls {
    pub state: u64,
    pub facts: u64,
    pub kubernetes: u64,
}

/// `kind: plan`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PlanDocument {
    #[serde(flatten)]
    pub header: Header,
    /// ARN of whoever asks, where it is known.
    pub caller: Option<String>,
    /// RFC 3339, `never`, or what the file says of a stack that is not up yet.
    pub expires: String,
    pub choices: Vec<ChoiceLine>,
    /// Newer versions, releases and zones: never taken by themselves.
    pub offers: Vec<Offer>,
    /// Every object, also those that are kept.
    pub changes: Vec<Step>,
    pub summary: Summary,
    pub preflight: Vec<Finding>,
    pub cost: Cost,
    pub estimate: Estimate,
    pub api_calls: ApiCalls,
    /// What the reader should know besides: warnings of the file, layers that are not applied.
    pub notes: Vec<String>,
    /// Seconds that planning took.
    pub seconds: f64,
    /// True for the plan of a destruction.
    pub destroys: bool,
    /// The command that applies it.
    pub apply_with: String,
}

/// Every call that a run made, by purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCalls {
    pub state: u64,
    pub facts: u64,
    pub changes: u64,
    pub retries: u64,
    pub throttles: u64,
}

impl From<Calls> for RunCalls {
    fn from(calls: Calls) -> Self {
        Self {
            state: calls.state,
            facts: calls.facts,
            changes: calls.changes,
            retries: calls.retries,
            throttles: calls.throttles,
        }
    }
}

/// `kind: up`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpDocument {
    #[serde(flatten)]
    pub header: Header,
    /// Objects of the stack that live.
    pub resources: usize,
    /// True when a look after the run found everything as the file says.
    pub verified: bool,
    pub outcome: Outcome,
    /// What still differs, with why.
    pub open: Vec<String>,
    pub interrupted: bool,
    pub expires: String,
    pub hourly_usd: f64,
    pub calls: RunCalls,
    pub notes: Vec<String>,
    pub go_on: String,
    pub destroy_with: String,
}

/// `kind: receipt`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReceiptDocument {
    #[serde(flatten)]
    pub header: Header,
    #[serde(flatten)]
    pub receipt: Receipt,
    /// Objects that this run deleted; `null` where nothing was to be deleted.
    pub deleted: Option<usize>,
    pub seconds: Option<u64>,
    /// Deletions that failed, with why. The proof says what that left.
    pub failed: Vec<String>,
    /// The command that looks again.
    pub look_with: String,
    /// Where this document is kept, below the folder that it was written in.
    pub kept_as: Option<String>,
}

/// `kind: preflight`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PreflightDocument {
    #[serde(flatten)]
    pub header: Header,
    pub preflight: Vec<Finding>,
    pub api_calls: ApiCalls,
}

/// `kind: size`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeDocument {
    #[serde(flatten)]
    pub header: Header,
    pub model: String,
    pub instance_type: String,
    pub precision: String,
    pub max_model_len: u32,
    /// Of the accelerators that one replica has. All bytes are of one replica.
    pub memory_bytes: u64,
    pub weights_bytes: u64,
    pub kv_bytes_per_token: u64,
    pub overhead_bytes: u64,
    pub overhead_fraction: f64,
    pub kv_budget_bytes: u64,
    pub kv_tokens: u64,
    /// Sequences of `max_model_len` at a time, as vLLM's log states it; `sequences` is the whole ones.
    pub max_concurrency: f64,
    pub sequences: u64,
    pub tensor_parallel: u32,
    pub pipeline_parallel: u32,
    pub nodes_per_replica: u32,
    /// 0 where a replica takes several nodes.
    pub replicas_per_node: u32,
    /// `fits`, or why not.
    pub verdict: String,
    pub fits: bool,
    pub notes: Vec<String>,
    /// Instance type on whose single node it does fit, where this one does not.
    pub nearest_fitting: Option<String>,
    /// Least seconds that a node takes to read its weights over its IP network; `null` where its speed is not known.
    pub weight_load_seconds: Option<f64>,
    /// On demand; `null` where no price is known.
    pub replica_hourly_usd: Option<f64>,
    /// At the measured rate that was given.
    pub usd_per_million_tokens: Option<f64>,
    pub seed_table: Option<SeedColumn>,
}

/// The article's table, with the article's roundings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeedColumn {
    pub total_gb: f64,
    pub weights_gb: f64,
    pub overhead_gb: f64,
    pub kv_gb: f64,
    pub gb_per_conversation: f64,
    pub conversations: u64,
}

impl From<crate::sizing::seed::Column> for SeedColumn {
    fn from(column: crate::sizing::seed::Column) -> Self {
        Self {
            total_gb: column.total_gb,
            weights_gb: column.weights_gb,
            overhead_gb: column.overhead_gb,
            kv_gb: column.kv_gb,
            gb_per_conversation: column.gb_per_conversation,
            conversations: column.conversations,
        }
    }
}

/// One thing that lives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusResource {
    /// `null` for what AWS or a controller made inside the stack.
    pub address: Option<String>,
    pub what: String,
    pub id: String,
    /// `ready`, or what it waits for or suffers from.
    pub state: String,
    /// `null` where no price is known.
    pub hourly_usd: Option<f64>,
}

/// `kind: status`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusDocument {
    #[serde(flatten)]
    pub header: Header,
    /// RFC 3339 or `never`; `null` where no anchor lives.
    pub expires: Option<String>,
    /// Seconds; negative once expired.
    pub seconds_left: Option<i64>,
    pub nodes: u32,
    /// The same by instance type.
    pub node_types: BTreeMap<String, u32>,
    pub accelerators: u32,
    pub hourly_usd: f64,
    pub resources: Vec<StatusResource>,
    /// Kinds that could not be looked at, with why.
    pub not_looked: Vec<(String, String)>,
    pub api_calls: ApiCalls,
}
