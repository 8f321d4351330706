//! `trust`, `untrust`, `status`: a person's approval, as the program gives and shows it.

use super::{GUARDED, SUDO, User, with};

const SCRIPTED: &str = r#"{
  "hooks": [
    {"event": "tool:pre_execute", "command": "./guard.sh", "name": "guard"},
    {"event": "session:*", "command": "cat $HOME/x", "name": "other"}
  ]
}
"#;

#[test]
fn unapproved_hooks_do_not_run() {
    let user = User::with_project_file(GUARDED);
    let before = user.run(&SUDO);
    assert_eq!(before.status, 0, "{before:?}");
    assert!(before.out.contains("skipped"), "{before:?}");
    let advice = (before.out + &before.err)
        .matches("`forge-hooks trust`")
        .count();
    assert_eq!(advice, 1);
    let trusted = user.run(&["trust", "--yes"]);
    assert_eq!(trusted.status, 0, "{trusted:?}");
    assert_eq!(user.run(&SUDO).status, 1);
    assert_eq!(user.run(&["untrust", "--yes"]).status, 0);
    assert_eq!(user.run(&SUDO).status, 0);
    assert_eq!(user.run(&["status"]).status, 1);
}

#[test]
fn approvals_of_unread_tools_are_kept() {
    let user = User::with_project_file(GUARDED);
    let settings = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#;
    user.write("project/.claude/settings.json", settings);
    let with_claude = ["--other-tools", "claude"];
    let both = user.run(&with(&["trust", "--yes"], &with_claude));
    assert!(both.out.contains("3 hooks approved"), "{both:?}");
    let printed = user.run(&["status"]);
    assert_eq!(printed.status, 0, "{printed:?}");
    let note = "not shown: 1 approved hook of other tools";
    assert!(printed.out.contains(note), "{printed:?}");
    user.write(
        "project/.src/forge/hooks.json",
        &GUARDED.replace("sudo", "su"),
    );
    assert_eq!(user.run(&["trust", "--yes"]).status, 0);
    let printed = user.run(&with(&["status"], &with_claude));
    assert_eq!(printed.status, 0, "{printed:?}");
}

/// Else another project, or the hooks of another program, would be approved.
#[test]
fn the_command_to_approve_names_the_project() {
    let user = User::new();
    user.write("project/a b/.mygame/hooks.json", GUARDED);
    let options = ["--profile", "mygame", "--project", "a b"];
    for args in [&["list"][..], &["status"], &["fire", "session:start"]] {
        let printed = user.run(&with(args, &options));
        let quoted = if cfg!(windows) { "\"a b\"" } else { "'a b'" };
        let command = format!("`forge-hooks --profile mygame trust --project {quoted}`");
        let all = printed.out + &printed.err;
        assert!(all.contains(&command), "{args:?}: {all}");
    }
}

#[cfg(unix)]
#[test]
fn the_log_of_init_keeps_the_approval() {
    let user = User::new();
    let path = "project/.src/forge/hooks.json";
    assert_eq!(user.run(&["init"]).status, 0);
    let text = user.read(path);
    let place = |key: &str| text.find(key).unwrap();
    assert!(place("\"event\"") < place("\"command\""), "{text}");
    user.write(
        path,
        &text.replace("\"enabled\": false", "\"enabled\": true"),
    );
    assert_eq!(user.run(&["trust", "--yes"]).status, 0);
    user.write("home/there", "");
    for _ in 0..2 {
        let printed = user.run(&["fire", "session:start"]);
        assert!(printed.out.contains("in the background, ok"), "{printed:?}");
    }
    assert_eq!(user.run(&["status"]).status, 0);
    assert_eq!(user.read("home/sessions.log").lines().count(), 2);
}

#[test]
fn without_a_terminal_nothing_is_approved() {
    let user = User::with_project_file(GUARDED);
    let printed = user.run(&["trust"]);
    assert_eq!(printed.status, 2);
    assert!(
        printed
            .err
            .contains("fix: review the hooks, then add `--yes`"),
        "{printed:?}"
    );
    assert_eq!(user.run(&["status"]).status, 1);
    user.run(&["trust", "--yes"]);
    assert_eq!(user.run(&["untrust"]).status, 2);
    assert_eq!(user.run(&["status"]).status, 0);
}

#[test]
fn status_shows_changes_since_the_approval() {
    let user = User::with_project_file(SCRIPTED);
    let guard = user.write("project/guard.sh", "exit 0\n");
    #[cfg(windows)]
    drop(guard);
    #[cfg(unix)]
    std::fs::set_permissions(guard, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    user.run(&["status"]).is_as_in("status_new.txt");
    assert_eq!(user.run(&["trust", "-y"]).status, 0);
    user.run(&["status"]).is_as_in("status_approved.txt");
    user.write("project/guard.sh", "exit 1\n");
    let other = SCRIPTED.replace("$HOME/x", "$HOME/y");
    user.write("project/.src/forge/hooks.json", &other);
    user.run(&["status"]).is_as_in("status_changed.txt");
    user.write("project/.src/forge/hooks.json", r#"{"hooks": []}"#);
    user.run(&["status"]).is_as_in("status_gone.txt");
    let fired = user.run(&SUDO);
    let words = "have changed or been removed, so they block what they could have blocked: `guard`, `other`";
    assert!(fired.err.contains(words), "{fired:?}");
    let help = "help: review the changes; to approve them: `forge-hooks trust`";
    assert!(fired.err.contains(help), "{fired:?}");
}

#[test]
fn a_digest_approves_what_it_was_made_of() {
    let user = User::with_project_file(SCRIPTED);
    user.write("project/guard.sh", "exit 0\n");
    let digest = |user: &User| {
        let shown = user.run(&["status"]).out;
        let line = shown.lines().find_map(|line| line.strip_prefix("Digest: "));
        line.unwrap().to_owned()
    };
    let before = digest(&user);
    user.write("project/guard.sh", "exit 1\n");
    let refused = user.run(&["trust", "--digest", &before]);
    assert_eq!(refused.status, 2, "{refused:?}");
    let words = "error: nothing was approved: `--digest` is not";
    assert!(refused.err.contains(words), "{refused:?}");
    assert_eq!(user.run(&["status"]).status, 1);
    let trusted = user.run(&["trust", "--digest", &digest(&user)]);
    assert_eq!(trusted.status, 0, "{trusted:?}");
    assert_eq!(user.run(&["status"]).status, 0);
    // It still is the digest of what is approved.
    assert_eq!(user.run(&["trust", "--digest", &before]).status, 2);
}

#[test]
fn a_removed_disabled_hook_blocks_nothing() {
    let user = User::with_project_file(
        r#"{"hooks": [{"event": "*", "command": "false", "enabled": false}]}"#,
    );
    assert_eq!(user.run(&["trust", "-y"]).status, 0);
    user.write("project/.src/forge/hooks.json", r#"{"hooks": []}"#);
    let printed = user.run(&["status"]);
    assert!(printed.out.contains("\n  `false` is gone\n"), "{printed:?}");
    assert_eq!(user.run(&["fire", "session:start"]).status, 0);
}

#[test]
fn a_file_with_errors_is_not_approved() {
    let user = User::with_project_file(r#"{"hooks": [{"event": "*"}]}"#);
    let printed = user.run(&["trust", "--yes"]);
    assert_eq!(printed.status, 2);
    assert!(
        printed.err.contains("hooks[0].command: the key is missing"),
        "{printed:?}"
    );
    let nothing = User::new().run(&["trust", "--yes"]);
    assert_eq!(nothing.status, 2);
    assert!(
        nothing.err.contains("found no hooks to approve"),
        "{nothing:?}"
    );
}

#[test]
fn no_repository_controls_the_terminal() {
    let text = "{\"hooks\": [{\"event\": \"*\", \"command\": \"echo \\u001b[2Jx\", \"name\": \"a\\u001b]0;b\\u0007\"}]}";
    let user = User::with_project_file(text);
    for args in [
        &["list"][..],
        &["status"],
        &["trust", "--yes"],
        &["fire", "session:start"],
    ] {
        let printed = user.run(args);
        let whole = printed.out + &printed.err;
        let commands = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(!whole.contains(commands), "{args:?}: {whole:?}");
        assert!(whole.contains("a\\u{1b}]0;b\\u{7}"), "{args:?}: {whole:?}");
    }
}

#[cfg(unix)]
#[test]
fn status_names_files_that_are_gone() {
    let user = User::with_project_file(SCRIPTED);
    let guard = user.write("project/guard.sh", "#!/bin/sh\n");
    assert_eq!(user.run(&["trust", "--yes"]).status, 0);
    std::fs::remove_file(&guard).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&guard).status();
    assert!(made.unwrap().success());
    let printed = user.run(&["status"]);
    let words = "\n  `guard.sh` is gone\n";
    assert!(printed.out.contains(words), "{printed:?}");
    let listed = user.run(&["list"]);
    let words = "fails: `guard.sh` is gone since";
    assert!(listed.out.contains(words), "{listed:?}");
}
