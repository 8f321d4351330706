//! A call of a tool: its events, what hooks change of it, and whom they want asked.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use forge_hooks::{Decision, Lifecycle};
use serde_json::json;

use super::{Host, works};
use crate::support::World;
#[cfg(unix)]
use crate::support::hook;

#[test]
fn a_tool_has_its_events_around_it() {
    let host = Host::with([]);
    let hooks = host.lifecycle().session_id("s1");
    let run = hooks.tool("read", json!({"path": "a"})).run(works).unwrap();
    assert_eq!(run.original.unwrap(), json!({"lines": 3}));
    assert_eq!(run.args, json!({"path": "a"}));
    assert_eq!(
        (
            run.before.results().len(),
            run.after.unwrap().results().len()
        ),
        (1, 1)
    );
    assert_eq!(host.names(), ["tool:pre_execute", "tool:post_execute"]);
    assert_eq!(
        host.seen.data(1),
        json!({"tool_args": {"path": "a"}, "tool_result": {"lines": 3}})
    );
    let events = host.seen.0.lock().unwrap();
    let sessions = events.iter().map(|event| event.session_id.as_deref());
    assert!(sessions.into_iter().all(|id| id == Some("s1")));
}

#[test]
fn a_failed_tool_fires_its_error() {
    let host = Host::with([]);
    let hooks = host.lifecycle();
    let run = hooks
        .tool("read", json!({"path": "a"}))
        .run(|_| std::fs::read_to_string("/no/such/file"))
        .unwrap();
    let error = run.original.unwrap_err();
    assert_eq!(host.names(), ["tool:pre_execute", "tool:error"]);
    assert_eq!(host.seen.data(1)["error"], json!(error.to_string()));
}

#[test]
fn a_blocked_tool_is_not_called() {
    let host = Host::with([(
        "tool:pre_execute",
        json!({"decision": "block", "reason": "no"}),
    )]);
    let hooks = host.lifecycle();
    let blocked = hooks
        .tool("bash", "ls")
        .run(|_| -> Result<(), String> { panic!("it is called") })
        .unwrap_err();
    assert_eq!(blocked.result.reason(), Some("no"));
    assert_eq!(host.names(), ["tool:pre_execute"]);
}

#[test]
fn a_panic_is_an_error_and_continues() {
    let host = Host::with([]);
    let hooks = host.lifecycle();
    let words = [("out of cheese", true), ("out of memory", false)];
    for (words, is_made) in words {
        let tool = hooks.tool("bash", "ls");
        let panicking = AssertUnwindSafe(|| {
            tool.run(|_| -> Result<(), String> {
                if is_made {
                    panic!("{words}")
                }
                std::panic::panic_any(words)
            })
        });
        let payload = catch_unwind(panicking).unwrap_err();
        let printed = payload.downcast_ref::<String>().map(String::as_str);
        assert_eq!(
            printed.or(payload.downcast_ref::<&str>().copied()),
            Some(words)
        );
    }
    let names = [
        "tool:pre_execute",
        "tool:error",
        "tool:pre_execute",
        "tool:error",
    ];
    assert_eq!(host.names(), names);
    assert_eq!(host.seen.data(1)["error"], json!("out of cheese"));
    assert_eq!(host.seen.data(3)["error"], json!("out of memory"));
}

#[test]
fn answers_after_the_tool_change_nothing() {
    let host = Host::with([
        (
            "tool:post_execute",
            json!({"decision": "block", "additionalContext": "it was slow"}),
        ),
        (
            "tool:post_execute",
            json!({"additionalContext": "and large", "systemMessage": "m"}),
        ),
    ]);
    let run = host.lifecycle().tool("bash", "ls").run(works).unwrap();
    assert!(run.original.is_ok() && run.after.as_ref().unwrap().allowed());
    assert_eq!(
        run.additional_context().as_deref(),
        Some("it was slow\nand large")
    );
    assert_eq!(run.system_messages(), ["m"]);
    assert!(!run.stops_turn());
}

#[test]
fn changes_are_applied_if_the_host_applies() {
    let change = json!({"updatedInput": {"command": "ls -l"}, "systemMessage": "longer"});
    let host = Host::with([("tool:pre_execute", change)]);
    let hooks = host.lifecycle();
    let args = json!({"command": "ls", "cwd": "/"});

    let run = hooks.tool("bash", args.clone()).run(works).unwrap();
    assert_eq!(run.args, args, "the host does not apply changes");
    assert!(run.again.is_none() && run.before.updated_input().is_some());

    let run = hooks.tool("bash", args).apply_updates();
    let run = run.run(|args| Ok::<_, String>(args.clone())).unwrap();
    let changed = json!({"command": "ls -l", "cwd": "/"});
    assert_eq!(run.original.as_ref().unwrap(), &changed);
    assert_eq!(run.args, changed);
    assert!(run.again.is_some());
    assert_eq!(
        run.system_messages(),
        ["longer"],
        "printed twice, reported once"
    );
    let reported = host.seen.0.lock().unwrap().last().unwrap().data["tool_args"].clone();
    assert_eq!(reported, changed);
}

#[test]
fn changes_without_effect_are_none() {
    let host = Host::with([(
        "tool:pre_execute",
        json!({"updatedInput": {"command": "ls"}}),
    )]);
    let hooks = host.lifecycle();
    for args in [json!("ls"), json!({"command": "ls"}), json!(["ls"])] {
        let run = hooks
            .tool("bash", args.clone())
            .apply_updates()
            .run(works)
            .unwrap();
        assert_eq!(run.args, args);
        assert!(run.again.is_none());
    }
}

#[test]
fn a_question_of_a_hooks_goes_to_the_host() {
    let host = Host::with([(
        "tool:pre_execute",
        json!({"decision": "ask", "reason": "sure?"}),
    )]);
    let hooks = host.lifecycle();
    for answer in [true, false] {
        let mut asked = Vec::new();
        let run = hooks
            .tool("bash", json!({"command": "ls"}))
            .on_ask(|question| {
                let command = question.event.data["tool_args"]["command"].clone();
                asked.push((question.reason().map(str::to_owned), command));
                answer
            })
            .run(works);
        assert_eq!(asked, [(Some("sure?".to_owned()), json!("ls"))]);
        assert_eq!(run.is_ok(), answer);
        if let Err(blocked) = run {
            assert_eq!(blocked.result.decision(), Decision::Ask);
        }
    }
    let blocked = hooks.tool("bash", "ls").run(works).unwrap_err();
    assert_eq!(blocked.result.reason(), Some("sure?"));
}

#[test]
fn a_question_has_all_reasons() {
    let ask = |reason| json!({"decision": "ask", "reason": reason});
    let host = Host::with([
        ("tool:*", ask("it is late")),
        ("tool:*", ask("it drops the database")),
        ("permission:check", ask("the check")),
        ("permission:prompt", ask("the prompt")),
    ]);
    let hooks = host.lifecycle();
    let run = hooks.tool("bash", "ls").on_ask(|question| {
        assert_eq!(question.reasons(), ["it is late", "it drops the database"]);
        true
    });
    assert!(run.run(works).is_ok());
    let permission = hooks.permission("bash", "execute").run(|question| {
        assert_eq!(question.reasons(), ["the check", "the prompt"]);
        question.reason() == Some("the check")
    });
    assert!(permission.unwrap().granted);
}

#[test]
fn a_blocking_hook_can_stop_the_turn() {
    for (answer, stops) in [
        (json!({"continue": false, "stopReason": "enough"}), true),
        (json!({"decision": "block"}), false),
    ] {
        let host = Host::with([("tool:pre_execute", answer)]);
        let hooks = host.lifecycle();
        let blocked = hooks.tool("bash", "ls").run(works).unwrap_err();
        assert_eq!(blocked.stops_turn(), stops);
    }
}

#[test]
fn messages_before_a_block_are_kept() {
    let host = Host::with([
        (
            "tool:pre_execute",
            json!({"systemMessage": "careful", "additionalContext": "c"}),
        ),
        ("tool:pre_execute", json!({"decision": "block"})),
    ]);
    let blocked = host.lifecycle().tool("bash", "ls").run(works).unwrap_err();
    let printed = blocked.outcome().unwrap();
    assert_eq!(printed.system_messages(), ["careful"]);
    assert_eq!(printed.additional_context().as_deref(), Some("c"));
    assert!(!blocked.stops_turn());
}

#[test]
fn debug_hides_arguments_and_results() {
    #[derive(serde::Serialize)]
    struct Opaque(&'static str);
    let hooks = Lifecycle::new(World::new().executor.clone());
    let call = hooks.tool("login", json!({"password": "hunter22"}));
    let before = format!("{call:?}");
    let run = call.run(|_| Ok::<_, String>(Opaque("hunter22"))).unwrap();
    let shown = format!("{before} {run:?}");
    assert!(!shown.contains("hunter22"), "{shown}");
    assert_eq!(run.original.unwrap().0, "hunter22");
}

#[test]
#[cfg(unix)]
fn guards_see_a_change_before_it_is_applied() {
    let host = Host::with([]);
    let world = &host.world;
    world.hook(
        "tool:pre_execute",
        r#"case $FORGE_TOOL_ARGS in *sudo*) echo no sudo; exit 1;; esac"#,
    );
    let change = json!({"updatedInput": {"command": "sudo ls"}});
    world.hook("tool:pre_execute", &world.says(&change.to_string()));
    let hooks = host.lifecycle();
    let call = hooks.tool("bash", json!({"command": "ls"})).apply_updates();
    let blocked = call
        .run(|_| -> Result<(), String> { panic!("it is called") })
        .unwrap_err();
    assert_eq!(blocked.result.reason(), Some("no sudo"));
}

#[test]
#[cfg(unix)]
fn an_endless_change_is_applied_once() {
    let host = Host::with([]);
    let world = &host.world;
    let longer = r#"n=$(printf %s "$FORGE_TOOL_ARGS" | tr -dc 0-9)
    echo "{\"updatedInput\": {\"n\": $((n + 1))}}""#;
    world.hook("tool:pre_execute", longer);
    world
        .registry()
        .register(hook("tool:pre_execute", "echo reported >>background").with_background());
    let hooks = host.lifecycle();
    let run = hooks.tool("count", json!({"n": 1})).apply_updates();
    let run = run.run(|args| Ok::<_, String>(args["n"].clone())).unwrap();
    assert_eq!(run.original.unwrap(), 2);
    assert!(
        world
            .executor
            .shutdown(std::time::Duration::from_secs(10))
            .is_complete()
    );
    assert_eq!(world.read("background"), "reported\n");
}

#[test]
#[cfg(unix)]
fn the_changed_call_is_asked_about_once() {
    let host = Host::with([
        (
            "tool:pre_execute",
            json!({"updatedInput": {"command": "rm -i a"}}),
        ),
        ("tool:pre_execute", json!({"decision": "ask"})),
    ]);
    let mut asked = Vec::new();
    let hooks = host.lifecycle();
    let call = hooks
        .tool("bash", json!({"command": "rm a"}))
        .apply_updates();
    let run = call.on_ask(|question| {
        asked.push(question.event.data["tool_args"]["command"].clone());
        true
    });
    assert!(run.run(works).unwrap().original.is_ok());
    assert_eq!(asked, ["rm -i a"]);
}

#[test]
#[cfg(unix)]
fn a_question_survives_a_change() {
    let host = Host::with([]);
    let question = host.world.says(r#"{"decision": "ask", "reason": "sure?"}"#);
    let once = format!("test -e asked || {{ : >asked; {question}; }}");
    host.world.hook("tool:pre_execute", &once);
    let change = json!({"updatedInput": {"n": 2}}).to_string();
    host.world
        .hook("tool:pre_execute", &host.world.says(&change));
    let hooks = host.lifecycle();
    let call = hooks.tool("bash", json!({"n": 1})).apply_updates();
    let call = call.on_ask(|question| {
        assert_eq!(question.reasons(), ["sure?"]);
        assert_eq!(question.event.data["tool_args"]["n"], 2);
        false
    });
    let blocked = call.run(works).unwrap_err();
    assert_eq!(blocked.result.reason(), Some("sure?"));
}

/// Ready once it has been polled twice, as work elsewhere would be.
struct Elsewhere(bool);

impl Future for Elsewhere {
    type Output = Result<&'static str, String>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(Ok("read"));
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Polls until it is ready, each time on another thread.
fn run_to_its_end<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    let mut future: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(future);
    loop {
        let polled = std::thread::spawn(move || {
            let mut context = Context::from_waker(Waker::noop());
            let state = future.as_mut().poll(&mut context);
            (state, future)
        });
        match polled.join().unwrap() {
            (Poll::Ready(value), _) => return value,
            (Poll::Pending, rest) => future = rest,
        }
    }
}

#[test]
fn a_call_can_be_held_across_an_await() {
    let host = Host::with([]);
    let hooks = host.lifecycle();
    let run = run_to_its_end(async move {
        let session = hooks.session("s1").begin().unwrap();
        let mut turn = session.prompt("read it").begin().unwrap();
        let model = session.lifecycle().llm("large", 1).begin().unwrap();
        let permission = session.lifecycle().permission("read", "read").begin();
        let running = session
            .lifecycle()
            .tool("read", json!({"path": "a"}))
            .begin();
        let running = running.unwrap();
        assert_eq!(running.args()["path"], "a");
        let result = Elsewhere(false).await;
        let run = running.finish(result);
        let asked = permission.unwrap();
        assert!(asked.question().is_some());
        assert!(asked.finish(true).granted);
        model.finish(Ok::<_, String>(1));
        assert!(turn.finish("done").allowed());
        run
    });
    assert_eq!(run.output().unwrap(), "read");
    let names = [
        "session:start",
        "user:prompt_submit",
        "llm:pre_request",
        "permission:check",
        "permission:prompt",
        "tool:pre_execute",
        "tool:post_execute",
        "permission:granted",
        "llm:post_response",
        "agent:stop",
        "session:end",
    ];
    assert_eq!(host.names(), names);
}

#[test]
fn a_cancelled_call_is_an_error() {
    let host = Host::with([]);
    let running = host.lifecycle().tool("read", "x").begin().unwrap();
    let future = async move {
        let result = Elsewhere(false).await;
        let _ = running.finish(result);
    };
    drop(future);
    assert_eq!(host.names(), ["tool:pre_execute", "tool:error"]);
    let error = host.seen.data(1)["error"].clone();
    assert_eq!(error, "the call was dropped before its end");
}

#[test]
fn a_run_shows_its_failures() {
    let host = Host::with([]);
    host.world.hook("tool:post_execute", "exit 3");
    let run = host.lifecycle().tool("bash", "ls").run(works).unwrap();
    let shown = "hook `exit 3` failed on `tool:post_execute`: exited with code 3\n";
    assert_eq!(run.failures().to_string(), shown);
}
