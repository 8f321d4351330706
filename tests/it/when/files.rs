//! Conditions in hooks.json: what is wrong with them, what they may cost, and whose are compiled.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use forge_hooks::config::TrustPolicy;
use forge_hooks::protocol::{Gate, GateVerdict};
use forge_hooks::{FailureKind, Hook, HookConfig, LoadReport};
use serde_json::{Value, json};

use super::{POINTER, bash};
use crate::support::{World, assert_computes_within, blocking_event};
use crate::trust::{PROJECT, Project};

fn check(text: &str) -> LoadReport {
    HookConfig::default().check_text("FILE", text)
}

fn problems(entry: &str) -> Vec<String> {
    let report = check(&format!("{{\"hooks\": [\n{entry}\n]}}"));
    report.problems.iter().map(ToString::to_string).collect()
}

fn entry(when: Value) -> Value {
    json!({"event": "tool:*", "when": when, "command": "exit 1"})
}

fn file_of(entries: &[Value]) -> String {
    json!({"hooks": entries}).to_string()
}

/// Loaded as a user's file.
fn load(world: &World, text: &str) -> LoadReport {
    world.write("config/src/forge/hooks.json", text);
    let config = HookConfig::default().with_config_home(world.path("config"));
    world.registry().clear();
    config.load_into(
        world.registry(),
        world.path("none"),
        TrustPolicy::Everything,
    )
}

#[test]
fn problems_have_their_place() {
    for (when, expected) in [
        (
            r#"{"/a": "x", "/b": {"regex": "("}}"#,
            "error: FILE:2:41: hooks[0].when./b: `(` is not a regular expression: unclosed group",
        ),
        (
            r#"{"/a[0]": ["x", "[x"]}"#,
            "error: FILE:2:39: hooks[0].when./a[0][1]: invalid glob `[x`: at column 1, invalid range pattern",
        ),
        (
            r#"{"a.b": "x"}"#,
            "error: FILE:2:31: hooks[0].when.a.b: expected a JSON Pointer into the event's data, as in `/tool_args/command`, found `a.b`, did you mean `/a/b`?",
        ),
        (
            r#"{"/a": "x", "/a": "y"}"#,
            "error: FILE:2:35: hooks[0].when./a: the key occurs twice",
        ),
        (
            r#"{"/a": {"regex": "x", "regex": "y"}}"#,
            "error: FILE:2:45: hooks[0].when.regex: the key occurs twice",
        ),
    ] {
        let entry = format!(r#"{{"event": "*", "when":{when}, "command": "x"}}"#);
        assert_eq!(problems(&entry), [expected]);
    }
}

#[test]
fn an_unusable_condition_blocks() {
    let world = World::new();
    let report = load(&world, &file_of(&[entry(json!({POINTER: {"regex": "("}}))]));
    assert!(!report.is_ok() && report.loaded == 0, "{report:?}");
    let outcome = world.outcome(&bash("ls"));
    let result = outcome.blocked().expect("a result that blocks");
    assert_eq!(result.failure, Some(FailureKind::Misconfigured));
    assert!(
        outcome.reason().unwrap().contains("unclosed group"),
        "{outcome:?}"
    );
}

#[test]
fn what_is_switched_off_blocks_nothing() {
    let world = World::new();
    let mut off = entry(json!({POINTER: {"regex": "("}}));
    off["enabled"] = json!(false);
    let text = file_of(&[off]);
    assert!(!load(&world, &text).is_ok());
    assert!(!check(&text).is_ok());
    assert!(world.outcome(&bash("ls")).results().is_empty());
}

#[test]
fn only_what_was_approved_is_compiled() {
    let project = Project::new();
    let broken = entry(json!({POINTER: {"regex": "("}}));
    project.world.write(
        PROJECT,
        &file_of(&[broken, entry(json!({POINTER: "rm *"}))]),
    );
    assert!(project.load().is_ok());
    let outcome = project.guard();
    let skipped = outcome.results().iter().filter(|it| it.skipped.is_some());
    assert!(outcome.allowed() && skipped.count() == 2, "{outcome:?}");

    project
        .world
        .write(PROJECT, &file_of(&[entry(json!({POINTER: "rm *"}))]));
    project.approve();
    assert!(project.load().is_ok());
    assert!(project.guard().results().is_empty());
    assert!(!project.world.outcome(&bash("rm x")).allowed());
}

#[test]
fn an_approved_condition_may_be_unusable() {
    let project = Project::new();
    let text = file_of(&[entry(json!({POINTER: {"regex": "("}}))]);
    project.world.write(PROJECT, &text);
    let approval = forge_hooks::trust::Approval::of(project.root(), [unread(&text)]).unwrap();
    project.store().approve(&approval).unwrap();
    // What was approved is compiled when it is first tested.
    assert!(project.load().is_ok());
    let outcome = project.guard();
    let failures: Vec<_> = outcome.results().iter().map(|it| it.failure).collect();
    assert_eq!(failures, [Some(FailureKind::Misconfigured)]);
    assert!(!outcome.allowed());
}

/// The hook as `load_into` has it of a project that was never approved.
fn unread(text: &str) -> Hook {
    let other = Project::new();
    other.world.write(PROJECT, text);
    let _ = other.load();
    Hook::clone(&other.world.registry().hooks()[0])
}

/// A gate as of a host that has asked its user.
#[derive(Debug)]
struct Open;

impl Gate for Open {
    fn check(&self, _hook: &Hook) -> GateVerdict {
        GateVerdict::Run
    }
}

#[test]
fn what_a_host_allows_is_compiled_later() {
    let never_approved = unread(&file_of(&[entry(json!({POINTER: "rm *"}))]));
    assert!(never_approved.matches(&bash("ls"), true));
    let allowed = never_approved.with_gate(Arc::new(Open));
    assert!(allowed.matches(&bash("rm x"), true) && !allowed.matches(&bash("ls"), true));
}

#[test]
fn a_changed_condition_loses_its_approval() {
    let project = Project::new();
    project
        .world
        .write(PROJECT, &file_of(&[entry(json!({POINTER: "ls"}))]));
    project.approve();
    project
        .world
        .write(PROJECT, &file_of(&[entry(json!({POINTER: "rm *"}))]));
    project.is_blocked(
        "it was approved, but its entry was changed or removed since; approve the hooks again",
    );
    // What was approved could not have blocked this.
    assert!(project.world.outcome(&bash("pwd")).allowed());
}

#[test]
fn a_file_has_limits() {
    let full = || {
        let members = (0..64).map(|number| (format!("/{number}"), json!(number.to_string())));
        entry(Value::Object(members.collect()))
    };
    let message = |report: LoadReport| report.problems[0].message.clone();
    let world = World::new();
    let text = file_of(&vec![full(); 156]);
    let report = assert_computes_within(Duration::from_secs(30), &text, || load(&world, &text));
    assert!(report.is_ok() && report.loaded == 156, "{report:?}");

    let large = entry(json!({"/a": {"regex": r"\w{20}"}}));
    let report = load(&world, &file_of(&vec![large.clone(); 40]));
    assert_eq!(
        message(report),
        "the file has conditions that take more than 16 MiB together when compiled"
    );
    assert!(!world.outcome(&blocking_event()).allowed());
    let mut text = String::new();
    for number in 0..65 {
        write!(text, "\"/{number}\": \"x\",").unwrap();
    }
    let entry = format!(r#"{{"event": "*", "when": {{{text}}}, "command": "x"}}"#);
    assert_eq!(
        problems(&entry),
        ["error: FILE:2:24: hooks[0].when: expected at most 64 conditions, found 65"]
    );
}

#[test]
fn a_hard_expression_costs_little() {
    let world = World::new();
    let text = file_of(&[entry(json!({POINTER: {"regex": "[ab]*a[ab]{3000}c"}}))]);
    assert!(load(&world, &text).is_ok());
    let hook = Hook::clone(&world.registry().hooks()[0]);
    // Tested, it would take some seconds in a release build.
    let long = bash("ab".repeat(32 * 1024));
    let matches =
        assert_computes_within(Duration::from_secs(10), &text, || hook.matches(&long, true));
    assert!(matches && !hook.matches(&long, false));
    assert_eq!(hook.untested_conditions(&long), [POINTER]);
    let found = hook.mismatches(&long, false)[0].found.clone();
    assert_eq!(found.as_deref(), Some("a string of 65536 bytes"));
    let tested = bash("ab".repeat(512));
    let matches = assert_computes_within(Duration::from_secs(10), &text, || {
        hook.matches(&tested, true)
    });
    assert!(!matches && hook.untested_conditions(&tested).is_empty());
}

/// A clone that is not approved does not delay its host.
#[test]
fn hostile_expressions_cost_a_clone_nothing() {
    let project = Project::new();
    let members = (0..64).map(|number| (format!("/{number}"), json!({"regex": r"\w{20}"})));
    let heavy = entry(Value::Object(members.collect()));
    project.world.write(PROJECT, &file_of(&vec![heavy; 150]));
    assert_computes_within(Duration::from_secs(10), "", || {
        let _ = project.load();
        assert!(project.guard().allowed());
    });
}

#[test]
fn what_was_not_changed_is_saved_as_it_was() {
    let world = World::new();
    let text = "{\"hooks\": [\n  {\"event\": \"tool:*\", \"when\": { \"/b\": [\"x*\"], \"/a\": {\"regex\": \"y\"} /* why */ }, \"command\": \"x\"},\n  {\"event\": \"*\", \"when\": {}, \"command\": \"y\"}\n]}\n";
    let _ = load(&world, text);
    let config = HookConfig::default().with_config_home(world.path("config"));
    let mut hooks = config.load_global();
    config.save_global(&hooks).unwrap();
    assert_eq!(world.read("config/src/forge/hooks.json"), text);
    hooks[1] = hooks[1].clone().with_when("/c", "z").unwrap();
    config.save_global(&hooks).unwrap();
    let expected = text.replace("\"when\": {},", "\"when\": {\"/c\": \"z\"},");
    assert_eq!(world.read("config/src/forge/hooks.json"), expected);
}
