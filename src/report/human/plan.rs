//! The plan as people read it: what, why, how much, how long, what now. Must never decide what a plan means.

use crate::{
    contract::Layer,
    model::Doc,
    plan::{Action, FieldChange, Step},
    preflight::{Finding, Verdict},
    report::{
        document::PlanDocument,
        style::{Style, dollars, duration, grouped, masked_account, pad, wrap},
    },
};
use std::{collections::BTreeMap, fmt::Write};

/// Fields shown of one step; more are counted.
const FIELDS_SHOWN: usize = 12;

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
    money(&mut out, plan, style);
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
    let _ = writeln!(
        out,
        "\n{} to create, {} to change, {} to replace, {} to delete{blocked}, {} as they are.   {}",
        s.create,
        s.update,
        s.replace,
        s.delete,
        s.keep,
        calls(plan)
    );
    if changed > 0 && s.blocked == 0 && worst(&plan.preflight) != Verdict::Block {
        let _ = writeln!(out, "Apply with:  {}", plan.apply_with);
    }
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
    let what = if plan.destroys { "nothing of it lives" } else { "is as the file says" };
    let _ = writeln!(
        out,
        "{} {what}: {} resources looked at, no change.   {}",
        style.bold(stack),
        plan.changes.len(),
        calls(plan)
    );
    out.push_str(&findings(&plan.preflight, style, false));
    offers(out, plan, style);
    notes(out, plan, style);
}

fn head(out: &mut String, plan: &PlanDocument, style: Style) {
    let account =
        plan.header.account.as_deref().map(|a| format!("account {}  ", masked_account(a))).unwrap_or_default();
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

fn changes(out: &mut String, plan: &PlanDocument, style: Style, verbose: bool) {
    let shown: Vec<&Step> = plan.changes.iter().filter(|step| verbose || step.action != Action::Keep).collect();
    if shown.is_empty() {
        return;
    }
    let mut layers: BTreeMap<Layer, usize> = BTreeMap::new();
    plan.changes
        .iter()
        .filter(|step| step.action != Action::Keep)
        .for_each(|s| *layers.entry(s.layer).or_default() += 1);
    let counts: Vec<String> = layers.iter().map(|(layer, n)| format!("{} {n}", layer_name(*layer))).collect();
    let _ = writeln!(out, "\n{}   {}", style.bold("Changes"), counts.join("   "));
    let column = shown.iter().map(|step| step.address.as_str().len()).max().unwrap_or(0).clamp(24, 44);
    for step in shown {
        one(out, step, column, style);
    }
}

fn layer_name(layer: Layer) -> &'static str {
    match layer {
        Layer::Network => "network",
        Layer::Identity => "identity",
        Layer::Cluster => "cluster",
        Layer::Nodes => "nodes",
        Layer::Storage => "storage",
        Layer::Serving => "serving",
        Layer::Costs => "costs",
    }
}

fn one(out: &mut String, step: &Step, column: usize, style: Style) {
    let text = match step.action {
        Action::Create | Action::Keep if !step.headline.is_empty() => step.headline.clone(),
        _ => step.reason.clone(),
    };
    let warning = if step.interrupts { style.bad("   interrupts what runs") } else { String::new() };
    let mut lines = wrap(&text, style.width.saturating_sub(column + 6)).into_iter();
    let _ = writeln!(
        out,
        "{} {} {}{warning}",
        style.action(step.action),
        pad(step.address.as_str(), column),
        lines.next().unwrap_or_default()
    );
    for line in lines {
        let _ = writeln!(out, "    {} {line}", " ".repeat(column));
    }
    if step.action == Action::Create {
        return;
    }
    for change in step.fields.iter().take(FIELDS_SHOWN) {
        let forces = if change.forces_replacement { style.bad("   forces replacement") } else { String::new() };
        let _ = writeln!(out, "      {}{forces}", field(change, style));
    }
    if step.fields.len() > FIELDS_SHOWN {
        let _ = writeln!(out, "      … {} more fields", step.fields.len() - FIELDS_SHOWN);
    }
}

/// `nodes.max 3 → 5`
fn field(change: &FieldChange, style: Style) -> String {
    let path = change.path.trim_start_matches('/').replace('/', ".");
    let room = style.width.saturating_sub(path.len() + 10) / 2;
    format!("{path} {} → {}", value(&change.before, room), value(&change.after, room))
}

fn value(doc: &Doc, room: usize) -> String {
    let text = match doc {
        Doc::Null => "none".to_owned(),
        Doc::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.chars().count() <= room.max(16) {
        return text;
    }
    let head: String = text.chars().take(room.max(16).saturating_sub(1)).collect();
    format!("{head}…")
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

fn money(out: &mut String, plan: &PlanDocument, style: Style) {
    let cost = &plan.cost;
    if cost.items.is_empty() && cost.unknown.is_empty() && cost.hourly_now == 0.0 {
        out.push('\n');
        return;
    }
    let until = cost.until_expiry.map(|usd| format!("   until expiry {}", dollars(usd))).unwrap_or_default();
    let as_of = cost.as_of.as_deref().map(|day| format!("      prices of {day}")).unwrap_or_default();
    let _ = writeln!(
        out,
        "\n{}     now {}/h   after {}/h   at most {}/h{until}{as_of}",
        style.bold("Money"),
        dollars(cost.hourly_now),
        dollars(cost.hourly_after),
        dollars(cost.hourly_max)
    );
    let mut units: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for item in &cost.items {
        let sum = units.entry(&item.unit).or_default();
        *sum = (sum.0 + item.quantity, sum.1 + item.hourly);
    }
    let mut sums: Vec<(&str, (f64, f64))> = units.into_iter().filter(|(_, (_, hourly))| *hourly > 0.0).collect();
    sums.sort_by(|a, b| b.1.1.total_cmp(&a.1.1));
    let words: Vec<String> = sums
        .into_iter()
        .map(|(unit, (quantity, hourly))| format!("{} × {unit} {}/h", quantity_text(quantity), dollars(hourly)))
        .collect();
    for line in columns_of(&words, style.width.saturating_sub(2)) {
        let _ = writeln!(out, "  {line}");
    }
    if !cost.unknown.is_empty() {
        let list: Vec<String> = cost.unknown.iter().map(|u| format!("{} ({})", u.address, u.why)).collect();
        for line in wrap(&format!("not in these sums: {}", list.join("; ")), style.width.saturating_sub(2)) {
            let _ = writeln!(out, "  {}", style.warn(&line));
        }
    }
}

fn quantity_text(quantity: f64) -> String {
    if quantity.fract() == 0.0 { grouped(quantity as u64) } else { format!("{quantity:.2}") }
}

/// Joins items with three blanks into lines of at most `width` columns; an item is never broken.
fn columns_of(items: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for item in items {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 3 + item.chars().count() <= width => {
                line.push_str("   ");
                line.push_str(item);
            }
            _ => lines.push(item.clone()),
        }
    }
    lines
}

fn notes(out: &mut String, plan: &PlanDocument, style: Style) {
    for note in &plan.notes {
        for line in wrap(&format!("note: {note}"), style.width) {
            let _ = writeln!(out, "{line}");
        }
    }
}
