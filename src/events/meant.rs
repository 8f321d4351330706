//! Names that people know from other programs, and the events that they mean by them.
//!
//! Only for suggestions; does not know those programs.

const NAMES: [(&str, &str); 20] = [
    ("PreToolUse", "tool:pre_execute"),
    ("BeforeTool", "tool:pre_execute"),
    ("PostToolUse", "tool:post_execute"),
    ("AfterTool", "tool:post_execute"),
    ("PostToolUseFailure", "tool:error"),
    ("PermissionRequest", "permission:prompt"),
    ("UserPromptSubmit", "user:prompt_submit"),
    ("BeforeAgent", "user:prompt_submit"),
    ("BeforeModel", "llm:pre_request"),
    ("AfterModel", "llm:post_response"),
    ("SessionStart", "session:start"),
    ("SessionEnd", "session:end"),
    ("Stop", "agent:stop"),
    ("AfterAgent", "agent:stop"),
    ("SubagentStart", "agent:subagent_start"),
    ("SubagentStop", "agent:subagent_stop"),
    ("PreCompact", "context:pre_compact"),
    ("PreCompress", "context:pre_compact"),
    ("PostCompact", "context:post_compact"),
    ("Notification", "notification:show"),
];

/// Returns the event that is called so in another program.
pub(crate) fn meant_by(name: &str) -> Option<&'static str> {
    let found = NAMES.iter().find(|(theirs, _)| *theirs == name);
    found.map(|(_, ours)| *ours)
}
