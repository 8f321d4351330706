//! A tool whose format is that of Claude Code, with other paths and fewer events, is one value.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::CLAUDE;
use super::settings::OtherTools;
use super::tool::Tool;
use crate::config::HookConfig;
use crate::events::HookEvent;
use crate::hook::{Answer, Call, Decision, End, Hook, Shared};
use crate::process::Args;

static MADE_UP: Tool = Tool {
    name: "madeup",
    title: "Made Up",
    files: ".madeup/settings.json",
    events: "PreToolUse tool:pre_execute on=tool_name blocks\nSessionStart session:start",
    ..*CLAUDE
};

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
    let call = Call {
        event,
        hook,
        can_block: true,
        working_dir: Path::new("/"),
        shared: &shared,
    };
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
    let end = End {
        code: output.status.code(),
        stdout: "",
        stdout_bytes: b"",
        stderr: &stderr,
        gap: None,
    };
    protocol.read(&call, &start, &end)
}
