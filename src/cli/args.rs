//! The command line: its commands, their options, and their help texts.
//!
//! Does not know what a command does.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::mem;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Args, ColorChoice, CommandFactory, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

use crate::agents::{self, Agent};
use crate::cli::CommandError;
use crate::packs::{PACKS, Pack};

/// The program name in the texts of this file.
const NAME: &str = "forge-hooks";

/// Returns the command line of a program with this name.
pub(crate) fn command(program: &str, version: &str) -> clap::Command {
    let mut command = called(Cli::command(), program);
    let of_files = |arg: &&clap::Arg| OF_FILES.contains(&arg.get_id().as_str());
    let hidden = command.get_arguments().filter(of_files).cloned();
    let hidden: Vec<_> = hidden.map(|arg| arg.global(false).hide(true)).collect();
    for name in WITHOUT_FILES {
        command = command.mut_subcommand(name, |subcommand| subcommand.args(&hidden));
    }
    command.name(program.to_owned()).version(version.to_owned())
}

/// The options that select hooks files.
const OF_FILES: [&str; 3] = ["config", "project", "no_global"];

/// The commands that read no hooks files: the options have no effect there.
const WITHOUT_FILES: [&str; 5] = ["events", "trace", "install", "uninstall", "completions"];

/// # Errors
/// If the options select hooks files and the command reads none.
pub(crate) fn check(matches: &clap::ArgMatches, common: &Common) -> Result<(), CommandError> {
    let is_without_files = matches
        .subcommand_name()
        .is_some_and(|name| WITHOUT_FILES.contains(&name));
    if is_without_files && common.selects_files() {
        let message = "`--config`, `--project` and `--no-global` have no effect on this command";
        return Err(CommandError::new(message).with_fix("leave them out"));
    }
    Ok(())
}

/// The option of [`Standalone`] that only a program without a host has.
pub(crate) const PROFILE: &str = "profile";

/// The options of a program without a host.
#[derive(Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Standalone {
    /// Use the file and variable names of this host, for example `mygame` [default: $FORGE_HOOKS_PROFILE, or else forge
    /// and opencode].
    #[arg(long, global = true, value_name = "NAME", value_parser = profile_name)]
    profile: Option<String>,
    /// Also use the hooks of these agents, for example `claude,codex`; those of the project need an approval.
    #[arg(long, global = true, value_name = "AGENTS", value_delimiter = ',', value_parser = agent())]
    pub(crate) other_agents: Vec<&'static Agent>,
}

#[derive(Args)]
struct Vocabulary {
    /// The program's events and tools, in the form of `events --json`.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    vocabulary: Option<PathBuf>,
}

/// Changes the options and texts that differ without a host.
pub(crate) fn without_a_host(command: clap::Command) -> clap::Command {
    let root = "The project's root [default: that of the current directory]";
    // `hook` refuses the options of all commands.
    let of_all = command.get_arguments().filter(|arg| arg.is_global_set());
    let others = of_all.filter(|arg| arg.get_id() != PROFILE).cloned();
    let refused: Vec<_> = others.map(|arg| arg.global(false).hide(true)).collect();
    command
        .about("Write, check and try hooks without the program that will run them")
        .mut_arg("project", |project| project.help(root))
        .mut_subcommand("serve", Vocabulary::augment_args)
        .mut_subcommand("hook", |hook| hook.args(refused))
        .mut_subcommand("install", |install| install.hide(false))
        .mut_subcommand("uninstall", |uninstall| uninstall.hide(false))
}

/// Returns the file of `serve --vocabulary`.
pub(crate) fn vocabulary(matches: &clap::ArgMatches) -> Option<&PathBuf> {
    matches.subcommand_matches("serve")?.get_one("vocabulary")
}

/// One of the agents whose hooks this program runs, by its name.
fn agent() -> impl TypedValueParser<Value = &'static Agent> {
    let named = |name: String| match agents::named(&name).ok_or("unknown agent")? {
        agent if agents::AGENTS.contains(&agent) => Ok(agent),
        agent => Err(format!(
            "hosts do not run hooks of {}: write them into hooks.json, which runs under it after `install {name}`",
            agent.title()
        )),
    };
    let names = agents::BRIDGED.map(|agent| {
        let is_run = agents::AGENTS.contains(&agent);
        PossibleValue::new(agent.name()).hide(!is_run)
    });
    PossibleValuesParser::new(names).try_map(named)
}

/// One of the agents under which this program runs hooks, by its name.
fn guarded() -> impl TypedValueParser<Value = &'static Agent> {
    let named = |name: String| agents::named(&name).ok_or("unknown agent");
    PossibleValuesParser::new(agents::BRIDGED.map(Agent::name)).try_map(named)
}

/// The variable with the name of the host, for users of one host.
const PROFILE_VARIABLE: &str = "FORGE_HOOKS_PROFILE";

impl Standalone {
    /// Returns the name of the host, from the option or from the variable.
    pub(crate) fn host(&self) -> Result<Option<String>, CommandError> {
        let of_variable = || std::env::var(PROFILE_VARIABLE).ok();
        let name = self.profile.clone().or_else(of_variable);
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Ok(None);
        };
        profile_name(&name).map(Some).map_err(|expected| {
            let message = format!("invalid name `{name}` in `{PROFILE_VARIABLE}`: {expected}");
            CommandError::new(message)
        })
    }

    /// Returns these options as they were given, for a command that means the same host.
    pub(crate) fn names(&self) -> String {
        let agents = BTreeSet::from_iter(self.other_agents.iter().map(|agent| agent.name()));
        let mut names = String::new();
        if let Some(profile) = &self.profile {
            names += &format!(" --profile {profile}");
        }
        if !agents.is_empty() {
            names += &format!(" --other-agents {}", Vec::from_iter(agents).join(","));
        }
        names
    }
}

pub(crate) fn profile_name(text: &str) -> Result<String, &'static str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_part) {
        return Ok(text.to_owned());
    }
    Err("expected a letter, then letters, digits, `_` and `-`")
}

/// Appends the final paragraphs of the help texts, with the name of the program.
fn called(mut command: clap::Command, program: &str) -> clap::Command {
    let ends = include_str!("help.txt").split("== ");
    for (name, end) in ends.filter_map(|end| end.split_once('\n')) {
        let end = end.trim_end().replace(NAME, program);
        // `mut_subcommand` would move all others, once for each.
        let of = match name {
            NAME => Some(&mut command),
            _ => command.find_subcommand_mut(name),
        };
        if let Some(of) = of {
            *of = mem::take(of).after_help(end);
        }
    }
    command
}

/// Write, check and try hooks.
#[derive(Parser)]
#[command(
    name = NAME,
    max_term_width = 100,
    infer_long_args = false
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// The options of all commands: which hooks to use, and how to show them.
#[derive(Args, Clone)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// Use this hooks file instead of the user's and the project's; can be repeated. It needs no
    /// approval.
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Vec<PathBuf>,
    /// The project's root [default: the project of the program].
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) project: Option<PathBuf>,
    /// Ignore the user's own hooks.
    #[arg(long, global = true)]
    pub(crate) no_global: bool,
    /// Use colours; `auto` uses them on a terminal, and respects NO_COLOR and CLICOLOR_FORCE.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorChoice::Auto)]
    pub(crate) color: ColorChoice,
}

impl Common {
    /// Returns whether the options select other files than those of the host.
    pub(crate) fn selects_files(&self) -> bool {
        !self.config.is_empty() || self.project.is_some() || self.no_global
    }
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Fire an event with the real engine, and show what each hook does.
    Fire(Box<Fire>),
    /// Answer one event of another agent, which has registered this command as a hook of its own.
    #[command(hide = true)]
    Hook(Box<Hook>),
    /// Register this program as a hook of these agents, in your own settings of each.
    #[command(hide = true)]
    Install(Install),
    /// Remove what `install` has registered.
    #[command(hide = true)]
    Uninstall(Agents),
    /// Fire the events of a table of cases, and show which decisions are not as expected.
    Test(Test),
    /// Show the events that hooks can handle: their data, their variables, which can be blocked.
    Events(Events),
    /// Show all problems of your hooks files, of their approval and of the registration under each agent, each with its fix.
    Check(Check),
    /// List all hooks: where they are defined, whether they run, what is approved, and where they were looked for. With an
    /// event: run nothing, and show which hooks would run, in order, and for each other hook why not.
    List(Box<List>),
    /// Write a hooks file to start from; never overwrites a file.
    Init(Init),
    /// Add packs of guards to your own hooks, or with --project to a project's; without names, list the packs.
    Add(Add),
    /// Approve the project's hooks as they are now, or withdraw their approval.
    Trust(Trust),
    /// Fire recorded events again, and show which decisions of the hooks of today differ.
    Replay(Replay),
    /// Show a trace of hooks that a program wrote: as a table, or for a viewer with a timeline.
    Trace(Trace),
    /// Run hooks for a program in any language, which speaks JSON-RPC 2.0 on standard input and output.
    Serve {
        /// Run at most N hooks at a time
        #[arg(long, value_name = "N", default_value = "4")]
        workers: usize,
        #[command(flatten)]
        recording: Recording,
    },
    /// Print a completion script for a shell.
    #[command(hide = true)]
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: Shell,
    },
}

impl Command {
    /// Returns whether the command uses the loaded hooks, and not only the names of their host.
    pub(crate) fn uses_hooks(&self) -> bool {
        matches!(
            self,
            Self::Fire(_) | Self::Test(_) | Self::Replay(_) | Self::List(_) | Self::Serve { .. }
        )
    }

    /// Returns the agent whose event the command reads.
    pub(crate) fn agent(&self) -> Option<&'static Agent> {
        match self {
            Self::Fire(fire) => fire.agent,
            _ => None,
        }
    }

    /// Returns whether the report of the command's hooks lists missing scripts and programs.
    pub(crate) fn checks_scripts(&self) -> bool {
        !matches!(self, Self::Fire(fire) if fire.json)
    }

    /// Returns whether the command changes the user's or the project's files, or their approval.
    pub(crate) fn changes_the_usual_files(&self) -> bool {
        match self {
            Self::Add(add) => add.update || !add.packs.is_empty(),
            Self::Init(_) | Self::Trust(_) => true,
            Self::Install(_) | Self::Uninstall(_) => true,
            _ => false,
        }
    }
}

/// The event that a command is about.
#[derive(Args)]
pub(crate) struct Given {
    /// The event, for example `tool:pre_execute`.
    #[arg(conflicts_with = "event_json")]
    pub(crate) event: Option<String>,
    /// Fire this complete event, in the form of a hook's standard input; `-` reads it from standard
    /// input.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) event_json: Option<PathBuf>,
    /// The tool.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// The tool's arguments; `@FILE` reads them from a file.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) args: Option<String>,
    /// The tool's result; `@FILE` reads it from a file.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) result: Option<String>,
    /// The message of an error.
    #[arg(long, value_name = "TEXT")]
    pub(crate) error: Option<String>,
    /// The session.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// More data; can be repeated. A value that is not valid JSON is used as a string.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) data: Vec<String>,
    /// Accept EVENT as a custom event, even if its name is similar to that of another event.
    #[arg(long)]
    pub(crate) custom: bool,
}

#[derive(Args)]
pub(crate) struct Fire {
    #[command(flatten)]
    pub(crate) given: Given,
    /// Also run the hooks after one that blocks or fails, except for those of other agents after a block.
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Read --event-json as an event of this agent, and answer it as under the agent, with the user's and the project's
    /// hooks. With --other-agents AGENT: run the agent's own hooks in place of these.
    #[arg(
        long,
        value_name = "AGENT",
        value_parser = guarded(),
        conflicts_with_all = [
            "tool", "args", "result", "error", "session", "data", "custom", "keep_going",
            "trace_events",
        ]
    )]
    pub(crate) agent: Option<&'static Agent>,
    /// With --agent and --other-agents: also this settings file of the agent; can be repeated. It needs no approval.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "agent")]
    pub(crate) settings: Vec<PathBuf>,
    /// With --agent and --other-agents: also the plugin in this directory; can be repeated. It needs no approval.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "agent")]
    pub(crate) plugin: Vec<PathBuf>,
    /// Print one object for programs.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) recording: Recording,
}

impl Given {
    /// Returns whether there is an event.
    pub(crate) fn is_event(&self) -> bool {
        self.event.is_some() || self.event_json.is_some()
    }
}

/// The place in which fired events are recorded.
#[derive(Args, Clone)]
pub(crate) struct Recording {
    /// Record each event with its outcome in this file, for `replay` and `trace --check`; outside of the project.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) trace_events: Option<PathBuf>,
}

/// The registration in an agent's settings.
#[derive(Args)]
pub(crate) struct Hook {
    /// The agent.
    #[arg(value_parser = guarded())]
    pub(crate) agent: &'static Agent,
    /// Its event, for example `PreToolUse`.
    pub(crate) event: String,
    /// The user's home directory; another one in the environment blocks.
    #[arg(long, value_name = "DIR")]
    pub(crate) home: PathBuf,
    /// The directory of the user's configuration [default: `.config` in the home directory].
    #[arg(long, value_name = "DIR")]
    pub(crate) config_home: Option<PathBuf>,
    /// The directories in which hooks find programs, in place of `PATH`.
    #[arg(long, value_name = "PATH")]
    pub(crate) path: OsString,
    /// A variable of the agent that hooks inherit besides the usual ones; can be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) inherit: Vec<String>,
    /// The timeout that is registered with this command, in seconds: the answer is due before it.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Use the file and variable names of this host.
    #[arg(long, value_name = "NAME", value_parser = profile_name)]
    pub(crate) profile: Option<String>,
    #[command(flatten)]
    pub(crate) recording: Recording,
    /// Only run the hooks with these fingerprints, in the background.
    #[arg(long, hide = true)]
    pub(crate) background: Vec<u64>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text
        .parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let seconds = seconds.filter(|seconds| !seconds.is_zero());
    seconds.ok_or_else(|| "expected a number of seconds above 0".to_owned())
}

/// The agents whose settings a command changes.
#[derive(Args)]
pub(crate) struct Agents {
    /// The agents.
    #[arg(value_name = "AGENT", required = true, value_parser = guarded())]
    agents: Vec<&'static Agent>,
    /// Write without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,
}

impl Agents {
    /// The agents, each once.
    pub(crate) fn each_once(&self) -> impl Iterator<Item = &'static Agent> {
        let is_named = |agent: &&Agent| self.agents.contains(agent);
        agents::BRIDGED.into_iter().filter(is_named)
    }
}

#[derive(Args)]
pub(crate) struct Install {
    #[command(flatten)]
    pub(crate) agents: Agents,
    /// A variable of the agent that hooks inherit besides the usual ones, such as `JAVA_HOME`; can be repeated. One that is registered
    /// already stays.
    #[arg(long, value_name = "NAME")]
    pub(crate) inherit: Vec<String>,
    #[command(flatten)]
    pub(crate) recording: Recording,
}

#[derive(Args)]
pub(crate) struct Test {
    /// The table, a JSON array of cases; `-` is standard input.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Print one object for programs.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Events {
    /// Print one object for programs.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The commands and options of the last version that are gone, each with what to use.
const GONE: [(&str, &str); 8] = [
    ("validate", "check"),
    ("doctor", "check"),
    ("status", "list"),
    ("untrust", "trust --revoke"),
    ("schema", "init"),
    ("--as", "fire --agent AGENT --other-agents AGENT"),
    ("--dry-run", "list EVENT"),
    ("--event", "list EVENT"),
];

/// Returns the remedy for a command or an option of the last version.
pub(crate) fn instead_of(error: &clap::Error, context: &str) -> Option<(String, String)> {
    let kinds = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
    let mut found = kinds.iter().filter_map(|kind| error.get(*kind));
    let ContextValue::String(name) = found.next()? else {
        return None;
    };
    let name = name.split('=').next().unwrap_or_default();
    let (_, new) = GONE.iter().find(|(old, _)| *old == name)?;
    let fix = match name {
        "schema" => {
            "`hooks.schema.json` is written beside the hooks file by `init` and `add`".to_owned()
        }
        _ => format!("use `{context} {new}`"),
    };
    Some((format!("`{name}` is gone"), fix))
}

#[derive(Args)]
pub(crate) struct Check {
    /// Only these files, `-` for standard input [default: the user's and the project's, their approval, and the registration
    /// under each agent].
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// Check the registration in this agent alone; can be repeated.
    #[arg(long, value_name = "AGENT", value_parser = guarded(), conflicts_with = "files")]
    pub(crate) agent: Vec<&'static Agent>,
    /// Print one object for programs.
    #[arg(long)]
    pub(crate) json: bool,
    /// Treat warnings as errors.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) given: Given,
    /// Go on behind a hook that fails, as `fire --keep-going` does.
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Print one object for programs.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Init {
    /// Write the user's file, not the project's.
    #[arg(long)]
    pub(crate) global: bool,
}

#[derive(Args)]
pub(crate) struct Add {
    /// The packs.
    #[arg(value_name = "PACK", value_parser = PossibleValuesParser::new(PACKS.each_ref().map(|pack| pack.name)))]
    pub(crate) packs: Vec<String>,
    /// Show how the files differ from the packs of this program, and replace those that no person has edited. Without names:
    /// all that were added.
    #[arg(long, conflicts_with = "remove")]
    pub(crate) update: bool,
    /// Remove the files of these packs, unless a person has edited them.
    #[arg(long, requires = "packs")]
    pub(crate) remove: bool,
    /// With --update: write without asking.
    #[arg(long, short, requires = "update")]
    pub(crate) yes: bool,
}

impl Add {
    /// The packs, each once; all without a name.
    pub(crate) fn packs(&self) -> Vec<&'static Pack> {
        let is_named = |pack: &&Pack| self.packs.iter().any(|name| name == pack.name);
        let packs = PACKS.iter();
        packs
            .filter(|pack| self.packs.is_empty() || is_named(pack))
            .collect()
    }
}

#[derive(Args)]
pub(crate) struct Trust {
    /// Do not ask.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Withdraw the approval of the project's hooks.
    #[arg(long, conflicts_with = "digest")]
    pub(crate) revoke: bool,
    /// Approve without asking, if this is the digest of what would be approved, with the contents of all covered files.
    #[arg(long, value_name = "HEX", conflicts_with = "yes")]
    pub(crate) digest: Option<String>,
}

#[derive(Args)]
pub(crate) struct Trace {
    /// The trace, with one JSON object per line; `-` is standard input.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Print it in the format that Perfetto, Speedscope and Chromium open.
    #[arg(long)]
    pub(crate) chrome: bool,
    /// Show what the host forgot, as its recorded events show it: tools without their guard, sessions and turns without an end,
    /// permissions without a check.
    #[arg(long, conflicts_with = "chrome")]
    pub(crate) check: bool,
}

#[derive(Args)]
pub(crate) struct Replay {
    /// The trace with the recorded events; `-` is standard input.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Print one object for programs.
    #[arg(long)]
    pub(crate) json: bool,
    /// Run the hooks without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Run the hooks without a sandbox: they can write files and use the network.
    #[arg(long)]
    pub(crate) unconfined: bool,
}
