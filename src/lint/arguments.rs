//! Finds a condition on an argument that no call of an agent's tool has: a guard then stops each of these calls.
//!
//! Knows the tools of agents alone. A tool of a server has arguments of its own.

use std::collections::BTreeSet;

use super::host::Host;
use crate::agents::{BRIDGED, Tool};
use crate::events::{LIKE_AN_EVENT, nearest};
use crate::hook::Hook;
use crate::printable::shortened;

/// The tool of which a condition on a command is.
const SHELL: &str = "bash";
const COMMAND: &str = "command";

/// Returns the mistake in the pointer of a condition, and the fix.
pub(super) fn finding(pointer: &str, hook: &Hook, host: &Host) -> Option<(String, String)> {
    let name = pointer.strip_prefix("/tool_args/")?;
    let is_of_server = hook.pattern().as_str().contains("mcp");
    if is_of_server || !host.vocabulary.is_of_agents() {
        return None;
    }
    foreign(name)
        .or_else(|| misspelled(name))
        .or_else(|| without_command(name, hook))
}

fn tools() -> impl Iterator<Item = &'static Tool> {
    BRIDGED.iter().flat_map(|agent| agent.tools)
}

/// Finds an agent's name of a path.
fn foreign(name: &str) -> Option<(String, String)> {
    let mut pairs = tools().flat_map(|tool| tool.arguments);
    let is_foreign = pairs.any(|(theirs, ours)| *theirs == name && *ours == "path");
    is_foreign.then(|| {
        (
            format!(
                "`{}` is an agent's name, which no event has",
                shortened(name)
            ),
            "here the path is in `/tool_args/path`".to_owned(),
        )
    })
}

fn misspelled(name: &str) -> Option<(String, String)> {
    let ours = tools().flat_map(|tool| tool.arguments.iter().map(|(_, ours)| *ours));
    let known: BTreeSet<_> = ours
        .chain([COMMAND, "path", "content", "url", "pattern"])
        .collect();
    let similar = nearest(name, known.iter().copied(), LIKE_AN_EVENT)?;
    let is_typo = similar != name && !tools().any(|tool| tool.needs.contains(&name));
    is_typo.then(|| {
        (
            format!(
                "no tool of an agent has `{}`, so the condition cannot be tested",
                shortened(name)
            ),
            format!("did you mean `/tool_args/{similar}`?"),
        )
    })
}

/// Finds a condition on the command of tools that have none.
fn without_command(name: &str, hook: &Hook) -> Option<(String, String)> {
    if name != COMMAND {
        return None;
    }
    let is_shell = |tool: &&Tool| tool.ours.first() == Some(&SHELL);
    let is_known = |name: &str| tools().any(|tool| tool.ours.contains(&name));
    let runs = |name: &str| {
        tools()
            .filter(is_shell)
            .any(|tool| tool.ours.contains(&name))
    };
    let alternatives = hook.pattern().alternatives().iter();
    let of_tools = alternatives.filter(|alternative| alternative.event_text().starts_with("tool:"));
    let mut other = of_tools.filter_map(|alternative| match alternative.tool() {
        None => Some("most tools have".to_owned()),
        Some(part) => {
            let mut names = part.names.iter().map(|name| &*name.text);
            let other = names.find(|name| is_known(name) && !runs(name))?;
            Some(format!("`{other}` has"))
        }
    });
    let other = other.next()?;
    Some((
        format!(
            "{other} no `command`, so the condition cannot be tested, and the hook runs at each call"
        ),
        format!("name the tool, as in `tool:pre_execute:{SHELL}`"),
    ))
}
