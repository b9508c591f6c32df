#![forbid(unsafe_code)]
#![warn(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)]
//! One stack file for distributed LLM inference on AWS: plan against live state, apply, tear down with proof.
//!
//! # The guided tour
//!
//! A stack file becomes a [`stack::Spec`]. [`observed::look`] sees what lives ([`observed::Snapshot`]) and
//! [`preflight::gather`] what the account says ([`catalog::Catalog`]). Then one pure chain decides:
//!
//! ```text
//! choose(spec, snapshot, catalog) -> choices    what the file leaves open, each with its reason
//! desired(spec, choices)          -> wishes     every object, linked by address
//! plan(wishes, snapshot)          -> plan       a verdict for every object, and the tasks
//! ```
//!
//! [`preflight::judge`] refuses what would fail, [`cost::price`] says what it costs, [`apply::apply`] carries it out, and
//! [`teardown::verify`] proves that nothing is left. [`report`] tells people; [`cli`] strings it together.
//!
//! # Glossary
//!
//! - *kind*: a sort of resource ([`contract::Kind`]); *wish*: one of them that should exist ([`desired::Wish`]).
//! - *address*: where an object stands in a stack, `subnet.private-usw2-az2` ([`model::Address`]).
//! - *projection*: a live object in the words of a wish, so that the two can be compared.
//! - *drift*: a difference that nobody wrote into the file. *Offer*: something newer, never taken by itself.
//! - *anchor*: what carries the expiry (the VPC, the cluster). *Byproduct*: what AWS or a controller made inside the stack.
//! - *receipt*: the proof of two looks that nothing remains.
//!
//! `docs/architecture.md` has the map of rooms and the rules between them.

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
