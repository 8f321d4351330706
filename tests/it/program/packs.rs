//! `add`: the files of packs, their versions, and what a person has changed in them.

use serde_json::Value;

use super::{User, with};

pub(super) const GIT: &str = "config/forge-hooks/hooks.d/git.json";
/// Makes the pack another version: as a program of that version writes it, with a digest of its own.
pub(super) fn make_older(text: &str) -> String {
    let mut pack: Value = serde_json::from_str(text).unwrap();
    pack["pack"]["version"] = 0.into();
    pack["hooks"][0]["answer"]["reason"] = "no\u{1b}[2J".into();
    pack["hooks"].as_array_mut().unwrap().pop();
    pack["pack"]["sha256"] = "".into();
    let text = serde_json::to_string_pretty(&pack).unwrap();
    let digest = hmac_sha256::Hash::hash(text.as_bytes());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    text.replacen("\"sha256\": \"\"", &format!("\"sha256\": \"{digest}\""), 1)
}

#[test]
fn all_packs_hold_wherever_the_home_is() {
    let user = User::new();
    let names: Vec<_> = crate::packs::packs()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let added = user.run(&with(&["add"], &names));
    assert_eq!(added.status, 0, "{added:?}");
    // The home is in a directory for temporary files.
    let checked = user.run(&["check", "--strict"]);
    assert_eq!(checked.status, 0, "{checked:?}");
    assert!(user.path("config/forge-hooks/hooks.schema.json").is_file());
}

/// A case that does not hold is an error, and the guard still blocks.
#[test]
fn a_broken_case_blocks_nothing() {
    let user = User::new();
    assert_eq!(user.run(&["add", "git"]).status, 0);
    let broken = user
        .read(GIT)
        .replace("\"git fetch -f origin\"", "\"git push -f\"");
    user.write(GIT, &broken);
    let checked = user.run(&["check"]);
    let message = "`no_force_push` matches, and must let pass `git push -f`";
    assert!(
        checked.status == 1 && checked.out.contains(message),
        "{checked:?}"
    );
    assert!(checked.out.contains("hooks.d/git.json:42"), "{checked:?}");
    for (command, status) in [("git push -f", 1), ("git push", 0)] {
        let args = format!(r#"{{"command": "{command}"}}"#);
        let fired = user.run(&[
            "fire",
            "tool:pre_execute",
            "--tool",
            "bash",
            "--args",
            &args,
        ]);
        assert_eq!(fired.status, status, "{fired:?}");
    }
}

#[test]
fn an_update_shows_what_changes_and_asks() {
    let user = User::new();
    assert_eq!(user.run(&["add", "git", "sudo"]).status, 0);
    let current = user.read(GIT);
    let older = make_older(&current);
    user.write(GIT, &older);
    let added = user.run(&["add", "git"]);
    assert!(
        added
            .out
            .contains("has version 0 of the pack: see `forge-hooks add --update git`"),
        "{added:?}"
    );
    let checked = user.run(&["check"]);
    assert!(
        checked
            .out
            .contains("version 0 of the pack `git` is not that of this program"),
        "{checked:?}"
    );
    let asked = user.run(&["add", "--update"]);
    assert_eq!(asked.status, 2, "{asked:?}");
    for part in [
        "git.json: version 0 -> 2\n",
        "  `answer` of `no_force_push`\n    - {\"decision\":\"block\",\"reason\":\"no\\u001b[2J\"}\n    + {\"decision\":\"block\",\"reason\":\"A forced",
        "  `no_writing_in_git_with_tools`, which the file does not have\n    + {",
        "unchanged: [DIR]/config/forge-hooks/hooks.d/sudo.json\n",
    ] {
        assert!(asked.out.contains(part), "{part}: {asked:?}");
    }
    assert_eq!(user.read(GIT), older);
    let updated = user.run(&["add", "--update", "--yes"]);
    assert_eq!(updated.status, 0, "{updated:?}");
    assert_eq!(user.read(GIT), current);
}

/// No command changes this file of the pack `git`, and each names it.
fn check_is_left_alone(user: &User, text: &str) {
    user.write(GIT, text);
    for (args, expected) in [
        (&["add", "git", "docker"][..], Some(2)),
        (&["add", "--update", "git", "--yes"], None),
        (&["add", "--remove", "rm", "git"], Some(2)),
    ] {
        let refused = user.run(args);
        assert_eq!(user.read(GIT), text, "{args:?} {refused:?}");
        assert_eq!(
            refused.status,
            expected.unwrap_or(refused.status),
            "{refused:?}"
        );
        let printed = refused.out + &refused.err;
        assert!(printed.contains("git.json"), "{printed}");
    }
    // All or nothing.
    assert!(!user.path("config/forge-hooks/hooks.d/docker.json").exists());
    assert!(user.path("config/forge-hooks/hooks.d/rm.json").exists());
}

#[test]
fn what_a_person_wrote_is_never_lost() {
    let user = User::new();
    assert_eq!(user.run(&["add", "git", "rm"]).status, 0);
    let mine = r#""hooks": [{"name": "mine", "event": "session:start", "answer": {"additionalContext": "x"}},"#;
    let edited = user.read(GIT).replacen("\"hooks\": [", mine, 1);
    for text in [
        r#"{"hooks": []}"#,
        "{",
        r#"{"pack": {"name": "rm"}}"#,
        &edited,
    ] {
        check_is_left_alone(&user, text);
    }
    let refused = user.run(&["add", "--remove", "git"]);
    assert!(
        refused.err.contains("`mine`, which the pack does not have"),
        "{refused:?}"
    );
    let checked = user.run(&["check"]);
    assert!(
        checked
            .out
            .contains("warning: the pack `git` was edited: `mine`"),
        "{checked:?}"
    );
    // Without the key, the file is a person's own.
    let own = edited.replacen("\"pack\"", "\"_pack\"", 1);
    user.write(GIT, &own);
    let checked = user.run(&["check", "--strict"]);
    assert_eq!(checked.status, 0, "{checked:?}");
}

#[test]
fn a_pack_in_a_project_needs_an_approval() {
    let user = User::new();
    let added = user.run(&["add", "sudo", "--project", "."]);
    assert!(
        added.out.contains("`forge-hooks trust --project .`"),
        "{added:?}"
    );
    let file = "project/.forge-hooks/hooks.d/sudo.json";
    assert!(user.read(file).contains("no_sudo"));
    let fire = [
        "fire",
        "tool:pre_execute",
        "--tool",
        "bash",
        "--args",
        r#"{"command": "ls"}"#,
    ];
    let blocked = user.run(&fire);
    assert!(
        blocked.out.contains("not been approved") || blocked.err.contains("approve"),
        "{blocked:?}"
    );
    assert_eq!(user.run(&["trust", "--yes"]).status, 0);
    assert_eq!(user.run(&fire).status, 0);
    let removed = user.run(&["add", "--remove", "sudo", "--project", "."]);
    assert_eq!(removed.status, 0, "{removed:?}");
    assert!(!user.path("project/.forge-hooks/hooks.d").exists());
}

#[test]
fn packs_added_at_once_all_arrive() {
    let user = User::new();
    let add = [
        &["add", "git", "rm"][..],
        &["add", "rm", "git"],
        &["add", "git", "sudo"],
    ];
    for printed in user.run_at_once(&add) {
        assert_eq!(printed.status, 0, "{printed:?}");
    }
    for name in ["git", "rm", "sudo"] {
        assert!(
            user.read(&format!("config/forge-hooks/hooks.d/{name}.json"))
                .contains("cases")
        );
    }
}

/// A repository may have a link to one of the user's files.
#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_not_followed() {
    let user = User::new();
    user.write("outside/x", "");
    user.write("project/.forge-hooks/x", "");
    let link = user.path("project/.forge-hooks/hooks.d");
    std::os::unix::fs::symlink(user.path("outside"), link).unwrap();
    let added = user.run(&["add", "git", "--project", "."]);
    assert_eq!(added.status, 2, "{added:?}");
    assert!(added.err.contains("out of the project"), "{added:?}");
    assert!(!user.path("outside/git.json").exists());
}
