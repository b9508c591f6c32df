//! What a model takes of accelerators: weights, cache, parallelism, and what that costs. Pure arithmetic. Must never ask
//! which engine flags say so.
//!
//! Bytes are bytes and a GPU's MiB are binary: eight H100 hold 687 GB, not the 640 that their name suggests. The article's
//! own, rounder table is in [`seed`]. An estimate: the engine's start-up log is the truth, and since vLLM 0.21 CUDA graphs
//! count against `gpu-memory-utilization` as well.

mod budget;
mod class;
mod economy;
mod memory;
mod parallel;
pub mod seed;

pub use budget::{Ask, Budget, Node, Note, Verdict, budget, budget_on, gigabytes};
pub use class::nearest_fitting_class;
pub use economy::{
    group_matches, idle_multiplier, load_seconds, nodes_for_devices, usd_per_million_tokens, vcpus_needed,
};
pub use memory::{
    BLOCK_TOKENS, OVERHEAD, concurrency, kv_budget, kv_bytes_per_token, kv_usage, mla_bytes_per_token, overhead_bytes,
    overhead_fraction, sequence_bytes, sequences, tokens_held, whole_blocks,
};
pub use parallel::{MOST_STAGES, Parallelism, Refusal, check, tensor_sizes};
