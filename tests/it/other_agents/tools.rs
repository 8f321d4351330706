//! The host's tools under the names that an agent's hooks read: of a tool and of its arguments, there and back.

use forge_hooks::compat::{self, OtherAgents};
use forge_hooks::config::TrustPolicy;
use forge_hooks::{AppProfile, Decision, FailureKind, FireOptions, HookEvent, Hooks, Outcome};
use serde_json::{Value, json};

use super::{CLAUDE, Place, settings};
use crate::support::{World, decision, hook_of};

const NAMES: [(&str, &str); 2] = [("path", "file_path"), ("contents", "content")];

fn mapped(tools: OtherAgents) -> OtherAgents {
    tools.with_tool(compat::CLAUDE, "fs_write", "Write", NAMES)
}

fn alias(tools: OtherAgents) -> OtherAgents {
    tools.with_tool(
        compat::CLAUDE,
        "fs_write",
        "Write",
        [("content", "content")],
    )
}

/// The outcome of a call of the host's `fs_write`, with a project's handler for `Write`.
fn fired(tools: fn(OtherAgents) -> OtherAgents, handler: &Value, args: &Value) -> Outcome {
    let handler = handler.to_string();
    let place = Place::new([(CLAUDE, &*settings("PreToolUse", "Write", &handler))]);
    let _ = place.load_tools(tools(place.tools()));
    let event = HookEvent::tool_pre_execute("fs_write", args.clone());
    let options = FireOptions::new().applies_updates();
    place.world.executor.execute(&event, options)
}

fn handler(command: &str) -> Value {
    json!({"type": "command", "command": command})
}

fn env_guard() -> Value {
    handler(r#"! grep -q '"file_path":".env"' || { echo no >&2; exit 2; }"#)
}

#[test]
fn a_guard_reads_mapped_arguments() {
    let args = json!({"path": ".env", "contents": "x"});
    let outcome = fired(mapped, &env_guard(), &args);
    assert_eq!(outcome.reason(), Some("no"));
    assert!(outcome.results()[0].diagnostics().is_empty());
    let outcome = fired(alias, &env_guard(), &args);
    assert!(outcome.allowed());
    let [note] = outcome.results()[0].diagnostics() else {
        panic!("one note: {outcome:?}")
    };
    assert!(
        note.starts_with("hooks of Claude Code read the argument `file_path` of `Write`"),
        "{note}"
    );
}

#[test]
fn a_guard_without_its_argument_blocks_if_strict() {
    let strict = |tools: OtherAgents| alias(tools).with_strict_guards();
    let outcome = fired(strict, &env_guard(), &json!({"path": ".env"}));
    let result = &outcome.results()[0];
    assert_eq!(result.failure(), Some(FailureKind::ArgumentsNotMapped));
    assert!(!outcome.allowed() && !result.started());
    let strict = |tools: OtherAgents| mapped(tools).with_strict_guards();
    let args = json!({"path": "a.rs", "contents": "x"});
    assert!(fired(strict, &env_guard(), &args).allowed());
}

/// A guard searches the text of a command, and finds nothing in a list.
#[test]
fn a_guard_whose_argument_is_no_text_says_so() {
    let guard = handler("! grep -q 'rm -rf' || exit 2");
    let event = HookEvent::tool_pre_execute("bash", json!({"command": ["rm", "-rf", "/x"]}));
    let place = Place::new([(CLAUDE, &*settings("PreToolUse", "Bash", &guard.to_string()))]);
    let _ = place.load_tools(place.tools());
    let outcome = place.world.outcome(&event);
    let [note] = outcome.results()[0].diagnostics() else {
        panic!("one note: {outcome:?}")
    };
    let expected = "hooks of Claude Code read the argument `command` of `Bash` as text, and in this call of the tool `bash` it \
                    is a list";
    assert!(note.starts_with(expected), "{note}");
    let _ = place.load_tools(place.tools().with_strict_guards());
    let outcome = place.world.outcome(&event);
    let result = &outcome.results()[0];
    assert_eq!(result.failure(), Some(FailureKind::ArgumentsNotMapped));
    assert!(result.reason().unwrap().starts_with(expected), "{result:?}");
}

#[test]
fn two_arguments_of_one_name_block() {
    let args = json!({"path": "a.rs", "file_path": ".env", "contents": "x"});
    let mut with_rule = handler("true");
    with_rule["if"] = json!("Write(*.env)");
    for handler in [handler("true"), with_rule] {
        let outcome = fired(mapped, &handler, &args);
        let failures: Vec<_> = outcome
            .results()
            .iter()
            .map(|result| result.failure())
            .collect();
        assert_eq!(
            failures,
            [Some(FailureKind::ArgumentsNotMapped)],
            "{handler}"
        );
        assert!(!outcome.allowed());
    }
    let after = HookEvent::tool_post_execute("fs_write", args, "out");
    let handler = handler("true").to_string();
    let place = Place::new([(CLAUDE, &*settings("PostToolUse", "Write", &handler))]);
    let _ = place.load_tools(mapped(place.tools()));
    assert!(
        place.world.outcome(&after).allowed(),
        "nothing can be blocked"
    );
}

#[test]
fn a_rule_is_tested_against_mapped_arguments() {
    for (rule, allowed) in [("Write(*.env)", false), ("Write(*.lock)", true)] {
        let mut guard = handler("exit 2");
        guard["if"] = json!(rule);
        let args = json!({"path": "/a/.env", "contents": "x"});
        assert_eq!(fired(mapped, &guard, &args).allowed(), allowed, "{rule}");
    }
}

#[test]
fn a_changed_input_has_the_hosts_names() {
    let answer = |input: Value| {
        let specific = json!({"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": input});
        handler(&format!(
            "echo '{}'",
            json!({"hookSpecificOutput": specific})
        ))
    };
    let args = json!({"path": ".env", "contents": "x"});
    let changed = answer(json!({"file_path": "b", "content": "y", "mode": 1}));
    let outcome = fired(mapped, &changed, &args);
    let expected = json!({"path": "b", "contents": "y", "mode": 1});
    assert_eq!(json!(outcome.updated_input()), expected);
    let both = answer(json!({"file_path": "b", "path": "c"}));
    let outcome = fired(mapped, &both, &args);
    assert_eq!(decision(&outcome), Some(Decision::Block));
    assert!(
        outcome.reason().unwrap().contains("have the name `path`"),
        "{outcome:?}"
    );
}

/// As the agent's own tool of that name does.
#[test]
fn a_mapped_tool_has_the_other_names_of_its_name() {
    let guard = handler("echo no >&2; exit 2").to_string();
    for (matcher, reason) in [("Task", Some("no")), ("Agent", Some("no")), ("Bash", None)] {
        let place = Place::new([(CLAUDE, &*settings("PreToolUse", matcher, &guard))]);
        let tools = place.tools();
        let _ = place.load_tools(tools.with_tool(
            compat::CLAUDE,
            "delegate",
            "Task",
            [("prompt", "prompt")],
        ));
        let event = HookEvent::tool_pre_execute("delegate", json!({"prompt": "x"}));
        assert_eq!(place.world.outcome(&event).reason(), reason, "{matcher}");
    }
}

/// Text that a model writes under the host's names is no answer under the agent's.
#[test]
fn mapped_arguments_are_no_answer() {
    let names = |tools: OtherAgents| {
        tools.with_tool(
            compat::CLAUDE,
            "fs_write",
            "Write",
            [("verdict", "decision")],
        )
    };
    let prints = handler(r#"echo '{"decision":"approve"}'"#);
    let outcome = fired(names, &prints, &json!({"verdict": "approve"}));
    assert!(!outcome.allowed(), "{outcome:?}");
    assert!(fired(names, &prints, &json!({"verdict": "x"})).allowed());
}

/// The problems of a matcher for a host that has declared these tools.
fn about_matcher(matcher: &str, declared: &[&str]) -> Vec<String> {
    let handler = handler("true").to_string();
    let place = Place::new([(CLAUDE, &*settings("PreToolUse", matcher, &handler))]);
    let tools = mapped(place.tools_of(&[compat::CLAUDE]));
    let hooks = Hooks::builder(AppProfile::default())
        .config_home(place.world.path("config"))
        .project(place.root())
        .trust(TrustPolicy::Everything)
        .tools(declared.iter().copied())
        .other_agents(tools)
        .load();
    let problems = hooks.report().problems.clone();
    problems
        .into_iter()
        .map(|problem| problem.message + " > " + &problem.suggestion.unwrap_or_default())
        .collect()
}

#[test]
fn a_matcher_is_compared_with_declared_tools() {
    let declared = ["bash", "fs_write", "mcp__fs__read"];
    for (matcher, suggestion) in [
        ("Bash", None),
        ("Edit|Write", None),
        ("mcp__fs__.*", None),
        ("", None),
        ("^Wri", None),
        ("Bsh", Some("Bash")),
        ("Edit, Wirte", Some("Write")),
        ("bash", Some("Bash")),
        ("fs_write", Some("Write")),
        ("NotebookEdit|Edit", Some("")),
        ("Note.*", Some("")),
    ] {
        let expected =
            suggestion.map(|name| format!("`{matcher}` matches no tool of this program > {name}"));
        let expected: Vec<_> = expected.into_iter().collect();
        assert_eq!(about_matcher(matcher, &declared), expected, "{matcher}");
        // Without declared tools, only a name that means something elsewhere is a mistake.
        let elsewhere = (matcher == "bash").then_some("`bash` is no tool of Claude Code > Bash");
        let elsewhere: Vec<_> = elsewhere.into_iter().collect();
        assert_eq!(about_matcher(matcher, &[]), elsewhere, "{matcher}");
    }
    for (matcher, problems) in [("mcp__a__b", 0), ("Note.*", 0), ("Edit", 1)] {
        assert_eq!(
            about_matcher(matcher, &["bash", "mcp__*"]).len(),
            problems,
            "{matcher}"
        );
    }
}

/// A hook that masks the output in the agent's own form, for a host that has a text.
#[cfg(unix)]
#[test]
fn an_output_in_the_agents_form_comes_back_as_a_text() {
    for (agent, event, command, expected) in [
        (
            compat::CLAUDE,
            "PostToolUse",
            r#"echo '{"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": {"stdout": "masked", "stderr": ""}}}'"#,
            json!("masked"),
        ),
        (
            compat::CLAUDE,
            "PostToolUse",
            r#"echo '{"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": {"other": 1}}}'"#,
            json!({"other": 1}),
        ),
    ] {
        let world = World::new();
        world.add(hook_of(agent, event, "", command));
        let event = HookEvent::tool_post_execute("bash", json!({"command": "ls"}), "secret");
        let outcome = world.outcome(&event);
        assert_eq!(outcome.updated_output(), Some(expected), "{outcome:?}");
    }
}
