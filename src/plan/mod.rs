//! From a graph of wishes and a snapshot to a [`Plan`] in which nothing is left to choose. Destroy is the same function with
//! an empty graph. Must never call a cloud or read a clock.

mod diff;
mod token;
mod types;

pub use diff::{Diff, LATER, SECRET, TAGS, diff};
pub use token::token;
pub use types::{Action, FieldChange, Options, Plan, Step, Summary, Task, TaskId, Verb};
