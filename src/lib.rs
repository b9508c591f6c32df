#![forbid(unsafe_code)]
//! infer-stack

pub mod cloud;
pub mod contract;
pub mod model;
pub mod stack;
