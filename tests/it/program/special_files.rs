//! Files that are none, or too much: nothing waits for them, and nothing that was private is shown by what
//! is made of it.

use std::fs::Permissions;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::trace::TRACE;
use super::{Printed, User};

/// What it says, or that it waits.
#[track_caller]
fn said_soon(user: &User, args: &[&str]) -> Printed {
    let mut command = user.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{args:?} waits");
        }
        thread::sleep(Duration::from_millis(5));
    }
    user.printed(child.wait_with_output().unwrap())
}

fn make_pipe(user: &User) {
    let path = user.path("project/pipe");
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

#[test]
fn only_a_regular_file_is_read() {
    let user = User::new();
    make_pipe(&user);
    let _socket = UnixListener::bind(user.path("project/socket")).unwrap();
    for (file, what) in [
        ("pipe", "a named pipe"),
        ("/dev/zero", "a device"),
        ("socket", "a socket"),
        (".", "a directory"),
    ] {
        for args in [
            ["trace", file].as_slice(),
            &["trace", file, "--html", "out.html"],
            &["fire", "--event-json", file],
        ] {
            let printed = said_soon(&user, args);
            let words = format!("{file}`: {what}, expected a regular file");
            assert_eq!(printed.status, 2, "{args:?}: {printed:?}");
            assert!(printed.err.contains(&words), "{args:?}: {printed:?}");
        }
    }
    assert!(!user.path("project/out.html").exists());
}

#[test]
fn no_command_waits_for_a_pipe() {
    let user = User::new();
    make_pipe(&user);
    for (args, status) in [
        (&["validate", "pipe"][..], 1),
        (&["list", "--config", "pipe"], 1),
        (&["fire", "session:start", "--config", "pipe"], 1),
        (&["fire", "session:start", "--project", "pipe"], 2),
    ] {
        let printed = said_soon(&user, args);
        assert_eq!(printed.status, status, "{args:?}: {printed:?}");
    }
}

#[test]
fn a_page_replaces_nothing_but_a_file() {
    let user = User::new();
    user.write("project/hooks.jsonl", TRACE);
    make_pipe(&user);
    for (out, what) in [("pipe", "a named pipe"), ("/dev/null", "a device")] {
        let printed = said_soon(&user, &["trace", "hooks.jsonl", "--html", out]);
        assert_eq!(printed.status, 2, "{printed:?}");
        assert!(printed.err.contains(what), "{printed:?}");
    }
}

#[test]
fn a_page_has_the_mode_of_its_trace() {
    let user = User::new();
    let trace = user.write("project/hooks.jsonl", TRACE);
    let page = user.path("project/page.html");
    for (mode, before) in [
        (0o600, None),
        (0o600, Some(0o644)),
        (0o640, Some(0o600)),
        (0o755, None),
    ] {
        let _ = std::fs::remove_file(&page);
        if let Some(before) = before {
            std::fs::write(&page, "old").unwrap();
            set_mode(&page, before);
        }
        set_mode(&trace, mode);
        user.run(&["trace", "hooks.jsonl", "--html", "page.html"]);
        assert_eq!(mode_of(&page), mode & 0o666, "{mode:o}, {before:?}");
    }
    // What comes through a pipe has no mode that could be asked.
    std::fs::remove_file(&page).unwrap();
    user.run_with_input(&["trace", "-", "--html", "page.html"], TRACE);
    assert_eq!(mode_of(&page), 0o600);
}

#[test]
fn a_page_is_private_until_it_has_its_mode() {
    let user = User::new();
    let trace = user.write("project/hooks.jsonl", TRACE);
    set_mode(&trace, 0o600);
    let page = user.write("project/page.html", "old");
    let mut opened_before = std::fs::File::open(&page).unwrap();
    user.run(&["trace", "hooks.jsonl", "--html", "page.html"]);
    let mut seen = String::new();
    opened_before.read_to_string(&mut seen).unwrap();
    assert!(seen == "old");
    // A link stays one, and what it leads to is replaced.
    std::os::unix::fs::symlink("page.html", user.path("project/link.html")).unwrap();
    user.write("project/page.html", "old");
    user.run(&["trace", "hooks.jsonl", "--html", "link.html"]);
    assert!(user.path("project/link.html").is_symlink());
    assert_ne!(user.read("project/page.html"), "old");
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn mode_of(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

#[test]
fn an_unreadable_file_is_an_error() {
    let user = User::new();
    let trace = user.write("project/hooks.jsonl", TRACE);
    set_mode(&trace, 0);
    let printed = user.run(&["trace", "hooks.jsonl"]);
    // Root may read it.
    if printed.status != 0 {
        assert!(printed.err.contains("Permission denied"), "{printed:?}");
    }
}

/// Where a shell can limit memory.
#[cfg(target_os = "linux")]
#[test]
fn a_line_without_an_end_takes_no_memory() {
    use std::io::{Seek, SeekFrom, Write};

    let user = User::new();
    let path = user.path("project/hooks.jsonl");
    let mut file = std::fs::File::create(&path).unwrap();
    // More than the limit below.
    file.set_len(1 << 28).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    write!(file, "\n{}\n", TRACE.lines().next().unwrap()).unwrap();
    let mut command = Command::new("sh");
    user.set(&mut command);
    // In KiB.
    command.args([
        "-c",
        "ulimit -v 200000 && exec \"$@\"",
        "sh",
        super::PROGRAM,
    ]);
    command.args(["trace", "hooks.jsonl"]);
    let printed = user.printed(command.output().unwrap());
    assert_eq!(printed.status, 0, "{printed:?}");
    assert!(
        printed
            .out
            .ends_with("1 line, 1 blocked, 1 line unreadable\n"),
        "{printed:?}"
    );
    file.set_len(1 << 28).unwrap();
    let printed = user.run(&["trace", "hooks.jsonl"]);
    assert_eq!(printed.status, 2, "{printed:?}");
}

#[test]
fn a_new_table_follows_the_umask() {
    let user = User::new();
    for (umask, mode) in [("077", 0o600), ("022", 0o644)] {
        let mut command = Command::new("sh");
        user.set(&mut command);
        let script = format!("umask {umask} && exec \"$@\"");
        command.args(["-c", &script, "sh", super::PROGRAM]);
        command.args(["fire", "session:start", "--record", "new.json"]);
        let printed = user.printed(command.output().unwrap());
        let table = user.path("project/new.json");
        assert_eq!((printed.status, mode_of(&table)), (0, mode), "{printed:?}");
        std::fs::remove_file(table).unwrap();
    }
}
