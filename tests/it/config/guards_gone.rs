//! Guards that are gone since the last load: a report says so, once.

use std::fs;

use forge_hooks::config::{LoadReport, Severity, TrustPolicy};
use forge_hooks::{AppProfile, EventSpec, Hooks};
use serde_json::{Value, json};

use crate::support::World;

const FILE: &str = "config/myagent/hooks.json";
const GONE: &str = "is gone since the last load";

fn host(world: &World) -> Hooks {
    Hooks::builder(AppProfile::new("myagent"))
        .event(EventSpec::custom("game:over").unwrap().notify_only())
        .config_home(world.path("config"))
        .without_system_file()
        .project(world.path("project"))
        .load()
}

fn write(world: &World, hooks: &[Value]) {
    world.write(FILE, &json!({"hooks": hooks}).to_string());
}

fn guard(name: &str) -> Value {
    json!({"event": "tool:pre_execute", "name": name, "command": "exit 2"})
}

/// The problems of a report about guards that are gone.
fn gone(report: &LoadReport) -> Vec<String> {
    let problems = report.problems.iter();
    let gone = problems.filter(|problem| problem.message.contains("since the last load"));
    gone.map(|problem| {
        assert_eq!(problem.severity, Severity::Warning);
        assert!(problem.help.as_ref().unwrap().contains("history"));
        assert!(problem.path.ends_with("hooks.json"));
        problem.message.clone()
    })
    .collect()
}

#[test]
fn a_guard_that_is_removed_is_reported_once() {
    let world = World::new();
    write(&world, &[guard("one"), guard("two")]);
    let hooks = host(&world);
    assert_eq!(gone(&hooks.report()), [""; 0]);
    write(&world, &[guard("two")]);
    assert_eq!(
        gone(&hooks.reload()),
        [format!("the guard `one` of this file {GONE}")]
    );
    assert_eq!(
        gone(&hooks.report()).len(),
        1,
        "it stays until the next load"
    );
    assert!(hooks.report().to_string().contains("the file's history"));
    assert_eq!(gone(&hooks.reload()), [""; 0]);
    fs::remove_file(world.path(FILE)).unwrap();
    assert_eq!(
        gone(&hooks.reload()),
        [format!("the guard `two` of this file {GONE}")]
    );
}

#[test]
fn what_became_of_a_guard_is_said() {
    let first = json!({"event": "tool:*", "name": "one", "command": "./guard.sh"});
    let with = |key: &str, value: Value| {
        let mut hook = first.clone();
        hook[key] = value;
        json!({"hooks": [hook]})
    };
    let unnamed = json!({"event": "*", "command": "./guard.sh"});
    for (what, now, expected) in [
        ("an edit", with("timeout", json!(5)), None),
        ("a new command", with("command", json!("./other.sh")), None),
        (
            "another tool",
            with("event", json!("tool:pre_execute:bash")),
            None,
        ),
        ("an empty list", json!({"hooks": []}), Some("gone")),
        ("another name", with("name", json!("two")), Some("gone")),
        ("another hook", json!({"hooks": [unnamed]}), Some("gone")),
        (
            "a switch",
            with("enabled", json!(false)),
            Some("switched off (disabled by `\"enabled\": false`)"),
        ),
        (
            "a name that is disabled",
            json!({"hooks": [first.clone()], "disable": ["one"]}),
            Some("switched off (disabled by name in the user's file)"),
        ),
        (
            "no wait",
            with("background", json!(true)),
            Some("unable to block anything"),
        ),
        (
            "a trial",
            with("enforce", json!(false)),
            Some("unable to block anything"),
        ),
        (
            "another event",
            with("event", json!("game:over")),
            Some("unable to block anything"),
        ),
    ] {
        let world = World::new();
        write(&world, std::slice::from_ref(&first));
        let hooks = host(&world);
        world.write(FILE, &now.to_string());
        let expected = expected
            .map(|why| format!("the guard `one` of this file is {why} since the last load"));
        assert_eq!(gone(&hooks.reload()), Vec::from_iter(expected), "{what}");
        assert_eq!(gone(&hooks.reload()), [""; 0], "{what}: once");
    }
}

#[test]
fn only_what_could_block_is_a_guard() {
    let world = World::new();
    let background = json!({"event": "*", "command": "x", "background": true});
    let notified = json!({"event": "game:over", "command": "x"});
    let off = json!({"event": "*", "command": "x", "enabled": false});
    write(&world, &[background, notified, off]);
    let hooks = host(&world);
    write(&world, &[]);
    assert_eq!(gone(&hooks.reload()), [""; 0]);
}

#[test]
fn many_guards_are_one_problem() {
    let world = World::new();
    let all: Vec<_> = (0..12).map(|number| guard(&format!("g{number}"))).collect();
    write(&world, &all);
    let hooks = host(&world);
    write(&world, &[]);
    let [message] = &gone(&hooks.reload())[..] else {
        panic!()
    };
    assert!(
        message.starts_with("12 guards of this file are gone since the last load: `g0`, "),
        "{message}"
    );
    assert!(message.ends_with("and 2 more"), "{message}");
}

#[test]
fn a_broken_file_has_its_guards_still() {
    for broken in [
        "{",
        r#"{"hooks": [{"event": "tool:pre_execute", "name": "one"}]}"#,
    ] {
        let world = World::new();
        write(&world, &[guard("one")]);
        let hooks = host(&world);
        world.write(FILE, broken);
        assert_eq!(
            gone(&hooks.reload()),
            [""; 0],
            "what stands there blocks: {broken}"
        );
        // A repair without it.
        write(&world, &[guard("two")]);
        assert_eq!(gone(&hooks.reload()).len(), 1, "{broken}");
    }
    let world = World::new();
    write(&world, &[guard("one")]);
    let hooks = host(&world);
    // The remaining entry blocks another event.
    write(&world, &[json!({"event": "session:end"})]);
    assert_eq!(gone(&hooks.reload()).len(), 1);
}

#[test]
fn a_guard_that_moves_to_another_file_stays() {
    let world = World::new();
    write(&world, &[guard("one")]);
    let profile = AppProfile::new("myagent");
    let profile = profile.with_global_files(["myagent/hooks.json", "other/hooks.json"]);
    let hooks = Hooks::builder(profile)
        .config_home(world.path("config"))
        .without_system_file()
        .load();
    let text = world.read(FILE);
    world.write("config/other/hooks.json", &text);
    fs::remove_file(world.path(FILE)).unwrap();
    assert_eq!(gone(&hooks.reload()), [""; 0]);
}

#[test]
fn the_guards_of_a_project_count_where_no_person_approves_them() {
    let world = World::new();
    let file = "project/.myagent/hooks.json";
    let text = json!({"hooks": [guard("one")]}).to_string();
    world.write(file, &text);
    let hooks = host(&world);
    assert!(hooks.approve_with(|_| true).unwrap());
    fs::remove_file(world.path(file)).unwrap();
    assert_eq!(
        gone(&hooks.reload()),
        [""; 0],
        "its approval is lost, so it blocks"
    );
    world.write(file, &text);
    let trusting = hooks.to_builder().project(world.path("project"));
    let hooks = trusting.trust(TrustPolicy::Everything).load();
    fs::remove_file(world.path(file)).unwrap();
    assert_eq!(gone(&hooks.reload()).len(), 1);
}
