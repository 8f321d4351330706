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

/// The words in names of arguments that a shell may run.
const COMMANDS: [&str; 9] = [
    "command",
    "commands",
    "cmd",
    "cmds",
    "commandline",
    "keystrokes",
    "script",
    "scripts",
    "stdin",
];

/// Words in the names of tools whose argument `input` is typed into a running program.
const RUNNING: [&str; 5] = ["console", "process", "session", "shell", "terminal"];

/// Parts of such names that are written as one word, such as `shellcommand`. `transcript` is none.
const PARTS_OF_COMMANDS: [&str; 3] = ["command", "cmd", "shellscript"];

/// The names of arguments with the program that is run with the arguments beside it.
const PROGRAMS: [&str; 3] = ["program", "executable", "interpreter"];

/// The last words of names of arguments that are those of a command beside them.
const ARGUMENTS: [&str; 9] = [
    "arg",
    "args",
    "argument",
    "arguments",
    "argv",
    "flags",
    "options",
    "parameters",
    "params",
];

/// Words in the names of tools and operations that may move or remove a directory as a whole.
const MOVES: [&str; 30] = [
    "chmod",
    "chown",
    "clean",
    "clone",
    "del",
    "delete",
    "destroy",
    "drop",
    "erase",
    "extract",
    "move",
    "mv",
    "nuke",
    "permission",
    "prune",
    "purge",
    "relocate",
    "remove",
    "rename",
    "replace",
    "restore",
    "rm",
    "rmdir",
    "rmtree",
    "sync",
    "trash",
    "unlink",
    "unpack",
    "unzip",
    "wipe",
];

/// First words of the names of tools that only read.
const READS: [&str; 8] = [
    "find", "get", "grep", "list", "read", "search", "show", "view",
];

/// The words that may follow. With another one, the tool may also write: `get_or_create_file`.
const READ: [&str; 14] = [
    "content",
    "contents",
    "dir",
    "directories",
    "directory",
    "file",
    "files",
    "image",
    "info",
    "lines",
    "media",
    "multiple",
    "text",
    "tree",
];

/// The longest path that a system opens, in bytes.
const LONGEST_PATH: usize = 4096;

/// A command that a call may run.
pub(super) struct Command<'a> {
    /// A text that a shell reads, or a list of words.
    command: &'a Value,
    /// Texts, and lists of words, that follow it.
    arguments: Vec<&'a Value>,
}

impl Command<'_> {
    /// Returns the command as a shell reads it.
    pub(super) fn line(&self) -> String {
        let mut line = String::new();
        for value in std::iter::once(&self.command).chain(&self.arguments) {
            match value {
                Value::Array(words) => words.iter().for_each(|word| push(&mut line, &quoted(word))),
                value => push(&mut line, value.as_str().unwrap_or_default()),
            }
        }
        line
    }
}

fn push(line: &mut String, word: &str) {
    if !line.is_empty() {
        line.push(' ');
    }
    line.push_str(word);
}

/// Returns a word as a shell reads it as one.
fn quoted(word: &Value) -> Cow<'_, str> {
    let Value::String(word) = word else {
        return word.to_string().into();
    };
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''")).into()
}

/// Returns the commands that a call may run: at most one more than `most`.
pub(super) fn commands<'a>(
    tool: &str,
    arguments: &'a Map<String, Value>,
    most: usize,
) -> Vec<Command<'a>> {
    let mut commands = Commands {
        found: Vec::new(),
        most,
        types: words(own_name(tool)).any(|word| RUNNING.contains(&&*word)),
    };
    commands.look(arguments, false);
    commands.found
}

struct Commands<'a> {
    found: Vec<Command<'a>>,
    most: usize,
    /// True if an `input` is typed into a running program.
    types: bool,
}

impl<'a> Commands<'a> {
    /// Adds the commands in an object, which is itself one if its own name says so. It recurses as deep as JSON may be nested.
    fn look(&mut self, members: &'a Map<String, Value>, is_one: bool) {
        let arguments = || {
            let beside = members
                .iter()
                .filter(|(name, value)| are_arguments(name) && is_line(value));
            beside.map(|(_, value)| value)
        };
        let has_arguments = arguments().next().is_some();
        for (name, value) in members {
            let is_program = has_arguments && PROGRAMS.contains(&&*plain(name));
            let is_typed = self.types && plain(name) == "input";
            let is_one = is_one || is_program || is_typed || is_command(name);
            self.collect(value, is_one);
            if is_one && has_arguments && is_line(value) && !are_arguments(name) {
                self.add(value, arguments);
            }
        }
    }

    /// Adds the commands in a value.
    fn collect(&mut self, value: &'a Value, is_one: bool) {
        match value {
            Value::String(text) if is_one && !text.trim().is_empty() => {
                self.add(value, std::iter::empty);
            }
            Value::Array(values) => {
                values.iter().for_each(|value| self.collect(value, is_one));
                // The list may be the words of one command.
                if is_one && values.len() > 1 && is_line(value) {
                    self.add(value, std::iter::empty);
                }
            }
            Value::Object(members) => self.look(members, is_one),
            _ => {}
        }
    }

    fn add<I: Iterator<Item = &'a Value>>(
        &mut self,
        command: &'a Value,
        arguments: impl FnOnce() -> I,
    ) {
        // More are too many in any case: what is left costs no time.
        if self.found.len() <= self.most {
            let arguments = arguments().collect();
            self.found.push(Command { command, arguments });
        }
    }
}

/// Returns whether a value is a text, or a list that has words.
fn is_line(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(words) => words.iter().any(Value::is_string),
        _ => false,
    }
}

fn is_command(name: &str) -> bool {
    let whole = plain(name);
    PARTS_OF_COMMANDS.iter().any(|part| whole.contains(part))
        || words(name).any(|word| COMMANDS.contains(&&*word))
}

fn are_arguments(name: &str) -> bool {
    words(name)
        .last()
        .is_some_and(|word| ARGUMENTS.contains(&&*word))
}

/// Returns the words of a name, in small letters: `bashCommand` and `bash_command` have two.
pub(super) fn words(name: &str) -> impl Iterator<Item = String> {
    let mut before = ' ';
    let mut spaced = String::new();
    for c in name.chars() {
        if c.is_uppercase() && before.is_lowercase() {
            spaced.push(' ');
        }
        spaced.extend(c.to_lowercase());
        before = c;
    }
    let words: Vec<_> = spaced
        .split(|c: char| !c.is_alphanumeric())
        .map(str::to_owned)
        .collect();
    words.into_iter().filter(|word| !word.is_empty())
}

/// Returns the tool's own name of one of an MCP server.
fn own_name(tool: &str) -> &str {
    let own = tool.rsplit_once("__").map(|(_, own)| own);
    own.filter(|own| !own.is_empty()).unwrap_or(tool)
}

/// Returns whether a tool is one of git's, whose calls name the repository beside files and branches.
pub(super) fn is_of_git(tool: &str) -> bool {
    words(own_name(tool))
        .next()
        .is_some_and(|word| word == "git")
}

/// Returns whether a tool only reads, by each word of its name: `read_text_file`.
pub(super) fn is_read(tool: &str, arguments: &Map<String, Value>) -> bool {
    let mut words = words(own_name(tool));
    let first = words.next();
    let is_read = first.is_some_and(|word| READS.contains(&&*word));
    // Such a tool may write here, from a server or from another path.
    let is_address = |value: &Value| value.as_str().is_some_and(|text| text.contains("://"));
    let places = arguments.keys().filter(|name| is_path(name)).count();
    is_read
        && words.all(|word| READ.contains(&&*word))
        && places <= 1
        && !arguments.values().any(is_address)
}

/// Returns whether a tool, or a word in its arguments, may move or remove a directory as a whole.
pub(super) fn moves(tool: &str, arguments: &Map<String, Value>) -> bool {
    is_move(own_name(tool))
        || !is_of_git(tool)
            && arguments
                .iter()
                .any(|(name, value)| is_move(name) || names_a_move(value))
}

/// Returns whether a value is, or has, the name of such an operation.
fn names_a_move(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
            text.chars().all(is_name) && is_move(text)
        }
        Value::Array(values) => values.iter().any(names_a_move),
        Value::Object(members) => members.values().any(names_a_move),
        _ => false,
    }
}

fn is_move(name: &str) -> bool {
    // A name in small letters has no mark between its words: `deletedir`.
    let is_move = |word: &str| {
        MOVES
            .iter()
            .any(|one| word == *one || one.len() > 3 && word.starts_with(one))
    };
    words(name).any(|word| is_move(&word))
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
        Value::String(text) if is_path(name) || without_prefix(text.trim(), "file:").is_some() => {
            paths.extend(path(text.trim()));
        }
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

/// Returns the addresses in a text, each up to a blank.
pub(super) fn addresses(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().flat_map(|word| {
        let starts = word.match_indices("http").map(|(at, _)| &word[at..]);
        starts.filter(|rest| rest.starts_with("http://") || rest.starts_with("https://"))
    })
}

/// Returns all texts of a call that are no paths, a line each: what its tool may write into a file.
pub(super) fn other_texts(arguments: &Map<String, Value>) -> String {
    let mut texts = Vec::new();
    for (name, value) in arguments {
        add_texts(name, value, &mut texts);
    }
    texts.join("\n")
}

/// Adds the texts in a value. It recurses as deep as JSON may be nested.
fn add_texts<'a>(name: &str, value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if !is_path(name) => texts.push(text),
        Value::Array(values) => values
            .iter()
            .for_each(|value| add_texts(name, value, texts)),
        Value::Object(members) => {
            for (own, value) in members {
                add_texts(own, value, texts);
            }
        }
        _ => {}
    }
}

fn plain(name: &str) -> String {
    name.to_lowercase().replace(['_', '-'], "")
}

fn is_path(name: &str) -> bool {
    let has_path = words(name).any(|word| matches!(&*word, "path" | "paths"));
    let name = plain(name);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '[' | ']'));
    PATHS.iter().any(|end| name.ends_with(end)) || matches!(name, "src" | "dst") || has_path
}

/// Removes a beginning, in any case.
fn without_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Returns a text as a path, if a program may open it. Many programs first resolve `.` and `..` by name.
fn path(text: &str) -> Option<Cow<'_, str>> {
    // It is unknown which file a URI with an escape, a query or a fragment names.
    let of_uri = without_prefix(text, "file://").filter(|path| !path.contains(['%', '?', '#']));
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
            (
                json!({"pathInProject": "a", "xpathology": "b"}),
                &[],
                &["a"],
            ),
            (json!({"stdin": "a", "keystrokes": "b"}), &["b", "a"], &[]),
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
            let found = commands("mcp__x__run", &arguments, 100);
            let texts: Vec<_> = found.iter().map(Command::line).collect();
            assert_eq!(texts, commands_of, "{arguments:?}");
            assert_eq!(paths(&arguments), paths_of, "{arguments:?}");
        }
    }

    #[test]
    fn the_words_of_a_name_tell_a_command() {
        for (value, expected) in [
            (
                json!({"commands": ["ls", "pwd"]}),
                &["ls", "pwd", "ls pwd"][..],
            ),
            (
                json!({"shell_command": "ls", "transcript": "x", "description": "x"}),
                &["ls"],
            ),
            (json!({"bashCommand": "ls"}), &["ls"]),
            (
                json!({"shellcommand": "ls", "CommandLine": "pwd"}),
                &["pwd", "ls"],
            ),
            (
                json!({"script": "ls", "postScript": "pwd", "script-content": "w"}),
                &["pwd", "ls", "w"],
            ),
            (json!({"options": {"command": "ls"}}), &["ls"]),
            (
                json!({"steps": [{"command": "ls"}, {"x": [{"cmd": "pwd"}]}]}),
                &["ls", "pwd"],
            ),
            (
                json!({"command": ["sudo", "a b"]}),
                &["sudo", "a b", "sudo 'a b'"],
            ),
            (
                json!({"command": "bash", "args": ["-c", "sudo ls"]}),
                &["bash", "bash -c 'sudo ls'"],
            ),
            (
                json!({"command": ["bash"], "arguments": ["-c", "it's", 1, ""]}),
                &["bash", r"bash -c 'it'\''s' 1 ''"],
            ),
            (
                json!({"command": "bash", "args": "-c 'sudo ls'"}),
                &["bash", "bash -c 'sudo ls'"],
            ),
            (
                json!({"command": "ls", "args": [], "options": {"a": 1}}),
                &["ls"],
            ),
            (json!({"program": "sh", "argv": ["x"]}), &["sh", "sh x"]),
            (json!({"program": "sh", "args": {"x": 1}}), &[]),
            (
                json!({"command": {"program": "bash", "args": ["-c", "ls"]}}),
                &["-c", "ls", "-c ls", "bash", "bash -c ls"],
            ),
            (json!({"command": {"bash": "ls"}}), &["ls"]),
            (json!({"command": 1, "cmd": null, "script": " "}), &[]),
            (json!({"url": "ls", "query": ["ls"]}), &[]),
        ] {
            let arguments = arguments(value);
            let found = commands("mcp__x__run", &arguments, 100);
            let lines: Vec<_> = found.iter().map(Command::line).collect();
            assert_eq!(lines, expected, "{arguments:?}");
        }
        let many = arguments(json!({"commands": vec!["ls"; 1000]}));
        assert_eq!(commands("run", &many, 100).len(), 101);
        let typed = arguments(json!({"pid": 1, "input": "sudo ls"}));
        for (tool, expected) in [
            ("mcp__desktop-commander__interact_with_process", 1),
            ("mcp__shell__write", 0),
            ("mcp__x__sendToTerminal", 1),
            ("mcp__x__translate", 0),
        ] {
            assert_eq!(commands(tool, &typed, 100).len(), expected, "{tool}");
        }
    }

    #[test]
    fn words_tell_what_moves_a_directory() {
        for (tool, value, expected) in [
            ("mcp__fs__delete_directory", json!({}), true),
            ("mcp__fs__removeDir", json!({}), true),
            ("mcp__fs__rmdir", json!({}), true),
            ("fs-deletedir", json!({}), true),
            ("mcp__git__git_clean", json!({}), true),
            ("mcp__fs__manage", json!({"action": "delete"}), true),
            ("mcp__fs__manage", json!({"x": [{"op": "RENAME"}]}), true),
            ("mcp__remove__list", json!({}), false),
            (
                "mcp__git__git_status",
                json!({"repo_path": "/a/remove"}),
                false,
            ),
            (
                "mcp__git__git_commit",
                json!({"message": "remove the file"}),
                false,
            ),
            ("mcp__git__git_format", json!({}), false),
        ] {
            let arguments = arguments(value);
            assert_eq!(moves(tool, &arguments), expected, "{tool} {arguments:?}");
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
