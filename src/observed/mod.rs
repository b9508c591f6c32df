//! From a cloud to a [`Snapshot`]: every kind once, in parallel. Must never decide anything, and must remember what it could not see.

mod look;
mod snapshot;

pub use look::{live, look, misshapen, relook, wished_names};
pub use snapshot::{Live, Sight, Snapshot};
