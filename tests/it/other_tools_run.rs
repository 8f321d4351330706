//! Hooks that were written for other tools: what they are given, what their ends mean, in which order they
//! run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::Duration;

use forge_hooks::compat::{CLAUDE, CODEX, GEMINI, OtherTools, Tool};
use forge_hooks::config::TrustPolicy;
use forge_hooks::protocol::{Gate, GateVerdict};
use forge_hooks::{
    Decision, EventType, FailureKind, FireOptions, Hook, HookConfig, HookEvent, HookExecutor,
    HostContext, Lifecycle, Outcome,
};
use serde_json::{Value, json};

use crate::support::{World, blocking_event, hook_of, is_missing, meets};

const BEFORE: (&str, &str) = ("tool:pre_execute", "PreToolUse");
const AFTER: (&str, &str) = ("tool:post_execute", "PostToolUse");
const START: (&str, &str) = ("session:start", "SessionStart");
const STOP: (&str, &str) = ("agent:stop", "Stop");

/// As a settings file has it, loaded with what its tool forgives.
fn of(tool: &'static Tool, (_, theirs): (&str, &str), command: &str) -> Hook {
    hook_of(tool, theirs, "", command)
}

fn claude(event: (&str, &str), command: &str) -> Hook {
    of(CLAUDE, event, command)
}

/// Writes this JSON, with the event's name where it belongs.
fn answers(event: (&str, &str), answer: &Value) -> Hook {
    let mut answer = answer.clone();
    if let Some(specific) = answer.get_mut("hookSpecificOutput") {
        specific["hookEventName"] = event.1.into();
    }
    claude(event, &format!("printf %s '{answer}'"))
}

fn rewrites(input: &Value) -> Hook {
    answers(
        BEFORE,
        &json!({"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": input}}),
    )
}

fn fired(event: &HookEvent, hooks: impl IntoIterator<Item = Hook>) -> Outcome {
    let world = World::new();
    for hook in hooks {
        world.registry().register(hook);
    }
    world
        .executor
        .execute(event, FireOptions::default().handles_ask())
}

#[test]
fn a_hook_gets_its_tools_input() {
    let world = World::new();
    let command =
        r#"cat >seen.json; printf '%s|%s' "$CLAUDE_PROJECT_DIR" "${FORGE_EVENT-none}" >seen"#;
    world.registry().register(claude(BEFORE, command));
    let context = HostContext::new().with_transcript_path("/t.jsonl");
    let event = blocking_event()
        .with_session_id("s1")
        .with_context(Arc::new(context));
    assert!(world.outcome(&event).allowed());
    let input: Value = serde_json::from_str(&world.read("seen.json")).unwrap();
    for (key, expected) in [
        ("hook_event_name", json!("PreToolUse")),
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
}

#[test]
fn a_hook_runs_where_the_session_is() {
    let world = World::new();
    std::fs::create_dir(world.path("sub")).unwrap();
    world.registry().register(claude(BEFORE, "pwd -P >where"));
    let fire = |directory| {
        let context = HostContext::new().with_cwd(directory);
        world.outcome(&blocking_event().with_context(Arc::new(context)))
    };
    let _ = fire(world.path("sub"));
    assert!(world.read("sub/where").trim_end().ends_with("/sub"));
    let _ = fire(world.path("missing"));
    assert!(world.path("where").exists());
}

/// An approval covers the files of the root, not those that a path means below it.
#[test]
fn an_approved_hook_runs_in_its_root() {
    let world = World::new();
    world.write("scripts/guard.sh", "echo root >&2; exit 2");
    world.write("sub/scripts/guard.sh", "exit 0");
    let guard = claude(BEFORE, "sh scripts/guard.sh").with_gate(Arc::new(Says(GateVerdict::Run)));
    world.registry().register(guard);
    let context = HostContext::new().with_cwd(world.path("sub"));
    let outcome = world.outcome(&blocking_event().with_context(Arc::new(context)));
    assert_eq!(outcome.reason(), Some("root"));
}

#[test]
fn a_block_outweighs_an_inner_allow() {
    let specific = json!({"permissionDecision": "allow", "permissionDecisionReason": "fine"});
    let answer = json!({"decision": "block", "reason": "no", "hookSpecificOutput": specific});
    let outcome = fired(&blocking_event(), [answers(BEFORE, &answer)]);
    assert_eq!((outcome.allowed(), outcome.reason()), (false, Some("no")));
}

#[test]
fn exit_codes_mean_what_the_tool_says() {
    use FailureKind::{Exit, NotFound};
    for (command, blocks, failure, diagnostics) in [
        ("exit 0", false, None, 0),
        ("echo no >&2; exit 2", true, None, 0),
        ("echo no >&2; exit 1", false, Some(Exit), 1),
        ("forge-hooks-no-such-program", false, Some(NotFound), 1),
    ] {
        let outcome = fired(&blocking_event(), [claude(BEFORE, command)]);
        let result = &outcome.results()[0];
        assert_eq!(outcome.allowed(), !blocks, "{command}");
        assert_eq!(result.failure, failure, "{command}");
        assert_eq!(result.diagnostics().len(), diagnostics, "{command}");
        assert_eq!(outcome.reason(), blocks.then_some("no"), "{command}");
    }
}

#[test]
fn a_strict_hook_blocks_on_failure() {
    for command in ["exit 1", "exit 127", "sleep 60"] {
        let hook = claude(BEFORE, command).with_timeout(Duration::from_millis(200));
        assert!(
            fired(&blocking_event(), [hook.clone()]).allowed(),
            "{command}"
        );
        let strict = hook.with_on_failure(forge_hooks::FailurePolicy::Block);
        assert!(!fired(&blocking_event(), [strict]).allowed(), "{command}");
    }
}

#[test]
fn a_guard_in_python_denies() {
    if is_missing("python3") {
        return;
    }
    let world = World::new();
    let guard = "import json, sys\n\
        event = json.load(sys.stdin)\n\
        if 'sudo' in event['tool_input'].get('command', ''):\n    \
            print(json.dumps({'hookSpecificOutput': {'hookEventName': 'PreToolUse',\n        \
            'permissionDecision': 'deny', 'permissionDecisionReason': 'no sudo'}}))\n";
    world.write("guard.py", guard);
    let command = r#"python3 "$CLAUDE_PROJECT_DIR"/guard.py"#;
    world.registry().register(claude(BEFORE, command));
    let event = |command| HookEvent::tool_pre_execute("bash", json!({"command": command}));
    assert_eq!(world.outcome(&event("sudo ls")).reason(), Some("no sudo"));
    let outcome = world.outcome(&event("ls"));
    assert_eq!((outcome.allowed(), outcome.decision()), (true, None));
    // Python's own exit code for a script that is not there blocks, and is explained.
    std::fs::remove_file(world.path("guard.py")).unwrap();
    let outcome = world.outcome(&event("ls"));
    assert!(!outcome.allowed());
    assert_eq!(outcome.results()[0].diagnostics().len(), 1);
}

#[test]
fn a_guard_in_node_asks() {
    if is_missing("node") {
        return;
    }
    let world = World::new();
    let guard = "const fs = require('fs'); JSON.parse(fs.readFileSync(0));\n\
        console.log(JSON.stringify({hookSpecificOutput: {hookEventName: 'PreToolUse',\n\
        permissionDecision: 'ask', permissionDecisionReason: 'sure?'}}));";
    world.write("guard.js", guard);
    world.registry().register(claude(BEFORE, "node guard.js"));
    let options = FireOptions::default().handles_ask();
    let outcome = world.executor.execute(&blocking_event(), options);
    assert_eq!(outcome.asks().and_then(|it| it.reason()), Some("sure?"));
    assert_eq!(outcome.decision(), Some(Decision::Ask));
}

#[test]
fn a_command_is_read_by_bash() {
    if is_missing("bash") {
        return;
    }
    let command = "[[ abc == a* ]] && { echo bash >&2; exit 2; }";
    for tool in [CLAUDE, GEMINI] {
        let outcome = fired(
            &blocking_event(),
            [of(
                tool,
                if tool == CLAUDE {
                    BEFORE
                } else {
                    ("tool:pre_execute", "BeforeTool")
                },
                command,
            )],
        );
        assert_eq!(outcome.reason(), Some("bash"), "{tool}");
    }
}

#[test]
fn hooks_of_a_tool_run_in_parallel_after_ours() {
    let world = World::new();
    world.registry().register(claude(BEFORE, &meets("a", "b")));
    world.registry().register(claude(BEFORE, &meets("b", "a")));
    world.hook("tool:pre_execute", "test ! -e a");
    let results = world.fire(&blocking_event());
    assert!(results.iter().all(|result| result.success()));
    assert_eq!(results[0].hook.protocol_name(), "native");
    assert_eq!(results.len(), 3);
}

#[test]
fn a_block_skips_hooks_of_other_tools() {
    let world = World::new();
    world.registry().register(claude(BEFORE, ": >ran"));
    world.hook("*", "exit 1");
    let options = FireOptions::default().stop_on_failure(false);
    let outcome = world.executor.execute(&blocking_event(), options);
    assert!(!outcome.allowed() && !world.path("ran").exists());
    let after = HookEvent::tool_post_execute("bash", json!({}), "x");
    world.registry().register(claude(AFTER, ": >ran"));
    let _ = world.outcome(&after);
    assert!(world.path("ran").exists());
}

#[test]
fn cancelling_gives_every_hook_a_result() {
    let world = World::new();
    world.hook("*", "sleep 60");
    world.registry().register(claude(BEFORE, "true"));
    let handle = world.submit(blocking_event());
    handle.cancel();
    let outcome = handle.wait();
    let cancelled = Some(FailureKind::Cancelled);
    let failures: Vec<_> = outcome.results().iter().map(|it| it.failure).collect();
    assert_eq!(failures, [cancelled, cancelled]);
}

#[test]
fn the_same_handler_runs_once() {
    for (tool, name, times) in [
        (CLAUDE, "PreToolUse", 1),
        (GEMINI, "BeforeTool", 1),
        (CODEX, "PreToolUse", 2),
    ] {
        let hook = of(tool, (BEFORE.0, name), "true");
        let outcome = fired(&blocking_event(), [hook.clone(), hook]);
        assert_eq!(outcome.results().len(), times, "{tool}");
    }
}

/// Or a clone could switch an approved guard off by adding it once more.
#[test]
fn an_unapproved_handler_hides_no_other() {
    let gated = |verdict| claude(BEFORE, "exit 2").with_gate(Arc::new(Says(verdict)));
    let unapproved = gated(GateVerdict::NotApproved("new".to_owned()));
    let approved = gated(GateVerdict::Run).with_timeout(Duration::from_secs(5));
    assert!(!fired(&blocking_event(), [unapproved, approved]).allowed());
}

#[derive(Debug)]
struct Says(GateVerdict);

impl Gate for Says {
    fn check(&self, _hook: &Hook) -> GateVerdict {
        self.0.clone()
    }
}

/// A gate may read files, which takes time.
#[test]
fn submit_checks_no_gate() {
    let world = World::new();
    let gate = Arc::new(NotOn(thread::current().id()));
    let hook = claude(BEFORE, "true").with_gate(gate);
    world.registry().register(hook.clone());
    world.registry().register(hook);
    let handle = world
        .executor
        .submit(blocking_event(), FireOptions::default());
    assert!(
        handle
            .unwrap()
            .wait()
            .results()
            .iter()
            .all(|it| it.started())
    );
}

#[derive(Debug)]
struct NotOn(ThreadId);

impl Gate for NotOn {
    fn check(&self, _hook: &Hook) -> GateVerdict {
        assert_ne!(thread::current().id(), self.0);
        GateVerdict::Run
    }
}

#[test]
fn of_competing_rewrites_the_last_wins() {
    let [first, last] = [json!({"command": "a", "x": 1}), json!({"command": "b"})];
    let outcome = fired(&blocking_event(), [rewrites(&first), rewrites(&last)]);
    assert_eq!(outcome.updated_input().map(Value::Object), Some(last));
    assert!(outcome.replaces_input());
    assert_eq!(outcome.decision(), Some(Decision::Allow));
    let diagnostics: Vec<_> = outcome
        .results()
        .iter()
        .map(|it| it.diagnostics().len())
        .collect();
    assert_eq!(diagnostics, [1, 0]);
}

#[test]
fn a_new_input_replaces_the_whole_input() {
    let executor = HookExecutor::builder().build();
    executor
        .registry()
        .register(rewrites(&json!({"command": "ls -l"})));
    let lifecycle = Lifecycle::new(executor);
    let args = json!({"command": "ls", "timeout": 5});
    let run = lifecycle.tool("bash", args).apply_updates();
    let run = run.run(|_| Ok::<_, String>(())).unwrap();
    assert_eq!(run.args, json!({"command": "ls -l"}));
}

#[test]
fn after_a_tool_the_model_hears_of_it() {
    let event = HookEvent::tool_post_execute("edit", json!({}), "x");
    let block = answers(AFTER, &json!({"decision": "block", "reason": "tests fail"}));
    let replace = answers(
        AFTER,
        &json!({"hookSpecificOutput": {"updatedToolOutput": "y",
        "additionalContext": "c"}}),
    );
    let outcome = fired(
        &event,
        [claude(AFTER, "echo lint >&2; exit 2"), block, replace],
    );
    assert!(outcome.allowed() && outcome.decision().is_none());
    assert_eq!(outcome.feedback().as_deref(), Some("lint\ntests fail"));
    assert_eq!(outcome.additional_context().as_deref(), Some("c"));
    assert_eq!(outcome.updated_output(), Some(json!("y")));
}

#[test]
fn a_session_gets_context_and_variables() {
    let event = HookEvent::session_start("s1");
    let command = r#"echo 'export A=1' >>"$CLAUDE_ENV_FILE"; echo the tree"#;
    let outcome = fired(&event, [claude(START, command), claude(START, "true")]);
    assert_eq!(outcome.additional_context().as_deref(), Some("the tree"));
    let file = outcome.results()[0].env_file().unwrap();
    assert_eq!(file.bytes(), b"export A=1\n");
    let path = file.path().to_owned();
    assert!(path.exists() && outcome.results()[1].env_file().is_none());
    drop(outcome);
    assert!(!path.exists());
}

#[test]
fn a_fifo_for_variables_holds_nothing_up() {
    let command = r#"rm "$CLAUDE_ENV_FILE" && mkfifo "$CLAUDE_ENV_FILE""#;
    let outcome = fired(&HookEvent::session_start("s1"), [claude(START, command)]);
    assert!(outcome.results()[0].success() && outcome.results()[0].env_file().is_none());
}

#[test]
fn a_blocked_stop_has_the_agent_go_on() {
    let world = World::new();
    let command = r#"grep -q '"stop_hook_active":true' || { echo go on >&2; exit 2; }"#;
    world.registry().register(claude(STOP, command));
    let session = Lifecycle::new(world.executor.clone())
        .session("s1")
        .begin()
        .unwrap();
    let mut turn = session.prompt("fix it").begin().unwrap();
    assert_eq!(turn.finish("done").reason(), Some("go on"));
    assert!(turn.finish("done").allowed());
    assert_eq!(turn.finish("done").reason(), Some("go on"));
    let mut subagent = session.subagent("explorer").begin().unwrap();
    assert!(subagent.finish("done").allowed());
    let mut again = session.prompt("and this").begin().unwrap();
    assert_eq!(again.finish("done").reason(), Some("go on"));
}

#[test]
fn ending_the_turn_lets_the_agent_stop() {
    let ends = answers(STOP, &json!({"continue": false, "stopReason": "enough"}));
    let outcome = fired(
        &HookEvent::agent_stop(false),
        [claude(STOP, "exit 2"), ends],
    );
    assert!(outcome.allowed() && outcome.stops_turn());
    assert_eq!(outcome.stop_reason(), Some("enough"));
}

#[test]
fn a_stop_is_no_denial_where_the_tool_says_so() {
    let stop = json!({"continue": false, "stopReason": "enough"});
    let prompt = "user:prompt_submit";
    let cases = [
        (CLAUDE, "UserPromptSubmit", Some(Decision::Block)),
        (CODEX, "UserPromptSubmit", None),
        (GEMINI, "BeforeAgent", None),
    ];
    for (tool, event, decision) in cases {
        let world = World::new();
        let hook = of(tool, (prompt, event), &world.says(&stop.to_string()));
        world.registry().register(hook);
        let outcome = world.outcome(&HookEvent::user_prompt_submit("fix it"));
        assert_eq!(outcome.decision(), decision, "{tool}");
        assert!(!outcome.allowed() && outcome.stops_turn(), "{tool}");
        assert_eq!(outcome.stop_reason(), Some("enough"), "{tool}");
        let session = Lifecycle::new(world.executor.clone()).session("s1");
        let stopped = session.begin().unwrap().prompt("fix it").begin();
        let stopped = stopped.unwrap_err();
        assert!(stopped.stops_turn(), "{tool}");
        assert_eq!(stopped.result.reason(), Some("enough"), "{tool}");
    }
}

#[test]
fn a_hook_can_grant_a_permission() {
    let executor = HookExecutor::builder().build();
    let request = ("permission:prompt", "PermissionRequest");
    let allow = json!({"hookSpecificOutput": {"decision": {"behavior": "allow"}}});
    executor.registry().register(answers(request, &allow));
    let looks = claude(
        ("permission:prompt", "PermissionRequest"),
        "grep -q make || exit 1",
    );
    executor.registry().register(looks);
    let lifecycle = Lifecycle::new(executor);
    let args = json!({"command": "make"});
    let request = || lifecycle.permission("bash", "execute").args(args.clone());
    assert!(!request().run(|_| false).unwrap().granted);
    assert!(request().hooks_may_grant().run(|_| false).unwrap().granted);
}

#[test]
fn codex_takes_the_users_login_shell() {
    let command = "shopt -q login_shell && { echo login >&2; exit 2; }";
    let shell = std::env::var("SHELL").unwrap_or_default();
    if !shell.ends_with("bash") {
        println!("skipped: the user's shell is not bash");
        return;
    }
    let outcome = fired(&blocking_event(), [of(CODEX, BEFORE, command)]);
    assert_eq!(outcome.reason(), Some("login"));
}

/// What a hook of this file writes as context, as the model receives it.
#[track_caller]
fn context_of(world: &World) -> String {
    let event = HookEvent::new(EventType::SessionStart);
    let outcome = world.executor.execute(&event, FireOptions::default());
    outcome.additional_context().unwrap()
}

#[test]
fn large_context_of_codex_is_in_a_file() {
    let world = World::new();
    let handler = |keys: &str, command: &str| {
        format!(r#"{{"type": "command", "command": "{command}"{keys}}}"#)
    };
    for (keys, length, most) in [
        ("", 10_000, None),
        ("", 10_001, Some(9_999)),
        (r#", "additionalContextLimit": 5000"#, 20_000, None),
        (r#", "additionalContextLimit": 2"#, 9, Some(7)),
        (r#", "additionalContextLimit": 0"#, 3, Some(0)),
    ] {
        let command = handler(keys, &format!("printf '%{length}s' ü | tr ' ' a"));
        let text = format!(r#"{{"hooks": {{"SessionStart": [{{"hooks": [{command}]}}]}}}}"#);
        world.write("home/.codex/hooks.json", &text);
        let tools = OtherTools::new([CODEX]).with_home(world.path("home"));
        let config = HookConfig::default().with_other_tools(tools);
        world.registry().clear();
        let report = config.load_into(
            world.registry(),
            world.path("project"),
            TrustPolicy::Everything,
        );
        assert!(report.problems.is_empty(), "{report}");
        let context = context_of(&world);
        let Some(most) = most else {
            assert!(
                context.ends_with("aü") && !context.contains('/'),
                "{context}"
            );
            continue;
        };
        let (beginning, rest) = context.split_once("\n[").unwrap();
        assert_eq!(beginning, "a".repeat(most));
        let path = rest
            .split_once(" bytes of context; all of it is in ")
            .unwrap()
            .1;
        let path = PathBuf::from(path.strip_suffix(']').unwrap());
        let kept = std::fs::read_to_string(&path).unwrap();
        assert!(kept.ends_with("aü") && kept.starts_with(beginning));
        assert!(path.exists());
        if most == 0 {
            oldest_goes_first(&world, &path);
        }
    }
}

/// A file of the hooks that are loaded is removed after sixteen others, and the others with the hooks.
#[track_caller]
fn oldest_goes_first(world: &World, first: &Path) {
    for _ in 0..16 {
        assert!(first.exists());
        context_of(world);
    }
    assert!(!first.exists());
    let context = context_of(world);
    let last = context.rsplit_once(" in ").unwrap().1.replace(']', "");
    assert!(Path::new(&last).exists());
    world.registry().clear();
    assert!(!Path::new(&last).exists());
}

#[test]
fn gemini_finds_its_own_variables() {
    let command = r#"test -n "$GEMINI_PROJECT_DIR" -a "$GEMINI_SESSION_ID" = s1 && exit 3"#;
    let hook = of(GEMINI, ("tool:pre_execute", "BeforeTool"), command);
    let outcome = fired(&blocking_event().with_session_id("s1"), [hook]);
    assert_eq!(outcome.results()[0].exit_code, 3);
}

#[test]
fn a_project_and_a_plugin_run_as_they_are() {
    let world = World::new();
    let root = world.directory();
    let settings = json!({"hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [
            {"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/guard.sh"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "exit 2"}]}],
    }});
    world.write(".claude/settings.json", &settings.to_string());
    world.script(
        ".claude/guard.sh",
        "#!/bin/sh\ngrep -q sudo && { echo no sudo >&2; exit 2; }; exit 0\n",
    );
    let plugin = json!({"hooks": {"SessionStart": [{"hooks": [
        {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/scripts/hello.sh world"}]}]}});
    world.write("plugin/hooks/hooks.json", &plugin.to_string());
    world.script("plugin/scripts/hello.sh", "#!/bin/sh\necho hello $1\n");
    let config = HookConfig::default().with_config_home(root.join("config"));
    let tools = OtherTools::new([CLAUDE]).with_home(root.join("home"));
    let config = config.with_other_tools(tools.with_plugin(root.join("plugin")));
    let report = config.load_into(world.registry(), root, TrustPolicy::Everything);
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    let event = |tool, command| HookEvent::tool_pre_execute(tool, json!({"command": command}));
    assert_eq!(
        world.outcome(&event("bash", "sudo ls")).reason(),
        Some("no sudo")
    );
    assert!(world.outcome(&event("bash", "ls")).allowed());
    assert!(world.outcome(&event("read", "sudo ls")).allowed());
    assert!(!world.outcome(&HookEvent::agent_stop(false)).allowed());
    let start = world.outcome(&HookEvent::session_start("s1"));
    assert_eq!(start.additional_context().as_deref(), Some("hello world"));
}

#[test]
fn a_tools_own_event_is_fired() {
    let written = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
        "tool_input": {"command": "ls"}, "unheard_of": 1});
    let world = World::new();
    world.registry().register(claude(BEFORE, "cat >seen.json"));
    let _ = world.outcome(&CLAUDE.event(written.clone()).unwrap());
    let seen: Value = serde_json::from_str(&world.read("seen.json")).unwrap();
    for (key, value) in written.as_object().unwrap() {
        assert_eq!(&seen[key], value, "{key}");
    }
}

/// A host fires events of its own for what this crate does not know.
#[test]
fn a_host_can_fire_more_events() {
    let fire = |name: &str, theirs: &str, command: &str, millis| {
        let event = HookEvent::new(EventType::custom(name).unwrap());
        let hook = of(CLAUDE, (name, theirs), command);
        fired(
            &event.with_data("to_model", "large"),
            [hook.with_timeout(Duration::from_millis(millis))],
        )
    };
    let switch = ("model:pre_switch", "PreModelSwitch");
    for (command, allowed) in [
        ("true", true),
        ("echo no >&2; exit 2", false),
        ("exit 1", false),
        ("sleep 60", false),
        (r#"grep -q '"to_model":"large"' || exit 2"#, true),
    ] {
        let outcome = fire(switch.0, switch.1, command, 1_000);
        assert_eq!(outcome.allowed(), allowed, "{command}");
    }
    let expands = ("user:prompt_expansion", "UserPromptExpansion");
    let outcome = fire(expands.0, expands.1, "echo no >&2; exit 2", 5_000);
    assert_eq!(outcome.reason(), Some("no"));
    for (name, theirs, context, has_file) in [
        ("model:post_switch", "PostModelSwitch", Some("note"), false),
        ("session:directory_added", "DirectoryAdded", None, false),
        ("session:setup", "Setup", None, true),
        ("session:cwd_changed", "CwdChanged", None, true),
        ("session:file_changed", "FileChanged", None, true),
    ] {
        let command = r#"echo 'export A=1' >>"${CLAUDE_ENV_FILE:-/dev/null}"; echo note"#;
        let outcome = fire(name, theirs, command, 5_000);
        assert_eq!(outcome.additional_context().as_deref(), context, "{name}");
        let file = outcome.results()[0].env_file();
        assert_eq!(file.is_some(), has_file, "{name}");
    }
}
