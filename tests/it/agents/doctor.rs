//! `doctor`: what it finds, each with its fix.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{AGENTS, for_all};
use crate::program::{Printed, User};

fn registered() -> User {
    let user = User::new();
    fs::create_dir_all(user.path("home")).unwrap();
    user.has_hooks(&json!([{"event": "tool:pre_execute", "command": "true"}]));
    user.has_codex();
    let installed = user.run(&for_all("install"));
    assert_eq!(installed.status, 0, "{installed:?}");
    user
}

impl User {
    /// Returns the report of `doctor` on an agent after a change of its settings.
    fn after(&self, agent: &str, file: &str, change: impl Fn(&str) -> String) -> Printed {
        let before = self.read(file);
        self.write(file, &change(&before));
        let printed = self.run(&["doctor", agent]);
        self.write(file, &before);
        printed
    }
}

#[test]
fn a_registration_is_fine() {
    let user = registered();
    let all = user.run(&["doctor"]);
    assert_eq!(all.status, 0, "{all:?}");
    let blocked = all.out.matches("a probe is blocked").count();
    assert_eq!(blocked, super::AGENTS.len(), "{all:?}");
}

#[test]
fn hooks_that_cannot_run_are_found() {
    let user = registered();
    let fine = user.run(&["doctor", "claude"]);
    assert!(
        fine.out.ends_with("your hooks: 1 hook in 1 file\n"),
        "{fine:?}"
    );
    let check = |hooks: &str, problem: &str, fix: &str| {
        user.write("config/forge-hooks/hooks.json", hooks);
        let printed = user.run(&["doctor"]);
        let expected = format!("your hooks\n  {problem}\n    fix: {fix}");
        assert!(
            printed.out.contains(&expected) && printed.status == 1,
            "{printed:?}"
        );
        // The guard is registered all the same.
        assert_eq!(
            printed.out.matches("a probe is blocked").count(),
            AGENTS.len(),
            "{printed:?}"
        );
    };
    check(
        "{\"hoks\": []}",
        "1 problem",
        "`forge-hooks check` shows them",
    );
    check("{", "1 problem", "`forge-hooks check` shows them");
    let typo = json!({"hooks": [{"event": "tool:pre_exec", "command": "true"}]});
    check(
        &typo.to_string(),
        "1 problem",
        "`forge-hooks check` shows them",
    );
    check(
        "{\"hooks\": []}",
        "there are none",
        "write some, for example with `forge-hooks init --global`",
    );
    let hooks = json!({"hooks": [{"event": "*", "command": "true"}]}).to_string();
    user.write("config/forge-hooks/hooks.json", &hooks);
    user.write("project/.forge-hooks/hooks.json", &hooks);
    let printed = user.run(&["doctor", "claude"]);
    assert!(
        printed.out.contains(
            "1 hook not approved, which do not run\n    fix: read them, and run `forge-hooks trust`"
        ),
        "{printed:?}"
    );
}

/// Each problem, its fix, and a change of the settings that has it.
type Broken<'a> = (&'a str, &'a str, &'a dyn Fn(&str) -> String);

#[test]
fn a_registration_that_does_not_work_has_a_fix() {
    let user = registered();
    let other = |directory: &str, script: &str| {
        let program = user.write(
            &format!("{directory}/forge-hooks"),
            &format!("#!/bin/sh\n{script}\n"),
        );
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        program.to_str().unwrap().to_owned()
    };
    let (passes, crashes) = (other("passes", "exit 0"), other("crashes", "exit 3"));
    let own = user.own_program();
    let with = |text: &str, program: &str| text.replace(own.to_str().unwrap(), program);
    let install = "run `forge-hooks install ";
    let table: [Broken<'_>; 8] = [
        ("is not registered", install, &|_| "{}".to_owned()),
        ("the file cannot be read", "correct the file", &|_| {
            "{".to_owned()
        }),
        (
            "the file cannot be read: the file is not",
            "correct the file",
            &|_| String::new(),
        ),
        (
            "a matcher keeps this program",
            "correct the file",
            &|text| {
                text.replace(
                    "        \"hooks\": [",
                    "        \"matcher\": \"Bash\", \"hooks\": [",
                )
            },
        ),
        ("which is not there", install, &|text| {
            with(text, "/no/such/forge-hooks")
        }),
        ("by another version", install, &|text| {
            text.replace("--timeout ", "--timeout=1 --timeout ")
        }),
        (
            "a call that must be blocked was answered with exit status: 0",
            install,
            &|text| with(text, &passes),
        ),
        (
            "with exit status: 2: forge-hooks did not run",
            install,
            &|text| with(text, &crashes),
        ),
    ];
    for (agent, (problem, fix, change)) in all_of(&AGENTS, &table) {
        let (agent, file) = (agent.name, format!("home/{}", agent.file));
        let printed = user.after(agent, &file, change);
        let has_both =
            printed.out.contains(problem) && printed.out.contains(&format!("fix: {fix}"));
        assert!(
            has_both && printed.status == 1,
            "{agent} {problem}: {printed:?}"
        );
    }
}

fn all_of<'a, A, B>(first: &'a [A], second: &'a [B]) -> impl Iterator<Item = (&'a A, &'a B)> {
    first
        .iter()
        .flat_map(move |a| second.iter().map(move |b| (a, b)))
}

#[test]
fn what_codex_does_not_run_is_found() {
    let user = registered();
    let check = |mode: &str, problem: &str, fix: &str| {
        user.codex_is(mode);
        let printed = user.run(&["doctor", "codex"]);
        let has_both =
            printed.out.contains(problem) && printed.out.contains(&format!("fix: {fix}"));
        assert!(has_both && printed.status == 1, "{mode}: {printed:?}");
    };
    check("off", "Codex does not list them", "remove `hooks = false`");
    check("some", "Codex does not list them", "remove `hooks = false`");
    // The project's own settings switch them off.
    check(
        "project",
        "Codex does not list them",
        "remove `hooks = false`",
    );
    check("broken", "config.toml:1:6: unclosed", "correct the file");
    check(
        "disabled",
        "has some of them switched off",
        "switch them on in `/hooks`",
    );
    fs::remove_file(user.approvals()).unwrap();
    check(
        "",
        "Codex runs none of them that you have not approved",
        "run `forge-hooks install codex`, which asks",
    );
    check(
        "silent",
        "whether Codex runs them is not known",
        "see that `codex` is in your `PATH` and starts",
    );
}

#[test]
fn settings_that_a_variable_moves_are_found() {
    let user = registered();
    for agent in AGENTS {
        let (variable, _) = agent.moved_by;
        let mut moved = user.command(&["doctor", agent.name]);
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
    for (agent, file, key, value, display) in [
        (
            "claude",
            "home/.claude/settings.json",
            "disableAllHooks",
            json!(true),
            "`disableAllHooks` is true",
        ),
        (
            "gemini",
            "home/.gemini/settings.json",
            "hooksConfig",
            json!({"enabled": false}),
            "`hooksConfig.enabled` is false",
        ),
        (
            "gemini",
            "home/.gemini/settings.json",
            "hooksConfig",
            json!({"disabled": ["forge-hooks"]}),
            "`hooksConfig.disabled` has `forge-hooks`",
        ),
        (
            "gemini",
            "home/.gemini/settings.json",
            "hooksConfig",
            json!({"enabled": "false", "disabled": []}),
            "`hooksConfig.enabled` is \"false\"",
        ),
        (
            "gemini",
            "home/.gemini/settings.json",
            "hooksConfig",
            json!({"enabled": true, "disabled": ["${X:-forge-hooks}"]}),
            "`hooksConfig.disabled` has `${X:-forge-hooks}`",
        ),
        (
            "claude",
            "home/.claude/settings.json",
            "env",
            json!({"A": "1", "BASH_ENV": "/tmp/x"}),
            "sets `BASH_ENV` for hooks",
        ),
    ] {
        let printed = user.after(agent, file, with(key, value));
        assert_eq!(printed.status, 1);
        assert!(
            printed.out.contains(display) && printed.out.contains("fix: remove it"),
            "{printed:?}"
        );
    }
}

#[test]
fn a_projects_settings_that_turn_hooks_off_are_found() {
    let user = registered();
    user.write(
        "project/.claude/settings.local.json",
        "{\"disableAllHooks\": true /* now */}",
    );
    fs::create_dir_all(user.project().join(".git")).unwrap();
    fs::create_dir_all(user.project().join("sub/deep")).unwrap();
    for (agent, directory, status) in [
        ("claude", "", 1),
        ("copilot", "", 1),
        // Agents read it from the root of the repository.
        ("copilot", "sub/deep", 1),
        ("codex", "", 0),
    ] {
        let mut doctor = user.command(&["doctor", agent]);
        let printed = doctor
            .current_dir(user.project().join(directory))
            .output()
            .unwrap();
        let printed = user.printed(printed);
        assert_eq!(printed.status, status, "{printed:?}");
        let is_found = printed.out.contains("settings.local.json");
        assert_eq!(is_found, status == 1, "{printed:?}");
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
