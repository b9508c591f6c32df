//! Requests whose operation is their method and path (`rest-json`, `rest-xml`). Must never look at a body.

use super::model::{Model, Operation};
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;

/// Which operation a method, path and query mean, with what the path holds, by the names of the URI template.
///
/// Of several that fit, the one with the most literal parts wins: `PUT /{Bucket}?tagging` before `PUT /{Bucket}`.
pub fn route<'m>(
    model: &'m Model,
    method: &str,
    path: &str,
    query: &[(String, String)],
) -> Option<(&'m str, &'m Operation, BTreeMap<String, String>)> {
    model
        .operations
        .iter()
        .filter(|(_, operation)| operation.method == method)
        .filter_map(|(name, operation)| {
            let (template, literals) = operation.uri.split_once('?').unwrap_or((&operation.uri, ""));
            let mut weight = 0;
            for literal in literals.split('&').filter(|literal| !literal.is_empty()) {
                let (key, value) = literal.split_once('=').unwrap_or((literal, ""));
                query.iter().find(|(k, v)| k == key && (value.is_empty() || v == value))?;
                // `list-type=2` and `x-id=…` tell operations of one path apart; `x-id` alone is no reason to prefer one.
                weight += if key == "x-id" { 1 } else { 100 };
            }
            let (labels, literal_parts) = labels(template, path)?;
            Some((weight + literal_parts * 10, name.as_str(), operation, labels))
        })
        .max_by_key(|(weight, ..)| *weight)
        .map(|(_, name, operation, labels)| (name, operation, labels))
}

/// What a path holds for the `{labels}` of a template, and how many parts are literal.
fn labels(template: &str, path: &str) -> Option<(BTreeMap<String, String>, usize)> {
    let (mut found, mut literal) = (BTreeMap::new(), 0);
    let mut parts = path.trim_start_matches('/').splitn(path.len() + 1, '/').peekable();
    for part in template.trim_start_matches('/').split('/') {
        if let Some(greedy) = part.strip_prefix('{').and_then(|part| part.strip_suffix("+}")) {
            let rest: Vec<&str> = parts.by_ref().collect();
            if rest.iter().all(|part| part.is_empty()) {
                return None;
            }
            found.insert(greedy.to_owned(), decoded(&rest.join("/")));
        } else if let Some(label) = part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            let value = parts.next().filter(|value| !value.is_empty())?;
            found.insert(label.to_owned(), decoded(value));
        } else {
            if parts.next() != Some(part) {
                return None;
            }
            literal += usize::from(!part.is_empty());
        }
    }
    let rest_is_empty = parts.all(|part| part.is_empty());
    rest_is_empty.then_some((found, literal))
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}
