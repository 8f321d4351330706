//! The display of a sandbox: before an approval, in an explanation, and in a trace.

use forge_hooks::config::TrustPolicy;
use forge_hooks::trust::Approval;
use forge_hooks::{AppProfile, Hook, HookExecutor, Hooks, Sandbox, Trace};
use serde_json::{Value, json};

use super::{confined, is_possible};
use crate::support::{PATIENCE, World, blocking_event};

/// The value of `sandbox`, and the same in words.
#[test]
fn its_form_in_a_file_and_in_words() {
    for (written, words) in [
        (
            json!(true),
            "reads everything, writes its temporary directory, no network",
        ),
        (
            json!({"write": [".", "~/.cache"]}),
            "reads everything, writes `.`, `~/.cache` and its temporary directory, no network",
        ),
        (
            json!({"read": [], "network": true}),
            "reads the system's directories, writes its temporary directory, opens network sockets",
        ),
        (
            json!({"read": ["src"], "write": ["out"], "network": true}),
            "reads `src` and the system's directories, writes `out` and its temporary directory, opens network sockets",
        ),
    ] {
        let entry = json!({"event": "*", "command": "true", "sandbox": written});
        let hook = Hook::from_json(&entry).unwrap();
        let approval = Approval::of(".", [&hook]).unwrap().to_string();
        assert!(approval.contains(words), "{approval}");
        assert_eq!(hook.to_json(), entry);
    }
    for written in [json!(false), json!(null)] {
        let hook =
            Hook::from_json(&json!({"event": "*", "command": "true", "sandbox": written})).unwrap();
        assert_eq!(hook.to_json().get("sandbox"), None);
    }
    let empty = json!({"event": "*", "command": "true", "sandbox": {}});
    assert_eq!(
        Hook::from_json(&empty).unwrap().to_json()["sandbox"],
        json!(true)
    );
    for (written, expected) in [
        (json!("yes"), "true, or an object"),
        (json!({"reads": ["."]}), "`read`, `write`, `network`"),
        (json!({"write": "."}), "`sandbox.write`"),
        (json!({"write": [""]}), "an empty string"),
        (json!({"network": "no"}), "`sandbox.network`"),
    ] {
        let entry = json!({"event": "*", "command": "true", "sandbox": written});
        let error = Hook::from_json(&entry).unwrap_err().to_string();
        assert!(error.contains(expected), "{written}: {error}");
    }
}

/// Also where its own entry has none.
#[test]
fn a_trace_has_the_sandbox_of_the_host() {
    let world = World::new();
    let file = json!({"hooks": [{"event": "*", "command": "true"}]});
    world.write(".agent/hooks.json", &file.to_string());
    let trace = Trace::builder(world.path("trace.jsonl")).build().unwrap();
    let hooks = Hooks::builder(AppProfile::new("agent"))
        .config_home(world.path("config"))
        .project(world.directory())
        .trust(TrustPolicy::Everything)
        .sandbox_projects(Sandbox::new())
        .executor(HookExecutor::builder().trace(&trace))
        .load();
    assert_eq!(hooks.execute(&blocking_event()).results().len(), 1);
    crate::tracing::flush(&trace);
    let line = &crate::tracing::lines(trace.path())[0];
    assert_eq!(line["sandbox"], Sandbox::new().to_string());
}

#[test]
fn an_approval_and_a_trace_have_it_in_words() {
    let world = World::new();
    let hook = confined("true", Sandbox::new());
    let approval = Approval::of(world.directory(), [&hook]).unwrap();
    let expected = "\n  Sandbox: reads everything, writes its temporary directory, no network\n";
    assert!(approval.to_string().contains(expected), "{approval}");
    let open = Approval::of(world.directory(), [&Hook::new("*", "true").unwrap()]).unwrap();
    assert_ne!(approval.digest(), open.digest());
    if !is_possible() {
        return;
    }
    let trace = forge_hooks::Trace::builder(world.path("trace.jsonl"))
        .build()
        .unwrap();
    let hooks = Hooks::builder(AppProfile::new("agent"))
        .config_home(world.path("config"))
        .executor(forge_hooks::HookExecutor::builder().trace(&trace))
        .load();
    hooks.executor().registry().register(hook);
    assert!(hooks.execute(&blocking_event()).allowed());
    assert!(trace.flush(PATIENCE));
    let line: Value =
        serde_json::from_str(world.read("trace.jsonl").lines().next().unwrap()).unwrap();
    assert_eq!(
        line["sandbox"],
        expected.trim().trim_start_matches("Sandbox: ")
    );
}
