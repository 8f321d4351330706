//! The conditions under which a process is kept, and under which another replaces it.

use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use forge_hooks::config::TrustPolicy;
use forge_hooks::{AppProfile, FailureKind, Hook, HookConfig, HookResult, Hooks};
use serde_json::{Value, json};

use super::{PYTHON, SHELL, assert_kept, fire, fires, has_ended, is_gone, reason, resident, shell};
use crate::support::{PATIENCE, World, blocking_event, custom, eventually};
use crate::trust::{PROJECT, Project};

fn edited() -> String {
    format!("# edited\n{SHELL}")
}

/// Waits for a file before each answer, and says so.
fn waiting() -> String {
    SHELL.replace(
        "do answer",
        "do : >busy; until test -e go; do sleep 0.01; done; answer",
    )
}

#[test]
fn a_changed_file_replaces_the_process() {
    let world = World::new();
    world.write("rules/a", "1");
    for link in ["self", "again"] {
        symlink(".", world.path(link)).unwrap();
    }
    let inputs = ["rules", "*.txt", "**/*.x"].map(|pattern| world.path(pattern));
    let inputs = inputs
        .iter()
        .map(|path| path.to_string_lossy().into_owned());
    // Relative to the working directory.
    let inputs = inputs.chain(["relative/*.json".to_owned()]);
    let hook = shell(&world, SHELL).with_inputs(inputs);
    world.add(hook);
    let mut before = fires(&world, "started");
    for (name, text) in [
        ("hook.sh", &*edited()),
        ("rules/a", "22"),
        ("rules/deep/b", "1"),
        ("c.txt", "1"),
        ("relative/a.json", "1"),
        // Circular links are followed once.
        ("deep/new.x", ""),
    ] {
        assert_eq!(fires(&world, "kept").pid(), before.pid());
        world.write(name, text);
        let next = fires(&world, "replaced");
        assert_ne!(next.pid(), before.pid(), "{name}");
        eventually("the one before has ended", || is_gone(before.pid()));
        before = next;
    }
}

/// A process in a directory that is gone would judge nothing rightly. Its script is elsewhere.
#[test]
fn a_process_is_not_kept_without_its_directory() {
    let world = World::new();
    let directory = world.path("session");
    std::fs::create_dir(&directory).unwrap();
    world.write("hook.sh", SHELL);
    let script = world.path("hook.sh");
    let hook = Hook::program("*", ["sh", script.to_str().unwrap()]).unwrap();
    world.add(hook.with_resident().with_working_dir(&directory));
    let before = fires(&world, "started");
    std::fs::remove_dir(&directory).unwrap();
    let result = fire(&world);
    assert_eq!(
        result.failure(),
        Some(FailureKind::NoWorkingDir),
        "{result:?}"
    );
    assert!(!result.should_continue());
    std::fs::create_dir(&directory).unwrap();
    assert_ne!(fires(&world, "replaced").pid(), before.pid());
    // Another one with the same name.
    std::fs::rename(&directory, world.path("away")).unwrap();
    std::fs::create_dir(&directory).unwrap();
    fires(&world, "replaced");
}

/// A file that `inputs` excludes is not an input.
#[test]
fn an_excluded_file_does_not_replace_the_process() {
    let world = World::new();
    world.write("data/cache/a", "1");
    world.add(shell(&world, SHELL).with_inputs(["data", "!data/cache"]));
    fires(&world, "started");
    world.write("data/cache/a", "22");
    fires(&world, "kept");
    world.write("data/b", "1");
    fires(&world, "replaced");
}

/// The size of a file that is not read has no limit.
#[test]
fn a_process_is_kept_beside_large_inputs() {
    let world = World::new();
    world.write("data/large", "");
    let large = world.path("data/large");
    let large = std::fs::File::options().write(true).open(large).unwrap();
    large.set_len(17 * 1024 * 1024).unwrap();
    world.add(shell(&world, SHELL).with_inputs(["data"]));
    fires(&world, "started");
    fires(&world, "kept");
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
        symlink(to, world.path("now")).unwrap();
    };
    for hook in [
        shell(&world, SHELL).with_working_dir(world.path("now")),
        shell(&world, SHELL).with_inputs([world.path("now/lib").to_string_lossy()]),
    ] {
        turn("v1");
        world.registry().clear();
        world.add(hook);
        fires(&world, "started");
        turn("v2");
        fires(&world, "replaced");
    }
}

#[test]
fn an_edited_script_is_noticed_however_it_is_named() {
    let world = World::new();
    for (command, is_known) in [
        ("exec sh ~/hook.sh", true),
        ("exec sh \"$HOME/hook.sh\"", true),
        ("cd sub && exec sh hook.sh", true),
        ("sh -c 'exec sh hook.sh'", true),
        // No process is kept whose files are unknown, unless `inputs` names them.
        ("exec sh \"$(pwd)/hook.sh\"", false),
    ] {
        world.registry().clear();
        let files = ["hook.sh", "sub/hook.sh"];
        let write = |text: &str| files.map(|file| world.write(file, text));
        write(SHELL);
        let hook = Hook::new("*", command).unwrap().with_resident();
        let mut hook = hook.with_env("HOME", world.directory().to_string_lossy());
        if !is_known {
            world.add(hook.clone());
            fires(&world, "one_shot");
            world.registry().clear();
            hook = hook.with_inputs([world.path("hook.sh").to_string_lossy()]);
        }
        world.add(hook);
        fires(&world, "started");
        fires(&world, "kept");
        write(&edited());
        fires(&world, "replaced");
    }
}

/// The names that an interpreter completes are those that an approval covers.
#[test]
fn an_edited_module_is_noticed() {
    let world = World::new();
    world.write("guard/__main__.py", PYTHON);
    let hook = Hook::program("*", ["python3", "-m", "guard"]).unwrap();
    world.add(hook.with_resident());
    fires(&world, "started");
    fires(&world, "kept");
    world.write("guard/__main__.py", &format!("{PYTHON}\n# edited\n"));
    fires(&world, "replaced");
}

/// Any event does this: its hook need not be the one with the process.
#[test]
fn the_next_event_reaps_an_idle_process_that_has_ended() {
    let world = World::new();
    let once = SHELL.replace("do answer;", "do answer; break;");
    world.add(shell(&world, &once));
    world.hook("custom:other", "exit 0");
    let result = fire(&world);
    eventually("it has ended", || has_ended(result.pid()));
    assert!(!is_gone(result.pid()));
    world.fire(&custom("custom:other"));
    eventually("it is reaped", || is_gone(result.pid()));
}

#[test]
fn a_process_lives_as_long_as_its_hook() {
    let world = World::new();
    let hook = shell(&world, SHELL);
    let pattern = hook.event_pattern().to_owned();
    world.add(hook.clone());
    // Each hook has a process of its own, also with the same script.
    let mut other = hook.clone().with_env("A", "1").to_json();
    other["event"] = "tool:*".into();
    world.add(Hook::from_json(&other).unwrap());
    let results = world.fire(&blocking_event());
    assert_ne!(results[0].pid(), results[1].pid());
    assert!(world.registry().unregister(&pattern));
    eventually("the first has ended", || is_gone(results[0].pid()));
    assert_eq!(fire(&world).pid(), results[1].pid());
    world.registry().clear();
    eventually("the other has ended", || is_gone(results[1].pid()));
}

#[test]
fn a_reload_ends_the_process_of_a_hook_that_is_gone() {
    let world = World::new();
    let hook = shell(&world, SHELL).to_json();
    let write = |entries: Value| {
        let text = json!({"hooks": entries}).to_string();
        world.write("config/mygame/hooks.json", &text);
    };
    write(json!([hook]));
    let hooks = Hooks::builder(AppProfile::new("mygame")).config_home(world.path("config"));
    let hooks = hooks.load();
    let pid = || hooks.execute(&blocking_event()).results()[0].pid();
    let first = pid();
    write(json!([hook, {"event": "session:start", "command": "true"}]));
    assert!(hooks.reload().is_ok());
    assert_eq!(pid(), first, "it has not changed");
    write(json!([]));
    assert!(hooks.reload().is_ok());
    eventually("it has ended", || is_gone(first));
}

#[test]
fn a_busy_hook_that_is_removed_ends() {
    let world = World::new();
    world.add(shell(&world, &waiting()));
    let result = std::thread::scope(|scope| {
        let result = scope.spawn(|| fire(&world));
        world.await_file("busy");
        world.registry().clear();
        world.write("go", "");
        result.join().unwrap()
    });
    assert!(result.success(), "{result:?}");
    eventually("it has ended", || is_gone(result.pid()));
}

#[test]
fn nothing_is_left_after_shutdown_or_drop() {
    for drops in [false, true] {
        let world = World::new();
        world.add(shell(&world, SHELL));
        let stubborn = format!("trap '' TERM\n{SHELL}\nsleep 60");
        let stubborn = resident(&world, ["sh", "stubborn.sh"], &stubborn);
        world.add(stubborn);
        let results = world.fire(&blocking_event());
        assert!(results.iter().all(HookResult::success), "{results:?}");
        let all_gone = || results.iter().all(|result| is_gone(result.pid()));
        let begun = Instant::now();
        if !drops {
            let report = world.executor.shutdown(PATIENCE / 2);
            assert!(report && all_gone());
        }
        let _directory = world.drop_executor();
        eventually("all have ended", all_gone);
        // One of them sleeps for a minute.
        assert!(begun.elapsed() < PATIENCE / 2);
    }
}

#[test]
fn no_more_than_sixteen_are_kept() {
    let world = World::new();
    for number in 0..18 {
        let hook = shell(&world, SHELL).with_name(format!("{number}"));
        world.add(hook);
    }
    for later in ["started", "kept"] {
        let results = world.fire(&blocking_event());
        let how: Vec<_> = results.iter().map(HookResult::residency).collect();
        let kept = how[..16].iter().all(|how| *how == Some(later));
        let others = how[16..].iter().all(|how| *how == Some("one_shot"));
        assert!(kept && others, "{results:?}");
        assert!(results.iter().all(HookResult::success), "{results:?}");
    }
    // A place is free again.
    world.registry().unregister("*");
    world.add(shell(&world, SHELL).with_name("another"));
    fires(&world, "started");
}

#[test]
fn the_environment_has_no_event() {
    let world = World::new();
    let names = "env | sed 's/=.*//' | grep -E '^(FORGE|OPENCODE|TOOL)_' | sort | tr '\\n' ' '";
    let program = SHELL.replace("\"$$\"", &format!("\"$({names})\""));
    let hook = shell(&world, &program).with_env("FORGE_OWN", "1");
    let hook = hook.with_inherit(["PATH", "HOME"]);
    world.add(hook);
    let expected = "FORGE_HOOK_CHAIN FORGE_HOOK_VARIABLES FORGE_OWN FORGE_RESIDENT \
                    FORGE_WORKING_DIR OPENCODE_RESIDENT OPENCODE_WORKING_DIR ";
    assert_eq!(reason(&fire(&world)), expected);
    let _ = world.executor.shutdown(Duration::ZERO);
    assert_eq!(reason(&fires(&world, "one_shot")), expected);
}

/// More than a pipe holds: it waits until the next event, which reads what is there.
#[test]
fn an_idle_process_may_write_to_standard_error() {
    let world = World::new();
    let writes = "do answer; head -c 500000 /dev/zero >&2;";
    let program = SHELL.replace("do answer;", writes);
    world.add(shell(&world, &program));
    let first = fires(&world, "started");
    for _ in 0..3 {
        assert_eq!(fires(&world, "kept").pid(), first.pid());
    }
}

/// A project with a resident guard, which is approved and loaded.
fn guarded(guard: &str) -> Project {
    let project = Project::new();
    let hooks = r#"{"hooks": [{"event": "tool:pre_execute", "args": ["sh", "guard.sh"], "resident": true}]}"#;
    project.world.write(PROJECT, hooks);
    project.world.write("project/guard.sh", guard);
    project.approve();
    assert!(project.load().is_ok());
    project
}

/// A project's script, edited while its process is kept.
#[test]
fn a_lost_approval_ends_the_process() {
    let project = guarded(SHELL);
    let world = &project.world;
    let first = fires(world, "started");
    fires(world, "kept");
    world.write("project/guard.sh", &edited());
    let lost = fire(world);
    assert_eq!(lost.failure(), Some(FailureKind::ApprovalLost), "{lost:?}");
    assert!(!lost.should_continue() && lost.pid().is_none());
    eventually("the first has ended", || is_gone(first.pid()));
    project.approve();
    assert!(project.load().is_ok());
    let approved = fire(world);
    assert!(approved.success(), "{approved:?}");
    assert_ne!(approved.pid(), first.pid());
}

/// A process that was started while the library was another one would be kept after the library is back: its content is then the one
/// that was approved.
#[test]
fn a_library_that_was_replaced_and_put_back_ends_the_process() {
    let project = guarded(&format!(". .src/forge/hooks/lib.sh\n{SHELL}"));
    let world = &project.world;
    world.write("project/.src/forge/hooks/lib.sh", "rules=strict\n");
    project.approve();
    assert!(project.load().is_ok());
    fires(world, "started");
    fires(world, "kept");
    world.write("project/.src/forge/hooks/lib.sh", "rules=strict\n");
    fires(world, "replaced");
    fires(world, "kept");
}

/// The same entry in two projects, for one executor: each process answers for its own.
#[test]
fn each_project_has_a_process_of_its_own() {
    let world = World::new();
    let answers = SHELL.replace("\"$$\"", "\"$(pwd -P)\"");
    let entry = r#"{"hooks": [{"event": "*", "args": ["sh", "hook.sh"], "resident": true}]}"#;
    let mut expected = Vec::new();
    for project in ["a", "b"] {
        world.write(&format!("{project}/.src/forge/hooks.json"), entry);
        world.write(&format!("{project}/hook.sh"), &answers);
        let root = world.path(project).canonicalize().unwrap();
        let config = HookConfig::default().with_config_home(world.path("config"));
        let _ = config.load_into(world.registry(), &root, TrustPolicy::Everything);
        expected.push(root.to_str().unwrap().to_owned());
    }
    for how in ["started", "kept"] {
        let results = world.fire(&blocking_event());
        let reasons: Vec<_> = results.iter().map(reason).collect();
        assert_eq!(reasons, expected);
        results.iter().for_each(|result| assert_kept(result, how));
    }
}
