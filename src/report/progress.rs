//! A run while it goes: a live block on a terminal, a line an event elsewhere, or the events themselves as NDJSON. Must never
//! influence the run.

use crate::{
    apply::Event,
    model::Address,
    plan::Verb,
    report::{
        style::{clock, dollars, duration, pad},
        terminal::Terminal,
    },
};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::{collections::BTreeMap, io};

/// What the footer of the live block says of the whole run.
#[derive(Clone, Debug, Default)]
pub struct Course {
    pub tasks: usize,
    /// Seconds the plan expects.
    pub estimate: u64,
    /// Addresses of the critical path, in order.
    pub longest: Vec<String>,
    /// USD an hour when done.
    pub hourly_after: f64,
}

enum Screen {
    Live { block: MultiProgress, running: BTreeMap<Address, ProgressBar>, footer: ProgressBar },
    Lines,
    Ndjson,
}

/// Tells people about a run.
pub struct Progress {
    terminal: Terminal,
    screen: Screen,
    course: Course,
    finished: usize,
    /// Width of the longest address, so that columns stand.
    column: usize,
    failed: Option<io::Error>,
}

impl Progress {
    pub fn new(terminal: Terminal, ndjson: bool, course: Course, column: usize) -> Self {
        let screen = if ndjson {
            Screen::Ndjson
        } else if terminal.live {
            let block = MultiProgress::new();
            let footer = block.add(bar());
            Screen::Live { block, running: BTreeMap::new(), footer }
        } else {
            Screen::Lines
        };
        Self { terminal, screen, course, finished: 0, column: column.max(24), failed: None }
    }

    /// Takes one event. An error of the terminal is kept for [`Progress::end`]: the run goes on without a reader.
    pub fn event(&mut self, event: &Event) {
        if matches!(event, Event::StepDone { .. } | Event::StepFailed { .. } | Event::StepSkipped { .. }) {
            self.finished += 1;
        }
        let told = match &self.screen {
            Screen::Ndjson => {
                serde_json::to_string(event).map_err(io::Error::from).and_then(|line| self.terminal.raw(&line))
            }
            Screen::Lines => match self.line(event) {
                Some(line) => self.terminal.note(&line),
                None => Ok(()),
            },
            Screen::Live { .. } => self.draw(event),
        };
        if let Err(error) = told {
            self.failed.get_or_insert(error);
        }
    }

    /// Takes the live block away; gives the first error of the terminal.
    pub fn end(self) -> io::Result<()> {
        if let Screen::Live { block, .. } = &self.screen {
            block.clear()?;
        }
        self.failed.map_or(Ok(()), Err)
    }

    /// `2026-12-01T14:03:22Z wait  node-group.p5  221s  1 of 2 instances…`
    fn line(&self, event: &Event) -> Option<String> {
        let row = |at: &str, word: &str, address: &Address, rest: String| {
            format!("{at} {word:<5} {}  {rest}", pad(address.as_str(), self.column))
        };
        Some(match event {
            Event::StepStarted { at, address, verb } => row(at, "start", address, doing(verb).to_owned()),
            Event::StepWaiting { at, address, seconds, waiting_for, .. } => {
                row(at, "wait", address, format!("{seconds}s  {waiting_for}"))
            }
            Event::StepRetried { at, address, attempt, error } => {
                row(at, "retry", address, format!("attempt {attempt}: {error}"))
            }
            Event::LookFailed { at, address, error } => row(at, "look", address, format!("could not look: {error}")),
            Event::StepDone { at, address, id, seconds, verb } => {
                row(at, "done", address, format!("{seconds}s  {} {}", done(verb), id.as_deref().unwrap_or("")))
            }
            Event::StepFailed { at, address, why, .. } => row(at, "fail", address, why.clone()),
            Event::StepSkipped { at, address, because } => row(at, "skip", address, because.clone()),
            Event::Interrupted { at, running } => {
                format!("{at} stop  starting nothing new, {running} running calls settle")
            }
            Event::JournalFailed { at, why } => format!("{at} note  the journal can't be kept: {why}"),
            Event::LeaseLost { at, why } => format!("{at} stop  starting nothing new: {why}"),
            Event::LeftoverFound { at, what, id, state } => format!("{at} found {what} {id} was left behind, {state}"),
            Event::LeftoverGone { at, what, id, seconds } => format!("{at} done  {what} {id} is gone after {seconds}s"),
            Event::LeftoverWaiting { at, seconds, waiting_for } => format!("{at} wait  {seconds}s  {waiting_for}"),
            Event::LeftoverFailed { at, what, id, error } => {
                format!("{at} fail  {what} {}: {error}", id.as_deref().unwrap_or(""))
            }
            Event::Summary { .. } => return None,
        })
    }

    fn draw(&mut self, event: &Event) -> io::Result<()> {
        let style = self.terminal.err;
        let column = self.column;
        let row = |mark: &str, address: &Address, middle: &str, end: &str| {
            style.plain(&format!("{mark} {} {} {end}", pad(address.as_str(), column), pad(middle, 24)))
        };
        let (text, line) = (self.footer(), self.line(event));
        let mut footer_note = None;
        let Screen::Live { block, running, footer } = &mut self.screen else { return Ok(()) };
        match event {
            Event::StepStarted { address, verb, .. } => {
                let bar = block.insert_before(footer, bar());
                bar.set_message(row(" ", address, "0:00", doing(verb)));
                running.insert(address.clone(), bar);
            }
            Event::StepWaiting { address, seconds, expected_seconds, waiting_for, .. } => {
                if let Some(bar) = running.get(address) {
                    let of = expected_seconds.map(|s| format!(" of ~{}", duration(s))).unwrap_or_default();
                    bar.set_message(row(" ", address, &format!("{}{of}", clock(*seconds)), waiting_for));
                }
            }
            Event::StepRetried { address, attempt, error, .. } => {
                if let Some(bar) = running.get(address) {
                    bar.set_message(row(" ", address, &format!("attempt {attempt}"), &error.to_string()));
                }
            }
            Event::LookFailed { address, error, .. } => {
                if let Some(bar) = running.get(address) {
                    bar.set_message(row(" ", address, "could not look", &error.to_string()));
                }
            }
            Event::StepDone { address, id, seconds, .. } => {
                settle(running, address);
                block.println(row(&style.tick(), address, id.as_deref().unwrap_or(""), &duration(*seconds)))?;
            }
            Event::StepFailed { address, why, .. } => {
                settle(running, address);
                block.println(row(&style.cross(), address, "", why))?;
            }
            Event::StepSkipped { address, because, .. } => {
                block.println(row(&style.dim("-"), address, "skipped", because))?;
            }
            Event::Interrupted { running, .. } => {
                block.println(format!(
                    "Starting nothing new; {running} running calls settle. Ctrl-C again stops waiting."
                ))?;
            }
            Event::LeftoverWaiting { waiting_for, .. } => footer_note = Some(waiting_for.clone()),
            Event::JournalFailed { .. }
            | Event::LeaseLost { .. }
            | Event::LeftoverFound { .. }
            | Event::LeftoverGone { .. }
            | Event::LeftoverFailed { .. } => {
                if let Some(line) = line {
                    block.println(line)?;
                }
            }
            Event::Summary { .. } => {}
        }
        let text = footer_note.map_or_else(|| text.clone(), |note| format!("{text}\n{}", style.plain(&note)));
        footer.set_message(text);
        Ok(())
    }

    fn footer(&self) -> String {
        let path = match (self.course.longest.first(), self.course.longest.last()) {
            (Some(first), Some(last)) if first != last => format!("critical path: {first} → {last}, "),
            _ => String::new(),
        };
        let text = format!(
            "{}\n{} of {}   {path}about {} in all   {}/h   Ctrl-C stops cleanly",
            self.terminal.err.rule(),
            self.finished,
            self.course.tasks,
            duration(self.course.estimate),
            dollars(self.course.hourly_after),
        );
        self.terminal.err.plain(&text)
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_msg}").expect("the template is a constant of ours");
    ProgressBar::new_spinner().with_style(style)
}

fn settle(running: &mut BTreeMap<Address, ProgressBar>, address: &Address) {
    if let Some(bar) = running.remove(address) {
        bar.finish_and_clear();
    }
}

fn doing(verb: &Verb) -> &'static str {
    match verb {
        Verb::Create => "creating",
        Verb::Update { .. } => "updating",
        Verb::Delete { .. } => "deleting",
        Verb::Await { .. } => "waiting for what an earlier run started",
    }
}

fn done(verb: &Verb) -> &'static str {
    match verb {
        Verb::Create => "created",
        Verb::Update { .. } => "updated",
        Verb::Delete { .. } => "deleted",
        Verb::Await { .. } => "ready",
    }
}
