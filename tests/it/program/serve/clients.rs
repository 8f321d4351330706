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

#[test]
fn the_agents_ask_and_show_a_blocked_call() {
    for (interpreter, client) in [("python3", "forge_hooks.py"), ("node", "forge-hooks.mjs")] {
        if is_missing(interpreter) {
            continue;
        }
        let user = User::new();
        user.write("project/.myagent/hooks.json", GUARDED);
        let unapproved = agent(&user, interpreter, client, "\n").out;
        let is_printed =
            ["`guard` is new", "[y/N] ran\n", "blocked: "].map(|text| unapproved.contains(text));
        assert_eq!(is_printed, [true, true, false], "{unapproved}");
        let approved = agent(&user, interpreter, client, "y\n").out;
        let end = "[y/N] ran\nblocked: no sudo\n";
        assert!(approved.ends_with(end), "{approved}");
        let later = agent(&user, interpreter, client, "");
        let ending = (later.status, &*later.out);
        assert_eq!(ending, (0, "ran\nblocked: no sudo\n"), "{later:?}");
    }
}

#[test]
fn the_agents_run_it_only_after_a_yes() {
    let asks = r#"{"hooks": [{"event": "tool:pre_execute:bash", "name": "asks",
        "command": "case $FORGE_TOOL_ARGS in *ran*) echo '{\"decision\": \"ask\", \"reason\": \"sure?\"}';; *) echo no; exit 1;; esac"}]}"#;
    for (interpreter, client) in [("python3", "forge_hooks.py"), ("node", "forge-hooks.mjs")] {
        if is_missing(interpreter) {
            continue;
        }
        let user = User::new();
        user.write("config/myagent/hooks.json", asks);
        for (input, end) in [
            ("y\n", "ran"),
            ("n\n", "blocked: sure?"),
            ("", "blocked: sure?"),
        ] {
            let printed = agent(&user, interpreter, client, input).out;
            let expected = format!("sure? [y/N] {end}\nblocked: no\n");
            assert_eq!(printed, expected, "{client} {input:?}");
        }
    }
}

#[test]
fn a_client_is_at_most_ninety_lines() {
    for client in ["forge_hooks.py", "forge-hooks.mjs"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/clients");
        let text = std::fs::read_to_string(path.join(client)).unwrap();
        assert!(text.lines().count() <= 90, "{client}");
    }
}
