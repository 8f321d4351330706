//! `fire --agent A --other-agents A`: hooks of other agents, on the payloads that these agents write, and what is printed of them.

use serde_json::{Value, json};

use super::{Printed, User, with};
use crate::support::is_missing;

const PRE: &str = "PreToolUse";

/// A settings file with this one handler for an event.
fn settings(event: &str, handler: &Value) -> String {
    json!({"hooks": {event: [{"hooks": [handler]}]}}).to_string()
}

fn command(text: &str) -> Value {
    json!({"type": "command", "command": text})
}

/// Returns the input that Claude Code writes for an event, in this user's project.
fn payload(user: &User, event: &str) -> Value {
    let mut payload = json!({
        "session_id": "s1", "transcript_path": "/t.jsonl", "cwd": user.project(),
        "permission_mode": "default", "hook_event_name": event,
    });
    let own = match event {
        "PreToolUse" | "BeforeTool" => json!({
            "tool_name": if event == "BeforeTool" { "run_shell_command" } else { "Bash" },
            "tool_input": {"command": "rm -rf build"}, "tool_use_id": "t1",
        }),
        "SessionStart" => json!({"source": "startup"}),
        _ => json!({"reason": "exit"}),
    };
    for (key, value) in own.as_object().unwrap() {
        payload[key] = value.clone();
    }
    payload
}

impl User {
    fn fire_as(&self, tool: &str, payload: &Value, args: &[&str]) -> Printed {
        let all = [
            "fire",
            "--other-agents",
            tool,
            "--agent",
            tool,
            "--event-json",
            "-",
            "--json",
        ];
        self.run_with_input(&with(&all, args), &payload.to_string())
    }

    /// Returns the exit status and the report of an event with this handler.
    fn answer_to(&self, tool: &str, event: &str, handler: &Value) -> (i32, Value) {
        let file = self.write("settings.json", &settings(event, handler));
        let args = ["--settings", file.to_str().unwrap()];
        let printed = self.fire_as(tool, &payload(self, event), &args);
        let report = printed.json();
        (printed.status, report)
    }
}

/// Each key of `expected` is in the report; all that is not named is as if no hook had printed anything.
#[track_caller]
fn is_as(report: &Value, expected: &Value, what: &str) {
    let mut all = json!({
        "decision": null, "reason": null, "context": null, "feedback": null, "stop": false,
        "messages": [], "updated_output": null,
    });
    for (key, value) in expected.as_object().unwrap() {
        all[key] = value.clone();
    }
    for (key, value) in all.as_object().unwrap() {
        assert_eq!(report[key], *value, "{what}: `{key}` in {report:#}");
    }
}

/// The tool, the event, what the report has, and the command; `golden/fire.txt` has what follows from each end.
const REPORTS: &str = r#"
claude PreToolUse {} <- echo fine
claude PreToolUse {"decision": "ask", "reason": "why"} <- echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "why"}}'
claude PreToolUse {"decision": "block", "reason": "enough", "stop": true} <- echo '{"continue": false, "stopReason": "enough"}'
claude PreToolUse {"decision": "block", "reason": "no"} <- jq -r .tool_input.command | grep -q 'rm -rf' && { echo no >&2; exit 2; } || exit 0
claude SessionStart {"context": "on main"} <- git --version >/dev/null; echo on main
claude SessionEnd {} <- true
"#;

#[cfg(unix)]
#[test]
fn a_report_has_what_follows() {
    let user = User::new();
    for row in REPORTS.trim().lines() {
        let (expected, text) = row.split_once(" <- ").unwrap();
        let mut cells = expected.splitn(3, ' ');
        let [tool, event, expected] = [(); 3].map(|()| cells.next().unwrap());
        if text.starts_with("jq") && is_missing("jq") {
            continue;
        }
        let expected = serde_json::from_str(expected).unwrap();
        let (status, report) = user.answer_to(tool, event, &command(text));
        is_as(&report, &expected, text);
        let prevents = matches!(report["decision"].as_str(), Some("block" | "ask"));
        assert_eq!(status, i32::from(prevents), "{row}");
    }
}

#[cfg(unix)]
#[test]
fn failures_are_listed_and_prevent_nothing() {
    let user = User::new();
    user.write("project/plain.sh", "exit 2");
    for (text, failure) in [
        ("echo NO >&2; exit 1", "exit"),
        ("./plain.sh", "not_executable"),
        ("./missing.sh", "not_found"),
        ("sleep 30", "timed_out"),
        ("echo '{\"decision\": 1}'", "invalid_answer"),
    ] {
        let seconds = if failure == "timed_out" { 0.3 } else { 30.0 };
        let handler = json!({"type": "command", "command": text, "timeout": seconds});
        let (status, report) = user.answer_to("claude", PRE, &handler);
        let actual = json!([status, report["decision"], report["results"][0]["failure"]]);
        assert_eq!(actual, json!([0, null, failure]), "{report:#}");
        assert_eq!(
            report["messages"].as_array().unwrap().len(),
            1,
            "{report:#}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_changed_call_has_the_input_of_the_hook_alone() {
    let user = User::new();
    let says = r#"echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "ls"}}}'"#;
    let (_, report) = user.answer_to("claude", PRE, &command(says));
    let changed = &report["changed_event"]["data"]["tool_args"];
    assert_eq!(*changed, json!({"command": "ls"}), "{report:#}");
}

/// The command, the directory of its plugin, and where the session is.
#[cfg(unix)]
const COMMANDS: [(&str, &str, &str); 6] = [
    ("$CLAUDE_PROJECT_DIR/.claude/hooks", "", "project"),
    ("\"$CLAUDE_PROJECT_DIR\"/.claude/hooks", "", "project/sub"),
    (".claude/hooks", "", "project"),
    ("~", "", "project"),
    ("\"${CLAUDE_PLUGIN_ROOT}\"/scripts", "plug in", "project"),
    ("${CLAUDE_PLUGIN_ROOT}/scripts", "plugin", "project"),
];

#[cfg(unix)]
#[test]
fn commands_find_their_directories() {
    let user = User::new();
    let says = "cat >/dev/null\necho \"$CLAUDE_PROJECT_DIR|${CLAUDE_PLUGIN_ROOT-}|$(pwd -P)\" >&2\nexit 2\n";
    for place in [
        "project/.claude/hooks",
        "home",
        "plug in/scripts",
        "plugin/scripts",
    ] {
        user.write(&format!("{place}/guard.sh"), says);
    }
    std::fs::create_dir(user.path("project/sub")).unwrap();
    for (text, plugin, cwd) in COMMANDS {
        let text = settings(PRE, &command(&format!("sh {text}/guard.sh")));
        let (option, named, root) = if plugin.is_empty() {
            ("--settings", user.write("settings.json", &text), "")
        } else {
            user.write(&format!("{plugin}/hooks/hooks.json"), &text);
            ("--plugin", user.path(plugin), "[DIR]/")
        };
        let mut payload = payload(&user, PRE);
        payload["cwd"] = json!(user.path(cwd));
        let args = [option, named.to_str().unwrap()];
        let report = user.fire_as("claude", &payload, &args).json();
        let expected = format!("[DIR]/project|{root}{plugin}|[DIR]/{cwd}");
        assert_eq!(report["reason"], expected, "{text}");
    }
}

#[cfg(unix)]
const PYTHON: &str = r#"
import json, sys
event = json.load(sys.stdin)
if 'rm -rf' in event['tool_input'].get('command', ''):
    print(json.dumps({'hookSpecificOutput': {'hookEventName': event['hook_event_name'],
        'permissionDecision': 'deny', 'permissionDecisionReason': event['tool_name']}}))
"#;

#[cfg(unix)]
const NODE: &str = r#"
let text = '';
process.stdin.on('data', chunk => text += chunk);
process.stdin.on('end', () => {
  const event = JSON.parse(text);
  if (/rm -rf/.test(event.tool_input.command)) {
    console.error(event.tool_name);
    process.exit(2);
  }
});
"#;

#[cfg(unix)]
#[test]
fn scripts_of_python_and_node_are_run() {
    let user = User::new();
    for (program, file, script) in [("python3", "guard.py", PYTHON), ("node", "guard.js", NODE)] {
        if is_missing(program) {
            continue;
        }
        user.write(&format!("project/.claude/hooks/{file}"), script);
        let text = format!("{program} \"$CLAUDE_PROJECT_DIR/.claude/hooks/{file}\"");
        let (_, report) = user.answer_to("claude", PRE, &command(&text));
        let denied = json!({"decision": "block", "reason": "Bash"});
        is_as(&report, &denied, program);
    }
}

/// In a session of the tool, also what a hook in the background has set.
#[cfg(unix)]
#[test]
fn what_hooks_set_is_appended_to_the_sessions_file() {
    let user = User::new();
    let sets = |name: &str| format!("echo export {name}=1 >>\"$CLAUDE_ENV_FILE\"");
    let behind = json!({"type": "command", "command": sets("B"), "async": true});
    let hooks = [command(&sets("A")), behind];
    let groups = json!({"hooks": {"SessionStart": [{"hooks": hooks}]}});
    let file = user.write("settings.json", &groups.to_string());
    let kept = user.write("session.env", "export X=1\n");
    let args = [
        "fire",
        "--other-agents",
        "claude",
        "--agent",
        "claude",
        "--event-json",
        "-",
        "--settings",
    ];
    let mut fire = user.command(&with(&args, &[file.to_str().unwrap()]));
    fire.env("CLAUDE_ENV_FILE", &kept);
    let printed = user.feed(fire, &payload(&user, "SessionStart").to_string());
    assert_eq!(printed.status, 0, "{printed:?}");
    let lines = user.read("session.env");
    assert_eq!(lines, "export X=1\nexport A=1\nexport B=1\n");
}

/// A relative path leads to what a clone has there, and so does a link at the end of a path.
#[cfg(unix)]
#[test]
fn the_sessions_file_is_not_what_a_clone_makes_of_it() {
    let user = User::new();
    let sets = command("echo export A=1 >>\"$CLAUDE_ENV_FILE\"");
    let groups = json!({"hooks": {"SessionStart": [{"hooks": [sets]}]}});
    let file = user.write("settings.json", &groups.to_string());
    let mine = user.write("bashrc", "mine");
    let link = user.write("project/x", "").with_file_name("session.env");
    std::os::unix::fs::symlink(&mine, &link).unwrap();
    let args = [
        "fire",
        "--other-agents",
        "claude",
        "--agent",
        "claude",
        "--event-json",
        "-",
        "--settings",
    ];
    for (path, expected) in [
        (
            "session.env",
            "it is a relative path, expected an absolute one",
        ),
        (link.to_str().unwrap(), "it is a link, expected a file"),
    ] {
        let mut fire = user.command(&with(&args, &[file.to_str().unwrap()]));
        fire.env("CLAUDE_ENV_FILE", path);
        let printed = user.feed(fire, &payload(&user, "SessionStart").to_string());
        assert!(printed.err.contains(expected), "{printed:?}");
        assert_eq!(user.read("bashrc"), "mine");
    }
}

#[test]
fn without_a_store_a_guard_blocks() {
    let user = User::new();
    user.write(
        "project/.claude/settings.json",
        &settings(PRE, &command("exit 0")),
    );
    let trust = user.run(&["--other-agents", "claude", "trust", "--yes"]);
    assert_eq!(trust.status, 0, "{trust:?}");
    let event = payload(&user, PRE).to_string();
    let fire = [
        "fire",
        "--other-agents",
        "claude",
        "--agent",
        "claude",
        "--event-json",
        "-",
    ];
    assert_eq!(user.run_with_input(&fire, &event).status, 0);
    user.write("config/src/forge/trust.json", "{");
    let printed = user.run_with_input(&fire, &event);
    assert_eq!(printed.status, 1, "{printed:?}");
    assert!(printed.out.contains("blocked by"), "{printed:?}");
}
