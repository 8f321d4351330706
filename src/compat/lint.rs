//! Warnings for common mistakes in hooks for other tools, each with its fix.
//!
//! These hooks load, but do not do what their authors intended.

use std::path::Path;

use super::protocol::ToolProtocol;
use super::tool::{Effect, Event, Tool, has};
use crate::config::reading::{Node, Problem, check_script};
use crate::events::{LIKE_AN_EVENT, nearest};
use crate::hook::{Hook, HookCommand, Protocol};
use crate::printable::shortened;

/// The most bytes of a command that is checked.
const LONGEST_COMMAND: usize = 64 * 1024;

/// A timeout of at least this many seconds was probably meant in milliseconds.
const MILLISECONDS_MEANT: f64 = 1000.0;

/// A timeout of less than this many milliseconds was probably meant in seconds.
const SECONDS_MEANT: f64 = 100.0;

pub(super) fn timeout(node: &Node<'_, '_>, number: f64, tool: &Tool, found: &mut Vec<Problem>) {
    let name = tool.title;
    if tool.handlers.milliseconds {
        if number < SECONDS_MEANT {
            let words = format!("{number} is in milliseconds in {name}");
            let help = format!("{number} seconds are {}", number * 1000.0);
            found.push(node.warning(words).with_help(help));
        }
    } else if number >= MILLISECONDS_MEANT {
        let words = format!("{number} is in seconds in {name}");
        let help = format!("{number} milliseconds are {}", number / 1000.0);
        found.push(node.warning(words).with_help(help));
    }
}

/// Names the keys of a group or a handler that are not applied.
pub(super) fn not_applied(node: &Node<'_, '_>, tool: &Tool, found: &mut Vec<Problem>) {
    for key in tool.handlers.not_applied.split(' ') {
        if let Some(value) = node.get(key).filter(|it| it.switch() != Some(false)) {
            let words = format!(
                "{} applies this key, hosts of this crate do not",
                tool.title
            );
            found.push(value.warning(words));
        }
    }
}

/// Checks a group's matcher.
pub(super) fn matcher(node: &Node<'_, '_>, event: &Event, tool: &Tool, found: &mut Vec<Problem>) {
    let Some(text) = node.text().map(str::trim) else {
        return;
    };
    let shown = shortened(text);
    if !event.is_of_tool() {
        return;
    }
    if let Some((named, rule)) = text.split_once('(')
        && named.chars().all(char::is_alphanumeric)
        && !named.is_empty()
        && rule.ends_with(')')
    {
        let words = format!("`{shown}` is a permission rule, which matches no tool");
        let mut help = format!("write \"matcher\": \"{}\", and ", shortened(named));
        help += &match has(tool.handlers.keys, "if") {
            true => format!("\"if\": \"{shown}\" in the handler"),
            false => "test the arguments in the hook".to_owned(),
        };
        found.push(node.warning(words).with_help(help));
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
        found.push(
            node.warning(words)
                .with_suggestion_of(Some(shortened(&names.join("|")))),
        );
    }
    let server = text.strip_prefix("mcp__");
    let is_name = |text: &&str| tool.is_list_of_names(text) && !text.contains(['|', ',', ' ']);
    if let Some(server) = server.filter(|it| is_name(it) && !it.contains("__")) {
        let words = format!("`{shown}` matches no tool: it names a server");
        let meant = format!("mcp__{}__.*", shortened(server));
        found.push(node.warning(words).with_suggestion_of(Some(meant)));
    }
}

pub(super) fn lint(
    node: &Node<'_, '_>,
    hook: &Hook,
    protocol: &ToolProtocol,
    found: &mut Vec<Problem>,
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
    found.extend(script(&command, hook, protocol));
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

fn unset_variable(node: &Node<'_, '_>, text: &str) -> Option<Problem> {
    for part in text.split('$').skip(1) {
        let part = part.strip_prefix('{').unwrap_or(part);
        if UNSET.iter().any(|name| part.starts_with(name)) {
            let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = &part[..end.unwrap_or(part.len())];
            let words = format!("`${name}` is not set for hooks");
            let help = "the event is on standard input, as in `jq -r .tool_name`";
            return Some(node.warning(words).with_help(help));
        }
    }
    None
}

fn exits_with_1(node: &Node<'_, '_>, text: &str, protocol: &ToolProtocol) -> Option<Problem> {
    let event = protocol.event;
    let can_block = event.effect == Effect::Blocks && event.can_block();
    let says_block = ["BLOCK", "Block", "block", "DENIED", "denied"];
    let is_meant = says_block.iter().any(|word| text.contains(word));
    let exits = text.split("exit 1").skip(1);
    let exits = exits.filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    if !can_block || !is_meant || exits.count() == 0 {
        return None;
    }
    let words = format!("`exit 1` does not block in {}", protocol.tool.title);
    Some(
        node.warning(words)
            .with_help("`exit 2` does, with the reason on stderr"),
    )
}

/// Checks the script that a command runs.
fn script(node: &Node<'_, '_>, hook: &Hook, protocol: &ToolProtocol) -> Option<Problem> {
    let root = hook.base_dir();
    let directories = protocol.directories(root.unwrap_or(Path::new("")));
    let problem = check_script(hook, |name| {
        let mut known = directories.iter();
        // Without a project, the directory of the project is not known.
        let is_known = |path: &Path| !path.as_os_str().is_empty();
        let (_, path) = known.find(|(known, path)| known == name && is_known(path))?;
        Some(path.to_string_lossy().into_owned())
    })?;
    let words = format!("{}: the hook fails, and does not block", problem.message);
    let mut found = node.warning(words);
    found.help = problem.help;
    Some(found)
}

/// Returns the event that was probably meant by an unknown key. A name that is only similar may be that of a newer event.
pub(super) fn nearest_event(tool: &Tool, name: &str) -> Option<&'static str> {
    let plain = |name: &str| name.to_lowercase().replace(['_', '-', ' '], "");
    let names = (tool.events)().iter().map(|event| event.name);
    let meant = nearest(name, names, LIKE_AN_EVENT)?;
    (strsim::levenshtein(&plain(meant), &plain(name)) <= MOST_TYPOS).then_some(meant)
}

/// The most letters in which a typo of an event's name differs from it.
const MOST_TYPOS: usize = 2;
