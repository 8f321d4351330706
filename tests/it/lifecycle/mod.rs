//! What is fired around a tool, a model call, a session and a permission, in which order, also when
//! something fails. Model calls and sessions are here.

mod permissions;
mod tools;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forge_hooks::{HookEvent, HookResult, HookRun, Lifecycle, Observer};
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
fn a_model_call_fires_its_events() {
    let host = Host::with([]);
    let hooks = host.lifecycle();
    let call = hooks.llm("large", 12).begin().unwrap();
    assert_eq!(call.before().results().len(), 1);
    let mut stream = call.stream();
    assert_eq!(stream.before().results().len(), 1);
    (0..3).for_each(|_| stream.add_tokens(2));
    assert_eq!(stream.tokens(), 6);
    assert_eq!(stream.finish().unwrap().results().len(), 1);
    assert_eq!(call.finish(Ok::<_, String>(7)).unwrap().results().len(), 1);
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
fn a_broken_stream_and_its_call_have_an_end() {
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
        [
            "llm:pre_request",
            "llm:stream_start",
            "llm:stream_end",
            "llm:error"
        ]
    );
    assert_eq!(host.seen.data(2)["llm_tokens"], 5);
    let error = json!({"llm_model": "large", "error": "the call was dropped before its end"});
    assert_eq!(host.seen.data(3), error);
}

#[test]
fn a_failed_model_fires_its_error() {
    let host = Host::with([]);
    let failed = host.lifecycle().llm("large", 1);
    let failed: Result<Result<(), _>, _> = failed.run(|_| Err("overloaded"));
    assert_eq!(failed.unwrap(), Err("overloaded"));
    assert_eq!(host.names(), ["llm:pre_request", "llm:error"]);
    let error = json!({"llm_model": "large", "error": "overloaded"});
    assert_eq!(host.seen.data(1), error);
}

#[test]
fn a_model_request_can_be_blocked() {
    let host = Host::with([(
        "llm:pre_request",
        json!({"decision": "ask", "reason": "dear"}),
    )]);
    let hooks = host.lifecycle();
    assert_eq!(
        hooks.llm("large", 1).begin().unwrap_err().result.reason(),
        Some("dear")
    );
    let refused = hooks.llm("large", 1).on_ask(|_| false).begin();
    let refused = refused.unwrap_err();
    assert_eq!(refused.result.decision(), forge_hooks::Decision::Ask);
    let outcome = refused.outcome().expect("what all hooks have printed");
    assert_eq!(
        outcome.reason(),
        None,
        "with a host that asks, no hook blocks"
    );
    assert_eq!(
        outcome.results().len(),
        2,
        "also of the hook for all events"
    );
    let asked = |question: &forge_hooks::lifecycle::Question<'_>| question.reason() == Some("dear");
    assert!(hooks.llm("large", 1).on_ask(asked).begin().is_ok());
}

#[test]
fn a_session_ends_once_however_it_ends() {
    let all = ["session:start", "session:message", "session:end"];
    let ended = Host::with([("session:start", json!({"additionalContext": "be kind"}))]);
    let session = ended.lifecycle().session("s1").begin().unwrap();
    assert_eq!(
        session.before().additional_context().as_deref(),
        Some("be kind")
    );
    assert_eq!(session.id(), "s1");
    assert_eq!(session.message("user", "hello").unwrap().results().len(), 1);
    assert!(session.finish().is_some());
    assert_eq!(ended.names(), all);

    let dropped = Host::with([]);
    let session = dropped.lifecycle().session("s1").begin().unwrap();
    session.message("user", "hello");
    drop(session);
    assert_eq!(dropped.names(), all);

    let panicked = Host::with([]);
    let session = AssertUnwindSafe(|| {
        let session = panicked.lifecycle().session("s1").begin().unwrap();
        session.message("user", "hello");
        panic!("in the midst of it");
    });
    assert!(catch_unwind(session).is_err());
    assert_eq!(panicked.names(), all);
}

#[test]
fn a_prompt_is_blocked_or_gets_context() {
    let context = json!({"additionalContext": "it is Friday"});
    let host = Host::with([("user:prompt_submit", context)]);
    let session = host.lifecycle().session("s1").begin().unwrap();
    let turn = session.prompt("deploy").begin().unwrap();
    assert_eq!(turn.prompt(), "deploy");
    assert_eq!(turn.additional_context().as_deref(), Some("it is Friday"));
    assert_eq!(session.interrupt().unwrap().results().len(), 1);
    host.world.hook("user:prompt_submit", "exit 1");
    assert!(session.prompt("deploy").begin().is_err());
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
fn calls_in_a_session_have_its_id() {
    let host = Host::with([]);
    let session = host.lifecycle().session("s1").begin().unwrap();
    let hooks = session.lifecycle();
    let _ = hooks.tool("ls", "x").run(works).unwrap();
    let _ = hooks.permission("ls", "read").run(|_| true);
    hooks
        .llm("m", 1)
        .begin()
        .unwrap()
        .finish(Ok::<_, String>(1));
    session.finish();
    let events = host.seen.0.lock().unwrap();
    assert!(events.len() > 7);
    assert!(
        events
            .iter()
            .all(|event| event.session_id.as_deref() == Some("s1"))
    );
}

#[test]
fn without_waiting_events_keep_their_order() {
    let host = Host::with([]);
    let world = &host.world;
    world.registry().clear();
    world.hook("session:start", &meets("there", "go"));
    world.hook("*", "exit 0");
    let session = host
        .lifecycle()
        .without_waiting()
        .session("s1")
        .begin()
        .unwrap();
    assert!(session.before().results().is_empty());
    assert!(session.message("user", "hello").is_none());
    let run = session.lifecycle().tool("ls", "x").run(works).unwrap();
    assert!(run.after.is_none() && run.before.results().len() == 1);
    assert!(session.finish().is_none());
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
        "events before an action do not wait in the queue"
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
fn a_full_queue_loses_events_only() {
    let host = Host::with([]);
    let _ = host.world.executor.shutdown(Duration::from_secs(1));
    let session = host
        .lifecycle()
        .without_waiting()
        .session("s1")
        .begin()
        .unwrap();
    assert!(session.lifecycle().tool("ls", "x").run(works).is_ok());
    assert!(session.finish().is_none());
}

#[test]
fn every_action_runs_with_a_function() {
    let host = Host::with([]);
    let hooks = host.lifecycle();
    let done = hooks.session("s1").run(|session| {
        let compacted = session.compact("auto").run(|_| 1).unwrap();
        let answer = session.lifecycle().llm("m", 1).run(|call| {
            call.stream().add_tokens(1);
            Ok::<_, String>((2, 7))
        });
        compacted + answer.unwrap().unwrap()
    });
    assert_eq!(done.unwrap(), 3);
    let names = [
        "session:start",
        "context:pre_compact",
        "context:post_compact",
        "llm:pre_request",
        "llm:stream_start",
        "llm:stream_end",
        "llm:post_response",
        "session:end",
    ];
    assert_eq!(host.names(), names);
}

#[test]
fn hooks_block_eight_stops_in_a_row() {
    let host = Host::with([(
        "agent:stop",
        json!({"decision": "block", "reason": "go on"}),
    )]);
    let session = host.lifecycle().session("s1").begin().unwrap();
    let mut turn = session.prompt("fix it").begin().unwrap();
    for _ in 0..8 {
        assert_eq!(turn.finish("done").reason(), Some("go on"));
    }
    assert!(turn.finish("done").allowed(), "the turn ends");
    let mut turn = session.prompt("and this").begin().unwrap();
    for _ in 0..8 {
        assert!(!turn.finish("done").allowed(), "counted anew");
    }
    let _ = session.lifecycle().tool("ls", "x").run(works).unwrap();
    assert!(!turn.finish("done").allowed(), "the agent has worked on");
}

#[test]
fn a_blocked_compaction_is_not_made() {
    let host = Host::with([("context:pre_compact", json!({"decision": "block"}))]);
    let session = host.lifecycle().session("s1").begin().unwrap();
    let blocked = session.compact("auto").run(|_| panic!("it is made"));
    assert!(blocked.is_err());
}

#[test]
fn a_hook_replaces_the_prompt() {
    let change = json!({"updatedInput": {"content": "be brief: deploy"}});
    let host = Host::with([("user:prompt_submit", change)]);
    let session = host.lifecycle().session("s1").begin().unwrap();
    let turn = session.prompt("deploy").begin().unwrap();
    assert_eq!(turn.prompt(), "be brief: deploy");
    assert!(turn.again().is_some());
    let prompts: Vec<Value> = (1..3)
        .map(|index| host.seen.data(index)["content"].clone())
        .collect();
    assert_eq!(prompts, ["deploy", "be brief: deploy"], "fired again");

    let broken = Host::with([(
        "user:prompt_submit",
        json!({"updatedInput": {"content": 3}}),
    )]);
    let session = broken.lifecycle().session("s1").begin().unwrap();
    let turn = session.prompt("deploy").begin().unwrap();
    assert_eq!((turn.prompt(), turn.again().is_none()), ("deploy", true));
}

#[test]
#[cfg(unix)]
fn guards_see_the_changed_prompt() {
    let change = json!({"updatedInput": {"content": "drop the tables"}});
    let host = Host::with([("user:prompt_submit", change)]);
    host.world.hook("user:prompt_submit", "! grep -q drop");
    let session = host.lifecycle().session("s1").begin().unwrap();
    assert!(session.prompt("deploy").begin().is_err());
}
