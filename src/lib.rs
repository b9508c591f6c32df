#![forbid(unsafe_code)]
//! infer-stack

pub mod apply;
#[cfg(feature = "aws")]
pub mod aws;
pub mod catalog;
pub mod choose;
pub mod cli;
pub mod clock;
pub mod cloud;
pub mod contract;
pub mod cost;
pub mod desired;
pub mod model;
pub mod observed;
pub mod plan;
pub mod preflight;
pub mod report;
pub mod resources;
pub mod sandbox;
pub mod sizing;
pub mod stack;
pub mod teardown;
