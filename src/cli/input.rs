//! Stack files from disk or standard input. Must never go on with a file that has an error.

use crate::{
    catalog::Catalog,
    cli::{
        Exit, Failure,
        app::{App, variable},
        args::{StackFile, Target},
    },
    stack::{self, Diagnostics, Parsed},
};
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// One stack of a file.
pub struct Loaded {
    /// As the user wrote it, for commands to go on with.
    pub path: String,
    pub parsed: Parsed,
}

/// A little more than a stack file may have: enough to say that it is too large, whatever stands behind the path.
const MOST_BYTES: u64 = (1 << 20) + 1;

/// Every stack of a file; prints what is wrong with it and fails with 65 when it is not valid.
pub fn read(app: &App, path: &Path) -> Result<(String, Vec<Parsed>), Failure> {
    let name = path.display().to_string();
    let unreadable = |error: io::Error| {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => "stack files to start from are in stacks/",
            io::ErrorKind::IsADirectory => "name one file of that folder",
            _ => "check the path and its permissions",
        };
        Failure::new(Exit::BadFile, format!("can't read {name}: {error}")).hint("go on", hint)
    };
    let mut bytes = vec![];
    let read = if path == Path::new("-") {
        io::stdin().lock().take(MOST_BYTES).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes))
    };
    read.map_err(unreadable)?;
    let lossy = String::from_utf8_lossy(&bytes).into_owned();
    let folder = path.parent().unwrap_or_else(|| Path::new("")).to_owned();
    let config = |config: &str| {
        let mut text = String::new();
        File::open(folder.join(config))?.take(MOST_BYTES).read_to_string(&mut text)?;
        Ok(text)
    };
    stack::text(bytes, &name)
        .and_then(|text| {
            let parsed = stack::parse(&text, &name, &variable, &config, &Catalog::compiled())?;
            Ok((text, parsed))
        })
        .map_err(|found| invalid(app, &found, &lossy))
}

/// Shows what is wrong, in the format asked for.
fn invalid(app: &App, found: &Diagnostics, text: &str) -> Failure {
    let shown = if app.machine() {
        serde_json::to_string(&serde_json::json!({
            "schema_version": crate::report::SCHEMA_VERSION, "kind": "diagnostics", "file": found.file,
            "diagnostics": found.list, "dropped": found.dropped,
        }))
        .map_err(|error| error.to_string())
        .and_then(|json| app.terminal.raw(&json).map_err(|error| error.to_string()))
    } else {
        app.terminal.note(&stack::render(found, text, app.terminal.err.colour)).map_err(|error| error.to_string())
    };
    Failure::new(Exit::BadFile, shown.err().unwrap_or_default())
}

/// The one stack of a file, or the one of that name.
pub fn one(app: &App, path: &Path, name: Option<&str>) -> Result<Loaded, Failure> {
    let (text, mut stacks) = read(app, path)?;
    let names: Vec<String> = stacks.iter().map(|parsed| parsed.spec.name.clone()).collect();
    let shown = path.display().to_string();
    let index = match name {
        Some(name) => names.iter().position(|n| n == name).ok_or_else(|| {
            Failure::new(Exit::Usage, format!("{shown} holds no stack {name}: it has {}", names.join(", ")))
        })?,
        None if names.len() == 1 => 0,
        None => {
            return Err(Failure::new(Exit::Usage, format!("{shown} holds several stacks: {}", names.join(", ")))
                .hint("go on", format!("name one: --stack {}", names[0])));
        }
    };
    let parsed = stacks.swap_remove(index);
    if !parsed.warnings.is_empty() && !app.machine() {
        let found = Diagnostics { file: shown.clone(), list: parsed.warnings.clone(), dropped: 0 };
        app.note(&stack::render(&found, &text, app.terminal.err.colour))?;
    }
    Ok(Loaded { path: shown, parsed })
}

pub fn of_file(app: &App, file: &StackFile) -> Result<Loaded, Failure> {
    one(app, &file.file, file.stack.as_deref())
}

/// A stack by file or by name.
pub enum Wanted {
    File(Box<Loaded>),
    Named { name: String, region: String },
}

impl Wanted {
    pub fn name(&self) -> &str {
        match self {
            Wanted::File(loaded) => &loaded.parsed.spec.name,
            Wanted::Named { name, .. } => name,
        }
    }

    pub fn region(&self) -> &str {
        match self {
            Wanted::File(loaded) => &loaded.parsed.spec.region,
            Wanted::Named { region, .. } => region,
        }
    }

    /// How to name it in a further command: the file, or `--name … --region …`.
    pub fn argument(&self) -> String {
        match self {
            Wanted::File(loaded) => loaded.argument(),
            Wanted::Named { name, region } => format!("--name {name} --region {region}"),
        }
    }
}

impl Loaded {
    pub fn argument(&self) -> String {
        if self.path.contains(char::is_whitespace) { format!("'{}'", self.path) } else { self.path.clone() }
    }
}

pub fn of_target(app: &App, target: &Target) -> Result<Wanted, Failure> {
    match (&target.file, &target.name, &target.region) {
        (Some(file), ..) => Ok(Wanted::File(Box::new(one(app, file, target.stack.as_deref())?))),
        (None, Some(name), Some(region)) => Ok(Wanted::Named { name: name.clone(), region: region.clone() }),
        _ => Err(Failure::new(Exit::Usage, "name a stack file, or a stack by --name and --region")),
    }
}
