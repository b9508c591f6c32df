//! What calls are made for, as the task that makes them knows it. Must never reach a request.

use std::future::Future;

/// The columns of [`crate::cloud::Calls`] that calls to AWS are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    State,
    Facts,
    Change,
}

tokio::task_local! {
    static PURPOSE: Purpose;
}

impl Purpose {
    /// Runs `work` with this purpose: every call it makes in its own task is counted under it.
    pub async fn of<T>(self, work: impl Future<Output = T>) -> T {
        PURPOSE.scope(self, work).await
    }

    pub fn current() -> Option<Self> {
        PURPOSE.try_with(|purpose| *purpose).ok()
    }
}
