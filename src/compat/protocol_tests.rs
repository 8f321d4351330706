//! Tables of the events that a handler is for, and of the content of its hook.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::protocol::{AgentProtocol, Origin};
use crate::agents::Agent;
use crate::agents::{CLAUDE, CODEX};
use crate::events::HookEvent;
use crate::hook::Hook;
use crate::protocol::Protocol;

pub(super) fn protocol(agent: &'static Agent, event: &str, matcher: &str) -> AgentProtocol {
    of_plugin(agent, event, matcher, None)
}

fn of_plugin(
    agent: &'static Agent,
    event: &str,
    matcher: &str,
    plugin: Option<&str>,
) -> AgentProtocol {
    let event = agent.event_named(event).unwrap();
    AgentProtocol::new(&origin(agent, plugin), event, matcher)
}

fn origin(agent: &'static Agent, plugin: Option<&str>) -> Arc<Origin> {
    Arc::new(Origin {
        agent,
        base_dir: None,
        plugin: plugin.map(PathBuf::from),
        mapped: Arc::default(),
        is_strict: false,
    })
}

#[track_caller]
fn case(agent: &'static Agent, event: &str, matcher: &str, subject: &str, expected: bool) {
    let protocol = protocol(agent, event, matcher);
    let fired = match protocol.event.subject {
        Some(key) if !protocol.event.is_of_tool() => {
            HookEvent::session_start("s").with_data(key, subject)
        }
        _ => HookEvent::tool_pre_execute(subject, json!({})),
    };
    assert_eq!(protocol.fault(), None);
    let is_met = protocol.mismatch(&fired).is_none();
    assert_eq!(is_met, expected, "{agent} {matcher} {subject}");
}

#[test]
fn matchers_are_read_as_each_tool_reads_them() {
    for (matcher, tool, expected) in [
        ("", "bash", true),
        ("*", "x", true),
        ("Bash", "bash", true),
        ("Bash", "BashOutput", false),
        ("bash", "bash", false),
        ("Edit|Write", "write", true),
        ("Edit, Write", "Write", true),
        ("Edit.*", "NotebookEdit", true),
        ("^Edit$", "NotebookEdit", false),
        ("mcp__memory", "mcp__memory__x", false),
        ("mcp__memory__.*", "mcp__memory__x", true),
        ("Bash(git *)", "bash", false),
        ("Task", "Agent", true),
    ] {
        case(CLAUDE, "PreToolUse", matcher, tool, expected);
    }
    case(CLAUDE, "SessionStart", "startup|resume", "resume", true);
    case(CLAUDE, "SessionStart", "startup|resume", "clear", false);
    case(CLAUDE, "Stop", "anything", "x", true);
    case(CODEX, "PreToolUse", "Edit|Write", "edit", true);
    case(CODEX, "PreToolUse", "^apply_patch$", "write", true);
    let of_server = "mcp__my-server__read";
    case(CODEX, "PreToolUse", "mcp__my-server", of_server, true);
    case(CLAUDE, "PreToolUse", "mcp__my-server", of_server, false);
    case(CODEX, "SessionStart", "start-?up", "startup", true);
}

#[test]
fn a_missing_value_has_a_default() {
    let event = HookEvent::session_start("s");
    let is_met = |matcher| {
        let protocol = protocol(CLAUDE, "SessionStart", matcher);
        protocol.mismatch(&event).is_none()
    };
    assert!(is_met("startup"));
    assert!(!is_met("resume"));
}

#[test]
fn what_a_handler_is_stands_in_its_hook() {
    let mut protocol = of_plugin(CLAUDE, "PreToolUse", "Edit.*", Some("/p"));
    protocol.status_message = Some("s".to_owned());
    let set = |protocol| {
        Hook::new("tool:pre_execute", "x")
            .unwrap()
            .with_protocol(Arc::new(protocol))
    };
    let hook = set(protocol.clone());
    let definition = json!({"event": "PreToolUse", "matcher": "Edit.*", "plugin_root": "/p", "status_message": "s"});
    let expected = json!({"name": "claude", "definition": definition});
    assert_eq!(hook.to_json()["protocol"], expected);
    assert_eq!((hook.protocol_name(), hook.label()), ("claude", "s"));
    assert!(Hook::from_json(&hook.to_json()).is_err());
    protocol.status_message = None;
    assert_ne!(hook, set(protocol));
    assert_ne!(hook, Hook::new("tool:pre_execute", "x").unwrap());
}

#[test]
fn a_lost_handler_is_met_by_its_matcher_alone() {
    let definition = json!({"event": "PreToolUse", "matcher": "Edit|Write", "if": "Edit(*.ts)"});
    let lost = AgentProtocol::lost(&origin(CLAUDE, None), &definition).unwrap();
    let is_met = |tool: &str| {
        lost.mismatch(&HookEvent::tool_pre_execute(tool, json!({})))
            .is_none()
    };
    assert!(is_met("edit") && !is_met("bash"));
    assert!(AgentProtocol::lost(&origin(CODEX, None), &json!({"event": "BeforeTool"})).is_none());
}

#[test]
fn directories_of_a_tool_have_names() {
    let names = |protocol: &AgentProtocol| {
        let directories = protocol.directories(Path::new("/p")).into_iter();
        let lines = directories.map(|(name, path)| format!("{name}={}", path.display()));
        lines.collect::<Vec<_>>()
    };
    let protocol = protocol(CLAUDE, "Stop", "");
    assert_eq!(names(&protocol), ["CLAUDE_PROJECT_DIR=/p"]);
    let protocol = of_plugin(CLAUDE, "Stop", "", Some("/a b"));
    let expected = ["CLAUDE_PROJECT_DIR=/p", "CLAUDE_PLUGIN_ROOT=/a b"];
    assert_eq!(names(&protocol), expected);
}
