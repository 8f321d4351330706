//! Names that mean something to another agent, and nothing here: tools in a matcher, variables in a command, keys of a
//! handler. Each is a warning with the name that is meant.
//!
//! Knows the tables of all agents, and no particular one.

use std::path::Path;

use super::agent::{Agent, Variable, value_of};
use super::agents::AGENTS;
use super::protocol::AgentProtocol;
use crate::config::reading::{Problem, is_note};
use crate::events::nearest;
use crate::hook::LIKE_A_KEY;
use crate::json::{Member, Node};
use crate::printable::shortened;
use crate::protocol::Protocol;

/// Checks the names of a matcher: a tool that only another agent has under this name, or that hosts have.
pub(super) fn tool(node: &Node<'_, '_>, agent: &Agent) -> Option<Problem> {
    let text = node.text()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_|, ".contains(c);
    if !text.chars().all(is_plain) {
        return None;
    }
    let names = text.split(['|', ',']).map(str::trim);
    let mut foreign = names.filter_map(|name| Some((name, meant_by(name, agent)?)));
    let (name, meant) = foreign.next()?;
    let words = format!("`{name}` is no tool of {}", agent.title);
    Some(Problem::warning_at(node, words).with_suggestion_of(Some(meant)))
}

/// Returns the agent's name of a tool that is known by this name elsewhere.
fn meant_by(name: &str, agent: &Agent) -> Option<&'static str> {
    if is_tool_of(name, agent) {
        return None;
    }
    let of_host = value_of(agent.tools, name);
    let others = || AGENTS.iter().filter(|other| **other != agent);
    let of_other = || {
        let mut tools = others().flat_map(|other| other.tools);
        let (ours, _) = tools.find(|(_, theirs)| *theirs == name)?;
        value_of(agent.tools, ours)
    };
    of_host.or_else(of_other)
}

fn is_tool_of(name: &str, agent: &Agent) -> bool {
    let tools = agent.tools.iter().map(|(_, theirs)| *theirs);
    let known = agent.arguments.iter().map(|(tool, _)| *tool);
    let others = agent
        .also_called
        .iter()
        .flat_map(|(one, other)| [*one, *other]);
    tools.chain(known).chain(others).any(|tool| tool == name)
}

/// Variables for directories that agents or their plugins have, beside those of the tables.
const OTHER_VARIABLES: [&str; 3] = [
    "CODEX_PLUGIN_ROOT",
    "GEMINI_PLUGIN_ROOT",
    "CURSOR_PROJECT_DIR",
];

/// Checks the variables of a command: one that another agent sets, or that is set in a plugin alone.
pub(super) fn variable(
    node: &Node<'_, '_>,
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
    let of_agents = AGENTS.iter().flat_map(|agent| agent.variables);
    let of_agents = of_agents.map(|(name, _)| *name);
    let mut known = of_agents.chain(OTHER_VARIABLES);
    let name = known.find(|name| !is_set(name) && is_used(text, name))?;
    let title = agent.title;
    let words = match value_of(agent.variables, name) {
        Some(_) => format!("`${name}` is set only for hooks of a plugin"),
        None => format!("`${name}` is not set for hooks of {title}"),
    };
    let mut own = agent.variables.iter();
    let project = own.find(|(_, value)| *value == Variable::Project);
    let help = match project {
        Some((name, _)) => format!("the project's directory is `${name}`"),
        None => "the hook runs in the directory of the session".to_owned(),
    };
    Some(Problem::warning_at(node, words).with_help(help))
}

/// Whether a shell or the agent puts the value of this variable into a command.
fn is_used(text: &str, name: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut parts = text.split('$').skip(1);
    parts.any(|part| match part.strip_prefix('{') {
        Some(part) => part
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(['}', ':'])),
        None => part
            .strip_prefix(name)
            .is_some_and(|rest| !rest.starts_with(is_name)),
    })
}

/// Checks that the path of a directory is not split by the shell at its blanks.
pub(super) fn unquoted(
    node: &Node<'_, '_>,
    text: &str,
    root: Option<&Path>,
    protocol: &AgentProtocol,
) -> Option<Problem> {
    let directories = protocol.directories(root?);
    let has_blank = |path: &Path| path.to_string_lossy().contains(char::is_whitespace);
    let mut split = directories.iter().filter(|(_, path)| has_blank(path));
    let (name, _) = split.find(|(name, _)| is_used_unquoted(text, name))?;
    let words = format!("without quotes, the shell splits the value of `${name}` at its blanks");
    let help = format!("put it in quotes, as in \\\"${name}\\\"/guard.sh");
    Some(Problem::warning_at(node, words).with_help(help))
}

fn is_used_unquoted(text: &str, name: &str) -> bool {
    let mut quotes = 0;
    let mut parts = text.split('$');
    let mut before = parts.next().unwrap_or_default();
    parts.any(|part| {
        quotes += before.matches('"').count();
        before = part;
        quotes % 2 == 0 && is_used(&format!("${part}"), name)
    })
}

/// Checks a path of a project's hook below somebody's home directory: nobody else has it.
pub(super) fn home(node: &Node<'_, '_>, text: &str, root: Option<&Path>) -> Option<Problem> {
    let root = root?.to_string_lossy();
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '&' | '|');
    let mut words = text.split(is_end);
    let path = words.find(|word| {
        let homes = ["/home/", "/Users/", "C:\\Users\\"];
        homes.iter().any(|home| word.starts_with(home)) && !word.starts_with(&*root)
    })?;
    let words = format!(
        "`{}` is below a home directory, which others do not have",
        shortened(path)
    );
    let help = "put the file into the project, or the hook into the user's own settings";
    Some(Problem::warning_at(node, words).with_help(help))
}

/// What to do in place of a key that these agents do not have.
fn help_for(key: &str, agent: &Agent) -> Option<&'static str> {
    Some(match key {
        "enabled" | "disabled" | "enable" | "disable" => "remove the handler to switch it off",
        "cwd" | "working_dir" | "workingDirectory" => "write `cd DIRECTORY && ...` in the command",
        "env" => "write `NAME=value ./command` in the command",
        "pattern" | "matcher" | "tool" | "tools" => "name the tool in the `matcher` of the group",
        "timeout_ms" | "timeoutMs" if !agent.milliseconds => "write `timeout`, in seconds",
        "when" if agent.keys.contains(&"if") => "write `if`, as in \"Bash(git *)\"",
        "on_failure" => "write `onFailure`",
        "background" if agent.keys.contains(&"async") => "write `async`",
        _ => return None,
    })
}

/// Checks a key of a handler or a group, which has these keys: one that the agent does not read, and neither does this
/// crate.
pub(super) fn key(
    member: &Member<'_, '_>,
    known: &[&'static str],
    agent: &Agent,
) -> Option<Problem> {
    let name = member.key;
    let is_known = || known.contains(&name) || agent.keys_not_applied.contains(&name);
    if is_known() || is_note(name) || matches!(name, "description" | "name" | "id") {
        return None;
    }
    let shown = shortened(name);
    let words = format!("unknown key `{shown}`: it has no effect in {}", agent.title);
    let problem = Problem::warning(name, words).at(member.key_range.clone());
    Some(match help_for(name, agent) {
        Some(help) => problem.with_help(help),
        None => problem.with_suggestion_of(nearest(name, known.iter().copied(), LIKE_A_KEY)),
    })
}
