//! Text that is no YAML, in words: what is wrong and what to write instead. Must never look at a field's meaning.

use super::diagnostic::{Diagnostic, Place};
use super::tree::Lines;
use granit_parser::ErrorKind;

/// `place` is where the parser gave up; the real cause may stand before it.
pub(super) fn diagnostic(lines: &Lines<'_>, text: &str, place: Place, kind: &ErrorKind) -> Diagnostic {
    if let Some((at, open)) = open_bracket(text, place.start)
        && lines.place(at, at + 1).line < place.line
        && kind != &ErrorKind::RecursionLimitExceeded
    {
        let message = format!("`{open}` is never closed");
        let found = Diagnostic::error("unclosed-bracket", lines.place(at, at + 1), message, "add the closing bracket");
        return found.related(place, "here it is too late");
    }
    let say = |rule, message: String, label: &str| Diagnostic::error(rule, place, message, label);
    let line = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
    let line = text[line..].lines().next().unwrap_or("");
    let found = match kind {
        ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabNotAllowed
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => {
            say("tab", "a tab in the indentation".into(), "YAML indents with spaces: replace the tab")
        }
        ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => {
            say("unclosed-quote", "a quote is never closed".into(), "add the closing quote")
        }
        ErrorKind::UnclosedFlowCollection { open } => {
            say("unclosed-bracket", format!("`{open}` is never closed"), "add the closing bracket")
        }
        ErrorKind::UnexpectedEofFlowSequence => {
            say("unclosed-bracket", "`[` is never closed".into(), "add the closing bracket")
        }
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            say("unclosed-bracket", "`{` is never closed".into(), "add the closing bracket")
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            say("unclosed-bracket", format!("`{open}` is closed by `{close}`"), "close it with its own bracket")
        }
        ErrorKind::RecursionLimitExceeded => {
            say("too-deep", "nested too deeply".into(), "no stack file nests deeper than 64 levels")
        }
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => say(
            "yaml",
            "a second `:` in one line, or a key that is indented unlike its neighbours".into(),
            "quote a value that holds `: `; give the keys of one mapping one indentation",
        ),
        ErrorKind::UnexpectedCharacter { character } => {
            say("yaml", format!("`{character}` can't start a value"), "put the value in quotes")
        }
        ErrorKind::InvalidIndentation | ErrorKind::ExpectedBlockMappingKey | ErrorKind::ExpectedBlockSequenceEntry => {
            say(
                "yaml",
                "the indentation changes where nothing was opened".into(),
                "give the keys of one mapping, and the `-` of one list, one indentation",
            )
        }
        ErrorKind::SimpleKeyExpected => {
            say("yaml", "a key without `:`".into(), "write `key: value`, with a space after the colon")
        }
        kind => say("yaml", format!("not YAML: {kind}"), "YAML can't be read past here"),
    };
    // `{ max: ${env:MAX} }`: the brace of the expansion ends the flow mapping for YAML.
    if line.contains("${env:") && line.contains(['{', '[']) {
        return found.note(
            "inside `{ }` and `[ ]` quote an expansion: `\"${env:NAME}\"`; it is typed after expansion all the same",
        );
    }
    found
}

/// The innermost bracket of flow style that is open at a place; quotes and comments hold none.
fn open_bracket(text: &str, until: usize) -> Option<(usize, char)> {
    let mut open = Vec::new();
    let mut quote = None;
    let mut before = '\n';
    let mut chars = text.char_indices().take_while(|(at, _)| *at < until).peekable();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some('"'), '\\') => drop(chars.next()),
            (Some(q), c) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if !before.is_alphanumeric() => quote = Some(c),
            (None, '#') if before.is_whitespace() => while chars.next_if(|(_, c)| *c != '\n').is_some() {},
            // In block style a bracket inside a plain text opens nothing.
            (None, '[' | '{') if !open.is_empty() || before.is_whitespace() => open.push((at, c)),
            (None, ']' | '}') => drop(open.pop()),
            (None, '-') if before == '\n' && text[at..].starts_with("---") => open.clear(),
            _ => {}
        }
        before = c;
    }
    open.pop()
}

/// The first character that no YAML file may hold; such a file is usually not text.
pub(super) fn unprintable(text: &str) -> Option<(usize, char)> {
    text.char_indices().find(|&(_, c)| {
        (c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')) || matches!(c, '\u{fffe}' | '\u{ffff}')
    })
}
