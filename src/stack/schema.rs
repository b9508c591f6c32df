//! The JSON Schema of a stack file, for editors, written from the table that the reader checks against. Must never say
//! what the table does not.

use super::check;
use super::diagnostic::Diagnostics;
use super::shape::{Field, Format, Object, STACK, Shape};
use super::tree;
use serde_json::{Map, Value, json};

/// JSON Schema draft 2020-12.
pub fn schema() -> Value {
    let mut defs = Map::new();
    let mut root = object(&STACK, &mut defs);
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("infer-stack stack file");
    root["$defs"] = Value::Object(defs);
    root
}

/// As it is checked in under `schema/stack.schema.json`.
pub fn schema_text() -> String {
    format!("{:#}\n", schema())
}

fn object(object: &Object, defs: &mut Map<String, Value>) -> Value {
    let properties = object.fields.iter().map(|field| (field.key.to_owned(), field_schema(field, defs)));
    let properties = properties.collect::<Map<_, _>>();
    let required = object.fields.iter().filter(|field| field.is_required()).map(|field| field.key).collect::<Vec<_>>();
    json!({
        "type": "object",
        "description": object.doc,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn field_schema(field: &Field, defs: &mut Map<String, Value>) -> Value {
    let mut one = shape(&field.shape, defs);
    let mut description = field.doc.to_owned();
    if !field.is_required() {
        description.push_str(&format!("\n\nDefault: {}.", field.default.trim_end_matches('.')));
        // `key: null` and no key are the same.
        one = json!({ "anyOf": [one, { "type": "null" }] });
    }
    one["description"] = json!(description);
    one["examples"] = json!([example(field)]);
    one
}

fn shape(of: &Shape, defs: &mut Map<String, Value>) -> Value {
    match of {
        Shape::Bool => or_variable(json!({ "type": "boolean" })),
        Shape::Text(format) => text(format),
        Shape::Whole { min, max: u64::MAX } => or_variable(json!({ "type": "integer", "minimum": min })),
        Shape::Whole { min, max } => or_variable(json!({ "type": "integer", "minimum": min, "maximum": max })),
        Shape::Number { above, max: f64::MAX } => or_variable(json!({ "type": "number", "exclusiveMinimum": above })),
        Shape::Number { above, max } => {
            or_variable(json!({ "type": "number", "exclusiveMinimum": above, "maximum": max }))
        }
        Shape::Word(words) => {
            let words = words.iter().map(|(word, meaning)| json!({ "const": word, "description": meaning }));
            let mut all = words.collect::<Vec<_>>();
            all.push(variable());
            json!({ "anyOf": all })
        }
        Shape::Object(table) => {
            if !defs.contains_key(table.name) {
                defs.insert(table.name.to_owned(), Value::Null);
                let inner = object(table, defs);
                defs.insert(table.name.to_owned(), inner);
            }
            json!({ "$ref": format!("#/$defs/{}", table.name) })
        }
        Shape::List(item) => json!({ "type": "array", "items": shape(item, defs) }),
        Shape::Map(key, Shape::Object(table)) => {
            let value = shape(&Shape::Object(table), defs);
            map(key, json!({ "anyOf": [value, { "type": "null" }] }))
        }
        Shape::Map(key, value) => {
            let value = shape(value, defs);
            map(key, value)
        }
        Shape::Json => json!({}),
        Shape::Either(shapes) => {
            let all = shapes.iter().map(|one| shape(one, defs)).collect::<Vec<_>>();
            json!({ "anyOf": all })
        }
    }
}

fn map(key: &Format, value: Value) -> Value {
    json!({ "type": "object", "propertyNames": { "pattern": key.pattern }, "additionalProperties": value })
}

fn text(format: &Format) -> Value {
    match format.pattern {
        "" => json!({ "type": "string" }),
        pattern => json!({ "type": "string", "pattern": format!("{pattern}|{VARIABLE}") }),
    }
}

/// Editors see a value before `${env:…}` is expanded.
const VARIABLE: &str = "\\$\\{env:";

fn variable() -> Value {
    json!({ "type": "string", "pattern": VARIABLE })
}

fn or_variable(of: Value) -> Value {
    json!({ "anyOf": [of, variable()] })
}

fn example(field: &Field) -> Value {
    let mut found = Diagnostics::new("");
    let nodes = tree::documents(field.example, &|_| None, &mut found);
    nodes.first().and_then(check::json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_lite::Regex;

    fn every_field(object: &'static Object, visit: &mut dyn FnMut(&'static Object, &'static Field)) {
        fn within(shape: &'static Shape, visit: &mut dyn FnMut(&'static Object, &'static Field)) {
            match shape {
                Shape::Object(object) => every_field(object, visit),
                Shape::List(item) | Shape::Map(_, item) => within(item, visit),
                Shape::Either(shapes) => shapes.iter().for_each(|shape| within(shape, visit)),
                _ => {}
            }
        }
        for field in object.fields {
            visit(object, field);
            within(&field.shape, visit);
        }
    }

    fn formats(shape: &'static Shape, visit: &mut dyn FnMut(&'static Format)) {
        match shape {
            Shape::Text(format) => visit(format),
            Shape::List(item) => formats(item, visit),
            Shape::Map(key, item) => {
                visit(key);
                formats(item, visit);
            }
            Shape::Either(shapes) => shapes.iter().for_each(|shape| formats(shape, visit)),
            _ => {}
        }
    }

    #[test]
    fn every_field_has_a_doc_and_an_example_that_the_reader_takes() {
        every_field(&STACK, &mut |object, field| {
            let name = format!("{}.{}", object.name, field.key);
            assert!(field.doc.ends_with('.') && field.doc.len() > 8, "{name}: {}", field.doc);
            let mut found = Diagnostics::new(name.clone());
            let nodes = tree::documents(field.example, &|_| None, &mut found);
            let [node] = nodes.as_slice() else { panic!("{name}: {}", field.example) };
            check::value(&field.shape, node, &mut found);
            assert_eq!(found.list, [], "{name}");
        });
    }

    #[test]
    fn every_pattern_compiles_and_means_the_whole_text() {
        every_field(&STACK, &mut |_, field| {
            formats(&field.shape, &mut |format| {
                Regex::new(format.pattern).unwrap_or_else(|error| panic!("{}: {error}", format.pattern));
                let whole = format.pattern.starts_with('^') && format.pattern.ends_with('$');
                assert!(whole || format.pattern.is_empty(), "{}", format.pattern);
            });
        });
    }

    #[test]
    fn definitions_of_one_name_are_one() {
        let mut seen: Vec<&'static Object> = vec![&STACK];
        every_field(&STACK, &mut |object, _| match seen.iter().find(|other| other.name == object.name) {
            Some(same) => assert!(std::ptr::eq(*same, object), "{}", object.name),
            None => seen.push(object),
        });
    }
}
