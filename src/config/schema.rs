//! The JSON Schema of hooks.json, for editors.
//!
//! Uses the names and limits of the file's reader, so that the two cannot differ.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::events::{EventSpec, Vocabulary};
use crate::hook::{
    FailurePolicy, LONGEST_POINTER, LONGEST_TIMEOUT, MOST_CONDITIONS, Reads, Shell, Stdin, keys,
};

/// Returns the schema of a whole file, with the events and tools of a host.
pub(super) fn schema(vocabulary: &Vocabulary) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "hooks.json",
        "description": "Shell commands that a program runs on its events.",
        "type": "object",
        "properties": {
            "$schema": {"type": "string"},
            "hooks": {
                "description": "The hooks, in the order in which they run.",
                "type": "array",
                "items": hook(vocabulary),
            },
            "disable": {
                "description": "Names of hooks, also of projects, that must not run. Only allowed in the user's file.",
                "type": "array",
                "items": {"type": "string"},
            },
        },
        "patternProperties": {NOTES: {}},
        "additionalProperties": false,
    })
}

/// Keys that are notes for people.
const NOTES: &str = "^(comment$|_|//)";

fn hook(vocabulary: &Vocabulary) -> Value {
    let mut properties = Map::new();
    for key in keys() {
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

/// Returns the schema of `event`. Editors offer the listed values; any other pattern is valid too.
fn event(vocabulary: &Vocabulary) -> Value {
    let mut listed = Vec::new();
    for spec in vocabulary.events() {
        let name = spec.event_type().as_str();
        listed.push(json!({"const": name, "description": about(spec)}));
    }
    for tool in vocabulary.tools() {
        let pattern = format!("tool:pre_execute:{tool}");
        let about = format!("Before the tool `{tool}` runs. Can be blocked.");
        listed.push(json!({"const": pattern, "description": about}));
    }
    listed.push(json!({"type": "string", "minLength": 1}));
    json!({
        "description": "The events of the hook: category:action or category:action:tool, with globs, alternatives separated by |, and patterns separated by commas.",
        "anyOf": listed,
    })
}

/// Describes an event: the host's description, whether hooks can block it, and its data.
fn about(spec: &EventSpec) -> String {
    let mut sentences = Vec::new();
    if !spec.description_text().is_empty() {
        sentences.push(spec.description_text().trim_end_matches('.').to_owned());
    }
    if spec.can_block() {
        sentences.push("Can be blocked".to_owned());
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
            "description": "A command for the shell. The event's values are in its environment.",
            "type": "string",
            "pattern": "\\S",
        }),
        "args" => json!({
            "description": "A program and its arguments, run without a shell.",
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
        }),
        "shell" => choice("The shell that runs the command.", Shell::ALL, None),
        "timeout" => json!({
            "description": "The time limit of a run, in seconds; may be a fraction. Default: the program's.",
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": LONGEST_TIMEOUT.as_secs(),
        }),
        "working_dir" => text(
            "The working directory. A relative path begins at the project's root; for a user's hook, at the program's working directory.",
        ),
        "env" => json!({
            "description": "Environment variables of the hook.",
            "type": "object",
            "propertyNames": {"pattern": "^[^=]+$"},
            "additionalProperties": {"type": "string"},
        }),
        "inherit" => json!({
            "description": "The variables of the program's environment that the hook inherits: names, in which * matches any characters. Default: as the program sets it, usually all.",
            "type": "array",
            "items": {"type": "string", "pattern": "^[^=]+$"},
            "examples": [["PATH", "HOME", "LANG", "LC_*"]],
        }),
        "enabled" => switch("Whether the hook runs at all.", true),
        "name" => text("A short name that identifies the hook, in messages and in `disable`."),
        "description" => {
            text("A description for people. Messages show it for a hook without a name.")
        }
        "on_failure" => choice(
            "The effect of a failure on the operation that the hook guards.",
            FailurePolicy::ALL,
            Some(FailurePolicy::default()),
        ),
        "stdin" => choice(
            "The hook's standard input.",
            Stdin::ALL,
            Some(Stdin::default()),
        ),
        "reads" => choice(
            "Where the hook reads the event's values. With `environment`, a value that is too large for a variable blocks.",
            Reads::ALL,
            Some(Reads::default()),
        ),
        "inputs" => json!({
            "description": "Files, directories and patterns, relative to the project's root, that an approval covers besides the scripts that the entry names. `!path` excludes a file or directory.",
            "type": "array",
            "items": {"type": "string"},
        }),
        "resident" => switch(
            "Whether the hook's process is kept for many events. It reads one line for each event, and answers with one line.",
            false,
        ),
        "background" => switch("Whether the hook is started without waiting for it.", false),
        // A test checks that each key has a schema.
        _ => json!({}),
    }
}

fn choice<T: Serialize>(description: &str, values: &[T], default: Option<T>) -> Value {
    let mut schema = json!({"description": description, "enum": values});
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
        for key in keys() {
            let property = &schema["properties"][key];
            assert!(property.get("description").is_some(), "{key}");
        }
    }
}
