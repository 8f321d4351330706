//! What hooks make of a tool's output: replaced, redacted, withheld.

use std::time::Duration;

use forge_hooks::config::TrustPolicy;
use forge_hooks::hook::Reads;
use forge_hooks::{
    AppProfile, FailurePolicy, FireOptions, Hook, HookConfig, HookEvent, Hooks, Lifecycle, Outcome,
    compat,
};
use serde_json::{Value, json};

use crate::support::{World, custom, hook};

const AFTER: &str = "tool:post_execute";

fn event() -> HookEvent {
    HookEvent::tool_post_execute("bash", json!({}), json!("pw=abc"))
}

/// Writes this answer.
fn answers(answer: Value) -> Hook {
    hook(AFTER, &format!("printf %s '{answer}'"))
}

/// Puts this in the place of `abc`.
fn replaces(word: &str) -> Hook {
    let edit =
        format!("printf '{{\"updatedOutput\":%s}}' \"$FORGE_TOOL_RESULT\" | sed s/abc/{word}/");
    hook(AFTER, &edit)
}

fn redacts(command: &str) -> Hook {
    hook(AFTER, command).with_on_failure(FailurePolicy::Withhold)
}

fn outcome(hooks: impl IntoIterator<Item = Hook>, options: FireOptions) -> Outcome {
    let world = World::new();
    for hook in hooks {
        world.registry().register(hook);
    }
    world.executor.execute(&event(), options)
}

/// In sequence, and all at once.
fn both_ways() -> [FireOptions; 2] {
    [FireOptions::default(), FireOptions::default().parallel()]
}

#[test]
fn an_output_is_replaced_by_any_json() {
    for value in [json!("x"), json!(""), json!({"a": [1, null]}), json!(null)] {
        for options in both_ways() {
            let outcome = outcome([answers(json!({"updatedOutput": value}))], options);
            assert_eq!(outcome.updated_output(), Some(value.clone()), "{outcome:?}");
        }
        let nested = json!({"hookSpecificOutput": {"updatedOutput": value}});
        let outcome = outcome([answers(nested)], FireOptions::default());
        assert_eq!(outcome.updated_output(), Some(value));
    }
    let none = outcome([answers(json!({"reason": "x"}))], FireOptions::default());
    assert_eq!(none.updated_output(), None);
}

#[test]
fn each_hook_sees_what_the_one_before_left() {
    let seen = hook(
        AFTER,
        "cat >seen.json; printf %s \"$FORGE_TOOL_RESULT\" >seen",
    );
    let world = World::new();
    let second = answers(json!({"updatedOutput": "x"})).with_on_failure(FailurePolicy::Continue);
    for hook in [
        replaces("def"),
        seen,
        second,
        hook(AFTER, "printf %s \"$FORGE_TOOL_RESULT\" >last"),
    ] {
        world.registry().register(hook);
    }
    let outcome = world.outcome(&event());
    assert_eq!(outcome.updated_output(), Some(json!("x")), "{outcome:?}");
    assert_eq!(world.read("seen"), "\"pw=def\"");
    let seen: Value = serde_json::from_str(&world.read("seen.json")).unwrap();
    assert_eq!(seen["data"]["tool_result"], "pw=def");
    assert_eq!(world.read("last"), "\"x\"");
}

#[test]
fn at_once_the_last_one_wins() {
    let hooks = [
        answers(json!({"updatedOutput": 1})),
        answers(json!({"updatedOutput": 2})),
        hook(AFTER, "exit 0"),
    ];
    let outcome = outcome(hooks, FireOptions::default().parallel());
    assert_eq!(outcome.updated_output(), Some(json!(2)));
}

#[test]
fn redacting_hooks_run_first() {
    for options in both_ways() {
        let world = World::new();
        let sees = hook(AFTER, "printf %s \"$FORGE_TOOL_RESULT\" >seen");
        let edit = "printf '{\"updatedOutput\":%s}' \"$FORGE_TOOL_RESULT\" | sed s/abc/def/";
        let again = "printf '{\"updatedOutput\":%s}' \"$FORGE_TOOL_RESULT\" | sed s/def/ghi/";
        for hook in [sees, redacts(edit), hook(AFTER, "exit 0"), redacts(again)] {
            world.registry().register(hook);
        }
        let outcome = world.executor.execute(&event(), options);
        assert_eq!(
            outcome.updated_output(),
            Some(json!("pw=ghi")),
            "{outcome:?}"
        );
        assert_eq!(world.read("seen"), "\"pw=ghi\"");
        assert_eq!(outcome.results().len(), 4);
    }
}

#[test]
fn output_is_withheld_if_redaction_fails() {
    for (command, why) in [
        ("exit 3", "exited with code 3"),
        // Nothing that it wrote is shown: it may be the output.
        (
            "printf %s \"$FORGE_TOOL_RESULT\"; exit 3",
            "exited with code 3",
        ),
        (
            "set -x; : \"$FORGE_TOOL_RESULT\"; exit 3",
            "exited with code 3",
        ),
        (
            "echo \"{\\\"decision\\\": $FORGE_TOOL_RESULT}\"",
            "its answer is invalid",
        ),
        ("echo plain text", "its answer is invalid"),
        (
            "printf 'debug\n{\"updatedOutput\": 1}'",
            "its answer is invalid",
        ),
        ("echo '{\"updatedoutput\": 1}'", "its answer is invalid"),
        ("echo '{\"updated_output\": 1}'", "its answer is invalid"),
        ("kill -9 $$", "signal 9"),
        ("/no/such/program", "not found"),
        ("echo '{\"updatedOutput\": '", "its answer is invalid"),
        (
            "echo '{\"decision\": \"block\", \"reason\": \"secret\"}'",
            "secret",
        ),
        (
            "echo '{\"decision\": \"ask\", \"reason\": \"who?\"}'",
            "who?",
        ),
        ("sleep 60", "timed out"),
    ] {
        for options in both_ways() {
            let world = World::new();
            let hook = redacts(command)
                .with_name("mask")
                .with_timeout(Duration::from_millis(300));
            world.registry().register(hook);
            let late = "printf %s \"$FORGE_TOOL_RESULT\" >seen; echo '{\"updatedOutput\": 1}'";
            world.hook(AFTER, late);
            let outcome = world.executor.execute(&event(), options);
            let output = outcome.updated_output().unwrap();
            let note = output.as_str().unwrap();
            assert!(
                note.starts_with("[output withheld: hook `mask` did not redact it: ")
                    && note.contains(why)
                    && !note.contains("abc"),
                "{command}: {note}"
            );
            let seen = std::fs::read_to_string(world.path("seen")).unwrap_or_default();
            assert!(!seen.contains("abc"), "{seen}");
        }
    }
}

/// Hooks of other tools run after this crate's own, and must not tell the model what was withheld.
#[cfg(unix)]
#[test]
fn hooks_of_other_tools_get_the_note() {
    let says = |answer: Value| format!("echo '{answer}'");
    for command in [
        "exit 3".to_owned(),
        "kill -KILL $$".to_owned(),
        "./missing.sh".to_owned(),
        "sleep 60".to_owned(),
        "echo text".to_owned(),
        says(json!({"decision": "block", "reason": "no"})),
        says(json!({"decision": "ask"})),
        says(json!({"continue": false})),
        says(json!({"updatedoutput": 1})),
        says(json!({"continue": false, "updatedOutput": "clean"})),
    ] {
        for options in both_ways() {
            let world = World::new();
            let sees = r#"printf '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"%s"}}' "$(tr -d '"' | tr -d '\\\\')""#;
            let settings = json!({"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": sees}]}]}});
            world.write("project/.claude/settings.json", &settings.to_string());
            let hooks = Hooks::builder(AppProfile::new("myagent"))
                .config_home(world.path("config"))
                .project(world.path("project"))
                .other_tools([compat::CLAUDE])
                .trust(TrustPolicy::Everything)
                .load();
            hooks
                .registry()
                .register(redacts(&command).with_timeout(Duration::from_millis(300)));
            let outcome = hooks.execute_with(&event(), options);
            let context = outcome.additional_context().unwrap_or_default();
            assert!(context.contains("tool_response"), "{command}: {outcome:?}");
            assert!(!context.contains("pw=abc"), "{command}: {context}");
            assert_ne!(outcome.updated_output(), None, "{command}");
        }
    }
}

#[test]
fn a_cancelled_redaction_withholds() {
    let world = World::new();
    let hook = redacts("echo >reached; sleep 60").with_name("mask");
    world.registry().register(hook);
    let handle = world.submit(event());
    world.await_file("reached");
    handle.cancel();
    let output = handle.wait().updated_output().unwrap();
    assert!(output.as_str().unwrap().contains("cancelled"), "{output}");
}

#[test]
fn a_hook_without_changes_changes_nothing() {
    for command in ["exit 0", "echo", "echo '{\"additionalContext\": \"x\"}'"] {
        let outcome = outcome([redacts(command)], FireOptions::default());
        assert_eq!(outcome.updated_output(), None, "{outcome:?}");
    }
}

/// A value that fits no variable is read from standard input.
#[test]
fn a_large_output_is_withheld_or_read() {
    let large = HookEvent::tool_post_execute("bash", json!({}), "x".repeat(300_000));
    for (reads, withheld) in [(Reads::Environment, true), (Reads::Stdin, false)] {
        let world = World::new();
        world
            .registry()
            .register(redacts("exit 0").with_reads(reads));
        let output = world.outcome(&large).updated_output();
        assert_eq!(output.is_some(), withheld, "{output:?}");
    }
}

#[test]
fn the_output_of_other_events_is_not_replaced() {
    let world = World::new();
    world.hook("*", "echo '{\"updatedOutput\": 1}'");
    for event in [
        HookEvent::tool_pre_execute("bash", json!({})),
        custom("x:y"),
    ] {
        assert_eq!(world.outcome(&event).updated_output(), None);
    }
    // There it blocks.
    world.registry().clear();
    let hook = hook("*", "exit 1").with_on_failure(FailurePolicy::Withhold);
    world.registry().register(hook);
    assert!(
        !world
            .outcome(&HookEvent::tool_pre_execute("bash", json!({})))
            .allowed()
    );
}

/// What is not legible may have been a hook that withholds.
#[test]
fn a_broken_file_withholds() {
    let entry = |rest: &str| {
        format!(r#"{{"hooks": [{{"event": "tool:post_execute", "command": "exit 0", {rest}}}]}}"#)
    };
    for (text, withholds, blocks) in [
        (
            entry(r#""timeout": "x", "on_failure": "withhold""#),
            true,
            false,
        ),
        (
            entry(r#""background": true, "on_failure": "withhold""#),
            true,
            false,
        ),
        (entry(r#""on_failure": "withold""#), true, false),
        (entry(r#""on_failure": 1"#), true, false),
        (entry(r#""timeout": "x""#), false, false),
        (
            entry(r#""timeout": "x", "on_failure": "continue""#),
            false,
            false,
        ),
        (r#"{"hooks": ["#.to_owned(), true, true),
        (r#"{"hooks": {}}"#.to_owned(), true, true),
        (r#"{"hooks": [7]}"#.to_owned(), true, true),
    ] {
        let world = World::new();
        world.write("config/src/forge/hooks.json", &text);
        let config = HookConfig::default().with_config_home(world.path("config"));
        let policy = TrustPolicy::Everything;
        let report = config.load_into(world.registry(), world.directory(), policy);
        assert!(!report.is_ok(), "{text}");
        let output = world.outcome(&event()).updated_output();
        assert_eq!(output.is_some(), withholds, "{text}: {output:?}");
        let before = HookEvent::tool_pre_execute("bash", json!({}));
        assert_eq!(!world.outcome(&before).allowed(), blocks, "{text}");
    }
}

/// The model must not get the output before the hook has ended.
#[test]
fn a_redacting_hook_is_not_in_the_background() {
    let hook = redacts("exit 1").with_background();
    assert!(!hook.background());
    let output = outcome([hook], FireOptions::default()).updated_output();
    assert!(output.is_some());
}

#[test]
fn a_tool_run_has_the_output_for_the_model() {
    for waits in [true, false] {
        let world = World::new();
        world
            .registry()
            .register(redacts("echo '{\"updatedOutput\": \"masked\"}'"));
        let hooks = Lifecycle::new(world.executor.clone());
        let hooks = if waits {
            hooks
        } else {
            hooks.without_waiting()
        };
        let run = hooks
            .tool("bash", json!({}))
            .run(|_| Ok::<_, String>("pw=abc"))
            .unwrap();
        assert_eq!(run.output_json(), Ok(json!("masked")), "{waits}");
        assert_eq!(run.output().unwrap(), "masked");
        world.registry().clear();
        let run = hooks
            .tool("bash", json!({}))
            .run(|_| Ok::<_, String>("pw=abc"))
            .unwrap();
        assert_eq!(run.output_json(), Ok(json!("pw=abc")));
        let run = hooks
            .tool("bash", json!({}))
            .run(|_| Err::<String, _>("no"))
            .unwrap();
        assert_eq!(run.output(), Err(&"no"));
        let run = hooks
            .tool("bash", json!({}))
            .run(|_| Ok::<_, String>([1, 2]))
            .unwrap();
        assert_eq!(run.output().unwrap(), "[1,2]");
    }
}

/// No more of an output is kept than the executor's limit; half an answer is none.
#[test]
fn an_answer_that_is_too_long_withholds() {
    let long =
        "head -c 10485760 /dev/zero | tr '\\0' x | sed 's/^/{\"updatedOutput\": \"/; s/$/\"}/'";
    let note = outcome([redacts(long)], FireOptions::default()).updated_output();
    assert!(note.is_some_and(|note| note.as_str().unwrap().contains("is invalid")));
    let plain = outcome([hook(AFTER, long)], FireOptions::default());
    assert_eq!(plain.updated_output(), None);
}

/// The event carries it on standard input.
#[test]
fn an_output_of_ten_mebibytes_is_redacted() {
    let world = World::new();
    let command = "wc -c | sed 's/^ *//; s/.*/{\"updatedOutput\": &}/'";
    world
        .registry()
        .register(redacts(command).with_reads(Reads::Stdin));
    let large = HookEvent::tool_post_execute("bash", json!({}), "x".repeat(10 << 20));
    let output = world.outcome(&large).updated_output();
    assert!(
        output
            .and_then(|it| it.as_u64())
            .is_some_and(|it| it > 10 << 20)
    );
}
