//! What a process must not do to its host: leave a tree running, write endless output, leave its
//! input unread, be an invalid program.
#![cfg(unix)]

use std::time::{Duration, Instant};

use forge_hooks::hook::Reads;
use forge_hooks::{FailureKind, Hook, HookEvent, HookResult};

use crate::support::{World, eventually, hook};

const SHORT: Duration = Duration::from_millis(300);

/// Whether a process lives whose command line holds this text, which no other test uses.
#[cfg(target_os = "linux")]
pub(crate) fn lives(mark: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    // A zombie has no command line.
    processes
        .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
        .any(|command_line| String::from_utf8_lossy(&command_line).contains(mark))
}

#[cfg(not(target_os = "linux"))]
fn lives(mark: &str) -> bool {
    let listing = std::process::Command::new("ps")
        .args(["-eo", "args="])
        .output()
        .unwrap();
    String::from_utf8_lossy(&listing.stdout).contains(mark)
}

/// Runs a hook that outlives its deadline, and sees to it that nothing of it is left.
#[track_caller]
fn dies_with_its_tree(mark: &str, command: &str) -> HookResult {
    // These tests may run twice on a machine.
    let mark = &format!("{mark}{}", std::process::id());
    let world = World::new();
    let start = Instant::now();
    let result = world.one(hook("*", &command.replace("MARK", mark)).with_timeout(SHORT));
    assert!(result.timed_out, "{result:?}");
    assert!(start.elapsed() >= SHORT);
    assert!(
        start.elapsed() < Duration::from_secs(8),
        "{:?}",
        start.elapsed()
    );
    eventually("nothing of the tree is left", || !lives(mark));
    result
}

#[test]
fn a_timeout_kills_the_tree() {
    dies_with_its_tree(
        "31.4151",
        "sh -c 'sh -c \"sleep MARK & sleep MARK\" & sleep MARK' & wait",
    );
}

#[test]
fn a_hook_that_ignores_sigterm_is_killed() {
    let result = dies_with_its_tree("31.4152", "trap '' TERM; while :; do sleep MARK; done");
    assert!(
        result.duration >= SHORT + Duration::from_millis(250),
        "it had its grace"
    );
}

#[test]
fn a_stopped_hook_is_killed_all_the_same() {
    dies_with_its_tree("31.4153", "(kill -STOP $$; sleep MARK)& sleep MARK");
}

#[test]
fn orphans_are_killed_after_the_grace() {
    let command = "(trap '' TERM; while :; do sleep MARK; done) >/dev/null 2>&1 & sleep MARK";
    let result = dies_with_its_tree("31.4154", command);
    assert!(
        result.duration >= SHORT + Duration::from_millis(250),
        "they had their grace"
    );
}

#[test]
fn a_hook_may_use_its_grace_to_tidy_up() {
    let result = dies_with_its_tree(
        "31.4155",
        "trap 'echo tidied; exit 0' TERM; sleep MARK & wait",
    );
    assert_eq!(result.stdout, "tidied\n");
    assert_eq!(result.exit_code, -1, "it timed out, whatever it exits with");
}

#[test]
fn output_of_a_killed_hook_is_complete() {
    let command = "trap 'head -c 65536 /dev/zero; exit 3' TERM; while :; do sleep 0.05; done";
    let patient = World::with(|builder| builder.kill_grace(Duration::from_secs(10)));
    for _ in 0..5 {
        let result = patient.one(hook("*", command).with_timeout(Duration::from_millis(100)));
        assert!(result.timed_out);
        assert_eq!(result.stdout_bytes().len(), 65_536);
        assert!(!result.output_held_open);
    }
}

#[test]
fn closing_the_output_is_not_the_end() {
    dies_with_its_tree("31.4156", "exec >&- 2>&-; sleep MARK");
    let world = World::new();
    let result = world.one(hook("*", "exec >&- 2>&-; sleep 0.2; exit 7"));
    assert_eq!(result.exit_code, 7);
}

#[test]
fn a_background_process_lives_on() {
    let world = World::new();
    let start = Instant::now();
    let command = "(sleep 0.8; : > lives; echo late) & echo early";
    let result = world.one(hook("*", command).with_timeout(Duration::from_secs(60)));
    assert!(result.success() && result.output_held_open, "{result:?}");
    assert_eq!(result.stdout, "early\n");
    assert!(
        start.elapsed() < Duration::from_millis(790),
        "{:?}",
        start.elapsed()
    );
    eventually("the background has done its work", || {
        world.path("lives").exists()
    });

    let result = world.one(hook("*", "(sleep 0.1; echo late) & echo early"));
    assert_eq!(result.stdout, "early\nlate\n", "what comes soon is read");
    assert!(!result.output_held_open);
}

#[test]
fn long_output_keeps_its_head_and_tail() {
    let world = World::with(|builder| builder.output_limit(1000));
    let result = world.one(hook("*", "seq 100000; echo oops >&2"));
    assert!(result.success() && result.truncated);
    assert!(result.stdout.starts_with("1\n2\n3\n") && result.stdout.ends_with("\n99999\n100000\n"));
    assert!(
        result.stdout.contains("bytes left out"),
        "{}",
        result.stdout
    );
    assert_eq!(result.stdout_bytes().len(), 1000);
    assert_eq!(result.stderr, "oops\n");
    let result = world.one(hook("*", "echo all"));
    assert!(!result.truncated);
}

#[test]
fn output_without_end_ends_at_the_deadline() {
    let result = dies_with_its_tree("31.4157", "yes 31.4157-MARK & yes MARK >&2");
    assert!(result.truncated);
    assert!(result.stdout.len() < 1_100_000 && result.stderr.len() < 1_100_000);
}

#[test]
fn binary_output_is_kept_as_bytes() {
    #[track_caller]
    fn case(printf: &str, text: &str, bytes: &[u8]) {
        let result = World::new().one(hook("*", &format!("printf '{printf}'")));
        assert_eq!(result.stdout, text);
        assert_eq!(result.stdout_bytes(), bytes);
    }
    case("no newline", "no newline", b"no newline");
    case("a\\000b", "a\0b", b"a\0b");
    case("a\\377b", "a\u{FFFD}b", b"a\xFFb");
    case("\\303", "\u{FFFD}", b"\xC3");
    case("\\357\\273\\277{}", "{}", b"\xEF\xBB\xBF{}");
    case("\\357\\273\\277\\377", "\u{FFFD}", b"\xEF\xBB\xBF\xFF");
}

/// An event that no pipe can hold.
fn large() -> HookEvent {
    HookEvent::user_prompt_submit("x".repeat(2 << 20))
}

#[test]
fn a_hook_need_not_read_a_large_event() {
    for command in [
        "exit 0",
        "exec <&-; sleep 0.1",
        "sleep 0.3",
        "head -c 100 >/dev/null",
        "yes | head -c 1000000; cat >/dev/null",
        "cat | (sleep 0.1; cat) | tail -c 1 >/dev/null",
    ] {
        let hook = hook("*", &format!("{command}; echo printed")).with_reads(Reads::Stdin);
        let result = World::new().run(hook, &large());
        assert!(result.success(), "{command}: {result:?}");
        assert!(result.stdout.ends_with("printed\n") || command == "exit 0");
    }
}

#[test]
fn an_unread_large_event_meets_the_deadline() {
    let world = World::new();
    let sleeper = hook("*", "sleep 31.4158")
        .with_reads(Reads::Stdin)
        .with_timeout(SHORT);
    world.registry().register(sleeper);
    assert!(world.fire(&large()).remove(0).timed_out);
    eventually("nothing is left", || !lives("31.4158"));
}

#[cfg(target_os = "linux")]
#[test]
fn the_interpreter_of_a_command_is_named() {
    let world = World::new();
    world.script("lost", "#!/no/such/interpreter -x\n");
    world.script("crlf", "#!/usr/bin/env sh\r\n");
    world.script("fine", "#!/bin/sh\nexit 127\n");
    let shown = |name: &str| world.path(name).display().to_string();
    for (command, expected) in [
        (
            "./lost --strict",
            format!(
                "interpreter `/no/such/interpreter` of `{}` not",
                shown("lost")
            ),
        ),
        (
            "./crlf",
            format!(
                "interpreter `/usr/bin/env sh\\r` of `{}` not",
                shown("crlf")
            ),
        ),
        (
            "./fine",
            "command `./fine` not found, started in".to_owned(),
        ),
        (
            "./missing",
            format!(
                "command `./missing` not found, started in `{}`",
                world.path("").components().as_path().display()
            ),
        ),
    ] {
        let result = world.one(hook("*", command));
        assert_eq!(result.failure, Some(FailureKind::NotFound), "{command}");
        let error = result.error.unwrap();
        let is_right = error.starts_with(&expected) && error.ends_with("(exit code 127)");
        assert!(is_right, "{error}");
    }
}

#[test]
fn a_non_program_is_named_with_the_reason() {
    let world = World::new();
    world.write("plain", "#!/bin/sh\necho hello\n");
    world.script("lost", "#!/no/such/interpreter -x\n");
    world.script("crlf", "#! /no/sh -e\r\necho hello\r\n");
    world.script("bare", "echo hello\n");
    world.write("file", "");
    let shown = |name: &str| world.path(name).display().to_string();

    let case = |hook: Hook, kind: FailureKind, error: String| {
        let result = world.one(hook);
        assert_eq!(result.error, Some(error));
        assert_eq!(result.failure, Some(kind));
        assert_eq!(result.exit_code, -1);
        assert_eq!(result.pid, None);
    };
    let program = |name: &str| Hook::program("*", [name]).unwrap();
    use FailureKind::{NotExecutable, NotFound};
    case(
        program("./missing"),
        NotFound,
        format!("program `{}` not found", shown("./missing")),
    );
    case(
        program("no-such-tool"),
        NotFound,
        "program `no-such-tool` not found".into(),
    );
    case(
        program("./lost"),
        NotFound,
        format!(
            "interpreter `/no/such/interpreter` of `{}` not found",
            shown("./lost")
        ),
    );
    case(
        program("./crlf"),
        NotFound,
        format!(
            "interpreter `/no/sh -e\\r` of `{}` not found, since the first line ends with a carriage return: save the file with Unix line ends",
            shown("./crlf")
        ),
    );
    case(
        program("./plain"),
        NotExecutable,
        format!(
            "program `{}` is not executable: run `chmod +x` on it",
            shown("./plain")
        ),
    );
    case(
        program("./"),
        NotExecutable,
        format!("program `{}` is a directory", shown("./")),
    );
    case(
        program("./bare"),
        NotExecutable,
        format!(
            "program `{}` is not in an executable format: a script needs a first line like `#!/bin/sh`",
            shown("./bare")
        ),
    );
    let there = |dir: &str| hook("*", "true").with_working_dir(dir);
    case(
        there("no/where"),
        NotFound,
        format!("working directory `{}` does not exist", shown("no/where")),
    );
    case(
        there("file"),
        NotFound,
        format!("working directory `{}` is not a directory", shown("file")),
    );
}

#[test]
fn not_found_differs_from_an_exit_code() {
    let world = World::new();
    let result = world.one(hook("*", "no-such-command --really"));
    assert_eq!(
        (result.exit_code, result.failure),
        (127, Some(FailureKind::NotFound))
    );
    let error = result.error.unwrap();
    let expected = "command `no-such-command` not found, started in `";
    assert!(error.starts_with(expected), "{error}");
    world.write("plain", "#!/bin/sh\n");
    let result = world.one(hook("*", "./plain"));
    assert_eq!(
        (result.exit_code, result.failure),
        (126, Some(FailureKind::NotExecutable))
    );
}

#[test]
fn a_variable_that_is_too_large_is_named() {
    let with = |length: usize| hook("*", "true").with_env("X", "x".repeat(length - "X=".len()));
    let world = World::new();
    assert!(world.one(with(131_071)).success());
    for length in [131_072, 131_073] {
        let result = world.one(with(length));
        if cfg!(target_os = "linux") {
            let error = format!(
                "environment variable `X` is too large: {length} bytes, at most 131071 are allowed"
            );
            assert_eq!(result.error, Some(error));
            assert_eq!(result.failure, Some(FailureKind::NotStarted));
        }
    }
    let mut many = hook("*", "true");
    for number in 0..100 {
        many = many.with_env(format!("X{number}"), "x".repeat(100_000));
    }
    let result = world.one(many);
    assert_eq!(result.failure, Some(FailureKind::NotStarted));
    assert!(
        result
            .error
            .unwrap()
            .contains("larger than the system allows")
    );
}

#[test]
fn a_signal_that_ends_a_hook_is_reported() {
    let world = World::new();
    for (signal, name) in [(9, "KILL"), (15, "TERM"), (11, "SEGV")] {
        let result = world.one(hook("*", &format!("kill -{name} $$")));
        assert_eq!(
            (result.exit_code, result.signal),
            (128 + signal, Some(signal))
        );
        assert_eq!(result.error, Some(format!("ended by signal {signal}")));
    }
}

#[test]
fn a_script_runs_right_after_it_is_written() {
    let world = World::new();
    let program = Hook::program("*", ["./fresh"]).unwrap();
    let without_shell = hook("*", "./fresh");
    let is_direct = cfg!(target_os = "linux");
    std::thread::scope(|scope| {
        for number in 0..4 {
            let world = &world;
            let is_text = is_direct && number % 2 == 1;
            let fresh = if is_text { &without_shell } else { &program };
            scope.spawn(move || {
                for round in 0..25 {
                    let directory = format!("{number}-{round}");
                    world.script(&format!("{directory}/fresh"), "#!/bin/sh\nexit 0\n");
                    let other = World::new();
                    let result = other.one(fresh.clone().with_working_dir(world.path(&directory)));
                    assert!(result.success(), "{result:?}");
                }
            });
        }
    });
}
