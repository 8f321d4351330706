//! The program on a terminal, which is a pseudo-terminal here: what moves, what is asked, Ctrl-C.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;

use super::{GUARDED, LS, PROGRAM, SUDO, User, with};
use crate::support::eventually;

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

    pub(super) fn start_program(
        user: &User,
        command_line: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        // A session leader without a terminal gets the first terminal that it opens.
        let mut command = Command::new("setsid");
        user.set(&mut command);
        command
            .args(["sh", "-c", r#"exec "$@" <"$PTS" >"$PTS" 2>&1"#, "sh"])
            .args(command_line)
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

fn is_there(pid: &str) -> bool {
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    test_kill_process(pid).is_ok()
}

#[test]
fn a_terminal_shows_colours_and_a_spinner() {
    let user = User::new();
    let hook = json!({"event": "*", "command": "sleep 0.4; exit 1", "name": "slow"});
    user.write("project/hooks.json", &json!({"hooks": [hook]}).to_string());
    let args = ["fire", "user:prompt_submit", "--config", "hooks.json"];
    let mut program = OnTerminal::start(&user, &args, &[]);
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
    let mut plain = OnTerminal::start(&user, &args, &[("NO_COLOR", "1")]);
    assert_eq!(plain.end("blocked by slow"), 1);
    let seen = plain.seen();
    assert!(
        seen.contains("⠙ 0.") && !seen.contains("\x1b[1;31m"),
        "{seen:?}"
    );
    // On a pipe nothing moves.
    let piped = user.run(&args);
    assert!(!piped.out.contains(['⠙', '\x1b', '\r']), "{piped:?}");
}

#[test]
fn a_dumb_terminal_gets_plain_text() {
    let user = User::with_project_file(GUARDED);
    user.run(&["trust", "--yes"]);
    let mut program = OnTerminal::start(&user, &SUDO, &[("TERM", "dumb")]);
    assert_eq!(program.end("blocked by guard: no sudo"), 1);
    assert!(!program.seen().contains('\x1b'), "{:?}", program.seen());
    let mut program = OnTerminal::start(&user, &with(&LS, &["--json"]), &[]);
    assert_eq!(program.end("\"should_continue\": true"), 0);
    assert!(!program.seen().contains('\x1b'), "{:?}", program.seen());
}

#[test]
fn ctrl_c_ends_the_tree_of_the_hook() {
    let user = User::new();
    let command = "sleep 60 & echo $! >child; wait";
    let hooks = json!([
        {"event": "*", "command": command, "name": "long"},
        {"event": "*", "command": "true", "name": "behind"},
    ]);
    user.write("project/hooks.json", &json!({"hooks": hooks}).to_string());
    let args = ["fire", "user:prompt_submit", "--config", "hooks.json"];
    let mut program = OnTerminal::start(&user, &args, &[]);
    program.shows(" s long");
    eventually("the hook has started", || {
        user.path("project/child").exists()
    });
    eventually("it has printed so", || {
        user.read("project/child").ends_with('\n')
    });
    let child = user.read("project/child");
    assert!(is_there(&child));
    program.press("\x03");
    let words = "interrupted; long was ended, with all it had started";
    assert_eq!(program.end(words), 130);
    eventually("the hook's child has gone", || !is_there(&child));
}

#[test]
fn a_second_ctrl_c_ends_the_program_at_once() {
    let user = User::new();
    let command = "trap '' TERM; echo >started; sleep 60";
    let hook = json!({"event": "*", "command": command, "name": "stubborn"});
    user.write("project/hooks.json", &json!({"hooks": [hook]}).to_string());
    let args = ["fire", "user:prompt_submit", "--config", "hooks.json"];
    let mut program = OnTerminal::start(&user, &args, &[]);
    eventually("the hook has started", || {
        user.path("project/started").exists()
    });
    program.press("\x03");
    program.press("\x03");
    assert_eq!(program.end("^C"), 130);
}

#[test]
fn a_signal_ends_background_hooks_too() {
    let user = User::new();
    for background in [false, true] {
        let command = "echo $$ >pid; sleep 60";
        let hook = json!({"event": "*", "command": command, "background": background});
        user.write("project/hooks.json", &json!({"hooks": [hook]}).to_string());
        let args = [
            "fire",
            "user:prompt_submit",
            "--json",
            "--config",
            "hooks.json",
        ];
        let mut command = user.command(&args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.spawn().unwrap();
        eventually("the hook runs", || {
            let path = user.path("project/pid");
            std::fs::read_to_string(path).is_ok_and(|pid| pid.ends_with('\n'))
        });
        let pid = user.read("project/pid");
        kill_process(Pid::from_child(&program), Signal::INT).unwrap();
        let printed = user.printed(program.wait_with_output().unwrap());
        assert_eq!(printed.status, 130, "{printed:?}");
        let report = printed.json();
        if !background {
            assert_eq!(report["results"][0]["failure"], "cancelled");
            assert_eq!(report["allowed"], false);
        }
        eventually("the hook has gone", || !is_there(&pid));
        std::fs::remove_file(user.path("project/pid")).unwrap();
    }
}

#[test]
fn a_closed_terminal_does_not_end_what_ignores_it() {
    let user = User::new();
    let hook = json!({"event": "*", "command": "echo >started; sleep 0.3"});
    user.write("project/hooks.json", &json!({"hooks": [hook]}).to_string());
    let fire = user.command(&["fire", "user:prompt_submit", "--config", "hooks.json"]);
    let mut command = Command::new("sh");
    // As `nohup` does.
    command.args(["-c", r#"trap "" HUP; exec "$0" "$@""#]);
    command.arg(fire.get_program()).args(fire.get_args());
    command.current_dir(fire.get_current_dir().unwrap());
    command.envs(
        fire.get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let program = command.stdout(Stdio::piped()).spawn().unwrap();
    let started = || user.path("project/started").exists();
    eventually("the hook runs", started);
    kill_process(Pid::from_child(&program), Signal::HUP).unwrap();
    let ended = program.wait_with_output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
}

#[test]
fn an_approval_is_asked_for_on_a_terminal() {
    let user = User::with_project_file(GUARDED);
    for (answer, status, words) in [
        ("n\n", 1, "nothing was approved"),
        ("\n", 1, "nothing was approved"),
        ("yes\n", 0, "2 hooks approved"),
    ] {
        let mut program = OnTerminal::start(&user, &["trust"], &[]);
        program.shows("run as shown? [y/N]");
        assert!(program.seen().contains("case $FORGE_TOOL_ARGS in *sudo*"));
        program.press(answer);
        assert_eq!(
            program.end(words),
            status,
            "{answer:?}: {:?}",
            program.seen()
        );
    }
    assert_eq!(user.run(&["status"]).status, 0);
    let mut program = OnTerminal::start(&user, &["untrust"], &[]);
    program.shows("[y/N]");
    program.press("y\n");
    assert_eq!(program.end("the approval was withdrawn"), 0);
}
