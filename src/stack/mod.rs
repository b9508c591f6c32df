//! From a file to a [`Spec`]: parse, place, default, refuse. Must never ask a cloud.

mod spec;

pub use spec::*;
