//! Sessions with the program: `sessions.txt` has what a user types, and all that is printed.
//!
//! A session begins with `== NAME`, with a home and a project of its own, in which its commands run. `-- FILE` is
//! followed by the text of a file, and `$ COMMAND` by the output of a command for the shell, and `[exit status N]`
//! unless that is 0. `sudo_ls` and `ls` fire the event before a tool `bash` with these commands.

use std::sync::LazyLock;

use regex::Regex;

use crate::cases::{Case, at_once, cases};
use crate::program::User;
use crate::support::is_missing;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

const FUNCTIONS: &str = r#"
before_bash() { args=$1; shift; forge-hooks fire tool:pre_execute --tool bash --args "$args" "$@"; }
sudo_ls() { before_bash '{"command":"sudo ls"}' "$@"; }
ls() { before_bash '{"command":"ls"}' "$@"; }
"#;

/// The numbers that differ from run to run.
static NUMBERS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"("(?:timestamp|duration)": ?)[0-9.e-]+"#).unwrap());

/// The session, with what is printed now, if its programs are here.
fn replayed(session: &Case) -> String {
    let mut all = format!("== {}\n", session.name);
    if session.text.contains("jq ") && is_missing("jq") {
        return format!("{all}{}\n\n", session.text);
    }
    let user = User::new();
    std::fs::create_dir(user.path("home")).unwrap();
    for (mark, mut text) in session.parts(&["-- ", "$ "]) {
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
    let sessions = cases(include_str!("sessions.txt"));
    let all = at_once(&sessions, || {}, |(), session| replayed(session));
    super::same_as_corpus("sessions.txt", &all.concat());
}
