//! One test binary: each binary links the SDK again.

mod choose;
mod desired;
mod samples;
