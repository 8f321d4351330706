//! Hooks and input that are not understood, are invalid or hang: they block each event that can be blocked, and never
//! the end of a turn.

use std::io::{self, Read, Write};
use std::process::Stdio;

use forge_hooks::cli::{Io, run_standalone};
use serde_json::{Value, json};

use crate::growth::assert_linear;
use crate::program::{Printed, User};
use crate::support::eventually;

fn call() -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": "ls"}})
}

/// The events of agents that can be blocked, each with its fields. The last ones are ends of a turn.
fn blockable() -> Vec<(&'static str, &'static str, Value)> {
    let shell = || json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"}});
    vec![
        ("claude", "PreToolUse", call()),
        ("claude", "PreSkillShellCommand", call()),
        ("claude", "PermissionRequest", call()),
        ("claude", "UserPromptSubmit", json!({"prompt": "hello"})),
        ("codex", "PreToolUse", call()),
        ("codex", "PermissionRequest", call()),
        ("codex", "UserPromptSubmit", json!({"prompt": "hello"})),
        ("gemini", "BeforeTool", shell()),
        ("gemini", "BeforeAgent", json!({"prompt": "hello"})),
        ("claude", "Stop", json!({})),
        ("codex", "Stop", json!({})),
        ("codex", "SubagentStop", json!({})),
        ("gemini", "AfterAgent", json!({"prompt": "hello"})),
    ]
}

fn is_end(event: &str) -> bool {
    matches!(event, "Stop" | "SubagentStop" | "AfterAgent")
}

/// Checks that an event is blocked, and returns the reason.
#[track_caller]
fn reason(event: &str, answer: &Printed) -> String {
    if event == "PermissionRequest" {
        let decision = &answer.json()["hookSpecificOutput"]["decision"];
        assert_eq!(
            (answer.status, &decision["behavior"]),
            (0, &json!("deny")),
            "{answer:?}"
        );
        return decision["message"].as_str().unwrap().to_owned();
    }
    assert_eq!(
        (answer.status, &*answer.out),
        (2, ""),
        "{event}: {answer:?}"
    );
    answer.err.clone()
}

/// Checks that an event is not blocked, and returns the message to the user.
#[track_caller]
fn message(answer: &Printed) -> String {
    assert_eq!(answer.status, 0, "{answer:?}");
    let json = answer.json();
    assert_eq!(json.as_object().unwrap().len(), 1, "{answer:?}");
    json["systemMessage"].as_str().unwrap().to_owned()
}

/// Checks that an event is blocked, or that the user reads why an end of a turn is not.
#[track_caller]
fn reason_or_message(event: &str, answer: &Printed) -> String {
    if is_end(event) {
        message(answer)
    } else {
        reason(event, answer)
    }
}

#[test]
fn an_input_that_is_not_understood_blocks() {
    let user = User::new();
    let cwd = user.project();
    let event = |name: &str| json!({"hook_event_name": name, "cwd": cwd, "tool_name": "Bash", "tool_input": {}});
    let without = |name: &str, key: &str| {
        let mut event = event(name);
        event.as_object_mut().unwrap().remove(key);
        event.to_string()
    };
    for (agent, name, _) in blockable() {
        let mut relative = event(name);
        relative["cwd"] = "sub".into();
        for (input, expected) in [
            (String::new(), "is not a JSON object"),
            ("[]".to_owned(), "is not a JSON object"),
            ("{\"a\":1".to_owned(), "is not a JSON object"),
            (
                event("Other").to_string(),
                "`hook_event_name` is `Other`, expected",
            ),
            (
                without(name, "cwd"),
                "`cwd` of the event is not an absolute path",
            ),
            (
                relative.to_string(),
                "`cwd` of the event is not an absolute path",
            ),
        ] {
            let answer = user.feed(user.registered(agent, name), &input);
            if is_end(name) {
                assert!(message(&answer).contains(expected), "{agent} {name}");
            } else {
                let reason = reason(name, &answer);
                assert!(reason.starts_with("blocked by forge-hooks: "), "{reason}");
                assert!(reason.contains(expected), "{reason}");
            }
        }
    }
    for key in ["tool_name", "tool_input"] {
        let input = without("PreToolUse", key);
        let answer = user.feed(user.registered("claude", "PreToolUse"), &input);
        assert!(reason("PreToolUse", &answer).contains("expected a text `tool_name`"));
    }
}

/// Cursor runs the hooks in the settings of Claude Code too.
#[test]
fn an_event_of_cursor_is_called_so() {
    let user = User::new();
    let event = json!({"hook_event_name": "preToolUse", "cursor_version": "3.1.0", "workspace_roots": ["/x"], "tool_name": "Shell",
        "tool_input": {"command": "ls"}});
    let answer = user.feed(user.registered("claude", "PreToolUse"), &event.to_string());
    let reason = reason("PreToolUse", &answer);
    assert!(reason.contains("the event is one of Cursor"), "{reason}");
    assert!(reason.contains("Include third-party"), "{reason}");
}

#[test]
fn a_command_line_that_is_not_understood_blocks() {
    let user = User::new();
    for (words, status) in [
        (&["hook", "claude", "PreToolUse"][..], 2),
        (
            &[
                "hook",
                "claude",
                "PreToolUse",
                "--home",
                "/",
                "--path",
                "/bin",
                "--timeout",
                "0",
            ],
            2,
        ),
        (&["hook", "claude", "Stop"], 0),
        (&["hook", "gemini", "AfterAgent"], 0),
        (&["hook", "other", "PreToolUse"], 2),
        (&["hook", "other", "Stop"], 1),
        (&["hook", "claude", "AfterAgent", "--wrong"], 1),
        (&["hook"], 2),
        (
            &[
                "hook",
                "claude",
                "NewEvent",
                "--home",
                "/",
                "--path",
                "/bin",
                "--timeout",
                "9",
            ],
            1,
        ),
    ] {
        let answer = user.run_with_input(words, "{}");
        let text = if status == 0 {
            message(&answer)
        } else {
            assert_eq!((answer.status, &*answer.out), (status, ""), "{words:?}");
            answer.err
        };
        assert!(!text.is_empty(), "{words:?}");
    }
}

#[test]
fn hooks_that_cannot_be_used_block() {
    let user = User::new();
    let project = "project/.forge-hooks/hooks.json";
    let guard = r#"{"hooks": [{"event": "*", "command": "true", "name": "guard"}]}"#;
    user.write(project, guard);
    assert_eq!(user.run(&["trust", "--yes"]).status, 0);
    let is_blocked = |expected: &str| {
        for (agent, name, fields) in blockable() {
            let reason = reason_or_message(name, &user.fired(agent, name, &fields));
            assert!(reason.contains(expected), "{reason}");
        }
    };
    for (agent, name, fields) in blockable() {
        assert_eq!(user.fired(agent, name, &fields).out, "");
    }
    // An approval is lost, or the entry is gone.
    user.write(project, &guard.replace("true", "exit 0"));
    is_blocked("approv");
    user.write(project, r#"{"hooks": []}"#);
    is_blocked("approv");
    user.write(project, guard);
    let _ = std::fs::remove_dir_all(user.path("home"));
    user.write("config/src/forge/hooks.json", "{\"hooks\": [");
    is_blocked("hooks.json");
}

#[test]
fn a_hook_that_hangs_is_ended_and_blocks() {
    let hangs = |user: &User, (agent, name, fields): &(&str, &str, Value)| {
        let command = "sleep 600 & echo $! > \"$FORGE_WORKING_DIR\"/pid; wait";
        user.has_hooks(&json!([{"event": "*", "name": "hangs", "command": command}]));
        let answer = user.fired_with(agent, name, fields, &["--timeout", "8"]);
        let reason = reason_or_message(name, &answer);
        assert!(reason.contains("has not ended within "), "{reason}");
        let pid = user.read("project/pid");
        let process = std::path::Path::new("/proc").join(pid.trim());
        if cfg!(target_os = "linux") {
            eventually("its tree is gone", || !process.exists());
        }
    };
    // Each of them only waits for its deadline.
    std::thread::scope(|scope| {
        for event in blockable() {
            scope.spawn(move || hangs(&User::new(), &event));
        }
    });
}

/// A model that can set variables could send the program to a home of its own.
#[test]
fn another_home_blocks() {
    let user = User::new();
    for (agent, name, fields) in blockable() {
        let mut command = user.registered(agent, name);
        command.env("HOME", user.project());
        let mut input = json!({"hook_event_name": name, "cwd": user.project()});
        input
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        let answer = user.feed(command, &input.to_string());
        assert!(reason_or_message(name, &answer).contains("the home directory is"));
    }
}

/// Conditions are checked when they are needed, also on a value that is missing.
#[test]
fn a_condition_that_cannot_be_used_blocks() {
    let user = User::new();
    for pointer in ["/tool_args/command", "/missing"] {
        // Another one does not match.
        let when = json!({pointer: {"regex": "("}, "/agent/name": "another"});
        user.has_hooks(
            &json!([{"event": "tool:pre_execute:bash", "command": "true", "when": when}]),
        );
        let answer = user.fired("claude", "PreToolUse", &call());
        assert!(
            reason("PreToolUse", &answer).contains("not a regular expression"),
            "{answer:?}"
        );
        let other = json!({"tool_name": "Read", "tool_input": {"file_path": "a"}});
        assert_eq!(user.fired("claude", "PreToolUse", &other).status, 0);
    }
}

/// A guard runs again behind a change, in what is left of the time.
#[test]
fn both_runs_share_one_deadline() {
    let user = User::new();
    let changes = r#"echo '{"updatedInput": {"command": "pwd"}}'"#;
    user.has_hooks(&json!([
        {"event": "tool:pre_execute:bash", "name": "slow", "command": "sleep 1"},
        {"event": "tool:pre_execute:bash", "name": "changes", "may": ["change_input"], "command": changes},
    ]));
    let answer = user.fired_with("claude", "PreToolUse", &call(), &["--timeout", "2"]);
    let reason = reason("PreToolUse", &answer);
    assert!(
        reason.contains("has not ended within 1.5 seconds"),
        "{reason}"
    );
}

/// Not only hooks may take too long.
#[test]
fn an_input_that_does_not_end_blocks() {
    let user = User::new();
    for event in ["PreToolUse", "Stop"] {
        let mut command = user.registered("codex", event);
        command.args(["--timeout", "1.5"]).stdin(Stdio::piped());
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        let input = child.stdin.take();
        let answer = user.printed(child.wait_with_output().unwrap());
        drop(input);
        assert!(reason_or_message(event, &answer).contains("there was no answer within"));
    }
}

/// An agent may leave the input open.
#[test]
fn an_event_is_answered_at_its_end() {
    let user = User::new();
    user.has_hooks(
        &json!([{"event": "*", "answer": {"decision": "block", "reason": "no } of mine"}}]),
    );
    let event = json!({"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": user.project(), "tool_name": "Bash",
        "tool_input": {"command": "echo '}' \"{\" [", "large": "x".repeat(300_000)}});
    for (behind, expected) in [
        ("", "no } of mine"),
        ("\n \n", "no } of mine"),
        ("\n{}", "is not a JSON object"),
    ] {
        let mut command = user.registered("claude", "PreToolUse");
        command.args(["--timeout", "600"]).stdin(Stdio::piped());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input
            .write_all(format!("{event}{behind}").as_bytes())
            .unwrap();
        let answer = user.printed(child.wait_with_output().unwrap());
        drop(input);
        assert_eq!(answer.status, 2, "{answer:?}");
        assert!(answer.err.contains(expected), "{answer:?}");
    }
}

/// Gives its bytes in small pieces.
struct Pieces<'a>(&'a [u8]);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(64);
        self.0.read(&mut buffer[..most])
    }
}

#[test]
fn an_event_in_pieces_takes_time_by_its_size() {
    let line = "hook claude PreToolUse --timeout 600 --home /nowhere --path /bin";
    assert_linear(
        "an event in pieces",
        4_000_000,
        |size| format!("{{\"a\": \"{}\"}}", "{\\\"".repeat(size / 3)),
        |event| {
            let mut errors = Vec::new();
            let mut io = Io::new(
                "forge-hooks",
                Pieces(event.as_bytes()),
                Vec::new(),
                &mut errors,
            );
            assert_eq!(run_standalone(line.split(' '), &mut io), 2);
            drop(io);
            assert!(String::from_utf8_lossy(&errors).contains("expected `/nowhere`"));
        },
    );
}

#[test]
fn an_output_is_withheld_at_the_deadline_too() {
    let user = User::new();
    user.has_hooks(&json!([{"event": "tool:post_execute", "name": "redacts", "command": "sleep 60", "on_failure": "withhold"}]));
    let fields = json!({"tool_name": "Bash", "tool_input": {}, "tool_response": "secret"});
    let answer = user
        .fired_with("codex", "PostToolUse", &fields, &["--timeout", "1.5"])
        .json();
    assert_eq!(answer["decision"], "block");
    assert!(
        answer["reason"]
            .as_str()
            .unwrap()
            .contains("output withheld"),
        "{answer}"
    );
}

/// The hook that cannot be used may be any of them.
#[test]
fn an_output_is_withheld_beside_an_unusable_condition() {
    let user = User::new();
    user.has_hooks(&json!([
        {"event": "tool:post_execute", "name": "redacts", "command": "exit 0", "on_failure": "withhold"},
        {"event": "tool:post_execute", "name": "audits", "when": {"/tool_result": {"regex": "\\w{2000}"}}, "command": "exit 0"},
    ]));
    let fields = json!({"tool_name": "Bash", "tool_input": {}, "tool_response": "secret"});
    let answer = user.fired("codex", "PostToolUse", &fields).json();
    let reason = answer["reason"].as_str().unwrap();
    assert!(
        reason.contains(
            "output withheld: hook `redacts` did not redact it: blocked by forge-hooks: hook `audits` cannot be used"
        ),
        "{answer}"
    );
}

/// One that hangs takes nothing from what the others have said.
#[test]
fn what_other_hooks_have_said_counts_at_the_deadline_too() {
    let user = User::new();
    user.has_hooks(&json!([
        {"event": "session:start", "name": "first", "answer": {"additionalContext": "from the first"}},
        {"event": "session:start", "name": "hangs", "command": "sleep 60"},
    ]));
    let fields = json!({"source": "startup"});
    let answer = user.fired_with("claude", "SessionStart", &fields, &["--timeout", "3"]);
    assert_eq!(answer.status, 0, "{answer:?}");
    assert!(answer.out.contains("from the first"), "{answer:?}");
}

#[test]
fn a_guard_that_could_not_be_tested_says_so() {
    let user = User::new();
    user.has_hooks(
        &json!([{"event": "tool:pre_execute:bash", "when": {"/tool_args/cmd": {"regex": "push"}},
        "answer": {"decision": "block", "reason": "no push"}}]),
    );
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    let blocked = user.fired("claude", "PreToolUse", &call);
    assert_eq!(blocked.status, 2, "{blocked:?}");
    let expected =
        "the condition on `/tool_args/cmd` could not be tested: the event has no such value";
    assert!(blocked.err.contains(expected), "{blocked:?}");
    // The reason of the guard says nothing of this call.
    assert!(!blocked.err.contains("no push"), "{blocked:?}");
}

/// A path below something that is no directory counts as missing elsewhere; here it would be a session without guards.
#[test]
fn hooks_files_that_cannot_be_there_block() {
    type Prepare = fn(&User);
    let cases: [(Prepare, i32, &str); 7] = [
        (|_| {}, 0, ""),
        (
            |user| drop(user.write("home/.config", "")),
            2,
            "cannot be read as the directory of your hooks files",
        ),
        (
            |user| drop(user.write("home/.config/forge-hooks", "")),
            2,
            "`[DIR]/home/.config/forge-hooks` is not a directory",
        ),
        (
            |user| drop(user.write("home/.config/forge-hooks/hooks.json/x", "")),
            2,
            "the file is a directory, expected a regular file",
        ),
        (
            |user| drop(user.write("home/.config/forge-hooks/hooks.d", "")),
            2,
            "the directory cannot be read",
        ),
        (
            |user| {
                std::fs::create_dir_all(user.path("home")).unwrap();
                std::os::unix::fs::symlink("nowhere", user.path("home/.config")).unwrap();
            },
            2,
            "is a link to nothing",
        ),
        (|user| drop(user.write("home/.config/other", "")), 0, ""),
    ];
    for (prepare, status, expected) in cases {
        let user = User::new();
        prepare(&user);
        let home = user.path("home");
        let home = home.to_str().unwrap();
        let words = ["--timeout", "60", "--path", "/bin", "--home", home];
        let command = user.command(&[&["hook", "claude", "PreToolUse"], &words[..]].concat());
        let input = json!({"session_id": "s1", "cwd": user.project(), "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": "ls"}});
        let printed = user.feed(command, &input.to_string());
        assert_eq!(printed.status, status, "{expected}: {printed:?}");
        assert!(printed.err.contains(expected), "{expected}: {printed:?}");
    }
}

#[test]
fn a_program_that_is_not_found_has_the_path_of_install_in_its_reason() {
    let said = "in the `PATH` that `forge-hooks install` has registered";
    for (command, is_said) in [
        ("no-such-guard", true),
        ("exit 127", true),
        ("exit 1", false),
    ] {
        for (policy, status) in [("block", 2), ("continue", 0)] {
            let user = User::new();
            let hook =
                json!({"event": "tool:pre_execute", "command": command, "on_failure": policy});
            user.has_hooks(&json!([hook, hook]));
            let fields = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
            let fired = user.fired("claude", "PreToolUse", &fields);
            assert_eq!(fired.status, status, "{fired:?}");
            let all = format!("{}{}", fired.out, fired.err);
            assert_eq!(all.matches(said).count(), usize::from(is_said), "{fired:?}");
        }
    }
}
