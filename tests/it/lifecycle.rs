//! Tools, model calls, sessions and permissions: which events are fired, in which order, also when
//! something fails.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forge_hooks::{
    Decision, FailureKind, HookEvent, HookResult, HookRun, Lifecycle, Observer, Permission,
};
use serde_json::{Value, json};

use crate::support::{World, meets};

/// Keeps the events for which the hook of every event has ended.
#[derive(Default)]
struct Seen(Mutex<Vec<HookEvent>>);

impl Observer for Seen {
    fn on_finish(&self, run: &HookRun<'_>, _result: &HookResult) {
        // The others have seen the same event.
        if run.hook.event_pattern() == "*" {
            self.0.lock().unwrap().push(run.event.clone());
        }
    }
}

impl Seen {
    fn names(&self) -> Vec<String> {
        let events = self.0.lock().unwrap();
        events
            .iter()
            .map(|event| event.event_type.to_string())
            .collect()
    }

    fn data(&self, index: usize) -> Value {
        Value::Object(self.0.lock().unwrap()[index].data.clone())
    }
}

struct Host {
    world: World,
    seen: Arc<Seen>,
}

impl Host {
    /// With a hook for every event that does nothing, and one for an event that says this.
    fn with<const N: usize>(hooks: [(&str, Value); N]) -> Self {
        let seen = Arc::<Seen>::default();
        let world = World::with(|builder| builder.observer(Arc::clone(&seen)));
        world.hook("*", "exit 0");
        for (pattern, answer) in hooks {
            world.hook(pattern, &world.says(&answer.to_string()));
        }
        Self { world, seen }
    }

    fn lifecycle(&self) -> Lifecycle {
        Lifecycle::new(self.world.executor.clone())
    }

    fn names(&self) -> Vec<String> {
        self.seen.names()
    }
}

fn works(_args: &Value) -> Result<Value, String> {
    Ok(json!({"lines": 3}))
}

#[test]
fn a_tool_has_its_events_around_it() {
    let host = Host::with([]);
    let hooks = host.lifecycle().with_session_id("s1");
    let run = hooks.tool("read", json!({"path": "a"})).run(works).unwrap();
    assert_eq!(run.result.unwrap(), json!({"lines": 3}));
    assert_eq!(run.args, json!({"path": "a"}));
    assert_eq!((run.before.len(), run.after.unwrap().len()), (1, 1));
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
fn a_tool_that_fails_has_its_error_told() {
    let host = Host::with([]);
    let hooks = host.lifecycle();
    let run = hooks
        .tool("read", json!({"path": "a"}))
        .run(|_| std::fs::read_to_string("/no/such/file"))
        .unwrap();
    let error = run.result.unwrap_err();
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
fn a_tool_that_panics_has_its_error_told_and_goes_on_panicking() {
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
        let said = payload.downcast_ref::<String>().map(String::as_str);
        assert_eq!(
            said.or(payload.downcast_ref::<&str>().copied()),
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
fn what_hooks_say_after_the_fact_changes_nothing() {
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
    assert!(run.result.is_ok() && run.after.as_ref().unwrap().allowed());
    assert_eq!(
        run.additional_context().as_deref(),
        Some("it was slow\nand large")
    );
    assert_eq!(run.system_messages(), ["m"]);
    assert!(!run.stops_turn());
}

#[test]
fn changes_are_applied_where_the_host_wants_them() {
    let change = json!({"updatedInput": {"command": "ls -l"}, "systemMessage": "longer"});
    let host = Host::with([("tool:pre_execute", change)]);
    let hooks = host.lifecycle();
    let args = json!({"command": "ls", "cwd": "/"});

    let run = hooks.tool("bash", args.clone()).run(works).unwrap();
    assert_eq!(run.args, args, "nobody has asked for changes");
    assert!(run.again.is_none() && run.before.updated_input().is_some());

    let run = hooks.tool("bash", args).apply_updates();
    let run = run.run(|args| Ok::<_, String>(args.clone())).unwrap();
    let changed = json!({"command": "ls -l", "cwd": "/"});
    assert_eq!(run.result.as_ref().unwrap(), &changed);
    assert_eq!(run.args, changed);
    assert!(run.again.is_some());
    assert_eq!(run.system_messages(), ["longer"], "said twice, told once");
    let told = host.seen.0.lock().unwrap().last().unwrap().data["tool_args"].clone();
    assert_eq!(told, changed);
}

#[test]
fn changes_of_what_is_no_object_or_that_change_nothing_are_none() {
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
    let nobody = hooks.tool("bash", "ls").run(works).unwrap_err();
    assert_eq!(nobody.result.reason(), Some("sure?"));
}

#[test]
fn who_is_asked_for_several_hooks_hears_all_of_them() {
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
    let permission = hooks.permission("bash", "execute").decide(|question| {
        assert_eq!(question.reasons(), ["the check", "the prompt"]);
        question.reason() == Some("the check")
    });
    assert!(permission.granted);
}

#[test]
fn a_hook_that_blocks_a_tool_can_stop_the_turn() {
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
fn debug_shows_neither_arguments_nor_results_and_asks_nothing_of_their_types() {
    #[derive(serde::Serialize)]
    struct Opaque(&'static str);
    let hooks = Lifecycle::new(World::new().executor.clone());
    let call = hooks.tool("login", json!({"password": "hunter22"}));
    let before = format!("{call:?}");
    let run = call.run(|_| Ok::<_, String>(Opaque("hunter22"))).unwrap();
    let shown = format!("{before} {run:?}");
    assert!(!shown.contains("hunter22"), "{shown}");
    assert_eq!(run.result.unwrap().0, "hunter22");
}

#[test]
fn a_call_of_a_model_has_its_events_around_it() {
    let host = Host::with([]);
    let hooks = host.lifecycle();
    let call = hooks.llm("large", 12).begin().unwrap();
    assert_eq!(call.before().len(), 1);
    let mut stream = call.stream();
    assert_eq!(stream.started().unwrap().len(), 1);
    (0..3).for_each(|_| stream.add_tokens(2));
    assert_eq!(stream.tokens(), 6);
    assert_eq!(stream.end().unwrap().len(), 1);
    assert_eq!(call.finish(7).unwrap().len(), 1);
    let expected = [
        (
            "llm:pre_request",
            json!({"llm_model": "large", "message_count": 12}),
        ),
        ("llm:stream_start", json!({"llm_model": "large"})),
        (
            "llm:stream_end",
            json!({"llm_model": "large", "llm_tokens": 6}),
        ),
        (
            "llm:post_response",
            json!({"llm_model": "large", "llm_tokens": 7}),
        ),
    ];
    assert_eq!(host.names(), expected.each_ref().map(|(name, _)| *name));
    for (index, (_, data)) in expected.iter().enumerate() {
        assert_eq!(host.seen.data(index), *data);
    }
}

#[test]
fn a_stream_that_breaks_off_has_ended_and_its_call_has_no_answer() {
    let host = Host::with([]);
    let hooks = host.lifecycle();
    let breaking = AssertUnwindSafe(|| {
        let call = hooks.llm("large", 1).begin().unwrap();
        let mut stream = call.stream();
        stream.add_tokens(5);
        panic!("the line is dead");
    });
    assert!(catch_unwind(breaking).is_err());
    assert_eq!(
        host.names(),
        ["llm:pre_request", "llm:stream_start", "llm:stream_end"]
    );
    assert_eq!(host.seen.data(2)["llm_tokens"], 5);
}

#[test]
fn a_request_to_a_model_can_be_blocked_or_asked_about() {
    let host = Host::with([(
        "llm:pre_request",
        json!({"decision": "ask", "reason": "dear"}),
    )]);
    let hooks = host.lifecycle();
    assert_eq!(
        hooks.llm("large", 1).begin().unwrap_err().result.reason(),
        Some("dear")
    );
    assert!(hooks.llm("large", 1).on_ask(|_| false).begin().is_err());
    let asked = |question: &forge_hooks::Question<'_>| question.reason() == Some("dear");
    assert!(hooks.llm("large", 1).on_ask(asked).begin().is_ok());
}

#[test]
fn a_session_ends_once_however_it_ends() {
    let all = ["session:start", "session:message", "session:end"];
    let ended = Host::with([("session:start", json!({"additionalContext": "be kind"}))]);
    let session = ended.lifecycle().session("s1");
    assert_eq!(
        session.started().unwrap().additional_context().as_deref(),
        Some("be kind")
    );
    assert_eq!(session.id(), "s1");
    assert_eq!(session.message("user", "hello").unwrap().len(), 1);
    assert!(session.end().is_some());
    assert_eq!(ended.names(), all);

    let dropped = Host::with([]);
    let session = dropped.lifecycle().session("s1");
    session.message("user", "hello");
    drop(session);
    assert_eq!(dropped.names(), all);

    let panicked = Host::with([]);
    let session = AssertUnwindSafe(|| {
        let session = panicked.lifecycle().session("s1");
        session.message("user", "hello");
        panic!("in the midst of it");
    });
    assert!(catch_unwind(session).is_err());
    assert_eq!(panicked.names(), all);
}

#[test]
fn a_users_prompt_can_be_blocked_or_have_context_added() {
    let context = json!({"additionalContext": "it is Friday"});
    let host = Host::with([("user:prompt_submit", context)]);
    let session = host.lifecycle().session("s1");
    let outcome = session.prompt("deploy").unwrap();
    assert_eq!(
        outcome.additional_context().as_deref(),
        Some("it is Friday")
    );
    assert_eq!(session.interrupt().unwrap().len(), 1);
    host.world.hook("user:prompt_submit", "exit 1");
    assert!(session.prompt("deploy").is_err());
    let expected = [
        "session:start",
        "user:prompt_submit",
        "user:interrupt",
        "user:prompt_submit",
    ];
    assert_eq!(host.names(), expected);
    let events = host.seen.0.lock().unwrap();
    assert!(
        events
            .iter()
            .all(|event| event.session_id.as_deref() == Some("s1"))
    );
}

#[test]
fn what_is_called_in_a_session_belongs_to_it() {
    let host = Host::with([]);
    let session = host.lifecycle().session("s1");
    let hooks = session.lifecycle();
    let _ = hooks.tool("ls", "x").run(works).unwrap();
    let _ = hooks.permission("ls", "read").decide(|_| true);
    hooks.llm("m", 1).begin().unwrap().finish(1);
    session.end();
    let events = host.seen.0.lock().unwrap();
    assert!(events.len() > 7);
    assert!(
        events
            .iter()
            .all(|event| event.session_id.as_deref() == Some("s1"))
    );
}

#[test]
fn who_does_not_wait_has_the_events_after_the_fact_in_order() {
    let host = Host::with([]);
    let world = &host.world;
    world.registry().clear();
    world.hook("session:start", &meets("there", "go"));
    world.hook("*", "exit 0");
    let session = host.lifecycle().without_waiting().session("s1");
    assert!(session.started().is_none());
    assert!(session.message("user", "hello").is_none());
    let run = session.lifecycle().tool("ls", "x").run(works).unwrap();
    assert!(run.after.is_none() && run.before.len() == 1);
    assert!(session.end().is_none());
    world.await_file("there");
    world.write("go", "");
    assert!(
        world
            .executor
            .shutdown(Duration::from_secs(10))
            .is_complete()
    );
    let mut names = host.names();
    assert_eq!(
        names.remove(0),
        "tool:pre_execute",
        "nobody waits in line before the fact"
    );
    let line = [
        "session:start",
        "session:message",
        "tool:post_execute",
        "session:end",
    ];
    assert_eq!(names, line);
}

#[test]
fn what_cannot_be_submitted_is_lost_and_harms_nobody() {
    let host = Host::with([]);
    let _ = host.world.executor.shutdown(Duration::from_secs(1));
    let session = host.lifecycle().without_waiting().session("s1");
    assert!(session.lifecycle().tool("ls", "x").run(works).is_ok());
    assert!(session.end().is_none());
}

#[test]
fn a_permission_has_its_events_in_order() {
    let check = "permission:check";
    let prompt = "permission:prompt";
    let granted = "permission:granted";
    let denied = "permission:denied";
    let cases: &[(&str, Value, Decision, bool, &[&str])] = &[
        ("none", json!({}), Decision::Allow, true, &[check, granted]),
        ("none", json!({}), Decision::Block, false, &[check, denied]),
        (
            "none",
            json!({}),
            Decision::Ask,
            true,
            &[check, prompt, granted],
        ),
        (
            check,
            json!({"decision": "block"}),
            Decision::Allow,
            false,
            &[check, denied],
        ),
        (
            check,
            json!({"decision": "block"}),
            Decision::Ask,
            false,
            &[check, denied],
        ),
        (
            check,
            json!({"decision": "ask"}),
            Decision::Allow,
            true,
            &[check, prompt, granted],
        ),
        (
            check,
            json!({"decision": "ask"}),
            Decision::Block,
            false,
            &[check, denied],
        ),
        (
            check,
            json!({"decision": "allow"}),
            Decision::Ask,
            true,
            &[check, prompt, granted],
        ),
        (
            prompt,
            json!({"decision": "block"}),
            Decision::Ask,
            false,
            &[check, prompt, denied],
        ),
        (
            prompt,
            json!({"decision": "ask"}),
            Decision::Ask,
            true,
            &[check, prompt, granted],
        ),
    ];
    for (pattern, answer, verdict, expected, names) in cases {
        let host = Host::with([(
            if *pattern == "none" {
                "test:none"
            } else {
                *pattern
            },
            answer.clone(),
        )]);
        let asked = |user: bool| -> (Permission, bool) {
            let mut asked = false;
            let hooks = host.lifecycle();
            let request = hooks
                .permission("bash", "execute")
                .with_rule("r")
                .with_verdict(*verdict);
            let permission = request.decide(|_| {
                asked = true;
                user
            });
            (permission, asked)
        };
        let case = format!("{pattern} {answer} {verdict}");
        let (permission, was_asked) = asked(true);
        assert_eq!(permission.granted, *expected, "{case}");
        assert_eq!(host.names(), *names, "{case}");
        assert_eq!(was_asked, names.contains(&prompt) && *expected, "{case}");
        let rest = json!({"perm_level": "execute", "perm_rule": "r"});
        assert_eq!(host.seen.data(0), rest, "{case}");
        if was_asked {
            assert!(!asked(false).0.granted, "{case}");
            assert_eq!(host.names().last().unwrap(), denied, "{case}");
        }
    }
}

#[test]
fn a_hook_grants_what_the_host_would_ask_for_where_it_may() {
    let host = Host::with([(
        "permission:check",
        json!({"decision": "allow", "reason": "reads"}),
    )]);
    let hooks = host.lifecycle();
    let request = || hooks.permission("ls", "read").hooks_may_grant();
    assert!(request().decide(|_| panic!("nobody is asked")).granted);
    assert!(
        !request()
            .with_verdict(Decision::Block)
            .decide(|_| true)
            .granted
    );
    host.world.hook(
        "permission:check",
        &host.world.says(r#"{"decision": "ask"}"#),
    );
    assert!(!request().decide(|_| false).granted, "ask outranks allow");
    host.world.hook("permission:check", "exit 3");
    let denied = request().decide(|_| panic!("nobody is asked"));
    assert!(!denied.granted);
    assert_eq!(denied.reason(), Some("exited with code 3"));
    assert_eq!(
        denied.check.blocked().unwrap().failure,
        Some(FailureKind::Exit)
    );
}

#[test]
fn a_host_that_panics_when_it_asks_has_denied() {
    let host = Host::with([]);
    let asking = AssertUnwindSafe(|| {
        let _ = host
            .lifecycle()
            .permission("bash", "execute")
            .decide(|_| panic!("no terminal"));
    });
    assert!(catch_unwind(asking).is_err());
    let names = ["permission:check", "permission:prompt", "permission:denied"];
    assert_eq!(host.names(), names);
}

#[cfg(unix)]
mod with_a_shell {
    use std::time::Duration;

    use forge_hooks::FailurePolicy;
    use serde_json::json;

    use super::{Host, works};
    use crate::support::hook;

    #[test]
    fn a_change_passes_the_guards_before_it_is_applied() {
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
    fn what_a_hook_would_change_for_ever_is_changed_once_and_nobody_in_the_background_is_told_twice()
     {
        let host = Host::with([]);
        let world = &host.world;
        let longer = r#"n=$(printf %s "$FORGE_TOOL_ARGS" | tr -dc 0-9)
        echo "{\"updatedInput\": {\"n\": $((n + 1))}}""#;
        world.hook("tool:pre_execute", longer);
        world
            .registry()
            .register(hook("tool:pre_execute", "echo told >>background").with_background(true));
        let hooks = host.lifecycle();
        let run = hooks.tool("count", json!({"n": 1})).apply_updates();
        let run = run.run(|args| Ok::<_, String>(args["n"].clone())).unwrap();
        assert_eq!(run.result.unwrap(), 2);
        assert!(
            world
                .executor
                .shutdown(Duration::from_secs(10))
                .is_complete()
        );
        assert_eq!(world.read("background"), "told\n");
    }

    #[test]
    fn a_question_is_asked_once_of_the_changed_call() {
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
        assert!(run.run(works).unwrap().result.is_ok());
        assert_eq!(asked, ["rm -i a"]);
    }

    #[test]
    fn a_question_is_not_lost_when_another_hook_changes_the_call() {
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

    #[test]
    fn a_hook_that_fails_grants_nothing() {
        let host = Host::with([]);
        let says = host.world.says(r#"{"decision": "allow"}"#);
        let failing = hook("permission:check", &format!("{says}; exit 1"));
        let forgiven = failing.with_on_failure(FailurePolicy::Continue);
        host.world.registry().register(forgiven);
        let hooks = host.lifecycle();
        let request = hooks.permission("ls", "read").hooks_may_grant();
        assert!(!request.decide(|_| false).granted);
    }
}
