//! Names that people know from other programs, and the events that they mean by them.
//!
//! Only for suggestions; does not know those programs.

const NAMES: [(&str, &str); 21] = [
    ("PreToolUse", "tool:pre_execute"),
    ("BeforeTool", "tool:pre_execute"),
    ("PostToolUse", "tool:post_execute"),
    ("AfterTool", "tool:post_execute"),
    ("PostToolUseFailure", "tool:error"),
    ("PermissionRequest", "permission:prompt"),
    ("PermissionDenied", "permission:denied"),
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

/// Returns the pattern that is meant by another program's name of an event, in any case and with any separators
/// (`pre_tool_use`), perhaps with a tool behind it.
pub(crate) fn meant_by(name: &str) -> Option<String> {
    if name.len() > LONGEST {
        return None;
    }
    let (name, tool) = match name.split_once(':') {
        Some((name, tool)) => (name, Some(tool)),
        None => (name, None),
    };
    let name = name.replace(['_', '-', ' '], "");
    let mut known = NAMES.iter();
    let (_, ours) = known.find(|(theirs, _)| theirs.eq_ignore_ascii_case(&name))?;
    Some(match tool {
        Some(tool) => format!("{ours}:{}", tool.to_lowercase()),
        None => (*ours).to_owned(),
    })
}

/// The longest text, in bytes, that is compared.
const LONGEST: usize = 200;
