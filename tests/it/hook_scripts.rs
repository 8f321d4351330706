//! The scripts in examples/hooks, each at its work: with real files, git and jq. Where one of these is not
//! there, a test says so and looks at nothing.
#![cfg(unix)]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_hooks::{
    Approval, FailureKind, FailurePolicy, FireOptions, Hook, HookConfig, HookEvent, HookResult,
    Reads, TrustPolicy,
};
use serde_json::{Value, json};

use crate::support::{World, custom, is_missing};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/hooks")
}

fn script(name: &str) -> Hook {
    let path = folder().join(name);
    Hook::program("*", ["/bin/sh", path.to_str().unwrap()])
        .unwrap()
        .with_reads(Reads::Stdin)
        .with_timeout(Duration::from_secs(60))
}

fn run(world: &World, hook: Hook, event: &HookEvent) -> HookResult {
    world.registry().clear();
    world.registry().register(hook);
    world.fire(event).remove(0)
}

/// A folder for `PATH` with these programs and no others.
fn only(world: &World, programs: &[&str]) -> String {
    let bin = world.path("bin");
    std::fs::create_dir(&bin).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for program in programs {
        let found = std::env::split_paths(&path)
            .map(|folder| folder.join(program))
            .find(|file| file.is_file());
        symlink(found.unwrap(), bin.join(program)).unwrap();
    }
    bin.to_str().unwrap().to_owned()
}

const EVERY_TOOL_BUT_JQ: &[&str] = &[
    "cat", "grep", "tr", "readlink", "date", "mkdir", "head", "git",
];

mod all_together {
    use super::*;

    fn project() -> World {
        let world = World::new();
        for entry in std::fs::read_dir(folder()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let below = if name == "hooks.json" { "" } else { "hooks/" };
            let text = std::fs::read_to_string(&path).unwrap();
            world.write(&format!("project/.src/forge/{below}{name}"), &text);
        }
        world
    }

    #[test]
    fn the_hooks_file_loads_without_a_problem_or_a_warning_and_can_be_approved_whole() {
        let world = project();
        let root = world.path("project");
        let config = HookConfig::default().with_config_home(world.path("config"));
        let report = config.load_into(world.registry(), &root, TrustPolicy::Everything);
        assert!(
            report.is_ok() && report.problems.is_empty(),
            "{}",
            report.render(false)
        );
        assert_eq!(report.loaded, 4);
        for hook in world.registry().hooks() {
            let is_guard = ["security", "validate-write"].contains(&hook.name().unwrap());
            let blocks = hook.on_failure() == FailurePolicy::Block;
            assert_eq!(blocks, is_guard, "only a guard may block");
        }
        let approval = Approval::of(&root, world.registry().hooks()).unwrap();
        for hook in approval.hooks {
            assert!(hook.partial.is_empty() && hook.files.len() == 1);
        }
    }

    #[test]
    fn the_hooks_of_the_file_run_where_it_says_they_lie() {
        if is_missing("jq") {
            return;
        }
        let world = project();
        let config = HookConfig::default().with_config_home(world.path("config"));
        let _ = config.load_into(
            world.registry(),
            world.path("project"),
            TrustPolicy::Everything,
        );
        let event =
            HookEvent::tool_pre_execute("write", json!({"file_path": "a.json", "content": "{}"}));
        let results = world.fire(&event);
        assert_eq!(results.len(), 3);
        for result in &results {
            assert!(result.success(), "{result:?} {}", result.stderr);
        }
    }
}

mod logging {
    use super::*;

    fn log(world: &World) -> Hook {
        script("log-tools.sh").with_env("FORGE_HOOK_LOG", world.path("log").to_str().unwrap())
    }

    #[test]
    fn a_log_has_one_line_for_each_event_whatever_a_value_holds() {
        let world = World::new();
        let events = [
            HookEvent::tool_pre_execute("bash", json!({})).with_session_id("s1"),
            HookEvent::tool_pre_execute("a\nforged tool=b", json!({})),
            HookEvent::tool_pre_execute("-e \\n %s $(x) \u{e9}\u{1b}[0m", json!({})),
            HookEvent::tool_pre_execute("x".repeat(10_000), json!({})),
            custom("game:start"),
        ];
        for event in &events {
            assert!(run(&world, log(&world), event).success());
        }
        let expected = [
            "tool:pre_execute tool=bash session=s1",
            "tool:pre_execute tool=a?forged?tool=b session=-",
            "tool:pre_execute tool=-e?\\n?%s?$(x)????[0m session=-",
            &format!("tool:pre_execute tool={} session=-", "x".repeat(100)),
            "game:start tool=- session=-",
        ];
        let written = world.read("log");
        assert_eq!(written.lines().count(), expected.len(), "{written}");
        for (line, expected) in written.lines().zip(expected) {
            let (time, rest) = line.split_once(' ').unwrap();
            assert!(time.starts_with("20") && time.ends_with('Z'), "{line}");
            assert_eq!(rest, expected);
        }
        let mode = std::fs::metadata(world.path("log")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }

    #[test]
    fn without_a_name_the_log_is_in_the_state_folder() {
        let world = World::new();
        let state = world.path("st ate");
        let hook = script("log-tools.sh").with_env("XDG_STATE_HOME", state.to_str().unwrap());
        assert!(run(&world, hook, &custom("a:b")).success());
        assert!(
            world
                .read("st ate/forge/hooks.log")
                .ends_with("a:b tool=- session=-\n")
        );
    }

    #[test]
    fn a_log_that_cannot_be_written_is_told_and_blocks_nothing() {
        let world = World::new();
        world.write("file", "");
        for place in ["/dev/null/log", "file/log", "/"] {
            let hook = script("log-tools.sh").with_env("FORGE_HOOK_LOG", place);
            let result = run(&world, hook, &custom("a:b"));
            assert!(result.success(), "{place}");
            assert!(result.stderr.contains("not logged: "), "{}", result.stderr);
        }
    }

    #[test]
    fn lines_written_at_once_stay_whole() {
        let world = World::new();
        for _ in 0..24 {
            world.registry().register(log(&world));
        }
        let event = HookEvent::tool_pre_execute("t".repeat(100), json!({}))
            .with_session_id("s".repeat(100));
        let results = world
            .executor
            .execute_hooks(&event, FireOptions::default().parallel());
        assert_eq!(results.len(), 24);
        let end = format!(
            "Z tool:pre_execute tool={} session={}",
            "t".repeat(100),
            "s".repeat(100)
        );
        let written = world.read("log");
        assert_eq!(written.lines().count(), 24);
        assert!(written.lines().all(|line| line[19..] == *end), "{written}");
    }
}

mod validation {
    use super::*;

    fn after(world: &World, file: &str, text: &str) -> HookResult {
        world.write(file, text);
        let event = HookEvent::tool_post_execute("write", json!({"file_path": file}), json!({}));
        run(world, script("validate-write.sh"), &event)
    }

    fn before(world: &World, file: &str, text: &str) -> HookResult {
        let args = json!({"path": file, "content": text});
        let event = HookEvent::tool_pre_execute("write", args);
        run(world, script("validate-write.sh"), &event)
    }

    /// File, text, the checker it needs, and what is wrong with it.
    const FILES: &[(&str, &str, &str, Option<&str>)] = &[
        ("a.json", "{\"a\": [1, 2]}", "jq", None),
        ("a.json", "null\n", "jq", None),
        (
            "a.json",
            "{\"a\": [1, 2}",
            "jq",
            Some("Not valid JSON: a.json"),
        ),
        ("a.json", "", "jq", Some("there must be one value")),
        ("a.json", "{} {}", "jq", Some("there must be one value")),
        ("tsconfig.json", "{ // why\n}", "jq", None),
        ("a.py", "x = 1\n", "python3", None),
        ("a.py", "import os\nx = (\n", "python3", Some("line 2")),
        ("a.py", "open('ran', 'w')\n", "python3", None),
        ("a.sh", "touch ran\nif true; then :; fi\n", "bash", None),
        (
            "a.sh",
            "if true; then",
            "bash",
            Some("Not valid bash: a.sh"),
        ),
        ("a.sh", "#!/bin/sh\nfor", "sh", Some("Not valid sh: a.sh")),
        ("a.sh", "#!/usr/bin/env bash\na=(1 2)\n", "bash", None),
        ("a.sh", "#!/bin/zsh\nfor", "bash", None),
        ("a.txt", "{", "jq", None),
        ("with space.json", "{", "jq", Some("with space.json")),
        ("-rf.json", "{", "jq", Some("-rf.json")),
        ("-c.py", "(", "python3", Some("-c.py")),
        ("--version.sh", "(", "bash", Some("--version.sh")),
        ("-rf.json", "{}", "jq", None),
        ("new\nline.json", "{", "jq", Some("new\nline.json")),
        ("ends\n.py", "(", "python3", Some("ends\n.py")),
        (
            "a'b\"c$(touch ran)`touch ran`.json",
            "{",
            "jq",
            Some("a'b\"c$("),
        ),
        ("*.json", "{", "jq", Some("*.json")),
    ];

    #[track_caller]
    fn judged(result: &HookResult, wrong: Option<&str>, case: &str) {
        let Some(words) = wrong else {
            return assert_eq!((result.exit_code, &*result.stderr), (0, ""), "{case}");
        };
        assert_eq!(result.exit_code, 1, "{case}");
        assert!(result.stderr.contains(words), "{case}");
    }

    #[test]
    fn a_broken_file_is_refused_before_and_after_it_is_written() {
        if is_missing("jq") {
            return;
        }
        for (file, text, checker, wrong) in FILES {
            if *checker != "sh" && is_missing(checker) {
                continue;
            }
            let world = World::new();
            for result in [before(&world, file, text), after(&world, file, text)] {
                judged(
                    &result,
                    *wrong,
                    &format!("{file}: {text}: {}", result.stderr),
                );
            }
            assert!(!world.path("ran").exists(), "{file} was run");
        }
    }

    #[test]
    fn python_imports_nothing_that_lies_beside_the_file() {
        if is_missing("jq") || is_missing("python3") {
            return;
        }
        let world = World::new();
        for module in ["ast", "traceback", "sitecustomize"] {
            world.write(&format!("{module}.py"), "open('ran', 'w')\n");
        }
        world.write("a.py", "x = 1\n");
        let event = HookEvent::tool_post_execute("write", json!({"path": "a.py"}), json!({}));
        let here = script("validate-write.sh").with_env("PYTHONPATH", ".");
        let result = run(&world, here, &event);
        assert!(result.success(), "{}", result.stderr);
        assert!(!world.path("ran").exists());
    }

    #[test]
    fn what_cannot_be_checked_is_told_and_passes() {
        if is_missing("jq") {
            return;
        }
        let world = World::new();
        let post = |args: Value| HookEvent::tool_post_execute("write", args, json!({}));
        let cases = [
            (post(json!({"file_path": "gone.json"})), "no such file"),
            (post(json!({"file_path": "a\0.json"})), "no file is named"),
            (post(json!({"file_path": 5})), "no file is named"),
            (post(json!("a.json")), "no file is named"),
        ];
        for (event, words) in cases {
            let result = run(&world, script("validate-write.sh"), &event);
            assert!(result.success() && result.stderr.contains(words), "{words}");
        }
        let edit = json!({"file_path": "a.json", "old_string": "{", "new_string": "["});
        let event = HookEvent::tool_pre_execute("edit", edit);
        assert!(run(&world, script("validate-write.sh"), &event).success());
    }

    #[test]
    fn a_missing_checker_is_told_and_the_file_passes() {
        let world = World::new();
        let bare = script("validate-write.sh").with_env("PATH", only(&world, EVERY_TOOL_BUT_JQ));
        let event = HookEvent::tool_pre_execute("write", json!({"path": "a.json", "content": "{"}));
        let result = run(&world, bare, &event);
        assert!(result.success());
        assert_eq!(result.stderr, "not checked: jq is not there\n");
    }
}

mod without_jq {
    use super::*;

    #[test]
    fn the_guard_blocks_everything_when_a_tool_it_needs_is_missing() {
        let world = World::new();
        let guard = script("security.sh").with_env("PATH", only(&world, EVERY_TOOL_BUT_JQ));
        let event = HookEvent::tool_pre_execute("bash", json!({"command": "ls"}));
        let result = run(&world, guard, &event);
        assert_eq!(result.failure, Some(FailureKind::Exit));
        let reason = "Blocked: jq is not there, and nothing can be checked without it";
        assert_eq!(result.reason(), Some(reason));
        let blind = script("security.sh").with_env("PATH", "/nonexistent");
        assert!(!run(&world, blind, &event).should_continue());
    }

    #[test]
    fn the_commit_says_so_and_goes_on() {
        let world = World::new();
        let commit = script("git-commit.sh").with_env("PATH", only(&world, &["tr"]));
        let event = HookEvent::tool_post_execute("write", json!({"path": "a"}), json!({}));
        let result = run(&world, commit, &event);
        assert!(result.success());
        assert_eq!(result.stderr, "not committed: jq is not there\n");
    }
}
