//! `fire --as`: hooks of other tools, on the payloads that these tools write, and what is printed of them.

use serde_json::{Value, json};

use super::schemas::is_valid;
use super::{Printed, User, with};
use crate::support::is_missing;

const PRE: &str = "PreToolUse";
const POST: &str = "PostToolUse";

/// A settings file with this one handler for an event.
fn settings(event: &str, handler: &Value) -> String {
    json!({"hooks": {event: [{"hooks": [handler]}]}}).to_string()
}

fn command(text: &str) -> Value {
    json!({"type": "command", "command": text})
}

/// What Claude Code writes for an event, in this user's project.
fn payload(user: &User, event: &str) -> Value {
    let mut payload = json!({
        "session_id": "s1", "transcript_path": "/t.jsonl", "cwd": user.project(),
        "permission_mode": "default", "hook_event_name": event,
    });
    let own = match event {
        "PreToolUse" | "PermissionRequest" | "PostToolUse" | "BeforeTool" => json!({
            "tool_name": if event == "BeforeTool" { "run_shell_command" } else { "Bash" },
            "tool_input": {"command": "rm -rf build"}, "tool_use_id": "t1",
        }),
        "UserPromptSubmit" => json!({"prompt": "deploy it"}),
        "SessionStart" => json!({"source": "startup"}),
        "SessionEnd" => json!({"reason": "exit"}),
        "Notification" => json!({"message": "waiting", "notification_type": "idle_prompt"}),
        "Stop" | "SubagentStop" => json!({"stop_hook_active": false}),
        "PreCompact" => json!({"trigger": "manual", "custom_instructions": ""}),
        _ => json!({}),
    };
    for (key, value) in own.as_object().unwrap() {
        payload[key] = value.clone();
    }
    if event == POST {
        payload["tool_response"] = json!({"stdout": "gone", "stderr": ""});
    }
    payload
}

impl User {
    fn fire_as(&self, tool: &str, payload: &Value, args: &[&str]) -> Printed {
        let all = ["fire", "--as", tool, "--event-json", "-", "--json"];
        self.run_with_input(&with(&all, args), &payload.to_string())
    }

    /// What comes of this handler of Claude Code.
    fn answer_of(&self, event: &str, handler: &Value) -> (i32, Value) {
        self.answer_to(&payload(self, event), "claude", event, handler)
    }

    fn answer_to(&self, payload: &Value, tool: &str, event: &str, handler: &Value) -> (i32, Value) {
        let file = self.write("settings.json", &settings(event, handler));
        let printed = self.fire_as(tool, payload, &["--settings", file.to_str().unwrap()]);
        let report = printed.json();
        is_valid("fire-as", &report);
        (printed.status, report)
    }
}

/// Each key of `expected` is in the report; all that is not named is as if no hook had printed anything.
#[track_caller]
fn is_as(report: &Value, expected: &Value, what: &str) {
    let mut all = json!({
        "decision": "none", "reason": null, "context": null, "feedback": null, "stop": false,
        "system_messages": [], "stop_reason": null, "updated_input": null, "updated_output": null,
        "ran": 1, "timeouts": 0,
    });
    for (key, value) in expected.as_object().unwrap() {
        all[key] = value.clone();
    }
    for (key, value) in all.as_object().unwrap() {
        assert_eq!(report[key], *value, "{what}: `{key}` in {report:#}");
    }
}

fn specific(event: &str, fields: &Value) -> String {
    let mut specific = fields.clone();
    specific["hookEventName"] = event.into();
    let answer = json!({"hookSpecificOutput": specific});
    format!("cat >/dev/null; printf '%s' '{answer}'")
}

/// Each key of a report; `golden/fire.txt` has what follows from each end.
#[cfg(unix)]
#[test]
fn claude_code_hooks_end_as_there() {
    let decides = |decision: &str| {
        specific(
            PRE,
            &json!({"permissionDecision": decision, "permissionDecisionReason": "why"}),
        )
    };
    let input = json!({"command": "ls"});
    let rewrites = json!({"permissionDecision": "allow", "updatedInput": input});
    let user = User::new();
    for (event, text, expected) in [
        (PRE, "echo fine".to_owned(), json!({})),
        (
            PRE,
            decides("deny"),
            json!({"decision": "deny", "reason": "why"}),
        ),
        (
            PRE,
            decides("ask"),
            json!({"decision": "ask", "reason": "why"}),
        ),
        (
            PRE,
            r#"echo '{"continue": false, "stopReason": "enough"}'"#.to_owned(),
            json!({"decision": "deny", "reason": "enough", "stop": true, "stop_reason": "enough"}),
        ),
        (
            PRE,
            r#"echo '{"systemMessage": "hello"}'"#.to_owned(),
            json!({"system_messages": ["hello"]}),
        ),
        (
            PRE,
            specific(PRE, &rewrites),
            json!({"decision": "allow", "updated_input": input}),
        ),
        (
            PRE,
            "jq -r .tool_input.command | grep -q 'rm -rf' && { echo no >&2; exit 2; } || exit 0"
                .to_owned(),
            json!({"decision": "deny", "reason": "no"}),
        ),
        (
            POST,
            "echo lint >&2; exit 2".to_owned(),
            json!({"feedback": "lint"}),
        ),
        (
            POST,
            specific(POST, &json!({"updatedToolOutput": "masked"})),
            json!({"updated_output": "masked"}),
        ),
        (
            "SessionStart",
            "git --version >/dev/null; echo on main".to_owned(),
            json!({"context": "on main"}),
        ),
        ("SessionEnd", "true".to_owned(), json!({})),
    ] {
        if text.starts_with("jq") && is_missing("jq") {
            continue;
        }
        let (status, report) = user.answer_of(event, &command(&text));
        is_as(&report, &expected, &text);
        let prevents = matches!(report["decision"].as_str(), Some("deny" | "ask"));
        assert_eq!(status, i32::from(prevents), "{event}: {text}");
    }
}

#[cfg(unix)]
#[test]
fn failures_are_listed_and_prevent_nothing() {
    let user = User::new();
    user.write("project/plain.sh", "exit 2");
    let slow = json!({"type": "command", "command": "sleep 30", "timeout": 0.2});
    for (handler, error, diagnostic, timeouts) in [
        (
            command("echo BLOCKED >&2; exit 1"),
            "BLOCKED",
            "exit code 1 does not block",
            0,
        ),
        (command("./plain.sh"), "", "cannot be executed", 0),
        (command("./missing.sh"), "", "was not found", 0),
        (slow, "timed out", "", 1),
        (
            command("echo '{\"decision\": 1}'"),
            "its answer is invalid",
            "",
            0,
        ),
    ] {
        let (status, report) = user.answer_of(PRE, &handler);
        assert_eq!(
            (status, &report["decision"]),
            (0, &json!("none")),
            "{report:#}"
        );
        assert_eq!(report["timeouts"], timeouts, "{report:#}");
        let all = |key: &str| report[key].to_string();
        assert!(all("errors").contains(error), "{report:#}");
        assert_eq!(report["errors"].as_array().unwrap().len(), 1, "{report:#}");
        assert!(all("diagnostics").contains(diagnostic), "{report:#}");
    }
}

#[cfg(unix)]
#[test]
fn commands_find_their_directories() {
    let user = User::new();
    let says = "cat >/dev/null\necho \"$CLAUDE_PROJECT_DIR|${CLAUDE_PLUGIN_ROOT-}|$(pwd -P)\" >&2\nexit 2\n";
    user.write("project/.claude/hooks/guard.sh", says);
    user.write("home/guard.sh", says);
    user.write("plug in/scripts/guard.sh", says);
    user.write("plugin/scripts/guard.sh", says);
    std::fs::create_dir(user.path("project/sub")).unwrap();
    let project = user.project().display().to_string();
    let plugin = |name: &str| user.path(name).display().to_string();
    let hooks_file = |name: &str| format!("{name}/hooks/hooks.json");
    for (text, directory, cwd) in [
        (
            "bash $CLAUDE_PROJECT_DIR/.claude/hooks/guard.sh",
            "",
            "project",
        ),
        (
            "bash \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/guard.sh",
            "",
            "project/sub",
        ),
        ("bash .claude/hooks/guard.sh", "", "project/missing"),
        ("bash ~/guard.sh", "", "project"),
        (
            "bash \"${CLAUDE_PLUGIN_ROOT}/scripts/guard.sh\"",
            "plug in",
            "project",
        ),
        (
            "bash ${CLAUDE_PLUGIN_ROOT}/scripts/guard.sh",
            "plugin",
            "project",
        ),
    ] {
        let text = settings(PRE, &command(text));
        let mut args = vec!["--settings".to_owned(), plugin("settings.json")];
        if directory.is_empty() {
            user.write("settings.json", &text);
        } else {
            user.write(&hooks_file(directory), &text);
            args = vec!["--plugin".to_owned(), plugin(directory)];
        }
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        let mut payload = payload(&user, PRE);
        payload["cwd"] = json!(user.path(cwd));
        let report = user.fire_as("claude", &payload, &args).json();
        let root = if directory.is_empty() {
            String::new()
        } else {
            plugin(directory)
        };
        let root = root.replace(&plugin(""), "[DIR]/");
        let runs_in = if cwd.ends_with("missing") {
            "project"
        } else {
            cwd
        };
        let expected = format!("[DIR]/project|{root}|[DIR]/{runs_in}");
        assert_eq!(report["reason"], expected, "{text}: {project}");
    }
}

#[cfg(unix)]
#[test]
fn scripts_of_python_and_node_are_run() {
    let user = User::new();
    let python = "import json, sys\nevent = json.load(sys.stdin)\n\
        if 'rm -rf' in event['tool_input'].get('command', ''):\n    \
        print(json.dumps({'hookSpecificOutput': {'hookEventName': event['hook_event_name'],\n        \
        'permissionDecision': 'deny', 'permissionDecisionReason': event['tool_name']}}))\n";
    let node = "let text = '';\nprocess.stdin.on('data', chunk => text += chunk);\n\
        process.stdin.on('end', () => {\n  const event = JSON.parse(text);\n  \
        if (/rm -rf/.test(event.tool_input.command)) {\n    console.error(event.tool_name);\n    \
        process.exit(2);\n  }\n});\n";
    for (program, file, script) in [("python3", "guard.py", python), ("node", "guard.js", node)] {
        if is_missing(program) {
            continue;
        }
        user.write(&format!("project/.claude/hooks/{file}"), script);
        let text = format!("{program} \"$CLAUDE_PROJECT_DIR/.claude/hooks/{file}\"");
        let (_, report) = user.answer_of(PRE, &command(&text));
        is_as(
            &report,
            &json!({"decision": "deny", "reason": "Bash"}),
            program,
        );
    }
}

#[cfg(unix)]
#[test]
fn what_a_project_brings_needs_an_approval() {
    let user = User::new();
    let text = settings(PRE, &command("echo no >&2; exit 2"));
    let file = user.write("project/.claude/settings.json", &text);
    let fire = |args: &[&str]| user.fire_as("claude", &payload(&user, PRE), args);
    let report = fire(&[]).json();
    is_as(&report, &json!({"ran": 0}), "not approved");
    let diagnostics = report["diagnostics"].to_string();
    assert!(diagnostics.contains("1 hook is not approved"), "{report:#}");
    let command = "`forge-hooks --other-tools claude trust";
    assert!(diagnostics.contains(command), "{report:#}");
    let named = ["--settings", file.to_str().unwrap()];
    let denied = json!({"decision": "deny", "reason": "no"});
    is_as(&fire(&named).json(), &denied, "named");
    let tools = ["--other-tools", "claude"];
    assert_eq!(user.run(&with(&["status"], &tools)).status, 1);
    let listed = user.run(&with(&["list", "--json"], &tools)).json();
    assert_eq!(listed["hooks"][0]["state"], "not_approved", "{listed:#}");
    assert_eq!(user.run(&with(&["trust", "--yes"], &tools)).status, 0);
    assert_eq!(user.run(&with(&["status"], &tools)).status, 0);
    is_as(&fire(&[]).json(), &denied, "approved");
    is_as(&fire(&named).json(), &denied, "approved and named");
    assert_eq!(user.run(&["list", "--json"]).json()["hooks"], json!([]));
}

#[cfg(unix)]
#[test]
fn codex_and_gemini_have_their_own_rules() {
    let user = User::new();
    for (tool, event, text, expected) in [
        (
            "codex",
            PRE,
            "echo no >&2; exit 2",
            json!({"decision": "deny", "reason": "no"}),
        ),
        ("codex", PRE, "exit 2", json!({})),
        (
            "gemini",
            "BeforeTool",
            r#"echo '{"decision": "deny", "reason": "no"}'"#,
            json!({"decision": "deny", "reason": "no"}),
        ),
        (
            "gemini",
            "BeforeTool",
            r#"echo '{"decision": "allow"}'; exit 2"#,
            json!({"decision": "allow"}),
        ),
        // The changed keys are merged into the input.
        (
            "gemini",
            "BeforeTool",
            r#"echo '{"hookSpecificOutput": {"tool_input": {"timeout": 5}}}'"#,
            json!({"updated_input": {"command": "rm -rf build", "timeout": 5}}),
        ),
    ] {
        let payload = payload(&user, event);
        let (_, report) = user.answer_to(&payload, tool, event, &command(text));
        is_as(&report, &expected, text);
    }
}

#[test]
fn what_cannot_be_run_is_a_diagnostic() {
    let user = User::new();
    let text = json!({"hooks": {
        PRE: [{"matcher": "Bash(git *)", "hooks": [command("exit 2")]}, command("exit 2")],
        "Stop": [{"hooks": [{"type": "prompt", "prompt": "Done?"}]}],
        "PreToolUs": [{"hooks": [command("exit 2")]}],
    }});
    let file = user.write("settings.json", &text.to_string());
    let args = ["--settings", file.to_str().unwrap()];
    let report = user.fire_as("claude", &payload(&user, PRE), &args).json();
    is_as(&report, &json!({"ran": 0}), "broken");
    let diagnostics = report["diagnostics"].as_array().unwrap();
    assert!(diagnostics.len() >= 4, "{report:#}");
    let file = "[DIR]/settings.json:1:";
    for words in ["prompt", "PreToolUs", "Bash(git *)", "a handler where"] {
        let says = |it: &&Value| {
            let text = it.as_str().unwrap();
            text.contains(file) && text.contains(words)
        };
        assert!(
            diagnostics.iter().any(|it| says(&it)),
            "{words}: {report:#}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_replaced_call_is_fired_again_whole() {
    let user = User::new();
    let answer = json!({"permissionDecision": "allow", "updatedInput": {"command": "ls"}});
    let handler = command(&specific(PRE, &answer));
    user.write("home/.claude/settings.json", &settings(PRE, &handler));
    let args = ["fire", "tool:pre_execute", "--tool", "bash", "--json"];
    let call = ["--args", r#"{"command":"sudo ls","timeout":1}"#];
    let args = with(&args, &["--other-tools", "claude"]);
    let report = user.run(&with(&args, &call)).json();
    let again = &report["again"]["event"]["data"]["tool_args"];
    assert_eq!(*again, json!({"command": "ls"}));
}
