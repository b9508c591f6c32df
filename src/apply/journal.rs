//! What a run says before it does it: one JSON line a call, flushed first. Must never be read for a decision.

use crate::{
    clock::Clock,
    cloud::{Expect, Store, StoreError},
    contract::CloudError,
    model::Address,
};
use serde::Serialize;
use std::sync::{Mutex, PoisonError};

/// Where lines go. `append` returns once the line would survive the end of the process.
pub trait Journal: Send + Sync {
    fn append(&self, line: &str) -> std::io::Result<()>;
}

#[derive(Debug, thiserror::Error)]
#[error("the journal can't be written, so the call was not made: {0}")]
pub struct JournalError(#[from] std::io::Error);

/// One line. Documents and tags are left out: they may hold what nobody should keep.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Line<'a> {
    /// The call is made next.
    Call {
        address: &'a Address,
        call: &'static str,
        id: Option<&'a str>,
        token: Option<&'a str>,
        changed: &'a [String],
        attempt: u32,
    },
    Answer {
        address: &'a Address,
        call: &'static str,
        id: Option<&'a str>,
        error: Option<&'a CloudError>,
    },
    /// The run ended while this was on its way.
    InFlight {
        address: &'a Address,
        id: Option<&'a str>,
    },
}

#[derive(Serialize)]
struct Stamped<'a> {
    at: String,
    run: &'a str,
    #[serde(flatten)]
    line: Line<'a>,
}

/// The journal of one run, with the text that its copies are made from.
pub struct Log<'a> {
    journal: &'a dyn Journal,
    clock: Clock,
    run: String,
    text: Mutex<String>,
}

impl<'a> Log<'a> {
    pub fn new(journal: &'a dyn Journal, run: &str, clock: Clock) -> Self {
        Self { journal, clock, run: run.to_owned(), text: Mutex::default() }
    }

    /// Written and flushed when this returns.
    pub fn say(&self, line: Line<'_>) -> Result<(), JournalError> {
        let stamped = Stamped { at: self.clock.text(), run: &self.run, line };
        let line = serde_json::to_string(&stamped).map_err(std::io::Error::from)?;
        self.journal.append(&line)?;
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        text.push_str(&line);
        text.push('\n');
        Ok(())
    }

    /// Everything said so far.
    pub fn text(&self) -> String {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts a copy of everything said so far into the store.
    pub async fn copy(&self, store: &dyn Store, key: &str) -> Result<(), StoreError> {
        let text = self.text();
        if !text.is_empty() {
            store.put(key, text.into_bytes(), Expect::Anything).await?;
        }
        Ok(())
    }
}

/// Forgets: for runs that leave no trace on disk, like those of the tests.
pub struct NoJournal;

impl Journal for NoJournal {
    fn append(&self, _line: &str) -> std::io::Result<()> {
        Ok(())
    }
}
