//! Keys that people know from other programs, and the keys of an entry that correspond to them.
//!
//! Only suggestions use this table. Does not know those programs.

/// Events that only one program has, in the object `hooks` of its files. Cursor:
/// <https://cursor.com/docs/agent/hooks>, Copilot CLI: <https://docs.github.com/en/copilot/reference/hooks-configuration>.
const EVENTS: [(&str, &[&str]); 2] = [
    (
        "Cursor",
        &[
            "afterAgentResponse",
            "afterAgentThought",
            "afterFileEdit",
            "afterMCPExecution",
            "afterShellExecution",
            "afterTabFileEdit",
            "beforeMCPExecution",
            "beforeReadFile",
            "beforeShellExecution",
            "beforeSubmitPrompt",
            "beforeTabFileRead",
            "workspaceOpen",
        ],
    ),
    (
        "Copilot CLI",
        &["agentStop", "errorOccurred", "userPromptSubmitted"],
    ),
];

/// Returns the program whose file has these events; None if it is not known.
pub(super) fn program_of_events<'a>(
    mut events: impl Iterator<Item = &'a str>,
) -> Option<&'static str> {
    events.find_map(|event| {
        let (title, _) = EVENTS.iter().find(|(_, known)| known.contains(&event))?;
        Some(*title)
    })
}

/// Returns whether a key of another program keeps a hook from some events.
pub(super) fn is_condition_elsewhere(key: &str) -> bool {
    matches!(key, "matcher" | "tool" | "tools" | "if")
}

/// Returns the replacement for a key of another program.
pub(super) fn help_for_key(key: &str) -> Option<&'static str> {
    Some(match key {
        "matcher" | "tool" => "name the tool in `event`, as in `tool:pre_execute:bash`",
        "tools" => "name the tools in `event`, as in `tool:pre_execute:bash|write`",
        "hooks" => "write each hook as its own entry, with `event` and `command`",
        "disabled" => "write \"enabled\": false",
        "type" => "remove it: every hook has a command",
        "async" => "write \"background\": true",
        "if" => "write `when`, as in {\"/tool_args/command\": \"git *\"}",
        "cwd" => "write `working_dir`",
        "cmd" | "run" | "script" => "write `command`",
        "id" => "write `name`",
        "timeout_ms" | "timeoutMs" => "write `timeout`, in seconds",
        _ => return None,
    })
}
