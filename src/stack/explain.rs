//! A spec as a stack file again, every default filled in. Must never print what the reader would read differently.

use super::scalar;
use super::shape::{Object, STACK, Shape};
use super::{Efa, Model, Network, Parallelism, Spec};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Lines longer than this are broken up, where YAML lets them.
const WIDTH: usize = 100;

/// The file that says everything the spec says. What is only known from what lives stands as `null`, with the reason.
/// Reads back as the same spec.
pub fn explain(spec: &Spec) -> String {
    let mut out = String::from("# yaml-language-server: $schema=../schema/stack.schema.json\n");
    if let Value::Object(file) = as_written(spec) {
        object(&mut out, &STACK, &file, 0);
    }
    out
}

/// The spec in the words of the file. Where both spell a thing alike, serde does it.
fn as_written(spec: &Spec) -> Value {
    // A spec holds strings, numbers and maps with string keys, which JSON always takes.
    let mut file = serde_json::to_value(spec).unwrap_or_default();
    file["apiVersion"] = json!("infer-stack/v1");
    file["expires"] = match &spec.expires {
        super::Expires::After(seconds) => json!(scalar::duration(*seconds)),
        super::Expires::At(time) => json!(time),
        super::Expires::Never => json!("never"),
    };
    file["network"] = match &spec.network {
        Network::Made { cidr, zones, nat_gateways } => {
            json!({ "cidr": cidr, "zones": zones, "natGateways": nat_gateways })
        }
        Network::Brought { vpc, nodes, control_plane, load_balancers } => json!({
            "vpc": vpc,
            "subnets": { "nodes": nodes, "controlPlane": control_plane, "loadBalancers": load_balancers },
        }),
    };
    for (index, group) in spec.placement_groups.iter().enumerate() {
        if let super::PlacementStrategy::Partition { partitions } = group.strategy {
            file["placementGroups"][index] =
                json!({ "name": group.name, "strategy": "partition", "partitions": partitions });
        }
    }
    for (index, class) in spec.node_classes.iter().enumerate() {
        let written = &mut file["nodeClasses"][index];
        if let Efa::Count(count) = class.efa {
            written["efa"] = json!(count);
        }
        written["volume"]["size"] = json!(format!("{}Gi", class.volume.size));
    }
    if let Some(fsx) = spec.weights.as_ref().and_then(|weights| weights.fsx.as_ref()) {
        file["weights"]["fsx"]["capacity"] = json!(format!("{}Gi", fsx.capacity));
    }
    if let Some(serving) = &spec.serving {
        let written = &mut file["serving"];
        written["model"] = match &serving.model {
            Model::Named(name) => json!(name),
            Model::Config { path, .. } => json!({ "config": path }),
        };
        if let Parallelism::Fixed { tensor, pipeline } = serving.parallelism {
            written["parallelism"] = json!({ "tensor": tensor, "pipeline": pipeline });
        }
        if let Some(autoscaling) = &serving.autoscaling {
            written["autoscaling"]["scaleDownAfter"] = json!(scalar::duration(autoscaling.scale_down_after));
        }
        if let Some(ingress) = &serving.ingress {
            written["ingress"]["idleTimeout"] = json!(scalar::duration(ingress.idle_timeout));
        }
    }
    file
}

/// Fields in the table's order, one a line or a block each.
fn object(out: &mut String, object: &Object, values: &Map<String, Value>, indent: usize) {
    for field in object.fields {
        let Some(value) = values.get(field.key) else { continue };
        let lead = " ".repeat(indent);
        if value.is_null() {
            let _ = writeln!(out, "{lead}{}: null  # {}", field.key, field.default);
            continue;
        }
        let _ = write!(out, "{lead}{}:", field.key);
        node(out, &field.shape, value, indent + 2, lead.len() + field.key.len() + 2);
    }
}

/// Behind a key: on its line where it is short, else as a block below.
fn node(out: &mut String, shape: &Shape, value: &Value, indent: usize, column: usize) {
    let inline = flow(shape, value);
    // `inline` is what an empty list or mapping is, too.
    let short = is_leaf(value) && column + inline.len() <= WIDTH;
    let block = !(short || is_empty(value));
    match (value, inner(shape, value)) {
        (Value::Object(values), Some(Shape::Object(table))) if block => {
            out.push('\n');
            object(out, table, values, indent);
        }
        (Value::Object(values), Some(Shape::Map(_, item))) if !values.is_empty() => {
            out.push('\n');
            for (key, value) in values {
                let key = text(key);
                let _ = write!(out, "{}{key}:", " ".repeat(indent));
                node(out, item, value, indent + 2, indent + key.len() + 2);
            }
        }
        (Value::Array(items), Some(Shape::List(item))) if block => {
            out.push('\n');
            for item_value in items {
                let mut block = String::new();
                match (item_value, item) {
                    (Value::Object(values), Shape::Object(table)) if !is_leaf(item_value) => {
                        object(&mut block, table, values, indent + 2);
                    }
                    _ => {
                        let _ = writeln!(block, "{}{}", " ".repeat(indent + 2), flow(item, item_value));
                    }
                }
                // The dash takes the place of the block's first two columns.
                let _ = write!(out, "{}- {}", " ".repeat(indent), &block[indent + 2..]);
            }
        }
        _ => {
            let _ = writeln!(out, " {inline}");
        }
    }
}

/// The alternative that the value has the form of.
fn inner<'s>(shape: &'s Shape, value: &Value) -> Option<&'s Shape> {
    match shape {
        Shape::Either(shapes) => shapes.iter().find(|shape| match shape {
            Shape::Object(_) | Shape::Map(..) => value.is_object(),
            Shape::List(_) => value.is_array(),
            _ => !value.is_object() && !value.is_array(),
        }),
        Shape::Json => None,
        shape => Some(shape),
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

/// Nothing inside but single values that are there.
fn is_leaf(value: &Value) -> bool {
    let single = |value: &Value| !value.is_null() && !value.is_object() && !value.is_array();
    match value {
        Value::Object(values) => values.values().all(single),
        Value::Array(items) => items.iter().all(single),
        _ => true,
    }
}

/// On one line, fields in the table's order.
fn flow(shape: &Shape, value: &Value) -> String {
    let shape = inner(shape, value);
    match value {
        Value::String(value) => text(value),
        Value::Array(items) => {
            let item = if let Some(Shape::List(item)) = shape { item } else { &Shape::Json };
            format!("[{}]", items.iter().map(|value| flow(item, value)).collect::<Vec<_>>().join(", "))
        }
        Value::Object(values) if values.is_empty() => "{}".to_owned(),
        Value::Object(values) => {
            let members = match shape {
                Some(Shape::Object(table)) => {
                    let said = table.fields.iter().filter_map(|field| Some((field, values.get(field.key)?)));
                    said.map(|(field, value)| format!("{}: {}", field.key, flow(&field.shape, value))).collect()
                }
                _ => values
                    .iter()
                    .map(|(key, value)| format!("{}: {}", text(key), flow(&Shape::Json, value)))
                    .collect::<Vec<_>>(),
            };
            format!("{{ {} }}", members.join(", "))
        }
        other => other.to_string(),
    }
}

/// Without quotes only what no YAML reader could take for anything else.
fn text(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '@' | ':' | '+' | '-');
    let starts = value.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/');
    if starts && value.chars().all(plain) && !value.ends_with(':') && scalar::is_text(value) {
        return value.to_owned();
    }
    let mut out = String::from("\"");
    for c in value.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
