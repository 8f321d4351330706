//! Actions that a program with a screen polls.

use forge_hooks::lifecycle::{Next, OwnAction, Submitted};
use forge_hooks::{Decision, EventSpec, HookBlockedError, HookExecutor, Lifecycle, Permit};
use serde_json::json;

use super::{Host, PRE, works};
use crate::support::eventually;

/// Polls a call to its end, as frames would.
fn polled(call: &mut Submitted<forge_hooks::lifecycle::Tool>) -> Result<Permit, HookBlockedError> {
    let mut begun = None;
    eventually("the call is decided", || {
        begun = call.poll();
        begun.is_some() || call.question().is_some()
    });
    begun.unwrap_or_else(|| {
        call.answer(true);
        call.poll().unwrap()
    })
}

#[test]
fn a_call_is_polled() {
    let host = Host::with([(PRE, json!({"updatedInput": {"n": 2}}))]);
    let hooks = host.lifecycle();
    let mut call = hooks.tool("bash", json!({"n": 1})).submit();
    let permit = polled(&mut call).unwrap();
    assert_eq!(permit.args()["n"], 2);
    assert!(call.poll().is_none() && call.question().is_none());
    assert!(works(permit).check().is_ok());
    host.answers(PRE, json!({"decision": "block", "reason": "no"}));
    let mut call = hooks.tool("bash", json!({"n": 1})).submit();
    assert_eq!(polled(&mut call).unwrap_err().result.reason(), Some("no"));
}

#[test]
fn its_question_is_a_value() {
    let ask = json!({"decision": "ask", "reason": "sure?"});
    let host = Host::with([(PRE, ask)]);
    let hooks = host.lifecycle();
    for is_yes in [true, false] {
        let mut call = hooks.tool("bash", "ls").submit();
        eventually("it asks", || call.question().is_some());
        assert!(call.poll().is_none());
        assert_eq!(call.question().unwrap().reasons(), ["sure?"]);
        call.answer(is_yes);
        assert!(call.question().is_none());
        assert_eq!(call.poll().unwrap().is_ok(), is_yes);
    }
    // Ctrl-C while it is open.
    for by_executor in [true, false] {
        let mut call = hooks.tool("bash", "ls").submit();
        eventually("it asks", || call.question().is_some());
        if by_executor {
            host.world.executor.cancel_running();
        } else {
            call.cancel();
        }
        call.answer(true);
        assert!(call.poll().unwrap().unwrap_err().is_cancelled());
    }
}

#[cfg(unix)]
#[test]
fn its_hooks_are_cancelled() {
    let host = Host::with([]);
    host.world.hook(PRE, "touch runs; sleep 60");
    let mut call = host.lifecycle().tool("bash", "ls").submit();
    host.world.await_file("runs");
    assert!(call.poll().is_none());
    call.cancel();
    assert!(call.poll().unwrap().unwrap_err().is_cancelled());
    host.ends();
}

#[test]
fn a_permission_is_polled() {
    let host = Host::with([]);
    for answer in [true, false] {
        let request = host.lifecycle().permission("bash", "execute");
        let mut submitted = request.with_verdict(Decision::Ask).submit();
        let mut begun = None;
        eventually("it has begun", || {
            begun = submitted.poll();
            begun.is_some()
        });
        let running = begun.unwrap().unwrap();
        assert!(running.question().is_some());
        assert_eq!(running.finish(answer), answer);
        let names = format!(
            "check permission:prompt permission:{}",
            if answer { "granted" } else { "denied" }
        );
        eventually("its end", || host.names().ends_with(&names));
    }
}

/// An event that only notifies is not waited for, before or after the action.
#[test]
fn a_full_queue_blocks_and_says_so() {
    let executor = HookExecutor::builder().build();
    let hook = crate::support::hook(PRE, "exit 0");
    executor.registry().register(hook);
    executor.shutdown(std::time::Duration::ZERO);
    let hooks = Lifecycle::new(executor);
    let blocked = hooks
        .tool("bash", "ls")
        .submit()
        .poll()
        .unwrap()
        .unwrap_err();
    let text = "not run: executor has been shut down, tool:pre_execute was not taken";
    assert_eq!(blocked.to_string(), text);
    let next = forge_hooks::lifecycle::ToolRun::from(blocked).next;
    assert_eq!(next, Next::GoOn(text.to_owned()));
    let names = ["a:before", "a:after", "a:failed"].map(EventSpec::named);
    let own = OwnAction::new(&names[0], &names[1], &names[2]).unwrap();
    let begun = hooks.action(&own).submit().poll();
    assert!(begun.unwrap().is_ok(), "it has no hooks");
}
