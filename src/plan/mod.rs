//! From a graph of wishes and a snapshot to a [`Plan`] in which nothing is left to choose. Destroy is the same function with
//! an empty graph. Must never call a cloud or read a clock.

mod types;

pub use types::{Action, FieldChange, Plan, Step, Summary, Task, TaskId, Verb};
