//! A permission: checked, asked for, granted or denied.

use std::panic::{AssertUnwindSafe, catch_unwind};

use forge_hooks::hook::May;
use forge_hooks::lifecycle::Question;
use forge_hooks::{Decision, FailureKind, FailurePolicy, compat};
use serde_json::json;

use super::Host;
use crate::support::{AND, hook, hook_of};

const CHECK: &str = "permission:check";

#[test]
fn a_permission_has_its_events_in_order() {
    let (allow, block, ask) = (Decision::Allow, Decision::Block, Decision::Ask);
    // The columns: the event that a hook answers, its decision, the host's verdict, the expected result, and the
    // events.
    for (event, answer, verdict, expected, names) in [
        ("none", "allow", allow, true, "check granted"),
        ("none", "allow", block, false, "check denied"),
        ("none", "allow", ask, true, "check prompt granted"),
        ("check", "block", allow, false, "check denied"),
        ("check", "block", ask, false, "check denied"),
        ("check", "ask", allow, true, "check prompt granted"),
        ("check", "ask", block, false, "check denied"),
        ("check", "allow", ask, true, "check prompt granted"),
        ("prompt", "block", ask, false, "check prompt denied"),
        ("prompt", "ask", ask, true, "check prompt granted"),
    ] {
        let pattern = format!("permission:{event}");
        let host = Host::with([(&*pattern, json!({ "decision": answer }))]);
        let hooks = host.lifecycle();
        let case = format!("{pattern} {answer} {verdict}");
        for user in [true, false] {
            let mut was_asked = false;
            let request = hooks.permission("bash", "execute").with_rule("r");
            let permission = request.with_verdict(verdict).run(|_| {
                was_asked = true;
                user
            });
            let is_granted = permission.unwrap_or_default();
            assert_eq!(is_granted, expected && (user || !was_asked), "{case}");
            let asks = names.contains("prompt") && expected;
            assert_eq!(was_asked, asks, "{case}");
            if user {
                assert_eq!(host.names().replace("permission:", ""), names, "{case}");
            }
        }
        let data = json!({"perm_level": "execute", "perm_rule": "r"});
        assert_eq!(host.seen.data(0), data, "{case}");
    }
}

fn is_not_asked(_: &Question<'_>) -> bool {
    panic!("the user is not asked")
}

#[test]
fn a_hook_grants_if_it_may() {
    let host = Host::with([]);
    let hooks = host.lifecycle();
    let request = || hooks.permission("ls", "read").hooks_may_grant();
    let says = host.world.says(r#"{"decision": "allow"}"#);
    let failing = hook(CHECK, &format!("{says}{AND}exit 1"));
    let forgiven = failing.with_on_failure(FailurePolicy::Continue);
    host.world.add(forgiven);
    assert!(!request().run(|_| false).unwrap(), "it has failed");
    host.world.hook(CHECK, &says);
    assert!(request().run(is_not_asked).unwrap());
    let blocked = request().with_verdict(Decision::Block).run(|_| true);
    assert!(!blocked.unwrap());
    host.answers(CHECK, json!({"decision": "ask"}));
    let asked = request().run(|_| false);
    assert!(!asked.unwrap(), "ask outranks allow");
    host.world.hook(CHECK, "exit 3");
    let denied = request().run(is_not_asked).unwrap_err();
    assert_eq!(denied.result.reason(), Some("exited with code 3"));
    assert_eq!(denied.result.failure(), Some(FailureKind::Exit));
    assert!(host.names().ends_with(" permission:denied"));
}

#[test]
fn a_hook_answers_the_prompt_if_it_may() {
    for (may, grants) in [(May::ALL, true), (&[May::AddContext], false)] {
        let host = Host::with([]);
        let says = host.world.says(r#"{"decision": "allow"}"#);
        let prompted = hook("permission:prompt", &says).with_may(may.iter().copied());
        host.world.add(prompted);
        let hooks = host.lifecycle();
        let request = hooks.permission("bash", "execute").hooks_may_grant();
        assert_eq!(request.run(|_| false).unwrap(), grants);
        let without = hooks.permission("bash", "execute");
        assert!(!without.run(|_| false).unwrap(), "the host decides");
    }
}

#[test]
fn a_question_outranks_a_tools_grant() {
    let host = Host::with([]);
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest",
        "decision": {"behavior": "allow"}}});
    let says = host.world.says(&answer.to_string());
    let grants = hook_of(compat::CLAUDE, "PermissionRequest", "", &says);
    host.world.add(grants);
    let hooks = host.lifecycle();
    let request = || hooks.permission("bash", "execute").hooks_may_grant();
    assert!(request().run(is_not_asked).unwrap());
    let asks = json!({"decision": "ask", "reason": "sure?"});
    host.answers("permission:prompt", asks);
    let mut reason = None;
    let permission = request().run(|question| {
        let asked = question.result.and_then(|result| result.reason());
        reason = asked.map(str::to_owned);
        false
    });
    let is_granted = permission.unwrap();
    assert_eq!((is_granted, reason.as_deref()), (false, Some("sure?")));
}

#[test]
fn a_panic_while_asking_denies() {
    let host = Host::with([]);
    let hooks = host.lifecycle();
    let asking = AssertUnwindSafe(|| hooks.permission("bash", "execute").run(is_not_asked));
    assert!(catch_unwind(asking).is_err());
    let names = "permission:check permission:prompt permission:denied";
    assert_eq!(host.names(), names);
}
