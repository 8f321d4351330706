//! The examples, run as a newcomer would.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

#[cfg(unix)]
use serde_json::Value;
use serde_json::json;

#[cfg(unix)]
use crate::support::is_missing;
use crate::support::{World, meets};

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
        let is_there = output.lines().any(|printed| printed == *line);
        assert!(is_there, "no `{line}`: {output}");
    }
}

/// With these hooks for the user.
fn output_with(name: &str, application: &str, hooks: &str) -> String {
    let world = World::new();
    world.write(&format!("config/{application}/hooks.json"), hooks);
    output_of(name, &[], &world)
}

/// Section 10 of the specification's wireframes.
#[test]
fn complete_prints_the_specified_output() {
    let expected = include_str!("examples/complete.txt");
    assert_eq!(output_of("complete", &[], &World::new()), expected);
}

/// With the hooks that the repository has for it, and one for an event that there is not.
#[test]
fn a_game_shows_problems_and_runs_its_hooks() {
    let shipped = include_str!("../../examples/config/mygame/hooks.json");
    let simple = r#"{"hooks": [
        {"event": "level:loaded", "name": "announcer", "command": "echo level 1 is loaded"},
        {"event": "game:save", "name": "ironman", "command": "echo no saving in ironman mode&exit 1"}]}"#;
    let hooks = if cfg!(windows) { simple } else { shipped };
    let typo = r#""hooks": [{"event": "levle:loaded", "command": "echo never"},"#;
    let hooks = hooks.replace(r#""hooks": ["#, typo);
    let output = output_with("game_loop", "mygame", &hooks);
    let expected = [
        "announcer: level 1 is loaded",
        "not saved: blocked by hook `ironman`: no saving in ironman mode",
    ];
    has_lines(&output, &expected);
    assert!(output.contains("did you mean `level:loaded`?"), "{output}");
    assert_eq!(output.matches("announcer: ").count(), 2, "{output}");
}

#[cfg(unix)]
#[test]
fn the_agent_is_blocked_changed_and_asked() {
    if is_missing("jq") {
        return;
    }
    let hooks = include_str!("../../examples/config/myagent/hooks.json");
    let output = output_with("tool_executor", "myagent", hooks);
    assert_eq!(output, include_str!("examples/tool_executor.txt"));
}

/// A guard that was ended has decided nothing, so its call is not made, and the model hears nothing.
#[cfg(unix)]
#[test]
fn the_agent_ends_its_turn_after_ctrl_c() {
    if is_missing("jq") {
        return;
    }
    let world = World::new();
    let started = world.path("started");
    let hooks = json!({"hooks": [{
        "event": "tool:pre_execute:write", "name": "slow", "timeout": 60,
        "when": {"/tool_args/path": "notes.txt"}, "command": format!("touch '{}'; sleep 60", started.display()),
    }]});
    world.write("config/myagent/hooks.json", &hooks.to_string());
    let mut command = Command::new(example("tool_executor"));
    command.env("XDG_CONFIG_HOME", world.path("config"));
    let agent = command.stdout(Stdio::piped()).spawn().unwrap();
    world.await_file("started");
    let pid = rustix::process::Pid::from_child(&agent);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = agent.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let cancelled = "> write {\"path\":\"notes.txt\",\"text\":\"buy milk\"}\n  cancelled\n";
    assert!(text.ends_with(cancelled), "{text}");
}

/// Not the tool's own output, which may be a secret.
#[cfg(unix)]
#[test]
fn the_agent_shows_what_hooks_made_of_it() {
    if is_missing("jq") {
        return;
    }
    for (command, shown) in [
        ("exit 3", "exited with code 3"),
        (
            "echo '{\"updatedOutput\": \"buy nothing\"}'",
            "\n  buy nothing",
        ),
    ] {
        let hooks = include_str!("../../examples/config/myagent/hooks.json");
        let mut hooks: Value = serde_json::from_str(hooks).unwrap();
        hooks["hooks"].as_array_mut().unwrap().extend([
            json!({"event": "tool:post_execute:read", "command": command, "on_failure": "withhold"}),
            json!({"event": "tool:pre_execute:Read", "command": "echo never"}),
        ]);
        let output = output_with("tool_executor", "myagent", &hooks.to_string());
        assert!(!output.contains("\n  buy milk"), "{output}");
        assert!(output.contains(shown), "{output}");
        assert!(output.contains("did you mean `read`?"), "{output}");
    }
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

/// The cancelled one would never end; what it waits for is not there.
#[test]
fn a_program_with_a_screen_asks_before_it_quits() {
    let blocked = "stays open: blocked by hook `guard`: ";
    for (keys, command, shown) in [
        ("q", "exit 0", String::new()),
        ("q", "echo not saved&&exit 1", format!("{blocked}not saved")),
        (
            "q\nc",
            &*meets("started", "never"),
            "stays open: cancelled by the host before it began".to_owned(),
        ),
    ] {
        let world = World::new();
        let hooks = json!({"hooks": [{"event": "app:quit", "name": "guard", "command": command}]});
        world.write("config/myscreen/hooks.json", &hooks.to_string());
        let mut command = Command::new(example("screen"));
        command.current_dir(world.directory());
        command.env("XDG_CONFIG_HOME", world.path("config"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut screen = command.spawn().unwrap();
        let mut stdin = screen.stdin.take().unwrap();
        stdin.write_all(format!("{keys}\n").as_bytes()).unwrap();
        drop(stdin);
        let output = screen.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
        assert!(text.contains(&shown) && text.contains("\nbye"), "{text}");
        assert_eq!(text.contains("stays open"), !shown.is_empty(), "{text}");
    }
}
