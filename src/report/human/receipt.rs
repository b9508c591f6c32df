//! The proof as people read it. Must never say more than was looked at.

use crate::{
    report::{
        document::ReceiptDocument,
        style::{Style, dollars, duration, pad, wrap},
    },
    teardown::{Check, Status},
};
use std::fmt::Write;

/// Hours of a month, as prices a month are written.
const MONTH: f64 = 730.0;

/// `verbose` lists the kinds that are absent one by one.
pub fn receipt(document: &ReceiptDocument, style: Style, verbose: bool) -> String {
    let receipt = &document.receipt;
    let mut out = String::new();
    if let (Some(deleted), Some(seconds)) = (document.deleted, document.seconds) {
        let _ = writeln!(
            out,
            "took down {} in {}: {deleted} deleted, {} kept\n",
            style.bold(&document.header.stack),
            duration(seconds),
            receipt.kept.len()
        );
    }
    for failed in &document.failed {
        let _ = writeln!(out, "{} {failed}", style.cross());
    }
    let (found_by, first) = (34, 13);
    let times = receipt.checks.first().map(|c| (time(&c.first_read), time(&c.second_read))).unwrap_or_default();
    let _ = writeln!(
        out,
        "{} {} {} {}",
        pad(&format!("looked in {}", document.header.region), 30),
        pad("how found", found_by),
        pad(times.0, first),
        times.1
    );
    let mut hidden = 0;
    for check in &receipt.checks {
        if check.status == Status::Absent && !verbose {
            hidden += 1;
            continue;
        }
        one(&mut out, check, found_by, first, style);
    }
    if hidden > 0 {
        let _ = writeln!(
            out,
            "  {} {} {} absent   {}",
            pad(&format!("{hidden} kinds of things"), 28),
            pad("tags, names, VPC", found_by),
            pad("absent", first),
            style.dim("--verbose lists them")
        );
    }
    for kept in &receipt.kept {
        let price = kept.hourly_usd.map(|usd| format!("{}/month", dollars(usd * MONTH))).unwrap_or_default();
        let _ = writeln!(out, "  {} kept: {}   {} {price}", pad(&kept.what, 28), kept.why, kept.id);
    }
    out.push('\n');
    let verdict = match receipt.verdict {
        Status::Absent => {
            let but = if receipt.kept.is_empty() { "" } else { ", except what is kept" };
            format!("{} Nothing of {} remains or bills{but}.", style.good("absent."), document.header.stack)
        }
        Status::NotChecked => format!(
            "{} Something could not be looked at, so nothing is proven. Look again:  {}",
            style.warn("not checked."),
            document.look_with
        ),
        Status::Present => format!(
            "{} {}/h still bill. Run destroy again, or look:  {}",
            style.bad("present."),
            dollars(receipt.remaining_hourly_usd),
            document.look_with
        ),
    };
    wrap_into(&mut out, &verdict, style.width);
    out
}

fn wrap_into(out: &mut String, text: &str, width: usize) {
    for line in wrap(text, width) {
        let _ = writeln!(out, "{line}");
    }
}

/// The time of an RFC 3339 moment.
fn time(moment: &str) -> &str {
    moment.split_once('T').map_or(moment, |(_, time)| time.trim_end_matches('Z'))
}

fn one(out: &mut String, check: &Check, found_by: usize, first: usize, style: Style) {
    let word = match check.status {
        Status::Absent => "absent",
        Status::NotChecked => "not checked",
        Status::Present => "present",
    };
    let _ = writeln!(
        out,
        "  {} {} {} {word}",
        pad(&check.what, 28),
        pad(&check.found_by.join(", "), found_by),
        pad(if check.status == Status::Absent { word } else { "" }, first)
    );
    if let Some(error) = &check.error {
        wrap_into(out, &format!("{} {error}", style.warn("?")), style.width);
    }
    for remaining in &check.remaining {
        let price = remaining.hourly_usd.map(|usd| format!("{}/h", dollars(usd))).unwrap_or_default();
        let _ = writeln!(out, "    {} {}   {}   {price}", style.cross(), remaining.id, remaining.state);
    }
}
