//! The completion scripts in real shells: bash with Tab on a pseudo-terminal, zsh and fish as far as they are
//! installed.

use std::process::Command;

use super::User;
use super::terminal::OnTerminal;
use crate::support::is_missing;

#[test]
fn bash_completes_after_a_subcommand() {
    let user = User::new();
    let script = user.run(&["completions", "bash"]).out;
    let settings =
        "bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; PS1='ready> '";
    user.write("project/bashrc", &format!("{script}\n{settings}\n"));
    let command_line = ["bash", "--noprofile", "--rcfile", "bashrc", "-i"];
    for (typed, completions) in [
        ("tra\t", &["forge-hooks trace "][..]),
        ("trace --c\t\t", &["--chrome", "--color"]),
        ("trace --chr\t", &["trace --chrome "]),
        ("trust --rev\t", &["trust --revoke "]),
        ("list --color al\t", &["--color always "]),
        ("completions zs\t", &["completions zsh "]),
        ("help tra\t", &["help trace "]),
    ] {
        let mut bash = OnTerminal::start_program(&user, &command_line, &[]);
        bash.shows("ready> ");
        bash.press(&format!("forge-hooks {typed}"));
        for words in completions {
            bash.shows(words);
        }
        // Clears the line, and ends the shell.
        bash.press("\x15exit 7\n");
        assert_eq!(bash.end("exit 7"), 7, "{typed:?}: {}", bash.seen());
    }
}

#[test]
fn zsh_and_fish_can_read_their_script() {
    let user = User::new();
    for shell in ["zsh", "fish"] {
        if is_missing(shell) {
            continue;
        }
        let script = user.run(&["completions", shell]).out;
        let path = user.write("project/script", &script);
        let output = Command::new(shell).arg("-n").arg(path).output().unwrap();
        assert!(output.status.success(), "{shell}: {output:?}");
    }
}
