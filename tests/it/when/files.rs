//! Conditions in hooks.json: what they may cost, and whose are compiled. What is printed of them is in
//! `golden/check.txt`.

use forge_hooks::config::TrustPolicy;
use forge_hooks::{FailureKind, Hook, HookConfig, LoadReport};
use serde_json::{Value, json};

use super::{POINTER, bash, is_tested};
use crate::config::{FORGE, config};
use crate::growth::{assert_costs_at_most, assert_linear};
use crate::support::World;
use crate::trust::{PROJECT, Project};

fn entry(when: Value) -> Value {
    json!({"event": "tool:*", "when": when, "command": "exit 1"})
}

fn file_of(entries: &[Value]) -> String {
    json!({"hooks": entries}).to_string()
}

/// A file with one condition on the command.
fn command_is(condition: Value) -> String {
    file_of(&[entry(json!({POINTER: condition}))])
}

/// One that cannot be compiled.
fn unusable() -> String {
    command_is(json!({"regex": "("}))
}

/// Loaded as a user's file.
fn load(world: &World, text: &str) -> LoadReport {
    world.write(FORGE, text);
    world.registry().clear();
    let everything = TrustPolicy::Everything;
    config(world).load_into(world.registry(), world.path("none"), everything)
}

#[test]
fn an_unusable_condition_blocks() {
    let world = World::new();
    let report = load(&world, &unusable());
    assert!(!report.is_ok() && report.loaded == 0, "{report:?}");
    let outcome = world.outcome(&bash("ls"));
    let result = outcome.blocked().expect("a result that blocks");
    assert_eq!(result.failure(), Some(FailureKind::Misconfigured));
    let reason = outcome.reason().unwrap();
    assert!(reason.contains("unclosed group"), "{reason}");
    // A hook that is switched off is reported, and blocks nothing.
    let off = unusable().replace("\"command\"", "\"enabled\":false,\"command\"");
    assert!(!load(&world, &off).is_ok());
    assert!(!HookConfig::default().check_text("FILE", &off).is_ok());
    assert!(world.fire(&bash("ls")).is_empty());
}

#[test]
fn only_what_was_approved_is_compiled() {
    let project = Project::new();
    let guard = command_is(json!("rm *"));
    for text in [&unusable(), &guard] {
        project.world.write(PROJECT, text);
        assert!(project.load().is_ok());
        let outcome = project.guard();
        assert!(
            outcome.allowed() && outcome.results().is_empty(),
            "{outcome:?}"
        );
        assert!(project.world.registry().is_empty());
    }
    project.approve();
    assert!(project.load().is_ok());
    assert!(project.guard().results().is_empty());
    assert!(!project.world.outcome(&bash("rm x")).allowed());
    // Changed, it loses its approval; what was approved could not have blocked the other command.
    project.world.write(PROJECT, &command_is(json!("rf *")));
    let _ = project.load();
    assert!(!project.world.outcome(&bash("rm x")).allowed());
    assert!(project.world.outcome(&bash("pwd")).allowed());
}

#[test]
fn a_hard_expression_costs_little() {
    let world = World::new();
    let expression = "[ab]*a[ab]{1000}c";
    assert!(load(&world, &command_is(json!({ "regex": expression }))).is_ok());
    let hook = Hook::clone(&world.registry().hooks()[0]);
    for length in [8 * 1024, 16 * 1024, 64 * 1024] {
        let long = bash("a".repeat(length));
        assert!(!hook.matches(&long) && is_tested(&hook, &long));
    }
    let tested = |length: usize| bash("ab".repeat(length / 2));
    assert_linear(expression, 512, tested, |event| {
        assert!(!hook.matches(event) && is_tested(&hook, event));
    });
}

/// Those of a user's file are compiled one by one, and those of a clone that is not approved are not compiled.
#[test]
fn expressions_cost_little_to_load() {
    let full = |condition: Value| {
        let members = (0..64).map(|number| (format!("/{number}"), condition.clone()));
        entry(Value::Object(members.collect()))
    };
    let world = World::new();
    let globs = |count: usize| file_of(&vec![full(json!("1")); count]);
    assert_linear("globs", 4, globs, |text| {
        let report = load(&world, text);
        assert!(report.is_ok(), "{report:?}");
    });
    let project = Project::new();
    let load_clone = |expression: &str| {
        let entries = vec![full(json!({"regex": expression})); 150];
        project.world.write(PROJECT, &file_of(&entries));
        let _ = project.load();
        assert!(project.guard().allowed());
    };
    assert_costs_at_most(4, "a clone", || load_clone("w"), || load_clone(r"\w{20}"));
}

#[test]
fn what_was_not_changed_is_saved_as_it_was() {
    let world = World::new();
    let first = r#"{"event": "tool:*", "when": { "/b": ["x*"], "/a": {"regex": "y"} /* why */ }, "command": "x"}"#;
    let text = |when: &str| {
        let second = format!(r#"{{"event": "*", "when": {when}, "command": "y"}}"#);
        format!("{{\"hooks\": [\n  {first},\n  {second}\n]}}\n")
    };
    let _ = load(&world, &text("{}"));
    let mut hooks = config(&world).load_global();
    config(&world).save_global(&hooks).unwrap();
    assert_eq!(world.read(FORGE), text("{}"));
    hooks[1] = hooks[1].clone().with_when("/c", "z").unwrap();
    config(&world).save_global(&hooks).unwrap();
    assert_eq!(world.read(FORGE), text("{\n        \"/c\": \"z\"\n      }"));
}
