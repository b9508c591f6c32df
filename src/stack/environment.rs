//! `${env:NAME}` and `${env:NAME:-default}` in values. Must never read the environment itself: a reader is passed in.

/// What could not be expanded, and where.
pub(super) struct Unexpanded {
    pub rule: &'static str,
    pub message: String,
    pub label: String,
    /// Bytes into the scalar's source.
    pub at: usize,
    pub length: usize,
}

const OPEN: &str = "${env:";

/// Expands every occurrence once; what a variable holds is never expanded again. `source` is the scalar as written
/// (quotes and escapes included), used for places alone. As in a shell, `:-` also stands in for an empty variable.
pub(super) fn expand(text: &str, source: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, Unexpanded> {
    let mut out = String::new();
    let mut rest = text;
    let mut searched = 0;
    while let Some(start) = rest.find(OPEN) {
        out.push_str(&rest[..start]);
        let at = source.get(searched..).and_then(|s| s.find(OPEN)).map_or(0, |found| searched + found);
        searched = at + OPEN.len();
        let inner = &rest[start + OPEN.len()..];
        let wrong = |length: usize, rule, message: String, label: &str| Unexpanded {
            rule,
            message,
            label: label.to_owned(),
            at,
            length,
        };
        let Some(close) = inner.find('}') else {
            return Err(wrong(OPEN.len(), "env-syntax", "`${env:` is never closed".into(), "close it with `}`"));
        };
        let length = OPEN.len() + close + 1;
        let (name, default) = match inner[..close].split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (&inner[..close], None),
        };
        let named = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !named {
            return Err(wrong(
                length,
                "env-syntax",
                format!("`{name}` can't be the name of an environment variable"),
                "write `${env:NAME}` or `${env:NAME:-default}`",
            ));
        }
        let value = match (env(name), default) {
            (Some(value), Some(default)) if value.is_empty() => default.to_owned(),
            (Some(value), _) => value,
            (None, Some(default)) => default.to_owned(),
            (None, None) => {
                return Err(Unexpanded {
                    label: format!("set it, or give a default: `${{env:{name}:-…}}`"),
                    ..wrong(length, "env-missing", format!("the environment variable `{name}` is not set"), "")
                });
            }
        };
        if value.contains(OPEN) {
            return Err(wrong(
                length,
                "env-nested",
                format!("`{name}` itself holds `${{env:`"),
                "expansion happens once: put the final value into the variable",
            ));
        }
        out.push_str(&value);
        rest = &inner[close + 1..];
    }
    out.push_str(rest);
    Ok(out)
}
