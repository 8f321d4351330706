//! Warnings for common mistakes in hooks for other agents, each with its fix.
//!
//! These hooks load, but do not do what their authors intended.

use std::path::Path;

use super::agent_names;
use super::script;
use crate::agents::{Agent, Effect, Event};
use crate::compat::AgentProtocol;
use crate::entry::{FailurePolicy, HookCommand};
use crate::events::{LIKE_AN_EVENT, Vocabulary, nearest};
use crate::hook::Hook;
use crate::json::Node;
use crate::printable::shortened;
use crate::problem::Problem;
use crate::protocol::Protocol;

/// Checks a timeout: 1000 seconds and more were probably intended as milliseconds.
pub(crate) fn timeout(node: Node<'_, '_>, number: f64, agent: &Agent) -> Option<Problem> {
    let problem = Problem::warning_at(&node, format!("{number} is in seconds in {}", agent.title));
    let help = || format!("{number} milliseconds are {}", number / 1000.0);
    (number >= 1000.0).then(|| problem.with_help(help()))
}

/// Checks a group's matcher.
pub(crate) fn matcher(node: &Node<'_, '_>, event: &Event, agent: &Agent) -> Option<Problem> {
    let text = node.text().filter(|_| event.is_of_tool())?.trim();
    let display = shortened(text);
    if let Some(rules) = rules_of(text) {
        let message = format!("`{display}` is a permission rule, which matches no tool");
        return Some(Problem::warning_at(node, message).with_help(advice(&rules, agent)));
    }
    let server = text.strip_prefix("mcp__")?;
    let is_one_name = agent.is_list_of_names(text) && !text.contains(['|', ',', ' ']);
    if server.contains("__") || !is_one_name {
        return None;
    }
    let message = format!("`{display}` matches no tool: it names a server");
    let all_tools = format!("mcp__{}__.*", shortened(server));
    Some(Problem::warning_at(node, message).with_suggestion_of(Some(all_tools)))
}

/// Returns the rules of a text that consists of rules, as `Edit(*.ts)|Write(*.ts)` or `Edit:*.ts`: the tools, each with its
/// argument.
fn rules_of(text: &str) -> Option<Vec<(&str, &str)>> {
    let is_name = |name: &str| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        !name.is_empty() && name.chars().all(is_part)
    };
    let mut depth = 0;
    let rules = text.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0 && matches!(c, '|' | ',')
    });
    let rules = rules.map(|rule| {
        let rule = rule.trim();
        let at = rule.find(['(', ':'])?;
        let (name, rest) = (&rule[..at], &rule[at + 1..]);
        let argument = if rule[at..].starts_with('(') {
            rest.strip_suffix(')')?
        } else {
            rest
        };
        // An expression may have such brackets, as in `Web(Fetch|Search)`: these are parts of names.
        let is_part = |part: &str| {
            let is_end = part.is_empty() || part.starts_with(char::is_uppercase);
            is_end && part.chars().all(char::is_alphanumeric)
        };
        let is_expression = argument.split('|').all(is_part);
        (is_name(name) && !is_expression).then_some((name, argument))
    });
    rules.collect()
}

/// Returns the fix for a matcher that consists of rules.
fn advice(rules: &[(&str, &str)], agent: &Agent) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rules {
        let name = agent_names::own_name_of(name, agent).unwrap_or(name);
        if !names.contains(&name) && names.len() < MOST_NAMED {
            names.push(name);
        }
    }
    let matcher = shortened(&names.join("|")).into_owned();
    let rest = match rules {
        _ if !agent.emulated.keys.contains(&"if") => "test the arguments in the hook".to_owned(),
        [(name, argument)] => {
            format!(
                "\"if\": \"{}\" in the handler",
                shortened(&format!("{name}({argument})"))
            )
        }
        _ => "an \"if\" for each rule, in a handler of its own".to_owned(),
    };
    format!("write \"matcher\": \"{matcher}\", and {rest}")
}

/// The most tools that an advice names.
const MOST_NAMED: usize = 10;

/// Checks that a group's matcher matches a tool that the host has declared.
pub(crate) fn unknown_tool(
    node: &Node<'_, '_>,
    protocol: &AgentProtocol,
    vocabulary: &Vocabulary,
) -> Option<Problem> {
    let declared = || vocabulary.tools().iter().map(String::as_str);
    let theirs = || declared().map(|tool| protocol.origin.tool_name(tool));
    let is_tested = protocol.event.is_of_tool() && declared().next().is_some();
    if !is_tested || theirs().any(|name| protocol.is_named(name)) {
        return None;
    }
    let names = match protocol.matcher.names() {
        // A declared glob may match any name that an expression matches.
        None if declared().any(|tool| tool.contains(['*', '?', '['])) => return None,
        names => names.unwrap_or_default(),
    };
    // A glob declares this tool: a name that is declared itself has another name here.
    if names
        .iter()
        .any(|name| vocabulary.has_tool(name) && !declared().any(|tool| tool == *name))
    {
        return None;
    }
    let suggestion = names.iter().take(agent_names::MOST_NAMES).find_map(|name| {
        match declared().find(|tool| tool == name) {
            Some(tool) => Some(protocol.origin.tool_name(tool)),
            None => nearest(name, theirs(), LIKE_AN_EVENT),
        }
    });
    let display = shortened(node.text().unwrap_or_default());
    let problem = Problem::warning_at(node, format!("`{display}` matches no tool of this program"));
    Some(problem.with_suggestion_of(suggestion))
}

/// Checks the command of a handler at this node; its script only if `checks_scripts`.
pub(crate) fn command(
    node: Node<'_, '_>,
    hook: &Hook,
    protocol: &AgentProtocol,
    checks_scripts: bool,
) -> Vec<Problem> {
    let text = match hook.command() {
        HookCommand::Shell { text, .. } => text,
        HookCommand::Answer(_) => return Vec::new(),
        HookCommand::Program(args) => {
            let text = args.join(" ");
            let problem = agent_names::variable(&node, hook, &text, protocol)
                .or_else(|| placeholder(&node, &text))
                .or_else(|| agent_names::home(&node, hook));
            return problem.into_iter().collect();
        }
    };
    let script = if checks_scripts {
        cannot_run(&node, hook, protocol)
    } else {
        None
    };
    let place = agent_names::unquoted(&node, text, hook.base_dir(), protocol)
        .or(script)
        .or_else(|| agent_names::variable(&node, hook, text, protocol))
        .or_else(|| placeholder(&node, text))
        .or_else(|| agent_names::home(&node, hook));
    let problems = [
        unset_variable(&node, hook, text),
        exits_with_1(&node, text, protocol),
        place,
    ];
    problems.into_iter().flatten().collect()
}

fn placeholder(node: &Node<'_, '_>, text: &str) -> Option<Problem> {
    let problem = Problem::warning_at(node, agent_names::placeholder(text)?);
    Some(problem.with_help(agent_names::NO_PLACEHOLDER))
}

/// Variables that the agents do not set: the values are on standard input.
const UNSET: &str = "CLAUDE_TOOL_ CLAUDE_FILE_PATH CLAUDE_HOOK_ TOOL_NAME TOOL_INPUT TOOL_ARGS";

fn unset_variable(node: &Node<'_, '_>, hook: &Hook, text: &str) -> Option<Problem> {
    let names = text.split('$').skip(1);
    let mut names = names.map(|part| part.strip_prefix('{').unwrap_or(part));
    let name = names.find(|name| UNSET.split(' ').any(|unset| name.starts_with(unset)))?;
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let name = &name[..end.unwrap_or(name.len())];
    let is_own = hook.env().contains_key(name) || agent_names::sets(text, name);
    if is_own || !agent_names::is_used(text, name) {
        return None;
    }
    let problem = Problem::warning_at(node, format!("`${name}` is not set for hooks"));
    Some(problem.with_help("the event is on standard input, as in `jq -r .tool_name`"))
}

fn exits_with_1(node: &Node<'_, '_>, text: &str, protocol: &AgentProtocol) -> Option<Problem> {
    let event = protocol.event;
    let marks = ["BLOCK", "Block", "block", "DENIED", "denied"];
    let says_block = marks.iter().any(|mark| text.contains(mark));
    let mut exits = text.split("exit 1").skip(1);
    let is_exit = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_digit());
    let is_guard = event.effect == Effect::Blocks && event.can_block();
    if !is_guard || !says_block || !exits.any(is_exit) {
        return None;
    }
    let title = protocol.origin.agent.title;
    let problem = Problem::warning_at(node, format!("`exit 1` does not block in {title}"));
    Some(problem.with_help("`exit 2` does, with the reason on stderr"))
}

/// Checks the script that a command runs.
fn cannot_run(node: &Node<'_, '_>, hook: &Hook, protocol: &AgentProtocol) -> Option<Problem> {
    let root = hook.base_dir();
    let directories = protocol.directories(root.unwrap_or(Path::new("")));
    let problem = script::check(hook, |name| {
        let mut known = directories.iter();
        // The directory of the project is unknown if there is no project.
        let is_known = |path: &Path| !path.as_os_str().is_empty();
        let (_, path) = known.find(|(known, path)| known == name && is_known(path))?;
        Some(path.to_string_lossy().into_owned())
    })?;
    // Python, and `uv` that starts it, then end with the code that blocks.
    let command = hook.command().to_string();
    let consequence = if hook.on_failure() == FailurePolicy::Block {
        "the hook fails, and blocks"
    } else if command.contains("python") || command.starts_with("uv") {
        "the hook fails"
    } else {
        "the hook fails, and does not block"
    };
    let message = format!("{}: {consequence}", problem.message);
    let mut warning = Problem::warning_at(node, message);
    warning.help = problem.help;
    Some(warning)
}

/// Returns the event that an unknown key probably stands for. A name that is only similar may be that of a newer event.
pub(crate) fn nearest_event(agent: &Agent, name: &str) -> Option<&'static str> {
    let plain = |name: &str| name.to_lowercase().replace(['_', '-', ' '], "");
    let event = nearest(name, agent.event_names(), LIKE_AN_EVENT)?;
    (strsim::levenshtein(&plain(event), &plain(name)) <= MOST_TYPOS).then_some(event)
}

/// The most letters in which a typo of an event's name differs from it.
const MOST_TYPOS: usize = 2;
