//! Which changes of a project end an approval: the examples of docs/protocol.md, "Approval".
#![cfg(unix)]

use forge_hooks::compat::{self, OtherTools};
use forge_hooks::{AppProfile, FailureKind, FireOptions, Hooks};
use serde_json::{Value, json};

use crate::support::{World, blocking_event};

const FILES: &[(&str, &str)] = &[
    (
        ".myagent/hooks/guard.sh",
        ". .myagent/hooks/lib.sh\n. shared/x.sh\n",
    ),
    (".myagent/hooks/lib.sh", "true\n"),
    ("shared/x.sh", "true\n"),
    ("sub/x.sh", "true\n"),
    ("guard.py", "pass\n"),
    ("Makefile", "check:\n\ttrue\n"),
    (".myagent/events.log", "then\n"),
    ("Cargo.toml", "[package]\n"),
    ("g.sh", "true\n"),
    ("tool.js", "0\n"),
    ("data/a", "1\n"),
    ("data/cache/b", "1\n"),
];

/// What is expected after a change.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Then {
    Runs,
    Blocks,
}
use Then::{Blocks, Runs};

pub(crate) fn host(world: &World) -> Hooks {
    Hooks::builder(AppProfile::new("myagent"))
        .config_home(world.path("config"))
        .project(world.path("project"))
        .other_tools(OtherTools::new([compat::CLAUDE]).with_home(world.path("home")))
        .load()
}

/// Why the approval was lost, if it was, of the hooks on an event that can be blocked.
pub(crate) fn lost(hooks: &Hooks) -> Option<String> {
    let options = FireOptions::new().stop_on_failure(false);
    let outcome = hooks.execute_with(&blocking_event(), options);
    let lost = |failure| failure == Some(FailureKind::ApprovalLost);
    let mut results = outcome.results().iter();
    results
        .find(|it| lost(it.failure))
        .and_then(|it| it.error.clone())
}

fn native(entry: Value) -> (&'static str, Value) {
    let mut entry = entry;
    entry["event"] = json!("tool:*");
    (".myagent/hooks.json", json!({"hooks": [entry]}))
}

fn of_claude(command: &str) -> (&'static str, Value) {
    let handler = json!({"type": "command", "command": command});
    let text = json!({"hooks": {"PreToolUse": [{"hooks": [handler]}]}});
    (".claude/settings.json", text)
}

/// Approved, and then this file changes.
#[track_caller]
fn case((settings, text): (&str, Value), changed: &str, expected: Then) {
    let world = World::new();
    for (name, text) in FILES {
        world.script(&format!("project/{name}"), text);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        std::fs::set_permissions(world.path(&format!("project/{name}")), mode).unwrap();
    }
    for script in ["sub/x.sh", "g.sh"] {
        world.script(&format!("project/{script}"), "true\n");
    }
    world.write(&format!("project/{settings}"), &text.to_string());
    let hooks = host(&world);
    assert!(hooks.approve_with(|_| true).unwrap());
    assert_eq!(lost(&hooks), None, "{text}");
    world.write(&format!("project/{changed}"), "false\n");
    match (expected, lost(&hooks)) {
        (Blocks, Some(why)) => assert!(why.contains(&format!("`{changed}` has changed")), "{why}"),
        (Runs, None) => {}
        (_, found) => panic!("{text}, {changed}: {expected:?}, {found:?}"),
    }
}

#[test]
fn a_change_ends_an_approval_or_does_not() {
    let shell = |command: &str| native(json!({"command": command}));
    let guard = || shell("sh .myagent/hooks/guard.sh");
    case(guard(), ".myagent/hooks/guard.sh", Blocks);
    case(guard(), ".myagent/hooks/lib.sh", Blocks);
    case(guard(), "shared/x.sh", Runs);
    case(shell("cd sub && ./x.sh"), "sub/x.sh", Blocks);
    case(
        of_claude("python3 \"$CLAUDE_PROJECT_DIR\"/guard.py"),
        "guard.py",
        Blocks,
    );
    case(shell("make check"), "Makefile", Runs);
    case(
        shell("date >> .myagent/events.log"),
        ".myagent/events.log",
        Runs,
    );
    case(shell("test -f Cargo.toml && ./g.sh"), "Cargo.toml", Runs);
    case(shell("test -f Cargo.toml && ./g.sh"), "g.sh", Blocks);
    let inputs = || native(json!({"command": "node tool.js", "inputs": ["data/", "!data/cache"]}));
    case(inputs(), "data/a", Blocks);
    case(inputs(), "data/cache/b", Runs);
    case(inputs(), "tool.js", Blocks);
}

#[test]
fn names_are_found_however_they_are_written() {
    let shell = |command: &str| native(json!({"command": command}));
    for command in [
        "./g.sh",
        "./''g.sh",
        "./g\\.sh",
        "sh -c 'exec ./g.sh'",
        "sh -c \"exec './g.sh'\"",
        "echo x|./g.sh>/dev/null",
        "sh \"$PWD/g.sh\"",
        "sh \"$FORGE_WORKING_DIR/g.sh\"",
        "sh \"${MYAGENT_WORKING_DIR:-.}/g.sh\"",
        "sh \"$(git rev-parse --show-toplevel)/g.sh\"",
        "cd sub && ../g.sh",
        "X=g.sh; sh $X",
    ] {
        case(shell(command), "g.sh", Blocks);
    }
    case(native(json!({"args": ["sh", "./g.sh"]})), "g.sh", Blocks);
    case(
        native(json!({"command": "./x.sh", "working_dir": "sub"})),
        "sub/x.sh",
        Blocks,
    );
    for variable in ["BASH_ENV", "NODE_OPTIONS"] {
        let env = json!({variable: "--require=./tool.js"});
        case(
            native(json!({"command": "true", "env": env})),
            "tool.js",
            Blocks,
        );
    }
    case(of_claude("${CLAUDE_PROJECT_DIR:-.}/g.sh"), "g.sh", Blocks);
    case(of_claude("./g.sh"), "g.sh", Blocks);
}

#[test]
fn python_leaves_nothing_beside_a_script() {
    let world = World::new();
    let entry = json!({"hooks": [{"event": "tool:*", "command": "echo $PYTHONDONTWRITEBYTECODE"}]});
    world.write("project/.myagent/hooks.json", &entry.to_string());
    let hooks = host(&world);
    assert!(hooks.approve_with(|_| true).unwrap());
    let outcome = hooks.execute(&blocking_event());
    assert_eq!(outcome.results()[0].stdout, "1\n");
}

#[test]
fn cosmetic_edits_need_no_new_approval() {
    let world = World::new();
    let file = "project/.myagent/hooks.json";
    world.write(
        file,
        r#"{"hooks": [{"event": "tool:*", "command": "true", "timeout": 5}]}"#,
    );
    let hooks = host(&world);
    assert!(hooks.approve_with(|_| true).unwrap());
    world.write(
        file,
        r#"{"hooks": [ // a comment
            {"timeout": 5.0, "command": "true", "enabled": true, "on_failure": "block",
             "stdin": "json", "env": {}, "inputs": [], "description": "", "event": "tool:*"}]}"#,
    );
    let report = hooks.reload();
    assert!(report.problems.is_empty(), "{report:?}");
    assert_eq!(lost(&hooks), None);
}

/// A project with these two hooks.
fn two(world: &World, first: &str) {
    let one = json!({"event": "tool:*", "command": first, "name": "one"});
    let two = json!({"event": "tool:*", "command": "sh g.sh", "name": "two\u{202e}"});
    let text = json!({"hooks": [one, two]}).to_string();
    world.write("project/.myagent/hooks.json", &text);
}

/// The changes and the text that a person is asked about; none if nothing is asked.
fn asked(hooks: &Hooks, answer: bool) -> Option<(Vec<String>, String)> {
    let mut shown = None;
    let approved = hooks.approve_with(|approval| {
        shown = Some((approval.changes.clone(), approval.to_string()));
        answer
    });
    assert_eq!(approved.unwrap(), answer || shown.is_none());
    shown
}

#[test]
fn approve_with_shows_all_that_would_run() {
    let world = World::new();
    two(&world, "echo $X");
    world.script("project/g.sh", "true\n");
    let hooks = host(&world);
    let (changes, text) = asked(&hooks, false).unwrap();
    assert_eq!(changes, ["`one` is new", "`two\u{202e}` is new"]);
    assert_eq!(hooks.report().unapproved.len(), 2, "the answer was no");
    for expected in [
        "\"command\": \"sh g.sh\"",
        "two\\u{202e} (.myagent/hooks.json):",
        "Scripts covered: none",
        "Scripts covered: `g.sh`",
        "Note: this command may run files that are not listed here",
        "Not covered: data files, and everything else",
        "Digest: ",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn approve_with_asks_for_what_has_changed() {
    let world = World::new();
    two(&world, "true");
    world.script("project/g.sh", "true\n");
    let hooks = host(&world);
    assert!(asked(&hooks, true).is_some());
    assert!(hooks.report().problems.is_empty());
    assert_eq!(asked(&hooks, true), None);
    world.write("project/g.sh", "false\n");
    assert_eq!(asked(&hooks, true).unwrap().0, ["`g.sh` has changed"]);
    assert_eq!(lost(&hooks), None);
    two(&world, "echo x");
    let changes = asked(&hooks, true).unwrap().0;
    assert_eq!(changes, ["the entry of `one` has changed"]);
    world.write("project/.myagent/hooks.json", r#"{"hooks": []}"#);
    let changes = asked(&hooks, true).unwrap().0;
    assert_eq!(changes, ["`one` is gone", "`two\u{202e}` is gone"]);
    assert!(hooks.report().problems.is_empty());
}

/// Parallel agents work in worktrees of one repository.
#[test]
fn a_worktree_needs_no_approval_of_its_own() {
    let world = World::new();
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let command = command
            .args(identity)
            .args(args)
            .current_dir(world.path("project"));
        assert!(command.output().unwrap().status.success(), "{args:?}");
    };
    world.write(
        "project/.myagent/hooks.json",
        r#"{"hooks": [{"event": "tool:*", "command": "sh .myagent/hooks/g.sh"}]}"#,
    );
    world.write("project/.myagent/hooks/g.sh", "true\n");
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "x"]);
    git(&["worktree", "add", "-q", "../tree"]);
    assert!(host(&world).approve_with(|_| true).unwrap());
    let in_tree = |root: &str| {
        let config = host(&world).to_builder();
        let hooks = config.project(world.path(root)).load();
        (hooks.report().unapproved.len(), lost(&hooks))
    };
    assert_eq!(in_tree("tree"), (0, None));
    // The contents are those of the worktree.
    world.write("tree/.myagent/hooks/g.sh", "false\n");
    assert!(
        in_tree("tree")
            .1
            .unwrap()
            .contains("`.myagent/hooks/g.sh` has changed")
    );
    // From here on the worktree has approvals of its own.
    let tree = || host(&world).to_builder().project(world.path("tree")).load();
    assert!(tree().approve_with(|_| true).unwrap());
    assert_eq!(
        (in_tree("tree"), in_tree("project")),
        ((0, None), (0, None))
    );
    world.write("project/.myagent/hooks/g.sh", "echo\n");
    assert!(host(&world).approve_with(|_| true).unwrap());
    assert_eq!(
        (in_tree("tree"), in_tree("project")),
        ((0, None), (0, None))
    );
    // Another directory claims to be that worktree.
    world.write("forged/.git", &world.read("tree/.git"));
    world.write(
        "forged/.myagent/hooks.json",
        &world.read("project/.myagent/hooks.json"),
    );
    assert_eq!(in_tree("forged").0, 1);
}

/// The examples of the pages and of `examples/`, approved as they are, with the scripts that they name.
#[test]
fn no_example_loses_its_approval_by_running() {
    let manifest = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec!["examples/hooks/hooks.json".to_owned()];
    files.push("examples/config/myagent/hooks.json".to_owned());
    files.push("examples/config/mygame/hooks.json".to_owned());
    let read = |name: &str| std::fs::read_to_string(manifest.join(name)).unwrap();
    let mut entries: Vec<Value> = Vec::new();
    for file in files {
        let text: String = read(&file)
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect();
        let value: Value = serde_json::from_str(&text).unwrap();
        entries.extend(value["hooks"].as_array().unwrap().clone());
    }
    for page in [
        "README.md",
        "docs/protocol.md",
        "docs/examples.md",
        "docs/resident.md",
        "docs/program.md",
    ] {
        let text = read(page);
        for block in text.split("```json\n").skip(1) {
            let block = block.split("```").next().unwrap();
            // One entry, one file, or one entry a line.
            let whole: Vec<Value> = serde_json::from_str(block).into_iter().collect();
            let lines = block
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok());
            let values = if whole.is_empty() {
                lines.collect()
            } else {
                whole
            };
            for value in values {
                match value.get("hooks").and_then(Value::as_array) {
                    Some(hooks) => entries.extend(hooks.clone()),
                    None if value.get("event").is_some() => entries.push(value),
                    None => {}
                }
            }
        }
    }
    assert!(entries.len() >= 15, "{entries:#?}");
    for entry in entries {
        normal_use(&entry);
    }
}

fn normal_use(entry: &Value) {
    let world = World::new();
    let words = entry["command"].as_str().map(str::to_owned);
    let args = entry["args"].as_array().into_iter().flatten();
    let args = args.filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
    let words = words.unwrap_or(args);
    for word in words.split_whitespace() {
        let word = word.trim_matches(['"', '\'']).trim_start_matches("./");
        let is_script = word.contains('.') && !word.starts_with(['/', '~', '$', '-', '.']);
        if is_script && !word.contains(['*', '$', '{', '(']) {
            world.script(
                &format!("project/{word}"),
                "#!/bin/sh\necho log >>log.txt\n",
            );
        }
    }
    for script in ["git-commit", "log-tools", "security", "validate-write"] {
        let name = format!("examples/hooks/{script}.sh");
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        let text = std::fs::read_to_string(path).unwrap();
        world.write(&format!("project/.myagent/hooks/{script}.sh"), &text);
    }
    let mut entry = entry.clone();
    // So that every run counts, and ends.
    entry["event"] = json!("tool:*");
    entry["timeout"] = json!(5);
    for key in ["when", "resident", "background", "on_failure"] {
        entry.as_object_mut().unwrap().remove(key);
    }
    let file = json!({"hooks": [entry]});
    world.write("project/.myagent/hooks.json", &file.to_string());
    let hooks = host(&world);
    assert!(hooks.approve_with(|_| true).unwrap(), "{entry}");
    for run in 0..3 {
        assert_eq!(lost(&hooks), None, "run {run} of {entry}");
    }
}
