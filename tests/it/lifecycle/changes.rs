//! Each hook receives what the hooks before it have left. Behind a change, the hooks before it run again.
#![cfg(unix)]

use forge_hooks::hook::May;
use forge_hooks::{Decision, FireOptions, HookBlockedError};
use serde_json::{Value, json};

use super::{Host, PRE};
use crate::support::{World, hook};

/// A hook that adds a word to a command that ends with another one.
fn adds(word: &str, to: &str) -> String {
    format!(
        r#"c=${{FORGE_TOOL_ARGS#*:\"}}; c=${{c%%\"*}}
        case "$c" in *{to}) echo "{{\"updatedInput\": {{\"command\": \"$c {word}\"}}}}";; esac"#
    )
}

/// A hook that sets this, whatever it gets.
fn sets(input: &Value) -> String {
    format!("echo '{}'", json!({"updatedInput": input}))
}

fn host(hooks: &[(&str, String)]) -> Host {
    let host = Host::with([]);
    for (name, command) in hooks {
        host.world.add(hook(PRE, command).with_name(*name));
    }
    host
}

fn call(host: &Host) -> Result<Value, HookBlockedError> {
    let hooks = host.lifecycle();
    let call = hooks.tool("bash", json!({"command": "ls"}));
    Ok(call.permit()?.args().clone())
}

/// Two hooks in this order, and what becomes of the call: its arguments, or the hook that blocks and the one behind which it
/// belongs.
#[test]
fn two_hooks_that_change_a_call() {
    let masks = sets(&json!({"command": "ls [masked]"}));
    let copies = sets(&json!({"command": "ls"}));
    let limits = sets(&json!({"timeout": 9}));
    let boxes = r#"case $FORGE_TOOL_ARGS in *-l*) echo '{"updatedInput": {"box": true}}';; esac"#;
    let lists = adds("-l", "ls");
    for (first, second, expected) in [
        (
            &lists,
            &adds("-a", "-l"),
            Ok(json!({"command": "ls -l -a"})),
        ),
        (
            &lists,
            &boxes.to_owned(),
            Ok(json!({"command": "ls -l", "box": true})),
        ),
        (&boxes.to_owned(), &lists, Err(["first", "second"])),
        (
            &adds("# boxed", ""),
            &lists,
            Ok(json!({"command": "ls # boxed"})),
        ),
        (
            &lists,
            &adds("# boxed", ""),
            Ok(json!({"command": "ls -l # boxed"})),
        ),
        (
            &adds("+", ""),
            &"exit 0".to_owned(),
            Ok(json!({"command": "ls +"})),
        ),
        (
            &limits,
            &adds("+", ""),
            Ok(json!({"command": "ls +", "timeout": 9})),
        ),
        (&adds("+", ""), &limits, Err(["first", "second"])),
        (&masks, &masks, Ok(json!({"command": "ls [masked]"}))),
        // One puts back what the other one has changed.
        (&masks, &copies, Err(["first", "second"])),
        (&copies, &masks, Err(["first", "second"])),
    ] {
        let host = host(&[("first", first.clone()), ("second", second.clone())]);
        match (call(&host), expected) {
            (Ok(args), Ok(expected)) => assert_eq!(args, expected, "{first} | {second}"),
            (Err(blocked), Err([hook, behind])) => {
                assert_eq!(blocked.result.decision(), Decision::Block);
                assert_eq!(blocked.result.hook().label(), hook);
                let reason = blocked.result.reason().unwrap();
                let advice = format!("put `{hook}` behind `{behind}`");
                assert!(reason.contains(&advice), "{reason}");
            }
            (found, expected) => panic!("{first} | {second}: {found:?}, not {expected:?}"),
        }
    }
}

/// A guard sees the final call, wherever it stands, and also if its condition did not match before.
#[test]
fn a_guard_sees_what_is_run() {
    let changes = || {
        let changes = hook(PRE, &sets(&json!({"command": "rm -r build"})));
        changes.with_name("changes")
    };
    let guard = |is_conditional: bool| {
        let guard = hook(
            PRE,
            "echo >>runs; case $FORGE_TOOL_ARGS in *rm*) echo no; exit 1;; esac",
        );
        let guard = guard.with_name("guard");
        if is_conditional {
            return guard.with_when("/tool_args/command", "rm *").unwrap();
        }
        guard
    };
    for is_conditional in [true, false] {
        for guards_first in [true, false] {
            let host = Host::with([]);
            let mut both = vec![guard(is_conditional), changes()];
            if !guards_first {
                both.reverse();
            }
            host.world.registry().load_hooks(both);
            let blocked = call(&host).unwrap_err();
            assert_eq!(blocked.to_string(), "blocked by hook `guard`: no");
            let runs = if guards_first && !is_conditional {
                2
            } else {
                1
            };
            assert_eq!(host.world.read("runs").lines().count(), runs);
        }
    }
}

/// The result of a hook is that of its last run.
#[test]
fn an_answer_to_another_call_is_void() {
    let host = Host::with([]);
    let grants = host
        .world
        .says(r#"{"decision": "allow", "additionalContext": "before"}"#);
    let grants = hook(PRE, &grants).with_may([May::Grant]);
    let grants = grants.with_when("/tool_args/command", "ls").unwrap();
    host.world.add(grants);
    let options = FireOptions::new().applies_updates();
    let event = forge_hooks::HookEvent::tool_pre_execute("bash", json!({"command": "ls"}));
    assert!(
        host.world
            .executor
            .execute(&event, options.clone())
            .grants()
    );
    host.world.hook(PRE, &sets(&json!({"command": "ls -l"})));
    let outcome = host.world.executor.execute(&event, options);
    assert!(outcome.allowed() && !outcome.grants());
    assert_eq!(outcome.additional_context(), None);
    assert_eq!(outcome.updated_input().unwrap()["command"], "ls -l");
}

/// Background hooks start once, with the event that is run; if it is blocked, with the event of their turn.
#[test]
fn a_background_hook_receives_the_final_event_once() {
    for (blocks, expected) in [("exit 0", "ls -l"), ("exit 1", "ls")] {
        let world = World::new();
        let logs = r#"printf '%s\n' "$FORGE_TOOL_ARGS" >>log"#;
        world.add(hook(PRE, logs).with_background());
        world.hook(PRE, &sets(&json!({"command": "ls -l"})));
        world.hook(PRE, blocks);
        let options = FireOptions::new().applies_updates();
        let event = forge_hooks::HookEvent::tool_pre_execute("bash", json!({"command": "ls"}));
        let outcome = world.executor.execute(&event, options);
        assert_eq!(outcome.allowed(), expected == "ls -l");
        assert!(world.executor.shutdown(crate::support::PATIENCE));
        assert_eq!(
            world.read("log"),
            format!("{}\n", json!({"command": expected}))
        );
    }
}

/// The output that a hook withholds is not logged by one that stands before it in the file.
#[test]
fn an_output_is_withheld_before_it_is_logged() {
    let world = World::new();
    world.hook(
        "tool:post_execute",
        r#"printf %s "$FORGE_TOOL_RESULT" >log"#,
    );
    let withholds = hook("tool:post_execute", "exit 1");
    world.add(withholds.with_on_failure(forge_hooks::FailurePolicy::Withhold));
    let event = forge_hooks::HookEvent::tool_post_execute("bash", "ls", "secret");
    let options = FireOptions::new().stop_on_failure(false);
    let outcome = world.executor.execute(&event, options);
    assert!(
        outcome
            .updated_output()
            .unwrap()
            .to_string()
            .contains("withheld")
    );
    assert!(!world.read("log").contains("secret"));
}

#[test]
fn a_change_of_the_wrong_type_blocks() {
    let host = Host::with([]);
    let answers = [
        ("redacts", json!({"updatedInput": {"content": "clean"}})),
        ("broken", json!({"updatedInput": {"content": 5}})),
    ];
    for (name, answer) in answers {
        let command = format!("echo '{answer}'");
        host.world
            .add(hook("user:prompt_submit", &command).with_name(name));
    }
    let session = host.lifecycle().session("s1").begin().unwrap();
    let blocked = session.prompt("secret").begin().unwrap_err();
    let reason = blocked.result.reason().unwrap();
    assert!(
        reason.contains("`content`: expected a string, found a number"),
        "{reason}"
    );
}

#[test]
fn messages_are_changed_one_after_the_other() {
    let host = Host::with([]);
    for (from, to) in [("[1]", "[1,2]"), ("[1,2]", "[1,2,3]")] {
        let command = format!(
            r#"test "$FORGE_MESSAGES" != '{from}' || echo '{{"updatedInput": {{"messages": {to}}}}}'"#
        );
        host.world.hook("llm:pre_request", &command);
    }
    let request = host.lifecycle().llm("m", 1).with_messages([json!(1)]);
    let call = request.begin().unwrap();
    assert_eq!(call.messages(), Some(&[json!(1), json!(2), json!(3)][..]));
}

#[test]
fn a_guard_sees_changed_messages() {
    let host = Host::with([]);
    for (name, command) in [
        (
            "guard",
            "test $FORGE_MESSAGE_COUNT != 1 || { echo too short; exit 1; }",
        ),
        (
            "shortens",
            r#"echo '{"updatedInput": {"messages": ["hi"]}}'"#,
        ),
    ] {
        host.world
            .add(hook("llm:pre_request", command).with_name(name));
    }
    let request = host.lifecycle().llm("m", 2);
    let request = request.with_messages([json!("long"), json!("hi")]);
    let blocked = request.begin().unwrap_err();
    assert_eq!(blocked.to_string(), "blocked by hook `guard`: too short");
}

/// A hook of Claude Code replaces the whole input, and so what another hook has added to it.
#[test]
fn a_change_that_another_hook_takes_back_blocks() {
    let specific = json!({"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"command": "ls -v"}});
    let answer = json!({ "hookSpecificOutput": specific });
    let host = host(&[("boxes", sets(&json!({"sandbox": true})))]);
    let command = format!("printf '%s' '{answer}'");
    let claude = crate::support::hook_of(forge_hooks::compat::CLAUDE, "PreToolUse", "", &command);
    host.world.add(claude);
    let blocked = call(&host).unwrap_err();
    assert_eq!(blocked.result.hook().label(), "boxes");
}
