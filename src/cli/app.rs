//! What every command shares: flags, terminal, environment, runtime. Must never know a command.

use crate::{
    cli::{
        Exit, Failure,
        args::{Color, Common, Format},
    },
    report::{Surroundings, Terminal, markdown},
};
use serde::Serialize;
use std::{future::Future, io, path::Path};

pub struct App {
    pub common: Common,
    pub terminal: Terminal,
}

/// A variable of the environment; one that is not Unicode counts as absent.
#[expect(clippy::disallowed_methods, reason = "the one home of the environment")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

impl App {
    pub fn new(common: Common) -> Self {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|value| !value.is_empty());
        let colour = match common.color {
            Color::Always => Some(true),
            Color::Never => Some(false),
            Color::Auto if variable("NO_COLOR").is_some_and(|value| !value.is_empty()) => Some(false),
            Color::Auto if variable("CLICOLOR_FORCE").is_some_and(|value| value != "0") => Some(true),
            Color::Auto => None,
        };
        let terminal = Terminal::detect(Surroundings {
            colour,
            dumb: variable("TERM").is_some_and(|term| term == "dumb"),
            utf8: locale.is_none_or(|locale| locale.to_ascii_uppercase().replace('-', "").contains("UTF8")),
            columns: variable("COLUMNS").and_then(|columns| columns.parse().ok()),
            ids: common.show_ids,
        });
        Self { common, terminal }
    }

    /// Runs a command that talks to a cloud. On the sandbox time stands still between events, so hours pass in a moment.
    pub fn within_runtime(&self, command: impl Future<Output = Result<Exit, Failure>>) -> Result<Exit, Failure> {
        if self.common.sandbox.is_some() {
            return self.in_stopped_time(command)?;
        }
        runtime(&mut tokio::runtime::Builder::new_multi_thread())?.block_on(command)
    }

    /// Runs something in a stopped clock, for the simulated account lives by the runtime's.
    pub fn in_stopped_time<T>(&self, command: impl Future<Output = T>) -> Result<T, Failure> {
        runtime(tokio::runtime::Builder::new_current_thread().start_paused(true))
            .map(|runtime| runtime.block_on(command))
    }

    pub fn ndjson(&self) -> bool {
        self.common.format() == Format::Ndjson
    }

    /// True where only machines read stdout.
    pub fn machine(&self) -> bool {
        matches!(self.common.format(), Format::Json | Format::Ndjson)
    }

    pub fn raw(&self, text: &str) -> Result<(), Failure> {
        self.terminal.raw(text).map_err(|error| unwritable("standard output", &error))
    }

    pub fn note(&self, text: &str) -> Result<(), Failure> {
        self.terminal.note(text).map_err(|error| unwritable("standard error", &error))
    }

    /// The result of a command, in the format asked for, and as JSON beside it.
    pub fn result<D: Serialize>(
        &self,
        document: &D,
        human: impl FnOnce(crate::report::Style) -> String,
    ) -> Result<(), Failure> {
        if let Some(path) = &self.common.also_json {
            write_file(path, &format!("{}\n", json(document)?))?;
        }
        match self.common.format() {
            Format::Human => {
                self.terminal.result(&human(self.terminal.out)).map_err(|error| unwritable("standard output", &error))
            }
            Format::Json => self.raw(&json(document)?),
            Format::Ndjson => {
                // A reader of the stream ignores types that it does not know, so every line has one.
                let mut line = serde_json::to_value(document).map_err(|error| not_json(&error))?;
                line["type"] = line["kind"].clone();
                self.raw(&line.to_string())
            }
            Format::Markdown | Format::Github => {
                let text = human(crate::report::Style {
                    width: 120,
                    ids: self.common.show_ids,
                    ..crate::report::Style::PLAIN
                });
                self.raw(&markdown::page(&text, self.common.show_ids, self.common.format() == Format::Github))
            }
        }
    }

    /// A document in place of the result that a command refused to bring: for people it belongs to the error.
    pub fn instead<D: Serialize>(
        &self,
        document: &D,
        human: impl FnOnce(crate::report::Style) -> String,
    ) -> Result<(), Failure> {
        if self.common.format() != Format::Human {
            return self.result(document, human);
        }
        if let Some(path) = &self.common.also_json {
            write_file(path, &format!("{}\n", json(document)?))?;
        }
        self.note(&human(self.terminal.err))
    }

    /// Tells why a command ended, and gives its exit.
    pub fn tell(&self, failure: &Failure) -> Exit {
        let style = self.terminal.err;
        let mut text = String::new();
        if !failure.cause.is_empty() {
            text.push_str(&format!("{} {}\n", style.cross(), failure.cause));
        }
        for (label, hint) in &failure.hints {
            for (i, line) in hint.lines().enumerate() {
                text.push_str(&format!("  {:<10} {line}\n", if i == 0 { label } else { "" }));
            }
        }
        // Without a reader of stderr the exit code is all that is left to say it with.
        let _ = self.terminal.note(&text);
        failure.exit
    }

    /// Yes or no; without a terminal the answer must come as a flag.
    pub fn confirm(&self, question: &str, flag: &str) -> Result<(), Failure> {
        let answer = self.answer(question, flag)?;
        if matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes") {
            return Ok(());
        }
        Err(Failure::new(Exit::Refused, "not confirmed: nothing was changed"))
    }

    /// One line from whoever sits there.
    pub fn answer(&self, question: &str, flag: &str) -> Result<String, Failure> {
        if !self.terminal.interactive {
            return Err(Failure::new(Exit::Usage, format!("an answer is needed and there is no terminal: {question}"))
                .hint("go on", format!("say it with {flag}")));
        }
        match self.terminal.ask(question) {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => Err(Failure::new(Exit::Refused, "no answer: nothing was changed")),
            Err(error) => Err(Failure::new(Exit::Failed, format!("the terminal can't be read: {error}"))),
        }
    }
}

fn runtime(builder: &mut tokio::runtime::Builder) -> Result<tokio::runtime::Runtime, Failure> {
    builder
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failed, format!("the asynchronous runtime can't start: {error}")))
}

fn json<D: Serialize>(document: &D) -> Result<String, Failure> {
    serde_json::to_string_pretty(document).map_err(|error| not_json(&error))
}

fn not_json(error: &serde_json::Error) -> Failure {
    Failure::new(Exit::Failed, format!("the document can't be written as JSON: {error}"))
}

fn unwritable(what: &str, error: &io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("can't write to {what}: {error}"))
}

/// Writes a whole file, so that a reader sees the old one or the new one.
pub fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::new(Exit::Failed, format!("can't write {}: {error}", path.display()));
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    std::fs::write(&beside, text).map_err(failed)?;
    std::fs::rename(&beside, path).map_err(failed)
}
