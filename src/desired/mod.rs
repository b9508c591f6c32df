//! From a Spec and Choices to the graph of wishes: one file a layer. Must never look at live state.

mod assemble;
pub mod cluster;
mod configuration;
pub mod costs;
mod graph;
pub mod identity;
pub mod network;
pub mod nodes;
mod policies;
pub mod storage;
mod user_data;

pub use crate::stack::names;
pub use assemble::{DesiredError, desired};
pub use graph::{DesiredGraph, Wish};
