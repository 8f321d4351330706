//! Sessions with the program: `sessions.txt` has what a user types, and all that is printed.
//!
//! A session begins with `== NAME`, with a home and a project of its own, in which its commands run. `-- FILE` is
//! followed by the text of a file, and `$ COMMAND` by the output of a command for the shell, and `[exit status N]`
//! unless that is 0. `sudo_ls` and `ls` fire the event before a tool `bash` with these commands.

use std::sync::LazyLock;

use regex::Regex;

use crate::program::User;
use crate::support::is_missing;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

const FUNCTIONS: &str = r#"
before_bash() { args=$1; shift; forge-hooks fire tool:pre_execute --tool bash --args "$args" "$@"; }
sudo_ls() { before_bash '{"command":"sudo ls"}' "$@"; }
ls() { before_bash '{"command":"ls"}' "$@"; }
"#;

/// What differs from run to run.
static NUMBERS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"("(?:timestamp|duration)": ?)[0-9.e-]+"#).unwrap());

/// The parts of a session: a line with a mark, and the lines up to the next one.
fn parts(session: &str) -> Vec<(&str, String)> {
    let mut parts: Vec<(&str, String)> = Vec::new();
    for line in session.lines() {
        let is_mark = line.starts_with("-- ") || line.starts_with("$ ");
        match parts.last_mut() {
            Some((_, text)) if !is_mark => *text += &format!("{line}\n"),
            _ => parts.push((line, String::new())),
        }
    }
    parts
}

/// The session, with what is printed now, if its programs are here.
fn replayed(session: &str) -> String {
    if session.contains("jq ") && is_missing("jq") {
        return format!("== {}\n\n", session.trim_end());
    }
    let user = User::new();
    std::fs::create_dir(user.path("home")).unwrap();
    let mut all = "== ".to_owned();
    for (mark, mut text) in parts(session.trim_end()) {
        if let Some(path) = mark.strip_prefix("-- ") {
            user.write(&format!("project/{path}"), &text);
        } else if let Some(command) = mark.strip_prefix("$ ") {
            let mut shell = user.shell(&format!("{FUNCTIONS}{command}"));
            let printed = user.printed(shell.env("ROOT", ROOT).output().unwrap());
            let out = printed.out.replace(ROOT, "[ROOT]");
            text = NUMBERS.replace_all(&out, "$1[N]").into_owned();
            if printed.status != 0 {
                text += &format!("[exit status {}]\n", printed.status);
            }
        }
        all += &format!("{mark}\n{text}");
    }
    all + "\n"
}

#[test]
fn sessions_print_what_they_did() {
    let sessions = include_str!("sessions.txt").strip_prefix("== ").unwrap();
    let sessions: Vec<_> = sessions.split("\n== ").collect();
    let all = super::at_once(&sessions, || {}, |(), session| replayed(session));
    super::same_as_corpus("sessions.txt", &all.concat());
}
