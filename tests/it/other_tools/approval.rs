//! A project's hooks for other tools run when a person has approved them, the user's in any case.

use forge_hooks::config::TrustPolicy;
use forge_hooks::trust::{Approval, TrustStore};
use forge_hooks::{FailureKind, HookEvent};
use serde_json::json;

use super::{Place, command, settings};

const PROJECT: &str = "project/.claude/settings.json";

fn store(place: &Place) -> TrustStore {
    place.config().trust_store().unwrap()
}

fn approve(place: &Place) -> Approval {
    let hooks = place.config().load_project(place.root());
    let approval = Approval::of(place.root(), hooks).unwrap();
    store(place).approve(&approval).unwrap();
    approval
}

fn load(place: &Place) -> Vec<String> {
    let policy = TrustPolicy::Approved(store(place));
    let report = place.load_with(&place.config(), policy);
    place.problems(&report)
}

fn bash() -> HookEvent {
    HookEvent::tool_pre_execute("bash", json!({"command": "ls"}))
}

#[test]
fn a_projects_hooks_wait_for_an_approval() {
    let hook = settings("PreToolUse", "Bash", &command("true"));
    let users = settings("PreToolUse", "Bash", &command("exit 0"));
    let place = Place::new([
        (PROJECT, hook.as_str()),
        ("home/.claude/settings.json", &users),
    ]);
    let problems = load(&place);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].contains(PROJECT), "{problems:?}");
    let skipped = |place: &Place| {
        let results = place.world.fire(&bash());
        results
            .iter()
            .map(|result| result.skipped.is_some())
            .collect::<Vec<_>>()
    };
    assert_eq!(skipped(&place), [false, true]);
    let _ = approve(&place);
    assert!(load(&place).is_empty());
    assert_eq!(skipped(&place), [false, false]);
}

#[test]
fn what_is_not_approved_is_skipped_where_it_would_run() {
    let hook = settings("PreToolUse", "Write", &command("true"));
    let place = Place::new([(PROJECT, hook.as_str())]);
    let _ = load(&place);
    assert!(place.world.fire(&bash()).is_empty());
    let write = HookEvent::tool_pre_execute("write", json!({}));
    assert_eq!(place.world.fire(&write).len(), 1);
}

#[test]
fn a_plugin_within_the_project_waits_too() {
    let hook = settings("PreToolUse", "Bash", &command("true"));
    let place = Place::new([("project/p/hooks/hooks.json", hook.as_str())]);
    let tools = place.tools().with_plugin(place.world.path("project/p"));
    let config = place.config_with(tools);
    let policy = TrustPolicy::Approved(store(&place));
    let report = place.load_with(&config, policy);
    assert_eq!(report.problems.len(), 1);
    assert!(place.world.fire(&bash())[0].skipped.is_some());
}

#[test]
fn an_approval_covers_the_script() {
    let text = "\\\"$CLAUDE_PROJECT_DIR\\\"/.claude/guard.sh";
    let place = Place::new([(
        PROJECT,
        &settings("PreToolUse", "Bash", &command(text)) as &str,
    )]);
    place
        .world
        .write("project/.claude/guard.sh", "#!/bin/sh\nexit 0\n");
    let approval = approve(&place);
    let files: Vec<_> = approval.hooks[0]
        .files
        .iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(files, [".claude/guard.sh"]);
    assert_eq!(approval.hooks[0].notes, [""; 0]);
    place
        .world
        .write("project/.claude/guard.sh", "#!/bin/sh\nexit 2\n");
    load(&place);
    let outcome = place.world.outcome(&bash());
    let failures = outcome.results().iter().map(|result| result.failure);
    assert_eq!(
        failures.collect::<Vec<_>>(),
        [Some(FailureKind::ApprovalLost)]
    );
    assert!(!outcome.allowed());
}

#[test]
fn the_hooks_directory_of_the_tool_is_covered() {
    let text = settings("PreToolUse", "Bash", &command(".claude/guard.sh"));
    let place = Place::new([(PROJECT, text.as_str())]);
    place.world.write("project/.claude/guard.sh", "");
    place.world.write("project/.claude/hooks/lib.py", "");
    place.world.write("project/.claude/hooks/data.json", "");
    let approval = approve(&place);
    let files = approval.hooks[0].files.iter().map(|(name, _)| &**name);
    let expected = [".claude/guard.sh", ".claude/hooks/lib.py"];
    assert_eq!(files.collect::<Vec<_>>(), expected);
}

#[test]
fn an_approved_hook_that_is_gone_blocks() {
    let place = Place::new([(
        PROJECT,
        &settings("PreToolUse", "", &command("true")) as &str,
    )]);
    let _ = approve(&place);
    place.world.write(PROJECT, "{}");
    assert!(load(&place)[0].contains("was approved"));
    assert!(!place.world.outcome(&bash()).allowed());
    // A host that does not load them at all misses none.
    let config = place.config_with(place.tools().with_tools([]));
    let _ = place.load_with(&config, TrustPolicy::Approved(store(&place)));
    assert!(place.world.outcome(&bash()).allowed());
}

#[test]
fn an_approved_handler_runs_once() {
    let text = |first: &str, second: &str| {
        let group = |matcher| {
            format!(
                r#"{{"matcher": "{matcher}", "hooks": [{}]}}"#,
                command("true")
            )
        };
        let groups = [first, second].map(group).join(", ");
        format!(r#"{{"hooks": {{"PreToolUse": [{groups}]}}}}"#)
    };
    let place = Place::new([(PROJECT, text("Bash", "*").as_str())]);
    let _ = approve(&place);
    assert!(load(&place).is_empty());
    assert_eq!(place.world.fire(&bash()).len(), 1);
}

#[test]
fn an_unapproved_handler_hides_no_other() {
    let place = Place::new([(
        PROJECT,
        settings("PreToolUse", "*", &command("true")).as_str(),
    )]);
    let _ = approve(&place);
    let first = settings("PreToolUse", "B.*", &command("true"));
    let local = "project/.claude/settings.local.json";
    place
        .world
        .write(local, &settings("PreToolUse", "*", &command("true")));
    place.world.write(PROJECT, &first);
    load(&place);
    let results = place.world.fire(&bash());
    let started = |result: &forge_hooks::HookResult| result.started();
    assert!(results.iter().any(started), "{results:?}");
}
