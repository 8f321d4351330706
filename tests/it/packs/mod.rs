//! The packs: their guards' cases, what their reasons propose, and commands of people and models.

use std::collections::BTreeSet;
use std::path::Path;

use forge_hooks::{AppProfile, Decision, FireOptions, HookConfig, HookEvent, HookExecutor};
use serde_json::{Value, json};

/// The packs, by their names.
pub(crate) fn packs() -> Vec<(String, String)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/packs");
    let files = directory
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = files.filter(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    let mut packs: Vec<_> = files
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    packs.sort();
    packs
}

/// The guards, each with its pack.
pub(crate) fn guards() -> Vec<(String, Value)> {
    let packs = packs().into_iter().flat_map(|(name, text)| {
        let mut pack: Value = serde_json::from_str(&text).unwrap();
        let Value::Array(guards) = pack["hooks"].take() else {
            panic!("{name} has no hooks");
        };
        guards.into_iter().map(move |guard| (name.clone(), guard))
    });
    packs.collect()
}

/// An executor with all guards, in a project that does not exist, so that no directory for temporary files is above it.
fn executor() -> HookExecutor {
    let root = if cfg!(windows) {
        "C:/work/app"
    } else {
        "/work/app"
    };
    executor_in(Path::new(root))
}

fn executor_in(root: &Path) -> HookExecutor {
    let executor = HookExecutor::builder().working_dir(root).build();
    for (_, guard) in guards() {
        let hook = forge_hooks::Hook::from_json(&guard).unwrap();
        executor.registry().register(hook);
    }
    executor
}

/// Returns the names of the guards that stop a command.
fn stops(executor: &HookExecutor, command: &str) -> Vec<String> {
    let event = HookEvent::tool_pre_execute("bash", json!({"command": command}));
    stops_of(executor, &event)
}

fn stops_of(executor: &HookExecutor, event: &HookEvent) -> Vec<String> {
    let outcome = executor.execute(event, FireOptions::default().handles_ask());
    let results = outcome.results().iter();
    let stops =
        results.filter(|result| !result.should_continue() || result.decision() == Decision::Ask);
    stops
        .map(|result| result.hook().label().to_owned())
        .collect()
}

#[test]
fn each_guard_has_cases_that_hold() {
    let config = HookConfig::new(AppProfile::default());
    let packs = packs();
    for (name, text) in &packs {
        let report = config.check_text(format!("{name}.json"), text);
        let problems: Vec<_> = report.problems.iter().map(ToString::to_string).collect();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }
    let guards = guards();
    assert!(packs.len() >= 12 && guards.len() >= 90);
    let mut names = BTreeSet::new();
    for (_, guard) in &guards {
        let name = guard["name"].as_str().unwrap();
        assert!(names.insert(name), "{name} is the name of two guards");
        for list in ["matches", "passes"] {
            let count = guard["cases"][list].as_array().map_or(0, Vec::len);
            assert!(count >= 5, "{name} has {count} cases in `{list}`");
        }
    }
}

/// The texts in back-quotes in a guard's reason.
fn quoted(reason: &str) -> impl Iterator<Item = &str> {
    reason.split('`').skip(1).step_by(2)
}

#[test]
fn no_reason_proposes_what_a_guard_stops() {
    let executor = executor();
    let mut count = 0;
    for (_, guard) in guards() {
        let Some(reason) = guard["answer"]["reason"].as_str() else {
            continue;
        };
        for proposed in quoted(reason) {
            count += 1;
            let stops = stops(&executor, proposed);
            assert!(
                stops.is_empty(),
                "{}: `{proposed}`: {stops:?}",
                guard["name"]
            );
        }
    }
    assert!(count > 80, "{count}");
}

fn lines(text: &'static str) -> impl Iterator<Item = (&'static str, String)> {
    let lines = text.lines().filter(|line| !line.is_empty());
    let lines = lines.filter(|line| !line.starts_with('#') && !line.starts_with("== "));
    lines.map(|line| {
        let (mark, command) = line.split_once(' ').unwrap();
        (mark, command.replace('⏎', "\n"))
    })
}

/// At most four of them are stopped.
#[test]
fn ordinary_commands_pass() {
    let executor = executor();
    let (mut count, mut stopped, mut wrong) = (0, 0, Vec::new());
    for (mark, command) in lines(include_str!("ordinary.txt")) {
        let stops = stops(&executor, &command);
        let expected = Some(mark).filter(|mark| *mark != ">");
        if stops.first().map(String::as_str) != expected {
            wrong.push(format!("{mark} {command}: {stops:?}"));
        }
        count += 1;
        stopped += usize::from(!stops.is_empty());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 400 && stopped <= 4, "{stopped} of {count}");
}

/// At most five of them pass.
#[test]
fn commands_that_the_packs_forbid_are_stopped() {
    let executor = executor();
    let (mut count, mut passed, mut wrong) = (0, 0, Vec::new());
    for (mark, command) in lines(include_str!("forbidden.txt")) {
        let stops = stops(&executor, &command);
        if stops.is_empty() != (mark == "-") {
            wrong.push(format!("{mark} {command}: {stops:?}"));
        }
        count += 1;
        passed += usize::from(stops.is_empty());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 150 && passed <= 5, "{passed} of {count}");
}

/// Commands and files that a script of this crate once blocked, or let pass.
#[test]
fn commands_and_files_are_stopped_by_their_kind() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    for file in [
        ".git/hooks/x",
        ".git/config",
        ".env",
        ".claude/settings.json",
        ".src/forge/hooks.json",
    ] {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    #[cfg(unix)]
    for (target, link) in [
        (".git/hooks", "harmless"),
        (".env", "notes.txt"),
        (".env.local", "not yet"),
        (".src/forge", "innocent"),
    ] {
        std::os::unix::fs::symlink(root.join(target), root.join(link)).unwrap();
    }
    let executor = executor_in(root);
    let mut wrong = Vec::new();
    for kind in include_str!("guard.txt").split("\n== ").skip(1) {
        let is_files = kind.lines().next().unwrap().ends_with("files");
        for (mark, text) in lines(kind.split_once('\n').unwrap().1) {
            let text = text.replace('⇥', "\t").replace("(empty)", "");
            let event = match is_files {
                true => HookEvent::tool_pre_execute("write", json!({"path": text})),
                false => HookEvent::tool_pre_execute("bash", json!({"command": text})),
            };
            let stops = stops_of(&executor, &event);
            if stops.is_empty() != (mark == "-") {
                wrong.push(format!("{mark} {text}: {stops:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The table of docs/guards.md: a condition, a case that matches, and one that passes.
#[test]
fn the_pages_conditions_hold() {
    let page = include_str!("../../../docs/guards.md");
    let table = page
        .split_once("| condition | matches | passes |\n|---|---|---|\n")
        .unwrap()
        .1;
    let table = table.split_once("\n\n").unwrap().0;
    let config = HookConfig::new(AppProfile::default());
    for row in table.lines() {
        let row = row.replace("\\|", "|");
        let cells = row.trim_matches(['|', ' ']).split("` | ");
        let cells: Vec<_> = cells.map(|cell| cell.trim_end_matches('`')).collect();
        let [condition, matches, passes] = cells[..] else {
            panic!("{cells:?}");
        };
        let (kind, condition) = condition.split_once('`').unwrap();
        let pointer = match kind {
            "for a path: " => "/tool_args/path",
            "for any text: " => "/tool_args/url",
            _ => "/tool_args/command",
        };
        let [matches, passes] = [matches, passes].map(|cell| cell.trim_start_matches('`'));
        let condition: Value = serde_json::from_str(condition).unwrap();
        let file = json!({"hooks": [{
            "event": "tool:pre_execute:x",
            "when": {pointer: condition},
            "answer": {"decision": "block"},
            "cases": {"matches": [matches], "passes": [passes]},
        }]});
        let report = config.check_text("page", &file.to_string());
        let problems: Vec<_> = report.problems.iter().map(ToString::to_string).collect();
        assert!(problems.is_empty(), "{row}: {}", problems.join("\n"));
    }
}
