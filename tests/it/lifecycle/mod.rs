//! The events around a tool, a model call, a session and a permission, in their order, also when something fails.
//! Model calls and sessions are here.

mod changes;
mod permissions;
mod submitted;
mod tools;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use forge_hooks::executor::{Observation, Observations};
use forge_hooks::lifecycle::{OwnAction, Question, ToolRun};
use forge_hooks::{
    AppProfile, CancelToken, Decision, EventSpec, HookEvent, HookExecutor, Hooks, HooksBuilder,
    Lifecycle, Permit,
};
use serde_json::{Value, json};

use crate::support::{PATIENCE, World, meets};

const PRE: &str = "tool:pre_execute";
const PROMPT: &str = "user:prompt_submit";

/// The events for which the hook of every event has ended.
struct Seen(Observations, Mutex<Vec<Arc<HookEvent>>>);

impl Seen {
    fn all(&self) -> Vec<Arc<HookEvent>> {
        let mut seen = self.1.lock().unwrap();
        while let Some(observation) = self.0.try_recv() {
            // The others have seen the same event.
            if let Observation::Ended(run, _) = observation
                && run.hook.event_pattern() == "*"
            {
                seen.push(run.event);
            }
        }
        seen.clone()
    }

    fn data(&self, index: usize) -> Value {
        Value::Object(self.all()[index].data().clone())
    }
}

struct Host {
    world: World,
    seen: Seen,
}

impl Host {
    /// With a hook for every event that does nothing, and one for an event that says this.
    fn with<const N: usize>(hooks: [(&str, Value); N]) -> Self {
        let world = World::new();
        let seen = Seen(world.executor.observations(), Mutex::default());
        world.hook("*", "exit 0");
        let host = Self { world, seen };
        for (pattern, answer) in hooks {
            host.answers(pattern, answer);
        }
        host
    }

    fn answers(&self, pattern: &str, answer: Value) {
        let says = self.world.says(&answer.to_string());
        self.world.hook(pattern, &says);
    }

    fn lifecycle(&self) -> Lifecycle {
        Lifecycle::new(self.world.executor.clone())
    }

    /// The events in order.
    fn names(&self) -> String {
        let events = self.seen.all();
        let names = events.iter().map(|event| event.event_type.as_str());
        names.collect::<Vec<_>>().join(" ")
    }

    /// The events in order, a line each, with their data.
    fn events(&self) -> String {
        let events = self.seen.all();
        let line =
            |event: &Arc<HookEvent>| format!("\n{} {}", event.event_type, json!(event.data()));
        events.iter().map(line).collect()
    }

    fn all_are_of(&self, session: &str) -> bool {
        let events = self.seen.all();
        let mut sessions = events.iter().map(|event| event.session_id.as_deref());
        sessions.all(|id| id == Some(session))
    }

    /// Waits for what runs in the background.
    #[track_caller]
    fn ends(&self) {
        let report = self.world.executor.shutdown(PATIENCE);
        assert!(report);
    }
}

fn works(permit: Permit) -> ToolRun {
    permit.run(|_, _| Ok::<_, String>(json!({"lines": 3})))
}

#[test]
fn a_model_call_fires_its_events() {
    let host = Host::with([]);
    let mut call = host.lifecycle().llm("large", 12).begin().unwrap();
    call.add_tokens(1);
    assert_eq!(call.tokens(), 0, "there is no stream");
    call.start_stream();
    (0..3).for_each(|_| call.add_tokens(2));
    assert_eq!(call.tokens(), 6);
    assert_eq!(call.before().results().len(), 1);
    let after = call.finish(Ok::<_, String>(7)).unwrap();
    assert_eq!(after.results().len(), 1);
    let expected = r#"
llm:pre_request {"llm_model":"large","message_count":12}
llm:stream_start {"llm_model":"large"}
llm:stream_end {"llm_model":"large","llm_tokens":6}
llm:post_response {"llm_model":"large","llm_tokens":7}"#;
    assert_eq!(host.events(), expected);
}

#[test]
fn a_failed_model_fires_its_error() {
    let host = Host::with([]);
    let hooks = host.lifecycle();
    let breaking = AssertUnwindSafe(|| {
        let mut call = hooks.llm("m", 1).begin().unwrap();
        call.start_stream();
        call.add_tokens(5);
        panic!("the line is dead");
    });
    assert!(catch_unwind(breaking).is_err());
    let failed: Result<Result<(), _>, _> = hooks.llm("m", 1).run(|_| Err("overloaded"));
    assert_eq!(failed.unwrap(), Err("overloaded"));
    let expected = r#"
llm:pre_request {"llm_model":"m","message_count":1}
llm:stream_start {"llm_model":"m"}
llm:stream_end {"llm_model":"m","llm_tokens":5}
llm:error {"error":"the call was dropped before its end","llm_model":"m"}
llm:pre_request {"llm_model":"m","message_count":1}
llm:error {"error":"overloaded","llm_model":"m"}"#;
    assert_eq!(host.events(), expected);
}

#[test]
fn a_hook_replaces_the_messages() {
    let (long, short) = (
        json!({"content": "long ".repeat(9)}),
        json!({"content": "hi"}),
    );
    let change = json!({"updatedInput": {"messages": [short]}});
    let host = Host::with([("llm:pre_request", change)]);
    let hooks = host.lifecycle();
    let call = hooks
        .llm("m", 7)
        .with_messages([long.clone(), short.clone()]);
    // Hooks decide by the messages: neither is the number another one, nor can they be forged.
    let call = call.with_field("messages", "none").begin().unwrap();
    assert_eq!(call.messages(), Some(&[short.clone()][..]));
    assert!(call.before().changed_event().is_some());
    call.finish(Ok::<_, String>(1));
    let data = |messages: &[&Value]| json!({"llm_model": "m", "message_count": messages.len(), "messages": messages});
    assert_eq!(host.seen.data(0), data(&[&long, &short]));
    assert_eq!(host.seen.data(1), data(&[&short]), "it runs again");
    assert_eq!(
        host.seen.data(2),
        json!({"llm_model": "m", "llm_tokens": 1})
    );

    let host = Host::with([]);
    let hooks = host.lifecycle();
    let call = hooks.llm("m", 0).with_messages([]).begin().unwrap();
    assert_eq!(call.messages(), Some(&[][..]));
    assert_eq!(hooks.llm("m", 1).begin().unwrap().messages(), None);
}

#[test]
fn a_model_request_can_be_blocked() {
    let question = json!({"decision": "ask", "reason": "dear"});
    let host = Host::with([("llm:pre_request", question)]);
    let hooks = host.lifecycle();
    let blocked = hooks.llm("large", 1).begin().unwrap_err();
    assert_eq!(blocked.result.reason(), Some("dear"));
    let refused = hooks.llm("large", 1).on_ask(|_| false).begin();
    let refused = refused.unwrap_err();
    assert_eq!(refused.result.decision(), Decision::Block);
    let outcome = refused.outcome().expect("what all hooks have printed");
    // In a host that asks, the hooks behind it run too.
    let declined = Some("the user declined: dear");
    assert_eq!((outcome.reason(), outcome.results().len()), (declined, 2));
    let asked = |question: &Question<'_>| question.reasons() == ["dear"];
    assert!(hooks.llm("large", 1).on_ask(asked).begin().is_ok());

    let host = Host::with([("context:pre_compact", json!({"decision": "block"}))]);
    let session = host.lifecycle().session("s1").begin().unwrap();
    let blocked = session
        .lifecycle()
        .compact("auto")
        .run(|_| panic!("it is made"));
    assert!(blocked.is_err());
}

#[test]
fn a_session_ends_once_however_it_ends() {
    for end in ["finish", "drop", "panic"] {
        let host = Host::with([("session:start", json!({"additionalContext": "be kind"}))]);
        let run = AssertUnwindSafe(|| {
            let session = host.lifecycle().session("s1").begin().unwrap();
            let context = session.before().additional_context();
            assert_eq!(context.as_deref(), Some("be kind"));
            assert_eq!(
                session
                    .lifecycle()
                    .message("user", "hello")
                    .unwrap()
                    .results()
                    .len(),
                1
            );
            match end {
                "finish" => assert!(session.finish().is_some()),
                "drop" => drop(session),
                _ => panic!("in the midst of it"),
            }
        });
        assert_eq!(catch_unwind(run).is_err(), end == "panic");
        assert_eq!(host.names(), "session:start session:message session:end");
    }
}

#[test]
fn a_prompt_is_blocked_or_gets_context() {
    let host = Host::with([(PROMPT, json!({"additionalContext": "it is Friday"}))]);
    let session = host.lifecycle().session("s1").begin().unwrap();
    let turn = session.prompt("deploy").begin().unwrap();
    assert_eq!(turn.prompt(), "deploy");
    assert_eq!(turn.additional_context().as_deref(), Some("it is Friday"));
    assert_eq!(session.lifecycle().interrupt().unwrap().results().len(), 1);
    host.world.hook(PROMPT, "exit 1");
    assert!(session.prompt("deploy").begin().is_err());
    let names = "session:start user:prompt_submit user:interrupt user:prompt_submit";
    assert_eq!(host.names(), names);
    assert!(host.all_are_of("s1"));
}

#[test]
fn without_waiting_events_keep_their_order() {
    let host = Host::with([]);
    let world = &host.world;
    world.registry().clear();
    world.hook("session:start", &meets("there", "go"));
    world.hook("*", "exit 0");
    let session = host.lifecycle().without_waiting().session("s1");
    let session = session.begin().unwrap();
    assert!(session.before().results().is_empty());
    assert!(session.lifecycle().message("user", "hello").is_none());
    let run = session.lifecycle().tool("ls", "x").run(works);
    assert!(run.after.is_none() && run.before.unwrap().results().len() == 1);
    assert!(session.finish().is_none());
    world.await_file("there");
    world.write("go", "");
    host.ends();
    // Events before an action do not wait in the queue.
    let names = "tool:pre_execute session:start session:message tool:post_execute session:end";
    assert_eq!(host.names(), names);
    // A full queue loses only events.
    let session = host.lifecycle().without_waiting().session("s2");
    let session = session.begin().unwrap();
    assert!(
        session
            .lifecycle()
            .tool("ls", "x")
            .run(works)
            .check()
            .is_ok()
    );
    assert!(session.finish().is_none());
}

/// Its first event only notifies: nothing waits for its hooks, and no token keeps the action from running.
#[test]
fn a_declared_notification_is_announced() {
    let specs = ["game:will_save", "game:saved", "game:not_saved"];
    let specs = specs.map(|name| EventSpec::named(name).notify_only());
    let action = OwnAction::new(&specs[0], &specs[1], &specs[2]).unwrap();
    let world = World::new();
    world.hook("game:will_save", &meets("there", "go"));
    let executor = HookExecutor::builder().registry(Arc::clone(world.registry()));
    let executor = executor.working_dir(world.directory());
    let builder = Hooks::builder(AppProfile::new("game")).config_home(world.path("config"));
    let builder = builder.without_system_file().executor(executor);
    let hooks = specs.into_iter().fold(builder, HooksBuilder::event).load();
    let waitless = hooks.lifecycle().without_waiting();
    let saving = waitless.action(&action).begin().unwrap();
    assert!(saving.before().results().is_empty() && !saving.before().can_block());
    world.await_file("there");
    assert!(saving.finish(Ok::<_, String>(())).is_none());
    world.write("go", "");
    let token = CancelToken::new();
    token.cancel();
    let action = waitless.action(&action).cancelled_by(&token);
    assert_eq!(action.run(|_| Ok::<_, String>(7)).unwrap(), Ok(7));
    assert!(hooks.shutdown(PATIENCE));
}

#[test]
fn every_action_runs_with_a_function() {
    let host = Host::with([]);
    let hooks = host.lifecycle();
    let done = hooks.session("s1").run(|session| {
        let compacted = session.lifecycle().compact("auto").run(|_| 1).unwrap();
        let answer = session.lifecycle().llm("m", 1).run(|call| {
            call.start_stream();
            call.add_tokens(1);
            Ok::<_, String>((2, 7))
        });
        compacted + answer.unwrap().unwrap()
    });
    assert_eq!(done.unwrap(), 3);
    let names = "session:start context:pre_compact context:post_compact llm:pre_request \
        llm:stream_start llm:stream_end llm:post_response session:end";
    assert_eq!(host.names(), names);
}

#[test]
fn hooks_block_eight_stops_in_a_row() {
    // Longer than what the model gets.
    let reason = "go on ".repeat(2000);
    let go_on = json!({"decision": "block", "reason": reason});
    let host = Host::with([("agent:stop", go_on)]);
    let session = host.lifecycle().session("s1").begin().unwrap();
    let mut turn = session.prompt("fix it").begin().unwrap();
    for _ in 0..8 {
        let outcome = turn.finish("done");
        assert!(outcome.reason().unwrap().starts_with("go on go"));
    }
    let outcome = turn.finish("done");
    assert!(outcome.allowed(), "the turn ends");
    assert_eq!(outcome.reason(), None);
    let mut turn = session.prompt("and this").begin().unwrap();
    for _ in 0..8 {
        assert!(!turn.finish("done").allowed(), "counted anew");
    }
    let _ = session.lifecycle().tool("ls", "x").run(works);
    assert!(!turn.finish("done").allowed(), "the agent has worked on");
}

/// Neither does a subagent use up the blocks of the main agent's guard, nor give it more.
#[test]
fn each_agent_has_its_own_blocked_stops() {
    let go_on = json!({"decision": "block", "reason": "go on"});
    let host = Host::with([
        ("agent:stop", go_on.clone()),
        ("agent:subagent_stop", go_on),
    ]);
    let hooks = host.lifecycle();
    let session = hooks.session("s1").begin().unwrap();
    let other = hooks.session("s2").begin().unwrap();
    let mut turn = session.prompt("fix it").begin().unwrap();
    let mut helper = turn.subagent("tester").begin().unwrap();
    for _ in 0..8 {
        assert!(!helper.finish("done").allowed());
    }
    for time in 0..8 {
        assert!(!turn.finish("done").allowed(), "{time}");
        if time == 5 {
            assert!(helper.finish("done").allowed());
        }
    }
    let mut elsewhere = other.prompt("and this").begin().unwrap();
    assert!(!elsewhere.finish("done").allowed());
    assert!(turn.finish("done").allowed(), "the turn ends");
    assert!(
        !turn
            .subagent("tester")
            .begin()
            .unwrap()
            .finish("")
            .allowed()
    );
}

#[test]
fn a_hook_replaces_the_prompt() {
    let content = "drop the tables";
    let host = Host::with([(PROMPT, json!({"updatedInput": {"content": content}}))]);
    let session = host.lifecycle().session("s1").begin().unwrap();
    let turn = session.prompt("deploy").begin().unwrap();
    assert_eq!(turn.prompt(), content);
    assert!(turn.before().changed_event().is_some());
    assert_eq!(host.seen.data(1)["content"], "deploy");
    assert_eq!(host.seen.data(2)["content"], content, "it runs again");
}

/// Has an action of each kind, in the turn of this lifecycle.
fn act(hooks: &Lifecycle) {
    let _ = hooks.tool("ls", "x").run(works);
    let failed = hooks.tool("ls", "x").permit().unwrap();
    assert!(failed.run(|_, _| Err::<(), _>("no")).is_error);
    let mut call = hooks.llm("m", 1).begin().unwrap();
    call.start_stream();
    call.finish(Ok::<_, String>(1));
    drop(hooks.llm("m", 1).begin().unwrap());
    for answer in [true, false] {
        let permission = hooks.permission("ls", "read").run(|_| answer).unwrap();
        assert_eq!(permission, answer);
    }
    hooks.compact("auto").run(|_| ()).unwrap();
    assert!(hooks.prompt("more").begin().unwrap().finish("").allowed());
    hooks.message("user", "hello");
    hooks.notify("done");
    hooks.interrupt();
    let events = ["a:before", "a:after", "a:failed"].map(EventSpec::named);
    let own = OwnAction::new(&events[0], &events[1], &events[2]).unwrap();
    // An action of the host forges neither.
    let own = hooks.action(&own).with_field("agent_id", "boss");
    let own = own.with_field("agent_type", "boss");
    let done = own.run(|running| {
        running.set_field("agent_id", "boss");
        Ok::<_, String>(())
    });
    assert_eq!(done.unwrap(), Ok(()));
}

/// Two open questions must differ.
#[test]
fn a_question_about_an_own_action_has_its_fields() {
    let host = Host::with([("a:before", json!({"decision": "ask", "reason": "sure?"}))]);
    let hooks = host.lifecycle();
    let events = ["a:before", "a:after", "a:failed"].map(EventSpec::named);
    let own = OwnAction::new(&events[0], &events[1], &events[2]).unwrap();
    let mut shown = String::new();
    let own = hooks.action(&own).with_field("path", "a.txt");
    let own = own.on_ask(|question| {
        shown = question.to_string();
        false
    });
    assert!(own.begin().is_err());
    let lines: Vec<_> = shown.lines().skip(1).collect();
    assert_eq!(lines, ["event: a:before", r#"path: "a.txt""#], "{shown}");
}

/// Returns the agents that the events have named since the last call, without repetitions.
fn agents(host: &Host) -> Vec<Value> {
    let events = host.seen.all();
    host.seen.1.lock().unwrap().clear();
    let named = |event: Arc<HookEvent>| {
        json!([event.data().get("agent_type"), event.data().get("agent_id")])
    };
    let mut agents: Vec<_> = events.into_iter().map(named).collect();
    agents.dedup();
    agents
}

#[test]
fn each_event_of_a_subagent_names_it() {
    let host = Host::with([]);
    let session = host.lifecycle().session("s1").begin().unwrap();
    act(session.lifecycle());
    let main = json!(["main", null]);
    assert_eq!(agents(&host), [json!([null, null])]);
    let turn = session.prompt("go").begin().unwrap();
    assert_eq!(agents(&host), [json!([null, null])]);
    act(turn.lifecycle());
    assert_eq!(agents(&host), [main]);

    let explorer = json!(["explorer", "e1"]);
    let mut outer = turn.subagent_with_id("explorer", "e1").begin().unwrap();
    act(outer.lifecycle());
    assert_eq!(agents(&host), std::slice::from_ref(&explorer));
    // The innermost one counts, also if it has no id.
    let tester = json!(["tester", null]);
    let mut inner = outer.subagent("tester").begin().unwrap();
    act(inner.lifecycle());
    assert!(inner.finish("done").allowed());
    assert_eq!(agents(&host), [tester]);
    assert!(outer.finish("done").allowed());
    assert_eq!(agents(&host), [explorer]);
    // Another session is not within the subagent.
    drop(outer.lifecycle().session("s2").begin().unwrap());
    assert_eq!(agents(&host), [json!([null, null])]);
}
