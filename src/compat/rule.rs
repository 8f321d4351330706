//! Claude Code's `if`: one permission rule, as in `Bash(git push *)`.
//!
//! A rule is met if its text without wildcards occurs in the argument, in this order, and not within words. In a shell
//! command, it must begin one of the commands that run. A rule may be met more often than the tool's own test, never less:
//! the hook itself checks again. Reads no language of shells itself.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::command::{Answer, Commands};
use crate::events::HookEvent;
use crate::json;

/// Groups of tools: a rule for one of them applies to all.
const FAMILIES: [&[&str]; 3] = [
    &["Edit", "Write", "MultiEdit", "NotebookEdit"],
    &["Read", "Grep", "Glob", "LS"],
    &["Task", "Agent"],
];

/// Tools that search below a directory, which may contain any file.
const SEARCHES: [&str; 3] = ["Grep", "Glob", "LS"];

/// The arguments that may contain a path.
const PATHS: &[&str] = &["file_path", "path", "notebook_path"];

const URLS: &[&str] = &["url"];

/// The most bytes of a rule that is understood.
const LONGEST_RULE: usize = 1024;

/// The most bytes of an argument that is searched, since the host waits. The limit is that of a condition in hooks.json.
const LONGEST_ARGUMENT: usize = 16 * 1024;

#[derive(Debug, Clone)]
pub(crate) struct Rule {
    text: Box<str>,
    /// The tool. None if the text is not a rule: then it applies to every tool.
    tool: Option<Box<str>>,
    argument: Option<Argument>,
    is_understood: bool,
}

#[derive(Debug, Clone)]
struct Argument {
    /// The arguments that may contain the text that the rule is tested against.
    keys: &'static [&'static str],
    /// The texts between wildcards.
    pieces: Vec<String>,
}

impl Rule {
    pub(crate) fn new(text: &str) -> Self {
        let rule = text.trim();
        let (tool, argument) = match rule.split_once('(') {
            None => (rule, None),
            Some((tool, rest)) => (tool, rest.strip_suffix(')')),
        };
        let is_whole = argument.is_some() == rule.contains('(');
        let is_rule = is_tool(tool) && is_whole && argument.is_none_or(closes_what_it_opens);
        let pattern = argument.filter(|_| is_rule).map(str::trim);
        let argument = pattern.and_then(|pattern| Argument::new(tool, pattern));
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

    /// Returns the reason why the rule matches more than in the tool.
    pub(crate) fn misunderstood(&self) -> Option<&'static str> {
        Some(match self.tool {
            _ if self.is_understood => return None,
            None => "not one rule such as `Bash(git *)`: it is ignored, and the hook always runs",
            _ => "the text in brackets is not understood: the hook runs on each call of the tool",
        })
    }

    /// Returns whether the hook must run for this tool and its arguments, both named as in the rule.
    pub(super) fn is_met(&self, tool: &str, called: Option<&Value>, event: &HookEvent) -> bool {
        let Some(named) = &self.tool else {
            return true;
        };
        let is_together = |family: &&[&str]| family.contains(&&**named) && family.contains(&tool);
        let is_meant = match named.split_once('*') {
            Some((start, _)) => tool.starts_with(start),
            None if is_server_of(named, tool) => true,
            None => **named == *tool || FAMILIES.iter().any(is_together),
        };
        let mut argument = self.argument.iter();
        is_meant && argument.all(|argument| argument.is_met(tool, called, event))
    }
}

/// Returns the directory of the session, if the host sets it.
pub(super) fn session_dir(event: &HookEvent) -> Option<&Path> {
    let cwd = event.context()?.field("cwd")?;
    cwd.as_str().map(Path::new)
}

/// Returns whether a rule names the server of a tool.
fn is_server_of(named: &str, tool: &str) -> bool {
    let rest = tool.strip_prefix(named);
    named.starts_with("mcp__") && rest.is_some_and(|rest| rest.starts_with("__"))
}

/// Returns whether this may be the name of a tool in a rule: with a capital, in the form of the tool's own name, or that of
/// a server.
fn is_tool(name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_-*".contains(c);
    let is_of_server = name.starts_with("mcp__") || name == "*";
    let is_own = name.starts_with(char::is_uppercase) && !name.contains('*');
    name.chars().all(is_part) && (is_of_server || is_own)
}

/// Returns whether no bracket closes before it opens, as in `Bash(rm *)|Edit(x)`, which is two rules. `\(` is not a bracket.
fn closes_what_it_opens(argument: &str) -> bool {
    let (mut open, mut is_escaped) = (0, false);
    argument.chars().all(|c| {
        match c {
            _ if is_escaped => {}
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
        open >= 0
    })
}

impl Argument {
    /// Reads the text of a rule. Returns None if it is not understood.
    fn new(tool: &str, text: &str) -> Option<Self> {
        let (keys, pattern): (&[&str], String) = match tool {
            _ if text.len() > LONGEST_RULE => return None,
            "Bash" | "PowerShell" => {
                let text = text.strip_suffix(":*").unwrap_or(text);
                let text = text.strip_suffix(" *").unwrap_or(text);
                (&["command"], plain(text))
            }
            "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "Read" => {
                let path = normal(&without_sets(text.trim_start_matches('~')), &['/']);
                (PATHS, plain(&path.replace("**/", "*")))
            }
            "WebFetch" => {
                let domain = text.strip_prefix("domain:")?.trim();
                let domain = domain.trim_start_matches("*.").to_lowercase();
                if !domain.is_ascii() {
                    return None;
                }
                (URLS, format!("*{domain}*"))
            }
            _ => return None,
        };
        let pattern = if pattern.is_empty() { "*" } else { &pattern };
        let pieces = pattern.split(['*', '?']);
        let pieces = pieces.map(|piece| piece.trim().to_owned()).collect();
        Some(Self { keys, pieces })
    }

    /// Tests the arguments. An argument that is too long counts as matched, and so does a call without any.
    fn is_met(&self, tool: &str, called: Option<&Value>, event: &HookEvent) -> bool {
        let is_path = self.keys == PATHS;
        if is_path && SEARCHES.contains(&tool) {
            return true;
        }
        let named = |args: &Map<String, Value>| {
            let texts = self.keys.iter().filter_map(|key| args.get(*key)?.as_str());
            texts.map(str::to_owned).collect()
        };
        let texts: Vec<String> = match called {
            Some(Value::Object(args)) => named(args),
            Some(Value::String(text)) => match json::read(text) {
                Ok(args) => named(&args),
                Err(_) if self.keys.contains(&"command") => vec![text.clone()],
                Err(_) => Vec::new(),
            },
            _ => Vec::new(),
        };
        let is_met = |text: &String| {
            if is_path {
                self.is_met_by_path(text, session_dir(event))
            } else if tool == "Bash" {
                self.is_met_by_command(text)
            } else {
                self.is_met_by(text) || self.keys == URLS && !has_plain_host(text)
            }
        };
        texts.is_empty() || texts.iter().any(is_met)
    }

    /// Tests a text for a shell, and each command in it. What could not be read counts as matched.
    fn is_met_by_command(&self, text: &str) -> bool {
        if text.len() > LONGEST_ARGUMENT || self.begins(&plain(text)) {
            return true;
        }
        let commands = Commands::read(text);
        let is_read = commands.unread() == Answer::No;
        !is_read || commands.in_lines().any(|line| self.is_met_by_line(&line))
    }

    fn is_met_by_line(&self, line: &str) -> bool {
        let (text, first) = (plain(line.trim_end_matches('\0')), &self.pieces[0]);
        // An unknown end may be the rest of the rule.
        let may_go_on =
            || first.starts_with(&text) || self.pieces.len() > 1 && text.starts_with(first);
        self.begins(&text) || line.ends_with('\0') && may_go_on()
    }

    /// Tests a path in this directory, and the targets of its links. A path that cannot be resolved counts as matched.
    fn is_met_by_path(&self, path: &str, directory: Option<&Path>) -> bool {
        let whole = directory.unwrap_or(Path::new("")).join(path);
        if !whole.is_absolute() || path.starts_with('~') {
            return true;
        }
        let is_met = |path: &Path| {
            let text = path.to_string_lossy();
            // In a rule, `C:\x` may also be `//c/x`.
            self.is_met_by(&text) || self.is_met_by(&text.replacen(':', "", 1))
        };
        is_met(&whole) || real(&whole).is_none_or(|real| is_met(&real))
    }

    /// Tests a text with its backslashes as escapes, and as separators of a path.
    fn is_met_by(&self, text: &str) -> bool {
        if text.len() > LONGEST_ARGUMENT || self.is_in(&plain(text)) {
            return true;
        }
        // Without such characters, all forms are the same.
        let has_backslash = text.contains('\\');
        let is_path = has_backslash || text.contains('/');
        has_backslash && self.is_in(&plain(&text.replace('\\', "/")))
            || is_path && self.is_in(&plain(&normal(text, &['/'])))
            || has_backslash && self.is_in(&plain(&normal(text, &['/', '\\'])))
    }

    /// Returns whether the pieces occur in this order, the first one at the beginning.
    fn begins(&self, text: &str) -> bool {
        text.starts_with(&self.pieces[0]) && self.is_in(text)
    }

    /// Returns whether the pieces occur in this order. The first piece must begin a word, and the last one must end one.
    fn is_in(&self, text: &str) -> bool {
        let (mut from, last) = (0, self.pieces.len() - 1);
        for (index, piece) in self.pieces.iter().enumerate() {
            let is_found = |at: &usize| {
                let after = text[*at..].strip_prefix(piece.as_str());
                let begins = index > 0 || !text[..*at].ends_with(is_of_word);
                let ends = |after: &str| index < last || !after.starts_with(is_of_word);
                begins && after.is_some_and(ends)
            };
            let mut places = (from..=text.len()).filter(|at| text.is_char_boundary(*at));
            let Some(at) = places.find(is_found) else {
                return false;
            };
            from = at + piece.len();
        }
        true
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || "_.-".contains(c)
}

/// Returns a text in lower case, without quotes, backslashes and continued lines, and with one blank between words: names of
/// programs, files and hosts in other letters may be the same ones.
fn plain(text: &str) -> String {
    let text = text.replace("\\\n", "").replace(['\'', '"', '\\'], "");
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// Returns whether the host of a URL is written in the form of a rule. There are other spellings, which a browser reads as
/// the same host (<https://url.spec.whatwg.org/#host-parsing>): `%65xample.com`, a tab within, full-width letters, `127.1`.
fn has_plain_host(url: &str) -> bool {
    let rest = url.trim().split_once("://").and_then(|(scheme, rest)| {
        let is_web = ["http", "https"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known));
        is_web.then_some(rest)
    });
    let Some(rest) = rest else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    let is_name =
        host.starts_with(|c: char| c.is_ascii_alphanumeric()) && host.chars().all(is_plain);
    let last = host
        .trim_end_matches('.')
        .rsplit('.')
        .next()
        .unwrap_or_default();
    // A last part of this form makes the host the number of an address, of which there are many spellings.
    let is_number = last.starts_with(|c: char| c.is_ascii_digit());
    let is_address = host.parse::<Ipv4Addr>().is_ok();
    is_name && (!is_number || is_address) && port.chars().all(|c| c.is_ascii_digit())
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

/// Returns a path without links, whose end need not exist; none if a link has no target.
fn real(path: &Path) -> Option<PathBuf> {
    let mut above = path.ancestors();
    let there = above.find(|path| path.symlink_metadata().is_ok())?;
    let rest = path.strip_prefix(there).ok()?;
    Some(there.canonicalize().ok()?.join(rest))
}

/// Returns a path with a wildcard for the part from the first set, such as `[jt]`, to the end of the last one. A set may
/// also be a name with brackets.
fn without_sets(path: &str) -> String {
    let Some((before, rest)) = path.split_once('[') else {
        return path.to_owned();
    };
    let after = rest.rsplit_once(']').map_or("", |(_, after)| after);
    format!("{before}*{after}")
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

        /// The tool's own test is exact.
        #[test]
        fn a_rule_is_met_by_its_own_text(text in r"[a-cA\[\]!^:&~*?./\\ \-'ä]{0,20}") {
            for (tool, key) in [("Edit", "file_path"), ("Bash", "command")] {
                let rule = format!("{tool}({text})");
                let event = HookEvent::tool_pre_execute(tool, json!({key: text}));
                prop_assert!(Rule::new(&rule).is_met(tool, event.data.get("tool_args"), &event));
            }
        }
    }

    #[track_caller]
    fn case(rule: &str, tool: &str, args: Value, expected: bool) {
        case_in("/work", rule, tool, args, expected);
    }

    fn event_in(cwd: &str, tool: &str, args: Value) -> HookEvent {
        let drive = if cfg!(windows) { "C:" } else { "" };
        let cwd = match cwd {
            "" => String::new(),
            _ => drive.to_owned() + cwd,
        };
        let context = Arc::new(HostContext::new().with_cwd(cwd));
        HookEvent::tool_pre_execute(tool, args).with_context(context)
    }

    #[track_caller]
    fn case_in(cwd: &str, rule: &str, tool: &str, args: Value, expected: bool) {
        let event = event_in(cwd, tool, args.clone());
        let read = Rule::new(rule);
        assert_eq!(
            read.is_met(tool, event.data.get("tool_args"), &event),
            expected,
            "{rule} {args}"
        );
    }

    /// Rules, each with texts that it matches, and texts that it does not match. `⏎` is a line break.
    const COMMANDS: &str = r#"
Bash(git push *) == git push origin main | git push | git pu\⏎sh x != git pushx | git status
Bash(git push *) == sudo git push | timeout 5 /usr/bin/git push | sh -c 'git push' | X=push; git $X != sudo git status
Bash(git push *) == git "$X" | "$X" y | echo "git push != git status "$X" | ls "$X"
Bash(git push *) == none != echo 'git push' | git commit -m "git push" | ls # git push | man git push
Bash(git push:*) == cd x && git  push != none
Bash(rm *) == cd x && rm y | A=1 r'm' y | echo $(rm x) | /bin/rm x | RM x != confirm x | rm-it x
Bash(npm*test) == npm run test | npm run "$X" != npm run build | echo npm; pnpm test
Bash(ls $HOME/*) == cd x; ls $HOME/y != none
Bash(ls > x) == cd y; ls > x != ls > y
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
Bash(echo $(date)) == echo $(date) != ls
Bash(rm*)|Bash(x) == anything != none
Bash(rm *) | Edit(*) == anything != none
Bash(rm *), Bash(x) == anything != none
rm* == anything != none
rm * == anything != none
bash(rm *) == anything != none
Git* == anything != none
"#;

    const COMMANDS_OF_POWERSHELL: &str = r#"
PowerShell(git push *) == git push | echo 'git push' != git status
"#;

    /// Rules for a file that is written, in the same form.
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
Edit(*.[jt]s) == a.ts | a.rs != a.py
Edit(*.[!jt]s) == a.rs != none
Edit([a-c].rs) == b.rs != none
Edit(src/[ab]/[c-e].rs) == src/a/d.rs != lib/a/d.rs
Edit(app/[id]/a.ts) == app/[id]/a.ts != none
Edit(app/\[id\]/a.ts) == app/[id]/a.ts != app/[id]/b.ts
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
            let read = Rule::new(rule);
            for (values, expected) in [(met, true), (others, false)] {
                for value in values.split(" | ").filter(|value| *value != "none") {
                    let args = json!({key: value.replace('⏎', "\n")});
                    let event = event_in("/work", tool, args);
                    assert_eq!(
                        read.is_met(tool, event.data.get("tool_args"), &event),
                        expected,
                        "{rule} {value}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_rule_for_a_command_matches_its_parts() {
        cases(COMMANDS, "Bash", "command");
        cases(COMMANDS_OF_POWERSHELL, "PowerShell", "command");
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
        if cfg!(windows) {
            case("Edit(//c/work/*)", "Write", unresolved(), true);
            case("Edit(C:/work/*)", "Write", unresolved(), true);
            case("Edit(//d/work/*)", "Write", unresolved(), false);
        }
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

    /// Spellings of a host that is intended, or may be, and others.
    #[test]
    fn other_spellings_of_a_host_count_as_matched() {
        for (url, expected) in [
            ("https://example.com/x", true),
            ("https://EXAMPLE.com:443?x", true),
            ("https://%65xample.com", true),
            ("https://exa\tmple.com", true),
            ("https://exa\nmple.com", true),
            ("https://ｅxample.com", true),
            ("https://example。com", true),
            ("https:/example.com", true),
            ("https:\\\\%65xample.com", true),
            ("https:////%65xample.com", true),
            ("https://a@%65xample.com", true),
            ("https://other.com@127.1", true),
            ("https://127.1", true),
            ("https://0x7f000001/x", true),
            ("https://2130706433", true),
            ("https://[::1]/", true),
            ("//example.org", true),
            (" https://other.com", false),
            ("https://other.com/x", false),
            ("https://other.com:8080/%65xample", false),
            ("https://127.0.0.1/x", false),
            ("http://a-b.c1.org.", false),
        ] {
            let args = json!({"url": url});
            case("WebFetch(domain:example.com)", "WebFetch", args, expected);
        }
        let other = json!({"url": "https://xn--bcher-kva.example"});
        case(
            "WebFetch(domain:b\u{fc}cher.example)",
            "WebFetch",
            other,
            true,
        );
    }

    /// A model can make a link with any tool, and then write through it.
    #[cfg(unix)]
    #[test]
    fn a_file_rule_sees_where_links_lead() {
        use std::os::unix::fs::symlink;
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir(at("secrets")).unwrap();
        std::fs::write(at("secrets/.env"), "").unwrap();
        for (target, link) in [
            ("secrets/.env", "file"),
            ("secrets", "directory"),
            ("nothing", "dangling"),
            ("loop", "loop"),
        ] {
            symlink(target, at(link)).unwrap();
        }
        let cwd = directory.path().to_str().unwrap();
        for (rule, path, expected) in [
            ("Edit(.env)", "file", true),
            ("Edit(secrets/**)", "directory/new", true),
            ("Edit(secrets/**)", "directory/new/file", true),
            ("Edit(.env)", "dangling", true),
            ("Edit(.env)", "loop", true),
            ("Edit(.env)", "directory/new", false),
            ("Edit(directory/*)", "directory/new", true),
        ] {
            case_in(cwd, rule, "Write", json!({"file_path": path}), expected);
        }
    }
}
