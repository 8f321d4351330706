//! The program's commands as a library: a host gives its users `mygame hooks fire`, `list`, `trust` and
//! the others in one line. Feature `cli`.
//!
//! Uses only the public API of the library. This file dispatches a command line to its command, and
//! converts the result to an exit status.

mod approval;
mod args;
mod cases;
mod context;
mod draw;
mod entries;
mod error;
mod events;
mod files;
mod fire;
mod generate;
mod io;
mod list;
mod names;
#[cfg(test)]
mod schema_tests;
mod serve;
#[cfg(test)]
mod shape_tests;
mod starter;
mod templates;
mod terminal;
mod test;
mod trace;
mod validate;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{ArgMatches, FromArgMatches};

use crate::compat::{OtherTools, Tool};
use crate::{AppProfile, Hooks, printable};
use args::{Cli, Command};
use context::Context;
use error::{CLOSED_PIPE, Ended, Failure, ForPrograms, NOTHING_DONE};
use terminal::{ColorChoice, Terminal};

pub use io::Io;

/// Runs one command of a host, for example `fire tool:pre_execute --tool bash`. Returns the exit status: 0 for
/// success; 1 if a hook blocks, asks or fails, or problems were found ([the
/// table](crate::docs::program#the-exit-status)); 2 for wrong usage or if the command could not run, with a
/// message on the error output of `io`; 130 or 143 after a signal, 141 if the output was closed.
///
/// The commands know the events, tools and names of `hooks`. With the options `--config`, `--project` and
/// `--no-global`, they load other hooks files, with the same names.
///
/// ```no_run
/// use std::process::ExitCode;
/// use forge_hooks::cli::{self, Io};
/// use forge_hooks::{AppProfile, Hooks};
///
/// fn main() -> ExitCode {
///     let hooks = Hooks::builder(AppProfile::new("mygame"))
///         .approve_command("mygame hooks trust") // for the host's own messages
///         .load();
///     // What follows `mygame hooks`.
///     cli::run(&hooks, std::env::args_os().skip(2), &mut Io::system("mygame hooks"))
/// }
/// ```
pub fn run<A: Into<OsString>>(
    hooks: &Hooks,
    args: impl IntoIterator<Item = A>,
    io: &mut Io<'_>,
) -> ExitCode {
    let command_line = args::command(&io.program, &io.version);
    let status = run_parsed(command_line, args, io, |_| Ok(hooks.clone()));
    ExitCode::from(status)
}

/// Runs one command without a host, for the program `forge-hooks`. It uses the default names or those of
/// `--profile NAME`, and the project of `--project DIR` or the one in which the current directory is
/// ([`HooksBuilder::discover_project`](crate::HooksBuilder::discover_project)).
pub fn run_standalone<A: Into<OsString>>(
    args: impl IntoIterator<Item = A>,
    io: &mut Io<'_>,
) -> ExitCode {
    let command_line = args::standalone(args::command(&io.program, &io.version));
    let program = io.program.clone();
    let hooks = |matches: &ArgMatches| {
        let profile = match args::profile(matches)? {
            Some(name) => AppProfile::new(name),
            None => AppProfile::default(),
        };
        let approve = format!("{program}{} trust", names_of(matches));
        let mut builder = Hooks::builder(profile).approve_command(approve);
        if let Some(tools) = matches.get_many::<&'static Tool>(args::OTHER_TOOLS) {
            builder = builder.other_tools(OtherTools::new(tools.copied()));
        }
        let start = context::directory(Path::new("."))?;
        if let Some(file) = args::vocabulary(matches) {
            builder = serve::declare(file, builder)?;
        }
        Ok(builder.discover_project(start).load())
    };
    ExitCode::from(run_parsed(command_line, args, io, hooks))
}

/// Returns the options that a suggested command needs: `--profile` and `--other-tools` as they were given, and
/// the tool of `fire --as`. Empty for a host, which does not have these options.
fn names_of(matches: &ArgMatches) -> String {
    let mut names = String::new();
    if let Ok(Some(name)) = matches.try_get_one::<String>(args::PROFILE) {
        names += &format!(" --{} {name}", args::PROFILE);
    }
    let Ok(given) = matches.try_get_many::<&'static Tool>(args::OTHER_TOOLS) else {
        return names;
    };
    let mut tools: Vec<&'static Tool> = given.into_iter().flatten().copied().collect();
    let fire = matches.subcommand_matches("fire");
    if let Some(tool) = fire.and_then(|fire| fire.get_one::<&'static Tool>("tool_of"))
        && !tools.contains(tool)
    {
        tools.push(tool);
    }
    if !tools.is_empty() {
        let tools: Vec<_> = tools.into_iter().map(|tool| tool.name()).collect();
        names += &format!(" --{} {}", args::OTHER_TOOLS, tools.join(","));
    }
    names
}

fn run_parsed<A: Into<OsString>>(
    command_line: clap::Command,
    args: impl IntoIterator<Item = A>,
    io: &mut Io<'_>,
    hooks: impl FnOnce(&ArgMatches) -> Result<Hooks, Failure>,
) -> u8 {
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let is_json = args.iter().any(|arg| arg == "--json");
    let parser = command_line.clone().bin_name(&io.program);
    let matches = parser.no_binary_name(true).try_get_matches_from(&args);
    let parsed = matches.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (ended, color) = match parsed {
        Ok((cli, matches)) => {
            let program = io.program.clone();
            let ended = hooks(&matches).and_then(|hooks| {
                let context = Context {
                    hooks: &hooks,
                    common: &cli.common,
                    program: &program,
                    names: &names_of(&matches),
                    command_line: &command_line,
                };
                let mut terminal = Terminal::new(cli.common.color, io);
                let ended = dispatch(&cli.command, &context, &mut terminal)?;
                terminal.flush()?;
                Ok(ended.status())
            });
            (ended, cli.common.color)
        }
        Err(error) => (refuse(&error, is_json, io), ColorChoice::Auto),
    };
    match ended {
        Ok(status) => status,
        Err(failure) if failure.is_closed_pipe() => CLOSED_PIPE,
        Err(failure) => {
            // If the message cannot be written either, only the exit status reports the error.
            let mut terminal = Terminal::new(color, io);
            if is_json {
                let _ = terminal.json(&ForPrograms { error: &failure });
            }
            for line in failure.to_string().lines() {
                let _ = terminal.note(printable(line));
            }
            NOTHING_DONE
        }
    }
}

/// Prints help or the version, or reports wrong usage.
fn refuse(error: &clap::Error, is_json: bool, io: &mut Io<'_>) -> Result<u8, Failure> {
    let text = error.render();
    let (output, is_terminal) = match error.use_stderr() {
        true => (&mut io.errors, io.is_terminal.errors),
        false => (&mut io.output, io.is_terminal.output),
    };
    match ColorChoice::Auto.is_on(is_terminal) {
        true => write!(output, "{}", text.ansi())?,
        false => write!(output, "{text}")?,
    }
    output.flush()?;
    if !error.use_stderr() {
        return Ok(0);
    }
    if is_json {
        let text = text.to_string();
        let words = text.lines().next().unwrap_or_default();
        let failure = Failure::new(words.trim_start_matches("error: "));
        Terminal::new(ColorChoice::Never, io).json(&ForPrograms { error: &failure })?;
    }
    Ok(NOTHING_DONE)
}

fn dispatch(
    command: &Command,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    match command {
        Command::Fire(args) => fire::run(args, context, terminal),
        Command::Test(args) => test::run(args, context, terminal),
        Command::Events(args) => events::run(args, context, terminal),
        Command::Validate(args) => validate::run(args, context, terminal),
        Command::List(args) => list::run(args, context, terminal),
        Command::Init(args) => starter::run(args, context, terminal),
        Command::Templates(args) => templates::run(args, context, terminal),
        Command::Trust(args) => approval::trust(args, context, terminal),
        Command::Untrust(args) => approval::untrust(args, context, terminal),
        Command::Trace(args) => trace::run(args, terminal),
        Command::Serve => serve::run(context, terminal),
        Command::Schema => generate::schema(context, terminal),
        Command::Completions { shell } => generate::completions(*shell, context, terminal),
    }
}
