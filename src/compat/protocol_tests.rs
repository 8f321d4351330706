//! Tables of which events a handler is for, and a tool that is made up.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};

use super::protocol::ToolProtocol;
use super::settings::OtherTools;
use super::tool::{Event, Files, Subject, Tool};
use super::{CLAUDE, CODEX, GEMINI, claude};
use crate::config::HookConfig;
use crate::events::HookEvent;
use crate::hook::{Answer, Call, Decision, End, Hook, Protocol, Shared};
use crate::process::Args;

fn protocol(tool: &'static Tool, event: &str, matcher: &str) -> ToolProtocol {
    let event = tool.event_named(event).unwrap();
    ToolProtocol::new(tool, event, matcher, &Default::default())
}

#[track_caller]
fn case(tool: &'static Tool, event: &str, matcher: &str, subject: &str, expected: bool) {
    let protocol = protocol(tool, event, matcher);
    let fired = match protocol.event.subject {
        Subject::Data(key, _) => HookEvent::session_start("s").with_data(key, subject),
        _ => HookEvent::tool_pre_execute(subject, json!({})),
    };
    let is_met = protocol.mismatch(&fired).is_none();
    assert_eq!(is_met, expected, "{tool} {matcher} {subject}");
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
    let of_server = "mcp_fs_write_file";
    case(GEMINI, "BeforeTool", "write_file", of_server, true);
    case(GEMINI, "BeforeTool", "write_file|replace", "edit", true);
    case(GEMINI, "SessionStart", "start.*", "startup", false);
    case(GEMINI, "SessionStart", "startup", "startup", true);
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
    let mut protocol = protocol(CLAUDE, "PreToolUse", "Edit.*");
    protocol.plugin = Some("/p".into());
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
    let lost = ToolProtocol::lost(CLAUDE, &definition).unwrap();
    let is_met = |tool: &str| {
        lost.mismatch(&HookEvent::tool_pre_execute(tool, json!({})))
            .is_none()
    };
    assert!(is_met("edit") && !is_met("bash"));
    assert!(ToolProtocol::lost(CODEX, &json!({"event": "BeforeTool"})).is_none());
}

#[test]
fn directories_of_a_tool_have_names() {
    let mut protocol = protocol(CLAUDE, "Stop", "");
    let names = |protocol: &ToolProtocol| {
        let directories = protocol.directories(Path::new("/p")).into_iter();
        let shown = directories.map(|(name, path)| format!("{name}={}", path.display()));
        shown.collect::<Vec<_>>()
    };
    assert_eq!(names(&protocol), ["CLAUDE_PROJECT_DIR=/p"]);
    protocol.plugin = Some("/a b".into());
    let expected = ["CLAUDE_PROJECT_DIR=/p", "CLAUDE_PLUGIN_ROOT=/a b"];
    assert_eq!(names(&protocol), expected);
}

/// A tool with the format of Claude Code, other paths, and fewer events.
static MADE_UP: Tool = Tool {
    name: "madeup",
    title: "Made Up",
    files: Files {
        directory: ".madeup",
        user: &[".madeup/settings.json"],
        project: &[".madeup/settings.json"],
        ..claude::TOOL.files
    },
    events: &[
        Event::new("PreToolUse", "tool:pre_execute")
            .on(Subject::Tool)
            .blocks(),
        Event::new("SessionStart", "session:start"),
    ],
    ..claude::TOOL
};

#[cfg(unix)]
#[test]
fn another_tool_is_one_value() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join(".madeup");
    std::fs::create_dir(&directory).unwrap();
    let handler = |command: &str| json!([{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]);
    let guard = handler("! grep -q '\"rm x\"' || { echo no >&2; exit 2; }");
    let hooks: Value = json!({"hooks": {"PreToolUse": guard, "Stop": handler("true")}});
    std::fs::write(directory.join("settings.json"), hooks.to_string()).unwrap();
    let tools = OtherTools::new([&MADE_UP]).with_home(home.path());
    let config = HookConfig::default().with_config_home(home.path().join("config"));
    let hooks = config.with_other_tools(tools).load_global();
    assert_eq!(hooks.len(), 1);
    assert_eq!(hooks[0].protocol_name(), "madeup");
    let decision = |command: &str| {
        let event = HookEvent::tool_pre_execute("bash", json!({"command": command}));
        assert!(hooks[0].matches(&event, true));
        run(&hooks[0], &event)
            .output
            .map(|output| (output.decision, output.reason))
    };
    assert_eq!(decision("ls"), None);
    let blocked = (Some(Decision::Block), Some("no".to_owned()));
    assert_eq!(decision("rm x"), Some(blocked));
}

/// Runs a hook as its protocol says.
fn run(hook: &Hook, event: &HookEvent) -> Answer {
    let protocol = hook.protocol().unwrap();
    let shared = Shared::default();
    let call = Call::new(event, hook, true, Path::new("/"), &shared);
    let mut start = protocol.prepare(&call).unwrap();
    let Some(Args::List(args)) = start.args.take() else {
        panic!("{start:?}")
    };
    let mut command = Command::new(&start.program);
    let piped = command
        .args(args)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let input = start.stdin.take().unwrap();
    child.stdin.take().unwrap().write_all(&input).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let end = End::new(output.status.code(), ("", b""), &stderr, None);
    protocol.read(&call, &start, &end)
}
