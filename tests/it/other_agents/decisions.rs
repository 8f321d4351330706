//! Guards that were written for other agents: their decisions count under every circumstance.

use std::sync::Arc;

use forge_hooks::{
    EventType, FailureKind, FailurePolicy, FireOptions, Hook, HookEvent, HookResult, HostContext,
    Outcome, compat,
};
use serde_json::json;

use crate::support::{World, blocking_event, hook_of, is_missing};

fn claude(event: &str, matcher: &str, command: &str) -> Hook {
    hook_of(compat::CLAUDE, event, matcher, command)
}

fn guard(command: &str) -> Hook {
    claude("PreToolUse", "", command)
}

fn fired(event: &HookEvent, hooks: &[Hook]) -> Outcome {
    let world = World::new();
    world.registry().load_hooks(hooks.iter().cloned());
    world.outcome(event)
}

fn before(hooks: &[Hook]) -> Outcome {
    fired(&blocking_event(), hooks)
}

#[test]
fn a_matcher_sees_what_the_host_says() {
    let hook = claude("SessionStart", "resume", "true");
    for (source, runs) in [("resume", 1), ("startup", 0)] {
        let context = HostContext::new().with_field("source", source);
        let event = HookEvent::session_start("s").with_context(Arc::new(context));
        let outcome = fired(&event, std::slice::from_ref(&hook));
        assert_eq!(outcome.results().len(), runs, "{source}");
    }
}

#[test]
fn exit_code_2_names_the_place_of_its_reason() {
    for command in ["echo no; exit 2", "exit 2"] {
        let outcome = before(&[guard(command)]);
        let reason = outcome.reason().unwrap();
        assert!(reason.contains("standard error"), "{reason}");
        let event = HookEvent::tool_post_execute("bash", "ls", "");
        let feedback = fired(&event, &[claude("PostToolUse", "", command)]);
        let notes = feedback.results()[0].diagnostics().join("");
        assert!(notes.contains("standard error"), "{notes}");
    }
}

#[test]
fn an_event_that_is_too_deep_blocks() {
    let args = (0..200).fold(json!("x"), |inner, _| json!([inner]));
    let event = HookEvent::tool_pre_execute("bash", args);
    let outcome = fired(&event, &[guard("exit 2")]);
    let failure = outcome.results()[0].failure();
    assert_eq!(failure, Some(FailureKind::EventTooLarge));
    assert!(!outcome.allowed());
}

#[test]
fn a_strict_guard_must_be_understood() {
    for command in [
        r#"echo '{"decision": "block", "reason": "cut off'"#,
        r#"echo checking; echo '{"decision": "block"}'"#,
        r#"printf 'log\n{"continue": false, "stopReason": "x"}\n'"#,
        r#"printf 'log\n{\n  "decision":\n  "block"\n}\nend\n'"#,
        r#"echo '{"permissionDecision": "deny"}'"#,
        "trap 'echo {}' EXIT; exit 1",
    ] {
        assert!(before(&[guard(command)]).allowed(), "{command}");
        let strict = guard(command).with_on_failure(FailurePolicy::Block);
        let outcome = before(&[strict]);
        assert!(!outcome.allowed(), "{command}");
        assert!(outcome.results()[0].failure().is_some(), "{command}");
    }
    for command in ["echo ok", r#"echo '{"systemMessage": "m"}'"#] {
        let strict = guard(command).with_on_failure(FailurePolicy::Block);
        assert!(before(&[strict]).allowed(), "{command}");
    }
}

#[test]
fn a_denial_has_priority_over_a_question() {
    let answer = |word: &str| {
        let specific = json!({"hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": word});
        let answer = json!({ "hookSpecificOutput": specific });
        guard(&format!("echo '{answer}'"))
    };
    let world = World::new();
    world.registry().load_hooks([answer("ask"), answer("deny")]);
    let options = FireOptions::new().handles_ask();
    let outcome = world.executor.execute(&blocking_event(), options);
    assert_eq!(outcome.reason(), Some("deny"));
}

#[test]
fn arguments_as_text_become_an_object() {
    let hook = guard(r#"grep -q '"tool_input":{"command":"ls"}' || exit 2"#);
    for args in ["ls", r#"{"command": "ls"}"#] {
        let event = HookEvent::tool_pre_execute("bash", args);
        let outcome = fired(&event, std::slice::from_ref(&hook));
        assert!(outcome.allowed(), "{args}");
    }
}

/// The guard in examples/plugin.
#[test]
fn the_example_denies_paths_outside() {
    if is_missing("jq") {
        return;
    }
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/plugin/hooks");
    let world = World::new();
    let hook = guard(&format!("sh '{examples}/stay-inside.sh'"));
    let inside = world.path("a b").to_str().unwrap().to_owned();
    for (path, allowed) in [
        (&*inside, true),
        ("src/a.rs", true),
        (&*format!("{inside}/../../x"), false),
        ("..", false),
        ("sub/..", false),
        ("a/../../x", false),
        ("~/.ssh/id", false),
        ("/etc/passwd", false),
    ] {
        let event = HookEvent::tool_pre_execute("write", json!({"file_path": path}));
        let root = world.directory().to_str().unwrap();
        let hook = hook.clone().with_env("CLAUDE_PROJECT_DIR", root);
        assert_eq!(fired(&event, &[hook]).allowed(), allowed, "{path}");
    }
    let event = HookEvent::tool_pre_execute("write", json!({"file_path": "src/a.rs"}));
    let outside = hook.with_env("CLAUDE_PROJECT_DIR", "");
    assert!(!fired(&event, &[outside]).allowed());
}

#[test]
fn failures_of_the_engine_are_not_forgiven() {
    use FailureKind::{
        ArgumentsNotMapped, EventTooLarge, Exit, NoWorkingDir, NotFound, NotStarted, Panicked,
        StatusLost, TimedOut,
    };
    for (failure, allowed) in [
        (EventTooLarge, false),
        (ArgumentsNotMapped, false),
        (NoWorkingDir, false),
        (Panicked, false),
        (StatusLost, false),
        (Exit, true),
        (NotFound, true),
        (NotStarted, true),
        (TimedOut, true),
    ] {
        let result = HookResult::failing(guard("true"), failure, "as it is");
        let outcome = Outcome::new(EventType::ToolPreExecute, vec![result]);
        assert_eq!(outcome.allowed(), allowed, "{failure}");
    }
}

/// An answer that its agent could read, and this library cannot, may be a denial.
#[test]
fn an_answer_beyond_the_limits_blocks_what_can_be_blocked() {
    let deep = "[".repeat(200) + &"]".repeat(200);
    let prompt = HookEvent::user_prompt_submit("hi");
    let permission = HookEvent::permission_prompt("bash", "execute", None);
    let after = HookEvent::tool_post_execute("bash", json!({"command": "ls"}), "out");
    for (agent, name, event, allowed) in [
        (compat::CLAUDE, "PreToolUse", &blocking_event(), false),
        (compat::CLAUDE, "PermissionRequest", &permission, false),
        (compat::CLAUDE, "UserPromptSubmit", &prompt, false),
        (compat::CLAUDE, "PostToolUse", &after, true),
        (compat::CLAUDE, "Stop", &HookEvent::agent_stop(false), true),
        (compat::CODEX, "PreToolUse", &blocking_event(), false),
    ] {
        for value in [&*deep, "1e400"] {
            let command = format!(r#"echo '{{"decision": "deny", "echo": {value}}}'"#);
            let outcome = fired(event, &[hook_of(agent, name, "", &command)]);
            assert_eq!(outcome.allowed(), allowed, "{agent} {name}: {outcome:?}");
            let failure = outcome.results()[0].failure();
            assert!(
                !allowed || failure == Some(FailureKind::InvalidAnswer),
                "{agent} {name}"
            );
        }
    }
}
