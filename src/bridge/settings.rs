//! An agent's settings while its session runs: a change that could keep our hooks from running is blocked, where the agent asks
//! before it applies one.
//!
//! A file in which this program is registered does not change at all: one value that the agent does not understand may switch all
//! of the file off. Any other file must not switch hooks off, nor set variables.

use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::agents::Agent;
use crate::files;
use crate::json;
use crate::named::of_text;

/// The most bytes of a settings file.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Returns digests of the deciding parts of the settings files in these directories.
pub(super) fn snapshot(agent: &Agent, directories: &[&Path]) -> Value {
    let mut all = Map::new();
    for directory in directories {
        for name in agent.settings_files() {
            let path = directory.join(name);
            let digest = digest_of(agent, &path);
            all.insert(path.to_string_lossy().into_owned(), digest.into());
        }
    }
    all.into()
}

fn deciding(agent: &Agent, path: &Path) -> Value {
    let mut text = String::new();
    let Ok(file) = files::open(path) else {
        return members_of(agent, &Value::Null);
    };
    let read = file.take(LARGEST).read_to_string(&mut text);
    let settings: Option<Value> = read.ok().and_then(|_| json::read(&text).ok());
    match settings {
        Some(settings) if !is_registered(&settings) => members_of(agent, &settings),
        Some(settings) => settings,
        // The agent may read the text differently.
        None => text.into(),
    }
}

fn is_registered(settings: &Value) -> bool {
    settings["hooks"].to_string().contains("forge-hooks")
}

fn members_of(agent: &Agent, settings: &Value) -> Value {
    let off = agent.all_off.and_then(|(key, _)| {
        let mut keys = key.split('.');
        keys.try_fold(settings, |value, key| value.get(key))
    });
    let environment = agent.environment.and_then(|key| settings.get(key));
    json!([off, environment])
}

/// Returns why a change of these files may not be applied.
pub(super) fn objection(agent: &Agent, before: &Value) -> Option<String> {
    let why = "could keep hooks from running: a person who wants it starts the agent again";
    let Some(before) = before.as_object() else {
        return Some(format!(
            "blocked by forge-hooks: a change of settings, of which the beginning of the session is not known, {why}"
        ));
    };
    let mut files = before.iter();
    let (path, _) = files.find(|(path, digest)| **digest != digest_of(agent, Path::new(path)))?;
    Some(format!(
        "blocked by forge-hooks: the change of `{path}` {why}"
    ))
}

fn digest_of(agent: &Agent, path: &Path) -> String {
    of_text(deciding(agent, path).to_string())
}
