//! The trace: what its lines tell. What becomes of its file is in `trace_file`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use forge_hooks::config::TrustPolicy;
use forge_hooks::trace::TraceBuilder;
use forge_hooks::{
    FailurePolicy, FireOptions, Hook, HookConfig, HookEvent, HookExecutorBuilder, Redactor, Trace,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{LONG, PATIENCE, World, blocking_event, custom, eventually, hook, meets};

/// A world whose executor writes a trace into its own directory.
pub(crate) struct Traced {
    pub(crate) world: World,
    pub(crate) trace: Trace,
    pub(crate) directory: TempDir,
}

impl Traced {
    pub(crate) fn new() -> Self {
        Self::with(|builder| builder)
    }

    pub(crate) fn with(settings: impl FnOnce(TraceBuilder) -> TraceBuilder) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.jsonl");
        let trace = settings(Trace::builder(path)).build().unwrap();
        Self {
            world: traced_by(&trace),
            trace,
            directory,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        flush(&self.trace);
        lines(&self.path("trace.jsonl"))
    }

    /// The line of the one hook on an event that can block.
    pub(crate) fn one(&self, hook: Hook) -> Value {
        self.world.one(hook);
        self.lines().pop().unwrap()
    }
}

pub(crate) fn traced_by(trace: &Trace) -> World {
    World::with(|builder| builder.trace(trace).output_limit(100))
}

#[track_caller]
pub(crate) fn flush(trace: &Trace) {
    assert!(trace.flush(PATIENCE));
}

/// Every line, each of which must be one. Between those of two writers there may be an empty one: where the system has
/// made a part of a line visible before the rest, the next writer begins a new line.
#[track_caller]
pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let written = text.lines().filter(|line| !line.is_empty());
    written.map(parse).collect()
}

/// Returns the number of lines that the trace reports as lost.
pub(crate) fn reported(lines: &[Value]) -> u64 {
    lines.iter().filter_map(|line| line["lost"].as_u64()).sum()
}

/// Has its line without the time that a process takes: it cannot be started.
pub(crate) fn quick() -> Hook {
    unstartable(hook("*", "x").with_description("unlogged"))
}

fn unstartable(hook: Hook) -> Hook {
    hook.with_env("A=B", "")
        .with_on_failure(FailurePolicy::Continue)
}

#[test]
fn a_line_has_every_field_of_a_run() {
    let traced = Traced::new();
    let entry =
        r#"{"hooks": [{"event": "tool:*", "command": "echo no&& exit 3", "name": "guard"}]}"#;
    let file = traced.world.write("src/forge/hooks.json", entry);
    let config = HookConfig::default().with_config_home(traced.world.directory());
    let everything = TrustPolicy::Everything;
    let report = config.load_into(traced.world.registry(), traced.directory.path(), everything);
    assert!(report.is_ok());
    let event = blocking_event().with_session_id("s1");
    let outcome = traced.world.outcome(&event);
    let [line] = &traced.lines()[..] else {
        panic!("one line")
    };
    for (key, expected) in [
        ("event", Value::from("tool:pre_execute")),
        ("tool", "bash".into()),
        ("session", "s1".into()),
        ("hook", "guard".into()),
        ("pattern", "tool:*".into()),
        ("command", "echo no&& exit 3".into()),
        ("source", format!("{}:1", file.display()).into()),
        ("host_pid", std::process::id().into()),
        ("queued", 0.0.into()),
        ("pid", outcome.results()[0].pid().unwrap().into()),
        ("exit_code", 3.into()),
        ("failure", "exit".into()),
        ("decision", "block".into()),
        ("can_block", true.into()),
        ("should_continue", false.into()),
        ("reason", "no".into()),
    ] {
        assert_eq!(line[key], expected, "{key}");
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let time = line["time"].as_f64().unwrap();
    assert!((event.timestamp..=now.as_secs_f64()).contains(&time));
    let duration = line["duration"].as_f64().unwrap();
    assert!((duration - outcome.results()[0].duration().as_secs_f64()).abs() < 1e-5);
}

#[test]
fn what_is_not_there_is_left_out() {
    let traced = Traced::new();
    let plain = Hook::new("session:end", "exit 0").unwrap();
    traced.world.add(plain);
    traced.world.fire(&HookEvent::session_end("s1"));
    let lines = traced.lines();
    let keys: BTreeSet<_> = lines[0].as_object().unwrap().keys().collect();
    let expected = "can_block command decision duration event exit_code hook host_pid \
                    pattern pid queued session should_continue time";
    assert!(keys.into_iter().eq(expected.split(' ')));
}

#[test]
fn no_line_shows_a_secret_by_default() {
    let secret = "s3cr3t-of-the-trace-test";
    let bearing = |traced: &Traced| {
        let in_env = |command: &str| hook("*", command).with_env("WORD", secret);
        let hooks = [
            in_env(&format!("echo {secret}&& exit 1")),
            hook("*", &format!("echo token={secret}&& exit 1")),
            hook("*", "exit 1").with_description(format!("password: {secret}")),
            Hook::program("*", [&format!("/missing/{secret}")])
                .unwrap()
                .with_env("WORD", secret),
        ];
        hooks.into_iter().for_each(|hook| drop(traced.one(hook)));
        let event = HookEvent::tool_pre_execute(format!("api_key={secret}"), "ls");
        traced
            .world
            .fire(&event.with_session_id(format!("token={secret}")));
        flush(&traced.trace);
        std::fs::read_to_string(traced.path("trace.jsonl")).unwrap()
    };
    let masked = bearing(&Traced::new());
    assert!(!masked.contains(secret), "{masked}");
    assert!(masked.matches(Redactor::MASK).count() > 6, "{masked}");
    let open = bearing(&Traced::with(|builder| builder.redactor(Redactor::off())));
    assert!(open.matches(secret).count() > 6, "{open}");
}

#[test]
fn every_end_of_a_hook_has_its_line() {
    let traced = Traced::new();
    let ask = traced.world.says(r#"{"decision":"ask","reason":"sure?"}"#);
    let slow = hook("*", LONG).with_timeout(Duration::from_millis(50));
    let missing = Hook::program("*", ["./no-such"]).unwrap();
    let allowed = hook("*", "exit 3").with_on_failure(FailurePolicy::Continue);
    let many = hook("*", &format!("echo {}", "x".repeat(200)));
    for (hook, expected) in [
        (hook("*", "exit 0"), "exit_code=0 decision=allow"),
        (slow, "exit_code=-1 failure=timed_out decision=block"),
        (missing, "exit_code=-1 failure=not_found pid=null"),
        (allowed, "exit_code=3 failure=exit decision=allow"),
        (quick(), "exit_code=-1 failure=not_started decision=allow"),
        (many, "exit_code=0 cut=true"),
        (
            hook("*", &ask),
            "decision=ask reason=sure? should_continue=false",
        ),
        #[cfg(unix)]
        (
            hook("*", "kill -9 $$"),
            "exit_code=137 signal=9 failure=signal",
        ),
        #[cfg(unix)]
        (hook("*", "sleep 2 &"), "exit_code=0 cut=true"),
    ] {
        let line = traced.one(hook);
        for (key, value) in expected
            .split(' ')
            .map(|pair| pair.split_once('=').unwrap())
        {
            let field = line[key].to_string();
            assert_eq!(field.trim_matches('"'), value, "{key} of {line}");
        }
    }
    // It makes no difference whether the event could be blocked.
    traced.world.registry().clear();
    traced.world.hook("*", "exit 1");
    for (event, can_block) in [("notification:show", false), ("game:cast", true)] {
        traced.world.fire(&custom(event));
        let line = traced.lines().pop().unwrap();
        let fields = (&line["decision"], &line["can_block"]);
        assert_eq!(fields, (&"block".into(), &can_block.into()), "{event}");
    }
}

#[test]
fn a_dropped_hook_has_a_line() {
    let Traced {
        trace, directory, ..
    } = Traced::new();
    let small = |builder: HookExecutorBuilder| builder.workers(1).queue_capacity(1);
    let world = World::with(|builder| small(builder).trace(&trace));
    world.hook("a:*", &meets("runs", "go"));
    world.hook("b:*", "exit 0");
    let running = world.submit(custom("a:a"));
    world.await_file("runs");
    let waiting = world.submit(custom("b:b"));
    let options = FireOptions::default();
    assert!(
        world
            .executor
            .submit(custom("b:c"), options.clone())
            .is_err()
    );
    waiting.cancel();
    world.write("go", "");
    assert!(running.wait().allowed());
    let report = world.executor.shutdown(PATIENCE);
    assert!(report);
    assert!(world.executor.submit(custom("b:d"), options).is_err());
    flush(&trace);
    let lines = lines(&directory.path().join("trace.jsonl"));
    let dropped = |event: &str| {
        let line = lines.iter().find(|line| line["event"] == event).unwrap();
        assert!(line.get("duration").is_none() && line["queued"].is_f64());
        line["dropped"].as_str().unwrap().to_owned()
    };
    let reasons = ["b:b", "b:c", "b:d"].map(dropped);
    assert_eq!(reasons, ["cancelled", "busy", "shut_down"]);
}

#[test]
fn a_background_hook_has_a_line() {
    let traced = Traced::new();
    let background = hook("*", "exit 3").with_background();
    traced.world.add(background);
    assert!(traced.world.submit(blocking_event()).wait().allowed());
    eventually("it has its line", || !traced.lines().is_empty());
    let line = &traced.lines()[0];
    assert_eq!(line["background"], true);
    assert!(line["queued"].as_f64().unwrap() > 0.0);
    assert_eq!(
        (&line["exit_code"], &line["decision"]),
        (&3.into(), &"allow".into())
    );
    assert_eq!(line["should_continue"], true, "it stops no others");
}

/// The first column of the tables below "The trace file" in docs/program.md, and what the source writes.
#[test]
fn the_page_names_every_field() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/program.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, page) = page.split_once("\n## The trace file\n").unwrap();
    let page = page.split("\n## ").next().unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let named: BTreeSet<&str> = rows
        .filter_map(|row| row.split_once(" |"))
        .flat_map(|(names, _)| names.trim_end_matches('`').split("`, `"))
        .collect();
    let source = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src/trace")
            .join(name);
        let text = std::fs::read_to_string(path).unwrap();
        text.split("#[cfg(test)]").next().unwrap().to_owned()
    };
    let of_event = source("event.rs").replace("(FIRED, ", "(\"fired\", ");
    let of_event = of_event.split("json_line(&[").nth(1).unwrap();
    let (of_event, _) = of_event.split_once("])\n").unwrap();
    let source = source("line.rs") + of_event;
    let written: BTreeSet<&str> = source
        .split("(\"")
        .skip(1)
        .filter_map(|rest| rest.split_once("\", ").map(|(name, _)| name))
        .filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .collect();
    assert!(written.len() > 15);
    assert_eq!(named, written);
}

#[test]
fn any_text_stays_within_its_line() {
    let traced = Traced::new();
    let odd = "a\nb\r\"\\\u{0}\u{1b}[31m\u{9b}2J\u{85}\u{2028}é\u{7f}";
    let long = "é".repeat(10_000);
    let hook = hook("*", "exit 3").with_name(odd).with_description(&long);
    traced.world.add(hook);
    let event = blocking_event().with_tool_name(odd).with_session_id(&long);
    traced.world.fire(&event);
    let lines = traced.lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(
        (&lines[0]["hook"], &lines[0]["tool"]),
        (&odd.into(), &odd.into())
    );
    let session = lines[0]["session"].as_str().unwrap();
    assert!((4090..=4096).contains(&session.len()) && session.ends_with("é…"));
    let text = std::fs::read_to_string(traced.path("trace.jsonl")).unwrap();
    let mut controls = text.chars().filter(|c| c.is_control() || *c == '\u{2028}');
    assert_eq!(controls.next(), Some('\n'));
    assert_eq!(controls.next(), None);
}

#[test]
fn a_reason_is_cut_after_a_kilobyte() {
    let traced = Traced::new();
    let world = World::with(|builder| builder.trace(&traced.trace));
    world.one(hook("*", &format!("echo {}&& exit 3", "y".repeat(3000))));
    let reason = traced.lines()[0]["reason"].as_str().unwrap().to_owned();
    assert!(reason.len() <= 1024 && reason.ends_with("y…"), "{reason}");
}

#[test]
fn a_secret_with_a_space_is_masked() {
    let traced = Traced::new();
    let args = ["x", "--password", "it's \"two\" words", "--token=a b c", ""];
    let program = Hook::program("*", args.map(str::to_owned)).unwrap();
    let line = traced.one(unstartable(program));
    let command = line["command"].as_str().unwrap();
    for word in ["two", "words", "b c"] {
        assert!(!command.contains(word), "{command}");
    }
    assert!(command.ends_with(" \"\""), "{command}");
}

/// No part of a value is shown if the value is longer than the part that is examined, or if it begins near the end of
/// that part, after a masked one.
#[test]
fn part_of_an_env_value_is_masked() {
    let traced = Traced::new();
    let long: String = (0..3000).map(|n: u32| format!("{n:04} ")).collect();
    let masked = "hidden".repeat(1300);
    for (printed, expected) in [
        (format!("bad {long}"), "bad …"),
        (format!("bad {masked} {long}"), "bad [redacted] …"),
    ] {
        let args = if cfg!(windows) {
            vec!["cmd", "/C"]
        } else {
            vec!["true"]
        };
        let args = args.into_iter().map(str::to_owned).chain([printed]);
        let hook = Hook::program("*", args).unwrap();
        let hook = hook.with_env("LONG", &long).with_env("MASKED", &masked);
        let gated = unstartable(hook);
        let line = traced.one(gated);
        let command = line["command"].as_str().unwrap();
        assert!(command.ends_with(expected), "{command}");
    }
}
