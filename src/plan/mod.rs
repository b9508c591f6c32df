//! From a graph of wishes and a snapshot to a [`Plan`] in which nothing is left to choose. Destroy is the same function with
//! an empty graph. Must never call a cloud or read a clock.
//!
//! `world` indexes what lives, `wishes` what is wished; `ownership` pairs them, `diff` compares a pair, `cascade` turns the
//! difference into a verdict and carries replacements on, `fixed` says what may not be deleted, `removal` judges what no wish
//! stands for, `order` makes tasks, `explain` finds the words.

mod cascade;
mod diff;
mod duration;
mod explain;
mod fixed;
mod order;
mod ownership;
mod planner;
mod removal;
mod token;
mod types;
mod wishes;
mod world;

pub use cascade::tags_of;
pub use diff::{Diff, LATER, SECRET, diff};
pub use duration::duration;
pub use order::critical_path;
pub use planner::{plan, plan_over};
pub use token::token;
pub use types::{Action, FieldChange, Options, Plan, Step, Summary, Task, TaskId, Verb};
