//! Guards in files of other tools that must not vanish: none hides another one, and none is left out silently.

use std::time::{Duration, Instant};

use forge_hooks::compat::OtherTools;
use forge_hooks::config::TrustPolicy;
use forge_hooks::{EventType, HookEvent, Outcome, compat};
use serde_json::json;

use super::{Place, command, settings};

const CLAUDE: &str = "project/.claude/settings.json";
const GEMINI: &str = "project/.gemini/settings.json";

fn before() -> HookEvent {
    HookEvent::tool_pre_execute("bash", json!({"command": "ls"}))
}

/// Loads a file, and fires an event; with what is reported.
fn fired(
    file: &str,
    text: &str,
    event: &HookEvent,
    change: fn(OtherTools) -> OtherTools,
) -> (Outcome, Vec<String>) {
    let place = Place::new([(file, text)]);
    let config = place.config_with(change(place.tools()));
    let report = place.load_with(&config, TrustPolicy::Everything);
    let problems = place.problems(&report);
    (place.world.outcome(event), problems)
}

fn groups(event: &str, groups: &str) -> String {
    format!(r#"{{"hooks": {{"{event}": [{groups}]}}}}"#)
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
        (GEMINI, "BeforeTool", "", "", 1),
        (GEMINI, "BeforeTool", "", r#", "name": "n""#, 2),
        (GEMINI, "BeforeTool", "", r#", "env": {"A": "1"}"#, 2),
    ] {
        let handler = |keys: &str| {
            format!(r#"{{"hooks": [{{"type": "command", "command": "true"{keys}}}]}}"#)
        };
        let text = groups(event, &format!("{}, {}", handler(first), handler(second)));
        let (outcome, _) = fired(file, &text, &before(), |tools| tools);
        assert_eq!(outcome.results().len(), runs, "{first} {second}");
    }
}

#[test]
fn a_handler_of_each_agent_may_block_on_failure() {
    const CODEX: &str = "project/.codex/hooks.json";
    for (file, event) in [
        (CLAUDE, "PreToolUse"),
        (CODEX, "PreToolUse"),
        (GEMINI, "BeforeTool"),
    ] {
        for (policy, allowed) in [("block", false), ("continue", true)] {
            let handler =
                format!(r#"{{"type": "command", "command": "exit 1", "onFailure": "{policy}"}}"#);
            let text = settings(event, "", &handler);
            let (outcome, problems) = fired(file, &text, &before(), |tools| tools);
            assert_eq!(outcome.allowed(), allowed, "{file} {policy}");
            assert!(problems.is_empty(), "{problems:?}");
        }
    }
}

/// `PreModelSwitch` of Claude Code.
#[test]
fn each_failure_blocks_a_closed_event() {
    let event = EventType::custom("model:pre_switch").unwrap();
    for handler in [
        r#"{"type": "command", "command": "exit 1"}"#,
        r#"{"type": "command", "command": "exit 1", "async": true}"#,
        r#"{"type": "x", "command": "true"}"#,
        r#"{"type": "command"}"#,
    ] {
        let text = settings("PreModelSwitch", "", handler);
        let event = HookEvent::new(event.clone());
        let (outcome, _) = fired(CLAUDE, &text, &event, |tools| tools);
        assert!(!outcome.allowed(), "{handler}");
    }
}

#[test]
fn strict_shapes_block_and_are_reported() {
    let handler = command("true");
    let group = format!(r#"{{"hooks": [{handler}]}}"#);
    let twice = r#"{"type": "command", "command": "true", "command": "false"}"#;
    for text in [
        format!(r#"{{"hooks": {{"PreToolUse": {group}}}}}"#),
        r#"{"hooks": {"PreToolUse": "true"}}"#.to_owned(),
        r#"{"hooks": {"PreToolUse": null}}"#.to_owned(),
        r#"{"hooks": null}"#.to_owned(),
        format!(r#"{{"hook": {{"PreToolUse": [{group}]}}}}"#),
        format!(r#"{{"Hooks": {{"PreToolUse": [{group}]}}}}"#),
        groups("PreToolUse", &group.replace("hooks", "hook")),
        groups("PreToolUse", &group.replace("hooks", "Hooks")),
        groups(
            "PreToolUse",
            &format!(r#"{{"hooks": [], "hooks": [{handler}]}}"#),
        ),
        groups(
            "PreToolUse",
            &format!(r#"{{"matcher": "a", "matcher": "b", "hooks": [{handler}]}}"#),
        ),
        groups("PreToolUse", &format!(r#"{{"hooks": [{twice}]}}"#)),
        groups("PreToolUse", r#"{"hooks": "true"}"#),
        groups("PreToolUse", "null"),
        format!(r#"{{"PreToolUse": [{group}]}}"#),
        format!(r#"{{"hooks": {{}}, "hooks": {{"PreToolUse": [{group}]}}}}"#),
    ] {
        let (outcome, problems) = fired(CLAUDE, &text, &before(), |tools| tools);
        assert!(outcome.allowed(), "{text}");
        assert_eq!(problems.len(), 1, "{text} {problems:?}");
        let (outcome, problems) = fired(CLAUDE, &text, &before(), OtherTools::with_strict_guards);
        assert!(!outcome.allowed(), "{text}");
        assert_eq!(problems.len(), 1, "{text} {problems:?}");
    }
}

/// A key may occur very often.
#[test]
fn placeholders_are_few() {
    let many = |entry: &str| vec![entry; 5_000].join(", ");
    for text in [
        format!("{{{}}}", many(r#""PreToolUse": 1"#)),
        format!("{{{}}}", many(r#""hook": 1"#)),
        format!(r#"{{"hooks": {{{}}}}}"#, many(r#""PreToolUse": 1"#)),
        format!(r#"{{"hooks": {{{}}}}}"#, many(r#""preToolUse": 1"#)),
    ] {
        let place = Place::new([(CLAUDE, text.as_str())]);
        let config = place.config_with(place.tools().with_strict_guards());
        let report = place.load_with(&config, TrustPolicy::Everything);
        assert!(report.problems.len() <= 1_001);
        assert!(place.world.registry().len() <= 2);
        assert!(!place.world.outcome(&before()).allowed());
    }
}

#[test]
fn a_guard_whose_matcher_cannot_be_tested_runs_for_every_tool() {
    for (matcher, allowed) in [
        ("^(?!mcp__).*", false),
        (r"(?<!x)Write", false),
        (r"(.)\\1", false),
        ("[^]*", false),
        ("Ba{sh|Bash", false),
        ("a{,3}sh|Bash", false),
        (r"\\cA|Bash", false),
        ("Ba[[s]h|Bash", false),
        (r"(a)(B)\\2|Bash", false),
        (r"^(B)(a)sh|(x)\\2$", false),
        (r"(\\w{1000}){1000}|Bash", false),
        ("Write.*", true),
    ] {
        for (file, event) in [(CLAUDE, "PreToolUse"), (GEMINI, "BeforeTool")] {
            let text = settings(event, matcher, &command("echo no >&2; exit 2"));
            let (outcome, problems) = fired(file, &text, &before(), |tools| tools);
            assert_eq!(outcome.allowed(), allowed, "{file} {matcher}");
            assert_eq!(problems.len(), usize::from(!allowed), "{problems:?}");
            let notes = outcome.results().iter().flat_map(|it| it.diagnostics());
            assert_eq!(notes.count(), usize::from(!allowed), "{file} {matcher}");
        }
    }
}

#[test]
fn a_rule_that_cannot_be_tested_matches() {
    let many = "*a".repeat(2_000);
    let long = format!("{}*", "a".repeat(5_000));
    for rule in [long, many] {
        let handler =
            format!(r#"{{"type": "command", "command": "exit 2", "if": "Bash({rule})"}}"#);
        let text = settings("PreToolUse", "Bash", &handler);
        let (outcome, problems) = fired(CLAUDE, &text, &before(), |tools| tools);
        assert!(!outcome.allowed());
        assert_eq!(problems.len(), 1, "{problems:?}");
    }
}

/// The agent itself has no such limits.
#[test]
fn what_only_this_crate_cannot_read_blocks() {
    let guard = format!(r#"{{"hooks": [{}]}}"#, command("echo no >&2; exit 2"));
    let many = |group: &str| groups("PreToolUse", &format!("{guard}{}", group.repeat(1_001)));
    let handlers = vec![command("true"); 1_001].join(", ");
    let expressions =
        (0..300).map(|index| format!(r#"{{"matcher": "\\w|x{index}", "hooks": []}}, "#));
    let expressions: String = expressions.collect();
    let last = guard.replacen('{', r#"{"matcher": "Bash|\\w{9}y", "#, 1);
    let one = groups("PreToolUse", &guard);
    for (text, problems) in [
        (format!("{one}{}", " ".repeat(1024 * 1024)), 1),
        (
            one.replacen('{', &format!("{{\"x\": [{}0],", "0, ".repeat(260_000)), 1),
            1,
        ),
        (many(r#", {"hooks": []}"#), 1),
        (settings("PreToolUse", "Read", &handlers), 1),
        (groups("PreToolUse", &format!("{expressions}{last}")), 0),
        (one.replacen('{', r#"{"x": "\ud83d","#, 1), 0),
    ] {
        let (outcome, found) = fired(CLAUDE, &text, &before(), |tools| tools);
        assert!(!outcome.allowed(), "{found:?} {}", &text[..80]);
        assert!(found.len() >= problems, "{found:?}");
    }
    // The agent cannot read this either.
    let (outcome, _) = fired(CLAUDE, &one[1..], &before(), |tools| tools);
    assert!(outcome.allowed());
}

/// The limits are those of any other file.
#[test]
fn a_named_file_of_a_project_is_compiled_with_limits() {
    let large = |index| format!(r#"{{"matcher": "\\w{{2000}}|x{index}", "hooks": []}}"#);
    let many = (0..1_000).map(large).collect::<Vec<_>>().join(", ");
    for (text, problems) in [
        (groups("PreToolUse", &many), 1_000),
        (settings("PreToolUse", "Bash(", &command("true")), 1),
        (settings("PreToolUse", "Bash", &command("true")), 0),
    ] {
        for file in [CLAUDE, "project/other.json"] {
            let place = Place::new([(file, text.as_str())]);
            let tools = place
                .tools()
                .with_settings(compat::CLAUDE, place.world.path(file));
            let store = place.config().trust_store().unwrap();
            let began = Instant::now();
            let report = place.load_with(&place.config_with(tools), TrustPolicy::Approved(store));
            assert!(began.elapsed() < Duration::from_secs(20));
            assert_eq!(report.problems.len(), problems, "{file}");
        }
    }
}

/// Also where one of the project's hooks is approved.
#[test]
fn a_project_has_so_many_hooks_without_an_approval() {
    let first = command("first");
    let files = [CLAUDE, "project/.claude/settings.local.json"];
    let place = Place::new([(CLAUDE, settings("PreToolUse", "", &first).as_str())]);
    let config = place.config();
    let store = place.approved(&config);
    let others = (0..900).map(|index| command(&format!("x{index}")));
    let others = others.collect::<Vec<_>>().join(", ");
    for file in files {
        let handlers = format!("{first}, {others}");
        place
            .world
            .write(file, &settings("PreToolUse", "", &handlers));
    }
    let report = place.load_with(&config, TrustPolicy::Approved(store));
    assert_eq!(report.unapproved.len(), 1_000);
    // The approved one is in both files.
    assert_eq!(place.world.registry().len(), 1_002);
    let problems = place.problems(&report).join("\n");
    assert!(problems.contains("more than 1000 hooks that are not approved"));
}
