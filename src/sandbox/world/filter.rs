//! Filters of EC2's describe calls. Must never ignore a filter that it does not know: AWS refuses it.

use super::Context;
use crate::{model::Tags, sandbox::wire::Fault};
use serde_json::Value;

/// True when an object passes every filter of the call. `values` gives what the object has under a filter's name: `None`
/// for a name that this describe call does not have. Tag filters are answered from `tags`.
pub fn keep(context: &Context, tags: &Tags, values: &dyn Fn(&str) -> Option<Vec<String>>) -> Result<bool, Fault> {
    // One describe call spells its parameter in the singular: DescribeNatGateways.
    for filter in context.list("Filters").iter().chain(context.list("Filter")) {
        let name = filter.get("Name").and_then(Value::as_str).unwrap_or("");
        let wanted = super::texts(filter.get("Values"));
        let have = match name.split_once(':') {
            Some(("tag", key)) => tags.get(key).cloned().into_iter().collect(),
            _ if name == "tag-key" => tags.keys().cloned().collect(),
            _ if name == "tag-value" => tags.values().cloned().collect(),
            _ => values(name)
                .ok_or_else(|| Fault::new("InvalidParameterValue", format!("The filter '{name}' is invalid")))?,
        };
        if !have.iter().any(|have| wanted.iter().any(|pattern| matches(pattern, have))) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `*` stands for any run of characters, `?` for one; a backslash takes the meaning away.
pub fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    // Positions in the pattern reached after each character, so that the time is pattern times text at most.
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    spread(&pattern, &mut reached);
    for c in text {
        let mut next = vec![false; pattern.len() + 1];
        for (i, _) in reached.iter().enumerate().filter(|(_, reached)| **reached) {
            match pattern.get(i) {
                Some('*') => next[i] = true,
                Some('?') => next[i + 1] = true,
                Some('\\') if pattern.get(i + 1) == Some(&c) => next[i + 2] = true,
                Some(p) if *p == c => next[i + 1] = true,
                _ => {}
            }
        }
        spread(&pattern, &mut next);
        reached = next;
    }
    reached[pattern.len()]
}

/// A star may stand for nothing.
fn spread(pattern: &[char], reached: &mut [bool]) {
    for i in 0..pattern.len() {
        if reached[i] && pattern[i] == '*' {
            reached[i + 1] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_stand_for_anything() {
        assert!(matches("a*c", "abbc") && matches("*", "") && matches("a?c", "abc") && matches("a\\*", "a*"));
        assert!(!matches("a*c", "abd") && !matches("a\\*", "ab") && !matches("", "a"));
    }
}
