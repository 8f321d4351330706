//! The program `forge-hooks`: hooks written, checked and tried without the host.
//!
//! Uses the public API of the library alone. This file takes the command line to its command, and
//! what comes of it to the exit status.

#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr
)]

mod args;
mod changes;
mod error;
mod files;
mod fire;
mod generate;
mod list;
mod names;
mod sources;
mod starter;
mod status;
mod templates;
mod terminal;
mod trace;
mod trust;
mod validate;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use forge_hooks::printable;

use args::{Cli, Command};
use error::Failure;
use terminal::{ColorChoice, Terminal};

/// How a command ended that could do what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Fine,
    /// Blocked, failed, or problems found.
    Problems,
    /// By a signal, which stands in the exit status as a shell puts it.
    Interrupted(u8),
}

const NOTHING_DONE: u8 = 2;
/// What a shell makes of an end by `SIGPIPE`.
const CLOSED_PIPE: u8 = 141;

fn main() -> ExitCode {
    // A logger costs time; the few who want one say so.
    if std::env::var_os("RUST_LOG").is_some() {
        env_logger::init();
    }
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let mut terminal = Terminal::new(cli.common.color);
    let ended = run(&cli, &mut terminal);
    let written = terminal.flush().map_err(Failure::from);
    match ended.and_then(|ended| written.map(|()| ended)) {
        Ok(Ended::Fine) => ExitCode::SUCCESS,
        Ok(Ended::Problems) => ExitCode::FAILURE,
        Ok(Ended::Interrupted(status)) => ExitCode::from(status),
        Err(failure) if failure.is_closed_pipe() => ExitCode::from(CLOSED_PIPE),
        Err(failure) => {
            // Where this cannot be written either, the exit status is what is left.
            for line in failure.to_string().lines() {
                let _ = writeln!(io::stderr(), "{}", printable(line));
            }
            ExitCode::from(NOTHING_DONE)
        }
    }
}

fn parse() -> Result<Cli, clap::Error> {
    let color = match color_before_parsing() {
        ColorChoice::Auto => clap::ColorChoice::Auto,
        ColorChoice::Always => clap::ColorChoice::Always,
        ColorChoice::Never => clap::ColorChoice::Never,
    };
    let matches = Cli::command().color(color).try_get_matches()?;
    Cli::from_arg_matches(&matches)
}

/// What is wrong with the command line is to be shown as it says itself.
fn color_before_parsing() -> ColorChoice {
    let given: Vec<_> = std::env::args_os().collect();
    let says = |choice: &str| {
        let as_one = format!("--color={choice}");
        let as_two = |pair: &[std::ffi::OsString]| pair[0] == "--color" && pair[1] == *choice;
        given.iter().any(|arg| **arg == *as_one) || given.windows(2).any(as_two)
    };
    if says("never") {
        ColorChoice::Never
    } else if says("always") {
        ColorChoice::Always
    } else {
        ColorChoice::Auto
    }
}

/// Help and the version are what was asked for; anything else is wrong usage.
fn refuse(error: &clap::Error) -> ExitCode {
    let is_mistake = error.use_stderr();
    match error.print() {
        Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(CLOSED_PIPE),
        _ if is_mistake => ExitCode::from(NOTHING_DONE),
        _ => ExitCode::SUCCESS,
    }
}

fn run(cli: &Cli, terminal: &mut Terminal) -> Result<Ended, Failure> {
    let common = &cli.common;
    match &cli.command {
        Command::Fire(args) => fire::run(args, common, terminal),
        Command::Validate(args) => validate::run(args, common, terminal),
        Command::List(args) => list::run(args, common, terminal),
        Command::Init(args) => starter::run(args, common, terminal),
        Command::Templates(args) => templates::run(args, common, terminal),
        Command::Trust(args) => trust::trust(args, common, terminal),
        Command::Untrust(args) => trust::untrust(args, common, terminal),
        Command::Status(args) => status::run(args, common, terminal),
        Command::Trace(args) => trace::run(args, terminal),
        Command::Schema => generate::schema(terminal),
        Command::Completions { shell } => generate::completions(*shell, terminal),
        Command::Man => generate::man(terminal),
    }
}
