//! The memory budget as people read it. Must never compute a budget.

use crate::report::{
    document::SizeDocument,
    style::{Style, bytes, dollars, duration, grouped, pad, wrap},
};
use std::fmt::Write;

pub fn size(size: &SizeDocument, style: Style) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}   {}   {}   {} tokens a conversation\n",
        style.bold(&size.model),
        size.instance_type,
        size.precision,
        grouped(size.max_model_len.into())
    );
    let mut row = |label: &str, value: String| {
        let _ = writeln!(out, "  {} {value}", pad(label, 14));
    };
    let nodes = match (size.nodes_per_replica, size.replicas_per_node) {
        (1, 0 | 1) => "one node a replica".to_owned(),
        (1, replicas) => format!("{replicas} replicas a node"),
        (nodes, _) => format!("{nodes} nodes a replica"),
    };
    row("parallelism", format!("tensor {} × pipeline {}, {nodes}", size.tensor_parallel, size.pipeline_parallel));
    row("memory", bytes(size.memory_bytes));
    row("weights", bytes(size.weights_bytes));
    row("overhead", format!("{}   {:.0} % of memory", bytes(size.overhead_bytes), size.overhead_fraction * 100.0));
    row(
        "KV cache",
        format!(
            "{}   {} tokens of {} bytes",
            bytes(size.kv_budget_bytes),
            grouped(size.kv_tokens),
            grouped(size.kv_bytes_per_token)
        ),
    );
    row(
        "concurrency",
        format!("{} conversations   {:.2}x in vLLM's log", grouped(size.sequences), size.max_concurrency),
    );
    if let Some(seconds) = size.weight_load_seconds {
        row("weight load", format!("at least {} a node, over its IP network", duration(seconds.ceil() as u64)));
    }
    if let Some(usd) = size.replica_hourly_usd {
        row("price", format!("{}/h a replica, on demand", dollars(usd)));
    }
    if let Some(usd) = size.usd_per_million_tokens {
        row("cost", format!("{} per million output tokens at the rate given", dollars(usd)));
    }
    if let Some(table) = size.seed_table {
        let _ = writeln!(
            out,
            "\n{}   {:.0} GB in all, {:.0} GB of weights, {:.0} GB of overhead: {:.0} GB of KV cache,\n  {} conversations of {:.1} GB",
            style.bold("As the article rounds"),
            table.total_gb,
            table.weights_gb,
            table.overhead_gb,
            table.kv_gb,
            grouped(table.conversations),
            table.gb_per_conversation
        );
    }
    out.push('\n');
    for note in &size.notes {
        for line in wrap(&format!("! {note}"), style.width) {
            let _ = writeln!(out, "{line}");
        }
    }
    if size.fits {
        let _ = writeln!(out, "{} fits", style.tick());
    } else {
        let _ = writeln!(out, "{} does not fit: {}", style.cross(), size.verdict);
        if let Some(nearest) = &size.nearest_fitting {
            let _ = writeln!(out, "  {nearest} would hold it on one node");
        }
    }
    out
}
