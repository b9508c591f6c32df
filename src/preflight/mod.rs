//! Refuses before anything is made: gathers what the account says (async), then judges it (pure), one file a check. Must
//! never take "could not look" for a pass.

mod checks;
mod finding;
mod gather;
mod input;
mod words;

pub use checks::judge;
pub use finding::{Check, Finding, Verdict, worst};
pub use gather::{Inquiry, gather};
pub use input::Input;
