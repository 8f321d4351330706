//! A hook that needs an approval, and the same hook of the user.

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use forge_hooks::config::TrustPolicy;
use forge_hooks::trust::Approval;
use forge_hooks::{HookConfig, HookExecutor, HookRegistry};
use tempfile::TempDir;

use crate::one_hook::{event, executor, hook, run_hook};
use crate::process::ratio;
use crate::table::{Effort, Measured};

/// The time after which files are settled: a file that has changed within two seconds is read before each run.
const SETTLED: Duration = Duration::from_millis(2_100);

pub(crate) const COMMAND: &str = r#"{"event": "tool:pre_execute", "command": "exit 0"}"#;
pub(crate) const ENTRY_WITH_ANSWER: &str =
    r#"{"event": "tool:pre_execute", "answer": {"decision": "block", "reason": "no"}}"#;

/// Creates an executor with a hook of a project, which is approved with `files` scripts of `bytes` bytes in all.
pub(crate) fn approved(entry: &str, files: usize, bytes: usize) -> (HookExecutor, TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().join("project");
    let scripts = root.join(".src/forge/hooks");
    fs::create_dir_all(&scripts).expect("a directory");
    let text = format!("exit 0\n{}", "#".repeat(bytes / files));
    for index in 0..files {
        fs::write(scripts.join(format!("script-{index}.sh")), &text).expect("a script");
    }
    let file = format!("{{\"hooks\": [{entry}]}}");
    fs::write(root.join(".src/forge/hooks.json"), file).expect("a hooks file");
    let config = HookConfig::default().with_config_home(directory.path().join("config"));
    let store = config.trust_store().expect("a store");
    let approval = Approval::of(&root, config.load_project(&root)).expect("an approval");
    store.approve(&approval).expect("a store");
    let registry = Arc::new(HookRegistry::new());
    let report = config.load_into(&registry, &root, TrustPolicy::Approved(store));
    assert!(report.is_ok() && registry.len() == 1, "{report:?}");
    let executor = HookExecutor::builder().registry(registry).build();
    thread::sleep(SETTLED);
    (executor, directory)
}

pub(crate) fn ratio_of(effort: Effort, files: usize, bytes: usize) -> Measured {
    ratio_with("exit 0", effort, files, bytes)
}

/// Returns the ratio for a command that names all of its files.
pub(crate) fn ratio_of_named(effort: Effort, files: usize, bytes: usize) -> Measured {
    let mut command = "exit 0".to_owned();
    for index in 0..files {
        command += &format!("; .src/forge/hooks/script-{index}.sh");
    }
    ratio_with(&command, effort, files, bytes)
}

fn ratio_with(command: &str, effort: Effort, files: usize, bytes: usize) -> Measured {
    let entry = serde_json::json!({"event": "tool:pre_execute", "command": command});
    let (approved, directory) = approved(&entry.to_string(), files, bytes);
    let own = executor(hook(command).with_working_dir(directory.path().join("project")));
    let event = event();
    Ok(ratio(
        effort,
        || run_hook(&approved, &event),
        || run_hook(&own, &event),
    ))
}
