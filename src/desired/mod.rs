//! From a Spec and Choices to the graph of wishes: one file a layer. Must never look at live state.

mod assemble;
pub mod cluster;
mod configuration;
mod graph;
pub mod identity;
pub mod network;
mod policies;

pub use crate::stack::names;
pub use assemble::{DesiredError, desired};
pub use graph::{DesiredGraph, Wish};
