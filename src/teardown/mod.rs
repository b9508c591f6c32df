//! The end of a stack: the plan's deletions, the sweep of what nobody planned, and the proof. Must never call an error
//! absence, and never say `absent` after one look.

mod destroy;
mod finder;
mod leftovers;
mod receipt;
mod sweep;
mod verify;

pub use destroy::{Destroyed, destroy};
pub use finder::{CLUSTER_TAG, Finder, NAME, STACK_TAG, VPC, is_ours};
pub use leftovers::finders;
pub use receipt::{Check, Kept, Receipt, Remaining, Status, receipt_key};
pub use sweep::Swept;
pub use verify::{Inquest, PAUSE, verify};
