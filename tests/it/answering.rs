//! Hooks whose answer stands in their entry: no process, the same on every system.

use std::sync::Arc;

use forge_hooks::hook::May;
use forge_hooks::{
    AppProfile, Decision, FireOptions, Hook, HookConfig, HookEvent, HookExecutor, HookOutput,
    Hooks, Lifecycle, Outcome, Trace,
};
use serde_json::{Value, json};

use crate::support::{PATIENCE, World, decision, hook};

fn answering(event: &str, answer: &Value) -> Hook {
    Hook::from_json(&json!({"event": event, "answer": answer})).unwrap()
}

#[test]
fn an_answer_counts_as_if_a_hook_had_written_it() {
    for answer in [
        json!({"decision": "block", "reason": "no"}),
        json!({"decision": "deny"}),
        json!({"decision": "ask", "reason": "sure?"}),
        json!({"decision": "allow"}),
        json!({"continue": false, "stopReason": "enough"}),
        json!({"updatedInput": {"command": "ls -l"}, "systemMessage": "m"}),
        json!({"updatedOutput": ""}),
        json!({"additionalContext": "c", "feedback": "f"}),
        json!({"hookSpecificOutput": {"permissionDecision": "ask"}}),
    ] {
        let (world, other) = (World::new(), World::new());
        world.add(answering("*", &answer));
        let says = other.says(&answer.to_string());
        other.hook("*", &says);
        for event in events() {
            let options = FireOptions::default().handles_ask();
            let [ours, theirs] =
                [&world, &other].map(|world| world.executor.execute(&event, options.clone()));
            check(&ours, &theirs, &format!("{answer} on {}", event.event_type));
        }
    }
}

fn events() -> [HookEvent; 4] {
    [
        HookEvent::tool_pre_execute("bash", json!({"command": "ls"})),
        HookEvent::tool_post_execute("bash", json!({}), "x"),
        HookEvent::agent_stop(false),
        HookEvent::session_start("s"),
    ]
}

/// Checks that an answer in an entry counts as the one that was written.
fn check(ours: &Outcome, theirs: &Outcome, case: &str) {
    let (result, written) = (&ours.results()[0], &theirs.results()[0]);
    assert_eq!(result.output(), written.output(), "{case}");
    assert_eq!(result.decision(), written.decision(), "{case}");
    let follows = |outcome: &Outcome| {
        (
            outcome.allowed(),
            decision(outcome),
            outcome.reason().map(str::to_owned),
        )
    };
    assert_eq!(follows(ours), follows(theirs), "{case}");
    assert!(result.failure().is_none() && !result.started(), "{case}");
    assert_eq!((result.exit_code(), result.pid()), (0, None), "{case}");
    assert!(result.diagnostics().is_empty(), "{case}");
}

/// An answer whose condition could not be tested stops an operation, and does nothing else.
#[test]
fn an_answer_in_doubt_only_stops() {
    let long = format!("rm -rf ~ #{}", "x".repeat(1024 * 1024));
    let answer = json!({
        "decision": "allow", "updatedInput": {"a": 1}, "additionalContext": "c", "systemMessage": "m",
    });
    let world = World::new();
    let condition = json!({"regex": "^ls [a-z]*$"});
    let answers = answering("tool:pre_execute", &answer);
    world.add(answers.with_when("/tool_args/command", condition).unwrap());
    let fired = |command: &str| {
        let event = HookEvent::tool_pre_execute("bash", json!({"command": command}));
        let options = FireOptions::new().applies_updates();
        world.executor.execute(&event, options)
    };
    let met = fired("ls src");
    assert_eq!(decision(&met), Some(Decision::Allow));
    assert!(met.updated_input().is_some() && met.additional_context().is_some());
    // A change may have been meant to prevent something.
    let doubt = fired(&long);
    assert!(!doubt.allowed() && doubt.updated_input().is_none());
    let reason = doubt.reason().unwrap();
    assert!(
        reason.contains("could not be tested: its value has more than 1 MiB"),
        "{reason}"
    );
    world.registry().clear();
    let adds = json!({"decision": "allow", "additionalContext": "c", "systemMessage": "m"});
    let adds = answering("tool:pre_execute", &adds);
    world.add(adds.with_when("/tool_args/command", "ls *").unwrap());
    let doubt = fired(&long);
    assert!(doubt.allowed() && decision(&doubt).is_none());
    assert_eq!(doubt.additional_context(), None);
    assert_eq!(doubt.system_messages()[0], "m");
    let blocks = json!({"decision": "block", "reason": "no"});
    let blocks = answering("tool:pre_execute", &blocks);
    world.add(blocks.with_when("/tool_args/command", "rm *").unwrap());
    assert!(!fired(&long).allowed());
}

/// The hooks of an event are chosen twice: for a blocking call, and for a submitted event.
#[test]
fn a_submitted_answer_in_doubt_only_stops() {
    let world = World::new();
    let answer = json!({"decision": "allow", "additionalContext": "c"});
    let condition = json!({"regex": "^ls"});
    let hook = answering("tool:pre_execute", &answer);
    world.add(hook.with_when("/tool_args/command", condition).unwrap());
    let fired = |command: String| {
        let event = HookEvent::tool_pre_execute("bash", json!({"command": command}));
        world.submit(event).wait()
    };
    let met = fired("ls src".to_owned());
    assert_eq!(decision(&met), Some(Decision::Allow));
    // A value above 1 MiB is not tested.
    let doubt = fired(format!("rm #{}", "x".repeat(1024 * 1024)));
    assert!(doubt.allowed() && !doubt.grants());
    assert_eq!(decision(&doubt), None);
    assert_eq!(doubt.additional_context(), None);
}

#[test]
fn a_permission_can_be_granted_by_an_answer() {
    let world = World::new();
    world.add(answering(
        "permission:check:ls",
        &json!({"decision": "allow"}),
    ));
    let lifecycle = Lifecycle::new(world.executor.clone());
    let granted = |tool: &str| {
        let request = lifecycle.permission(tool, "execute").hooks_may_grant();
        request.run(|_| false).unwrap()
    };
    assert!(granted("ls") && !granted("rm"));
}

#[test]
fn an_answer_is_observed_too() {
    let world = World::new();
    let blocks = answering("*", &json!({"decision": "block"}));
    world.add(blocks.with_enforce(false));
    let outcome = world.outcome(&HookEvent::tool_pre_execute("bash", "ls"));
    assert!(outcome.allowed());
    assert_eq!(outcome.results()[0].would(), Some(Decision::Block));
}

/// The settings of a process change nothing.
#[test]
fn settings_of_a_process_have_no_effect() {
    let mut output = HookOutput::default();
    output.decision = Some(Decision::Block);
    let hook = Hook::answering("*", output.clone()).unwrap();
    let hook = hook
        .with_background()
        .with_resident()
        .with_working_dir("gone");
    assert!(!hook.background());
    assert_eq!(hook.to_json()["resident"], serde_json::Value::Null);
    let hook = hook
        .with_timeout(std::time::Duration::from_secs(5))
        .with_may([May::Grant]);
    let entry = json!({"event": "*", "answer": {"decision": "block"}});
    assert_eq!(hook.to_json(), entry, "it can be saved and read again");
    let world = World::new();
    assert!(!world.one(hook.clone()).should_continue());
    assert_eq!(hook.command(), r#"{"decision":"block"}"#);
}

#[test]
fn an_empty_answer_and_a_wrong_pattern_are_refused() {
    let mut output = HookOutput::default();
    assert!(Hook::answering("*", output.clone()).is_err());
    output.decision = Some(Decision::Block);
    assert!(Hook::answering("a:", output).is_err());
}

#[test]
fn answers_and_processes_keep_their_order() {
    let world = World::new();
    world.hook("*", "echo first >&2");
    world.add(answering("*", &json!({"additionalContext": "a"})));
    let says = world.says(r#"{"additionalContext": "b"}"#);
    world.add(hook("*", &says));
    world.add(answering("*", &json!({"decision": "block"})));
    world.hook("*", "echo last >&2");
    let event = HookEvent::tool_pre_execute("bash", "ls");
    let outcome = world.outcome(&event);
    assert_eq!(outcome.results().len(), 4);
    assert_eq!(outcome.additional_context().as_deref(), Some("a\nb"));
    let handle = world.submit(event);
    assert_eq!(handle.wait().results().len(), 4);
}

/// The README shows the output of its program on every system.
#[test]
fn the_readme_shows_what_happens() {
    let readme = include_str!("../../README.md").replace("\r\n", "\n");
    let (_, block) = readme.split_once("```json\n").unwrap();
    let world = World::new();
    world.write(
        "config/myagent/hooks.json",
        block.split_once("```").unwrap().0,
    );
    let hooks = Hooks::builder(AppProfile::new("myagent"))
        .config_home(world.path("config"))
        .load();
    assert!(hooks.report().is_ok(), "{}", hooks.report());
    for command in ["ls -la", "sudo reboot"] {
        let event = HookEvent::tool_pre_execute("bash", json!({"command": command}));
        let printed = match hooks.execute(&event).check() {
            Ok(()) => format!("running \"{command}\""),
            Err(blocked) => blocked.to_string(),
        };
        let session = format!("$ myagent \"{command}\"\n{printed}\n");
        assert!(readme.contains(&session), "{session}");
    }
    let event = HookEvent::tool_pre_execute("bash", json!({"command": "git commit -m 'no sudo'"}));
    assert!(hooks.execute(&event).check().is_ok());
}

#[test]
fn answers_are_saved_and_traced() {
    let world = World::new();
    let config = HookConfig::default().with_config_home(world.path("config"));
    let answer = json!({"decision": "ask", "reason": "sure?"});
    let hooks = [answering("*", &answer), hook("*", "exit 0")];
    config.save_global(&hooks).unwrap();
    assert_eq!(config.load_global(), hooks);
    let path = world.path("hooks.jsonl");
    let trace = Arc::new(Trace::builder(&path).build().unwrap());
    let executor = HookExecutor::builder().trace(&trace).build();
    executor.registry().register(answering("*", &answer));
    let _ = executor.execute(&HookEvent::session_start("s"), FireOptions::default());
    assert!(trace.flush(PATIENCE));
    let line: Value = serde_json::from_str(&world.read("hooks.jsonl")).unwrap();
    assert_eq!(line["command"], answer.to_string());
    assert_eq!(
        (&line["decision"], &line["exit_code"]),
        (&json!("ask"), &json!(0))
    );
    assert!(line["pid"].is_null());
}
