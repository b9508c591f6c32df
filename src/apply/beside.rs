//! What runs beside the work: the lease is renewed, the journal is copied. Must never fail the work: it is told to stop.

use super::{
    Event,
    journal::Log,
    lock::Lease,
    stop::{SETTLE, StopHandle},
};
use crate::{
    clock::{Clock, pause},
    cloud::Store,
};
use std::{convert::Infallible, time::Duration};

const COPY: Duration = Duration::from_secs(30);

/// Does the work while the lease is renewed and the journal copied every 30 s. When the lease is lost nothing new is
/// started. The last copy is made when the work is over.
pub async fn guarded<T>(
    work: impl Future<Output = T>,
    lease: &Lease<'_>,
    copy: Copy<'_>,
    stop: &StopHandle,
    tell: &(dyn Fn(Event) + Sync),
    clock: Clock,
) -> T {
    let done = tokio::select! {
        done = work => done,
        never = keeping(lease, stop, tell, clock) => match never {},
        never = copying(copy, tell, clock) => match never {},
    };
    copied(copy, tell, clock).await;
    done
}

async fn keeping(lease: &Lease<'_>, stop: &StopHandle, tell: &(dyn Fn(Event) + Sync), clock: Clock) -> Infallible {
    let why = lease.keep().await;
    tell(Event::LeaseLost { at: clock.text(), why: why.to_string() });
    stop.raise(SETTLE);
    std::future::pending().await
}

async fn copying(copy: Copy<'_>, tell: &(dyn Fn(Event) + Sync), clock: Clock) -> Infallible {
    loop {
        pause(COPY).await;
        copied(copy, tell, clock).await;
    }
}

/// A copy that fails is said and tried again with the next: the local journal has everything.
async fn copied(copy: Copy<'_>, tell: &(dyn Fn(Event) + Sync), clock: Clock) {
    if let Err(error) = copy.log.copy(copy.store, copy.key).await {
        tell(Event::JournalFailed { at: clock.text(), why: error.to_string() });
    }
}

/// Where the journal is copied to.
#[derive(Clone, Copy)]
pub struct Copy<'a> {
    pub log: &'a Log<'a>,
    pub store: &'a dyn Store,
    pub key: &'a str,
}
