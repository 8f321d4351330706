//! Hooks that are loaded again when their files change.
#![cfg(all(feature = "watch", unix))]

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use forge_hooks::compat::{self, OtherTools};
use forge_hooks::config::{HookWatcher, TrustPolicy};
use forge_hooks::trust::Approval;
use forge_hooks::{HookConfig, HookRegistry};
use serde_json::json;

use crate::config::{FORGE, config, file_of};
use crate::support::{World, alone, custom, eventually, hook};

const PROJECT: &str = "project/.src/forge/hooks.json";

fn watch(world: &World) -> HookWatcher {
    let registry = Arc::clone(world.registry());
    let root = world.path("project");
    config(world)
        .watch(registry, root, TrustPolicy::Everything)
        .unwrap()
}

fn commands(registry: &HookRegistry) -> Vec<String> {
    registry
        .hooks()
        .iter()
        .map(|hook| hook.command().to_string())
        .collect()
}

#[track_caller]
fn become_(world: &World, expected: &[&str]) {
    eventually(&format!("the hooks are {expected:?}"), || {
        commands(world.registry()) == expected
    });
}

#[test]
fn a_changed_file_is_reloaded() {
    let world = World::new();
    world.hook("*", "host");
    world.write(FORGE, &file_of(&["one"]));
    let watcher = watch(&world);
    assert_eq!(watcher.report().loaded, 1);
    assert_eq!(commands(world.registry()), ["host", "one"]);
    world.write(FORGE, &file_of(&["two", "three"]));
    become_(&world, &["host", "two", "three"]);
    let report = watcher.reports().recv_timeout(LONG_ENOUGH).unwrap();
    assert!(report.is_ok() && report.in_use == 2, "{report:?}");
    config(&world).save_global([hook("*", "saved")]).unwrap();
    become_(&world, &["host", "saved"]);
}

/// A settings file of Claude Code with a hook of this command.
fn settings(command: &str) -> String {
    let handler = json!({"type": "command", "command": command});
    json!({"hooks": {"Stop": [{"hooks": [handler]}]}}).to_string()
}

#[test]
fn files_of_other_tools_are_watched() {
    let world = World::new();
    world.write(
        "plugin/.claude-plugin/plugin.json",
        r#"{"hooks": "more.json"}"#,
    );
    world.write("home/.gemini/extensions/a/hooks/hooks.json", "{}");
    let files = ["named.json", "plugin/hooks/hooks.json", "plugin/more.json"];
    for file in files {
        world.write(file, "{}");
    }
    let tools = OtherTools::new([compat::GEMINI])
        .with_plugin(world.path("plugin"))
        .with_settings(compat::CLAUDE, world.path("named.json"))
        .with_home(world.path("home"));
    let config = config(&world).with_other_tools(tools);
    let registry = Arc::clone(world.registry());
    let root = world.path("project");
    let _watcher = config
        .watch(registry, root, TrustPolicy::Everything)
        .unwrap();
    let mut expected = Vec::new();
    for file in files {
        world.write(file, &settings(file));
        expected.push(file);
        eventually(file, || {
            let found: HashSet<_> = commands(world.registry()).into_iter().collect();
            found.len() == expected.len() && expected.iter().all(|it| found.contains(*it))
        });
    }
    let handler = json!({"type": "command", "command": "gemini"});
    let hooks = json!({"hooks": {"BeforeTool": [{"hooks": [handler]}]}}).to_string();
    for extension in ["a", "new"] {
        world.write(
            &format!("home/.gemini/extensions/{extension}/hooks/hooks.json"),
            &hooks,
        );
        expected.push("gemini");
        eventually(extension, || {
            commands(world.registry()).len() == expected.len()
        });
    }
}

const LONG_ENOUGH: Duration = Duration::from_secs(10);

#[test]
fn one_change_is_one_report() {
    let world = World::new();
    let watcher = watch(&world);
    let sets: [&[&str]; 4] = [&["a"], &["a", "b"], &["a", "b", "c"], &[]];
    for (round, set) in sets.into_iter().enumerate() {
        if round % 2 == 0 {
            world.write(FORGE, &file_of(set));
        } else {
            let hooks = set.iter().map(|command| hook("*", command));
            config(&world).save_global(hooks).unwrap();
        }
        let report = watcher.reports().recv_timeout(LONG_ENOUGH).unwrap();
        assert_eq!((report.in_use, report.is_ok()), (set.len(), true));
    }
    assert!(watcher.reports().is_empty());
}

#[test]
fn a_file_being_written_is_not_an_error() {
    let world = World::new();
    let watcher = watch(&world);
    let mut rounds = 0;
    while rounds < 3 {
        let start = Instant::now();
        for part in ["", "{\"hooks\": [{\"event\":"] {
            world.write(FORGE, part);
            // An editor that takes its time.
            thread::sleep(Duration::from_millis(60));
        }
        world.write(FORGE, &file_of(&["a"][..rounds % 2]));
        // On a machine that is too busy, the file may have stood there for long.
        let was_fast = start.elapsed() < Duration::from_millis(190);
        let next = || watcher.reports().recv_timeout(LONG_ENOUGH).unwrap();
        if was_fast {
            let report = next();
            assert!(report.is_ok(), "{report:?}");
            rounds += 1;
        } else {
            while !next().is_ok() {}
        }
    }
}

#[test]
fn a_report_counts_the_hooks_that_stay() {
    let world = World::new();
    world.write(FORGE, &file_of(&["good", "better"]));
    let watcher = watch(&world);
    assert_eq!(watcher.report().in_use, 2);
    let entries = json!({"hooks": [{"event": "*", "command": "x"}, {"event": "*"}]});
    world.write(FORGE, &entries.to_string());
    let report = watcher.reports().recv_timeout(LONG_ENOUGH).unwrap();
    assert_eq!((report.loaded, report.in_use), (1, 2));
    world.write(FORGE, "{");
    let report = watcher.reports().recv_timeout(LONG_ENOUGH).unwrap();
    assert_eq!((report.loaded, report.in_use), (0, 2));
}

#[test]
fn a_file_appears_with_its_directories() {
    let world = World::new();
    std::fs::create_dir(world.path("project")).unwrap();
    let watcher = watch(&world);
    for _ in 0..2 {
        world.write(PROJECT, &file_of(&["project"]));
        become_(&world, &["project"]);
        world.write(FORGE, &file_of(&["global"]));
        become_(&world, &["global", "project"]);
        std::fs::remove_dir_all(world.path("project/.src")).unwrap();
        become_(&world, &["global"]);
        std::fs::remove_file(world.path(FORGE)).unwrap();
        become_(&world, &[]);
    }
    drop(watcher);
}

#[test]
fn a_broken_file_keeps_the_last_good_hooks() {
    let world = World::new();
    world.write(FORGE, &file_of(&["good"]));
    let watcher = watch(&world);
    for broken in ["{", r#"{"hooks": [{"event": "*"}]}"#] {
        world.write(FORGE, broken);
        eventually("it is reported", || {
            watcher.reports().try_iter().any(|report| !report.is_ok())
        });
        assert_eq!(commands(world.registry()), ["good"]);
    }
    world.write(FORGE, &file_of(&["mended"]));
    become_(&world, &["mended"]);
}

const BROKEN: [&str; 3] = ["{", r#"{"hooks": [{"event": "*"}]}"#, "[]"];

/// Waits for the next report.
fn next(watcher: &HookWatcher) -> forge_hooks::LoadReport {
    watcher.reports().recv_timeout(LONG_ENOUGH).unwrap()
}

#[test]
fn a_broken_file_does_not_stop_the_others() {
    let world = World::new();
    world.write(FORGE, &file_of(&["good"]));
    world.write(PROJECT, &file_of(&["project"]));
    let watcher = watch(&world);
    for (round, broken) in BROKEN.into_iter().enumerate() {
        world.write(FORGE, broken);
        assert!(!next(&watcher).is_ok());
        let changed = format!("changed {round}");
        world.write(PROJECT, &file_of(&[&changed]));
        let report = next(&watcher);
        assert_eq!(commands(world.registry()), ["good", &changed]);
        assert_eq!((report.loaded, report.in_use), (1, 2), "{report:?}");
        assert!(
            report
                .problems
                .iter()
                .all(|it| it.path == world.path(FORGE))
        );
    }
    world.write(FORGE, &file_of(&["mended"]));
    become_(&world, &["mended", "changed 2"]);
}

/// Its placeholder hook, which has no command, stays until it is fixed.
#[test]
fn a_file_that_was_never_good_blocks() {
    for broken in BROKEN {
        let world = World::new();
        world.write(FORGE, broken);
        let watcher = watch(&world);
        assert!(!watcher.report().is_ok());
        assert_eq!(commands(world.registry()), [""]);
        world.write(PROJECT, &file_of(&["project"]));
        become_(&world, &["", "project"]);
        world.write(FORGE, &file_of(&["mended"]));
        become_(&world, &["mended", "project"]);
    }
}

/// Its last good content was none.
#[test]
fn a_file_that_comes_back_broken_blocks() {
    let world = World::new();
    world.write(FORGE, &file_of(&["good"]));
    let _watcher = watch(&world);
    std::fs::remove_file(world.path(FORGE)).unwrap();
    become_(&world, &[]);
    world.write(FORGE, "{");
    become_(&world, &[""]);
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
    assert_eq!(commands(world.registry()), ["one"]);
    world.write(FORGE, r#"{"disable": ["noisy"], "hooks": [}"#);
    world.write(PROJECT, &noisy("two"));
    become_(&world, &["two"]);
}

#[test]
fn a_broken_file_of_another_tool_keeps_its_hooks() {
    let world = World::new();
    let off = json!({"disableAllHooks": true, "hooks": {}}).to_string();
    let (first, second) = ("first.json", "second.json");
    world.write(first, &settings("first"));
    world.write(second, "{}");
    world.write(FORGE, &file_of(&["one"]));
    let tools = OtherTools::new([])
        .with_home(world.path("home"))
        .with_settings(compat::CLAUDE, world.path(first))
        .with_settings(compat::CLAUDE, world.path(second))
        .with_strict_guards();
    let registry = Arc::clone(world.registry());
    let config = config(&world).with_other_tools(tools);
    let root = world.path("project");
    let _watcher = config
        .watch(registry, root, TrustPolicy::Everything)
        .unwrap();
    world.write(first, "{");
    world.write(FORGE, &file_of(&["two"]));
    become_(&world, &["two", "first"]);
    let is_on = || world.registry().hooks()[1].enabled();
    assert!(is_on());
    world.write(second, &off);
    eventually("it is switched off", || !is_on());
    world.write(second, "{");
    world.write(FORGE, &file_of(&["three"]));
    become_(&world, &["three", "first"]);
    assert!(!is_on());
    world.write(second, "{}");
    eventually("it is switched on", is_on);
}

/// The file of the revoked hooks, or that of a changed script.
#[test]
fn kept_hooks_of_a_project_need_their_approval() {
    let world = World::new();
    world.write("project/guard.sh", "echo ran\n");
    world.write(PROJECT, &file_of(&["sh guard.sh"]));
    let config = config(&world);
    let store = config.trust_store().unwrap();
    let root = world.path("project");
    let approval = Approval::of(&root, config.load_project(&root)).unwrap();
    store.approve(&approval).unwrap();
    let policy = TrustPolicy::Approved(store.clone());
    let registry = Arc::clone(world.registry());
    let watcher = config.watch(registry, &root, policy).unwrap();
    world.write(PROJECT, "{");
    assert!(!next(&watcher).is_ok());
    assert_eq!(world.fire(&custom("a:b"))[0].stdout.trim(), "ran");
    world.write("project/guard.sh", "echo changed\n");
    assert!(!world.fire(&custom("a:b"))[0].success());
    world.write("project/guard.sh", "echo ran\n");
    assert!(store.revoke(&root).unwrap());
    eventually("it is skipped", || {
        world.fire(&custom("a:b"))[0].skipped.is_some()
    });
}

#[test]
fn a_dropped_watcher_watches_nothing() {
    let world = World::new();
    world.write(FORGE, &file_of(&["one"]));
    let watcher = watch(&world);
    let reports = watcher.reports().clone();
    drop(watcher);
    eventually("its thread has ended", || {
        matches!(
            reports.try_recv(),
            Err(crossbeam_channel::TryRecvError::Disconnected)
        )
    });
    world.write(FORGE, &file_of(&["two"]));
    assert_eq!(commands(world.registry()), ["one"]);
}

#[test]
fn an_event_sees_old_hooks_or_new_ones() {
    let world = World::new();
    let set = |name: &str| file_of(&[name; 50]);
    world.write(FORGE, &set("a"));
    let _watcher = watch(&world);
    let done = AtomicBool::new(false);
    let sets = thread::scope(|scope| {
        let looks = scope.spawn(|| {
            let mut sets = HashSet::new();
            while !done.load(Ordering::SeqCst) {
                let hooks = world.registry().get_hooks(&custom("x:y"));
                let names: Vec<_> = hooks
                    .iter()
                    .map(|hook| hook.command().to_string())
                    .collect();
                sets.insert(names);
            }
            sets
        });
        for name in ["b", "c", "d"] {
            config(&world)
                .save_global((0..50).map(|_| hook("*", name)))
                .unwrap();
            become_(&world, &[name; 50]);
        }
        done.store(true, Ordering::SeqCst);
        looks.join().unwrap()
    });
    assert!(sets.len() >= 2);
    assert!(
        sets.iter()
            .all(|set| set.len() == 50 && set.iter().all(|name| *name == set[0])),
        "{sets:?}"
    );
}

#[test]
fn an_approval_takes_effect_by_itself() {
    let world = World::new();
    let hooks = json!({"hooks": [{"event": "*", "command": "echo ran"}]});
    world.write(PROJECT, &hooks.to_string());
    let config: HookConfig = config(&world);
    let store = config.trust_store().unwrap();
    let policy = TrustPolicy::Approved(store.clone());
    let root = world.path("project");
    let _watcher = config
        .watch(Arc::clone(world.registry()), &root, policy)
        .unwrap();
    let runs = || world.outcome(&custom("x:y")).results()[0].stdout.trim() == "ran";
    assert!(!runs());
    store
        .approve(&Approval::of(&root, config.load_project(&root)).unwrap())
        .unwrap();
    eventually("it runs", runs);
    assert!(store.revoke(&root).unwrap());
    eventually("it does not run", || !runs());
}

/// Nothing of it would run, so nothing of it is worth waiting for.
#[test]
fn a_broken_clone_keeps_the_users_changes() {
    let world = World::new();
    world.write(FORGE, &file_of(&["old"]));
    world.write(PROJECT, "{");
    let policy = TrustPolicy::Approved(config(&world).trust_store().unwrap());
    let registry = Arc::clone(world.registry());
    let root = world.path("project");
    let _watcher = config(&world).watch(registry, root, policy).unwrap();
    become_(&world, &["old"]);
    world.write(FORGE, &file_of(&["new"]));
    become_(&world, &["new"]);
}

#[test]
fn a_broken_file_keeps_no_revoked_hook() {
    let world = World::new();
    world.write(FORGE, &file_of(&[]));
    world.write(PROJECT, &file_of(&["echo project"]));
    let config = config(&world);
    let store = config.trust_store().unwrap();
    let root = world.path("project");
    let approval = Approval::of(&root, config.load_project(&root)).unwrap();
    store.approve(&approval).unwrap();
    let registry = Arc::clone(world.registry());
    let policy = TrustPolicy::Approved(store.clone());
    let watcher = config.watch(registry, &root, policy).unwrap();
    assert!(world.fire(&custom("a:b"))[0].success());
    world.write(FORGE, "{");
    eventually("it is reported", || {
        watcher.reports().try_iter().any(|report| !report.is_ok())
    });
    assert!(
        world.fire(&custom("a:b"))[0].success(),
        "the last good hooks stay"
    );
    assert!(store.revoke(&root).unwrap());
    eventually("it is skipped", || {
        world.fire(&custom("a:b"))[0].skipped.is_some()
    });
}

/// The processor time of the watcher's threads.
#[cfg(target_os = "linux")]
fn watchers_time() -> Duration {
    let mut time = Duration::ZERO;
    for task in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
        let read = |file: &str| std::fs::read_to_string(task.path().join(file)).unwrap_or_default();
        let name = read("comm");
        if name.starts_with("forge-hooks-wat") {
            let schedstat = read("schedstat");
            let nanoseconds = schedstat.split(' ').next().unwrap_or_default();
            time += Duration::from_nanos(nanoseconds.parse().unwrap_or_default());
        }
    }
    time
}

/// Idle work is endless, so only time shows it.
#[cfg(target_os = "linux")]
#[test]
fn a_watcher_is_idle_when_nothing_changes() {
    if !alone("watching::a_watcher_is_idle_when_nothing_changes") {
        return;
    }
    let world = World::new();
    world.write(
        "plugin/.claude-plugin/plugin.json",
        r#"{"hooks": "more.json"}"#,
    );
    world.write("plugin/more.json", "{}");
    world.write("home/.gemini/extensions/a/hooks/hooks.json", "{}");
    world.write("home/.gemini/settings.json", "{}");
    world.write(FORGE, &file_of(&["one"]));
    let tools = OtherTools::new([compat::GEMINI])
        .with_plugin(world.path("plugin"))
        .with_home(world.path("home"));
    let config = config(&world).with_other_tools(tools);
    let registry = Arc::clone(world.registry());
    let root = world.path("project");
    let watcher = config
        .watch(registry, root, TrustPolicy::Everything)
        .unwrap();
    world.write(FORGE, &file_of(&["two"]));
    let report = watcher.reports().recv_timeout(LONG_ENOUGH).unwrap();
    assert!(report.is_ok(), "{report:?}");
    let log = std::path::Path::new(FORGE).with_file_name("log");
    for writes_log in [false, true] {
        let before = watchers_time();
        let end = Instant::now() + Duration::from_millis(1500);
        while Instant::now() < end {
            if writes_log {
                world.write(
                    log.to_str().unwrap(),
                    "a hook's own file, beside its hooks.json",
                );
            }
            thread::sleep(Duration::from_millis(20));
        }
        let took = watchers_time().saturating_sub(before);
        assert!(
            took < Duration::from_millis(100),
            "{took:?}, log: {writes_log}"
        );
        assert!(watcher.reports().is_empty());
    }
    assert!(watchers_time() > Duration::ZERO, "the threads are found");
}

struct Panics;

impl log::Log for Panics {
    fn enabled(&self, _metadata: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        panic!("the logger panics, and is to: {}", record.args())
    }

    fn flush(&self) {}
}

#[test]
fn a_logger_that_always_panics_is_survived() {
    if !alone("watching::a_logger_that_always_panics_is_survived") {
        return;
    }
    log::set_logger(&Panics).unwrap();
    log::set_max_level(log::LevelFilter::Trace);
    let world = World::new();
    let watcher = watch(&world);
    world.write(
        PROJECT,
        r#"{"hooks": [{"event": "*", "command": "exit 2"}]}"#,
    );
    let report = watcher.reports().recv_timeout(Duration::from_secs(20));
    assert_eq!(report.unwrap().in_use, 1);
}
