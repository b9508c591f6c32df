//! The engine over whole stacks, in virtual time.

mod account;
mod branches;
mod crash;
mod journal;
mod lock;
mod look;
mod stopping;
mod waiter;
mod whole;
