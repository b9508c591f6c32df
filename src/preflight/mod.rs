//! Refuses before anything is made: gathers what the account says (async), then judges it (pure), one file a check. Must
//! never take "could not look" for a pass.

mod finding;

pub use finding::{Check, Finding, Verdict, worst};
