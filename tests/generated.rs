//! What is generated from the program and kept in the repository is up to date. `INFER_STACK_GENERATE=1` writes it again.

use clap::{Command, CommandFactory};
use infer_stack::{cli::args::Cli, report};
use std::{fmt::Write, path::Path};

/// True when what is generated is to be written instead of compared.
#[expect(clippy::disallowed_methods, reason = "the one switch of the tests")]
pub fn writes() -> bool {
    std::env::var_os("INFER_STACK_GENERATE").is_some()
}

/// Compares a file with what it should be, or writes it.
pub fn holds(path: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if writes() {
        std::fs::write(&path, wanted).unwrap();
        return;
    }
    let have = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(have == wanted, "{} is stale: run `just generate`", path.display());
}

#[test]
fn generated_command_reference_is_up_to_date() {
    let mut out = String::from(
        "# Commands\n\nGenerated from the program: `just generate`.\n\nEvery command takes the flags of `infer-stack`.\n",
    );
    section(&mut out, &mut Cli::command(), "infer-stack");
    holds("docs/cli.md", &out);
}

fn section(out: &mut String, command: &mut Command, name: &str) {
    let is_root = name == "infer-stack";
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = command.render_usage().to_string().replace("Usage: ", "");
    let usage = usage.replacen(command.get_name(), name, 1);
    let _ = write!(out, "\n## {name}\n\n{about}\n\n```\n{usage}\n```\n");
    let arguments: Vec<_> = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set() && (is_root || !argument.is_global_set()))
        .filter(|argument| !matches!(argument.get_id().as_str(), "help" | "version"))
        .collect();
    if !arguments.is_empty() {
        out.push_str("\n| | |\n|---|---|\n");
    }
    for argument in arguments {
        let values: Vec<String> = argument
            .get_possible_values()
            .iter()
            .filter(|value| !value.is_hide_set() && argument.get_action().takes_values())
            .map(|value| value.get_name().to_owned())
            .collect();
        let values = if values.is_empty() { String::new() } else { format!(" One of {}.", values.join(", ")) };
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(out, "| `{}` | {help}{values} |", argument.to_string().replace('|', "\\|"));
    }
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for sub in names {
        if sub != "help"
            && let Some(found) = command.find_subcommand_mut(&sub)
        {
            section(out, found, &format!("{name} {sub}"));
        }
    }
}

#[test]
fn generated_schemas_are_up_to_date() {
    let text = |schema: &serde_json::Value| format!("{schema:#}\n");
    holds("schema/plan.schema.json", &text(&report::schema::plan()));
    holds("schema/events.schema.json", &text(&report::schema::events()));
    holds("schema/receipt.schema.json", &text(&report::schema::receipt()));
}
