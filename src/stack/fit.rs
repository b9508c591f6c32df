//! How a model lies on its node class, as sizing sees it. Must never size by itself.

use super::{KvCache, Model, NodeClass, Parallelism, Precision, Serving};
use crate::catalog::{self, Catalog, InstanceType, ModelShape};
use crate::sizing::{self, Ask, Budget};

/// What is known of a model; `None` for a name that the catalogue lacks, or a text that is no `config.json`.
pub fn shape_of(catalog: &Catalog, model: &Model) -> Option<ModelShape> {
    match model {
        Model::Named(name) => catalog.model(name).cloned(),
        Model::Config { path, text } => catalog::model_from_config(path, text).ok(),
    }
}

/// What the serving asks of its accelerators.
pub fn ask<'a>(serving: &Serving, shape: &'a ModelShape) -> Ask<'a> {
    Ask {
        shape,
        precision: serving.precision.map(precision),
        kv: match serving.kv_cache {
            // vLLM's `auto` is the model's own dtype, 16 bits also where the weights have fewer.
            KvCache::Auto => catalog::Precision::Bf16,
            KvCache::Fp8 => catalog::Precision::Fp8,
        },
        max_model_len: serving.max_model_len,
        utilization: serving.gpu_memory_utilization,
        parallelism: match serving.parallelism {
            Parallelism::Auto => sizing::Parallelism::Auto,
            Parallelism::Fixed { tensor, pipeline } => sizing::Parallelism::Fixed { tensor, pipeline },
        },
    }
}

fn precision(of: Precision) -> catalog::Precision {
    match of {
        Precision::Fp16 => catalog::Precision::Fp16,
        Precision::Bf16 => catalog::Precision::Bf16,
        Precision::Fp8 => catalog::Precision::Fp8,
        Precision::Int4 => catalog::Precision::Int4,
    }
}

/// The type of a class with the least memory on its accelerators: what fits it fits the others. `None` where the
/// catalogue lacks one of the types.
pub fn weakest(catalog: &Catalog, class: &NodeClass) -> Option<&'static InstanceType> {
    let known = class.instance_types.iter().map(|name| catalog.instance_type(name)).collect::<Option<Vec<_>>>()?;
    known.into_iter().min_by_key(|known| (known.accelerator_bytes(), known.devices(), known.name.as_str()))
}

/// The budget of one replica on the weakest type of its class; `None` where model or types are not known.
pub fn budget(catalog: &Catalog, serving: &Serving, class: &NodeClass) -> Option<Budget> {
    let shape = shape_of(catalog, &serving.model)?;
    Some(sizing::budget(&ask(serving, &shape), weakest(catalog, class)?))
}

/// Whole replicas that so many nodes hold.
pub fn replicas_held(budget: &Budget, nodes: u32) -> u32 {
    match budget.replicas_per_node {
        0 => nodes.checked_div(budget.nodes_per_replica).unwrap_or(0),
        each => nodes.saturating_mul(each),
    }
}

/// Nodes that so many replicas take.
pub fn nodes_taken(budget: &Budget, replicas: u32) -> u32 {
    match budget.replicas_per_node {
        0 => replicas.saturating_mul(budget.nodes_per_replica),
        each => replicas.div_ceil(each),
    }
}
