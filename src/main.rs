//! Parses, runs, exits.

use std::process::ExitCode;

fn main() -> ExitCode {
    infer_stack::cli::main(std::env::args_os())
}
