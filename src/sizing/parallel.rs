//! Which splits of a model over accelerators exist. Must never spread tensor parallelism over nodes: its collectives run
//! after every layer.

use crate::catalog::{Attention, ModelShape};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parallelism {
    /// The article's rule: one device, else one node, else pipeline stages of whole nodes.
    Auto,
    Fixed {
        tensor: u32,
        pipeline: u32,
    },
}

/// Pipeline stages that [`Parallelism::Auto`] goes up to: with more, bubbles and the odds of losing a node make a larger
/// instance the better answer. A file may ask for more.
pub const MOST_STAGES: u32 = 8;

/// A split that can't be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
pub enum Refusal {
    #[error("the instance type has no accelerators")]
    NoAccelerators,
    #[error("parallel sizes start at 1")]
    Zero,
    #[error("tensor parallel size {tensor} does not divide the model's {heads} attention heads; sizes that do: {}", list(.valid))]
    Heads { tensor: u32, heads: u32, valid: Vec<u32> },
    #[error(
        "tensor parallel size {tensor} neither divides the model's {kv_heads} KV heads nor is a multiple of them; \
         sizes that work: {}", list(.valid)
    )]
    KvHeads { tensor: u32, kv_heads: u32, valid: Vec<u32> },
    #[error(
        "tensor parallel size {tensor} would leave the node, which has {devices}: inside a node the links are fast, \
             across nodes use pipeline stages"
    )]
    BeyondNode { tensor: u32, devices: u32 },
    #[error(
        "with pipeline stages each stage takes a whole node: tensor parallel size {tensor}, but the node has {devices}"
    )]
    PartOfNode { tensor: u32, devices: u32 },
    #[error("{pipeline} pipeline stages for {layers} layers")]
    MoreStagesThanLayers { pipeline: u32, layers: u32 },
}

fn list(sizes: &[u32]) -> String {
    sizes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// Tensor parallel sizes up to `most` that a model can be split into, ascending: they divide the attention heads, and the
/// KV heads are split or replicated evenly.
pub fn tensor_sizes(shape: &ModelShape, most: u32) -> Vec<u32> {
    (1..=most.min(shape.heads)).filter(|&tensor| divides(shape, tensor)).collect()
}

fn divides(shape: &ModelShape, tensor: u32) -> bool {
    shape.heads.is_multiple_of(tensor) && kv_even(shape, tensor)
}

fn kv_even(shape: &ModelShape, tensor: u32) -> bool {
    // The latent of MLA is not split at all.
    matches!(shape.attention, Attention::Mla { .. })
        || shape.kv_heads.is_multiple_of(tensor)
        || tensor.is_multiple_of(shape.kv_heads)
}

/// Says why a model can't be split so over nodes of `devices` accelerators.
pub fn check(shape: &ModelShape, devices: u32, tensor: u32, pipeline: u32) -> Result<(), Refusal> {
    if devices == 0 {
        return Err(Refusal::NoAccelerators);
    }
    if tensor == 0 || pipeline == 0 {
        return Err(Refusal::Zero);
    }
    if tensor > devices {
        return Err(Refusal::BeyondNode { tensor, devices });
    }
    if !shape.heads.is_multiple_of(tensor) {
        return Err(Refusal::Heads { tensor, heads: shape.heads, valid: tensor_sizes(shape, devices) });
    }
    if !kv_even(shape, tensor) {
        return Err(Refusal::KvHeads { tensor, kv_heads: shape.kv_heads, valid: tensor_sizes(shape, devices) });
    }
    if pipeline > 1 && tensor != devices {
        return Err(Refusal::PartOfNode { tensor, devices });
    }
    if pipeline > shape.layers {
        return Err(Refusal::MoreStagesThanLayers { pipeline, layers: shape.layers });
    }
    Ok(())
}
