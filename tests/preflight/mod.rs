//! Each check passes, warns, blocks, and admits when it could not look.

mod capacity;
pub mod case;
mod network;
mod quota;
mod rest;
