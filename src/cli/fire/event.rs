//! The event to fire: from the options, or from a file.

use std::fmt::Display;
use std::path::Path;

use serde_json::{Map, Value};

use crate::cli::args::Fire;
use crate::cli::context::Context;
use crate::cli::error::{Failure, placed_json_words};
use crate::cli::files;
use crate::cli::names::{self, Asker};
use crate::cli::terminal::Terminal;
use crate::{EventSpec, HookEvent};

/// The most bytes of an event.
const LARGEST_EVENT: u64 = 64 * 1024 * 1024;

pub(super) fn from_args(
    args: &Fire,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<HookEvent, Failure> {
    let asker = Asker::Fire {
        custom: args.custom,
    };
    let mut event = match (&args.event_json, &args.event) {
        (Some(file), _) => {
            let mut event = read(file, terminal)?;
            event.event_type = names::event_type(event.event_type.as_str(), asker, context)?;
            event
        }
        (None, Some(name)) => HookEvent::new(names::event_type(name, asker, context)?),
        (None, None) => {
            return Err(Failure::new("no event given").with_fix(format!(
                "name one, as in `{}`, or use `--event-json FILE`; {}",
                context.command("fire tool:pre_execute"),
                names::list_of_events(context)
            )));
        }
    };
    if let Some(tool) = &args.tool {
        event = event.with_tool_name(tool);
    }
    if let Some(id) = &args.session {
        event = event.with_session_id(id);
    }
    for (option, key, given) in [
        ("--args", "tool_args", &args.args),
        ("--result", "tool_result", &args.result),
    ] {
        if let Some(text) = given {
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
    let missing = missing_options(&event, context);
    if args.event_json.is_none() && !missing.is_empty() {
        let missing = missing.join(" and ");
        terminal.note(format_args!(
            "note: a host sends the tool and its arguments: add {missing}"
        ))?;
    }
    Ok(event)
}

/// Returns the options of the event's tool that are missing. Without them, hooks for a tool do not run, and a guard
/// that looks at the arguments may decide otherwise than with a host.
fn missing_options(event: &HookEvent, context: &Context<'_>) -> Vec<&'static str> {
    let spec = context.hooks.vocabulary().event(event.event_type.as_str());
    let mut keys = spec.into_iter().flat_map(EventSpec::data_keys);
    if !keys.any(|(key, _)| key == "tool_args") {
        return Vec::new();
    }
    let mut missing = Vec::new();
    if event.tool_name.is_none() {
        missing.push("`--tool NAME`");
    }
    if !event.data.contains_key("tool_args") {
        missing.push("`--args JSON`");
    }
    missing
}

/// Returns the text itself, or the content of the file after an `@`; no JSON begins with `@`.
fn json_of(option: &str, text: &str) -> Result<Value, Failure> {
    if let Some(file) = text.strip_prefix('@') {
        let read = files::open(Path::new(file)).and_then(files::text_of);
        let failed = |words: String| {
            Failure::new(format!("cannot read `{option} @{file}`: {words}"))
                .with_fix("name a file of JSON")
        };
        let text = read.map_err(|error| failed(error.to_string()))?;
        return serde_json::from_str(&text).map_err(|error| failed(placed_json_words(&error)));
    }
    serde_json::from_str(text).map_err(|error| {
        let words = format!("`{option}`: {}", placed_json_words(&error));
        let example = if option == "--args" || text.contains(['{', '"', '\'']) {
            r#"'{"command":"ls"}'"#.to_owned()
        } else {
            format!("'{}'", Value::from(text))
        };
        Failure::new(words).with_fix(format!("write it as in `{option} {example}`"))
    })
}

/// Parses a value as JSON; if it is not JSON, it is a string.
fn pair_of(pair: &str) -> Result<(&str, Value), Failure> {
    match pair.split_once('=') {
        Some((key, value)) if !key.is_empty() => {
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            Ok((key, value))
        }
        _ => Err(Failure::new(format!("`--data {pair}` has no key"))
            .with_fix("write it as in `--data role=user`")),
    }
}

fn read(file: &Path, terminal: &mut Terminal<'_>) -> Result<HookEvent, Failure> {
    let text = text_of(file, terminal)?;
    let fix = r#"an event is at least {"type": "session:start"}"#;
    let failed = |error| cannot_read(file, placed_json_words(&error)).with_fix(fix);
    let event: Map<String, Value> = serde_json::from_str(&text).map_err(failed)?;
    if let Some(name) = event.get("hook_event_name").and_then(Value::as_str)
        && let Some((tool, _)) = names::of_other_tool(name)
    {
        let words = format!("it is an event of another tool, `{name}`");
        return Err(cannot_read(file, words).with_fix(format!("add `--as {tool}`")));
    }
    if let Some(key) = event.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let mut words = format!("unknown key `{key}`");
        if let Some(meant) = KEYS.iter().find(|it| strsim::jaro_winkler(it, key) > 0.88) {
            words += &format!("; did you mean `{meant}`?");
        }
        return Err(cannot_read(file, words).with_fix("put other values into `data`"));
    }
    serde_json::from_str(&text).map_err(failed)
}

/// The keys of an event; `id` is written for a resident hook.
pub(crate) const KEYS: [&str; 6] = ["type", "timestamp", "data", "tool_name", "session_id", "id"];

pub(super) fn cannot_read(file: &Path, why: impl Display) -> Failure {
    files::cannot_read(&format!("--event-json {}", file.display()), why)
}

pub(super) fn text_of(file: &Path, terminal: &mut Terminal<'_>) -> Result<String, Failure> {
    let text = terminal.read_text(file, LARGEST_EVENT);
    let text = text.map_err(|error| cannot_read(file, error))?;
    if text.trim().is_empty() {
        return Err(cannot_read(file, "it is empty"));
    }
    Ok(text)
}
