//! A tiny simulated account behind the port: ids, links, durations, quotas, visibility lag, failure by script, all in the
//! runtime's time. Must never know what the program wants of it.

mod account;
mod births;
mod brought;
mod facts;
mod faults;
mod mutations;
mod nodes;
mod scenario;
mod store;
mod world;

pub use account::{Made, Memory, MemoryError};
pub use brought::Brought;
pub use faults::{Crash, Fault};
pub use scenario::{BUILT_IN, Latency, Leaves, Pool, Scenario, ScenarioError};
pub use world::{File, Moment, Object, Trouble, World};
