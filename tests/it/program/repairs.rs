//! `check` leads from a broken state to the command that repairs it.

use std::fs;

use serde_json::{Value, json};

use super::User;

const PROJECT: &str = "project/.forge-hooks/hooks.json";
const SETTINGS: &str = "home/.claude/settings.json";

/// A change that breaks something, the words of the problem, and the command of the fix.
type Broken = (&'static str, fn(&User), &'static str);

fn hooks(hooks: &Value) -> String {
    json!({"hooks": hooks}).to_string()
}

/// Creates a user with a hook, a project with an approved one, and an agent that starts the program.
fn sound() -> User {
    let user = User::new();
    user.write("home/.claude/settings.json", "{}");
    user.write("project/guard.sh", "exit 0");
    let of_project = json!([{"event": "*", "name": "guard", "command": "sh ./guard.sh"}]);
    user.write(PROJECT, &hooks(&of_project));
    user.write("config/forge-hooks/hooks.json", &hooks(&json!([])));
    for args in [
        &["add", "git"][..],
        &["trust", "--yes"],
        &["install", "claude", "--yes"],
    ] {
        let printed = user.run(args);
        assert_eq!(printed.status, 0, "{args:?}: {printed:?}");
    }
    user
}

fn change(user: &User, file: &str, from: &str, to: &str) {
    let text = user.read(file);
    assert!(text.contains(from), "{from}: {text}");
    user.write(file, &text.replace(from, to));
}

#[test]
fn each_fix_repairs_what_is_broken() {
    let table: [Broken; 9] = [
        (
            "is not approved",
            |user| fs::remove_file(user.path("config/src/forge/trust.json")).unwrap(),
            "trust",
        ),
        (
            "approv",
            |user| drop(user.write("project/guard.sh", "exit 1")),
            "trust",
        ),
        (
            "approv",
            |user| drop(user.write(PROJECT, &hooks(&json!([{"event": "*", "command": "true"}])))),
            "trust",
        ),
        (
            "approv",
            |user| drop(user.write(PROJECT, &hooks(&json!([])))),
            "trust",
        ),
        (
            "approv",
            |user| fs::remove_file(user.path(PROJECT)).unwrap(),
            "trust",
        ),
        (
            "Claude Code does not start this program",
            |user| drop(user.write(SETTINGS, "{}")),
            "install claude",
        ),
        (
            "Claude Code does not start this program",
            |user| fs::remove_file(user.path(SETTINGS)).unwrap(),
            "install claude",
        ),
        (
            "which is not there",
            |user| {
                let program = user.own_program();
                change(
                    user,
                    SETTINGS,
                    program.to_str().unwrap(),
                    "/no/such/forge-hooks",
                );
            },
            "install claude",
        ),
        (
            "another version",
            |user| change(user, SETTINGS, "--timeout ", "--timeout=1 --timeout "),
            "install claude",
        ),
    ];
    let sound_user = sound();
    let before = sound_user.run(&["check"]);
    assert_eq!(before.status, 0, "{before:?}");
    for (words, breaks, fix) in table {
        let user = sound();
        breaks(&user);
        let broken = user.run(&["check"]);
        let command = format!("`forge-hooks {fix}`");
        let is_said = broken.out.contains(words) && broken.out.contains(&command);
        assert!(is_said && broken.status == 1, "{words}: {broken:?}");
        let args: Vec<_> = fix.split(' ').chain(["--yes"]).collect();
        let repaired = user.run(&args);
        assert_eq!(repaired.status, 0, "{words}: {repaired:?}");
        let clean = user.run(&["check"]);
        assert_eq!(clean.status, 0, "{words}: {clean:?}");
    }
}

#[test]
fn without_any_guard_there_is_a_command_that_adds_some() {
    let user = sound();
    fs::remove_file(user.path(PROJECT)).unwrap();
    assert_eq!(user.run(&["trust", "--revoke", "--yes"]).status, 0);
    assert_eq!(user.run(&["add", "--remove", "git"]).status, 0);
    let broken = user.run(&["check"]);
    let command = "`forge-hooks add git rm secrets`";
    assert!(
        broken.status == 1 && broken.out.contains(command),
        "{broken:?}"
    );
    assert_eq!(user.run(&["add", "git", "rm", "secrets"]).status, 0);
    let clean = user.run(&["check"]);
    assert_eq!(clean.status, 0, "{clean:?}");
}
