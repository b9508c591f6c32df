//! Prices the demands of a graph: now, as it starts, at its smallest and largest. Must never count an unknown price as 0.

mod demands;
mod live;
mod price;
mod types;

pub use demands::{Taken, lived, pools, running, size, wished};
pub use live::hourly;
pub use price::price;
pub use types::{Cost, Item, Unpriced};
