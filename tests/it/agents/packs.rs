//! The guards of the packs under each agent, by events as the agents write them.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::AGENTS;
use crate::program::User;
use crate::support::{eventually, one_in};

/// The guards of all packs that stop a call of a tool.
fn guards() -> impl Iterator<Item = Value> {
    let is_of_tools = |guard: &Value| {
        guard["event"]
            .as_str()
            .unwrap()
            .starts_with("tool:pre_execute")
    };
    let guards = crate::packs::guards().into_iter().map(|(_, guard)| guard);
    guards.filter(is_of_tools)
}

/// A call as an agent writes it; none if it has no such tool. Gemini CLI looks for a file with a relative path elsewhere too.
fn call(user: &User, agent: &str, tool: &str, value: &str) -> Option<Value> {
    let absolute = user.project().join(value);
    let value = match (agent, tool) {
        ("gemini", "write" | "edit" | "read") if !value.starts_with('~') => {
            absolute.to_str().unwrap()
        }
        _ => value,
    };
    let patch =
        |lines: String| json!({"command": format!("*** Begin Patch\n{lines}*** End Patch\n")});
    let (name, input) = match (agent, tool) {
        ("gemini" | "qwen", "bash") => ("run_shell_command", json!({"command": value})),
        (_, "bash") => ("Bash", json!({"command": value})),
        ("codex", "write") => ("apply_patch", patch(format!("*** Add File: {value}\n+c\n"))),
        ("codex", "edit") => (
            "apply_patch",
            patch(format!("*** Update File: {value}\n@@\n-a\n+c\n")),
        ),
        ("codex", _) => return None,
        ("claude", "write") => ("Write", json!({"file_path": value, "content": "c"})),
        ("claude", "edit") => (
            "Edit",
            json!({"file_path": value, "old_string": "a", "new_string": "c"}),
        ),
        ("claude", "read") => ("Read", json!({"file_path": value})),
        ("gemini" | "qwen", "write") => ("write_file", json!({"file_path": value, "content": "c"})),
        ("gemini", "edit") => (
            "replace",
            json!({"file_path": value, "old_string": "a", "new_string": "c"}),
        ),
        ("qwen", "edit") => (
            "edit",
            json!({"file_path": value, "old_string": "a", "new_string": "c"}),
        ),
        ("gemini" | "qwen", "read") => ("read_file", json!({"file_path": value})),
        ("copilot", "write") => ("Write", json!({"path": value, "file_text": "c"})),
        ("copilot", "edit") => (
            "Edit",
            json!({"path": value, "old_str": "a", "new_str": "c"}),
        ),
        ("copilot", "read") => ("Read", json!({"path": value})),
        _ => return None,
    };
    Some(json!({"tool_name": name, "tool_input": input}))
}

/// Returns whether the call is stopped, with the text that the agent reads.
fn stops(user: &User, agent: usize, fields: &Value) -> (bool, String) {
    let agent = &AGENTS[agent];
    let answered = user.fired(agent.name, agent.before, fields);
    let said = answered.out + &answered.err;
    let words = ["\"deny\"", "\"block\"", "\"ask\""];
    let is_stopped = answered.status == 2 || words.iter().any(|word| said.contains(word));
    assert!(matches!(answered.status, 0 | 2), "{}: {said}", agent.name);
    (is_stopped, said)
}

fn texts<'g>(guard: &'g Value, list: &str) -> impl Iterator<Item = &'g str> {
    guard["cases"][list]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
}

/// The tools of a guard's event, of those that a call can be written for.
fn tools(guard: &Value) -> Vec<&str> {
    let event = guard["event"].as_str().unwrap();
    event.rsplit(':').next().unwrap().split('|').collect()
}

/// One of its cases is stopped, since a case may need another place of the project, and the first one of the others passes.
fn check(user: &User, guard: &Value, agent: usize) -> usize {
    let name = AGENTS[agent].name;
    let mut count = 0;
    for tool in tools(guard) {
        let calls = |list| texts(guard, list).filter_map(|value| call(user, name, tool, value));
        let Some(passing) = calls("passes").next() else {
            continue;
        };
        let said: Vec<_> = calls("matches")
            .map(|fields| stops(user, agent, &fields))
            .collect();
        let reason = guard["answer"]["reason"].as_str().unwrap();
        let words = &reason[..reason.len().min(20)];
        // The settings of agents, and files of git, are protected without a guard too.
        let words = [words, "decide which hooks run", "git's own files"];
        let is_said = |said: &str| words.iter().any(|words| said.contains(words));
        let is_stopped = said
            .iter()
            .any(|(is_stopped, said)| *is_stopped && is_said(said));
        assert!(is_stopped, "{name}: {tool}: {}: {said:?}", guard["name"]);
        let (is_stopped, said) = stops(user, agent, &passing);
        assert!(!is_stopped, "{name}: {}: {passing}: {said}", guard["name"]);
        count += 1;
    }
    count
}

#[test]
fn each_guard_of_the_packs_stops_calls_of_each_agent() {
    let user = User::new();
    let mut count = 0;
    for guard in one_in(12, guards()) {
        user.has_hooks(&json!([guard]));
        for agent in 0..AGENTS.len() {
            count += check(&user, &guard, agent);
        }
    }
    assert!(count >= 24, "{count}");
}

/// A text of a model is an argument, never code nor an option.
#[test]
fn the_desktop_says_when_an_agent_waits_or_has_ended() {
    let user = User::new();
    assert_eq!(user.run(&["add", "notify"]).status, 0);
    let shown = user.path("shown");
    let script = format!(
        "#!/bin/sh\nprintf '%s|' \"$@\" > {0}.new\nmv {0}.new {0}\n",
        shown.display()
    );
    let program = user.write("bin/notify-send", &script);
    std::fs::set_permissions(program, PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", user.path("bin").display());
    let text = "-h $(touch forged) <b>done</b>\nnow";
    for (agent, event, fields, expected) in [
        (
            "claude",
            "Notification",
            json!({"message": text}),
            "--|The agent waits|-h $(touch forged) bdone/b now|",
        ),
        (
            "gemini",
            "Notification",
            json!({"message": text}),
            "--|The agent waits|-h $(touch forged) bdone/b now|",
        ),
        (
            "codex",
            "PermissionRequest",
            json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}),
            "--|The agent asks|bash|",
        ),
        (
            "claude",
            "Stop",
            json!({"stop_hook_active": false}),
            "--|The agent has ended its turn|.|",
        ),
        (
            "codex",
            "Stop",
            json!({"stop_hook_active": false, "last_assistant_message": text}),
            "--|The agent has ended its turn|-h $(touch forged) bdone/b now|",
        ),
        (
            "gemini",
            "AfterAgent",
            json!({"prompt": "x", "prompt_response": text}),
            "--|The agent has ended its turn|-h $(touch forged) bdone/b now|",
        ),
        (
            "copilot",
            "Stop",
            json!({"stop_hook_active": false}),
            "--|The agent has ended its turn|.|",
        ),
    ] {
        let answered = user.fired_with(agent, event, &fields, &["--path", &path]);
        assert_eq!(answered.status, 0, "{agent} {event}: {answered:?}");
        eventually("the notification is shown", || shown.exists());
        assert_eq!(user.read("shown"), expected, "{agent} {event}");
        std::fs::remove_file(&shown).unwrap();
    }
    assert!(!user.project().join("forged").exists());
}
