//! Hooks see what other hooks have changed, and may not change it once more: that change would be lost.
#![cfg(unix)]

use forge_hooks::{Decision, HookBlockedError};
use serde_json::{Value, json};

use super::{Host, PRE};
use crate::support::hook;

/// A hook that adds a word to a command which has another one.
fn adds(word: &str, to: &str) -> String {
    format!(
        r#"c=${{FORGE_TOOL_ARGS#*:\"}}; c=${{c%%\"*}}
        case "$c" in *{to}) echo "{{\"updatedInput\": {{\"command\": \"$c {word}\"}}}}";; esac"#
    )
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
    Ok(call.run(|permit| Ok::<_, String>(permit.into_args()))?.args)
}

#[test]
fn a_change_of_a_changed_call_blocks() {
    let host = host(&[("first", adds("-l", "ls")), ("second", adds("-a", "-l"))]);
    let blocked = call(&host).unwrap_err();
    assert_eq!(blocked.result.decision(), Decision::Block);
    let reason = blocked.result.reason().unwrap();
    assert!(
        reason.contains("`second`") && reason.contains("`first`"),
        "{reason}"
    );
    assert_eq!(blocked.result.hook.label(), "second");
}

/// The second one has replaced the change of the first one, which would make it once more.
#[test]
fn a_change_that_was_replaced_blocks() {
    let host = host(&[
        ("wraps", adds("# in a box", "")),
        ("lists", adds("-l", "ls")),
    ]);
    let reason = call(&host).unwrap_err().result.reason().unwrap().to_owned();
    assert!(
        reason.contains("`wraps`") && reason.contains("`lists`"),
        "{reason}"
    );
}

#[test]
fn the_only_hook_that_changes_a_call_changes_it_once() {
    let host = host(&[("counts", adds("+", "")), ("looks", "exit 0".to_owned())]);
    assert_eq!(call(&host).unwrap(), json!({"command": "ls +"}));
}

/// Another hook has changed something else.
#[test]
fn what_a_hook_alone_has_set_it_changes_once() {
    let limits = r#"echo '{"updatedInput": {"timeout": 9}}'"#.to_owned();
    let host = host(&[("counts", adds("+", "")), ("limits", limits)]);
    assert_eq!(
        call(&host).unwrap(),
        json!({"command": "ls +", "timeout": 9})
    );
}

/// A guard that would confine what another hook has put in.
#[test]
fn a_reaction_to_a_change_blocks() {
    let confines =
        r#"case $FORGE_TOOL_ARGS in *-l*) echo '{"updatedInput": {"sandbox": true}}';; esac"#;
    for own in ["", r#"echo '{"updatedInput": {"cwd": "/"}}'; exit 0; "#] {
        let confines = confines.replace(";; esac", &format!(";; *) {own} ;; esac"));
        let host = host(&[("lists", adds("-l", "ls")), ("confines", confines)]);
        let reason = call(&host).unwrap_err().result.reason().unwrap().to_owned();
        assert!(
            reason.contains("`confines`") && reason.contains("`lists`"),
            "{reason}"
        );
    }
}

#[test]
fn the_same_change_is_none() {
    let says = r#"echo '{"updatedInput": {"command": "ls -l"}}'"#;
    let host = host(&[("one", says.to_owned()), ("other", format!("{says} "))]);
    assert_eq!(call(&host).unwrap(), json!({"command": "ls -l"}));
}

/// Says this, whatever it gets.
fn says(command: &str) -> String {
    let answer = json!({"updatedInput": {"command": command}});
    format!("echo '{answer}'")
}

/// Many hooks always answer with an input, changed or not.
#[test]
fn a_change_that_is_put_back_blocks() {
    for (back, named) in [
        (says("ls"), true),
        // Another change does not hide it.
        (
            r#"echo '{"updatedInput": {"command": "ls", "x": 1}}'"#.to_owned(),
            true,
        ),
        (r#"echo '{"updatedInput": {"x": 1}}'"#.to_owned(), false),
    ] {
        let host = host(&[("redacts", says("ls [masked]")), ("copies", back.clone())]);
        match call(&host) {
            Err(blocked) => {
                let reason = blocked.result.reason().unwrap();
                assert!(
                    named && reason.contains("`redacts`") && reason.contains("`copies`"),
                    "{reason}"
                );
            }
            Ok(args) => {
                assert!(!named, "{back}: {args}");
                assert_eq!(args, json!({"command": "ls [masked]", "x": 1}));
            }
        }
    }
    // It would put the old value back in the second pass.
    let host = host(&[("copies", says("ls")), ("redacts", says("ls [masked]"))]);
    assert!(call(&host).is_err());
}

#[test]
fn a_prompt_that_is_no_text_blocks() {
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
fn messages_are_changed_by_one_hook_too() {
    let host = Host::with([]);
    for (name, from, to) in [("first", "[1]", "[1,2]"), ("second", "[1,2]", "[1,2,3]")] {
        let command = format!(
            r#"test "$FORGE_MESSAGES" != '{from}' || echo '{{"updatedInput": {{"messages": {to}}}}}'"#
        );
        host.world
            .add(hook("llm:pre_request", &command).with_name(name));
    }
    let request = host.lifecycle().llm("m", 1).with_messages([json!(1)]);
    let blocked = request.begin().unwrap_err();
    let reason = blocked.result.reason().unwrap();
    assert!(
        reason.contains("`second`") && reason.contains("`first`"),
        "{reason}"
    );
}

#[test]
fn a_guard_sees_changed_messages() {
    let host = Host::with([]);
    for (name, command) in [
        (
            "shortens",
            r#"echo '{"updatedInput": {"messages": ["hi"]}}'"#,
        ),
        (
            "guard",
            "test $FORGE_MESSAGE_COUNT != 1 || { echo too short; exit 1; }",
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

#[test]
fn a_prompt_is_changed_by_one_hook_too() {
    let host = Host::with([]);
    let adds = |word: &str, to: &str| {
        format!(
            r#"case $FORGE_CONTENT in *{to}) echo '{{"updatedInput": {{"content": "hi {word}"}}}}';; esac"#
        )
    };
    for (name, command) in [
        ("first", adds("there", "hi")),
        ("second", adds("you", "there")),
    ] {
        host.world
            .add(hook("user:prompt_submit", &command).with_name(name));
    }
    let session = host.lifecycle().session("s1").begin().unwrap();
    let blocked = session.prompt("hi").begin().unwrap_err();
    let reason = blocked.result.reason().unwrap();
    assert!(
        reason.contains("`second`") && reason.contains("`first`"),
        "{reason}"
    );
}

/// A hook of Claude Code replaces the whole input, and so what another hook has added to it. And of two changes of one hook,
/// one may be left and the other not.
#[test]
fn a_change_that_another_hook_takes_back_blocks() {
    let adds_input = |input: Value| json!({"updatedInput": input}).to_string();
    let replaces = |input: Value| {
        let specific = json!({"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": input});
        json!({"hookSpecificOutput": specific}).to_string()
    };
    for last in [json!({"command": "ls"}), json!({"command": "ls -v"})] {
        let host = host(&[("boxes", adds_input(json!({"sandbox": true})))].map(
            |(name, answer)| {
                let answer = format!("printf '%s' '{answer}'");
                (name, answer)
            },
        ));
        let claude = crate::support::hook_of(
            forge_hooks::compat::CLAUDE,
            "PreToolUse",
            "",
            &format!("printf '%s' '{}'", replaces(last)),
        );
        host.world.add(claude);
        let blocked = call(&host).unwrap_err();
        assert!(
            blocked.result.reason().unwrap().contains("`boxes`"),
            "{blocked}"
        );
    }
    let wraps = adds_input(json!({"command": "sandbox ls", "wrapped": true}));
    let limits = adds_input(json!({"command": "ls", "timeout": 5}));
    let says = |answer: &str| format!("printf '%s' '{answer}'");
    let host = host(&[("wraps", says(&wraps)), ("limits", says(&limits))]);
    let blocked = call(&host).unwrap_err();
    assert_eq!(
        blocked.result.reason(),
        Some("hook `limits` puts back what hook `wraps` has changed")
    );
}
