//! Hooks that are loaded again when their files change.
#![cfg(all(feature = "watch", unix))]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use forge_hooks::compat::{self, OtherAgents};
use forge_hooks::config::{HookWatcher, Severity, TrustPolicy};
use forge_hooks::trust::{Approval, TrustStore};
use forge_hooks::{Hook, HookConfig, HookResult, LoadReport};
use serde_json::json;

use crate::config::{FORGE, config, file_of};
#[cfg(target_os = "linux")]
use crate::growth::timed;
use crate::support::{PATIENCE, World, alone, custom, eventually, hook, one_in};

const PROJECT: &str = "project/.src/forge/hooks.json";

const BROKEN: [&str; 3] = ["{", r#"{"hooks": [{"event": "*"}]}"#, "[]"];

fn watch_with(world: &World, config: &HookConfig, policy: TrustPolicy) -> HookWatcher {
    let registry = Arc::clone(world.registry());
    config
        .watch(registry, world.path("project"), policy)
        .unwrap()
}

fn watch(world: &World) -> HookWatcher {
    watch_with(world, &config(world), TrustPolicy::Everything)
}

/// Waits for the next report.
#[track_caller]
fn next(watcher: &HookWatcher) -> LoadReport {
    watcher.reports().recv_timeout(PATIENCE).unwrap()
}

fn commands(world: &World) -> Vec<String> {
    let hooks = world.registry().hooks();
    hooks
        .iter()
        .map(|hook| hook.command().to_string())
        .collect()
}

#[track_caller]
fn become_(world: &World, expected: &[&str]) {
    let what = format!("the hooks are {expected:?}");
    eventually(&what, || commands(world) == expected);
}

#[test]
fn a_file_that_never_rests_is_loaded_all_the_same() {
    let world = World::new();
    let watcher = watch(&world);
    let begun = Instant::now();
    for turn in 0.. {
        if !watcher.reports().is_empty() {
            break;
        }
        world.write(FORGE, &file_of(&["a", "b"][..1 + turn % 2]));
        thread::sleep(Duration::from_millis(40));
        assert!(begun.elapsed() < PATIENCE);
    }
}

#[test]
fn a_changed_file_is_reloaded() {
    let world = World::new();
    world.hook("*", "host");
    world.write(FORGE, &file_of(&["one"]));
    let watcher = watch(&world);
    assert_eq!(watcher.report().loaded, 1);
    assert_eq!(commands(&world), ["host", "one"]);
    let sets: [&[&str]; 3] = [&["a"], &["a", "b"], &[]];
    for (round, set) in sets.into_iter().enumerate() {
        if round % 2 == 0 {
            world.write(FORGE, &file_of(set));
        } else {
            let hooks = set.iter().map(|command| hook("*", command));
            config(&world).save_global(hooks).unwrap();
        }
        let report = next(&watcher);
        assert_eq!((report.in_use, report.is_ok()), (set.len(), true));
        assert_eq!(commands(&world), [&["host"], set].concat());
    }
    assert!(watcher.reports().is_empty(), "one change is one report");
    let reports = watcher.reports().clone();
    drop(watcher);
    let is_over = || {
        reports
            .try_recv()
            .is_err_and(|error| error.is_disconnected())
    };
    eventually("its thread has ended", is_over);
    world.write(FORGE, &file_of(&["two"]));
    assert_eq!(commands(&world), ["host"]);
}

/// A settings file of Claude Code with a hook of this command.
fn settings(event: &str, command: &str) -> String {
    let handler = json!({"type": "command", "command": command});
    json!({"hooks": {event: [{"hooks": [handler]}]}}).to_string()
}

#[test]
fn files_of_other_agents_are_watched() {
    let world = World::new();
    let manifest = r#"{"hooks": "more.json"}"#;
    world.write("plugin/.claude-plugin/plugin.json", manifest);
    let new = "home/.codex/hooks.json";
    let files = ["named.json", "plugin/hooks/hooks.json", "plugin/more.json"];
    for file in files {
        world.write(file, "{}");
    }
    let tools = OtherAgents::new([compat::CODEX])
        .with_plugin(world.path("plugin"))
        .with_settings(compat::CLAUDE, world.path("named.json"))
        .with_home(world.path("home"));
    let config = config(&world).with_other_agents(tools);
    let _watcher = watch_with(&world, &config, TrustPolicy::Everything);
    let mut expected = BTreeSet::new();
    for file in files.into_iter().chain([new]) {
        world.write(file, &settings("Stop", file));
        expected.insert(file.to_owned());
        eventually(file, || BTreeSet::from_iter(commands(&world)) == expected);
    }
}

#[test]
fn a_broken_file_of_another_agent_keeps_its_hooks() {
    let world = World::new();
    let off = r#"{"disableAllHooks": true, "hooks": {}}"#;
    world.write("first.json", &settings("Stop", "first"));
    world.write("second.json", "{}");
    world.write(FORGE, &file_of(&["one"]));
    let tools = OtherAgents::new([])
        .with_home(world.path("home"))
        .with_settings(compat::CLAUDE, world.path("first.json"))
        .with_settings(compat::CLAUDE, world.path("second.json"))
        .with_strict_guards();
    let config = config(&world).with_other_agents(tools);
    let _watcher = watch_with(&world, &config, TrustPolicy::Everything);
    world.write("first.json", "{");
    world.write(FORGE, &file_of(&["two"]));
    become_(&world, &["two", "first"]);
    let is_on = || world.registry().hooks()[1].enabled();
    assert!(is_on());
    world.write("second.json", off);
    eventually("it is switched off", || !is_on());
    world.write("second.json", "{");
    world.write(FORGE, &file_of(&["three"]));
    become_(&world, &["three", "first"]);
    assert!(!is_on());
    world.write("second.json", "{}");
    eventually("it is switched on", is_on);
}

#[test]
fn a_file_being_written_is_not_an_error() {
    let world = World::new();
    let watcher = watch(&world);
    let mut rounds = 0;
    while rounds < 2 {
        let start = Instant::now();
        for part in ["", "{\"hooks\": [{\"event\":"] {
            world.write(FORGE, part);
            // An editor that takes its time.
            thread::sleep(Duration::from_millis(60));
        }
        world.write(FORGE, &file_of(&["a"][..rounds % 2]));
        // On a machine that is too busy, the file may have stood there for long.
        if start.elapsed() < Duration::from_millis(190) {
            let report = next(&watcher);
            assert!(report.is_ok(), "{report:?}");
            rounds += 1;
        } else {
            while !next(&watcher).is_ok() {}
        }
    }
}

#[test]
fn a_file_appears_with_its_directories() {
    let world = World::new();
    std::fs::create_dir(world.path("project")).unwrap();
    let _watcher = watch(&world);
    world.write(PROJECT, &file_of(&["project"]));
    become_(&world, &["project"]);
    world.write(FORGE, &file_of(&["global"]));
    become_(&world, &["global", "project"]);
    std::fs::remove_dir_all(world.path("project/.src")).unwrap();
    become_(&world, &["global"]);
    world.write(PROJECT, &file_of(&["again"]));
    become_(&world, &["global", "again"]);
}

#[test]
fn a_broken_file_keeps_its_hooks_and_stops_no_others() {
    let world = World::new();
    world.write(FORGE, &file_of(&["good"]));
    world.write(PROJECT, &file_of(&["project"]));
    let watcher = watch(&world);
    let mut last = String::new();
    for (round, broken) in one_in(3, BROKEN).enumerate() {
        world.write(FORGE, broken);
        assert!(!next(&watcher).is_ok());
        last = format!("changed {round}");
        world.write(PROJECT, &file_of(&[&last]));
        let report = next(&watcher);
        assert_eq!(commands(&world), ["good", &last]);
        assert_eq!((report.loaded, report.in_use), (1, 2), "{report:?}");
        let errors = report.problems.iter();
        let mut errors = errors.filter(|problem| problem.severity == Severity::Error);
        assert!(errors.all(|problem| problem.path == world.path(FORGE)));
    }
    world.write(FORGE, &file_of(&["mended"]));
    become_(&world, &["mended", &last]);
    // One whose last good content was none blocks.
    std::fs::remove_file(world.path(FORGE)).unwrap();
    become_(&world, &[&last]);
    world.write(FORGE, "{");
    become_(&world, &["", &last]);
}

#[test]
fn a_broken_file_keeps_its_disabled_names() {
    let world = World::new();
    world.write(FORGE, r#"{"disable": ["noisy"], "hooks": []}"#);
    let noisy = |command| {
        let noisy = json!({"event": "*", "command": command, "name": "noisy"});
        let other = json!({"event": "*", "command": command});
        json!({"hooks": [noisy, other]}).to_string()
    };
    world.write(PROJECT, &noisy("one"));
    let _watcher = watch(&world);
    assert_eq!(commands(&world), ["one"]);
    world.write(FORGE, r#"{"disable": ["noisy"], "hooks": [}"#);
    world.write(PROJECT, &noisy("two"));
    become_(&world, &["two"]);
}

fn approve(world: &World) -> TrustStore {
    let store = config(world).trust_store().unwrap();
    let root = world.path("project");
    let hooks = config(world).load_project(&root);
    store.approve(&Approval::of(&root, hooks).unwrap()).unwrap();
    store
}

/// The result of the project's hook.
fn one(world: &World) -> HookResult {
    world.fire(&custom("a:b")).pop().unwrap()
}

fn is_left_out(world: &World) -> bool {
    world.fire(&custom("a:b")).is_empty()
}

#[test]
fn an_approval_and_its_loss_take_effect_by_themselves() {
    let world = World::new();
    world.write(FORGE, "{}");
    world.write("project/guard.sh", "echo ran\n");
    world.write(PROJECT, &file_of(&["sh guard.sh"]));
    let policy = TrustPolicy::Approved(config(&world).trust_store().unwrap());
    let watcher = watch_with(&world, &config(&world), policy);
    assert!(is_left_out(&world));
    let runs = || !is_left_out(&world) && one(&world).stdout().trim() == "ran";
    // Also while its own file or the user's is broken, and the last good hooks stay.
    for file in [FORGE, PROJECT] {
        let store = approve(&world);
        eventually("it runs", runs);
        let good = world.read(file);
        world.write(file, "{");
        let reported = |ok| {
            watcher
                .reports()
                .try_iter()
                .any(|report| report.is_ok() == ok)
        };
        eventually("it is reported", || reported(false));
        assert!(runs(), "{file}");
        world.write("project/guard.sh", "echo changed\n");
        assert!(!one(&world).success());
        world.write("project/guard.sh", "echo ran\n");
        assert!(store.revoke(world.path("project")).unwrap());
        eventually("it is left out", || is_left_out(&world));
        world.write(file, &good);
        eventually("it is mended", || reported(true));
    }
}

/// Nothing of it would run, so nothing of it is worth waiting for.
#[test]
fn a_broken_clone_keeps_the_users_changes() {
    let world = World::new();
    world.write(FORGE, &file_of(&["old"]));
    world.write(PROJECT, "{");
    let policy = TrustPolicy::Approved(config(&world).trust_store().unwrap());
    let _watcher = watch_with(&world, &config(&world), policy);
    become_(&world, &["old"]);
    world.write(FORGE, &file_of(&["new"]));
    become_(&world, &["new"]);
}

#[test]
fn an_event_sees_old_hooks_or_new_ones() {
    let world = World::new();
    world.write(FORGE, &file_of(&["a"; 50]));
    let _watcher = watch(&world);
    let done = AtomicBool::new(false);
    let sets = thread::scope(|scope| {
        let looks = scope.spawn(|| {
            let mut sets = BTreeSet::new();
            while !done.load(Ordering::SeqCst) {
                let hooks = world.registry().get_hooks(&custom("x:y"));
                let names = hooks.iter().map(|hook| hook.command().to_string());
                sets.insert(names.collect::<Vec<_>>());
            }
            sets
        });
        for name in ["b", "c"] {
            let hooks: Vec<Hook> = vec![hook("*", name); 50];
            config(&world).save_global(&hooks).unwrap();
            become_(&world, &[name; 50]);
        }
        done.store(true, Ordering::SeqCst);
        looks.join().unwrap()
    });
    assert!(sets.len() >= 2);
    let is_whole = |set: &Vec<String>| set.len() == 50 && set.iter().all(|name| *name == set[0]);
    assert!(sets.iter().all(is_whole), "{sets:?}");
}

/// The processor time of the watcher's threads.
#[cfg(target_os = "linux")]
fn watchers_time() -> Duration {
    let mut time = Duration::ZERO;
    for task in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
        let read = |file: &str| std::fs::read_to_string(task.path().join(file)).unwrap_or_default();
        if read("comm").starts_with("forge-hooks-wat") {
            let schedstat = read("schedstat");
            let nanoseconds = schedstat.split(' ').next().unwrap_or_default();
            time += Duration::from_nanos(nanoseconds.parse().unwrap_or_default());
        }
    }
    time
}

/// Idle work is endless, so only time shows it: that of a look is compared with that of a load.
#[cfg(target_os = "linux")]
#[test]
fn a_watcher_is_idle_when_nothing_changes() {
    if !alone("watching::a_watcher_is_idle_when_nothing_changes") {
        return;
    }
    let world = World::new();
    let manifest = r#"{"hooks": "more.json"}"#;
    world.write("plugin/.claude-plugin/plugin.json", manifest);
    world.write("plugin/more.json", "{}");
    world.write("home/.codex/hooks.json", "{}");
    world.write(FORGE, &file_of(&["one"]));
    let tools = OtherAgents::new([compat::CODEX])
        .with_plugin(world.path("plugin"))
        .with_home(world.path("home"));
    let config = config(&world).with_other_agents(tools);
    let watcher = watch_with(&world, &config, TrustPolicy::Everything);
    world.write(FORGE, &file_of(&["two"]));
    let report = next(&watcher);
    assert!(report.is_ok(), "{report:?}");
    let log = FORGE.replace("hooks.json", "log");
    let load = timed(|| drop(config.load_global()));
    for writes_log in [false, true] {
        let before = watchers_time();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(400) {
            if writes_log {
                world.write(&log, "a hook's own file, beside its hooks.json");
            }
            thread::sleep(Duration::from_millis(20));
        }
        let took = watchers_time().saturating_sub(before);
        // It looks four times a second; a sleep may take longer than it should.
        let looks = u32::try_from(begun.elapsed().as_millis() / 250).unwrap() + 2;
        let limit = 4 * looks * load;
        assert!(took < limit, "{took:?} of {limit:?}, log: {writes_log}");
        assert!(watcher.reports().is_empty());
    }
    assert!(watchers_time() > Duration::ZERO, "the threads are found");
}
