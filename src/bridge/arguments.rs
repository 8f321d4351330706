//! The effects of a tool that no row names, as the names of its arguments suggest them, at any depth.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

/// The ends of names of arguments that name a file; `_` and `-` do not count.
const PATHS: [&str; 22] = [
    "path",
    "paths",
    "pathname",
    "file",
    "files",
    "filename",
    "filenames",
    "dir",
    "dirs",
    "directory",
    "directories",
    "folder",
    "folders",
    "uri",
    "uris",
    "source",
    "sources",
    "destination",
    "destinations",
    "target",
    "targets",
    "dest",
];

/// The names of arguments that a shell may run.
const COMMANDS: [&str; 3] = ["command", "cmd", "commandline"];

/// The longest path that a system opens, in bytes.
const LONGEST_PATH: usize = 4096;

/// Returns the commands that a call may run.
pub(super) fn commands(arguments: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let members = arguments.iter();
    let commands = members.filter(|(name, _)| COMMANDS.contains(&&*plain(name)));
    commands.map(|(_, command)| command)
}

/// Returns the texts that may be paths.
pub(super) fn paths(arguments: &Map<String, Value>) -> Vec<Cow<'_, str>> {
    let mut paths = Vec::new();
    for (name, value) in arguments {
        collect(name, value, &mut paths);
    }
    paths
}

/// Adds the paths in a value. It recurses as deep as JSON may be nested.
fn collect<'a>(name: &str, value: &'a Value, paths: &mut Vec<Cow<'a, str>>) {
    match value {
        Value::String(text) if is_path(name) => paths.extend(path(text.trim())),
        Value::Array(values) => values.iter().for_each(|value| collect(name, value, paths)),
        Value::Object(members) => {
            for (own, value) in members {
                // Some tools take an object whose keys are the names of files.
                if is_path(name) && own.contains(['/', '\\', '.']) {
                    paths.extend(path(own.trim()));
                }
                collect(own, value, paths);
            }
        }
        _ => {}
    }
}

fn plain(name: &str) -> String {
    name.to_lowercase().replace(['_', '-'], "")
}

fn is_path(name: &str) -> bool {
    let name = plain(name);
    PATHS.iter().any(|end| name.ends_with(end)) || matches!(&*name, "src" | "dst")
}

/// Removes a beginning, in any case.
fn without_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Returns a text as a path, if a program may open it. Many programs first resolve `.` and `..` by name.
fn path(text: &str) -> Option<Cow<'_, str>> {
    // It is unknown which file a URI with an escape names.
    let of_uri = without_prefix(text, "file://").filter(|path| !path.contains('%'));
    let of_uri = of_uri.map(|path| {
        let local = without_prefix(path, "localhost").filter(|path| path.starts_with('/'));
        local.unwrap_or(path)
    });
    let text = of_uri.unwrap_or(text);
    if text.len() <= LONGEST_PATH {
        return (!text.is_empty()).then_some(text.into());
    }
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in Path::new(text).components() {
        match part {
            Component::ParentDir
                if parts.last().is_some_and(|last| *last != Component::RootDir) =>
            {
                parts.pop();
            }
            Component::CurDir | Component::ParentDir => {}
            part => parts.push(part),
        }
    }
    let path: PathBuf = parts.into_iter().collect();
    let path = path.to_string_lossy().into_owned();
    (path.len() <= LONGEST_PATH && !path.is_empty()).then_some(path.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn arguments_tell_what_a_tool_does() {
        for (value, commands_of, paths_of) in [
            (json!({"url": "u", "profile": 1}), &[][..], &[][..]),
            (json!({"command": "ls", "filePath": "a"}), &["ls"], &["a"]),
            (
                json!({"CMD": "ls", "absolute_path": " a "}),
                &["ls"],
                &["a"],
            ),
            (
                json!({"cmd": "a", "command": "b", "command_line": "c"}),
                &["a", "b", "c"],
                &[],
            ),
            (json!({"source": "a", "destination": "b"}), &[], &["b", "a"]),
            (
                json!({"paths": ["a", 1, "b"], "x": {"file": {"path": "c"}}}),
                &[],
                &["a", "b", "c"],
            ),
            (
                json!({"file_name": "a", "out-dir": "b", "path": ""}),
                &[],
                &["a", "b"],
            ),
            (json!({"path": "a\n/../b"}), &[], &["a\n/../b"]),
            (json!({"uri": "file:///a"}), &[], &["/a"]),
            (json!({"uri": "file:///a%2F"}), &[], &["file:///a%2F"]),
            (
                json!({"uris": ["FILE://localhost/a", "file://host/b"]}),
                &[],
                &["/a", "host/b"],
            ),
            (
                json!({"files": {"secrets/x": "text", "mode": 1}}),
                &[],
                &["secrets/x"],
            ),
        ] {
            let arguments = arguments(value);
            let texts: Vec<_> = commands(&arguments).filter_map(Value::as_str).collect();
            assert_eq!(texts, commands_of, "{arguments:?}");
            assert_eq!(paths(&arguments), paths_of, "{arguments:?}");
        }
    }

    #[test]
    fn a_long_text_may_be_a_short_path() {
        for (text, expected) in [
            ("./".repeat(4096) + "a", &["a"][..]),
            ("x/../".repeat(4096) + "a", &["a"]),
            ("/".to_owned() + &"x/../".repeat(4096) + "a", &["/a"]),
            ("a".repeat(4097), &[]),
        ] {
            assert_eq!(paths(&arguments(json!({"path": text}))), expected);
        }
    }
}
