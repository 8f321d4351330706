//! A call of a tool: its events, what hooks change of it, and whom they want asked.

use std::panic::catch_unwind;

use forge_hooks::lifecycle::{Next, ToolRun};
use forge_hooks::{
    CancelToken, Decision, FailurePolicy, FireOptions, HookEvent, HookExecutor, Lifecycle,
};
use serde_json::{Value, json};

use super::{Host, PRE, works};
use crate::support::{World, alone_with, hook, never};

#[test]
fn a_tool_has_its_events_around_it() {
    let host = Host::with([]);
    let hooks = host.lifecycle().with_session_id("s1");
    let args = json!({"path": "a"});
    let run = hooks.tool("read", args.clone()).run(works);
    assert_eq!(run.output_json().unwrap(), &json!({"lines": 3}));
    assert_eq!(run.next, Next::GoOn(r#"{"lines":3}"#.to_owned()));
    assert_eq!(run.args, args);
    let results = [run.before, run.after].map(|outcome| outcome.unwrap().results().len());
    assert_eq!(results, [1, 1]);
    let expected = r#"
tool:pre_execute {"tool_args":{"path":"a"}}
tool:post_execute {"tool_args":{"path":"a"},"tool_result":{"lines":3}}"#;
    assert_eq!(host.events(), expected);
    assert!(host.all_are_of("s1"));
}

/// What the agent does after each.
#[test]
fn a_call_says_what_follows() {
    let masked = json!({"updatedOutput": "masked", "continue": false, "stopReason": "enough"});
    let host = Host::with([("tool:post_execute:read", masked)]);
    let hooks = host.lifecycle();
    let call = |name: &str, result: Result<Value, &str>| {
        let permit = hooks.tool(name, "x").permit().unwrap();
        permit.run(|_, _| result)
    };
    let [read, list] = ["read", "ls"].map(|name| call(name, Ok(json!({"lines": 3}))));
    assert_eq!(read.messages, ["enough"]);
    assert!(list.messages.is_empty());
    assert_eq!(read.next, Next::EndTurn("masked".to_owned()));
    assert_eq!(list.next, Next::GoOn(r#"{"lines":3}"#.to_owned()));
    let failed = call("ls", Err("broken"));
    assert_eq!(
        (failed.next, failed.is_error),
        (Next::GoOn("broken".to_owned()), true)
    );
}

#[test]
fn a_call_has_fields_of_its_own() {
    let host = Host::with([]);
    let hooks = host.lifecycle();
    let call = |result: Result<&'static str, &'static str>| {
        let call = hooks.tool("ls", "x").with_field("tool_use_id", "toolu_7");
        let call = call.with_field("turn", 1).with_field("turn", 2);
        // Its own ones stay.
        let own = ["tool_args", "tool_result", "error"];
        let call = own
            .into_iter()
            .fold(call, |call, own| call.with_field(own, "mine"));
        call.permit().unwrap().run(|_, _| result)
    };
    let _ = [call(Ok("done")), call(Err("broken"))];
    let expected = r#"
tool:pre_execute {"tool_args":"x","tool_use_id":"toolu_7","turn":2}
tool:post_execute {"tool_args":"x","tool_result":"done","tool_use_id":"toolu_7","turn":2}
tool:pre_execute {"tool_args":"x","tool_use_id":"toolu_7","turn":2}
tool:error {"error":"broken","tool_args":"x","tool_use_id":"toolu_7","turn":2}"#;
    assert_eq!(host.events(), expected);
    let session = hooks.session("s1").begin().unwrap();
    let prompt = session.prompt("hi").with_field("turn", 1);
    let prompt = prompt.with_field("stop_hook_active", "mine");
    let _ = prompt.begin().unwrap().finish("bye");
    let expected = json!({"last_assistant_message": "bye", "stop_hook_active": false, "turn": 1});
    assert_eq!(host.seen.data(6), expected);
}

#[test]
fn a_failed_tool_fires_its_error() {
    let host = Host::with([]);
    let hooks = host.lifecycle();
    let permit = hooks.tool("read", json!({"path": "a"})).permit().unwrap();
    let run = permit.run(|_, _| std::fs::read_to_string("/no/such/file"));
    let Next::GoOn(error) = run.next else {
        panic!("{:?}", run.next)
    };
    for message in ["out of cheese", "out of memory"] {
        let panicking = || {
            let permit = hooks.tool("bash", "ls").permit().unwrap();
            permit.run(|_, _| -> Result<(), String> {
                if message.ends_with("cheese") {
                    panic!("{message}")
                }
                std::panic::panic_any(message)
            })
        };
        let payload = catch_unwind(panicking).unwrap_err();
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or(payload.downcast_ref::<&str>().copied());
        assert_eq!(text, Some(message), "the panic goes on");
    }
    let permit = hooks.tool("read", "x").permit().unwrap();
    drop(permit.run_async(|_, _| std::future::pending::<Result<(), String>>()));
    let dropped = "the call was dropped before its end";
    assert_eq!(host.names(), ["tool:pre_execute tool:error"; 4].join(" "));
    let errors = [&*error, "out of cheese", "out of memory", dropped];
    for (index, error) in errors.into_iter().enumerate() {
        assert_eq!(host.seen.data(2 * index + 1)["error"], error);
    }
}

#[test]
fn a_blocked_tool_is_not_called() {
    let context = json!({"systemMessage": "careful", "additionalContext": "c"});
    for (answer, stops) in [
        (json!({"decision": "block", "reason": "no"}), false),
        (json!({"continue": false, "stopReason": "no"}), true),
    ] {
        let host = Host::with([(PRE, context.clone()), (PRE, answer)]);
        let blocked = host
            .lifecycle()
            .tool("bash", "ls")
            .run(never)
            .check()
            .unwrap_err();
        assert_eq!(blocked.result.reason(), Some("no"));
        assert_eq!(
            blocked
                .outcome()
                .is_some_and(forge_hooks::Outcome::stops_turn),
            stops
        );
        let run = ToolRun::from(blocked.clone());
        assert_eq!(matches!(run.next, Next::EndTurn(_)), stops);
        assert!(run.messages.contains(&"careful".to_owned()) && run.is_error);
        let outcome = blocked.outcome().unwrap();
        assert_eq!(outcome.system_messages(), ["careful"]);
        assert_eq!(outcome.additional_context().as_deref(), Some("c"));
        assert_eq!(host.names(), PRE);
    }
}

/// The hook that blocks may be another one than that which stops the turn.
#[test]
fn a_blocked_tool_says_whether_any_hook_stops_the_turn() {
    let stops = json!({"continue": false, "stopReason": "over"});
    let denies = json!({"decision": "block", "reason": "no"});
    let host = Host::with([(PRE, denies), (PRE, stops)]);
    let event = HookEvent::tool_pre_execute("bash", "ls");
    let options = FireOptions::new().stop_on_failure(false);
    let outcome = host.world.executor.execute(&event, options);
    let blocked = outcome.check().unwrap_err();
    assert_eq!(blocked.result.reason(), Some("no"));
    assert!(
        blocked
            .outcome()
            .is_some_and(forge_hooks::Outcome::stops_turn)
    );
}

#[test]
fn answers_after_the_tool_change_nothing() {
    let post = "tool:post_execute";
    let slow = json!({"decision": "block", "additionalContext": "it was slow"});
    let large = json!({"additionalContext": "and large", "systemMessage": "m"});
    let host = Host::with([(post, slow), (post, large)]);
    let run = host.lifecycle().tool("bash", "ls").run(works);
    assert!(!run.is_error && run.after.as_ref().unwrap().allowed());
    let text = "{\"lines\":3}\nit was slow\nand large";
    assert_eq!(run.next, Next::GoOn(text.to_owned()));
    assert_eq!(run.messages, ["m"]);

    host.world.hook(post, "exit 3");
    let run = host.lifecycle().tool("bash", "ls").run(works);
    let message = "hook `exit 3` failed on `tool:post_execute`: exited with code 3";
    assert_eq!(run.messages, [message, "m"]);
}

#[test]
fn changes_are_applied_unless_the_host_refuses() {
    let change = json!({"updatedInput": {"command": "ls -l"}, "systemMessage": "longer"});
    let host = Host::with([(PRE, change)]);
    let hooks = host.lifecycle();
    let args = json!({"command": "ls", "cwd": "/"});

    let refuses = hooks.tool("bash", args.clone()).refuse_updates();
    let blocked = refuses.run(never).check().unwrap_err();
    let reason = "it changes the input, and this program applies no change to this event";
    assert_eq!(blocked.result.reason(), Some(reason));
    assert!(!blocked.outcome().unwrap().allowed());

    let call = hooks.tool("bash", args);
    let run = call
        .permit()
        .unwrap()
        .run(|_, args| Ok::<_, String>(args.clone()));
    let changed = json!({"command": "ls -l", "cwd": "/"});
    assert_eq!(run.output_json(), Some(&changed));
    assert_eq!(run.args, changed);
    assert!(run.before.unwrap().changed_event().is_some());
    assert_eq!(run.messages, ["longer"]);
    assert_eq!(host.seen.data(2)["tool_args"], changed);
}

/// A hook may have something to say of the changed call alone.
#[cfg(unix)]
#[test]
fn the_model_receives_the_context_of_a_changed_call() {
    let host = Host::with([(PRE, json!({"updatedInput": {"command": "ls -l"}}))]);
    let of_long = r#"case $FORGE_TOOL_ARGS in *-l*) echo '{"additionalContext": "long"}';; esac"#;
    host.world.hook(PRE, of_long);
    let call = host.lifecycle().tool("bash", json!({"command": "ls"}));
    let run = call.run(works);
    assert_eq!(run.next, Next::GoOn("{\"lines\":3}\nlong".to_owned()));
}

#[test]
fn changes_without_effect_are_none() {
    let host = Host::with([(PRE, json!({"updatedInput": {"command": "ls -l"}}))]);
    let hooks = host.lifecycle();
    let args = json!({"command": "ls -l"});
    let run = hooks.tool("bash", args.clone()).run(works);
    assert_eq!(run.args, args);
    assert!(run.before.unwrap().changed_event().is_none());
    // Guards see a change before it is applied.
    #[cfg(unix)]
    {
        let long = "case $FORGE_TOOL_ARGS in *-l*) echo too long; exit 1;; esac";
        host.world.hook(PRE, long);
        let call = hooks.tool("bash", json!({"command": "ls"}));
        let blocked = call.run(never).check().unwrap_err();
        assert_eq!(blocked.result.reason(), Some("too long"));
    }
}

#[test]
fn a_question_of_a_hooks_goes_to_the_host() {
    let ask = |reason| json!({"decision": "ask", "reason": reason});
    let host = Host::with([
        ("tool:*", ask("it is late")),
        ("tool:*", ask("it drops the database")),
        ("permission:check", ask("the check")),
        ("permission:prompt", ask("the prompt")),
    ]);
    let hooks = host.lifecycle();
    for answer in [true, false] {
        let mut asked = 0;
        let call = hooks.tool("bash", json!({"command": "ls"}));
        let call = call.on_ask(|question| {
            asked += 1;
            assert_eq!(question.reasons(), ["it is late", "it drops the database"]);
            assert_eq!(question.event.data()["tool_args"]["command"], "ls");
            answer
        });
        let decision = call
            .run(works)
            .check()
            .map_err(|blocked| blocked.result.decision());
        assert_eq!(decision.err(), (!answer).then_some(Decision::Block));
        assert_eq!(asked, 1);
    }
    let blocked = hooks.tool("bash", "ls").run(works).check().unwrap_err();
    assert_eq!(blocked.result.reason(), Some("it is late"));
    let permission = hooks.permission("bash", "execute").run(|question| {
        assert_eq!(question.reasons(), ["the check", "the prompt"]);
        question.reasons()[0] == "the check"
    });
    let permission = permission.unwrap();
    assert!(permission);
}

#[test]
fn debug_hides_arguments_and_results() {
    let hooks = Lifecycle::new(World::new().executor.clone());
    let call = hooks.tool("login", json!({"password": "hunter22"}));
    let before = format!("{call:?}");
    let permit = call.permit().unwrap();
    let before = format!("{before} {permit:?}");
    let run = permit.run(|_, _| Ok::<_, String>("hunter22"));
    let debug = format!("{before} {run:?}");
    assert!(!debug.contains("hunter22"), "{debug}");
}

#[test]
#[cfg(unix)]
fn an_endless_change_is_applied_once() {
    let host = Host::with([]);
    let world = &host.world;
    let longer = r#"n=$(printf %s "$FORGE_TOOL_ARGS" | tr -dc 0-9)
    echo "{\"updatedInput\": {\"n\": $((n + 1))}}""#;
    world.hook(PRE, longer);
    world.add(hook(PRE, "echo reported >>background").with_background());
    let hooks = host.lifecycle();
    let call = hooks.tool("count", json!({"n": 1}));
    assert_eq!(call.run(works).args["n"], 2);
    host.ends();
    assert_eq!(world.read("background"), "reported\n");
}

#[test]
#[cfg(unix)]
fn the_changed_call_is_asked_about_once() {
    for asks_always in [true, false] {
        let host = Host::with([]);
        let question = host.world.says(r#"{"decision": "ask", "reason": "sure?"}"#);
        let once = format!("test -e asked || {{ : >asked; {question}; }}");
        host.world
            .hook(PRE, if asks_always { &question } else { &once });
        host.answers(PRE, json!({"updatedInput": {"n": 2}}));
        let mut asked = Vec::new();
        let hooks = host.lifecycle();
        let call = hooks.tool("bash", json!({"n": 1}));
        let call = call.on_ask(|question| {
            assert_eq!(question.reasons(), ["sure?"]);
            asked.push(question.event.data()["tool_args"]["n"].clone());
            asks_always
        });
        assert!(call.run(works).check().is_ok());
        // The question about the call before its change is void.
        assert_eq!(asked, if asks_always { vec![2] } else { vec![] });
    }
}

/// The user may cancel the call instead of answering: then the host's answer is none.
#[test]
fn a_call_that_is_cancelled_while_hooks_ask_is_not_made() {
    for answer in [true, false] {
        let host = Host::with([(PRE, json!({"decision": "ask", "reason": "sure?"}))]);
        let token = CancelToken::new();
        let hooks = host.lifecycle();
        let call = hooks.tool("ls", json!({})).cancelled_by(&token);
        let call = call.on_ask(|_| {
            token.cancel();
            answer
        });
        let blocked = call.run(never).check().unwrap_err();
        assert!(blocked.is_cancelled(), "{answer}: {blocked}");
        assert_eq!(host.names(), PRE, "it has not begun, so it has no end");
    }
}

#[test]
fn a_call_can_be_held_across_an_await() {
    let host = Host::with([]);
    let hooks = host.lifecycle();
    fn sent<T: Send>(future: T) -> T {
        future
    }
    let run = pollster::block_on(sent(async move {
        let session = hooks.session("s1").begin().unwrap();
        let mut turn = session.prompt("read it").begin().unwrap();
        let hooks = session.lifecycle();
        let model = hooks.llm("large", 1).begin().unwrap();
        let permission = hooks.permission("read", "read").begin();
        let permit = hooks.tool("read", json!({"path": "a"})).permit().unwrap();
        assert_eq!(
            (permit.tool(), &permit.args()["path"]),
            ("read", &json!("a"))
        );
        let run = permit.run_async(|tool, _| async {
            tokio::task::yield_now().await;
            Ok::<_, String>(tool)
        });
        let run = run.await;
        let asked = permission.unwrap();
        assert!(asked.question().is_some());
        assert!(asked.finish(true));
        model.finish(Ok::<_, String>(1));
        assert!(turn.finish("done").allowed());
        run
    }));
    assert_eq!(run.next, Next::GoOn("read".to_owned()));
    let names = "session:start user:prompt_submit llm:pre_request permission:check \
        permission:prompt tool:pre_execute tool:post_execute permission:granted \
        llm:post_response agent:stop session:end";
    assert_eq!(host.names(), names);
    assert!(host.all_are_of("s1"), "what is in a session has its id");
}

/// A redacting hook that a person has disabled holds no tool up.
#[test]
fn a_disabled_redaction_is_not_waited_for() {
    let test = "lifecycle::tools::a_disabled_redaction_is_not_waited_for";
    if !alone_with(test, &[("FORGE_HOOKS_DISABLE", "1")]) {
        return;
    }
    let world = World::new();
    let redacts = hook("tool:post_execute", "exit 0").with_on_failure(FailurePolicy::Withhold);
    world.add(redacts);
    for is_allowed in [true, false] {
        let executor = HookExecutor::builder().registry(world.registry().clone());
        let executor = executor.allow_disable(is_allowed).build();
        let hooks = Lifecycle::new(executor).without_waiting();
        let run = hooks.tool("bash", json!({})).run(works);
        assert_eq!(run.after.is_none(), is_allowed);
    }
}
