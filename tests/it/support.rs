//! Shared by the scenarios: a world with its own directory and registry, and waiting for a
//! condition.

#[cfg(unix)]
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(feature = "cli")]
use forge_hooks::cli::{self, Io};
use forge_hooks::compat::{Agent, OtherAgents};
use forge_hooks::executor::{HookRun, Observation, Observations};
use forge_hooks::hook::May;
use forge_hooks::{
    AppProfile, Decision, EventSpec, EventType, FireOptions, Hook, HookConfig, HookEvent,
    HookExecutor, HookExecutorBuilder, HookHandle, HookRegistry, HookResult, Hooks, HooksBuilder,
    Outcome,
};
use serde_json::json;
use tempfile::TempDir;

/// A hook of another agent, as its settings file has it.
pub(crate) fn hook_of(agent: &'static Agent, event: &str, matcher: &str, command: &str) -> Hook {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("settings.json");
    let handlers = json!([{"type": "command", "command": command}]);
    let settings = json!({"hooks": {event: [{"matcher": matcher, "hooks": handlers}]}});
    std::fs::write(&file, settings.to_string()).unwrap();
    let tools = OtherAgents::new([]).with_settings(agent, file);
    let builder = Hooks::builder(AppProfile::default()).config_home(directory.path());
    config_of(builder.other_agents(tools))
        .load_global()
        .remove(0)
}

/// The configuration of a host, which has loaded its hooks.
pub(crate) fn config_of(builder: HooksBuilder) -> HookConfig {
    builder.load().config().clone()
}

/// Returns whether an agent is about to stop.
pub(crate) fn is_agent_stop(event: &EventType) -> bool {
    ["agent:stop", "agent:subagent_stop"].contains(&event.as_str())
}

/// The events that this crate knows.
pub(crate) fn known_events() -> Vec<EventSpec> {
    nowhere().load().events().to_vec()
}

/// A host whose user has no files.
pub(crate) fn nowhere() -> HooksBuilder {
    Hooks::builder(AppProfile::default())
        .without_system_file()
        .config_home("/nowhere")
}

/// The most hooks of a file, as the reference states it; a test compares that with the code.
pub(crate) fn most_hooks() -> usize {
    let page = include_str!("../../docs/protocol.md");
    let (before, _) = page.split_once(" hooks, 100 levels").unwrap();
    let number = before.split_whitespace().last().unwrap();
    number.replace(',', "").parse().unwrap()
}

/// A directory and a registry for one test, and an executor that uses them.
pub(crate) struct World {
    /// Dropped before the directory.
    pub(crate) executor: HookExecutor,
    directory: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|builder| builder)
    }

    /// With settings of its own.
    pub(crate) fn with(settings: impl FnOnce(HookExecutorBuilder) -> HookExecutorBuilder) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), settings)
    }

    fn in_folder(
        directory: TempDir,
        settings: impl FnOnce(HookExecutorBuilder) -> HookExecutorBuilder,
    ) -> Self {
        let builder = HookExecutor::builder().working_dir(directory.path());
        Self {
            executor: settings(builder).build(),
            directory,
        }
    }

    /// With these commands as hooks for all events, in this order.
    pub(crate) fn running<const N: usize>(commands: [&str; N]) -> Self {
        let world = Self::new();
        for command in commands {
            world.hook("*", command);
        }
        world
    }

    /// Drops only the executor: processes that it still starts need the directory.
    pub(crate) fn drop_executor(self) -> TempDir {
        self.directory
    }

    pub(crate) fn registry(&self) -> &Arc<HookRegistry> {
        self.executor.registry()
    }

    pub(crate) fn hook(&self, pattern: &str, command: &str) {
        self.registry().register(hook(pattern, command));
    }

    pub(crate) fn add(&self, hook: Hook) {
        self.registry().register(hook);
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        // As the system writes it: with its own separators.
        self.directory.path().join(name).components().collect()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A file that can be run.
    #[cfg(unix)]
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.write(name, text);
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn fire(&self, event: &HookEvent) -> Vec<HookResult> {
        self.executor.execute_hooks(event, FireOptions::default())
    }

    pub(crate) fn outcome(&self, event: &HookEvent) -> Outcome {
        self.executor.execute(event, FireOptions::default())
    }

    /// With the default options.
    pub(crate) fn submit(&self, event: impl Into<Arc<HookEvent>>) -> HookHandle {
        self.executor.submit(event, FireOptions::default()).unwrap()
    }

    /// A command that writes this to its standard output, byte for byte.
    pub(crate) fn says(&self, text: &str) -> String {
        static SAID: AtomicUsize = AtomicUsize::new(0);
        let name = format!("printed-{}", SAID.fetch_add(1, Ordering::Relaxed));
        self.write(&name, text);
        let print = if cfg!(windows) { "type" } else { "cat" };
        format!("{print} {name}")
    }

    /// A hook for all events that answers so.
    pub(crate) fn answering(&self, answer: impl ToString) {
        self.hook("*", &self.says(&answer.to_string()));
    }

    /// Waits until a hook has written this file.
    #[track_caller]
    pub(crate) fn await_file(&self, name: &str) {
        eventually(name, || self.path(name).exists());
    }

    /// Fires an event that can block at this hook alone, and returns its result.
    pub(crate) fn one(&self, hook: Hook) -> HookResult {
        self.run(hook, &blocking_event())
    }

    /// Fires the event at this hook alone, and returns its result.
    pub(crate) fn run(&self, hook: Hook, event: &HookEvent) -> HookResult {
        self.registry().clear();
        self.add(hook);
        let mut results = self.fire(event);
        assert_eq!(results.len(), 1);
        results.remove(0)
    }
}

/// A hook whose answers may do everything.
pub(crate) fn hook(pattern: &str, command: &str) -> Hook {
    Hook::new(pattern, command)
        .unwrap()
        .with_may(May::ALL.iter().copied())
}

/// An event that can block: `tool:pre_execute` of `bash`.
pub(crate) fn blocking_event() -> HookEvent {
    HookEvent::tool_pre_execute("bash", serde_json::json!({"command": "ls"}))
}

/// Returns the verdict on each hook, and its reason, from a dry run of an event that can be blocked.
#[cfg(feature = "cli")]
pub(crate) fn foretold(hooks: &Hooks) -> Vec<String> {
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let mut io = Io::new("host", std::io::empty(), &mut out, &mut errors);
    let dry_run = ["list", "tool:pre_execute", "--tool", "bash", "--json"];
    let _ = cli::run(hooks, dry_run, &mut io);
    drop(io);
    let printed: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let hooks = printed["hooks"].as_array().unwrap().iter();
    let words = hooks.map(|hook| format!("{}: {}", hook["verdict"], hook["why"]));
    words.collect()
}

/// An event of the host's own.
pub(crate) fn custom(name: &str) -> HookEvent {
    HookEvent::new(EventType::custom(name).unwrap())
}

/// Returns the output of each hook, without the end of the line.
pub(crate) fn printed(results: &[HookResult]) -> Vec<&str> {
    results
        .iter()
        .map(|result| result.stdout().trim())
        .collect()
}

/// The time that a test waits for an expected event. It is long enough for any machine, so an event that comes later
/// counts as missing.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for a condition, and fails when it has not come true within [`PATIENCE`].
#[track_caller]
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(
            Instant::now() < deadline,
            "still not so after {PATIENCE:?}: {what}"
        );
        thread::sleep(Duration::from_millis(2));
    }
}

/// Returns true if the process with this number has not ended. One that has ended may wait for the system's first process,
/// which need not be quick.
#[cfg(unix)]
pub(crate) fn is_alive(pid: &str) -> bool {
    let pid = pid.trim();
    let is_there = rustix::process::Pid::from_raw(pid.parse().unwrap())
        .is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok());
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default();
    is_there && !state.trim_start().starts_with('Z')
}

/// A command that takes longer than any test.
pub(crate) const LONG: &str = if cfg!(windows) {
    "ping -n 60 127.0.0.1 >NUL"
} else {
    "sleep 60"
};

/// Between two commands of one line.
pub(crate) const AND: &str = if cfg!(windows) { "& " } else { "; " };

/// Returns a command that writes a file when it has started, and continues when another file exists;
/// both are in the directory of its world.
pub(crate) fn meets(writes: &str, waits_for: &str) -> String {
    if cfg!(windows) {
        // Wine pauses for a second between two looks; for `cmd` the pause belongs to the `if`, so
        // that it looks without one. Parentheses, which would say it plainly, Wine's does not heed.
        format!(
            "echo.>{writes}& for /L %i in (1,0,2) do \
             @if exist {waits_for} exit 0 & ping -n 2 127.0.0.1 >NUL"
        )
    } else {
        format!(": >{writes}; until test -e {waits_for}; do sleep 0.01; done")
    }
}

/// The observations of an executor as text, for example `start session:end log`: the event, and the label of the hook.
pub(crate) struct Notes {
    observations: Observations,
    notes: Mutex<Vec<String>>,
}

impl Notes {
    pub(crate) fn of(executor: &HookExecutor) -> Self {
        Self {
            observations: executor.observations(),
            notes: Mutex::default(),
        }
    }

    pub(crate) fn all(&self) -> Vec<String> {
        let mut notes = self.notes.lock().unwrap();
        while let Some(observation) = self.observations.try_recv() {
            let note = |what: &str, run: &HookRun| {
                format!("{what} {} {}", run.event.event_type, run.hook.label())
            };
            match &observation {
                Observation::Started(run) => notes.push(note("start", run)),
                Observation::Ended(run, _) => notes.push(note("finish", run)),
                Observation::Dropped(run, reason) => {
                    notes.push(note(&format!("drop ({reason})"), run));
                }
                _ => {}
            }
        }
        notes.clone()
    }

    pub(crate) fn count(&self, beginning: &str) -> usize {
        let all = self.all().into_iter();
        all.filter(|note| note.starts_with(beginning)).count()
    }
}

/// Returns true, and prints a message, if a program that a test would use is missing. A wrapper of a version manager
/// counts as missing if it exits with 126 or 127, because there is no version; `sh` has other errors for an option that
/// it does not know.
#[cfg(unix)]
pub(crate) fn is_missing(program: &str) -> bool {
    static LOOKED_FOR: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());
    let mut looked_for = LOOKED_FOR.lock().unwrap();
    let look = || {
        let output = Command::new(program).arg("--version").output();
        !output.is_ok_and(|output| !matches!(output.status.code(), Some(126 | 127)))
    };
    let missing = *looked_for.entry(program.to_owned()).or_insert_with(look);
    if missing {
        println!("skipped: there is no {program}");
    }
    missing
}

/// One of so many cases of a long table whose cases are much alike, always the same ones; all of them
/// if `FORGE_HOOKS_TEST_ALL=1`.
#[cfg(unix)]
pub(crate) fn one_in<T>(
    count: usize,
    cases: impl IntoIterator<Item = T>,
) -> impl Iterator<Item = T> {
    cases.into_iter().step_by(if crate::thorough::all_cases() {
        1
    } else {
        count
    })
}

const ALONE: &str = "FORGE_HOOKS_TEST_ALONE";

/// Returns true if this test has the process for itself, which a test of the state of the whole process needs.
/// Otherwise this function runs the test again in a process of its own, and returns after its end.
#[track_caller]
pub(crate) fn alone(test: &str) -> bool {
    alone_with(test, &[])
}

/// The same with these variables in its environment.
#[track_caller]
pub(crate) fn alone_with(test: &str, variables: &[(&str, &str)]) -> bool {
    let is_alone = std::env::var_os(ALONE).is_some();
    if !is_alone {
        run_alone(test, |command| command.envs(variables.iter().copied()));
    }
    is_alone
}

/// Runs a test in a process of its own, with what is set here.
#[track_caller]
pub(crate) fn run_alone(test: &str, set: impl FnOnce(&mut Command) -> &mut Command) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--nocapture"])
        .env(ALONE, "1");
    let output = set(&mut command).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{printed}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        printed.contains("1 passed"),
        "no test is called {test}: {printed}"
    );
}

/// The strictest decision of an outcome, as other programs receive it.
pub(crate) fn decision(outcome: &Outcome) -> Option<Decision> {
    let json = serde_json::to_value(outcome).unwrap();
    serde_json::from_value(json["decision"].clone()).unwrap()
}

/// A tool that returns this.
pub(crate) fn returns<T: serde::Serialize>(
    output: T,
) -> impl FnOnce(forge_hooks::Permit) -> forge_hooks::lifecycle::ToolRun {
    |permit| permit.run(|_, _| Ok::<_, String>(output))
}

/// A tool that must not be called.
pub(crate) fn never(_: forge_hooks::Permit) -> forge_hooks::lifecycle::ToolRun {
    panic!("it is called")
}
