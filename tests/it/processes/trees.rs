//! Processes that could harm their host: one leaves a tree running, writes endless output, leaves its input unread,
//! or is an invalid program.
#![cfg(unix)]

use std::time::{Duration, Instant};

use forge_hooks::{FailureKind, Hook, HookEvent, HookResult, printable};

use crate::support::{PATIENCE, World, eventually, hook};

/// A deadline, before which a shell has set a trap.
const SHORT: Duration = Duration::from_secs(1);

/// Returns true if a process runs whose command line contains this text, which no other test uses.
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
    let start = Instant::now();
    let hook = hook("*", &command.replace("MARK", mark)).with_timeout(SHORT);
    let result = World::new().one(hook);
    assert!(result.timed_out(), "{result:?}");
    let took = start.elapsed();
    // The processes would take 31 seconds.
    assert!((SHORT..Duration::from_secs(25)).contains(&took), "{took:?}");
    eventually("nothing of the tree is left", || !lives(mark));
    result
}

/// Nothing but SIGCONT lets a stopped process handle another signal.
#[test]
fn a_stopped_process_may_tidy_up_too() {
    let command = "trap 'echo tidied; exit' TERM; kill -STOP $$; sleep MARK";
    assert_eq!(dies_with_its_tree("31.4199", command).stdout(), "tidied\n");
}

#[test]
fn a_timeout_kills_the_tree() {
    let grace = Duration::from_millis(250);
    let commands = [
        (
            "31.4151",
            "sh -c 'sh -c \"sleep MARK & sleep MARK\" & sleep MARK' & wait",
        ),
        ("31.4152", "trap '' TERM; while :; do sleep MARK; done"),
        ("31.4153", "(kill -STOP $$; sleep MARK)& sleep MARK"),
        (
            "31.4154",
            "(trap '' TERM; while :; do sleep MARK; done) >/dev/null 2>&1 & sleep MARK",
        ),
        ("31.4156", "exec >&- 2>&-; sleep MARK"),
    ];
    std::thread::scope(|scope| {
        for (mark, command) in commands {
            scope.spawn(move || {
                let result = dies_with_its_tree(mark, command);
                let has_grace = command.contains("trap");
                assert!(
                    !has_grace || result.duration() >= SHORT + grace,
                    "{result:?}"
                );
            });
        }
    });
}

#[test]
fn a_hook_may_use_its_grace_to_tidy_up() {
    let command = "trap 'echo tidied; exit 0' TERM; sleep MARK & wait";
    let result = dies_with_its_tree("31.4155", command);
    assert_eq!(result.stdout(), "tidied\n");
    assert_eq!(
        result.exit_code(),
        -1,
        "it timed out, whatever it exits with"
    );

    let command = "trap 'head -c 65536 /dev/zero; exit 3' TERM; while :; do sleep 0.01; done";
    let output_is_complete = || {
        let patient = World::with(|builder| builder.kill_grace(PATIENCE));
        let result = patient.one(hook("*", command).with_timeout(SHORT));
        assert!(result.timed_out() && !result.output_held_open());
        assert_eq!(result.stdout_bytes().len(), 65_536);
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(output_is_complete);
        }
    });
}

#[test]
fn a_background_process_lives_on() {
    let world = World::new();
    let command = "(until test -e go; do sleep 0.01; done; : > lives; echo late) & echo early";
    let result = world.one(hook("*", command).with_timeout(Duration::from_secs(60)));
    assert!(result.success() && result.output_held_open(), "{result:?}");
    assert_eq!(result.stdout(), "early\n");
    world.write("go", "");
    world.await_file("lives");

    let result = world.one(hook("*", "(sleep 0.05; echo late) & echo early"));
    assert_eq!(result.stdout(), "early\nlate\n", "what comes soon is read");
    assert!(!result.output_held_open());
    let result = world.one(hook("*", "exec >&- 2>&-; sleep 0.05; exit 7"));
    assert_eq!(result.exit_code(), 7, "closing the output is not the end");
}

#[test]
fn long_output_keeps_its_head_and_tail() {
    let world = World::with(|builder| builder.output_limit(1000));
    let result = world.one(hook("*", "seq 100000; echo oops >&2"));
    assert!(result.success() && result.truncated());
    let text = &result.stdout();
    assert!(text.starts_with("1\n2\n3\n") && text.ends_with("\n99999\n100000\n"));
    assert!(text.contains("bytes left out"), "{text}");
    assert_eq!(result.stdout_bytes().len(), 1000);
    assert_eq!(result.stderr(), "oops\n");
    assert!(!world.one(hook("*", "echo all")).truncated());

    let endless = hook("*", "yes & yes >&2").with_timeout(SHORT);
    let result = world.one(endless);
    assert!(result.timed_out() && result.truncated(), "{result:?}");
    let kept = [result.stdout_bytes(), result.stderr_bytes()].map(<[u8]>::len);
    assert_eq!(kept, [1000, 1000]);
}

#[test]
fn binary_output_is_kept_as_bytes() {
    let world = World::new();
    for (printf, text, bytes) in [
        ("no newline", "no newline", &b"no newline"[..]),
        ("a\\000b", "a\0b", b"a\0b"),
        ("a\\377b", "a\u{FFFD}b", b"a\xFFb"),
        ("\\303", "\u{FFFD}", b"\xC3"),
        ("\\357\\273\\277{}", "{}", b"\xEF\xBB\xBF{}"),
        ("\\357\\273\\277\\377", "\u{FFFD}", b"\xEF\xBB\xBF\xFF"),
    ] {
        let result = world.one(hook("*", &format!("printf '{printf}'")));
        assert_eq!((result.stdout(), result.stdout_bytes()), (text, bytes));
    }
}

/// The event fits into no pipe.
#[test]
fn a_hook_need_not_read_a_large_event() {
    let large = HookEvent::user_prompt_submit("x".repeat(1 << 18));
    let reading = |command: &str| hook("*", command).reading_stdin();
    let world = World::new();
    for command in [
        "exit 0",
        "exec <&-; sleep 0.05",
        "sleep 0.1",
        "head -c 100 >/dev/null",
        "yes | head -c 200000; cat >/dev/null",
        "cat | (sleep 0.05; cat) | tail -c 1 >/dev/null",
    ] {
        let result = world.run(reading(&format!("{command}; echo printed")), &large);
        assert!(result.success(), "{command}: {result:?}");
        assert!(result.stdout().ends_with("printed\n") || command == "exit 0");
    }
    let sleeper = reading("sleep 31.4158").with_timeout(SHORT);
    assert!(world.run(sleeper, &large).timed_out());
    eventually("nothing is left", || !lives("31.4158"));
}

/// A program or a directory (`in ...`); the code; what is said of it. `DIR` is the directory of the hook, `ELOOP` what the
/// system says of a loop.
const NO_PROGRAMS: &str = r#"
./missing -> -1 program `DIR/missing` not found
no-such-tool -> -1 program `no-such-tool` not found
./lost -> -1 interpreter `/no/such/interpreter` of `DIR/lost` not found
./crlf -> -1 interpreter `/bin/sh\r` of `DIR/crlf` not found
./plain -> -1 program `DIR/plain` is not executable: run `chmod +x` on it
./ -> -1 program `DIR` is a directory
./bare -> -1 program `DIR/bare` is not in an executable format: a script needs a first line like `#!/bin/sh`
in no/where -> -1 working directory `DIR/no/where` does not exist
in plain -> -1 working directory `DIR/plain` is not a directory
in dangling -> -1 working directory `DIR/dangling` cannot be entered: `DIR/dangling` is a link to nothing: remove the link, or create what it leads to
in dangling/below/ -> -1 working directory `DIR/dangling/below/` cannot be entered: `DIR/dangling` is a link to nothing: remove the link, or create what it leads to
in loop/ -> -1 working directory `DIR/loop/` cannot be entered: `DIR/loop` is a link that cannot be followed: ELOOP; remove or correct it
./under -> -1 interpreter `./plain` of `DIR/under` is not executable
./foreign -> -1 program `DIR/foreign` is for another system or processor, or damaged
"#;

/// A command for the shell, its exit code, and a part of the line that the shell or the program before it writes about the
/// command; nothing if the command ends with this code itself.
const NO_COMMANDS: &str = r"
./lost --strict -> 127 ./lost
./crlf -> 127 ./crlf
./fine -> 127
./refuses -> 126
./lost '' -> 127 ./lost
no-such --really -> 127 no-such
./plain -> 126 ./plain
./plain '' -> 126 ./plain
./ '' -> 126 ./
./under -> 126 ./under
./foreign -> 126 ./foreign
timeout 9 no-such -> 127 no-such
./env '' -> 127 env
echo other >&2; ./plain; exit 127 -> 127 ./plain
echo; echo why >&2; echo >&2; exit 126 -> 126 why
/bin/echo $(head -c 200000 /dev/zero | tr '\0' x) -> 126 /bin/echo
";

fn write_non_programs(world: &World) {
    world.write("plain", "#!/bin/sh\necho hello\n");
    world.script("lost", "#!/no/such/interpreter -x\n");
    world.script("crlf", "#! /bin/sh\r\necho hello\r\n");
    world.script("bare", "echo hello\n");
    world.script("fine", "#!/bin/sh\nexit 127\n");
    world.script("refuses", "#!/bin/sh\nexit 126\n");
    world.script("under", "#!./plain\n");
    world.script("foreign", "\u{7f}ELF\0\u{1}\u{2}");
    world.script("env", "#!/usr/bin/env no-such\r\n");
    for (link, to) in [("dangling", "nowhere"), ("loop", "loop")] {
        std::os::unix::fs::symlink(world.path(to), world.path(link)).unwrap();
    }
}

#[test]
fn a_non_program_is_named_with_the_reason() {
    let world = World::new();
    write_non_programs(&world);
    let of_loop = world.path("loop").metadata().unwrap_err().to_string();
    let directory = world.path("").display().to_string();
    for row in NO_PROGRAMS.lines().skip(1) {
        let (what, expected) = row.split_once(" -> ").unwrap();
        let (code, error) = expected.split_once(' ').unwrap();
        let directory_of_hook = what.strip_prefix("in ");
        let hook = match directory_of_hook {
            Some(directory) => hook("*", "true").with_working_dir(directory),
            None => Hook::program("*", [what]).unwrap(),
        };
        let result = world.one(hook);
        assert_eq!(result.exit_code().to_string(), code, "{what}");
        assert!(!result.started(), "{what}");
        let is_there = ["execut", "is a directory", "damaged"]
            .iter()
            .any(|reason| error.contains(reason));
        let kind = if directory_of_hook.is_some() {
            FailureKind::NoWorkingDir
        } else if is_there {
            FailureKind::NotExecutable
        } else {
            FailureKind::NotFound
        };
        assert_eq!(result.failure(), Some(kind), "{what}");
        let expected = error.replace("DIR", directory.trim_end_matches('/'));
        let expected = expected.replace("ELOOP", &of_loop);
        assert_eq!(result.error().map(printable), Some(expected), "{what}");
    }
}

/// The texts of shells differ, and none is read: the last line is quoted.
#[test]
fn a_shell_that_starts_nothing_is_quoted() {
    let world = World::new();
    write_non_programs(&world);
    for row in NO_COMMANDS.lines().skip(1) {
        let (command, expected) = row.split_once(" -> ").unwrap();
        let (code, part) = expected.split_once(' ').unwrap_or((expected, ""));
        let result = world.one(hook("*", command));
        assert_eq!(result.exit_code().to_string(), code, "{command}");
        let (kind, meaning) = if code == "126" {
            (FailureKind::NotExecutable, "cannot execute")
        } else {
            (FailureKind::NotFound, "has not found")
        };
        assert_eq!(result.failure(), Some(kind), "{command}");
        assert!(!result.should_continue(), "{command}");
        let error = format!("exited with code {code}, as a shell does that {meaning} a command");
        assert_eq!(result.error(), Some(&*error), "{command}");
        let last = result
            .stderr()
            .lines()
            .rfind(|line| !line.trim().is_empty());
        assert!(
            last.unwrap_or_default().contains(part),
            "{command}: {last:?}"
        );
        assert_eq!(last.is_none(), part.is_empty(), "{command}: {last:?}");
        let last = last.map(|line| format!(": {}", line.trim()));
        let reason = error + &last.unwrap_or_default();
        assert_eq!(result.reason(), Some(&*reason), "{command}");
    }
}

#[test]
fn a_secret_in_the_quoted_line_is_masked() {
    let world = World::new();
    let secret = hook("*", "echo \"$TOKEN\" >&2; exit 127").with_env("TOKEN", "tok-5e7c0ffee5");
    let result = world.one(secret);
    assert_eq!(result.stderr(), "tok-5e7c0ffee5\n");
    let reason = result.reason().unwrap();
    assert!(
        reason.starts_with("exited with code 127") && !reason.contains("c0ffee"),
        "{reason}"
    );
}

#[test]
fn a_variable_that_is_too_large_is_named() {
    let with = |length: usize| hook("*", "true").with_env("X", "x".repeat(length - "X=".len()));
    let world = World::new();
    assert!(world.one(with(131_071)).success());
    let result = world.one(with(131_072));
    if cfg!(target_os = "linux") {
        let error =
            "environment variable `X` is too large: 131072 bytes, at most 131071 are allowed";
        assert_eq!(result.error(), Some(error));
        assert_eq!(result.failure(), Some(FailureKind::NotStarted));
    }
    let large = "x".repeat(120_000);
    let with = |hook: Hook, number: u8| hook.with_env(format!("X{number}"), &*large);
    let result = world.one((0..20).fold(hook("*", "true"), with));
    assert_eq!(result.failure(), Some(FailureKind::NotStarted));
    let error = result.error().unwrap();
    assert!(error.contains("larger than the system allows"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_argument_that_is_too_large_is_named() {
    let world = World::new();
    for hook in [
        Hook::program("*", ["true", &"x".repeat(131_072)]).unwrap(),
        hook("*", &format!(": {}", "x".repeat(131_070))),
        hook("*", &format!("/bin/true {}", "x".repeat(131_072))),
    ] {
        let error =
            "an argument of the command is too large: 131072 bytes, at most 131071 are allowed";
        assert_eq!(world.one(hook).error(), Some(error));
    }
    let many = vec!["x".repeat(100_000); 40];
    let program = std::iter::once("true".to_owned()).chain(many);
    let result = world.one(Hook::program("*", program).unwrap());
    let error = result.error().unwrap();
    assert!(error.contains("larger than the system allows"), "{error}");
    assert!(!error.contains("variables"), "{error}");
}

#[test]
fn a_signal_that_ends_a_hook_is_reported() {
    let world = World::new();
    for (signal, name) in [(9, "KILL"), (15, "TERM"), (11, "SEGV")] {
        let result = world.one(hook("*", &format!("kill -{name} $$")));
        let status = (result.exit_code(), result.signal());
        assert_eq!(status, (128 + signal, Some(signal)));
        let error = format!("ended by signal {signal} (SIG{name})");
        assert_eq!(result.error(), Some(&*error));
    }
}

#[test]
fn a_script_runs_right_after_it_is_written() {
    let world = &World::new();
    let program = &Hook::program("*", ["./fresh"]).unwrap();
    let without_shell = &hook("*", "./fresh");
    let is_direct = cfg!(target_os = "linux");
    std::thread::scope(|scope| {
        for number in 0..4 {
            let is_text = is_direct && number % 2 == 1;
            let fresh = if is_text { without_shell } else { program };
            scope.spawn(move || {
                for round in 0..20 {
                    let directory = format!("{number}-{round}");
                    world.script(&format!("{directory}/fresh"), "#!/bin/sh\nexit 0\n");
                    let hook = fresh.clone().with_working_dir(world.path(&directory));
                    let result = World::new().one(hook);
                    assert!(result.success(), "{result:?}");
                }
            });
        }
    });
}
