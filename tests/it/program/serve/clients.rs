//! The two clients for hosts in other languages, as a new user runs them.

use std::path::Path;
use std::process::Command;

use crate::program::{GUARDED, PROGRAM, Printed, User};
use crate::support::is_missing;

fn agent(user: &User, interpreter: &str, client: &str, input: &str) -> Printed {
    let client = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/clients")
        .join(client);
    let mut command = Command::new(interpreter);
    user.set(&mut command);
    command.arg(client).args(["echo ran", "sudo ls"]);
    // `pyenv` looks there for its versions.
    command.envs(std::env::vars_os().filter(|(name, _)| name == "PYENV_ROOT"));
    command.env("FORGE_HOOKS", PROGRAM);
    user.feed(command, input)
}

fn asks_and_shows_a_blocked_call(interpreter: &str, client: &str) {
    if is_missing(interpreter) {
        return;
    }
    let user = User::new();
    user.write("project/.myagent/hooks.json", GUARDED);
    let unapproved = agent(&user, interpreter, client, "\n");
    assert!(unapproved.out.contains("`guard` is new"), "{unapproved:?}");
    assert!(unapproved.out.contains("[y/N] ran\n"), "{unapproved:?}");
    assert!(!unapproved.out.contains("blocked: "), "{unapproved:?}");
    let approved = agent(&user, interpreter, client, "y\n");
    assert!(
        approved.out.ends_with("[y/N] ran\nblocked: no sudo\n"),
        "{approved:?}"
    );
    let later = agent(&user, interpreter, client, "");
    assert_eq!(
        (later.status, &*later.out),
        (0, "ran\nblocked: no sudo\n"),
        "{later:?}"
    );
}

#[test]
fn the_agent_in_python() {
    asks_and_shows_a_blocked_call("python3", "forge_hooks.py");
}

#[test]
fn the_agent_in_node() {
    asks_and_shows_a_blocked_call("node", "forge-hooks.mjs");
}

#[test]
fn a_client_is_at_most_eighty_lines() {
    for client in ["forge_hooks.py", "forge-hooks.mjs"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/clients");
        let text = std::fs::read_to_string(path.join(client)).unwrap();
        assert!(text.lines().count() <= 80, "{client}");
    }
}
