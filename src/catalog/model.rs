//! The shape of a language model, as far as memory and parallelism depend on it. Must never hold weights or a path.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelShape {
    /// Name on the Hugging Face hub, or what the reader of a `config.json` calls it.
    pub id: String,
    pub layers: u32,
    pub hidden: u32,
    /// Query heads: what tensor parallelism divides.
    pub heads: u32,
    /// Key and value heads: what the cache holds.
    pub kv_heads: u32,
    /// Not always `hidden / heads` (Qwen3, Gemma 3, gpt-oss).
    pub head_dim: u32,
    pub attention: Attention,
    pub params: u64,
    /// Parameters that one token passes through; equal to `params` without experts.
    pub active_params: u64,
    /// Tokens.
    pub max_context: u32,
    /// As the weights are published.
    pub published: Precision,
    pub moe: Option<Moe>,
    /// The hub asks for an accepted licence and a token; `None`: not known.
    pub gated: Option<bool>,
    pub notes: Vec<String>,
}

/// What a layer keeps of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Attention {
    /// Keys and values of every token in every layer: multi-head where `kv_heads == heads`, else grouped-query.
    Full,
    /// Multi-head latent attention: one latent a layer, held by every tensor-parallel rank.
    Mla { kv_lora_rank: u32, rope_head_dim: u32 },
    /// Local layers keep the last `window` tokens, global ones all.
    Sliding { window: u32, local_layers: u32, global_layers: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Moe {
    pub experts: u32,
    pub top_k: u32,
    pub expert_intermediate: u32,
}

/// How a weight, or an element of the KV cache, is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    Fp32,
    Fp16,
    Bf16,
    Fp8,
    /// INT8 as well as FP8 take one byte; kept apart because the engine's flags differ.
    Int8,
    /// AWQ, GPTQ: a floor, scales and unquantised layers come on top.
    Int4,
    /// Blocks of 32 four-bit values with a shared eight-bit scale.
    Mxfp4,
}

impl Precision {
    /// Bits of one value, block scales included.
    pub fn quarter_bits(self) -> u64 {
        match self {
            Precision::Fp32 => 128,
            Precision::Fp16 | Precision::Bf16 => 64,
            Precision::Fp8 | Precision::Int8 => 32,
            Precision::Int4 => 16,
            Precision::Mxfp4 => 17,
        }
    }

    /// Bytes that `values` take, rounded up.
    pub fn bytes_of(self, values: u64) -> u64 {
        let quarter_bits = u128::from(values) * u128::from(self.quarter_bits());
        u64::try_from(quarter_bits.div_ceil(32)).unwrap_or(u64::MAX)
    }

    pub fn name(self) -> &'static str {
        match self {
            Precision::Fp32 => "fp32",
            Precision::Fp16 => "fp16",
            Precision::Bf16 => "bf16",
            Precision::Fp8 => "fp8",
            Precision::Int8 => "int8",
            Precision::Int4 => "int4",
            Precision::Mxfp4 => "mxfp4",
        }
    }
}
