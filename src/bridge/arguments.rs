//! The effects of a tool that no row names, as the names of its arguments suggest them, at any depth.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use crate::command::{Answer, Commands};
use crate::json;

/// Words, with blanks between them.
pub(super) struct WordList(pub(super) &'static str);

impl WordList {
    pub(super) fn each(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.0.split_ascii_whitespace()
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.each().any(|one| one == word)
    }
}

/// The ends of names of arguments that name a file; `_` and `-` do not count.
const PATHS: WordList = WordList(
    "path paths pathname file files filename filenames dir dirs directory directories folder folders uri \
    uris source sources destination destinations target targets dest",
);

/// The last words of names of arguments that may be of anything. An absolute path in one is a path.
const LOCATIONS: WordList = WordList("as from location name output to value");

/// The words in names of arguments that a shell may run.
const COMMANDS: WordList =
    WordList("command commands cmd cmds commandline keystrokes script scripts stdin");

/// Words in the names of tools whose argument `input` is typed into a running program.
const RUNNING: WordList = WordList("process session");

/// Such words, in the names of their servers too.
const TERMINALS: WordList = WordList("console shell terminal");

/// Parts of such names that are written as one word, such as `shellcommand`. `transcript` is none.
const PARTS_OF_COMMANDS: WordList = WordList("command cmd shellscript");

/// The names of arguments with the program that is run with the arguments beside it.
const PROGRAMS: WordList = WordList("program executable interpreter");

/// The last words of names of arguments that are those of a command beside them.
const ARGUMENTS: WordList =
    WordList("arg args argument arguments argv flags options parameters params");

/// The names of arguments with the directory in which a command runs; `_` and `-` do not count.
const DIRECTORIES: WordList = WordList(
    "currentdirectory cwd dir directory dirpath pwd root workdir workingdir workingdirectory workspacedir",
);

/// Words in the names of arguments whose texts are not JSON for the tool.
const PROSE: WordList = WordList(
    "body code comment content contents description markdown message pattern prompt query string title",
);

/// The most words of a text of which each may be a path.
const FEW: usize = 8;

/// How often JSON may stand in a text of JSON.
const MOST_ENCODED: usize = 8;

/// The longest path that a system opens, in bytes.
const LONGEST_PATH: usize = 4096;

/// A command that a call may run.
pub(super) struct Command<'a> {
    /// A text that a shell reads, or a list of words.
    command: &'a Value,
    /// Texts, and lists of words, that follow it.
    arguments: Vec<&'a Value>,
    /// True if the name of its argument does not say in which language it is.
    may_be_code: bool,
}

impl Command<'_> {
    /// Returns the text that a shell may read: the whole, or, if it may be code and is not read as a shell's, its lines that are.
    pub(super) fn text(&self) -> String {
        let whole = self.line();
        let is_read = |text: &str| Commands::read(text).unread() == Answer::No;
        if !self.may_be_code || is_read(&whole) {
            return whole;
        }
        let lines = whole.lines().filter(|line| is_read(line));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns the command as a shell reads it.
    fn line(&self) -> String {
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
    let mut commands = Named {
        found: Vec::new(),
        most,
        types: words(tool).any(|word| TERMINALS.has(&singular(&word)))
            || words(tool.rsplit("__").next().unwrap_or(tool))
                .any(|word| RUNNING.has(&singular(&word))),
    };
    commands.look(arguments, false);
    commands.found
}

struct Named<'a> {
    found: Vec<Command<'a>>,
    most: usize,
    /// True if an `input` is typed into a running program.
    types: bool,
}

impl<'a> Named<'a> {
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
            let is_program = has_arguments && PROGRAMS.has(&plain(name));
            let is_typed = self.types && plain(name) == "input";
            let is_one = is_one || is_program || is_typed || is_command(name);
            let may_be_code = is_typed || words(name).any(|word| singular(&word) == "script");
            let before = self.found.len();
            self.collect(value, is_one);
            for command in &mut self.found[before..] {
                command.may_be_code |= may_be_code;
            }
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
            self.found.push(Command {
                command,
                arguments,
                may_be_code: false,
            });
        }
    }
}

/// Returns a word without a plural's ending.
fn singular(word: &str) -> String {
    match word.strip_suffix('s') {
        Some(one) if !one.ends_with('s') => one.to_owned(),
        _ => word.to_owned(),
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
    PARTS_OF_COMMANDS.each().any(|part| whole.contains(part))
        || words(name).any(|word| COMMANDS.has(&word))
}

fn are_arguments(name: &str) -> bool {
    words(name).last().is_some_and(|word| ARGUMENTS.has(&word))
}

/// Returns the words of a name, in small letters and without digits at their ends: `bashCommand`, `BASHCommand` and `bash_command1`
/// have two.
pub(super) fn words(name: &str) -> impl Iterator<Item = String> {
    let mut before = ' ';
    let mut spaced = String::new();
    let mut characters = name.chars().peekable();
    while let Some(c) = characters.next() {
        let begins_word = characters.peek().is_some_and(|next| next.is_lowercase());
        if c.is_uppercase() && (before.is_lowercase() || before.is_uppercase() && begins_word) {
            spaced.push(' ');
        }
        spaced.extend(c.to_lowercase());
        before = c;
    }
    let words = spaced.split(|c: char| !c.is_alphanumeric());
    let words = words.map(|word| {
        word.trim_end_matches(|c: char| c.is_ascii_digit())
            .to_owned()
    });
    let words: Vec<_> = words.collect();
    words.into_iter().filter(|word| !word.is_empty())
}

/// Returns the arguments with each text that is a JSON object or a list as its value: some servers read such texts.
pub(super) fn decoded(arguments: &Map<String, Value>) -> Map<String, Value> {
    let members = arguments.iter();
    let decoded =
        members.map(|(name, value)| (name.clone(), decoded_value(is_prose(name), value, 0)));
    decoded.collect()
}

fn is_prose(name: &str) -> bool {
    words(name).any(|word| PROSE.has(&word))
}

/// Decodes a value. It recurses as deep as JSON may be nested.
fn decoded_value(is_prose: bool, value: &Value, level: usize) -> Value {
    match value {
        Value::String(text) if level < MOST_ENCODED && !is_prose => {
            let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            let inner = text
                .starts_with(['{', '['])
                .then(|| json::read::<Value>(text).ok());
            match inner.flatten() {
                Some(inner) => decoded_value(is_prose, &inner, level + 1),
                None => value.clone(),
            }
        }
        Value::Array(values) => {
            let values = values.iter();
            values
                .map(|value| decoded_value(is_prose, value, level))
                .collect()
        }
        Value::Object(members) => {
            let members = members.iter().map(|(own, value)| {
                (
                    own.clone(),
                    decoded_value(self::is_prose(own), value, level),
                )
            });
            Value::Object(members.collect())
        }
        value => value.clone(),
    }
}

/// Returns the directories that a call names for its commands, at any depth.
pub(super) fn directories(arguments: &Map<String, Value>) -> Vec<&str> {
    let mut directories = Vec::new();
    for (name, value) in arguments {
        add_directories(DIRECTORIES.has(&plain(name)), value, &mut directories);
    }
    directories
}

/// Adds the directories in a value. It recurses as deep as JSON may be nested.
fn add_directories<'a>(is_one: bool, value: &'a Value, directories: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if is_one && !text.trim().is_empty() => directories.push(text),
        Value::Array(values) => {
            values
                .iter()
                .for_each(|value| add_directories(is_one, value, directories));
        }
        Value::Object(members) => {
            for (own, value) in members {
                add_directories(DIRECTORIES.has(&plain(own)), value, directories);
            }
        }
        _ => {}
    }
}

/// Returns the texts that may be paths.
pub(super) fn paths(arguments: &Map<String, Value>) -> Vec<Cow<'_, str>> {
    let mut paths = Vec::new();
    for (name, value) in arguments {
        if let Value::String(text) = value
            && is_plural(name)
        {
            paths.extend(listed(text.trim()).filter_map(path));
        }
        collect(has_path(name, value), value, &mut paths);
    }
    paths
}

/// Returns whether an argument names a path.
pub(super) fn has_path(name: &str, value: &Value) -> bool {
    let is_absolute = |text: &str| {
        (text.starts_with('/') || text.starts_with("~/")) && !text.contains(char::is_whitespace)
    };
    let may_have_one = value.as_str().is_some_and(is_absolute);
    let may_be_of_anything = || words(name).last().is_some_and(|word| LOCATIONS.has(&word));
    is_path(name) || may_have_one && may_be_of_anything()
}

/// Adds the paths in a value. It recurses as deep as JSON may be nested.
fn collect<'a>(is_one: bool, value: &'a Value, paths: &mut Vec<Cow<'a, str>>) {
    match value {
        Value::String(text) if is_one => paths.extend(path(text.trim())),
        Value::String(text) => {
            paths.extend(uri(text).and_then(|uri| Some(path(&uri)?.into_owned().into())));
        }
        Value::Array(values) => values
            .iter()
            .for_each(|value| collect(is_one, value, paths)),
        Value::Object(members) => {
            for (own, value) in members {
                // Some tools take an object whose keys are the names of files.
                if is_one && own.contains(['/', '\\', '.']) {
                    paths.extend(path(own.trim()));
                }
                collect(has_path(own, value), value, paths);
            }
        }
        _ => {}
    }
}

/// Returns the addresses in a text, each up to a blank.
pub(super) fn addresses(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().flat_map(|word| {
        let starts = word.char_indices().map(|(at, _)| &word[at..]);
        starts.filter(|rest| {
            ["http://", "https://"]
                .iter()
                .any(|scheme| without_prefix(rest, scheme).is_some())
        })
    })
}

/// Returns all texts of a call that are no paths, a line each: what its tool may write into a file.
pub(super) fn other_texts(arguments: &Map<String, Value>) -> String {
    let mut texts = Vec::new();
    for (name, value) in arguments {
        add_texts(is_path(name), value, &mut texts);
    }
    texts.join("\n")
}

/// Adds the texts in a value that are no paths. It recurses as deep as JSON may be nested.
pub(super) fn add_texts<'a>(is_one: bool, value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if !is_one => texts.push(text),
        Value::Array(values) => values
            .iter()
            .for_each(|value| add_texts(is_one, value, texts)),
        Value::Object(members) => {
            for (own, value) in members {
                add_texts(is_path(own), value, texts);
            }
        }
        _ => {}
    }
}

fn plain(name: &str) -> String {
    name.to_lowercase().replace(['_', '-'], "")
}

pub(super) fn is_path(name: &str) -> bool {
    let has_path = words(name).any(|word| matches!(&*word, "path" | "paths"));
    let name = plain(name);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '[' | ']'));
    PATHS.each().any(|end| name.ends_with(end)) || matches!(name, "src" | "dst") || has_path
}

/// Returns the paths that a text may list, as some servers read it. In a longer text, those that look like one.
fn listed(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split([',', ' ', '\n', '\t', ';']);
    let parts = parts.filter(|part| part.contains(char::is_alphanumeric));
    let is_short = parts.clone().count() <= FEW;
    parts.filter(move |part| {
        part.len() < text.len() && (is_short || part.contains(['/', '\\', '.']))
    })
}

/// Returns whether a name is one of several paths.
fn is_plural(name: &str) -> bool {
    words(name).any(|word| {
        matches!(
            &*word,
            "paths" | "files" | "filenames" | "dirs" | "directories" | "folders" | "uris"
        )
    })
}

/// Returns the address of a file that a text is, as programs read it that leave out tabs, line ends and control characters before it.
fn uri(text: &str) -> Option<String> {
    let text: String = text
        .chars()
        .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
        .collect();
    let text = text.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    let address = without_prefix(text, "view-source:").unwrap_or(text);
    let rest = without_prefix(address, "file:")?;
    rest.starts_with(['/', '\\']).then(|| address.to_owned())
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
            ("mcp__shell__write", 1),
            ("mcp__x__sendToTerminal", 1),
            ("mcp__x__translate", 0),
        ] {
            assert_eq!(commands(tool, &typed, 100).len(), expected, "{tool}");
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
