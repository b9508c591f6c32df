//! The engine over whole stacks, in virtual time.

mod account;
mod branches;
mod crash;
mod lock;
mod stopping;
mod waiter;
mod whole;
