//! AWS at the desk: an emulator that speaks AWS's wire protocols and behaves as AWS does, so that a rehearsal runs the very
//! code that production runs. Must never be known to anything that plans, applies or tears down.

mod endpoint;
mod faults;
#[cfg(feature = "aws")]
pub mod serve;
pub mod wire;
pub mod world;

pub use endpoint::{Heard, Reply, Sandbox, Wire, is_change};
pub use faults::{Arrival, Crash, Script, Trouble, Word};
