//! The file of a trace: it keeps its size, has whole lines, and its errors do not affect the host.

use std::time::Duration;

#[cfg(unix)]
use forge_hooks::{AppProfile, Hooks};
use forge_hooks::{FireOptions, Trace};
use serde_json::Value;

#[cfg(unix)]
use crate::support::{LONG, PATIENCE, alone_with, custom, hook, meets};
use crate::support::{World, blocking_event, eventually};
use crate::tracing::{Traced, flush, lines, quick, reported, traced_by};

#[test]
fn a_full_file_is_rotated() {
    for older in [0, 1, 3] {
        let traced = Traced::with(|builder| builder.max_bytes(0).keep(older));
        traced.world.add(quick());
        for number in 0..100 {
            let event = blocking_event().with_session_id(number.to_string());
            traced.world.fire(&event);
            flush(&traced.trace);
        }
        let path = |number| match number {
            0 => traced.path("trace.jsonl"),
            number => traced.path(&format!("trace.jsonl.{number}")),
        };
        assert!(!path(older + 1).exists());
        let mut sessions = Vec::new();
        for path in (0..=older).rev().map(path) {
            let length = path.metadata().unwrap().len();
            assert!(length > 0 && length <= 4096, "{length}");
            sessions.extend(lines(&path).into_iter().map(|line| line["session"].clone()));
        }
        let first = 100 - sessions.len();
        let expected: Vec<Value> = (first..100).map(|n| n.to_string().into()).collect();
        assert_eq!(sessions, expected);
        assert_eq!(traced.trace.lost(), 0);
    }
}

/// Not on Windows: Wine, which has to stand for it, does not append in one step.
#[cfg(unix)]
#[test]
fn concurrent_writers_write_whole_lines() {
    const EACH: usize = 200;
    // With files that are full, two may rename at the same moment, so that lines are lost, but none is split.
    for (bytes, may_lose) in [(64 * 1024 * 1024, false), (16 * 1024, true)] {
        let traced = Traced::with(|builder| builder.max_bytes(bytes).keep(1000).capacity(4096));
        let other = Trace::builder(traced.path("trace.jsonl"));
        let other = other.max_bytes(bytes).keep(1000).capacity(4096);
        let other = other.build().unwrap();
        let worlds = [traced_by(&traced.trace), traced_by(&other)];
        for world in &worlds {
            world.add(quick());
        }
        std::thread::scope(|scope| {
            for number in 0..4 {
                let world = &worlds[number % 2];
                scope.spawn(move || (0..EACH).for_each(|_| drop(world.fire(&blocking_event()))));
            }
        });
        flush(&traced.trace);
        flush(&other);
        let files = std::fs::read_dir(traced.directory.path()).unwrap();
        let files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
        let count: usize = files.iter().map(|path| lines(path).len()).sum();
        if may_lose {
            assert!(files.len() > 5 && count > EACH, "{count}");
        } else {
            assert_eq!((files.len(), count), (1, 4 * EACH));
            assert_eq!((traced.trace.lost(), other.lost()), (0, 0));
        }
    }
}

/// The user of a host sets the variable; the host has no code for it.
#[cfg(unix)]
#[test]
fn a_variable_has_any_host_write_a_trace() {
    let world = World::new();
    let hooks = r#"{"hooks": [{"event": "game:save", "command": "exit 3", "name": "ironman"}]}"#;
    world.write("config/mygame/hooks.json", hooks);
    let file = world.path("hooks.jsonl");
    let hosts = [(); 2].map(|()| {
        let mut host = std::process::Command::new(crate::examples::example("game_loop"));
        host.env("XDG_CONFIG_HOME", world.path("config"));
        host.env("MYGAME_HOOKS_TRACE", &file);
        host.stdout(std::process::Stdio::null()).spawn().unwrap()
    });
    for mut host in hosts {
        assert!(host.wait().unwrap().success());
    }
    let lines = lines(&file);
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line["hook"] == "ironman"));
    assert_ne!(lines[0]["host_pid"], lines[1]["host_pid"]);
}

/// They end after the executor has been dropped, and before the host ends.
#[cfg(unix)]
#[test]
fn hooks_that_end_with_the_host_are_in_its_trace() {
    let world = World::new();
    let file = world.path("hooks.jsonl");
    let test = "trace_file::hooks_that_end_with_the_host_are_in_its_trace";
    if !alone_with(test, &[("DROPS_HOOKS_TRACE", file.to_str().unwrap())]) {
        let lines = lines(&file);
        let ended = lines.iter().filter(|line| line["failure"] == "cancelled");
        assert_eq!(ended.count(), 3, "{lines:?}");
        return;
    }
    let hooks = Hooks::builder(AppProfile::new("drops")).load();
    for name in ["a", "b", "c"] {
        let endless = hook(&format!("game:{name}"), &meets(name, "never"));
        let registry = hooks.executor().registry();
        registry.register(endless.with_working_dir(world.directory()));
    }
    for name in ["a", "b", "c"] {
        drop(hooks.submit(custom(&format!("game:{name}"))));
        world.await_file(name);
    }
    drop(hooks);
}

/// A host that ends by `exit` drops nothing.
#[cfg(unix)]
#[test]
fn all_lines_of_the_users_trace_are_written_at_a_shutdown() {
    let world = World::new();
    let file = world.path("hooks.jsonl");
    let test = "trace_file::all_lines_of_the_users_trace_are_written_at_a_shutdown";
    if !alone_with(test, &[("ENDS_HOOKS_TRACE", file.to_str().unwrap())]) {
        return;
    }
    let file = std::env::var("ENDS_HOOKS_TRACE").unwrap();
    let hooks = Hooks::builder(AppProfile::new("ends")).load();
    hooks.executor().registry().register(quick());
    let written = || lines(file.as_ref()).len();
    let _ = hooks.execute(&blocking_event());
    // The first line takes the longest; a shutdown waits for a second.
    eventually("the writer has begun", || written() == 1);
    for _ in 1..200 {
        let _ = hooks.execute(&blocking_event());
    }
    assert!(hooks.shutdown(PATIENCE));
    assert_eq!(written(), 200);
}

/// Also of what it cuts.
#[cfg(unix)]
#[test]
fn all_lines_of_a_cut_are_written_at_a_shutdown() {
    let world = World::new();
    let file = world.path("hooks.jsonl");
    let test = "trace_file::all_lines_of_a_cut_are_written_at_a_shutdown";
    if !alone_with(test, &[("CUTS_HOOKS_TRACE", file.to_str().unwrap())]) {
        return;
    }
    let file = std::env::var("CUTS_HOOKS_TRACE").unwrap();
    let hooks = Hooks::builder(AppProfile::new("cuts")).load();
    hooks
        .executor()
        .registry()
        .register(hook("game:save", LONG));
    let options = FireOptions::new().ordered_by("game");
    // Few: after its deadline, a shutdown waits for one second at most until they are written.
    for _ in 0..100 {
        drop(hooks.submit_with(custom("game:save"), options.clone()));
    }
    assert!(!hooks.shutdown(Duration::ZERO));
    assert_eq!(lines(file.as_ref()).len(), 100);
}

#[test]
fn lost_lines_are_counted() {
    const EVENTS: u64 = 1_000;
    let traced = Traced::with(|builder| builder.capacity(0));
    for _ in 0..10 {
        traced.world.add(quick());
    }
    for _ in 0..EVENTS {
        let options = FireOptions::new().stop_on_failure(false);
        let results = traced
            .world
            .executor
            .execute_hooks(&blocking_event(), options);
        assert_eq!(results.len(), 10, "no result is lost");
    }
    let lines = traced.lines();
    let lost = reported(&lines);
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
    let trace = Trace::builder("/dev/full").build().unwrap();
    let world = traced_by(&trace);
    world.hook("*", "echo printed");
    for number in 1..=3 {
        let outcome = world.outcome(&blocking_event());
        assert!(outcome.allowed() && outcome.results()[0].stdout() == "printed\n");
        flush(&trace);
        assert_eq!(trace.lost(), number);
    }
}

#[cfg(unix)]
#[test]
fn a_file_stays_within_its_size() {
    let traced = Traced::with(|builder| builder.max_bytes(0).keep(1));
    std::fs::create_dir_all(traced.path("trace.jsonl.1/not-empty")).unwrap();
    traced.world.add(quick());
    for _ in 0..100 {
        traced.world.fire(&blocking_event());
        flush(&traced.trace);
    }
    let length = traced.path("trace.jsonl").metadata().unwrap().len();
    assert!((3000..=4096).contains(&length), "{length}");
    let lost = traced.trace.lost();
    assert!(lost > 0);
    std::fs::remove_dir_all(traced.path("trace.jsonl.1")).unwrap();
    let mut all = traced.lines();
    all.extend(lines(&traced.path("trace.jsonl.1")));
    assert_eq!(reported(&all), lost, "a flush reports it");
    traced.world.fire(&blocking_event());
    assert_eq!(traced.lines().last().unwrap()["hook"], "unlogged");
    assert_eq!(traced.trace.lost(), lost, "it goes on when it can");
}

#[test]
fn dropping_the_last_trace_writes_the_rest() {
    let traced = Traced::new();
    for _ in 0..100 {
        traced.world.add(quick());
    }
    traced.world.fire(&blocking_event());
    let path = traced.path("trace.jsonl");
    let Traced {
        world,
        trace,
        directory: _kept,
    } = traced;
    drop(trace);
    drop(world);
    let count = || std::fs::read_to_string(&path).unwrap().lines().count();
    eventually("all lines are there", || count() == 100);
    lines(&path);
}

#[test]
fn an_unwritable_trace_fails_at_the_start() {
    let world = World::new();
    world.write("file", "");
    let directory = world.directory().to_owned();
    let mut cases = vec![
        (directory, "it is a directory, expected a file"),
        (world.path("file/below"), ""),
    ];
    if cfg!(unix) {
        let pipe = world.path("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        cases.push((pipe, "it is a pipe, expected a file"));
    }
    for (path, expected) in cases {
        let error = Trace::builder(&path).build().unwrap_err();
        let source = std::error::Error::source(&error).unwrap();
        assert!(source.to_string().contains(expected), "{source}");
        let message = format!("cannot open the trace file `{}`", path.display());
        assert_eq!(error.to_string(), message);
    }
    let error = Trace::builder("Cargo.toml/x").build().unwrap_err();
    let absolute = std::path::absolute("Cargo.toml/x").unwrap();
    assert!(
        error.to_string().contains(absolute.to_str().unwrap()),
        "{error}"
    );
}

#[test]
fn missing_directories_are_created() {
    let world = World::new();
    let path = world.path("a/b/trace.jsonl");
    let trace = Trace::builder(&path).build().unwrap();
    assert!(path.exists());
    assert_eq!(trace.path(), path);
    assert!(format!("{trace:?}").contains("trace.jsonl"));
    // A deadline of any length is one.
    assert!(trace.flush(Duration::MAX));
    let _ = trace.flush(Duration::ZERO);
}

#[cfg(unix)]
#[test]
fn only_new_files_are_made_private() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let traced = Traced::new();
    let mode = |name: &str| traced.path(name).metadata().unwrap().mode() & 0o777;
    assert_eq!(mode("trace.jsonl"), 0o600);
    let open = traced.path("open.jsonl");
    std::fs::write(&open, "").unwrap();
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o640)).unwrap();
    let trace = Trace::builder(&open).max_bytes(0).build().unwrap();
    let world = traced_by(&trace);
    world.add(quick());
    eventually("it is full", || {
        world.fire(&blocking_event());
        flush(&trace);
        traced.path("open.jsonl.1").exists()
    });
    assert_eq!(["open.jsonl", "open.jsonl.1"].map(mode), [0o640; 2]);
}

#[test]
fn a_renamed_file_is_created_again() {
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
    let trace = Trace::builder(&path).build().unwrap();
    let traced = traced_by(&trace);
    let written = || {
        traced.one(quick());
        flush(&trace);
        let text = world.read("trace.jsonl");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let lines = written();
    assert_eq!(lines[..2], ["{\"time\":1}", "{\"time\":"]);
    assert_eq!(lines.len(), 3);
    assert!(serde_json::from_str::<Value>(&lines[2]).is_ok());
    // Also in a file that replaces it, on systems where an open file can be replaced.
    if cfg!(unix) {
        let other = world.write("other.jsonl", "{\"time\":");
        std::fs::rename(other, &path).unwrap();
        let lines = written();
        assert_eq!((&*lines[0], lines.len()), ("{\"time\":", 2));
    }
}

/// As on a disk that fills up: what may not be larger than so much is written as far as it fits.
#[cfg(unix)]
#[test]
fn a_partial_line_is_closed() {
    const LIMITED: &str = "FORGE_HOOKS_TEST_LIMITED";
    if std::env::var_os(LIMITED).is_none() {
        let mut command = std::process::Command::new("sh");
        let script = "trap '' XFSZ; ulimit -f 16; exec \"$@\"";
        command.args(["-c", script, "sh"]).env(LIMITED, "1");
        // The coverage runtime would also write its file up to the limit, and fail in the middle of a line.
        command.env("LLVM_PROFILE_FILE", "/dev/null");
        command.arg(std::env::current_exe().unwrap());
        let test = "trace_file::a_partial_line_is_closed";
        let output = command.args(["--exact", test]).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{printed}");
        return assert!(printed.contains("1 passed"), "{printed}");
    }
    let traced = Traced::new();
    traced.world.add(quick());
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

/// The file that the link leads to is renamed, and the link leads to the new one.
#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let world = World::new();
    world.write("far/trace.jsonl", "");
    let link = world.path("link");
    std::os::unix::fs::symlink(world.path("far/trace.jsonl"), &link).unwrap();
    let trace = Trace::builder(&link).max_bytes(0).build().unwrap();
    let traced = traced_by(&trace);
    traced.registry().register(quick());
    for _ in 0..20 {
        traced.fire(&blocking_event());
    }
    flush(&trace);
    assert!(link.is_symlink() && world.path("far/trace.jsonl.1").exists());
    assert!(!lines(&link).is_empty());
}
