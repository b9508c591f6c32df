//! One test binary: each binary links the SDK again.

mod desired;
