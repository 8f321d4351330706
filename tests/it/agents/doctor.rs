//! `doctor`: what it finds, each with its fix.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::program::{Printed, User};

const AGENTS: [(&str, &str); 3] = [
    ("claude", "home/.claude/settings.json"),
    ("codex", "home/.codex/hooks.json"),
    ("gemini", "home/.gemini/settings.json"),
];

fn registered() -> User {
    let user = User::new();
    fs::create_dir_all(user.path("home")).unwrap();
    user.has_hooks(&json!([]));
    let installed = user.run(&["install", "claude", "codex", "gemini", "--yes"]);
    assert_eq!(installed.status, 0, "{installed:?}");
    user
}

impl User {
    /// What `doctor` says of an agent after a change of its settings.
    fn after(&self, agent: &str, file: &str, change: impl Fn(&str) -> String) -> Printed {
        let before = self.read(file);
        self.write(file, &change(&before));
        let printed = self.run(&["doctor", agent]);
        self.write(file, &before);
        printed
    }
}

#[test]
fn a_registration_is_fine_or_has_a_fix() {
    let user = registered();
    let all = user.run(&["doctor"]);
    assert_eq!(all.status, 0, "{all:?}");
    assert_eq!(all.out.matches("a probe is blocked").count(), 3, "{all:?}");
    assert!(all.out.contains("approve them in `/hooks`"), "{all:?}");
    let other = |directory: &str, script: &str| {
        let program = user.write(
            &format!("{directory}/forge-hooks"),
            &format!("#!/bin/sh\n{script}\n"),
        );
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        program.to_str().unwrap().to_owned()
    };
    let (passes, crashes) = (other("passes", "exit 0"), other("crashes", "exit 3"));
    let program = crate::program::PROGRAM;
    for (agent, file) in AGENTS {
        let fix = format!("fix: run `forge-hooks install {agent}`");
        for (problem, fix, change) in [
            (
                "is not registered",
                &*fix,
                &(|_: &str| "{}".to_owned()) as &dyn Fn(&str) -> String,
            ),
            ("the file cannot be read", "fix: correct the file", &|_| {
                "{".to_owned()
            }),
            ("which is not there", &fix, &|text| {
                text.replace(program, "/no/such/forge-hooks")
            }),
            ("by another version", &fix, &|text| {
                text.replace("--timeout ", "--inherit A --timeout ")
            }),
            (
                "a call that must be blocked was answered with exit status: 0",
                &fix,
                &|text| text.replace(program, &passes),
            ),
            (
                "with exit status: 2: forge-hooks did not run",
                &fix,
                &|text| text.replace(program, &crashes),
            ),
        ] {
            let printed = user.after(agent, file, change);
            assert_eq!(printed.status, 1, "{agent} {problem}: {printed:?}");
            assert!(
                printed.out.contains(problem),
                "{agent} {problem}: {printed:?}"
            );
            assert!(printed.out.contains(fix), "{agent} {problem}: {printed:?}");
        }
        assert_eq!(user.run(&["doctor", agent]).status, 0);
        let variable = match agent {
            "claude" => "CLAUDE_CONFIG_DIR",
            "codex" => "CODEX_HOME",
            _ => "GEMINI_CLI_HOME",
        };
        let mut moved = user.command(&["doctor", agent]);
        let moved = moved.env(variable, user.path("moved")).output().unwrap();
        let moved = user.printed(moved);
        assert_eq!(moved.status, 1);
        assert!(
            moved.out.contains(variable) && moved.out.contains("fix: unset"),
            "{moved:?}"
        );
    }
}

#[test]
fn a_switch_that_turns_hooks_off_is_found() {
    let user = registered();
    let with = |key: &str, value: Value| {
        let key = key.to_owned();
        move |text: &str| {
            let mut settings: Value = serde_json::from_str(text).unwrap();
            settings[&key] = value.clone();
            settings.to_string()
        }
    };
    for (agent, file, key, value, shown) in [
        (
            "claude",
            AGENTS[0].1,
            "disableAllHooks",
            json!(true),
            "`disableAllHooks` is true",
        ),
        (
            "gemini",
            AGENTS[2].1,
            "hooksConfig",
            json!({"enabled": false}),
            "`hooksConfig.enabled` is false",
        ),
    ] {
        let printed = user.after(agent, file, with(key, value));
        assert_eq!(printed.status, 1);
        assert!(
            printed.out.contains(shown) && printed.out.contains("fix: remove"),
            "{printed:?}"
        );
    }
}

#[test]
fn without_an_agent_there_is_nothing_to_check() {
    let user = User::new();
    fs::create_dir_all(user.path("home")).unwrap();
    user.has_hooks(&json!([]));
    let printed = user.run(&["doctor"]);
    assert_eq!(
        (printed.status, &*printed.out),
        (1, "found no settings of an agent\n"),
        "{printed:?}"
    );
}
