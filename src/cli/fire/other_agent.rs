//! `fire --agent` with `--other-agents`: an event of another agent, and the hooks that this agent would run.
//!
//! Does not know the meaning of their answers.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::event;
use super::pass::Pass;
use crate::agents::{Agent, EventError};
use crate::cli::args::Fire;
use crate::cli::context::existing;
use crate::cli::error::placed_json_words;
use crate::cli::{CommandError, Context, Terminal};
use crate::files::{PathRule, append};
use crate::json;
use crate::{HookEvent, HookResult, Hooks};

/// Returns the event, and the hooks that the agent would run.
pub(super) fn load(
    agent: &'static Agent,
    args: &Fire,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<(HookEvent, Hooks), CommandError> {
    if !context.common.config.is_empty() {
        let message = "`--config` names hooks of this program, not of another agent";
        return Err(
            CommandError::new(message).with_fix("name the agent's file with `--settings FILE`")
        );
    }
    let event = read(agent, args, context, terminal)?;
    let named = [
        named("--settings", &args.settings, false)?,
        named("--plugin", &args.plugin, true)?,
    ];
    Ok((event, context.load_as(agent, &named.concat())?))
}

/// Appends the variables that hooks have set for the session to the file that this program's own environment names, as in a
/// session of the agent.
pub(super) fn keep_variables(agent: &Agent, pass: &Pass) -> Result<(), CommandError> {
    let named = agent.env_file().and_then(std::env::var_os);
    let Some(path) = named.filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let path = Path::new(&path);
    let keep = |bytes: &[u8]| -> io::Result<()> {
        let rule = PathRule::of_variable(path)?;
        append(path, rule)?.write_all(bytes)
    };
    let results = pass.outcome.results().iter().chain(&pass.background);
    let mut files = results.filter_map(HookResult::env_file);
    let kept = files.try_for_each(|(_, content)| keep(content));
    kept.map_err(|error| CommandError::new(format!("cannot write `{}`: {error}", path.display())))
}

fn read(
    agent: &'static Agent,
    args: &Fire,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<HookEvent, CommandError> {
    let (file, payload) = payload(agent, args, context, terminal)?;
    agent
        .read_event(payload.into())
        .map_err(|error| match error {
            EventError::NotFired { .. } => CommandError::new(error.to_string()),
            error => event::cannot_read(file, error).with_fix(AS_AGENTS_DO),
        })
}

pub(super) const AS_AGENTS_DO: &str =
    "write it as the agent does: {\"hook_event_name\": \"SessionStart\", ...}";

/// Reads what an agent writes to a hook, from the file of `--event-json`.
pub(super) fn payload<'a>(
    agent: &'static Agent,
    args: &'a Fire,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<(&'a Path, Map<String, Value>), CommandError> {
    let Some(file) = args.given.event_json.as_deref() else {
        let message = format!("`--agent {agent}` needs `--event-json FILE`, and no EVENT");
        let example = context.command(&format!("fire --agent {agent} --event-json event.json"));
        return Err(CommandError::new(message).with_fix(format!("write it as in `{example}`")));
    };
    let text = event::text_of(file, terminal)?;
    let payload = json::read(&text).map_err(|error| placed_json_words(&error));
    let payload = payload.map_err(|why| event::cannot_read(file, why).with_fix(AS_AGENTS_DO))?;
    Ok((file, payload))
}

/// Returns the files or plugins of an option.
fn named(option: &str, paths: &[PathBuf], is_plugin: bool) -> Result<Vec<PathBuf>, CommandError> {
    let paths = existing(option, paths)?;
    let is_wrong = |path: &&PathBuf| path.is_dir() != is_plugin;
    let Some(wrong) = paths.iter().find(is_wrong).map(|path| path.display()) else {
        return Ok(paths);
    };
    let is = if is_plugin { "is not" } else { "is" };
    let fix = "`--settings FILE` names a file, `--plugin DIR` a directory";
    Err(CommandError::new(format!("`{option} {wrong}` {is} a directory")).with_fix(fix))
}
