//! Pi. This program runs under it, started by an extension. Hosts do not run such hooks.
//!
//! The names of the events are those of the extension's handlers. <https://pi.dev/docs/extensions>

use super::row::*;

/// In its list of edits.
const EDITS: Pairs = &[("oldText", "old_string"), ("newText", "new_string")];

/// Pi of Earendil.
pub(crate) const PI: &Agent = &ROW;

#[rustfmt::skip]
static ROW: Agent = Agent {
    name: "pi",
    title: "Pi",
    files: &[".pi/agent/extensions/forge-hooks.ts", ".pi/agent/settings.json", ".pi/settings.json"],
    also_decides: &[
        ".pi/agent/bin", ".pi/agent/extensions", ".pi/agent/git", ".pi/agent/mcp.json", ".pi/agent/npm", ".pi/agent/trust.json", ".pi/extensions",
        ".pi/git", ".pi/mcp.json", ".pi/npm",
    ],
    may_decide: &[".pi/agent/prompts", ".pi/agent/skills", ".pi/prompts", ".pi/skills"],
    moved_by: ("PI_CODING_AGENT_DIR", ".pi/agent"),
    set_for_tools: "PI_CODING_AGENT",
    events: EVENTS,
    fields: &[text("session_id")],
    tools: &[
        tool("bash", &["bash", "shell"]),
        tool("read", &["read"]), tool("write", &["write"]),
        tool("edit", &["edit", "multi_edit"]).with_arguments(EDITS), tool("find", &["glob"]), tool("grep", &["grep"]),
        tool("ls", &["ls", "list"]),
    ],
    plugin: Some(include_str!("pi.ts")),
    answers: Answers {
        context: &["session_start", "input", "tool_result"],
        outputs: Outputs::Text("text"),
        cannot_end_turn: &["session_start", "input", "tool_result"],
        ..ANSWERS
    },
    ..AGENT
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
