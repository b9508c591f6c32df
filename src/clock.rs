//! What time it is: a wall time at a starting point, moved by the runtime's clock, so that simulated time reaches every
//! timestamp. Must never be asked by a room that decides.

use jiff::Timestamp;
use std::time::Duration;
use tokio::time::Instant;

/// Copies share one time. In a runtime whose clock is paused this clock stands still too, and moves with it.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    base: Timestamp,
    started: Instant,
}

impl Clock {
    /// A clock that shows `base` now.
    #[expect(clippy::disallowed_methods, reason = "the one home of the runtime's clock")]
    pub fn starting_at(base: Timestamp) -> Self {
        Self { base, started: Instant::now() }
    }

    /// This machine's wall time.
    #[expect(clippy::disallowed_methods, reason = "the one home of the wall clock")]
    pub fn system() -> Self {
        let now = Timestamp::try_from(std::time::SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH);
        Self::starting_at(now)
    }

    /// Since this clock was made.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn now(&self) -> Timestamp {
        let elapsed = jiff::SignedDuration::try_from(self.elapsed()).unwrap_or(jiff::SignedDuration::MAX);
        self.base.saturating_add(elapsed).unwrap_or(Timestamp::MAX)
    }

    /// RFC 3339, in UTC, to the second.
    pub fn text(&self) -> String {
        rfc3339(self.now())
    }
}

/// RFC 3339, in UTC, to the second: `2026-12-01T14:03:22Z`.
pub fn rfc3339(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}

/// The one sleep: everything that waits goes through here, so that a law can forbid it elsewhere.
#[expect(clippy::disallowed_methods, reason = "the one home of sleeping")]
pub async fn pause(duration: Duration) {
    tokio::time::sleep(duration).await;
}
