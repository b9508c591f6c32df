//! From a Spec and Choices to the graph of wishes: one file a layer. Must never look at live state.

mod graph;
pub mod network;

pub use crate::stack::names;
pub use graph::{DesiredGraph, Wish};
