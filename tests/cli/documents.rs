//! The JSON documents: keys that stay, and schemas that hold for what is written.

use super::desk::{ACCOUNT, Desk};
use serde_json::Value;

#[track_caller]
fn has(value: &Value, keys: &str) {
    for key in keys.split_whitespace() {
        assert!(value.get(key).is_some(), "`{key}` is missing in {value:#}");
    }
}

const HEADER: &str = "schema_version kind stack account region started_at";

#[test]
fn a_plan_has_the_keys_of_the_contract() {
    let desk = Desk::with_minimal_up();
    desk.edit("minimal", "moved.yaml", &[("region: us-west-2", "region: us-west-2\nnetwork: { cidr: 10.99.0.0/16 }")]);
    let plan = desk.run("plan moved.yaml --json").exits(0).json();
    has(&plan, HEADER);
    assert_eq!(
        (&plan["schema_version"], &plan["kind"], &plan["stack"]),
        (&1.into(), &"plan".into(), &"minimal".into())
    );
    assert_eq!((&plan["account"], &plan["region"]), (&ACCOUNT.into(), &"us-west-2".into()));
    has(&plan, "changes summary preflight cost estimate api_calls");
    let changes = plan["changes"].as_array().unwrap();
    for change in changes {
        has(change, "address kind layer action id reason interrupts fields");
        let action = change["action"].as_str().unwrap();
        assert!(["create", "update", "replace", "delete", "keep", "blocked"].contains(&action), "{action}");
    }
    let subnet = changes.iter().find(|change| change["address"] == "subnet.private-usw2-az2").unwrap();
    let cidr = subnet["fields"].as_array().unwrap().iter().find(|field| field["path"] == "/cidr").unwrap();
    has(cidr, "path before after forces_replacement");
    assert_eq!((&cidr["after"], &cidr["forces_replacement"]), (&"10.99.32.0/19".into(), &true.into()));
    has(&plan["summary"], "create update replace delete keep blocked");
    let counted: u64 = plan["summary"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(counted, changes.len() as u64);
    for finding in plan["preflight"].as_array().unwrap() {
        has(finding, "check subject verdict need limit used message remedy");
        assert!(["pass", "warn", "block", "unknown"].contains(&finding["verdict"].as_str().unwrap()));
    }
    has(&plan["cost"], "currency hourly_now hourly_after hourly_max until_expiry items as_of");
    has(&plan["cost"]["items"][0], "address unit quantity hourly");
    has(&plan["estimate"], "seconds longest");
    has(&plan["api_calls"], "state facts kubernetes");
    assert!(plan["api_calls"]["state"].as_u64() > Some(10));
}

#[test]
fn the_quota_that_blocks_is_in_the_plan_by_code_and_numbers() {
    let desk = Desk::of_scenario("new-account");
    let plan = desk.run("plan stacks/llama-70b.yaml --json").exits(3).json();
    let blocks = |f: &&Value| f["verdict"] == "block";
    let blocking: Vec<&Value> = plan["preflight"].as_array().unwrap().iter().filter(blocks).collect();
    let [quota] = blocking.as_slice() else { panic!("{blocking:#?}") };
    assert_eq!((&quota["check"], &quota["subject"]), (&"quota".into(), &"L-417A185B".into()));
    assert_eq!(
        (quota["need"].as_f64(), quota["limit"].as_f64(), quota["used"].as_f64()),
        (Some(384.0), Some(0.0), Some(0.0))
    );
    assert!(quota["remedy"].as_str().unwrap().contains("--desired-value 384"), "{quota}");
}

#[test]
fn a_receipt_has_the_keys_of_the_contract_and_is_kept() {
    let desk = Desk::with_minimal_up();
    let receipt = desk.run("destroy stacks/minimal.yaml --yes --confirm minimal --json").exits(0).json();
    has(&receipt, HEADER);
    assert_eq!((&receipt["kind"], &receipt["verdict"]), (&"receipt".into(), &"absent".into()));
    has(&receipt, "verdict checks kept remaining_hourly_usd kept_hourly_usd");
    let checks = receipt["checks"].as_array().unwrap();
    assert!(checks.len() >= 17, "{} kinds were looked at", checks.len());
    for check in checks {
        has(check, "what found_by first_read second_read status remaining error");
        assert!(check["first_read"].as_str() < check["second_read"].as_str(), "two looks, a pause apart: {check}");
    }
    assert!(receipt["kept"].as_array().unwrap().iter().any(|kept| kept["what"] == "s3:bucket"));
    for kept in receipt["kept"].as_array().unwrap() {
        has(kept, "what id why hourly_usd");
    }
    let path = receipt["kept_as"].as_str().unwrap();
    let file: Value = serde_json::from_str(&desk.read(path)).unwrap();
    assert_eq!(file, receipt);
    assert!(desk.world()["world"]["files"].as_object().unwrap().keys().any(|key| path.ends_with(key.as_str())));
}

#[test]
fn a_size_has_the_keys_of_the_contract() {
    let desk = Desk::new();
    let of_file = desk.run("size stacks/llama-70b.yaml --json").exits(0).json();
    has(&of_file, HEADER);
    let keys = "weights_bytes kv_bytes_per_token overhead_bytes kv_budget_bytes kv_tokens max_concurrency tensor_parallel \
                pipeline_parallel nodes_per_replica verdict notes";
    has(&of_file, keys);
    assert_eq!((&of_file["kind"], &of_file["verdict"]), (&"size".into(), &"fits".into()));
    assert_eq!(of_file["kv_bytes_per_token"], 327_680);
    let flags = "size --model meta-llama/Llama-3.1-70B-Instruct --instance-type p5.48xlarge --context 16384 --json";
    let of_flags = desk.run(flags).exits(0).json();
    assert_eq!(of_flags["kv_tokens"], of_file["kv_tokens"]);
    let seed = desk.run(&format!("{flags} --seed-rounding")).exits(0).json();
    assert_eq!(seed["seed_table"]["total_gb"], 640.0);
}

#[test]
fn a_status_counts_nodes_and_dollars() {
    let desk = Desk::with_minimal_up();
    let status = desk.run("status stacks/minimal.yaml --json").exits(0).json();
    has(&status, HEADER);
    assert_eq!((&status["nodes"], &status["accelerators"]), (&3.into(), &1.into()));
    assert_eq!(status["node_types"], serde_json::json!({ "g6e.xlarge": 1, "m6i.xlarge": 2 }));
    let plan = desk.run("plan stacks/minimal.yaml --json").exits(0).json();
    let (now, said) = (plan["cost"]["hourly_now"].as_f64().unwrap(), status["hourly_usd"].as_f64().unwrap());
    assert!((now - said).abs() < 0.02, "what nodes are billed is what their groups are: {now} and {said}");
    assert_eq!(desk.run("status --name minimal --region us-west-2 --json").exits(0).json()["nodes"], 3);
    let none = desk.run("status --name nobody --region us-west-2 --json").exits(0).json();
    assert_eq!(none["resources"].as_array().unwrap().len(), 0);
}

#[test]
fn schemas_name_what_the_documents_have() {
    let desk = Desk::new();
    let schema = |which: &str| {
        let schema = desk.run(&format!("schema {which}")).exits(0).json();
        assert!(schema["$schema"].as_str().unwrap().contains("json-schema.org"), "{which}");
        schema
    };
    schema("stack");
    schema("events");
    for (which, document) in [
        ("plan", desk.run("plan stacks/minimal.yaml --json").json()),
        ("receipt", desk.run("verify stacks/minimal.yaml --json").json()),
    ] {
        let schema = schema(which);
        let properties = schema["properties"].as_object().unwrap();
        for key in document.as_object().unwrap().keys() {
            assert!(properties.contains_key(key), "the schema of {which} lacks {key}");
        }
        for required in schema["required"].as_array().unwrap() {
            assert!(document.get(required.as_str().unwrap()).is_some(), "{which} lacks {required}");
        }
    }
}
