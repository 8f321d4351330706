//! Events of agents, recorded by the registered command.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{AGENTS, for_all};
use crate::program::User;

const FILE: &str = "../events.jsonl";

fn with_guard() -> User {
    let user = User::new();
    fs::create_dir_all(user.path("home")).unwrap();
    fs::create_dir_all(user.path("project/.git")).unwrap();
    user.has_codex();
    user.has_hooks(&json!([
        {"event": "tool:pre_execute:bash", "command": "case $FORGE_TOOL_ARGS in *sudo*) exit 1;; esac", "name": "guard"},
        {"event": "tool:*", "command": "true", "background": true},
    ]));
    user
}

impl User {
    /// The events that were recorded: each with its decision.
    fn recorded(&self) -> Vec<(String, String)> {
        let Ok(text) = fs::read_to_string(self.path("events.jsonl")) else {
            return Vec::new();
        };
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let events = lines.filter(|line: &Value| !line["fired"].is_null());
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        events
            .map(|line| (text(&line["event"]), text(&line["decision"])))
            .collect()
    }

    /// Registers an agent, whose events are recorded then.
    #[track_caller]
    fn installs(&self, agent: &str) {
        let installed = self.run(&["install", agent, "--yes", "--trace-events", FILE]);
        let checked = self.run(&["check", "--agent", agent]);
        assert_eq!(
            (installed.status, checked.status),
            (0, 0),
            "{installed:?} {checked:?}"
        );
        assert!(
            installed
                .out
                .contains("records events in [DIR]/events.jsonl"),
            "{installed:?}"
        );
        assert!(
            checked
                .out
                .contains("events are recorded in [DIR]/events.jsonl"),
            "{checked:?}"
        );
    }

    /// Runs what is registered for Claude Code, before a shell command.
    fn runs_as_registered(&self, shell: &str) {
        let settings = self.read("home/.claude/settings.json");
        let settings: Value = serde_json::from_str(&settings).unwrap();
        let command = &settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
        let command = command.as_str().unwrap();
        let file = format!("--trace-events {}", self.path("events.jsonl").display());
        assert!(command.contains(&file), "{command}");
        let input = json!({"session_id": "s1", "cwd": self.project(), "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": shell}});
        let mut started = std::process::Command::new("sh");
        self.set(&mut started);
        started.args(["-c", command]);
        self.feed(started, &input.to_string());
    }

    fn bash(&self, event: &str, command: &str, words: &[&str]) -> i32 {
        let mut fields = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        if event == "PostToolUse" {
            fields["tool_response"] = "out".into();
        }
        self.fired_with("claude", event, &fields, words).status
    }
}

#[test]
fn what_install_registers_records() {
    let user = with_guard();
    for agent in AGENTS {
        user.installs(agent.name);
    }
    for (shell, decision) in [("sudo ls", "block"), ("ls", "allow")] {
        user.runs_as_registered(shell);
        let last = user.recorded().pop();
        assert_eq!(
            last,
            Some(("tool:pre_execute".to_owned(), decision.to_owned()))
        );
    }
    // Without the option, it stays as it was chosen.
    let installed = user.run(&["install", "claude", "--yes"]);
    let said = "claude: still records events in [DIR]/events.jsonl\n";
    assert!(installed.out.contains(said), "{installed:?}");
    assert!(
        user.read("home/.claude/settings.json")
            .contains("--trace-events")
    );
    let removed = user.run(&for_all("uninstall"));
    assert_eq!(removed.status, 0, "{removed:?}");
    assert!(!user.path("home/.claude/settings.json").exists());
}

#[test]
fn check_finds_a_file_that_cannot_be_written() {
    let user = with_guard();
    let installed = user.run(&["install", "claude", "--yes", "--trace-events", FILE]);
    assert_eq!(installed.status, 0, "{installed:?}");
    fs::set_permissions(user.path("events.jsonl"), PermissionsExt::from_mode(0o644)).unwrap();
    let checked = user.run(&["check", "--agent", "claude"]);
    assert!(
        checked.out.contains("events are not recorded"),
        "{checked:?}"
    );
    assert!(checked.out.contains("its mode is 0644"), "{checked:?}");
    assert_eq!(checked.status, 1);
}

#[test]
fn a_path_that_no_shell_has_expanded_is_an_error() {
    let user = with_guard();
    let printed = user.run(&[
        "install",
        "claude",
        "--yes",
        "--trace-events",
        "~/events.jsonl",
    ]);
    assert_eq!(printed.status, 2);
    assert!(
        printed.err.contains("the shell has not replaced `~`"),
        "{printed:?}"
    );
    assert!(!user.project().join("~").exists());
}

#[test]
fn a_file_that_cannot_be_used_is_not_registered() {
    let user = with_guard();
    let installed = user.run(&[
        "install",
        "claude",
        "--yes",
        "--trace-events",
        "events.jsonl",
    ]);
    assert_eq!(installed.status, 2, "{installed:?}");
    assert!(
        installed.err.contains("an agent could read and change it"),
        "{installed:?}"
    );
    assert!(!user.path("home/.claude/settings.json").exists());
}

#[test]
fn a_session_is_recorded_and_replayed() {
    let user = with_guard();
    let file = user.path("events.jsonl");
    let options = ["--trace-events", file.to_str().unwrap()];
    assert_eq!(user.bash("PreToolUse", "ls", &options), 0);
    assert_eq!(user.bash("PostToolUse", "ls", &options), 0);
    assert_eq!(user.bash("PreToolUse", "sudo ls", &options), 2);
    let recorded = user.recorded();
    let expected = [
        ("tool:pre_execute", "allow"),
        ("tool:post_execute", "allow"),
        ("tool:pre_execute", "block"),
    ];
    assert_eq!(
        recorded,
        expected.map(|(event, decision)| (event.to_owned(), decision.to_owned()))
    );
    let text = user.read("events.jsonl");
    assert!(!text.contains("\"out\""), "{text}");
    let replayed = user.run(&["replay", FILE, "--yes"]);
    assert_eq!(
        replayed.out, "2 events compared: 0 differ\n",
        "{replayed:?}"
    );
    let checked = user.run(&["trace", "--check", FILE]);
    assert_eq!(checked.status, 0, "{checked:?}");
    assert_eq!(user.bash("PostToolUse", "cat diary", &options), 0);
    let checked = user.run(&["trace", "--check", FILE]);
    assert!(
        checked.out.ends_with("4 events: 1 forgotten\n"),
        "{checked:?}"
    );
}

/// The guard decides all the same, and the user is told where a session begins.
#[test]
fn what_cannot_be_recorded_changes_no_decision() {
    let user = with_guard();
    let inside = user.path("project/sub/events.jsonl");
    let options = ["--trace-events", inside.to_str().unwrap()];
    assert_eq!(user.bash("PreToolUse", "ls", &options), 0);
    assert_eq!(user.bash("PreToolUse", "sudo ls", &options), 2);
    let start = json!({"source": "startup"});
    let start = user.fired_with("claude", "SessionStart", &start, &options);
    assert!(start.out.contains("events are not recorded"), "{start:?}");
    assert!(!inside.exists() && !user.path("project/sub").exists());
}
