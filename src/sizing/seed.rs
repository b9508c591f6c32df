//! The article's capacity table, with the article's own roundings (`--seed-rounding`). Must never be used for a verdict.

use super::memory::{OVERHEAD, sequence_bytes};
use crate::catalog::{InstanceType, ModelShape, Precision};

/// Tokens of the article's conversation.
pub const CONVERSATION: u64 = 8000;

/// One column of the table, in decimal GB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    pub total_gb: f64,
    pub weights_gb: f64,
    pub overhead_gb: f64,
    pub kv_gb: f64,
    pub gb_per_conversation: f64,
    /// Whole ones.
    pub conversations: u64,
}

/// What is left of given sizes, in GB; 0 conversations where nothing is.
pub fn column(total_gb: f64, weights_gb: f64, overhead_gb: f64, gb_per_conversation: f64) -> Column {
    let kv_gb = total_gb - weights_gb - overhead_gb;
    let conversations =
        if gb_per_conversation > 0.0 { (kv_gb / gb_per_conversation).floor().max(0.0) as u64 } else { 0 };
    Column { total_gb, weights_gb, overhead_gb, kv_gb, gb_per_conversation, conversations }
}

/// The table's column for a model on one node, rounded as the article rounds: a GPU's GiB are called GB, parameters are
/// whole billions, overhead is 12 % down to a multiple of 5, and a conversation's GiB go to the nearest half and are called
/// GB. The cache has 16 bits in every column. `None` without accelerators.
pub fn table(shape: &ModelShape, precision: Precision, instance_type: &InstanceType) -> Option<Column> {
    let gib = |bytes: u64| bytes as f64 / (1u64 << 30) as f64;
    instance_type.accelerator.as_ref()?;
    let total = gib(instance_type.accelerator_bytes());
    let billions = shape.params / 1_000_000_000;
    let weights = precision.bytes_of(billions * 1_000_000_000) as f64 / 1e9;
    let overhead = (total * OVERHEAD / 5.0).floor() * 5.0;
    let conversation = (gib(sequence_bytes(shape, Precision::Fp16, CONVERSATION, 1)) * 2.0).round() / 2.0;
    Some(column(total, weights, overhead, conversation))
}
