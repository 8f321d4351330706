//! Hooks that change a tool's output: they replace, redact or withhold it.

use std::time::Duration;

use forge_hooks::config::TrustPolicy;
use forge_hooks::lifecycle::Next;
use forge_hooks::{FailurePolicy, Hook, HookEvent, Lifecycle, Outcome, compat};
use serde_json::{Value, json};

use crate::config::{FORGE, config};
use crate::support::{PATIENCE, World, blocking_event, custom, hook, hook_of, returns};

const AFTER: &str = "tool:post_execute";

fn event() -> HookEvent {
    HookEvent::tool_post_execute("bash", json!({}), json!("pw=abc"))
}

/// Writes this answer.
fn answers(answer: Value) -> Hook {
    hook(AFTER, &format!("printf %s '{answer}'"))
}

/// Puts one word in the place of another.
fn replaces(word: &str, by: &str) -> String {
    format!("printf '{{\"updatedOutput\":%s}}' \"$FORGE_TOOL_RESULT\" | sed s/{word}/{by}/")
}

/// Writes what it sees of the output.
fn sees() -> Hook {
    let command = "cat >seen.json; printf %s \"$FORGE_TOOL_RESULT\" >seen";
    hook(AFTER, command)
}

fn redacts(command: &str) -> Hook {
    hook(AFTER, command).with_on_failure(FailurePolicy::Withhold)
}

fn fired(hooks: impl IntoIterator<Item = Hook>) -> (World, Outcome) {
    let world = World::new();
    world.registry().load_hooks(hooks);
    let outcome = world.outcome(&event());
    (world, outcome)
}

fn outcome(hooks: impl IntoIterator<Item = Hook>) -> Outcome {
    fired(hooks).1
}

#[test]
fn an_output_is_replaced_by_any_json() {
    for value in [json!("x"), json!(""), json!({"a": [1, null]}), json!(0)] {
        let answered = outcome([answers(json!({"updatedOutput": value}))]);
        assert_eq!(answered.updated_output(), Some(value.clone()));
        let nested = json!({"hookSpecificOutput": {"updatedOutput": value}});
        assert_eq!(outcome([answers(nested)]).updated_output(), Some(value));
    }
}

#[test]
fn redacting_hooks_run_first() {
    let [first, second] = [replaces("abc", "def"), replaces("def", "ghi")];
    let hooks = [
        sees(),
        redacts(&first),
        hook(AFTER, "exit 0"),
        redacts(&second),
    ];
    let (world, outcome) = fired(hooks);
    let output = outcome.updated_output();
    assert_eq!(output, Some(json!("pw=ghi")), "{outcome:?}");
    assert_eq!(world.read("seen"), "\"pw=ghi\"");
    let seen: Value = serde_json::from_str(&world.read("seen.json")).unwrap();
    assert_eq!(seen["data"]["tool_result"], "pw=ghi");
    assert_eq!(outcome.results().len(), 4);
}

/// The beginning of the reason for which each of these hooks fails. It contains nothing that the hook wrote, which
/// may be the output.
const FAILS: &str = r#"
exited with code 3 <- printf %s "$FORGE_TOOL_RESULT"; exit 3
exited with code 3 <- set -x; : "$FORGE_TOOL_RESULT"; exit 3
its answer is invalid <- echo "{\"decision\": $FORGE_TOOL_RESULT}"
its answer is invalid <- printf 'debug\n{"updatedOutput": 1}'
its answer is invalid <- echo '{"updatedoutput": 1}'
its answer is invalid <- echo '{"updated_output": 1}'
its answer is invalid <- echo '{"updatedOutput": '
signal 9 <- kill -9 $$
has not found a command <- /no/such/program
has not found a command <- printf %s "$FORGE_TOOL_RESULT" >&2; exit 127
cannot execute a command <- printf %s "$FORGE_TOOL_RESULT" >&2; exit 126
secret <- echo '{"decision": "block", "reason": "secret"}'
who? <- echo '{"decision": "ask", "reason": "who?"}'
did not redact it <- echo '{"continue": false}'
timed out <- sleep 60
"#;

/// Neither a hook of ours nor one of another agent, which run later, must tell the model what was withheld.
#[test]
fn output_is_withheld_if_redaction_fails() {
    for row in FAILS.trim().lines() {
        let (why, command) = row.split_once(" <- ").unwrap();
        let ours = "printf %s \"$FORGE_TOOL_RESULT\" >seen; echo '{\"updatedOutput\": 1}'";
        let theirs = hook_of(compat::CLAUDE, "PostToolUse", "", "cat >theirs");
        let time = if command == "sleep 60" { 100 } else { 9000 };
        let mask = redacts(command).with_timeout(Duration::from_millis(time));
        let mask = mask.with_name("mask");
        let (world, outcome) = fired([mask, hook(AFTER, ours), theirs]);
        let output = outcome.updated_output().unwrap();
        let note = output.as_str().unwrap();
        let beginning = "[output withheld: hook `mask` did not redact it: ";
        assert!(note.starts_with(beginning), "{command}: {note}");
        let says = [why, "abc"].map(|text| note.contains(text));
        assert_eq!(says, [true, false], "{command}: {note}");
        let seen = std::fs::read_to_string(world.path("seen")).unwrap_or_default();
        assert!(!seen.contains("abc"), "{command}: {seen}");
        let theirs = world.read("theirs");
        assert!(theirs.contains("tool_response"), "{command}: {theirs}");
        assert!(!theirs.contains("pw=abc"), "{command}: {theirs}");
    }
}

#[test]
fn a_cancelled_redaction_withholds() {
    let world = World::new();
    world.add(redacts("echo >reached; sleep 60"));
    let handle = world.submit(event());
    world.await_file("reached");
    handle.cancel();
    let output = handle.wait().updated_output().unwrap();
    assert!(output.as_str().unwrap().contains("cancelled"), "{output}");
}

#[test]
fn a_hook_without_changes_changes_nothing() {
    for command in ["exit 0", "echo", "echo '{\"additionalContext\": \"x\"}'"] {
        let output = outcome([redacts(command)]).updated_output();
        assert_eq!(output, None, "{command}");
    }
}

/// A value that fits no variable is read from standard input.
#[test]
fn a_large_output_is_withheld_or_read() {
    let large = HookEvent::tool_post_execute("bash", json!({}), "x".repeat(300_000));
    let redactor = || redacts("wc -c >length");
    for (hook, withheld) in [(redactor(), true), (redactor().reading_stdin(), false)] {
        let world = World::new();
        world.add(hook);
        let output = world.outcome(&large).updated_output();
        assert_eq!(output.is_some(), withheld, "{output:?}");
        if !withheld {
            let length: usize = world.read("length").trim().parse().unwrap();
            assert!(length > 300_000);
        }
    }
}

#[test]
fn the_output_of_other_events_is_not_replaced() {
    let world = World::new();
    world.hook("*", "echo '{\"updatedOutput\": 1}'");
    for event in [blocking_event(), custom("x:y")] {
        assert_eq!(world.outcome(&event).updated_output(), None);
    }
    // There it blocks.
    let hook = hook("*", "exit 1").with_on_failure(FailurePolicy::Withhold);
    assert!(!world.run(hook, &blocking_event()).should_continue());
}

/// The effect on the output, the effect on a call, and the text of a file. `POST` is a whole hook but for the end.
const BROKEN: &str = r#"
withholds passes {"hooks": [POST, "timeout": "x", "on_failure": "withhold"}]}
withholds passes {"hooks": [POST, "background": true, "on_failure": "withhold"}]}
withholds passes {"hooks": [POST, "on_failure": "withold"}]}
withholds passes {"hooks": [POST, "on_failure": 1}]}
shows passes {"hooks": [POST, "timeout": "x"}]}
shows passes {"hooks": [POST, "timeout": "x", "on_failure": "continue"}]}
withholds blocks {"hooks": [{"event": "tool:pre_execute", "command": "exit 0", "on_failure": "withold"}]}
withholds blocks {"hooks": [
withholds blocks {"hooks": {}}
withholds blocks {"hooks": [7]}
"#;

/// An illegible entry may have been a hook that withholds.
#[test]
fn a_broken_file_withholds() {
    for row in BROKEN.trim().lines() {
        let parts: Vec<_> = row.splitn(3, ' ').collect();
        let post = r#"{"event": "tool:post_execute", "command": "exit 0""#;
        let world = World::new();
        world.write(FORGE, &parts[2].replace("POST", post));
        let policy = TrustPolicy::Everything;
        let report = config(&world).load_into(world.registry(), world.directory(), policy);
        assert!(!report.is_ok(), "{row}");
        let output = world.outcome(&event()).updated_output();
        assert_eq!(output.is_some(), parts[0] == "withholds", "{row}");
        let allowed = world.outcome(&blocking_event()).allowed();
        assert_eq!(allowed, parts[1] == "passes", "{row}");
    }
}

/// It never sees what was redacted before it.
#[test]
fn a_hook_in_the_background_sees_what_hooks_before_it_have_left() {
    let hooks = [sees().with_background(), redacts(&replaces("abc", "x"))];
    let (world, _) = fired(hooks);
    assert!(world.executor.shutdown(PATIENCE));
    assert_eq!(world.read("seen"), r#""pw=x""#);
    assert!(!world.read("seen.json").contains("abc"));
}

/// The model must not get the output before the hook has ended.
#[test]
fn a_redacting_hook_is_not_in_the_background() {
    let hook = redacts("exit 1").with_background();
    assert!(!hook.background());
    assert!(outcome([hook]).updated_output().is_some());
}

#[test]
fn a_tool_run_has_the_output_for_the_model() {
    for waits in [true, false] {
        let world = World::new();
        let answer = world.says("{\"updatedOutput\": \"masked\"}");
        world.add(redacts(&answer));
        let hooks = Lifecycle::new(world.executor.clone());
        let hooks = if waits {
            hooks
        } else {
            hooks.without_waiting()
        };
        let tool = || hooks.tool("bash", json!({}));
        let go_on = |text: &str| Next::GoOn(text.to_owned());
        let run = tool().run(returns("pw=abc"));
        assert_eq!(run.output_json(), Some(&json!("masked")), "{waits}");
        assert_eq!(run.next, go_on("masked"));
        let permit = tool().permit().unwrap();
        let called = permit.run_async(|_, _| async { Ok::<_, String>("pw=abc") });
        assert_eq!(pollster::block_on(called).next, go_on("masked"));
        world.registry().clear();
        assert_eq!(tool().run(returns("pw=abc")).next, go_on("pw=abc"));
        let run = tool().run(|permit| permit.run(|_, _| Err::<String, _>("no")));
        assert!(run.is_error && run.output_json().is_none());
        assert_eq!(run.next, go_on("no"));
        assert_eq!(tool().run(returns([1, 2])).next, go_on("[1,2]"));
    }
}

/// No more of an output is kept than the executor's limit; half an answer is none.
#[test]
fn an_answer_that_is_too_long_withholds() {
    let long = "printf '{\"updatedOutput\": \"%1100000s\"}'";
    for hook in [
        redacts(long),
        hook(AFTER, long),
        answers(json!({"updatedOutput": null})),
    ] {
        let outcome = outcome([hook, answers(json!({"updatedOutput": "seen"}))]);
        let note = outcome.updated_output().unwrap();
        assert!(note.as_str().unwrap().contains("is invalid"), "{note}");
        assert_eq!(
            outcome.results().len(),
            2,
            "no answer silences another hook"
        );
    }
}

/// The output of the hook decides nothing, so its exit code does.
#[test]
#[cfg(unix)]
fn an_output_is_withheld_if_a_hook_of_another_agent_crashes() {
    for command in [
        "echo '{}'; exit 1",
        "echo '{}'; kill -9 $$",
        "echo boom; exit 1",
    ] {
        let hook = hook_of(compat::CLAUDE, "PostToolUse", "", command);
        let hook = hook.with_on_failure(FailurePolicy::Withhold);
        let output = outcome([hook]).updated_output().unwrap_or_default();
        assert!(
            output.to_string().contains("output withheld"),
            "{command}: {output}"
        );
    }
}
