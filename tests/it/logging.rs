//! What is logged, at which level, and on which thread.

use std::sync::{Mutex, Once};
use std::thread::{self, ThreadId};
use std::time::Duration;

use forge_hooks::{AppProfile, FailurePolicy, FireOptions, Hook, HookConfig, HookEvent, Hooks};
use log::{Level, LevelFilter, Log, Metadata, Record};

use crate::support::{World, blocking_event, hook};

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

fn run(hook: Hook) {
    listen();
    World::new().one(hook);
}

#[test]
fn start_end_and_output_of_a_hook_are_logged() {
    run(hook("*", "echo printed&& echo whispered>&2").with_description("log-plain"));
    let reported = reported("log-plain");
    let expected = [
        (Level::Debug, "hook `log-plain` starts on tool:pre_execute"),
        (Level::Trace, "hook `log-plain` stdout: printed"),
        (Level::Warn, "hook `log-plain` stderr: whispered"),
        (
            Level::Debug,
            "hook `log-plain` ended with exit code 0 after ",
        ),
    ];
    assert_eq!(reported.len(), expected.len(), "{reported:?}");
    for ((level, message), (expected_level, start)) in reported.iter().zip(expected) {
        assert_eq!(*level, expected_level);
        assert!(message.starts_with(start), "{message}");
    }
}

#[test]
fn nothing_in_the_log_is_hidden() {
    run(hook("*", "echo sa\u{200b}id&& exit 1").with_description("log-hidden\u{202e}\n"));
    let reported = reported("log-hidden");
    assert!(reported.len() >= 4, "{reported:?}");
    for (_, message) in reported {
        assert!(message.contains(r"log-hidden\u{202e}\n"), "{message:?}");
        assert!(
            !message.contains(['\u{200b}', '\u{202e}', '\n']),
            "{message:?}"
        );
    }
}

#[test]
fn a_failure_is_a_warning_with_its_context() {
    run(hook("*", "exit 3").with_description("log-fails"));
    let message = "hook `log-fails` failed on tool:pre_execute: exited with code 3";
    assert!(reported("log-fails").contains(&(Level::Warn, message.to_owned())));
}

#[test]
fn timeouts_and_failed_starts_are_errors() {
    let slow = if cfg!(windows) {
        "ping -n 30 127.0.0.1 >NUL"
    } else {
        "sleep 30"
    };
    let slow = hook("*", slow).with_timeout(std::time::Duration::from_millis(50));
    run(slow.with_description("log-slow"));
    run(Hook::program("*", ["./no-such"])
        .unwrap()
        .with_description("log-missing"));
    for words in ["log-slow", "log-missing"] {
        let reported = reported(words);
        let failed = reported
            .iter()
            .find(|(_, message)| message.contains("failed on"))
            .unwrap();
        assert_eq!(failed.0, Level::Error, "{failed:?}");
    }
}

#[test]
fn an_ignored_failure_is_logged_too() {
    let hook = hook("*", "exit 3").with_on_failure(FailurePolicy::Continue);
    run(hook.with_description("log-may-fail"));
    assert!(
        reported("log-may-fail")
            .iter()
            .any(|(level, _)| *level == Level::Warn)
    );
}

#[test]
fn unusable_parts_are_logged_as_warnings() {
    listen();
    let world = World::new();
    let config = HookConfig::default().with_config_home(world.directory());
    let path = world.write("src/forge/hooks.json", "{\"log-corrupted\": ");
    assert!(config.load_global().is_empty());
    let reported = reported(&path.display().to_string());
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert_eq!(reported[0].0, Level::Warn);
    assert!(reported[0].1.contains("is not valid JSON"), "{reported:?}");
}

#[test]
fn a_typo_in_a_pattern_is_a_warning() {
    listen();
    let world = World::new();
    world.hook("tool:pre_exec", "exit 0");
    world.hook("zoo:log_test_fed", "exit 0");
    assert_eq!(
        reported("`tool:pre_exec`"),
        [(
            Level::Warn,
            "hook pattern: `tool:pre_exec` matches no built-in event, did you mean `tool:pre_execute`?"
                .to_owned()
        )]
    );
    assert!(reported("zoo:log_test_fed").is_empty());
}

#[test]
fn a_blocking_call_uses_the_callers_thread() {
    listen();
    let world = World::new();
    world
        .registry()
        .register(hook("*", "exit 0").with_description("log-thread"));
    let threads = || {
        let records = RECORDS.lock().unwrap();
        let ours = records
            .iter()
            .filter(|(_, _, message)| message.contains("log-thread"));
        ours.map(|(_, thread, _)| *thread).collect::<Vec<_>>()
    };
    world.fire(&blocking_event());
    let here = thread::current().id();
    assert!(threads().iter().all(|thread| *thread == here));
    let count = threads().len();
    let handle = world
        .executor
        .submit(HookEvent::user_interrupt(), FireOptions::default());
    assert!(handle.unwrap().wait().allowed());
    assert!(threads().len() > count && threads()[count..].iter().all(|thread| *thread != here));
}

#[test]
fn a_typo_in_an_answer_is_a_warning() {
    let slips = [
        ("descision", "decision"),
        ("updated_input", "updatedInput"),
        ("systemmessage", "systemMessage"),
    ];
    for (slip, meant) in slips {
        let label = format!("log-slip-{slip}");
        let world = World::new();
        let says = world.says(&format!("{{\"{slip}\": \"text\"}}"));
        listen();
        assert!(
            world
                .one(hook("*", &says).with_description(&label))
                .success()
        );
        let line = format!("hook `{label}`: `{slip}` is not a known key; did you mean `{meant}`?");
        assert_eq!(reported(&line), [(Level::Warn, line.clone())], "{slip}");
    }
    let world = World::new();
    let says = world.says(r#"{"hookSpecificOutput": {"decision": "x", "continue": true}}"#);
    world.one(hook("*", &says).with_description("log-misplaced"));
    let all = reported("hook `log-misplaced`: `hookSpecificOutput.");
    let meant = ["permissionDecision", "continue"].map(|key| format!("did you mean `{key}`?"));
    assert!(
        all.len() == 2
            && all
                .iter()
                .zip(meant)
                .all(|(line, meant)| line.1.ends_with(&meant))
    );
    assert!(reported("answers with `type`").is_empty());
}

#[test]
fn an_answer_that_blocks_is_a_warning() {
    listen();
    let world = World::new();
    let says = world.says(r#"{"decision": "block", "reason": "no: password=hunter22"}"#);
    world.one(hook("*", &says).with_description("log-blocks"));
    let line = "hook `log-blocks` blocks tool:pre_execute: no: password=[redacted]";
    assert_eq!(reported(line), [(Level::Warn, line.to_owned())]);
}

#[test]
fn an_invalid_late_answer_is_a_warning() {
    let world = World::new();
    let says = world.says("{\"decision\": 1}");
    listen();
    world
        .registry()
        .register(hook("*", &says).with_description("log-text"));
    assert!(world.fire(&HookEvent::user_interrupt())[0].success());
    let reported = reported(
        "hook `log-text`: standard output is treated as plain text: its answer is invalid: ",
    );
    assert_eq!(reported.len(), 1);
    assert_eq!(reported[0].0, Level::Warn);
}

/// A secret in a place where a hook, or what it does, has it.
fn with_a_secret(secret: &str) -> Vec<Hook> {
    let named = |command: &str| hook("*", command).with_description("log-secret");
    let in_env = |command: &str| named(command).with_env("WORD", secret);
    vec![
        named(&format!("echo password: {secret}")),
        named(&format!("echo token={secret}>&2& exit 1").replace("& exit", SEPARATED)),
        in_env(&format!("echo {secret}")),
        in_env(&format!("echo {secret}>&2")),
        in_env("exit 0").with_description(format!("log-secret {secret}")),
        in_env("exit 0").with_working_dir(format!("/missing/{secret}")),
        Hook::program("*", [format!("/missing/{secret}")])
            .unwrap()
            .with_env("WORD", secret),
        named(&format!("echo {{\"decision\": \"api_key={secret}\"}}")),
    ]
}

const SEPARATED: &str = if cfg!(windows) { "& exit" } else { "; exit" };

#[test]
fn nothing_that_is_logged_shows_a_secret() {
    listen();
    let secret = "s3cr3t-of-the-log-test";
    for hook in with_a_secret(secret) {
        let world = World::new();
        assert!(!format!("{hook:?}").contains(secret), "{hook:?}");
        world.registry().register(hook.clone());
        world.registry().register(hook.with_background());
        let shown = format!("{:?}", world.outcome(&blocking_event()));
        assert!(!shown.contains(secret), "{shown}");
        assert!(world.fire(&HookEvent::user_interrupt()).len() == 1);
        let _ = world.executor.shutdown(std::time::Duration::from_secs(10));
        world.fire(&blocking_event());
    }
    assert!(reported("log-secret").len() > 20);
    assert_eq!(reported(secret), []);
}

#[test]
fn the_host_chooses_what_is_masked() {
    listen();
    let world = World::with(|builder| builder.redactor(forge_hooks::Redactor::off()));
    let result = world.one(hook("*", "echo password=open-as-the-day").with_description("log-open"));
    assert!(result.stdout.contains("open-as-the-day"));
    assert!(!reported("password=open-as-the-day").is_empty());
    let hidden = World::new().one(hook("*", "echo password=hidden-as-the-night"));
    assert!(
        hidden.stdout.contains("hidden-as-the-night"),
        "a result holds what was written"
    );
    assert_eq!(reported("hidden-as-the-night"), []);
}

#[test]
fn file_problems_are_logged_without_secrets() {
    listen();
    let world = World::new();
    world.write(
        "src/forge/hooks.json",
        r#"{"hooks": [{"event": "*", "command": "true", "on_failure": "password=in-a-file"}]}"#,
    );
    let config = HookConfig::default().with_config_home(world.directory());
    assert!(config.load_global().is_empty());
    assert!(!reported("on_failure").is_empty());
    assert_eq!(reported("password=in-a-file"), []);
}

/// A logger that uses `println!` panics when its output is closed.
#[test]
fn a_logger_that_panics_costs_no_answer() {
    listen();
    let world = World::new();
    for _ in 0..4 {
        world
            .registry()
            .register(hook("*", "exit 0").with_description("log-panics"));
    }
    for options in [FireOptions::new().parallel(), FireOptions::new()] {
        let mut handle = world.executor.submit(blocking_event(), options).unwrap();
        let outcome = handle.wait_timeout(Duration::from_secs(20));
        let outcome = outcome.expect("an answer");
        assert!(
            outcome.allowed() && outcome.results().len() == 4,
            "{outcome:?}"
        );
        assert_eq!(
            world
                .executor
                .execute(&blocking_event(), options)
                .results()
                .len(),
            4
        );
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
    let world = World::new();
    world.hook("*", "exit 0");
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
    let watcher = config
        .watch(registry, root, forge_hooks::config::TrustPolicy::Everything)
        .unwrap();
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
    let profile = || AppProfile::new("forge");
    let hooks = Hooks::builder(profile())
        .config_home(world.path("log-panics"))
        .load();
    assert_eq!(hooks.reload().problems.len(), 1);
    hooks.registry().register(hook("zoo:log-panics", "exit 0"));
    let config = HookConfig::new(profile()).with_config_home(world.path("log-panics"));
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
