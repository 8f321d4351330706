//! Finds names that mean something to another agent, and nothing here: tools in a matcher, variables in a command, keys of a
//! handler. Each is a warning with the intended name.
//!
//! Knows the tables of all agents, not a particular agent.

use std::path::Path;

use super::script;
use crate::agents::{Agent, BRIDGED, Variable, value_of};
use crate::command::Outline;
use crate::compat::AgentProtocol;
use crate::events::nearest;
use crate::hook::{Hook, LIKE_A_KEY};
use crate::json::{Member, Node};
use crate::printable::shortened;
use crate::problem::Problem;
use crate::protocol::Protocol;

/// The most names of a matcher that are compared with the names of tools.
pub(super) const MOST_NAMES: usize = 100;

/// Checks the names of a matcher: a tool that only another agent has under this name, or that hosts have. It is no mistake
/// in a matcher that has the agent's name too.
pub(crate) fn tool(node: &Node<'_, '_>, protocol: &AgentProtocol) -> Option<Problem> {
    let text = node.text().filter(|_| protocol.event.is_of_tool())?;
    let agent = protocol.origin.agent;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_|, ".contains(c);
    if !text.chars().all(is_plain) {
        return None;
    }
    let names = text.split(['|', ',']).map(str::trim).take(MOST_NAMES);
    let mut foreign = names.filter_map(|name| Some((name, own_name_of(name, agent)?)));
    let (name, own_name) = foreign.find(|(_, own_name)| !protocol.is_named(own_name))?;
    let message = format!("`{name}` is no tool of {}", agent.title);
    Some(Problem::warning_at(node, message).with_suggestion_of(Some(own_name)))
}

/// Returns the agent's name of a tool that is known by this name elsewhere.
pub(super) fn own_name_of(name: &str, agent: &Agent) -> Option<&'static str> {
    if is_tool_of(name, agent) {
        return None;
    }
    let of_host = agent.named_here(name);
    let others = || BRIDGED.iter().filter(|other| **other != agent);
    let of_other = || {
        let tools = others().filter_map(|other| other.tool(name));
        let mut ours = tools.flat_map(|tool| tool.ours);
        ours.find_map(|ours| agent.named_here(ours))
    };
    of_host.or_else(of_other)
}

fn is_tool_of(name: &str, agent: &Agent) -> bool {
    let mut others = agent.emulated.also_called.iter();
    agent.tool(name).is_some() || others.any(|(one, other)| *one == name || *other == name)
}

/// Variables that agents or their plugins have, beside those of the tables.
const OTHER_VARIABLES: [&str; 6] = [
    "CODEX_PLUGIN_ROOT",
    "CURSOR_PLUGIN_ROOT",
    "CURSOR_PROJECT_DIR",
    "GEMINI_CWD",
    "GEMINI_PLUGIN_ROOT",
    "GEMINI_SESSION_ID",
];

/// Checks the variables of a command: one that another agent sets, or that is set in a plugin alone. A command that also
/// uses one that is set here, or that sets or tests it itself, was written for several agents.
pub(super) fn variable(
    node: &Node<'_, '_>,
    hook: &Hook,
    text: &str,
    protocol: &AgentProtocol,
) -> Option<Problem> {
    let agent = protocol.origin.agent;
    let is_in_plugin = protocol.origin.plugin.is_some();
    let is_of_plugin = |value| matches!(value, Variable::Plugin | Variable::PluginData(_));
    let is_set = |name: &str| {
        let value = value_of(agent.variables, name);
        value.is_some_and(|value| is_in_plugin || !is_of_plugin(value))
    };
    let mut known = variables_of_agents();
    let mut own = agent.variables.iter().map(|(name, _)| *name);
    if own.any(|name| is_set(name) && has_name(text, name)) {
        return None;
    }
    let name = known.find(|name| !is_set(name) && is_expected(hook, text, name))?;
    let title = agent.title;
    let message = match value_of(agent.variables, name) {
        Some(_) => format!("`${name}` is set only for hooks of a plugin"),
        None => format!("`${name}` is not set for hooks of {title}"),
    };
    let (directory, variable) = if is_in_plugin {
        ("plugin", Variable::Plugin)
    } else {
        ("project", Variable::Project)
    };
    let mut own = agent.variables.iter();
    let help = match own.find(|(_, value)| *value == variable) {
        Some((name, _)) => format!("the {directory}'s directory is `${name}`"),
        None => "the hook runs in the directory of the session".to_owned(),
    };
    Some(Problem::warning_at(node, message).with_help(help))
}

fn variables_of_agents() -> impl Iterator<Item = &'static str> {
    let of_agents = BRIDGED.iter().flat_map(|agent| agent.variables);
    of_agents.map(|(name, _)| *name).chain(OTHER_VARIABLES)
}

/// Returns whether a hook expects that this variable is set for it.
fn is_expected(hook: &Hook, text: &str, name: &str) -> bool {
    is_used(text, name) && !hook.env().contains_key(name) && !sets(text, name)
}

/// Returns whether a text has this name, and not only a longer one.
fn has_name(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// The beginnings of the names of agents' variables; the user may have set one with another name.
const OF_BRIDGED: [&str; 4] = ["CLAUDE_", "CODEX_", "CURSOR_", "GEMINI_"];

/// Returns the variable of an agent that a text of a hook of hooks.json expects.
pub(super) fn of_agent(hook: &Hook, text: &str) -> Option<&'static str> {
    let is_of_agent = |name: &&str| OF_BRIDGED.iter().any(|begin| name.starts_with(begin));
    variables_of_agents()
        .filter(is_of_agent)
        .find(|name| is_expected(hook, text, name))
}

/// Placeholders that agents replace in a command, and a shell refuses: an option of a plugin, and the separator of paths.
const PLACEHOLDERS: [&str; 2] = ["${user_config.", "${/}"];

/// Returns a message about a placeholder in a command that only an agent replaces.
pub(super) fn placeholder(text: &str) -> Option<String> {
    let mut begins = PLACEHOLDERS.iter();
    let name = begins.find_map(|begin| {
        let rest = &text[text.find(begin)?..];
        Some(&rest[..=rest.find('}')?])
    })?;
    Some(format!("`{}` is not replaced here", shortened(name)))
}

/// The fix for a placeholder.
pub(super) const NO_PLACEHOLDER: &str = "write the value itself";

/// Returns whether a command may set or test a variable itself.
pub(super) fn sets(text: &str, name: &str) -> bool {
    let assigns = [format!("{name}="), format!("{name} =")];
    let mut own = ["read ", "<<", "-n ", "-z "].iter();
    own.any(|mark| text.contains(mark)) || assigns.iter().any(|mark| text.contains(mark))
}

/// Returns whether a shell or the agent puts the value of this variable into a command. With `:-` and the like, the shell puts
/// another value there if the variable is not set.
pub(super) fn is_used(text: &str, name: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut parts = text.split('$');
    let mut before = parts.next().unwrap_or_default();
    let mut quotes = 0;
    parts.any(|part| {
        quotes += before.matches('\'').count();
        let is_text = before.ends_with('\\') || quotes % 2 == 1;
        before = part;
        let is_reference = match part.strip_prefix('{') {
            Some(part) => {
                let rest = part.strip_prefix(name);
                rest.is_some_and(|rest| rest.starts_with(['}', '%', '#', '/']))
            }
            None => part
                .strip_prefix(name)
                .is_some_and(|rest| !rest.starts_with(is_name)),
        };
        is_reference && !is_text
    })
}

/// Checks that the path of a directory is not split by the shell at its blanks. The advice has braces: Gemini CLI puts a path
/// with quotes of its own in the place of a variable without them.
pub(super) fn unquoted(
    node: &Node<'_, '_>,
    text: &str,
    root: Option<&Path>,
    protocol: &AgentProtocol,
) -> Option<Problem> {
    let directories = protocol.directories(root.unwrap_or(Path::new("")));
    let has_blank = |path: &Path| path.to_string_lossy().contains(char::is_whitespace);
    let mut split = directories.iter().filter(|(_, path)| has_blank(path));
    let steps = Outline::read(text).steps;
    let words = steps.iter().map(|step| &step.words[..]);
    // In `[[ .. ]]`, nothing is split.
    let split_words = words.filter(|words| words.first().is_some_and(|word| word.source != "[["));
    let words = split_words.flatten();
    let (name, _) = split.find(|(name, _)| words.clone().any(|word| begins(word.source, name)))?;
    let message = format!("without quotes, the shell splits the value of `${name}` at its blanks");
    let help = format!("put it in quotes, as in \\\"${{{name}}}\\\"/guard.sh");
    Some(Problem::warning_at(node, message).with_help(help))
}

/// Returns whether a word begins with this variable, outside of quotes.
fn begins(word: &str, name: &str) -> bool {
    let mut variables = word.match_indices('$');
    let end = variables.nth(1).map_or(word.len(), |(at, _)| at);
    word.starts_with('$') && is_used(&word[..end], name)
}

/// Checks the script of a project's hook: the other users of the project have none below one user's home directory.
pub(super) fn home(node: &Node<'_, '_>, hook: &Hook) -> Option<Problem> {
    // The other users may have these directories, but only one user has that file.
    const SHARED: [&str; 9] = [
        "Shared",
        "codespace",
        "coder",
        "gitpod",
        "linuxbrew",
        "node",
        "runner",
        "ubuntu",
        "vscode",
    ];
    let root = hook.base_dir()?;
    let file = hook.source().and_then(|source| source.path.file_name());
    if file.is_some_and(|name| name == "settings.local.json") {
        return None;
    }
    let path = script::named(hook, |_| None)?;
    let below = path
        .strip_prefix("/home/")
        .or_else(|| path.strip_prefix("/Users/"))?;
    let (user, rest) = below.split_once('/')?;
    if user.is_empty() || rest.is_empty() || SHARED.contains(&user) {
        return None;
    }
    let display = shortened(&path);
    let message = format!("`{display}` is below a home directory, which others do not have");
    let help = match Path::new(&path).strip_prefix(root) {
        Ok(_) => "write the path from the project's root",
        Err(_) => "put the file into the project, or the hook into the user's own settings",
    };
    Some(Problem::warning_at(node, message).with_help(help))
}

/// Returns the replacement for a key that the agent does not have.
fn help_for(key: &str, agent: &Agent, of_handler: bool) -> Option<&'static str> {
    let is_read = |key: &str| agent.emulated.keys.contains(&key);
    Some(match key {
        _ if !of_handler && is_read(key) => "put it into the handler",
        "enabled" | "disabled" | "enable" | "disable" => "remove the handler to switch it off",
        "cwd" | "working_dir" | "workingDirectory" => "write `cd DIRECTORY && ...` in the command",
        "env" => "write `NAME=value ./command` in the command",
        "pattern" | "matcher" | "tool" | "tools" => "name the tool in the `matcher` of the group",
        "timeout_ms" | "timeoutMs" => "write `timeout`, in seconds",
        "when" if is_read("if") => "write `if`, as in \"Bash(git *)\"",
        "if" | "when" => "test the arguments in the hook",
        "on_failure" => "write `onFailure`",
        "background" if is_read("async") => "write `async`",
        _ => return None,
    })
}

/// Returns whether a key is a note, or a switch that switches nothing.
fn says_nothing(member: &Member<'_, '_>) -> bool {
    let key = member.key.to_ascii_lowercase();
    let is_note = key.starts_with(['_', '$', '#']) || key.starts_with("//");
    let is_remark = key.starts_with("note") || key.starts_with("comment");
    let is_usual = matches!(
        (&*key, member.value.switch()),
        ("enabled" | "enable", Some(true)) | ("disabled" | "disable", Some(false))
    );
    let is_label = matches!(&*key, "description" | "name" | "id");
    is_note || is_remark || is_usual || is_label || member.value.is_null()
}

/// Checks a key of a handler or a group, which has these keys: one that the agent does not read, and neither does this
/// crate.
pub(crate) fn key(
    member: &Member<'_, '_>,
    known: &[&'static str],
    agent: &Agent,
) -> Option<Problem> {
    let name = member.key;
    let is_known = known.contains(&name) || agent.emulated.keys_not_applied.contains(&name);
    if is_known || says_nothing(member) {
        return None;
    }
    let display = shortened(name);
    let message = format!(
        "unknown key `{display}`: it has no effect in {}",
        agent.title
    );
    let problem = Problem::warning(name, message).at(member.key_range.clone());
    let of_handler = known.contains(&"command");
    Some(match help_for(name, agent, of_handler) {
        Some(help) => problem.with_help(help),
        None => problem.with_suggestion_of(nearest(name, known.iter().copied(), LIKE_A_KEY)),
    })
}
