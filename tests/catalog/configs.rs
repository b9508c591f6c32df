//! Shapes read from `config.json` texts: the sixteen known models come out as the catalogue has them.

use infer_stack::catalog::{Attention, Catalog, ConfigError, Precision, model_from_config};
use serde_json::{Map, Value, json};

fn configs() -> Map<String, Value> {
    serde_json::from_str(include_str!("../vectors/configs.json")).unwrap()
}

#[test]
fn every_known_model_is_read_from_its_config() {
    let configs = configs();
    assert_eq!(configs.len(), Catalog::compiled().models().len());
    for known in Catalog::compiled().models() {
        let read = model_from_config(&known.id, &configs[&known.id].to_string()).unwrap();
        let id = &known.id;
        assert_eq!(
            (read.layers, read.hidden, read.heads, read.kv_heads, read.head_dim),
            (known.layers, known.hidden, known.heads, known.kv_heads, known.head_dim),
            "{id}"
        );
        assert_eq!(
            (read.attention, read.max_context, read.moe),
            (known.attention, known.max_context, known.moe),
            "{id}"
        );
        assert_eq!(read.published, known.published, "{id}");
        // Two are known by their published figures, rounded to 0.1 B.
        let published = ["deepseek-ai/DeepSeek-V3", "openai/gpt-oss-120b"].contains(&id.as_str());
        let slack = if published { 50_000_000 } else { 0 };
        assert!(read.params.abs_diff(known.params) <= slack, "{id}: {} and {}", read.params, known.params);
        // Published counts of active parameters leave out embeddings, or do not.
        let slack = if published { 1_000_000_000 } else { 0 };
        assert!(
            read.active_params.abs_diff(known.active_params) <= slack,
            "{id}: {} and {}",
            read.active_params,
            known.active_params
        );
    }
}

fn llama() -> Value {
    configs()["meta-llama/Llama-3.1-8B-Instruct"].clone()
}

fn without(key: &str) -> Value {
    let mut config = llama();
    config.as_object_mut().unwrap().remove(key).unwrap();
    config
}

fn with(key: &str, value: Value) -> Value {
    let mut config = llama();
    config[key] = value;
    config
}

fn read(config: &Value) -> Result<infer_stack::catalog::ModelShape, ConfigError> {
    model_from_config("mine", &config.to_string())
}

#[test]
fn an_error_names_the_key() {
    for key in [
        "num_hidden_layers",
        "hidden_size",
        "num_attention_heads",
        "intermediate_size",
        "vocab_size",
        "max_position_embeddings",
    ] {
        assert_eq!(read(&without(key)).unwrap_err().to_string(), format!("lacks `{key}`"));
    }
    let text = |config: &Value| read(config).unwrap_err().to_string();
    assert_eq!(
        text(&with("num_hidden_layers", json!("32"))),
        "`num_hidden_layers` is \"32\", expected a whole number from 1 to 100000000"
    );
    assert_eq!(
        text(&with("num_key_value_heads", json!(0))),
        "`num_key_value_heads` is 0, expected a whole number from 1 to 100000000"
    );
    assert_eq!(text(&with("num_attention_heads", json!(33))), "lacks `head_dim`");
    assert!(model_from_config("mine", "[]").unwrap_err().to_string().contains("not a JSON object"));
    assert!(model_from_config("mine", "{").unwrap_err().to_string().starts_with("is not JSON"));
}

#[test]
fn absent_keys_take_the_models_own_defaults() {
    let shape = read(&without("num_key_value_heads")).unwrap();
    assert_eq!((shape.kv_heads, shape.attention), (32, Attention::Full));
    let shape = read(&without("torch_dtype")).unwrap();
    assert_eq!(shape.published, Precision::Bf16);
    assert!(shape.notes.iter().any(|note| note.contains("torch_dtype")));
    assert_eq!(shape.gated, None);
}

#[test]
fn quantised_weights_are_recognised() {
    let published = |quantization| read(&with("quantization_config", quantization)).unwrap().published;
    assert_eq!(published(json!({"quant_method": "awq", "bits": 4})), Precision::Int4);
    assert_eq!(published(json!({"quant_method": "gptq", "bits": 8})), Precision::Int8);
    assert_eq!(published(json!({"quant_method": "fbgemm_fp8"})), Precision::Fp8);
    let compressed = |bits: u32, kind: &str| json!({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": bits, "type": kind}}}});
    assert_eq!(published(compressed(8, "float")), Precision::Fp8);
    assert_eq!(published(compressed(4, "int")), Precision::Int4);
    let error = read(&with("quantization_config", json!({"quant_method": "exotic"}))).unwrap_err();
    assert!(matches!(error, ConfigError::Unsupported { .. }), "{error}");
}

#[test]
fn a_window_counts_only_where_it_is_used() {
    let mut config = llama();
    config["model_type"] = json!("mistral");
    config["sliding_window"] = json!(4096);
    let all = Attention::Sliding { window: 4096, local_layers: 32, global_layers: 0 };
    assert_eq!(read(&config).unwrap().attention, all);
    config["use_sliding_window"] = json!(false);
    assert_eq!(read(&config).unwrap().attention, Attention::Full);
    config["use_sliding_window"] = json!(true);
    config["max_window_layers"] = json!(28);
    let last = Attention::Sliding { window: 4096, local_layers: 4, global_layers: 28 };
    assert_eq!(read(&config).unwrap().attention, last);
    config["layer_types"] = json!(["sliding_attention"]);
    assert!(matches!(read(&config).unwrap_err(), ConfigError::Invalid { .. }));
}

#[test]
fn models_that_remember_otherwise_are_not_sized() {
    for config in [
        with("mamba_d_state", json!(128)),
        with("model_type", json!("llama4_text")),
        with("linear_num_key_heads", json!(16)),
        with("layer_types", json!(vec!["linear_attention"; 32])),
    ] {
        let error = read(&config).unwrap_err();
        assert!(matches!(error, ConfigError::Unsupported { .. }), "{error}");
    }
    // An unknown but plain decoder is counted, and says so.
    let shape = read(&with("model_type", json!("granite"))).unwrap();
    assert_eq!(shape.params, 8_030_261_248);
    assert!(shape.notes.iter().any(|note| note.contains("granite")));
}

#[test]
fn nonsense_does_not_overflow() {
    let mut config = configs()["openai/gpt-oss-120b"].clone();
    for (_, value) in config.as_object_mut().unwrap() {
        if value.is_u64() {
            *value = json!(100_000_000);
        }
    }
    config.as_object_mut().unwrap().remove("layer_types");
    assert_eq!(read(&config).unwrap().params, u64::MAX);
}
