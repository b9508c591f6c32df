//! What came of a run, as people read it. Must never look by itself.

use crate::{
    apply::Outcome,
    report::{
        document::UpDocument,
        style::{Style, dollars, duration, pad, wrap},
    },
};
use std::fmt::Write;

/// Slowest steps that are named.
const SLOWEST: usize = 3;

pub fn up(up: &UpDocument, style: Style) -> String {
    let mut out = String::new();
    let name = style.bold(&up.header.stack);
    if up.verified && up.outcome.done.is_empty() {
        let _ = writeln!(out, "{name} is as the file says: {} resources.", up.resources);
    } else if up.verified {
        let _ = writeln!(
            out,
            "{} {name} is up after {}: {} steps, {} resources looked at again and as the file says",
            style.tick(),
            duration(up.outcome.seconds),
            up.outcome.done.len(),
            up.resources
        );
        slowest(&mut out, up);
    } else {
        out.push_str(&failures(&up.outcome, style));
        for line in up.open.iter().filter(|_| up.outcome.is_complete()) {
            let _ = writeln!(out, "{} after the run this still differs: {line}", style.cross());
        }
        if up.interrupted {
            let _ = writeln!(out, "{} interrupted", style.warn("!"));
        }
        let half = if up.outcome.in_flight.is_empty() { "; nothing is half made" } else { "" };
        let _ = writeln!(out, "  {} {} resources, {}/h{half}", pad("kept", 10), up.resources, dollars(up.hourly_usd));
        let _ = writeln!(out, "  {} {}   resumes", pad("go on", 10), up.go_on);
        let _ = writeln!(out, "  {} {}", pad("or stop", 10), up.destroy_with);
    }
    let c = up.calls;
    // What is kept says it already.
    let price = if up.verified { format!("{}/h   ", dollars(up.hourly_usd)) } else { String::new() };
    let _ = writeln!(
        out,
        "  {price}expires {}   {} calls, {} retries, {} throttled",
        up.expires,
        c.state + c.facts + c.changes,
        c.retries,
        c.throttles
    );
    for note in &up.notes {
        for line in wrap(&format!("note: {note}"), style.width) {
            let _ = writeln!(out, "{line}");
        }
    }
    if up.verified {
        let _ = writeln!(out, "Take it down with:  {}", up.destroy_with);
    }
    out
}

fn slowest(out: &mut String, up: &UpDocument) {
    let mut done: Vec<_> = up.outcome.done.iter().filter(|done| done.seconds > 0).collect();
    done.sort_by_key(|done| std::cmp::Reverse(done.seconds));
    let words: Vec<String> =
        done.iter().take(SLOWEST).map(|done| format!("{} {}", done.address, duration(done.seconds))).collect();
    if !words.is_empty() {
        let _ = writeln!(out, "  slowest: {}", words.join(", "));
    }
}

/// What failed and what was left out because of it.
fn failures(outcome: &Outcome, style: Style) -> String {
    let mut out = String::new();
    for failed in &outcome.failed {
        let mut lines = wrap(&failed.why, style.width.saturating_sub(30)).into_iter();
        let _ = writeln!(
            out,
            "{} {} {}",
            style.cross(),
            pad(failed.address.as_str(), 26),
            lines.next().unwrap_or_default()
        );
        for line in lines {
            let _ = writeln!(out, "  {} {line}", " ".repeat(26));
        }
    }
    for flying in &outcome.in_flight {
        let id = flying.id.as_deref().unwrap_or("");
        let _ = writeln!(out, "{} {} {id} still on its way", style.warn("!"), pad(flying.address.as_str(), 26));
    }
    if !outcome.skipped.is_empty() {
        let names: Vec<&str> = outcome.skipped.iter().map(|skipped| skipped.address.as_str()).collect();
        for line in wrap(&format!("not started: {}", names.join(", ")), style.width) {
            let _ = writeln!(out, "  {line}");
        }
    }
    out
}
