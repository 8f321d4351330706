//! Log messages: their text, their level, and the thread that logs them.

use std::sync::{Mutex, Once};
use std::thread::{self, ThreadId};
use std::time::Duration;

use forge_hooks::{AppProfile, FailurePolicy, Hook, HookConfig, HookEvent, Hooks};
use log::{Level, LevelFilter, Log, Metadata, Record};

use crate::support::{AND, LONG, PATIENCE, World, blocking_event, hook};

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
        // Skips the messages of other tests, whose hooks write megabytes or which fire thousands of events.
        let is_much = message.len() >= 1000 || message.contains("unlogged");
        if self.enabled(record.metadata()) && !is_much {
            let entry = (record.level(), thread::current().id(), message);
            RECORDS.lock().unwrap().push(entry);
        }
    }

    fn flush(&self) {}
}

pub(crate) fn listen() {
    static LISTEN: Once = Once::new();
    LISTEN.call_once(|| {
        log::set_logger(&Captured).unwrap();
        log::set_max_level(LevelFilter::Trace);
    });
}

pub(crate) fn reported(words: &str) -> Vec<(Level, String)> {
    let records = RECORDS.lock().unwrap();
    let ours = records
        .iter()
        .filter(|(_, _, message)| message.contains(words));
    ours.map(|(level, _, message)| (*level, message.clone()))
        .collect()
}

#[test]
fn start_end_and_output_of_a_hook_are_logged() {
    listen();
    let plain = hook("*", "echo printed&& echo whispered>&2");
    World::new().one(plain.with_description("log-plain"));
    let all = reported("log-plain");
    let expected = [
        (Level::Debug, "starts on tool:pre_execute"),
        (Level::Trace, "stdout: printed"),
        (Level::Warn, "stderr: whispered"),
        (Level::Debug, "ended with exit code 0 after "),
    ];
    assert_eq!(all.len(), expected.len(), "{all:?}");
    for ((level, message), (expected, words)) in all.iter().zip(expected) {
        let start = format!("hook `log-plain` {words}");
        assert!(
            *level == expected && message.starts_with(&start),
            "{message}"
        );
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

/// Each hook, and what is logged of it besides that it runs and what it prints.
#[test]
fn failures_blocks_and_typos_are_logged() {
    listen();
    let world = World::new();
    let answers = |answer: &str| hook("*", &world.says(answer));
    let program = Hook::program("*", ["./no-such"]).unwrap();
    let fails = hook("*", "exit 3");
    let ignored = hook("*", "exit 4").with_on_failure(FailurePolicy::Continue);
    let blocks = answers(r#"{"decision": "block", "reason": "no: password=hunter22"}"#);
    let slow = hook("*", LONG).with_timeout(Duration::from_millis(50));
    let failed = "failed on tool:pre_execute: ";
    let typo = "`descision` is not a known key; did you mean `decision`?";
    let invalid = "failed on user:interrupt: ";
    let (before, after) = (blocking_event(), HookEvent::user_interrupt());
    for (number, (hook, event, level, start, words)) in [
        (fails, &before, 'W', failed, "exited with code 3"),
        (ignored, &before, 'W', failed, "exited with code 4"),
        (slow, &before, 'E', failed, "timed out after 50ms"),
        (program, &before, 'E', failed, "program `"),
        (answers(r#"{"descision": "x"}"#), &before, 'W', "", typo),
        (
            answers(r#"{"decision": 1}"#),
            &after,
            'E',
            invalid,
            "its answer is invalid: ",
        ),
        (blocks, &before, 'W', "blocks tool", "password=[redacted]"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("log-ends-{number}");
        world.run(hook.with_description(name.clone()), event);
        let mut logged = reported(&name);
        logged.retain(|(level, text)| *level <= Level::Warn && !text.contains("` stderr: "));
        let [(found, line)] = &logged[..] else {
            panic!("{logged:?}");
        };
        assert_eq!(found.as_str().chars().next(), Some(level));
        assert!(line.contains(start) && line.contains(words), "{line}");
    }
}

#[test]
fn problems_of_files_are_warnings_without_secrets() {
    listen();
    let world = World::new();
    let config = HookConfig::default().with_config_home(world.directory());
    let secret = "password=in-a-file";
    let policy = format!(r#""on_failure": "{secret}""#);
    let unusable = format!(r#"{{"hooks": [{{"event": "*", "command": "true", {policy}}}]}}"#);
    for (text, message) in [
        ("{\"log-corrupted\": ", "is not valid JSON"),
        (&unusable, "on_failure"),
    ] {
        let path = world.write("src/forge/hooks.json", text);
        let before = reported(&path.display().to_string()).len();
        assert!(config.load_global().is_empty());
        let reported = reported(&path.display().to_string()).split_off(before);
        let [(Level::Warn, line)] = &reported[..] else {
            panic!("{reported:?}");
        };
        assert!(line.contains(message), "{line}");
    }
    assert_eq!(reported(secret), []);
}

#[test]
fn a_typo_in_a_pattern_is_a_warning() {
    listen();
    let world = World::new();
    world.hook("tool:pre_exec", "exit 0");
    world.hook("zoo:log_test_fed", "exit 0");
    let why = "matches no built-in event, did you mean `tool:pre_execute`?";
    let line = format!("hook pattern: `tool:pre_exec` {why}");
    assert_eq!(reported("`tool:pre_exec`"), [(Level::Warn, line)]);
    assert!(reported("zoo:log_test_fed").is_empty());
}

#[test]
fn a_blocking_call_uses_the_callers_thread() {
    listen();
    let world = World::new();
    world.add(hook("*", "exit 0").with_description("log-thread"));
    let threads = || {
        let records = RECORDS.lock().unwrap();
        let ours = records
            .iter()
            .filter(|record| record.2.contains("log-thread"));
        ours.map(|record| record.1).collect::<Vec<_>>()
    };
    world.fire(&blocking_event());
    let here = thread::current().id();
    assert!(threads().iter().all(|thread| *thread == here));
    let count = threads().len();
    assert!(world.submit(HookEvent::user_interrupt()).wait().allowed());
    let later = threads().split_off(count);
    assert!(!later.is_empty() && later.iter().all(|thread| *thread != here));
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
        let debug = format!("{:?}", world.outcome(&blocking_event()));
        assert!(!debug.contains(secret), "{debug}");
        assert!(world.fire(&HookEvent::user_interrupt()).len() == 1);
        let _ = world.executor.shutdown(PATIENCE);
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
        assert!(result.stdout().contains(text), "it was written");
        assert_eq!(!reported(text).is_empty(), is_open);
    }
}

/// A logger that uses `println!` panics when its output is closed. `tidy` sees that everything is logged in the same way.
#[test]
fn a_logger_that_panics_costs_no_answer() {
    listen();
    let world = World::new();
    for _ in 0..4 {
        world.add(hook("*", "exit 0").with_description("log-panics"));
    }
    let outcome = world.submit(blocking_event()).wait_timeout(PATIENCE);
    for outcome in [
        outcome.expect("an answer"),
        world.outcome(&blocking_event()),
    ] {
        assert!(outcome.allowed(), "{outcome:?}");
        assert_eq!(outcome.results().len(), 4);
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
