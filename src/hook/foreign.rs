//! Settings of a hook of another tool besides its pattern, command, timeout and variables.
//!
//! Knows the tool's names from `dialects`; `protocol` knows its payload and its answers.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::condition::{Allowance, Condition, Lazy, Refused};
use super::dialect::Dialect;
use super::dialects::{self, ForeignEvent, Subject};
use super::error::HookError;
use super::keys::{Entry, choice, get, key_error, require, switch, text, unexpected, wrong_type};
use super::rule::Rule;
use super::when::NotCompiled;
use crate::events::HookEvent;

/// The host's names for tools that the tables do not contain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToolAliases(Vec<(Dialect, String, String)>);

impl ToolAliases {
    pub(crate) fn add(&mut self, dialect: Dialect, ours: String, theirs: String) {
        self.0.push((dialect, ours, theirs));
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Foreign {
    dialect: Dialect,
    event: &'static ForeignEvent,
    matcher: Arc<Matcher>,
    condition: Option<Rule>,
    pub(crate) plugin_root: Option<PathBuf>,
    pub(crate) status_message: Option<String>,
    pub(crate) async_rewake: bool,
    /// Not part of the hook's entry.
    pub(crate) aliases: Arc<ToolAliases>,
}

impl PartialEq for Foreign {
    fn eq(&self, other: &Self) -> bool {
        self.dialect == other.dialect
            && self.event == other.event
            && self.matcher.text() == other.matcher.text()
            && self.condition == other.condition
            && self.plugin_root == other.plugin_root
            && self.status_message == other.status_message
            && self.async_rewake == other.async_rewake
    }
}

/// Matches events of one kind, as the hook's tool does.
#[derive(Debug, Clone)]
enum Matcher {
    All,
    Names {
        text: Box<str>,
        names: Vec<Box<str>>,
    },
    Regex {
        text: Box<str>,
        regex: Lazy,
    },
}

impl Matcher {
    fn new(dialect: Dialect, event: &ForeignEvent, text: &str) -> Self {
        let is_all = matches!(text.trim(), "" | "*");
        if is_all || event.subject == Subject::Nothing {
            return Self::All;
        }
        let names: Vec<&str> = match dialect {
            Dialect::Gemini if event.subject != Subject::Tool => vec![text.trim()],
            _ if dialects::is_list_of_names(dialect, text) => {
                text.split(['|', ',']).map(str::trim).collect()
            }
            _ => Vec::new(),
        };
        let text: Box<str> = text.into();
        if names.is_empty() {
            let regex = Lazy::new(Condition::Regex(text.clone().into()));
            return Self::Regex { text, regex };
        }
        let names = names.into_iter().map(Into::into).collect();
        Self::Names { text, names }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::Names { text, .. } | Self::Regex { text, .. } => Some(text),
        }
    }

    fn matches(&self, subject: &str) -> bool {
        match self {
            Self::All => true,
            Self::Names { names, .. } => names.iter().any(|name| **name == *subject),
            // A text that is too long to be searched counts as matched: the hook runs.
            Self::Regex { regex, .. } => regex.test(subject).unwrap_or(true),
        }
    }
}

impl Foreign {
    /// Creates the settings of a hook of this tool on this event, with a matcher that is read as the tool
    /// reads it.
    pub(crate) fn new(dialect: Dialect, event: &'static ForeignEvent, matcher: &str) -> Self {
        Self {
            dialect,
            event,
            matcher: Arc::new(Matcher::new(dialect, event, matcher)),
            condition: None,
            plugin_root: None,
            status_message: None,
            async_rewake: false,
            aliases: Arc::default(),
        }
    }

    pub(crate) fn with_condition(mut self, rule: &str) -> Self {
        self.condition = Some(Rule::new(rule));
        self
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The event, with its name in the tool.
    pub(crate) fn event(&self) -> &'static ForeignEvent {
        self.event
    }

    /// The label that people see, for a hook without a description and a name.
    pub(super) fn label(&self) -> &str {
        self.status_message.as_deref().unwrap_or(self.event.name)
    }

    /// The matcher as it was written; none if every event matches.
    pub(crate) fn matcher(&self) -> Option<&str> {
        self.matcher.text()
    }

    /// Claude Code's `if`.
    pub(crate) fn condition(&self) -> Option<&Rule> {
        self.condition.as_ref()
    }

    /// Returns the name in the tool of a tool of the host.
    pub(crate) fn tool_name<'a>(&'a self, name: &'a str) -> &'a str {
        let mut added = self.aliases.0.iter();
        match added.find(|(dialect, ours, _)| *dialect == self.dialect && ours == name) {
            Some((.., theirs)) => theirs,
            None => dialects::tool_name(self.dialect, name),
        }
    }

    /// Returns the text that the matcher is tested against; none if it is not tested.
    pub(crate) fn subject<'a>(&'a self, event: &'a HookEvent) -> Option<&'a str> {
        match self.event.subject {
            Subject::Nothing => None,
            Subject::Tool => Some(self.tool_name(event.tool_name.as_deref().unwrap_or_default())),
            Subject::Data { key, default } => {
                let of_host = || event.context()?.field(key);
                let value = event.data.get(key).or_else(of_host);
                Some(value.and_then(Value::as_str).unwrap_or(default))
            }
        }
    }

    /// Returns whether the tool would run the hook on this event, whose kind the pattern matches.
    pub(crate) fn is_met(&self, event: &HookEvent) -> bool {
        let Some(subject) = self.subject(event) else {
            return true;
        };
        let condition = self.condition.as_ref();
        self.is_named(subject) && condition.is_none_or(|rule| rule.is_met(subject, event))
    }

    fn is_named(&self, subject: &str) -> bool {
        let mut others = dialects::also_called(self.dialect, subject).iter();
        self.matcher.matches(subject) || others.any(|other| self.matcher.matches(other))
    }

    /// Returns the same as `is_met`, except that tests which need compiling count as matched.
    pub(super) fn may_be_met(&self, event: &HookEvent) -> bool {
        let is_compiled = matches!(*self.matcher, Matcher::Regex { .. });
        let subject = self.subject(event);
        is_compiled || subject.is_none_or(|subject| self.is_named(subject))
    }

    /// Returns the key that does not match this event, and its value.
    pub(crate) fn expected(&self, event: &HookEvent) -> (&'static str, &str) {
        let is_named = self.subject(event).is_none_or(|it| self.is_named(it));
        match (&self.condition, is_named) {
            (Some(rule), true) => ("if", rule.as_str()),
            _ => ("matcher", self.matcher().unwrap_or("*")),
        }
    }

    /// Compiles the matcher and the condition, so that errors are known before they are needed.
    pub(crate) fn compile(&self, allowance: &mut Allowance) -> Result<(), NotCompiled> {
        let refused = |key, refused| match refused {
            Refused::NothingLeft => NotCompiled::TooLarge,
            Refused::Invalid(words) => NotCompiled::Invalid(key_error(key, words)),
        };
        if let Matcher::Regex { regex, .. } = &*self.matcher {
            let compiled = regex.compile(allowance);
            compiled.map_err(|error| refused("matcher", error))?;
        }
        if let Some(rule) = &self.condition {
            let compiled = rule.compile(allowance);
            compiled.map_err(|error| refused("if", error))?;
        }
        Ok(())
    }

    /// The reason why the matcher cannot be used, if compiling it has failed.
    pub(super) fn refusal(&self) -> Option<&str> {
        match &*self.matcher {
            Matcher::Regex { regex, .. } => regex.refusal(),
            _ => None,
        }
    }

    /// Returns the variables for directories in the hook's command. The tool sets them, and inserts their
    /// values into `args`.
    pub(crate) fn variables<'a>(&'a self, project: &'a Path) -> Vec<(&'static str, &'a Path)> {
        let names: (&[_], &[_]) = match self.dialect {
            Dialect::Claude => (&["CLAUDE_PROJECT_DIR"], &["CLAUDE_PLUGIN_ROOT"]),
            Dialect::Gemini => (
                &["GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR", "workspacePath"],
                &["extensionPath"],
            ),
            Dialect::Codex => (&[], &["PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"]),
            Dialect::Native => (&[], &[]),
        };
        let mut variables: Vec<_> = names.0.iter().map(|name| (*name, project)).collect();
        if let Some(root) = &self.plugin_root {
            variables.extend(names.1.iter().map(|name| (*name, root.as_path())));
        }
        variables
    }

    /// Returns a word of `args` with those variables replaced.
    pub(crate) fn expanded<'a>(&self, word: &'a str, project: &Path) -> Cow<'a, str> {
        let mut word = Cow::Borrowed(word);
        for (name, path) in self.variables(project) {
            let written = format!("${{{name}}}");
            if word.contains(&written) {
                word = word.replace(&written, &path.to_string_lossy()).into();
            }
        }
        word
    }

    /// Returns a shell command with those variables replaced. If the shell may read the result differently,
    /// returns it unchanged.
    pub(crate) fn expanded_command<'a>(&self, text: &'a str, project: &Path) -> Cow<'a, str> {
        let mut expanded = Cow::Borrowed(text);
        if text.contains(['\'', '\\']) || text.contains("<<") {
            return expanded;
        }
        for (name, path) in self.variables(project) {
            let path = path.to_string_lossy();
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "/_.-".contains(c);
            if path.is_empty() || !path.chars().all(is_plain) {
                continue;
            }
            let mut parts = expanded.split(name);
            let mut replaced = parts.next().unwrap_or_default().to_owned();
            for after in parts {
                let Some(at) = value_ends(&mut replaced, after) else {
                    // The command may set the variable to another value.
                    return Cow::Borrowed(text);
                };
                replaced.push_str(&path);
                replaced.push_str(&after[at..]);
            }
            expanded = Cow::Owned(replaced);
        }
        expanded
    }

    pub(crate) fn to_json(&self) -> Value {
        let root = self.plugin_root.as_ref();
        let members = [
            ("name", Some(json!(self.dialect.as_str()))),
            ("event", Some(json!(self.event.name))),
            ("matcher", self.matcher().map(Value::from)),
            ("if", self.condition().map(|rule| json!(rule.as_str()))),
            ("plugin_root", root.map(|it| json!(it.to_string_lossy()))),
            (
                "status_message",
                self.status_message.as_deref().map(Value::from),
            ),
            (
                "async_rewake",
                self.async_rewake.then_some(Value::Bool(true)),
            ),
        ];
        let present = members.into_iter();
        let present = present.filter_map(|(key, value)| Some((key.to_owned(), value?)));
        Value::Object(present.collect::<Map<_, _>>())
    }
}

/// Removes the `$` or `${` before a variable's name. Returns the index in `after` where the text after the
/// variable begins.
fn value_ends(before: &mut String, after: &str) -> Option<usize> {
    if before.ends_with("${") && after.starts_with('}') {
        before.truncate(before.len() - 2);
        return Some(1);
    }
    let goes_on = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if before.ends_with('$') && !after.starts_with(goes_on) {
        before.pop();
        return Some(0);
    }
    None
}

/// Reads the key `dialect` of an entry.
pub(super) fn foreign(entry: &Entry) -> Result<Option<Foreign>, HookError> {
    let entry = match get(entry, "dialect") {
        None => return Ok(None),
        Some(Value::Object(entry)) => entry,
        Some(other) => return Err(wrong_type("dialect", "an object", other)),
    };
    read(entry).map(Some).map_err(below_dialect)
}

fn read(entry: &Entry) -> Result<Foreign, HookError> {
    let dialects = &[Dialect::Claude, Dialect::Codex, Dialect::Gemini];
    let dialect = require(choice(entry, "name", dialects)?, "name")?;
    let name = require(text(entry, "event")?, "event")?;
    let Some(event) = dialects::event(dialect, name) else {
        let expected = format!("an event of `{dialect}`");
        return Err(unexpected("event", expected, format!("`{name}`")));
    };
    let matcher = text(entry, "matcher")?.unwrap_or_default();
    let mut foreign = Foreign::new(dialect, event, matcher);
    foreign.condition = text(entry, "if")?.map(Rule::new);
    foreign.plugin_root = text(entry, "plugin_root")?.map(PathBuf::from);
    foreign.status_message = text(entry, "status_message")?.map(str::to_owned);
    foreign.async_rewake = switch(entry, "async_rewake")?.unwrap_or(false);
    Ok(foreign)
}

fn below_dialect(error: HookError) -> HookError {
    match error {
        HookError::Key(mut error) => {
            error.key = format!("dialect.{}", error.key);
            HookError::Key(error)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::hook::Hook;

    #[track_caller]
    fn case(dialect: Dialect, event: &str, matcher: &str, subject: &str, expected: bool) {
        let event = dialects::event(dialect, event).unwrap();
        let foreign = Foreign::new(dialect, event, matcher);
        let fired = match event.subject {
            Subject::Data { key, .. } => HookEvent::session_start("s").with_data(key, subject),
            _ => HookEvent::tool_pre_execute(subject, json!({})),
        };
        assert_eq!(
            foreign.is_met(&fired),
            expected,
            "{dialect} {matcher} {subject}"
        );
    }

    #[test]
    fn matchers_are_read_as_each_tool_reads_them() {
        use Dialect::{Claude, Codex, Gemini};
        for (matcher, tool, expected) in [
            ("", "bash", true),
            ("*", "x", true),
            ("Bash", "bash", true),
            ("Bash", "BashOutput", false),
            ("bash", "bash", false),
            ("Edit|Write", "write", true),
            ("Edit, Write", "Write", true),
            ("Edit.*", "NotebookEdit", true),
            ("^Edit$", "NotebookEdit", false),
            ("mcp__memory", "mcp__memory__x", false),
            ("mcp__memory__.*", "mcp__memory__x", true),
            ("Bash(git *)", "bash", false),
            ("Task", "Agent", true),
        ] {
            case(Claude, "PreToolUse", matcher, tool, expected);
        }
        case(Claude, "SessionStart", "startup|resume", "resume", true);
        case(Claude, "SessionStart", "startup|resume", "clear", false);
        case(Claude, "Stop", "anything", "x", true);
        case(Codex, "PreToolUse", "Edit|Write", "edit", true);
        case(Codex, "PreToolUse", "^apply_patch$", "write", true);
        let of_server = "mcp__my-server__read";
        case(Codex, "PreToolUse", "mcp__my-server", of_server, true);
        case(Claude, "PreToolUse", "mcp__my-server", of_server, false);
        case(Codex, "SessionStart", "start-?up", "startup", true);
        case(
            Gemini,
            "BeforeTool",
            "write_file",
            "mcp_fs_write_file",
            true,
        );
        case(Gemini, "BeforeTool", "write_file|replace", "edit", true);
        case(Gemini, "SessionStart", "start.*", "startup", false);
        case(Gemini, "SessionStart", "startup", "startup", true);
    }

    #[test]
    fn a_missing_value_has_a_default() {
        let start = dialects::event(Dialect::Claude, "SessionStart").unwrap();
        let event = HookEvent::session_start("s");
        assert!(Foreign::new(Dialect::Claude, start, "startup").is_met(&event));
        assert!(!Foreign::new(Dialect::Claude, start, "resume").is_met(&event));
    }

    #[test]
    fn a_hook_of_another_tool_comes_back_the_same() {
        let entry = json!({"event": "tool:pre_execute", "command": "x", "dialect": {
            "name": "claude", "event": "PreToolUse", "matcher": "Edit.*", "if": "Edit(*.ts)",
            "plugin_root": "/p", "status_message": "s", "async_rewake": true}});
        let hook = Hook::from_json(&entry).unwrap();
        assert_eq!(hook.dialect(), Dialect::Claude);
        assert_eq!(hook.to_json(), entry);
        assert_eq!(Hook::from_json(&hook.to_json()).unwrap(), hook);
        assert_ne!(hook, Hook::new("tool:pre_execute", "x").unwrap());
    }

    #[test]
    fn a_dialect_that_cannot_be_used_is_named() {
        for (dialect, expected) in [
            (
                json!("claude"),
                "`dialect`: expected an object, found a string",
            ),
            (json!({}), "`dialect.name`: the key is missing"),
            (
                json!({"name": "claude", "event": "X"}),
                "`dialect.event`: expected an event of `claude`, found `X`",
            ),
        ] {
            let entry = json!({"event": "*", "command": "x", "dialect": dialect});
            assert_eq!(Hook::from_json(&entry).unwrap_err().to_string(), expected);
        }
        let entry = json!({"event": "*", "command": "x",
            "dialect": {"name": "claude", "event": "PreToolUse", "matcher": "(?!x)"}});
        let error = Hook::from_json(&entry).unwrap_err().to_string();
        assert!(error.starts_with("`matcher`: `(?!x)` is not"), "{error}");
    }

    #[test]
    fn directories_are_put_into_plain_commands() {
        let event = dialects::event(Dialect::Claude, "Stop").unwrap();
        let mut foreign = Foreign::new(Dialect::Claude, event, "");
        foreign.plugin_root = Some("/pl".into());
        for (command, expected) in [
            ("\"$CLAUDE_PROJECT_DIR\"/a.sh x", "\"/p\"/a.sh x"),
            ("bash ${CLAUDE_PLUGIN_ROOT}/a.sh", "bash /pl/a.sh"),
            ("$CLAUDE_PROJECT_DIRS/a", "$CLAUDE_PROJECT_DIRS/a"),
            ("${CLAUDE_PROJECT_DIR:-.}/a", "${CLAUDE_PROJECT_DIR:-.}/a"),
            ("'$CLAUDE_PROJECT_DIR'/a", "'$CLAUDE_PROJECT_DIR'/a"),
            ("\\$CLAUDE_PROJECT_DIR/a", "\\$CLAUDE_PROJECT_DIR/a"),
            (
                "CLAUDE_PROJECT_DIR=x; $CLAUDE_PROJECT_DIR/a",
                "CLAUDE_PROJECT_DIR=x; $CLAUDE_PROJECT_DIR/a",
            ),
        ] {
            assert_eq!(foreign.expanded_command(command, Path::new("/p")), expected);
        }
        let spaced = foreign.expanded_command("$CLAUDE_PROJECT_DIR/a", Path::new("/a b"));
        assert_eq!(spaced, "$CLAUDE_PROJECT_DIR/a");
    }

    #[test]
    fn directories_are_put_into_args() {
        let event = dialects::event(Dialect::Claude, "Stop").unwrap();
        let mut foreign = Foreign::new(Dialect::Claude, event, "");
        foreign.plugin_root = Some("/a b".into());
        let expanded = foreign.expanded("${CLAUDE_PLUGIN_ROOT}/x ${OTHER}", Path::new("/p"));
        assert_eq!(expanded, "/a b/x ${OTHER}");
    }
}
