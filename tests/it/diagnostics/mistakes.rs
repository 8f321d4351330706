//! Mistakes that authors of hooks make: each is reported with its place and its fix.
//!
//! A case of `mistakes.txt` begins with `== NAME`; `-- FILE` is followed by the text of a file, and `$ COMMAND` by what its
//! output contains, in lines that begin with `> `: at least the place, and what is wrong with its fix. Lines that begin with
//! `! ` follow the advice: the text before ` => ` is replaced by the one behind it, and then nothing is reported.

use serde_json::json;

use forge_hooks::config::TrustPolicy;
use forge_hooks::{AppProfile, EventSpec, FailurePolicy, HookConfig, Hooks};

use crate::cases::{Case, cases, each_at_once};
use crate::program::User;
use crate::support::{World, blocking_event, hook};

const FUNCTIONS: &str = r#"
before_bash() { args=$1; shift; forge-hooks fire tool:pre_execute --tool bash --args "$args" "$@"; }
ls() { before_bash '{"command":"ls"}' "$@"; }
"#;

/// Returns whether a report has no problem but that hooks are not approved.
fn is_clean(report: &str) -> bool {
    let warnings = report.matches("warning: ").count();
    report.contains("0 errors, ") && warnings == report.matches("not approved and do").count()
}

fn check(case: &Case) {
    let name = case.name;
    let mut files = case.parts(&["-- ", "$ "]);
    let (command, expected) = files.pop().unwrap();
    let command = command.strip_prefix("$ ").unwrap();
    let user = User::new();
    std::fs::create_dir_all(user.path("home")).unwrap();
    let lines = |mark| {
        expected
            .lines()
            .filter_map(move |line| line.strip_prefix(mark))
    };
    let printed = |fixes: &[(&str, &str)]| {
        for (path, text) in &files {
            let path = path.strip_prefix("-- ").unwrap();
            let apply = |text: String, (old, new): &(&str, &str)| text.replace(old, new);
            user.write(path, &fixes.iter().fold(text.clone(), apply));
        }
        let mut shell = user.shell(&format!("{FUNCTIONS}{command}"));
        user.printed(shell.output().unwrap()).out
    };
    let report = printed(&[]);
    assert!(lines("> ").count() > 1, "{name}: the place and the fix");
    for words in lines("> ") {
        assert!(report.contains(words), "{name}: no {words:?} in {report}");
    }
    let fixes: Vec<_> = lines("! ")
        .map(|fix| fix.split_once(" => ").unwrap())
        .collect();
    if !fixes.is_empty() {
        let report = printed(&fixes);
        assert!(is_clean(&report), "{name}: after {fixes:?}: {report}");
    }
}

#[test]
fn mistakes_are_told_with_place_and_fix() {
    let cases = cases(include_str!("mistakes.txt"));
    assert!(cases.len() >= 28);
    each_at_once(&cases, check);
}

/// The library alone reports these mistakes, without the program.
#[test]
fn a_host_is_told_of_what_was_meant_to_block() {
    let world = World::new();
    world.hook("*", r#"echo '{"block": true}'"#);
    world.hook("*", r#"echo '{"level": "info"}'"#);
    let outcome = world.outcome(&blocking_event());
    assert!(outcome.allowed());
    let failures = outcome.failures();
    let message = "on `tool:pre_execute`: `\"block\": true` is not an answer";
    assert!(failures[0].contains(message), "{failures:?}");
    assert_eq!(failures.len(), 1, "{failures:?}");
}

#[test]
fn reasons_and_failures_mask_secrets() {
    let world = World::new();
    let hook = |name: &str| {
        let hook = hook("*", "echo \"refused: $KEY_OF_MINE\"; exit 1").with_name(name);
        hook.with_env("KEY_OF_MINE", "hunter2-hunter2")
    };
    world.add(hook("fails").with_on_failure(FailurePolicy::Continue));
    world.add(hook("blocks"));
    let outcome = world.outcome(&blocking_event());
    assert_eq!(outcome.reason(), Some("refused: [redacted]"));
    let error = outcome.check().unwrap_err().to_string();
    assert!(!error.contains("hunter2"), "{error}");
    assert!(outcome.results()[0].stdout().contains("hunter2"));
    world.registry().clear();
    world.add(hook("fails").with_on_failure(FailurePolicy::Continue));
    let failures = world.outcome(&blocking_event()).failures().concat();
    assert!(failures.contains("refused: [redacted]"), "{failures}");
    // The command stands there if a hook has no name.
    world.registry().clear();
    let unnamed =
        |end: &str| crate::support::hook("*", &format!("false --token hunter2-hunter2; {end}"));
    world.add(unnamed("exit 1").with_on_failure(FailurePolicy::Continue));
    let failures = world.outcome(&blocking_event()).failures().concat();
    assert!(failures.contains("--token [redacted]"), "{failures}");
    world.add(unnamed("exit 2"));
    let error = world.outcome(&blocking_event()).check().unwrap_err();
    let error = error.to_string();
    assert!(error.contains("--token [redacted]"), "{error}");
    // The text that replaces an output for the model, and the reason why the turn ends, are redacted too.
    world.registry().clear();
    let after = forge_hooks::HookEvent::tool_post_execute("bash", "ls", "output");
    let says = |answer: &str| crate::support::hook("*", &format!("echo '{answer}'"));
    let withholds = says(r#"{"decision": "block", "reason": "password=hunter2-hunter2"}"#);
    world.add(withholds.with_on_failure(FailurePolicy::Withhold));
    let outcome = world.outcome(&after);
    let note = outcome.updated_output().unwrap().to_string();
    assert!(note.contains("password=[redacted]"), "{note}");
    let stops = says(r#"{"continue": false, "reason": "password=hunter2-hunter2"}"#);
    world.registry().clear();
    world.add(stops);
    let outcome = world.outcome(&after);
    assert_eq!(outcome.stop_reason(), Some("password=[redacted]"));
}

#[test]
fn a_load_looks_at_no_programs() {
    let world = World::new();
    let text = r#"{"hooks": [
        {"event": "*", "command": "sh ./none.sh"},
        {"event": "*", "args": ["nosuchprogram"]},
        {"event": "tool:post_execute", "command": "sh ./of_claude.sh"},
        {"event": "tool:pre_execute", "command": "sh ./of_claude.sh"}
    ]}"#;
    let path = world.write(".src/forge/hooks.json", text);
    world.write("of_claude.sh", "jq .tool_input");
    let config = HookConfig::default().with_config_home(world.path("none"));
    let everything = TrustPolicy::Everything;
    let report = config.load_into(world.registry(), world.path(""), everything);
    // A guard that reads other names lets everything pass.
    let indices: Vec<_> = report
        .problems
        .iter()
        .map(|problem| problem.index)
        .collect();
    assert_eq!(indices, [Some(3)], "{report}");
    assert_eq!(config.check(path).problems.len(), 4);
}

/// Only the host knows which of its own events hooks can block, also when it loads its hooks.
#[test]
fn a_guard_of_a_declared_event_in_the_background_is_reported() {
    let world = World::new();
    world.write("guard.sh", "exit 1\n");
    let script = format!("sh {}", world.path("guard.sh").display());
    let hook = |event: &str, command: &str| json!({"event": event, "command": command, "background": true});
    let hooks = [
        hook("game:save", "exit 1"),
        hook("game:saved", "exit 1"),
        hook("game:save", &script),
    ];
    let text = json!({"hooks": hooks}).to_string();
    world.write("config/mygame/hooks.json", &text);
    let hooks = Hooks::builder(AppProfile::new("mygame"))
        .event(EventSpec::named("game:save"))
        .event(EventSpec::named("game:saved").notify_only())
        .config_home(world.path("config"))
        .load();
    let report = hooks.report();
    let keys = report.problems.iter().map(|problem| problem.key.as_deref());
    let keys: Vec<_> = keys.flatten().collect();
    assert_eq!(
        keys,
        ["hooks[0].background", "hooks[2].background"],
        "{report}"
    );
}

/// Hooks in the background that only observe, beside which no warning stands.
#[test]
fn an_observer_in_the_background_is_not_reported() {
    let world = World::new();
    for (event, command) in [
        // An event that hooks cannot block, or among others one: nobody takes this hook for a guard.
        ("tool:post_execute", "cat >> log || exit 1"),
        ("tool:post_execute", "if grep -q x; then exit 2; fi"),
        ("tool:*", "cat >> log; exit 1"),
        ("*", "echo '{\"decision\": \"block\"}'"),
        // Only an error of the hook itself.
        ("tool:pre_execute", "cat >> log || exit 1"),
        (
            "tool:pre_execute",
            "cd logs || { echo none >&2; exit 1; }; cat >> log",
        ),
        ("tool:pre_execute", "cat | jq -c . >> log && exit 0"),
        ("tool:pre_execute", "jq -c . >> log; exit $?"),
        ("tool:pre_execute", "echo exit 1 >> log"),
        ("tool:pre_execute", "sh ./x.sh"),
        ("tool:pre_execute", "python3 ./x.py"),
    ] {
        world.write(
            "x.sh",
            "#!/bin/sh\n# On exit 1, see the log.\nmkdir -p logs || exit 1\ncat >> logs/x\n",
        );
        world.write(
            "x.py",
            "import sys\nprint(sys.stdin.read(), file=open('log', 'a'))\nsys.exit(0)\n",
        );
        let hook = json!({"event": event, "command": command, "background": true});
        let path = world.write(
            ".src/forge/hooks.json",
            &json!({"hooks": [hook]}).to_string(),
        );
        let report = HookConfig::default().check(path);
        assert!(report.problems.is_empty(), "{event} {command}: {report}");
    }
}

/// In a project whose path has no blanks, and in one whose path has some.
#[cfg(unix)]
#[test]
fn correct_settings_are_not_reported() {
    let rows = include_str!("correct_settings.txt").lines();
    let rows: Vec<_> = rows.filter(|row| !row.starts_with('#')).collect();
    assert!(rows.len() >= 42);
    each_at_once(&rows, |row| {
        let [agent, event, matcher, command] = row.splitn(4, ' ').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        for directory in ["plain", "my work"] {
            let user = User::new();
            let project = format!("project/{directory}");
            user.write(&format!("{project}/.src/x"), "");
            for script in ["x.sh", "x.py"] {
                let path = user.write(&format!("{project}/{script}"), "#!/bin/sh\n");
                let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                std::fs::set_permissions(path, executable).unwrap();
            }
            let mut group = json!({"hooks": [{"type": "command", "command": command}]});
            if matcher != "-" {
                group["matcher"] = matcher.into();
            }
            let name = if agent == "codex" {
                "hooks.json"
            } else {
                "settings.json"
            };
            let text = json!({"hooks": {event: [group]}}).to_string();
            user.write(&format!("{project}/.{agent}/{name}"), &text);
            let mut program = user.command(&["check", "--other-agents", agent]);
            program.current_dir(user.path(&project));
            let printed = user.printed(program.output().unwrap()).out;
            assert!(is_clean(&printed), "{directory}: {row}\n{printed}");
        }
    });
}
