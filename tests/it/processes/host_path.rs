//! The `PATH` and the `SHELL` of the host: a project must not be able to replace a program.

use forge_hooks::compat::{CLAUDE, CODEX};
use forge_hooks::hook::Shell;
use forge_hooks::{Hook, HookConfig, Sandbox};

use crate::support::{World, alone, hook, hook_of, run_alone};

/// The `PATH` of a hook that inherits none, or nothing of whose `PATH` is left.
const DEFAULT: &str = "/usr/local/bin:/usr/bin:/bin";

/// Set in the process of a test.
const ALONE: &str = "FORGE_HOOKS_TEST_PATH";

/// A clone with programs where entries of `PATH` could lead to.
fn clone() -> World {
    let clone = World::new();
    for tool in ["tool", "bin/tool"] {
        clone.script(tool, "#!/bin/sh\necho project\n");
    }
    clone.script("guard", "#!/usr/bin/env tool\n");
    clone
}

/// Hooks that run `tool` in each way in which a program is looked up, with the name of the way.
fn ways() -> Vec<(&'static str, Hook)> {
    let program = |args: &[&str]| Hook::program("*", args.iter().copied()).unwrap();
    let mut ways = vec![
        ("shell", hook("*", "tool; true")),
        ("named shell", hook("*", "tool").with_shell(Shell::Sh)),
        ("program", program(&["tool"])),
        ("interpreter", hook("*", "./guard")),
        ("interpreter of a program", program(&["./guard"])),
        (
            "inherited by name",
            hook("*", "tool; true").with_inherit(["PATH"]),
        ),
        (
            "another agent",
            hook_of(CLAUDE, "PreToolUse", "", "tool; true"),
        ),
        (
            "another agent's script",
            hook_of(CLAUDE, "PreToolUse", "", "./guard"),
        ),
    ];
    if Sandbox::support().is_ok() {
        let confined = hook("*", "tool; true").with_sandbox(Sandbox::new().reading(["/"]));
        ways.push(("confined", confined));
    }
    ways
}

#[test]
fn no_program_of_a_project_replaces_another() {
    let test = "processes::host_path::no_program_of_a_project_replaces_another";
    if std::env::var_os(ALONE).is_none() {
        let user = World::new();
        user.script("own/tool", "#!/bin/sh\necho own\n");
        let own = user.path("own");
        for before in [".:", ":", "./bin:", "bin:..::"] {
            let path = format!("{before}{}:/usr/bin:/bin:", own.display());
            run_alone(test, |command| command.env("PATH", path).env(ALONE, "1"));
        }
        return;
    }
    let clone = clone();
    for (way, hook) in ways() {
        let result = clone.one(hook);
        assert_eq!(result.stdout(), "own\n", "{way}: {:?}", result.error());
    }
    // A process that is kept, and does not answer.
    let kept = hook("*", "tool > kept").with_resident();
    assert!(!clone.one(kept).success());
    assert_eq!(clone.read("kept"), "own\n");
    // A `PATH` that the hook's author has written is kept.
    for path in [".:/usr/bin:/bin", ":/usr/bin:/bin", "./bin:/usr/bin:/bin"] {
        let result = clone.one(hook("*", "tool").with_env("PATH", path));
        assert_eq!(result.stdout(), "project\n", "{path}");
    }
}

#[test]
fn absolute_entries_stay_as_they_are() {
    let test = "processes::host_path::absolute_entries_stay_as_they_are";
    const EXPECTED: &str = "FORGE_HOOKS_TEST_EXPECTED";
    let Ok(expected) = std::env::var(EXPECTED) else {
        for (path, expected) in [
            (Some("/usr/bin:/bin"), "/usr/bin:/bin"),
            (Some("/bin:/x y:/ä:/../bin/"), "/bin:/x y:/ä:/../bin/"),
            (Some("a:/b::/c:"), "/b:/c"),
            (Some("~/bin:/b"), "/b"),
            (Some("."), DEFAULT),
            (Some(""), DEFAULT),
            (Some(":"), DEFAULT),
            (None, DEFAULT),
        ] {
            run_alone(test, |command| match path {
                Some(path) => command.env("PATH", path).env(EXPECTED, expected),
                None => command.env_remove("PATH").env(EXPECTED, expected),
            });
        }
        return;
    };
    let world = World::new();
    let print = || Hook::program("*", ["/usr/bin/printenv", "PATH"]).unwrap();
    for hook in [print(), print().with_inherit(["PATH"])] {
        assert_eq!(world.one(hook).stdout().trim_end(), expected);
    }
}

/// A host may set its environment after it has built the executor.
#[test]
fn a_path_that_changes_later_is_checked_too() {
    if !alone("processes::host_path::a_path_that_changes_later_is_checked_too") {
        return;
    }
    let clone = clone();
    let print = || Hook::program("*", ["/usr/bin/printenv", "PATH"]).unwrap();
    for (path, expected) in [
        ("/usr/bin:/bin", "/usr/bin:/bin"),
        (".:/usr/bin", "/usr/bin"),
        ("/bin", "/bin"),
    ] {
        // SAFETY: this process has no other test, and no hook runs now.
        #[allow(unsafe_code)]
        unsafe {
            std::env::set_var("PATH", path);
        }
        assert_eq!(clone.one(print()).stdout().trim_end(), expected);
    }
}

/// Another agent's hooks run under bash if there is one on the `PATH`; else under `sh`.
#[test]
fn the_shell_of_a_project_is_not_used() {
    let test = "processes::host_path::the_shell_of_a_project_is_not_used";
    let clone = clone();
    clone.script("bin/bash", "#!/bin/sh\necho project\n");
    if std::env::var_os(ALONE).is_none() {
        return run_alone(test, |command| {
            let command = command.current_dir(clone.directory());
            command.env("PATH", "bin:/nonexistent").env(ALONE, "")
        });
    }
    let result = clone.one(hook_of(CLAUDE, "PreToolUse", "", "echo \"$0\""));
    assert!(result.stdout().ends_with("sh\n"), "{result:?}");
}

/// Codex runs a command with the user's shell, `SHELL`.
#[test]
fn a_login_shell_of_a_project_is_not_used() {
    let test = "processes::host_path::a_login_shell_of_a_project_is_not_used";
    let clone = clone();
    for shell in ["bash", "bin/bash"] {
        clone.script(shell, "#!/bin/sh\necho project\n");
    }
    if std::env::var_os(ALONE).is_none() {
        for shell in ["./bash", "bin/bash", "bash", "~/bash", ""] {
            run_alone(test, |command| {
                let command = command.current_dir(clone.directory());
                command.env("SHELL", shell).env(ALONE, "")
            });
        }
        return;
    }
    let result = clone.one(hook_of(CODEX, "PreToolUse", "", "echo \"$0\""));
    assert_eq!(result.stdout(), "/bin/sh\n", "{result:?}");
}

/// Other variables are passed on as they are. docs/gotchas.md says so, and how a guard keeps them out.
#[test]
fn a_guard_can_refuse_the_modules_of_a_project() {
    let test = "processes::host_path::a_guard_can_refuse_the_modules_of_a_project";
    let Ok(variable) = std::env::var(ALONE) else {
        for (variable, value) in [("PYTHONPATH", ":/nonexistent"), ("BASH_ENV", "env.sh")] {
            run_alone(test, |command| {
                command.env(variable, value).env(ALONE, variable)
            });
        }
        return;
    };
    let clone = clone();
    clone.write("colorsys.py", "print('project')");
    clone.write("env.sh", "echo project");
    let user = World::new();
    let guard = user.write("guard.py", "import colorsys\nprint('own')");
    let hook = match &*variable {
        "BASH_ENV" => hook("*", "echo own").with_shell(Shell::Bash),
        _ => Hook::program("*", ["python3", guard.to_str().unwrap()]).unwrap(),
    };
    let result = clone.one(hook.clone());
    assert_eq!(result.stdout(), "project\nown\n", "{variable}");
    for safe in [
        hook.clone().with_env(&variable, ""),
        hook.with_inherit(["PATH", "HOME", "LANG", "LC_*"]),
    ] {
        assert_eq!(clone.one(safe).stdout(), "own\n", "{variable}");
    }
}

/// The program says that a hook would not find its program.
#[test]
fn a_program_of_the_project_counts_as_missing() {
    let test = "processes::host_path::a_program_of_the_project_counts_as_missing";
    let clone = clone();
    if std::env::var_os(ALONE).is_none() {
        return run_alone(test, |command| {
            let command = command.current_dir(clone.directory());
            command.env("PATH", "bin:/usr/bin").env(ALONE, "")
        });
    }
    let entry = r#"{"hooks": [{"event": "tool:*", "args": ["tool"]}]}"#;
    let config = HookConfig::default();
    let report = config.check(clone.write(".src/forge/hooks.json", entry));
    let problem = report.problems.first().map(ToString::to_string);
    let problem = problem.unwrap_or_default();
    assert!(
        problem.contains("`tool` is not found in `PATH`"),
        "{problem}"
    );
}
