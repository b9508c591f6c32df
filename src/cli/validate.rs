//! `validate`: checks files offline. Must never ask a cloud.

use crate::{
    cli::{Exit, Failure, app::App, args::Validate, input},
    report::{SCHEMA_VERSION, Style},
    stack::{self, Diagnostics},
};
use serde::Serialize;

/// `kind: validation`
#[derive(Serialize)]
struct Validation {
    schema_version: u32,
    kind: &'static str,
    files: Vec<ValidFile>,
}

#[derive(Serialize)]
struct ValidFile {
    file: String,
    stacks: Vec<String>,
    warnings: usize,
    /// With every default filled in, where asked for.
    explained: Option<String>,
}

/// Every file is read, also after one that is not valid.
pub fn run(app: &App, args: &Validate) -> Result<Exit, Failure> {
    let (mut valid, mut exit) = (vec![], Exit::Done);
    for path in &args.files {
        let (text, parsed) = match input::read(app, path) {
            Ok(read) => read,
            Err(failure) => {
                exit = exit.and(app.tell(&failure));
                continue;
            }
        };
        let file = path.display().to_string();
        let warnings: Vec<_> = parsed.iter().flat_map(|parsed| parsed.warnings.clone()).collect();
        let count = warnings.len();
        if count > 0 && !app.machine() {
            let found = Diagnostics { file: file.clone(), list: warnings, dropped: 0 };
            app.note(&stack::render(&found, &text, app.terminal.err.colour))?;
        }
        let explained: Vec<String> = parsed.iter().map(|parsed| stack::explain(&parsed.spec)).collect();
        valid.push(ValidFile {
            file,
            stacks: parsed.iter().map(|parsed| parsed.spec.name.clone()).collect(),
            warnings: count,
            explained: args.explain.then(|| explained.join("---\n")),
        });
    }
    if !valid.is_empty() {
        let document = Validation { schema_version: SCHEMA_VERSION, kind: "validation", files: valid };
        app.result(&document, |style| human(&document, style))?;
    }
    Ok(exit)
}

fn human(document: &Validation, style: Style) -> String {
    let line = |file: &ValidFile| {
        file.explained.clone().unwrap_or_else(|| {
            let warnings = if file.warnings > 0 { format!(", {} warnings", file.warnings) } else { String::new() };
            format!("{} {}: {}{warnings}\n", style.tick(), file.file, file.stacks.join(", "))
        })
    };
    document.files.iter().map(line).collect()
}
