//! Loading for a host: what cannot be used is reported, and blocks what it could have blocked.

use std::path::Path;

use forge_hooks::{FailureKind, HookEvent, Outcome};

use super::{FORGE as GLOBAL, file_of, load};
use crate::support::{World, blocking_event, printed};

const PROJECT: &str = "project/.src/forge/hooks.json";

/// That it is blocked by a placeholder, whose reason holds these words.
#[track_caller]
fn blocked(outcome: &Outcome, words: &str) {
    let result = outcome.blocked().expect("a result that blocks");
    assert_eq!(result.failure(), Some(FailureKind::Misconfigured));
    assert_eq!((result.exit_code(), result.pid()), (-1, None));
    let reason = outcome.reason().unwrap();
    assert!(reason.contains(words), "{reason}");
}

#[test]
fn hooks_are_registered_last_in_order() {
    let world = World::new();
    world.hook("*", "echo host");
    world.write(GLOBAL, &file_of(&["echo global"]));
    world.write(PROJECT, &file_of(&["echo project"]));
    let report = load(&world);
    assert!(report.is_ok() && report.problems.is_empty());
    assert_eq!(report.loaded, 2);
    assert_eq!(report.files, [world.path(GLOBAL), world.path(PROJECT)]);
    let outcome = world.outcome(&blocking_event());
    assert_eq!(printed(outcome.results()), ["host", "global", "project"]);
}

/// Entries that cannot be used, each with its effect at each of `events`: `b` blocks, `r` is reported, `.` does not
/// match. A part of the reason follows. `golden/check.txt` has all reasons.
const ENTRIES: &str = r#"
b..... hooks[0].timeout: {"event": "tool:pre_execute:bash", "command": "x", "timeout": "5"}
bbbrbr hooks[0].event: {"event": "tool:[", "command": "x"}
bbbrbr hooks[0].event: {"event": 5, "command": "x"}
bbbrbr hooks[0]: 7
bbbrbr hooks[0]: null
b...br hooks[0].args: {"event": "tool:pre_execute:bash|sh, llm:*", "args": []}
b...br hooks[0].event: {"event": "TOOL:Pre_execute:bash, LLM:*", "command": "x"}
bbbrbr hooks[0].event: {"event": "PreToolUse", "command": "x"}
...... - {"event": "tool:[", "command": "x", "enabled": false}
rrrrrr - {"event": "*", "command": "", "on_failure": "continue"}
rrrrrr - {"event": "tool:[", "command": "x", "on_failure": "continue"}
bbbrbr hooks[0].on_failure: {"event": "*", "command": "x", "on_failure": "perhaps"}
bbbrbr hooks[0].event: {"event": "tool:pre_execute", "event": "session:start", "command": "x"}
bbbrbr hooks[0].enabled: {"event": "*", "enabled": true, "enabled": false, "command": "x"}
bbbrbr hooks[0].on_failure: {"event": "*", "on_failure": "block", "on_failure": "continue", "command": "x"}
bbbrbr hooks[0].background: {"event": "*", "background": false, "background": true, "command": "x"}
"#;

#[test]
fn an_unusable_entry_blocks_its_events() {
    let interrupt = HookEvent::user_interrupt();
    let request = HookEvent::llm_pre_request("m", 1);
    let response = HookEvent::llm_post_response("m", 1);
    let read = HookEvent::tool_pre_execute("read", "");
    let prompt = HookEvent::user_prompt_submit("hello");
    let events = [blocking_event(), read, prompt, interrupt, request, response];
    for row in ENTRIES.trim().lines() {
        let (ends, rest) = row.split_once(' ').unwrap();
        let (reason, entry) = rest.split_once(' ').unwrap();
        let world = World::new();
        world.write(GLOBAL, &format!("{{\"hooks\": [{entry}]}}"));
        let report = load(&world);
        assert_eq!((report.is_ok(), report.loaded), (false, 0), "{row}");
        assert_eq!(report.problems[0].index, Some(0), "{row}");
        for (event, end) in events.iter().zip(ends.chars()) {
            let outcome = world.outcome(event);
            assert_eq!(outcome.results().is_empty(), end == '.', "{row}");
            assert_eq!(outcome.allowed(), end != 'b', "{row}");
            if end == 'b' {
                blocked(&outcome, reason);
                blocked(&outcome, &world.path(GLOBAL).display().to_string());
            }
        }
    }
}

/// The content of the user's file, and the reason for which everything is blocked. The content is a text, or
/// something else in `<>`.
const FILES: &str = r#"
 => is not valid JSON: expected a value, found the end
[] => expected an object with a list `hooks`
{"hooks": {}} => `hooks`: expected a list
{"hook": []} => an unknown key `hook`
<directory> => the file is a directory
<large> => the file is larger than 1 MiB
<pipe> => the file is a special file
<link> => the file cannot be read: 
"#;

#[test]
fn an_unusable_file_blocks_everything() {
    for row in FILES[1..].lines() {
        let (text, words) = row.split_once(" => ").unwrap();
        let world = World::new();
        let path = world.write(GLOBAL, text);
        if text.starts_with('<') && !put(text, &path) {
            continue;
        }
        let report = load(&world);
        assert_eq!((world.registry().len(), report.loaded), (1, 0), "{words}");
        assert_eq!(report.files, [path.as_path()]);
        assert_eq!((report.problems.len(), report.problems[0].index), (1, None));
        blocked(&world.outcome(&blocking_event()), words);
        assert!(world.outcome(&HookEvent::user_interrupt()).allowed());
    }
}

/// Returns false if the system cannot create such a thing.
fn put(what: &str, path: &Path) -> bool {
    std::fs::remove_file(path).unwrap();
    match what {
        "<directory>" => std::fs::create_dir(path).unwrap(),
        "<large>" => std::fs::write(path, " ".repeat((1 << 20) + 1)).unwrap(),
        #[cfg(unix)]
        "<pipe>" => {
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.unwrap().success());
        }
        #[cfg(unix)]
        "<link>" => std::os::unix::fs::symlink(path, path).unwrap(),
        _ => return false,
    }
    true
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
    assert_eq!(printed(outcome.results()), ["1", "2", ""]);
    let path = world.path(PROJECT).display().to_string();
    let prompt = HookEvent::user_prompt_submit("hello");
    blocked(&world.outcome(&prompt), &path);
}

/// Files that another user could have written. `golden/check.txt` has the messages.
#[cfg(unix)]
mod modes {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;
    use crate::config::config;

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
        blocked(&world.outcome(&blocking_event()), words);
        let config = config(world);
        assert!(config.load_all(world.path("project")).is_empty());
        world.registry().clear();
    }

    #[test]
    fn a_file_that_others_can_write_does_not_run() {
        for file in [GLOBAL, PROJECT] {
            let world = World::new();
            let path = world.write(file, GOOD);
            let directory = path.parent().unwrap();
            let by_all = "is in a world-writable directory; run `chmod o-w ";
            // In a directory with the last mode, only owners can replace files.
            for (at, bad, words, good) in [
                (&*path, 0o646, "is world-writable; run `chmod o-w ", 0o644),
                (directory, 0o777, by_all, 0o1777),
            ] {
                mode(at, bad);
                refused(&world, words);
                assert!(!config(&world).check(&path).is_ok());
                mode(at, good);
                assert!(load(&world).problems.is_empty());
            }
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
}
