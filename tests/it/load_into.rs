//! Loading for a host: what cannot be used is reported, and blocks what it could have blocked.

use std::path::Path;

use forge_hooks::config::{Severity, TrustPolicy};
use forge_hooks::{FailureKind, HookConfig, HookEvent, LoadReport, Outcome};
use serde_json::json;

use crate::support::{World, blocking_event};

const GLOBAL: &str = "config/src/forge/hooks.json";
const PROJECT: &str = "project/.src/forge/hooks.json";

fn config(world: &World) -> HookConfig {
    HookConfig::default().with_config_home(world.path("config"))
}

fn load(world: &World) -> LoadReport {
    let project = world.path("project");
    config(world).load_into(world.registry(), project, TrustPolicy::Everything)
}

/// A world with this as the one entry of the user's file.
fn with_entry(entry: &str) -> (World, LoadReport) {
    let world = World::new();
    world.write(GLOBAL, &format!("{{\"hooks\": [{entry}]}}"));
    let report = load(&world);
    (world, report)
}

fn bash() -> HookEvent {
    blocking_event()
}

fn read() -> HookEvent {
    HookEvent::tool_pre_execute("read", json!({}))
}

fn prompt() -> HookEvent {
    HookEvent::user_prompt_submit("hello")
}

fn printed(outcome: &Outcome) -> Vec<&str> {
    let results = outcome.results().iter();
    results.map(|result| result.stdout.trim()).collect()
}

/// That it is blocked by a placeholder, whose reason holds these words.
#[track_caller]
fn blocked(outcome: &Outcome, words: &str) {
    let result = outcome.blocked().expect("a result that blocks");
    assert_eq!(result.failure, Some(FailureKind::Misconfigured));
    assert_eq!((result.exit_code, result.pid), (-1, None));
    let reason = outcome.reason().unwrap();
    assert!(reason.contains(words), "{reason}");
    assert_eq!(result.hook.refusal(), Some(reason));
}

#[test]
fn hooks_are_registered_last_in_order() {
    let world = World::new();
    world.hook("*", "echo host");
    world.write(
        GLOBAL,
        r#"{"hooks": [{"event": "*", "command": "echo global"}]}"#,
    );
    world.write(
        PROJECT,
        r#"{"hooks": [{"event": "*", "command": "echo project"}]}"#,
    );
    let report = load(&world);
    assert!(report.is_ok() && report.problems.is_empty());
    assert_eq!(report.loaded, 2);
    assert_eq!(report.files, [world.path(GLOBAL), world.path(PROJECT)]);
    let outcome = world.outcome(&bash());
    assert_eq!(printed(&outcome), ["host", "global", "project"]);
}

/// `golden/validate.txt` has the reasons.
#[test]
fn an_unusable_entry_blocks_its_events() {
    let entry = r#"{"event": "tool:pre_execute:bash", "command": "exit 0", "timeout": "5"}"#;
    let (world, report) = with_entry(entry);
    let outcome = world.outcome(&bash());
    let words = "hooks[0].timeout: expected a number of seconds";
    blocked(&outcome, words);
    blocked(&outcome, &world.path(GLOBAL).display().to_string());
    assert!(world.outcome(&read()).allowed());
    assert!(world.outcome(&prompt()).allowed());
    assert_eq!((report.is_ok(), report.loaded), (false, 0));
    let problem = &report.problems[0];
    assert_eq!(
        (problem.severity, problem.index),
        (Severity::Error, Some(0))
    );
}

#[test]
fn an_unreadable_event_blocks_everything() {
    for entry in [
        r#"{"event": "tool:[", "command": "x"}"#,
        r#"{"event": 5, "command": "x"}"#,
        "7",
        "null",
    ] {
        let (world, _) = with_entry(entry);
        blocked(&world.outcome(&bash()), "hooks[0]");
        blocked(&world.outcome(&prompt()), "hooks[0]");
        assert!(world.outcome(&HookEvent::user_interrupt()).allowed());
    }
}

#[test]
fn readable_keys_of_a_bad_entry_count() {
    let (world, report) = with_entry(r#"{"event": "tool:[", "command": "x", "enabled": false}"#);
    assert!(world.outcome(&bash()).results().is_empty() && !report.is_ok());

    let may_fail = r#"{"event": "*", "command": "", "on_failure": "continue"}"#;
    let (world, _) = with_entry(may_fail);
    let outcome = world.outcome(&bash());
    assert!(outcome.allowed() && !outcome.results()[0].success());

    let may_fail = r#"{"event": "tool:[", "command": "x", "on_failure": "continue"}"#;
    let (world, _) = with_entry(may_fail);
    assert!(world.outcome(&bash()).allowed() && world.registry().len() == 1);

    let neither = r#"{"event": "*", "command": "x", "on_failure": "perhaps"}"#;
    blocked(
        &with_entry(neither).0.outcome(&bash()),
        "hooks[0].on_failure: expected one of",
    );
}

/// It is unknown which of the two is meant.
#[test]
fn a_duplicate_key_disables_no_guard() {
    for twice in [
        r#""event": "tool:pre_execute", "event": "session:start""#,
        r#""event": "*", "enabled": true, "enabled": false"#,
        r#""event": "*", "on_failure": "block", "on_failure": "continue""#,
        r#""event": "*", "background": false, "background": true"#,
        r#""event": "tool:pre_execute", "event": "session:start", "timeout": 0"#,
    ] {
        let (world, report) = with_entry(&format!(r#"{{{twice}, "command": "exit 1"}}"#));
        assert!(!report.is_ok(), "{twice}");
        assert!(!world.outcome(&bash()).allowed(), "{twice}");
    }
}

/// That what lies at the place of the user's file blocks everything, for this reason.
#[track_caller]
fn case(put: impl FnOnce(&Path), words: &str) {
    let world = World::new();
    let path = world.path(GLOBAL);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    put(&path);
    let report = load(&world);
    assert_eq!((world.registry().len(), report.loaded), (1, 0), "{words}");
    assert_eq!(report.files, [path.as_path()]);
    assert_eq!((report.problems.len(), report.problems[0].index), (1, None));
    blocked(&world.outcome(&bash()), words);
    blocked(&world.outcome(&read()), words);
    assert!(world.outcome(&HookEvent::user_interrupt()).allowed());
}

#[test]
fn an_unusable_file_blocks_everything() {
    let text =
        |content: &'static [u8], words| case(|path| std::fs::write(path, content).unwrap(), words);
    text(b"", "is not valid JSON: expected a value, found the end");
    text(b"[]", "expected an object with a list `hooks`");
    text(b"{\"hooks\": {}}", "`hooks`: expected a list");
    text(
        b"{\"hook\": []}",
        "has no list `hooks`, and an unknown key `hook`",
    );
    text(b"{\"hooks\": []}\xFF", ":1:14: the file is not UTF-8");
    case(
        |path| std::fs::create_dir(path).unwrap(),
        "the file is a directory",
    );
    let large = |path: &Path| std::fs::File::create(path)?.set_len(1024 * 1024 + 1);
    case(|path| large(path).unwrap(), "the file is larger than 1 MiB");
}

#[cfg(unix)]
#[test]
fn an_unopenable_file_blocks_at_once() {
    let pipe = |path: &Path| std::process::Command::new("mkfifo").arg(path).status();
    case(
        |path| assert!(pipe(path).unwrap().success()),
        "the file is a special file",
    );
    let link = |path: &Path| std::os::unix::fs::symlink(path, path);
    case(|path| link(path).unwrap(), "the file cannot be read: ");
}

#[test]
fn only_the_named_events_are_blocked() {
    let (world, _) = with_entry(r#"{"event": "tool:pre_execute:bash|sh, llm:*", "args": []}"#);
    let shell = HookEvent::tool_pre_execute("sh", json!({}));
    for event in [bash(), shell, HookEvent::llm_pre_request("m", 1)] {
        blocked(
            &world.outcome(&event),
            "hooks[0].args: the command is empty",
        );
    }
    for event in [read(), prompt()] {
        assert!(world.outcome(&event).results().is_empty());
    }
    let afterwards = world.outcome(&HookEvent::llm_post_response("m", 1));
    assert!(afterwards.allowed() && afterwards.results().len() == 1);
}

#[test]
fn a_file_that_says_nothing_has_no_hooks() {
    for content in ["{}", "{\"$schema\": \"x\"}", "{\"hooks\": []}"] {
        let world = World::new();
        world.write(GLOBAL, content);
        let report = load(&world);
        assert!(report.problems.is_empty() && world.registry().is_empty());
        assert_eq!(report.files, [world.path(GLOBAL)]);
    }
}

/// Kept as it is, its pattern would match nothing; as `*`, it would block everything.
#[test]
fn a_pattern_with_capitals_blocks() {
    let (world, report) =
        with_entry(r#"{"event": "TOOL:Pre_execute:bash, LLM:*", "command": "exit 0"}"#);
    assert!(!report.is_ok());
    blocked(
        &world.outcome(&bash()),
        "event names have no capital letters: write `tool:pre_execute:bash`",
    );
    assert!(world.outcome(&read()).allowed());
    let (world, _) = with_entry(r#"{"event": "PreToolUse", "command": "exit 0"}"#);
    blocked(&world.outcome(&bash()), "expected `category:action`");
}

#[test]
fn a_bad_entry_costs_the_others_nothing() {
    let world = World::new();
    let good = |name: &str| format!(r#"{{"event": "session:*", "command": "echo {name}"}}"#);
    let bad = r#"{"event": "tool:*", "comand": "x"}"#;
    let text = format!("{{\"hooks\": [{}, {bad}, {}]}}", good("1"), good("2"));
    world.write(GLOBAL, &text);
    world.write(PROJECT, "nothing of the kind");
    let report = load(&world);
    assert_eq!(report.files, [world.path(GLOBAL), world.path(PROJECT)]);
    assert_eq!((report.loaded, report.problems.len()), (2, 2));
    assert_eq!(world.registry().len(), 4);
    let outcome = world.outcome(&HookEvent::session_start("s"));
    // The placeholder of the project's file comes last.
    assert_eq!(printed(&outcome), ["1", "2", ""]);
    blocked(
        &world.outcome(&prompt()),
        &world.path(PROJECT).display().to_string(),
    );
}

/// Files that another user could have written. `golden/validate.txt` has the messages.
#[cfg(unix)]
mod modes {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    const GOOD: &str = r#"{"hooks": [{"event": "*", "command": "echo ran"}]}"#;

    fn mode(path: &Path, mode: u32) {
        set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[track_caller]
    fn refused(world: &World, words: &str) {
        world.registry().clear();
        let report = load(world);
        assert!(!report.is_ok() && report.loaded == 0, "{report:?}");
        assert!(report.problems[0].message.contains(words), "{report:?}");
        blocked(&world.outcome(&bash()), words);
        let config = config(world);
        assert!(config.load_all(world.path("project")).is_empty());
        world.registry().clear();
    }

    #[test]
    fn a_file_that_others_can_write_does_not_run() {
        for file in [GLOBAL, PROJECT] {
            let world = World::new();
            let path = world.write(file, GOOD);
            mode(&path, 0o646);
            refused(&world, "is world-writable; run `chmod o-w ");
            assert!(!config(&world).check(&path).is_ok());
            mode(&path, 0o644);
            let directory = path.parent().unwrap();
            mode(directory, 0o777);
            refused(&world, "is in a world-writable directory; run `chmod o-w ");
            // Only owners can replace files there.
            mode(directory, 0o1777);
            assert!(load(&world).problems.is_empty());
            // Only root can give a file away.
            if chown(&path, Some(4242), None).is_ok() {
                refused(&world, "belongs to user 4242");
            }
        }
    }

    #[test]
    fn a_links_target_and_directory_are_checked() {
        let world = World::new();
        let target = world.write("elsewhere/hooks.json", GOOD);
        let link = world.write(GLOBAL, "");
        std::fs::remove_file(&link).unwrap();
        symlink(&target, &link).unwrap();
        assert!(load(&world).problems.is_empty());
        mode(&target, 0o666);
        refused(&world, "is world-writable");
        mode(&target, 0o644);
        for directory in [target.parent().unwrap(), link.parent().unwrap()] {
            mode(directory, 0o777);
            refused(&world, "is in a world-writable directory");
            mode(directory, 0o755);
        }
    }

    #[test]
    fn a_group_writable_file_is_a_warning() {
        let world = World::new();
        mode(&world.write(GLOBAL, GOOD), 0o664);
        let report = load(&world);
        assert!(report.is_ok() && report.loaded == 1);
        assert!(
            report.problems[0]
                .message
                .contains("is writable by its group")
        );
        assert_eq!(printed(&world.outcome(&bash())), ["ran"]);
    }
}
