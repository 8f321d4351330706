//! A user's script that has changed since the hooks were loaded still runs, and the host's user is told once.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use forge_hooks::config::TrustPolicy;
use forge_hooks::{AppProfile, HookEvent, HookExecutor, Hooks, Outcome};
use serde_json::{Value, json};

use crate::support::{World, eventually};

const FILE: &str = "config/myagent/hooks.json";
const ALLOW: &str = "#!/bin/sh\nexit 0\n";
const CHANGED: &str = "has changed since the hooks were loaded";

fn host(world: &World, hooks: &[Value]) -> Hooks {
    world.write(FILE, &json!({"hooks": hooks}).to_string());
    fs::create_dir_all(world.path("host")).unwrap();
    Hooks::builder(AppProfile::new("myagent"))
        .config_home(world.path("config"))
        .system_file(world.path("etc/hooks.json"))
        .executor(HookExecutor::builder().working_dir(world.path("host")))
        .project(world.path("project"))
        .trust(TrustPolicy::Everything)
        .load()
}

/// A world with a guard, and a host of it.
fn guarded(event: &str) -> (World, Hooks) {
    let world = World::new();
    let script = world.script("bin/guard.sh", ALLOW);
    let hooks = host(
        &world,
        &[json!({"event": event, "name": "guard", "command": script})],
    );
    (world, hooks)
}

fn fire(hooks: &Hooks) -> Outcome {
    hooks.execute(&HookEvent::tool_pre_execute(
        "bash",
        json!({"command": "ls"}),
    ))
}

/// Checks what the next events tell the host's user: this, and then nothing.
#[track_caller]
fn tells(hooks: &Hooks, expected: Option<&str>) {
    let outcome = fire(hooks);
    assert!(outcome.allowed(), "{outcome:?}");
    let line = |name| format!("hook `guard` on `tool:pre_execute`: its script `{name}` {CHANGED}");
    let expected: Vec<_> = expected.map(line).into_iter().collect();
    assert_eq!(outcome.failures(), expected);
    assert_eq!(fire(hooks).failures(), [""; 0], "it was said");
}

#[test]
fn a_change_of_any_kind_is_told_once() {
    let (world, hooks) = guarded("tool:pre_execute");
    let script = world.path("bin/guard.sh");
    tells(&hooks, None);
    world.script("bin/guard.sh", "#!/bin/sh\nexit 0 # of other content\n");
    tells(&hooks, Some("guard.sh"));
    // Another file of the same content.
    let new = world.script("bin/new", &world.read("bin/guard.sh"));
    fs::rename(new, &script).unwrap();
    tells(&hooks, Some("guard.sh"));
    // Its directory.
    world.script("other/guard.sh", ALLOW);
    fs::rename(world.path("bin"), world.path("old")).unwrap();
    fs::rename(world.path("other"), world.path("bin")).unwrap();
    tells(&hooks, Some("guard.sh"));
    world.script("bin/guard.sh", ALLOW);
    let _ = hooks.reload();
    tells(&hooks, None);
}

#[test]
fn the_target_of_a_link_counts() {
    let world = World::new();
    world.script("dotfiles/one", ALLOW);
    world.script("dotfiles/two", ALLOW);
    fs::create_dir(world.path("bin")).unwrap();
    let link = world.path("bin/guard.sh");
    symlink(world.path("dotfiles/one"), &link).unwrap();
    let hooks = host(
        &world,
        &[json!({"event": "*", "name": "guard", "args": [link, "--strict"]})],
    );
    tells(&hooks, None);
    world.script("dotfiles/one", "#!/bin/sh\n# of other content\n");
    tells(&hooks, Some("one"));
    fs::remove_file(&link).unwrap();
    symlink(world.path("dotfiles/two"), &link).unwrap();
    tells(&hooks, Some("guard.sh"));
}

#[test]
fn the_scripts_of_all_commands_are_known() {
    let world = World::new();
    world.script("host/lib/guard.sh", ALLOW);
    world.write("host/check", "exit 0");
    for command in [
        "sh lib/guard.sh",
        "lib/guard.sh --strict",
        "cd lib && ./guard.sh",
        "sh -c '. lib/guard.sh' && sh check",
    ] {
        let hooks = host(
            &world,
            &[json!({"event": "*", "name": "guard", "command": command})],
        );
        tells(&hooks, None);
        world.script("host/lib/guard.sh", &format!("#!/bin/sh\n# {command}\n"));
        tells(&hooks, Some("guard.sh"));
    }
    let hooks = host(
        &world,
        &[json!({"event": "*", "name": "guard", "args": ["sh", "check"]})],
    );
    tells(&hooks, None);
    world.write("host/check", "exit 0 # of other content");
    tells(&hooks, Some("check"));
}

#[test]
fn what_a_command_only_reads_or_writes_is_no_script() {
    let world = World::new();
    world.write("host/lib/notes.md", "");
    for name in ["guard.sh", "other.sh"] {
        world.script(&format!("host/lib/{name}"), ALLOW);
    }
    let command = "sh lib/guard.sh > log && cat lib/notes.md";
    let hooks = host(
        &world,
        &[json!({"event": "*", "name": "guard", "command": command})],
    );
    tells(&hooks, None);
    world.script("host/lib/other.sh", "#!/bin/sh\n# of other content\n");
    world.write("host/lib/notes.md", "changed");
    tells(&hooks, None);
}

#[test]
fn a_change_is_told_where_the_hook_allows() {
    let (world, hooks) = guarded("*");
    tells(&hooks, None);
    world.script("bin/guard.sh", "#!/bin/sh\nexit 2 # of another length\n");
    for _ in 0..2 {
        let outcome = fire(&hooks);
        assert!(!outcome.allowed());
        assert_eq!(outcome.failures(), [""; 0], "it blocks");
        let notes = outcome.results()[0].diagnostics();
        assert_eq!(notes, [format!("its script `guard.sh` {CHANGED}")]);
    }
    world.script("bin/guard.sh", ALLOW);
    tells(&hooks, Some("guard.sh"));
}

#[test]
fn an_event_that_cannot_be_blocked_has_the_line_too() {
    let (world, hooks) = guarded("session:end");
    let end = || hooks.execute(&HookEvent::session_end("s"));
    assert!(end().failures().is_empty());
    world.script("bin/guard.sh", "#!/bin/sh\n# changed\n");
    let outcome = end();
    assert!(outcome.failures().concat().contains(CHANGED), "{outcome:?}");
}

#[test]
fn the_hooks_of_an_administrator_have_it_and_those_of_a_project_do_not() {
    let world = World::new();
    for (file, expected) in [
        ("etc/hooks.json", Some("guard.sh")),
        ("project/.myagent/hooks.json", None),
    ] {
        let script = world.script("project/guard.sh", ALLOW);
        let hook = json!({"event": "*", "name": "guard", "command": script});
        let file = world.write(file, &json!({"hooks": [hook]}).to_string());
        let hooks = host(&world, &[]);
        assert_eq!(hooks.executor().registry().len(), 1, "{:?}", hooks.report());
        tells(&hooks, None);
        world.script("project/guard.sh", "#!/bin/sh\n# of other content\n");
        tells(&hooks, expected);
        fs::remove_file(file).unwrap();
    }
}

/// Waits until the system gives later times to files than now.
fn wait_for_later(world: &World) {
    let now = SystemTime::now();
    eventually("a file is newer", || {
        let probe = world.write("probe", "").metadata().unwrap();
        probe.modified().unwrap() > now
    });
}

#[test]
fn a_change_before_the_first_run_is_told() {
    let (world, hooks) = guarded("*");
    wait_for_later(&world);
    world.script("bin/guard.sh", ALLOW);
    tells(&hooks, Some("guard.sh"));
    let (world, hooks) = guarded("*");
    wait_for_later(&world);
    // With the times of an old file.
    let new = world.script("bin/new", ALLOW);
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = fs::File::options().write(true).open(&new).unwrap();
    file.set_modified(past).unwrap();
    drop(file);
    fs::rename(new, world.path("bin/guard.sh")).unwrap();
    tells(&hooks, Some("guard.sh"));
}
