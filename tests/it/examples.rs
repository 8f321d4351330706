//! The examples, run as a newcomer would.

use std::path::PathBuf;
use std::process::Command;

#[cfg(unix)]
use serde_json::{Value, json};

use crate::support::World;
#[cfg(unix)]
use crate::support::is_missing;

/// The program of an example. `cargo test` builds them; where only this test was built, it is built
/// now.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let directory = test.parent().and_then(|deps| deps.parent()).unwrap();
    let program = directory
        .join("examples")
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["build", "--quiet", "--example", name, "--target-dir"])
            .arg(directory.parent().unwrap())
            .status();
        assert!(status.unwrap().success());
    }
    program
}

/// Run in the world's directory, with its `config` for the user's configuration.
fn output_of(name: &str, args: &[&str], world: &World) -> String {
    let mut command = Command::new(example(name));
    command.args(args).current_dir(world.directory());
    let output = command.env("XDG_CONFIG_HOME", world.path("config"));
    let output = output.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.replace("\r\n", "\n")
}

#[track_caller]
fn has_lines(output: &str, expected: &[&str]) {
    for line in expected {
        let is_there = output.lines().any(|it| it == *line);
        assert!(is_there, "no `{line}`: {output}");
    }
}

/// Section 10 of the specification's wireframes.
const COMPLETE: &str = "\
============================================================
Test 1: Normal bash command
Pre-execute results: 2 hooks
  tool:pre_execute: exit=0
    stdout: >>> Executing: bash
  tool:pre_execute:bash: exit=0
<<< Completed: bash

============================================================
Test 2: Blocked sudo command
Pre-execute results: 2 hooks
  tool:pre_execute: exit=0
    stdout: >>> Executing: bash
  tool:pre_execute:bash: exit=1, continue=False
    stdout: BLOCKED: sudo not allowed

Operation blocked by 1 hook(s)!

============================================================
Test 3: Read operation (no blocking hooks)
Pre-execute results: 1 hooks
  tool:pre_execute: exit=0
    stdout: >>> Executing: read

============================================================
Registered hooks:
  [enabled] tool:pre_execute: Announce tool execution
  [enabled] tool:pre_execute:bash: Block sudo commands
  [enabled] tool:post_execute: Announce tool completion
";

/// With these hooks for the user.
fn output_with(name: &str, application: &str, hooks: &str) -> String {
    let world = World::new();
    world.write(&format!("config/{application}/hooks.json"), hooks);
    output_of(name, &[], &world)
}

#[test]
fn complete_prints_the_specified_output() {
    assert_eq!(output_of("complete", &[], &World::new()), COMPLETE);
}

#[test]
fn a_host_shows_problems_and_obeys_its_hooks() {
    let game = r#"{"hooks": [
        {"event": "level:loaded", "command": "echo heard"},
        {"event": "levle:loaded", "command": "echo never"},
        {"event": "game:save", "command": "exit 3", "name": "ironman"}]}"#;
    let output = output_with("game_loop", "mygame", game);
    let expected = [
        "echo heard: heard",
        "not saved: blocked by hook `ironman`: exited with code 3",
    ];
    has_lines(&output, &expected);
    assert!(output.contains("did you mean `level:loaded`?"), "{output}");

    let agent = r#"{"hooks": [
        {"event": "tool:pre_execute:Read", "command": "echo never"},
        {"event": "tool:pre_execute:remove", "command": "exit 3", "name": "keeper"}]}"#;
    let output = output_with("tool_executor", "myagent", agent);
    has_lines(&output, &["  blocked by hook `keeper`: exited with code 3"]);
    assert!(output.contains("did you mean `read`?"), "{output}");
}

/// The hooks that the repository has for it.
#[cfg(unix)]
#[test]
fn a_game_runs_the_hooks_that_are_shipped() {
    let hooks = include_str!("../../examples/config/mygame/hooks.json");
    let expected = [
        "announcer: level 1 is loaded",
        "announcer: level 2 is loaded",
        "not saved: blocked by hook `ironman`: no saving in ironman mode",
    ];
    has_lines(&output_with("game_loop", "mygame", hooks), &expected);
}

#[cfg(unix)]
const TOOL_EXECUTOR: &str = r#"> write {"path":"notes.txt","text":"buy milk"}
  for the user: written as a draft
  written
> read {"path":"draft-notes.txt"}
  buy milk
  for the model: notes are drafts
> write {"path":".env","text":"KEY=1"}
  blocked by hook `no secrets`: secrets are not written by agents
> remove {"path":"draft-notes.txt"}
  may it? it deletes a file: no
  blocked by hook `careful`: it deletes a file
> read {"path":"missing.txt"}
  failed: entity not found
> read {"path":"/etc/passwd"}
  blocked by hook `stay inside`: /etc/passwd is not in the project
"#;

#[cfg(unix)]
#[test]
fn the_agent_is_blocked_changed_and_asked() {
    if is_missing("jq") {
        return;
    }
    let hooks = include_str!("../../examples/config/myagent/hooks.json");
    let output = output_with("tool_executor", "myagent", hooks);
    assert_eq!(output, TOOL_EXECUTOR);
}

/// Not the tool's own output, which may be a secret.
#[cfg(unix)]
#[test]
fn the_agent_shows_what_hooks_made_of_it() {
    let shown = |command: &str| {
        let hooks = include_str!("../../examples/config/myagent/hooks.json");
        let mut hooks: Value = serde_json::from_str(hooks).unwrap();
        hooks["hooks"].as_array_mut().unwrap().push(json!(
            {"event": "tool:post_execute:read", "command": command, "on_failure": "withhold"}
        ));
        output_with("tool_executor", "myagent", &hooks.to_string())
    };
    let withheld = shown("exit 3");
    assert!(!withheld.contains("\n  buy milk"), "{withheld}");
    assert!(withheld.contains("exited with code 3"), "{withheld}");
    let changed = shown("echo '{\"updatedOutput\": \"buy nothing\"}'");
    has_lines(&changed, &["  buy nothing"]);
}

#[test]
fn an_editor_runs_approved_hooks() {
    let world = World::new();
    let hooks = r#"{"hooks": [
        {"event": "file:will_save", "when": {"/file": "*.lock"}, "command": "exit 3", "name": "locks"},
        {"event": "file:saved", "command": "echo heard"}]}"#;
    world.write("ws/.myeditor/hooks.json", hooks);
    let output = output_of("editor", &["ws", "x.lock"], &world);
    has_lines(&output, &["x.lock: saved"]);
    let expected = "2 hooks are not approved and do not run: `locks`, `echo heard`";
    assert!(output.contains(expected), "{output}");
    assert!(output.contains("`editor --trust ws`"), "{output}");

    let output = output_of("editor", &["--trust", "ws", "x.lock", "x.txt"], &world);
    let expected = [
        "x.lock: blocked by hook `locks`: exited with code 3",
        "x.txt: saved",
    ];
    has_lines(&output, &expected);
    assert!(!output.contains("not approved"), "{output}");
}
