//! Ways in which a host may run what no hook has allowed: what the API does about each, by docs/embedding.md.
//! Those that do not compile are in `without_a_yes.md`; the others run here.

use std::collections::BTreeSet;
#[cfg(unix)]
use std::panic::{AssertUnwindSafe, catch_unwind};

use forge_hooks::lifecycle::{Next, OwnAction, ToolRun};
#[cfg(unix)]
use forge_hooks::{AppProfile, Hooks};
use forge_hooks::{
    CancelToken, Decision, EventSpec, EventType, FireOptions, HookEvent, HookResult, Lifecycle,
    Permit,
};
use serde_json::json;

use crate::support::{World, blocking_event, custom, hook, never, returns};

/// The rows of the page's table: a host with these mistakes compiles.
const ROWS: [&str; 11] = [
    "a batch zipped with its permits in another order",
    "a permit is kept, and its turn is cancelled or its hooks are replaced",
    "a permit that is dropped",
    "a lifecycle without hooks where some were expected",
    "a hook changes the arguments, and the host runs the original ones",
    "an open question is taken for a yes",
    "a panic, `?` or a dropped future between the events",
    "Ctrl-C during a guard is told to the model as a verdict",
    // `other_agents/guards.rs`
    "a guard of another agent reads an argument that the tool does not have",
    // `deciding.rs`
    "a tool writes a hooks file, an approval or a guard's script",
    // `mistakes.txt`
    "a guard in the background",
];

#[test]
fn the_page_has_each_mistake() {
    let page = include_str!("../../docs/embedding.md").replace("\r\n", "\n");
    let (_, rest) = page
        .split_once("So these mistakes do not compile: ")
        .unwrap();
    let (names, rest) = rest.split_once(".\n").unwrap();
    let names = names.replace('\n', " ");
    let (_, rest) = rest
        .split_once("| mistake | what happens |\n|---|---|\n")
        .unwrap();
    let (table, _) = rest.split_once("\n\n").unwrap();
    let rows = table.lines().map(|line| {
        let (row, _) = line.split_once(" | ").unwrap();
        row.trim_start_matches("| ").split(" (`").next().unwrap()
    });
    let uncompiled = include_str!("without_a_yes.md").replace("\r\n", "\n");
    let uncompiled = uncompiled
        .lines()
        .filter_map(|line| line.strip_prefix("## "));
    let uncompiled: BTreeSet<_> = uncompiled.collect();
    for name in names.split("; ") {
        assert!(uncompiled.contains(name), "{name}");
    }
    let tried: BTreeSet<_> = uncompiled.into_iter().chain(ROWS).collect();
    let named: BTreeSet<_> = names.split("; ").chain(rows).collect();
    assert_eq!(named, tried);
}

const CHANGES: &str = "it changes the input, and this program applies no change to this event";

fn runs(permit: Permit) -> ToolRun {
    permit.run(|tool, args| Ok::<_, String>(format!("{tool} {}", args["n"])))
}

#[test]
fn each_permit_has_its_own_call() {
    let world = World::new();
    world.answering(json!({"updatedInput": {"seen": true}}));
    let hooks = Lifecycle::new(world.executor.clone());
    let calls = [("read", 1), ("write", 2), ("bash", 3)];
    let permits = calls.map(|(tool, n)| hooks.tool(tool, json!({"n": n})).permit().unwrap());
    // The host may finish them in any order.
    let mut ran: Vec<_> = permits
        .into_iter()
        .rev()
        .map(|permit| {
            assert_eq!(permit.args()["seen"], true);
            runs(permit).output_json().unwrap().to_string()
        })
        .collect();
    ran.sort();
    assert_eq!(ran, [r#""bash 3""#, r#""read 1""#, r#""write 2""#]);
}

/// Whatever happens between the yes and the call.
#[test]
fn a_kept_permit_is_refused() {
    let world = World::new();
    let token = CancelToken::new();
    let hooks = Lifecycle::new(world.executor.clone()).cancelled_by(&token);
    let permits: Vec<_> = (0..4)
        .map(|_| hooks.tool("bash", json!({"n": 1})).permit().unwrap())
        .collect();
    let mut permits = permits.into_iter();
    assert!(runs(permits.next().unwrap()).check().is_ok());
    world.registry().register(hook("tool:*", "exit 1"));
    let late = permits
        .next()
        .unwrap()
        .run(|_, _| -> Result<(), String> { panic!("it is called") });
    let text = "not run: its hooks were replaced after they had allowed it: ask them again";
    assert_eq!(late.next, Next::GoOn(text.to_owned()));
    assert!(late.is_error && late.check().is_err());
    world.registry().unregister("tool:*");
    let same = hook("session:start", "exit 1");
    world.registry().register(same);
    assert!(
        runs(permits.next().unwrap()).check().is_ok(),
        "not of the call"
    );
    token.cancel();
    let late = permits.next().unwrap();
    let late = late.run_async(|_, _| async { Ok::<_, String>("it is called") });
    assert_eq!(pollster::block_on(late).next, Next::Cancelled);
}

/// Neither is it the tool's failure.
#[test]
fn a_refusal_of_the_host_fires_nothing() {
    let world = World::new();
    world.hook("*", r#"echo "$FORGE_EVENT" >>seen"#);
    let hooks = Lifecycle::new(world.executor.clone());
    let run = hooks
        .tool("bash", "make")
        .run(|permit| permit.refuse("read only"));
    assert_eq!(run.next, Next::GoOn("read only".to_owned()));
    assert!(run.is_error);
    assert_eq!(world.read("seen").trim(), "tool:pre_execute");
    drop(hooks.tool("bash", "make").permit());
    assert!(
        world
            .read("seen")
            .ends_with("tool:pre_execute\ntool:error\n")
    );
}

fn check_results(results: &[HookResult]) {
    assert!(!results[0].should_continue() && !results[0].success());
}

#[test]
fn a_changed_input_is_no_yes() {
    let world = World::new();
    world.answering(json!({"updatedInput": {"command": "rm --dry-run"}}));
    let why = CHANGES;
    let executor = &world.executor;
    for options in [FireOptions::new(), FireOptions::new().handles_ask()] {
        let outcome = executor.execute(&blocking_event(), options.clone());
        assert!(!outcome.allowed() && outcome.asks().is_none() && !outcome.grants());
        assert_eq!(outcome.reason(), Some(why));
        let updates = outcome.updated_input();
        assert!(updates.is_none(), "there is nothing to forget");
        check_results(&executor.execute_hooks(&blocking_event(), options.clone()));
        let handle = executor.submit(blocking_event(), options).unwrap();
        check_results(handle.wait().results());
    }
    let refuses = Lifecycle::new(executor.clone())
        .tool("rm", json!({}))
        .refuse_updates();
    assert_eq!(
        refuses.run(never).check().unwrap_err().result.reason(),
        Some(why)
    );
    let applies = FireOptions::new().applies_updates();
    let outcome = executor.execute(&blocking_event(), applies);
    assert_eq!(outcome.updated_input().unwrap()["command"], "rm --dry-run");
    assert!(outcome.allowed());
}

/// Only a tool and a prompt can be changed.
#[test]
fn a_change_of_what_cannot_be_changed_is_no_yes() {
    let world = World::new();
    world.answering(json!({"updatedInput": {"command": "x"}}));
    let hooks = Lifecycle::new(world.executor.clone());
    assert!(hooks.llm("large", 1).begin().is_err());
    assert!(hooks.permission("bash", "execute").begin().is_err());
    assert!(
        hooks.session("s1").begin().is_ok(),
        "nothing is blocked there"
    );
    // The declaration of the host makes no difference: nothing says how the change would be applied.
    let applies = FireOptions::new().applies_updates();
    for event in [
        HookEvent::tool_pre_execute("bash", "ls"),
        HookEvent::llm_pre_request("large", 1),
        HookEvent::permission_check("bash", "execute", None::<&str>),
        custom("game:will_save"),
    ] {
        let outcome = world.executor.execute(&event, applies.clone());
        assert_eq!(outcome.reason(), Some(CHANGES), "{}", event.event_type);
    }
    // A blocked stop would let the agent go on.
    let stop = HookEvent::agent_stop(false);
    assert!(world.outcome(&stop).allowed());
}

/// It would be lost, and may have been meant to prevent something.
#[test]
fn a_change_of_a_prompt_that_is_not_its_text_is_no_yes() {
    let world = World::new();
    world.answering(json!({"updatedInput": {"prompt": "masked"}}));
    let session = Lifecycle::new(world.executor.clone())
        .session("s1")
        .begin()
        .unwrap();
    let blocked = session.prompt("my secret").begin().unwrap_err();
    let why = "cannot change `prompt`: only `content` of this event can be changed";
    assert_eq!(blocked.result.reason(), Some(why));
}

/// The same for the messages of a request to a model.
#[test]
fn a_change_of_messages_that_is_no_list_of_them_is_no_yes() {
    for (change, why) in [
        (
            json!({"messages": "masked"}),
            "invalid change of `messages`: expected a list, found a string",
        ),
        (
            json!({"messages": [], "llm_model": "small"}),
            "cannot change `llm_model`: only `messages` of this event can be changed",
        ),
    ] {
        let world = World::new();
        world.answering(json!({"updatedInput": change}));
        let hooks = Lifecycle::new(world.executor.clone());
        let blocked = hooks.llm("large", 1).with_messages([json!("hi")]).begin();
        let blocked = blocked.unwrap_err();
        assert_eq!(blocked.result.reason(), Some(why));
        // Without messages, there is nothing to change.
        let blocked = hooks.llm("large", 1).begin().unwrap_err();
        assert_eq!(blocked.result.reason(), Some(CHANGES));
    }
}

/// Also where no hook would run: else Ctrl-C would depend on the user's hooks.
#[test]
fn a_cancelled_call_is_not_made() {
    let world = World::new();
    let token = CancelToken::new();
    let hooks = Lifecycle::new(world.executor.clone());
    world.answering(json!({"decision": "ask"}));
    let asked = hooks.tool("bash", json!({})).cancelled_by(&token);
    let asked = asked.on_ask(|_| {
        token.cancel();
        true
    });
    let blocked = asked.run(never).check().unwrap_err();
    assert!(blocked.is_cancelled());
    world.registry().clear();
    let blocked = hooks
        .tool("bash", json!({}))
        .cancelled_by(&token)
        .run(never)
        .check()
        .unwrap_err();
    assert!(blocked.is_cancelled());
    assert_eq!(blocked.to_string(), "cancelled by the host before it began");
    assert!(hooks.llm("large", 1).cancelled_by(&token).begin().is_err());
    assert!(hooks.tool("bash", json!({})).permit().is_ok());
}

/// The answer of one hook does not settle the question of another.
#[test]
fn a_question_of_the_check_is_asked_whatever_the_prompt_grants() {
    let world = World::new();
    let says = |event: &str, answer: serde_json::Value| {
        world.hook(event, &world.says(&answer.to_string()))
    };
    says(
        "permission:check",
        json!({"decision": "ask", "reason": "sure?"}),
    );
    says("permission:prompt", json!({"decision": "allow"}));
    let hooks = Lifecycle::new(world.executor.clone());
    for verdict in [Decision::Ask, Decision::Allow] {
        let mut asked = 0;
        let request = hooks
            .permission("bash", "execute")
            .with_verdict(verdict)
            .hooks_may_grant();
        let permission = request.run(|_| {
            asked += 1;
            false
        });
        assert!(!permission.unwrap());
        assert_eq!(asked, 1, "{verdict:?}");
    }
}

/// A question says all that is approved, since another one may be open at the same time.
#[test]
fn a_question_has_what_is_approved() {
    let world = World::new();
    let change = json!({"updatedInput": {"force": true}}).to_string();
    world.hook("tool:*", &world.says(&change));
    for (name, reason) in [("first", "sure?"), ("second", "\u{1b}[2Kreally?")] {
        let asks = json!({"decision": "ask", "reason": reason}).to_string();
        world.add(hook("tool:*", &world.says(&asks)).with_name(name));
    }
    let session = Lifecycle::new(world.executor.clone())
        .session("s1")
        .begin()
        .unwrap();
    let turn = session.prompt("clean").begin().unwrap();
    let turn = turn.subagent("cleaner").begin().unwrap();
    let call = turn.lifecycle().tool("rm", json!({"path": "a"}));
    let run = call.on_ask(|question| {
        assert_eq!(question.event.tool_name.as_deref(), Some("rm"));
        assert_eq!(question.event.data()["tool_args"]["force"], true);
        let expected = "hook `first` asks: sure?\nhook `second` asks: \\u{1b}[2Kreally?\nagent: cleaner\ntool: rm\n\
            arguments: {\"force\":true,\"path\":\"a\"}\n";
        assert_eq!(question.to_string(), expected);
        true
    });
    assert!(run.run(runs).check().is_ok());
}

/// Else the agent would go on, and the model read of it.
#[cfg(unix)]
#[test]
fn a_cancelled_stop_stops() {
    let world = World::new();
    world.hook("agent:stop", "touch runs; sleep 60");
    let token = CancelToken::new();
    let session = Lifecycle::new(world.executor.clone())
        .session("s1")
        .begin()
        .unwrap();
    let mut turn = session.prompt("go").cancelled_by(&token).begin().unwrap();
    std::thread::scope(|scope| {
        let stop = scope.spawn(|| turn.finish("done").allowed());
        world.await_file("runs");
        token.cancel();
        assert!(stop.join().unwrap());
    });
    assert!(
        turn.lifecycle()
            .tool("ls", json!({}))
            .run(never)
            .check()
            .unwrap_err()
            .is_cancelled()
    );
}

/// Ctrl-C while a question is open, and a yes after it.
#[test]
fn a_late_yes_is_none() {
    let world = World::new();
    world.answering(json!({"decision": "ask"}));
    let hooks = Lifecycle::new(world.executor.clone());
    let call = || hooks.tool("bash", json!({}));
    let late = call().on_ask(|_| {
        world.executor.cancel_running();
        true
    });
    assert!(late.run(never).check().unwrap_err().is_cancelled());
    assert!(call().on_ask(|_| true).permit().is_ok(), "a later one");
    let token = CancelToken::new();
    let permission = hooks.permission("bash", "execute").cancelled_by(&token);
    let late = permission.run(|_| {
        token.cancel();
        true
    });
    assert!(!late.unwrap());
    let late = hooks.permission("bash", "execute").run(|_| {
        world.executor.cancel_running();
        true
    });
    assert!(!late.unwrap());
    let asked = hooks.permission("bash", "execute").begin().unwrap();
    world.executor.cancel_running();
    let later = hooks.permission("bash", "execute").run(|_| true);
    assert!(!asked.finish(true) && later.unwrap());
}

/// An event that was blocked stays blocked, however its results are read.
#[test]
fn a_handle_never_forgets_what_blocks() {
    let world = World::new();
    world.answering(json!({"decision": "block"}));
    world.answering("{}");
    let options = FireOptions::new().stop_on_failure(false);
    let mut handle = world.executor.submit(blocking_event(), options).unwrap();
    let outcome = handle.wait_timeout(std::time::Duration::MAX).unwrap();
    assert_eq!(outcome.results().len(), 2);
    let again: Vec<_> = handle.into_receiver().iter().collect();
    assert_eq!(again.len(), 1);
    assert!(!again[0].should_continue());
}

/// A subagent does not go on after its turn was cancelled, and what a tool returned then is not for the model.
#[test]
fn a_turn_is_cancelled_with_its_subagents() {
    let world = World::new();
    let token = CancelToken::new();
    let session = Lifecycle::new(world.executor.clone())
        .session("s1")
        .begin()
        .unwrap();
    let turn = session.prompt("go").cancelled_by(&token).begin().unwrap();
    let subagent = turn.subagent("explorer").begin().unwrap();
    let call = || subagent.lifecycle().tool("ls", json!({}));
    assert_eq!(
        call().run(returns("whole")).next,
        Next::GoOn("whole".to_owned())
    );
    let permit = call().permit().unwrap();
    let run = permit.run(|_, _| {
        token.cancel();
        Ok::<_, String>("half")
    });
    assert_eq!(run.next, Next::Cancelled);
    assert!(call().run(never).check().unwrap_err().is_cancelled());
    assert!(turn.lifecycle().tool("ls", json!({})).permit().is_err());
}

#[test]
fn an_own_action_has_events_of_its_own() {
    let [before, after] = ["game:will_save", "game:saved"].map(|name| EventSpec::named(name));
    let builtin = EventSpec::new(EventType::ToolPreExecute);
    assert!(OwnAction::new(&before, &after, &after).is_ok());
    for (events, message) in [
        (
            [&builtin, &after, &after],
            "`tool:pre_execute` is a built-in event, not a custom one",
        ),
        (
            [&before, &after, &builtin],
            "`tool:pre_execute` is a built-in event, not a custom one",
        ),
        (
            [&before, &after, &before],
            "`game:will_save` is both before and after an action: declare an event for each",
        ),
    ] {
        let [before, after, failed] = events;
        let error = OwnAction::new(before, after, failed).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn an_open_question_is_no_yes() {
    let world = World::new();
    world.answering(json!({"decision": "ask", "reason": "sure?"}));
    let options = FireOptions::new().handles_ask();
    let outcome = world.executor.execute(&blocking_event(), options);
    assert!(outcome.asks().is_some() && !outcome.allowed() && outcome.check().is_err());
    assert_eq!(outcome.blocked(), outcome.asks());
    assert!(!outcome.results().iter().all(HookResult::success));
    assert!(!outcome.results().iter().all(HookResult::should_continue));
    assert!(!outcome.grants());
    let yes = outcome.answer(|_| true);
    assert!(yes.allowed() && yes.blocked().is_none() && yes.grants());
    assert!(yes.results().iter().all(HookResult::success));
}

#[test]
fn an_allow_grants_unless_another_hook_objects() {
    let world = World::new();
    world.answering(json!({"decision": "allow"}));
    assert!(world.outcome(&blocking_event()).grants());
    world.answering("plain words");
    assert!(world.outcome(&blocking_event()).grants());
    world.answering(json!({"decision": "block"}));
    assert!(!world.outcome(&blocking_event()).grants());
}

#[cfg(unix)]
fn names(world: &World) -> String {
    world.read("seen").trim().replace('\n', " ")
}

#[cfg(unix)]
#[test]
fn the_end_of_an_own_action_is_fired() {
    let world = World::new();
    let [before, after, failed] =
        ["game:will_save", "game:saved", "game:not_saved"].map(|name| EventSpec::named(name));
    let action = OwnAction::new(&before, &after.clone().notify_only(), &failed).unwrap();
    world.hook(
        "game:*",
        r#"echo "$FORGE_EVENT $FORGE_SLOT $FORGE_BYTES $FORGE_ERROR" >>seen"#,
    );
    let hooks = Lifecycle::new(world.executor.clone());
    let call = || hooks.action(&action).with_field("slot", 1);
    let fails = |broken: bool| -> Result<u8, String> {
        let done = call().run(|action| {
            let bytes: u8 = if broken { "x" } else { "7" }.parse()?;
            action.set_field("bytes", bytes);
            Ok::<_, std::num::ParseIntError>(bytes)
        });
        done.map_err(|blocked| blocked.to_string())?
            .map_err(|error| error.to_string())
    };
    assert_eq!(fails(false), Ok(7));
    assert!(fails(true).is_err());
    let panics = AssertUnwindSafe(|| call().run(|_| -> Result<(), String> { panic!("broken") }));
    assert!(catch_unwind(panics).is_err());
    drop(async {
        let running = call().begin().unwrap();
        std::future::pending::<()>().await;
        running.finish(Ok::<_, String>(()));
    });
    let running = call().begin().unwrap();
    running.finish(Err("by hand"));
    let seen = names(&world);
    let expected = "game:will_save 1 game:saved 1 7 \
        game:will_save 1 game:not_saved 1 invalid digit found in string \
        game:will_save 1 game:not_saved 1 the call was dropped before its end \
        game:will_save 1 game:not_saved 1 by hand";
    let seen: Vec<_> = seen.split_whitespace().collect();
    assert_eq!(seen.join(" "), expected);
    world.hook("game:will_save", "exit 1");
    assert!(
        call()
            .run(|_| -> Result<(), String> { panic!("it is called") })
            .is_err()
    );
}

#[cfg(unix)]
#[test]
fn a_cancelled_guard_is_no_verdict() {
    let world = World::new();
    world.add(hook("tool:*", "touch runs; sleep 60").with_name("slow"));
    let token = CancelToken::new();
    let hooks = Lifecycle::new(world.executor.clone()).cancelled_by(&token);
    let blocked = std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            hooks
                .tool("bash", json!({}))
                .run(never)
                .check()
                .unwrap_err()
        });
        world.await_file("runs");
        token.cancel();
        call.join().unwrap()
    });
    assert!(blocked.is_cancelled());
    assert_eq!(
        blocked.to_string(),
        "cancelled before hook `slow` had decided"
    );
    let outcome = blocked.outcome().unwrap();
    assert!(outcome.failures().is_empty() && outcome.additional_context().is_none());

    world.registry().clear();
    world.add(hook("tool:*", "exit 1").with_name("no"));
    let hooks = Lifecycle::new(world.executor.clone());
    let blocked = hooks
        .tool("bash", json!({}))
        .run(never)
        .check()
        .unwrap_err();
    assert!(!blocked.is_cancelled(), "a verdict");
}

/// Nor what they have said of the call before it was changed.
#[cfg(unix)]
#[test]
fn a_blocked_change_has_what_hooks_have_said_before() {
    let world = World::new();
    world.hook(
        "tool:*",
        "case $FORGE_TOOL_ARGS in *2*) echo no; exit 1;; esac",
    );
    let change =
        json!({"updatedInput": {"n": 2}, "additionalContext": "use make", "systemMessage": "m"});
    world.answering(change);
    let broken = hook("tool:*", "exit 3").with_name("broken");
    world.add(broken.with_on_failure(forge_hooks::FailurePolicy::Continue));
    let hooks = Lifecycle::new(world.executor.clone());
    let blocked = hooks
        .tool("bash", json!({"n": 1}))
        .run(never)
        .check()
        .unwrap_err();
    assert_eq!(
        blocked.to_string(),
        format!("blocked by hook `{}`: no", blocked.result.hook().label())
    );
    let outcome = blocked.outcome().unwrap();
    assert_eq!(outcome.additional_context().as_deref(), Some("use make"));
    let expected = ["hook `broken` failed on `tool:pre_execute`: exited with code 3"];
    assert_eq!(outcome.failures(), expected);
}

/// The other results of the hooks are not lost with the call.
#[test]
fn a_blocked_call_has_what_other_hooks_have_said() {
    let world = World::new();
    world.answering(json!({"additionalContext": "use make"}));
    let broken = hook("tool:*", "exit 3").with_name("broken");
    world.add(broken.with_on_failure(forge_hooks::FailurePolicy::Continue));
    world.answering(json!({"decision": "block", "reason": "no"}));
    let hooks = Lifecycle::new(world.executor.clone());
    let blocked = hooks
        .tool("bash", json!({}))
        .run(never)
        .check()
        .unwrap_err();
    let outcome = blocked.outcome().unwrap();
    assert_eq!(outcome.additional_context().as_deref(), Some("use make"));
    let expected = ["hook `broken` failed on `tool:pre_execute`: exited with code 3"];
    assert_eq!(outcome.failures(), expected);
}

#[cfg(unix)]
fn hooks_with_queue_of(world: &World, events: usize) -> Hooks {
    let executor = forge_hooks::HookExecutor::builder()
        .workers(1)
        .queue_capacity(events);
    let builder = Hooks::builder(AppProfile::new("mygame")).config_home(world.directory());
    builder.executor(executor).load()
}

/// A refused event is a handle that has ended, and blocks what can be blocked.
#[cfg(unix)]
#[test]
fn a_refused_event_is_no_yes() {
    let world = World::new();
    let hooks = hooks_with_queue_of(&world, 1);
    let go = world.path("go");
    let slow = format!(
        "touch '{}'; until test -e '{}'; do sleep 0.05; done",
        world.path("runs").display(),
        go.display()
    );
    hooks.executor().registry().register(hook("*", &slow));
    let event = |name: &str| hooks.event(name).unwrap();
    let first = hooks.submit(event("tool:pre_execute"));
    world.await_file("runs");
    // The one thread is busy, and one event may wait.
    let taken = [first, hooks.submit(event("tool:pre_execute"))];
    let refused = hooks.submit(event("tool:pre_execute"));
    assert!(refused.refusal().is_some());
    assert!(refused.is_finished());
    let outcome = refused.wait();
    assert!(!outcome.allowed() && outcome.check().is_err());
    let why = "queue is full, tool:pre_execute was not taken";
    assert_eq!(outcome.reason(), Some(why));
    assert_eq!(
        outcome.check().unwrap_err().to_string(),
        format!("not run: {why}")
    );
    let notifies = hooks.submit(event("user:interrupt")).wait();
    assert!(notifies.allowed(), "nothing to block");
    assert!(notifies.failures().concat().contains("queue is full"));
    world.write("go", "");
    assert!(taken.into_iter().all(|handle| handle.wait().allowed()));
}

/// Hooks know whose call a tool is.
#[cfg(unix)]
#[test]
fn a_tool_of_a_subagent_names_it() {
    let world = World::new();
    world.hook("*", r#"echo "$FORGE_EVENT $FORGE_AGENT_TYPE" >>seen"#);
    let session = Lifecycle::new(world.executor.clone())
        .session("s1")
        .begin()
        .unwrap();
    let turn = session.prompt("go").begin().unwrap();
    let mut sub = turn.subagent("explorer").begin().unwrap();
    for hooks in [turn.lifecycle(), sub.lifecycle(), session.lifecycle()] {
        let _ = hooks.tool("read", json!({"n": 1})).run(runs);
    }
    let forged = session
        .lifecycle()
        .tool("read", json!({"n": 1}))
        .with_field("agent_type", "boss");
    let _ = forged.run(runs);
    drop(sub.lifecycle().session("s2").begin().unwrap());
    assert!(sub.finish("done").allowed());
    let seen = names(&world);
    let seen: Vec<_> = seen.split_whitespace().collect();
    let expected = "session:start user:prompt_submit agent:subagent_start explorer \
        tool:pre_execute main tool:post_execute main \
        tool:pre_execute explorer tool:post_execute explorer \
        tool:pre_execute tool:post_execute \
        tool:pre_execute tool:post_execute session:start session:end agent:subagent_stop explorer";
    assert_eq!(seen.join(" "), expected);
}
