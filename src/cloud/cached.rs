//! A cloud whose slow-moving facts are remembered on disk for a while. Must never keep what a decision needs fresh, and must
//! never fail because of a file.

use super::{Answer, Calls, Cloud, Fact, Store};
use crate::{
    clock::{Clock, rfc3339},
    contract::{AnyKind, CloudError},
    model::{Doc, PhysicalId, Scope, Stamp, hash},
};
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// How long an answer holds; `None`: it is asked each time. What is counted, who asks and what is free changes with every
/// run; a quota changes when somebody raises it and comes to see whether it helped.
pub fn lifetime(fact: &Fact) -> Option<Duration> {
    let seconds = match fact {
        Fact::Zones => 7 * DAY,
        Fact::Offerings { .. } | Fact::ClusterVersions | Fact::AddonVersions { .. } => DAY,
        Fact::AmiReleases { .. } => 6 * HOUR,
        Fact::Quotas { .. } => 15 * MINUTE,
        Fact::Caller
        | Fact::CallerAddress
        | Fact::Running
        | Fact::Counts
        | Fact::Reservations { .. }
        | Fact::Subnets { .. }
        | Fact::Bucket { .. } => return None,
    };
    Some(Duration::from_secs(seconds))
}

/// Where answers are kept: under `XDG_CACHE_HOME` where it is set to an absolute path, else under `~/.cache`. `None`: this
/// machine says neither.
pub fn cache_directory(xdg_cache_home: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
    let xdg = xdg_cache_home.filter(|path| path.is_absolute()).map(Path::to_path_buf);
    let root = xdg.or_else(|| Some(home?.join(".cache")))?;
    Some(root.join("infer-stack"))
}

/// The cache of one account and region in front of a cloud.
pub struct Cached {
    cloud: Arc<dyn Cloud>,
    directory: PathBuf,
    account: String,
    region: String,
    clock: Clock,
    refresh: bool,
    heard: Mutex<Heard>,
}

#[derive(Default)]
struct Heard {
    notes: Vec<String>,
    ages: Vec<(Fact, Duration)>,
}

/// An answer as it is kept.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    format: u32,
    account: String,
    region: String,
    fact: Fact,
    asked: Timestamp,
    answer: Answer,
}

const FORMAT: u32 = 1;

impl Cached {
    /// `root` as [`cache_directory`] gives it.
    pub fn new(cloud: Arc<dyn Cloud>, root: &Path, account: &str, region: &str, clock: Clock) -> Self {
        Self {
            cloud,
            directory: root.join(account).join(region),
            account: account.to_owned(),
            region: region.to_owned(),
            clock,
            refresh: false,
            heard: Mutex::default(),
        }
    }

    /// Asks everything again, and keeps the new answers.
    pub fn refreshing(self) -> Self {
        Self { refresh: true, ..self }
    }

    /// What went wrong with files, for the reader of a run.
    pub fn notes(&self) -> Vec<String> {
        self.heard().notes.clone()
    }

    /// Answers that came from the cache, with their ages.
    pub fn ages(&self) -> Vec<(Fact, Duration)> {
        self.heard().ages.clone()
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, question: &str) -> PathBuf {
        self.directory.join(format!("{}.json", hash(question, 32)))
    }

    /// The kept answer, while it holds.
    fn recall(&self, fact: &Fact, question: &str, lifetime: Duration) -> Option<Answer> {
        let path = self.path(question);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => return self.note(&path, &error),
        };
        let kept: Kept = match serde_json::from_str(&text) {
            Ok(kept) => kept,
            Err(error) => return self.note(&path, &error),
        };
        let ours = kept.format == FORMAT
            && kept.fact == *fact
            && (kept.account.as_str(), kept.region.as_str()) == (&self.account, &self.region);
        // A negative age is a clock that was set back: no age at all.
        let age = Duration::try_from(self.clock.now().duration_since(kept.asked)).ok()?;
        if !ours || age >= lifetime {
            return None;
        }
        self.heard().ages.push((fact.clone(), age));
        Some(kept.answer)
    }

    fn keep(&self, fact: &Fact, question: &str, answer: &Answer) {
        let kept = Kept {
            format: FORMAT,
            account: self.account.clone(),
            region: self.region.clone(),
            fact: fact.clone(),
            asked: self.clock.now(),
            answer: answer.clone(),
        };
        let path = self.path(question);
        let written = serde_json::to_vec(&kept).map_err(io::Error::from).and_then(|text| replace(&path, &text));
        if let Err(error) = written {
            self.note::<()>(&path, &error);
        }
    }

    fn note<T>(&self, path: &Path, error: &dyn std::fmt::Display) -> Option<T> {
        let now = rfc3339(self.clock.now());
        tracing::debug!(%now, path = %path.display(), %error, "a cached fact is not used");
        self.heard().notes.push(format!("{} is not used: {error}", path.display()));
        None
    }
}

/// Whole or not at all: another run may read it at the same time.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    fs::write(&beside, text)?;
    fs::rename(&beside, path)
}

impl Cloud for Cached {
    fn list<'a>(&'a self, kind: &'static dyn AnyKind, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<Doc>, CloudError>> {
        self.cloud.list(kind, scope)
    }

    fn read<'a>(&'a self, kind: &'static dyn AnyKind, id: &'a str) -> BoxFuture<'a, Result<Option<Doc>, CloudError>> {
        self.cloud.read(kind, id)
    }

    fn create<'a>(
        &'a self,
        kind: &'static dyn AnyKind,
        want: &'a Doc,
        stamp: &'a Stamp,
    ) -> BoxFuture<'a, Result<PhysicalId, CloudError>> {
        self.cloud.create(kind, want, stamp)
    }

    fn update<'a>(
        &'a self,
        kind: &'static dyn AnyKind,
        id: &'a str,
        want: &'a Doc,
        changed: &'a [String],
        stamp: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), CloudError>> {
        self.cloud.update(kind, id, want, changed, stamp)
    }

    fn delete<'a>(&'a self, kind: &'static dyn AnyKind, id: &'a str) -> BoxFuture<'a, Result<(), CloudError>> {
        self.cloud.delete(kind, id)
    }

    fn ask<'a>(&'a self, fact: &'a Fact) -> BoxFuture<'a, Result<Answer, CloudError>> {
        Box::pin(async move {
            let Some(lifetime) = lifetime(fact) else { return self.cloud.ask(fact).await };
            let question = serde_json::to_string(fact).expect("a question is plain data with text keys");
            if !self.refresh
                && let Some(answer) = self.recall(fact, &question, lifetime)
            {
                return Ok(answer);
            }
            let answer = self.cloud.ask(fact).await?;
            self.keep(fact, &question, &answer);
            Ok(answer)
        })
    }

    fn store(&self) -> &dyn Store {
        self.cloud.store()
    }

    fn calls(&self) -> Calls {
        self.cloud.calls()
    }
}
