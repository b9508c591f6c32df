//! From a Spec and Choices to the graph of wishes: one file a layer. Must never look at live state.

mod graph;
pub mod names;

pub use graph::{DesiredGraph, Wish};
