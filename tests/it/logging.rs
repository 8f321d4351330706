//! What is logged, at which level, and on which thread.

use std::sync::{Mutex, Once};
use std::thread::{self, ThreadId};
use std::time::Duration;

use forge_hooks::{AppProfile, FailurePolicy, FireOptions, Hook, HookConfig, HookEvent, Hooks};
use log::{Level, LevelFilter, Log, Metadata, Record};

use crate::support::{AND, LONG, World, blocking_event, hook};

/// Keeps every record of the library's; tests tell theirs by the words in them.
struct Captured;

static RECORDS: Mutex<Vec<(Level, ThreadId, String)>> = Mutex::new(Vec::new());

impl Log for Captured {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("forge_hooks")
    }

    fn log(&self, record: &Record<'_>) {
        let message = record.args().to_string();
        assert!(
            !message.contains("log-panics"),
            "as a logger may whose pipe is closed"
        );
        // What other tests make a hook write by the megabyte, or do by the thousand, is not looked
        // at.
        let is_much = message.len() >= 1000 || message.contains("unlogged");
        if self.enabled(record.metadata()) && !is_much {
            let entry = (record.level(), thread::current().id(), message);
            RECORDS.lock().unwrap().push(entry);
        }
    }

    fn flush(&self) {}
}

fn listen() {
    static LISTEN: Once = Once::new();
    LISTEN.call_once(|| {
        log::set_logger(&Captured).unwrap();
        log::set_max_level(LevelFilter::Trace);
    });
}

fn reported(words: &str) -> Vec<(Level, String)> {
    let records = RECORDS.lock().unwrap();
    let ours = records
        .iter()
        .filter(|(_, _, message)| message.contains(words));
    ours.map(|(level, _, message)| (*level, message.clone()))
        .collect()
}

/// Runs the hook under this name, and returns what was logged of it.
fn logged(name: &str, hook: Hook) -> Vec<(Level, String)> {
    listen();
    World::new().one(hook.with_description(name));
    reported(name)
}

#[test]
fn start_end_and_output_of_a_hook_are_logged() {
    let all = logged("log-plain", hook("*", "echo printed&& echo whispered>&2"));
    let expected = [
        (Level::Debug, "hook `log-plain` starts on tool:pre_execute"),
        (Level::Trace, "hook `log-plain` stdout: printed"),
        (Level::Warn, "hook `log-plain` stderr: whispered"),
        (
            Level::Debug,
            "hook `log-plain` ended with exit code 0 after ",
        ),
    ];
    assert_eq!(all.len(), expected.len(), "{all:?}");
    for ((level, message), (expected_level, start)) in all.iter().zip(expected) {
        assert_eq!(*level, expected_level);
        assert!(message.starts_with(start), "{message}");
    }
}

#[test]
fn nothing_in_the_log_is_hidden() {
    listen();
    let odd = hook("*", "echo sa\u{200b}id&& exit 1").with_description("log-hidden\u{202e}\n");
    World::new().one(odd);
    let reported = reported("log-hidden");
    assert!(reported.len() >= 4, "{reported:?}");
    for (_, message) in reported {
        assert!(message.contains(r"log-hidden\u{202e}\n"), "{message:?}");
        let hides = message.contains(['\u{200b}', '\u{202e}', '\n']);
        assert!(!hides, "{message:?}");
    }
}

#[test]
fn a_failure_is_logged_with_its_context() {
    let slow = hook("*", LONG).with_timeout(Duration::from_millis(50));
    let missing = Hook::program("*", ["./no-such"]).unwrap();
    let ignored = hook("*", "exit 4").with_on_failure(FailurePolicy::Continue);
    for (name, hook, level, words) in [
        (
            "log-fails",
            hook("*", "exit 3"),
            Level::Warn,
            "exited with code 3",
        ),
        ("log-ignored", ignored, Level::Warn, "exited with code 4"),
        ("log-slow", slow, Level::Error, "timed out after 50ms"),
        ("log-missing", missing, Level::Error, "program `"),
    ] {
        let line = format!("hook `{name}` failed on tool:pre_execute: {words}");
        let logged = logged(name, hook);
        let mut failed = logged.iter().filter(|(_, text)| text.starts_with(&line));
        assert_eq!(failed.next().unwrap().0, level, "{logged:?}");
    }
}

#[test]
fn problems_of_files_are_warnings_without_secrets() {
    listen();
    let world = World::new();
    let config = HookConfig::default().with_config_home(world.directory());
    let path = world.write("src/forge/hooks.json", "{\"log-corrupted\": ");
    assert!(config.load_global().is_empty());
    let reported_of_file = reported(&path.display().to_string());
    assert_eq!(reported_of_file.len(), 1, "{reported_of_file:?}");
    let (level, text) = &reported_of_file[0];
    assert!(*level == Level::Warn && text.contains("is not valid JSON"));

    world.write(
        "src/forge/hooks.json",
        r#"{"hooks": [{"event": "*", "command": "true", "on_failure": "password=in-a-file"}]}"#,
    );
    assert!(config.load_global().is_empty());
    assert!(!reported("on_failure").is_empty());
    assert_eq!(reported("password=in-a-file"), []);
}

#[test]
fn a_typo_in_a_pattern_is_a_warning() {
    listen();
    let world = World::new();
    world.hook("tool:pre_exec", "exit 0");
    world.hook("zoo:log_test_fed", "exit 0");
    let line =
        "hook pattern: `tool:pre_exec` matches no built-in event, did you mean `tool:pre_execute`?";
    assert_eq!(
        reported("`tool:pre_exec`"),
        [(Level::Warn, line.to_owned())]
    );
    assert!(reported("zoo:log_test_fed").is_empty());
}

#[test]
fn a_blocking_call_uses_the_callers_thread() {
    listen();
    let world = World::new();
    world.add(hook("*", "exit 0").with_description("log-thread"));
    let threads = || {
        let records = RECORDS.lock().unwrap();
        let ours = records.iter().filter(|it| it.2.contains("log-thread"));
        ours.map(|it| it.1).collect::<Vec<_>>()
    };
    world.fire(&blocking_event());
    let here = thread::current().id();
    assert!(threads().iter().all(|thread| *thread == here));
    let count = threads().len();
    assert!(world.submit(HookEvent::user_interrupt()).wait().allowed());
    let later = threads().split_off(count);
    assert!(!later.is_empty() && later.iter().all(|thread| *thread != here));
}

/// What a hook says, and the one warning that is logged of it.
#[test]
fn a_typo_in_an_answer_is_a_warning() {
    let typo = "`descision` is not a known key; did you mean `decision`?";
    let text = "standard output is treated as plain text: its answer is invalid: ";
    let blocks = "blocks tool:pre_execute: no: password=[redacted]";
    let block = r#"{"decision": "block", "reason": "no: password=hunter22"}"#;
    listen();
    for (name, event, answer, words) in [
        ("log-typo", blocking_event(), r#"{"descision": "x"}"#, typo),
        (
            "log-late",
            HookEvent::user_interrupt(),
            r#"{"decision": 1}"#,
            text,
        ),
        ("log-blocks", blocking_event(), block, blocks),
    ] {
        let world = World::new();
        let hook = hook("*", &world.says(answer)).with_description(name);
        world.run(hook, &event);
        let mut logged = reported(name);
        logged.retain(|(level, _)| *level <= Level::Warn);
        assert_eq!(logged.len(), 1, "{logged:?}");
        let (level, line) = &logged[0];
        assert!(*level == Level::Warn && line.contains(words), "{line}");
    }
}

/// A secret in a place where a hook, or what it does, has it.
fn with_a_secret(secret: &str) -> Vec<Hook> {
    let named = |command: &str| hook("*", command).with_description("log-secret");
    let in_env = |command: &str| named(command).with_env("WORD", secret);
    let program = Hook::program("*", [format!("/missing/{secret}")]).unwrap();
    vec![
        named(&format!("echo password: {secret}")),
        named(&format!("echo token={secret}>&2{AND}exit 1")),
        in_env(&format!("echo {secret}")),
        in_env(&format!("echo {secret}>&2")),
        in_env("exit 0").with_description(format!("log-secret {secret}")),
        in_env("exit 0").with_working_dir(format!("/missing/{secret}")),
        program.with_env("WORD", secret),
        named(&format!("echo {{\"decision\": \"api_key={secret}\"}}")),
    ]
}

#[test]
fn nothing_that_is_logged_shows_a_secret() {
    listen();
    let secret = "s3cr3t-of-the-log-test";
    for hook in with_a_secret(secret) {
        let world = World::new();
        assert!(!format!("{hook:?}").contains(secret), "{hook:?}");
        world.add(hook.clone());
        world.add(hook.with_background());
        let shown = format!("{:?}", world.outcome(&blocking_event()));
        assert!(!shown.contains(secret), "{shown}");
        assert!(world.fire(&HookEvent::user_interrupt()).len() == 1);
        let _ = world.executor.shutdown(Duration::from_secs(10));
        world.fire(&blocking_event());
    }
    assert!(reported("log-secret").len() > 20);
    assert_eq!(reported(secret), []);
}

#[test]
fn the_host_chooses_what_is_masked() {
    listen();
    let open = World::with(|builder| builder.redactor(forge_hooks::Redactor::off()));
    for (world, text, is_open) in [
        (open, "password=open-as-the-day", true),
        (World::new(), "password=hidden-as-the-night", false),
    ] {
        let result = world.one(hook("*", &format!("echo {text}")));
        assert!(
            result.stdout.contains(text),
            "a result holds what was written"
        );
        assert_eq!(!reported(text).is_empty(), is_open);
    }
}

/// A logger that uses `println!` panics when its output is closed.
#[test]
fn a_logger_that_panics_costs_no_answer() {
    listen();
    let world = World::new();
    for _ in 0..4 {
        world.add(hook("*", "exit 0").with_description("log-panics"));
    }
    for options in [FireOptions::new().parallel(), FireOptions::new()] {
        let mut handle = world.executor.submit(blocking_event(), options).unwrap();
        let outcome = handle.wait_timeout(Duration::from_secs(20));
        let called = world.executor.execute(&blocking_event(), options);
        for outcome in [outcome.expect("an answer"), called] {
            assert!(outcome.allowed(), "{outcome:?}");
            assert_eq!(outcome.results().len(), 4);
        }
    }
}

#[test]
fn unapproved_hooks_are_reported_once() {
    listen();
    let world = World::new();
    let file = r#"{"hooks": [{"event": "*", "command": "exit 1", "name": "log-unapproved"}]}"#;
    world.write("project/.log/hooks.json", file);
    let hooks = Hooks::builder(AppProfile::new("log"))
        .config_home(world.path("config"))
        .project(world.path("project"))
        .load();
    for _ in 0..2 {
        assert!(hooks.execute(&blocking_event()).allowed());
    }
    let reported = reported("log-unapproved");
    let loud = reported.iter().filter(|(level, _)| *level <= Level::Warn);
    assert_eq!(loud.count(), 1, "{reported:?}");
}

#[test]
fn a_key_without_a_variable_is_not_logged() {
    listen();
    let world = World::running(["exit 0"]);
    for key in ["log-panics-ö", "log-key-ö"] {
        let results = world.fire(&blocking_event().with_data(key, 1));
        assert!(results[0].success(), "{results:?}");
    }
    assert_eq!(reported("log-key"), []);
}

/// The path of the file makes the logger panic, also in the thread of `notify`.
#[cfg(all(feature = "watch", unix))]
#[test]
fn a_logger_that_panics_ends_no_watcher() {
    listen();
    let world = World::new();
    let file = "log-panics/src/forge/hooks.json";
    world.write(file, "{");
    let config = HookConfig::default().with_config_home(world.path("log-panics"));
    let registry = std::sync::Arc::clone(world.registry());
    let root = world.path("project");
    let policy = forge_hooks::config::TrustPolicy::Everything;
    let watcher = config.watch(registry, root, policy).unwrap();
    assert_eq!(watcher.report().problems.len(), 1);
    for (text, count) in [
        ("[", 0),
        (r#"{"hooks": [{"event": "*", "command": "exit 2"}]}"#, 1),
    ] {
        world.write(file, text);
        let report = watcher.reports().recv_timeout(Duration::from_secs(10));
        assert_eq!(report.unwrap().in_use, count);
    }
    assert!(!world.outcome(&blocking_event()).allowed());
}

#[test]
fn a_logger_that_panics_stops_no_load_or_save() {
    listen();
    let world = World::new();
    let file = world.write("log-panics/forge/hooks.json", "{");
    let profile = AppProfile::new("forge");
    let home = world.path("log-panics");
    let hooks = Hooks::builder(profile.clone()).config_home(&home).load();
    assert_eq!(hooks.reload().problems.len(), 1);
    hooks.registry().register(hook("zoo:log-panics", "exit 0"));
    let config = HookConfig::new(profile).with_config_home(home);
    config.save_global([hook("*", "exit 2")]).unwrap();
    assert!(file.with_file_name("hooks.json.broken").exists());
    assert!(hooks.reload().is_ok());
    assert!(!hooks.execute(&blocking_event()).allowed());
    let disabled = r#"{"disable": ["log-panics"], "hooks": [
        {"event": "*", "command": "exit 2", "name": "log-panics"}]}"#;
    std::fs::write(file, disabled).unwrap();
    assert_eq!(hooks.reload().disabled, ["log-panics"]);
}

#[cfg(unix)]
#[test]
fn a_logger_that_panics_stops_no_trace() {
    listen();
    let traced = World::new();
    let path = traced.path("log-panics/trace.jsonl");
    std::fs::create_dir(traced.path("log-panics")).unwrap();
    let trace = forge_hooks::Trace::builder(&path).build().unwrap();
    let world = crate::tracing::traced_by(&trace);
    world.hook("*", "exit 0");
    // A directory in its place cannot be written.
    let _ = std::fs::remove_file(&path);
    std::fs::create_dir(&path).unwrap();
    world.fire(&blocking_event());
    crate::tracing::flush(&trace);
    assert_eq!(trace.lost(), 1);
    std::fs::remove_dir(&path).unwrap();
    world.fire(&blocking_event());
    crate::tracing::flush(&trace);
    assert_eq!(crate::tracing::lines(&path).len(), 2, "a gap and a run");
}
