//! The scripts in examples/hooks: all together, the log, and the validation, with real files. A test that
//! needs a program which is missing is skipped, and says so.
#![cfg(unix)]

mod commit;

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_hooks::config::TrustPolicy;
use forge_hooks::trust::Approval;
use forge_hooks::{FailurePolicy, Hook, HookConfig, HookEvent, HookResult, LoadReport};
use serde_json::{Value, json};

use crate::support::{World, blocking_event, custom, is_missing, one_in};
use crate::thorough::all_cases;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/hooks")
}

/// The script as a hook for all events.
pub(crate) fn script(name: &str) -> Hook {
    let path = directory().join(name);
    Hook::program("*", ["/bin/sh", path.to_str().unwrap()])
        .unwrap()
        .reading_stdin()
        .with_timeout(Duration::from_secs(60))
}

/// A world, where there is a `jq`.
pub(crate) fn with_jq() -> Option<World> {
    (!is_missing("jq")).then(World::new)
}

/// Runs the hook. It exits with `code`, and prints `words` to standard error, or nothing if they are empty.
#[track_caller]
pub(crate) fn case(world: &World, hook: Hook, event: &HookEvent, code: i32, words: &str) {
    let result = world.run(hook, event);
    let case = format!("{:.200}: {}", event.to_json(), result.stderr());
    assert_eq!((result.exit_code(), result.stdout()), (code, ""), "{case}");
    assert!(result.stderr().contains(words), "{words}: {case}");
    assert_eq!(words.is_empty(), result.stderr().is_empty(), "{case}");
}

/// A project with the hooks file and its scripts.
fn load() -> (World, LoadReport) {
    let world = World::new();
    for entry in std::fs::read_dir(directory()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let below = if name == "hooks.json" { "" } else { "hooks/" };
        let text = std::fs::read_to_string(&path).unwrap();
        world.write(&format!("project/.src/forge/{below}{name}"), &text);
    }
    let root = world.path("project");
    let config = HookConfig::default().with_config_home(world.path("config"));
    let report = config.load_into(world.registry(), root, TrustPolicy::Everything);
    (world, report)
}

#[test]
fn the_hooks_file_has_no_problem_and_runs() {
    let (world, report) = load();
    let problems = report.to_string();
    assert!(report.is_ok() && report.problems.is_empty(), "{problems}");
    assert_eq!(report.loaded, 3);
    for hook in world.registry().hooks() {
        let is_guard = hook.name() == Some("validate-write");
        let blocks = hook.on_failure() == FailurePolicy::Block;
        assert_eq!(blocks, is_guard, "only a guard may block");
    }
    if !is_missing("jq") {
        let args = json!({"file_path": "a.json", "content": "{}"});
        let results = world.fire(&HookEvent::tool_pre_execute("write", args));
        assert_eq!(results.len(), 2);
        assert!(results.iter().all(HookResult::success), "{results:?}");
    }
    let root = world.path("project");
    for hook in Approval::of(&root, world.registry().hooks()).unwrap().hooks {
        assert!(!hook.files.is_empty(), "{hook}");
    }
}

mod log {
    use super::*;

    fn log(place: &str) -> Hook {
        script("log-tools.sh").with_env("FORGE_HOOK_LOG", place)
    }

    #[test]
    fn each_event_has_one_line() {
        let world = World::new();
        let (long, cut) = ("x".repeat(10_000), "x".repeat(100));
        let mut before = String::new();
        for (tool, written) in [
            ("bash", "bash"),
            ("a\nforged tool=b", "a?forged?tool=b"),
            ("-e \\n %s $(x) \u{e9}\u{1b}[0m", "-e?\\n?%s?$(x)????[0m"),
            (&*long, &*cut),
        ] {
            let event = HookEvent::tool_pre_execute(tool, json!({}));
            case(&world, log("log"), &event, 0, "");
            // The event adds this line, behind its time.
            let after = world.read("log");
            let line = after.strip_prefix(&before).unwrap();
            let (time, rest) = line.split_once(' ').unwrap();
            assert!(time.starts_with("20") && time.ends_with('Z'), "{line}");
            let expected = format!("tool:pre_execute tool={written} session=-\n");
            assert_eq!(rest, expected);
            before = after;
        }
        let event = custom("game:start").with_session_id("s1");
        case(&world, log("log"), &event, 0, "");
        let last = " game:start tool=- session=s1\n";
        assert!(world.read("log").ends_with(last));
        let mode = std::fs::metadata(world.path("log")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }

    #[test]
    fn the_log_is_in_the_state_directory() {
        let world = World::new();
        let state = world.path("st ate");
        let hook = script("log-tools.sh").with_env("XDG_STATE_HOME", state.to_str().unwrap());
        case(&world, hook, &custom("a:b"), 0, "");
        let written = world.read("st ate/forge/hooks.log");
        assert!(written.ends_with("a:b tool=- session=-\n"), "{written}");
        world.write("file", "");
        for place in ["/dev/null/log", "file/log", "/"] {
            case(&world, log(place), &custom("a:b"), 0, "not logged: ");
        }
    }

    #[test]
    fn concurrent_lines_stay_whole() {
        let world = World::new();
        world.add(log("log"));
        let (tool, session) = ("t".repeat(100), "s".repeat(100));
        let event = HookEvent::tool_pre_execute(&*tool, json!({})).with_session_id(&*session);
        std::thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| assert_eq!(world.fire(&event).len(), 1));
            }
        });
        let end = format!("Z tool:pre_execute tool={tool} session={session}");
        let written = world.read("log");
        assert_eq!(written.lines().count(), 12);
        assert!(written.lines().all(|line| line[19..] == *end), "{written}");
    }
}

mod validation {
    use super::*;

    fn validate() -> Hook {
        script("validate-write.sh")
    }

    fn before(file: &str, text: &str) -> HookEvent {
        HookEvent::tool_pre_execute("write", json!({"path": file, "content": text}))
    }

    fn after(args: Value) -> HookEvent {
        HookEvent::tool_post_execute("write", args, json!({}))
    }

    /// File, text, and words of what is wrong with it; none if nothing is.
    fn files() -> Vec<[String; 3]> {
        let rows = include_str!("validation.txt").lines();
        let rows = rows.filter(|row| !row.starts_with('#')).map(|row| {
            let mut parts = row.split(" |").map(|part| part.replace('⏎', "\n"));
            [(); 3].map(|()| parts.next().unwrap().trim_start_matches(' ').to_owned())
        });
        rows.collect()
    }

    #[test]
    fn a_broken_file_is_refused() {
        if is_missing("jq") {
            return;
        }
        let has_python = !is_missing("python3");
        for (index, [file, text, words]) in one_in(9, files().iter().enumerate()) {
            if file.ends_with(".py") && !has_python {
                continue;
            }
            let world = World::new();
            let code = i32::from(!words.is_empty());
            // The text is checked alike; where it comes from takes turns.
            if all_cases() || index % 2 == 0 {
                case(&world, validate(), &before(file, text), code, words);
            }
            if all_cases() || index % 2 == 1 {
                world.write(file, text);
                let event = after(json!({ "file_path": file }));
                case(&world, validate(), &event, code, words);
            }
            assert!(!world.path("ran").exists(), "{file} was run");
        }
    }

    #[test]
    fn python_imports_no_neighbour() {
        if is_missing("jq") || is_missing("python3") {
            return;
        }
        let world = World::new();
        for module in ["ast", "traceback", "sitecustomize"] {
            world.write(&format!("{module}.py"), "open('ran', 'w')\n");
        }
        world.write("a.py", "x = 1\n");
        let hook = validate().with_env("PYTHONPATH", ".");
        case(&world, hook, &after(json!({"path": "a.py"})), 0, "");
        assert!(!world.path("ran").exists());
    }

    #[test]
    fn what_cannot_be_checked_passes() {
        let Some(world) = with_jq() else { return };
        let cases = [
            (json!({"file_path": "gone.json"}), "does not exist"),
            (json!({"file_path": "a\0.json"}), "no file is named"),
            (json!({"file_path": 5}), "no file is named"),
            (json!("a.json"), "no file is named"),
        ];
        for (args, words) in one_in(2, cases) {
            case(&world, validate(), &after(args), 0, words);
        }
        let edit = json!({"file_path": "a.json", "old_string": "{", "new_string": "["});
        let event = HookEvent::tool_pre_execute("edit", edit);
        case(&world, validate(), &event, 0, "");
    }
}

#[test]
fn without_jq_nothing_is_blocked() {
    let world = World::new();
    let path = std::env::var_os("PATH").unwrap();
    std::fs::create_dir(world.path("bin")).unwrap();
    for program in "cat grep tr readlink date mkdir head git".split(' ') {
        let mut places = std::env::split_paths(&path).map(|directory| directory.join(program));
        let installed = places.find(|file| file.is_file()).unwrap();
        symlink(installed, world.path("bin").join(program)).unwrap();
    }
    for name in ["validate-write.sh", "git-commit.sh"] {
        let hook = script(name).with_env("PATH", world.path("bin").to_str().unwrap());
        case(&world, hook, &blocking_event(), 0, "jq is not installed\n");
    }
}
