//! Prints how long runs over the stack files take in virtual time, against the longest chain of their steps (no schedule is
//! shorter) and against what the plan says beforehand. Fails where a run is more than 5 % longer than the chain.
//!
//! `cargo bench --no-default-features --bench schedule`

#[path = "../tests/harness.rs"]
#[allow(dead_code, reason = "tests use the rest of it")]
mod harness;

use harness::{Ran, World, files};
use infer_stack::{catalog::Catalog, plan::duration};
use std::process::ExitCode;

fn main() -> ExitCode {
    println!(
        "{:<24} {:<8} {:>5} {:>8} {:>8} {:>7} {:>8}  longest chain",
        "stack", "run", "steps", "took", "chain", "over", "planned"
    );
    let mut tight = true;
    for file in files() {
        // Simulated hours pass in a moment.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let (up, down) = runtime.expect("a runtime needs nothing of the system").block_on(async {
            let world = World::ready(&file);
            (world.up().await, world.destroy().await)
        });
        for (run, ran) in [("up", up), ("destroy", down)] {
            tight &= line(&file, run, &ran);
        }
    }
    if tight { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn line(file: &str, run: &str, ran: &Ran) -> bool {
    let catalog = Catalog::compiled();
    let (chain, through) = ran.longest_chain();
    let (planned, _) = duration(&ran.plan, &catalog);
    let took = ran.outcome.seconds;
    let over = (took as f64 / chain.max(1) as f64 - 1.0) * 100.0;
    let chain_text: Vec<String> = through.iter().map(ToString::to_string).collect();
    println!(
        "{file:<24} {run:<8} {:>5} {took:>6} s {chain:>6} s {over:>5.1} % {planned:>6} s  {}",
        ran.plan.tasks.len(),
        chain_text.join(" → ")
    );
    ran.outcome.is_complete() && over <= 5.0
}
