//! Tests hooks as values.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::entry::{DEFAULT_TIMEOUT, HookCommand, HookOutput, LONGEST_TIMEOUT, SHORTEST_TIMEOUT};
use crate::growth::assert_linear;
use crate::json::Node;

#[test]
fn a_hook_has_the_specified_defaults() {
    let hook = Hook::new("tool:*", "true").unwrap();
    assert_eq!(hook.timeout(), Duration::from_secs(10));
    assert_eq!(hook.own_timeout(), None);
    assert!(hook.enabled());
    assert_eq!(hook.description(), "");
    assert_eq!(hook.on_failure(), FailurePolicy::Block);
}

/// Each place that states the default deadline, and its text there.
#[test]
fn the_pages_state_the_default_deadline() {
    let seconds = DEFAULT_TIMEOUT.as_secs();
    let default = format!("Default: {seconds} seconds");
    for (page, sentence) in [
        (
            include_str!("../../README.md"),
            format!("(default: {seconds} seconds)"),
        ),
        (
            include_str!("../../docs/protocol.md"),
            format!("the host's default, {seconds} |"),
        ),
        (include_str!("../executor/builder.rs"), default),
    ] {
        assert!(page.contains(&sentence), "{sentence}");
    }
}

/// This test fails if the setter or the getter of a key is missing.
#[test]
fn each_key_can_be_set_and_is_returned() {
    let shell = Hook::new("a:b", "x").unwrap().with_shell(Shell::Bash);
    let shell = shell
        .with_when("/a", json!("y"))
        .unwrap()
        .with_timeout(Duration::from_secs(5))
        .with_working_dir("w")
        .with_env("A", "1")
        .with_inherit(["PATH"])
        .with_enabled(false)
        .with_name("n")
        .with_description("d")
        .with_on_failure(FailurePolicy::Continue)
        .with_may([May::Grant])
        .without_stdin()
        .reading_stdin()
        .with_inputs(["i"])
        .with_background()
        .with_sandbox(Sandbox::new());
    let HookCommand::Shell { text, shell: of } = shell.action() else {
        panic!("{shell:?}");
    };
    let when = shell
        .when()
        .map(|(key, condition)| (key, condition.to_string()));
    let returned = json!({
        "event": shell.event_pattern(), "command": text, "shell": of,
        "when": when.collect::<BTreeMap<_, _>>(),
        "timeout": shell.own_timeout().map(|timeout| timeout.as_secs_f64()),
        "working_dir": shell.working_dir(), "env": shell.env(), "inherit": shell.inherit(),
        "enabled": shell.enabled(), "name": shell.name(), "description": shell.description(),
        "on_failure": shell.on_failure(), "may": shell.may(), "stdin": shell.settings.options.stdin, "reads": shell.settings.options.reads,
        "inputs": shell.inputs(), "background": shell.background(), "sandbox": shell.sandbox(),
    });
    assert_eq!(returned, shell.to_json());
    let program = Hook::program("a:b", ["x"])
        .unwrap()
        .with_resident()
        .with_enforce(false);
    let HookCommand::Program(args) = program.action() else {
        panic!("{program:?}");
    };
    let others = json!({"event": "a:b", "args": args, "enforce": program.enforce(), "resident": program.resident()});
    assert_eq!(others, program.to_json());
    let output = HookOutput {
        system_message: Some("m".to_owned()),
        ..HookOutput::default()
    };
    let answering = Hook::answering("a:b", output).unwrap();
    let HookCommand::Answer(answer) = answering.action() else {
        panic!("{answering:?}");
    };
    let answered = json!({"event": "a:b", "answer": answer});
    assert_eq!(answered, answering.to_json());
    let set = [returned, others, answered];
    // Only a file has examples.
    for key in keys().filter(|key| *key != CASES) {
        assert!(
            set.iter().any(|value| value.get(key).is_some()),
            "no setter of {key}"
        );
    }
}

/// The expected value in an error about a key must match the type in the schema.
#[test]
fn a_key_of_another_type_expects_that_of_the_schema() {
    let schema = include_str!("../../hooks.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let described = schema
        .pointer("/properties/hooks/items/properties")
        .unwrap();
    for key in keys().filter(|key| *key != "event") {
        let types = described[key]
            .get("oneOf")
            .map_or(vec![&described[key]], |all| {
                all.as_array().unwrap().iter().collect()
            });
        for given in [
            json!(true),
            json!([1]),
            json!({}),
            json!(-1),
            json!("\u{0}"),
        ] {
            let mut entry = json!({"event": "a:b", "command": "x"});
            entry[key] = given;
            let read = Hook::read(Node::from(&entry));
            let faults = read.err().map_or_else(Vec::new, |unusable| unusable.faults);
            let of_key = faults.iter().filter_map(|fault| match &fault.error {
                HookError(Cause::Key(error)) if error.key == key => error.expected.as_deref(),
                _ => None,
            });
            for expected in of_key {
                let is_named = types.iter().all(|of| match of["type"].as_str() {
                    Some("array") => expected.contains("a list"),
                    Some("object") => expected.contains("an object"),
                    Some("boolean") => expected.contains("true"),
                    Some("number" | "integer") => expected.contains("a number"),
                    Some(_) => expected.contains("a string"),
                    None => expected.contains("one of") || expected.contains("a string"),
                });
                assert!(is_named, "{entry}: {expected}");
            }
        }
    }
}

#[test]
fn a_timeout_is_clamped() {
    let hook = Hook::new("*", "true").unwrap();
    assert_eq!(
        hook.clone().with_timeout(Duration::ZERO).timeout(),
        SHORTEST_TIMEOUT
    );
    assert_eq!(hook.with_timeout(Duration::MAX).timeout(), LONGEST_TIMEOUT);
    let entry = json!({"event": "*", "command": "true", "timeout": 1e-12});
    let hook = Hook::from_json(&entry).unwrap();
    assert_eq!(hook.timeout(), SHORTEST_TIMEOUT);
    assert!(Hook::from_json(&hook.to_json()).is_ok());
}

#[test]
fn nothing_to_run_is_an_error() {
    assert_eq!(Hook::new("*", " \n").unwrap_err(), HookError::EMPTY_COMMAND);
    let none: [&str; 0] = [];
    assert_eq!(
        Hook::program("*", none).unwrap_err(),
        HookError::EMPTY_COMMAND
    );
    assert_eq!(
        Hook::program("*", [""]).unwrap_err(),
        HookError::EMPTY_COMMAND
    );
}

#[test]
fn debug_shows_no_value_of_the_environment() {
    let hook = Hook::new("*", "true").unwrap().with_env("TOKEN", "hunter2");
    let debug = format!("{hook:?}");
    assert!(
        debug.contains("TOKEN") && !debug.contains("hunter2"),
        "{debug}"
    );
}

#[test]
fn the_label_is_the_name_the_description_or_the_command() {
    assert_eq!(Hook::placeholder("why").label(), "*");
    let program = Hook::program("session:*", ["./log", "it"]).unwrap();
    assert_eq!(program.label(), "./log");
    let hook = Hook::new("session:*", "\n true\nfalse")
        .unwrap()
        .with_name("");
    assert_eq!(hook.label(), "true");
    let hook = hook.with_description("Says hello");
    assert_eq!(hook.label(), "Says hello");
    assert_eq!(hook.with_name("hello").label(), "hello");
}

#[test]
fn a_hook_is_known_by_what_it_is() {
    let hook = |command: &str| Hook::new("*", command).unwrap();
    let first = hook("a").fingerprint();
    // The fingerprint is the same in every build: one program may start another.
    assert_eq!(first, 0x491e_6606_656d_a08f);
    assert_eq!(first, hook("a").fingerprint());
    let counted = hook("a");
    let _ = counted.fingerprint();
    let others = [
        hook("b"),
        hook("a").with_env("A", "1"),
        hook("a").with_base_dir(std::path::Path::new("/project")),
        counted.clone().with_name("n"),
        counted.with_enabled(false),
    ];
    for other in others {
        assert_ne!(first, other.fingerprint(), "{other:?}");
    }
}

#[test]
fn an_unknown_key_of_a_sandbox_is_an_error() {
    for value in [json!(null), json!(1)] {
        let entry = json!({"event": "*", "command": "x", "sandbox": {"a": value}});
        let error = Hook::from_json(&entry).unwrap_err().to_string();
        assert!(
            error.contains("expected one of `read`, `write`, `network`"),
            "{error}"
        );
    }
    let entry = json!({"event": "*", "command": "x", "sandbox": {"read": null}});
    assert_eq!(
        Hook::from_json(&entry).unwrap().sandbox(),
        Some(&Sandbox::new())
    );
}

/// Each key may be at fault, and is looked up once.
#[test]
fn the_faults_of_an_entry_cost_little() {
    let input = |size: usize| {
        let keys = (0..size).map(|number| format!(r#""a{number}": 1e999"#));
        format!(
            r#"{{"hooks": [{{"event": "*", "command": "x", {}}}]}}"#,
            keys.collect::<Vec<_>>().join(", ")
        )
    };
    assert_linear("keys", 4_000, input, |text| {
        let report = crate::HookConfig::default().check_text("x.json", text);
        assert!(!report.is_ok());
    });
}
