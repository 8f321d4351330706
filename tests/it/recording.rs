//! The events of a trace: what is recorded of each, where it may be recorded, and what is never written.

#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

#[cfg(unix)]
use forge_hooks::hook::May;
use forge_hooks::{
    Decision, FireOptions, Hook, HookEvent, HookExecutor, HookOutput, HostContext, Trace,
};
use serde_json::{Value, json};

use crate::support::{World, blocking_event, custom};
use crate::thorough::all_cases;
use crate::tracing::{Traced, flush, lines};

/// Events alone, without the lines of hooks.
fn recorded(path: &Path) -> Vec<Value> {
    let mut lines = lines(path);
    lines.retain(|line| !line["fired"].is_null());
    lines
}

impl Traced {
    fn recording() -> Self {
        Self::with(|builder| builder.events())
    }

    fn recorded(&self) -> Vec<Value> {
        flush(&self.trace);
        recorded(&self.path("trace.jsonl"))
    }
}

#[test]
fn an_event_is_recorded_with_its_data_and_its_outcome() {
    let traced = Traced::recording();
    let mut guard = HookOutput::default();
    guard.decision = Some(Decision::Block);
    guard.reason = Some("not today".to_owned());
    let guard = Hook::answering("tool:pre_execute:bash", guard).unwrap();
    traced.world.add(guard.with_name("guard"));
    let event = HookEvent::tool_pre_execute("bash", json!({"command": "ls"}));
    let event = event.with_session_id("s1").with_data("agent_id", "a1");
    let options = FireOptions::new().handles_ask().applies_updates();
    let outcome = traced.world.executor.execute(&event, options);
    assert!(!outcome.allowed());
    let [line] = &traced.recorded()[..] else {
        panic!("one line")
    };
    assert_eq!(
        line["fired"],
        serde_json::from_str::<Value>(&event.to_json()).unwrap()
    );
    let expected = json!({
        "event": "tool:pre_execute", "tool": "bash", "session": "s1", "how": ["ask", "updates"],
        "can_block": true, "decision": "block", "hook": "guard", "reason": "not today",
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&line[key], value, "{key}");
    }
    assert_eq!(line["left_out"], Value::Null);
}

#[test]
fn what_cannot_be_blocked_has_no_data() {
    let traced = Traced::recording();
    let arguments = json!({"command": "cat diary.txt"});
    traced
        .world
        .fire(&HookEvent::tool_pre_execute("bash", arguments.clone()));
    traced.world.fire(&HookEvent::tool_post_execute(
        "bash",
        arguments.clone(),
        "dear diary",
    ));
    traced.world.fire(&HookEvent::tool_error(
        "bash",
        arguments,
        "no ink in the pen",
    ));
    traced.world.fire(&HookEvent::session_message(
        "s1",
        "user",
        "a private message",
    ));
    let lines = traced.recorded();
    assert_eq!(lines.len(), 4);
    let call = lines[0]["call"].as_str().unwrap();
    assert_eq!(
        (&lines[1]["call"], &lines[2]["call"]),
        (&call.into(), &call.into())
    );
    for line in &lines[1..] {
        assert_eq!(line["fired"]["data"], json!({}), "{line}");
    }
    let text = std::fs::read_to_string(traced.path("trace.jsonl")).unwrap();
    for private in ["dear diary", "no ink", "private message"] {
        assert!(!text.contains(private), "{private}");
    }
}

/// An event that can be blocked may have one too. What an unknown event has in its data is not known.
#[test]
fn no_result_of_a_tool_is_recorded() {
    let traced = Traced::recording();
    let with_results = |event: HookEvent| {
        event
            .with_data("tool_result", json!({"text": "dear diary"}))
            .with_data(
                "agent",
                json!({"calls": [{"tool_response": ["dear diary"], "id": 1}]}),
            )
    };
    traced.world.fire(&with_results(blocking_event()));
    traced
        .world
        .fire(&with_results(custom("tool:post_batch")).with_data("content", "dear diary"));
    let lines = traced.recorded();
    let text = format!("{lines:?}");
    assert!(!text.contains("dear diary"), "{text}");
    assert_eq!(lines[0]["fired"]["data"]["agent"]["calls"][0]["id"], 1);
    assert_eq!(
        (&lines[1]["fired"]["data"], &lines[1]["left_out"]),
        (&json!({}), &json!(["data"]))
    );
}

#[test]
fn it_is_recorded_how_the_host_fires() {
    let traced = Traced::recording();
    let fire = |options: FireOptions| {
        let context = HostContext::new().with_permission_mode("plan");
        let event = blocking_event().with_context(Arc::new(context));
        assert!(traced.world.executor.execute(&event, options).allowed());
    };
    fire(FireOptions::new());
    fire(FireOptions::new().stop_on_failure(false));
    let lines = traced.recorded();
    assert_eq!(lines[0]["how"], json!(["context"]));
    assert_eq!(lines[1]["how"], json!(["keeps_going", "context"]));
}

/// Whichever of them ran.
#[test]
fn values_of_all_hooks_are_masked() {
    let traced = Traced::recording();
    let hook = |command: &str, secret: &str| {
        let hook = Hook::new("tool:pre_execute", command).unwrap();
        hook.with_env("SECRET", secret)
    };
    traced
        .world
        .add(hook("exit 0", "correct-horse").with_background());
    traced.world.add(hook("exit 3", "battery-staple"));
    traced.world.add(hook("exit 0", "never-reached"));
    let text = "correct-horse battery-staple never-reached";
    let before = HookEvent::tool_pre_execute("bash", json!({ "command": text }));
    traced.world.fire(&before);
    traced.world.registry().clear();
    traced.world.fire(&HookEvent::tool_post_execute(
        "bash",
        json!({ "command": text }),
        "out",
    ));
    let lines = traced.recorded();
    let command = &lines[0]["fired"]["data"]["tool_args"]["command"];
    assert_eq!(command, "[redacted] [redacted] [redacted]");
    assert_eq!(
        lines[0]["call"], lines[1]["call"],
        "whatever the hooks of each"
    );
}

#[cfg(unix)]
#[test]
fn a_directory_that_is_replaced_by_a_link_is_not_followed() {
    let world = World::new();
    std::fs::create_dir_all(world.path("project")).unwrap();
    let builder = Trace::builder(world.path("rec/events.jsonl")).events();
    let trace = builder.outside_of(world.path("project")).build().unwrap();
    let executor = HookExecutor::builder().trace(&trace).build();
    let fire = || {
        assert!(
            executor
                .execute(&blocking_event(), FireOptions::new())
                .allowed()
        );
        flush(&trace);
    };
    fire();
    std::fs::rename(world.path("rec"), world.path("rec.real")).unwrap();
    std::os::unix::fs::symlink(world.path("project"), world.path("rec")).unwrap();
    fire();
    assert!(!world.path("project/events.jsonl").exists());
    assert_eq!(trace.lost(), 1);
}

/// So `trace --check` tells large calls apart, and knows the calls of other agents.
#[test]
fn a_call_has_one_digest() {
    let traced = Traced::recording();
    let write = |text: &str| json!({"path": "a", "content": text.repeat(70_000)});
    traced
        .world
        .fire(&HookEvent::tool_pre_execute("write", write("x")));
    traced
        .world
        .fire(&HookEvent::tool_post_execute("write", write("x"), "done"));
    traced
        .world
        .fire(&HookEvent::tool_pre_execute("write", write("y")));
    let agent = json!({"tool_use_id": "toolu_1", "tool_response": "x".repeat(70_000)});
    let of_agent = |event: HookEvent| event.with_data("agent", agent.clone());
    traced.world.fire(
        &of_agent(HookEvent::tool_pre_execute("bash", "ls"))
            .with_data("agent", json!({"tool_use_id": "toolu_1"})),
    );
    traced.world.fire(&of_agent(HookEvent::tool_post_execute(
        "bash", "ls -l", "out",
    )));
    let lines = traced.recorded();
    let calls: Vec<_> = lines
        .iter()
        .map(|line| line["call"].as_str().unwrap())
        .collect();
    assert_eq!(calls[0], calls[1]);
    assert_ne!(calls[0], calls[2]);
    assert_eq!(calls[3], calls[4]);
    assert_eq!(lines[4]["left_out"], Value::Null);
}

#[test]
fn every_way_to_fire_is_recorded_once() {
    let traced = Traced::recording();
    let world = &traced.world;
    world.fire(&blocking_event());
    drop(world.submit(blocking_event()).wait());
    world.hook("tool:pre_execute", "exit 3");
    world.fire(&blocking_event());
    drop(world.submit(blocking_event()).wait());
    let mut deep = json!(1);
    for _ in 0..200 {
        deep = json!([deep]);
    }
    world.fire(&blocking_event().with_data("deep", deep.clone()));
    drop(
        world
            .submit(blocking_event().with_data("deep", deep))
            .wait(),
    );
    let lines = traced.recorded();
    let decisions: Vec<_> = lines.iter().map(|line| line["decision"].clone()).collect();
    assert_eq!(
        decisions,
        ["allow", "allow", "block", "block", "block", "block"]
    );
    assert_eq!(lines[4]["left_out"], json!(["deep"]));
}

#[test]
fn a_cancelled_event_is_recorded_as_blocked() {
    let traced = Traced::recording();
    let world = &traced.world;
    world.hook("tool:pre_execute", "exit 0");
    let token = forge_hooks::CancelToken::new();
    token.cancel();
    let options = FireOptions::new().cancelled_by(&token);
    let handle = world.executor.submit(blocking_event(), options).unwrap();
    assert!(!handle.wait().allowed());
    let lines = traced.recorded();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["decision"], "block");
    assert_eq!(lines[0]["how"], json!(["cancelled"]));
}

#[test]
fn values_that_are_too_large_are_left_out_and_named() {
    let traced = Traced::recording();
    let text = |length: usize| "x".repeat(length);
    let event = blocking_event()
        .with_data("fits", text(64 * 1024 - 2))
        .with_data("large", text(64 * 1024 - 1))
        .with_data("small", 1);
    traced.world.fire(&event);
    let many = (0..10).fold(blocking_event(), |event, number| {
        event.with_data(format!("k{number}"), text(60 * 1024))
    });
    traced.world.fire(&many);
    let lines = traced.recorded();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["left_out"], json!(["large"]));
    let keys = |line: &Value| line["fired"]["data"].as_object().unwrap().len();
    assert!(keys(&lines[0]) >= 2);
    let left_out = lines[1]["left_out"].as_array().unwrap().len();
    assert_eq!((keys(&lines[1]) >= 4, left_out), (true, 6));
}

/// A reader takes 128 levels for the whole line.
#[test]
fn a_change_that_is_too_large_or_too_deep_is_left_out() {
    let mut deep = json!(1);
    for _ in 0..110 {
        deep = json!([deep]);
    }
    for (update, is_kept) in [
        (json!({"command": "ls"}), true),
        (json!({"command": "x".repeat(64 * 1024)}), false),
        (json!({ "command": deep }), false),
    ] {
        let traced = Traced::recording();
        let mut changes = HookOutput::default();
        changes.updated_input = update.as_object().cloned();
        traced
            .world
            .add(Hook::answering("tool:pre_execute", changes).unwrap());
        let options = FireOptions::new().applies_updates();
        let event = HookEvent::tool_pre_execute("bash", json!({}));
        assert!(traced.world.executor.execute(&event, options).allowed());
        let line = &traced.recorded()[0];
        assert_eq!(line["updated_input"].is_object(), is_kept, "{line}");
        assert_eq!(line["left_out"] == json!(["updated_input"]), !is_kept);
    }
}

#[test]
fn secrets_are_masked() {
    let traced = Traced::recording();
    let secret = "correct horse battery";
    let guard = Hook::new("tool:pre_execute", "exit 3").unwrap();
    traced.world.add(guard.with_env("OF_HOOK", secret));
    let token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let arguments = json!({"command": format!("curl -H 'Authorization: Bearer {token}'"), "api_key": "hunter2hunter2",
        "text": format!("it says {secret}!")});
    let event = HookEvent::tool_pre_execute("bash", arguments).with_session_id(token);
    traced.world.fire(&event);
    let lines = traced.recorded();
    assert_eq!(lines.len(), 1);
    let text = std::fs::read_to_string(traced.path("trace.jsonl")).unwrap();
    for hidden in [token, "hunter2", secret] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
    assert_eq!(
        lines[0]["fired"]["data"]["tool_args"]["text"],
        "it says [redacted]!"
    );
}

#[cfg(unix)]
#[test]
fn secrets_in_a_change_are_masked() {
    let traced = Traced::recording();
    let changes = r#"printf '{"updatedInput": {"command": "curl %s"}}' "$OF_HOOK""#;
    let hook = Hook::new("tool:pre_execute", changes).unwrap();
    let hook = hook.with_env("OF_HOOK", "correct horse battery");
    traced.world.add(hook.with_may([May::ChangeInput]));
    let event = HookEvent::tool_pre_execute("bash", json!({"command": "curl"}));
    let options = FireOptions::new().applies_updates();
    let outcome = traced.world.executor.execute(&event, options);
    let update = outcome.updated_input().unwrap();
    assert_eq!(update["command"], "curl correct horse battery");
    let line = &traced.recorded()[0];
    assert_eq!(line["updated_input"], json!({"command": "curl [redacted]"}));
}

#[test]
fn many_events_have_a_bounded_size() {
    const MOST: u64 = 1024 * 1024;
    let traced = Traced::with(|builder| builder.events().max_bytes(MOST).keep(1).capacity(65_536));
    let event = HookEvent::tool_pre_execute("bash", "ls");
    for _ in 0..if all_cases() { 10_000 } else { 5_000 } {
        traced.world.fire(&event);
    }
    flush(&traced.trace);
    assert_eq!(traced.trace.lost(), 0);
    for name in ["trace.jsonl", "trace.jsonl.1"] {
        let length = traced.path(name).metadata().unwrap().len();
        assert!(length <= MOST, "{length}");
    }
    assert!(!traced.path("trace.jsonl.2").exists());
}

#[cfg(unix)]
#[test]
fn the_file_is_the_users_own_alone() {
    let world = World::new();
    let build = |name: &str| Trace::builder(world.path(name)).events().build();
    let mode = |name: &str| world.path(name).metadata().unwrap().permissions().mode() & 0o777;
    assert!(build("new/events.jsonl").is_ok());
    assert_eq!(mode("new/events.jsonl"), 0o600);
    assert!(build("new/events.jsonl").is_ok(), "it may exist");
    world.write("shared.jsonl", "");
    std::fs::set_permissions(world.path("shared.jsonl"), PermissionsExt::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(world.path("new/events.jsonl"), world.path("link.jsonl")).unwrap();
    std::os::unix::fs::symlink(world.path("nothing.jsonl"), world.path("dangling.jsonl")).unwrap();
    assert!(build("second.jsonl").is_ok());
    std::fs::hard_link(world.path("second.jsonl"), world.path("third.jsonl")).unwrap();
    for (name, why) in [
        ("shared.jsonl", "its mode is 0640, expected 0600"),
        ("link.jsonl", "it is a link"),
        ("dangling.jsonl", "it is a link"),
        ("third.jsonl", "it has another name"),
        ("new", "it is a directory"),
    ] {
        assert!(error_of(build(name)).contains(why), "{name}");
    }
    assert!(error_of(Trace::builder("/dev/null").events().build()).contains("it is a device"));
    assert!(!world.path("nothing.jsonl").exists());
}

#[cfg(unix)]
#[test]
fn what_follows_a_full_file_is_the_users_own_alone() {
    let world = World::new();
    let mode = |name: &str| world.path(name).metadata().unwrap().permissions().mode() & 0o777;
    let small = Trace::builder(world.path("full.jsonl"))
        .events()
        .max_bytes(0)
        .build()
        .unwrap();
    let executor = HookExecutor::builder().trace(&small).build();
    for _ in 0..30 {
        let event = blocking_event().with_data("long", "x".repeat(60 * 1024));
        assert!(executor.execute(&event, FireOptions::new()).allowed());
    }
    flush(&small);
    assert_eq!((mode("full.jsonl"), mode("full.jsonl.1")), (0o600, 0o600));
}

#[test]
fn the_file_lies_outside_of_the_project() {
    let world = World::new();
    let project = world.path("project");
    std::fs::create_dir_all(project.join("deep")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(project.join("deep"), world.path("way")).unwrap();
    let build = |path: &str| {
        let builder = Trace::builder(world.path(path)).events();
        builder
            .outside_of(world.path("other"))
            .outside_of(&project)
            .build()
    };
    let inside = [
        "project/events.jsonl",
        "project/deep/new/events.jsonl",
        "elsewhere/../project/events.jsonl",
        #[cfg(unix)]
        "way/events.jsonl",
    ];
    for path in inside {
        assert!(is_refused(&error_of(build(path))), "{path}");
    }
    let left: Vec<_> = std::fs::read_dir(&project).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(build("project-2/events.jsonl").is_ok());
}

/// Where a directory is missing before a `..`, it is not known where the path leads.
fn is_refused(error: &str) -> bool {
    error.contains("an agent could read") || error.contains("it is not known where it leads")
}

fn error_of(built: Result<Trace, forge_hooks::SetupError>) -> String {
    let error = built.err().unwrap();
    std::error::Error::source(&error).unwrap().to_string()
}
