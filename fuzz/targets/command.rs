//! A pattern on the first line, then a shell command: of a guard on what it does and one on the opposite one runs; nothing is granted
//! by both; a command that a list covers runs nothing else; and the command, repeated, is read in time.
#![no_main]

use forge_hooks::serde_json::{Value, json};
use forge_hooks::{Hook, HookEvent, HookExecutor};
use libfuzzer_sys::fuzz_target;

/// The length to which some commands are repeated: what takes the square of its length exceeds the deadline of a run.
const LONG: usize = 32 * 1024;

/// One command in this many is repeated.
const SELDOM: usize = 32;

/// Commands that are only read. None of them runs another one.
const READERS: [&str; 4] = ["git status", "ls -l|-a *", "ls *", "cat *"];

fuzz_target!(|text: &str| {
    let (pattern, command) = text.split_once('\n').unwrap_or(("rm", text));
    let event = HookEvent::tool_pre_execute("bash", json!({ "command": command }));
    for condition in [
        json!({ "runs": pattern }),
        json!({"runs": pattern, "with": {"regex": "a|[.]"}, "paths": "outside"}),
        json!({"runs": pattern, "paths": ["a/**", "/b*"]}),
        json!({"writes": ["a/**", "**/.env", "/b*"]}),
        json!({ "runs_only": pattern }),
    ] {
        check(&condition, &event);
    }
    if is_granted(&json!({ "runs_only": READERS }), &event) {
        let others = guard(&json!({"runs": ["rm", "sudo", "sh", "eval", "git push"]}));
        assert!(!others.unwrap().matches(&event), "a list covers another command");
        let writes = guard(&json!({"writes": "**"}));
        assert!(!writes.unwrap().matches(&event), "a list covers a command that writes");
    }
    if !command.is_empty() && command.len() % SELDOM == 0 {
        let long = command.repeat(LONG / command.len());
        let event = HookEvent::tool_pre_execute("bash", json!({ "command": long }));
        for condition in [json!({ "runs": pattern }), json!({ "runs_only": READERS })] {
            check(&condition, &event);
        }
    }
});

fn guard(condition: &Value) -> Option<Hook> {
    let entry = json!({
        "event": "*",
        "when": {"/tool_args/command": condition},
        "answer": {"additionalContext": "c"},
    });
    Hook::from_json(&entry).ok()
}

/// Returns whether it is certain that the condition holds, so that its hook may add something.
fn is_granted(condition: &Value, event: &HookEvent) -> bool {
    let Some(hook) = guard(condition) else {
        return false;
    };
    let executor = HookExecutor::builder().build();
    executor.registry().register(hook);
    let outcome = executor.execute(event, Default::default());
    outcome.additional_context().is_some()
}

fn check(condition: &Value, event: &HookEvent) {
    let not = json!({ "not": condition });
    let (Some(hook), Some(opposite)) = (guard(condition), guard(&not)) else {
        return;
    };
    assert!(hook.matches(event) || opposite.matches(event), "one of the two runs");
    let grants = is_granted(condition, event) && is_granted(&not, event);
    assert!(!grants, "one of the two grants");
}
