//! OpenCode, and Kilo CLI, which is made of it. This program runs under them, started by a plugin. Hosts do not run such hooks.
//!
//! The names of the events are those of the plugin's functions, and of two messages. <https://opencode.ai/docs/plugins>

use super::row::*;

const FILE: Pairs = &[("filePath", "path")];
const EDIT: Pairs = &[
    ("filePath", "path"),
    ("oldString", "old_string"),
    ("newString", "new_string"),
];

/// OpenCode.
pub(crate) const OPENCODE: &Agent = &OPENCODE_ROW;

#[rustfmt::skip]
static OPENCODE_ROW: Agent = Agent {
    name: "opencode",
    title: "OpenCode",
    files: &[
        ".config/opencode/plugin/forge-hooks.js", ".config/opencode/config.json", ".config/opencode/opencode.json",
        ".config/opencode/opencode.jsonc", "opencode.json", "opencode.jsonc",
    ],
    // A plugin beside this one may change what this one says, and so may a package.
    also_decides: &[
        ".cache/opencode/node_modules", ".config/opencode/node_modules", ".config/opencode/package.json", ".config/opencode/plugin",
        ".config/opencode/plugins", ".config/opencode/tool", ".config/opencode/tools", ".opencode/node_modules",
        ".opencode/opencode.json", ".opencode/opencode.jsonc", ".opencode/package.json", ".opencode/plugin",
        ".opencode/plugins", ".opencode/tool", ".opencode/tools",
    ],
    may_decide: &[
        ".config/opencode/agent", ".config/opencode/agents", ".config/opencode/command", ".config/opencode/commands",
        ".config/opencode/mode", ".config/opencode/modes", ".config/opencode/skill", ".config/opencode/skills", ".opencode/agent",
        ".opencode/agents", ".opencode/command", ".opencode/commands", ".opencode/mode", ".opencode/modes", ".opencode/skill",
        ".opencode/skills",
    ],
    moved_by: ("XDG_CONFIG_HOME", ".config"),
    set_for_tools: "OPENCODE",
    events: EVENTS,
    fields: &[text("session_id")],
    tools: &[
        tool("bash", &["bash", "shell"]).with_arguments(&[("workdir", "directory")]),
        tool("read", &["read"]).with_arguments(FILE),
        tool("write", &["write"]).with_arguments(FILE),
        tool("edit", &["edit"]).with_arguments(EDIT),
        tool("apply_patch", &["write", "edit", "multi_edit"]).with_arguments(&[("patchText", "command")]),
        tool("glob", &["glob"]), tool("grep", &["grep"]), tool("list", &["ls", "list"]), tool("webfetch", &["web_fetch"]),
        tool("websearch", &["web_search"]), tool("task", &["task", "agent"]),
    ],
    joins_servers: Some("_"),
    plugin: Some(include_str!("opencode.js")),
    answers: Answers {
        context: &["session.created", "chat.message", "tool.execute.after"],
        outputs: Outputs::Text("text"),
        cannot_end_turn: &["session.created", "chat.message", "tool.execute.before", "tool.execute.after"],
        ..ANSWERS
    },
    ..AGENT
};

/// Kilo CLI: what has its name is named after it.
pub(crate) const KILO: &Agent = &KILO_ROW;

#[rustfmt::skip]
static KILO_ROW: Agent = Agent {
    name: "kilo",
    title: "Kilo CLI",
    files: &[
        ".config/kilo/plugin/forge-hooks.js", ".config/kilo/kilo.json", ".config/kilo/kilo.jsonc", "kilo.json", "kilo.jsonc",
    ],
    also_decides: &[
        ".config/kilo/node_modules", ".config/kilo/package.json", ".config/kilo/plugin", ".config/kilo/plugins",
        ".config/kilo/tool", ".config/kilo/tools", ".kilo", ".kilocode", ".opencode/plugin", ".opencode/plugins",
    ],
    may_decide: &[
        ".config/kilo/agent", ".config/kilo/agents", ".config/kilo/command", ".config/kilo/commands", ".config/kilo/mode",
        ".config/kilo/modes", ".config/kilo/skill", ".config/kilo/skills",
    ],
    set_for_tools: "KILO",
    ..*OPENCODE
};

#[rustfmt::skip]
const BEFORE: Specific = Specific { input: Some("updatedInput"), ..SPECIFIC };

#[rustfmt::skip]
const EVENTS: &[Event] = &[
    Event {
        name: "tool.execute.before", fires: UnderAgent("tool:pre_execute"), subject: TOOL, effect: Blocks, specific: BEFORE,
        fields: &[INPUT, CALL], ..EVENT
    },
    Event {
        name: "tool.execute.after", fires: UnderAgent("tool:post_execute"), subject: TOOL, effect: FeedsBack,
        specific: Specific { output: &["updatedToolOutput"], ..SPECIFIC }, fields: &[INPUT, ("tool_response", Text("")), CALL], ..EVENT
    },
    Event { name: "chat.message", fires: UnderAgent("user:prompt_submit"), effect: Blocks, fields: &[text("prompt")], ..EVENT },
    Event { name: "session.created", fires: UnderAgent("session:start"), fields: &[text("source")], ..EVENT },
];
