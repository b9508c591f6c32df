//! The plan as people read it: what, why, how much, how long, what now. Must never decide what a plan means.

use super::{changes::changes, money::money};
use crate::{
    plan::{Action, Summary},
    preflight::{Finding, Verdict},
    report::{
        document::PlanDocument,
        style::{Style, duration, pad, wrap},
    },
};
use std::fmt::Write;

/// The whole screen. `verbose` adds checks that pass and objects that are kept.
pub fn plan(plan: &PlanDocument, style: Style, verbose: bool) -> String {
    let mut out = String::new();
    let changed = plan.changes.iter().filter(|step| step.action != Action::Keep).count();
    if changed == 0 && worst(&plan.preflight) <= Verdict::Warn && !verbose {
        settled(&mut out, plan, style);
        return out;
    }
    head(&mut out, plan, style);
    if !plan.preflight.is_empty() {
        let _ = write!(out, "\n{}\n{}", style.bold("Preflight"), findings(&plan.preflight, style, verbose));
    }
    if !plan.choices.is_empty() && !plan.destroys {
        let _ = writeln!(out, "\n{}", style.bold("Choices"));
        for choice in &plan.choices {
            let text = format!("{}, because {}", choice.value, choice.because);
            labelled(&mut out, &choice.subject, &text, style);
        }
    }
    changes(&mut out, plan, style, verbose);
    offers(&mut out, plan, style);
    out.push('\n');
    money(&mut out, &plan.cost, style);
    if plan.estimate.seconds > 0 {
        let path = plan.estimate.longest.join(" → ");
        let path = if path.is_empty() { String::new() } else { format!(": {path}") };
        let text = format!("about {}{path}", duration(plan.estimate.seconds));
        out.push_str(&style.bold("Time"));
        let mut lines = wrap(&text, style.width.saturating_sub(10)).into_iter();
        let _ = writeln!(out, "      {}", lines.next().unwrap_or_default());
        for line in lines {
            let _ = writeln!(out, "          {line}");
        }
    }
    notes(&mut out, plan, style);
    let s = &plan.summary;
    let blocked = if s.blocked > 0 { format!(", {} blocked", s.blocked) } else { String::new() };
    let totals = if plan.destroys {
        format!("{} to delete{blocked}, {} kept.", s.delete, s.keep)
    } else {
        let Summary { create, update, replace, delete, keep, .. } = s;
        format!(
            "{create} to create, {update} to change, {replace} to replace, {delete} to delete{blocked}, {keep} as they are."
        )
    };
    let _ = writeln!(out, "\n{totals}   {}", calls(plan));
    if changed > 0 && s.blocked == 0 && worst(&plan.preflight) != Verdict::Block {
        let _ = writeln!(out, "Apply with:  {}", plan.apply_with);
    }
    out
}

/// What keeps `up` from starting: only the checks that do, each with cause, numbers and remedy.
pub fn blocked(plan: &PlanDocument, style: Style) -> String {
    let mut out = String::new();
    head(&mut out, plan, style);
    out.push('\n');
    let blocking: Vec<Finding> =
        plan.preflight.iter().filter(|finding| finding.verdict == Verdict::Block).cloned().collect();
    out.push_str(&findings(&blocking, style, true));
    let nothing = if plan.changes.iter().any(|step| step.id.is_some()) { "changed" } else { "created" };
    let _ = writeln!(out, "\nNothing was {nothing}.   {}", calls(plan));
    out
}

fn worst(findings: &[Finding]) -> Verdict {
    crate::preflight::worst(findings)
}

fn calls(plan: &PlanDocument) -> String {
    let c = plan.api_calls;
    format!("{} API calls, {:.1} s", c.state + c.facts + c.kubernetes, plan.seconds)
}

fn settled(out: &mut String, plan: &PlanDocument, style: Style) {
    let stack = &plan.header.stack;
    let n = plan.changes.len();
    let what = match (plan.destroys, n) {
        (true, 0) => "nothing of it lives, so there is nothing to destroy".to_owned(),
        (true, _) => format!("only {n} things are there, and they are kept: nothing to destroy"),
        (false, _) => format!("is as the file says: {n} resources looked at, no change"),
    };
    let colon = if plan.destroys { ":" } else { "" };
    let _ = writeln!(out, "{}{colon} {what}.   {}", style.bold(stack), calls(plan));
    out.push_str(&findings(&plan.preflight, style, false));
    offers(out, plan, style);
    notes(out, plan, style);
}

fn head(out: &mut String, plan: &PlanDocument, style: Style) {
    let account = plan.header.account.as_deref().map(|a| format!("account {}  ", style.account(a))).unwrap_or_default();
    let caller = plan.caller.as_deref().map(|arn| format!("  as {}", principal(arn))).unwrap_or_default();
    let expires = if plan.destroys { String::new() } else { format!("   expires {}", plan.expires) };
    let _ = writeln!(out, "{}   {account}{}{caller}{expires}", style.bold(&plan.header.stack), plan.header.region);
}

/// `role/platform-ci` of an ARN.
fn principal(arn: &str) -> &str {
    arn.rsplit(':').next().unwrap_or(arn)
}

/// Findings with their remedies; those that pass only when asked for, else counted.
pub fn findings(findings: &[Finding], style: Style, verbose: bool) -> String {
    let mut out = String::new();
    let mut passed = 0;
    for finding in findings {
        if finding.verdict == Verdict::Pass && !verbose {
            passed += 1;
            continue;
        }
        let mut lines = wrap(&finding.message, style.width.saturating_sub(17)).into_iter();
        let check = pad(finding.check.name(), 11);
        let _ =
            writeln!(out, "  {} {check} {}", pad(&style.verdict(finding.verdict), 1), lines.next().unwrap_or_default());
        for line in lines {
            let _ = writeln!(out, "                {line}");
        }
        for line in finding.remedy.iter().flat_map(|remedy| remedy.lines()) {
            let _ = writeln!(out, "                {line}");
        }
    }
    if passed > 0 {
        let noun = if passed == 1 { "check passes" } else { "checks pass" };
        let _ = writeln!(out, "  {} {passed} {noun}   {}", style.tick(), style.dim("--verbose lists them"));
    }
    out
}

fn labelled(out: &mut String, label: &str, text: &str, style: Style) {
    let width = label.chars().count().max(12);
    let mut lines = wrap(text, style.width.saturating_sub(width + 3)).into_iter();
    let _ = writeln!(out, "  {} {}", pad(label, width), lines.next().unwrap_or_default());
    for line in lines {
        let _ = writeln!(out, "  {} {line}", " ".repeat(width));
    }
}

fn offers(out: &mut String, plan: &PlanDocument, style: Style) {
    if plan.offers.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}   newer, taken only when you say so", style.bold("Offers"));
    for offer in &plan.offers {
        let text = format!("{} → {}   {}", offer.current, offer.newer, offer.take);
        labelled(out, &offer.subject, &text, style);
    }
}

fn notes(out: &mut String, plan: &PlanDocument, style: Style) {
    for note in &plan.notes {
        for line in wrap(&format!("note: {note}"), style.width) {
            let _ = writeln!(out, "{line}");
        }
    }
}
