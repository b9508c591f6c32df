//! What is wrong with a stack file, where, and the way out. Must never decide what is right: rules do.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::Serialize;
use std::fmt;

/// A stretch of the file, on one line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// Byte offsets into the file.
    pub start: usize,
    pub end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    pub severity: Severity,
    /// Name of the rule, for machines: `unknown-field`. Never changes once released.
    pub rule: &'static str,
    pub message: String,
    /// Beside the caret: what is so here, or the way out.
    pub label: String,
    pub place: Place,
    /// A second place that matters, with what is there.
    pub related: Option<(Place, String)>,
    pub notes: Vec<String>,
}

impl Diagnostic {
    pub fn error(rule: &'static str, place: Place, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            rule,
            message: message.into(),
            label: label.into(),
            place,
            related: None,
            notes: Vec::new(),
        }
    }

    pub fn warning(rule: &'static str, place: Place, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(rule, place, message, label) }
    }

    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    pub fn related(mut self, place: Place, label: impl Into<String>) -> Self {
        self.related = Some((place, label.into()));
        self
    }
}

/// All that was found in one file, in the order of its lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostics {
    pub file: String,
    pub list: Vec<Diagnostic>,
    /// Found beyond [`Diagnostics::LIMIT`] and not kept.
    pub dropped: usize,
}

impl Diagnostics {
    /// Nobody reads more; a hostile file could have one error a byte.
    pub const LIMIT: usize = 100;

    pub fn new(file: impl Into<String>) -> Self {
        Self { file: file.into(), list: Vec::new(), dropped: 0 }
    }

    /// The same thing at the same place is said once, however many aliases lead there.
    pub fn push(&mut self, found: Diagnostic) {
        if self.list.contains(&found) {
            return;
        }
        if self.list.len() >= Self::LIMIT {
            self.dropped += 1;
            return;
        }
        self.list.push(found);
    }

    pub fn errors(&self) -> usize {
        self.list.iter().filter(|found| found.severity == Severity::Error).count()
    }

    pub(super) fn in_order(mut self) -> Self {
        self.list.sort_by_key(|found| (found.place.start, found.severity));
        self
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.file, count(self))
    }
}

impl std::error::Error for Diagnostics {}

/// As a compiler shows it: message, file:line:column, the line, a caret, notes; a count at the end.
/// `source` is the text that was parsed; another text is shown as well as it can be.
pub fn render(found: &Diagnostics, source: &str, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(120);
    let mut out = String::new();
    for diagnostic in &found.list {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(printable(&diagnostic.message)));
        group = group.element(snippet(found, source, diagnostic.place, &diagnostic.label, AnnotationKind::Primary));
        if let Some((place, label)) = &diagnostic.related {
            group = group.element(snippet(found, source, *place, label, AnnotationKind::Context));
        }
        for note in &diagnostic.notes {
            group = group.element(Level::NOTE.message(printable(note)));
        }
        out.push_str(renderer.render(&[group]).trim_end());
        out.push_str("\n\n");
    }
    out.push_str(&count(found));
    out.push('\n');
    out
}

fn snippet<'a>(
    found: &'a Diagnostics,
    source: &'a str,
    place: Place,
    label: &str,
    kind: AnnotationKind,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let start = boundary(source, place.start);
    let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = source[start..].find('\n').map_or(source.len(), |at| start + at);
    let line = source[line_start..line_end].trim_end_matches('\r');
    let from = (start - line_start).min(line.len());
    let to = boundary(line, place.end.saturating_sub(line_start)).max(from);
    Snippet::source(line)
        .line_start(place.line.max(1))
        .path(printable(&found.file))
        .annotation(kind.span(from..to).label(printable(label)))
}

fn boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A value quoted from the file must not move the cursor of the terminal that shows it.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

fn count(found: &Diagnostics) -> String {
    let errors = found.errors();
    let warnings = found.list.len() - errors;
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let what = match (errors, warnings) {
        (0, warnings) => plural(warnings, "warning"),
        (errors, 0) => plural(errors, "error"),
        (errors, warnings) => format!("{}, {}", plural(errors, "error"), plural(warnings, "warning")),
    };
    match (found.dropped, errors + warnings) {
        (0, 1) => format!("{what}."),
        (0, _) => format!("{what}; all of them are above."),
        (dropped, _) => format!("{what} above; {dropped} more are not shown: mend these first."),
    }
}
