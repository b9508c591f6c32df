//! Prices the demands of a graph: now, as it starts, at its smallest and largest. Must never count an unknown price as 0.

mod types;

pub use types::{Cost, Item, Unpriced};
