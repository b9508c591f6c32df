//! From a file to a [`Spec`]: parse, place, default, refuse. Must never ask a cloud.

pub mod carve;
pub mod names;
mod spec;

pub use spec::*;
