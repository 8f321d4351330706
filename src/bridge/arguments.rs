//! What a tool that no row names may do, told by the names of its arguments, at any depth.

use serde_json::Value;

/// The ends of names of arguments that name a file.
const PATHS: [&str; 13] = [
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "dir",
    "directory",
    "folder",
    "uri",
    "source",
    "destination",
    "target",
    "dest",
];

/// The names of arguments that a shell may run.
const COMMANDS: [&str; 4] = ["command", "cmd", "commandline", "command_line"];

/// Returns the command that a call runs, if it names one.
pub(super) fn command(arguments: &Value) -> Option<&Value> {
    let mut members = arguments.as_object()?.iter();
    let (_, command) = members.find(|(name, _)| is_one_of(&COMMANDS, name))?;
    Some(command)
}

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Returns the texts that may be paths.
pub(super) fn paths(arguments: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    collect("", arguments, &mut found);
    found
}

/// Recurses as deep as JSON may be nested.
fn collect<'a>(name: &str, value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if is_path(name, text) => found.push(text.trim()),
        Value::Array(values) => values.iter().for_each(|value| collect(name, value, found)),
        Value::Object(members) => {
            for (name, value) in members {
                collect(name, value, found);
            }
        }
        _ => {}
    }
}

/// Whether an argument may be a path: no program opens one of several lines or of more than 4,096 bytes.
fn is_path(name: &str, text: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_name = PATHS.iter().any(|end| name.ends_with(end)) || matches!(&*name, "src" | "dst");
    let text = text.trim();
    is_name && !text.is_empty() && text.len() <= 4096 && !text.contains('\n')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_tell_what_a_tool_does() {
        for (arguments, command_of, paths_of) in [
            (json!({"url": "u", "profile": 1}), None, &[][..]),
            (
                json!({"command": "ls", "filePath": "a"}),
                Some("ls"),
                &["a"],
            ),
            (
                json!({"CMD": "ls", "absolute_path": " a "}),
                Some("ls"),
                &["a"],
            ),
            (
                json!({"source": "a", "destination": "b"}),
                None,
                &["b", "a"],
            ),
            (
                json!({"paths": ["a", 1, "b"], "x": {"file": {"path": "c"}}}),
                None,
                &["a", "b", "c"],
            ),
            (json!({"file": "a\nb", "path": ""}), None, &[]),
        ] {
            assert_eq!(
                command(&arguments).and_then(Value::as_str),
                command_of,
                "{arguments}"
            );
            assert_eq!(paths(&arguments), paths_of, "{arguments}");
        }
        assert!(paths(&json!({"path": "a".repeat(4097)})).is_empty());
    }
}
