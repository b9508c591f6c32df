//! Whether policies let a request through, by IAM's order: a denial wins, then an allowance, else no. Must never call a
//! condition met whose key the request does not have.

use crate::{
    model::{Effect, Policy, Statement},
    sandbox::world::matches,
};
use std::collections::{BTreeMap, BTreeSet};

/// Keys of a request, in lower case, with their values.
pub(super) type Keys = BTreeMap<String, Vec<String>>;

pub(super) struct Request<'a> {
    /// `ec2:RunInstances`
    pub action: &'a str,
    pub resource: &'a str,
    pub keys: &'a Keys,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Allowed,
    Denied,
    /// No statement says anything.
    Silent,
}

/// What policies say of a request, and the keys that a condition asked for in vain.
pub(super) fn decide<'p>(
    policies: impl IntoIterator<Item = &'p Policy>,
    request: &Request,
) -> (Decision, BTreeSet<String>) {
    let (mut decision, mut missing) = (Decision::Silent, BTreeSet::new());
    for statement in policies.into_iter().flat_map(Policy::statements).filter(|one| is_about(one, request)) {
        if !is_met(statement, request.keys, &mut missing) {
            continue;
        }
        match statement.effect {
            Effect::Deny => return (Decision::Denied, missing),
            Effect::Allow => decision = Decision::Allowed,
        }
    }
    (decision, missing)
}

/// Whether a statement names the action and the resource; one of a trust policy names no resource.
pub(super) fn is_about(statement: &Statement, request: &Request) -> bool {
    let action = |pattern: &String| matches(&pattern.to_lowercase(), &request.action.to_lowercase());
    let resource = |pattern: &String| matches(pattern, request.resource);
    let negated = |key: &str| {
        let text = statement.other.get(key)?;
        let values: serde_json::Value = serde_json::from_str(text).ok()?;
        Some(match values {
            serde_json::Value::String(one) => vec![one],
            many => crate::sandbox::world::texts(Some(&many)),
        })
    };
    let acts = match negated("NotAction") {
        Some(others) => !others.iter().any(action),
        None => statement.actions.iter().any(action),
    };
    let reaches = match negated("NotResource") {
        Some(others) => !others.iter().any(resource),
        None => statement.resources.is_empty() || statement.resources.iter().any(resource),
    };
    acts && reaches
}

/// Whether all conditions of a statement are met.
pub(super) fn is_met(statement: &Statement, keys: &Keys, missing: &mut BTreeSet<String>) -> bool {
    let mut met = true;
    for (operator, conditions) in &statement.conditions {
        for (key, wanted) in conditions {
            let have = keys.get(&key.to_lowercase());
            if have.is_none() {
                missing.insert(key.clone());
            }
            met &= holds(operator, wanted, have.map_or(&[][..], Vec::as_slice));
        }
    }
    met
}

fn holds(operator: &str, wanted: &BTreeSet<String>, have: &[String]) -> bool {
    let (all, operator) = match operator.split_once(':') {
        Some(("ForAllValues", operator)) => (true, operator),
        Some((_, operator)) => (false, operator),
        None => (false, operator),
    };
    let (lenient, operator) = match operator.strip_suffix("IfExists") {
        Some(operator) => (true, operator),
        None => (false, operator),
    };
    if operator == "Null" {
        return wanted.contains(if have.is_empty() { "true" } else { "false" });
    }
    let (negated, operator) = match operator.split_once("Not") {
        Some((before, after)) => (true, format!("{before}{after}")),
        None => (false, operator.to_owned()),
    };
    if have.is_empty() {
        return lenient || all || negated;
    }
    let one = |value: &String| wanted.iter().any(|wanted| compares(&operator, wanted, value));
    match (all, negated) {
        (true, false) => have.iter().all(one),
        (false, false) => have.iter().any(one),
        (_, true) => !have.iter().any(one),
    }
}

/// An operator that is not known here holds for nothing.
fn compares(operator: &str, wanted: &str, value: &str) -> bool {
    let numbers = || Some((value.parse::<f64>().ok()?, wanted.parse::<f64>().ok()?));
    match operator {
        "StringEquals" => value == wanted,
        "StringEqualsIgnoreCase" | "Bool" => value.eq_ignore_ascii_case(wanted),
        "StringLike" | "ArnLike" | "ArnEquals" => matches(wanted, value),
        "NumericEquals" => numbers().is_some_and(|(value, wanted)| value == wanted),
        "NumericLessThan" => numbers().is_some_and(|(value, wanted)| value < wanted),
        "NumericLessThanEquals" => numbers().is_some_and(|(value, wanted)| value <= wanted),
        "NumericGreaterThan" => numbers().is_some_and(|(value, wanted)| value > wanted),
        "NumericGreaterThanEquals" => numbers().is_some_and(|(value, wanted)| value >= wanted),
        _ => false,
    }
}
