//! Bytes of weights and of the KV cache. Must never round before the end.

use crate::catalog::{Attention, ModelShape, Precision};

/// The article's allowance for activations, communication buffers and CUDA graphs, as a part of all memory.
pub const OVERHEAD: f64 = 0.12;

/// Tokens of a cache block on GPUs (vLLM's `--block-size`); its CPU back end takes 128.
pub const BLOCK_TOKENS: u64 = 16;

/// Bytes that one token takes in the cache: keys and values, in every layer, for every KV head.
pub fn kv_bytes_per_token(layers: u32, kv_heads: u32, head_dim: u32, element: Precision) -> u64 {
    let values = [layers, kv_heads, head_dim].into_iter().map(u64::from).fold(2, u64::saturating_mul);
    element.bytes_of(values)
}

/// The same with multi-head latent attention: one latent and one rotary key a layer, whatever the heads.
pub fn mla_bytes_per_token(layers: u32, kv_lora_rank: u32, rope_head_dim: u32, element: Precision) -> u64 {
    let values = u64::from(layers).saturating_mul(u64::from(kv_lora_rank) + u64::from(rope_head_dim));
    element.bytes_of(values)
}

/// Bytes that a sequence of `tokens` takes in the cache over all ranks of a replica. Tensor parallelism beyond the KV
/// heads holds each head several times, and every tensor-parallel rank holds the whole latent of MLA.
pub fn sequence_bytes(shape: &ModelShape, element: Precision, tokens: u64, tensor: u32) -> u64 {
    let tensor = tensor.max(1);
    let of_layers = |layers| kv_bytes_per_token(layers, shape.kv_heads.max(tensor), shape.head_dim, element);
    match shape.attention {
        Attention::Full => of_layers(shape.layers).saturating_mul(tokens),
        Attention::Mla { kv_lora_rank, rope_head_dim } => {
            let one = mla_bytes_per_token(shape.layers, kv_lora_rank, rope_head_dim, element);
            one.saturating_mul(tokens).saturating_mul(u64::from(tensor))
        }
        Attention::Sliding { window, local_layers, global_layers } => {
            let local = of_layers(local_layers).saturating_mul(tokens.min(u64::from(window)));
            of_layers(global_layers).saturating_mul(tokens).saturating_add(local)
        }
    }
}

/// The part of memory that is neither weights nor cache: the article's allowance, or what the engine is told to leave
/// alone, whichever is larger.
pub fn overhead_fraction(utilization: f64) -> f64 {
    OVERHEAD.max(1.0 - utilization)
}

/// Bytes of overhead, rounded to the nearest.
pub fn overhead_bytes(memory: u64, fraction: f64) -> u64 {
    // Memory is far below 2^53 bytes, where f64 is exact.
    (memory as f64 * fraction).round().max(0.0) as u64
}

/// What is left for the cache; `None`: the weights alone are too large.
pub fn kv_budget(memory: u64, weights: u64, overhead: u64) -> Option<u64> {
    memory.checked_sub(overhead)?.checked_sub(weights)
}

/// Whole sequences that a budget holds.
pub fn sequences(kv_budget: u64, sequence_bytes: u64) -> u64 {
    kv_budget.checked_div(sequence_bytes).unwrap_or(0)
}

/// Tokens that a budget holds in sequences of `tokens` that take `sequence_bytes` each. Not `budget / bytes per token`:
/// with sliding windows the cost of a token falls with the length.
pub fn tokens_held(kv_budget: u64, sequence_bytes: u64, tokens: u64) -> u64 {
    let held = (u128::from(kv_budget) * u128::from(tokens)).checked_div(u128::from(sequence_bytes)).unwrap_or(0);
    u64::try_from(held).unwrap_or(u64::MAX)
}

/// The tokens of whole cache blocks.
pub fn whole_blocks(tokens: u64, block: u64) -> u64 {
    tokens - tokens.checked_rem(block).unwrap_or(0)
}

/// Sequences of the greatest length at a time, as vLLM's log states it (`42.66x`).
pub fn concurrency(kv_tokens: u64, max_model_len: u64) -> f64 {
    if max_model_len == 0 { 0.0 } else { kv_tokens as f64 / max_model_len as f64 }
}

/// Part of the cache that `running` requests fill, 0–1 and more.
pub fn kv_usage(running: u64, prompt: u64, output: u64, kv_tokens: u64) -> f64 {
    if kv_tokens == 0 { 1.0 } else { running as f64 * (prompt as f64 + output as f64) / kv_tokens as f64 }
}
