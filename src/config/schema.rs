//! The JSON Schema of hooks.json, for editors.
//!
//! Made from the same names and bounds as the reader of the file, so that the two cannot differ.

use serde_json::{Map, Value, json};

use crate::events::{EventSpec, Vocabulary};
use crate::hook::{
    FailurePolicy, KEYS, LONGEST_POINTER, LONGEST_TIMEOUT, MOST_CONDITIONS, Reads, Shell, Stdin,
};

/// The schema of a whole file, for hooks on what a host fires.
pub(super) fn schema(vocabulary: &Vocabulary) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "hooks.json",
        "description": "Shell commands that a program runs when something happens in it.",
        "type": "object",
        "properties": {
            "$schema": {"type": "string"},
            "hooks": {
                "description": "The hooks, in the order in which they run.",
                "type": "array",
                "items": hook(vocabulary),
            },
            "disable": {
                "description": "Names of hooks, also of projects, that are not to run. In the user's file alone.",
                "type": "array",
                "items": {"type": "string"},
            },
        },
        "patternProperties": {NOTES: {}},
        "additionalProperties": false,
    })
}

/// Keys for people.
const NOTES: &str = "^(comment$|_|//)";

fn hook(vocabulary: &Vocabulary) -> Value {
    let mut properties = Map::new();
    for key in KEYS {
        let schema = match key {
            "event" => event(vocabulary),
            _ => property(key),
        };
        properties.insert(key.to_owned(), schema);
    }
    json!({
        "type": "object",
        "properties": properties,
        "patternProperties": {NOTES: {}},
        "additionalProperties": false,
        "required": ["event"],
        "oneOf": [{"required": ["command"]}, {"required": ["args"]}],
        "dependentSchemas": {"shell": {"required": ["command"]}},
    })
}

/// Editors offer what is listed; any other pattern is valid too.
fn event(vocabulary: &Vocabulary) -> Value {
    let mut listed = Vec::new();
    for spec in vocabulary.events() {
        let name = spec.event_type().as_str();
        listed.push(json!({"const": name, "description": about(spec)}));
    }
    for tool in vocabulary.tools() {
        let pattern = format!("tool:pre_execute:{tool}");
        let about = format!("Before the tool `{tool}` runs. Can block.");
        listed.push(json!({"const": pattern, "description": about}));
    }
    listed.push(json!({"type": "string", "minLength": 1}));
    json!({
        "description": "The events it is for: category:action, category:action:tool, globs, alternatives with |, patterns with commas.",
        "anyOf": listed,
    })
}

/// The host's line, whether it can block, and its data.
fn about(spec: &EventSpec) -> String {
    let mut sentences = Vec::new();
    if !spec.description_text().is_empty() {
        sentences.push(spec.description_text().trim_end_matches('.').to_owned());
    }
    if spec.can_block() {
        sentences.push("Can block".to_owned());
    }
    let mut keys = Vec::new();
    for (key, about) in spec.data_keys() {
        keys.push(format!("{key} ({about})"));
    }
    if !keys.is_empty() {
        sentences.push(format!("Data: {}", keys.join(", ")));
    }
    sentences.join(". ") + "."
}

fn property(key: &str) -> Value {
    let text = |description: &str| json!({"description": description, "type": "string"});
    match key {
        "when" => json!({
            "description": "Conditions on the event's data: JSON Pointers, each with a glob for the whole value, a list of globs, or a regular expression. All must match.",
            "type": "object",
            "propertyNames": {"pattern": "^(/([^~/]|~[01])*)*$", "maxLength": LONGEST_POINTER},
            "maxProperties": MOST_CONDITIONS,
            "additionalProperties": {"anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
                {
                    "type": "object",
                    "properties": {"regex": {"type": "string"}},
                    "required": ["regex"],
                    "additionalProperties": false,
                },
            ]},
            "examples": [{"/tool_args/command": {"regex": "\\bsudo\\b"}}],
        }),
        "command" => json!({
            "description": "A text for the shell. Values of the event are in its environment.",
            "type": "string",
            "pattern": "\\S",
        }),
        "args" => json!({
            "description": "A program and its arguments, run without a shell.",
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
        }),
        "shell" => choice(
            "The shell that runs the command.",
            Shell::ALL.iter().map(|it| it.as_str()),
            None,
        ),
        "timeout" => json!({
            "description": "Seconds for the whole run, fractions too; without it, the program's default.",
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": LONGEST_TIMEOUT.as_secs(),
        }),
        "working_dir" => text("Where it runs; a relative path counts from the project's root."),
        "env" => json!({
            "description": "Environment variables of its own.",
            "type": "object",
            "propertyNames": {"pattern": "^[^=]+$"},
            "additionalProperties": {"type": "string"},
        }),
        "inherit" => json!({
            "description": "The variables of the program's own environment that are passed on: names, in which * stands for any characters. Without it, what the program says; mostly all.",
            "type": "array",
            "items": {"type": "string", "pattern": "^[^=]+$"},
            "examples": [["PATH", "HOME", "LANG", "LC_*"]],
        }),
        "enabled" => switch("Whether it runs at all.", true),
        "name" => text("A short name, by which it can be told from others and disabled."),
        "description" => text("What it is for, shown when it blocks."),
        "on_failure" => choice(
            "What a failure means for the operation that it guards.",
            FailurePolicy::ALL.iter().map(|it| it.as_str()),
            Some(FailurePolicy::default().as_str()),
        ),
        "stdin" => choice(
            "What it finds on its standard input.",
            Stdin::ALL.iter().map(|it| it.as_str()),
            Some(Stdin::default().as_str()),
        ),
        "reads" => choice(
            "Where it looks for the event's values; matters for large ones.",
            Reads::ALL.iter().map(|it| it.as_str()),
            Some(Reads::default().as_str()),
        ),
        "inputs" => json!({
            "description": "Files, directories and patterns, relative to the project's root, that an approval covers besides what the command itself runs.",
            "type": "array",
            "items": {"type": "string"},
        }),
        "resident" => switch(
            "Whether its process is kept for many events, of which it reads a line each, and answers with one.",
            false,
        ),
        "dialect" => json!({
            "description": "What a hook of another tool says besides: written by the program, not by hand.",
            "type": "object",
            "properties": {
                "name": {"enum": ["claude", "codex", "gemini"]},
                "event": {"type": "string"},
            },
            "required": ["name", "event"],
        }),
        "background" => switch("Whether it is only started and not waited for.", false),
        // A test sees that there is none.
        _ => json!({}),
    }
}

fn choice<'a>(
    description: &str,
    names: impl Iterator<Item = &'a str>,
    default: Option<&str>,
) -> Value {
    let mut schema = json!({"description": description, "enum": names.collect::<Vec<_>>()});
    if let Some(default) = default {
        schema["default"] = json!(default);
    }
    schema
}

fn switch(description: &str, default: bool) -> Value {
    json!({"description": description, "type": "boolean", "default": default})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_described() {
        let schema = hook(&Vocabulary::default());
        for key in KEYS {
            let property = &schema["properties"][key];
            assert!(property.get("description").is_some(), "{key}");
        }
    }
}
