//! Tests of what the model and the user read: texts of hooks after a tool, messages beside a block, questions that no agent asks, crashes, and
//! what could not run at the end of a turn.

use serde_json::{Value, json};

use super::{AGENTS, Agent};
use crate::program::{Printed, User};
use crate::support::is_missing;

impl Agent {
    fn after(&self) -> &'static str {
        if self.name == "gemini" {
            "AfterTool"
        } else {
            "PostToolUse"
        }
    }

    /// The fields of a call of its shell, with an output.
    fn call(&self, output: &str) -> Value {
        let (key, result) = match self.name {
            "claude" => ("tool_response", json!({"stdout": output, "stderr": ""})),
            "codex" => ("tool_response", json!(output)),
            "gemini" | "qwen" => ("tool_response", json!({"llmContent": output})),
            _ => ("tool_result", json!({"text_result_for_llm": output})),
        };
        json!({"tool_name": self.shell, "tool_input": {"command": "ls"}, key: result})
    }

    /// Lets the user's hooks run on an event, and returns what the model and the user read.
    #[track_caller]
    fn read(&self, user: &User, event: &str, output: &str) -> Read {
        let fields = if event == self.stop {
            json!({"prompt": "hello"})
        } else {
            self.call(output)
        };
        Read::of(
            self,
            event == self.after(),
            &user.fired(self.name, event, &fields),
        )
    }
}

/// An answer, as the agents have been seen to read it.
#[derive(Debug)]
struct Read {
    blocks: bool,
    model: String,
    user: String,
}

impl Read {
    fn of(agent: &Agent, is_after: bool, answer: &Printed) -> Self {
        let json: Value = serde_json::from_str(answer.out.trim()).unwrap_or_default();
        let text = |pointer: &str| json.pointer(pointer).and_then(Value::as_str);
        let has_reason = ["/decision", "/permissionDecision"]
            .into_iter()
            .any(|key| matches!(text(key), Some("block" | "deny")));
        let is_json = matches!(agent.name, "gemini" | "copilot") && !json.is_null();
        let blocks = !is_after
            && if is_json {
                has_reason
            } else {
                answer.status == 2
            };
        let texts = [
            "/reason",
            "/permissionDecisionReason",
            "/additionalContext",
            "/hookSpecificOutput/additionalContext",
        ];
        let mut model: String = texts.into_iter().filter_map(text).collect();
        let mut user = text("/systemMessage").unwrap_or_default().to_owned();
        if agent.name == "copilot" {
            // Before a tool, it does not show what stands beside a block.
            let is_reason = blocks && answer.err.trim() == model;
            user += if is_reason { "" } else { &answer.err };
        } else if blocks && !is_json {
            model += &answer.err;
        }
        Self {
            blocks,
            model,
            user,
        }
    }
}

/// Hooks that block what has happened already, each with the text that the model reads.
fn after_a_tool() -> [(Value, &'static str); 5] {
    let hook = |members: Value| {
        let mut hook = json!({"event": "tool:post_execute", "name": "checks"});
        let all = members.as_object().unwrap().clone();
        hook.as_object_mut().unwrap().extend(all);
        json!([hook])
    };
    let feedback = r#"echo '{"feedback": "run the tests"}'"#;
    [
        (
            hook(json!({"answer": {"decision": "block", "reason": "two errors"}})),
            "hook `checks` reports: two errors",
        ),
        (
            hook(json!({"command": "echo two errors >&2; exit 1"})),
            "hook `checks` reports: two errors",
        ),
        (
            hook(json!({"command": "echo two errors; exit 2"})),
            "hook `checks` reports: two errors",
        ),
        (
            hook(json!({"answer": {"feedback": "run the tests"}})),
            "run the tests",
        ),
        (
            hook(json!({"command": feedback, "may": ["add_context"]})),
            "run the tests",
        ),
    ]
}

#[test]
fn the_model_reads_what_hooks_say_of_a_tool() {
    for agent in &AGENTS {
        let user = User::new();
        for (hooks, expected) in after_a_tool() {
            user.has_hooks(&hooks);
            let read = agent.read(&user, agent.after(), "out");
            assert_eq!(read.model, expected, "{} {hooks}: {read:?}", agent.name);
            let is_block = expected.ends_with("errors");
            assert_eq!(read.user.contains("two errors"), is_block, "{read:?}");
        }
    }
}

/// Nothing is said of a failure that is ignored or only observed, and the model learns nothing of what could not run.
#[test]
fn the_model_does_not_read_what_does_not_count() {
    let user = User::new();
    for rest in [
        json!({"command": "echo secret >&2; exit 1", "on_failure": "continue"}),
        json!({"command": "echo secret >&2; exit 1", "enforce": false}),
        json!({"command": "echo secret; exit 1", "on_failure": "withhold"}),
        json!({"args": ["no-such-program"]}),
        json!({"command": "kill -9 $$"}),
    ] {
        let mut hook = json!({"event": "tool:post_execute", "name": "checks"});
        let members = rest.as_object().unwrap().clone();
        hook.as_object_mut().unwrap().extend(members);
        user.has_hooks(&json!([hook]));
        for agent in &AGENTS {
            let read = agent.read(&user, agent.after(), "out");
            let withheld = read.model.contains("output withheld");
            assert!(read.model.is_empty() || withheld, "{hook}: {read:?}");
            assert!(!read.model.contains("secret"), "{hook}: {read:?}");
        }
    }
}

/// The whole of a call that does several things is fired before its parts, so a hook of the whole may repeat what a hook of a part
/// redacts.
#[test]
fn what_a_hook_repeats_of_a_redacted_output_is_lost() {
    let user = User::new();
    user.has_hooks(&json!([
        {"event": "tool:post_execute:apply_patch", "name": "checks", "command": "echo SECRET; exit 1"},
        {"event": "tool:post_execute:write", "name": "redacts", "answer": {"updatedOutput": "masked"}},
    ]));
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+c\n*** End Patch";
    let fields = json!({"tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_response": "SECRET"});
    let answer = user.fired("codex", "PostToolUse", &fields).json();
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.contains("masked"), "{answer}");
    assert!(!reason.contains("SECRET"), "{answer}");
}

/// A hook that fails or ends the turn is the last one to run, so nothing is redacted behind it.
#[test]
fn what_is_said_before_a_redaction_is_lost() {
    if is_missing("jq") {
        return;
    }
    let saw = "\"saw $FORGE_TOOL_RESULT\"";
    let answers = [
        format!(r#"jq -n --arg t {saw} '{{decision: "block", reason: $t}}'"#),
        format!(r#"jq -n --arg t {saw} '{{decision: "ask", reason: $t}}'"#),
        format!("jq -n --arg t {saw} '{{feedback: $t}}'"),
        format!("jq -n --arg t {saw} '{{additionalContext: $t}}'"),
    ];
    for agent in &AGENTS {
        for command in &answers {
            let user = User::new();
            user.has_hooks(&json!([
                {"event": "tool:post_execute", "name": "says", "command": command, "may": ["add_context"]},
                {"event": "tool:post_execute", "name": "redacts", "answer": {"updatedOutput": "masked", "feedback": "look"}},
            ]));
            let read = agent.read(&user, agent.after(), "SECRET");
            assert!(
                !read.model.contains("SECRET"),
                "{} {command}: {read:?}",
                agent.name
            );
        }
    }
}

#[test]
fn the_user_reads_a_message_beside_a_block() {
    let answer = json!({"decision": "block", "reason": "not so", "systemMessage": "look here"});
    for agent in &AGENTS {
        let user = User::new();
        user.has_hooks(&json!([
            {"event": "*", "name": "formats", "command": "exit 3", "on_failure": "continue"},
            {"event": "*", "name": "guard", "answer": answer},
        ]));
        for event in [agent.before, agent.stop] {
            let read = agent.read(&user, event, "");
            assert!(read.blocks, "{} {event}: {read:?}", agent.name);
            assert!(read.model.contains("not so"), "{read:?}");
            let both = format!("{}\n{}", read.model, read.user);
            assert!(
                both.contains("look here"),
                "{} {event}: {read:?}",
                agent.name
            );
            assert!(both.contains("hook `formats` failed"), "{read:?}");
            let has_place = match agent.name {
                "claude" | "gemini" => true,
                "copilot" => event == agent.stop,
                _ => false,
            };
            assert_eq!(read.user.contains("look here"), has_place, "{read:?}");
            assert_eq!(read.model.contains("look here"), !has_place, "{read:?}");
        }
    }
}

#[test]
fn a_block_says_that_it_was_a_question() {
    let user = User::new();
    user.has_hooks(
        &json!([{"event": "*", "name": "asks", "answer": {"decision": "ask", "reason": "deploy?"}}]),
    );
    for (agent, title, event, fields) in [
        ("codex", "Codex", "PreToolUse", AGENTS[1].call("")),
        (
            "claude",
            "Claude Code",
            "UserPromptSubmit",
            json!({"prompt": "hello"}),
        ),
        (
            "copilot",
            "Copilot CLI",
            "UserPromptSubmit",
            json!({"prompt": "hello"}),
        ),
    ] {
        let answer = user.fired(agent, event, &fields);
        let expected =
            format!("hook `asks` asks: deploy? ({title} cannot ask here, so it is blocked)");
        let text = format!("{}{}", answer.out, answer.err);
        assert!(text.contains(&expected), "{answer:?}");
    }
}

/// The first line that Python writes when a hook crashes says nothing.
#[test]
#[cfg(unix)]
fn a_crash_says_its_exit_code_and_its_last_line() {
    let crash =
        r#"printf 'Traceback (most recent call last):\n  File "g.py", line 1\nKeyError: 1\n' >&2"#;
    let user = User::new();
    for agent in &AGENTS {
        user.has_hooks(
            &json!([{"event": "*", "name": "guard", "command": format!("{crash}; exit 1")}]),
        );
        let before = agent.read(&user, agent.before, "");
        let error = "failed, exit code 1: KeyError: 1\nTraceback (most recent call last):\n  File";
        let expected = format!("blocked by hook `guard`: {error}");
        assert!(
            before.blocks && before.model.starts_with(&expected),
            "{before:?}"
        );
        let after = agent.read(&user, agent.after(), "out");
        assert!(
            after
                .model
                .starts_with(&format!("hook `guard` reports: {error}")),
            "{after:?}"
        );
        let line = "hook `guard` failed on `tool:post_execute`: failed, exit code 1: KeyError: 1";
        assert!(after.user.contains(line), "{after:?}");
        // With exit code 2, an author has written the reason.
        user.has_hooks(
            &json!([{"event": "*", "name": "guard", "command": format!("{crash}; exit 2")}]),
        );
        let before = agent.read(&user, agent.before, "");
        assert!(
            before
                .model
                .starts_with("blocked by hook `guard`: Traceback"),
            "{before:?}"
        );
    }
}

/// Hooks that could not decide, with what the user reads of them.
fn undecided() -> [(Value, &'static str); 7] {
    let block = json!({"decision": "block", "reason": "go on"});
    [
        (
            json!({"args": ["no-such-notifier"]}),
            "`no-such-notifier` not found",
        ),
        (
            json!({"command": "no-such-notifier"}),
            " no-such-notifier: ",
        ),
        (json!({"command": "kill -9 $$"}), "SIGKILL"),
        (
            json!({"command": "sleep 60", "timeout": 0.2}),
            "timed out after",
        ),
        (json!({"comand": "true"}), "comand"),
        (
            json!({"command": "echo '{\"decision\": \"blok\"}'"}),
            "its answer is invalid",
        ),
        (
            json!({"when": {"/missing": "x"}, "answer": block}),
            "did not run on `agent:stop`: the condition on `/missing` could not be tested",
        ),
    ]
}

#[test]
#[cfg(unix)]
fn what_could_not_run_lets_a_turn_end() {
    for agent in &AGENTS {
        for (rest, expected) in undecided() {
            let user = User::new();
            let mut hook = json!({"event": "agent:stop", "name": "notifies"});
            let members = rest.as_object().unwrap().clone();
            hook.as_object_mut().unwrap().extend(members);
            user.has_hooks(&json!([hook]));
            let read = agent.read(&user, agent.stop, "");
            assert!(!read.blocks, "{} {hook}: {read:?}", agent.name);
            assert!(read.user.contains(expected), "{hook}: {read:?}");
            // The hooks after it run, and one that has decided makes the agent go on.
            let decides = json!({"event": "agent:stop", "name": "tests", "command": "echo failed >&2; exit 1"});
            user.has_hooks(&json!([hook, decides]));
            let read = agent.read(&user, agent.stop, "");
            assert!(read.blocks, "{} {hook}: {read:?}", agent.name);
            assert_eq!(
                read.model.lines().next(),
                Some("blocked by hook `tests`: failed")
            );
            let both = format!("{}{}", read.model, read.user);
            assert!(both.contains(expected), "{hook}: {read:?}");
        }
    }
}

#[test]
fn a_file_that_is_half_saved_lets_a_turn_end() {
    for agent in &AGENTS {
        let user = User::new();
        user.write("config/forge-hooks/hooks.json", "{\"hooks\": [");
        let read = agent.read(&user, agent.stop, "");
        assert!(!read.blocks, "{}: {read:?}", agent.name);
        assert!(read.user.contains("hooks.json"), "{read:?}");
        let read = agent.read(&user, agent.before, "");
        assert!(read.blocks, "{}: {read:?}", agent.name);
    }
}

#[test]
fn a_hook_that_has_decided_makes_the_agent_go_on() {
    let user = User::new();
    for command in [
        "exit 1",
        "exit 2",
        "echo failed; exit 3",
        "echo '{\"decision\": \"block\"}'",
        "echo '{\"decision\": \"blok\"}'; exit 2",
    ] {
        user.has_hooks(&json!([{"event": "agent:stop", "name": "tests", "command": command}]));
        for agent in &AGENTS {
            let read = agent.read(&user, agent.stop, "");
            assert!(read.blocks, "{} {command}: {read:?}", agent.name);
        }
        let _ = std::fs::remove_dir_all(user.path("home"));
    }
}

/// Another condition does not match, so the hook would not have run.
#[test]
fn a_condition_that_does_not_matter_is_not_reported() {
    let user = User::new();
    user.has_hooks(&json!([{"event": "agent:stop", "name": "guard", "when": {"/missing": "x", "/agent/name": "other"},
        "answer": {"decision": "block", "reason": "go on"}}]));
    for agent in &AGENTS {
        let read = agent.read(&user, agent.stop, "");
        assert_eq!((read.blocks, &*read.user), (false, ""), "{read:?}");
    }
}
