//! The command line: one file a command, thin over the rooms. Must never print by itself: `report` does.

mod app;
pub mod args;
mod connect;
mod destroy;
mod exit;
mod host;
mod input;
mod plan;
mod preflight;
mod run;
mod sandbox;
mod saved;
mod schema;
mod size;
mod status;
mod survey;
mod up;
mod validate;
mod verify;

pub use exit::{Exit, Failure};

use app::App;
use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use std::{ffi::OsString, process::ExitCode};

/// Runs the command line of these arguments, the program's name first.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // clap prints to the right stream; a stream that is closed has no reader to tell.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { Exit::Usage.code() } else { Exit::Done.code() });
        }
    };
    let app = App::new(cli.common);
    let exit = match run(&app, cli.command) {
        Ok(exit) => exit,
        Err(failure) => app.tell(&failure),
    };
    ExitCode::from(exit.code())
}

fn run(app: &App, command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Validate(args) => validate::run(app, &args),
        Command::Size(args) => size::run(app, &args),
        Command::Schema { document } => schema::run(app, document),
        Command::Completions { shell } => {
            let mut script = vec![];
            clap_complete::generate(shell, &mut Cli::command(), "infer-stack", &mut script);
            app.raw(&String::from_utf8_lossy(&script))?;
            Ok(Exit::Done)
        }
        Command::Sandbox(command) => sandbox::run(app, &command),
        Command::Plan(args) => app.within_runtime(plan::run(app, &args)),
        Command::Up(args) => app.within_runtime(up::run(app, &args)),
        Command::Destroy(args) => app.within_runtime(destroy::run(app, &args)),
        Command::Verify(args) => app.within_runtime(verify::run(app, &args)),
        Command::Preflight(args) => app.within_runtime(preflight::run(app, &args)),
        Command::Status(args) => app.within_runtime(status::run(app, &args)),
    }
}
