//! The memory budget of one replica, and the split that the article's rule gives. Must never call a replica fitting that
//! has no room for one sequence of the greatest length.

use super::{
    memory::{
        BLOCK_TOKENS, concurrency, kv_budget, overhead_bytes, overhead_fraction, sequence_bytes, sequences,
        tokens_held, whole_blocks,
    },
    parallel::{MOST_STAGES, Parallelism, Refusal, check, tensor_sizes},
};
use crate::catalog::{AcceleratorKind, Attention, InstanceType, IntraNodeLink, ModelShape, Precision};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is to be served.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    pub shape: &'a ModelShape,
    /// Of the weights; `None`: as published.
    pub precision: Option<Precision>,
    /// Of the cache. vLLM's `auto` is the model's own dtype, so 16 bits also for FP8 weights.
    pub kv: Precision,
    /// Tokens of the longest sequence.
    pub max_model_len: u32,
    /// `gpu-memory-utilization`, above 0, at most 1.
    pub utilization: f64,
    pub parallelism: Parallelism,
}

/// A node, as far as memory depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub devices: u32,
    pub bytes_each: u64,
    pub link: IntraNodeLink,
    pub kind: Option<AcceleratorKind>,
}

impl From<&InstanceType> for Node {
    fn from(instance_type: &InstanceType) -> Self {
        let accelerator = instance_type.accelerator.as_ref();
        Self {
            devices: instance_type.devices(),
            bytes_each: accelerator.map_or(0, |a| a.bytes_each()),
            link: instance_type.intra_node_link,
            kind: accelerator.map(|a| a.kind),
        }
    }
}

/// What one replica takes and holds. All bytes are of the whole replica, over all its devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    pub tensor: u32,
    pub pipeline: u32,
    /// 1 without pipeline stages: replicas may then share a node.
    pub nodes_per_replica: u32,
    /// Replicas that one node holds; 0 where a replica takes several nodes.
    pub replicas_per_node: u32,
    pub precision: Precision,
    /// Of the devices the replica has.
    pub memory_bytes: u64,
    pub weights_bytes: u64,
    pub overhead_bytes: u64,
    pub overhead_fraction: f64,
    /// What is left for the cache; 0 where the weights are too large.
    pub kv_budget_bytes: u64,
    /// Of a token while no window has filled, copies on several ranks included.
    pub kv_bytes_per_token: u64,
    /// Of a sequence of the greatest length.
    pub sequence_bytes: u64,
    /// Tokens that the cache holds in sequences of the greatest length, in whole blocks.
    pub kv_tokens: u64,
    /// Whole sequences of the greatest length at a time.
    pub sequences: u64,
    /// The same with its fraction, as vLLM's log states it.
    pub max_concurrency: f64,
    pub verdict: Verdict,
    pub notes: Vec<Note>,
}

impl Budget {
    pub fn fits(&self) -> bool {
        self.verdict == Verdict::Fits
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    Fits,
    /// Weights, overhead and one sequence of the greatest length need so many bytes more, over the whole replica.
    TooLarge {
        missing_bytes: u64,
    },
    Refused(Refusal),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Fits => f.write_str("fits"),
            Verdict::TooLarge { missing_bytes } => write!(f, "{} too large", gigabytes(*missing_bytes)),
            Verdict::Refused(why) => why.fmt(f),
        }
    }
}

/// Decimal, as the article and the screens write sizes: whole from 10 GB on, else with one digit.
pub fn gigabytes(bytes: u64) -> String {
    let gb = bytes as f64 / 1e9;
    if gb >= 9.95 { format!("{gb:.0} GB") } else { format!("{gb:.1} GB") }
}

/// What is worth knowing of a budget that may well fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Note {
    /// The node's devices have no direct links.
    TensorOverPcie {
        tensor: u32,
    },
    /// How the devices are linked is not known.
    LinkUnknown,
    /// More ranks than KV heads: each head is held so many times.
    KvReplicated {
        times: u32,
        kv_heads: u32,
    },
    /// Every rank holds the whole latent: more tensor parallelism does not save cache.
    LatentReplicated {
        ranks: u32,
    },
    SlidingWindow {
        window: u32,
        local_layers: u32,
    },
    /// Layers don't divide into the stages: the heaviest stage sets the bound.
    UnevenStages {
        most: u32,
        layers: u32,
        pipeline: u32,
    },
    /// Room for a few sequences only: the model runs, but hardly serves.
    FewSequences {
        sequences: u64,
    },
    /// Devices of each node that no replica takes.
    IdleDevices {
        idle: u32,
        devices: u32,
    },
    /// Neuron's engine counts cores, not devices.
    NeuronCores,
    /// The weights are published in fewer bits than asked for: nothing is gained by more.
    WiderThanPublished {
        asked: Precision,
        published: Precision,
    },
}

/// Below it [`Note::FewSequences`] is said.
const FEW: u64 = 4;

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::TensorOverPcie { tensor } => {
                write!(f, "tensor {tensor} runs over PCIe here, noticeably slower than over NVLink")
            }
            Note::LinkUnknown => f.write_str("how the accelerators of this type are linked is not known"),
            Note::KvReplicated { times, kv_heads } => {
                write!(f, "the model has {kv_heads} KV heads: each is held {times} times")
            }
            Note::LatentReplicated { ranks } => {
                write!(f, "each of the {ranks} tensor-parallel ranks holds the whole latent cache")
            }
            Note::SlidingWindow { window, local_layers } => {
                write!(f, "{local_layers} layers keep the last {window} tokens only")
            }
            Note::UnevenStages { most, layers, pipeline } => {
                write!(f, "{layers} layers in {pipeline} stages: the heaviest has {most} and sets the bound")
            }
            Note::FewSequences { sequences } => {
                write!(
                    f,
                    "room for {sequences} sequence{} of the greatest length only",
                    if *sequences == 1 { "" } else { "s" }
                )
            }
            Note::IdleDevices { idle, devices } => write!(f, "{idle} of {devices} accelerators of each node stay idle"),
            Note::NeuronCores => f.write_str("counted in devices; Neuron's engine counts NeuronCores"),
            Note::WiderThanPublished { asked, published } => {
                write!(
                    f,
                    "{} takes more memory than the published {}, and adds nothing",
                    asked.name(),
                    published.name()
                )
            }
        }
    }
}

/// The budget of a replica on nodes of an instance type.
pub fn budget(ask: &Ask, instance_type: &InstanceType) -> Budget {
    budget_on(ask, &Node::from(instance_type))
}

/// The budget of a replica on nodes like `node`.
pub fn budget_on(ask: &Ask, node: &Node) -> Budget {
    match ask.parallelism {
        Parallelism::Fixed { tensor, pipeline } => measure(ask, node, tensor, pipeline),
        Parallelism::Auto => decide(ask, node),
    }
}

/// One device if a replica fits there, else as many of one node as divide the model, else whole nodes as stages. Where
/// nothing fits, the budget of one node says what is missing.
fn decide(ask: &Ask, node: &Node) -> Budget {
    let single = measure(ask, node, 1, 1);
    if single.fits() || node.devices == 0 {
        return single;
    }
    let tensor = tensor_sizes(ask.shape, node.devices).last().copied().unwrap_or(1);
    let one_node = measure(ask, node, tensor, 1);
    if one_node.fits() {
        return one_node;
    }
    let stages = 2..=MOST_STAGES.min(ask.shape.layers);
    stages.map(|pipeline| measure(ask, node, tensor, pipeline)).find(Budget::fits).unwrap_or(one_node)
}

fn measure(ask: &Ask, node: &Node, tensor: u32, pipeline: u32) -> Budget {
    let shape = ask.shape;
    let precision = ask.precision.unwrap_or(shape.published);
    let length = u64::from(ask.max_model_len.max(1));
    let devices = u64::from(tensor) * u64::from(pipeline);
    let memory = node.bytes_each.saturating_mul(devices);
    let fraction = overhead_fraction(ask.utilization);
    let overhead = overhead_bytes(memory, fraction);
    let weights = precision.bytes_of(shape.params);
    let sequence = sequence_bytes(shape, ask.kv, length, tensor);
    let kv = kv_budget(memory, weights, overhead).unwrap_or(0);

    // Stages are equal but for a layer: the heaviest one has the least room and the most to hold.
    let stages = u64::from(pipeline.max(1));
    let most = u64::from(shape.layers).div_ceil(stages);
    let of_heaviest = |whole: u64| part(whole, most, u64::from(shape.layers));
    let stage_kv = kv_budget(memory / stages, of_heaviest(weights), overhead / stages);
    let stage_sequence = of_heaviest(sequence);
    let tokens = tokens_held(stage_kv.unwrap_or(0), stage_sequence, length);
    let kv_tokens = whole_blocks(tokens, BLOCK_TOKENS);
    let held = sequences(stage_kv.unwrap_or(0), stage_sequence);

    let verdict = match check(shape, node.devices, tensor, pipeline) {
        Err(refusal) => Verdict::Refused(refusal),
        Ok(()) if held > 0 => Verdict::Fits,
        Ok(()) => {
            let needed = of_heaviest(weights).saturating_add(stage_sequence).saturating_add(overhead / stages);
            let missing = needed.saturating_sub(memory / stages).saturating_mul(stages);
            Verdict::TooLarge { missing_bytes: missing }
        }
    };
    let mut budget = Budget {
        tensor,
        pipeline,
        nodes_per_replica: pipeline.max(1),
        replicas_per_node: if pipeline > 1 { 0 } else { node.devices.checked_div(tensor).unwrap_or(0) },
        precision,
        memory_bytes: memory,
        weights_bytes: weights,
        overhead_bytes: overhead,
        overhead_fraction: fraction,
        kv_budget_bytes: kv,
        kv_bytes_per_token: sequence_bytes(shape, ask.kv, 1, tensor),
        sequence_bytes: sequence,
        kv_tokens,
        sequences: held,
        max_concurrency: concurrency(kv_tokens, length),
        verdict,
        notes: vec![],
    };
    budget.notes = notes(ask, node, &budget, u32::try_from(most).unwrap_or(u32::MAX));
    budget
}

/// `whole × most / layers`, rounded up.
fn part(whole: u64, most: u64, layers: u64) -> u64 {
    let share = (u128::from(whole) * u128::from(most)).div_ceil(u128::from(layers.max(1)));
    u64::try_from(share).unwrap_or(u64::MAX)
}

fn notes(ask: &Ask, node: &Node, budget: &Budget, most: u32) -> Vec<Note> {
    if matches!(budget.verdict, Verdict::Refused(_)) {
        return vec![];
    }
    let (shape, tensor, pipeline) = (ask.shape, budget.tensor, budget.pipeline);
    let mut notes = vec![];
    if tensor > 1 && node.link == IntraNodeLink::Pcie {
        notes.push(Note::TensorOverPcie { tensor });
    }
    if tensor > 1 && node.link == IntraNodeLink::Unknown {
        notes.push(Note::LinkUnknown);
    }
    match shape.attention {
        Attention::Mla { .. } if tensor > 1 => notes.push(Note::LatentReplicated { ranks: tensor }),
        Attention::Mla { .. } => {}
        Attention::Full | Attention::Sliding { .. } if tensor > shape.kv_heads => {
            notes.push(Note::KvReplicated { times: tensor / shape.kv_heads.max(1), kv_heads: shape.kv_heads });
        }
        Attention::Full | Attention::Sliding { .. } => {}
    }
    if let Attention::Sliding { window, local_layers, .. } = shape.attention {
        notes.push(Note::SlidingWindow { window, local_layers });
    }
    if pipeline > 1 && !shape.layers.is_multiple_of(pipeline) {
        notes.push(Note::UnevenStages { most, layers: shape.layers, pipeline });
    }
    if budget.fits() && budget.sequences < FEW {
        notes.push(Note::FewSequences { sequences: budget.sequences });
    }
    let idle = node.devices.checked_rem(tensor).unwrap_or(0);
    if pipeline == 1 && idle > 0 {
        notes.push(Note::IdleDevices { idle, devices: node.devices });
    }
    if node.kind == Some(AcceleratorKind::Neuron) {
        notes.push(Note::NeuronCores);
    }
    if budget.precision.quarter_bits() > shape.published.quarter_bits() {
        notes.push(Note::WiderThanPublished { asked: budget.precision, published: shape.published });
    }
    notes
}
