//! The variables that were given to an executor. They replace those of this process, which a program may have set that must
//! not choose the hooks that run.

#![allow(clippy::unwrap_used)]

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::{AppProfile, FireOptions, Hook, HookEvent, HookExecutor, Hooks};

/// Runs a test in a process whose environment leads to another directory, and pretends that a hook above has set everything.
fn in_hostile_environment(test: &str, run: impl FnOnce(&Path)) {
    const RUNS: &str = "RUNS_IN_HOSTILE_ENVIRONMENT";
    if let Some(directory) = std::env::var_os(RUNS) {
        return run(directory.as_ref());
    }
    let directory = tempfile::tempdir().unwrap();
    for place in ["own", "hostile"] {
        let place = directory.path().join(place);
        std::fs::create_dir(&place).unwrap();
        let tool = place.join("tool");
        std::fs::write(&tool, "#!/bin/sh\nenv\n").unwrap();
        std::fs::set_permissions(&tool, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let hostile = directory.path().join("hostile");
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("executor::variables_tests::{test}")])
        .env(RUNS, directory.path())
        .env("PATH", format!("{}:/usr/bin:/bin", hostile.display()))
        .env("GUARDS", &hostile)
        .env("OF_HOSTILE", "1")
        .env("FORGE_HOOK_VARIABLES", "PATH GUARDS LC_NAME")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    // If the name of the test is wrong, no test runs.
    assert!(printed.contains("1 passed"), "{printed}");
}

/// The variables of a user whose programs and guards are in `own`. The `PATH` is set twice, and an entry of it is not absolute.
fn of_user(directory: &Path) -> Vec<(OsString, OsString)> {
    let own = directory.join("own").display().to_string();
    let path = format!("{own}:relative:/usr/bin:/bin");
    let other = "/nowhere".to_owned();
    let variables = [
        ("PATH", other),
        ("PATH", path),
        ("GUARDS", own),
        ("LC_NAME", "de".into()),
    ];
    variables
        .map(|(name, value)| (name.into(), value.into()))
        .into()
}

#[test]
fn a_hook_has_only_what_was_given() {
    in_hostile_environment("a_hook_has_only_what_was_given", |directory| {
        let own = directory.join("own");
        let executor = || HookExecutor::builder().variables(of_user(directory));
        let path = ["PATH", "LC_*"];
        for (executor, inherit) in [
            (executor(), None),
            (executor(), Some(json!(path))),
            (executor().inherit(path), None),
            (executor().inherit(["GUARDS"]), Some(json!(["*"]))),
        ] {
            let executor = executor.build();
            for command in [
                json!({"args": ["tool"]}),
                json!({"command": "tool"}),
                json!({"command": "tool | cat"}),
            ] {
                let mut entry = command;
                entry["event"] = "*".into();
                if let Some(inherit) = &inherit {
                    entry["inherit"] = inherit.clone();
                }
                executor.registry().clear();
                executor
                    .registry()
                    .register(Hook::from_json(&entry).unwrap());
                let outcome = executor.execute(&HookEvent::user_interrupt(), FireOptions::new());
                let printed: Vec<&str> = outcome.results()[0].stdout().lines().collect();
                let has = |line: &str| printed.contains(&line);
                let path = format!("PATH={}:/usr/bin:/bin", own.display());
                assert!(has(&path) && has("LC_NAME=de"), "{entry} {printed:?}");
                assert!(!has("OF_HOSTILE=1"), "{entry} {printed:?}");
            }
        }
    });
}

#[test]
fn a_program_is_looked_up_in_the_path_that_was_given() {
    in_hostile_environment(
        "a_program_is_looked_up_in_the_path_that_was_given",
        |directory| {
            std::fs::write(directory.join("own/tool"), "#!/bin/sh\necho own\n").unwrap();
            let executor = HookExecutor::builder()
                .variables(of_user(directory))
                .build();
            executor
                .registry()
                .register(Hook::program("*", ["tool"]).unwrap());
            executor
                .registry()
                .register(Hook::new("*", "tool").unwrap());
            executor
                .registry()
                .register(Hook::new("*", "tool | cat").unwrap());
            let outcome = executor.execute(&HookEvent::user_interrupt(), FireOptions::new());
            let printed: Vec<_> = outcome
                .results()
                .iter()
                .map(|result| result.stdout().trim())
                .collect();
            assert_eq!(printed, ["own", "own", "own"]);
        },
    );
}

/// The given variables lead to the files of a kept hook and to the files that decide.
#[test]
fn a_script_is_looked_for_where_the_hook_finds_it() {
    in_hostile_environment(
        "a_script_is_looked_for_where_the_hook_finds_it",
        |directory| {
            let script = directory.join("own/guard.sh");
            let answering = |reason: &str| {
                let id = r#"id=$(expr "$line" : '.*"id":"\([^"]*\)"')"#;
                let answer = format!(r#"{{\"id\": \"$id\", \"reason\": \"{reason}\"}}"#);
                let text = format!("while read -r line; do {id}; echo \"{answer}\"; done\n");
                std::fs::write(&script, text).unwrap();
            };
            answering("first");
            let entry =
                json!({"event": "*", "command": "exec sh \"$GUARDS\"/guard.sh", "resident": true});
            let hooks = Hooks::builder(AppProfile::new("mygame"))
                .config_home(directory.join("config"))
                .executor(HookExecutor::builder().variables(of_user(directory)))
                .load();
            hooks
                .executor()
                .registry()
                .register(Hook::from_json(&entry).unwrap());
            assert!(hooks.decides(&script));
            assert!(!hooks.decides(directory.join("hostile/guard.sh")));

            let reason = || {
                let outcome = hooks
                    .executor()
                    .execute(&HookEvent::user_interrupt(), FireOptions::new());
                let output = outcome.results()[0].output();
                let reason = output.and_then(|output| output.reason.clone());
                reason.unwrap_or_else(|| panic!("{outcome:?}"))
            };
            assert_eq!(reason(), "first");
            answering("another");
            assert_eq!(reason(), "another");
        },
    );
}
