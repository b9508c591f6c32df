//! The proof as people read it. Must never say more than was looked at.

use crate::{
    report::{
        document::ReceiptDocument,
        style::{Style, columns, dollars, duration, pad, wrap},
    },
    teardown::{CLUSTER_TAG, Check, Kept, NAME, STACK_TAG, Status, VPC},
};
use std::fmt::Write;

/// Hours of a month, as prices a month are written.
const MONTH: f64 = 730.0;

const WHAT: usize = 32;
const FOUND_BY: usize = 33;
const READ: usize = 12;

/// What people look for first, because it bills or because it keeps a VPC from going; other kinds are counted.
const ROWS: &[(&str, &[&str])] = &[
    ("instances", &["ec2:instance"]),
    ("cluster, node groups", &["eks:cluster", "eks:nodegroup"]),
    ("load balancers, target groups", &["elasticloadbalancing:loadbalancer", "elasticloadbalancing:targetgroup"]),
    ("network interfaces", &["ec2:network-interface"]),
    ("volumes, snapshots", &["ec2:volume", "ec2:snapshot"]),
    ("NAT gateways, public addresses", &["ec2:natgateway", "ec2:elastic-ip"]),
    ("file systems", &["fsx:file-system"]),
];

/// `verbose` lists the kinds that are absent one by one.
pub fn receipt(document: &ReceiptDocument, style: Style, verbose: bool) -> String {
    let receipt = &document.receipt;
    let mut out = String::new();
    if let (Some(deleted), Some(seconds)) = (document.deleted, document.seconds) {
        let (stack, kept) = (style.bold(&document.header.stack), receipt.kept.len());
        let counts = format!("{}: {deleted} deleted, {kept} kept", duration(seconds));
        let _ = match receipt.verdict {
            Status::Absent => writeln!(out, "destroyed {stack} in {counts}\n"),
            Status::NotChecked | Status::Present => writeln!(out, "{stack} is not proven gone after {counts}\n"),
        };
    }
    for failed in &document.failed {
        wrap_into(&mut out, &format!("{} {failed}", style.cross()), style.width);
    }
    let times = receipt.checks.first().map(|c| (time(&c.first_read), time(&c.second_read))).unwrap_or_default();
    row(&mut out, &format!("looked in {}", document.header.region), "how found", times.0, times.1);
    absent(&mut out, receipt.checks.iter().filter(|check| check.status == Status::Absent), style, verbose);
    for check in receipt.checks.iter().filter(|check| check.status != Status::Absent) {
        one(&mut out, check, style);
    }
    for kept in &receipt.kept {
        one_kept(&mut out, kept, style);
    }
    out.push('\n');
    let verdict = match receipt.verdict {
        Status::Absent => {
            let but = if receipt.kept.is_empty() { "" } else { ", except what you keep" };
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
    if let Some(path) = &document.kept_as {
        let _ = writeln!(out, "receipt: {path}");
    }
    out
}

fn row(out: &mut String, what: &str, found_by: &str, first: &str, second: &str) {
    let _ = writeln!(out, "{} {} {} {second}", pad(what, WHAT + 2), pad(found_by, FOUND_BY), pad(first, READ));
}

/// What was looked for twice and was not there.
fn absent<'a>(out: &mut String, checks: impl Iterator<Item = &'a Check>, style: Style, verbose: bool) {
    let mut left: Vec<&Check> = checks.collect();
    if verbose {
        for check in left {
            row(out, &format!("  {}", check.what), &ways(&[check]), "absent", "absent");
        }
        return;
    }
    for (words, kinds) in ROWS {
        let (these, others): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|check| kinds.contains(&check.what.as_str()));
        left = others;
        // A row that names several kinds holds for all of them or is not shown.
        if these.len() == kinds.len() {
            row(out, &format!("  {words}"), &ways(&these), "absent", "absent");
        } else {
            left.extend(these);
        }
    }
    if !left.is_empty() {
        let dots = style.dim("--verbose lists them");
        row(out, &format!("  … {} more kinds", left.len()), &ways(&left), "absent", &format!("absent   {dots}"));
    }
}

/// `stack tag, cluster tag, VPC`: every way that one of them was looked for.
fn ways(checks: &[&Check]) -> String {
    let words = [(STACK_TAG, "stack tag"), (CLUSTER_TAG, "cluster tag"), (VPC, "VPC"), (NAME, "name")];
    let used = words.iter().filter(|(way, _)| checks.iter().any(|check| check.found_by.iter().any(|by| by == way)));
    used.map(|(_, words)| *words).collect::<Vec<_>>().join(", ")
}

fn one(out: &mut String, check: &Check, style: Style) {
    let word = match check.status {
        Status::Absent => style.good("absent"),
        Status::NotChecked => style.warn("not checked"),
        Status::Present => style.bad("present"),
    };
    row(out, &format!("  {}", check.what), &ways(&[check]), "", &word);
    if let Some(error) = &check.error {
        for line in wrap(&error.to_string(), style.width.saturating_sub(6)) {
            let _ = writeln!(out, "      {line}");
        }
    }
    for remaining in &check.remaining {
        let price = match remaining.hourly_usd {
            Some(usd) if usd > 0.0 => format!("   {}/h", dollars(usd)),
            Some(_) => String::new(),
            None => "   no price is known".to_owned(),
        };
        let _ = writeln!(out, "    {} {}   {}{price}", style.cross(), remaining.id, remaining.state);
    }
}

fn one_kept(out: &mut String, kept: &Kept, style: Style) {
    let price = match kept.hourly_usd {
        Some(usd) if usd > 0.0 => format!("   {}/month", dollars(usd * MONTH)),
        Some(_) => String::new(),
        None => "   billed by what is in it".to_owned(),
    };
    let (what, why) = (format!("  {}", pad(&kept.what, WHAT)), format!("kept: {}", kept.why));
    let rest = format!("{}{price}", kept.id);
    if columns(&what) + columns(&why) + columns(&rest) + 4 <= style.width {
        let _ = writeln!(out, "{what} {why}   {rest}");
    } else {
        let _ = writeln!(out, "{what} {why}\n  {} {rest}", " ".repeat(WHAT));
    }
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
