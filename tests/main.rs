//! One test binary: each binary links the SDK again.

mod catalog;
mod choose;
mod desired;
mod samples;
mod sizing;
mod stack;
