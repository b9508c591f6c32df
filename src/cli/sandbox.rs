//! `sandbox`: the simulated account behind `--sandbox`. Must never touch a real one.

use crate::{
    cli::{
        Exit, Failure,
        app::{App, write_file},
        args,
        connect::{SandboxFile, lock},
    },
    clock::{Clock, rfc3339},
    cloud::memory::{BUILT_IN, Memory, Scenario},
    report::{SCHEMA_VERSION, Style},
};
use serde::Serialize;
use std::path::{Path, PathBuf};

const DEFAULT: &str = ".infer-stack/sandbox.json";

/// `kind: sandbox`
#[derive(Serialize)]
struct Status {
    schema_version: u32,
    kind: &'static str,
    file: String,
    /// RFC 3339: the account's own time.
    now: String,
    account: String,
    objects: Vec<Thing>,
}

#[derive(Serialize)]
struct Thing {
    kind: String,
    id: String,
    region: String,
    /// Stack that owns it by its tags.
    stack: Option<String>,
}

pub fn run(app: &App, command: &args::Sandbox) -> Result<Exit, Failure> {
    let path = app.common.sandbox.clone().unwrap_or_else(|| PathBuf::from(DEFAULT));
    match command {
        args::Sandbox::Status => app.in_stopped_time(status(app, &path))?,
        args::Sandbox::Reset { scenario } => reset(app, &path, scenario),
    }
}

async fn status(app: &App, path: &Path) -> Result<Exit, Failure> {
    if !path.exists() {
        return Err(Failure::new(Exit::Usage, format!("there is no simulated account at {}", path.display()))
            .hint("go on", "infer-stack up stacks/llama-70b.yaml --sandbox"));
    }
    let file = SandboxFile::open(path, "us-east-1", None)?;
    let memory = file.memory();
    let objects = memory.objects().into_iter().map(|object| Thing {
        kind: object.kind,
        id: object.id,
        region: object.region,
        stack: object.stamp.tags.get(crate::model::STACK).cloned(),
    });
    let document = Status {
        schema_version: SCHEMA_VERSION,
        kind: "sandbox",
        file: path.display().to_string(),
        now: rfc3339(memory.clock().now()),
        account: memory.account(),
        objects: objects.collect(),
    };
    app.result(&document, |style| human(&document, style))?;
    Ok(Exit::Done)
}

fn human(status: &Status, style: Style) -> String {
    let mut out = format!(
        "{}   account {}   its clock shows {}\n",
        style.bold(&status.file),
        style.account(&status.account),
        status.now
    );
    if status.objects.is_empty() {
        out.push_str("nothing exists in it\n");
    }
    for thing in &status.objects {
        let stack = thing.stack.as_deref().map(|stack| format!("   of {stack}")).unwrap_or_default();
        out.push_str(&format!("  {:<24} {}   {}{stack}\n", thing.kind, thing.id, thing.region));
    }
    out
}

fn reset(app: &App, path: &Path, scenario: &str) -> Result<Exit, Failure> {
    let bad = |why: String| {
        Failure::new(Exit::Usage, why).hint("go on", format!("take one of {}, or a scenario file", BUILT_IN.join(", ")))
    };
    let scenario_text = Path::new(scenario);
    let parsed = if scenario_text.is_file() {
        let text =
            std::fs::read_to_string(scenario_text).map_err(|error| bad(format!("can't read {scenario}: {error}")))?;
        Scenario::parse(&text)
    } else {
        Scenario::built_in(scenario)
    }
    .map_err(|error| bad(error.to_string()))?;
    let _lock = lock(path)?;
    app.in_stopped_time(async {
        let memory = Memory::new(parsed, super::connect::ACCOUNT, "us-east-1", Clock::system().now());
        write_file(path, &memory.to_json())
    })??;
    app.note(&format!("{} is an empty account, scenario {scenario}", path.display()))?;
    Ok(Exit::Done)
}
