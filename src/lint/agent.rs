//! Warnings for common mistakes in hooks for other agents, each with its fix.
//!
//! These hooks load, but do not do what their authors intended.

use std::path::Path;

use super::{agent_names, script};
use crate::agents::{Agent, Effect, Event};
use crate::command::Outline;
use crate::compat::AgentProtocol;
use crate::entry::{FailurePolicy, HookCommand};
use crate::events::{LIKE_AN_EVENT, Vocabulary, nearest};
use crate::hook::Hook;
use crate::json::Node;
use crate::printable::shortened;
use crate::problem::Problem;
use crate::protocol::Protocol;

/// Checks a group's matcher.
pub(crate) fn matcher(node: &Node<'_, '_>, event: &Event, agent: &Agent) -> Option<Problem> {
    let text = node.text().filter(|_| event.is_of_tool())?.trim();
    let display = shortened(text);
    if is_rule(text) {
        let message = format!("`{display}` is a permission rule, which matches no tool");
        let help = if agent.emulated.keys.contains(&"if") {
            "write the tool's name as \"matcher\", and each rule as \"if\" in a handler"
        } else {
            "write the tool's name as \"matcher\", and test the arguments in the hook"
        };
        return Some(Problem::warning_at(node, message).with_help(help));
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

/// Returns whether a text consists of rules, as `Edit(*.ts)|Write(*.ts)` or `Edit:*.ts`. An expression may have such brackets, as
/// in `Web(Fetch|Search)`: these are parts of names.
fn is_rule(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let argument = &text[end..];
    let is_expression = argument.chars().all(|c| is_part(c) || "(|)".contains(c));
    let has_argument = argument.starts_with('(') && argument.ends_with(')') && !is_expression;
    end > 0 && (has_argument || argument.starts_with(':'))
}

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
    let names = names.iter().take(agent_names::MOST_NAMES);
    let mut suggestions = names.filter_map(|name| match declared().find(|tool| tool == name) {
        Some(tool) => Some(protocol.origin.tool_name(tool)),
        None => nearest(name, theirs(), LIKE_AN_EVENT),
    });
    let display = shortened(node.text().unwrap_or_default());
    let problem = Problem::warning_at(node, format!("`{display}` matches no tool of this program"));
    Some(problem.with_suggestion_of(suggestions.next()))
}

/// Checks the command of a handler at this node; its script only if `checks_scripts`.
pub(crate) fn command(
    node: Node<'_, '_>,
    hook: &Hook,
    protocol: &AgentProtocol,
    checks_scripts: bool,
) -> Vec<Problem> {
    let text = match hook.action() {
        HookCommand::Shell { text, .. } => text.to_string(),
        HookCommand::Program(args) => args.join(" "),
        HookCommand::Answer(_) => return Vec::new(),
    };
    let is_program = matches!(hook.action(), HookCommand::Program(_));
    let split = unquoted(hook, &text, protocol).filter(|_| !is_program);
    let script = || {
        let is_looked_at = checks_scripts && !is_program;
        is_looked_at.then(|| cannot_run(hook, protocol)).flatten()
    };
    let of_words = split
        .or_else(script)
        .or_else(|| agent_names::variable(hook, &text, protocol))
        .or_else(|| {
            let (message, help) = agent_names::placeholder(&text)?;
            Some((message, help.to_owned()))
        });
    let exit = exits_with_1(&text, protocol).filter(|_| !is_program);
    let findings = exit.into_iter().chain(of_words);
    let problems = findings.map(|(message, help)| {
        let mut problem = Problem::warning_at(&node, message);
        problem.help = Some(help).filter(|help| !help.is_empty());
        problem
    });
    problems.collect()
}

/// Finds the path of a directory that the shell splits at its blanks.
fn unquoted(hook: &Hook, text: &str, protocol: &AgentProtocol) -> Option<(String, String)> {
    let directories = protocol.directories(hook.base_dir().unwrap_or(Path::new("")));
    let has_blank = |path: &Path| path.to_string_lossy().contains(char::is_whitespace);
    let mut split = directories.iter().filter(|(_, path)| has_blank(path));
    let steps = Outline::read(text).steps;
    // In `[[ .. ]]`, nothing is split.
    let words = steps
        .iter()
        .map(|step| &step.words[..])
        .filter(|words| words.first().is_some_and(|word| word.source != "[["))
        .flatten();
    // The word begins with the variable, outside of quotes.
    let begins = |word: &str, name: &str| {
        let second = word.match_indices('$').nth(1);
        let end = second.map_or(word.len(), |(at, _)| at);
        word.starts_with('$') && agent_names::is_used(&word[..end], name)
    };
    let (name, _) = split.find(|(name, _)| words.clone().any(|word| begins(word.source, name)))?;
    Some((
        format!("without quotes, the shell splits the value of `${name}` at its blanks"),
        // Gemini CLI puts a path with quotes of its own in the place of a variable without braces.
        format!("put it in quotes, as in \\\"${{{name}}}\\\"/guard.sh"),
    ))
}

fn exits_with_1(text: &str, protocol: &AgentProtocol) -> Option<(String, String)> {
    let event = protocol.event;
    let text_in_lower_case = text.to_lowercase();
    let marks = ["block", "denied"];
    let refuses = marks.iter().any(|mark| text_in_lower_case.contains(mark));
    let mut exits = text.split("exit 1").skip(1);
    let is_exit = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_digit());
    let is_guard = event.effect == Effect::Blocks && event.can_block();
    if !is_guard || !refuses || !exits.any(is_exit) {
        return None;
    }
    let title = protocol.origin.agent.title;
    let help = "`exit 2` does, with the reason on stderr";
    Some((
        format!("`exit 1` does not block in {title}"),
        help.to_owned(),
    ))
}

/// Checks the script that a command runs.
fn cannot_run(hook: &Hook, protocol: &AgentProtocol) -> Option<(String, String)> {
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
    let command = hook.command();
    let consequence = if hook.on_failure() == FailurePolicy::Block {
        "the hook fails, and blocks"
    } else if command.contains("python") || command.starts_with("uv") {
        "the hook fails"
    } else {
        "the hook fails, and does not block"
    };
    let message = format!("{}: {consequence}", problem.message);
    Some((message, problem.help.unwrap_or_default()))
}

/// Returns the event that an unknown key probably stands for. A name that is only similar may be that of a newer event.
pub(crate) fn nearest_event(agent: &Agent, name: &str) -> Option<&'static str> {
    let plain = |name: &str| name.to_lowercase().replace(['_', '-', ' '], "");
    let event = nearest(name, agent.event_names(), LIKE_AN_EVENT)?;
    (strsim::levenshtein(&plain(event), &plain(name)) <= MOST_TYPOS).then_some(event)
}

/// The most letters in which a typo of an event's name differs from it.
const MOST_TYPOS: usize = 2;
