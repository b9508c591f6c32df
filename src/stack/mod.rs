//! From a file to a [`Spec`]: parse, place, default, refuse. Must never ask a cloud.
//!
//! A text becomes a tree with places, the tree is checked against the table of shapes (which is also the JSON Schema),
//! checked fields become a spec with every default filled in, and rules judge the whole. Every step goes on after an
//! error, so that all of them are said at once; what was refused is remembered, so that nothing is said about what
//! stands in for it.

pub mod carve;
mod check;
mod diagnostic;
mod environment;
mod explain;
pub mod fit;
pub mod names;
mod parse;
mod read;
mod rules;
mod scalar;
mod schema;
mod shape;
mod spec;
mod suggest;
mod syntax;
mod tree;
mod value;

pub use diagnostic::{Diagnostic, Diagnostics, Place, Severity, render};
pub use explain::explain;
pub use parse::{Parsed, parse, text};
pub use schema::{schema, schema_text};
pub use spec::*;
pub use value::Places;
