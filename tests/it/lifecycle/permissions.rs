//! A permission: checked, asked for, granted or denied.

use std::panic::{AssertUnwindSafe, catch_unwind};

use forge_hooks::lifecycle::PermissionRun;
use forge_hooks::{Decision, FailureKind, HookBlockedError, compat};
use serde_json::json;

use super::Host;
use crate::support::hook_of;

#[test]
fn a_permission_has_its_events_in_order() {
    let check = "permission:check";
    let prompt = "permission:prompt";
    let granted = "permission:granted";
    let denied = "permission:denied";
    let (allow, block, ask) = (Decision::Allow, Decision::Block, Decision::Ask);
    // Which event a hook answers, and its decision; what the host would do; whether it is granted.
    for (pattern, answer, verdict, expected, names) in [
        ("test:none", "allow", allow, true, &[check, granted][..]),
        ("test:none", "allow", block, false, &[check, denied]),
        ("test:none", "allow", ask, true, &[check, prompt, granted]),
        (check, "block", allow, false, &[check, denied]),
        (check, "block", ask, false, &[check, denied]),
        (check, "ask", allow, true, &[check, prompt, granted]),
        (check, "ask", block, false, &[check, denied]),
        (check, "allow", ask, true, &[check, prompt, granted]),
        (prompt, "block", ask, false, &[check, prompt, denied]),
        (prompt, "ask", ask, true, &[check, prompt, granted]),
    ] {
        let host = Host::with([(pattern, json!({ "decision": answer }))]);
        let asked = |user: bool| -> (Result<PermissionRun, HookBlockedError>, bool) {
            let mut asked = false;
            let hooks = host.lifecycle();
            let request = hooks
                .permission("bash", "execute")
                .rule("r")
                .verdict(verdict);
            let permission = request.run(|_| {
                asked = true;
                user
            });
            (permission, asked)
        };
        let case = format!("{pattern} {answer} {verdict}");
        let (permission, was_asked) = asked(true);
        let is_granted = permission.is_ok_and(|run| run.granted);
        assert_eq!(is_granted, expected, "{case}");
        assert_eq!(host.names(), names, "{case}");
        assert_eq!(was_asked, names.contains(&prompt) && expected, "{case}");
        let rest = json!({"perm_level": "execute", "perm_rule": "r"});
        assert_eq!(host.seen.data(0), rest, "{case}");
        if was_asked {
            assert!(!asked(false).0.unwrap().granted, "{case}");
            assert_eq!(host.names().last().unwrap(), denied, "{case}");
        }
    }
}

#[test]
fn a_hook_grants_if_it_may() {
    let host = Host::with([(
        "permission:check",
        json!({"decision": "allow", "reason": "reads"}),
    )]);
    let hooks = host.lifecycle();
    let request = || hooks.permission("ls", "read").hooks_may_grant();
    assert!(
        request()
            .run(|_| panic!("the user is not asked"))
            .unwrap()
            .granted
    );
    assert!(
        !request()
            .verdict(Decision::Block)
            .run(|_| true)
            .unwrap()
            .granted
    );
    host.world.hook(
        "permission:check",
        &host.world.says(r#"{"decision": "ask"}"#),
    );
    assert!(
        !request().run(|_| false).unwrap().granted,
        "ask outranks allow"
    );
    host.world.hook("permission:check", "exit 3");
    let denied = request().run(|_| panic!("the user is not asked"));
    let denied = denied.unwrap_err();
    assert_eq!(denied.result.reason(), Some("exited with code 3"));
    assert_eq!(denied.result.failure, Some(FailureKind::Exit));
    assert_eq!(host.names().last().unwrap(), "permission:denied");
}

#[test]
fn a_question_outranks_a_tools_grant() {
    let host = Host::with([]);
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest",
        "decision": {"behavior": "allow"}}});
    let says = host.world.says(&answer.to_string());
    let grants = hook_of(compat::CLAUDE, "PermissionRequest", "", &says);
    host.world.registry().register(grants);
    let hooks = host.lifecycle();
    let request = || hooks.permission("bash", "execute").hooks_may_grant();
    assert!(
        request()
            .run(|_| panic!("the user is not asked"))
            .unwrap()
            .granted
    );
    let asks = host.world.says(r#"{"decision": "ask", "reason": "sure?"}"#);
    host.world.hook("permission:prompt", &asks);
    let mut reason = None;
    let permission = request().run(|question| {
        reason = question
            .result
            .and_then(|it| it.reason())
            .map(str::to_owned);
        false
    });
    let is_granted = permission.unwrap().granted;
    assert_eq!((is_granted, reason.as_deref()), (false, Some("sure?")));
}

#[test]
fn a_panic_while_asking_denies() {
    let host = Host::with([]);
    let asking = AssertUnwindSafe(|| {
        let _ = host
            .lifecycle()
            .permission("bash", "execute")
            .run(|_| panic!("no terminal"));
    });
    assert!(catch_unwind(asking).is_err());
    let names = ["permission:check", "permission:prompt", "permission:denied"];
    assert_eq!(host.names(), names);
}

#[test]
#[cfg(unix)]
fn a_hook_that_fails_grants_nothing() {
    let host = Host::with([]);
    let says = host.world.says(r#"{"decision": "allow"}"#);
    let failing = crate::support::hook("permission:check", &format!("{says}; exit 1"));
    let forgiven = failing.with_on_failure(forge_hooks::FailurePolicy::Continue);
    host.world.registry().register(forgiven);
    let hooks = host.lifecycle();
    let request = hooks.permission("ls", "read").hooks_may_grant();
    assert!(!request.run(|_| false).unwrap().granted);
}
