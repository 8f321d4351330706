//! Conditions on what a shell command runs and writes. The language of patterns is tested beside its module.

use forge_hooks::{Hook, HookEvent};
use serde_json::{Value, json};

use super::{POINTER, bash};
use crate::support::World;

fn entry(condition: &Value, answer: Value) -> Value {
    json!({"event": "tool:pre_execute", "when": {POINTER: condition}, "answer": answer})
}

/// Returns whether a guard with this condition blocks a command, and the reason.
fn blocked(world: &World, condition: &Value, command: &str) -> Option<String> {
    let blocks = json!({"decision": "block", "reason": "OWN"});
    world.registry().clear();
    world.add(Hook::from_json(&entry(condition, blocks)).unwrap());
    let outcome = world.outcome(&bash(command));
    (!outcome.allowed()).then(|| outcome.reason().unwrap_or_default().to_owned())
}

#[test]
fn a_guard_of_what_runs_means_what_it_says() {
    let world = World::new();
    let push = json!({"runs": "git push -f|--force"});
    let table = json!({"runs": "psql", "with": {"regex": "(?i)drop table"}});
    let outside = json!({"runs": "rm -r", "paths": "outside"});
    let secret = json!({"runs": "rm", "paths": ["secrets/**"]});
    let cat = json!({"runs": "cat", "paths": ["**/.env"]});
    let env = json!({"writes": ["**/.env", ".env"]});
    let scripts = json!({"writes": ["**/hooks/*.py", "*.pem"]});
    let root = json!({"runs": "rm -r", "paths": ["."]});
    std::fs::create_dir(world.path("copies")).unwrap();
    for (condition, command, expected) in [
        (&push, "git push -f", true),
        (
            &push,
            "cd x && timeout 9 git -C a push -uf origin main",
            true,
        ),
        (&push, "g\\it pu's'h --force", true),
        (&push, "bash -c 'git push --force'", true),
        (&push, "git push --force-with-lease", false),
        (&push, "git commit -m 'no git push --force'", false),
        (&push, "echo git push -f", false),
        (&json!({"runs": ["sudo", "doas"]}), "ls | doas tee x", true),
        (&json!({"runs": ["sudo", "doas"]}), "ls ~/sudoku", false),
        // A word that may be a program hides no other one behind it.
        (&push, "chroot \"$ROOT\" push git push -f", true),
        (&json!({"not": {"runs": "git"}}), "git status", false),
        (&json!({"not": {"runs": "git"}}), "ls", true),
        (&table, "echo 'DROP TABLE x' | psql", true),
        (&table, "psql -c 'drop table x'", true),
        (
            &table,
            "echo 'drop table x' > notes; psql -c 'select 1'",
            false,
        ),
        (&outside, "rm -rf /etc/x", true),
        // Paths of another machine, and of a container.
        (&outside, "ssh host 'rm -rf /etc/x'", false),
        (
            &outside,
            "docker exec web rm -rf /etc/x; rm -rf /etc/y",
            true,
        ),
        // What `find` finds among others is no file that it names.
        (
            &scripts,
            "find . -name '*.py' -exec sed -i s/a/b/ {} +",
            false,
        ),
        (&scripts, "find . -name '*.pem' -delete", true),
        (&scripts, "find . -type f -not -name x -delete", false),
        (&scripts, "find hooks -name a.py -delete", true),
        (&root, "rm -r *", true),
        (&root, "rm -r *.egg-info build/*", false),
        (&root, "cd sub && rm -r ..", true),
        (&outside, "rm -rf build /tmp/x", false),
        (&outside, "cd / && rm -rf etc", true),
        (&secret, "rm secrets/key", true),
        (&secret, "rm -r secrets", true),
        (&secret, "rm src/secrets.md", false),
        (&env, "echo A=1 >> ./config/.env", true),
        (&env, "cat .env", false),
        (&env, "cp x .env", true),
        (&env, "echo .env > list", false),
        (&env, "echo x > \"$D/.env\"", true),
        (&env, "echo x > \"$LOG\"", false),
        // A pattern of a shell means the files that it may match.
        (&secret, "rm secrets/*.key", true),
        (&secret, "rm s*/key", true),
        (&secret, "rm -r s*", true),
        (&secret, "rm *.txt", false),
        (&secret, "rm '*'/key", false),
        (&secret, "find secrets -name '*.key' -exec rm {} +", true),
        (&secret, "find src -name '*.md' | xargs rm", false),
        (&secret, "rm src/$X", false),
        (&secret, "rm secrets/$X", true),
        (&env, "rm .env*", true),
        (&env, "rm [.]env", true),
        (&env, "rm *", false),
        (&env, "find . -name .env -delete", true),
        (&env, "sed -i s/a/b/ *.txt", false),
        // The source is written in a target that is a directory.
        (&env, "cp .env copies", true),
        (&env, "cp .env copy", false),
        // What is not known in a path lies below what is known.
        (&outside, "rm -rf build/$X /tmp/$Y", false),
        (&outside, "rm -rf /etc/$X", true),
        (&outside, "rm -rf /tmp/* build/*", false),
        (&outside, "X=$(mktemp -d); rm -rf \"$X\"", false),
        (&outside, "env -C /etc rm -rf x", true),
        (&outside, "rm -rf \"$TMPDIR/x\"", false),
        // An unknown word is an option or a path, not both.
        (&outside, "rm -f $X", false),
        (&cat, "cat < .env", true),
        (&cat, "cat < $PWD/a", false),
        (&cat, "cat < \"$X\"", false),
        (&outside, "rm -rf build < /dev/null", false),
        (&outside, "T=\"$(mktemp -d)\"; rm -rf \"$T\"", false),
        (&env, "find src -name env -delete", false),
        (&secret, "find . -name '*.pyc' -exec rm {} +", true),
        (
            &json!({"writes": ".claude/commands/*.md"}),
            "find . -name '*.pyc' -delete",
            false,
        ),
        (&secret, "find . -name 's*' -exec rm -r {} +", true),
        (&json!({"writes": "**"}), "ls > x", true),
        (
            &json!({"writes": ["**", "/dev/*"]}),
            "ls >/dev/null 2>&1",
            false,
        ),
        (&json!({"writes": "/dev/*"}), "ls >/dev/sda", true),
    ] {
        let reason = blocked(&world, condition, command);
        assert_eq!(reason.is_some(), expected, "{condition} {command}");
        assert!(
            reason.is_none_or(|reason| reason == "OWN"),
            "{condition} {command}"
        );
    }
    for (condition, command) in [
        (&secret, "rm \"$X\""),
        (&outside, "rm -rf $X/build"),
        (&outside, "rm -rf ~root"),
    ] {
        let reason = blocked(&world, condition, command).unwrap();
        assert!(reason.contains("a path is not known: "), "{reason}");
    }
    // What was not read runs each guard, with that as its reason.
    let long = "x ".repeat(1024 * 1024);
    for condition in [&push, &table, &outside, &env] {
        let reason = blocked(&world, condition, &long).unwrap();
        assert!(reason.contains("was not read"), "{reason}");
    }
    let reason = blocked(&world, &push, "\"$X\" push -f").unwrap();
    assert!(
        reason.contains("could not be tested: the program is in a variable: \"$X\""),
        "{reason}"
    );
}

/// Also behind a command of the pattern that does not meet the rest of the condition.
#[test]
fn what_is_not_known_runs_a_guard() {
    let world = World::new();
    let table = json!({"runs": "psql", "with": {"regex": "(?i)drop table"}});
    let outside = json!({"runs": "rm -r", "paths": "outside"});
    let secret = json!({"runs": "rm", "paths": ["secrets/**"]});
    let deep = "nice ".repeat(150);
    for (condition, command) in [
        (&table, "psql -c 'select 1'"),
        (&outside, "rm -r build"),
        (&secret, "rm build"),
    ] {
        assert_eq!(blocked(&world, condition, command), None, "{command}");
        let command = format!("{command}; {deep}x");
        let reason = blocked(&world, condition, &command).unwrap();
        assert!(reason.contains("was not read"), "{reason}");
    }
    // A list of words may be an option and a path.
    let reason = blocked(&world, &outside, "rm \"$@\"").unwrap();
    assert!(reason.contains("an argument is in a variable"), "{reason}");
}

/// A guard without a reason of its own says which part of the command met it.
#[test]
fn a_block_names_what_met_the_condition() {
    let world = World::new();
    let reason = |condition: &Value, command: &str| {
        world.registry().clear();
        let blocks = entry(condition, json!({"decision": "block"}));
        world.add(Hook::from_json(&blocks).unwrap());
        let outcome = world.outcome(&bash(command));
        outcome.reason().unwrap_or_default().to_owned()
    };
    let push = json!({"runs": "git push -f|--force"});
    let env = json!({"writes": ["**/.env", ".env"]});
    let outside = json!({"runs": "rm -r", "paths": "outside"});
    let long = format!("echo > {}/.env", "a".repeat(500));
    for (condition, command, part) in [
        (
            &push,
            "ls; git push -f",
            "`git push -f|--force` in `git push -f`",
        ),
        (
            &env,
            "cd a && echo x > .env",
            "`a/.env`, which `echo x > .env` writes",
        ),
        (&env, "cp x .env; ls", "`.env`, which `cp x .env` writes"),
        (
            &env,
            "echo x > \"$D/.env\"",
            "`\"$D/.env\"`, which `echo x > \"$D/.env\"` writes",
        ),
        // Secrets are masked, and characters that hide or forge text are escaped.
        (&env, "API_KEY=sk-abc123def456 cp x .env", "`.env`, which `"),
        (
            &env,
            "touch \u{202e}x/.env",
            r"`\u{202e}x/.env`, which `touch \u{202e}x/.env` writes",
        ),
        (
            &env,
            "touch '\u{1b}[2J\n/.env'",
            r"`\u{1b}[2J\n/.env`, which `touch '\u{1b}[2J\n/.env'` writes",
        ),
        (&env, &long, "…`, which `echo > aaa"),
        // What is unknown is no match.
        (
            &outside,
            "rm -r \"$D\"",
            "could not be tested: a path is not known: \"$D\"",
        ),
    ] {
        let reason = reason(condition, command);
        assert!(reason.contains(part), "{command}: {reason}");
        assert!(reason.len() < 600 && !reason.contains("sk-abc"), "{reason}");
        assert_eq!(
            reason.contains(" matches: "),
            !reason.contains("not be tested")
        );
        assert!(!reason.contains(['\n', '\u{1b}', '\u{202e}']), "{reason}");
    }
    // So is a word that is unknown.
    let secret = reason(&push, "git push -f \"$X\"--token=sk-abc123def456ghi789jkl");
    assert!(!secret.contains("sk-abc123def456ghi789jkl"), "{secret}");
    let secret = reason(&outside, "rm -r \"$X\"/sk-abc123def456ghi789jkl");
    assert!(
        secret.contains("not known") && !secret.contains("sk-abc123def456ghi789jkl"),
        "{secret}"
    );
}

#[cfg(not(windows))]
#[test]
fn a_list_of_commands_is_for_the_whole_call() {
    let world = World::new();
    let only = json!({"runs_only": ["git status", "ls -l|-a *", "ls"]});
    // Another argument may change what the command does.
    for (argument, expected) in [
        ("description", true),
        ("timeout", true),
        ("dangerouslyDisableSandbox", false),
        ("workdir", false),
        ("env", false),
    ] {
        world.registry().clear();
        let guard = entry(&json!({"not": only}), json!({"decision": "block"}));
        world.add(Hook::from_json(&guard).unwrap());
        let arguments = json!({"command": "git status", argument: "x"});
        let outcome = world.outcome(&HookEvent::tool_pre_execute("bash", arguments));
        assert_eq!(outcome.allowed(), expected, "{argument}");
    }
    for pointer in ["/tool_args/commands/*", "/tool_args/command/0", "/content"] {
        let when = json!({pointer: {"not": {"runs_only": "ls"}}});
        let entry =
            json!({"event": "tool:pre_execute", "when": when, "answer": {"decision": "block"}});
        let error = Hook::from_json(&entry).unwrap_err().to_string();
        assert!(
            error.contains("is read at `/tool_args/command` alone"),
            "{error}"
        );
    }
}

// On Windows nothing is known of a tool's shell.
#[cfg(not(windows))]
#[test]
fn only_what_is_listed_is_allowed() {
    let world = World::new();
    let only = json!({"runs_only": ["git status", "ls -l|-a *", "ls"]});
    let decided = |tool: &str, command: &str| {
        world.registry().clear();
        let allows = entry(&only, json!({"decision": "allow"}));
        world.add(Hook::from_json(&allows).unwrap());
        let event = HookEvent::tool_pre_execute(tool, json!({"command": command}));
        let outcome = world.outcome(&event);
        let mut results = outcome.results().iter();
        results.any(|result| {
            result
                .output()
                .is_some_and(|output| output.decision.is_some())
        })
    };
    for (command, expected) in [
        ("git status", true),
        ("ls", true),
        ("git status; ls -l src", true),
        ("git status --x", false),
        ("git -c core.fsmonitor=x status", false),
        ("git status; rm x", false),
        ("git status $(rm x)", false),
        ("ls > x", false),
        ("", false),
    ] {
        assert_eq!(decided("bash", command), expected, "{command}");
    }
    // Another shell may read the text in another way, so that nothing is known of it.
    for (tool, expected) in [
        ("sh", true),
        ("dash", true),
        ("zsh", true),
        ("fish", false),
        ("powershell", false),
        ("pwsh", false),
        ("cmd", false),
        ("shell", false),
    ] {
        assert_eq!(decided(tool, "git status"), expected, "{tool}");
        world.registry().clear();
        let guard = entry(&json!({"not": only}), json!({"decision": "block"}));
        world.add(Hook::from_json(&guard).unwrap());
        let event = HookEvent::tool_pre_execute(tool, json!({"command": "git status"}));
        let outcome = world.outcome(&event);
        assert_eq!(outcome.allowed(), expected, "{tool}");
        let why = format!("the shell of the tool `{tool}` may read it in another way");
        let reason = outcome.reason().unwrap_or_default();
        assert_eq!(reason.contains(&why), !expected, "{reason}");
    }
    let guard = json!({"not": only});
    for (command, expected) in [("git status", false), ("git push", true), ("ls $(x)", true)] {
        assert_eq!(
            blocked(&world, &guard, command).is_some(),
            expected,
            "{command}"
        );
    }
}

#[test]
fn conditions_on_commands_are_read_and_written() {
    let answer = json!({"decision": "block"});
    for condition in [
        json!({"runs": "git push -f"}),
        json!({"runs": ["a", "b"], "with": {"regex": "x"}, "paths": ["a", "b"]}),
        json!({"runs": "rm -r", "paths": "outside"}),
        json!({"writes": "**/.env"}),
        json!({"runs_only": ["git status", "ls"]}),
        json!({"not": {"runs": "git"}}),
    ] {
        let entry = entry(&condition, answer.clone());
        assert_eq!(Hook::from_json(&entry).unwrap().to_json(), entry);
    }
    for (condition, message) in [
        (json!({"runs": []}), "expected at least one pattern"),
        (json!({"runs": 5}), "expected a string or a list of strings"),
        (
            json!({"runs": ["git push", 5]}),
            ".runs[1]`: expected a string, found a number",
        ),
        (
            json!({"runs": "a", "paths": []}),
            "expected at least one glob",
        ),
        (
            json!({"runs": "a", "paths": "Outside"}),
            "write \"paths\": \"outside\"",
        ),
        (
            json!({"runs": "a", "paths": ["outside"]}),
            "write \"paths\": \"outside\"",
        ),
        (
            json!({"runs": "a", "paths": ["a", "OUTSIDE"]}),
            "write \"paths\": \"outside\"",
        ),
        (json!({"writes": "outside"}), "`writes` has globs only"),
        (
            json!({"writes": ["a", "Outside"]}),
            "`writes` has globs only",
        ),
        (
            json!({"runs": "a", "with": {"regex": "x", "flags": "i"}}),
            "an object {\"regex\": \"...\"}, found an object with `flags` and `regex`",
        ),
        (
            json!({"runs": "a", "runs_only": "a"}),
            "`runs` and `runs_only` are two conditions: write two hooks",
        ),
        (
            json!({"writes": "a", "runs": "a"}),
            "`runs` and `writes` are two conditions: write two hooks",
        ),
        (
            json!({"writes": "a", "paths": "a"}),
            "expected `writes` alone, found `paths`",
        ),
        (json!({"paths": "a"}), "`paths` stands beside `runs`"),
        (
            json!({"runs": "! git"}),
            "write {\"not\": {\"runs_only\": \"git\"}}",
        ),
        (json!({"runs": "rm -rf*"}), "write `-rf`"),
        (json!({"runs": "git 'a b'", "x": 1}), "found `x`"),
        (json!({"runs": "a", "with": "x"}), "an object {\"regex\""),
        (
            json!({"runs": "a", "with": {"regex": "("}}),
            "not a regular expression",
        ),
        (json!({"runs": "a", "paths": ["[a"]}), "invalid glob `[a`"),
        (json!({"runs": "a", "paths": []}), "at least one glob"),
        (json!({"writes": []}), "at least one glob"),
        (json!({"runs_only": []}), "at least one pattern"),
        (json!({"not": {"not": {"runs": "a"}}}), "`not` within `not`"),
    ] {
        let error = Hook::from_json(&entry(&condition, answer.clone())).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// What `runs` does not see would be allowed.
#[test]
fn a_condition_for_guards_allows_nothing() {
    let allow = json!({"decision": "allow"});
    for condition in [
        json!({"runs": "git status"}),
        json!({"not": {"runs": "rm"}}),
        json!({"writes": "x"}),
        json!({"not": {"writes": "x"}}),
    ] {
        let error = Hook::from_json(&entry(&condition, allow.clone())).unwrap_err();
        assert!(error.to_string().contains("write `runs_only`"), "{error}");
        let may =
            json!({"event": "*", "when": {POINTER: condition}, "command": "x", "may": ["grant"]});
        assert!(Hook::from_json(&may).is_err());
    }
    // Text for the model is added where the condition is certain.
    let world = World::new();
    let adds = entry(&json!({"runs": "npm"}), json!({"additionalContext": "c"}));
    world.add(Hook::from_json(&adds).unwrap());
    for (command, expected) in [("npm test", true), ("ls", false)] {
        let outcome = world.outcome(&bash(command));
        assert_eq!(
            outcome.additional_context().is_some(),
            expected,
            "{command}"
        );
    }
}
