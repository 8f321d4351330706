//! Guards in files of other agents: what keeps one from running, or from being read, must not let everything pass.

use forge_hooks::compat::{self, OtherAgents};
use forge_hooks::config::TrustPolicy;
use forge_hooks::{EventType, FailurePolicy, HookEvent, Outcome};
use serde_json::json;

use super::{CLAUDE, CODEX, Place, command, groups, settings};
use crate::support::{alone_with, blocking_event};

const STRICT: fn(OtherAgents) -> OtherAgents = OtherAgents::with_strict_guards;

/// Loads a file, and fires an event; with what is reported.
fn fired(
    file: &str,
    text: &str,
    event: &HookEvent,
    change: fn(OtherAgents) -> OtherAgents,
) -> (Outcome, Vec<String>) {
    let place = Place::new([(file, text)]);
    let problems = place.problems(&place.load_tools(change(place.tools())));
    (place.world.outcome(event), problems)
}

/// The same with `tool:pre_execute` and the usual settings.
fn before(file: &str, text: &str) -> (Outcome, Vec<String>) {
    fired(file, text, &blocking_event(), |tools| tools)
}

#[test]
fn only_equal_handlers_run_once() {
    for (file, event, first, second, runs) in [
        (CLAUDE, "PreToolUse", "", "", 1),
        (CLAUDE, "PreToolUse", "", r#", "onFailure": "block""#, 2),
        (CLAUDE, "PreToolUse", "", r#", "timeout": 5"#, 2),
        (CLAUDE, "PreToolUse", "", r#", "args": []"#, 2),
        (CLAUDE, "PreToolUse", "", r#", "shell": "powershell""#, 2),
        (CLAUDE, "PreToolUse", "", r#", "if": "Bash(ls)""#, 2),
        (CLAUDE, "PreToolUse", "", r#", "statusMessage": "s""#, 2),
        // Not waited for, so without a result.
        (CLAUDE, "PreToolUse", r#", "async": true"#, "", 1),
        (CODEX, "PreToolUse", "", "", 1),
    ] {
        let handler = |keys: &str| {
            format!(r#"{{"hooks": [{{"type": "command", "command": "true"{keys}}}]}}"#)
        };
        let text = groups(event, &format!("{}, {}", handler(first), handler(second)));
        let (outcome, _) = before(file, &text);
        assert_eq!(outcome.results().len(), runs, "{file} {first} {second}");
    }
}

#[test]
fn a_handler_of_each_agent_may_block_on_failure() {
    // A login shell of the user's, which Codex starts, starts slowly.
    let test = "other_agents::guards::a_handler_of_each_agent_may_block_on_failure";
    if !alone_with(test, &[("SHELL", "/bin/sh")]) {
        return;
    }
    for file in [CLAUDE, CODEX] {
        // The host may have set another policy for all.
        for (policy, change, allowed) in [
            (
                r#", "onFailure": "block""#,
                (|agents| agents) as fn(_) -> _,
                false,
            ),
            (r#", "onFailure": "continue""#, |agents| agents, true),
            ("", STRICT, false),
        ] {
            let handler = format!(r#"{{"type": "command", "command": "exit 1"{policy}}}"#);
            let text = settings("PreToolUse", "", &handler);
            let (outcome, problems) = fired(file, &text, &blocking_event(), change);
            assert_eq!(outcome.allowed(), allowed, "{file} {policy}");
            assert!(problems.is_empty(), "{problems:?}");
        }
    }
}

/// `PreModelSwitch` of Claude Code.
#[test]
fn each_failure_blocks_a_closed_event() {
    let event = HookEvent::new(EventType::custom("model:pre_switch").unwrap());
    for handler in [
        r#"{"type": "command", "command": "exit 1"}"#,
        r#"{"type": "command", "command": "exit 1", "async": true}"#,
        r#"{"type": "x", "command": "true"}"#,
        r#"{"type": "command"}"#,
    ] {
        let text = settings("PreModelSwitch", "", handler);
        let (outcome, _) = fired(CLAUDE, &text, &event, |tools| tools);
        assert!(!outcome.allowed(), "{handler}");
    }
}

/// `GROUP` is one with a hook.
const SHAPES: &str = r#"
{
{"hooks": {"PreToolUse": GROUP}}
{"hooks": {"PreToolUse": "true"}}
{"hooks": {"PreToolUse": null}}
{"hooks": null}
{"hook": {"PreToolUse": [GROUP]}}
{"Hooks": {"PreToolUse": [GROUP]}}
{"hooks": {"preToolUse": [GROUP]}}
{"hooks": {"PreToolUse": [{"hook": []}]}}
{"hooks": {"PreToolUse": [{"Hooks": []}]}}
{"hooks": {"PreToolUse": [{"hooks": [], "hooks": [{"type": "command", "command": "true"}]}]}}
{"hooks": {"PreToolUse": [{"matcher": "a", "matcher": "b", "hooks": []}]}}
{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true", "command": "false"}]}]}}
{"hooks": {"PreToolUse": [{"hooks": "true"}]}}
{"hooks": {"PreToolUse": [null]}}
{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "prompt", "prompt": "?"}]}]}}
{"PreToolUse": [GROUP]}
{"hooks": {}, "hooks": {"PreToolUse": [GROUP]}}
"#;

#[test]
fn strict_shapes_block_and_are_reported() {
    let group = format!(r#"{{"hooks": [{}]}}"#, command("true"));
    for text in SHAPES.trim().lines() {
        let text = text.replace("GROUP", &group);
        for (allowed, change) in [(true, (|agents| agents) as fn(_) -> _), (false, STRICT)] {
            let (outcome, problems) = fired(CLAUDE, &text, &blocking_event(), change);
            assert_eq!(outcome.allowed(), allowed, "{text}");
            assert_eq!(problems.len(), 1, "{text} {problems:?}");
        }
    }
}

/// An event that never comes, and an entry that cannot be used, block nothing else.
#[test]
fn strict_guards_block_no_more_than_they_must() {
    let edit = HookEvent::tool_pre_execute("edit", json!({}));
    let prompt = r#"{"type": "prompt", "prompt": "?"}"#;
    for (file, text, hooks) in [
        (CLAUDE, settings("PreToolUse", "Bash", prompt), 1),
        (CLAUDE, settings("TaskCreated", "", &command("x")), 1),
        (CODEX, settings("Zebra", "", &command("x")), 0),
        // It is newer, and no typo of `Stop`.
        (CODEX, settings("StopFailure", "", &command("x")), 0),
    ] {
        let place = Place::new([(file, &*text)]);
        let report = place.load_tools(place.tools().with_strict_guards());
        assert_eq!(report.problems.len(), 1, "{text}");
        assert_eq!(place.hooks().len(), hooks, "{text}");
        let mut policies = place.hooks().into_iter().map(|hook| hook.on_failure());
        assert!(policies.all(|policy| policy == FailurePolicy::Block));
        assert!(place.world.outcome(&edit).allowed(), "{text}");
    }
}

/// Equal placeholders are one, and those of other matchers and events are others.
#[test]
fn each_unusable_group_blocks_its_own_tools() {
    let group = |matcher: &str| {
        format!(r#"{{"matcher": "{matcher}", "hooks": [{{"type": "prompt", "prompt": "?"}}]}}"#)
    };
    let both = format!("{}, {}", group("Bash"), group("Edit"));
    let place = Place::new([(CLAUDE, &*groups("PreToolUse", &both))]);
    let _ = place.load_tools(place.tools().with_strict_guards());
    for (tool, allowed) in [("bash", false), ("edit", false), ("read", true)] {
        let event = HookEvent::tool_pre_execute(tool, json!({}));
        assert_eq!(place.world.outcome(&event).allowed(), allowed, "{tool}");
    }
}

/// A key may occur very often.
#[test]
fn placeholders_are_few() {
    let many = |entry: &str| vec![entry; 1_100].join(", ");
    for text in [
        format!("{{{}}}", many(r#""PreToolUse": 1"#)),
        format!("{{{}}}", many(r#""hook": 1"#)),
        format!(r#"{{"hooks": {{{}}}}}"#, many(r#""PreToolUse": 1"#)),
        format!(r#"{{"hooks": {{{}}}}}"#, many(r#""preToolUse": 1"#)),
    ] {
        let place = Place::new([(CLAUDE, &*text)]);
        let report = place.load_tools(place.tools().with_strict_guards());
        assert!(report.problems.len() <= 1_001);
        assert!(place.hooks().len() <= 2);
        assert!(!place.world.outcome(&blocking_event()).allowed());
    }
}

#[test]
fn a_guard_whose_matcher_cannot_be_tested_runs_for_every_tool() {
    let untestable = [
        "^(?!mcp__).*",
        r"(?<!x)Write",
        r"(.)\\1",
        "[^]*",
        "Ba{sh|Bash",
        "a{,3}sh|Bash",
        r"\\cA|Bash",
        "Ba[[s]h|Bash",
        r"(a)(B)\\2|Bash",
        r"^(B)(a)sh|(x)\\2$",
        r"(\\w{1000}){1000}|Bash",
    ];
    for matcher in untestable.into_iter().chain(["Write.*"]) {
        let allowed = matcher == "Write.*";
        let text = settings("PreToolUse", matcher, &command("echo no >&2; exit 2"));
        let (outcome, problems) = before(CLAUDE, &text);
        assert_eq!(outcome.allowed(), allowed, "{matcher}");
        // One that is too large is found when it is tested.
        let is_found = !allowed && !matcher.contains("1000");
        assert_eq!(problems.len(), usize::from(is_found), "{problems:?}");
        let notes = outcome
            .results()
            .iter()
            .flat_map(|result| result.diagnostics());
        assert_eq!(notes.count(), usize::from(!allowed), "{matcher}");
    }
}

#[test]
fn a_rule_that_cannot_be_tested_matches() {
    for rule in ["*a".repeat(2_000), format!("{}*", "a".repeat(5_000))] {
        let keys = format!(r#""command": "exit 2", "if": "Bash({rule})""#);
        let handler = format!(r#"{{"type": "command", {keys}}}"#);
        let (outcome, problems) = before(CLAUDE, &settings("PreToolUse", "Bash", &handler));
        assert!(!outcome.allowed());
        assert_eq!(problems.len(), 1, "{problems:?}");
    }
}

/// The agent itself has no such limits.
#[test]
fn what_only_this_crate_cannot_read_blocks() {
    let guard = format!(r#"{{"hooks": [{}]}}"#, command("exit 2"));
    let one = groups("PreToolUse", &guard);
    let more = |keys: &str| one.replacen('{', &format!("{{{keys}, "), 1);
    let many = format!("{guard}{}", r#", {"hooks": []}"#.repeat(1_001));
    let handlers = vec![command("true"); 1_001].join(", ");
    let cases = [
        (format!("{one}{}", " ".repeat(1024 * 1024)), 1),
        (
            more(&format!(r#""x": {}{}"#, "[".repeat(101), "]".repeat(101))),
            1,
        ),
        (groups("PreToolUse", &many), 1),
        (settings("PreToolUse", "Read", &handlers), 1),
        (more(r#""x": "\ud83d""#), 0),
    ];
    for (text, problems) in cases {
        let (outcome, found) = before(CLAUDE, &text);
        assert!(!outcome.allowed(), "{found:?} {}", &text[..80]);
        assert!(found.len() >= problems, "{found:?}");
    }
    // The agent cannot read this either.
    assert!(before(CLAUDE, &one[1..]).0.allowed());
}

#[test]
fn a_named_file_of_a_project_is_checked() {
    let wrong = |index| format!(r#"{{"matcher": "(x|{index}", "hooks": []}}"#);
    let many = (0..100).map(wrong).collect::<Vec<_>>().join(", ");
    for (text, problems) in [
        (groups("PreToolUse", &many), 100),
        (settings("PreToolUse", "Bash(", &command("true")), 1),
        (settings("PreToolUse", "Bash", &command("true")), 0),
    ] {
        let place = Place::new([("project/other.json", &*text)]);
        let named = place.world.path("project/other.json");
        let tools = place.tools().with_settings(compat::CLAUDE, named);
        let policy = TrustPolicy::Approved(place.store());
        let report = place.load_with(&place.config_with(tools), policy);
        assert_eq!(report.problems.len(), problems);
    }
}

/// Also where one of the project's hooks is approved.
#[test]
fn a_project_has_so_many_hooks_without_an_approval() {
    let first = command("first");
    let place = Place::new([(CLAUDE, &*settings("PreToolUse", "", &first))]);
    let _ = place.approve();
    let others = (0..900).map(|index| command(&format!("x{index}")));
    let others = others.collect::<Vec<_>>().join(", ");
    let both = settings("PreToolUse", "", &format!("{first}, {others}"));
    place.world.write(CLAUDE, &both);
    place
        .world
        .write("project/.claude/settings.local.json", &both);
    let report = place.load_approved();
    assert_eq!(report.unapproved.len(), 1_000);
    assert_eq!(place.hooks().len(), 2, "the approved one is in both files");
    let problems = place.problems(&report).join("\n");
    assert!(problems.contains("more than 1000 hooks that are not approved"));
}
