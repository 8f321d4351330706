//! Three tools are about to run, and hooks watch them: one is let through, one is blocked, and one
//! has no guard.
//!
//! Reads no configuration: the hooks are registered here. `RUST_LOG=forge_hooks=debug` shows what
//! the library does meanwhile.

use forge_hooks::{
    FireOptions, Hook, HookError, HookEvent, HookExecutor, HookRegistry, HookResult,
    fire_event_blocking_with,
};
use serde_json::json;

#[cfg(not(windows))]
mod commands {
    pub(super) const ANNOUNCE: &str = r#"echo ">>> Executing: $FORGE_TOOL_NAME""#;
    pub(super) const BLOCK_SUDO: &str = r#"
        if echo "$FORGE_TOOL_ARGS" | grep -q "sudo"; then
            echo "BLOCKED: sudo not allowed"
            exit 1
        fi
    "#;
    pub(super) const COMPLETE: &str = r#"echo "<<< Completed: $FORGE_TOOL_NAME""#;
}

#[cfg(windows)]
mod commands {
    pub(super) const ANNOUNCE: &str = "echo ^>^>^> Executing: !FORGE_TOOL_NAME!";
    // The event is on standard input too. Not `echo !NAME! | find`: both sides of a pipe run in a
    // `cmd` of their own, in which `!NAME!` is no variable.
    pub(super) const BLOCK_SUDO: &str = "find \"sudo\" >NUL & \
        if errorlevel 1 (exit 0) else (echo BLOCKED: sudo not allowed& exit 1)";
    pub(super) const COMPLETE: &str = "echo ^<^<^< Completed: !FORGE_TOOL_NAME!";
}

fn main() -> Result<(), HookError> {
    env_logger::init();
    let registry = HookRegistry::global();
    let hooks = [
        (
            "tool:pre_execute",
            commands::ANNOUNCE,
            "Announce tool execution",
        ),
        (
            "tool:pre_execute:bash",
            commands::BLOCK_SUDO,
            "Block sudo commands",
        ),
        (
            "tool:post_execute",
            commands::COMPLETE,
            "Announce tool completion",
        ),
    ];
    for (event, command, description) in hooks {
        registry.register(Hook::new(event, command)?.with_description(description));
    }
    let executor = HookExecutor::global();

    headline("Test 1: Normal bash command");
    let event = HookEvent::tool_pre_execute("bash", json!({"command": "ls -la"}))
        .with_session_id("test_session");
    show(&executor.execute_hooks(&event, FireOptions::default()));
    let result = json!({"success": true, "output": "files..."});
    let event = HookEvent::tool_post_execute("bash", json!({"command": "ls -la"}), result);
    let results = fire_event_blocking_with(&event, FireOptions::default().stop_on_failure(false));
    for result in results {
        print!("{}", result.stdout());
    }

    println!();
    headline("Test 2: Blocked sudo command");
    let event = HookEvent::tool_pre_execute("bash", json!({"command": "sudo rm -rf /"}))
        .with_session_id("test_session");
    let outcome = executor.execute(&event, FireOptions::default());
    show(outcome.results());
    let blocking = outcome
        .results()
        .iter()
        .filter(|result| !result.should_continue())
        .count();
    if !outcome.allowed() {
        println!("\nOperation blocked by {blocking} hook(s)!");
    }

    println!();
    headline("Test 3: Read operation (no blocking hooks)");
    let event = HookEvent::tool_pre_execute("read", json!({"file_path": "/tmp/test.txt"}));
    show(&executor.execute_hooks(&event, FireOptions::default()));

    println!("\n{}", "=".repeat(60));
    println!("Registered hooks:");
    for hook in registry.hooks() {
        let state = if hook.enabled() {
            "enabled"
        } else {
            "disabled"
        };
        println!(
            "  [{state}] {}: {}",
            hook.event_pattern(),
            hook.description()
        );
    }
    Ok(())
}

fn headline(text: &str) {
    println!("{}\n{text}", "=".repeat(60));
}

fn show(results: &[HookResult]) {
    println!("Pre-execute results: {} hooks", results.len());
    for result in results {
        let blocks = if result.should_continue() {
            ""
        } else {
            ", continue=False"
        };
        println!(
            "  {}: exit={}{blocks}",
            result.hook().event_pattern(),
            result.exit_code()
        );
        if !result.stdout().trim().is_empty() {
            println!("    stdout: {}", result.stdout().trim());
        }
    }
}
