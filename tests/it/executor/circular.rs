//! Hooks that run the program that runs them: through real processes, which are this test binary
//! again.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::Command;

use forge_hooks::{AppProfile, Hook};

use crate::support::{World, custom, hook};

/// Says to a process of this binary that it is a host, and what it is to do: an event, then hooks,
/// each as `PATTERN COMMAND`.
const HOST: &str = "FORGE_HOOKS_TEST_HOST";

/// The variable with the path of the file to which a host in a hook writes what it has seen.
const LOG: &str = "FORGE_HOOKS_TEST_LOG";

/// No test of its own: the host, when it is run by a hook of the tests below.
#[test]
fn a_host() {
    let Ok(reported) = std::env::var(HOST) else {
        return;
    };
    let mut lines = reported.lines();
    let event = lines.next().unwrap();
    let world = World::new();
    for line in lines {
        let (pattern, command) = line.split_once(' ').unwrap();
        world.add(as_hook(pattern, command));
    }
    for result in world.fire(&custom(event)) {
        let log = std::env::var(LOG).unwrap();
        let log = OpenOptions::new().append(true).create(true).open(log);
        writeln!(log.unwrap(), "{event} {:?}", result.failure()).unwrap();
    }
}

/// `host EVENT` runs the host again with the same hooks and another event, anything else a shell.
fn as_hook(pattern: &str, command: &str) -> Hook {
    let Some(event) = command.strip_prefix("host ") else {
        return hook(pattern, command);
    };
    let binary = std::env::current_exe().unwrap();
    let hooks = std::env::var(HOST).unwrap();
    let hooks = hooks.split_once('\n').unwrap().1;
    let args = [
        binary.to_str().unwrap(),
        "--exact",
        "executor::circular::a_host",
        "--nocapture",
    ];
    Hook::program(pattern, args)
        .unwrap()
        .with_env(HOST, format!("{event}\n{hooks}"))
}

/// Runs a host, and tells what the hosts in it have seen, the innermost first.
fn run(reported: &str, chain: Option<&str>) -> Vec<String> {
    let world = World::new();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "executor::circular::a_host", "--nocapture"])
        .env(HOST, reported)
        .env(LOG, world.path("log"))
        .env_remove("FORGE_HOOK_CHAIN");
    if let Some(chain) = chain {
        command.env("FORGE_HOOK_CHAIN", chain);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    world.read("log").lines().map(str::to_owned).collect()
}

#[test]
fn a_hook_runs_once_below_itself_and_eight_deep() {
    for (hooks, chain, expected) in [
        ("a:b host a:b", None, "a:b Some(Circular), a:b None"),
        (
            "a:b host c:d\nc:d host e:f\ne:f host a:b\na:b exit 0",
            None,
            "a:b Some(Circular), e:f None, c:d None, a:b None, a:b None",
        ),
        // Another hook on the event is not circular.
        ("a:b host c:d\nc:d exit 0", None, "c:d None, a:b None"),
        ("a:b exit 0", Some("1:2:3:4:5:6:7"), "a:b None"),
        ("a:b exit 0", Some("1:2:3:4:5:6:7:8"), "a:b Some(Circular)"),
    ] {
        let seen = run(&format!("a:b\n{hooks}"), chain);
        assert_eq!(seen.join(", "), expected);
    }
}

#[test]
fn the_chain_has_one_name_that_hooks_cannot_change() {
    let world = World::with(|builder| builder.profile(AppProfile::new("one")));
    let show = if cfg!(windows) {
        "echo !FORGE_HOOK_CHAIN! !ONE_HOOK_CHAIN!"
    } else {
        r#"echo "$FORGE_HOOK_CHAIN $ONE_HOOK_CHAIN""#
    };
    // `cmd` leaves the name of a variable that is not set.
    let chain = |hook: Hook| {
        let output = world.one(hook).stdout().replace("!ONE_HOOK_CHAIN!", "");
        output.trim().to_owned()
    };
    let plain = chain(hook("*", show));
    assert_eq!(plain.len(), 16, "{plain}");
    let forged = chain(hook("*", show).with_env("FORGE_HOOK_CHAIN", "none"));
    assert!(forged.len() == 16 && forged != "none", "{forged}");
    assert_ne!(plain, forged, "another definition, another fingerprint");
}
