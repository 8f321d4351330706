//! Finds names that mean something to an agent, and nothing where the hook runs: tools in a matcher, variables and fields in a
//! command, keys of a handler. Each is a warning with the intended name.
//!
//! Knows the tables of all agents, not a particular agent.

use super::host::Host;
use crate::agents::{Agent, BRIDGED, Variable, value_of};
use crate::compat::AgentProtocol;
use crate::events::{EventType, nearest};
use crate::hook::{Hook, LIKE_A_KEY};
use crate::json::{Member, Node};
use crate::printable::shortened;
use crate::problem::Problem;

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
fn own_name_of(name: &str, agent: &Agent) -> Option<&'static str> {
    let mut others = agent.emulated.also_called.iter();
    let is_own =
        agent.tool(name).is_some() || others.any(|(one, other)| *one == name || *other == name);
    if is_own {
        return None;
    }
    let of_others = BRIDGED.iter().filter_map(|other| other.tool(name));
    let mut ours =
        std::iter::once(name).chain(of_others.flat_map(|tool| tool.ours.iter().copied()));
    ours.find_map(|ours| agent.named_here(ours))
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

fn variables_of_agents() -> impl Iterator<Item = &'static str> {
    let of_agents = BRIDGED.iter().flat_map(|agent| agent.variables);
    of_agents.map(|(name, _)| *name).chain(OTHER_VARIABLES)
}

/// Variables that no agent sets, by the beginnings of their names: the values are on standard input.
const UNSET: [&str; 6] = [
    "CLAUDE_TOOL_",
    "CLAUDE_FILE_PATH",
    "CLAUDE_HOOK_",
    "TOOL_NAME",
    "TOOL_INPUT",
    "TOOL_ARGS",
];

/// Placeholders that agents replace in a command, and a shell refuses: an option of a plugin, and the separator of paths.
const PLACEHOLDERS: [&str; 2] = ["${user_config.", "${/}"];

/// A message, and the fix.
type Fix = (String, &'static str);

/// Checks the variables of a handler's command: one that no agent sets, that another agent sets, or that is set in a plugin alone.
/// A command that also uses one that is set here was written for several agents.
pub(super) fn variable(
    hook: &Hook,
    text: &str,
    protocol: &AgentProtocol,
) -> Option<(String, String)> {
    if let Some(name) = unset(hook, text) {
        let help = "the event is on standard input, as in `jq -r .tool_name`";
        return Some((format!("`${name}` is not set for hooks"), help.to_owned()));
    }
    let agent = protocol.origin.agent;
    let is_in_plugin = protocol.origin.plugin.is_some();
    let is_of_plugin = |value| matches!(value, Variable::Plugin | Variable::PluginData(_));
    let is_set = |name: &str| {
        let value = value_of(agent.variables, name);
        value.is_some_and(|value| is_in_plugin || !is_of_plugin(value))
    };
    let mut own = agent.variables.iter().map(|(name, _)| *name);
    if own.any(|name| is_set(name) && has_name(text, name)) {
        return None;
    }
    let name = variables_of_agents().find(|name| !is_set(name) && is_expected(hook, text, name))?;
    let message = match value_of(agent.variables, name) {
        Some(_) => format!("`${name}` is set only for hooks of a plugin"),
        None => format!("`${name}` is not set for hooks of {}", agent.title),
    };
    let is_directory = |(_, value): &&(&str, Variable)| match value {
        Variable::Plugin => is_in_plugin,
        Variable::Project => !is_in_plugin,
        _ => false,
    };
    let mut own = agent.variables.iter();
    let help = match own.find(is_directory) {
        Some((name, _)) => format!("its directory is `${name}`"),
        None => "the hook runs in the directory of the session".to_owned(),
    };
    Some((message, help))
}

/// Returns the variable of a text that no agent sets.
fn unset<'a>(hook: &Hook, text: &'a str) -> Option<&'a str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let names = text.split('$').skip(1).map(|part| {
        let part = part.strip_prefix('{').unwrap_or(part);
        part.split(|c| !is_part(c)).next().unwrap_or_default()
    });
    let mut unset = names.filter(|name| UNSET.iter().any(|begin| name.starts_with(begin)));
    unset.find(|name| is_expected(hook, text, name))
}

/// Returns a message about a placeholder in a command that only an agent replaces.
pub(super) fn placeholder(text: &str) -> Option<Fix> {
    let name = PLACEHOLDERS.iter().find_map(|begin| {
        let rest = &text[text.find(begin)?..];
        Some(&rest[..=rest.find('}')?])
    })?;
    let message = format!("`{}` is not replaced here", shortened(name));
    Some((message, "write the value itself"))
}

/// The beginnings of the names of agents' variables; the user may have set one with another name.
const OF_BRIDGED: [&str; 4] = ["CLAUDE_", "CODEX_", "CURSOR_", "GEMINI_"];

/// Finds a name of an agent in a command or a script of a hook of hooks.json: a field of an agent's input, which is in no event, a
/// variable or a placeholder.
pub(super) fn foreign(hook: &Hook, text: &str, host: &Host) -> Option<Fix> {
    field(hook, text, host)
        .or_else(|| {
            let is_of_agent = |name: &&str| OF_BRIDGED.iter().any(|begin| name.starts_with(begin));
            let mut names = variables_of_agents().filter(is_of_agent);
            let name = names.find(|name| is_expected(hook, text, name));
            let name = name.or_else(|| unset(hook, text).filter(|name| is_of_agent(name)))?;
            let message = format!("`${name}` is not set for hooks of hooks.json");
            Some((message, "docs/other-agents.md has the names for each"))
        })
        .or_else(|| placeholder(text))
}

/// Finds a name of Claude Code's input for which a script for both programs would also have ours.
pub(super) fn field(hook: &Hook, text: &str, host: &Host) -> Option<Fix> {
    let is_prompt = hook.pattern().matches_only(&EventType::UserPromptSubmit);
    let is_of_agents = host.vocabulary.is_of_agents();
    let names = [
        (
            true,
            "tool_input",
            "tool_args",
            "the arguments are in `.data.tool_args`",
        ),
        (
            true,
            "CLAUDE_PROJECT_DIR",
            "_WORKING_DIR",
            "the directory is in `FORGE_WORKING_DIR`",
        ),
        (
            is_of_agents,
            "tool_args.file_path",
            "tool_args.path",
            "the path is in `.data.tool_args.path`",
        ),
        (
            is_prompt,
            ".prompt",
            ".content",
            "the prompt is in `.data.content`",
        ),
    ];
    let mut used = names.into_iter().filter(|(is_tested, theirs, ours, _)| {
        *is_tested
            && has_name(text, theirs)
            && !text.contains(ours)
            && !hook.env().contains_key(*theirs)
    });
    let (_, theirs, _, here) = used.next()?;
    let message = format!("`{theirs}` is Claude Code's name: here {here}");
    Some((message, "docs/other-agents.md has the names for each"))
}

/// Returns whether a text has this name, and not only a longer one.
fn has_name(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// Returns whether a hook expects that this variable is set for it: its text uses the variable, and neither sets nor tests it.
fn is_expected(hook: &Hook, text: &str, name: &str) -> bool {
    let assigns = [format!("{name}="), format!("{name} =")];
    let is_own = hook.env().contains_key(name)
        || ["read ", "<<", "-n ", "-z "]
            .iter()
            .any(|mark| text.contains(mark))
        || assigns.iter().any(|mark| text.contains(mark));
    !is_own && is_used(text, name)
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

/// Returns whether a key is a note, or a switch that switches nothing.
fn is_note(member: &Member<'_, '_>) -> bool {
    let key = member.key.to_ascii_lowercase();
    let begins = ["_", "$", "#", "//", "note", "comment", "description"];
    let is_usual = matches!(
        (&*key, member.value.switch()),
        ("enabled" | "enable", Some(true)) | ("disabled" | "disable", Some(false))
    );
    let is_label = key == "name" || key == "id";
    is_usual
        || is_label
        || begins.iter().any(|begin| key.starts_with(begin))
        || member.value.is_null()
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
    if is_known || is_note(member) {
        return None;
    }
    let display = shortened(name);
    let message = format!(
        "unknown key `{display}`: it has no effect in {}",
        agent.title
    );
    let problem = Problem::warning(name, message).at(member.key_range.clone());
    if !known.contains(&"command") && agent.emulated.keys.contains(&name) {
        return Some(problem.with_help("put it into the handler"));
    }
    Some(problem.with_suggestion_of(nearest(name, known.iter().copied(), LIKE_A_KEY)))
}
