//! Checks that this program is registered in the settings of agents as it is now, and that it blocks a probe. A part of `check`.

use std::collections::{BTreeSet, HashSet};
use std::env;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::agents::{Agent, BRIDGED, OwnCommand};
use crate::bridge::{self, Approvals, BoundedChild, Mistake, Registration, Runs, User};
use crate::cli::args::Recording;
use crate::cli::files::named;
use crate::cli::install::{MOST_NAMED, only_itself, read_elsewhere, users_file, users_home};
use crate::cli::{CommandError, Context, counted, first_of};
use crate::config::{Problem, Severity, read_for_saving};
use crate::json;

/// The beginning of the program's message if a hooks file is broken, so that it cannot know what its hooks would decide.
const BROKEN: &str = "blocked by hook `invalid ";

/// Variables that name code for shells and programs to run first, or that keep Claude Code from running hooks as they are.
const LOADING: [&str; 10] = [
    "BASHOPTS",
    "BASH_ENV",
    "CLAUDE_CODE_SAFE_MODE",
    "CLAUDE_CODE_SHELL_PREFIX",
    "DYLD_INSERT_LIBRARIES",
    "ENV",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "SHELLOPTS",
];

/// The time limit for a probe.
const LONGEST: Duration = Duration::from_secs(20);

/// The most bytes of a probe's output that are read.
const MOST_OUTPUT: u64 = 4096;

/// The state of this program's registration in one agent.
pub(crate) struct Checkup {
    agent: &'static Agent,
    path: PathBuf,
    /// The handlers of this program in the file: each event with its value.
    own: Vec<(String, Value)>,
    /// The file in which events are recorded.
    trace_events: Option<PathBuf>,
    /// True if the agent has begun a session since it was registered, and so has loaded it.
    has_started: bool,
    pub(crate) problems: Vec<Problem>,
}

/// Checks the registration in these agents, or in those that are on this machine.
pub(crate) fn checkups(
    named: &[&'static Agent],
    context: &Context<'_>,
) -> Result<Vec<Checkup>, CommandError> {
    if !named.is_empty() {
        only_itself(context)?;
    } else if !context.is_standalone() || context.common.selects_files() {
        return Ok(Vec::new());
    }
    let home = users_home()?;
    let is_there = |agent: &&Agent| {
        let file = users_file(agent, Path::new(""));
        // `.config` has those of many programs.
        let depth = if file.starts_with(".config") { 2 } else { 1 };
        let directory: PathBuf = file.components().take(depth).collect();
        home.join(directory).is_dir()
            // This variable says nothing of one agent.
            || agent.moved_by.0 != "XDG_CONFIG_HOME" && read_elsewhere(agent, &home).is_some()
    };
    let agents = match named {
        [] => BRIDGED.into_iter().filter(is_there).collect(),
        named => named.to_vec(),
    };
    if agents.is_empty() {
        return Ok(Vec::new());
    }
    let registration =
        Registration::of_environment(context.own_profile()).map_err(CommandError::new)?;
    let checkup = |agent: &'static Agent| {
        let mut checkup = Checkup::new(agent, users_file(agent, &home));
        let is_expected = named.contains(&agent) || bridge::was_made(agent, &registration.home);
        checkup.check(&registration, context);
        if checkup.own.is_empty() && !is_expected {
            checkup.problems.clear();
        }
        checkup
    };
    Ok(agents.into_iter().map(checkup).collect())
}

impl Checkup {
    fn new(agent: &'static Agent, path: PathBuf) -> Self {
        Self {
            agent,
            path,
            own: Vec::new(),
            trace_events: None,
            has_started: false,
            problems: Vec::new(),
        }
    }

    fn find(&mut self, problem: impl Into<String>, fix: impl Into<String>) {
        let problem = Problem::in_file(Severity::Error, &self.path, problem).with_help(fix);
        self.problems.push(problem.made_printable());
    }

    /// Adds a mistake in the text of the file.
    fn find_in(&mut self, text: &str, mistake: Mistake, install: &str) {
        let place = mistake.position(text);
        self.find(mistake.message, format!("correct the file, then {install}"));
        if let Some(problem) = self.problems.last_mut() {
            problem.range = Some(place..place);
        }
    }

    /// Returns whether the agent starts this program.
    pub(crate) fn is_registered(&self) -> bool {
        !self.own.is_empty()
    }

    /// Returns the state in one line, if there is no problem.
    pub(crate) fn state(&self, context: &Context<'_>) -> Option<String> {
        let title = self.agent.title();
        if !self.problems.is_empty() {
            return None;
        }
        if self.own.is_empty() {
            let install = context.command(&format!("install {}", self.agent));
            return Some(format!("{title}: not guarded; `{install}` changes that"));
        }
        let events = counted(self.own.len(), "event");
        let recording = self.trace_events.as_ref();
        let recording =
            recording.map(|file| format!(", events are recorded in {}", file.display()));
        let recording = recording.unwrap_or_default();
        let start = match (self.has_started, self.agent.plugin) {
            (true, _) => "; its last session has loaded it",
            // Such an agent says nothing of a plugin that it does not load.
            (false, Some(_)) => "; not loaded yet: start the agent once, and check again",
            (false, None) => "",
        };
        Some(format!(
            "{title}: registered at {events}, a probe is blocked{recording}{start}"
        ))
    }

    fn check(&mut self, registration: &Registration, context: &Context<'_>) {
        let install = format!(
            "run `{}`",
            context.command(&format!("install {}", self.agent))
        );
        if let Some(problem) = read_elsewhere(self.agent, &registration.home) {
            return self.find(problem, "unset the variable, or register by hand there");
        }
        let text = match read_for_saving(&self.path) {
            Ok(Some(text)) => text,
            Ok(None) => return self.find(self.not_registered(), install),
            Err(error) => {
                return self.find(
                    format!("the file cannot be read: {error}"),
                    "correct the file",
                );
            }
        };
        match bridge::registered(self.agent, &text) {
            Ok(own) => self.own = own,
            Err(mut mistake) => {
                mistake.message.insert_str(0, "the file cannot be read: ");
                return self.find_in(&text, mistake, &install);
            }
        }
        if let Err(mistake) = bridge::usable(self.agent, &text) {
            self.find_in(&text, mistake, &install);
        } else if self.own.is_empty() {
            self.find(self.not_registered(), install.clone());
        }
        if self.own.is_empty() {
            return;
        }
        self.check_switches();
        // These options are chosen when the program is registered.
        let users_path = registration.path.clone();
        let mut kept = registration.keeping(self.agent, &text);
        // The shells of a person differ in `PATH`, and `install` has asked for the one that hooks get.
        let is_usable = |path: &String| env::split_paths(path).any(|directory| directory.is_dir());
        let registered_path = self.registered_path().filter(is_usable);
        kept.path = registered_path.unwrap_or(kept.path);
        let registration = &kept;
        self.trace_events.clone_from(&registration.trace_events);
        self.has_started = bridge::has_started(&registration.home, self.agent, &self.path);
        self.check_recording(context, &install);
        self.check_approvals(&users_path, registration, &install, context);
        if let Some(missing) = self.missing_program() {
            let problem = format!("it starts `{}`, which is not there", missing.display());
            return self.find(problem, install);
        }
        self.compare(registration, &text, &install);
        if let Err(why) = self.probe(registration) {
            let problem = format!("a call that must be blocked was answered with {why}");
            self.find(problem, format!("correct this, or {install}"));
        }
    }

    fn not_registered(&self) -> String {
        format!("{} does not start this program", self.agent.title())
    }

    /// Returns the `PATH` in the registered commands.
    fn registered_path(&self) -> Option<String> {
        let mut commands = self.own.iter();
        commands.find_map(|(_, handler)| {
            let own = OwnCommand::read(self.agent, handler["command"].as_str()?)?;
            own.option("--path").map(str::to_owned)
        })
    }

    /// Tries to open the file in which events are recorded.
    fn check_recording(&mut self, context: &Context<'_>, install: &str) {
        let recording = Recording {
            trace_events: self.trace_events.clone(),
        };
        if let Err(failure) = context.trace_events(&recording, context.hooks) {
            let fix = format!(
                "correct this, or run `uninstall`, which ends the recording, and {install}"
            );
            self.find(format!("events are not recorded: {}", failure.message), fix);
        }
    }

    /// Finds switches that turn hooks off, in the settings of the current directory too.
    fn check_switches(&mut self) {
        let mut files = BTreeSet::from([self.path.clone()]);
        for directory in directories_of_project() {
            let names = self.agent.settings_files().iter();
            files.extend(names.map(|name| directory.join(name)));
        }
        for file in files {
            let text = read_for_saving(&file).ok().flatten().unwrap_or_default();
            let Some(settings) = value_of(&text) else {
                continue;
            };
            let file = named(&file);
            if let Some(switch) = switched_off(self.agent, &settings) {
                let problem = format!("{switch} in {file}, which switches hooks off");
                self.find(problem, "remove it from the file");
            }
            if let Some(variable) = loading_variable(self.agent, &settings) {
                let problem = format!(
                    "{file} sets `{variable}` for hooks, which runs something else before or in place of the guard"
                );
                self.find(problem, "remove it from the file");
            }
        }
    }

    /// Returns the program of a registered command, if it does not exist.
    fn missing_program(&self) -> Option<PathBuf> {
        let handlers = self.own.iter();
        let commands = handlers.filter_map(|(_, handler)| handler["command"].as_str());
        let own = commands.filter_map(|command| OwnCommand::read(self.agent, command));
        let mut programs = own.map(|own| own.program().to_owned());
        programs.find(|program| program.is_absolute() && !program.is_file())
    }

    /// Compares the registered handlers, and the rest of a plugin, with what `install` would write.
    fn compare(&mut self, registration: &Registration, text: &str, install: &str) {
        let changed = bridge::changed_by_hand(self.agent, text).unwrap_or_default();
        let handlers = registration.handlers(self.agent).unwrap_or_default();
        let is_there = |event: &str, handler: &Value| {
            let mut own = self.own.iter();
            let is_changed = changed.iter().any(|changed| changed == event);
            !is_changed && own.any(|(known, value)| known == event && value == handler)
        };
        let different = handlers
            .iter()
            .filter(|(event, handler)| !is_there(event, handler));
        let different: Vec<_> = different.map(|(event, _)| *event).collect();
        if !different.is_empty() {
            let events = first_of(&different, MOST_NAMED);
            let problem = format!(
                "another version has registered it, or a person has changed it: see {events}"
            );
            self.find(problem, format!("{install}, which writes it anew"));
        } else if !registration.is_copied() {
            let copy = named(&registration.program);
            let problem = format!("it starts {copy}, a copy of another version of this program");
            self.find(problem, install);
        }
    }

    /// Asks the agent whether it runs the handlers, if it can answer.
    fn check_approvals(
        &mut self,
        path: &str,
        registration: &Registration,
        install: &str,
        context: &Context<'_>,
    ) {
        let Some(approval) = &self.agent.approval else {
            return;
        };
        let title = self.agent.title();
        let here = env::current_dir().unwrap_or_default();
        let user = User {
            program: approval.program,
            home: &registration.home,
            path,
            here: &here,
        };
        let approvals = match Approvals::read(&user, &self.path) {
            Ok(approvals) => approvals,
            Err(error) => {
                return self.find(
                    format!("it is not known whether {title} runs the hooks: {error}"),
                    format!(
                        "see that `{}` is in your `PATH` and starts, or look into its `/hooks`; without {title}, run `{}`",
                        self.agent,
                        context.command(&format!("uninstall {}", self.agent))
                    ),
                );
            }
        };
        for error in &approvals.errors {
            let problem = format!("{title} cannot read its settings: {error}");
            self.find(problem, "correct the file");
        }
        let commands = self.own.iter();
        let commands = commands.filter_map(|(_, handler)| handler["command"].as_str());
        let commands: HashSet<_> = commands.collect();
        match approvals.of(&commands) {
            Runs::All => {}
            Runs::NotListed if approvals.errors.is_empty() => self.find(
                format!("{title} does not list them: it has its hooks switched off"),
                "remove `hooks = false` or `codex_hooks = false` below `[features]` from your `.codex/config.toml`, and from the project's",
            ),
            Runs::NotListed => {}
            Runs::NotApproved => self.find(
                format!("{title} runs none of them that you have not approved"),
                format!("{install}, which asks for it, or approve them in `/hooks`"),
            ),
            Runs::SwitchedOff => self.find(
                format!("{title} has some of them switched off"),
                "switch them on in `/hooks`",
            ),
        }
    }

    /// Runs the registered guard as the agent does, on a call that is blocked without any hook.
    ///
    /// # Errors
    /// If the guard does not block, or blocks because the program does not run.
    fn probe(&self, registration: &Registration) -> Result<(), String> {
        let (event, input) = bridge::probe(self.agent, &registration.home);
        let mut own = self.own.iter();
        let handler = own.find(|(known, _)| *known == event);
        // A missing handler is found by the comparison.
        let Some((_, handler)) = handler else {
            return Ok(());
        };
        let command = handler["command"].as_str().unwrap_or_default();
        let (status, output) = started(command, &input, &registration.home)?;
        // A hooks file that is broken blocks everything.
        let is_blocked = [bridge::DECIDES, BROKEN]
            .iter()
            .any(|reason| output.contains(reason));
        if status.code() == Some(2) && is_blocked {
            return Ok(());
        }
        Err(format!("{status}: {}", output.trim()))
    }
}

/// Returns the value of settings, which may have comments.
fn value_of(text: &str) -> Option<Value> {
    let body = json::readable(text);
    let tree = json::parse_object(&body).ok()?;
    json::Node::new(&tree).value().ok()
}

/// Returns the current directory, and those above it up to the root of its repository, if it is in one.
fn directories_of_project() -> Vec<PathBuf> {
    let here = env::current_dir().unwrap_or_default();
    let above: Vec<_> = here.ancestors().map(Path::to_owned).collect();
    let root = above
        .iter()
        .position(|directory| directory.join(".git").exists());
    above.into_iter().take(root.unwrap_or(0) + 1).collect()
}

/// Returns a variable in an agent's settings that keeps hooks from running as they are registered.
fn loading_variable<'a>(agent: &Agent, settings: &'a Value) -> Option<&'a str> {
    let set = settings.get(agent.environment?)?.as_object()?;
    // A shell makes a function of it, with the name of a command.
    let is_loading = |name: &&str| LOADING.contains(name) || name.starts_with("BASH_FUNC_");
    set.keys().map(String::as_str).find(is_loading)
}

/// Returns the switch of an agent's settings that keeps this program from running.
fn switched_off(agent: &Agent, settings: &Value) -> Option<String> {
    let value_of = |key: &str| {
        let mut keys = key.split('.');
        keys.try_fold(settings, |value, key| value.get(key))
    };
    if let Some((key, off)) = agent.all_off
        && let Some(value) = value_of(key)
        // Some agents also take a text or a number.
        && !value.is_null()
        && *value != Value::Bool(!off)
    {
        return Some(format!("`{key}` is {value}"));
    }
    let key = agent.disabled?;
    let names = value_of(key)?.as_array()?;
    // A variable may stand for the name.
    let is_own = |name: &&str| *name == "forge-hooks" || name.contains('$');
    let name = names.iter().filter_map(Value::as_str).find(is_own)?;
    Some(format!("`{key}` has `{name}`"))
}

/// Runs a command in this directory, with this input. Returns its exit status and its standard error.
///
/// # Errors
/// If the command cannot be started, or does not end in time.
fn started(command: &str, input: &str, directory: &Path) -> Result<(ExitStatus, String), String> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).current_dir(directory);
    shell.stdin(Stdio::piped()).stdout(Stdio::null());
    shell.stderr(Stdio::piped());
    let mut process = BoundedChild::start(&mut shell).map_err(|error| error.to_string())?;
    if let Some(mut stdin) = process.child.stdin.take() {
        // The exit status of a process shows that it has not read its input.
        let _ = stdin.write_all(input.as_bytes());
    }
    let (sender, output) = mpsc::channel();
    let stderr = process.child.stderr.take();
    // A process that the command leaves behind may keep the stream open.
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stderr.map(|stream| stream.take(MOST_OUTPUT).read_to_end(&mut text));
        let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
    });
    let Some(status) = process.end(LONGEST) else {
        let seconds = LONGEST.as_secs();
        return Err(format!("it has not ended within {seconds} seconds"));
    };
    Ok((status, output.recv_timeout(LONGEST).unwrap_or_default()))
}
