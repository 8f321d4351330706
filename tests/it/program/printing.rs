//! Special cases of printing: closed pipes, hidden characters, a full disk.

use std::process::Stdio;

use serde_json::json;

use super::{SUDO, User, with};

#[test]
fn a_closed_pipe_ends_the_program_silently() {
    let user = User::new();
    let hook = json!({"event": "*", "command": "seq 20000", "name": "chatty"});
    let hooks = vec![hook; 500];
    user.write("project/hooks.json", &json!({"hooks": hooks}).to_string());
    for args in [
        &["list", "--config", "hooks.json"][..],
        &["fire", "session:start", "--config", "hooks.json"],
        &["list", "--json", "--config", "hooks.json"],
        &["completions", "bash"],
        &["--help"],
    ] {
        // The output is closed before a byte is read.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = user.command(args);
        command.stdout(writer).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let printed = user.printed(child.wait_with_output().unwrap());
        assert_eq!(printed.err, "", "{args:?}");
        assert_eq!(printed.status, 141, "{args:?}");
    }
}

#[test]
fn fire_json_looks_for_no_script() {
    let hooks = json!({"hooks": [{"event": "*", "command": "python3 /no/such/guard.py"}]});
    let user = User::new();
    user.write("project/hooks.json", &hooks.to_string());
    let fire = ["fire", "session:start", "--config", "hooks.json"];
    let message = "`/no/such/guard.py` does not exist";
    for (option, is_shown) in [("--keep-going", true), ("--json", false)] {
        let printed = user.run(&with(&fire, &[option]));
        let output = printed.out + &printed.err;
        assert_eq!(output.contains(message), is_shown, "{option}: {output}");
    }
}

/// Invisible characters, and characters that change the direction of text or control a terminal.
const HIDDEN: &str = "\u{1b}\u{9b}\u{ad}\u{34f}\u{61c}\u{200b}\u{200d}\u{202e}\u{2028}\u{2029}\u{2066}\u{3164}\u{fe0f}\u{feff}\u{e0041}";

#[track_caller]
fn hides_nothing(what: &str, text: &str) {
    let hidden = text.chars().find(|c| HIDDEN.contains(*c));
    assert_eq!(hidden, None, "{what}: {text:?}");
}

#[test]
fn nothing_that_is_shown_is_hidden() {
    let user = User::with_project_file(
        &json!({"hooks": [
            {"event": "tool:*", "command": format!("echo '{HIDDEN}'; echo '{HIDDEN}' >&2; exit 1; : {HIDDEN}.sh"),
                "name": format!("n{HIDDEN}"), "description": format!("d{HIDDEN}")},
            {"event": "tool:*", "command": "true", "timeout": format!("t{HIDDEN}"), (format!("k{HIDDEN}")): 1},
        ]})
        .to_string(),
    );
    let config = ["--config", ".src/forge/hooks.json"];
    let mut fire = user.command(&with(&SUDO, &config));
    let logged = user.printed(fire.env("RUST_LOG", "trace").output().unwrap());
    hides_nothing("log", &logged.err);
    assert!(logged.err.contains("stderr: "), "{logged:?}");
    let fire = with(&SUDO, &config);
    let commands = [
        "list",
        "list --json",
        "check",
        "check --json",
        "trust --yes",
        "fire HIDDEN",
        "fire --event-json HIDDEN",
        "list --project HIDDEN",
    ];
    let word = |text| if text == "HIDDEN" { HIDDEN } else { text };
    let commands = commands.map(|command| command.split(' ').map(word).collect());
    let fires = [
        fire.clone(),
        with(&fire, &["--json"]),
        with(&["list"], &fire[1..]),
    ];
    for args in fires.into_iter().chain(commands) {
        let printed = user.run(&args);
        hides_nothing(&format!("{args:?}"), &(printed.out.clone() + &printed.err));
        // The words of a problem are made to be shown; the rest is what it is.
        if args.contains(&"--json") && args[0] != "check" {
            let report = printed.json().to_string();
            assert!(report.contains(&HIDDEN[1..]), "{args:?}");
        }
    }
    let name = format!("n{HIDDEN}");
    let good = json!({"event": "*", "command": format!("true {HIDDEN}"), "name": name});
    let file = json!({"hooks": [good]}).to_string();
    user.write("project/.src/forge/hooks.json", &file);
    for args in [["trust", "--yes"], ["list", "--no-global"]] {
        let printed = user.run(&args);
        assert_eq!(printed.status, 0, "{printed:?}");
        hides_nothing(&format!("{args:?}"), &printed.out);
    }
}

#[test]
fn a_trace_is_shown_without_what_is_hidden() {
    let user = User::new();
    let line = json!({"time": 1, "event": HIDDEN, "tool": HIDDEN, "session": HIDDEN, "hook": HIDDEN, "pattern": HIDDEN,
        "command": HIDDEN, "source": HIDDEN, "failure": HIDDEN, "reason": format!("one\n{HIDDEN}")});
    user.write("project/hooks.jsonl", &format!("{line}\n"));
    hides_nothing("table", &user.run(&["trace", "hooks.jsonl"]).out);
    let chrome = user.run(&["trace", "hooks.jsonl", "--chrome"]);
    hides_nothing("chrome", &chrome.out);
    let event = &chrome.json()["traceEvents"][0];
    for key in ["name", "cat"] {
        hides_nothing(key, event[key].as_str().unwrap());
    }
    for (key, value) in event["args"].as_object().unwrap() {
        hides_nothing(key, value.as_str().unwrap_or_default());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let user = User::new();
    for args in [&["--help"][..], &["events"]] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut command = user.command(args);
        command.stdout(full.unwrap()).stderr(Stdio::piped());
        let printed = user.printed(command.spawn().unwrap().wait_with_output().unwrap());
        let is_said = printed.err.contains("cannot write the output");
        assert!(printed.status == 2 && is_said, "{args:?}: {printed:?}");
    }
}
