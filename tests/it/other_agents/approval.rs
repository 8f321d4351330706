//! A project's hooks for other agents run when a person has approved them, the user's in any case.

#[cfg(unix)]
use forge_hooks::HostContext;
use forge_hooks::compat::{self, OtherAgents};
use forge_hooks::config::TrustPolicy;
use forge_hooks::trust::Approval;
#[cfg(feature = "cli")]
use forge_hooks::{AppProfile, Hooks};
use forge_hooks::{FailureKind, HookEvent, HookResult};
use serde_json::json;

use super::{CLAUDE, Place, command, groups, settings};
use crate::support::blocking_event;
#[cfg(feature = "cli")]
use crate::support::foretold;

/// The commands that run.
fn ran(place: &Place) -> Vec<String> {
    let results = place.world.fire(&blocking_event());
    let commands = results.iter().map(|result| result.hook().command());
    commands.collect()
}

#[test]
fn a_projects_hooks_wait_for_an_approval() {
    let hook = settings("PreToolUse", "Bash", &command("true"));
    let users = settings("PreToolUse", "Bash", &command("exit 0"));
    let place = Place::new([(CLAUDE, &*hook), ("home/.claude/settings.json", &users)]);
    let problems = place.problems(&place.load_approved());
    assert_eq!(problems.len(), 1);
    assert!(problems[0].contains(CLAUDE), "{problems:?}");
    assert_eq!(ran(&place), ["exit 0"]);
    let _ = place.approve();
    assert!(place.load_approved().problems.is_empty());
    assert_eq!(ran(&place), ["exit 0", "true"]);
}

#[test]
fn a_plugin_within_the_project_waits_too() {
    let hook = settings("PreToolUse", "Bash", &command("true"));
    let place = Place::new([("project/p/hooks/hooks.json", &*hook)]);
    let tools = place.tools().with_plugin(place.world.path("project/p"));
    let policy = TrustPolicy::Approved(place.store());
    let report = place.load_with(&place.config_with(tools), policy);
    assert_eq!(report.problems.len(), 1);
    assert!(ran(&place).is_empty());
}

/// An approval covers the files of the root, not those that a path means below it.
#[test]
#[cfg(unix)]
fn an_approved_hook_runs_in_the_root() {
    let guard = settings("PreToolUse", "Bash", &command("sh guard.sh"));
    let place = Place::new([(CLAUDE, &*guard)]);
    place
        .world
        .write("project/guard.sh", "echo root >&2; exit 2");
    place.world.write("project/sub/guard.sh", "exit 0");
    let _ = place.approve();
    let _ = place.load_approved();
    let context = HostContext::new().with_cwd(place.root().join("sub"));
    let event = blocking_event().with_context(std::sync::Arc::new(context));
    assert_eq!(place.world.outcome(&event).reason(), Some("root"));
}

#[test]
fn an_approval_covers_scripts() {
    let guard = "project/.claude/guard.sh";
    let all = &[
        ".claude/guard.sh",
        ".claude/hooks/data.json",
        ".claude/hooks/lib.py",
    ][..];
    // The hooks directory of the tool is covered, too.
    for (prefix, expected) in [("\\\"$CLAUDE_PROJECT_DIR\\\"/", &all[..1]), ("", all)] {
        let text = settings(
            "PreToolUse",
            "Bash",
            &command(&format!("{prefix}.claude/guard.sh")),
        );
        let place = Place::new([(CLAUDE, &*text), (guard, "#!/bin/sh\nexit 0\n")]);
        if prefix.is_empty() {
            place.world.write("project/.claude/hooks/lib.py", "");
            place.world.write("project/.claude/hooks/data.json", "");
        }
        let approval = place.approve();
        let files = approval.hooks[0].files.iter().map(|(name, _)| &**name);
        assert_eq!(files.collect::<Vec<_>>(), expected);
        place.world.write(guard, "#!/bin/sh\nexit 2\n");
        let _ = place.load_approved();
        let outcome = place.world.outcome(&blocking_event());
        let failure = outcome.results()[0].failure();
        assert_eq!(failure, Some(FailureKind::ApprovalLost));
        assert!(!outcome.allowed());
    }
}

/// The entry of another agent has no place for a list of files.
#[test]
fn a_handler_whose_files_are_not_known_may_be_approved() {
    let hook = settings("PreToolUse", "Bash", &command("true $X"));
    let place = Place::new([(CLAUDE, &*hook)]);
    let _ = place.approve();
    assert!(place.load_approved().problems.is_empty());
    assert_eq!(ran(&place), ["true $X"]);
}

#[test]
fn an_approved_hook_that_is_gone_blocks() {
    let text = settings("PreToolUse", "", &command("true"));
    let place = Place::new([(CLAUDE, &*text)]);
    let _ = place.approve();
    place.world.write(CLAUDE, "{}");
    assert!(place.problems(&place.load_approved())[0].contains("was approved"));
    assert!(!place.world.outcome(&blocking_event()).allowed());
    // A host that does not load them at all misses none.
    let config = place.config_with(place.tools_of(&[]));
    let _ = place.load_with(&config, TrustPolicy::Approved(place.store()));
    assert!(place.world.outcome(&blocking_event()).allowed());
}

/// It blocks what it has guarded, and no other tool.
#[test]
fn an_approved_hook_that_is_gone_blocks_where_it_was_for() {
    let place = Place::new([(CLAUDE, &*settings("PreToolUse", "Write", &command("true")))]);
    let _ = place.approve();
    place.world.write(CLAUDE, "{}");
    let _ = place.load_approved();
    for (tool, allowed) in [("write", false), ("bash", true)] {
        let event = HookEvent::tool_pre_execute(tool, json!({}));
        assert_eq!(place.world.outcome(&event).allowed(), allowed, "{tool}");
    }
}

/// Also where the host loads no tool, but this plugin.
#[test]
fn an_approved_hook_that_is_gone_from_a_plugin_blocks() {
    let file = "project/p/hooks/hooks.json";
    let hook = settings("PreToolUse", "", &command("true"));
    let place = Place::new([(file, &*hook)]);
    let tools = place.tools_of(&[]);
    let config = place.config_with(tools.with_plugin(place.world.path("project/p")));
    let approval = Approval::of(place.root(), config.load_project(place.root())).unwrap();
    place.store().approve(&approval).unwrap();
    for (text, allowed) in [(&*hook, true), ("{}", false)] {
        place.world.write(file, text);
        let _ = place.load_with(&config, TrustPolicy::Approved(place.store()));
        assert_eq!(place.world.outcome(&blocking_event()).allowed(), allowed);
    }
}

/// A host that names the file trusts it, although it belongs to the project.
#[test]
fn a_file_of_the_project_that_is_named_needs_no_approval() {
    let guard = command("echo no >&2; exit 2");
    let place = Place::new([(CLAUDE, &*settings("PreToolUse", "", &guard))]);
    let named = |tools: OtherAgents| tools.with_settings(compat::CLAUDE, place.world.path(CLAUDE));
    for (tools, reason) in [(place.tools(), None), (named(place.tools()), Some("no"))] {
        let config = place.config_with(tools);
        let report = place.load_with(&config, TrustPolicy::Approved(place.store()));
        assert_eq!(report.unapproved.is_empty(), reason.is_some());
        assert_eq!(place.world.outcome(&blocking_event()).reason(), reason);
    }
}

#[test]
fn an_approved_file_that_is_named_later_is_still_there() {
    let place = Place::new([(CLAUDE, &*settings("PreToolUse", "", &command("true")))]);
    let _ = place.approve();
    let named = place.world.path(CLAUDE);
    let config = place.config_with(place.tools().with_settings(compat::CLAUDE, named));
    let report = place.load_with(&config, TrustPolicy::Approved(place.store()));
    assert_eq!(place.problems(&report), [""; 0]);
    assert!(place.world.outcome(&blocking_event()).allowed());
}

#[test]
fn an_approved_handler_runs_once() {
    let hooks = format!(r#""hooks": [{}]"#, command("true"));
    let both = format!(r#"{{"matcher": "Bash", {hooks}}}, {{"matcher": "*", {hooks}}}"#);
    let place = Place::new([(CLAUDE, &*groups("PreToolUse", &both))]);
    let _ = place.approve();
    assert!(place.load_approved().problems.is_empty());
    assert_eq!(place.world.fire(&blocking_event()).len(), 1);
}

#[test]
fn an_unapproved_handler_hides_no_other() {
    let text = |matcher| settings("PreToolUse", matcher, &command("true"));
    let place = Place::new([(CLAUDE, &*text("*"))]);
    let _ = place.approve();
    let local = "project/.claude/settings.local.json";
    place.world.write(local, &text("*"));
    place.world.write(CLAUDE, &text("B.*"));
    let _ = place.load_approved();
    let results = place.world.fire(&blocking_event());
    assert!(results.iter().any(HookResult::started), "{results:?}");
}

/// The explanation gives the missing approval as the reason, not the hook that runs in its place.
#[cfg(feature = "cli")]
#[test]
fn an_unapproved_handler_is_explained_as_such() {
    let text = |matcher| settings("PreToolUse", matcher, &command("true"));
    let place = Place::new([(CLAUDE, &*text("*"))]);
    let _ = place.approve();
    let local = "project/.claude/settings.local.json";
    let both = format!("{}, {}", command("true"), command("false"));
    place
        .world
        .write(local, &settings("PreToolUse", "B.*", &both));
    let hooks = Hooks::builder(AppProfile::default())
        .config_home(place.world.path("config"))
        .project(place.root())
        .other_agents(place.tools())
        .load();
    let foretold = foretold(&hooks);
    let is_unapproved = |problem: &String| problem.contains("does not run: it comes");
    let fates: Vec<_> = foretold.iter().map(is_unapproved).collect();
    assert_eq!(fates, [false, true, true], "{foretold:?}");
}

/// An approval is for a hook as its project has it.
#[test]
fn the_users_switch_is_no_change_of_an_approved_hook() {
    let guard = command("echo no >&2; exit 2");
    let place = Place::new([(CLAUDE, &*settings("PreToolUse", "*", &guard))]);
    let _ = place.approve();
    for (switch, allowed) in [("true", true), ("false", false)] {
        let text = format!(r#"{{"disableAllHooks": {switch}}}"#);
        place.world.write("home/.claude/settings.json", &text);
        let report = place.load_approved();
        assert_eq!(place.problems(&report), [""; 0]);
        assert_eq!(report.in_use, usize::from(!allowed));
        let outcome = place.world.outcome(&blocking_event());
        assert_eq!(outcome.allowed(), allowed, "{outcome:?}");
    }
}

/// The person knows the file, not the form of hooks.json.
#[test]
fn an_approval_shows_the_entry_as_it_was_written() {
    let handler = r#"{"type": "command", "timeout": 5, "command": "./g.sh \u0041"}"#;
    let text = format!(
        "{{\"hooks\": {{\"PreToolUse\": [\n{{\"hooks\": [{handler}], /* x */ \"matcher\": \"Bash\"}}]}}}}"
    );
    let place = Place::new([(CLAUDE, &*text)]);
    let approval = place.approve();
    let display = approval.hooks[0].to_string();
    let expected = r#"PreToolUse(Bash) .claude/settings.json:2:
  {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "timeout": 5, "command": "./g.sh A"}]}]}
  When it runs: {"event":"tool:pre_execute","on_failure":"continue"}
  Files covered: none
"#;
    assert_eq!(display, expected);
}

#[test]
fn a_label_says_where_a_handler_is() {
    let long = "a".repeat(40);
    let end = format!("PreToolUse({}…) .claude/settings.json:1", "a".repeat(30));
    for (file, event, matcher, expected) in [
        (
            CLAUDE,
            "PreToolUse",
            "Bash",
            "PreToolUse(Bash) .claude/settings.json:1",
        ),
        (CLAUDE, "Stop", "", "Stop .claude/settings.json:1"),
        (CLAUDE, "PreToolUse", &*long, &*end),
        (
            "home/.claude/settings.json",
            "Stop",
            "",
            "Stop .claude/settings.json:1",
        ),
        (
            "p/hooks/hooks.json",
            "Stop",
            "",
            "Stop p/hooks/hooks.json:1",
        ),
    ] {
        let place = Place::new([(file, &*settings(event, matcher, &command("true")))]);
        let _ = place.load_tools(place.tools().with_plugin(place.world.path("p")));
        assert_eq!(place.hooks()[0].label(), expected);
    }
}

/// If the store cannot be read, each hook of the project fails in its own turn.
#[test]
fn without_a_store_hooks_fail_with_their_agents() {
    let guard = settings("PostToolUse", "Edit", &command("exit 0"));
    let guards = settings("PreToolUse", "Bash", &command("exit 0"));
    let place = Place::new([
        (CLAUDE, &*guard),
        ("project/.claude/settings.local.json", &guards),
    ]);
    let _ = place.approve();
    place.world.write("config/src/forge/trust.json", "{");
    let _ = place.load_approved();
    assert_eq!(place.hooks().len(), 2);
    let outcome = place.world.outcome(&blocking_event());
    assert_eq!(
        outcome.blocked().unwrap().failure(),
        Some(FailureKind::ApprovalLost)
    );
    // Nothing keeps an audit of the host from running.
    place.world.hook("tool:*", "echo audited");
    let results = place
        .world
        .fire(&HookEvent::tool_post_execute("bash", "ls", "done"));
    let audited: Vec<_> = results
        .iter()
        .map(|result| result.stdout().trim())
        .collect();
    assert_eq!(audited, ["audited", ""]);
    // A hook that the user switches off stays off.
    place
        .world
        .write("home/.claude/settings.json", r#"{"disableAllHooks": true}"#);
    let _ = place.load_approved();
    assert!(place.world.outcome(&blocking_event()).allowed());
}
