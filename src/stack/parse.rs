//! A file's text to its specs, with all that is wrong with it said at once. Must never open a file or read the environment itself.

use super::check;
use super::diagnostic::{Diagnostic, Diagnostics, Place, Severity};
use super::tree::{self, Lines};
use super::value::Places;
use super::{Spec, read, rules, syntax};
use crate::catalog::Catalog;
use std::io;

/// One document of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    pub spec: Spec,
    /// Found in this document; none of them stops anything.
    pub warnings: Vec<Diagnostic>,
    /// For messages that come later and shall point into the file.
    pub places: Places,
}

/// The text of a file, or what is wrong with its bytes.
pub fn text(bytes: Vec<u8>, file: &str) -> Result<String, Diagnostics> {
    too_large(bytes.len(), file)?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let before = String::from_utf8_lossy(&bytes[..valid]);
        let mut found = Diagnostics::new(file);
        let hint = match bytes {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it looks like UTF-16: save it as UTF-8",
            _ => "save the file as UTF-8",
        };
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let place = Place {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            start: valid,
            end: valid,
        };
        found.push(Diagnostic::error(
            "not-text",
            place,
            format!("byte {valid} is 0x{:02x}, which is no UTF-8 text", bytes[valid]),
            hint,
        ));
        found
    })
}

/// Every document of a stack file. `file` is what messages call it; `env` and `read_config` answer for the environment
/// and for the `config.json` of `serving.model.config`.
///
/// # Errors
/// All errors of all documents, warnings among them, in the order of lines.
pub fn parse(
    text: &str,
    file: &str,
    env: &dyn Fn(&str) -> Option<String>,
    read_config: &dyn Fn(&str) -> io::Result<String>,
    catalog: &Catalog,
) -> Result<Vec<Parsed>, Diagnostics> {
    too_large(text.len(), file)?;
    let mut found = Diagnostics::new(file);
    if let Some((at, c)) = syntax::unprintable(text) {
        let place = Lines::of(text).place(at, at + c.len_utf8());
        let message = format!("a control character, U+{:04X}, is no text", u32::from(c));
        found.push(Diagnostic::error("not-text", place, message, "is this the right file? else delete the character"));
        return Err(found);
    }
    let documents = tree::documents(text, env, &mut found);
    if documents.is_empty() && found.list.is_empty() {
        let place = Place { line: 1, column: 1, start: 0, end: 0 };
        found.push(
            Diagnostic::error("empty", place, "the file describes no stack", "nothing but comments or nothing at all")
                .note("a commented one to start from: infer-stack init"),
        );
    }
    let mut parsed = Vec::new();
    for document in &documents {
        let before = found.list.len();
        let mut checked = check::document(document, &mut found);
        let spec = read::spec(&mut checked, catalog, read_config, &mut found);
        rules::judge(&spec, &checked, catalog, &mut found);
        let warnings = found.list[before..].iter().filter(|found| found.severity == Severity::Warning);
        parsed.push(Parsed { spec, warnings: warnings.cloned().collect(), places: checked.places });
    }
    rules::twice(&parsed, &mut found);
    if found.errors() + found.dropped > 0 { Err(found.in_order()) } else { Ok(parsed) }
}

fn too_large(bytes: usize, file: &str) -> Result<(), Diagnostics> {
    if bytes <= tree::MAX_BYTES {
        return Ok(());
    }
    let mut found = Diagnostics::new(file);
    let place = Place { line: 1, column: 1, start: 0, end: 0 };
    found.push(Diagnostic::error(
        "too-large",
        place,
        format!("{bytes} bytes are too many for a stack file"),
        format!("at most {} (1 MiB) are read: is this the right file?", tree::MAX_BYTES),
    ));
    Err(found)
}
