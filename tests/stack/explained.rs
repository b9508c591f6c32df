//! What `validate --explain` prints, and the schema: neither may drift from the reader.

use super::{examples, one, read};
use infer_stack::stack::{explain, schema, schema_text};
use proptest::prelude::*;
use regex_lite::Regex;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const FULL: &str = include_str!("full.yaml");

#[test]
fn an_explained_file_reads_back_as_the_same_stack() {
    let texts = examples().into_iter().map(|(_, text)| text);
    for text in texts.chain([FULL.to_owned(), include_str!("contract.yaml").to_owned()]) {
        let spec = one(&text).spec;
        let explained = explain(&spec);
        assert_eq!(one(&explained).spec, spec, "{explained}");
        assert_eq!(explain(&one(&explained).spec), explained);
    }
}

#[test]
fn the_minimal_file_explains_every_default() {
    let minimal = examples().into_iter().find(|(stem, _)| stem == "minimal").unwrap().1;
    insta::assert_snapshot!(explain(&one(&minimal).spec));
}

/// Each leaf of the full file is changed or left out in turn: if the spec stays the same, nobody reads that field.
#[test]
fn no_field_is_accepted_and_then_ignored() {
    let whole = one(FULL).spec;
    let document: Value = serde_yaml_document(FULL);
    let mut leaves = Vec::new();
    paths(&document, String::new(), &mut leaves);
    assert!(leaves.len() > 100, "{}", leaves.len());
    for path in leaves.iter().filter(|path| *path != "/apiVersion") {
        let mut without = document.clone();
        remove(&mut without, path);
        // Some can't be left out; then they are read.
        if let Ok(parsed) = read(&without.to_string()) {
            assert_ne!(parsed[0].spec, whole, "{path} changes nothing");
        }
    }
}

#[test]
fn the_full_file_says_every_field_of_the_schema() {
    let document = serde_yaml_document(FULL);
    let mut said = BTreeSet::new();
    keys(&document, &mut said);
    // Of a network that is brought along; the test of its own reads them.
    said.extend(["vpc", "subnets", "controlPlane", "loadBalancers", "config"].map(str::to_owned));
    // At its default: false beside `private: false` would leave nobody.
    said.insert("public".to_owned());
    let schema = schema();
    let tables = schema["$defs"].as_object().unwrap().values().chain([&schema]);
    for key in tables.flat_map(|table| table["properties"].as_object().unwrap().keys()) {
        assert!(said.contains(key), "full.yaml lacks {key}");
    }
}

#[test]
fn generated_stack_schema_is_up_to_date() {
    crate::generated::holds("schema/stack.schema.json", &schema_text());
}

#[test]
fn the_schema_takes_every_example_and_refuses_what_the_reader_refuses() {
    let schema = schema();
    for (stem, text) in examples() {
        assert_eq!(faults(&schema, &schema, &serde_yaml_document(&text), ""), Vec::<String>::new(), "{stem}");
    }
    for text in [FULL, include_str!("contract.yaml")] {
        assert_eq!(faults(&schema, &schema, &serde_yaml_document(text), ""), Vec::<String>::new());
    }
    let minimal = serde_yaml_document(&examples().into_iter().find(|(stem, _)| stem == "minimal").unwrap().1);
    for (path, value, at) in [
        ("/nodeClass", json!([]), ""),
        ("/name", json!("Llama"), "/name"),
        ("/protect", json!("yes"), "/protect"),
        ("/nodeClasses/0/efa", json!("some"), "/nodeClasses/0/efa"),
        ("/nodeClasses/0/volume", json!({ "size": "500GB" }), "/nodeClasses/0/volume"),
        ("/costAllocation", json!({ "backfillMonths": 13 }), "/costAllocation"),
    ] {
        let mut text = minimal.clone();
        let (parent, key) = path.rsplit_once('/').unwrap();
        text.pointer_mut(parent).unwrap()[key] = value;
        let faults = faults(&schema, &schema, &text, "");
        assert_eq!(faults, [at], "{path}");
        assert!(read(&text.to_string()).is_err(), "{path}");
    }
    let mut variable = minimal.clone();
    variable["region"] = json!("${env:REGION}");
    variable["nodeClasses"][0]["nodes"] = json!({ "max": "${env:MAX}" });
    assert_eq!(faults(&schema, &schema, &variable, ""), Vec::<String>::new());
}

fn serde_yaml_document(text: &str) -> Value {
    serde_yaml::from_str(text).unwrap()
}

fn paths(value: &Value, at: String, leaves: &mut Vec<String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (key, value) in members {
                paths(value, format!("{at}/{}", key.replace('/', "~1")), leaves);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, value) in items.iter().enumerate() {
                paths(value, format!("{at}/{index}"), leaves);
            }
        }
        _ => leaves.push(at),
    }
}

fn keys(value: &Value, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                all.insert(key.clone());
                keys(value, all);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, all)),
        _ => {}
    }
}

fn remove(document: &mut Value, path: &str) {
    let (parent, key) = path.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Object(members) => drop(members.remove(&key.replace("~1", "/"))),
        Value::Array(items) => drop(items.remove(key.parse().unwrap())),
        _ => unreachable!("{path}"),
    }
}

/// Paths that break the schema, in the subset of JSON Schema that it is written in.
fn faults(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let fault = vec![at.to_owned()];
    if let Some(target) = schema["$ref"].as_str() {
        return faults(root, root.pointer(&target[1..]).unwrap(), value, at);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let all = any.iter().map(|one| faults(root, one, value, at));
        return all.min_by_key(Vec::len).filter(|least| !least.is_empty()).map_or(vec![], |_| fault);
    }
    if schema.get("const").is_some_and(|word| word != value) {
        return fault;
    }
    let is = match schema["type"].as_str() {
        None => true,
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64(),
        Some("number") => value.is_number(),
        Some("null") => value.is_null(),
        Some(other) => panic!("{other}"),
    };
    let matches = |pattern: &Value, text: &str| pattern.as_str().is_none_or(|p| Regex::new(p).unwrap().is_match(text));
    let number = value.as_f64().unwrap_or(0.0);
    let inside = schema["minimum"].as_f64().is_none_or(|least| number >= least)
        && schema["maximum"].as_f64().is_none_or(|most| number <= most)
        && schema["exclusiveMinimum"].as_f64().is_none_or(|above| number > above);
    if !is || (value.is_number() && !inside) || value.as_str().is_some_and(|text| !matches(&schema["pattern"], text)) {
        return fault;
    }
    match value {
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.flat_map(|(i, item)| faults(root, &schema["items"], item, &format!("{at}/{i}"))).collect()
        }
        Value::Object(members) if schema.get("type").is_some() => {
            let required = schema["required"].as_array().into_iter().flatten();
            if required.map(|key| key.as_str().unwrap()).any(|key| !members.contains_key(key)) {
                return fault;
            }
            let mut all = Vec::new();
            for (key, value) in members {
                let known = schema["properties"].get(key).or(schema.get("additionalProperties"));
                if known == Some(&json!(false)) || !matches(&schema["propertyNames"]["pattern"], key) {
                    return fault;
                }
                all.extend(known.into_iter().flat_map(|of| faults(root, of, value, &format!("{at}/{key}"))));
            }
            all
        }
        _ => vec![],
    }
}

/// Valid files of many shapes: one of several spellings for each part.
fn some_file() -> impl Strategy<Value = String> {
    let part = |choices: &'static [&'static str]| proptest::sample::select(choices);
    (
        part(&["", "expires: never\n", "expires: 90m\n", "expires: 2d12h\n", "protect: true\n"]),
        part(&["", "tags: { a: b, \"c d\": \"1.0\" }\n", "account: \"000000000001\"\n", "budget: { maxHourlyUsd: 1e3 }\n"]),
        part(&["", "network: { natGateways: none }\n", "network: { vpc: vpc-0a, subnets: [subnet-0a, subnet-0b] }\n"]),
        part(&["[g6e.xlarge]", "[g6e.8xlarge]", "[g5.xlarge, g5.2xlarge]", "[p5.48xlarge]", "[inf2.8xlarge]", "[p9.48xlarge]"]),
        part(&["", "    nodes: { min: 1, max: 5 }\n", "    nodes: { desired: 3 }\n", "    provisioner: karpenter\n"]),
        part(&["", "    volume: { size: 1Ti }\n", "    taints: []\n", "    capacity: spot\n", "    efa: none\n"]),
        part(&["", "weights: { bucket: { prefix: a/ } }\n", "weights: { source: mountpoint }\n", "weights: { source: fsx }\n"]),
        part(&["", "meta-llama/Llama-3.1-8B-Instruct\n", "Qwen/Qwen2.5-0.5B-Instruct\n"]),
        part(&["", "  replicas: { max: 1 }\n", "  maxModelLen: 1000\n", "  kvCache: fp8\n", "  engine: { args: [\"#\", \"- a\", \"\"] }\n"]),
    )
        .prop_map(|(a, b, network, types, nodes, more, weights, model, serving)| {
            let serving = if model.is_empty() { String::new() } else { format!("serving:\n  model: {model}{serving}") };
            format!(
                "name: some\nregion: us-west-2\n{a}{b}{network}nodeClasses:\n  - name: gpu\n    instanceTypes: {types}\n{nodes}{more}{weights}{serving}"
            )
        })
}

proptest! {
    #[test]
    fn whatever_is_read_is_explained_and_read_again(text in some_file()) {
        if let Ok(parsed) = read(&text) {
            let spec = &parsed[0].spec;
            let explained = explain(spec);
            prop_assert_eq!(&one(&explained).spec, spec, "{}", explained);
        }
    }
}
