//! The program's commands as a library: a host gives its users `mygame hooks fire`, `list`, `trust` and
//! the others in one line. Feature `cli`.
//!
//! This file dispatches a command line to its command, and converts the result to an exit status.

mod add;
mod approval;
mod args;
mod cases;
mod check;
mod confirm;
mod context;
mod draw;
mod entries;
mod error;
mod events;
mod files;
mod fire;
mod first_value;
mod generate;
mod hints;
mod hook;
mod install;
mod io;
mod list;
mod registration;
mod remarks;
mod replay;
mod serve;
mod starter;
mod terminal;
mod test;
mod trace;

use std::ffi::OsString;
use std::path::Path;

use clap::{ArgMatches, Args, ColorChoice, FromArgMatches};

use crate::compat::OtherAgents;
use crate::{AppProfile, HookConfig, Hooks};
use args::{Cli, Command, Standalone};
use confirm::refuse_below_an_agent;
use error::ForPrograms;

pub(crate) use context::Context;
pub(crate) use error::{CommandError, Done, Exit};
pub use io::Io;
pub(crate) use terminal::{Style, Terminal, counted, first_of};

/// Runs one command of a host, for example `fire tool:pre_execute --tool bash`. Returns the exit status: 0 for
/// success; 1 if a hook blocks, asks or fails, or problems were found ([the
/// table](crate::docs::program#the-exit-status)); 2 for wrong usage or if the command could not run, with a
/// message on the error output of `io`; 130, 131 or 143 after a signal, 141 if the output was closed.
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
///     // Skips `mygame hooks`.
///     let args = std::env::args_os().skip(2);
///     cli::run(&hooks, args, &mut Io::system("mygame hooks")).into()
/// }
/// ```
#[must_use = "the command may have failed: end the program with this exit status"]
pub fn run<A: Into<OsString>>(
    hooks: &Hooks,
    args: impl IntoIterator<Item = A>,
    io: &mut Io<'_>,
) -> u8 {
    let command_line = args::command(&io.program, &io.version);
    run_parsed(command_line, args, io, |_, _| {
        Ok((hooks.clone(), String::new()))
    })
}

/// Runs one command without a host, for the program `forge-hooks`. It uses the default names or those of
/// `--profile NAME`, and the project of `--project DIR` or the one in which the current directory is
/// ([`HooksBuilder::discover_project`](crate::HooksBuilder::discover_project)).
#[must_use = "the command may have failed: end the program with this exit status"]
pub fn run_standalone<A: Into<OsString>>(args: impl IntoIterator<Item = A>, io: &mut Io<'_>) -> u8 {
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    if let Some(ended) = hook::run(&args, io) {
        return ended.0;
    }
    let command_line = Standalone::augment_args(args::command(&io.program, &io.version));
    let command_line = args::without_a_host(command_line);
    let program = io.program.clone();
    run_parsed(command_line, args, io, |cli, matches| {
        let options = Standalone::from_arg_matches(matches)?;
        let names = options.names();
        let host = options.host()?;
        // The program that starts `serve` is a host too.
        let has_host = host.is_some() || matches!(cli.command, Command::Serve { .. });
        let profile = host.map_or_else(AppProfile::default, AppProfile::new);
        let mut builder =
            Hooks::builder(profile).approve_command(format!("{program}{names} trust"));
        if cli.command.checks_scripts() {
            builder = builder.configured(HookConfig::checking_scripts);
        }
        let others = OtherAgents::new(options.other_agents);
        builder = match args::vocabulary(matches) {
            Some(file) => serve::declare(file, builder, others)?,
            None if has_host => builder.other_agents(others),
            None => builder
                .configured(HookConfig::of_agents)
                .other_agents(others),
        };
        let start = context::directory(Path::new("."))?;
        let builder = builder.discover_project(start);
        let hooks = if cli.command.uses_hooks() && !cli.common.selects_files() {
            builder.load()
        } else {
            builder.without_hooks()
        };
        Ok((hooks, names))
    })
}

/// Parses and runs a command, and prints its error. `hooks` are those of its host, with the options that a suggested
/// command needs to mean the same host.
fn run_parsed<A: Into<OsString>>(
    command_line: clap::Command,
    args: impl IntoIterator<Item = A>,
    io: &mut Io<'_>,
    hooks: impl FnOnce(&Cli, &ArgMatches) -> Result<(Hooks, String), CommandError>,
) -> u8 {
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let terminal = &mut io.terminal;
    terminal.set_colours(ColorChoice::Auto);
    let parser = command_line.clone().bin_name(&io.program);
    let matches = parser.no_binary_name(true).try_get_matches_from(&args);
    let parsed = matches.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let ended = match parsed {
        Err(help) if !help.use_stderr() => {
            let printed = write!(terminal, "{}", help.render().ansi());
            printed.map(|()| Exit::FINE).map_err(Into::into)
        }
        Err(error) => Err(match args::instead_of(&error, &io.program) {
            Some((message, fix)) => CommandError::new(message).with_fix(fix),
            None => error.into(),
        }),
        Ok((cli, matches)) => hooks(&cli, &matches).and_then(|(hooks, names)| {
            terminal.set_colours(cli.common.color);
            args::check(&matches, &cli.common)?;
            let context = Context {
                hooks: &hooks,
                common: &cli.common,
                checks_scripts: cli.command.checks_scripts(),
                program: &io.program,
                agent: cli.command.agent().filter(|agent| {
                    let own = hooks.config().other_agents();
                    own.agents.contains(agent)
                }),
                names: &names,
                command_line: &command_line,
            };
            dispatch(&cli.command, &context, terminal)
        }),
    };
    let ended = ended.and_then(|ended| Ok(terminal.flush().map(|()| ended)?));
    let ended = ended.unwrap_or_else(|error| {
        if error.is_closed_pipe {
            return Exit::CLOSED_PIPE;
        }
        // The exit status alone reports the error if the message cannot be written either.
        if args.iter().any(|arg| arg == "--json") {
            let _ = terminal.json(&ForPrograms { error: &error });
        }
        let _ = terminal.note(error);
        Exit::NOTHING_DONE
    });
    ended.0
}

fn dispatch(command: &Command, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    if command.changes_the_usual_files() {
        refuse_below_an_agent()?;
        if !context.common.config.is_empty() {
            let message = "this command is for the user's and the project's own files";
            return Err(CommandError::new(message).with_fix("leave `--config` out"));
        }
    }
    match command {
        Command::Fire(args) => fire::run(args, context, terminal),
        Command::Hook(_) => Err(CommandError::new(
            "only `forge-hooks` itself answers other agents",
        )),
        Command::Install(args) => install::install(args, context, terminal),
        Command::Uninstall(args) => install::uninstall(args, context, terminal),
        Command::Test(args) => test::run(args, context, terminal),
        Command::Events(args) => events::run(args, context, terminal),
        Command::Check(args) => check::run(args, context, terminal),
        Command::List(args) => list::run(args, context, terminal),
        Command::Init(args) => starter::init(args, context, terminal),
        Command::Add(args) => add::run(args, context, terminal),
        Command::Trust(args) => approval::trust(args, context, terminal),
        Command::Replay(args) => replay::run(args, context, terminal),
        Command::Trace(args) => trace::run(args, terminal),
        Command::Serve { workers, recording } => serve::run(*workers, recording, context, terminal),
        Command::Completions { shell } => generate::completions(*shell, context, terminal),
    }
}
