//! The names that other tools have for events and tools, and the names here: one table for loading and
//! running.
//!
//! Knows neither files nor payloads.

use std::time::Duration;

use super::dialect::Dialect;

/// An event of another tool.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ForeignEvent {
    /// The name in the other tool.
    pub(crate) name: &'static str,
    /// The event here; none if hosts do not fire it.
    pub(crate) event: Option<&'static str>,
    pub(crate) subject: Subject,
    /// The timeout of a hook without its own.
    pub(crate) timeout: Duration,
}

/// The text that a matcher is tested against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The tool ignores the matcher.
    Nothing,
    /// The name of the event's tool.
    Tool,
    /// A value of the event's data, and the default if the host does not set it.
    Data {
        key: &'static str,
        default: &'static str,
    },
}

const SOURCE: Subject = data("source", "startup");
const REASON: Subject = data("reason", "other");
const TRIGGER: Subject = data("trigger", "auto");
const AGENT: Subject = data("agent_type", "general-purpose");
const NOTIFICATION: Subject = data("notification_type", "");

const fn data(key: &'static str, default: &'static str) -> Subject {
    Subject::Data { key, default }
}

const fn row(name: &'static str, event: &'static str, subject: Subject) -> ForeignEvent {
    ForeignEvent {
        name,
        event: Some(event),
        subject,
        timeout: Duration::from_secs(600),
    }
}

const fn unfired(name: &'static str) -> ForeignEvent {
    ForeignEvent {
        event: None,
        ..row(name, "", Subject::Nothing)
    }
}

impl ForeignEvent {
    const fn within(self, milliseconds: u64) -> Self {
        Self {
            timeout: Duration::from_millis(milliseconds),
            ..self
        }
    }
}

static CLAUDE: [ForeignEvent; 30] = [
    row("PreToolUse", "tool:pre_execute", Subject::Tool),
    row("PostToolUse", "tool:post_execute", Subject::Tool),
    row("PostToolUseFailure", "tool:error", Subject::Tool),
    row("PermissionRequest", "permission:prompt", Subject::Tool),
    row("UserPromptSubmit", "user:prompt_submit", Subject::Nothing).within(30_000),
    row("SessionStart", "session:start", SOURCE),
    row("SessionEnd", "session:end", REASON).within(1_500),
    row("Notification", "notification:show", NOTIFICATION),
    row("Stop", "agent:stop", Subject::Nothing),
    row("SubagentStart", "agent:subagent_start", AGENT),
    row("SubagentStop", "agent:subagent_stop", AGENT),
    row("PreCompact", "context:pre_compact", TRIGGER),
    row("PostCompact", "context:post_compact", TRIGGER),
    unfired("ConfigChange"),
    unfired("CwdChanged"),
    unfired("Elicitation"),
    unfired("ElicitationResult"),
    unfired("FileChanged"),
    unfired("InstructionsLoaded"),
    unfired("MessageDisplay"),
    unfired("PermissionDenied"),
    unfired("PostToolBatch"),
    unfired("Setup"),
    unfired("StopFailure"),
    unfired("TaskCompleted"),
    unfired("TaskCreated"),
    unfired("TeammateIdle"),
    unfired("UserPromptExpansion"),
    unfired("WorktreeCreate"),
    unfired("WorktreeRemove"),
];

static CODEX: [ForeignEvent; 10] = [
    row("PreToolUse", "tool:pre_execute", Subject::Tool),
    row("PostToolUse", "tool:post_execute", Subject::Tool),
    row("PermissionRequest", "permission:prompt", Subject::Tool),
    row("UserPromptSubmit", "user:prompt_submit", Subject::Nothing),
    row("SessionStart", "session:start", SOURCE),
    row("Stop", "agent:stop", Subject::Nothing),
    row("SubagentStart", "agent:subagent_start", AGENT),
    row("SubagentStop", "agent:subagent_stop", AGENT),
    row("PreCompact", "context:pre_compact", TRIGGER),
    row("PostCompact", "context:post_compact", TRIGGER),
];

static GEMINI: [ForeignEvent; 11] = [
    row("BeforeTool", "tool:pre_execute", Subject::Tool).within(60_000),
    row("AfterTool", "tool:post_execute", Subject::Tool).within(60_000),
    row("BeforeAgent", "user:prompt_submit", Subject::Nothing).within(60_000),
    row("AfterAgent", "agent:stop", Subject::Nothing).within(60_000),
    row("BeforeModel", "llm:pre_request", Subject::Nothing).within(60_000),
    row("AfterModel", "llm:post_response", Subject::Nothing).within(60_000),
    row("SessionStart", "session:start", SOURCE).within(60_000),
    row("SessionEnd", "session:end", REASON).within(60_000),
    row("PreCompress", "context:pre_compact", TRIGGER).within(60_000),
    row("Notification", "notification:show", NOTIFICATION).within(60_000),
    unfired("BeforeToolSelection"),
];

/// Returns the events of a tool; empty for this crate's own dialect.
pub(crate) fn events(dialect: Dialect) -> &'static [ForeignEvent] {
    match dialect {
        Dialect::Native => &[],
        Dialect::Claude => &CLAUDE,
        Dialect::Codex => &CODEX,
        Dialect::Gemini => &GEMINI,
    }
}

/// Returns the event that has this name in a tool.
pub(crate) fn event(dialect: Dialect, name: &str) -> Option<&'static ForeignEvent> {
    events(dialect).iter().find(|event| event.name == name)
}

/// The event of this crate that a tool calls by this name.
pub(crate) fn our_event(name: &str) -> Option<&'static str> {
    let tools = [Dialect::Claude, Dialect::Codex, Dialect::Gemini];
    tools.iter().find_map(|tool| event(*tool, name)?.event)
}

/// Names of tools: the usual names in hosts, then the names in Claude Code, Codex and Gemini CLI.
const TOOLS: [(&[&str], &str, &str, &str); 11] = [
    (&["bash", "shell"], "Bash", "Bash", "run_shell_command"),
    (&["read"], "Read", "read", "read_file"),
    (&["write"], "Write", "apply_patch", "write_file"),
    (&["edit"], "Edit", "apply_patch", "replace"),
    (&["multi_edit"], "MultiEdit", "apply_patch", "replace"),
    (&["glob"], "Glob", "glob", "glob"),
    (&["grep"], "Grep", "grep", "grep_search"),
    (&["ls", "list"], "LS", "ls", "list_directory"),
    (&["web_fetch"], "WebFetch", "web_fetch", "web_fetch"),
    (
        &["web_search"],
        "WebSearch",
        "web_search",
        "google_web_search",
    ),
    (&["task", "agent"], "Task", "task", "task"),
];

/// Returns the name in another tool of a tool of the host; the same name if the table does not contain it.
pub(crate) fn tool_name(dialect: Dialect, name: &str) -> &str {
    let found = TOOLS.iter().find(|(ours, ..)| ours.contains(&name));
    match (dialect, found) {
        (Dialect::Claude, Some((_, claude, ..))) => claude,
        (Dialect::Codex, Some((_, _, codex, _))) => codex,
        (Dialect::Gemini, Some((.., gemini))) => gemini,
        (Dialect::Native, _) | (_, None) => name,
    }
}

/// Returns whether a tool reads a matcher of tools as a list of exact names, not as a regular expression.
pub(crate) fn is_list_of_names(dialect: Dialect, matcher: &str) -> bool {
    let plain = match dialect {
        Dialect::Codex => "_|",
        Dialect::Claude => "_- ,|",
        Dialect::Gemini | Dialect::Native => return false,
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || plain.contains(c);
    matcher.chars().all(is_plain)
}

/// Returns other names that a matcher may have for a tool, besides the name in the tool's payload.
pub(crate) fn also_called(dialect: Dialect, name: &str) -> &'static [&'static str] {
    match (dialect, name) {
        (Dialect::Claude, "Task") => &["Agent"],
        (Dialect::Claude, "Agent") => &["Task"],
        (Dialect::Codex, "apply_patch") => &["Edit", "Write"],
        (Dialect::Gemini, "grep_search") => &["search_file_content"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::EventPattern;

    #[test]
    fn every_event_is_a_valid_pattern() {
        for dialect in Dialect::ALL {
            for (index, event) in events(*dialect).iter().enumerate() {
                if let Some(ours) = event.event {
                    EventPattern::new(ours).unwrap();
                }
                let others = &events(*dialect)[index + 1..];
                assert!(others.iter().all(|other| other.name != event.name));
            }
        }
    }

    #[test]
    fn lists_of_names_have_their_characters() {
        use Dialect::{Claude, Codex, Gemini};
        for (matcher, dialects) in [
            ("Bash", &[Claude, Codex][..]),
            ("Edit|mcp__a__b2", &[Claude, Codex]),
            ("mcp__my-server", &[Claude]),
            ("Edit, Write", &[Claude]),
            ("Edit |Write", &[Claude]),
            ("Edit.*", &[]),
            ("Änderung", &[]),
        ] {
            let found = [Claude, Codex, Gemini].into_iter();
            let found: Vec<_> = found.filter(|it| is_list_of_names(*it, matcher)).collect();
            assert_eq!(found, dialects, "{matcher}");
        }
    }

    #[test]
    fn tools_have_the_other_tools_names() {
        for (dialect, ours, expected) in [
            (Dialect::Claude, "bash", "Bash"),
            (Dialect::Claude, "Bash", "Bash"),
            (Dialect::Codex, "edit", "apply_patch"),
            (Dialect::Gemini, "bash", "run_shell_command"),
            (Dialect::Gemini, "mcp__x__y", "mcp__x__y"),
            (Dialect::Native, "bash", "bash"),
        ] {
            assert_eq!(tool_name(dialect, ours), expected);
        }
    }
}
