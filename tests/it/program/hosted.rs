//! The commands as a part of a host: its name, its events, its files.

use std::path::Path;

use forge_hooks::cli::{self, Io};
use forge_hooks::compat::{self, OtherAgents};
use forge_hooks::{AppProfile, EventSpec, EventType, Hooks};
use tempfile::TempDir;

use super::{GUARDED, Printed, with};
use crate::support::hook;

fn host(home: &Path) -> Hooks {
    let loaded = EventType::custom("level:loaded").unwrap();
    let loaded = EventSpec::new(loaded)
        .with_description("A level is ready")
        .with_data("level", "its name")
        .notify_only();
    Hooks::builder(AppProfile::new("mygame"))
        .event(loaded)
        .tools(["bash"])
        .config_home(home)
        .load()
}

/// Runs `mygame hooks` with these arguments; returns its output and its status.
pub(super) fn run(home: &Path, args: &[&str]) -> Printed {
    run_of(&host(home), args, usize::MAX)
}

/// The same for this host, whose user interrupts it when it has been asked so often.
fn run_of(hooks: &Hooks, args: &[&str], patience: usize) -> Printed {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut asked = 0;
    let interrupted = || {
        asked += 1;
        (asked > patience).then_some(130)
    };
    let io = Io::new("mygame hooks", std::io::empty(), &mut out, &mut err).with_version("7.1");
    let mut io = io.interrupted_by(interrupted);
    let exit = cli::run(hooks, args, &mut io);
    drop(io);
    Printed {
        status: exit.into(),
        out: String::from_utf8(out).unwrap(),
        err: String::from_utf8(err).unwrap(),
    }
}

fn home_with(hooks: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("mygame")).unwrap();
    std::fs::write(home.path().join("mygame/hooks.json"), hooks).unwrap();
    home
}

const LOADED: &str =
    r#"{"hooks": [{"event": "level:loaded", "command": "echo $MYGAME_LEVEL; exit 1"}]}"#;

const SWORD: &str =
    r#"{"hooks": [{"event": "level:loaded:sword", "command": "true", "name": "mine"}]}"#;

#[test]
fn every_text_has_the_name_and_the_events_of_the_host() {
    for (hooks, status, args, message) in [
        ("{", 0, "--help", "mygame hooks fire tool:pre_execute"),
        ("{", 0, "--help", "Write, check and try hooks\n"),
        ("{", 0, "--version", "mygame hooks 7.1"),
        ("{", 0, "fire --help", "Usage: mygame hooks fire"),
        (
            "{",
            0,
            "list --help",
            "[default: the project of the program]",
        ),
        ("{", 2, "fire --jsn", "Usage: mygame hooks fire"),
        ("{", 0, "completions bash", " mygame\n"),
        ("{", 0, "completions zsh", "#compdef mygame\n"),
        ("{", 2, "trust --project PROJECT", "mygame hooks init"),
        ("{", 0, "init --project PROJECT", "mygame hooks check"),
        ("{", 1, "list --project PROJECT", "mygame hooks trust"),
        ("{", 2, "check --no-global", "mygame hooks init"),
        (LOADED, 1, "fire level:loaded --data level=one", "out  one"),
        (LOADED, 1, "fire level:loaded", "cannot be blocked"),
        (
            LOADED,
            2,
            "fire levle:loaded",
            "did you mean `level:loaded`?",
        ),
        (
            LOADED,
            0,
            "events",
            "level:loaded: A level is ready; cannot be blocked\n",
        ),
        (LOADED, 0, "events", "FORGE_LEVEL"),
        (SWORD, 0, "list --tool sword", "mine\n"),
        (SWORD, 0, "list --tool bow", "no hooks\n"),
        // It has no project.
        (GUARDED, 2, "trust", "there is no project"),
        (GUARDED, 2, "init", "or say `--global`"),
        (GUARDED, 0, "list", "looker\n"),
    ] {
        let home = home_with(hooks);
        let project = home.path().join("project");
        std::fs::create_dir(&project).unwrap();
        if args.starts_with("status") || args.starts_with("list") {
            let init = ["init", "--project", project.to_str().unwrap()];
            assert_eq!(run(home.path(), &init).status, 0);
        }
        let args = args.replace("PROJECT", project.to_str().unwrap());
        let printed = run(home.path(), &args.split(' ').collect::<Vec<_>>());
        let text = printed.out + &printed.err;
        assert_eq!(printed.status, status, "{args}: {text}");
        assert!(text.contains(message), "{args}: {text}");
        assert!(!text.contains("forge-hooks"), "{args}: {text}");
    }
}

#[test]
fn a_missing_value_matches_only_what_can_block() {
    let home = home_with(
        r#"{"hooks": [{"event": "*:loaded", "when": {"/level": "two"}, "command": "exit 1"}]}"#,
    );
    for (event, runs) in [("level:loaded", false), ("map:loaded", true)] {
        for (command, message) in [("list", "1. runs"), ("fire", "exited with code 1")] {
            let printed = run(home.path(), &[command, event]);
            let text = printed.out + &printed.err;
            let is_printed = [message, "it has no value"].map(|part| text.contains(part));
            assert_eq!(is_printed, [runs, !runs], "{event} {command}: {text}");
        }
    }
    let cases = home.path().join("cases.json");
    std::fs::write(&cases, r#"[{"event": "level:loaded", "expect": "allow"}, {"event": "map:loaded", "expect": "block"}]"#).unwrap();
    let printed = run(home.path(), &["test", cases.to_str().unwrap()]);
    assert_eq!(printed.status, 0, "{}", printed.out);
}

#[test]
fn hooks_of_other_agents_are_approved() {
    let home = home_with("{}");
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".claude")).unwrap();
    let settings =
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}}"#;
    std::fs::write(project.join(".claude/settings.json"), settings).unwrap();
    let run = |args: &[&str]| {
        let builder = Hooks::builder(AppProfile::new("mygame"))
            .other_agents(OtherAgents::new([compat::CLAUDE]).with_home(home.path()));
        let hooks = builder.config_home(home.path()).load();
        let args = with(args, &["--project", project.to_str().unwrap()]);
        run_of(&hooks, &args, usize::MAX)
    };
    let listed = run(&["list"]).out;
    assert!(listed.contains("mygame hooks trust --project"), "{listed}");
    let fire = ["fire", "tool:pre_execute", "--tool", "bash"];
    let commands = [&fire[..], &["trust", "--yes"], &fire, &["list"]];
    assert_eq!(commands.map(|args| run(args).status), [0, 0, 1, 0]);
}

#[test]
fn a_registered_hook_is_listed() {
    let home = home_with("{}");
    let hooks = host(home.path());
    hooks
        .executor()
        .registry()
        .register(hook("level:loaded", "echo mine"));
    let listed = run_of(&hooks, &["list"], usize::MAX).out;
    assert!(listed.contains("echo mine"), "{listed}");
}

#[test]
fn init_fits_the_tools_of_the_host() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(run(home.path(), &["init", "--global"]).status, 0);
    let printed = run(home.path(), &["check"]);
    let summary = "1 file: 0 errors, 0 warnings,";
    assert!(printed.out.contains(summary), "{printed:?}");
}

#[test]
fn a_host_says_when_commands_end() {
    let home = home_with(r#"{"hooks": [{"event": "session:start", "command": "sleep 600"}]}"#);
    let cases = home.path().join("cases.json");
    std::fs::write(&cases, r#"[{"event": "session:start", "expect": "allow"}]"#).unwrap();
    for args in [["fire", "session:start"], ["test", cases.to_str().unwrap()]] {
        let ended = run_of(&host(home.path()), &args, 3);
        assert_eq!(ended.status, 130, "{args:?}");
    }
}

/// In a shell, a backslash stands for itself only in quotes.
#[cfg(unix)]
#[test]
fn a_suggested_command_names_the_same_project() {
    let home = home_with(GUARDED);
    for (name, word) in [("a\\b", "'PATH'"), ("a b", "'PATH'"), ("a:b", "PATH")] {
        let project = home.path().join(name);
        std::fs::create_dir(&project).unwrap();
        let project = project.to_str().unwrap();
        let printed = run(home.path(), &["trust", "--project", project]);
        let expected = format!(
            "mygame hooks init --project {}",
            word.replace("PATH", project)
        );
        assert!(printed.err.contains(&expected), "{printed:?}");
    }
}

/// Also where the host names no command that approves, so that its own messages have another one.
#[test]
fn a_missing_approval_is_listed_once() {
    let home = home_with(GUARDED);
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".mygame")).unwrap();
    std::fs::write(project.join(".mygame/hooks.json"), GUARDED).unwrap();
    let hooks = host(home.path());
    let hooks = hooks.to_builder().project(project).load();
    let printed = run_of(&hooks, &["list"], usize::MAX);
    let text = printed.out + &printed.err;
    assert_eq!(text.matches("to approve").count(), 0, "{text}");
    assert_eq!(text.matches("mygame hooks trust").count(), 1, "{text}");
}
