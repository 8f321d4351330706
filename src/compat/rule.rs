//! Claude Code's `if`: one permission rule, as in `Bash(git push *)`. The test here may match more than the
//! tool's own test, never less: the hook itself checks again.
//!
//! Knows the tool's names for its tools and their arguments; does not parse commands.

use std::path::Path;

use serde_json::{Map, Value};

use super::input::session_dir;
use super::matcher::{Expression, SharedAllowance};
use crate::events::HookEvent;

/// Groups of tools: a rule for one of them applies to all.
const FAMILIES: [&[&str]; 3] = [
    &["Edit", "Write", "MultiEdit", "NotebookEdit"],
    &["Read", "Grep", "Glob", "LS"],
    &["Task", "Agent"],
];

/// Tools that search below a directory, in which any file may be.
const SEARCHES: [&str; 3] = ["Grep", "Glob", "LS"];

/// The arguments that may contain a path.
const PATHS: &[&str] = &["file_path", "path", "notebook_path"];

#[derive(Debug, Clone)]
pub(super) struct Rule {
    text: Box<str>,
    /// None if the text is not a rule: then it applies to every tool.
    tool: Option<Box<str>>,
    argument: Option<Argument>,
    is_understood: bool,
}

#[derive(Debug, Clone)]
struct Argument {
    /// The arguments that may contain the text that the rule is tested against.
    keys: &'static [&'static str],
    pattern: Expression,
}

impl Rule {
    pub(super) fn new(text: &str, allowance: &SharedAllowance) -> Self {
        let rule = text.trim();
        let (tool, argument) = match rule.split_once('(') {
            None => (rule, None),
            Some((tool, rest)) => (tool, rest.strip_suffix(')')),
        };
        let is_rule = is_tool(tool) && argument.is_some() == rule.contains('(');
        let pattern = argument.filter(|_| is_rule).map(str::trim);
        let argument = pattern.and_then(|it| Argument::new(tool, it, allowance));
        Self {
            text: text.into(),
            tool: is_rule.then(|| tool.into()),
            is_understood: is_rule && argument.is_some() == pattern.is_some(),
            argument,
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns why the rule matches more than the tool lets it match.
    pub(super) fn misunderstood(&self) -> Option<&'static str> {
        match (&self.tool, self.is_understood) {
            (_, true) => None,
            (None, _) => {
                Some("not a rule such as `Bash(git *)`: it is ignored, and the hook always runs")
            }
            (Some(_), _) => Some(
                "the text in brackets is not understood: the hook runs on each call of the tool",
            ),
        }
    }

    /// Returns why the text in brackets cannot be tested, so that the rule matches each call of the tool.
    pub(super) fn untested(&self) -> Option<&str> {
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
            None if is_server_of(named, tool) => true,
            None => **named == *tool || FAMILIES.iter().any(|family| is_together(&family)),
        };
        is_meant
            && self
                .argument
                .as_ref()
                .is_none_or(|it| it.is_met(tool, event))
    }
}

/// Whether a rule names the server of a tool.
fn is_server_of(named: &str, tool: &str) -> bool {
    let rest = tool.strip_prefix(named);
    named.starts_with("mcp__") && rest.is_some_and(|it| it.starts_with("__"))
}

/// Whether this may be the name of a tool in a rule: with a capital, as the tool's own, or of a server.
fn is_tool(name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_-*".contains(c);
    let is_of_server = name.starts_with("mcp__") || name == "*";
    let is_own = name.starts_with(char::is_uppercase) && !name.contains('*');
    name.chars().all(is_part) && (is_of_server || is_own)
}

impl Argument {
    fn new(tool: &str, pattern: &str, allowance: &SharedAllowance) -> Option<Self> {
        let (keys, expression): (&[&str], String) = match tool {
            "Bash" | "PowerShell" => (&["command"], command(pattern)),
            "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "Read" => (PATHS, path(pattern)),
            "WebFetch" => {
                let domain = pattern.strip_prefix("domain:")?.trim();
                let domain = regex::escape(domain.trim_start_matches("*."));
                (&["url"], domain.replace(r"\*", ".*"))
            }
            _ => return None,
        };
        Some(Self {
            keys,
            // Names of programs, files and hosts in other letters may be the same ones.
            pattern: Expression::new(format!("(?si){expression}"), allowance),
        })
    }

    /// Tests the arguments. One that is too long counts as matched, and so does a call without any.
    fn is_met(&self, tool: &str, event: &HookEvent) -> bool {
        let is_path = self.keys == PATHS;
        if is_path && SEARCHES.contains(&tool) {
            return true;
        }
        let named = |args: &Map<String, Value>| {
            let keys = self.keys.iter();
            let texts = keys.filter_map(|key| Some(args.get(*key)?.as_str()?.to_owned()));
            texts.collect()
        };
        let texts: Vec<String> = match event.data.get("tool_args") {
            Some(Value::Object(args)) => named(args),
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(args) => named(&args),
                Err(_) if self.keys.contains(&"command") => vec![text.clone()],
                Err(_) => Vec::new(),
            },
            _ => Vec::new(),
        };
        let is_met = |text: &String| {
            self.is_met_by(text) || is_path && self.is_met_by_relative(text, session_dir(event))
        };
        texts.is_empty() || texts.iter().any(is_met)
    }

    /// Tests a path that is relative to this directory. One that cannot be resolved counts as matched.
    fn is_met_by_relative(&self, path: &str, directory: Option<&Path>) -> bool {
        if is_absolute(path) {
            return false;
        }
        let directory = directory.and_then(Path::to_str);
        let directory = directory.filter(|it| is_absolute(it) && !path.starts_with('~'));
        directory.is_none_or(|it| self.is_met_by(&format!("{it}/{path}")))
    }

    fn is_met_by(&self, text: &str) -> bool {
        // A line may be continued, also within a word.
        let joined = || text.replace("\\\n", "");
        let unquoted = || joined().replace(['\'', '"', '\\'], "");
        let is_met = |text: &str| self.pattern.matches(text);
        is_met(text) || is_met(&unquoted()) || is_met(&normal(text, &['/', '\\']))
    }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || path.get(1..2) == Some(":")
}

/// Returns a path without empty parts, `.` and `..`.
fn normal(path: &str, separators: &[char]) -> String {
    let mut parts = Vec::new();
    for part in path.split(separators) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Matches anywhere in the command: it may be one of several, or follow variables.
fn command(pattern: &str) -> String {
    let pattern = match pattern.strip_suffix(":*") {
        Some(start) => format!("{start} *"),
        None => pattern.to_owned(),
    };
    let (body, end) = match pattern.strip_suffix(" *") {
        Some(body) => (body, r"(?:[^\w-]|$)"),
        None if pattern.ends_with('*') => (pattern.as_str(), ""),
        None => (pattern.as_str(), r"(?:[^\w-]|$)"),
    };
    let mut expression = r"(?:^|[^\w.-])".to_owned();
    let mut characters = body.trim().chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '*' => expression.push_str(".*"),
            '\\' => expression.push_str(&literal(characters.next().unwrap_or('\\'))),
            // Words may have more space between them, and none beside a `*`.
            c if c.is_whitespace() => match characters.peek() {
                Some(next) if next.is_whitespace() => {}
                Some('*') => expression.push_str(r"\s*"),
                _ if expression.ends_with(".*") => {}
                _ => expression.push_str(r"\s+"),
            },
            c => expression.push_str(&literal(c)),
        }
    }
    expression + end
}

fn literal(c: char) -> String {
    regex::escape(c.encode_utf8(&mut [0; 4]))
}

/// Matches below any directory.
fn path(pattern: &str) -> String {
    // A backslash escapes what is behind it.
    let pattern = normal(pattern.trim_start_matches('~'), &['/']);
    if pattern.is_empty() {
        return String::new();
    }
    let pattern = pattern.replace("**/", "**");
    let mut expression = r"(?:^|[/\\])".to_owned();
    let mut at = 0;
    while let Some(c) = pattern[at..].chars().next() {
        let (translated, length) = match c {
            '*' => (".*".to_owned(), 1),
            '?' => (".".to_owned(), 1),
            '\\' => match pattern[at + 1..].chars().next() {
                Some(escaped) => (literal(escaped), 1 + escaped.len_utf8()),
                None => (String::new(), 1),
            },
            '[' => set(&pattern[at..]),
            c => (literal(c), c.len_utf8()),
        };
        expression.push_str(&translated);
        at += length;
    }
    expression + r"(?:$|[/\\])"
}

/// Translates the set at the beginning, such as `[jt]`, and returns its length. It may also be a name with brackets. Where
/// it is not certain what the set contains, anything matches.
fn set(text: &str) -> (String, usize) {
    let mut ends = text.char_indices().skip(2);
    let Some((end, _)) = ends.find(|(_, c)| *c == ']') else {
        return (literal('['), 1);
    };
    let inner = &text[1..end];
    if inner.contains(['\\', '[']) {
        // The bracket may be a member, or end a class such as `[:alpha:]`, and the set longer.
        return (".*".to_owned(), text.len());
    }
    let (negation, inner) = match inner.strip_prefix(['!', '^']) {
        Some(others) => ("^", others),
        None => ("", inner),
    };
    let Some(members) = members(inner) else {
        return (".*".to_owned(), end + 1);
    };
    let whole = regex::escape(&text[..=end]);
    (format!("(?:[{negation}{members}]|{whole})"), end + 1)
}

/// Translates single characters, and ranges of letters or digits. None for anything else.
fn members(text: &str) -> Option<String> {
    let mut translated = String::new();
    let mut characters = text.chars().peekable();
    while let Some(from) = characters.next() {
        translated += &literal(from);
        if characters.next_if_eq(&'-').is_some() {
            let to = characters.next().filter(|to| from <= *to)?;
            if !from.is_alphanumeric() || !to.is_alphanumeric() {
                return None;
            }
            translated += &format!("-{to}");
        }
    }
    (!translated.is_empty() && !text.contains("[:")).then_some(translated)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::events::HostContext;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 6, ..ProptestConfig::default() })]

        /// A rule that could not be compiled would match each call.
        #[test]
        fn every_rule_can_be_tested(text in r"[a-c\[\]!^:&~*?./\\ \-ä]{0,20}") {
            for tool in ["Edit", "Bash"] {
                let rule = Rule::new(&format!("{tool}({text})"), &SharedAllowance::default());
                prop_assert_eq!(rule.untested(), None);
            }
        }
    }

    #[track_caller]
    fn case(rule: &str, tool: &str, args: Value, expected: bool) {
        case_in("/work", rule, tool, args, expected);
    }

    fn event_in(cwd: &str, tool: &str, args: Value) -> HookEvent {
        let context = Arc::new(HostContext::new().with_cwd(cwd));
        HookEvent::tool_pre_execute(tool, args).with_context(context)
    }

    #[track_caller]
    fn case_in(cwd: &str, rule: &str, tool: &str, args: Value, expected: bool) {
        let event = event_in(cwd, tool, args.clone());
        let read = Rule::new(rule, &SharedAllowance::default());
        assert_eq!(read.untested(), None);
        assert_eq!(read.is_met(tool, &event), expected, "{rule} {args}");
    }

    /// A rule, what it matches, and what it does not. `⏎` is a line break.
    const COMMANDS: &str = r#"
Bash(git push *) == git push origin main | git push | git pu\⏎sh x != git pushx | git status
Bash(git push:*) == cd x && git  push != none
Bash(rm *) == cd x && rm y | A=1 r'm' y | echo $(rm x) | /bin/rm x | RM x != confirm x | rm-it x
Bash(npm*test) == npm run test != none
Bash(ls) == ls != lsof
Bash(ls*) == lsof != none
Bash(*) == anything != none
Bash == anything != none
Bash(git == anything != none
 == anything != none
Edit(*.ts) == none != anything
Bash(rm*) == rm x | ls; rmdir x != ls
Bash(git * main) == git push main != git push dev
Bash(test \[ *) == test [ a != none
Bash(echo \(x\)) == echo (x) != none
rm* == anything != none
rm * == anything != none
bash(rm *) == anything != none
Git* == anything != none
"#;

    /// The same for a file that is written.
    const FILES: &str = r#"
Edit(*.ts) == /work/src/a.ts != /work/src/a.tsx
Edit(src/**) == /work/src/a/b.rs | ~/a.rs != none
Edit(/src/**/*.rs) == /work/src/b.rs != none
Edit(./src/*) == src/b.rs != none
Edit(~/.ssh/**) == /home/me/.ssh/id != none
Edit(.env) == /work/.env != /work/env
Read(*.ts) == none != /work/src/a.ts
Edit(src/a.rs) == src//a.rs | ./src/./a.rs | src/x/../a.rs | SRC/A.rs | src\x\..\a.rs != src/x/../b.rs
Edit(./src//x/../a.rs) == src/a.rs != none
Edit(*.[jt]s) == a.ts != a.rs
Edit(*.[!jt]s) == a.rs != a.ts
Edit([a-c].rs) == b.rs != d.rs
Edit(app/[id]/a.ts) == app/[id]/a.ts != none
Edit(app/\[id\]/a.ts) == app/[id]/a.ts != app/i/a.ts
Edit([) == [ != none
Edit([c-a].rs) == b.rs != none
Edit([a--b].rs) == z.rs != none
Edit([-a].rs) == -.rs != none
Edit([\]x].rs) == ].rs != none
Edit(rm*) == x/rmdir != none
Edit(..) == a != none
Edit(src/[[:alpha:]]x) == src/bx != none
Edit(//work/src/a.rs) == src/a.rs != src/b.rs
Edit(work/**) == a.rs != none
"#;

    /// Each rule is compiled once.
    #[track_caller]
    fn cases(table: &str, tool: &str, key: &str) {
        for row in table.trim_matches('\n').lines() {
            let (rule, values) = row.split_once(" == ").unwrap();
            let (met, others) = values.split_once(" != ").unwrap();
            let read = Rule::new(rule, &SharedAllowance::default());
            assert_eq!(read.untested(), None);
            for (values, expected) in [(met, true), (others, false)] {
                for value in values.split(" | ").filter(|it| *it != "none") {
                    let args = json!({key: value.replace('⏎', "\n")});
                    let event = event_in("/work", tool, args);
                    assert_eq!(read.is_met(tool, &event), expected, "{rule} {value}");
                }
            }
        }
    }

    #[test]
    fn a_rule_for_a_command_matches_its_parts() {
        cases(COMMANDS, "Bash", "command");
        case("Bash(rm *)", "Bash", json!({"cmd": "ls"}), true);
        case("Bash(rm *)", "Bash", json!("ls"), false);
        let text = |command| json!(json!({"command": command, "x": "rm y"}).to_string());
        case("Bash(rm *)", "Bash", text("rm z"), true);
        case("Bash(rm *)", "Bash", text("ls"), false);
    }

    #[test]
    fn a_file_rule_matches_in_any_directory() {
        cases(FILES, "Write", "file_path");
        let text = json!(r#"{"file_path": "/work/a.ts"}"#);
        case("Edit(*.ts)", "Write", text, true);
        case("Edit(*.ts)", "Write", json!("not an object"), true);
        case("mcp__a__*", "mcp__a__b", json!({}), true);
        case("mcp__a", "mcp__a__b", json!({}), true);
        case("mcp__a", "mcp__ab__c", json!({}), false);
        let here = || json!({"path": "."});
        case("Read(./secrets/**)", "Glob", here(), true);
        case("Edit(./secrets/**)", "Glob", here(), false);
        let unresolved = || json!({"file_path": "a.rs"});
        case_in("", "Edit(src/**)", "Write", unresolved(), true);
        case_in("/p/src", "Edit(src/**)", "Write", unresolved(), true);
        case_in("/p/lib", "Edit(src/**)", "Write", unresolved(), false);
        let url = json!({"url": "https://EXAMPLE.com/x"});
        for (domain, expected) in [
            ("example.com", true),
            ("*", true),
            ("example.*", true),
            ("ex*.com", true),
            (" example.com", true),
            ("*.example.com", true),
            ("other.com", false),
        ] {
            let rule = format!("WebFetch(domain:{domain})");
            case(&rule, "WebFetch", url.clone(), expected);
        }
    }
}
