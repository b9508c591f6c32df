//! What a misspelt word probably was. Must never change it silently.

use super::shape::{Object, STACK, Shape};

/// Similarity (Jaro–Winkler, 0–1) below which a suggestion would only puzzle.
const CLOSE: f64 = 0.82;

/// The nearest of some words; spelling in `snake_case` or `kebab-case` counts as the same.
pub(super) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_ascii_lowercase().replace(['_', '-'], "");
    let word = plain(word);
    known
        .map(|candidate| (strsim::jaro_winkler(&word, &plain(candidate)), candidate))
        .filter(|(similarity, _)| *similarity >= CLOSE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

pub(super) fn field(object: &Object, key: &str) -> Option<&'static str> {
    nearest(key, object.fields.iter().map(|field| field.key))
}

/// Where else in the file a field of this name belongs: `in `serving``.
pub(super) fn home(key: &str) -> Option<String> {
    if STACK.field(key).is_some() {
        return Some("at the top of the file".into());
    }
    let mut homes = Vec::new();
    within(&STACK, "", key, &mut homes);
    // Words like `name` have many homes and so none.
    match homes.as_slice() {
        [only] => Some(format!("in `{only}`")),
        _ => None,
    }
}

fn within(object: &Object, path: &str, key: &str, homes: &mut Vec<String>) {
    for field in object.fields {
        let at = if path.is_empty() { field.key.to_owned() } else { format!("{path}.{}", field.key) };
        objects(&field.shape, &mut |inner| {
            if inner.field(key).is_some() {
                homes.push(at.clone());
            }
            within(inner, &at, key, homes);
        });
    }
}

fn objects(shape: &Shape, visit: &mut dyn FnMut(&'static Object)) {
    match shape {
        Shape::Object(object) => visit(object),
        Shape::List(item) | Shape::Map(_, item) => objects(item, visit),
        Shape::Either(shapes) => shapes.iter().for_each(|shape| objects(shape, visit)),
        _ => {}
    }
}
