//! The commands as a part of a host: its name, its events, its files.

use std::path::Path;
use std::process::ExitCode;

use forge_hooks::cli::{self, Io};
use forge_hooks::compat::{self, OtherTools};
use forge_hooks::{AppProfile, EventSpec, EventType, Hooks};
use tempfile::TempDir;

use super::{GUARDED, with};

/// What `mygame hooks` with these arguments says, and how it ends.
struct Printed {
    status: String,
    out: String,
    err: String,
}

fn host(home: &Path) -> Hooks {
    let loaded = EventType::custom("level:loaded").unwrap();
    let loaded = EventSpec::new(loaded)
        .description("A level is ready")
        .data("level", "its name")
        .notify_only();
    Hooks::builder(AppProfile::new("mygame"))
        .event(loaded)
        .tools(["bash"])
        .config_home(home)
        .load()
}

fn run(home: &Path, args: &[&str]) -> Printed {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut io = Io::new("mygame hooks", std::io::empty(), &mut out, &mut err).version("7.1");
    let status = cli::run(&host(home), args, &mut io);
    drop(io);
    Printed {
        status: format!("{status:?}"),
        out: String::from_utf8(out).unwrap(),
        err: String::from_utf8(err).unwrap(),
    }
}

fn status(number: u8) -> String {
    format!("{:?}", ExitCode::from(number))
}

fn home_with(hooks: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("mygame")).unwrap();
    std::fs::write(home.path().join("mygame/hooks.json"), hooks).unwrap();
    home
}

#[test]
fn every_text_has_the_name_of_the_host() {
    let home = home_with("{");
    let project = tempfile::tempdir().unwrap();
    let project = project.path().to_str().unwrap();
    for (args, words) in [
        (&["--help"][..], "mygame hooks fire tool:pre_execute"),
        (&["--help"], "Write, check and try hooks\n"),
        (&["--version"], "mygame hooks 7.1"),
        (&["fire", "--help"], "Usage: mygame hooks fire"),
        (&["list", "--help"], "[default: the project of the program]"),
        (&["fire", "--jsn"], "Usage: mygame hooks fire"),
        (&["completions", "bash"], " mygame\n"),
        (&["completions", "zsh"], "#compdef mygame\n"),
        (&["trust", "--project", project], "mygame hooks init"),
        (&["init", "--project", project], "mygame hooks validate"),
        (&["status", "--project", project], "mygame hooks trust"),
        (&["list", "--project", project], "mygame hooks trust"),
        (&["validate", "--no-global"], "mygame hooks init"),
    ] {
        let printed = run(home.path(), args);
        let text = printed.out + &printed.err;
        assert!(text.contains(words), "{args:?}: {text}");
        assert!(!text.contains("forge-hooks"), "{args:?}: {text}");
    }
}

#[test]
fn a_host_fires_its_own_event() {
    let home = home_with(
        r#"{"hooks": [{"event": "level:loaded", "command": "echo $MYGAME_LEVEL; exit 1"}]}"#,
    );
    let printed = run(
        home.path(),
        &["fire", "level:loaded", "--data", "level=one"],
    );
    assert!(printed.out.contains("out  one"), "{}", printed.out);
    assert!(printed.out.contains("cannot be blocked"), "{}", printed.out);
    let printed = run(home.path(), &["fire", "levle:loaded"]);
    assert_eq!(printed.status, status(2));
    assert!(
        printed.err.contains("did you mean `level:loaded`?"),
        "{}",
        printed.err
    );
    let printed = run(home.path(), &["events"]);
    let words = "level:loaded: A level is ready; cannot be blocked\n";
    assert!(printed.out.contains(words), "{}", printed.out);
    assert!(printed.out.contains("FORGE_LEVEL"), "{}", printed.out);
    let printed = run(home.path(), &["completions", "fish"]);
    assert!(printed.out.contains("level:loaded"), "{}", printed.out);
}

#[test]
fn a_missing_value_matches_only_what_can_block() {
    let home = home_with(
        r#"{"hooks": [{"event": "*:loaded", "when": {"/level": "two"}, "command": "exit 1"}]}"#,
    );
    for (event, runs) in [("level:loaded", false), ("map:loaded", true)] {
        for (args, words) in [(&["--dry-run"][..], "1. runs"), (&[], "exited with code 1")] {
            let printed = run(home.path(), &[&["fire", event], args].concat());
            let text = printed.out + &printed.err;
            assert_eq!(text.contains(words), runs, "{event} {args:?}: {text}");
            assert_eq!(
                text.contains("it has no value"),
                !runs,
                "{event} {args:?}: {text}"
            );
        }
    }
    let cases = home.path().join("cases.json");
    std::fs::write(&cases, r#"[{"event": "level:loaded", "expect": "allow"}, {"event": "map:loaded", "expect": "block"}]"#).unwrap();
    let printed = run(home.path(), &["test", cases.to_str().unwrap()]);
    assert_eq!(printed.status, status(0), "{}", printed.out);
}

#[test]
fn a_host_without_projects_has_none() {
    let home = home_with(GUARDED);
    let printed = run(home.path(), &["trust"]);
    assert_eq!(printed.status, status(2));
    assert!(
        printed.err.contains("there is no project"),
        "{}",
        printed.err
    );
    let printed = run(home.path(), &["init"]);
    assert!(printed.err.contains("or say `--global`"), "{}", printed.err);
    let printed = run(home.path(), &["list", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&printed.out).unwrap();
    assert_eq!(list["hooks"].as_array().unwrap().len(), 2, "{list:#}");
}

#[test]
fn hooks_of_other_tools_are_approved() {
    let home = home_with("{}");
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".claude")).unwrap();
    let settings =
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}}"#;
    std::fs::write(project.join(".claude/settings.json"), settings).unwrap();
    let builder = Hooks::builder(AppProfile::new("mygame"))
        .other_tools(OtherTools::new([compat::CLAUDE]).with_home(home.path()));
    let host = || builder.clone().config_home(home.path()).load();
    let root = project.to_str().unwrap();
    let run = |args: &[&str]| {
        let mut out = Vec::new();
        let mut io = Io::new("mygame hooks", std::io::empty(), &mut out, std::io::sink());
        let ended = cli::run(&host(), with(args, &["--project", root]), &mut io);
        drop(io);
        (format!("{ended:?}"), String::from_utf8(out).unwrap())
    };
    let (_, listed) = run(&["list"]);
    assert!(listed.contains("mygame hooks trust --project"), "{listed}");
    let fire = ["fire", "tool:pre_execute", "--tool", "bash"];
    assert_eq!(run(&fire).0, status(0));
    assert_eq!(run(&["trust", "--yes"]).0, status(0));
    assert_eq!(run(&fire).0, status(1));
    assert_eq!(run(&["status"]).0, status(0));
}

#[test]
fn a_registered_hook_is_listed() {
    let home = home_with("{}");
    let hooks = host(home.path());
    let hook = forge_hooks::Hook::new("level:loaded", "echo mine").unwrap();
    hooks.registry().register(hook);
    let mut out = Vec::new();
    let mut io = Io::new("mygame hooks", std::io::empty(), &mut out, std::io::sink());
    let _ = cli::run(&hooks, ["list"], &mut io);
    drop(io);
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("echo mine"), "{out}");
}

#[test]
fn init_fits_the_tools_of_the_host() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(run(home.path(), &["init", "--global"]).status, status(0));
    let printed = run(home.path(), &["validate"]);
    let words = "1 file: 0 errors, 0 warnings,";
    assert!(
        printed.out.contains(words),
        "{}{}",
        printed.out,
        printed.err
    );
}

#[test]
fn a_host_says_when_commands_end() {
    let home = home_with(r#"{"hooks": [{"event": "session:start", "command": "sleep 600"}]}"#);
    let cases = home.path().join("cases.json");
    std::fs::write(&cases, r#"[{"event": "session:start", "expect": "allow"}]"#).unwrap();
    for args in [["fire", "session:start"], ["test", cases.to_str().unwrap()]] {
        let mut asked = 0;
        let interrupted = move || {
            asked += 1;
            (asked > 3).then_some(130)
        };
        let (sink, input) = (std::io::sink, std::io::empty());
        let mut io = Io::new("mygame hooks", input, sink(), sink()).interrupted_by(interrupted);
        let ended = cli::run(&host(home.path()), args, &mut io);
        assert_eq!(format!("{ended:?}"), status(130), "{args:?}");
    }
}

#[test]
fn list_finds_a_tool_on_an_event_of_the_host() {
    let hook = r#"{"hooks": [{"event": "level:loaded:sword", "command": "true", "name": "mine"}]}"#;
    let home = home_with(hook);
    let printed = run(home.path(), &["list", "--tool", "sword"]);
    assert!(
        printed.out.starts_with("mine\n"),
        "{}",
        printed.out + &printed.err
    );
    let printed = run(home.path(), &["list", "--tool", "bow"]);
    assert!(printed.out.starts_with("no hooks\n"), "{}", printed.out);
}
