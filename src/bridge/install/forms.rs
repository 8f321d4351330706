//! The three forms in which an agent is told to start this program: handlers in JSON, tables in TOML, and a plugin.

use serde_json::Value;

use super::edit::{self, Mistake};
use super::{plugin, tables};
use crate::agents::Agent;

enum Form {
    Json,
    Toml,
    Plugin,
}

fn form_of(agent: &Agent) -> Form {
    let file = agent.settings_files().first();
    let is_toml = file.is_some_and(|file| file.ends_with(".toml"));
    match agent.plugin {
        Some(_) => Form::Plugin,
        None if is_toml => Form::Toml,
        None => Form::Json,
    }
}

/// Returns the text of a file that is missing. `uninstall` recognises a file of JSON that `install` has created by its second line
/// break.
pub(crate) fn empty(agent: &Agent) -> &'static str {
    match form_of(agent) {
        Form::Json => "{}\n\n",
        Form::Toml | Form::Plugin => "",
    }
}

/// Returns the text with these handlers of the agent's events, in place of others of this program.
///
/// # Errors
/// If the text cannot be edited safely.
pub(crate) fn install(
    agent: &Agent,
    text: &str,
    handlers: &[(&'static str, Value)],
) -> Result<String, Mistake> {
    match form_of(agent) {
        Form::Json => edit::install(agent, text, handlers),
        Form::Toml => tables::install(agent, text, handlers),
        Form::Plugin => plugin::install(agent, text, handlers),
    }
}

/// Returns the text without handlers of this program, but for those to which a person has added something.
///
/// # Errors
/// If the text cannot be edited safely.
pub(crate) fn uninstall(agent: &Agent, text: &str) -> Result<String, Mistake> {
    match form_of(agent) {
        Form::Json => edit::uninstall(agent, text),
        Form::Toml => tables::uninstall(agent, text),
        Form::Plugin => Ok(plugin::uninstall(agent, text)),
    }
}

/// Returns the events with handlers that start this program, but are not as `install` writes them.
///
/// # Errors
/// If the text cannot be read.
pub(crate) fn changed_by_hand(agent: &Agent, text: &str) -> Result<Vec<String>, Mistake> {
    match form_of(agent) {
        Form::Json => edit::changed_by_hand(agent, text),
        Form::Toml => tables::changed_by_hand(agent, text),
        Form::Plugin => Ok(plugin::changed_by_hand(agent, text)),
    }
}

/// Returns the handlers of this program: each event with its value.
///
/// # Errors
/// If the text cannot be read.
pub(crate) fn registered(agent: &Agent, text: &str) -> Result<Vec<(String, Value)>, Mistake> {
    match form_of(agent) {
        Form::Json => edit::registered(agent, text),
        Form::Toml => tables::registered(agent, text),
        Form::Plugin => Ok(plugin::registered(agent, text)),
    }
}

/// Checks that the agent reads a text, and runs the handlers of this program for each call.
///
/// # Errors
/// If the agent does not.
pub(crate) fn usable(agent: &Agent, text: &str) -> Result<(), Mistake> {
    match form_of(agent) {
        Form::Json => edit::usable(agent, text),
        Form::Toml => tables::usable(agent, text),
        Form::Plugin => plugin::usable(agent, text),
    }
}

/// Returns what a person adds to a file that cannot be edited, with a word on where.
pub(crate) fn by_hand(agent: &Agent, handlers: &[(&'static str, Value)]) -> Option<String> {
    let title = agent.title();
    match form_of(agent) {
        Form::Json => {
            let lines = handlers
                .iter()
                .map(|(event, handler)| format!(r#"  "{event}": [{{"hooks": [{handler}]}}]"#));
            let lines = lines.collect::<Vec<_>>().join(",\n");
            Some(format!("{title}, to add to `hooks` by hand:\n{lines}"))
        }
        Form::Toml => {
            let tables = tables::install(agent, "", handlers).ok()?;
            Some(format!("{title}, to add by hand:\n{}", tables.trim()))
        }
        // Its file is one of its own.
        Form::Plugin => None,
    }
}
