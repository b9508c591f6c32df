//! Documents as people read them: one file a screen. Must never know what a document does not say.

mod changes;
mod money;
mod plan;
mod receipt;
mod size;
mod status;
mod up;

pub use plan::{blocked, findings, plan};
pub use receipt::receipt;
pub use size::size;
pub use status::status;
pub use up::up;
