//! A host in a project whose hooks no person has approved, beside the same host in a project without files.

use std::fs;
use std::path::Path;

use forge_hooks::compat::{CLAUDE, OtherAgents};
use forge_hooks::{AppProfile, HookEvent, Hooks};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The files of the project.
#[derive(Clone, Copy)]
pub(crate) enum Files {
    Nothing,
    /// 1,980 handlers of Claude Code with `if`, in two settings files that may have 1,000 each.
    Handlers,
    /// 1,000 hooks with a condition, the most that a hooks file may have.
    Conditions,
}

impl Files {
    /// The argument of the counted process.
    pub(crate) fn argument(self) -> &'static str {
        match self {
            Self::Nothing => "unapproved-nothing",
            Self::Handlers => "unapproved-handlers",
            Self::Conditions => "unapproved-conditions",
        }
    }

    pub(crate) fn with_argument(argument: &str) -> Option<Self> {
        let all = [Self::Nothing, Self::Handlers, Self::Conditions];
        all.into_iter().find(|files| files.argument() == argument)
    }

    /// Writes the files, and returns how many hooks the report of a load names: it names at most 1,000.
    fn write(self, project: &Path) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Handlers => {
                let claude = project.join(".claude");
                write(&claude.join("settings.json"), &handlers(0));
                write(&claude.join("settings.local.json"), &handlers(1));
                1_000
            }
            Self::Conditions => {
                write(&project.join(".src/forge/hooks.json"), &conditions());
                1_000
            }
        }
    }
}

const HANDLERS_IN_A_FILE: usize = 990;

/// Returns a settings file of Claude Code whose handlers no other file repeats.
fn handlers(file: usize) -> Value {
    let handler = |number| {
        let command = format!("guard-{file} {number}");
        json!({"type": "command", "command": command, "if": format!("Bash(*sudo {number}*)")})
    };
    let handlers: Vec<_> = (0..HANDLERS_IN_A_FILE).map(handler).collect();
    json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": handlers}]}})
}

fn conditions() -> Value {
    let hook = |number| {
        let condition = json!({"regex": format!(r"\bsudo {number}\b")});
        json!({
            "event": "tool:pre_execute",
            "command": format!("guard {number}"),
            "when": {"/tool_args/command": condition},
        })
    };
    let hooks: Vec<_> = (0..1_000).map(hook).collect();
    json!({ "hooks": hooks })
}

fn write(path: &Path, content: &Value) {
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(path, content.to_string()).expect("a file");
}

/// Creates a host that also loads Claude Code's hooks. Its user has one hook, whose condition excludes the command of [`event`]:
/// the event starts no process, which would hide the cost of other hooks.
fn host(files: Files) -> (Hooks, TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    let guard = json!({
        "event": "tool:pre_execute",
        "command": "false",
        "when": {"/tool_args/command": "git push*"},
    });
    write(
        &path("config/src/forge/hooks.json"),
        &json!({"hooks": [guard]}),
    );
    fs::create_dir(path("project")).expect("a directory");
    let unapproved = files.write(&path("project"));
    let hooks = Hooks::builder(AppProfile::default())
        .config_home(path("config"))
        .without_system_file()
        .project(path("project"))
        .other_agents(OtherAgents::new([CLAUDE]).with_home(path("home")))
        .load();
    let report = hooks.report();
    assert_eq!(report.unapproved.len(), unapproved, "{report:?}");
    (hooks, directory)
}

fn event() -> HookEvent {
    let command = "echo all of a long command; ".repeat(150);
    HookEvent::tool_pre_execute("bash", json!({"command": command}))
}

/// Fires `events` events in a project with these files.
pub(crate) fn fire(files: Files, events: usize) {
    let (hooks, _directory) = host(files);
    let event = event();
    for _ in 0..events {
        assert!(hooks.execute(&event).allowed());
    }
}
