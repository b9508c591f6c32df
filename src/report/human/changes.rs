//! What a plan does to each object, as people read it. Must never leave out an object that changes.

use crate::{
    contract::Layer,
    model::Doc,
    plan::{Action, FieldChange, LATER, Step},
    report::{
        document::PlanDocument,
        style::{Style, columns, pad, wrap},
    },
};
use std::{collections::BTreeMap, fmt::Write};

/// Fields shown of one step; more are counted.
const FIELDS_SHOWN: usize = 12;

/// `verbose` adds objects that are kept, and fields that only follow from what they link to.
pub fn changes(out: &mut String, plan: &PlanDocument, style: Style, verbose: bool) {
    // What a destruction keeps is as much its news as what it deletes.
    let shown: Vec<&Step> =
        plan.changes.iter().filter(|step| verbose || plan.destroys || step.action != Action::Keep).collect();
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
        one(out, step, column, plan.destroys, style, verbose);
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

fn one(out: &mut String, step: &Step, column: usize, destroys: bool, style: Style, verbose: bool) {
    let mut fields: Vec<&FieldChange> = match step.action {
        Action::Create => vec![],
        _ => step.fields.iter().filter(|change| verbose || !follows(change, step)).collect(),
    };
    let text = match (step.action, fields.as_slice()) {
        (Action::Delete, _) if destroys => deleted(step),
        (Action::Keep, _) if destroys => format!("kept: {}", step.reason),
        (Action::Create | Action::Keep, _) if !step.headline.is_empty() => step.headline.clone(),
        // One field says more than a sentence that names it.
        (Action::Update, [only]) if says_only_which(&step.reason) => {
            let text = field(only, style.width.saturating_sub(column + 24));
            fields.clear();
            format!("{text}, in place")
        }
        (Action::Replace, [only]) if step.reason.ends_with(" can't be changed on a live object") => {
            let text = field(only, style.width.saturating_sub(column + 24));
            fields.clear();
            format!("{text}; can't change in place")
        }
        _ => step.reason.clone(),
    };
    // Whoever destroys a stack knows that it stops.
    let warning = if step.interrupts && !destroys { style.bad("interrupts what runs") } else { String::new() };
    let room = style.width.saturating_sub(column + 5);
    let mut lines = wrap(&text, room);
    if !warning.is_empty() {
        let last = lines.last_mut().filter(|last| columns(last) + 3 + columns(&warning) <= room);
        match last {
            Some(last) => *last = format!("{last}   {warning}"),
            None => lines.push(warning),
        }
    }
    let mut lines = lines.into_iter();
    let first = lines.next().unwrap_or_default();
    let _ = writeln!(out, "{} {} {first}", style.action(step.action), pad(step.address.as_str(), column));
    for line in lines {
        let _ = writeln!(out, "    {} {line}", " ".repeat(column));
    }
    for change in fields.iter().take(FIELDS_SHOWN) {
        let forces = if change.forces_replacement { style.bad("   forces replacement") } else { String::new() };
        let _ = writeln!(out, "      {}{forces}", field(change, style.width.saturating_sub(26)));
    }
    if fields.len() > FIELDS_SHOWN {
        let _ = writeln!(out, "      … {} more fields", fields.len() - FIELDS_SHOWN);
    }
}

fn deleted(step: &Step) -> String {
    let id = step.id.as_deref().unwrap_or_default();
    match step.headline.as_str() {
        "" => id.to_owned(),
        // An id that is made of an ARN says the headline once more.
        headline if headline.contains(id) || id.contains("arn:") => headline.to_owned(),
        headline => format!("{headline}, {id}"),
    }
}

/// `max differs`, `tags differ`: without a cause.
fn says_only_which(reason: &str) -> bool {
    reason.strip_suffix(" differs").or_else(|| reason.strip_suffix(" differ")).is_some_and(|path| !path.contains(' '))
}

/// True for a link to what is not made yet, and for the old link that it takes the place of: the step's reason names both.
fn follows(change: &FieldChange, step: &Step) -> bool {
    let later = |doc: &Doc| doc.to_string().contains(LATER);
    later(&change.after)
        || change.after.is_null() && step.fields.iter().any(|other| other.path == change.path && later(&other.after))
}

/// `nodes.max 3 → 5`
fn field(change: &FieldChange, width: usize) -> String {
    let path = change.path.trim_start_matches('/').replace('/', ".");
    let room = width.saturating_sub(path.len() + 4) / 2;
    format!("{path} {} → {}", value(&change.before, room), value(&change.after, room))
}

fn value(doc: &Doc, room: usize) -> String {
    let text = match doc {
        Doc::Null => "none".to_owned(),
        Doc::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.chars().count() <= room.max(18) {
        return text;
    }
    let head: String = text.chars().take(room.max(18).saturating_sub(1)).collect();
    format!("{head}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_that_only_names_fields_is_told_apart() {
        assert!(says_only_which("max differs"));
        assert!(says_only_which("tags differ"));
        assert!(!says_only_which("interfaces differs, since cluster.main changes"));
        assert!(!says_only_which("vol-1 lost its tags, and is otherwise as wished; tags differ"));
    }
}
