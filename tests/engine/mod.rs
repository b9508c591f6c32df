//! The engine over whole stacks, in virtual time.

mod whole;
