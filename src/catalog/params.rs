//! Counts a transformer's parameters from its architecture. Must never be taken for the size of files: quantised ones hold
//! scales as well.

/// A decoder of equal layers, but for the first ones where experts say so.
pub struct Layers {
    pub layers: u32,
    pub hidden: u32,
    pub vocab: u32,
    /// Output shares the embedding's matrix.
    pub tied: bool,
    /// Normalisations of width `hidden` a layer.
    pub norms: u32,
    /// Of the layers without experts.
    pub intermediate: u32,
    pub attention: Projections,
    pub experts: Option<Experts>,
}

pub enum Projections {
    Heads {
        heads: u32,
        kv_heads: u32,
        head_dim: u32,
        qkv_bias: bool,
        output_bias: bool,
        qk_norm: bool,
        sinks: bool,
    },
    /// Multi-head latent attention (DeepSeek).
    Latent {
        heads: u32,
        q_lora_rank: Option<u32>,
        kv_lora_rank: u32,
        nope: u32,
        rope: u32,
        value: u32,
    },
}

#[derive(Clone, Debug)]
pub struct Experts {
    pub experts: u32,
    pub top_k: u32,
    pub intermediate: u32,
    /// Width of the expert that every token passes; 0 without.
    pub shared_intermediate: u32,
    /// A gate of width `hidden` before the shared expert (Qwen2-MoE).
    pub shared_gate: bool,
    /// Layers with a plain feed-forward network instead.
    pub dense_layers: u32,
    /// Experts have biases (gpt-oss).
    pub biased: bool,
    pub router_bias: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    pub total: u64,
    /// What one token passes through, embeddings included.
    pub active: u64,
}

/// Sums saturate: a nonsensical config gives a size that nothing holds, not an overflow.
pub fn count(model: &Layers) -> Count {
    let hidden = u128::from(model.hidden);
    let embeddings = u128::from(model.vocab) * hidden * if model.tied { 1 } else { 2 };
    let attention = projections(&model.attention, hidden) + hidden * u128::from(model.norms);
    let gated = |width: u32| 3 * hidden * u128::from(width);
    let (mut total, mut active) = (embeddings + hidden, embeddings + hidden);
    let (dense_layers, sparse_layers) = match &model.experts {
        Some(experts) => {
            let dense = experts.dense_layers.min(model.layers);
            (dense, model.layers - dense)
        }
        None => (model.layers, 0),
    };
    let dense = u128::from(dense_layers) * (attention + gated(model.intermediate));
    total += dense;
    active += dense;
    if let Some(experts) = &model.experts {
        let n = u128::from(experts.experts);
        let bias = if experts.biased { 2 * u128::from(experts.intermediate) + hidden } else { 0 };
        let one = gated(experts.intermediate) + bias;
        let mut common = attention + hidden * n + gated(experts.shared_intermediate);
        common += if experts.router_bias { n } else { 0 };
        common += if experts.shared_gate { hidden } else { 0 };
        total += u128::from(sparse_layers) * (common + n * one);
        active += u128::from(sparse_layers) * (common + u128::from(experts.top_k) * one);
    }
    let fit = |n: u128| u64::try_from(n).unwrap_or(u64::MAX);
    Count { total: fit(total), active: fit(active) }
}

fn projections(attention: &Projections, hidden: u128) -> u128 {
    match *attention {
        Projections::Heads { heads, kv_heads, head_dim, qkv_bias, output_bias, qk_norm, sinks } => {
            let (q, kv) = (u128::from(heads) * u128::from(head_dim), u128::from(kv_heads) * u128::from(head_dim));
            let mut n = 2 * hidden * (q + kv);
            n += if qkv_bias { q + 2 * kv } else { 0 };
            n += if output_bias { hidden } else { 0 };
            n += if qk_norm { 2 * u128::from(head_dim) } else { 0 };
            n + if sinks { u128::from(heads) } else { 0 }
        }
        Projections::Latent { heads, q_lora_rank, kv_lora_rank, nope, rope, value } => {
            let [heads, kv, nope, rope, value] = [heads, kv_lora_rank, nope, rope, value].map(u128::from);
            let query = heads * (nope + rope);
            let q = match q_lora_rank.map(u128::from) {
                Some(rank) => hidden * rank + rank + rank * query,
                None => hidden * query,
            };
            q + hidden * (kv + rope) + kv + kv * heads * (nope + value) + heads * value * hidden
        }
    }
}
