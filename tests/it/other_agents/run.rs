//! Hooks that were written for other agents: what they are given, what their ends mean, in which order they
//! run. What follows from each exit code and answer is in `golden/fire.txt`.

use std::sync::Arc;
use std::time::Duration;

use forge_hooks::compat::{CLAUDE, CODEX, OtherAgents};
use forge_hooks::config::TrustPolicy;
use forge_hooks::trust::Approval;
use forge_hooks::{
    AppProfile, Decision, EventType, FailureKind, FailurePolicy, FireOptions, Hook, HookEvent,
    HookExecutor, Hooks, HostContext, Lifecycle, Outcome,
};
use serde_json::{Value, json};

use crate::support::{World, blocking_event, config_of, decision, hook_of, is_missing, returns};

const BEFORE: &str = "PreToolUse";
const AFTER: &str = "PostToolUse";

fn claude(event: &str, command: &str) -> Hook {
    hook_of(CLAUDE, event, "", command)
}

/// Writes this JSON, with the event's name where it belongs.
fn answers(event: &str, mut answer: Value) -> Hook {
    if let Some(specific) = answer.get_mut("hookSpecificOutput") {
        specific["hookEventName"] = event.into();
    }
    claude(event, &format!("printf %s '{answer}'"))
}

fn rewrites(input: &Value) -> Hook {
    let specific = json!({"permissionDecision": "allow", "updatedInput": input});
    answers(BEFORE, json!({ "hookSpecificOutput": specific }))
}

fn fired(event: &HookEvent, hooks: impl IntoIterator<Item = Hook>) -> Outcome {
    let world = World::new();
    for hook in hooks {
        world.add(hook);
    }
    let options = FireOptions::new().applies_updates();
    world.executor.execute(event, options)
}

#[test]
fn a_hook_gets_its_tools_input() {
    let world = World::new();
    let command =
        r#"cat >seen.json; printf '%s|%s' "$CLAUDE_PROJECT_DIR" "${FORGE_EVENT-none}" >seen"#;
    world.add(claude(BEFORE, command));
    let context = Arc::new(HostContext::new().with_transcript_path("/t.jsonl"));
    let event = blocking_event().with_session_id("s1").with_context(context);
    assert!(world.outcome(&event).allowed());
    let seen = || serde_json::from_str::<Value>(&world.read("seen.json")).unwrap();
    let input = seen();
    for (key, expected) in [
        ("hook_event_name", json!(BEFORE)),
        ("session_id", json!("s1")),
        ("transcript_path", json!("/t.jsonl")),
        ("tool_name", json!("Bash")),
        ("tool_input", json!({"command": "ls"})),
        ("permission_mode", json!("default")),
        ("cwd", json!(world.directory())),
    ] {
        assert_eq!(input[key], expected, "{key}");
    }
    let expected = format!("{}|none", world.directory().display());
    assert_eq!(world.read("seen"), expected);
    // An event of the tool itself is handed on as it is.
    let written = json!({"hook_event_name": BEFORE, "session_id": "s", "transcript_path": "/t",
        "permission_mode": "plan", "tool_name": "Bash", "tool_input": {"command": "ls"},
        "tool_use_id": "t1", "duration_ms": 3, "unheard_of": {"a": [null]}});
    let own = CLAUDE.event(written.clone()).unwrap();
    assert_eq!(own.event_type, EventType::ToolPreExecute);
    assert_eq!(own.data()["tool_args"]["command"], "ls");
    let _ = world.outcome(&own);
    for (key, value) in written.as_object().unwrap() {
        assert_eq!(&seen()[key], value, "{key}");
    }
}

#[test]
fn a_hook_runs_where_the_session_is() {
    let world = World::new();
    let root = |name: &str| world.write(&format!("{name}guard.sh"), "echo root >&2; exit 2");
    root("");
    world.write("sub/guard.sh", "exit 0");
    let guard = claude(BEFORE, "sh guard.sh");
    let fire = |hook: &Hook, directory| {
        let context = Arc::new(HostContext::new().with_cwd(world.path(directory)));
        world.run(hook.clone(), &blocking_event().with_context(context))
    };
    assert!(fire(&guard, "sub").should_continue());
    // In another directory it would check other files.
    let result = fire(&guard, "missing");
    assert_eq!(result.failure(), Some(FailureKind::NoWorkingDir));
    let gone = world.path("missing");
    let why = format!("working directory `{}` does not exist", gone.display());
    assert_eq!(result.reason(), Some(&*why));
    assert!(!result.should_continue(), "{result:?}");
}

/// Its exit code for a script that is not there blocks.
#[test]
fn what_python_does_without_its_script_is_explained() {
    if is_missing("python3") {
        return;
    }
    let outcome = fired(&blocking_event(), [claude(BEFORE, "python3 guard.py")]);
    assert!(!outcome.allowed());
    assert_eq!(outcome.results()[0].diagnostics().len(), 1);
}

#[test]
fn a_command_is_read_by_the_tools_shell() {
    if is_missing("bash") {
        return;
    }
    let bash = "[[ abc == a* ]] && { echo bash >&2; exit 2; }";
    let login = "shopt -q login_shell && { echo bash >&2; exit 2; }";
    let users_is_bash = std::env::var("SHELL").is_ok_and(|shell| shell.ends_with("/bash"));
    for (tool, event, command, runs) in [
        (CLAUDE, BEFORE, bash, true),
        (CODEX, BEFORE, login, users_is_bash),
    ] {
        if runs {
            let outcome = fired(&blocking_event(), [hook_of(tool, event, "", command)]);
            // A login shell may write more, from the user's own files.
            let reason = outcome.reason().unwrap_or_default();
            assert_eq!(reason.lines().last(), Some("bash"), "{tool}");
        }
    }
}

#[test]
fn hooks_of_an_agent_run_in_order_after_ours() {
    let world = World::new();
    world.add(claude(BEFORE, ": >a"));
    world.add(claude(BEFORE, "test -e a"));
    world.hook("tool:pre_execute", "test ! -e a");
    let results = world.fire(&blocking_event());
    assert!(results.iter().all(|result| result.success()));
    assert_eq!(results[0].hook().event_pattern(), "tool:pre_execute");
    assert_eq!(results.len(), 3);
}

/// A setting that decides what a hook does is part of its identity.
#[test]
fn definitions_are_part_of_a_hooks_identity() {
    let world = World::new();
    let digest = |hook: &Hook| {
        let approval = Approval::of(world.directory(), [hook.clone()]).unwrap();
        approval.hooks[0].digest.clone()
    };
    let of = |tool, key: &str, value: Value, matcher: &str| {
        let handler = json!({"type": "command", "command": "true", key: value});
        let groups = json!([{"matcher": matcher, "hooks": [handler]}]);
        let file = world.path("settings.json");
        std::fs::write(&file, json!({"hooks": {BEFORE: groups}}).to_string()).unwrap();
        let tools = OtherAgents::new([]).with_settings(tool, file);
        let builder = Hooks::builder(AppProfile::default()).config_home(world.directory());
        config_of(builder.other_agents(tools))
            .load_global()
            .remove(0)
    };
    let rule = |rule: &str, matcher| of(CLAUDE, "if", rule.into(), matcher);
    let limit = |tokens: u32| of(CODEX, "additionalContextLimit", tokens.into(), "");
    let status = |text: &str| of(CODEX, "statusMessage", text.into(), "");
    let same = || rule("Bash(a)", "Bash");
    assert_eq!(same(), same());
    assert_eq!(digest(&same()), digest(&same()));
    for (one, other) in [
        (limit(5), limit(6)),
        (status("a"), status("b")),
        (same(), Hook::new("tool:pre_execute:bash", "true").unwrap()),
        (same(), rule("Bash(b)", "Bash")),
        (same(), rule("Bash(a)", "Write")),
    ] {
        assert_ne!(one, other);
        assert_ne!(one.to_json(), other.to_json());
        assert_ne!(digest(&one), digest(&other));
    }
}

/// A condition of the host is no part of a hook's identity.
#[test]
fn an_identical_hook_runs_where_the_first_does_not() {
    let under = |command: &str| {
        let condition = json!(command);
        let hook = claude(BEFORE, "exit 2");
        hook.with_when("/tool_args/command", condition).unwrap()
    };
    for (command, runs) in [("pwd", 0), ("rm x", 1), ("ls", 1)] {
        let event = HookEvent::tool_pre_execute("bash", json!({ "command": command }));
        let outcome = fired(&event, [under("rm *"), under("ls*")]);
        assert_eq!(outcome.results().len(), runs, "{command}: {outcome:?}");
    }
}

/// The first one has seen another input, so it does not stand for the second one.
#[test]
fn an_identical_hook_sees_the_final_input() {
    let under = |command: &str| {
        let condition = json!(command);
        let hook = claude(BEFORE, "exit 2");
        hook.with_when("/tool_args/command", condition).unwrap()
    };
    let lets_pass = |command: &str| {
        let condition = json!(command);
        let hook = claude(BEFORE, "exit 0");
        hook.with_when("/tool_args/command", condition).unwrap()
    };
    let changes = || rewrites(&json!({"command": "rm x"}));
    let event = HookEvent::tool_pre_execute("bash", json!({"command": "ls"}));
    for hooks in [
        vec![under("rm *"), changes()],
        vec![changes(), under("rm *")],
        vec![lets_pass("ls"), changes(), lets_pass("rm *"), under("rm *")],
        vec![under("rm *"), lets_pass("ls"), lets_pass("rm *"), changes()],
    ] {
        assert!(!fired(&event, hooks.clone()).allowed(), "{hooks:?}");
    }
    // Each identical one runs once on the final input.
    let logs = |command: &str| {
        let condition = json!(command);
        let hook = claude(BEFORE, "echo x >>log");
        hook.with_when("/tool_args/command", condition).unwrap()
    };
    for (hooks, runs) in [
        (vec![logs("ls"), changes(), logs("rm *")], 2),
        (vec![logs("*"), changes(), logs("*")], 2),
        (vec![logs("rm *"), logs("ls"), changes()], 2),
    ] {
        let world = World::new();
        world.registry().load_hooks(hooks);
        let options = FireOptions::new().applies_updates();
        let outcome = world.executor.execute(&event, options);
        assert!(outcome.allowed(), "{outcome:?}");
        assert_eq!(world.read("log").lines().count(), runs, "{outcome:?}");
    }
}

/// A withheld output reaches no other hook.
#[test]
fn a_hook_that_withholds_runs_in_order() {
    let world = World::new();
    world.add(claude(AFTER, "cat"));
    world.add(claude(AFTER, "exit 1").with_on_failure(FailurePolicy::Withhold));
    let event = HookEvent::tool_post_execute("bash", json!({}), "secret");
    let outcome = world.outcome(&event);
    let mut results = outcome.results().iter();
    assert!(
        results.all(|result| !result.stdout().contains("secret")),
        "{outcome:?}"
    );
    assert_ne!(outcome.updated_output(), None);
}

#[test]
fn a_block_skips_hooks_of_other_agents() {
    let world = World::new();
    world.add(claude(BEFORE, ": >ran"));
    world.hook("*", "exit 1");
    let options = FireOptions::default().stop_on_failure(false);
    let outcome = world.executor.execute(&blocking_event(), options);
    assert!(!outcome.allowed() && !world.path("ran").exists());
    let after = HookEvent::tool_post_execute("bash", json!({}), "x");
    world.add(claude(AFTER, ": >ran"));
    let _ = world.outcome(&after);
    assert!(world.path("ran").exists());
}

#[test]
fn cancelling_gives_every_hook_a_result() {
    let world = World::new();
    world.hook("*", "sleep 60");
    world.add(claude(BEFORE, "true"));
    let handle = world.submit(blocking_event());
    handle.cancel();
    let outcome = handle.wait();
    let failures: Vec<_> = outcome
        .results()
        .iter()
        .map(|result| result.failure())
        .collect();
    assert_eq!(failures, [Some(FailureKind::Cancelled); 2]);
}

#[test]
fn of_competing_rewrites_the_first_blocks() {
    let [first, last] = [json!({"command": "a", "x": 1}), json!({"command": "b"})];
    let outcome = fired(&blocking_event(), [rewrites(&first), rewrites(&last)]);
    let reason = outcome.reason().unwrap_or_default();
    assert!(reason.contains("changes the input again"), "{reason}");
    assert_eq!(outcome.updated_input(), None);
    let outcome = fired(&blocking_event(), [rewrites(&last), rewrites(&last)]);
    assert_eq!(outcome.updated_input(), last.as_object());
    assert_eq!(decision(&outcome), Some(Decision::Allow));
}

#[test]
fn a_new_input_replaces_the_whole_input() {
    let executor = HookExecutor::builder().build();
    let registry = executor.registry();
    registry.register(rewrites(&json!({"command": "ls -l"})));
    let lifecycle = Lifecycle::new(executor);
    let args = json!({"command": "ls", "timeout": 5});
    let run = lifecycle.tool("bash", args);
    let run = run.run(returns(()));
    assert_eq!(run.args, json!({"command": "ls -l"}));
}

#[test]
fn after_a_tool_the_model_hears_of_it() {
    let event = HookEvent::tool_post_execute("edit", json!({}), "x");
    let block = json!({"decision": "block", "reason": "tests fail"});
    let replace =
        json!({"hookSpecificOutput": {"updatedToolOutput": "y", "additionalContext": "c"}});
    let exits = claude(AFTER, "echo lint >&2; exit 2");
    let outcome = fired(
        &event,
        [exits, answers(AFTER, block), answers(AFTER, replace)],
    );
    assert!(outcome.allowed() && decision(&outcome).is_none());
    assert_eq!(outcome.feedback().as_deref(), Some("lint\ntests fail"));
    assert_eq!(outcome.additional_context().as_deref(), Some("c"));
    assert_eq!(outcome.updated_output(), Some(json!("y")));
}

#[test]
fn a_session_gets_context_and_variables() {
    let event = HookEvent::session_start("s1");
    let start = |command| claude("SessionStart", command);
    let exports = start(r#"echo 'export A=1' >>"$CLAUDE_ENV_FILE"; echo the tree"#);
    let fifo = start(r#"rm "$CLAUDE_ENV_FILE" && mkfifo "$CLAUDE_ENV_FILE""#);
    let half = start(r#"yes export A=/a/b | head -n 90000 >"$CLAUDE_ENV_FILE""#);
    let outcome = fired(&event, [exports, start("true"), fifo, half]);
    assert_eq!(outcome.additional_context().as_deref(), Some("the tree"));
    let files: Vec<_> = outcome
        .results()
        .iter()
        .map(|result| result.env_file())
        .collect();
    assert_eq!(files[0].unwrap().1, b"export A=1\n");
    assert!(files[1].is_none() && files[2].is_none() && outcome.results()[2].success());
    let long = files[3].unwrap().1;
    assert!(long.len() > 1_000_000 && long.ends_with(b"\nexport A=/a/b\n"));
    let path = files[0].unwrap().0.to_owned();
    assert!(path.exists());
    drop(outcome);
    assert!(!path.exists());
}

#[test]
fn a_blocked_stop_has_the_agent_go_on() {
    let world = World::new();
    let command = r#"grep -q '"stop_hook_active":true' || { echo go on >&2; exit 2; }"#;
    world.add(claude("Stop", command));
    let lifecycle = Lifecycle::new(world.executor.clone());
    let session = lifecycle.session("s1").begin().unwrap();
    let mut turn = session.prompt("fix it").begin().unwrap();
    assert_eq!(turn.finish("done").reason(), Some("go on"));
    assert!(turn.finish("done").allowed());
    assert_eq!(turn.finish("done").reason(), Some("go on"));
    let mut subagent = turn.subagent("explorer").begin().unwrap();
    assert!(subagent.finish("done").allowed());
    let mut again = session.prompt("and this").begin().unwrap();
    assert_eq!(again.finish("done").reason(), Some("go on"));
}

#[test]
fn a_stop_denies_what_it_stops() {
    let stop = json!({"continue": false, "stopReason": "enough"}).to_string();
    for (tool, event, expected) in [
        (CLAUDE, "UserPromptSubmit", Some(Decision::Block)),
        (CODEX, "UserPromptSubmit", Some(Decision::Block)),
    ] {
        let world = World::new();
        let hook = hook_of(tool, event, "", &world.says(&stop));
        world.add(hook);
        let outcome = world.outcome(&HookEvent::user_prompt_submit("fix it"));
        assert_eq!(decision(&outcome), expected, "{tool}");
        let session = Lifecycle::new(world.executor.clone()).session("s1");
        let stopped = session.begin().unwrap().prompt("fix it").begin();
        let stopped = stopped.unwrap_err();
        assert!(stopped.outcome().unwrap().stops_turn(), "{tool}");
        assert_eq!(stopped.result.reason(), Some("enough"), "{tool}");
    }
}

#[test]
fn a_hook_can_grant_a_permission() {
    let executor = HookExecutor::builder().build();
    let allow = json!({"hookSpecificOutput": {"decision": {"behavior": "allow"}}});
    let looks = claude("PermissionRequest", "grep -q make || exit 1");
    executor
        .registry()
        .load_hooks([answers("PermissionRequest", allow), looks]);
    let lifecycle = Lifecycle::new(executor);
    let args = json!({"command": "make"});
    let request = || {
        lifecycle
            .permission("bash", "execute")
            .with_args(args.clone())
    };
    assert!(!request().run(|_| false).unwrap());
    assert!(request().hooks_may_grant().run(|_| false).unwrap());
}

#[test]
fn a_project_and_a_plugin_run_as_they_are() {
    let world = World::new();
    let root = world.directory();
    let group = |command: &str| json!({"hooks": [{"type": "command", "command": command}]});
    let mut guard = group("\"$CLAUDE_PROJECT_DIR\"/.claude/guard.sh");
    guard["matcher"] = json!("Bash");
    let settings = json!({"hooks": {BEFORE: [guard], "Stop": [group("exit 2")]}});
    world.write(".claude/settings.json", &settings.to_string());
    let script = "#!/bin/sh\ngrep -q sudo && { echo no sudo >&2; exit 2; }; exit 0\n";
    world.script(".claude/guard.sh", script);
    let hello = group("${CLAUDE_PLUGIN_ROOT}/scripts/hello.sh world");
    let plugin = json!({"hooks": {"SessionStart": [hello]}});
    world.write("plugin/hooks/hooks.json", &plugin.to_string());
    world.script("plugin/scripts/hello.sh", "#!/bin/sh\necho hello $1\n");
    let tools = OtherAgents::new([CLAUDE]).with_home(root.join("home"));
    let builder = Hooks::builder(AppProfile::default()).config_home(root.join("config"));
    let config = config_of(builder.other_agents(tools.with_plugin(root.join("plugin"))));
    let report = config.load_into(world.registry(), root, TrustPolicy::Everything);
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    let event = |tool, command| HookEvent::tool_pre_execute(tool, json!({"command": command}));
    let denied = world.outcome(&event("bash", "sudo ls"));
    assert_eq!(denied.reason(), Some("no sudo"));
    assert!(world.outcome(&event("bash", "ls")).allowed());
    assert!(world.outcome(&event("read", "sudo ls")).allowed());
    assert!(!world.outcome(&HookEvent::agent_stop(false)).allowed());
    let start = world.outcome(&HookEvent::session_start("s1"));
    assert_eq!(start.additional_context().as_deref(), Some("hello world"));
}

/// A host fires events of its own for what this crate does not know.
#[test]
fn a_host_can_fire_more_events() {
    let fire = |name: &str, theirs: &str, command: &str| {
        let event = HookEvent::new(EventType::custom(name).unwrap());
        let time = if command == "sleep 60" { 100 } else { 30_000 };
        let hook = claude(theirs, command).with_timeout(Duration::from_millis(time));
        fired(&event.with_data("to_model", "large"), [hook])
    };
    for (command, allowed) in [
        ("true", true),
        ("echo no >&2; exit 2", false),
        ("exit 1", false),
        ("sleep 60", false),
        (r#"grep -q '"to_model":"large"' || exit 2"#, true),
    ] {
        let outcome = fire("model:pre_switch", "PreModelSwitch", command);
        assert_eq!(outcome.allowed(), allowed, "{command}");
    }
    let [ours, theirs] = ["user:prompt_expansion", "UserPromptExpansion"];
    let outcome = fire(ours, theirs, "echo no >&2; exit 2");
    assert_eq!(outcome.reason(), Some("no"));
    for (name, theirs, context, has_file) in [
        ("model:post_switch", "PostModelSwitch", Some("note"), false),
        ("session:directory_added", "DirectoryAdded", None, false),
        ("session:setup", "Setup", None, true),
        ("session:cwd_changed", "CwdChanged", None, true),
        ("session:file_changed", "FileChanged", None, true),
    ] {
        let command = r#"echo 'export A=1' >>"${CLAUDE_ENV_FILE:-/dev/null}"; echo note"#;
        let outcome = fire(name, theirs, command);
        assert_eq!(outcome.additional_context().as_deref(), context, "{name}");
        let file = outcome.results()[0].env_file();
        assert_eq!(file.is_some(), has_file, "{name}");
    }
}
