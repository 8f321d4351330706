//! Writes the plugin that starts this program, in a file of its own. Its constants are what differs between users.

use serde_json::{Value, json};

use super::edit::Mistake;
use super::{DID_NOT_RUN, quoted, what_to_do};
use crate::agents::{Agent, OwnCommand};
use crate::json;

const COMMAND: &str = "COMMAND";
const SECONDS: &str = "SECONDS";

pub(super) fn install(
    agent: &Agent,
    text: &str,
    handlers: &[(&'static str, Value)],
) -> Result<String, Mistake> {
    usable(agent, text)?;
    let handler = handlers.first().map(|(_, handler)| handler);
    let handler = handler.unwrap_or(&Value::Null);
    let command = handler["command"].as_str().unwrap_or_default();
    let own = OwnCommand::read(agent, command).ok_or_else(|| Mistake {
        place: 0,
        message: "the command of the plugin could not be recognised later".to_owned(),
    })?;
    Ok(written(agent, &own, &handler["timeout"]))
}

/// Returns nothing, but a text that a person has changed.
pub(super) fn uninstall(agent: &Agent, text: &str) -> String {
    if changed_by_hand(agent, text).is_empty() && own(agent, text).is_some() {
        return String::new();
    }
    text.to_owned()
}

pub(super) fn changed_by_hand(agent: &Agent, text: &str) -> Vec<String> {
    let Some((own, seconds)) = own(agent, text) else {
        return Vec::new();
    };
    if written(agent, &own, &seconds) == text {
        return Vec::new();
    }
    agent.event_names().map(str::to_owned).collect()
}

pub(super) fn registered(agent: &Agent, text: &str) -> Vec<(String, Value)> {
    let Some((own, seconds)) = own(agent, text) else {
        return Vec::new();
    };
    let events = agent.events().iter().filter(|event| event.is_registered());
    let handlers = events.map(|event| {
        let mut words = own.words().to_vec();
        event.name.clone_into(&mut words[3]);
        let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
        let handler = json!({"type": "command", "timeout": seconds, "command": words.join(" ")});
        (event.name.to_owned(), handler)
    });
    handlers.collect()
}

/// Checks that the file is a plugin of this program, or that there is none.
pub(super) fn usable(agent: &Agent, text: &str) -> Result<(), Mistake> {
    if text.trim().is_empty() || own(agent, text).is_some() {
        return Ok(());
    }
    Err(Mistake {
        place: 0,
        message: "the file is not the plugin that `install` writes: move it elsewhere".to_owned(),
    })
}

/// Returns the command of a plugin, and its seconds.
fn own(agent: &Agent, text: &str) -> Option<(OwnCommand, Value)> {
    let constant = |name: &str| -> Option<Value> {
        let is_of_it = |line: &&str| line.starts_with(&format!("const {name}"));
        let (_, value) = text.lines().find(is_of_it)?.split_once(" = ")?;
        json::read(value).ok()
    };
    let words: Vec<String> = serde_json::from_value(constant(COMMAND)?).ok()?;
    let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    let own = OwnCommand::read(agent, &words.join(" "))?;
    Some((own, constant(SECONDS)?))
}

fn written(agent: &Agent, own: &OwnCommand, seconds: &Value) -> String {
    let program = own.program().to_string_lossy();
    let message = format!("{DID_NOT_RUN}: {}", what_to_do(agent, &program));
    let constants = [
        ("@VERSION@", env!("CARGO_PKG_VERSION").to_owned()),
        ("@AGENT@", agent.name().to_owned()),
        ("@SECONDS@", seconds.to_string()),
        ("@COMMAND@", json!(own.words()).to_string()),
        ("@DID_NOT_RUN@", json!(message).to_string()),
    ];
    let template = agent.plugin.unwrap_or_default().to_owned();
    constants
        .into_iter()
        .fold(template, |text, (name, value)| text.replace(name, &value))
}
