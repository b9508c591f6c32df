//! Single values by YAML 1.2's core schema, and the units of the file. Must never guess a unit.

use super::shape::{Format, Shape};
use super::suggest;
use super::tree::Scalar;
use super::value::Value;
use regex_lite::Regex;

/// Why a value was refused.
pub(super) struct Wrong {
    pub rule: &'static str,
    pub message: String,
    pub label: String,
}

fn wrong(rule: &'static str, message: impl Into<String>, label: impl Into<String>) -> Wrong {
    Wrong { rule, message: message.into(), label: label.into() }
}

/// The value as the shape wants it. Shapes that are no single value refuse.
pub(super) fn read(shape: &Shape, scalar: &Scalar) -> Result<Value, Wrong> {
    let text = scalar.text.as_str();
    let open = scalar.plain || scalar.expanded;
    match shape {
        Shape::Bool if open => match boolean(text) {
            Some(value) => Ok(Value::Bool(value)),
            None => Err(refuse(shape, scalar)),
        },
        Shape::Whole { min, max } if open => match whole(text) {
            Some(value) if (*min..=*max).contains(&value) => Ok(Value::Whole(value)),
            _ => Err(refuse(shape, scalar)),
        },
        Shape::Number { above, max } if open => match number(text) {
            Some(value) if value > *above && value <= *max => Ok(Value::Number(value)),
            _ => Err(refuse(shape, scalar)),
        },
        Shape::Word(words) if words.iter().any(|(word, _)| *word == text) => Ok(Value::Text(text.to_owned())),
        // Numbers are kept as they are written, so that `1.30` stays what it is; booleans are too often a mistake.
        Shape::Text(_) if scalar.plain && !scalar.expanded && boolean(text).is_some() => Err(wrong(
            "wrong-type",
            format!("`{text}` is a boolean"),
            format!("quote it to have it as text: \"{text}\""),
        )),
        Shape::Text(format) => self::text(format, text).map(|()| Value::Text(text.to_owned())),
        _ => Err(refuse(shape, scalar)),
    }
}

/// Says why a value is none of what the shape takes.
pub(super) fn refuse(shape: &Shape, scalar: &Scalar) -> Wrong {
    let text = scalar.text.as_str();
    let shown = shorten(text);
    let quoted = !scalar.plain && !scalar.expanded;
    match shape {
        Shape::Bool if quoted && boolean(text).is_some() => {
            wrong("wrong-type", format!("\"{shown}\" is text"), format!("without quotes it is a boolean: {text}"))
        }
        Shape::Bool => {
            let meant = match text.to_ascii_lowercase().as_str() {
                "yes" | "on" | "y" => "; in YAML 1.2 `yes` and `on` are text: write `true`",
                "no" | "off" | "n" => "; in YAML 1.2 `no` and `off` are text: write `false`",
                _ => "",
            };
            wrong("wrong-type", format!("`{shown}` is no boolean"), format!("expected {}{meant}", shape.expected()))
        }
        Shape::Whole { .. } | Shape::Number { .. } if quoted && number(text).is_some() => {
            wrong("wrong-type", format!("\"{shown}\" is text"), format!("without quotes it is a number: {text}"))
        }
        Shape::Whole { .. } | Shape::Number { .. } if number(text).is_some() => {
            wrong("out-of-range", format!("{shown} can't be"), format!("expected {}", shape.expected()))
        }
        Shape::Whole { .. } | Shape::Number { .. } => {
            wrong("wrong-type", format!("`{shown}` is no number"), format!("expected {}", shape.expected()))
        }
        _ => {
            let near = words(shape).and_then(|words| suggest::nearest(text, words.into_iter()));
            let label = match near {
                Some(near) => format!("did you mean `{near}`? expected {}", shape.expected()),
                None => format!("expected {}", shape.expected()),
            };
            wrong("unknown-value", format!("`{shown}` can't be"), label)
        }
    }
}

fn words(shape: &Shape) -> Option<Vec<&'static str>> {
    match shape {
        Shape::Word(words) => Some(words.iter().map(|(word, _)| *word).collect()),
        Shape::Either(shapes) => Some(shapes.iter().filter_map(words).flatten().collect()),
        _ => None,
    }
}

pub(super) fn text(format: &Format, text: &str) -> Result<(), Wrong> {
    if format.admits(text) {
        return Ok(());
    }
    let shown = shorten(text);
    if format.what == "a zone id"
        && let Some(region) = letters(text)
    {
        let message = format!("`{shown}` is a zone by letter, and letters differ from account to account");
        let lookup = format!("`aws ec2 describe-availability-zones --region {region}` shows the id of each letter");
        return Err(wrong("zone-letter", message, format!("write the zone's id, like `usw2-az2`; {lookup}")));
    }
    Err(wrong("format", format!("`{shown}` is not {}", format.what), format.way_out))
}

/// The region of `us-west-2a` or `us-west-2-lax-1a`.
fn letters(zone: &str) -> Option<&str> {
    let named = Regex::new("^([a-z]{2}(-[a-z]+){1,2}-[0-9]+)(-[a-z]+-[0-9]+)?[a-z]$").expect("a constant pattern");
    Some(named.captures(zone)?.get(1)?.as_str())
}

pub(super) fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

fn whole(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return u64::from_str_radix(octal, 8).ok();
    }
    text.parse().ok()
}

/// Finite numbers only: no field means infinity.
fn number(text: &str) -> Option<f64> {
    let starts = text.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !starts {
        return None;
    }
    whole(text).map(|value| value as f64).or_else(|| text.parse().ok()).filter(|value: &f64| value.is_finite())
}

pub(super) fn json(scalar: &Scalar) -> serde_json::Value {
    let text = scalar.text.as_str();
    if scalar.plain || scalar.expanded {
        if let Some(value) = boolean(text) {
            return value.into();
        }
        if let Ok(value) = text.parse::<i64>() {
            return value.into();
        }
        if let Some(value) = whole(text) {
            return value.into();
        }
        if let Some(value) = number(text) {
            return value.into();
        }
    }
    text.into()
}

/// Seconds of a duration in the file's format; `None` beyond 2⁶³.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let mut total = 0_u64;
    let mut digits = String::new();
    for c in text.chars() {
        let unit = match c {
            '0'..='9' => {
                digits.push(c);
                continue;
            }
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            _ => return None,
        };
        total = total.checked_add(digits.parse::<u64>().ok()?.checked_mul(unit)?)?;
        digits.clear();
    }
    digits.is_empty().then_some(total)
}

/// GiB of a size in the file's format.
pub(super) fn gib(text: &str) -> Option<u32> {
    let (digits, unit) = match text.strip_suffix("Gi") {
        Some(digits) => (digits, 1),
        None => (text.strip_suffix("Ti")?, 1024),
    };
    digits.parse::<u32>().ok()?.checked_mul(unit)
}

/// A duration as one number and the largest unit that holds it whole.
pub(super) fn duration(seconds: u64) -> String {
    match seconds {
        s if s > 0 && s.is_multiple_of(3_600) => format!("{}h", s / 3_600),
        s if s > 0 && s.is_multiple_of(60) => format!("{}m", s / 60),
        s => format!("{s}s"),
    }
}

/// True for what YAML's core schema, and the older one of other readers, takes for text without quotes.
pub(super) fn is_text(text: &str) -> bool {
    let word = text.to_ascii_lowercase();
    let older = matches!(word.as_str(), "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n");
    !older && number(text).is_none() && whole(text).is_none()
}
