//! The event to fire: from the options, or from a file.

use std::fmt::Display;
use std::path::Path;

use serde_json::{Map, Value};

use crate::cli::args::Given;
use crate::cli::error::placed_json_words;
use crate::cli::events;
use crate::cli::files;
use crate::cli::{CommandError, Context, Terminal};
use crate::events::nearest;
use crate::json;
use crate::{EventSpec, HookEvent};

pub(super) fn from_args(
    args: &Given,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<HookEvent, CommandError> {
    let event_type = |name: &str| events::event_type(name, Some(args.custom), context);
    let mut event = match (&args.event_json, &args.event) {
        (Some(file), _) => {
            let mut event = read(file, terminal)?;
            event.event_type = event_type(event.event_type.as_str())?;
            event
        }
        (None, Some(name)) => HookEvent::new(event_type(name)?),
        (None, None) => {
            let example = context.command("fire tool:pre_execute");
            let list = events::list_of_events(context);
            let fix = format!("name one, as in `{example}`, or use `--event-json FILE`; {list}");
            return Err(CommandError::new("no event given").with_fix(fix));
        }
    };
    if let Some(tool) = &args.tool {
        event = event.with_tool_name(tool);
    }
    if let Some(id) = &args.session {
        event = event.with_session_id(id);
    }
    for (key, option, text) in [
        ("tool_args", "--args", &args.args),
        ("tool_result", "--result", &args.result),
    ] {
        if let Some(text) = text {
            event = event.with_data(key, json_of(option, text)?);
        }
    }
    if let Some(error) = &args.error {
        event = event.with_data("error", error.as_str());
    }
    for pair in &args.data {
        let (key, value) = pair_of(pair)?;
        event = event.with_data(key, value);
    }
    let missing = missing_options(&event, context).join(" and ");
    if args.event_json.is_none() && !missing.is_empty() {
        let message = "note: a host sends the tool and its arguments: add";
        terminal.note(format_args!("{message} {missing}"))?;
    }
    Ok(event)
}

/// Returns the options of the event's tool that are missing. Without them, hooks for a tool do not run, and a guard
/// that looks at the arguments may decide otherwise than with a host.
fn missing_options(event: &HookEvent, context: &Context<'_>) -> Vec<&'static str> {
    let spec = context.hooks.vocabulary().event(event.event_type.as_str());
    let mut keys = spec.into_iter().flat_map(EventSpec::data_keys);
    let is_of_a_tool = keys.any(|(key, _)| key == "tool_args");
    let has_args = event.data.contains_key("tool_args");
    let tool = (event.tool_name.is_none() && is_of_a_tool).then_some("`--tool NAME`");
    let args = (!has_args && is_of_a_tool).then_some("`--args JSON`");
    tool.into_iter().chain(args).collect()
}

/// Returns the text itself, or the content of the file after an `@`; no JSON begins with `@`.
fn json_of(option: &str, text: &str) -> Result<Value, CommandError> {
    if let Some(file) = text.strip_prefix('@') {
        return files::json_of(Path::new(file)).map_err(|message| {
            CommandError::new(format!("cannot read `{option} @{file}`: {message}"))
                .with_fix("name a file of JSON")
        });
    }
    json::read(text).map_err(|error| {
        let object = format!(r#"`{option} '{{"command":"ls"}}'`"#);
        let fix = format!(r#"write it as in {object}, and a text as in `{option} '"ls"'`"#);
        CommandError::new(format!("`{option}`: {}", placed_json_words(&error))).with_fix(fix)
    })
}

/// Parses a value as JSON; if it is not JSON, it is a string.
fn pair_of(pair: &str) -> Result<(&str, Value), CommandError> {
    let pair_with_key = pair.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = pair_with_key.ok_or_else(|| {
        CommandError::new(format!("`--data {pair}` has no key"))
            .with_fix("write it as in `--data role=user`")
    })?;
    Ok((key, json::read(value).unwrap_or_else(|_| value.into())))
}

fn read(file: &Path, terminal: &mut Terminal<'_>) -> Result<HookEvent, CommandError> {
    let text = text_of(file, terminal)?;
    let fix = r#"an event is at least {"type": "session:start"}"#;
    let failed = |error| cannot_read(file, placed_json_words(&error)).with_fix(fix);
    let fields: Map<String, Value> = json::read(&text).map_err(failed)?;
    if let Some(name) = fields.get("hook_event_name").and_then(Value::as_str)
        && let Some((agent, _)) = events::of_other_agent(name)
    {
        let message = format!("it is an event of another agent, `{name}`");
        return Err(cannot_read(file, message).with_fix(format!("add `--agent {agent}`")));
    }
    if let Some(message) = unknown_key(&fields) {
        return Err(cannot_read(file, message).with_fix("put other values into `data`"));
    }
    json::read(&text).map_err(failed)
}

/// Returns an error if a key of an event is unknown.
pub(crate) fn unknown_key(fields: &Map<String, Value>) -> Option<String> {
    let key = fields.keys().find(|key| !KEYS.contains(&key.as_str()))?;
    let nearest = nearest(key, KEYS.into_iter(), LIKE_A_KEY);
    let hint = nearest.map(|name| format!("; did you mean `{name}`?"));
    Some(format!("unknown key `{key}`{}", hint.unwrap_or_default()))
}

/// The least similarity of a typo: `tool_args` is not one of `tool_name`.
const LIKE_A_KEY: f64 = 0.88;

/// The keys of an event; `id` is written for a resident hook.
const KEYS: [&str; 6] = ["type", "timestamp", "data", "tool_name", "session_id", "id"];

pub(super) fn cannot_read(file: &Path, why: impl Display) -> CommandError {
    files::cannot_read(&format!("--event-json {}", file.display()), why)
}

pub(super) fn text_of(file: &Path, terminal: &mut Terminal<'_>) -> Result<String, CommandError> {
    let text = terminal.read_text(file);
    let text = text.map_err(|error| cannot_read(file, error))?;
    if text.trim().is_empty() {
        return Err(cannot_read(file, "it is empty"));
    }
    Ok(text)
}
