//! The article's figures and what follows from them, one vector a line in `tests/vectors/sizing.json`. A vector of a kind
//! that no arm knows fails, and so does one that is lost.

use infer_stack::{
    catalog::{Catalog, InterfaceKind, IntraNodeLink, ModelShape, Precision},
    contract::Purchase,
    sizing::{self, Ask, Node, Note, Parallelism, Refusal, seed},
};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct File {
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    id: String,
    kind: String,
    input: Value,
    expected: Value,
    tolerance: Option<f64>,
}

impl Vector {
    fn f(&self, key: &str) -> f64 {
        self.input[key].as_f64().unwrap_or_else(|| panic!("{}: no number `{key}`", self.id))
    }

    fn u(&self, key: &str) -> u32 {
        let n = self.f(key);
        assert!(n.fract() == 0.0 && n >= 0.0, "{}: {key}", self.id);
        n as u32
    }

    fn bytes(&self, key: &str) -> u64 {
        (self.f(key) * 1e9).round() as u64
    }

    fn exactly(&self, got: u64) {
        assert_eq!(Some(got), self.expected.as_u64(), "{}", self.id);
    }

    /// Within the vector's own tolerance; 0 means equal to the digits it is given with.
    fn near(&self, got: f64, expected: &Value) {
        let want = expected.as_f64().unwrap_or_else(|| panic!("{}: {expected} is no number", self.id));
        match self.tolerance {
            Some(t) if t > 0.0 => assert!((got - want).abs() <= t, "{}: {got}, expected {want}", self.id),
            _ => {
                let digits = expected.to_string().split_once('.').map_or(0, |(_, fraction)| fraction.len());
                let printed = format!("{got:.digits$}").parse::<f64>().unwrap();
                assert_eq!(printed, want, "{}: {got}", self.id);
            }
        }
    }
}

fn precision(bytes: f64) -> Precision {
    match bytes {
        2.0 => Precision::Fp16,
        1.0 => Precision::Fp8,
        0.5 => Precision::Int4,
        other => panic!("{other} bytes"),
    }
}

fn shape(catalog: &Catalog, words: &str) -> (&'static ModelShape, Precision) {
    let (name, precision) = words.split_once(' ').unwrap();
    let shape = catalog.model(&format!("meta-llama/{name}-Instruct")).unwrap();
    (shape, serde_json::from_value(Value::from(precision)).unwrap())
}

fn decide(catalog: &Catalog, v: &Vector) {
    let (known, precision) = shape(catalog, v.input["model"].as_str().unwrap());
    // The vector's own size of the weights, in the known shape.
    let values = v.bytes("weights_gb") * 32 / precision.quarter_bits();
    let shape = ModelShape { params: values, ..known.clone() };
    let real = catalog.instance_type(v.input["instance"].as_str().unwrap()).unwrap();
    let gpus = v.u("gpus");
    assert_eq!(real.devices(), gpus, "{}", v.id);
    let link = match v.input["intra_node_link"].as_str().unwrap() {
        "nvlink-nvswitch" => IntraNodeLink::NvSwitch,
        "pcie" => IntraNodeLink::Pcie,
        "single" => IntraNodeLink::Single,
        other => panic!("{other}"),
    };
    assert_eq!(real.intra_node_link, link, "{}", v.id);
    let ask = |max_model_len| Ask {
        shape: &shape,
        precision: Some(precision),
        kv: Precision::Fp16,
        max_model_len,
        utilization: 1.0 - v.f("overhead_fraction"),
        parallelism: Parallelism::Auto,
    };
    let node = Node { bytes_each: v.bytes("gpu_total_gb") / u64::from(gpus), link, ..Node::from(real) };
    for (label, budget) in
        [("as given", sizing::budget_on(&ask(8192), &node)), ("on the real type", sizing::budget(&ask(8192), real))]
    {
        let id = format!("{} {label}", v.id);
        assert!(budget.fits(), "{id}: {}", budget.verdict);
        for (key, value) in v.expected.as_object().unwrap() {
            match key.as_str() {
                "nodes_per_replica" => assert_eq!(value, budget.nodes_per_replica, "{id}"),
                "tp" => assert_eq!(value, budget.tensor, "{id}"),
                "pp" => assert_eq!(value, budget.pipeline, "{id}"),
                "scale_by" => {
                    assert_eq!(value, if budget.pipeline > 1 { "units" } else { "replicas" }, "{id}");
                    assert_eq!(budget.replicas_per_node == 0, value == "units", "{id}");
                }
                "warn" => {
                    assert_eq!(value, "tp-over-pcie");
                    assert!(budget.notes.contains(&Note::TensorOverPcie { tensor: budget.tensor }), "{id}");
                }
                // Sizes hold for the vector's decimal memory only.
                "kv_left_gb" | "conversations_8k" | "conversations_32k" if label != "as given" => {}
                "kv_left_gb" => v.near(budget.kv_budget_bytes as f64 / 1e9, value),
                "conversations_8k" => {
                    assert_eq!(value, sizing::budget_on(&ask(8000), &node).sequences, "{id}");
                }
                "conversations_32k" => {
                    assert_eq!(value, sizing::budget_on(&ask(32_000), &node).sequences, "{id}");
                }
                other => panic!("{id}: nothing compares `{other}`"),
            }
        }
    }
}

fn check(catalog: &Catalog, v: &Vector) {
    let expected = &v.expected;
    match v.kind.as_str() {
        "kv_bytes_per_token" => {
            let element = precision(v.f("bytes"));
            v.exactly(sizing::kv_bytes_per_token(v.u("layers"), v.u("kv_heads"), v.u("head_dim"), element));
        }
        "kv_bytes_per_token_mla" => {
            let (rank, rope) = (v.u("kv_lora_rank"), v.u("qk_rope_head_dim"));
            v.exactly(sizing::mla_bytes_per_token(v.u("layers"), rank, rope, precision(v.f("bytes"))));
        }
        "kv_bytes_per_conversation" => {
            let shape = catalog.model("meta-llama/Llama-3.1-70B-Instruct").unwrap();
            let bytes = |tokens| sizing::sequence_bytes(shape, Precision::Fp16, tokens, 1);
            assert_eq!(bytes(1), u64::from(v.u("kv_bytes_per_token")), "{}", v.id);
            v.exactly(bytes(u64::from(v.u("tokens"))));
        }
        "weights_gb" => {
            let bytes = precision(v.f("bytes_per_param")).bytes_of(v.f("params") as u64);
            v.near(bytes as f64 / 1e9, expected);
        }
        "capacity_table" => {
            let (total, weights, overhead) = (v.bytes("total_gb"), v.bytes("weights_gb"), v.bytes("overhead_gb"));
            let left = sizing::kv_budget(total, weights, overhead).unwrap();
            v.near(left as f64 / 1e9, &expected["kv_gb"]);
            assert_eq!(expected["conversations"], sizing::sequences(left, v.bytes("gb_per_conversation")), "{}", v.id);
            let column =
                seed::column(v.f("total_gb"), v.f("weights_gb"), v.f("overhead_gb"), v.f("gb_per_conversation"));
            v.near(column.kv_gb, &expected["kv_gb"]);
            assert_eq!(expected["conversations"], column.conversations, "{}", v.id);
        }
        "freed_gb" => {
            let left_alone = |utilization: f64| sizing::overhead_bytes(v.bytes("total_gb"), 1.0 - utilization);
            v.near((left_alone(v.f("from")) - left_alone(v.f("to"))) as f64 / 1e9, expected);
        }
        "overhead_gb" => {
            for (fraction, expected) in v.input["fraction"].as_array().unwrap().iter().zip(expected.as_array().unwrap())
            {
                let bytes = sizing::overhead_bytes(v.bytes("total_gb"), fraction.as_f64().unwrap());
                v.near(bytes as f64 / 1e9, expected);
            }
        }
        "kv_tokens" => v.exactly(sizing::tokens_held(v.f("bytes") as u64, u64::from(v.u("kv_bytes_per_token")), 1)),
        "kv_tokens_block_floor" => {
            let tokens = sizing::tokens_held(v.f("bytes") as u64, u64::from(v.u("kv_bytes_per_token")), 1);
            v.exactly(sizing::whole_blocks(tokens, u64::from(v.u("block_size"))));
        }
        "max_concurrency" => {
            let concurrency = sizing::concurrency(u64::from(v.u("tokens")), u64::from(v.u("max_model_len")));
            v.near(concurrency, expected);
            assert_eq!(format!("{concurrency:.2}x"), "42.66x");
        }
        "kv_usage_fraction" => {
            let [running, prompt, output, tokens] =
                ["running", "prompt", "output", "kv_tokens"].map(|key| u64::from(v.u(key)));
            v.near(sizing::kv_usage(running, prompt, output, tokens), expected);
        }
        "usd_per_1m" => {
            let usd = sizing::usd_per_million_tokens(v.f("tok_s"), v.f("usd_per_hour")).unwrap();
            v.near(usd, expected);
            if v.id == "cost-50" {
                assert_eq!(format!("{usd:.2}"), "6.94");
            }
            if v.id == "cost-p5-list" {
                let list = catalog.instance_price("p5.48xlarge", Purchase::OnDemand, "us-east-1").unwrap();
                assert_eq!(list.usd, v.f("usd_per_hour"));
            }
        }
        "utilization_multiplier" => v.near(sizing::idle_multiplier(v.f("utilization")).unwrap(), expected),
        "nodepool_limit" => {
            let nodes = sizing::nodes_for_devices(v.u("gpus"), v.u("gpus_per_node")).unwrap();
            assert_eq!(expected["nodes"], nodes);
            assert_eq!(expected["vcpus"], sizing::vcpus_needed(nodes, v.u("vcpus_per_node")));
        }
        "quota_need" => v.exactly(sizing::vcpus_needed(v.u("replicas"), v.u("vcpus"))),
        "lws" => {
            let (tp, pp) = (v.u("tp"), v.u("pp"));
            assert_eq!(expected["gpus"], v.u("size") * v.u("gpus_per_pod"));
            assert_eq!(expected["tp_x_pp"], tp * pp);
            assert_eq!(expected["ok"], sizing::group_matches(v.u("size"), v.u("gpus_per_pod"), tp, pp), "{}", v.id);
        }
        "efa_request" => {
            let name = v.input["instance"].as_str().unwrap();
            let all = catalog.efa_layout(name, None).unwrap();
            let efa = all.iter().filter(|i| i.kind == InterfaceKind::EfaOnly).count();
            assert_eq!(expected["allocatable"], efa);
            assert_eq!(expected["schedulable"], catalog.efa_layout(name, Some(v.u("requested"))).is_some());
            assert_eq!(catalog.efa_layout(name, Some(v.u("requested") + 1)), None);
        }
        "weight_load_s" => {
            v.near(sizing::load_seconds(v.f("bytes") as u64, v.f("gbps")).unwrap(), expected);
            assert_eq!(catalog.instance_type("p5.48xlarge").unwrap().ip_gbps(), Some(v.f("gbps")));
        }
        "decide" => decide(catalog, v),
        "rule" => {
            let shape = catalog.model("meta-llama/Llama-3.1-70B-Instruct").unwrap();
            let (tensor, devices) = (v.u("tp"), v.u("gpus_per_node"));
            assert_eq!(expected, "reject");
            assert_eq!(sizing::check(shape, devices, tensor, 1), Err(Refusal::BeyondNode { tensor, devices }));
        }
        other => panic!("{}: no arm for `{other}`", v.id),
    }
}

#[test]
fn every_vector_comes_out() {
    let file: File = serde_json::from_str(include_str!("../vectors/sizing.json")).unwrap();
    assert_eq!(file.vectors.len(), 40, "vectors were added or lost: say so here");
    let catalog = Catalog::compiled();
    for vector in &file.vectors {
        check(&catalog, vector);
    }
}

#[test]
fn the_articles_table_comes_out_of_the_catalogue_with_the_articles_roundings() {
    let catalog = Catalog::compiled();
    let shape = catalog.model("meta-llama/Llama-3.1-70B-Instruct").unwrap();
    let p5 = catalog.instance_type("p5.48xlarge").unwrap();
    let column = |precision| {
        let c = seed::table(shape, precision, p5).unwrap();
        (c.total_gb, c.weights_gb, c.overhead_gb, c.kv_gb, c.gb_per_conversation, c.conversations)
    };
    assert_eq!(column(Precision::Fp16), (640.0, 140.0, 75.0, 425.0, 2.5, 170));
    assert_eq!(column(Precision::Fp8), (640.0, 70.0, 75.0, 495.0, 2.5, 198));
}
