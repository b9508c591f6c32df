//! Carries out a plan: concurrent engine, one waiter, retry rules, journal, lock. Must never choose: the plan has.
//!
//! [`apply`] is the whole of it. What runs beside (lease, copies of the journal) is [`guarded`]; how it is told to stop is
//! [`stop()`]. Nothing prints: everything that happens is an [`Event`].

mod beside;
mod engine;
mod event;
mod journal;
mod journal_file;
mod lock;
mod retry;
mod run;
mod step;
mod stop;
mod waiter;

pub use beside::{Copy, guarded};
pub use engine::apply;
pub use event::Event;
pub use journal::{Journal, JournalError, Line, Log, NoJournal};
pub use journal_file::JournalFile;
pub use lock::{Held, Holder, IsAlive, LEASE, Lease, LockError, acquire, break_lock, held, is_dead, lock_key};
pub use retry::{Call, Retry, retry};
pub use run::{Done, Failed, Failure, IN_FLIGHT, InFlight, Outcome, Skipped, Surroundings};
pub use stop::{LEAVE, SETTLE, Stop, StopHandle, stop};
pub use waiter::{Goal, History, Seen, Wait, settled};

use crate::model::Identity;

/// Where the copy of a run's journal is kept.
pub fn journal_key(identity: &Identity, run: &str) -> String {
    format!("{}/journals/{run}.jsonl", identity.stack)
}
