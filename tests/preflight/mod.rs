//! Each check passes, warns, blocks, and admits when it could not look.

mod capacity;
pub mod case;
mod gathering;
mod network;
mod quota;
mod rest;
