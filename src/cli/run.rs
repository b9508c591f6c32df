//! One run of a plan: lock, journal, progress, Ctrl-C. `up` and `destroy` are the same here. Must never plan.

use crate::{
    apply::{
        Copy, Event, IN_FLIGHT, JournalFile, Lease, LockError, Log, Surroundings, acquire, guarded, journal_key,
        lock_key, stop,
    },
    catalog::Catalog,
    cli::{Exit, Failure, app::App, connect::Session, host},
    model::Identity,
    plan::Plan,
    report::{Course, Progress},
    resources::KINDS,
};
use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

/// Signals after which the process leaves at once.
const AT_ONCE: u8 = 3;

/// The lock of a stack, held.
pub struct Held<'a> {
    pub lease: Lease<'a>,
}

/// Takes the lock, or says who has it.
pub async fn lock<'a>(session: &'a Session, identity: &Identity, run: &str, who: &str) -> Result<Held<'a>, Failure> {
    let me = host::holder(run, who.to_owned());
    let lease = acquire(session.cloud.store(), &lock_key(identity), &me, &host::is_alive, session.clock)
        .await
        .map_err(|error| refused(&error, identity))?;
    Ok(Held { lease })
}

impl Held<'_> {
    pub async fn release(self, identity: &Identity) -> Result<(), Failure> {
        self.lease.release().await.map_err(|error| refused(&error, identity))
    }
}

fn refused(error: &LockError, identity: &Identity) -> Failure {
    match error {
        LockError::Held(_) | LockError::Lost(_) => Failure::new(
            Exit::Locked,
            format!("{} is being worked on: {error}", identity.stack),
        )
        .hint("go on", "the same command once that run is over; a holder that died is taken over after its lease"),
        LockError::Unreadable { .. } => Failure::new(Exit::Locked, error.to_string())
            .hint("go on", "the same command a minute later: a lock that nobody renews runs out"),
        LockError::Cloud(error) => super::survey::unreachable(error),
    }
}

/// What a run is told of its surroundings.
pub struct Ground<'a> {
    pub app: &'a App,
    pub session: &'a Session,
    pub identity: &'a Identity,
    pub catalog: &'a Catalog,
    /// Id of the run.
    pub run: &'a str,
    pub course: Course,
    pub column: usize,
}

/// Does `work` (apply, or destroy with its sweep) under the lock. Gives what came of it, and whether somebody pressed Ctrl-C.
pub async fn carry_out<T>(
    ground: Ground<'_>,
    held: &Held<'_>,
    work: impl AsyncFnOnce(Surroundings<'_>) -> T,
) -> Result<(T, bool), Failure> {
    let Ground { app, session, identity, catalog, run, course, column } = ground;
    let path = PathBuf::from(format!(".infer-stack/journals/{}/{run}.jsonl", identity.stack));
    let journal = JournalFile::open(&path).map_err(|error| {
        let why = format!("the journal {} can't be opened, so nothing was started: {error}", path.display());
        Failure::new(Exit::Failed, why).hint("go on", "run it from a folder that you may write to")
    })?;
    let log = Log::new(&journal, run, session.clock);
    let progress = Mutex::new(Progress::new(app.terminal, app.ndjson(), course, column));
    let tell = |event: Event| progress.lock().unwrap_or_else(PoisonError::into_inner).event(&event);
    let (handle, stopped) = stop();
    let presses = handle.clone();
    let listener = tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() {
            if presses.press() >= AT_ONCE {
                std::process::exit(i32::from(Exit::Interrupted.code()));
            }
        }
    });
    let around = Surroundings {
        cloud: &*session.cloud,
        kinds: KINDS,
        catalog,
        clock: session.clock,
        log: &log,
        tell: &tell,
        stop: &stopped,
        in_flight: IN_FLIGHT,
    };
    let copy = Copy { log: &log, store: session.cloud.store(), key: &journal_key(identity, run) };
    let done = guarded(work(around), &held.lease, copy, &handle, &tell, session.clock).await;
    listener.abort();
    let interrupted = stopped.level() > 0;
    let told = progress.into_inner().unwrap_or_else(PoisonError::into_inner).end();
    told.map_err(|error| Failure::new(Exit::Failed, format!("progress can't be shown: {error}")))?;
    Ok((done, interrupted))
}

/// Width of the longest address of a plan, for columns.
pub fn column(plan: &Plan) -> usize {
    plan.tasks.iter().map(|task| task.address.as_str().len()).max().unwrap_or(0).min(44)
}
