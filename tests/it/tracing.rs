//! The trace: a line for each hook, in a file that stays within its size and harms nobody.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use forge_hooks::{
    FailurePolicy, FireOptions, Gate, GateVerdict, Hook, HookConfig, HookEvent, Trace,
    TraceBuilder, TraceError, TrustPolicy,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{LONG, World, blocking_event, custom, eventually, hook, meets};

/// A world whose executor writes a trace into a folder of its own.
struct Traced {
    world: World,
    trace: Trace,
    folder: TempDir,
}

impl Traced {
    fn new() -> Self {
        Self::with(|builder| builder)
    }

    fn with(settings: impl FnOnce(TraceBuilder) -> TraceBuilder) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.jsonl");
        let trace = settings(Trace::to_file(path)).build().unwrap();
        Self {
            world: traced_by(&trace),
            trace,
            folder,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn lines(&self) -> Vec<Value> {
        flush(&self.trace);
        lines(&self.path("trace.jsonl"))
    }

    /// The line of the one hook on an event that can block.
    fn one(&self, hook: Hook) -> Value {
        self.world.one(hook);
        self.lines().pop().unwrap()
    }
}

fn traced_by(trace: &Trace) -> World {
    World::with(|builder| builder.observer(trace.clone()).output_limit(100))
}

#[track_caller]
fn flush(trace: &Trace) {
    assert!(trace.flush(Duration::from_secs(20)));
}

/// Every line, each of which must be one.
#[track_caller]
fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(parse).collect()
}

/// So many lines were lost, by their own account.
fn told(lines: &[Value]) -> u64 {
    lines.iter().filter_map(|line| line["lost"].as_u64()).sum()
}

fn keys(line: &Value) -> Vec<&str> {
    let object = line.as_object().unwrap();
    object.keys().map(String::as_str).collect()
}

/// Keeps a hook from running, so that it has its line without the time that a process takes.
#[derive(Debug)]
struct Closed;

impl Gate for Closed {
    fn check(&self, _hook: &Hook) -> GateVerdict {
        GateVerdict::NotApproved("nobody has approved it".to_owned())
    }
}

fn quick() -> Hook {
    hook("*", "x")
        .with_gate(Arc::new(Closed))
        .with_description("unlogged")
}

#[test]
fn a_line_tells_what_there_is_to_know_of_a_run() {
    let traced = Traced::new();
    let entry =
        r#"{"hooks": [{"event": "tool:*", "command": "echo no&& exit 3", "name": "guard"}]}"#;
    let file = traced.world.write("src/forge/hooks.json", entry);
    let config = HookConfig::default().with_config_home(traced.world.folder());
    let report = config.load_into(
        traced.world.registry(),
        traced.folder.path(),
        TrustPolicy::Everything,
    );
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
        ("source", format!("{}: hooks[0]", file.display()).into()),
        ("host_pid", std::process::id().into()),
        ("queued", 0.0.into()),
        ("pid", outcome[0].pid.unwrap().into()),
        ("exit_code", 3.into()),
        ("failure", "Exit".into()),
        ("decision", "block".into()),
        ("should_continue", false.into()),
        ("reason", "no".into()),
    ] {
        assert_eq!(line[key], expected, "{key}");
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let time = line["time"].as_f64().unwrap();
    assert!((event.timestamp..=now.as_secs_f64()).contains(&time));
    let difference = line["duration"].as_f64().unwrap() - outcome[0].duration.as_secs_f64();
    assert!(difference.abs() < 1e-5);
}

#[test]
fn what_is_not_there_is_left_out() {
    let traced = Traced::new();
    traced.world.hook("session:end", "exit 0");
    traced.world.fire(&HookEvent::session_end("s1"));
    let lines = traced.lines();
    let expected = [
        "time",
        "event",
        "session",
        "hook",
        "pattern",
        "command",
        "host_pid",
        "queued",
        "duration",
        "pid",
        "exit_code",
        "decision",
        "should_continue",
    ];
    assert_eq!(keys(&lines[0]), expected);
}

#[test]
fn every_end_of_a_hook_has_its_line() {
    let traced = Traced::new();
    let slow = hook("*", LONG).with_timeout(Duration::from_millis(50));
    let missing = Hook::program("*", ["./no-such"]).unwrap();
    let allowed = hook("*", "exit 3").with_on_failure(FailurePolicy::Continue);
    let many = hook("*", &format!("echo {}", "x".repeat(200)));
    for (hook, expected) in [
        (hook("*", "exit 0"), r#"{"exit_code":0,"decision":"allow"}"#),
        (
            slow,
            r#"{"exit_code":-1,"failure":"TimedOut","decision":"block"}"#,
        ),
        (
            missing,
            r#"{"exit_code":-1,"failure":"NotFound","pid":null}"#,
        ),
        (
            allowed,
            r#"{"exit_code":3,"failure":"Exit","decision":"allow","should_continue":true}"#,
        ),
        (
            quick(),
            r#"{"skipped":"NotApproved","decision":"allow","reason":"nobody has approved it"}"#,
        ),
        (many, r#"{"exit_code":0,"cut":true}"#),
        #[cfg(unix)]
        (
            hook("*", "kill -9 $$"),
            r#"{"exit_code":137,"signal":9,"failure":"Signal"}"#,
        ),
    ] {
        let line = traced.one(hook);
        let expected: Value = serde_json::from_str(expected).unwrap();
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&line[key], value, "{key} of {line}");
        }
    }
}

#[test]
fn a_hook_whose_turn_never_comes_has_a_line_that_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.jsonl");
    let trace = Trace::to_file(&path).build().unwrap();
    let world = World::with(|builder| {
        let builder = builder.workers(1).queue_capacity(1);
        builder.observer(trace.clone())
    });
    world.hook("a:*", &meets("runs", "go"));
    world.hook("b:*", "exit 0");
    let running = world.submit(custom("a:a"));
    world.await_file("runs");
    let waiting = world.submit(custom("b:b"));
    let options = FireOptions::default();
    assert!(world.executor.submit(custom("b:c"), options).is_err());
    waiting.cancel();
    world.write("go", "");
    assert!(running.wait().allowed());
    assert!(
        world
            .executor
            .shutdown(Duration::from_secs(20))
            .is_complete()
    );
    assert!(world.executor.submit(custom("b:d"), options).is_err());
    flush(&trace);
    let lines = lines(&path);
    let dropped = |event: &str| {
        let line = lines.iter().find(|line| line["event"] == event).unwrap();
        assert!(line.get("duration").is_none() && line["queued"].is_f64());
        line["dropped"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        ["b:b", "b:c", "b:d"].map(dropped),
        ["Cancelled", "Busy", "ShutDown"]
    );
}

#[test]
fn a_hook_in_the_background_has_a_line_and_no_say() {
    let traced = Traced::new();
    let background = hook("*", "exit 3").with_background(true);
    traced.world.registry().register(background);
    assert!(traced.world.outcome(&blocking_event()).is_empty());
    eventually("it has its line", || !traced.lines().is_empty());
    let line = &traced.lines()[0];
    assert_eq!(line["background"], true);
    assert_eq!(
        (&line["exit_code"], &line["decision"]),
        (&3.into(), &"allow".into())
    );
}

#[test]
fn a_submitted_event_tells_how_long_it_was_queued() {
    let traced = Traced::new();
    traced.world.hook("*", "exit 0");
    assert!(traced.world.submit(blocking_event()).wait().allowed());
    assert!(traced.lines()[0]["queued"].as_f64().unwrap() > 0.0);
}

/// The first column of the tables in docs/trace.md, and what the source writes.
#[test]
fn the_page_names_every_field() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/trace.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let named: BTreeSet<&str> = rows
        .filter_map(|row| row.split_once(" |"))
        .flat_map(|(names, _)| names.trim_end_matches('`').split("`, `"))
        .collect();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/trace/line.rs");
    let source = std::fs::read_to_string(source).unwrap();
    let written: BTreeSet<&str> = source
        .split("#[derive(Serialize)]")
        .skip(1)
        .flat_map(|item| item.split("\n}\n").next().unwrap().lines().skip(2))
        .filter_map(|line| Some(line.split_once(": ")?.0.rsplit(' ').next()?))
        .filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .filter(|name| *name != "what")
        .collect();
    assert!(written.len() > 15);
    assert_eq!(named, written);
}

#[test]
fn texts_of_any_kind_and_length_stay_within_their_line() {
    let traced = Traced::new();
    let odd = "a\nb\r\"\\\u{0}\u{1b}[31m\u{9b}2J\u{85}\u{2028}é\u{7f}";
    let long = "é".repeat(10_000);
    let hook = hook("*", "exit 3").with_name(odd).with_description(&long);
    traced.world.registry().register(hook);
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
    let world = World::with(|builder| builder.observer(traced.trace.clone()));
    world.one(hook("*", &format!("echo {}&& exit 3", "y".repeat(3000))));
    let reason = traced.lines()[0]["reason"].as_str().unwrap().to_owned();
    assert!(reason.len() <= 1024 && reason.ends_with("y…"), "{reason}");
}

#[test]
fn a_full_file_is_renamed_and_so_many_older_ones_are_kept() {
    for older in [0, 1, 3] {
        let traced = Traced::with(|builder| builder.max_bytes(0).keep(older));
        traced.world.registry().register(quick());
        for number in 0..200 {
            let event = blocking_event().with_session_id(number.to_string());
            traced.world.fire(&event);
            flush(&traced.trace);
        }
        let mut sessions = Vec::new();
        for number in (0..=older + 1).rev() {
            let path = match number {
                0 => traced.path("trace.jsonl"),
                number => traced.path(&format!("trace.jsonl.{number}")),
            };
            if number > older {
                assert!(!path.exists());
                continue;
            }
            let length = path.metadata().unwrap().len();
            assert!(length > 0 && length <= 4096, "{length}");
            sessions.extend(lines(&path).into_iter().map(|line| line["session"].clone()));
        }
        let first = 200 - sessions.len();
        let expected: Vec<Value> = (first..200).map(|n| n.to_string().into()).collect();
        assert_eq!(sessions, expected);
        assert_eq!(traced.trace.lost(), 0);
    }
}

/// Nothing is lost, since more files are kept than there can be.
#[test]
fn many_threads_and_two_traces_write_whole_lines_to_one_file_while_it_is_renamed() {
    const EACH: usize = 500;
    let traced = Traced::with(|builder| builder.max_bytes(16 * 1024).keep(1000).capacity(4096));
    let other = Trace::to_file(traced.path("trace.jsonl"));
    let other = other.max_bytes(16 * 1024).keep(1000).capacity(4096);
    let other = other.build().unwrap();
    let worlds = [traced_by(&traced.trace), traced_by(&other)];
    for world in &worlds {
        world.registry().register(quick());
    }
    thread::scope(|scope| {
        for number in 0..4 {
            let world = &worlds[number % 2];
            scope.spawn(move || {
                let fire = || drop(world.fire(&blocking_event()));
                (0..EACH).for_each(|_| fire());
            });
        }
    });
    flush(&traced.trace);
    flush(&other);
    assert_eq!((traced.trace.lost(), other.lost()), (0, 0));
    let files = std::fs::read_dir(traced.folder.path()).unwrap();
    let files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 10);
    let count: usize = files.iter().map(|path| lines(path).len()).sum();
    assert_eq!(count, 4 * EACH);
    for path in files {
        assert!(path.metadata().unwrap().len() <= 2 * 16 * 1024);
    }
}

#[test]
fn when_too_many_lines_wait_some_are_lost_and_the_file_says_how_many() {
    const EVENTS: u64 = 2000;
    let traced = Traced::with(|builder| builder.capacity(0));
    for _ in 0..10 {
        traced.world.registry().register(quick());
    }
    for _ in 0..EVENTS {
        traced.world.fire(&blocking_event());
    }
    let lines = traced.lines();
    let lost = told(&lines);
    assert!(lost > 0);
    assert_eq!(lost, traced.trace.lost());
    let runs = lines
        .iter()
        .filter(|line| line.get("hook").is_some())
        .count();
    assert_eq!(runs as u64 + lost, 10 * EVENTS);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_never_affects_a_hook() {
    let trace = Trace::to_file("/dev/full").build().unwrap();
    let world = traced_by(&trace);
    world.hook("*", "echo said");
    for number in 1..=3 {
        let outcome = world.outcome(&blocking_event());
        assert!(outcome.allowed() && outcome[0].stdout == "said\n");
        flush(&trace);
        assert_eq!(trace.lost(), number);
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_renamed_stays_within_twice_its_size() {
    let traced = Traced::with(|builder| builder.max_bytes(0).keep(1));
    std::fs::create_dir_all(traced.path("trace.jsonl.1/not-empty")).unwrap();
    traced.world.registry().register(quick());
    for _ in 0..100 {
        traced.world.fire(&blocking_event());
        flush(&traced.trace);
    }
    let length = traced.path("trace.jsonl").metadata().unwrap().len();
    assert!((4096..=8192).contains(&length), "{length}");
    assert!(traced.trace.lost() > 0);
    std::fs::remove_dir_all(traced.path("trace.jsonl.1")).unwrap();
    traced.world.fire(&blocking_event());
    let mut lines = traced.lines();
    lines.extend(self::lines(&traced.path("trace.jsonl.1")));
    assert_eq!(told(&lines), traced.trace.lost(), "it goes on when it can");
}

#[test]
fn when_the_last_trace_is_dropped_the_rest_is_written() {
    let Traced {
        world,
        trace,
        folder,
    } = Traced::new();
    for _ in 0..100 {
        world.registry().register(quick());
    }
    world.fire(&blocking_event());
    drop(trace);
    drop(world);
    let path = folder.path().join("trace.jsonl");
    let text = || std::fs::read_to_string(&path).unwrap();
    eventually("all lines are there", || text().lines().count() == 100);
    lines(&path);
}

#[test]
fn a_trace_that_cannot_be_written_is_told_at_the_start() {
    let world = World::new();
    world.write("file", "");
    let mut cases = vec![
        (
            world.folder().to_owned(),
            "it is a directory, expected a file",
        ),
        (world.path("file/below"), ""),
    ];
    if cfg!(unix) {
        let pipe = world.path("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        cases.push((pipe, "it is a pipe, expected a file"));
    }
    for (path, expected) in cases {
        let error = Trace::to_file(&path).build().unwrap_err();
        let TraceError::Open { source, .. } = &error else {
            panic!("{error:?}")
        };
        assert!(source.to_string().contains(expected), "{source}");
        let message = format!("could not open the trace file `{}`", path.display());
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn folders_that_are_missing_are_made_and_a_path_becomes_absolute() {
    let world = World::new();
    let path = world.path("a/b/trace.jsonl");
    let trace = Trace::to_file(&path).build().unwrap();
    assert!(path.exists());
    assert_eq!(trace.path(), path);
    let relative = Trace::to_file("./no-such-folder/../Cargo.toml/x").build();
    let Err(TraceError::Open { path, .. }) = relative else {
        panic!("it is no folder")
    };
    assert!(path.is_absolute());
}

#[cfg(unix)]
#[test]
fn a_new_file_is_private_and_one_that_is_there_keeps_its_mode() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let traced = Traced::new();
    let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
    assert_eq!(mode(&traced.path("trace.jsonl")), 0o600);
    let open = traced.path("open.jsonl");
    std::fs::write(&open, "").unwrap();
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o640)).unwrap();
    drop(Trace::to_file(&open).build().unwrap());
    assert_eq!(mode(&open), 0o640);
}

#[test]
fn a_file_that_somebody_renames_is_made_anew() {
    let traced = Traced::new();
    traced.one(quick());
    std::fs::rename(traced.path("trace.jsonl"), traced.path("moved")).unwrap();
    traced.one(quick());
    assert_eq!(traced.lines().len(), 1);
    assert_eq!(lines(&traced.path("moved")).len(), 1);
}

#[test]
fn a_half_line_is_closed_before_the_next() {
    let world = World::new();
    let path = world.write("trace.jsonl", "{\"time\":1}\n{\"time\":");
    let trace = Trace::to_file(&path).build().unwrap();
    let traced = traced_by(&trace);
    traced.one(quick());
    flush(&trace);
    let text = world.read("trace.jsonl");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["{\"time\":1}", "{\"time\":"]);
    assert_eq!(lines.len(), 3);
    assert!(serde_json::from_str::<Value>(lines[2]).is_ok());
}

/// As on a disk that fills up: what may not be larger than so much is written as far as it fits.
#[cfg(unix)]
#[test]
fn a_line_that_fits_only_in_part_is_closed_before_the_next() {
    const LIMITED: &str = "FORGE_HOOKS_TEST_LIMITED";
    if std::env::var_os(LIMITED).is_none() {
        let mut command = std::process::Command::new("sh");
        let script = "trap '' XFSZ; ulimit -f 16; exec \"$@\"";
        command.args(["-c", script, "sh"]).env(LIMITED, "1");
        command.arg(std::env::current_exe().unwrap());
        let test = "tracing::a_line_that_fits_only_in_part_is_closed_before_the_next";
        let output = command.args(["--exact", test]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        return assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}"
        );
    }
    let traced = Traced::new();
    traced.world.registry().register(quick());
    while traced.trace.lost() == 0 {
        assert!(traced.world.outcome(&blocking_event()).allowed());
        flush(&traced.trace);
    }
    let path = traced.path("trace.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.ends_with('\n'));
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(text.len() as u64 - 1000).unwrap();
    traced.world.fire(&blocking_event());
    flush(&traced.trace);
    let text = std::fs::read_to_string(&path).unwrap();
    let parsed: Vec<_> = text.lines().map(serde_json::from_str::<Value>).collect();
    let [.., half, gap, line] = &parsed[..] else {
        panic!("{text}")
    };
    assert!(half.is_err() && line.as_ref().unwrap()["hook"] == "unlogged");
    assert_eq!(gap.as_ref().unwrap()["lost"], 1);
    assert_eq!(parsed.iter().filter(|line| line.is_err()).count(), 1);
}

/// What is renamed is the file, and the link leads to the new one.
#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let world = World::new();
    world.write("far/trace.jsonl", "");
    let link = world.path("link");
    std::os::unix::fs::symlink(world.path("far/trace.jsonl"), &link).unwrap();
    let trace = Trace::to_file(&link).max_bytes(0).build().unwrap();
    let traced = traced_by(&trace);
    traced.registry().register(quick());
    for _ in 0..20 {
        traced.fire(&blocking_event());
    }
    flush(&trace);
    assert!(link.is_symlink() && world.path("far/trace.jsonl.1").exists());
    assert!(!lines(&link).is_empty());
}

#[test]
fn a_deadline_of_any_length_is_one() {
    let traced = Traced::new();
    traced.world.one(quick());
    assert!(traced.trace.flush(Duration::MAX));
    let _ = traced.trace.flush(Duration::ZERO);
    let shown = format!("{:?}", traced.trace);
    assert!(shown.contains("trace.jsonl"), "{shown}");
}
