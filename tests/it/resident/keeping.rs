//! When a process is kept, and when another takes its place.

use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use forge_hooks::outcome::Residency;
use forge_hooks::{FailureKind, Hook, HookResult, HookRun, Observer};
use serde_json::json;

use super::{PYTHON, SHELL, assert_kept, fire, has_ended, is_gone, python, shell};
use crate::support::{World, blocking_event, custom, eventually};
use crate::trust::{PROJECT, Project};

#[test]
fn an_edited_script_replaces_the_process() {
    let world = World::new();
    world.registry().register(shell(&world, SHELL));
    let first = fire(&world);
    assert_kept(&first, Residency::Started);
    world.write("hook.sh", &format!("# edited\n{SHELL}"));
    let second = fire(&world);
    assert_kept(&second, Residency::Replaced);
    assert_ne!(first.pid, second.pid);
    eventually("the first has ended", || is_gone(first.pid));
    assert_kept(&fire(&world), Residency::Kept);
}

#[test]
fn a_changed_input_replaces_the_process() {
    let world = World::new();
    world.write("rules/a", "1");
    let hook = shell(&world, SHELL).with_inputs([
        world.path("rules").to_string_lossy(),
        world.path("*.txt").to_string_lossy(),
    ]);
    world.registry().register(hook);
    assert_kept(&fire(&world), Residency::Started);
    assert_kept(&fire(&world), Residency::Kept);
    for (name, text) in [("rules/a", "22"), ("rules/deep/b", "1"), ("c.txt", "1")] {
        world.write(name, text);
        assert_kept(&fire(&world), Residency::Replaced);
        assert_kept(&fire(&world), Residency::Kept);
    }
}

#[test]
fn an_ended_process_is_started_again() {
    let world = World::new();
    let once = PYTHON.replace("flush=True)", "flush=True); break");
    world.registry().register(python(&world, &once));
    let mut before = None;
    for _ in 0..5 {
        let result = fire(&world);
        assert!(result.success(), "{result:?}");
        eventually("it has ended", || has_ended(result.pid));
        eventually("the one before is reaped", || {
            before.is_none() || is_gone(before)
        });
        before = result.pid;
    }
}

/// Whatever the event: its hook need not be the one with the process.
#[test]
fn the_next_event_reaps_an_idle_process_that_has_ended() {
    let world = World::new();
    let once = PYTHON.replace("flush=True)", "flush=True); break");
    let hook = python(&world, &once);
    let id = world.registry().register(hook);
    world.hook("custom:other", "exit 0");
    let result = fire(&world);
    eventually("it has ended", || has_ended(result.pid));
    assert!(!is_gone(result.pid));
    world.fire(&custom("custom:other"));
    eventually("it is reaped", || is_gone(result.pid));
    world.registry().remove(id);
}

#[test]
fn removing_a_hook_ends_its_process() {
    let world = World::new();
    let id = world.registry().register(shell(&world, SHELL));
    let other = shell(&world, SHELL).with_name("other");
    world.registry().register(other);
    let results = world.fire(&blocking_event());
    world.registry().remove(id);
    eventually("the first has ended", || is_gone(results[0].pid));
    let next = fire(&world);
    assert_eq!(next.pid, results[1].pid);
    world.registry().clear();
    eventually("the other has ended", || is_gone(next.pid));
}

/// As after a reload, which registers a hook again that has not changed.
#[test]
fn an_equal_hook_keeps_the_process() {
    let world = World::new();
    let hook = shell(&world, SHELL);
    let id = world.registry().register(hook.clone());
    let first = fire(&world);
    world.registry().register(hook);
    world.registry().remove(id);
    let next = fire(&world);
    assert_kept(&next, Residency::Kept);
    assert_eq!(first.pid, next.pid);
}

#[test]
fn nothing_is_left_after_shutdown_or_drop() {
    for drops in [false, true] {
        let world = World::new();
        world.registry().register(python(&world, PYTHON));
        let stubborn = PYTHON.replace(
            "import json",
            "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nimport json",
        );
        let stubborn = stubborn + "\nimport time; time.sleep(60)\n";
        world.write("stubborn.py", &stubborn);
        let hook = Hook::program("*", ["python3", "-I", "stubborn.py"]).unwrap();
        let hook = hook.with_resident().with_working_dir(world.directory());
        world.registry().register(hook);
        let results = world.fire(&blocking_event());
        assert!(results.iter().all(|result| result.success()), "{results:?}");
        let begun = Instant::now();
        let directory = if drops {
            world.drop_executor()
        } else {
            assert!(
                world
                    .executor
                    .shutdown(Duration::from_secs(5))
                    .is_complete()
            );
            assert!(results.iter().all(|result| is_gone(result.pid)));
            world.drop_executor()
        };
        eventually("all have ended", || {
            results.iter().all(|result| is_gone(result.pid))
        });
        assert!(begun.elapsed() < Duration::from_secs(5));
        drop(directory);
    }
}

#[test]
fn no_more_than_sixteen_are_kept() {
    let world = World::new();
    for number in 0..18 {
        let hook = shell(&world, SHELL).with_name(format!("{number}"));
        world.registry().register(hook);
    }
    let first = world.fire(&blocking_event());
    for result in &first {
        assert_kept(result, Residency::Started);
    }
    eventually("the oldest two have ended", || {
        first.iter().filter(|result| is_gone(result.pid)).count() == 2
    });
    assert!(is_gone(first[0].pid) && is_gone(first[1].pid));
}

#[test]
fn after_1000_events_it_is_replaced() {
    let world = World::new();
    world.registry().register(shell(&world, SHELL));
    let first = fire(&world);
    for _ in 1..1000 {
        assert_eq!(fire(&world).pid, first.pid);
    }
    assert_kept(&fire(&world), Residency::Replaced);
    eventually("the first has ended", || is_gone(first.pid));
}

/// Fires at the hook that has just answered.
#[derive(Default)]
struct FiresAgain(OnceLock<Weak<World>>);

impl Observer for FiresAgain {
    fn on_finish(&self, run: &HookRun<'_>, result: &HookResult) {
        let again = run.event.data.get("again").is_none();
        if let Some(world) = self.0.get().and_then(Weak::upgrade).filter(|_| again) {
            let event = blocking_event().with_data("again", json!(true));
            let results = world.fire(&event);
            assert!(results[0].success(), "{results:?}");
            assert_eq!(results[0].pid, result.pid);
        }
    }
}

#[test]
fn an_observer_can_fire_the_same_hook() {
    let observer = Arc::new(FiresAgain::default());
    let world = Arc::new(World::with(|builder| builder.observer(observer.clone())));
    observer.0.set(Arc::downgrade(&world)).unwrap();
    world
        .registry()
        .register(python(&world, PYTHON).with_timeout(Duration::from_secs(20)));
    let begun = Instant::now();
    assert!(fire(&world).success());
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn the_environment_has_no_event() {
    let world = World::new();
    let program = r#"
import json, os, sys
for line in sys.stdin:
    names = sorted(name for name in os.environ if "_" in name and name.split("_")[0] in ("FORGE", "OPENCODE", "TOOL"))
    print(json.dumps({"id": json.loads(line)["id"], "reason": " ".join(names)}), flush=True)
"#;
    let hook = python(&world, program)
        .with_env("FORGE_OWN", "1")
        .with_inherit(["PATH", "HOME"]);
    world.registry().register(hook);
    let expected = [
        "FORGE_HOOK_CHAIN",
        "FORGE_HOOK_VARIABLES",
        "FORGE_OWN",
        "FORGE_RESIDENT",
        "FORGE_WORKING_DIR",
        "OPENCODE_RESIDENT",
        "OPENCODE_WORKING_DIR",
    ];
    let names = |result: &HookResult| {
        let output = result.output();
        output.and_then(|it| it.reason.clone()).unwrap_or_default()
    };
    assert_eq!(names(&fire(&world)), expected.join(" "));
    let _ = world.executor.shutdown(Duration::ZERO);
    let once = fire(&world);
    assert_kept(&once, Residency::OneShot);
    assert_eq!(names(&once), expected.join(" "));
}

/// More than a pipe holds: it waits until the next event, which reads what is there.
#[test]
fn an_idle_process_may_write_to_standard_error() {
    let world = World::new();
    let program = PYTHON.replace(
        "flush=True)",
        "flush=True)\n    sys.stderr.write('x' * 500_000); sys.stderr.flush()",
    );
    world.registry().register(python(&world, &program));
    let first = fire(&world);
    assert_kept(&first, Residency::Started);
    for _ in 0..3 {
        let next = fire(&world);
        assert_kept(&next, Residency::Kept);
        assert_eq!(next.pid, first.pid);
    }
}

/// Two hooks with one script are two processes.
#[test]
fn each_hook_has_a_process_of_its_own() {
    let world = World::new();
    let hook = shell(&world, SHELL);
    world.registry().register(hook.clone());
    world.registry().register(hook.with_env("A", "1"));
    let results = world.fire(&blocking_event());
    assert_ne!(results[0].pid, results[1].pid);
}

/// A project's script, edited while its process is kept.
#[test]
fn a_lost_approval_ends_the_process() {
    let project = Project::new();
    let hooks = r#"{"hooks": [{"event": "tool:pre_execute", "args": ["python3", "-I", "guard.py"], "resident": true}]}"#;
    project.world.write(PROJECT, hooks);
    project.world.write("project/guard.py", PYTHON);
    project.approve();
    assert!(project.load().is_ok());
    let first = fire(&project.world);
    assert_kept(&first, Residency::Started);
    assert_kept(&fire(&project.world), Residency::Kept);
    project
        .world
        .write("project/guard.py", &format!("# edited\n{PYTHON}"));
    let lost = fire(&project.world);
    assert_eq!(lost.failure, Some(FailureKind::ApprovalLost), "{lost:?}");
    assert!(!lost.should_continue() && lost.pid.is_none());
    eventually("the first has ended", || is_gone(first.pid));
    project.approve();
    assert!(project.load().is_ok());
    let approved = fire(&project.world);
    assert!(
        approved.success() && approved.pid != first.pid,
        "{approved:?}"
    );
}

/// The script that would run is another one than was approved when it began to wait.
#[test]
fn approval_is_checked_when_its_turn_comes() {
    let project = Project::new();
    let hooks = r#"{"hooks": [{"event": "tool:pre_execute", "args": ["python3", "-I", "guard.py"], "resident": true, "timeout": 20}]}"#;
    project.world.write(PROJECT, hooks);
    let slow = "    if event['data'].get('slow'):\n        open('busy', 'w')\n        while not os.path.exists('go'): pass\n        sys.exit(0)\n    print";
    let guard = PYTHON.replace("    print", slow);
    project.world.write("project/guard.py", &guard);
    project.approve();
    assert!(project.load().is_ok());
    let slow = blocking_event().with_data("slow", json!(true));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| project.world.fire(&slow));
        project.world.await_file("project/busy");
        let second = scope.spawn(|| fire(&project.world));
        std::thread::sleep(Duration::from_millis(100));
        project.world.write("project/guard.py", PYTHON);
        project.world.write("project/go", "");
        assert!(!first.join().unwrap()[0].should_continue());
        let second = second.join().unwrap();
        assert_eq!(
            second.failure,
            Some(FailureKind::ApprovalLost),
            "{second:?}"
        );
    });
}

#[test]
fn an_edited_script_is_noticed_however_it_is_named() {
    let world = World::new();
    for command in [
        "exec python3 -I ~/hook.py",
        "exec python3 -I \"$HOME/hook.py\"",
        "cd sub && exec python3 -I hook.py",
        "sh -c 'exec python3 -I hook.py'",
    ] {
        world.registry().clear();
        for file in ["hook.py", "sub/hook.py"] {
            world.write(file, PYTHON);
        }
        let hook = Hook::new("*", command).unwrap().with_resident();
        let hook = hook.with_env("HOME", world.directory().to_string_lossy());
        world.registry().register(hook);
        assert_kept(&fire(&world), Residency::Started);
        assert_kept(&fire(&world), Residency::Kept);
        for file in ["hook.py", "sub/hook.py"] {
            world.write(file, &format!("# edited\n{PYTHON}"));
        }
        assert_kept(&fire(&world), Residency::Replaced);
    }
}

/// No process is kept whose files are unknown.
#[test]
fn a_name_that_a_shell_makes_runs_one_shot() {
    let world = World::new();
    world.write("hook.py", PYTHON);
    let hook = Hook::new("*", "exec python3 -I \"$(pwd)/hook.py\"").unwrap();
    let hook = hook.with_resident();
    world.registry().register(hook.clone());
    assert_kept(&fire(&world), Residency::OneShot);
    // `inputs` names them.
    world.registry().clear();
    let input = world.path("hook.py");
    let hook = hook.with_inputs([input.to_string_lossy()]);
    world.registry().register(hook);
    assert_kept(&fire(&world), Residency::Started);
    assert_kept(&fire(&world), Residency::Kept);
    world.write("hook.py", &format!("# edited\n{PYTHON}"));
    assert_kept(&fire(&world), Residency::Replaced);
}

#[test]
fn circular_links_are_followed_once() {
    let world = World::new();
    for name in ["a", "b"] {
        std::os::unix::fs::symlink(".", world.path(name)).unwrap();
    }
    let hook = shell(&world, SHELL).with_inputs([world.path("**/*.x").to_string_lossy()]);
    world.registry().register(hook);
    assert_kept(&fire(&world), Residency::Started);
    world.write("deep/new.x", "");
    assert_kept(&fire(&world), Residency::Replaced);
}

#[test]
fn a_changed_link_replaces_the_process() {
    let world = World::new();
    for version in ["v1", "v2"] {
        world.write(&format!("{version}/lib/a"), version);
        world.write(&format!("{version}/hook.sh"), SHELL);
    }
    let turn = |to: &str| {
        let _ = std::fs::remove_file(world.path("now"));
        std::os::unix::fs::symlink(to, world.path("now")).unwrap();
    };
    turn("v1");
    let hook = shell(&world, SHELL).with_working_dir(world.path("now"));
    world.registry().register(hook);
    assert_kept(&fire(&world), Residency::Started);
    turn("v2");
    assert_kept(&fire(&world), Residency::Replaced);
    world.registry().clear();
    let hook = shell(&world, SHELL).with_inputs([world.path("now/lib").to_string_lossy()]);
    world.registry().register(hook);
    assert_kept(&fire(&world), Residency::Started);
    turn("v1");
    assert_kept(&fire(&world), Residency::Replaced);
}

#[test]
fn a_busy_hook_that_is_removed_ends() {
    let world = World::new();
    let slow = "    open('busy', 'w')\n    while not os.path.exists('go'): pass\n    print";
    let hook = python(&world, &PYTHON.replace("    print", slow));
    world
        .registry()
        .register(hook.with_timeout(Duration::from_secs(20)));
    let result = std::thread::scope(|scope| {
        let result = scope.spawn(|| fire(&world));
        world.await_file("busy");
        world.registry().clear();
        world.write("go", "");
        result.join().unwrap()
    });
    assert!(result.success(), "{result:?}");
    eventually("it has ended", || is_gone(result.pid));
}
