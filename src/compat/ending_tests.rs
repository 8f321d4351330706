//! Tests of each agent's reading of the end of a hook, in cases that are not in `tests/it/golden/fire.txt`.

use proptest::prelude::*;
use serde_json::Value;

use super::ending::{self, Strictness};
use crate::agents::{AGENTS, CLAUDE, CODEX};
use crate::agents::{Agent, Event};
use crate::events::HookEvent;
use crate::growth::assert_reads_in_linear_time;
use crate::protocol::Exit;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Every event of every agent, with any exit code.
    #[test]
    fn whatever_a_hook_writes_is_read(
        key in "continue|decision|reason|hookSpecificOutput|x",
        value in prop_oneof!["null|true|1|\\[\\]|\\{\\}|\"block\"|\"ask\"", ".*"],
        nested in "decision|updatedInput|permissionDecision|tool_input",
        stderr in ".*",
        code in -1..4,
    ) {
        let specific = format!("{{\"hookEventName\": \"PreToolUse\", \"{nested}\": {value}}}");
        let whole = format!("{{\"{key}\": {value}, \"hookSpecificOutput\": {specific}}}");
        for agent in AGENTS {
            for event in agent.event_names().map(|name| agent.event_named(name).unwrap()) {
                for stdout in [&whole, &specific, &value] {
                    let answer = read(agent, event, (code, stdout, &stderr));
                    let blocks = answer.starts_with("block");
                    let may_block = !matches!(event.name, "PostToolUse" | "SessionStart");
                    prop_assert!(may_block || !blocks, "{agent} {} {stdout}: {answer}", event.name);
                }
            }
        }
    }
}

#[test]
fn each_run_is_read_in_linear_time() {
    let events = AGENTS.map(|agent| (agent, &agent.events[0]));
    assert_reads_in_linear_time("the output of an agent's hook", |bytes| {
        let text = String::from_utf8_lossy(bytes);
        for (agent, event) in events {
            read(agent, event, (0, &text, ""));
            read(agent, event, (2, "", &text));
        }
    });
}

/// Returns a summary: `block: why`, then the other parts.
fn read(agent: &Agent, event: &Event, ended: (i32, &str, &str)) -> String {
    let (code, stdout, stderr) = ended;
    let signalled = Some(code).filter(|code| *code >= 0);
    let end = Exit {
        code: signalled,
        stdout,
        stdout_bytes: stdout.as_bytes(),
        stderr,
        gap: None,
    };
    let fired = HookEvent::user_interrupt();
    let answer = ending::read(agent, event, &fired, Strictness::Lenient, &end);
    let output = answer.output.unwrap_or_default();
    let mut parts = Vec::new();
    if let Some(decision) = output.decision {
        let reason = output.reason.map(|reason| format!(": {reason}"));
        parts.push(format!("{decision}{}", reason.unwrap_or_default()));
    }
    if output.stops_turn {
        let how = ["stop and deny", "stop"][usize::from(output.only_stops)];
        parts.push(format!("{how}: {}", output.stop_reason.unwrap_or_default()));
    }
    let texts = [
        ("context", output.additional_context),
        ("feedback", output.feedback),
        ("message", output.system_message),
        ("unusable", answer.invalid),
    ];
    for (name, text) in texts {
        parts.extend(text.map(|text| format!("{name}: {text}")));
    }
    if let Some(input) = output.updated_input {
        assert!(output.replaces_input, "as each of these agents does");
        parts.push(format!("input: {}", Value::Object(input)));
    }
    parts.extend(
        output
            .updated_output
            .map(|output| format!("output: {output}")),
    );
    if !answer.replaces_exit_code && code != 0 {
        parts.push(format!("failed {code}"));
    }
    if !(answer.notes.is_empty() && answer.warnings.is_empty()) {
        parts.push("diagnostic".to_owned());
    }
    parts.join("; ")
}

/// The agent, its event, the exit code, the expected reading, and the output of the hook: with exit code 2, on standard
/// error.
const ENDS: &str = r##"
claude PreToolUse 2 block: python3: can't open file 'x'; diagnostic <- python3: can't open file 'x'
claude PreToolUse 2 block: error: Failed to spawn: `x.py`; diagnostic <- error: Failed to spawn: `x.py`
claude PreToolUse 0  <- {"reason": null}
claude PreToolUse 0 block: no � <- {"decision": "block", "reason": "no \ud83d"}
claude PreToolUse 0 block: \ud83d � 👍 <- {"decision": "block", "reason": "\\ud83d \udc4d \ud83d\udc4d"}
claude Stop 0 unusable: `continue`: expected true or false, found a string <- {"continue": "no"}
claude PreToolUse 0 diagnostic <- {"permissionDecision": "deny"}
claude PreToolUse 0 allow; context: c; input: {"a":1} <- OWN "permissionDecision": "allow", "updatedInput": {"a": 1}, "additionalContext": "c"}}
claude PreToolUse 0  <- {"": 1, "hookSpecificOutput": {"hookEventName": "PreToolUse", "": {"a": 1}}}
claude PostToolUse 0 output: "x" <- OWN "updatedMCPToolOutput": "x"}}
codex PostToolUse 0  <- OWN "updatedMCPToolOutput": "x"}}
codex PostToolUse 0 feedback: no; output: "no" <- {"decision": "block", "reason": "no", "x": 1}
codex PostToolUse 0 output: "a hook has blocked this output, and gave no reason" <- {"decision": "block"}
codex PostToolUse 2 feedback: no; output: "no" <- no
codex PreToolUse 2 block: the hook exited with code 2, and wrote no reason to standard error <- 
codex PreToolUse 0 block <- {"decision": "block"}
codex PreToolUse 0 block: no <- {"decision": "block", "reason": "no", "x": 1, "suppressOutput": true}
codex PreToolUse 0 block <- OWN "permissionDecision": "deny", "x": 1}}
codex PreToolUse 0 block <- {"hookSpecificOutput": {"hookEventName": "Other", "permissionDecision": "deny"}}
codex PreToolUse 0 ask <- OWN "permissionDecision": "ask"}}
codex PreToolUse 0  <- OWN "permissionDecision": "allow"}}
codex PreToolUse 0  <- {"decision": "approve"}
codex PreToolUse 0 input: {"a":1} <- OWN "permissionDecision": "allow", "updatedInput": {"a": 1}}}
codex PreToolUse 0 stop and deny:  <- {"continue": false}
codex PermissionRequest 0 allow <- OWN "decision": {"behavior": "allow"}}}
codex PermissionRequest 0 block; stop and deny:  <- OWN "decision": {"behavior": "deny", "interrupt": true}}}
claude SessionStart 0 diagnostic <- {"sessionTitle": "t"}
claude SessionStart 0 diagnostic <- {"terminalSequence": "x"}
claude SessionStart 0 diagnostic <- OWN "watchPaths": ["/a"]}}
claude PermissionRequest 0 allow; diagnostic <- OWN "decision": {"behavior": "allow", "updatedPermissions": []}}}
claude PermissionRequest 2 block: not this one <- not this one
codex PreToolUse 0 block: no; input: {"a":1} <- OWN "permissionDecision": "deny", "permissionDecisionReason": "no", "updatedInput": {"a": 1}}}
claude PreToolUse 0  <- {"sessionTitle": null}
"##;

#[test]
fn ends_of_hooks_are_read() {
    for row in ENDS.trim().lines() {
        let (expected, answer) = row.split_once(" <- ").unwrap();
        let [agent, event, code, expected] = expected.splitn(4, ' ').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let agent = AGENTS
            .into_iter()
            .find(|known| known.name() == agent)
            .unwrap();
        let own = format!(r#"{{"hookSpecificOutput": {{"hookEventName": "{event}","#);
        let answer = answer.replace("OWN", &own);
        let kind = agent.event_named(event).unwrap();
        let reading = match code {
            "2" => read(agent, kind, (2, "", &answer)),
            _ => read(agent, kind, (0, &answer, "")),
        };
        assert_eq!(reading, expected, "{row}");
    }
}

/// Output that its agent could read, but this library cannot, is not plain text.
#[test]
fn an_answer_beyond_the_limits_blocks() {
    let deep = |inner: &str| "[".repeat(200) + inner + &"]".repeat(200);
    for value in [deep("1"), "1e400".to_owned(), deep(r#""\ud83d""#)] {
        let denial = format!(r#"{{"decision": "block", "echo": {value}}}"#);
        for agent in [CLAUDE, CODEX] {
            let event = agent.event_named("PreToolUse").unwrap();
            let answer = read(agent, event, (0, &denial, ""));
            let is_said = answer.starts_with("block: the hook's answer cannot be used");
            assert!(is_said, "{agent} {value}: {answer}");
        }
    }
    let event = CLAUDE.event_named("PreToolUse").unwrap();
    assert!(!read(CLAUDE, event, (0, "{ not JSON", "")).starts_with("block"));
}
