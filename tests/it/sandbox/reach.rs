//! Attempts of a hook to leave its sandbox: one for each promise. Each succeeds without the sandbox.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::time::Duration;

use forge_hooks::{Hook, Sandbox};

use super::is_possible;
use crate::support::{World, one_in, run_alone};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/sandbox");

/// The python that runs the attempts, without the wrappers of version managers, and the directory with its libraries.
fn python() -> (String, String) {
    let script = "import os, sys; print(os.path.realpath(sys.executable)); print(sys.base_prefix)";
    let output = Command::new("python3")
        .args(["-c", script])
        .output()
        .unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let mut lines = output.lines().map(str::to_owned);
    (lines.next().unwrap(), lines.next().unwrap())
}

/// Runs all attempts in a new place, and returns what was said of each.
fn tried(sandbox: Option<Sandbox>) -> BTreeMap<String, String> {
    let world = World::new();
    for name in ["file", "movable", "removable"] {
        world.write(&format!("place/{name}"), "text");
    }
    world.script("place/script", "#!/bin/sh\n");
    for name in ["place/empty", "own"] {
        std::fs::create_dir(world.path(name)).unwrap();
    }
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(world.path("place/file"), "user.y", b"value", flags).unwrap();
    let _listener = UnixListener::bind(world.path("place/socket")).unwrap();
    let host = std::process::id().to_string();
    let place = world.path("place").display().to_string();
    let attempts = format!("{HERE}/attempts.py");
    let hook = Hook::program("*", [&python().0, &attempts, &place, &host]).unwrap();
    let hook = hook
        .with_working_dir(&place)
        .with_timeout(Duration::from_secs(120));
    let result = world.one(match sandbox {
        Some(sandbox) => hook.with_sandbox(sandbox),
        None => hook.with_env("TMPDIR", world.path("own").to_str().unwrap()),
    });
    assert_eq!(result.exit_code(), 0, "{result:?}");
    let lines = result
        .stdout()
        .lines()
        .filter_map(|line| line.split_once(": "));
    lines
        .map(|(name, output)| (name.to_owned(), output.to_owned()))
        .collect()
}

/// Caps the version of Landlock that the library uses, where it is built for tests.
const CAP: &str = "FORGE_HOOKS_TEST_LANDLOCK";

/// The version of Landlock that the library uses, by the kernel's and the variable for tests.
fn version(of_the_kernel: &str) -> u32 {
    let of_the_kernel = of_the_kernel.parse().unwrap();
    let cap = std::env::var(CAP);
    let cap = cap.ok().map(|cap| cap.parse().unwrap());
    cap.unwrap_or(u32::MAX).min(of_the_kernel)
}

/// A row: the attempt, and the first version of Landlock for which the row holds, if it needs a later one than the
/// library; how it ends without a sandbox; with one; if it may write there; if it has the network; if `read` does
/// not contain the place. A `-`, and what is missing, is what the row has before. The first column is compared where the
/// tests run as root: others may do less. A `?` depends on the machine.
#[test]
fn each_attempt_ends_as_the_table_says() {
    if !is_possible() {
        return;
    }
    // As a host may have one: of a library that knows nothing of `O_CLOEXEC`.
    let _left_open = rustix::io::dup(File::open("/dev/null").unwrap()).unwrap();
    let ways = [
        None,
        Some(Sandbox::new()),
        Some(Sandbox::new().writing(["."])),
        Some(Sandbox::new().with_network()),
        Some(Sandbox::new().reading([HERE, &*python().1])),
    ];
    let mut tried = ways.map(tried);
    let versions = tried.each_mut().map(|tried| tried.remove("Landlock"));
    let version = version(versions[0].as_deref().unwrap());
    let is_root = rustix::process::getuid().is_root();
    let mut failures = Vec::new();
    let rows = include_str!("attempts.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let mut names = Vec::new();
    for row in rows {
        let mut columns = row.split(" | ");
        let first = columns.next().unwrap();
        let (name, since) = first.split_once(", Landlock ").unwrap_or((first, "0"));
        names.push(name);
        if version < since.parse().unwrap() {
            continue;
        }
        let mut expected = "";
        for (way, tried) in tried.iter().enumerate() {
            expected = columns
                .next()
                .filter(|column| *column != "-")
                .unwrap_or(expected);
            let actual = &tried[name];
            let is_compared = expected != "?" && (way > 0 || is_root);
            if is_compared && actual != expected {
                failures.push(format!("{name}, column {way}: {actual}, not {expected}"));
            }
        }
    }
    let mut known: Vec<_> = tried[0].keys().collect();
    names.sort_unstable();
    known.sort_unstable();
    assert_eq!(names, known, "the table has other attempts");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Kernels before Linux 6.12 have these versions.
#[test]
fn each_attempt_ends_so_with_an_older_landlock() {
    const NAME: &str = "sandbox::reach::each_attempt_ends_as_the_table_says";
    // Else this process is such a test.
    if !is_possible() || std::env::var_os(CAP).is_some() {
        return;
    }
    std::thread::scope(|scope| {
        for version in one_in(3, ["3", "4", "5"]) {
            scope.spawn(move || run_alone(NAME, |test| test.env(CAP, version)));
        }
    });
}
