//! Reads a model's shape from the text of its Hugging Face `config.json`. Must never guess a number the text lacks, but
//! for defaults that the model's own class in transformers has.

use super::{
    model::{Attention, ModelShape, Moe, Precision},
    params::{self, Experts, Layers, Projections},
};
use serde_json::{Map, Value};

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("is not a JSON object")]
    NotAnObject,
    #[error("lacks `{0}`")]
    Missing(String),
    #[error("`{key}` is {found}, expected {expected}")]
    Invalid { key: String, found: String, expected: &'static str },
    #[error("`{key}` is {found}: how much memory such a model takes is not known here")]
    Unsupported { key: String, found: String },
}

/// Beyond any dimension of a real model; keeps the products of [`params`] inside 128 bits.
const MOST: u32 = 100_000_000;

/// The language model's keys (under `text_config` in a multimodal one), and the document's own for what stands outside.
struct Keys<'a> {
    text: &'a Map<String, Value>,
    top: &'a Map<String, Value>,
}

impl<'a> Keys<'a> {
    fn get(&self, key: &str) -> Option<&'a Value> {
        self.text.get(key).filter(|value| !value.is_null())
    }

    fn anywhere(&self, key: &str) -> Option<&'a Value> {
        self.get(key).or_else(|| self.top.get(key).filter(|value| !value.is_null()))
    }

    fn number(&self, key: &str) -> Result<Option<u32>, ConfigError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = value.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| (1..=MOST).contains(n));
        number.map(Some).ok_or_else(|| invalid(key, value, "a whole number from 1 to 100000000"))
    }

    fn needed(&self, key: &str) -> Result<u32, ConfigError> {
        self.number(key)?.ok_or_else(|| ConfigError::Missing(key.to_owned()))
    }

    /// The first of several spellings that is there.
    fn any(&self, keys: &[&str]) -> Result<Option<u32>, ConfigError> {
        for key in keys {
            if let Some(number) = self.number(key)? {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// 0 and absence are the same.
    fn count(&self, key: &str) -> Result<u32, ConfigError> {
        if self.get(key).is_some_and(|value| value.as_u64() == Some(0)) {
            return Ok(0);
        }
        Ok(self.number(key)?.unwrap_or(0))
    }

    fn flag(&self, key: &str) -> Option<bool> {
        self.get(key).and_then(Value::as_bool)
    }

    fn word(&self, key: &str) -> Option<&'a str> {
        self.get(key).and_then(Value::as_str)
    }
}

fn invalid(key: &str, found: &Value, expected: &'static str) -> ConfigError {
    let mut found = found.to_string();
    if found.len() > 60 {
        found = found.chars().take(57).chain("...".chars()).collect();
    }
    ConfigError::Invalid { key: key.to_owned(), found, expected }
}

fn unsupported(key: &str, found: &str) -> ConfigError {
    ConfigError::Unsupported { key: key.to_owned(), found: format!("`{found}`") }
}

/// Model types whose parameters [`params`] counts exactly.
const COUNTED: [&str; 11] = [
    "llama",
    "mistral",
    "mixtral",
    "qwen2",
    "qwen3",
    "qwen3_moe",
    "gemma3_text",
    "deepseek_v2",
    "deepseek_v3",
    "kimi_k2",
    "gpt_oss",
];

/// Reads `text`, the content of a `config.json`; `id` becomes the shape's name.
pub fn model_from_config(id: &str, text: &str) -> Result<ModelShape, ConfigError> {
    let document: Value = serde_json::from_str(text)?;
    let top = document.as_object().ok_or(ConfigError::NotAnObject)?;
    let keys = Keys { text: top.get("text_config").and_then(Value::as_object).unwrap_or(top), top };
    let model_type = keys.word("model_type").unwrap_or_default();
    refuse_other_memories(&keys, model_type)?;

    let gemma3 = model_type == "gemma3_text";
    let layers = keys.needed("num_hidden_layers")?;
    let hidden = keys.needed("hidden_size")?;
    let heads = keys.needed("num_attention_heads")?;
    let kv_heads = keys.number("num_key_value_heads")?.unwrap_or(heads);
    let vocab = keys.number("vocab_size")?.or(gemma3.then_some(262_208));
    let vocab = vocab.ok_or_else(|| ConfigError::Missing("vocab_size".to_owned()))?;
    let max_context = keys.number("max_position_embeddings")?.or(gemma3.then_some(131_072));
    let max_context = max_context.ok_or_else(|| ConfigError::Missing("max_position_embeddings".to_owned()))?;
    let head_dim = head_dim(&keys, hidden, heads)?;
    let attention = attention(&keys, model_type, layers)?;
    let (published, mut notes) = published(&keys)?;
    let experts = experts(&keys)?;
    if !COUNTED.contains(&model_type) {
        notes.push(format!(
            "model type `{model_type}` is counted by the general rule: compare the number of parameters with the model's card"
        ));
    }
    if !std::ptr::eq(keys.text, top) {
        notes.push("text part only: encoders for images or sound come on top".to_owned());
    }

    let count = params::count(&Layers {
        layers,
        hidden,
        vocab,
        tied: keys.anywhere("tie_word_embeddings").and_then(Value::as_bool).unwrap_or(model_type.starts_with("gemma")),
        norms: if model_type.starts_with("gemma3") || model_type == "gemma2" { 4 } else { 2 },
        intermediate: match &experts {
            // Every layer has experts: `intermediate_size` may be absent or mean theirs.
            Some(experts) if experts.dense_layers == 0 => 0,
            _ => keys.needed("intermediate_size")?,
        },
        attention: projections(&keys, model_type, &attention, (heads, kv_heads, head_dim))?,
        experts: experts.clone(),
    });
    Ok(ModelShape {
        id: id.to_owned(),
        layers,
        hidden,
        heads,
        kv_heads,
        head_dim,
        attention,
        params: count.total,
        active_params: count.active,
        max_context,
        published,
        moe: experts.map(|e| Moe { experts: e.experts, top_k: e.top_k, expert_intermediate: e.intermediate }),
        gated: None,
        notes,
    })
}

/// State-space and linear-attention layers keep a fixed state instead of keys and values; Llama 4 attends in chunks.
fn refuse_other_memories(keys: &Keys, model_type: &str) -> Result<(), ConfigError> {
    if model_type.starts_with("llama4") {
        return Err(unsupported("model_type", model_type));
    }
    let foreign = |key: &&String| key.starts_with("mamba") || key.starts_with("ssm_") || key.starts_with("linear_");
    if let Some(key) = keys.text.keys().find(foreign) {
        return Err(ConfigError::Unsupported { key: key.clone(), found: keys.text[key].to_string() });
    }
    layer_types(keys).map(|_| ())
}

/// The list of layers, where a model spells them out; every one keeps keys and values of all tokens or of a window.
fn layer_types<'a>(keys: &Keys<'a>) -> Result<Option<&'a Vec<Value>>, ConfigError> {
    let Some(types) = keys.get("layer_types") else { return Ok(None) };
    let types = types.as_array().ok_or_else(|| invalid("layer_types", types, "a list"))?;
    match types.iter().find(|layer| !matches!(layer.as_str(), Some("full_attention" | "sliding_attention"))) {
        Some(layer) => Err(ConfigError::Unsupported { key: "layer_types".into(), found: layer.to_string() }),
        None => Ok(Some(types)),
    }
}

fn head_dim(keys: &Keys, hidden: u32, heads: u32) -> Result<u32, ConfigError> {
    if let Some(dim) = keys.any(&["head_dim", "v_head_dim"])? {
        return Ok(dim);
    }
    if !hidden.is_multiple_of(heads) {
        return Err(ConfigError::Missing("head_dim".to_owned()));
    }
    Ok(hidden / heads)
}

fn attention(keys: &Keys, model_type: &str, layers: u32) -> Result<Attention, ConfigError> {
    if let Some(kv_lora_rank) = keys.number("kv_lora_rank")? {
        return Ok(Attention::Mla { kv_lora_rank, rope_head_dim: keys.needed("qk_rope_head_dim")? });
    }
    let Some(window) = keys.number("sliding_window")? else { return Ok(Attention::Full) };
    if keys.flag("use_sliding_window") == Some(false) {
        return Ok(Attention::Full);
    }
    let local_layers = local_layers(keys, model_type, layers)?;
    if local_layers == 0 {
        return Ok(Attention::Full);
    }
    Ok(Attention::Sliding { window, local_layers, global_layers: layers - local_layers })
}

/// Layers that keep a window only.
fn local_layers(keys: &Keys, model_type: &str, layers: u32) -> Result<u32, ConfigError> {
    if let Some(types) = layer_types(keys)? {
        if types.len() != layers as usize {
            let found = Value::from(types.len());
            return Err(invalid("layer_types", &found, "one entry for each of `num_hidden_layers`"));
        }
        let local = types.iter().filter(|layer| layer.as_str() == Some("sliding_attention")).count();
        return Ok(u32::try_from(local).unwrap_or(layers));
    }
    // Every n-th layer is global, in models that do not spell the layers out.
    let pattern = keys.number("sliding_window_pattern")?.or(match model_type {
        "gemma2" | "gpt_oss" => Some(2),
        "gemma3_text" => Some(6),
        _ => None,
    });
    if let Some(pattern) = pattern {
        return Ok(layers - layers / pattern);
    }
    // Qwen2: the layers from `max_window_layers` on; others: all.
    let full = if keys.flag("use_sliding_window") == Some(true) { keys.count("max_window_layers")? } else { 0 };
    Ok(layers.saturating_sub(full))
}

fn projections(
    keys: &Keys,
    model_type: &str,
    attention: &Attention,
    (heads, kv_heads, head_dim): (u32, u32, u32),
) -> Result<Projections, ConfigError> {
    if let Attention::Mla { kv_lora_rank, rope_head_dim } = *attention {
        return Ok(Projections::Latent {
            heads,
            q_lora_rank: keys.number("q_lora_rank")?,
            kv_lora_rank,
            nope: keys.needed("qk_nope_head_dim")?,
            rope: rope_head_dim,
            value: keys.needed("v_head_dim")?,
        });
    }
    let bias = keys.flag("attention_bias");
    let gpt_oss = model_type == "gpt_oss";
    Ok(Projections::Heads {
        heads,
        kv_heads,
        head_dim,
        // Qwen2 has it without saying so.
        qkv_bias: bias.unwrap_or(model_type.starts_with("qwen2") || gpt_oss),
        output_bias: bias.unwrap_or(gpt_oss) && (gpt_oss || model_type == "llama"),
        qk_norm: matches!(model_type, "qwen3" | "qwen3_moe" | "gemma3_text") || keys.flag("use_qk_norm") == Some(true),
        sinks: gpt_oss,
    })
}

fn experts(keys: &Keys) -> Result<Option<Experts>, ConfigError> {
    let Some(experts) = keys.any(&["n_routed_experts", "num_local_experts", "num_experts"])? else { return Ok(None) };
    let top_k = keys.any(&["num_experts_per_tok", "experts_per_token"])?;
    let intermediate = keys.any(&["moe_intermediate_size", "intermediate_size"])?;
    let intermediate = intermediate.ok_or_else(|| ConfigError::Missing("moe_intermediate_size".to_owned()))?;
    let shared = match keys.number("shared_expert_intermediate_size")? {
        Some(size) => size,
        None => keys.count("n_shared_experts")?.saturating_mul(intermediate),
    };
    let skipped = keys.get("mlp_only_layers").and_then(Value::as_array).map_or(0, Vec::len);
    if let Some(step) = keys.number("decoder_sparse_step")?.filter(|step| *step > 1) {
        return Err(ConfigError::Unsupported { key: "decoder_sparse_step".into(), found: step.to_string() });
    }
    let model_type = keys.word("model_type").unwrap_or_default();
    Ok(Some(Experts {
        experts,
        top_k: top_k.ok_or_else(|| ConfigError::Missing("num_experts_per_tok".to_owned()))?.min(experts),
        intermediate,
        shared_intermediate: shared,
        shared_gate: keys.get("shared_expert_intermediate_size").is_some(),
        dense_layers: keys.count("first_k_dense_replace")?.saturating_add(u32::try_from(skipped).unwrap_or(u32::MAX)),
        biased: model_type == "gpt_oss",
        router_bias: model_type == "gpt_oss" || keys.get("n_routed_experts").is_some() && model_type != "deepseek_v2",
    }))
}

/// How the weights are stored, and what there is to say of it.
fn published(keys: &Keys) -> Result<(Precision, Vec<String>), ConfigError> {
    if let Some(quantization) = keys.anywhere("quantization_config").or_else(|| keys.anywhere("compression_config")) {
        return quantized(quantization).map(|precision| {
            let note = "layers that stay unquantised come on top of the weights' size".to_owned();
            (precision, vec![note])
        });
    }
    match keys.anywhere("torch_dtype").or_else(|| keys.anywhere("dtype")) {
        None => Ok((Precision::Bf16, vec!["`torch_dtype` is absent: bf16 assumed".to_owned()])),
        Some(dtype) => match dtype.as_str() {
            Some("bfloat16") => Ok((Precision::Bf16, vec![])),
            Some("float16") => Ok((Precision::Fp16, vec![])),
            Some("float32") => Ok((Precision::Fp32, vec![])),
            Some("float8_e4m3fn" | "float8_e4m3") => Ok((Precision::Fp8, vec![])),
            _ => Err(invalid("torch_dtype", dtype, "bfloat16, float16, float32 or float8_e4m3fn")),
        },
    }
}

fn quantized(quantization: &Value) -> Result<Precision, ConfigError> {
    let method = quantization.get("quant_method").and_then(Value::as_str).unwrap_or_default();
    let by_bits = |bits: Option<u64>, float: bool| match (bits, float) {
        (Some(4), false) => Some(Precision::Int4),
        (Some(8), false) => Some(Precision::Int8),
        (Some(8), true) => Some(Precision::Fp8),
        _ => None,
    };
    let found = match method {
        "fp8" | "fbgemm_fp8" => Some(Precision::Fp8),
        "mxfp4" => Some(Precision::Mxfp4),
        "awq" | "gptq" => by_bits(quantization.get("bits").and_then(Value::as_u64), false),
        "bitsandbytes" => match quantization.get("load_in_4bit").and_then(Value::as_bool) {
            Some(true) => Some(Precision::Int4),
            _ => Some(Precision::Int8),
        },
        "compressed-tensors" => {
            let groups = quantization.get("config_groups").and_then(Value::as_object);
            let weights = groups.and_then(|groups| groups.values().next()).and_then(|group| group.get("weights"));
            weights.and_then(|weights| {
                let float = weights.get("type").and_then(Value::as_str) == Some("float");
                by_bits(weights.get("num_bits").and_then(Value::as_u64), float)
            })
        }
        _ => None,
    };
    found.ok_or_else(|| {
        let shown = if method.is_empty() { "absent" } else { method };
        unsupported("quantization_config.quant_method", shown)
    })
}
