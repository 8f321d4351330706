//! The questions about an approval, and the changes that need no new one. The changes that end an approval are in
//! `cases`.
#![cfg(unix)]

use std::path::Path;

use forge_hooks::compat::{self, OtherAgents};
use forge_hooks::{AppProfile, FailureKind, FireOptions, Hooks};
use serde_json::{Value, json};

use crate::support::{World, blocking_event, one_in};

const FILE: &str = "project/.myagent/hooks.json";

pub(crate) fn host(world: &World) -> Hooks {
    Hooks::builder(AppProfile::new("myagent"))
        .config_home(world.path("config"))
        .project(world.path("project"))
        .other_agents(OtherAgents::new([compat::CLAUDE]).with_home(world.path("home")))
        .load()
}

/// Returns the reason why the hooks on an event that can be blocked lost their approval, if they did.
pub(crate) fn lost(hooks: &Hooks) -> Option<String> {
    let options = FireOptions::new().stop_on_failure(false);
    let outcome = hooks.execute_with(&blocking_event(), options);
    let lost = |failure| failure == Some(FailureKind::ApprovalLost);
    let mut results = outcome.results().iter();
    results
        .find(|result| lost(result.failure()))
        .and_then(|result| result.error().map(str::to_owned))
}

/// The files of `approved/`, with the approvals that an earlier version of this crate has stored for them. A change of how
/// an entry is read or written must not end an approval: the canonical form of an entry stays as it is.
#[test]
fn approvals_of_an_earlier_version_hold() {
    let world = World::new();
    for (place, text) in [
        (
            "project/.src/forge/hooks.json",
            include_str!("approved/hooks.json"),
        ),
        (
            "project/.claude/settings.json",
            include_str!("approved/claude.json"),
        ),
        (
            "project/.codex/hooks.json",
            include_str!("approved/codex.json"),
        ),
    ] {
        world.write(place, text);
    }
    world.script("project/guard.sh", "#!/bin/sh\nexit 0\n");
    let project = world.path("project").canonicalize().unwrap();
    let stored = include_str!("approved/trust.json").replace("[DIR]", project.to_str().unwrap());
    world.write("config/src/forge/trust.json", &stored);
    let host = Hooks::builder(AppProfile::default())
        .config_home(world.path("config"))
        .project(&project)
        .other_agents(OtherAgents::new(compat::AGENTS).with_home(world.path("home")))
        .load();
    let report = host.report();
    assert!(report.unapproved.is_empty(), "{:?}", report.unapproved);
    let hooks = host.executor().registry().hooks();
    let digests = stored.matches("\"digest\"").count();
    // Hosts no longer run one of them, of Gemini CLI.
    assert_eq!((hooks.len(), digests), (11, 12), "{report}");
    // An approval that was lost is a problem of its file.
    assert!(report.is_ok(), "{report}");
}

/// An approval by other rules, which covered less, and a file that is covered no more.
#[test]
fn what_is_newly_covered_is_said_once() {
    let world = World::new();
    let entry = json!({"event": "tool:*", "command": "cat notes.txt | sh"});
    world.write(FILE, &json!({"hooks": [entry]}).to_string());
    world.write("project/notes.txt", "exit 0");
    let hooks = host(&world);
    assert!(hooks.approve_with(|_| true).unwrap());
    assert_eq!(lost(&hooks), None);
    let store = world.path("config/myagent/trust.json");
    let text = std::fs::read_to_string(&store).unwrap();
    let mut stored: Value = serde_json::from_str(&text).unwrap();
    let mut projects = stored["projects"].as_object_mut().unwrap().values_mut();
    let approved = &mut projects.next().unwrap()[0];
    approved.as_object_mut().unwrap().remove("rules");
    approved["files"] = json!([["data", "0"]]);
    world.write("project/data", "x");
    std::fs::write(&store, stored.to_string()).unwrap();
    let hooks = host(&world);
    let why = lost(&hooks).unwrap();
    for expected in [
        "`notes.txt` is newly covered since the hook was approved",
        "if it is data, exclude it: `\"inputs\": [\"!notes.txt\"]`",
    ] {
        assert!(why.contains(expected), "{why}");
    }
    assert!(hooks.approve_with(|_| true).unwrap());
    assert_eq!(lost(&host(&world)), None);
}

/// All in it needs an approval, and is covered by one.
#[test]
fn a_plugin_that_is_named_through_a_link_is_the_projects() {
    let world = World::new();
    let command = "${CLAUDE_PLUGIN_ROOT}/run";
    let handler = json!({"type": "command", "command": command});
    let hooks = json!({"hooks": {"PreToolUse": [{"hooks": [handler]}]}});
    world.write("project/plugin/hooks/hooks.json", &hooks.to_string());
    world.write("project/plugin/lib/x.sh", "true");
    world.script("project/plugin/run", "#!/bin/sh\n");
    std::os::unix::fs::symlink(world.path("project/plugin"), world.path("link")).unwrap();
    let tools = OtherAgents::new([compat::CLAUDE]).with_home(world.path("home"));
    let host = Hooks::builder(AppProfile::new("myagent"))
        .config_home(world.path("config"))
        .project(world.path("project"))
        .other_agents(tools.with_plugin(world.path("link")))
        .load();
    assert_eq!(host.report().unapproved.len(), 1);
    assert!(host.approve_with(|_| true).unwrap());
    assert_eq!(lost(&host), None);
    for file in ["run", "lib/x.sh", "lib/new.py"] {
        let path = world.path(&format!("project/plugin/{file}"));
        let before = std::fs::read(&path).ok();
        world.write(&format!("project/plugin/{file}"), "#!/bin/sh\nexit 2\n");
        assert!(lost(&host).is_some_and(|why| why.contains(file)), "{file}");
        match before {
            Some(before) => std::fs::write(&path, before).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        assert_eq!(lost(&host), None);
    }
}

#[test]
fn cosmetic_edits_need_no_new_approval() {
    let world = World::new();
    let command = "printenv PYTHONDONTWRITEBYTECODE";
    let entry = json!({"event": "tool:*", "command": command, "timeout": 5, "inherit": ["PATH"]});
    world.write(FILE, &json!({"hooks": [entry]}).to_string());
    let hooks = host(&world);
    assert!(hooks.approve_with(|_| true).unwrap());
    let same = r#"{"timeout": 5.0, "command": "printenv PYTHONDONTWRITEBYTECODE", "enabled": true, "on_failure": "block",
        "stdin": "json", "env": {}, "inputs": [], "description": "", "inherit": ["PATH"], "event": "tool:*"}"#;
    world.write(FILE, &format!("{{\"hooks\": [ // a comment\n{same}]}}"));
    let report = hooks.reload();
    assert!(report.problems.is_empty(), "{report:?}");
    // Python is to leave nothing beside a script.
    let outcome = hooks.execute(&blocking_event());
    assert_eq!(outcome.results()[0].stdout(), "1\n");
}

/// A project with these two hooks.
fn two(world: &World, first: &str) {
    let one = json!({"event": "tool:*", "command": first, "name": "one"});
    let two = json!({"event": "tool:*", "command": "sh g.sh", "name": "two\u{202e}"});
    let text = json!({"hooks": [one, two]}).to_string();
    world.write(FILE, &text);
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
    two(&world, "echo x");
    world.script("project/g.sh", "true\n");
    let hooks = host(&world);
    let (changes, text) = asked(&hooks, false).unwrap();
    assert_eq!(changes, ["`one` is new", "`two\u{202e}` is new"]);
    assert_eq!(hooks.report().unapproved.len(), 2, "the answer was no");
    for expected in [
        "\"command\": \"sh g.sh\"",
        "two\\u{202e} (.myagent/hooks.json):",
        "Files covered: none",
        "Files covered: `g.sh`",
        "Not covered: other data files, and everything else",
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
    world.write(FILE, r#"{"hooks": []}"#);
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
    let file = ".myagent/hooks.json";
    let text = r#"{"hooks": [{"event": "tool:*", "command": "sh .myagent/hooks/g.sh"}]}"#;
    world.write(&format!("project/{file}"), text);
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
    let why = in_tree("tree").1.unwrap();
    assert!(why.contains("`.myagent/hooks/g.sh` has changed"), "{why}");
    // From here on the worktree has approvals of its own.
    let tree = || host(&world).to_builder().project(world.path("tree")).load();
    assert!(tree().approve_with(|_| true).unwrap());
    let both = || ["tree", "project"].map(in_tree);
    assert_eq!(both(), [(0, None), (0, None)]);
    world.write("project/.myagent/hooks/g.sh", "echo\n");
    assert!(host(&world).approve_with(|_| true).unwrap());
    assert_eq!(both(), [(0, None), (0, None)]);
    // Another directory claims to be that worktree.
    world.write("forged/.git", &world.read("tree/.git"));
    world.write(&format!("forged/{file}"), text);
    assert_eq!(in_tree("forged").0, 1);
}

/// A host that loads hooks of no other tool approves its own file in a worktree.
#[test]
fn approving_in_a_worktree_keeps_what_is_approved_of_other_files() {
    let world = World::new();
    let handler = json!({"type": "command", "command": "exit 0"});
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [handler]}]}});
    let entry =
        |command: &str| json!({"hooks": [{"event": "tool:*", "command": command}]}).to_string();
    world.write(
        "project/.git/worktrees/tree/gitdir",
        "../../../../tree/.git\n",
    );
    world.write("tree/.git", "gitdir: ../project/.git/worktrees/tree\n");
    for root in ["project", "tree"] {
        world.write(
            &format!("{root}/.claude/settings.json"),
            &settings.to_string(),
        );
        world.write(&format!("{root}/.myagent/hooks.json"), &entry("true"));
    }
    assert!(host(&world).approve_with(|_| true).unwrap());
    let tree = || host(&world).to_builder().project(world.path("tree"));
    let states = || {
        let hooks = tree().load();
        (hooks.report().unapproved.len(), lost(&hooks))
    };
    assert_eq!(states(), (0, None));
    world.write("tree/.myagent/hooks.json", &entry("exit 0"));
    let own = tree().other_agents([]).load();
    assert!(own.approve_with(|_| true).unwrap());
    assert_eq!(states(), (0, None));
    let main = host(&world);
    assert_eq!((main.report().unapproved.len(), lost(&main)), (0, None));
}

/// Each covers the hooks directory beside its own file.
#[test]
fn the_same_entry_in_two_files_has_two_approvals() {
    let world = World::new();
    let entry = r#"{"hooks": [{"event": "tool:*", "command": "true"}]}"#;
    for file in ["a/hooks.json", "b/hooks.json"] {
        world.write(&format!("project/{file}"), entry);
    }
    world.write("project/a/hooks/of_a.sh", "true\n");
    world.write("project/b/hooks/of_b.sh", "true\n");
    let profile = AppProfile::new("myagent").with_project_files(["a/hooks.json", "b/hooks.json"]);
    let hooks = Hooks::builder(profile)
        .config_home(world.path("config"))
        .project(world.path("project"))
        .load();
    let again = || hooks.to_builder().project(world.path("project")).load();
    assert!(hooks.approve_with(|_| true).unwrap());
    let fails = |hooks: &Hooks| -> Vec<bool> {
        let options = FireOptions::new().stop_on_failure(false);
        let outcome = hooks.execute_with(&blocking_event(), options);
        let lost = |failure| failure == Some(FailureKind::ApprovalLost);
        outcome
            .results()
            .iter()
            .map(|result| lost(result.failure()))
            .collect()
    };
    assert_eq!(fails(&hooks), [false, false]);
    assert_eq!(asked(&hooks, true), None);
    for (script, expected) in [
        ("a/hooks/of_a.sh", [true, false]),
        ("b/hooks/of_b.sh", [false, true]),
    ] {
        let path = format!("project/{script}");
        world.write(&path, "false\n");
        for hooks in [&hooks, &again()] {
            assert_eq!(fails(hooks), expected, "{script}");
        }
        world.write(&path, "true\n");
    }
}

/// The entries in a text of JSON: a file, an entry, or one entry a line.
fn entries_of(text: &str) -> Vec<Value> {
    let whole = serde_json::from_str::<Value>(text).ok();
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let values = whole.map_or_else(|| lines.collect(), |value| vec![value]);
    let entries = values
        .into_iter()
        .flat_map(|value| match value.get("hooks") {
            Some(hooks) => hooks.as_array().cloned().unwrap_or_default(),
            None => vec![value],
        });
    entries
        .filter(|entry| entry.get("event").is_some())
        .collect()
}

/// The examples of the pages and of `examples/`, approved as they are, with the scripts that they name.
#[test]
fn no_example_loses_its_approval_by_running() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(manifest.join(name)).unwrap();
    let mut entries: Vec<Value> = Vec::new();
    for name in ["hooks", "config/myagent", "config/mygame"] {
        let text = read(&format!("examples/{name}/hooks.json"));
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        entries.extend(entries_of(
            &text.lines().filter(is_code).collect::<String>(),
        ));
    }
    for page in ["README", "docs/protocol", "docs/guards"] {
        let text = read(&format!("{page}.md"));
        let blocks = text.split("```json\n").skip(1);
        entries.extend(blocks.flat_map(|block| entries_of(block.split("```").next().unwrap())));
    }
    let profile = AppProfile::new("myagent");
    let templates = forge_hooks::templates::for_profile(&profile);
    entries.extend(templates.values().map(|hook| hook.to_json()));
    assert!(entries.len() >= 19, "{entries:#?}");
    for entry in one_in(3, entries) {
        normal_use(entry);
    }
}

fn normal_use(mut entry: Value) {
    let world = World::new();
    let args = entry["args"].as_array().into_iter().flatten();
    let words: Vec<_> = args
        .chain([&entry["command"]])
        .filter_map(Value::as_str)
        .collect();
    for word in words.join(" ").split_whitespace() {
        let word = word.trim_matches(['"', '\'']).trim_start_matches("./");
        let is_script = word.contains('.') && !word.starts_with(['/', '~', '$', '-', '.']);
        if is_script && !word.contains(['*', '$', '{', '(']) {
            let script = "#!/bin/sh\necho log >>log.txt\n";
            world.script(&format!("project/{word}"), script);
        }
    }
    for script in ["git-commit", "log-tools", "validate-write"] {
        let name = format!("examples/hooks/{script}.sh");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        let text = std::fs::read_to_string(path).unwrap();
        world.write(&format!("project/.myagent/hooks/{script}.sh"), &text);
    }
    // Every run must count, and end.
    entry["event"] = json!("tool:*");
    if entry["answer"].is_null() {
        entry["timeout"] = json!(5);
    }
    for key in ["when", "resident", "background", "on_failure"] {
        entry.as_object_mut().unwrap().remove(key);
    }
    let file = json!({"hooks": [entry]});
    world.write(FILE, &file.to_string());
    let hooks = host(&world);
    assert!(hooks.approve_with(|_| true).unwrap(), "{file}");
    for run in 0..3 {
        assert_eq!(lost(&hooks), None, "run {run} of {file}");
    }
}

/// A guard must not be dropped as gone because its file cannot be read now.
#[test]
fn a_broken_file_cannot_be_approved() {
    let incomplete = r#"{"hooks": [{"event": "tool:*"}]}"#;
    for broken in ["", "{", "[]x", r#"{"hook": []}"#, incomplete] {
        let world = World::new();
        two(&world, "true");
        let hooks = host(&world);
        assert!(asked(&hooks, true).is_some());
        let good = world.read(FILE);
        world.write(FILE, broken);
        hooks.reload();
        let refused = hooks.approve_with(|_| panic!("{broken} is shown"));
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("hooks.json"), "{broken}: {error}");
        world.write(FILE, &good);
        hooks.reload();
        assert!(hooks.report().unapproved.is_empty(), "{broken}");
    }
}
