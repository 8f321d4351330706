//! Claude Code's `if`: one permission rule, as in `Bash(git push *)`. The test here may match more than the
//! tool's own test, never less: the hook itself checks again.
//!
//! Knows the tool's names for its tools and their arguments; does not parse commands.

use serde_json::{Map, Value};

use super::matcher::{Expression, SharedAllowance};
use crate::events::HookEvent;

/// Groups of tools: a rule for one of them applies to all.
const FAMILIES: [&[&str]; 3] = [
    &["Edit", "Write", "MultiEdit", "NotebookEdit"],
    &["Read", "Grep", "Glob", "LS"],
    &["Task", "Agent"],
];

#[derive(Debug, Clone)]
pub(super) struct Rule {
    text: Box<str>,
    /// None if the text is not a rule: then it applies to every tool.
    tool: Option<Box<str>>,
    argument: Option<Argument>,
}

#[derive(Debug, Clone)]
struct Argument {
    /// The arguments that may contain the text that the rule is tested against.
    keys: &'static [&'static str],
    pattern: Expression,
}

impl Rule {
    pub(super) fn new(text: &str, allowance: &SharedAllowance) -> Self {
        let (tool, argument) = match text.trim().split_once('(') {
            None => (text.trim(), None),
            Some((tool, rest)) => (tool, rest.strip_suffix(')')),
        };
        let is_tool = |c: char| c.is_alphanumeric() || "_-*".contains(c);
        let is_rule = !tool.is_empty() && tool.chars().all(is_tool);
        let is_rule = is_rule && argument.is_some() == text.contains('(');
        Self {
            text: text.into(),
            tool: is_rule.then(|| tool.into()),
            argument: argument.and_then(|it| Argument::new(tool, it.trim(), allowance)),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether the tool would accept the text as a rule.
    pub(super) fn is_rule(&self) -> bool {
        self.tool.is_some()
    }

    /// Returns why the rule cannot be used.
    pub(super) fn fault(&self) -> Option<&str> {
        self.argument.as_ref()?.pattern.fault()
    }

    /// Returns whether the hook must run for this tool, named as in the rule.
    pub(super) fn is_met(&self, tool: &str, event: &HookEvent) -> bool {
        let Some(named) = &self.tool else {
            return true;
        };
        let is_together = |family: &&&[&str]| family.contains(&&**named) && family.contains(&tool);
        let is_meant = match named.split_once('*') {
            Some((start, _)) => tool.starts_with(start),
            None => **named == *tool || FAMILIES.iter().any(|family| is_together(&family)),
        };
        is_meant && self.argument.as_ref().is_none_or(|it| it.is_met(event))
    }
}

impl Argument {
    fn new(tool: &str, pattern: &str, allowance: &SharedAllowance) -> Option<Self> {
        let (keys, expression): (&[&str], String) = match tool {
            "Bash" | "PowerShell" => (&["command"], command(pattern)),
            "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "Read" => {
                (&["file_path", "path", "notebook_path"], path(pattern))
            }
            "WebFetch" => {
                let domain = pattern.strip_prefix("domain:")?;
                (&["url"], regex::escape(domain.trim_start_matches("*.")))
            }
            _ => return None,
        };
        Some(Self {
            keys,
            pattern: Expression::new(expression, allowance),
        })
    }

    /// Tests the argument. One that is missing or too long counts as matched.
    fn is_met(&self, event: &HookEvent) -> bool {
        let named = |args: &Map<String, Value>| {
            let mut keys = self.keys.iter();
            keys.find_map(|key| args.get(*key)?.as_str().map(str::to_owned))
        };
        let text = match event.data.get("tool_args") {
            Some(Value::Object(args)) => named(args),
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(args) => named(&args),
                Err(_) => Some(text.clone()).filter(|_| self.keys.contains(&"command")),
            },
            _ => None,
        };
        let Some(text) = text else {
            return true;
        };
        let unquoted = || text.replace(['\'', '"', '\\'], "");
        self.pattern.matches(&text) || self.pattern.matches(&unquoted())
    }
}

/// Matches anywhere in the command: it may be one of several, or follow variables.
fn command(pattern: &str) -> String {
    let pattern = match pattern.strip_suffix(":*") {
        Some(start) => format!("{start} *"),
        None => pattern.to_owned(),
    };
    let (body, is_open) = match pattern.strip_suffix(" *") {
        Some(body) => (body, false),
        None => (pattern.as_str(), pattern.ends_with('*')),
    };
    let words = |text: &str| {
        let words: Vec<_> = text.split_whitespace().map(regex::escape).collect();
        words.join(r"\s+")
    };
    let pieces: Vec<_> = body.split('*').map(words).collect();
    let end = if is_open { "" } else { r"(?:[^\w-]|$)" };
    format!(r"(?s)(?:^|[^\w.-]){}{end}", pieces.join(".*"))
}

/// Matches below any directory.
fn path(pattern: &str) -> String {
    let start = pattern.trim_start_matches(['~', '.', '/']);
    // In `.env`, the dot belongs to the name.
    let start = match pattern.rfind(start) {
        Some(at) if at > 0 && pattern[..at].ends_with('.') => &pattern[at - 1..],
        _ => start,
    };
    let mut expression = r"(?s)(?:^|[/\\])".to_owned();
    for c in start.replace("**/", "**").chars() {
        match c {
            '*' => expression.push_str(".*"),
            '?' => expression.push('.'),
            other => expression.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    expression + r"(?:$|[/\\])"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn case(rule: &str, tool: &str, args: Value, expected: bool) {
        let event = HookEvent::tool_pre_execute(tool, args.clone());
        let read = Rule::new(rule, &SharedAllowance::default());
        assert_eq!(read.fault(), None);
        assert_eq!(read.is_met(tool, &event), expected, "{rule} {args}");
    }

    #[test]
    fn a_rule_for_a_command_matches_its_parts() {
        for (rule, command, expected) in [
            ("Bash(git push *)", "git push origin main", true),
            ("Bash(git push *)", "git push", true),
            ("Bash(git push *)", "git pushx", false),
            ("Bash(git push *)", "git status", false),
            ("Bash(git push:*)", "cd x && git  push", true),
            ("Bash(rm *)", "cd x && rm y", true),
            ("Bash(rm *)", "A=1 r'm' y", true),
            ("Bash(rm *)", "echo $(rm x)", true),
            ("Bash(rm *)", "/bin/rm x", true),
            ("Bash(rm *)", "confirm x", false),
            ("Bash(rm *)", "rm-it x", false),
            ("Bash(npm*test)", "npm run test", true),
            ("Bash(ls)", "ls", true),
            ("Bash(ls)", "lsof", false),
            ("Bash(ls*)", "lsof", true),
            ("Bash(*)", "anything", true),
            ("Bash", "anything", true),
            ("Bash(git", "anything", true),
            ("", "anything", true),
            ("Edit(*.ts)", "anything", false),
        ] {
            case(rule, "Bash", json!({"command": command}), expected);
        }
        case("Bash(rm *)", "Bash", json!({"cmd": "ls"}), true);
        case("Bash(rm *)", "Bash", json!("ls"), false);
        let text = |command| json!(json!({"command": command, "x": "rm y"}).to_string());
        case("Bash(rm *)", "Bash", text("rm z"), true);
        case("Bash(rm *)", "Bash", text("ls"), false);
    }

    #[test]
    fn a_file_rule_matches_in_any_directory() {
        for (rule, path, expected) in [
            ("Edit(*.ts)", "/work/src/a.ts", true),
            ("Edit(*.ts)", "/work/src/a.tsx", false),
            ("Edit(src/**)", "/work/src/a/b.rs", true),
            ("Edit(/src/**/*.rs)", "/work/src/b.rs", true),
            ("Edit(./src/*)", "src/b.rs", true),
            ("Edit(~/.ssh/**)", "/home/me/.ssh/id", true),
            ("Edit(.env)", "/work/.env", true),
            ("Edit(.env)", "/work/env", false),
            ("Read(*.ts)", "/work/src/a.ts", false),
        ] {
            case(rule, "Write", json!({"file_path": path}), expected);
        }
        case(
            "Edit(*.ts)",
            "Write",
            json!(r#"{"file_path": "/work/a.ts"}"#),
            true,
        );
        case("Edit(*.ts)", "Write", json!("not an object"), true);
        case("mcp__a__*", "mcp__a__b", json!({}), true);
        case("mcp__a", "mcp__a__b", json!({}), false);
        let url = json!({"url": "https://example.com/x"});
        case(
            "WebFetch(domain:example.com)",
            "WebFetch",
            url.clone(),
            true,
        );
        case("WebFetch(domain:other.com)", "WebFetch", url, false);
    }
}
