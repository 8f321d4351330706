//! Differences on Windows: `cmd` and how it reads a command, and the job that ends a tree.
#![cfg(windows)]

use std::time::{Duration, Instant};

use forge_hooks::compat::{self, OtherAgents};
use forge_hooks::config::TrustPolicy;
use forge_hooks::{AppProfile, FailureKind, Hook, HookEvent, HookResult, Hooks};
use serde_json::{Value, json};

use crate::support::{World, config_of, hook};
use crate::trust::{PROJECT, Project};

fn fired(world: &World, hook: Hook, tool: &str) -> HookResult {
    world.run(hook, &HookEvent::tool_pre_execute(tool, json!({})))
}

#[test]
fn a_variable_is_never_code() {
    let world = World::new();
    for tool in [
        "bash",
        "a & echo b",
        "a | b",
        "a > forged",
        "\"a\" ^ (b)",
        "a && exit 9",
    ] {
        let result = fired(&world, hook("*", "echo [!FORGE_TOOL_NAME!]"), tool);
        assert_eq!(result.stdout().trim_end(), format!("[{tool}]"));
        assert_eq!(result.exit_code(), 0);
    }
    assert!(!world.path("forged").exists());
}

#[test]
fn a_command_with_a_line_break_is_refused() {
    let result = fired(&World::new(), hook("*", "echo one\necho two"), "bash");
    assert_eq!(result.failure(), Some(FailureKind::NotStarted));
    assert!(result.error().unwrap().contains("one line"));
}

/// Wine's `cmd` does not heed the variable, so only that it is set can be shown there.
#[test]
fn cmd_does_not_search_the_working_directory() {
    let echo = hook("*", "echo [!NoDefaultCurrentDirectoryInExePath!]");
    assert_eq!(
        fired(&World::new(), echo, "bash").stdout().trim_end(),
        "[1]"
    );
}

#[test]
fn quotes_reach_a_command_as_they_are() {
    let world = World::new();
    world.write("a b/c.txt", "found");
    let result = fired(&world, hook("*", r#"type "a b\c.txt""#), "bash");
    assert_eq!(result.stdout(), "found", "{}", result.stderr());
    let result = fired(&world, hook("*", r#""cmd" /C echo "x""#), "bash");
    assert_eq!(result.stdout().trim_end(), "\"x\"", "{}", result.stderr());
}

#[test]
fn a_path_begins_at_the_working_directory() {
    let world = World::new();
    world.write("bin/guard.bat", "@echo guarded %1\r\n");
    for path in ["bin/guard.bat", r".\bin\guard.bat"] {
        let result = fired(&world, Hook::program("*", [path, "well"]).unwrap(), "bash");
        assert_eq!(result.stdout().trim_end(), "guarded well", "{result:?}");
    }
    world.write("bin/text.exe", "no program");
    let no_program = |path| fired(&world, Hook::program("*", [path]).unwrap(), "bash");
    let missing = no_program("bin/none.exe");
    assert_eq!(missing.failure(), Some(FailureKind::NotFound));
    let missing = no_program("bin/text.exe");
    let error = missing.error().unwrap();
    assert!(error.contains("needs an interpreter before it"), "{error}");
}

/// An approval covers a script in each form of its path: whole, in other letter case, without its ending, or in a
/// working directory.
#[test]
fn an_approval_covers_each_form_of_a_path() {
    let whole = |project: &Project| project.world.path("project/sub/guard.bat");
    let forms: [fn(String) -> Value; 4] = [
        |path| json!({"args": [path]}),
        |path| json!({"command": format!("\"{}\"", path.to_uppercase())}),
        |_| json!({"command": r"sub\guard"}),
        |_| json!({"command": "guard.bat", "working_dir": "sub"}),
    ];
    for form in forms {
        let project = Project::new();
        let mut entry = form(whole(&project).display().to_string());
        entry["event"] = json!("tool:pre_execute");
        let entries = json!({ "hooks": [entry] });
        project.world.write(PROJECT, &entries.to_string());
        project.world.write("project/sub/guard.bat", "@exit 0\r\n");
        project.approve();
        let _ = project.load();
        assert!(project.guard().allowed(), "{entries} {:?}", project.guard());
        project
            .world
            .write("project/sub/guard.bat", "@exit 0 changed\r\n");
        let _ = project.load();
        project.blocks("has changed");
    }
}

#[test]
fn inputs_are_written_with_either_separator() {
    let project = Project::new();
    let entry = json!({"event": "tool:pre_execute", "command": "exit 0", "inputs": [r"lib\*.txt"]});
    let entries = json!({ "hooks": [entry] });
    project.world.write(PROJECT, &entries.to_string());
    project.world.write("project/lib/a.txt", "a");
    project.approve();
    project.world.write("project/lib/a.txt", "b");
    let _ = project.load();
    project.blocks("lib/a.txt");
}

#[test]
fn a_timeout_ends_the_tree() {
    let world = World::new();
    let late = "cmd /C \"ping -n 3 127.0.0.1 >NUL & echo late>late\" & ping -n 30 127.0.0.1 >NUL";
    let result = world.one(hook("*", late).with_timeout(Duration::from_millis(500)));
    assert!(result.timed_out(), "{result:?}");
    assert!(result.duration() < Duration::from_secs(25), "{result:?}");
    // Nothing tells that a file will not be written: only time does.
    let end = Instant::now() + Duration::from_secs(4);
    while Instant::now() < end {
        assert!(!world.path("late").exists(), "the tree lives on");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_large_event_arrives_whole() {
    let world = World::new();
    let event = HookEvent::session_message("s", "user", "x".repeat(1024 * 1024));
    world.hook("*", "exit 0");
    world.hook("*", "find \"session:message\" >NUL & exit 0");
    for result in world.fire(&event) {
        assert!(result.success(), "{result:?} {}", result.stderr());
    }
}

/// The test needs Git for Windows, whose bash runs the command.
#[test]
fn a_command_for_bash_does_not_run_in_cmd() {
    let world = World::new();
    let handler = json!({"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/guard.sh"});
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [handler]}]}});
    world.write("project/.claude/settings.json", &settings.to_string());
    let tools = OtherAgents::new(compat::AGENTS).with_home(world.path("home"));
    let builder = Hooks::builder(AppProfile::default()).config_home(world.path("config"));
    let config = config_of(builder.other_agents(tools));
    let _ = config.load_into(
        world.registry(),
        world.path("project"),
        TrustPolicy::Everything,
    );
    let outcome = world.outcome(&HookEvent::tool_pre_execute("bash", json!({})));
    let error = outcome.results()[0].error().unwrap_or_default();
    assert!(
        error.contains("needs bash") || outcome.results()[0].stderr().contains("guard.sh"),
        "{error}"
    );
}
