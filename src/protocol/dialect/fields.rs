//! The input fields of hooks that each tool documents, and their values if the host does not set them.
//! docs/other-tools.md shows the same table.

use serde_json::{Value, json};

use crate::hook::Dialect;

/// The value of a field that the host does not set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Unset {
    Text(&'static str),
    No,
    Null,
    Object,
}

use Unset::{No, Null, Object, Text};

impl Unset {
    pub(super) fn to_json(self) -> Value {
        match self {
            Text(text) => text.into(),
            No => Value::Bool(false),
            Null => Value::Null,
            Object => json!({}),
        }
    }
}

type Fields = &'static [(&'static str, Unset)];

const BLANK: Unset = Text("");

/// The fields of every event, in addition to `hook_event_name`, `cwd` and, for Gemini CLI,
/// `timestamp`.
pub(super) fn common(dialect: Dialect) -> Fields {
    match dialect {
        Dialect::Native => &[],
        Dialect::Claude => &[
            ("session_id", BLANK),
            ("transcript_path", BLANK),
            ("permission_mode", Text("default")),
        ],
        Dialect::Codex => &[
            ("session_id", BLANK),
            ("transcript_path", Null),
            ("permission_mode", Text("default")),
            ("model", BLANK),
        ],
        Dialect::Gemini => &[("session_id", BLANK), ("transcript_path", BLANK)],
    }
}

/// The fields of one event, by the tool's name of it.
pub(super) fn own(dialect: Dialect, event: &str) -> Fields {
    match dialect {
        Dialect::Native => &[],
        Dialect::Claude => claude(event),
        Dialect::Codex => codex(event),
        Dialect::Gemini => gemini(event),
    }
}

fn claude(event: &str) -> Fields {
    match event {
        "PreToolUse" => &[("tool_input", Object), ("tool_use_id", BLANK)],
        "PostToolUse" => &[
            ("tool_input", Object),
            ("tool_response", Null),
            ("tool_use_id", BLANK),
        ],
        "PostToolUseFailure" => &[
            ("tool_input", Object),
            ("tool_use_id", BLANK),
            ("error", BLANK),
            ("is_interrupt", No),
        ],
        "PermissionRequest" => &[("tool_input", Object)],
        "UserPromptSubmit" => &[("prompt", BLANK)],
        "SessionStart" => &[("source", Text("startup")), ("model", BLANK)],
        "SessionEnd" => &[("reason", Text("other"))],
        "Notification" => &[("message", BLANK), ("notification_type", BLANK)],
        "Stop" => &[("stop_hook_active", No), ("last_assistant_message", BLANK)],
        "SubagentStart" => &[("agent_id", BLANK), ("agent_type", BLANK)],
        "SubagentStop" => &[
            ("agent_id", BLANK),
            ("agent_type", BLANK),
            ("agent_transcript_path", BLANK),
            ("stop_hook_active", No),
            ("last_assistant_message", BLANK),
        ],
        "PreCompact" => &[("trigger", Text("auto")), ("custom_instructions", BLANK)],
        "PostCompact" => &[("trigger", Text("auto")), ("compact_summary", BLANK)],
        _ => &[],
    }
}

fn codex(event: &str) -> Fields {
    match event {
        "PreToolUse" => &[
            ("turn_id", BLANK),
            ("tool_input", Object),
            ("tool_use_id", BLANK),
        ],
        "PostToolUse" => &[
            ("turn_id", BLANK),
            ("tool_input", Object),
            ("tool_response", Null),
            ("tool_use_id", BLANK),
        ],
        "PermissionRequest" => &[("turn_id", BLANK), ("tool_input", Object)],
        "UserPromptSubmit" => &[("turn_id", BLANK), ("prompt", BLANK)],
        "SessionStart" => &[("source", Text("startup"))],
        "Stop" => &[
            ("turn_id", BLANK),
            ("stop_hook_active", No),
            ("last_assistant_message", Null),
        ],
        "SubagentStart" => &[
            ("turn_id", BLANK),
            ("agent_id", BLANK),
            ("agent_type", BLANK),
        ],
        "SubagentStop" => &[
            ("turn_id", BLANK),
            ("agent_id", BLANK),
            ("agent_type", BLANK),
            ("agent_transcript_path", Null),
            ("stop_hook_active", No),
            ("last_assistant_message", Null),
        ],
        "PreCompact" | "PostCompact" => &[("turn_id", BLANK), ("trigger", Text("auto"))],
        _ => &[],
    }
}

fn gemini(event: &str) -> Fields {
    match event {
        "BeforeTool" => &[("tool_input", Object)],
        "AfterTool" => &[("tool_input", Object), ("tool_response", Object)],
        "BeforeAgent" => &[("prompt", BLANK)],
        "AfterAgent" => &[
            ("prompt", BLANK),
            ("prompt_response", BLANK),
            ("stop_hook_active", No),
        ],
        "BeforeModel" => &[("llm_request", Object)],
        "AfterModel" => &[("llm_request", Object), ("llm_response", Object)],
        "SessionStart" => &[("source", Text("startup"))],
        "SessionEnd" => &[("reason", Text("other"))],
        "PreCompress" => &[("trigger", Text("auto"))],
        "Notification" => &[
            ("notification_type", Text("ToolPermission")),
            ("message", BLANK),
            ("details", Object),
        ],
        _ => &[],
    }
}
