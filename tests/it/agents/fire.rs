//! `fire --agent` and `test` of an agent's event: what this program would answer under the agent.

use serde_json::{Value, json};

use crate::cases::at_once;
use crate::program::User;

#[test]
fn recorded_events_are_answered_as_under_the_agent() {
    let rows = include_str!("real_events.txt").lines();
    let rows: Vec<_> = rows.filter(|row| !row.starts_with('#')).collect();
    let answers = [
        json!([{"event": "*", "answer": {"decision": "block", "reason": "not now"}}]),
        json!([{"event": "*", "answer": {"additionalContext": "on Mondays"}},
            {"event": "tool:pre_execute", "answer": {"decision": "ask", "reason": "sure?"}}]),
        json!([]),
    ];
    for hooks in answers {
        at_once(&rows, User::new, |user, row| {
            let [agent, name, event] = row.split(" | ").collect::<Vec<_>>()[..] else {
                panic!("{row}");
            };
            user.has_hooks(&hooks);
            let mut payload: Value = serde_json::from_str(event).unwrap();
            let fire = ["fire", "--agent", agent, "--event-json", "-", "--json"];
            let fired = user.run_with_input(&fire, event);
            // It is fired without its session, which has ended.
            payload.as_object_mut().unwrap().remove("session_id");
            let own = user.feed(user.registered(agent, name), &payload.to_string());
            let said = fired.json();
            let answer: Value = serde_json::from_str(&own.out).unwrap_or_default();
            assert_eq!(said["answer"], answer, "{row}: {fired:?}");
            assert_eq!(said["exit_code"], own.status, "{row}: {fired:?} {own:?}");
            let reason = said["reason"].as_str().unwrap_or_default();
            assert!(reason.contains(own.err.trim_end()), "{row}: {fired:?}");
            assert!(!user.path("home/.local/state/forge-hooks/sessions").exists());
        });
    }
}

#[test]
fn parts_and_protection_count() {
    let user = User::with_project_file(r#"{"hooks": []}"#);
    let when = json!({"/tool_args/path": "secret.txt"});
    let answer = json!({"decision": "block", "reason": "it is secret"});
    user.has_hooks(&json!([{"event": "tool:pre_execute:write", "when": when, "answer": answer}]));
    let patch = "*** Begin Patch\n*** Add File: secret.txt\n+x\n*** End Patch";
    let settings = user.path("home/.codex/hooks.json");
    let event = |name: &str, tool: &str, input: Value| json!({"hook_event_name": name, "cwd": user.project(), "tool_name": tool, "tool_input": input});
    for (agent, event, words) in [
        (
            "codex",
            event("PreToolUse", "apply_patch", json!({"command": patch})),
            "it is secret",
        ),
        (
            "claude",
            event(
                "PreToolUse",
                "Write",
                json!({"file_path": user.path("home/.claude/settings.json"), "content": "{}"}),
            ),
            "decide",
        ),
    ] {
        let fire = ["fire", "--agent", agent, "--event-json", "-"];
        let fired = user.run_with_input(&fire, &event.to_string());
        let is_blocked = fired
            .out
            .contains(&format!("PreToolUse of {agent}: blocks\n"));
        assert!(is_blocked && fired.out.contains(words), "{fired:?}");
        assert_eq!(fired.status, 1);
    }
    let case = |agent: &str, tool: &str, args: Value, expect: &str| json!({"agent": agent, "event": "PreToolUse", "tool": tool, "args": args, "expect": expect});
    let mut secret = case("codex", "apply_patch", json!({"command": patch}), "block");
    secret["reason"] = "*it is secret*".into();
    let cases = json!([
        secret,
        case("claude", "Bash", json!({"command": "ls"}), "allow"),
        case(
            "codex",
            "apply_patch",
            json!({"command": "*** Begin Patch\n*** Add File: x\n+x\n*** End Patch"}),
            "allow"
        ),
        case(
            "codex",
            "Write",
            json!({"file_path": settings, "content": ""}),
            "block"
        ),
    ]);
    let file = user.write("cases.json", &cases.to_string());
    let tested = user.run(&["test", file.to_str().unwrap()]);
    assert_eq!(tested.status, 0, "{tested:?}");
}

#[test]
fn outputs_and_contexts_are_compared() {
    let user = User::new();
    user.has_hooks(&json!([{"event": "tool:post_execute",
        "answer": {"updatedOutput": "masked", "additionalContext": "some is masked"}}]));
    let case = |output: &str, context: &str| {
        json!([{"event": "tool:post_execute", "tool": "bash", "args": {"command": "ls"},
        "data": {"tool_result": "secret"}, "expect": "allow", "updatedOutput": output, "context": context}])
    };
    for (output, context, differs) in [
        ("masked", "some is *", json!([])),
        ("other", "some is *", json!(["updatedOutput"])),
        ("masked", "none is *", json!(["context"])),
    ] {
        let file = user.write("cases.json", &case(output, context).to_string());
        let tested = user.run(&["test", file.to_str().unwrap(), "--json"]);
        assert_eq!(tested.json()["cases"][0]["differs"], differs, "{tested:?}");
    }
}

#[test]
fn what_does_not_belong_to_an_agents_event_is_refused() {
    let user = User::new();
    let event = json!({"hook_event_name": "PreTolUse", "cwd": "/"}).to_string();
    for (args, message, fix) in [
        (
            &[][..],
            "Claude Code has no event `PreTolUse`",
            "did you mean `PreToolUse`?",
        ),
        (
            &["--no-global"],
            "Claude Code has no event",
            "did you mean `PreToolUse`?",
        ),
        (
            &["--plugin", "."],
            "do not run here",
            "add `--other-agents claude`",
        ),
    ] {
        let fire = ["fire", "--agent", "claude", "--event-json", "-"];
        let printed = user.run_with_input(&crate::program::with(&fire, args), &event);
        let is_said = printed.err.contains(message) && printed.err.contains(fix);
        assert!(is_said && printed.status == 2, "{printed:?}");
    }
    let needs = user.run(&["fire", "--agent", "claude"]);
    assert!(needs.err.contains("needs `--event-json FILE`"), "{needs:?}");
}
