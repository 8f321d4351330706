//! The program on a terminal, which is a pseudo-terminal here: what moves, what is asked, Ctrl-C.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use super::{GUARDED, LS, PROGRAM, SUDO, User, with};
use crate::support::{eventually, is_alive};

/// A program, alone on a terminal that is its own.
pub(super) struct OnTerminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<Vec<u8>>>,
}

impl OnTerminal {
    fn start(user: &User, args: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::start_program(user, &with(&[PROGRAM], args), variables)
    }

    pub(super) fn start_program(user: &User, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        // A session leader without a terminal gets the first terminal that it opens.
        let mut command = Command::new("setsid");
        user.set(&mut command);
        command
            .args(["sh", "-c", r#"exec "$@" <"$PTS" >"$PTS" 2>&1"#, "sh"])
            .args(args)
            .env("PTS", name.to_str().unwrap())
            .env("TERM", "xterm")
            .envs(variables.iter().copied());
        let child = command.spawn().unwrap();
        let keyboard = File::from(terminal);
        let mut output = keyboard.try_clone().unwrap();
        let screen: Arc<Mutex<Vec<u8>>> = Arc::default();
        let seen = Arc::clone(&screen);
        // Until the last who writes there has closed it; before the first opens it, too.
        thread::spawn(move || {
            let mut some = [0; 4096];
            loop {
                match output.read(&mut some) {
                    Ok(count) if count > 0 => seen.lock().unwrap().extend(&some[..count]),
                    _ if Arc::strong_count(&seen) == 1 => return,
                    _ => thread::sleep(std::time::Duration::from_millis(2)),
                }
            }
        });
        Self {
            child,
            keyboard,
            screen,
        }
    }

    pub(super) fn seen(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    #[track_caller]
    pub(super) fn shows(&self, words: &str) {
        eventually(words, || self.seen().contains(words));
    }

    pub(super) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// The exit status, when what was written last is seen.
    #[track_caller]
    pub(super) fn end(&mut self, last_words: &str) -> i32 {
        let status = self.child.wait().unwrap();
        self.shows(last_words);
        status.code().unwrap_or(-1)
    }
}

/// With `hooks.json` alone.
const FIRE: [&str; 4] = ["fire", "user:prompt_submit", "--config", "hooks.json"];

/// A user with these hooks in `hooks.json`.
fn user_with(hooks: &[Value]) -> User {
    let user = User::new();
    user.write("project/hooks.json", &json!({"hooks": hooks}).to_string());
    user
}

#[test]
fn a_terminal_shows_colours_and_a_spinner() {
    let hook = json!({"event": "*", "command": "sleep 0.4; exit 1", "name": "slow"});
    let user = user_with(&[hook]);
    let mut program = OnTerminal::start(&user, &FIRE, &[]);
    assert_eq!(program.end("blocked by slow"), 1);
    let seen = program.seen();
    for part in [
        // In a narrow terminal it stays one line, or it could not be taken back.
        "\r\x1b[2K\x1b[?7l\x1b[2m⠙ 0.",
        " s slow\x1b[0m\x1b[?7h",
        "⠹ 0.",
        "\x1b[1;31mblocks\x1b[0m",
    ] {
        assert!(seen.contains(part), "{part:?} in {seen:?}");
    }
    let mut plain = OnTerminal::start(&user, &FIRE, &[("NO_COLOR", "1")]);
    assert_eq!(plain.end("blocked by slow"), 1);
    let seen = plain.seen();
    let is_printed = ["⠙ 0.", "\x1b[1;31m"].map(|part| seen.contains(part));
    assert_eq!(is_printed, [true, false], "{seen:?}");
    // On a pipe nothing moves.
    let piped = user.run(&FIRE);
    assert!(!piped.out.contains(['⠙', '\x1b', '\r']), "{piped:?}");
}

#[test]
fn a_dumb_terminal_gets_plain_text() {
    let user = User::with_project_file(GUARDED);
    user.run(&["trust", "--yes"]);
    let json = with(&LS, &["--json"]);
    for (args, terminal, status, message) in [
        (&SUDO[..], "dumb", 1, "blocked by guard: no sudo"),
        (&json, "xterm", 0, "\"should_continue\": true"),
    ] {
        let mut program = OnTerminal::start(&user, args, &[("TERM", terminal)]);
        assert_eq!(program.end(message), status);
        assert!(!program.seen().contains('\x1b'), "{:?}", program.seen());
    }
}

/// Its number, when it has written it.
fn pid(user: &User) -> String {
    let path = user.path("project/pid");
    eventually("it has written its number", || {
        std::fs::read_to_string(&path).is_ok_and(|pid| pid.ends_with('\n'))
    });
    user.read("project/pid")
}

/// Ctrl-C and Ctrl-\, each with the exit status of its signal.
const KEYS: [(&str, i32); 2] = [("\x03", 130), ("\x1c", 131)];

#[test]
fn a_key_of_the_terminal_ends_the_tree_of_the_hook() {
    let user = user_with(&[
        json!({"event": "*", "command": "sleep 60 & echo $! >pid; wait", "name": "long"}),
        json!({"event": "*", "command": "true", "name": "behind"}),
    ]);
    for (key, status) in KEYS {
        let mut program = OnTerminal::start(&user, &FIRE, &[]);
        program.shows(" s long");
        let child = pid(&user);
        assert!(is_alive(&child));
        program.press(key);
        let message = "interrupted; long was ended, with all it had started";
        assert_eq!(program.end(message), status);
        eventually("the hook's child has gone", || !is_alive(&child));
        std::fs::remove_file(user.path("project/pid")).unwrap();
    }
}

#[test]
fn a_second_key_ends_the_program_at_once() {
    let command = "trap '' TERM; echo $$ >pid; sleep 60";
    let user = user_with(&[json!({"event": "*", "command": command})]);
    for (key, status) in KEYS {
        let mut program = OnTerminal::start(&user, &FIRE, &[]);
        pid(&user);
        program.press(key);
        program.press(key);
        assert_eq!(program.end("^"), status);
        std::fs::remove_file(user.path("project/pid")).unwrap();
    }
}

#[test]
fn a_signal_ends_background_hooks_too() {
    for (signal, status, background) in [
        (Signal::INT, 130, false),
        (Signal::INT, 130, true),
        (Signal::QUIT, 131, true),
    ] {
        let command = "echo $$ >pid; sleep 60";
        let hook = json!({"event": "*", "command": command, "background": background});
        let user = user_with(&[hook]);
        let mut command = user.command(&with(&FIRE, &["--json"]));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.spawn().unwrap();
        let pid = pid(&user);
        kill_process(Pid::from_child(&program), signal).unwrap();
        let printed = user.printed(program.wait_with_output().unwrap());
        assert_eq!(printed.status, status, "{printed:?}");
        let report = printed.json();
        if !background {
            let actual = json!([report["results"][0]["failure"], report["allowed"]]);
            assert_eq!(actual, json!(["cancelled", false]));
        }
        eventually("the hook has gone", || !is_alive(&pid));
    }
}

#[test]
fn a_closed_terminal_does_not_end_what_ignores_it() {
    let user = user_with(&[json!({"event": "*", "command": "echo $$ >pid; sleep 0.3"})]);
    // As `nohup` does.
    let fire = format!("trap '' HUP; exec forge-hooks {}", FIRE.join(" "));
    let program = user.shell(&fire).stdout(Stdio::piped()).spawn().unwrap();
    pid(&user);
    kill_process(Pid::from_child(&program), Signal::HUP).unwrap();
    let ended = program.wait_with_output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
}

#[test]
fn an_approval_is_asked_for_on_a_terminal() {
    let user = User::with_project_file(GUARDED);
    for (answer, status, message) in [
        ("n\n", 1, "nothing was approved"),
        ("\n", 1, "nothing was approved"),
        ("yes\n", 0, "2 hooks approved"),
    ] {
        let mut program = OnTerminal::start(&user, &["trust"], &[]);
        program.shows("run as shown? [y/N]");
        assert!(program.seen().contains("case $FORGE_TOOL_ARGS in *sudo*"));
        program.press(answer);
        let ended = program.end(message);
        assert_eq!(ended, status, "{answer:?}: {:?}", program.seen());
    }
    assert_eq!(user.run(&["list"]).status, 0);
    let mut program = OnTerminal::start(&user, &["trust", "--revoke"], &[]);
    program.shows("[y/N]");
    program.press("y\n");
    assert_eq!(program.end("the approval was withdrawn"), 0);
}
