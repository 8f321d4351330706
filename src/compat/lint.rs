//! Warnings for common mistakes in hooks for other tools, each with its fix.
//!
//! These hooks load, but do not do what their authors intended.

use std::path::{Path, PathBuf};

use super::node::Node;
use super::protocol::ToolProtocol;
use super::tool::{Effect, Subject, Tool};
use crate::config::reading::Finding;
use crate::events::{EventType, LIKE_AN_EVENT, nearest};
use crate::hook::{Hook, HookCommand, Protocol, expanded};
use crate::printable::shortened;

/// The most bytes of a command that is checked.
const LONGEST_COMMAND: usize = 64 * 1024;

/// A timeout of at least this many seconds was probably meant in milliseconds.
const MILLISECONDS_MEANT: f64 = 1000.0;

/// A timeout of less than this many milliseconds was probably meant in seconds.
const SECONDS_MEANT: f64 = 100.0;

pub(super) fn timeout(node: &Node<'_, '_>, number: f64, tool: &Tool, found: &mut Vec<Finding>) {
    let name = tool.title;
    if tool.handlers.milliseconds {
        if number < SECONDS_MEANT {
            let words = format!("{number} is in milliseconds in {name}");
            let help = format!("{number} seconds are {}", number * 1000.0);
            found.push(Finding::warning(node, words).with_help(help));
        }
    } else if number >= MILLISECONDS_MEANT {
        let words = format!("{number} is in seconds in {name}");
        let help = format!("{number} milliseconds are {}", number / 1000.0);
        found.push(Finding::warning(node, words).with_help(help));
    }
}

/// Checks a group's matcher.
pub(super) fn matcher(
    node: &Node<'_, '_>,
    subject: Subject,
    tool: &Tool,
    found: &mut Vec<Finding>,
) {
    let Some(text) = node.text().map(str::trim) else {
        return;
    };
    if subject != Subject::Tool {
        return;
    }
    let shown = shortened(text);
    if let Some((named, rule)) = text.split_once('(')
        && named.chars().all(char::is_alphanumeric)
        && !named.is_empty()
        && rule.ends_with(')')
    {
        let words = format!("`{shown}` is a permission rule, which matches no tool");
        let mut help = format!("write \"matcher\": \"{}\", and ", shortened(named));
        help += &match tool.handlers.keys.contains(&"if") {
            true => format!("\"if\": \"{shown}\" in the handler"),
            false => "test the arguments in the hook".to_owned(),
        };
        found.push(Finding::warning(node, words).with_help(help));
    }
    if text.contains(',')
        && !tool.is_list_of_names(text)
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_- ,|".contains(c))
    {
        let title = tool.title;
        let words = format!("`{shown}` is a regular expression in {title}, not a list of names");
        let names: Vec<_> = text.split([',', '|']).map(str::trim).collect();
        found.push(Finding::warning(node, words).with_suggestion(shortened(&names.join("|"))));
    }
    let server = text.strip_prefix("mcp__");
    let is_name = |text: &&str| tool.is_list_of_names(text) && !text.contains(['|', ',', ' ']);
    if let Some(server) = server.filter(|it| is_name(it) && !it.contains("__")) {
        let words = format!("`{shown}` matches no tool: it names a server");
        let meant = format!("mcp__{}__.*", shortened(server));
        found.push(Finding::warning(node, words).with_suggestion(meant));
    }
}

pub(super) fn lint(
    node: &Node<'_, '_>,
    hook: &Hook,
    protocol: &ToolProtocol,
    found: &mut Vec<Finding>,
) {
    let HookCommand::Shell { text, .. } = hook.command() else {
        return;
    };
    let Some(command) = node
        .get("command")
        .filter(|_| text.len() <= LONGEST_COMMAND)
    else {
        return;
    };
    found.extend(unset_variable(&command, text));
    found.extend(exits_with_1(&command, text, protocol));
    found.extend(script(&command, text, hook, protocol));
}

/// Variables that the tools do not set: the values are on standard input.
const UNSET: [&str; 6] = [
    "CLAUDE_TOOL_",
    "CLAUDE_FILE_PATH",
    "CLAUDE_HOOK_",
    "TOOL_NAME",
    "TOOL_INPUT",
    "TOOL_ARGS",
];

fn unset_variable(node: &Node<'_, '_>, text: &str) -> Option<Finding> {
    for part in text.split('$').skip(1) {
        let part = part.strip_prefix('{').unwrap_or(part);
        if UNSET.iter().any(|name| part.starts_with(name)) {
            let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = &part[..end.unwrap_or(part.len())];
            let words = format!("`${name}` is not set for hooks");
            let help = "the event is on standard input, as in `jq -r .tool_name`";
            return Some(Finding::warning(node, words).with_help(help));
        }
    }
    None
}

fn exits_with_1(node: &Node<'_, '_>, text: &str, protocol: &ToolProtocol) -> Option<Finding> {
    let event = protocol.event;
    let ours = event.ours.and_then(|name| EventType::of_name(name).ok());
    let can_block = event.effect == Effect::Blocks && ours.is_some_and(|event| event.can_block());
    let says_block = ["BLOCK", "Block", "block", "DENIED", "denied"];
    let is_meant = says_block.iter().any(|word| text.contains(word));
    let exits = text.split("exit 1").skip(1);
    let exits = exits.filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    if !can_block || !is_meant || exits.count() == 0 {
        return None;
    }
    let words = format!("`exit 1` does not block in {}", protocol.tool.title);
    Some(Finding::warning(node, words).with_help("`exit 2` does, with the reason on stderr"))
}

/// Checks the first word that is a path: the command itself, or a word that begins with `./`, `../` or a directory of the
/// tool's, or that has an extension.
fn script(
    node: &Node<'_, '_>,
    text: &str,
    hook: &Hook,
    protocol: &ToolProtocol,
) -> Option<Finding> {
    let root = hook.base_dir();
    let directories = protocol.directories(root.unwrap_or(Path::new("")));
    let directory = |name: &str| {
        let mut known = directories.iter().filter(|(it, _)| it == name);
        known
            .next()
            .map(|(_, path)| path.to_string_lossy().into_owned())
    };
    for (index, word) in text.split_whitespace().enumerate() {
        let word = word.replace(['"', '\''], "");
        let name = expanded(&word, directory);
        let is_named = name != word || word.starts_with("./") || word.starts_with("../");
        let is_path = name.contains('/') && !name.contains(NOT_PLAIN) && !name.starts_with('-');
        let is_file = is_named || Path::new(&name).extension().is_some();
        if !is_path || !(is_file || index == 0) {
            continue;
        }
        let path = match root {
            Some(root) => root.join(&name),
            None if Path::new(&name).is_absolute() => PathBuf::from(&name),
            None => return None,
        };
        return unusable(node, &name, &path, index == 0);
    }
    None
}

/// The characters that a shell may replace, or that end a command.
const NOT_PLAIN: [char; 12] = ['$', '*', '?', '[', '{', '~', '`', '\\', ';', '&', '|', '('];

/// Returns why a script cannot be run.
fn unusable(node: &Node<'_, '_>, name: &str, path: &Path, is_run: bool) -> Option<Finding> {
    let name = shortened(name);
    match path.metadata() {
        Err(_) => {
            let words = format!("`{name}` does not exist: the hook fails, and does not block");
            Some(Finding::warning(node, words))
        }
        Ok(metadata) if is_run && metadata.is_file() && !is_executable(&metadata) => {
            let words = format!("`{name}` is not executable: the hook fails, and does not block");
            Some(Finding::warning(node, words).with_help(format!("chmod +x {name}")))
        }
        Ok(_) => None,
    }
}

#[cfg(unix)]
fn is_executable(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &std::fs::Metadata) -> bool {
    true
}

/// Returns the event that was probably meant by an unknown key.
pub(super) fn nearest_event(tool: &Tool, name: &str) -> Option<&'static str> {
    let names = tool.events.iter().map(|event| event.name);
    nearest(name, names, LIKE_AN_EVENT)
}
