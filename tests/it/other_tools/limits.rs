//! A clone with very many files of plugins: they are read up to a limit, and what is left out is printed.

use std::time::{Duration, Instant};

use forge_hooks::HookEvent;
use forge_hooks::config::TrustPolicy;
use serde_json::json;

use super::{Place, command, settings};
use crate::support::assert_computes_within;

/// A group whose matcher takes about a mebibyte when compiled.
fn large(index: usize) -> String {
    let handler = command("true");
    format!(r#"{{"matcher": "\\\\w{{20}}|x{index}", "hooks": [{handler}]}}"#)
}

/// What is not approved must not use up what approved hooks need, nor the time of the host.
#[test]
fn unapproved_matchers_are_not_compiled() {
    let guard = format!(
        r#"{{"matcher": "Bash.*", "hooks": [{}]}}"#,
        command("echo no >&2; exit 2")
    );
    let file =
        |groups: &[String]| format!(r#"{{"hooks": {{"PreToolUse": [{}]}}}}"#, groups.join(", "));
    let path = "project/.claude/settings.json";
    let place = Place::new([(path, file(std::slice::from_ref(&guard)).as_str())]);
    let config = place.config();
    let store = place.approved(&config);
    let mut groups: Vec<String> = (0..900).map(large).collect();
    groups.push(guard);
    place.world.write(path, &file(&groups));
    let began = Instant::now();
    let _ = place.load_with(&config, TrustPolicy::Approved(store));
    assert!(began.elapsed() < Duration::from_secs(20));
    let event = HookEvent::tool_pre_execute("bash", json!({"command": "ls"}));
    assert_eq!(place.world.outcome(&event).reason(), Some("no"));
}

const EXTENSION: &str = "project/.gemini/extensions/x/gemini-extension.json";

#[test]
fn a_manifest_names_so_many_files() {
    let names: Vec<_> = (0..5000).map(|index| format!("{index}.json")).collect();
    let place = Place::new([(
        "project/p/.claude-plugin/plugin.json",
        json!({"hooks": names}).to_string().as_str(),
    )]);
    let tools = place.tools().with_plugin(place.world.path("project/p"));
    let config = place.config_with(tools);
    let report = place.load_with(&config, forge_hooks::config::TrustPolicy::Everything);
    assert_eq!(report.problems.len(), 101);
    let last = report.problems[100].to_string();
    assert!(
        last.ends_with("names more than 100 files; the others are left out"),
        "{last}"
    );
}

/// Nothing of a rule is compiled before its hook may run.
#[test]
fn unapproved_rules_are_not_compiled() {
    let rule = format!("Edit({})", "[a]".repeat(300));
    let handler = json!({"type": "command", "command": "x", "if": rule}).to_string();
    let handlers = vec![handler; 1000].join(", ");
    let file = format!(r#"{{"hooks": {{"PreToolUse": [{{"hooks": [{handlers}]}}]}}}}"#);
    let place = Place::new([("project/.claude/settings.json", file.as_str())]);
    let config = place.config();
    let approved = TrustPolicy::Approved(config.trust_store().unwrap());
    let load = || place.load_with(&config, approved);
    let report = assert_computes_within(Duration::from_secs(3), "rules", load);
    assert_eq!(report.unapproved.len(), 1000);
}

#[cfg(unix)]
#[test]
fn a_project_has_so_many_bytes_of_files() {
    let hook = settings("BeforeTool", "", &command("x"));
    let long = hook.replacen('{', &format!("{{{}", " ".repeat(1_000_000)), 1);
    let place = Place::new([(EXTENSION, "{}")]);
    let extensions = place.root().join(".gemini/extensions");
    place
        .world
        .write("project/.gemini/extensions/x/hooks/hooks.json", &long);
    for index in 0..20 {
        std::os::unix::fs::symlink(extensions.join("x"), extensions.join(format!("y{index}")))
            .unwrap();
    }
    let report = place.load();
    let problems = place.problems(&report);
    assert_eq!(place.commands().len(), 17, "{problems:?}");
    assert_eq!(problems.len(), 4);
    assert!(problems[0].contains("more than 16 MiB"), "{problems:?}");
}
