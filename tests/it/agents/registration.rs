//! `check`: what it finds of the registration, each with its fix.

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
    /// Returns the report of `check` on an agent after a change of its settings.
    fn after(&self, agent: &str, file: &str, change: impl Fn(&str) -> String) -> Printed {
        let before = self.read(file);
        self.write(file, &change(&before));
        let printed = self.run(&["check", "--agent", agent]);
        self.write(file, &before);
        printed
    }
}

#[test]
fn a_registration_is_fine() {
    let user = registered();
    let all = user.run(&["check"]);
    assert_eq!(all.status, 0, "{all:?}");
    let blocked = all.out.matches("a probe is blocked").count();
    assert_eq!(blocked, super::AGENTS.len(), "{all:?}");
}

#[test]
fn hooks_that_cannot_run_are_found() {
    let user = registered();
    let fine = user.run(&["check", "--agent", "claude"]);
    assert_eq!(fine.status, 0, "{fine:?}");
    let hook = json!({"event": "tool:pre_execute", "command": "true"});
    let off = json!({"event": "*", "command": "true", "enabled": false});
    let hooks = |hooks: &[&Value]| json!({"hooks": hooks}).to_string();
    for (text, problem, fix) in [
        ("{\"hoks\": []}", "`hoks`", ""),
        ("{", "hooks.json", ""),
        (
            &hooks(&[]),
            "there are no hooks, so nothing is guarded",
            "`forge-hooks add git rm secrets`",
        ),
        (
            &hooks(&[&off]),
            "all hooks are switched off",
            "`forge-hooks add git rm secrets`",
        ),
    ] {
        user.write("config/forge-hooks/hooks.json", text);
        let printed = user.run(&["check"]);
        let is_found = printed.out.contains(problem) && printed.out.contains(fix);
        assert!(is_found && printed.status == 1, "{printed:?}");
        // The guard is registered all the same.
        let probes = printed.out.matches("a probe is blocked").count();
        assert_eq!(probes, AGENTS.len(), "{printed:?}");
    }
    let project = "project/.forge-hooks/hooks.json";
    user.write("config/forge-hooks/hooks.json", &hooks(&[&hook, &off]));
    user.write(project, &hooks(&[&hook]));
    let check = |problem: &str, status: i32| {
        let printed = user.run(&["check", "--agent", "claude"]);
        let is_found = printed.out.contains(problem);
        assert!(is_found && printed.status == status, "{printed:?}");
    };
    check("1 hook is not approved", 1);
    check("`forge-hooks trust`", 1);
    assert_eq!(user.run(&["trust", "--yes"]).status, 0);
    check("3 hooks usable, 2 in use", 0);
    // A lost approval leads to the command that gives it.
    user.write(project, &hooks(&[&off]));
    check("`forge-hooks trust`", 1);
    assert_eq!(user.run(&["trust", "--yes"]).status, 0);
    check("1 in use", 0);
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
        ("does not start this program", install, &|_| "{}".to_owned()),
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
        ("another version has registered it", install, &|text| {
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
            printed.out.contains(problem) && printed.out.contains(&format!("help: {fix}"));
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
        let printed = user.run(&["check", "--agent", "codex"]);
        let has_both =
            printed.out.contains(problem) && printed.out.contains(&format!("help: {fix}"));
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
        "it is not known whether Codex runs the hooks",
        "see that `codex` is in your `PATH` and starts",
    );
}

#[test]
fn settings_that_a_variable_moves_are_found() {
    let user = registered();
    for agent in AGENTS {
        let (variable, _) = agent.moved_by;
        let mut moved = user.command(&["check", "--agent", agent.name]);
        let moved = moved.env(variable, user.path("moved")).output().unwrap();
        let moved = user.printed(moved);
        assert_eq!(moved.status, 1);
        assert!(
            moved.out.contains(variable) && moved.out.contains("help: unset"),
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
        (
            "claude",
            "home/.claude/settings.json",
            "env",
            json!({"CLAUDE_CODE_SHELL_PREFIX": "/bin/true"}),
            "sets `CLAUDE_CODE_SHELL_PREFIX` for hooks",
        ),
        (
            "claude",
            "home/.claude/settings.json",
            "env",
            json!({"CLAUDE_CODE_SAFE_MODE": "1"}),
            "sets `CLAUDE_CODE_SAFE_MODE` for hooks",
        ),
        (
            "claude",
            "home/.claude/settings.json",
            "env",
            json!({"BASH_FUNC_printf%%": "() { exit 0; }"}),
            "sets `BASH_FUNC_printf%%` for hooks",
        ),
    ] {
        let printed = user.after(agent, file, with(key, value));
        assert_eq!(printed.status, 1);
        assert!(
            printed.out.contains(display) && printed.out.contains("help: remove it"),
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
        let mut check = user.command(&["check", "--agent", agent]);
        let printed = check
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
fn an_agent_without_this_program_is_no_problem_before_install() {
    let user = User::new();
    fs::create_dir_all(user.path("home/.claude")).unwrap();
    user.has_hooks(&json!([{"event": "*", "command": "true"}]));
    let printed = user.run(&["check"]);
    let says = "Claude Code: not guarded; `forge-hooks install claude` changes that\n";
    assert!(
        printed.status == 0 && printed.out.contains(says),
        "{printed:?}"
    );
    assert_eq!(user.run(&["install", "claude", "--yes"]).status, 0);
    user.write("home/.claude/settings.json", "{}");
    let printed = user.run(&["check"]);
    let says = "Claude Code does not start this program";
    assert!(
        printed.status == 1 && printed.out.contains(says),
        "{printed:?}"
    );
}

#[test]
fn another_path_of_the_shell_is_no_problem() {
    let user = registered();
    let mut check = user.command(&["check", "--agent", "claude"]);
    let path = format!("/opt/nowhere:{}", std::env::var("PATH").unwrap());
    let printed = user.printed(check.env("PATH", path).output().unwrap());
    assert_eq!(printed.status, 0, "{printed:?}");
}
