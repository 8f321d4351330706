//! `install` and `uninstall`: the handlers of this program in the user's settings of other agents.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::agents::{Agent, BRIDGED, PROGRAM};
use crate::bridge::{self, Approvals, Mistake, Registration, Runs, User};
use crate::cli::args::{Agents, Install, Recording};
use crate::cli::confirm::is_confirmed;
use crate::cli::files::named;
use crate::cli::{CommandError, Context, Done, Exit, Terminal, first_of};
use crate::config::read_for_saving;
use crate::files::{NewFile, lock, remove, replace};

/// The most events that a message names.
pub(crate) const MOST_NAMED: usize = 3;

/// The user's settings of an agent.
struct Settings {
    agent: &'static Agent,
    path: PathBuf,
    /// The text before the change; none if there is no file.
    before: Option<String>,
    after: String,
}

pub(crate) fn install(args: &Install, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    only_itself(context)?;
    if cfg!(windows) {
        let message = "cannot register on Windows: the command is for `/bin/sh`, and other shells take one that fails for a yes";
        return Err(CommandError::new(message).with_fix("run the agent and this program in WSL"));
    }
    let mut registration =
        Registration::of_environment(context.own_profile()).map_err(CommandError::new)?;
    registration.check_program().map_err(CommandError::new)?;
    registration.inherited.clone_from(&args.inherit);
    // An unusable trace file is an error here: later, an agent would start the command and no person would see the error.
    let trace = context.trace_events(&args.recording, context.hooks)?;
    registration.trace_events = trace.map(|trace| real(trace.path()));
    if let Some(original) = &registration.original {
        let (why, copy) = (&original.why, named(&registration.program));
        writeln!(
            terminal,
            "{why}, where this program is: agents start a copy of it, {copy}"
        )?;
    }
    for directory in &registration.left_out {
        let display = named(directory);
        writeln!(
            terminal,
            "left out of `PATH`: {display}, where an agent could put a program"
        )?;
    }
    if let Some(file) = &registration.trace_events {
        writeln!(terminal, "records events in {}", named(file))?;
    }
    let (all, failed) = registered(args, &registration, context, terminal)?;
    let results = ["already registered", "registered"];
    let copy = || copied(&registration);
    let edited = write(all, failed, args.agents.yes, copy, results, terminal)?;
    let Some((written, failed)) = edited else {
        return Ok(Exit::PROBLEMS);
    };
    for settings in &written {
        let agent = settings.agent;
        if let Err(error) = registration.write_message(agent) {
            writeln!(
                terminal,
                "{agent}: cannot write what to do if this program does not run: {error}"
            )?;
        }
    }
    if let Err(error) = bridge::record_hooks(&registration.home, context.hooks.config()) {
        writeln!(
            terminal,
            "cannot record that you have hooks, so no start says that they are gone: {error}"
        )?;
    }
    let is_done = approve_all(&written, &registration, context, args.agents.yes, terminal)?;
    let (check, add) = (
        context.command("check"),
        context.command("add git rm secrets"),
    );
    if !context.hooks.config().has_hooks_of_user() {
        writeln!(
            terminal,
            "you have no hooks yet, so nothing is guarded: add some, as with `{add}`"
        )?;
    }
    writeln!(terminal, "next: `{check}` says whether it works")?;
    ended(failed, Exit::fine_if(is_done), terminal)
}

/// Copies the program, if agents start a copy.
fn copied(registration: &Registration) -> Result<(), CommandError> {
    let cannot = |error| {
        let message = format!(
            "cannot copy this program to {}: {error}",
            named(&registration.program)
        );
        CommandError::new(message).with_fix("correct this and repeat the command")
    };
    registration.copy().map_err(cannot)
}

/// The settings that are to be written or were written, and the errors of other agents.
type Edited = (Vec<Settings>, Vec<CommandError>);

/// Edits the settings of each agent, and shows what will be written. An agent whose file cannot be edited keeps no other one
/// without its guards.
fn registered(
    args: &Install,
    registration: &Registration,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Edited, CommandError> {
    let (mut all, mut failed) = (Vec::new(), Vec::new());
    for agent in args.agents.each_once() {
        let own = registration.keeping(agent, &users_text(agent));
        let handlers = own.handlers(agent).map_err(CommandError::new)?;
        let edit = |text: &str| {
            bridge::usable(agent, text)?;
            bridge::install(agent, text, &handlers)
        };
        let settings = match Settings::edited(agent, edit) {
            Ok(settings) => settings,
            Err(error) => {
                show_by_hand(agent, &handlers, terminal)?;
                failed.push(error);
                continue;
            }
        };
        if own.trace_events != registration.trace_events {
            let recording = Recording {
                trace_events: own.trace_events.clone(),
            };
            // The events of one agent may not be recorded; its guards are registered all the same.
            let usable = context.trace_events(&recording, context.hooks);
            let problem = usable.err().map(|error| format!(": {}", error.message));
            let file = own.trace_events.as_deref().map(named).unwrap_or_default();
            let problem = problem.unwrap_or_default();
            writeln!(terminal, "{agent}: still records events in {file}{problem}")?;
        }
        let text = settings.before.as_deref().unwrap_or(bridge::empty(agent));
        let changed = bridge::changed_by_hand(agent, text).unwrap_or_default();
        let left = bridge::changed_by_hand(agent, &settings.after).unwrap_or_default();
        for event in changed.iter().filter(|event| !left.contains(event)) {
            let path = named(&settings.path);
            writeln!(
                terminal,
                "{path}: replaces a command at {event} that another version has written, or a person has changed"
            )?;
        }
        if !left.is_empty() {
            writeln!(terminal, "{}", still_there(&settings.path, &left))?;
        }
        let events: Vec<_> = handlers.iter().map(|(event, _)| *event).collect();
        let (path, program) = (named(&settings.path), named(&own.program));
        writeln!(
            terminal,
            "{path}: starts {program} at {}",
            first_of(&events, MOST_NAMED)
        )?;
        all.push(settings);
    }
    Ok((all, failed))
}

fn show_by_hand(
    agent: &Agent,
    handlers: &[(&'static str, Value)],
    terminal: &mut Terminal<'_>,
) -> Result<(), CommandError> {
    if let Some(text) = bridge::by_hand(agent, handlers) {
        writeln!(terminal, "{text}")?;
    }
    Ok(())
}

/// Returns the text of the user's settings of an agent; an empty one if there is none.
fn users_text(agent: &Agent) -> String {
    let path = users_home().map(|home| users_file(agent, &home));
    let text = path.ok().and_then(|path| read_for_saving(&path).ok());
    text.flatten().unwrap_or_default()
}

/// Ends with the errors of the agents that have failed, if there are any.
fn ended(mut failed: Vec<CommandError>, exit: Exit, terminal: &mut Terminal<'_>) -> Done {
    let last = failed.pop();
    for error in failed {
        terminal.note(error)?;
    }
    last.map_or(Ok(exit), Err)
}

/// Returns the path without links, as far as it can be found.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Approves the handlers in the agents that run no others. Returns whether all agents run them.
fn approve_all(
    all: &[Settings],
    registration: &Registration,
    context: &Context<'_>,
    yes: bool,
    terminal: &mut Terminal<'_>,
) -> Result<bool, CommandError> {
    let mut is_done = true;
    for settings in all {
        if let Some(why) = approve(settings, registration, context, yes, terminal)? {
            writeln!(terminal, "{why}")?;
            is_done = false;
        }
    }
    Ok(is_done)
}

/// Approves the handlers in one agent, after a question, if it needs an approval. Returns why they are not approved.
fn approve(
    settings: &Settings,
    registration: &Registration,
    context: &Context<'_>,
    yes: bool,
    terminal: &mut Terminal<'_>,
) -> Result<Option<String>, CommandError> {
    let Some(approval) = &settings.agent.approval else {
        return Ok(None);
    };
    let (title, path) = (settings.agent.title(), &settings.path);
    let by_hand = approval.by_hand;
    let not_approved = |why: &str| Ok(Some(format!("{}: {why}: {by_hand}", named(path))));
    let user = User {
        program: approval.program,
        home: &registration.home,
        path: &registration.path,
        here: &registration.home,
    };
    let commands = registration
        .keeping(settings.agent, &settings.after)
        .commands(settings.agent)
        .map_err(CommandError::new)?;
    let commands: HashSet<_> = commands.iter().map(String::as_str).collect();
    let approvals = match Approvals::read(&user, path) {
        Ok(approvals) => approvals,
        Err(error) => return not_approved(&error),
    };
    match approvals.of(&commands) {
        Runs::All => return Ok(None),
        Runs::NotListed | Runs::SwitchedOff => {
            let check = context.command(&format!("check --agent {}", settings.agent));
            return Ok(Some(format!(
                "{title} runs none of them: `{check}` says why"
            )));
        }
        Runs::NotApproved => {}
    }
    let question = format!("{title} runs only hooks that you have approved: approve these in it?");
    if !is_confirmed(yes, &question, terminal)? {
        return not_approved("they are not approved");
    }
    match approvals.approve(&user, path, &commands) {
        Ok(Runs::All) => {
            writeln!(terminal, "{}: approved in {title}", named(path))?;
            Ok(None)
        }
        Ok(_) => not_approved(&format!("{title} has not taken the approval")),
        Err(error) => not_approved(&error),
    }
}

pub(crate) fn uninstall(args: &Agents, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    only_itself(context)?;
    let (mut all, mut failed) = (Vec::new(), Vec::new());
    for agent in args.each_once() {
        match Settings::edited(agent, |text| bridge::uninstall(agent, text)) {
            Ok(settings) => all.push(settings),
            Err(error) => failed.push(error),
        }
    }
    let results = ["nothing was registered", "no longer registered"];
    let edited = write(all, failed, args.yes, || Ok(()), results, terminal)?;
    let Some((written, failed)) = edited else {
        return Ok(Exit::PROBLEMS);
    };
    let home = users_home()?;
    let mut is_done = true;
    for Settings {
        agent, path, after, ..
    } in &written
    {
        let left = bridge::changed_by_hand(agent, after).unwrap_or_default();
        if !left.is_empty() {
            // Its script may print the message.
            is_done = false;
            writeln!(terminal, "{}", still_there(path, &left))?;
            continue;
        }
        if let Err(error) = bridge::remove_message(agent, &home) {
            writeln!(terminal, "cannot remove the message of {agent}: {error}")?;
        }
    }
    remove_rest(&home, terminal)?;
    ended(failed, Exit::fine_if(is_done), terminal)
}

/// Removes what only registered handlers use, if there are none any more.
fn remove_rest(home: &Path, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
    let may_start = |agent| match read_for_saving(&users_file(agent, home)) {
        // A person may have changed a command, so that it is not recognised.
        Ok(text) => text.is_some_and(|text| text.contains(PROGRAM)),
        Err(_) => true,
    };
    if BRIDGED.into_iter().any(may_start) {
        return Ok(());
    }
    if let Err(error) = bridge::remove_rest(home) {
        writeln!(terminal, "cannot remove what agents used: {error}")?;
    }
    Ok(())
}

/// Names the handlers that a person has changed, and what to do.
fn still_there(path: &Path, events: &[String]) -> String {
    let (path, events) = (named(path), events.join(", "));
    format!(
        "{path}: still starts this program at {events}, by a command that is not as `install` writes it: if another version has written it, run `install` first; else remove it by hand, or keep what you have added"
    )
}

pub(crate) fn users_home() -> Result<PathBuf, CommandError> {
    let home = home::home_dir().filter(|home| home.is_absolute());
    home.ok_or_else(|| {
        CommandError::new("cannot find the home directory")
            .with_fix("set `HOME` to its absolute path")
    })
}

/// Returns the user's settings of an agent.
pub(crate) fn users_file(agent: &Agent, home: &Path) -> PathBuf {
    let file = agent.settings_files().first().copied().unwrap_or_default();
    home.join(file).components().collect()
}

/// Returns the reason why an agent does not read this file, if a variable names another place.
pub(crate) fn read_elsewhere(agent: &Agent, home: &Path) -> Option<String> {
    let (variable, usual) = agent.moved_by;
    let other = std::env::var_os(variable).map(PathBuf::from)?;
    if other.as_os_str().is_empty() || other == home.join(usual) {
        return None;
    }
    let (other, title) = (other.display(), agent.title());
    Some(format!(
        "`{variable}` is `{other}`, where {title} reads its settings"
    ))
}

#[cfg(unix)]
fn has_other_names(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    path.metadata().is_ok_and(|file| file.nlink() > 1)
}

/// The standard library does not report how many names a file has outside of Unix.
#[cfg(not(unix))]
fn has_other_names(_path: &Path) -> bool {
    false
}

/// Refuses to run for a host, whose hooks are not those of `hook`.
pub(crate) fn only_itself(context: &Context<'_>) -> Result<(), CommandError> {
    if context.is_standalone() {
        return Ok(());
    }
    let message = "only `forge-hooks` itself is registered in other agents";
    Err(CommandError::new(message))
}

/// Writes the files that change, after a question and what must be there first. Returns the files that are as they should be, and
/// the errors of the others; none if the user has said no.
fn write(
    all: Vec<Settings>,
    mut failed: Vec<CommandError>,
    yes: bool,
    first: impl FnOnce() -> Result<(), CommandError>,
    results: [&str; 2],
    terminal: &mut Terminal<'_>,
) -> Result<Option<Edited>, CommandError> {
    if all.is_empty() {
        return Err(ended(failed, Exit::FINE, terminal)
            .err()
            .unwrap_or_else(|| CommandError::new("no agent was named")));
    }
    let changed = |settings: &&Settings| settings.has_changed();
    let paths: Vec<_> = all
        .iter()
        .filter(changed)
        .map(|settings| named(&settings.path))
        .collect();
    let question = format!("change {}?", paths.join(" and "));
    if !paths.is_empty() && !is_confirmed(yes, &question, terminal)? {
        writeln!(terminal, "nothing was written")?;
        return Ok(None);
    }
    first()?;
    let mut written = Vec::new();
    for settings in all {
        let path = named(&settings.path);
        let [unchanged, changed] = results;
        if !settings.has_changed() {
            writeln!(terminal, "{path}: {unchanged}")?;
        } else if let Err(error) = settings.write() {
            failed.push(error);
            continue;
        } else {
            writeln!(terminal, "{path}: {changed}")?;
        }
        written.push(settings);
    }
    Ok(Some((written, failed)))
}

impl Settings {
    /// Reads the settings, and edits their text.
    fn edited(
        agent: &'static Agent,
        edit: impl FnOnce(&str) -> Result<String, Mistake>,
    ) -> Result<Self, CommandError> {
        let home = users_home()?;
        let path = users_file(agent, &home);
        let cannot = |place: &str, why: String| {
            let message = format!("cannot edit `{}`{place}: {why}", path.display());
            CommandError::new(message)
                .with_fix("correct this and repeat the command, or edit the file by hand")
        };
        if let Some(why) = read_elsewhere(agent, &home) {
            let variable = agent.moved_by.0;
            return Err(cannot("", why).with_fix(format!(
                "unset `{variable}` and repeat the command, or add the lines to the file in that directory by hand"
            )));
        }
        let before = read_for_saving(&path).map_err(|error| cannot("", error.to_string()))?;
        if path
            .metadata()
            .is_ok_and(|file| file.permissions().readonly())
        {
            return Err(cannot("", "the file is read-only".to_owned()));
        }
        if has_other_names(&path) {
            let why = "the file has another name, a hard link, which would keep the old text";
            return Err(cannot("", why.to_owned()));
        }
        let text = before.as_deref().unwrap_or(bridge::empty(agent));
        let after = edit(text).map_err(|mistake| {
            let place = mistake.position(text);
            let place = format!(", line {}, column {}", place.line, place.column);
            cannot(&place, mistake.message)
        })?;
        Ok(Self {
            agent,
            path,
            before,
            after,
        })
    }

    fn has_changed(&self) -> bool {
        let empty = bridge::empty(self.agent);
        self.before.as_deref().unwrap_or(empty) != self.after
    }

    /// Writes the text in one step, if the file is still the one that was read.
    fn write(&self) -> Result<(), CommandError> {
        let path = self.path.display();
        let cannot = |why: String| {
            let message = format!("cannot write `{path}`: {why}");
            CommandError::new(message).with_fix("correct this and repeat the command")
        };
        let _lock = lock(&self.path).map_err(|error| cannot(error.to_string()))?;
        let now = read_for_saving(&self.path).map_err(|error| cannot(error.to_string()))?;
        if now != self.before {
            let message = "another program has changed it meanwhile".to_owned();
            return Err(cannot(message).with_fix("repeat the command"));
        }
        let result = if self.after == bridge::empty(self.agent) && !self.path.is_symlink() {
            remove(&self.path)
        } else {
            replace(&self.path, &self.after, NewFile::Private)
        };
        result.map_err(|error| cannot(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::agents::CLAUDE;

    #[test]
    fn a_file_that_has_changed_meanwhile_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("settings.json");
        for before in [Some("{\"a\": 1}".to_owned()), None] {
            fs::write(&path, "{\"a\": 2}").unwrap();
            let settings = Settings {
                agent: CLAUDE,
                path: path.clone(),
                before,
                after: "{\"b\": 1}".to_owned(),
            };
            let error = settings.write().unwrap_err();
            assert!(error.message.contains("another program has changed it"));
            assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\": 2}");
        }
    }
}
