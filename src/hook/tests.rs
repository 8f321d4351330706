//! Tests hooks as values.

use std::time::Duration;

use serde_json::json;

use super::*;

#[test]
fn a_hook_has_the_specified_defaults() {
    let hook = Hook::new("tool:*", "true").unwrap();
    assert_eq!(hook.timeout(), Duration::from_secs(10));
    assert_eq!(hook.own_timeout(), None);
    assert!(hook.enabled());
    assert_eq!(hook.description(), "");
    assert_eq!(hook.on_failure(), FailurePolicy::Block);
}

/// Each place that states the default deadline, and its words there.
#[test]
fn the_pages_state_the_default_deadline() {
    let seconds = DEFAULT_TIMEOUT.as_secs();
    let default = format!("Default: {seconds} seconds");
    for (page, words) in [
        (
            include_str!("../../README.md"),
            format!("(default: {seconds} seconds)"),
        ),
        (
            include_str!("../../docs/protocol.md"),
            format!("the host's default, {seconds} |"),
        ),
        (
            include_str!("../../docs/troubleshooting.md"),
            format!("({seconds} seconds by default)"),
        ),
        (include_str!("../executor/builder.rs"), default),
        (
            include_str!("definition.rs"),
            format!("the hook's own, else {seconds} seconds"),
        ),
    ] {
        assert!(page.contains(&words), "{words}");
    }
}

#[test]
fn each_setting_is_a_key_of_an_entry() {
    let settings = json!(super::options::Options::default());
    for key in settings.as_object().unwrap().keys() {
        assert!(keys().any(|known| known == key), "{key}");
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
    assert_eq!(Hook::new("*", " \n").unwrap_err(), HookError::EmptyCommand);
    let none: [&str; 0] = [];
    assert_eq!(
        Hook::program("*", none).unwrap_err(),
        HookError::EmptyCommand
    );
    assert_eq!(
        Hook::program("*", [""]).unwrap_err(),
        HookError::EmptyCommand
    );
}

#[test]
fn debug_shows_no_value_of_the_environment() {
    let hook = Hook::new("*", "true").unwrap().with_env("TOKEN", "hunter2");
    let shown = format!("{hook:?}");
    assert!(
        shown.contains("TOKEN") && !shown.contains("hunter2"),
        "{shown}"
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
