//! The one place that writes to the terminal: results on stdout, everything else on stderr. Must never compute content.

use crate::report::style::Style;
use std::io::{self, BufRead, IsTerminal, Write};

/// Where the program's words go.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// Of stdout.
    pub out: Style,
    /// Of stderr.
    pub err: Style,
    /// stderr can be redrawn: a live block is possible.
    pub live: bool,
    /// Somebody can answer.
    pub interactive: bool,
}

/// What the environment says about colours and characters, read once by the caller.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings {
    /// `Some` where a flag, `NO_COLOR` or `CLICOLOR_FORCE` decided.
    pub colour: Option<bool>,
    /// `TERM=dumb`
    pub dumb: bool,
    pub utf8: bool,
    pub columns: Option<usize>,
    /// Account ids in full.
    pub ids: bool,
}

impl Terminal {
    pub fn detect(around: Surroundings) -> Self {
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        let style = |terminal: bool| Style {
            colour: around.colour.unwrap_or(terminal && !around.dumb),
            unicode: around.utf8,
            width: around.columns.unwrap_or(100).clamp(60, 120),
            ids: around.ids,
        };
        Self {
            out: style(out),
            err: style(err),
            live: err && !around.dumb,
            interactive: err && io::stdin().is_terminal(),
        }
    }

    /// A result. A reader that went away (`| head`) ends the program's output quietly, as every Unix tool does.
    pub fn result(&self, text: &str) -> io::Result<()> {
        write(&mut io::stdout().lock(), &self.out.plain(text))
    }

    /// A result in a machine format: never restyled.
    pub fn raw(&self, text: &str) -> io::Result<()> {
        write(&mut io::stdout().lock(), text)
    }

    /// Progress, warnings, errors.
    pub fn note(&self, text: &str) -> io::Result<()> {
        write(&mut io::stderr().lock(), &self.err.plain(text))
    }

    /// Asks on stderr and reads one line; `None` at end of input.
    pub fn ask(&self, question: &str) -> io::Result<Option<String>> {
        let mut err = io::stderr().lock();
        write!(err, "{} ", self.err.plain(question))?;
        err.flush()?;
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line)?;
        Ok((read > 0).then(|| line.trim().to_owned()))
    }
}

fn write(to: &mut dyn Write, text: &str) -> io::Result<()> {
    let written = to
        .write_all(text.as_bytes())
        .and_then(|()| if text.ends_with('\n') || text.is_empty() { Ok(()) } else { to.write_all(b"\n") });
    match written.and_then(|()| to.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
