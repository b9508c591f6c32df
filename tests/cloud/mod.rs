//! The port's own decorators.

mod cached;
