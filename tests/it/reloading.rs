//! Hooks that are loaded again when the host asks whether their files have changed.

use forge_hooks::config::TrustPolicy;
use forge_hooks::trust::Approval;
use forge_hooks::{AppProfile, Hooks, HooksBuilder};
use serde_json::json;

use crate::support::{World, blocking_event};

const USERS: &str = "config/mygame/hooks.json";
const BESIDE: &str = "config/mygame/hooks.d/05.json";
const PROJECTS: &str = "project/.mygame/hooks.json";

fn host(world: &World) -> HooksBuilder {
    std::fs::create_dir_all(world.path("project")).unwrap();
    let builder = Hooks::builder(AppProfile::new("mygame")).config_home(world.path("config"));
    builder.project(world.path("project")).without_system_file()
}

fn write(world: &World, file: &str, events: &[&str]) {
    let entry = |event: &&str| json!({"event": event, "command": "exit 0"});
    let entries: Vec<_> = events.iter().map(entry).collect();
    world.write(file, &json!({ "hooks": entries }).to_string());
}

fn events(hooks: &Hooks) -> Vec<String> {
    let hooks = hooks.executor().registry().hooks();
    hooks
        .iter()
        .map(|hook| hook.event_pattern().to_owned())
        .collect()
}

fn blocks(hooks: &Hooks) -> Option<String> {
    let outcome = hooks.execute(&blocking_event());
    outcome.reason().map(str::to_owned)
}

#[test]
fn changed_files_are_loaded() {
    let world = World::new();
    write(&world, USERS, &["a:b"]);
    let hooks = host(&world).trust(TrustPolicy::Everything).load();
    assert!(hooks.reload_if_changed().is_some(), "the first call loads");
    assert!(hooks.reload_if_changed().is_none());
    write(&world, USERS, &["a:b", "a:c"]);
    write(&world, PROJECTS, &["a:d"]);
    let report = hooks.reload_if_changed().unwrap();
    assert_eq!((report.loaded, events(&hooks).len()), (3, 3));
    write(&world, BESIDE, &["a:e"]);
    assert!(hooks.reload_if_changed().is_some());
    assert_eq!(events(&hooks), ["a:b", "a:c", "a:e", "a:d"]);
    assert!(hooks.reload_if_changed().is_none());
}

#[test]
fn a_broken_file_blocks_until_it_is_whole() {
    let world = World::new();
    write(&world, USERS, &["a:b"]);
    let hooks = host(&world).load();
    world.write(USERS, "{");
    assert!(!hooks.reload_if_changed().unwrap().is_ok());
    assert!(blocks(&hooks).is_some());
    assert!(hooks.reload_if_changed().is_none(), "said once");
    write(&world, USERS, &["a:b"]);
    assert!(hooks.reload_if_changed().unwrap().is_ok());
    assert_eq!(blocks(&hooks), None);
}

/// Also before the first call, and after a reload that the host wanted for another reason.
#[test]
fn a_file_that_has_vanished_blocks() {
    for file in [USERS, BESIDE] {
        let world = World::new();
        write(&world, file, &["a:b"]);
        let hooks = host(&world).load();
        std::fs::remove_file(world.path(file)).unwrap();
        assert!(!hooks.reload_if_changed().unwrap().is_ok(), "{file}");
        let reason = blocks(&hooks).unwrap();
        assert!(
            reason.contains("has vanished since its hooks were loaded"),
            "{reason}"
        );
        hooks.reload();
        assert!(blocks(&hooks).is_some());
        assert_eq!(blocks(&host(&world).load()), None, "built anew");
        write(&world, file, &["a:b"]);
        assert!(hooks.reload_if_changed().unwrap().is_ok());
        assert_eq!(blocks(&hooks), None);
    }
}

#[test]
fn an_approval_and_its_loss_take_effect() {
    let world = World::new();
    write(&world, PROJECTS, &["a:b"]);
    let hooks = host(&world).load();
    let _ = hooks.reload_if_changed();
    assert!(events(&hooks).is_empty());
    let other = host(&world).load();
    assert!(other.approve_with(|_: &Approval| true).unwrap());
    assert!(hooks.reload_if_changed().is_some());
    assert_eq!(events(&hooks), ["a:b"]);
    assert!(hooks.reload_if_changed().is_none());
}
