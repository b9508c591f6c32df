//! Which cloud a command talks to: AWS, or the simulated account of `--sandbox`. The one place that knows there are two; must
//! never let a room know which.

use crate::{
    cli::{Exit, Failure, app::App, app::write_file, input::Wanted},
    clock::Clock,
    cloud::{
        Cloud,
        memory::{Memory, Scenario},
    },
    stack::Spec,
};
use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// Account of the simulated world, unless the file names one.
pub const ACCOUNT: &str = "123456789012";

/// A connection, and the time that goes with it.
pub struct Session {
    pub cloud: Arc<dyn Cloud>,
    pub clock: Clock,
    sandbox: Option<SandboxFile>,
}

/// The file that holds a simulated account, locked for this process.
pub struct SandboxFile {
    path: PathBuf,
    memory: Arc<Memory>,
    /// First failure to write it, told at the end.
    unwritten: Arc<Mutex<Option<Failure>>>,
    _lock: File,
}

/// Connects for a stack file.
pub fn stack(app: &App, spec: &Spec) -> Result<Session, Failure> {
    open(app, &spec.region, Some(spec))
}

/// Connects for a file or a name.
pub fn wanted(app: &App, wanted: &Wanted) -> Result<Session, Failure> {
    match wanted {
        Wanted::File(loaded) => stack(app, &loaded.parsed.spec),
        Wanted::Named { region, .. } => open(app, region, None),
    }
}

fn open(app: &App, region: &str, spec: Option<&Spec>) -> Result<Session, Failure> {
    let Some(path) = &app.common.sandbox else { return Err(no_adapter()) };
    let file = SandboxFile::open(path, region, spec)?;
    Ok(Session { cloud: file.memory.clone(), clock: file.memory.clock(), sandbox: Some(file) })
}

fn no_adapter() -> Failure {
    Failure::new(
        Exit::Failed,
        "this build does not talk to AWS yet: it plans, applies and tears down in the simulated account",
    )
    .hint("go on", "add --sandbox")
}

impl Session {
    /// Keeps what the simulated account has become.
    pub fn close(self) -> Result<(), Failure> {
        self.sandbox.map_or(Ok(()), SandboxFile::close)
    }
}

impl SandboxFile {
    /// Opens the account, or a fresh one of scenario `ready`, and locks it against other processes.
    pub fn open(path: &Path, region: &str, spec: Option<&Spec>) -> Result<Self, Failure> {
        let lock = lock(path)?;
        let memory = match read(path)? {
            Some(text) => Memory::from_json(&text, region).map_err(|error| {
                Failure::new(Exit::Failed, format!("{}: {error}", path.display()))
                    .hint("go on", "infer-stack sandbox reset")
            })?,
            None => {
                let account = spec.and_then(|spec| spec.account.as_deref()).unwrap_or(ACCOUNT);
                Memory::new(Scenario::ready(), account, region, Clock::system().now())
            }
        };
        if let Some(spec) = spec {
            memory.bring(spec);
        }
        let unwritten = Arc::new(Mutex::new(None));
        let (place, failures) = (path.to_owned(), unwritten.clone());
        // After each change, so that a process that dies leaves the world as AWS would be left.
        let memory = memory.on_change(move |text| {
            if let Err(failure) = write_file(&place, text) {
                failures.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
            }
        });
        Ok(Self { path: path.to_owned(), memory: Arc::new(memory), unwritten, _lock: lock })
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    pub fn close(self) -> Result<(), Failure> {
        if let Some(failure) = self.unwritten.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(failure);
        }
        write_file(&self.path, &self.memory.to_json())
    }
}

/// The saved account, if there is one.
fn read(path: &Path) -> Result<Option<String>, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(Exit::Failed, format!("can't read {}: {error}", path.display()))),
    }
}

/// Two processes on one file would each overwrite what the other made.
pub fn lock(path: &Path) -> Result<File, Failure> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".lock");
    let beside = PathBuf::from(beside);
    let failed =
        |error: std::io::Error| Failure::new(Exit::Failed, format!("can't lock {}: {error}", beside.display()));
    if let Some(folder) = beside.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let file = File::create(&beside).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::new(
            Exit::Locked,
            format!("another process works on the simulated account {}", path.display()),
        )
        .hint("go on", "wait for it, or use another file: --sandbox=FILE")),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}
