//! `check` leads from a broken state to the command that repairs it, or to the line to edit.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use super::packs::make_older;
use super::{Printed, User};

const USERS: &str = "home/.config/forge-hooks/hooks.json";
const PROJECTS: &str = "project/.forge-hooks/hooks.json";
const STORE: &str = "home/.config/src/forge/trust.json";
const GIT: &str = "home/.config/forge-hooks/hooks.d/git.json";
const SCRIPT: &str = "project/guard.sh";

/// A hook that is right, as a line of a hooks file.
const GOOD: &str = r#"{"event": "*", "command": "true"}"#;

enum Fix {
    /// The command that `check` names, which is run as it is; `--yes` is added to those of this program that ask.
    Run(&'static str),
    /// `check` says where the mistake is, and the person edits the file.
    Edit(fn(&User)),
}

use Fix::{Edit, Run};

/// A broken state: the change that breaks something, the part of the output of `check` that says so, and the fix.
struct Broken {
    state: &'static str,
    breaks: fn(&User),
    told: &'static str,
    fix: Fix,
}

fn broken(state: &'static str, breaks: fn(&User), told: &'static str, fix: Fix) -> Broken {
    Broken {
        state,
        breaks,
        told,
        fix,
    }
}

/// Runs the program with the usual directory for configuration, where agents read theirs.
fn run(user: &User, args: &[&str]) -> Printed {
    let mut command = user.command(args);
    command.env("XDG_CONFIG_HOME", user.path("home/.config"));
    user.printed(command.output().unwrap())
}

fn shell(user: &User, script: &str) -> Printed {
    let bin = user.path("bin");
    let mut command = user.shell(&format!("PATH={}:$PATH; {script}", bin.display()));
    command.env("XDG_CONFIG_HOME", user.path("home/.config"));
    user.printed(command.output().unwrap())
}

fn hooks(hooks: &Value) -> String {
    json!({"hooks": hooks}).to_string()
}

/// Writes the user's hooks file with this entry in its second line.
fn has_entry(user: &User, entry: &str) {
    user.write(USERS, &format!("{{\"hooks\": [\n{entry}\n]}}"));
}

fn has_good(user: &User) {
    has_entry(user, GOOD);
}

fn change(user: &User, file: &str, from: &str, to: &str) {
    let text = user.read(file);
    assert!(text.contains(from), "{from}: {text}");
    user.write(file, &text.replace(from, to));
}

/// Breaks the state of a user, follows `check` to the repair, and expects that nothing is left.
#[track_caller]
fn is_repaired(user: &User, row: &Broken, agent: &[&str]) {
    let Broken {
        state, told, fix, ..
    } = row;
    let check = [&["check", "--strict"], agent].concat();
    (row.breaks)(user);
    let checked = run(user, &check);
    let output = format!("{}{}", checked.out, checked.err);
    assert!(
        output.contains(told) && checked.status != 0,
        "{state}: {checked:?}"
    );
    match fix {
        Edit(edit) => edit(user),
        Run(command) => {
            assert!(
                output.contains(&format!("`{command}`")),
                "{state}: {output}"
            );
            let command = command.replace("[DIR]/", user.path("").to_str().unwrap());
            let asks = [
                "forge-hooks trust",
                "forge-hooks install",
                "forge-hooks add --update",
            ];
            let is_asking = asks.iter().any(|asking| command.starts_with(asking));
            let yes = if is_asking { " --yes" } else { "" };
            let ran = shell(user, &format!("{command}{yes}"));
            assert_eq!(ran.status, 0, "{state}: {ran:?}");
        }
    }
    let clean = run(user, &check);
    assert_eq!(clean.status, 0, "{state}: {clean:?}");
}

/// An entry that is wrong, and the file and the line that `check` names.
fn wrong_entries() -> Vec<Broken> {
    let line = "forge-hooks/hooks.json:2:";
    let row = |state, breaks| broken(state, breaks, line, Edit(has_good));
    vec![
        row("a comma is missing", |user| {
            has_entry(user, &format!("{GOOD} {GOOD}"));
        }),
        row("single quotes", |user| {
            has_entry(user, "{'event': '*', 'command': 'true'}");
        }),
        row("a comment of a shell", |user| {
            has_entry(user, &format!("# a guard\n{GOOD}"));
        }),
        row("a key with a typo", |user| {
            has_entry(user, r#"{"event": "*", "comand": "true"}"#);
        }),
        row("an event with a typo", |user| {
            has_entry(user, r#"{"event": "tool:pre_exec", "command": "true"}"#);
        }),
        row("an agent's name of a tool", |user| {
            has_entry(
                user,
                r#"{"event": "tool:pre_execute:Bash", "command": "true"}"#,
            );
        }),
        row("a number in quotes", |user| {
            has_entry(user, r#"{"event": "*", "command": "true", "timeout": "5"}"#);
        }),
        row("an unknown value", |user| {
            has_entry(
                user,
                r#"{"event": "*", "command": "true", "on_failure": "ignore"}"#,
            );
        }),
        row("no command", |user| has_entry(user, r#"{"event": "*"}"#)),
        row("a script with a relative path", |user| {
            has_entry(user, r#"{"event": "*", "command": "./guard.sh"}"#);
        }),
        row("a script that is missing", |user| {
            has_entry(user, r#"{"event": "*", "command": "/no/such/guard.sh"}"#);
        }),
        row("a program that is missing", |user| {
            has_entry(user, r#"{"event": "*", "args": ["jqq", "."]}"#);
        }),
        row("an interpreter that is missing", |user| {
            has_entry(user, r#"{"event": "*", "command": "python9 -c 'exit()'"}"#);
        }),
        row("a case that does not hold", |user| {
            has_entry(
                user,
                r#"{"event": "tool:pre_execute:bash", "when": {"/tool_args/command": {"runs": "sudo"}}, "answer": {"decision": "block"}, "cases": {"matches": ["ls"]}}"#,
            );
        }),
        row("a condition on the text of a command", |user| {
            has_entry(
                user,
                r#"{"event": "tool:pre_execute:bash", "when": {"/tool_args/command": "*sudo*"}, "answer": {"decision": "block"}}"#,
            );
        }),
    ]
}

/// A hooks file that cannot be used as a whole, or is not read.
fn wrong_files() -> Vec<Broken> {
    let line = "forge-hooks/hooks.json:1:";
    vec![
        broken(
            "the end is missing",
            |user| drop(user.write(USERS, &format!("{{\"hooks\": [{GOOD}"))),
            line,
            Edit(has_good),
        ),
        broken(
            "an empty file",
            |user| drop(user.write(USERS, "")),
            "a file without hooks is {}",
            Edit(has_good),
        ),
        broken(
            "a list without its object",
            |user| drop(user.write(USERS, &format!("[{GOOD}]"))),
            r#"write {"hooks": [ ... ]} around the list"#,
            Edit(has_good),
        ),
        broken(
            "an entry without its list",
            |user| drop(user.write(USERS, GOOD)),
            r#"write {"hooks": [ ... ]} around the entry"#,
            Edit(has_good),
        ),
        broken(
            "the list with a typo",
            |user| drop(user.write(USERS, "{\"hoks\": []}")),
            "did you mean `hooks`?",
            Edit(has_good),
        ),
        broken(
            "a file that others can write",
            |user| {
                has_good(user);
                fs::set_permissions(user.path(USERS), fs::Permissions::from_mode(0o646)).unwrap();
            },
            "the file is world-writable",
            Run("chmod o-w [DIR]/home/.config/forge-hooks/hooks.json"),
        ),
        broken(
            "a link to nothing",
            |user| {
                fs::remove_file(user.path(USERS)).unwrap();
                symlink("/no/such", user.path(USERS)).unwrap();
            },
            "a link to a file that does not exist",
            Edit(|user| {
                fs::remove_file(user.path(USERS)).unwrap();
                has_good(user);
            }),
        ),
        broken(
            "a script that is not executable",
            |user| {
                let script = user.write("guard.sh", "#!/bin/sh\nexit 0\n");
                has_entry(user, &json!({"event": "*", "args": [script]}).to_string());
            },
            "is not executable",
            Run("chmod +x [DIR]/guard.sh"),
        ),
        broken(
            "a user's file with another name",
            |user| {
                fs::rename(
                    user.path(USERS),
                    user.path("home/.config/forge-hooks/hooks.jsonc"),
                )
                .unwrap();
            },
            "hooks.jsonc`: this file is not read",
            Run(
                "mv [DIR]/home/.config/forge-hooks/hooks.jsonc [DIR]/home/.config/forge-hooks/hooks.json",
            ),
        ),
        broken(
            "a pack of another version",
            |user| {
                assert_eq!(run(user, &["add", "git"]).status, 0);
                let older = make_older(&user.read(GIT));
                user.write(GIT, &older);
            },
            "version 0 of the pack `git` is not that of this program",
            Run("forge-hooks add --update git"),
        ),
    ]
}

/// Each row changes a project after its approval.
fn wrong_approvals() -> Vec<Broken> {
    let row = |state, breaks, told| broken(state, breaks, told, Run("forge-hooks trust"));
    vec![
        row(
            "never approved",
            |user| fs::remove_file(user.path(STORE)).unwrap(),
            "1 hook is not approved and does not run",
        ),
        row(
            "revoked",
            |user| assert_eq!(run(user, &["trust", "--revoke", "--yes"]).status, 0),
            "1 hook is not approved and does not run",
        ),
        row(
            "a changed script",
            |user| drop(user.write(SCRIPT, "exit 1")),
            "`guard.sh` has changed since the hook was approved",
        ),
        row(
            "a changed hook",
            |user| change(user, PROJECTS, "guard.sh\"", "guard.sh --new\""),
            "changed or been removed",
        ),
        row(
            "a new hook",
            |user| {
                change(
                    user,
                    PROJECTS,
                    "[",
                    "[{\"event\": \"*\", \"command\": \"true\"}, ",
                )
            },
            "1 hook is not approved",
        ),
        row(
            "a hook that is gone",
            |user| drop(user.write(PROJECTS, &hooks(&json!([])))),
            "changed or been removed",
        ),
        row(
            "a file that is gone",
            |user| {
                has_project(user);
                assert_eq!(run(user, &["trust", "--yes"]).status, 0);
                fs::remove_file(user.path(PROJECTS)).unwrap();
            },
            "changed or been removed",
        ),
        broken(
            "a store that cannot be read",
            |user| {
                has_project(user);
                user.write(STORE, "{");
            },
            "trust.json` cannot be read",
            Edit(|user| {
                fs::remove_file(user.path(STORE)).unwrap();
                assert_eq!(run(user, &["trust", "--yes"]).status, 0);
            }),
        ),
        broken(
            "a broken file of the project",
            |user| change(user, PROJECTS, "]", ""),
            ".forge-hooks/hooks.json:1:",
            Edit(has_project),
        ),
    ]
}

fn has_project(user: &User) {
    let hook = json!([{"event": "*", "name": "guard", "command": "sh ./guard.sh"}]);
    user.write(PROJECTS, &hooks(&hook));
}

#[test]
fn each_fix_repairs_a_hooks_file() {
    let user = User::new();
    has_good(&user);
    assert_eq!(run(&user, &["check", "--strict"]).status, 0);
    for row in wrong_entries().iter().chain(&wrong_files()) {
        is_repaired(&user, row, &[]);
    }
}

#[test]
fn each_fix_repairs_an_approval() {
    let user = User::new();
    has_good(&user);
    user.write(SCRIPT, "exit 0");
    has_project(&user);
    assert_eq!(run(&user, &["trust", "--yes"]).status, 0);
    assert_eq!(run(&user, &["check", "--strict"]).status, 0);
    for row in wrong_approvals() {
        is_repaired(&user, &row, &[]);
    }
}

/// A file of the project that is not read has two steps: its name, and then its approval.
#[test]
fn each_fix_finds_a_file_that_is_not_read() {
    for (name, rename) in [
        (
            "hooks.json",
            "mkdir -p .forge-hooks && mv hooks.json .forge-hooks/hooks.json",
        ),
        (
            ".forge/hook.json",
            "mkdir -p .forge-hooks && mv .forge/hook.json .forge-hooks/hooks.json",
        ),
        (
            ".forge-hooks/hooks.jsonc",
            "mv .forge-hooks/hooks.jsonc .forge-hooks/hooks.json",
        ),
    ] {
        let user = User::new();
        has_good(&user);
        user.write(&format!("project/{name}"), &user.read(USERS));
        let broken = run(&user, &["check"]);
        let is_told = broken.out.contains("this file is not read")
            && broken.out.contains(&format!("`{rename}`"));
        assert!(is_told, "{broken:?}");
        for command in [rename, "forge-hooks trust --yes"] {
            let ran = shell(&user, command);
            assert_eq!(ran.status, 0, "{ran:?}");
        }
        let clean = run(&user, &["check", "--strict"]);
        assert_eq!(clean.status, 0, "{clean:?}");
    }
}

/// The agents, with their files.
const AGENTS: [(&str, &str); 10] = [
    ("claude", "home/.claude/settings.json"),
    ("codex", "home/.codex/hooks.json"),
    ("gemini", "home/.gemini/settings.json"),
    ("copilot", "home/.copilot/hooks/forge-hooks.json"),
    ("qwen", "home/.qwen/settings.json"),
    ("kimi", "home/.kimi-code/config.toml"),
    ("opencode", "home/.config/opencode/plugin/forge-hooks.js"),
    ("kilo", "home/.config/kilo/plugin/forge-hooks.js"),
    ("pi", "home/.pi/agent/extensions/forge-hooks.ts"),
    ("grok", "home/.grok/hooks/forge-hooks.json"),
];

/// A change of the text with which an agent starts the program.
type Change = fn(&User, &str) -> String;

const GONE: Change = |_, _| String::new();
const NOTHING: Change = |_, _| "{}\n".to_owned();
const OTHER_VERSION: Change = |_, text| {
    let text = text.replace("--timeout ", "--timeout=1 --timeout ");
    text.replace("\"--timeout\",", "\"--timeout=1\",\"--timeout\",")
};
const MOVED: Change = |user, text| {
    let program = user.own_program();
    text.replace(program.to_str().unwrap(), "/no/such/forge-hooks")
};
const OTHER_PATH: Change = |_, text| {
    let value = regex::Regex::new(r#"(--path(?: '?|","))[^'"\\]+"#).unwrap();
    value.replace_all(text, "${1}/no/such").into_owned()
};
const NO_EVENT: Change = |_, text| {
    let names = ["PreToolUse", "BeforeTool"];
    let names = names
        .iter()
        .flat_map(|name| [format!("\"{name}\":"), format!("\"{name}\"\n")]);
    names.fold(text.to_owned(), |text, name| {
        text.replace(&name, &name.replace("Tool", "Tol"))
    })
};
const EDITED: Change = |_, text| text.to_owned() + "// mine\n";
const FOREIGN: Change = |_, _| "export const Mine = 1\n".to_owned();

#[test]
fn each_fix_repairs_a_registration() {
    let user = User::new();
    has_good(&user);
    user.has_codex();
    let names = AGENTS.map(|(name, _)| name);
    let installed = run(&user, &[&["install"], &names[..], &["--yes"]].concat());
    assert_eq!(installed.status, 0, "{installed:?}");
    let nothing = "does not start this program";
    let other = "another version has registered it, or a person has changed it";
    let missing = "it starts `/no/such/forge-hooks`, which is not there";
    for (agents, change, told) in [
        (&["codex", "kimi", "kilo", "pi", "grok"][..], GONE, nothing),
        (&["claude", "gemini", "copilot", "qwen"], NOTHING, nothing),
        (&["claude", "copilot", "kimi", "pi"], OTHER_VERSION, other),
        (&["gemini", "opencode", "grok"], MOVED, missing),
        (&["claude", "kimi", "kilo"], OTHER_PATH, other),
        (&["codex", "qwen", "kimi", "gemini"], NO_EVENT, other),
        (&["opencode", "kilo", "pi"], EDITED, other),
    ] {
        let of = |agent: &str| AGENTS.iter().find(|(name, _)| *name == agent).unwrap().1;
        for agent in agents {
            let text = change(&user, &user.read(of(agent)));
            user.write(of(agent), &text);
            if text.is_empty() {
                fs::remove_file(user.path(of(agent))).unwrap();
            }
        }
        let named: Vec<_> = agents.iter().flat_map(|agent| ["--agent", agent]).collect();
        let check = [&["check"], &named[..]].concat();
        let broken = run(&user, &check);
        assert_eq!(
            broken.out.matches(told).count(),
            agents.len(),
            "{told}: {broken:?}"
        );
        for agent in agents {
            let command = format!("forge-hooks install {agent}");
            assert!(
                broken.out.contains(&format!("`{command}`")),
                "{agent}: {broken:?}"
            );
            let repaired = shell(&user, &format!("{command} --yes"));
            assert_eq!(repaired.status, 0, "{agent}: {repaired:?}");
        }
        let clean = run(&user, &check);
        assert_eq!(clean.status, 0, "{told}: {clean:?}");
    }
}

/// Writes a key of the settings of Claude Code.
fn claude_has(user: &User, key: &str, value: Value) {
    let file = "home/.claude/settings.json";
    let mut settings: Value = serde_json::from_str(&user.read(file)).unwrap();
    settings[key] = value;
    user.write(file, &settings.to_string());
}

fn claude_has_no(user: &User) {
    let file = "home/.claude/settings.json";
    let mut settings: Value = serde_json::from_str(&user.read(file)).unwrap();
    for key in ["disableAllHooks", "env"] {
        settings.as_object_mut().unwrap().remove(key);
    }
    user.write(file, &settings.to_string());
}

#[test]
fn each_fix_repairs_the_settings_of_an_agent() {
    let user = User::new();
    has_good(&user);
    fs::create_dir_all(user.path("home/.claude")).unwrap();
    let plugin = "home/.config/opencode/plugin/forge-hooks.js";
    let installed = run(&user, &["install", "claude", "opencode", "--yes"]);
    assert_eq!(installed.status, 0, "{installed:?}");
    let row = |state, breaks, told| broken(state, breaks, told, Edit(claude_has_no));
    for row in [
        row(
            "hooks switched off",
            |user| claude_has(user, "disableAllHooks", json!(true)),
            "`disableAllHooks` is true",
        ),
        row(
            "a prefix of shells",
            |user| claude_has(user, "env", json!({"CLAUDE_CODE_SHELL_PREFIX": "/bin/x"})),
            "sets `CLAUDE_CODE_SHELL_PREFIX` for hooks",
        ),
        row(
            "the safe mode",
            |user| claude_has(user, "env", json!({"CLAUDE_CODE_SAFE_MODE": "1"})),
            "sets `CLAUDE_CODE_SAFE_MODE` for hooks",
        ),
        row(
            "a function of a shell",
            |user| claude_has(user, "env", json!({"BASH_FUNC_printf%%": "() { exit 0; }"})),
            "sets `BASH_FUNC_printf%%` for hooks",
        ),
        broken(
            "the end is missing",
            |user| {
                let file = "home/.claude/settings.json";
                user.write(file, user.read(file).trim_end().strip_suffix('}').unwrap());
            },
            ".claude/settings.json:1:",
            Edit(|user| {
                let file = "home/.claude/settings.json";
                fs::remove_file(user.path(file)).unwrap();
                assert_eq!(run(user, &["install", "claude", "--yes"]).status, 0);
            }),
        ),
    ] {
        is_repaired(&user, &row, &["--agent", "claude"]);
    }
    let row = broken(
        "the plugin of another program",
        |user| {
            let plugin = "home/.config/opencode/plugin/forge-hooks.js";
            user.write(plugin, &FOREIGN(user, ""));
        },
        "the file is not the plugin that `install` writes: move it elsewhere",
        Edit(|user| {
            let plugin = user.path("home/.config/opencode/plugin/forge-hooks.js");
            fs::rename(&plugin, user.path("home/mine.js")).unwrap();
            assert_eq!(run(user, &["install", "opencode", "--yes"]).status, 0);
        }),
    );
    is_repaired(&user, &row, &["--agent", "opencode"]);
    assert!(user.path(plugin).exists());
}

#[test]
fn a_variable_that_disables_hooks_is_unset() {
    let user = User::new();
    has_good(&user);
    let broken = shell(
        &user,
        "export FORGE_HOOKS_DISABLE=1; forge-hooks check --strict",
    );
    let fix = "unset FORGE_HOOKS_DISABLE";
    let is_told = broken.out.contains("no hook runs") && broken.out.contains(&format!("`{fix}`"));
    assert!(is_told && broken.status == 1, "{broken:?}");
    let script = format!("export FORGE_HOOKS_DISABLE=1; {fix}; forge-hooks check --strict");
    let clean = shell(&user, &script);
    assert_eq!(clean.status, 0, "{clean:?}");
}

#[test]
fn without_any_guard_there_is_a_command_that_adds_some() {
    let user = User::new();
    fs::create_dir_all(user.path("home/.config")).unwrap();
    assert_eq!(run(&user, &["install", "claude", "--yes"]).status, 0);
    let row = broken(
        "no hook",
        |_| {},
        "there are no hooks, so nothing is guarded",
        Run("forge-hooks add git rm secrets"),
    );
    is_repaired(&user, &row, &[]);
    let row = broken(
        "hooks that are switched off",
        |user| {
            fs::remove_dir_all(user.path("home/.config/forge-hooks/hooks.d")).unwrap();
            has_entry(
                user,
                r#"{"event": "*", "command": "true", "enabled": false}"#,
            );
        },
        "all hooks are switched off, so nothing is guarded",
        Run("forge-hooks add git rm secrets"),
    );
    is_repaired(&user, &row, &[]);
}
