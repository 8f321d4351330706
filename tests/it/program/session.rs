//! The session in docs/session.md is the program's current output.

use std::path::Path;
use std::process::Command;

use super::{PROGRAM, User};

/// Returns the output of the page's commands, each after its command.
fn said_now(user: &User, page: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directory = Path::new(PROGRAM).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::iter::once(directory).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(directories).unwrap();
    let mut all = String::new();
    for line in page.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let mut command = Command::new("sh");
        user.set(&mut command);
        command.args(["-c", &format!("{{ {line}\n}} 2>&1")]);
        let output = command.current_dir(root).env("PATH", &path).output();
        let printed = user.printed(output.unwrap());
        all += &format!("$ {line}\n{}", printed.out);
        if printed.status != 0 {
            all += &format!("[exit status {}]\n", printed.status);
        }
        all += "\n";
    }
    all
}

#[test]
fn the_recorded_session_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/session.md")).unwrap();
    let (_, recorded) = page.split_once("```console\n").unwrap();
    let recorded = recorded.split_once("```").unwrap().0;
    let user = User::new();
    let now = said_now(&user, recorded);
    assert!(now.contains("blocked by block_sudo"), "{now}");
    assert_eq!(
        now,
        user.normal(recorded),
        "run docs/record.sh to record it again"
    );
}
