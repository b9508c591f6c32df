//! From a cloud to a [`Snapshot`]: every kind once, in parallel. Must never decide anything, and must remember what it could not see.

mod snapshot;

pub use snapshot::{Live, Sight, Snapshot};
