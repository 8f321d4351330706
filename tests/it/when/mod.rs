//! Conditions on an event's data: which hooks run, and that the others cost nothing. How they are read
//! and saved is in `files`; random spellings of paths are in `spellings`, searches in `directories`, and shell commands in `commands`.

mod cases;
mod commands;
mod directories;
mod files;
mod paths;
#[cfg(unix)]
mod spellings;

use std::path::Path;
use std::sync::Arc;

use forge_hooks::{
    AppProfile, EventSpec, EventType, FailurePolicy, FireOptions, Hook, HookConfig, HookEvent,
    HookExecutor, Hooks, Lifecycle, Trace,
};
use serde_json::{Map, Value, json};

use crate::growth::assert_linear;
use crate::support::{Notes, PATIENCE, World, custom, hook};

const POINTER: &str = "/tool_args/command";

/// Returns whether the conditions can be tested: what is unknown runs a guard, and nothing else.
fn is_tested(hook: &Hook, event: &HookEvent) -> bool {
    let [guard, other] = [true, false].map(|can_block| hook.mismatch(event, can_block).is_none());
    guard == other
}

fn sudo() -> Value {
    json!({"regex": r"\bsudo\b"})
}

/// A hook that fails where it runs.
fn guard(pattern: &str, pointer: &str, condition: impl Into<Value>) -> Hook {
    hook(pattern, "exit 1")
        .with_when(pointer, condition)
        .unwrap()
}

fn bash(command: impl Into<Value>) -> HookEvent {
    HookEvent::tool_pre_execute("bash", json!({"command": command.into()}))
}

#[test]
fn a_hook_runs_where_all_conditions_match() {
    let world = World::new();
    let hook = guard("tool:*", POINTER, sudo())
        .with_when("/tool_args/cwd", "/srv/*")
        .unwrap();
    world.add(hook);
    for (command, cwd, expected) in [
        ("sudo ls", "/srv/a", 1),
        ("sudo ls", "/home", 0),
        ("ls", "/srv/a", 0),
    ] {
        let args = json!({"command": command, "cwd": cwd});
        let results = world.fire(&HookEvent::tool_pre_execute("bash", args));
        assert_eq!(results.len(), expected, "{command} {cwd}");
    }
}

#[test]
fn hooks_that_do_not_match_are_as_none() {
    let world = World::new();
    let notes = Notes::of(&world.executor);
    let trace = Trace::builder(world.path("trace.jsonl")).build().unwrap();
    let executor = HookExecutor::builder()
        .registry(Arc::clone(world.registry()))
        .trace(&trace)
        .build();
    world.add(guard("*", POINTER, sudo()));
    let background = guard("*", POINTER, sudo()).with_background();
    world.add(background);
    assert!(world.fire(&bash("ls")).is_empty());
    let mut handle = world.submit(bash("ls"));
    assert!(handle.is_finished() && handle.try_wait().unwrap().results().is_empty());
    let outcome = executor.execute(&bash("ls"), FireOptions::default());
    assert!(outcome.allowed());
    assert!(trace.flush(PATIENCE));
    assert!(notes.all().is_empty());
    assert_eq!(world.read("trace.jsonl"), "");
    // They are still registered, and found.
    assert_eq!(world.registry().get_hooks(&bash("ls")).len(), 2);
}

/// Thirty patterns of destructive commands, as thirty entries or as one expression, and ten with `rm`, block no long text that
/// has none of them.
#[test]
fn ordinary_patterns_read_long_texts() {
    let rest = [
        "dd", "mkfs", "shutdown", "reboot", "chown", "chmod", "truncate", "shred", "fdisk",
    ];
    let rest = rest.map(|word| format!(r"\b{word}\s+-\w+"));
    let git = [
        "push", "reset", "clean", "checkout", "branch", "rebase", "stash", "tag", "gc", "rm",
    ];
    let git = git.map(|word| format!(r"\bgit\b.*\b{word}\b.*--(force|hard)"));
    let rm = (1..12).map(|number| format!(r"\brm\s+(-[a-z]+\s+)*-[a-z]*r[a-z]*f.{{0,{number}}}/"));
    let all: Vec<String> = rest.into_iter().chain(git).chain(rm).collect();
    assert_eq!(all.len(), 30);
    let as_entries: Vec<_> = all.iter().map(|text| json!({"regex": text})).collect();
    let as_one = vec![json!({"regex": all.join("|")})];
    for conditions in [as_entries, as_one] {
        let world = World::new();
        for condition in &conditions {
            world.add(guard("tool:pre_execute:bash", POINTER, condition.clone()));
        }
        let matching = |text: &str| world.executor.hooks_for(&bash(text)).len();
        let line = "git push origin main # информация, naïve: rm nothing, no reboot\n";
        for length in [1, 30, 300, 12_000] {
            let text = line.repeat(length);
            assert_eq!(matching(&text), 0, "{length}");
            assert_eq!(
                matching(&format!("{text}rm -rf /")),
                conditions.len().min(11)
            );
        }
    }
}

/// Expressions that take long one by one are tested all the same.
#[test]
fn many_slow_conditions_are_tested() {
    let world = World::new();
    let slow = || json!({"regex": "[ab]*a[ab]{35}c"});
    for index in 0..4 {
        let mut hook = Hook::new("*", format!("true {index}")).unwrap();
        for argument in 0..64 {
            hook = hook
                .with_when(format!("/tool_args/{argument}"), slow())
                .unwrap();
        }
        world.add(hook);
    }
    let args = |text: &str| {
        (0..64)
            .map(|number| (number.to_string(), json!(text)))
            .collect()
    };
    let matches = |args: Map<String, Value>| {
        let event = HookEvent::tool_pre_execute("bash", args);
        world.executor.hooks_for(&event).len()
    };
    assert_eq!(matches(args("ab")), 0);
    assert_eq!(matches(args(&"ab".repeat(8 * 1024))), 0);
    let found = "a".repeat(40) + "c";
    assert_eq!(matches(args(&found)), 4);
}

/// A small event must not keep the host busy: an expression is compiled once, also where a text is not ASCII.
#[test]
fn a_small_event_costs_little() {
    let world = World::new();
    for number in 0..30 {
        let condition = json!({"regex": format!(r"\brm{number}?\w?\b.*q")});
        world.add(guard("*", "/tool_args/items/*", condition));
    }
    let event = |count: usize| {
        let items: Vec<_> = (0..count)
            .map(|number| format!("é xrmx{number} q"))
            .collect();
        HookEvent::tool_pre_execute("write", json!({"items": items}))
    };
    let matching = |count: usize| world.executor.hooks_for(&event(count)).len();
    assert_eq!(matching(1), 0);
    assert_linear("items", 250, event, |event| {
        let _ = world.executor.hooks_for(event);
    });
    // So many items are not tested.
    assert_eq!(matching(1_001), 30);
}

/// The reason is that of the choice of the hooks: what is too much together is not too much for one.
#[test]
fn what_is_too_much_together_is_the_reason() {
    let world = World::new();
    for number in 0..100 {
        let entry = json!({"event": "*", "answer": {"decision": "block", "reason": "OWN"}});
        let condition = json!({"regex": format!(r"{number}\w{{12}}x")});
        let hook = Hook::from_json(&entry).unwrap();
        world.add(hook.with_when(POINTER, condition).unwrap());
    }
    let outcome = world.outcome(&bash("ls"));
    let reason = outcome.reason().unwrap();
    assert!(
        reason.contains("take more than 16 MiB when compiled"),
        "{reason}"
    );
    assert!(!reason.contains("OWN"), "{reason}");
}

/// A list has an answer for each item: a guard runs if one matches or is unknown, and what widens needs all.
#[test]
fn a_step_means_each_item_of_a_list() {
    let world = World::new();
    let files = |list: Value| HookEvent::tool_pre_execute("write", json!({"files": list}));
    let pointer = "/tool_args/files/*/path";
    for (list, runs, not_runs, grants) in [
        (
            json!([{"path": "a"}, {"path": "secrets/k"}]),
            true,
            true,
            false,
        ),
        (json!([{"path": "a"}, {"path": "b"}]), false, true, false),
        (json!([{"path": "secrets/k"}]), true, false, true),
        (
            json!([{"path": "secrets/k"}, {"path": "secrets/l"}]),
            true,
            false,
            true,
        ),
        (json!([{"path": "secrets/k"}, {}]), true, true, false),
        (
            json!([{"path": "secrets/k"}, {"path": 5}]),
            true,
            true,
            false,
        ),
        (json!([{}]), true, true, false),
        (json!([]), false, false, false),
        (json!("a"), true, true, false),
        (Value::Null, true, true, false),
    ] {
        let event = files(list.clone());
        let not = json!({"not": "secrets/**"});
        for (condition, expected) in [("secrets/**".into(), runs), (not, not_runs)] {
            world.registry().clear();
            world.add(guard("*", pointer, condition));
            let matching = world.executor.hooks_for(&event).len();
            assert_eq!(matching == 1, expected, "{list}");
        }
        world.registry().clear();
        let answer = json!({"event": "*", "answer": {"additionalContext": "c"}});
        let adds = Hook::from_json(&answer).unwrap();
        world.add(adds.with_when(pointer, "secrets/**").unwrap());
        let has_added = world.outcome(&event).additional_context().is_some();
        assert_eq!(has_added, grants, "{list}");
    }
}

/// Each value, and whether the hook runs where the event can block, and elsewhere.
#[test]
fn a_guard_runs_where_a_value_is_unclear() {
    let longest = 1024 * 1024;
    let blocking = EventType::ToolPreExecute;
    let other = EventType::ToolPostExecute;
    for (data, where_it_blocks, elsewhere) in [
        (json!({"x": "a"}), true, true),
        (json!({"x": "b"}), false, false),
        (json!({"y": "a"}), true, false),
        (json!({}), true, false),
        (json!({"x": null}), true, false),
        (json!({"x": 5}), true, false),
        (json!({"x": ["a"]}), true, false),
        (json!({"x": {"a": "a"}}), true, false),
        (json!({"x": "b".repeat(longest)}), false, false),
        (json!({"x": "a".repeat(longest)}), true, true),
        (json!({"x": "a".repeat(longest + 1)}), true, false),
        (json!({"x": "b".repeat(longest + 1)}), true, false),
    ] {
        for (kind, expected) in [(&blocking, where_it_blocks), (&other, elsewhere)] {
            let event = HookEvent::new(kind.clone()).with_data("tool_args", data.clone());
            let beginning = data.to_string();
            let beginning = &beginning[..beginning.len().min(80)];
            let hook = guard("*", "/tool_args/x", "a*");
            let can_block = kind.can_block();
            assert_eq!(hook.matches(&event), expected, "{kind} {beginning}");
            let length = data["x"].as_str().map(str::len);
            if length.is_some_and(|length| length >= longest) {
                // The rest asks the same again, and long texts are slow without optimization.
                continue;
            }
            let has_text = length.is_some();
            assert_eq!(is_tested(&hook, &event), has_text, "{beginning}");
            let mismatch = hook.mismatch(&event, can_block);
            assert_eq!(mismatch.is_none(), expected, "{kind} {beginning}");
        }
    }
}

#[test]
fn a_redactor_runs_where_an_output_is_unclear() {
    let world = World::new();
    let answer = world.says(r#"{"updatedOutput": "hidden"}"#);
    let redactor = hook("tool:post_execute", &answer)
        .with_on_failure(FailurePolicy::Withhold)
        .reading_stdin()
        .with_when("/tool_result", "*secret*")
        .unwrap();
    world.add(redactor);
    for (output, runs) in [
        (json!("a secret"), true),
        (json!("public"), false),
        (json!({"text": "a secret"}), true),
        (json!(["a secret"]), true),
        (json!("x".repeat(70_000)), false),
        (json!("x".repeat(1024 * 1024 + 1)), true),
        (Value::Null, true),
    ] {
        let event = HookEvent::tool_post_execute("bash", json!({}), output.clone());
        let actual = world.outcome(&event).updated_output();
        assert_eq!(actual, runs.then(|| json!("hidden")), "{output:.80}");
    }
    let without = HookEvent::new(EventType::ToolPostExecute).with_tool_name("bash");
    assert!(world.outcome(&without).updated_output().is_some());
}

#[test]
fn a_notify_only_event_needs_a_value() {
    let home = tempfile::tempdir().unwrap();
    let event = custom("game:saved");
    for (is_declared, runs) in [(true, 0), (false, 1)] {
        let mut builder = Hooks::builder(AppProfile::new("mygame")).config_home(home.path());
        if is_declared {
            builder = builder.event(EventSpec::new(event.event_type.clone()).notify_only());
        }
        let hooks = builder.load();
        hooks
            .executor()
            .registry()
            .register(guard("game:saved", "/slot", "1"));
        let executor = hooks.executor();
        assert_eq!(executor.hooks_for(&event).len(), runs);
        let outcome = executor.execute(&event, FireOptions::default());
        assert_eq!(outcome.results().len(), runs);
        let handle = executor.submit(event.clone(), FireOptions::default());
        assert_eq!(handle.unwrap().wait().results().len(), runs);
    }
}

/// Conditions are tested again on an event that a hook has changed.
#[test]
fn a_changed_call_is_tested_again() {
    let world = World::new();
    let answer = r#"{"updatedInput": {"command": "sudo ls"}}"#;
    let changes = hook("tool:pre_execute", &world.says(answer));
    let changes = changes.with_when(POINTER, "ls").unwrap();
    let guard = guard("tool:pre_execute", POINTER, sudo());
    world.registry().load_hooks([changes, guard]);
    let lifecycle = Lifecycle::new(world.executor.clone());
    let call = |command: &str| {
        let call = lifecycle.tool("bash", json!({"command": command}));
        call.permit().map(|permit| permit.args().clone())
    };
    assert!(call("ls").is_err());
    assert_eq!(call("pwd").unwrap(), json!({"command": "pwd"}));
}

#[test]
fn what_does_not_match_is_explained() {
    let guarding = guard("tool:*", POINTER, "git *").with_env("K", "s3cretive");
    let args = json!({"command": "echo s3cretive"});
    let event = HookEvent::tool_post_execute("bash", args, "");
    let expected = "`/tool_args/command` does not match: its value is `echo [redacted]`, and the condition `git *`";
    assert_eq!(guarding.mismatch(&event, false).as_deref(), Some(expected));
    let start = HookEvent::session_start("s");
    let of_pattern = guarding.mismatch(&start, false);
    assert_eq!(of_pattern.as_deref(), Some("`tool:*` does not match"));
    let secret = json!({"password": 123_456});
    for (pointer, args, message) in [
        (POINTER, json!({}), "it has no value"),
        ("/tool_args/password", secret, "its value is `[redacted]`"),
    ] {
        let hook = guard("tool:*", pointer, "x");
        let event = HookEvent::tool_error("bash", args, "");
        let mismatch = hook.mismatch(&event, false).unwrap();
        assert!(mismatch.contains(message), "{mismatch}");
    }
}

#[test]
fn unusable_conditions_are_errors() {
    let regex = json!({"regex": "("});
    for (pointer, condition, message) in [
        ("x", sudo(), "expected a JSON Pointer"),
        ("/x", "[a".into(), "invalid glob `[a`"),
        ("/x", regex, "`when./x`: `(` is not"),
        ("/x", json!([]), "an empty list"),
    ] {
        let hook = hook("*", "x").with_when(pointer, condition);
        let error = hook.unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// The example of docs/protocol.md.
#[test]
fn the_page_shows_what_conditions_do() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/protocol.md");
    let page = std::fs::read_to_string(page).unwrap().replace("\r\n", "\n");
    let (_, rest) = page.split_once("\n## Conditions\n").unwrap();
    let (_, rest) = rest.split_once("```json\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let world = World::new();
    world.write("config/src/forge/hooks.json", example);
    let config = HookConfig::default().with_config_home(world.path("config"));
    let hooks = config.load_global();
    let runs =
        |event: &HookEvent| -> Vec<bool> { hooks.iter().map(|hook| hook.matches(event)).collect() };
    assert_eq!(runs(&bash("cd x && sudo ls")), [true, false]);
    assert_eq!(runs(&bash("ls")), [false, false]);
    // A guard that cannot see the command runs.
    assert_eq!(runs(&bash(Value::Null)), [true, false]);
    let written = |path: Value| HookEvent::tool_post_execute("write", json!({"path": path}), "");
    assert_eq!(runs(&written("src/a/b.rs".into())), [false, true]);
    assert_eq!(runs(&written("src/b.rs".into())), [false, true]);
    assert_eq!(runs(&written("Cargo.toml".into())), [false, true]);
    assert_eq!(runs(&written("README.md".into())), [false, false]);
    assert_eq!(runs(&written(Value::Null)), [false, false]);
}
