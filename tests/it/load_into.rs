//! Loading for a host: what cannot be used is reported, and blocks what it could have blocked.

use std::path::Path;

use forge_hooks::config::{Severity, TrustPolicy};
use forge_hooks::{AppProfile, FailureKind, HookConfig, HookEvent, LoadReport, Outcome};
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

/// That it is blocked by a placeholder, whose reason holds these words.
#[track_caller]
fn blocked(outcome: &Outcome, words: &str) {
    let result = outcome.blocked().expect("a result that blocks");
    assert_eq!(result.failure, Some(FailureKind::Misconfigured));
    assert_eq!((result.exit_code, result.pid), (-1, None));
    assert!(
        outcome.reason().unwrap().contains(words),
        "{:?}",
        outcome.reason()
    );
    assert_eq!(result.hook.refusal(), outcome.reason());
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
    let printed: Vec<_> = outcome
        .results()
        .iter()
        .map(|result| result.stdout.trim())
        .collect();
    assert_eq!(printed, ["host", "global", "project"]);
}

#[test]
fn without_files_there_is_nothing_to_report() {
    let world = World::new();
    let report = load(&world);
    assert!(report.is_ok() && report.files.is_empty() && report.problems.is_empty());
    assert!(world.registry().is_empty());
}

#[test]
fn an_unusable_entry_blocks_its_events() {
    let entry = r#"{"event": "tool:pre_execute:bash", "command": "exit 0", "timeout": "5"}"#;
    let (world, report) = with_entry(entry);
    blocked(
        &world.outcome(&bash()),
        "hooks[0].timeout: expected a number of seconds",
    );
    blocked(
        &world.outcome(&bash()),
        &world.path(GLOBAL).display().to_string(),
    );
    assert!(world.outcome(&read()).allowed());
    assert!(
        world
            .outcome(&HookEvent::user_prompt_submit("hello"))
            .allowed()
    );

    assert!(!report.is_ok());
    assert_eq!((report.loaded, report.problems.len()), (0, 1));
    let problem = &report.problems[0];
    assert_eq!(
        (problem.severity, problem.index),
        (Severity::Error, Some(0))
    );
    assert_eq!(
        problem.to_string(),
        format!(
            "error: {}:1:79: hooks[0].timeout: expected a number of seconds, found a string (write 5, without quotes: the unit is seconds)",
            world.path(GLOBAL).display()
        )
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
        blocked(
            &world.outcome(&HookEvent::user_prompt_submit("hello")),
            "hooks[0]",
        );
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

#[test]
fn an_unusable_file_blocks_everything() {
    let cases: [(&[u8], &str); 7] = [
        (b"", "is not valid JSON: expected a value, found the end"),
        (
            b"{\"hooks\": [}",
            ":1:12: the file is not valid JSON: expected a value",
        ),
        (b"[]", "expected an object with a list `hooks`"),
        (b"{\"hooks\": {}}", "`hooks`: expected a list"),
        (
            b"{\"hook\": []}",
            "has no list `hooks`, and an unknown key `hook`",
        ),
        (b"{\"hooks\": []}\xFF", ":1:14: the file is not UTF-8"),
        (
            b"# a comment\n{}",
            ":1:1: the file is not valid JSON: unexpected text (a comment begins with `//`)",
        ),
    ];
    for (content, words) in cases {
        let world = World::new();
        std::fs::write(world.write(GLOBAL, ""), content).unwrap();
        let report = load(&world);
        assert_eq!(
            (world.registry().len(), report.problems.len()),
            (1, 1),
            "{words}"
        );
        assert_eq!(report.problems[0].index, None);
        blocked(&world.outcome(&bash()), words);
        blocked(&world.outcome(&read()), words);
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
    let reported = report.problems[0].to_string();
    let expected = format!("error: {}: {words}", path.display());
    assert!(reported.starts_with(&expected), "{reported}");
    blocked(&world.outcome(&bash()), words);
    blocked(&world.outcome(&read()), words);
    assert!(world.outcome(&HookEvent::user_interrupt()).allowed());
}

#[test]
fn a_non_file_or_large_file_blocks() {
    case(
        |path| std::fs::create_dir(path).unwrap(),
        "the file is a directory, expected a regular file",
    );
    case(
        |path| {
            let file = std::fs::File::create(path).unwrap();
            file.set_len(1024 * 1024 + 1).unwrap();
        },
        "the file is larger than 1 MiB",
    );
}

#[cfg(unix)]
#[test]
fn an_unopenable_file_blocks_at_once() {
    case(
        |path| {
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.unwrap().success());
        },
        "the file is a special file, expected a regular file",
    );
    case(
        |path| std::os::unix::fs::symlink(path, path).unwrap(),
        "the file cannot be read: ",
    );
}

#[test]
fn a_broken_project_keeps_the_users_hooks() {
    let world = World::new();
    world.write(
        GLOBAL,
        r#"{"hooks": [{"event": "tool:*", "command": "echo global"}]}"#,
    );
    world.write(PROJECT, "{");
    let report = load(&world);
    assert_eq!(report.files, [world.path(GLOBAL), world.path(PROJECT)]);
    assert_eq!((report.loaded, report.problems.len()), (1, 1));
    assert_eq!(report.problems[0].path, world.path(PROJECT));
    let outcome = world.outcome(&bash());
    assert_eq!(
        (outcome.results()[0].stdout.trim(), outcome.results().len()),
        ("global", 2)
    );
    blocked(&outcome, &world.path(PROJECT).display().to_string());
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
    for event in [read(), HookEvent::user_prompt_submit("hello")] {
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
    world.write(
        GLOBAL,
        &format!("{{\"hooks\": [{}, {bad}, {}]}}", good("1"), good("2")),
    );
    world.write(PROJECT, "nothing of the kind");
    let report = load(&world);
    assert_eq!(
        (report.loaded, report.files.len(), report.problems.len()),
        (2, 2, 2)
    );
    assert_eq!(world.registry().len(), 4);
    let outcome = world.outcome(&HookEvent::session_start("s"));
    let printed: Vec<_> = outcome
        .results()
        .iter()
        .map(|result| result.stdout.trim())
        .collect();
    assert_eq!(
        printed,
        ["1", "2", ""],
        "the placeholder of the project's file comes last"
    );
}

#[test]
fn unknown_keys_are_warnings() {
    let world = World::new();
    world.write(
        GLOBAL,
        r#"{"$schema": "x", "hook": [], "hooks": [{"event": "session:*", "command": "x", "timout": 5, "zebra": 1}]}"#,
    );
    let report = load(&world);
    assert!(report.is_ok(), "a warning is no error");
    assert_eq!(report.loaded, 1);
    assert!(
        report
            .problems
            .iter()
            .all(|problem| problem.severity == Severity::Warning)
    );
    let reported: Vec<_> = report
        .problems
        .iter()
        .map(|problem| problem.to_string())
        .collect();
    let path = world.path(GLOBAL);
    let path = path.display();
    assert_eq!(
        reported,
        [
            format!("warning: {path}:1:18: hook: unknown key `hook`, did you mean `hooks`?"),
            format!(
                "warning: {path}:1:79: hooks[0].timout: unknown key `timout`, did you mean `timeout`?"
            ),
            format!("warning: {path}:1:92: hooks[0].zebra: unknown key `zebra`"),
        ]
    );
}

/// Files that another user could have written.
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
        let report = load(world);
        assert!(!report.is_ok() && report.loaded == 0, "{report:?}");
        assert!(
            report.problems[0].message.contains(words),
            "{}",
            report.problems[0]
        );
        blocked(&world.outcome(&bash()), words);
        assert!(
            config(world).load_global().is_empty()
                && config(world).load_project(world.path("project")).is_empty()
        );
    }

    #[test]
    fn a_world_writable_file_does_not_run() {
        for file in [GLOBAL, PROJECT] {
            let world = World::new();
            let path = world.write(file, GOOD);
            mode(&path, 0o646);
            refused(
                &world,
                &format!("is world-writable; run `chmod o-w {}`", path.display()),
            );
            let checked = config(&world).check(&path);
            assert!(!checked.is_ok());
        }
    }

    #[test]
    fn a_world_writable_directory_is_refused() {
        let world = World::new();
        let path = world.write(GLOBAL, GOOD);
        let directory = path.parent().unwrap();
        mode(directory, 0o777);
        refused(
            &world,
            &format!(
                "is in a world-writable directory; run `chmod o-w {}`",
                directory.display()
            ),
        );
        mode(directory, 0o1777);
        world.registry().clear();
        assert!(
            load(&world).problems.is_empty(),
            "only owners can replace files in a sticky directory"
        );
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
        world.registry().clear();
        refused(&world, "is world-writable");
        mode(&target, 0o644);
        for directory in [target.parent().unwrap(), link.parent().unwrap()] {
            world.registry().clear();
            mode(directory, 0o777);
            refused(&world, "is in a world-writable directory");
            mode(directory, 0o755);
        }
    }

    #[test]
    fn what_belongs_to_another_does_not_run() {
        let world = World::new();
        let path = world.write(GLOBAL, GOOD);
        // Only root can give a file away.
        if chown(&path, Some(4242), None).is_ok() {
            refused(&world, "belongs to user 4242");
        }
    }

    #[test]
    fn a_group_writable_file_is_a_warning() {
        let world = World::new();
        mode(&world.write(GLOBAL, GOOD), 0o664);
        let report = load(&world);
        assert!(report.is_ok() && report.loaded == 1);
        let reported = report.problems[0].to_string();
        assert!(
            reported.starts_with("warning: ") && reported.contains("is writable by its group"),
            "{reported}"
        );
        assert_eq!(world.outcome(&bash()).results()[0].stdout.trim(), "ran");
    }

    #[test]
    fn commands_in_messages_can_be_copied() {
        let world = World::new();
        let path = world.write("it's mine/.src/forge/hooks.json", GOOD);
        mode(&path, 0o666);
        let project = path.ancestors().nth(3).unwrap();
        let report = config(&world).load_into(world.registry(), project, TrustPolicy::Everything);
        let reported = &report.problems[0].message;
        assert!(
            reported.contains(r"/it'\''s mine/.src/forge/hooks.json'`"),
            "{reported}"
        );
    }
}

#[test]
fn only_some_of_many_unapproved_hooks_stay() {
    let world = World::new();
    let entry = r#"{"event": "tool:*", "command": "true"}"#;
    let text = format!(
        r#"{{"hooks": [{entry}{}]}}"#,
        format!(", {entry}").repeat(750)
    );
    let files = [".one/hooks.json", ".two/hooks.json"];
    for file in files {
        world.write(&format!("project/{file}"), &text);
    }
    let profile = AppProfile::default().with_project_files(files);
    let config = HookConfig::new(profile).with_config_home(world.path("config"));
    let policy = TrustPolicy::Approved(config.trust_store().unwrap());
    let report = config.load_into(world.registry(), world.path("project"), policy);
    assert_eq!((report.loaded, world.registry().len()), (1000, 1000));
    let reported: Vec<_> = report.problems.iter().map(ToString::to_string).collect();
    assert!(
        reported
            .iter()
            .any(|it| it.contains("more than 1000 hooks that are not approved")),
        "{reported:?}"
    );
}
