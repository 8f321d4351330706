//! An agent's settings while its session runs: a change that would keep our hooks from running is blocked, where the agent asks
//! before it applies one.

use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::compat::Agent;
use crate::files;
use crate::json;

/// The most bytes of a settings file.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Returns what decides in each settings file of the user and the project whether our hooks run.
pub(super) fn snapshot(agent: &Agent, directories: &[&Path]) -> Value {
    let mut all = Map::new();
    for directory in directories {
        for name in agent.settings_files() {
            let path = directory.join(name);
            all.insert(path.to_string_lossy().into_owned(), of_file(agent, &path));
        }
    }
    all.into()
}

fn of_file(agent: &Agent, path: &Path) -> Value {
    let mut text = String::new();
    let Ok(file) = files::open(path) else {
        return Value::Null;
    };
    let read = file.take(LARGEST).read_to_string(&mut text);
    let settings: Option<Value> = read.ok().and_then(|_| json::read(&text).ok());
    // Of settings that cannot be read, an agent runs no hooks.
    let Some(settings) = settings else {
        return json!({"off": true});
    };
    let is_off = agent.all_off.is_some_and(|(key, off)| {
        let value = key
            .split('.')
            .try_fold(&settings, |value, key| value.get(key));
        value.and_then(Value::as_bool) == Some(off)
    });
    let environment = agent.environment.and_then(|key| settings.get(key));
    let handlers = settings
        .get("hooks")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let handlers = handlers.filter(|(event, groups)| {
        let command = format!(" hook {agent} {event}");
        groups.to_string().contains(&command)
    });
    let handlers: Vec<_> = handlers.map(|(event, _)| event.as_str()).collect();
    json!({"off": is_off, "environment": environment, "handlers": handlers})
}

/// Returns why a change of the settings may not be applied.
pub(super) fn objection(before: &Value, now: &Value) -> Option<String> {
    let files = now.as_object()?.iter();
    files.into_iter().find_map(|(path, now)| {
        let before = &before[path];
        let what = if now["off"] == true && before["off"] != true {
            "switches all hooks off".to_owned()
        } else if now["environment"] != before["environment"] {
            "changes the variables that the agent sets".to_owned()
        } else {
            let is_there = |event: &&Value| {
                let mut left = now["handlers"].as_array().into_iter().flatten();
                left.any(|other| other == *event)
            };
            let mut events = before["handlers"].as_array().into_iter().flatten();
            let gone = events.find(|event| !is_there(event))?;
            format!("removes the handler of forge-hooks for {gone}")
        };
        Some(format!(
            "blocked by forge-hooks: the change of `{path}` {what}: a person who wants this starts the agent again"
        ))
    })
}
