//! One test binary: each binary links the SDK again.

#[cfg(feature = "aws")]
mod aws;
mod catalog;
mod choose;
mod cli;
mod cloud;
mod cost;
mod desired;
mod engine;
mod generated;
mod harness;
#[cfg(feature = "aws")]
mod judges;
mod laws;
mod preflight;
mod samples;
mod sandbox;
mod sizing;
mod stack;
mod teardown;
#[cfg(feature = "aws")]
mod wire;
