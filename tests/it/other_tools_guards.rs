//! Guards that were written for other tools: their decisions count under every circumstance.

use std::sync::Arc;

use forge_hooks::{
    EventType, FailureKind, FailurePolicy, FireOptions, Hook, HookEvent, HookResult, HostContext,
    Outcome, compat,
};
use serde_json::json;

#[cfg(unix)]
use crate::support::is_missing;
use crate::support::{World, blocking_event, hook_of};

fn claude(event: &str, matcher: &str, command: &str) -> Hook {
    hook_of(compat::CLAUDE, event, matcher, command)
}

fn guard(command: &str) -> Hook {
    claude("PreToolUse", "", command)
}

fn fired(event: &HookEvent, options: FireOptions, hooks: &[Hook]) -> Outcome {
    let world = World::new();
    for hook in hooks {
        world.registry().register(hook.clone());
    }
    world.executor.execute(event, options)
}

fn before(hooks: &[Hook]) -> Outcome {
    fired(&blocking_event(), FireOptions::default(), hooks)
}

#[test]
fn a_matcher_sees_what_the_host_says() {
    let hook = claude("SessionStart", "resume", "true");
    for (source, runs) in [("resume", 1), ("startup", 0)] {
        let context = HostContext::new().with_field("source", source);
        let event = HookEvent::session_start("s").with_context(Arc::new(context));
        let outcome = fired(&event, FireOptions::default(), std::slice::from_ref(&hook));
        assert_eq!(outcome.results().len(), runs, "{source}");
    }
}

#[test]
fn an_answer_that_is_too_long_blocks() {
    let long = "printf '{\"decision\": \"block\", \"reason\": \"'; \
        head -c 3000000 /dev/zero | tr '\\0' x; printf '\"}'";
    let outcome = before(&[guard(long)]);
    assert!(!outcome.allowed());
    assert!(
        outcome.reason().unwrap().contains("longer than"),
        "{:?}",
        outcome.results()[0].error
    );
}

#[test]
fn an_answer_of_gemini_that_is_too_long_blocks() {
    let long = |begin: &str, end: &str, to: &str| {
        let command = format!(
            "{{ printf '{begin}'; head -c 3000000 /dev/zero | tr '\\0' x; printf '{end}'; }} {to}"
        );
        hook_of(compat::GEMINI, "BeforeTool", "", &command)
    };
    for hook in [
        long(r#"{"decision": "deny", "reason": ""#, r#""}"#, ""),
        long(r#"{"decision": "deny", "reason": ""#, r#""}"#, ">&2"),
        long(
            r#""{\\"decision\\": \\"deny\\", \\"reason\\": \\""#,
            r#"\\"}""#,
            "",
        ),
    ] {
        let outcome = before(&[hook]);
        assert!(!outcome.allowed());
        assert!(outcome.reason().unwrap().contains("longer than"));
    }
    assert!(before(&[long("a log: ", "", ">&2")]).allowed());
}

#[test]
fn an_event_that_is_too_deep_blocks() {
    let mut args = json!("x");
    for _ in 0..200 {
        args = json!([args]);
    }
    let event = HookEvent::tool_pre_execute("bash", args);
    let outcome = fired(&event, FireOptions::default(), &[guard("exit 2")]);
    assert_eq!(
        outcome.results()[0].failure,
        Some(FailureKind::EventTooLarge)
    );
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
        assert!(outcome.results()[0].failure.is_some(), "{command}");
    }
    for command in ["echo ok", r#"echo '{"systemMessage": "m"}'"#] {
        let strict = guard(command).with_on_failure(FailurePolicy::Block);
        assert!(before(&[strict]).allowed(), "{command}");
    }
}

#[test]
fn a_denial_has_priority_over_a_question() {
    let answer = |word: &str| {
        guard(&format!(
            r#"echo '{{"hookSpecificOutput": {{"hookEventName": "PreToolUse",
            "permissionDecision": "{word}", "permissionDecisionReason": "{word}"}}}}'"#
        ))
    };
    let outcome = before(&[answer("ask"), answer("deny")]);
    assert_eq!(outcome.reason(), Some("deny"));
    assert_eq!(before(&[answer("ask")]).reason(), Some("ask"));
}

#[test]
fn half_a_line_of_variables_is_left_out() {
    let command = "yes export A=/a/b | head -n 90000 >\"$CLAUDE_ENV_FILE\"";
    let hook = claude("SessionStart", "", command);
    let event = HookEvent::session_start("s");
    let outcome = fired(&event, FireOptions::default(), &[hook]);
    let bytes = outcome.results()[0].env_file().unwrap().bytes();
    assert!(bytes.len() > 1_000_000 && bytes.ends_with(b"\nexport A=/a/b\n"));
}

#[test]
fn arguments_as_text_become_an_object() {
    let hook = guard(r#"grep -q '"tool_input":{"command":"ls"}' || exit 2"#);
    for args in ["ls", r#"{"command": "ls"}"#] {
        let event = HookEvent::tool_pre_execute("bash", args);
        let outcome = fired(&event, FireOptions::default(), std::slice::from_ref(&hook));
        assert!(outcome.allowed(), "{args}");
    }
}

/// The guard in examples/plugin.
#[cfg(unix)]
#[test]
fn the_example_denies_paths_outside() {
    if is_missing("jq") {
        return;
    }
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/plugin/hooks/stay-inside.sh"
    );
    let world = World::new();
    let hook = guard(&format!("sh '{script}'"));
    let inside = world.path("a b").to_str().unwrap().to_owned();
    for (path, allowed) in [
        (&*inside, true),
        ("src/a.rs", true),
        (&*format!("{inside}/../../x"), false),
        ("..", false),
        ("sub/..", false),
        ("../x", false),
        ("a/../../x", false),
        ("~/.ssh/id", false),
        ("/etc/passwd", false),
    ] {
        let event = HookEvent::tool_pre_execute("write", json!({"file_path": path}));
        let outside = hook.clone().with_env("CLAUDE_PROJECT_DIR", "");
        let root = world.directory().to_str().unwrap();
        let hook = hook.clone().with_env("CLAUDE_PROJECT_DIR", root);
        let options = FireOptions::default();
        assert_eq!(fired(&event, options, &[hook]).allowed(), allowed, "{path}");
        assert!(!fired(&event, options, &[outside]).allowed(), "{path}");
    }
}

#[test]
fn failures_of_the_engine_are_not_forgiven() {
    use FailureKind::{EventTooLarge, Exit, NotFound, NotStarted, Panicked, StatusLost, TimedOut};
    for (failure, allowed) in [
        (EventTooLarge, false),
        (Panicked, false),
        (StatusLost, false),
        (Exit, true),
        (NotFound, true),
        (NotStarted, true),
        (TimedOut, true),
    ] {
        let mut result = HookResult::new(guard("true"), -1);
        result.failure = Some(failure);
        let outcome = Outcome::new(EventType::ToolPreExecute, vec![result]);
        assert_eq!(outcome.allowed(), allowed, "{failure}");
    }
}
