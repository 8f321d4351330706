//! One hook, `exit 0`, and the same shell started by `Command::output()`.
//!
//! Both get the same variables and capture both outputs. Only the hook gets the event on its standard
//! input, its own process group and working directory, and a deadline.

use std::hint::black_box;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use forge_hooks::{FireOptions, Hook, HookEvent, HookExecutor, HookRegistry};
use serde_json::json;

/// The number of threads in the pool, and of threads in the comparison.
pub(crate) const THREADS: usize = 4;

pub(crate) fn event() -> HookEvent {
    let mut event = HookEvent::tool_pre_execute("bash", json!({"command": "ls -la"}))
        .with_session_id("sess_123");
    // The same number of digits in each run, since counts are compared.
    event.timestamp = 1_700_000_000.123_456;
    event
}

pub(crate) fn executor(hook: Hook) -> HookExecutor {
    let registry = Arc::new(HookRegistry::new());
    registry.register(hook);
    HookExecutor::builder()
        .registry(registry)
        .workers(THREADS)
        .build()
}

pub(crate) fn hook(command: &str) -> Hook {
    Hook::new("tool:pre_execute", command).expect("a hook")
}

pub(crate) fn run_hook(executor: &HookExecutor, event: &HookEvent) {
    let results = executor.execute_hooks(event, FireOptions::default());
    assert_eq!(black_box(results)[0].failure(), None);
}

pub(crate) type Variables = Vec<(String, String)>;

/// Returns the variables that a hook has in addition to this program's environment, so that both
/// ways set the same variables.
pub(crate) fn variables_of_a_hook(event: &HookEvent) -> Variables {
    let results = executor(hook("env")).execute_hooks(event, FireOptions::default());
    let is_new = |(name, value): &(&str, &str)| {
        let is_of_the_shell = ["_", "SHLVL", "OLDPWD"].contains(name);
        !is_of_the_shell && std::env::var(name).as_deref() != Ok(value)
    };
    let variables: Variables = results[0]
        .stdout()
        .lines()
        .filter_map(|line| line.split_once('='))
        .filter(is_new)
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    assert!(variables.len() > event.to_env().len(), "{variables:?}");
    variables
}

/// Runs the same shell with the same variables, without an event on its standard input.
pub(crate) fn run_bare(variables: &Variables) {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "exit 0"])
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null());
    let output = black_box(command.output()).expect("/bin/sh");
    assert!(output.status.success());
    // The standard library frees the variables here. Freed with `command`, they would cost up to 900 instructions more or
    // less, depending on what the compiler inlines in this bench.
    command.env_clear();
}

/// Returns a percentile of the times.
pub(crate) fn percentile(times: &mut [Duration], hundredths: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() - 1) * hundredths / 100]
}
