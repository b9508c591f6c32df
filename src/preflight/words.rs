//! Wording that several checks share. Must never decide a verdict.

use crate::catalog::Source;

/// `two`, `3`: as the plan's sentences count.
pub(super) fn count(n: u32) -> String {
    match n {
        1 => "one".to_owned(),
        2 => "two".to_owned(),
        n => n.to_string(),
    }
}

/// Why a compiled value is no answer; `None` for a live one.
pub(super) fn not_live(source: &Source) -> Option<String> {
    match source {
        Source::Live => None,
        Source::Compiled => Some("nobody asked the account".to_owned()),
        Source::CompiledAfter(error) => Some(format!("could not look: {error}")),
    }
}

/// `EC2 said no: …` for a fact that was not had.
pub(super) fn not_had<T>(looked: Option<&Result<T, crate::contract::CloudError>>) -> String {
    match looked {
        Some(Err(error)) => format!("could not look: {error}"),
        Some(Ok(_)) | None => "nobody asked the account".to_owned(),
    }
}

/// A whole number where it is one.
pub(super) fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}
