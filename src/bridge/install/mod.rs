//! The handlers that `install` registers in an agent's settings, and how `uninstall` recognises them.

mod approvals;
mod child;
mod edit;
mod forms;
mod plugin;
mod program;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::env;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

pub(crate) use approvals::{Approvals, Runs, User};
pub(crate) use child::BoundedChild;
pub(crate) use edit::Mistake;
pub(crate) use forms::{by_hand, changed_by_hand, empty, install, registered, uninstall, usable};

use super::session::{Session, state};
use crate::agents::{
    APPLY_PATCH, Agent, DID_NOT_RUN, Effect, Event, INHERIT, OwnCommand, PROGRAM, RUN,
    RUN_AND_KEEP, TRACE_EVENTS, is_called_so,
};
use crate::config::config_home;
use crate::files::{self, NewFile};

/// The most bytes of a message that the script prints.
const LONGEST_MESSAGE: usize = 2000;

/// The paths and names in a handler's command, so that nothing is taken from the agent's environment.
#[derive(Debug, Clone)]
pub(crate) struct Registration {
    /// The absolute path of this program, or of a copy of it.
    pub(crate) program: PathBuf,
    /// This program, if a copy is registered.
    pub(crate) original: Option<program::Original>,
    pub(crate) home: PathBuf,
    /// The directory of the user's configuration; none if it is the usual one in the home directory.
    pub(crate) config_home: Option<PathBuf>,
    /// The `PATH` of hooks.
    pub(crate) path: String,
    /// The names of another host than the default.
    pub(crate) profile: Option<String>,
    /// The variables of the agent that hooks get too.
    pub(crate) inherited: Vec<String>,
    /// The file in which events are recorded.
    pub(crate) trace_events: Option<PathBuf>,
    /// Directories of `PATH` that are not in `path`.
    pub(crate) left_out: Vec<PathBuf>,
}

impl Registration {
    /// Returns the registration of this program with the user's directories, as the environment has them.
    ///
    /// # Errors
    /// If the handlers would block each call, or could not be recognised later.
    pub(crate) fn of_environment(profile: Option<String>) -> Result<Self, String> {
        let home = home::home_dir().filter(|home| home.is_absolute());
        let home = home.ok_or("cannot find the home directory")?;
        let (program, original) = program::to_register(&home)?;
        if !is_called_so(&program) {
            return Err(format!(
                "this program is called `{}`, expected `{PROGRAM}`: its handlers could not be recognised later",
                program.display()
            ));
        }
        let config_home = config_home().filter(|directory| *directory != home.join(".config"));
        if let Some(missing) = config_home.as_ref().filter(|directory| !directory.is_dir()) {
            return Err(format!(
                "`{}` is not a directory, and `XDG_CONFIG_HOME` names it: create it",
                missing.display()
            ));
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let mut seen = HashSet::new();
        let directories =
            env::split_paths(&path).filter(|directory| seen.insert(directory.clone()));
        // A model could put a program into a relative directory or one of a project.
        let project = project_of_here(&home);
        let is_kept = |directory: &PathBuf| {
            let real = directory.canonicalize();
            let mut places = [Some(directory), real.as_ref().ok()].into_iter().flatten();
            let is_of_project = project
                .as_ref()
                .is_some_and(|root| places.any(|place| place.starts_with(root)));
            directory.is_absolute() && !is_of_project
        };
        let (kept, left_out): (Vec<_>, Vec<_>) = directories.partition(is_kept);
        let path = env::join_paths(kept).map_err(|error| error.to_string())?;
        if path.is_empty() {
            return Err(
                "`PATH` has no absolute directory, and hooks find no program without one"
                    .to_owned(),
            );
        }
        Ok(Self {
            program,
            original,
            home,
            config_home,
            path: text_of(&path)?,
            profile,
            inherited: Vec::new(),
            trace_events: None,
            left_out,
        })
    }

    /// Checks that agents can start the program by its path for good.
    ///
    /// # Errors
    /// If a model may replace the program, or it may vanish.
    pub(crate) fn check_program(&self) -> Result<(), String> {
        let Some(why) = program::fault_of_place(&self.program, &self.home) else {
            return Ok(());
        };
        Err(format!(
            "cannot copy this program to `{}`: {why}, expected a place that lasts and that no agent writes: name another \
            directory in `XDG_DATA_HOME`, or copy the program to `~/.local/bin` and run `install` by that path",
            self.program.display(),
        ))
    }

    /// Returns whether the copy, if one is registered, is this program.
    pub(crate) fn is_copied(&self) -> bool {
        let mut original = self.original.iter();
        original.all(|original| original.is_copied_to(&self.program))
    }

    /// Copies this program, if a copy is registered.
    ///
    /// # Errors
    /// If it cannot be copied.
    pub(crate) fn copy(&self) -> io::Result<()> {
        match &self.original {
            Some(original) if !self.is_copied() => original.copy_to(&self.program),
            _ => Ok(()),
        }
    }

    /// Returns the file with the message that a person reads if the program has not answered.
    fn message_of(&self, agent: &Agent) -> PathBuf {
        message_of(agent, &self.home)
    }

    /// Writes this message.
    ///
    /// # Errors
    /// If the file cannot be written. The handlers block without it, with fewer words.
    pub(crate) fn write_message(&self, agent: &Agent) -> io::Result<()> {
        files::create_private(&state(&self.home))?;
        let file = self.message_of(agent);
        remove_message(agent, &self.home)?;
        let text = what_to_do(agent, &self.program.to_string_lossy());
        files::replace(&file, &text, NewFile::Private)
    }

    /// Returns this registration with the options that a person has added to the registered handlers of an agent.
    pub(crate) fn keeping(&self, agent: &Agent, text: &str) -> Self {
        let mut kept = self.clone();
        // A text that cannot be read is an error where it is edited.
        for (_, handler) in registered(agent, text).unwrap_or_default() {
            let command = handler["command"].as_str().unwrap_or_default();
            let Some(own) = OwnCommand::read(agent, command) else {
                continue;
            };
            for name in own.options(INHERIT) {
                if !kept.inherited.iter().any(|known| known == name) {
                    kept.inherited.push(name.to_owned());
                }
            }
            let file = own.option(TRACE_EVENTS).map(PathBuf::from);
            kept.trace_events = kept.trace_events.or(file);
        }
        kept
    }

    /// Returns the commands of an agent's handlers.
    ///
    /// # Errors
    /// If a path is not UTF-8: JSON cannot contain it.
    pub(crate) fn commands(&self, agent: &Agent) -> Result<Vec<String>, String> {
        let events = agent.events().iter().filter(|event| event.is_registered());
        events.map(|event| self.command(agent, event)).collect()
    }

    /// Returns the handlers of an agent: each event with its value.
    ///
    /// # Errors
    /// If a path is not UTF-8: JSON cannot contain it.
    pub(crate) fn handlers(&self, agent: &Agent) -> Result<Vec<(&'static str, Value)>, String> {
        let events = agent.events().iter().filter(|event| event.is_registered());
        events
            .map(|event| Ok((event.name, self.handler(agent, event)?)))
            .collect()
    }

    fn handler(&self, agent: &Agent, event: &Event) -> Result<Value, String> {
        let timeout = agent.registered_timeout(event);
        let number = if agent.milliseconds {
            timeout.as_millis() as u64
        } else {
            timeout.as_secs()
        };
        let mut handler =
            json!({"type": "command", "timeout": number, "command": self.command(agent, event)?});
        if agent.names_handlers {
            handler["name"] = PROGRAM.into();
        }
        Ok(handler)
    }

    /// Returns the command. It means the same in each shell in which an agent may run it: a shell of the user, such as fish, is
    /// not like `sh`.
    fn command(&self, agent: &Agent, event: &Event) -> Result<String, String> {
        let seconds = agent.registered_timeout(event).as_secs().to_string();
        let (program, home) = (
            text_of(self.program.as_ref())?,
            text_of(self.home.as_ref())?,
        );
        let message = text_of(self.message_of(agent).as_ref())?;
        let script = script(agent, event, &program, &message);
        let mut words = match agent.plugin {
            // It starts the program itself.
            Some(_) => vec![program.as_str()],
            None => vec!["/bin/sh", "-c", &script, &program],
        };
        words.extend(["hook", agent.name(), event.name, "--timeout", &seconds]);
        words.extend(["--home", &home]);
        let config_home = self.config_home.as_ref();
        let config_home = config_home.map(|path| text_of(path.as_ref())).transpose()?;
        if let Some(config_home) = &config_home {
            words.extend(["--config-home", config_home]);
        }
        if let Some(profile) = &self.profile {
            words.extend(["--profile", profile]);
        }
        for name in &self.inherited {
            words.extend([INHERIT, name]);
        }
        let trace_events = self.trace_events.as_ref();
        let trace_events = trace_events
            .map(|path| text_of(path.as_ref()))
            .transpose()?;
        if let Some(file) = &trace_events {
            words.extend([TRACE_EVENTS, file]);
        }
        words.extend(["--path", &self.path]);
        let words: Vec<_> = words.into_iter().map(quoted).collect();
        Ok(words.join(" "))
    }
}

fn message_of(agent: &Agent, home: &Path) -> PathBuf {
    state(home).join(format!("did-not-run-{}", agent.name()))
}

/// Returns whether `install` has registered this program in the agent, and `uninstall` has not ended that.
pub(crate) fn was_made(agent: &Agent, home: &Path) -> bool {
    message_of(agent, home).is_file()
}

/// Removes what [`Registration::write_message`] has written.
///
/// # Errors
/// If something with its name is there and cannot be removed. A link is removed, and not what it leads to.
pub(crate) fn remove_message(agent: &Agent, home: &Path) -> io::Result<()> {
    match files::remove(&message_of(agent, home)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes what only registered handlers use: the copy of this program, what is kept of sessions, and the record of hooks.
///
/// # Errors
/// If something cannot be removed.
pub(crate) fn remove_rest(home: &Path) -> io::Result<()> {
    let copy = program::place_of_copy(home);
    let mut directories = copy.ancestors().skip(1);
    for directory in directories.next().into_iter().chain([&*state(home)]) {
        match files::remove_all(directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    // Another file may be there.
    let _ = directories.next().map(files::remove_directory);
    Ok(())
}

/// Returns the script that runs the program, and blocks if the program ends abnormally. Some events get no block: at the end of a
/// turn it would let the agent continue for ever, and elsewhere it has no effect. A shell treats an empty file as a script that has
/// succeeded. If only JSON blocks, exit code 2 without JSON is not ours, and the script's own JSON must not follow the output of
/// a program that was killed. The message for a person is in a file: Claude Code shows the command to its model with each block.
fn script(agent: &Agent, event: &Event, program: &str, message: &str) -> String {
    let (run, pass, end) = if event.effect == Effect::Nothing || event.is_stop() {
        (RUN, "case $? in [012]) exit $?; esac", "exit 1".to_owned())
    } else if agent.answers.blocks_in_json() {
        let reason = format!("{DID_NOT_RUN}: {}", what_to_do(agent, program));
        let reason = quoted(&Value::from(reason).to_string());
        (
            RUN_AND_KEEP,
            r#"c=$?; case $c${a:+.} in 0*|2.) printf %s "$a"; exit $c; esac"#,
            format!(
                r#"r={reason}; printf %s "{{\"permissionDecision\": \"deny\", \"permissionDecisionReason\": $r, \"decision\": \"block\", \"reason\": $r}}"; exit 2"#
            ),
        )
    } else {
        (RUN, "case $? in [02]) exit $?; esac", "exit 2".to_owned())
    };
    // Words of the script come first: an agent may take an empty text for no block, and JSON for an answer.
    let message = quoted(message);
    format!(
        r#"{run}{pass}; printf "{DID_NOT_RUN}: " >&2; if [ -f {message} ] && [ ! -L {message} ]; then head -c {LONGEST_MESSAGE} {message} >&2 2>/dev/null; fi; {end}"#
    )
}

/// Returns whether a command is as `install` writes it, or one by hand that only starts the program: a person may have added
/// something to the script.
fn is_as_written(agent: &Agent, own: &OwnCommand) -> bool {
    let Some(written) = &own.script else {
        return true;
    };
    let program = own.program().to_string_lossy();
    let home = own.option("--home").map(Path::new);
    let event = agent.event_named(own.event());
    event.zip(home).is_some_and(|(event, home)| {
        let message = message_of(agent, home);
        *written == script(agent, event, &program, &message.to_string_lossy())
    })
}

/// Returns the reason and the remedies if the program has not answered, behind [`DID_NOT_RUN`].
fn what_to_do(agent: &Agent, program: &str) -> String {
    let name = agent.name();
    let settings = agent.settings_files().first().copied().unwrap_or_default();
    let removal = match agent.plugin {
        Some(_) => "remove that file",
        None => "remove its entries from that file",
    };
    format!(
        "{program} is missing, was killed or has crashed, and ~/{settings} starts it. \
        To register it anew, run it with the path that it has now: /new/path/{PROGRAM} install {name}. \
        To go on without it, {removal}, as {PROGRAM} uninstall {name} does."
    )
}

/// Returns the root of the repository of the current directory; none if the home directory is in it.
fn project_of_here(home: &Path) -> Option<PathBuf> {
    let here = env::current_dir().ok()?.canonicalize().ok()?;
    let mut above = here.ancestors();
    let root = above.find(|directory| directory.join(".git").exists())?;
    let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    (!home.starts_with(root)).then(|| root.to_owned())
}

fn text_of(path: &OsStr) -> Result<String, String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| format!("`{}` is not UTF-8, as JSON needs", path.display()))
}

/// Quotes a word alike for all shells: in fish, a backslash is not literal within quotes.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let quoted = word.chars().map(|c| match c {
        '\'' | '\\' => format!("'\\{c}'"),
        other => other.to_string(),
    });
    format!("'{}'", quoted.collect::<String>())
}

/// Returns an event of the agent that is blocked without any hook, and the input that the agent writes: a tool writes a file
/// that decides.
pub(crate) fn probe(agent: &Agent, home: &Path) -> (&'static str, String) {
    let events = agent.events().iter();
    let mut guards = events.filter(|event| event.ours() == Some("tool:pre_execute"));
    let event = guards.next().map_or("", |event| event.name);
    let path = Session::all(home).join("probe");
    let write = agent.named_here("write").unwrap_or_default();
    let patch = agent.tool(APPLY_PATCH);
    let theirs = |ours: &'static str| {
        let rows = patch.or_else(|| agent.tool(write));
        let mut rows = rows.into_iter().flat_map(|tool| tool.arguments);
        let row = rows.find(|(_, name)| *name == ours);
        row.map_or(ours, |(theirs, _)| theirs)
    };
    let (tool, input) = match patch {
        Some(tool) => {
            let path = path.display();
            let patch = format!("*** Begin Patch\n*** Add File: {path}\n+probe\n*** End Patch");
            if agent.bare_patches {
                ("Edit", patch.into())
            } else {
                (tool.theirs, json!({theirs("command"): patch}))
            }
        }
        None => (write, json!({theirs("path"): path, "content": "probe"})),
    };
    let input =
        json!({"hook_event_name": event, "cwd": home, "tool_name": tool, "tool_input": input});
    (event, input.to_string())
}
