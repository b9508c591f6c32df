//! The command line as types: a contract that pipelines are written against. Must never do anything.

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;

/// One stack file for distributed LLM inference on AWS: plan against live state, apply, tear down with proof.
#[derive(Debug, Parser)]
#[command(name = "infer-stack", version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
pub struct Common {
    /// How results are written to stdout.
    #[arg(long, global = true, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Same as --format json.
    #[arg(long, global = true, conflicts_with = "format")]
    pub json: bool,
    /// Write the JSON document to FILE as well, beside what --format says.
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub also_json: Option<PathBuf>,
    /// Colour: it only repeats what symbols and words say.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
    /// Show account ids and ARNs in full where they would be masked.
    #[arg(long, global = true)]
    pub show_ids: bool,
    /// Also show checks that pass, what is kept, and how old facts are.
    #[arg(long, short, global = true)]
    pub verbose: bool,
    /// Work on a simulated account kept in FILE (default .infer-stack/sandbox.json): no credentials, no network, no cost.
    #[arg(long, global = true, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = ".infer-stack/sandbox.json", value_hint = ValueHint::FilePath)]
    pub sandbox: Option<PathBuf>,
}

impl Common {
    pub fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Human,
    Json,
    Ndjson,
    Markdown,
    /// Markdown for a GitHub job summary.
    Github,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check stack files offline.
    Validate(Validate),
    /// Memory budget, parallelism and concurrency of a model on an instance type.
    Size(Size),
    /// Compare the file with live AWS state: checks, changes, money, time. Changes nothing.
    Plan(Plan),
    /// Bring the stack to what the file says: check, plan, ask, apply, verify.
    Up(Up),
    /// Take the stack down in order, then prove that nothing of it remains or bills.
    Destroy(Destroy),
    /// Look again: does anything of this stack remain or bill? Writes a receipt.
    Verify(Target),
    /// The checks of `plan` alone: quotas, offerings, capacity, limits.
    Preflight(StackFile),
    /// What lives: resources, nodes, GPUs, dollars an hour, time left.
    Status(Target),
    /// JSON Schema of the stack file and of the documents this program writes.
    Schema {
        #[arg(value_enum)]
        document: SchemaDocument,
    },
    /// The simulated account behind --sandbox.
    #[command(subcommand)]
    Sandbox(Sandbox),
    /// Completion script for a shell.
    Completions {
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub struct StackFile {
    /// The stack file; `-` reads standard input.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Which stack of a file that holds several.
    #[arg(long, value_name = "NAME")]
    pub stack: Option<String>,
}

#[derive(Debug, Args)]
pub struct Validate {
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Print the file with every default filled in.
    #[arg(long)]
    pub explain: bool,
}

#[derive(Debug, Args)]
pub struct Size {
    /// A stack file with a `serving` section.
    #[arg(value_name = "FILE", conflicts_with_all = ["model", "instance_type"], value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Which stack of a file that holds several.
    #[arg(long, value_name = "NAME")]
    pub stack: Option<String>,
    /// A model of the catalogue, or the path of a Hugging Face config.json.
    #[arg(long, requires = "instance_type", required_unless_present = "file")]
    pub model: Option<String>,
    #[arg(long, value_name = "TYPE", requires = "model")]
    pub instance_type: Option<String>,
    /// Where its price is taken from.
    #[arg(long, default_value = "us-east-1")]
    pub region: String,
    /// Of the weights; default: as the model is published.
    #[arg(long, value_enum)]
    pub precision: Option<Precision>,
    #[arg(long, value_enum, default_value_t = KvCache::Auto)]
    pub kv_cache: KvCache,
    /// Tokens a conversation; default: the smaller of 8192 and the model's.
    #[arg(long, value_name = "TOKENS")]
    pub context: Option<u32>,
    /// vLLM's gpu-memory-utilization.
    #[arg(long, value_name = "FRACTION", default_value_t = 0.92)]
    pub utilization: f64,
    /// Round as the article's tables do: 80 GB a GPU, 75 GB of overhead, 2.5 GB a conversation.
    #[arg(long)]
    pub seed_rounding: bool,
    /// Measured output tokens a second of one replica, to price a million tokens.
    #[arg(long, value_name = "N")]
    pub tokens_per_second: Option<f64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Precision {
    Fp16,
    Bf16,
    Fp8,
    Int4,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum KvCache {
    /// As the model computes: 16 bits.
    Auto,
    Fp8,
}

#[derive(Debug, Args)]
pub struct Plan {
    #[command(flatten)]
    pub target: StackFile,
    /// Exit 2 when there is something to do.
    #[arg(long)]
    pub detailed_exitcode: bool,
    /// Save the plan, to apply exactly this one with `up --plan`.
    #[arg(long, value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub save: Option<PathBuf>,
    /// Plan the destruction instead.
    #[arg(long, conflicts_with = "save")]
    pub destroy: bool,
    /// Only what differs from the file without the file having changed: skip offers and checks.
    #[arg(long, conflicts_with_all = ["destroy", "save"])]
    pub drift_only: bool,
}

#[derive(Debug, Args)]
pub struct Up {
    /// The stack file; `-` reads standard input.
    #[arg(value_name = "FILE", required_unless_present = "plan", conflicts_with = "plan", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Which stack of a file that holds several.
    #[arg(long, value_name = "NAME")]
    pub stack: Option<String>,
    /// Apply a saved plan, if the world is still as it was.
    #[arg(long, value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub plan: Option<PathBuf>,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    /// Only this address and what it needs.
    #[arg(long, value_name = "ADDRESS")]
    pub only: Vec<String>,
    /// Take over a live object that has our name and no owner.
    #[arg(long, value_name = "ADDRESS")]
    pub adopt: Vec<String>,
    /// Leave the serving layer out.
    #[arg(long)]
    pub skip_serving: bool,
}

/// A stack by its file, or by name where there is no file.
#[derive(Debug, Args)]
pub struct Target {
    #[arg(value_name = "FILE", required_unless_present = "name", conflicts_with = "name", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Which stack of a file that holds several.
    #[arg(long, value_name = "NAME")]
    pub stack: Option<String>,
    /// Name of the stack, found by its tags alone.
    #[arg(long, requires = "region")]
    pub name: Option<String>,
    #[arg(long)]
    pub region: Option<String>,
}

#[derive(Debug, Args)]
pub struct Destroy {
    #[command(flatten)]
    pub target: Target,
    /// Do not ask; needs --confirm as well.
    #[arg(long, requires = "confirm")]
    pub yes: bool,
    /// The stack's name, repeated.
    #[arg(long, value_name = "NAME")]
    pub confirm: Option<String>,
    /// Delete the weights bucket and what is in it too.
    #[arg(long)]
    pub delete_data: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaDocument {
    Stack,
    Plan,
    Events,
    Receipt,
}

#[derive(Debug, Subcommand)]
pub enum Sandbox {
    /// What exists in the simulated account, and its clock.
    Status,
    /// Start over with an empty account.
    Reset {
        /// A scenario file, or `ready`, `new-account`, `no-capacity`.
        #[arg(long, default_value = "ready")]
        scenario: String,
    },
}
