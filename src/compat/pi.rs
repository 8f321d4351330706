//! Pi. This program runs under it, started by an extension. Hosts do not run such hooks.
//!
//! The names of the events are those of the extension's handlers. <https://pi.dev/docs/extensions>

use super::agent::Effect::{Blocks, FeedsBack};
use super::agent::Fires::UnderAgent;
use super::agent::Unset::Text;
use super::agent::{Agent, EVENT, Event, NOT_EMULATED, Pairs, SPECIFIC, Specific, tool};
use super::agents::{CALL, INPUT, TOOL, text};

/// In its list of edits.
const EDITS: Pairs = &[("oldText", "old_string"), ("newText", "new_string")];

/// Pi of Earendil.
#[rustfmt::skip]
pub(crate) const PI: &Agent = &Agent {
    name: "pi",
    title: "Pi",
    files: &[".pi/agent/extensions/forge-hooks.ts", ".pi/agent/settings.json", ".pi/settings.json"],
    also_decides: &[
        ".pi/agent/bin", ".pi/agent/extensions", ".pi/agent/mcp.json", ".pi/agent/npm", ".pi/agent/trust.json", ".pi/extensions",
        ".pi/mcp.json", ".pi/npm",
    ],
    may_decide: &[".pi/agent/prompts", ".pi/agent/skills", ".pi/prompts", ".pi/skills"],
    decides_at_home: &[],
    moved_by: ("PI_CODING_AGENT_DIR", ".pi/agent"),
    set_for_tools: "PI_CODING_AGENT",
    approval: None,
    reads_plain_json: false,
    version: None,
    bare_patches: false,
    all_off: None,
    disabled: None,
    environment: None,
    names_handlers: false,
    milliseconds: false,
    seconds: 600,
    events: EVENTS,
    fields: &[text("session_id")],
    renamed: &[("tool_args", "tool_input"), ("tool_result", "tool_response"), ("content", "prompt")],
    tools: &[
        tool("bash", &["bash", "shell"]).needing(&["command"]),
        tool("read", &["read"]).needing(&["path"]), tool("write", &["write"]).needing(&["path"]),
        tool("edit", &["edit", "multi_edit"]).with_arguments(EDITS).needing(&["path"]), tool("find", &["glob"]), tool("grep", &["grep"]),
        tool("ls", &["ls", "list"]),
    ],
    corrects_paths: false,
    joins_servers: None,
    plugin: Some(include_str!("../agents/pi.ts")),
    variables: &[],
    emulated: NOT_EMULATED,
};

#[rustfmt::skip]
const BEFORE: Specific = Specific { input: Some("updatedInput"), ..SPECIFIC };

#[rustfmt::skip]
const EVENTS: &[Event] = &[
    Event {
        name: "tool_call", fires: UnderAgent("tool:pre_execute"), subject: TOOL, effect: Blocks, specific: BEFORE,
        fields: &[INPUT, CALL], ..EVENT
    },
    Event {
        name: "tool_result", fires: UnderAgent("tool:post_execute"), subject: TOOL, effect: FeedsBack,
        specific: Specific { output: &["updatedToolOutput"], ..SPECIFIC }, fields: &[INPUT, ("tool_response", Text("")), CALL], ..EVENT
    },
    Event { name: "input", fires: UnderAgent("user:prompt_submit"), effect: Blocks, fields: &[text("prompt")], ..EVENT },
    Event { name: "session_start", fires: UnderAgent("session:start"), fields: &[text("source")], ..EVENT },
];
