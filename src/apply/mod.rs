//! Carries out a plan: concurrent engine, one waiter, retry rules, journal, lock. Must never choose: the plan has.

mod event;

pub use event::Event;
