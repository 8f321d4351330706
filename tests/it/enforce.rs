//! A hook that is not enforced: it runs, and nothing follows from it but what its result says.
#![cfg(unix)]

use std::time::Duration;

use forge_hooks::hook::May;
use forge_hooks::{Decision, FailureKind, FailurePolicy, FireOptions, Hook, HookEvent, Outcome};
use serde_json::json;

use crate::support::{World, decision, hook, is_agent_stop};

/// A command, and what its hook would decide.
const HOOKS: [(&str, &str); 12] = [
    ("exit 0", "allow"),
    ("echo no; exit 1", "block"),
    (r#"echo '{"decision": "block", "reason": "no"}'"#, "block"),
    (r#"echo '{"decision": "ask", "reason": "r"}'"#, "ask"),
    (r#"echo '{"decision": "allow"}'"#, "allow"),
    (r#"echo '{"continue": false, "stopReason": "s"}'"#, "block"),
    (
        r#"echo '{"updatedInput": {"a": 1}}'"#,
        "block unless applied",
    ),
    (
        r#"echo '{"updatedOutput": 1, "systemMessage": "m"}'"#,
        "allow",
    ),
    (
        r#"echo '{"additionalContext": "c", "feedback": "f"}'"#,
        "allow",
    ),
    (r#"echo '{"decision": "maybe"}'"#, "block"),
    ("kill -9 $$", "block"),
    ("./gone.sh", "block"),
];

fn events() -> [HookEvent; 5] {
    [
        HookEvent::tool_pre_execute("bash", json!({})),
        HookEvent::tool_post_execute("bash", json!({}), "secret"),
        HookEvent::user_prompt_submit("hello"),
        HookEvent::agent_stop(false),
        HookEvent::session_start("s"),
    ]
}

/// Checks that nothing follows from the first result, which would decide this.
fn check(outcome: &Outcome, would: &str, case: &str) {
    assert!(outcome.allowed() && outcome.check().is_ok(), "{case}");
    let follows = (
        decision(outcome),
        outcome.additional_context(),
        outcome.feedback(),
        outcome.updated_input(),
        outcome.updated_output(),
        outcome.stop_reason(),
    );
    assert_eq!(follows, (None, None, None, None, None, None), "{case}");
    assert!(outcome.system_messages().is_empty(), "{case}");
    assert!(!outcome.stops_turn(), "{case}");
    let observed = &outcome.results()[0];
    let decisions = (
        observed.would().map(|would| would.to_string()),
        observed.decision(),
    );
    assert_eq!(
        decisions,
        (Some(would.to_owned()), Decision::Allow),
        "{case}"
    );
    let is_told = !matches!(observed.failure(), None | Some(FailureKind::Exit));
    assert_eq!(!outcome.failures().is_empty(), is_told, "{case}");
}

#[test]
fn nothing_follows_from_a_hook_that_is_not_enforced() {
    for (command, would) in HOOKS {
        let world = World::new();
        world.add(hook("*", command).with_enforce(false));
        world.hook("*", "echo ran >&2");
        for event in events() {
            for options in [FireOptions::default(), FireOptions::default().handles_ask()] {
                let outcome = world.executor.execute(&event, options);
                let case = format!("{command} on {}: {outcome:?}", event.event_type);
                // Where nothing can be blocked, no yes is needed.
                let would = match would {
                    "block unless applied"
                        if outcome.can_block() && !is_agent_stop(outcome.event_type()) =>
                    {
                        "block"
                    }
                    "block unless applied" => "allow",
                    would => would,
                };
                check(&outcome, would, &case);
                let after = &outcome.results()[1];
                assert_eq!((after.stderr(), after.would()), ("ran\n", None), "{case}");
            }
        }
    }
}

#[test]
fn a_deadline_is_observed_too() {
    let world = World::new();
    let slow = hook("*", "sleep 60").with_timeout(Duration::from_millis(50));
    world.add(slow.with_enforce(false));
    let outcome = world.outcome(&events()[0]);
    assert!(outcome.allowed());
    assert_eq!(outcome.results()[0].would(), Some(Decision::Block));
}

#[test]
fn a_permission_is_not_granted_by_an_observing_hook() {
    let world = World::new();
    let says = world.says(r#"{"decision": "allow"}"#);
    let grants = hook("permission:*", &says).with_may([May::Grant]);
    world.add(grants.with_enforce(false));
    let lifecycle = forge_hooks::Lifecycle::new(world.executor.clone());
    let request = lifecycle.permission("bash", "execute").hooks_may_grant();
    assert!(!request.run(|_| false).unwrap());
}

#[test]
fn what_must_be_enforced_is() {
    for (entry, key) in [
        (json!({"enforce": false, "background": true}), "enforce"),
        (
            json!({"enforce": false, "on_failure": "withhold", "event": "tool:post_execute"}),
            "enforce",
        ),
        (json!({"enforce": "no"}), "enforce"),
    ] {
        let mut whole = json!({"event": "*", "command": "x"});
        whole
            .as_object_mut()
            .unwrap()
            .extend(entry.as_object().unwrap().clone());
        let error = Hook::from_json(&whole).unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{key}`: ")), "{error}");
    }
    let own = Hook::new("tool:post_execute", "exit 1").unwrap();
    let withholds = own
        .clone()
        .with_enforce(false)
        .with_on_failure(FailurePolicy::Withhold);
    for enforced in [withholds, own.with_enforce(false).with_background()] {
        assert_eq!(enforced.to_json()["enforce"], serde_json::Value::Null);
    }
    let plain = json!({"event": "*", "command": "x", "enforce": true});
    let plain = Hook::from_json(&plain).unwrap();
    assert_eq!(plain, Hook::new("*", "x").unwrap());
}
