//! One run a stack at a time: a lease in the operations bucket, by conditional writes. Must never judge age by this
//! machine's clock, and must never be needed to decide what a plan does.

use crate::{
    clock::{Clock, pause, rfc3339},
    cloud::{Entry, Expect, Store, StoreError},
    contract::{CloudError, Residue},
    model::Identity,
};
use serde::{Deserialize, Serialize};
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// Seconds that a lease lasts without being renewed.
pub const LEASE: u64 = 60;
/// Seconds between renewals: two may fail before the lease runs out.
const RENEWAL: u64 = 20;

/// Whoever holds a lease or wants one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Id of the run.
    pub run: String,
    /// For people: `up as arn:aws:…`.
    pub who: String,
    pub host: String,
    /// Tells two lives of a host apart, so that a process id means something.
    pub boot_id: String,
    pub pid: u32,
}

/// The lock as it stands in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    #[serde(flatten)]
    pub holder: Holder,
    /// RFC 3339, by the holder's clock: for people only.
    pub since: String,
    pub lease_end: String,
    /// Moves with each renewal.
    pub renewals: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("{} on {} (process {}) has held the lock since {}", .0.holder.who, .0.holder.host, .0.holder.pid, .0.since)]
    Held(Box<Held>),
    #[error("the lock at `{key}` can't be read: {message}")]
    Unreadable { key: String, message: String },
    #[error("somebody else took the lock at `{0}`")]
    Lost(String),
    #[error(transparent)]
    Cloud(#[from] CloudError),
}

/// Where the lock of a stack is kept: the bucket is one an account and region.
pub fn lock_key(identity: &Identity) -> String {
    format!("{}/lock", identity.stack)
}

/// A lease that is held. Dropped without [`Lease::release`] it runs out by itself.
pub struct Lease<'a> {
    store: &'a dyn Store,
    key: String,
    clock: Clock,
    state: Mutex<(Held, String)>,
}

/// Whether the process with that id still runs on this host.
pub type IsAlive<'a> = &'a (dyn Fn(u32) -> bool + Sync);

/// Takes the lock: at once when it is free, when its lease ran out by the store's clock, or when its holder was a process of
/// this host that lives no longer. Else waits up to one lease, and fails if the holder renews it.
pub async fn acquire<'a>(
    store: &'a dyn Store,
    key: &str,
    me: &Holder,
    is_alive: IsAlive<'_>,
    clock: Clock,
) -> Result<Lease<'a>, LockError> {
    let mut first: Option<String> = None;
    let mut lost_answers = 0;
    loop {
        let entry = get(store, key).await?;
        let expect = match entry {
            None => Expect::Absent,
            // Nobody renews what nobody can read.
            Some(entry) if entry.age_seconds >= LEASE => Expect::Same(entry.etag),
            Some(entry) => {
                let held = read(key, &entry)?;
                if held.holder.run == me.run {
                    // Our own write, whose answer was lost.
                    return Ok(Lease::new(store, key, clock, held, entry.etag));
                }
                if !is_dead(&held.holder, me, is_alive) {
                    if first.as_ref().is_some_and(|first| *first != entry.etag) {
                        return Err(LockError::Held(Box::new(held)));
                    }
                    first = Some(entry.etag);
                    // Just after the next renewal is due, so that a holder who lives is noticed soon.
                    let wait = if entry.age_seconds < RENEWAL { RENEWAL } else { LEASE } - entry.age_seconds + 1;
                    pause(Duration::from_secs(wait)).await;
                    continue;
                }
                Expect::Same(entry.etag)
            }
        };
        let held = Held { holder: me.clone(), since: clock.text(), lease_end: lease_end(clock), renewals: 0 };
        match store.put(key, written(&held), expect).await {
            Ok(etag) => return Ok(Lease::new(store, key, clock, held, etag)),
            // Somebody was quicker: look who.
            Err(StoreError::Lost(_)) => {}
            Err(StoreError::Cloud(error)) if error.residue == Residue::MayExist && lost_answers < 3 => {
                lost_answers += 1
            }
            Err(StoreError::Cloud(error)) => return Err(error.into()),
        }
    }
}

/// The lock as it stands, for `unlock` and `plan`.
pub async fn held(store: &dyn Store, key: &str) -> Result<Option<Held>, LockError> {
    get(store, key).await?.map(|entry| read(key, &entry)).transpose()
}

/// Breaks the lock whose holder is known to be dead, unless it was renewed meanwhile.
pub async fn break_lock(store: &dyn Store, key: &str, known: &Held) -> Result<(), LockError> {
    let Some(entry) = get(store, key).await? else { return Ok(()) };
    if read(key, &entry)? != *known {
        return Err(LockError::Lost(key.to_owned()));
    }
    store.delete(key, Expect::Same(entry.etag)).await.map_err(of_store)
}

/// True for a holder on this host that lives no longer: another boot, or no such process.
pub fn is_dead(holder: &Holder, me: &Holder, is_alive: IsAlive<'_>) -> bool {
    holder.host == me.host && (holder.boot_id != me.boot_id || !is_alive(holder.pid))
}

impl<'a> Lease<'a> {
    fn new(store: &'a dyn Store, key: &str, clock: Clock, held: Held, etag: String) -> Self {
        Self { store, key: key.to_owned(), clock, state: Mutex::new((held, etag)) }
    }

    /// Renews until the lease is lost, and returns why. A renewal that fails is tried again while the lease lasts.
    pub async fn keep(&self) -> LockError {
        let mut renewed = self.clock.elapsed();
        loop {
            pause(Duration::from_secs(RENEWAL)).await;
            match self.renew().await {
                Ok(()) => renewed = self.clock.elapsed(),
                Err(LockError::Cloud(_)) if self.clock.elapsed() - renewed < Duration::from_secs(LEASE) => {}
                Err(error) => return error,
            }
        }
    }

    async fn renew(&self) -> Result<(), LockError> {
        let (mut held, etag) = self.state();
        held.lease_end = lease_end(self.clock);
        held.renewals += 1;
        let etag = match self.store.put(&self.key, written(&held), Expect::Same(etag)).await {
            Ok(etag) => etag,
            // Perhaps by a renewal of ours whose answer was lost.
            Err(StoreError::Lost(_)) => match get(self.store, &self.key).await? {
                Some(entry) if read(&self.key, &entry)?.holder == held.holder => entry.etag,
                _ => return Err(LockError::Lost(self.key.clone())),
            },
            Err(StoreError::Cloud(error)) => return Err(error.into()),
        };
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = (held, etag);
        Ok(())
    }

    fn state(&self) -> (Held, String) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives the lock back. One that somebody else has by now stays theirs.
    pub async fn release(self) -> Result<(), LockError> {
        let (held, etag) = self.state();
        match self.store.delete(&self.key, Expect::Same(etag)).await {
            Ok(()) => Ok(()),
            // Perhaps by a renewal of ours whose answer was lost.
            Err(StoreError::Lost(_)) => match get(self.store, &self.key).await? {
                Some(entry) if read(&self.key, &entry)?.holder == held.holder => {
                    self.store.delete(&self.key, Expect::Same(entry.etag)).await.map_err(of_store)
                }
                _ => Ok(()),
            },
            Err(error) => Err(of_store(error)),
        }
    }
}

fn lease_end(clock: Clock) -> String {
    let end = clock.now().saturating_add(jiff::SignedDuration::from_secs(LEASE as i64));
    rfc3339(end.unwrap_or(jiff::Timestamp::MAX))
}

fn written(held: &Held) -> Vec<u8> {
    serde_json::to_vec(held).expect("a lock is plain data with text keys")
}

fn read(key: &str, entry: &Entry) -> Result<Held, LockError> {
    serde_json::from_slice(&entry.body)
        .map_err(|e| LockError::Unreadable { key: key.to_owned(), message: e.to_string() })
}

async fn get(store: &dyn Store, key: &str) -> Result<Option<Entry>, LockError> {
    store.get(key).await.map_err(of_store)
}

fn of_store(error: StoreError) -> LockError {
    match error {
        StoreError::Lost(key) => LockError::Lost(key),
        StoreError::Cloud(error) => LockError::Cloud(error),
    }
}
