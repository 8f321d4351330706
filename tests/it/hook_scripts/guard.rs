//! The script examples/hooks/security.sh: which commands and files it blocks, and which it does not.
#![cfg(unix)]

use std::os::unix::fs::symlink;

use forge_hooks::hook::{Reads, Stdin};
use forge_hooks::{Hook, HookEvent};
use serde_json::{Value, json};

use super::{script, with_jq};
use crate::cases::cases;
use crate::support::{World, blocking_event, one_in};

fn guard() -> Hook {
    script("security.sh").with_env("HOME", "/home/me")
}

/// The guard blocks the call with `words` in its reason, or lets it pass if they are empty.
#[track_caller]
fn case(world: &World, tool: &str, args: Value, words: &str) {
    let code = if words.is_empty() { 0 } else { 2 };
    let event = HookEvent::tool_pre_execute(tool, args);
    super::case(world, guard(), &event, code, words);
}

/// All values pass: in one run, since a run takes long. If it blocks, each value has one of its own.
#[track_caller]
fn all_pass(world: &World, key: &str, values: &[String]) {
    let step = |value: &String| json!({ key: value, "content": "cat .env; rm -rf /" });
    let steps: Vec<_> = one_in(3, values).map(step).collect();
    let event = HookEvent::tool_pre_execute("x", json!({ "steps": steps }));
    if !world.run(guard(), &event).success() {
        for args in steps {
            case(world, "x", args, "");
        }
        panic!("each value passes, but not all of them together");
    }
}

/// The kinds of `guard.txt` with their cases.
fn kinds() -> Vec<(&'static str, Vec<String>)> {
    let text = |line: &str| {
        line.replace('⏎', "\n")
            .replace('⇥', "\t")
            .replace("(empty)", "")
    };
    cases(include_str!("guard.txt"))
        .into_iter()
        .map(|kind| (kind.name, kind.text.lines().map(text).collect()))
        .collect()
}

fn cases_of(name: &str) -> Vec<String> {
    let mut kinds = kinds().into_iter();
    kinds.find(|kind| kind.0 == name).unwrap().1
}

const VITAL: &str = "vital directory";
const UNREADABLE: &str = "the arguments cannot be read";

#[test]
fn dangerous_commands_are_blocked() {
    let Some(world) = with_jq() else { return };
    let blocked = |kind: &(&str, _)| !kind.0.ends_with("files") && !kind.0.ends_with("commands");
    for (words, commands) in kinds().into_iter().filter(blocked) {
        for command in one_in(40, commands) {
            case(&world, "bash", json!({ "command": command }), words);
        }
    }
}

#[test]
fn harmless_commands_pass() {
    let Some(world) = with_jq() else { return };
    all_pass(&world, "command", &cases_of("harmless commands"));
}

#[test]
fn protected_files_are_blocked() {
    let Some(world) = with_jq() else { return };
    world.write(".git/hooks/x", "");
    world.write(".env", "");
    world.write(".claude/x", "");
    symlink(world.path(".git/hooks"), world.path("harmless")).unwrap();
    symlink(".env", world.path("notes.txt")).unwrap();
    symlink(".env.new", world.path("not yet")).unwrap();
    symlink(".src/forge", world.path("innocent")).unwrap();
    symlink(".claude/settings.json", world.path("to-hooks")).unwrap();
    // In all four forms.
    for (index, path) in one_in(11, cases_of("protected files").iter().enumerate()) {
        let args = match index % 4 {
            0 => json!({"file_path": path, "content": "x"}),
            1 => json!({"filePath": path}),
            2 => json!({"paths": ["a", path]}),
            _ => json!({"edits": [{"path": path}]}),
        };
        case(&world, "write", args, "is protected");
    }
    for path in one_in(2, ["a\nb", "\u{7f}", ".env\r", "a\0"]) {
        let args = json!({ "path": path });
        case(&world, "write", args, "a path with a control character");
    }
}

#[test]
fn other_files_pass() {
    let Some(world) = with_jq() else { return };
    world.write(".git/x", "");
    all_pass(&world, "file_path", &cases_of("other files"));
}

#[test]
fn the_guard_protects_itself() {
    let Some(world) = with_jq() else { return };
    let own = world.script(
        "bin/guard.sh",
        include_str!("../../../examples/hooks/security.sh"),
    );
    symlink(&own, world.path("notes.md")).unwrap();
    let own = own.to_str().unwrap();
    let home = world.directory().to_str().unwrap();
    let guard = || {
        let hook = Hook::program("*", ["/bin/sh", own]).unwrap();
        hook.with_reads(Reads::Stdin).with_env("HOME", home)
    };
    for (args, message) in [
        (json!({"path": own}), "is protected"),
        (json!({"path": "bin/guard.sh"}), "is protected"),
        (json!({"path": "notes.md"}), "is protected"),
        (json!({"command": format!("rm {own}")}), "is protected"),
        (json!({"command": "echo > ./bin/guard.sh"}), "is protected"),
        (json!({"command": "echo > ~/bin/guard.sh"}), "is protected"),
        (json!({"path": "bin/guard.sh.md"}), ""),
        (json!({"command": "cat guard.sh"}), ""),
    ] {
        let event = HookEvent::tool_pre_execute("x", args);
        let code = if message.is_empty() { 0 } else { 2 };
        super::case(&world, guard(), &event, code, message);
    }
}

#[test]
fn arguments_in_every_form_are_searched() {
    let Some(world) = with_jq() else { return };
    let long = format!("{}; rm -rf /", "echo x; ".repeat(500));
    let cases = [
        ("x", json!("rm -rf /"), VITAL),
        ("x", json!({"query": "rm -rf /"}), ""),
        ("bash", json!(null), UNREADABLE),
        ("bash", json!({"command": "ls\0"}), UNREADABLE),
        ("x", json!({"cmd": "rm -rf /"}), VITAL),
        ("bash", json!({}), UNREADABLE),
        ("x", json!({"command": ["bash", "-lc", "rm -rf /"]}), VITAL),
        ("bash", json!({"command": null}), UNREADABLE),
        ("Bash", json!({"input": "ls"}), UNREADABLE),
        ("x", json!({"steps": [{"script": "rm -rf /"}]}), VITAL),
        ("x", json!({}), ""),
        ("x", json!({"Command": "rm -rf /"}), VITAL),
        ("bash", json!({"command": 5}), UNREADABLE),
        ("x", json!("ls"), ""),
        ("x", json!({"command": {"a": "ls"}}), UNREADABLE),
        ("x", json!({ "command": long }), VITAL),
        ("x", json!({"cmd": ["ls", "-la"]}), ""),
        ("x", json!({"command": ["ls", 5]}), UNREADABLE),
        ("x", json!(["ls"]), UNREADABLE),
        ("x", json!(true), UNREADABLE),
    ];
    for (tool, args, words) in one_in(7, cases) {
        case(&world, tool, args, words);
    }
    let without_input = guard().with_stdin(Stdin::None);
    super::case(&world, without_input, &blocking_event(), 2, UNREADABLE);
}
