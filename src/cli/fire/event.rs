//! The event to fire: from the options, or from a file.

use std::fmt::Display;
use std::path::Path;

use serde_json::Value;

use crate::cli::args::Fire;
use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::terminal::Terminal;
use crate::cli::{files, names};
use crate::{EventSpec, HookEvent};

/// The most bytes of an event.
const LARGEST_EVENT: u64 = 64 * 1024 * 1024;

pub(super) fn of(
    args: &Fire,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<HookEvent, Failure> {
    let mut event = match (&args.event_json, &args.event) {
        (Some(file), _) => read(file, terminal)?,
        (None, Some(name)) => HookEvent::new(names::event_type(name, Some(args.custom), context)?),
        (None, None) => return Err(Failure::new("there is no event to fire")),
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
    if args.event_json.is_none() && lacks_arguments(&event, context) {
        terminal.note("the event has no `tool_args`, which a host sends; add `--args JSON`")?;
    }
    Ok(event)
}

/// A guard that looks at the arguments sees none, and may decide otherwise than with a host.
fn lacks_arguments(event: &HookEvent, context: &Context<'_>) -> bool {
    let spec = context.hooks.vocabulary().event(event.event_type.as_str());
    let mut keys = spec.into_iter().flat_map(EventSpec::data_keys);
    keys.any(|(key, _)| key == "tool_args") && !event.data.contains_key("tool_args")
}

/// Returns the text itself, or the content of the file after an `@`; no JSON begins with `@`.
fn json_of(option: &str, text: &str) -> Result<Value, Failure> {
    if let Some(file) = text.strip_prefix('@') {
        let read = files::open(Path::new(file)).and_then(files::text_of);
        let value = read.and_then(|text| Ok(serde_json::from_str(&text)?));
        return value.map_err(|error| {
            Failure::new(format!("cannot read `{option} @{file}`: {error}"))
                .with_fix("name a file of JSON")
        });
    }
    serde_json::from_str(text).map_err(|error| {
        let words = format!("`{option}` is not JSON: {error}");
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
    serde_json::from_str(&text_of(file, terminal)?).map_err(|error| {
        cannot_read(file, error).with_fix(r#"an event is at least {"type": "session:start"}"#)
    })
}

pub(super) fn cannot_read(file: &Path, why: impl Display) -> Failure {
    let words = format!("cannot read `--event-json {}`: {why}", file.display());
    Failure::new(words)
}

pub(super) fn text_of(file: &Path, terminal: &mut Terminal<'_>) -> Result<String, Failure> {
    let text = if file == Path::new("-") {
        files::text_up_to(LARGEST_EVENT, &mut *terminal.input)
    } else {
        files::open(file).and_then(|file| files::text_up_to(LARGEST_EVENT, file))
    };
    text.map_err(|error| cannot_read(file, error))
}
