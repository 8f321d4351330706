//! The output for programs, checked against the schemas that describe it.

use std::path::Path;

use forge_hooks::config::TrustPolicy;
use forge_hooks::{FireOptions, HookBlockedError, HookConfig, HookEvent, HookExecutor};
use jsonschema::Validator;
use serde_json::{Value, json};

use super::{GUARDED, LS, SUDO, User, with};

pub(super) fn validator(name: &str) -> Validator {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join(format!("schemas/{name}.schema.json"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(jsonschema::draft202012::meta::is_valid(&schema), "{name}");
    jsonschema::draft202012::new(&schema).unwrap()
}

#[track_caller]
pub(super) fn is_valid(name: &str, report: &Value) {
    let validator = validator(name);
    let errors: Vec<_> = validator
        .iter_errors(report)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:?} in {report:#}");
}

/// Every state that a hook can be in.
fn user() -> User {
    let user = User::with_project_file(GUARDED);
    let global = json!({"disable": ["named"], "hooks": [
        {"event": "tool:pre_exec", "command": "true", "enabled": false},
        {"event": "tool:*", "command": "true", "name": "named"},
        {"event": "tool:*", "command": "sleep 9", "timeout": 0.05, "on_failure": "continue"},
        {"event": "tool:*", "command": "kill -9 $$", "on_failure": "continue"},
        {"event": "*", "args": ["/nowhere/at/all"], "on_failure": "continue"},
        {"event": "session:*", "args": []},
        {"event": "tool:*", "command": "echo '{\"decision\": \"ask\", \"reason\": \"r\", \"updatedInput\": {}}'", "may": ["change_input"]},
        {"event": "tool:*", "command": "echo '{\"continue\": false, \"stopReason\": \"s\", \"systemMessage\": \"m\"}'"},
        {"event": "tool:*", "command": "echo '{'"},
    ]});
    user.write("config/src/forge/hooks.json", &global.to_string());
    user
}

#[test]
fn what_is_printed_matches_its_schema() {
    let user = user();
    for (schema, args) in [
        ("fire", with(&SUDO, &["--keep-going"])),
        ("fire", with(&LS, &["--keep-going"])),
        ("fire", vec!["fire", "session:start"]),
        ("fire", vec!["fire", "game:over"]),
        ("list", vec!["list"]),
        ("check", vec!["check"]),
    ] {
        is_valid(schema, &user.run(&with(&args, &["--json"])).json());
    }
    let all = user.run(&with(&SUDO, &["--json", "--keep-going"])).json();
    let results = all["results"].as_array().unwrap();
    let answers = results.iter().map(|result| &result["output"]);
    let answers: Vec<_> = answers.filter(|answer| !answer.is_null()).collect();
    let asks = json!({"decision": "ask", "reason": "r", "updatedInput": {}});
    let stops = json!({"stopReason": "s", "systemMessage": "m", "continue": false});
    assert_eq!(json!(answers), json!([asks, stops]));
}

/// Removes the durations, which differ from run to run.
fn without_durations(mut outcome: Value) -> Value {
    for result in outcome["results"].as_array_mut().unwrap() {
        assert!(result["duration"].take().is_f64());
        // The program's output has another directory here.
        assert!(result["where"].take().is_string());
    }
    outcome
}

#[test]
fn an_outcome_serializes_as_fire_prints_it() {
    let user = user();
    let config = HookConfig::default().with_config_home(user.path("config"));
    let executor = HookExecutor::builder().build();
    let _ = config.load_into(
        executor.registry(),
        user.path("nowhere"),
        TrustPolicy::Everything,
    );
    let event = HookEvent::tool_pre_execute("bash", json!({"command": "sudo ls"}));
    let outcome = executor.execute(&event, FireOptions::default());
    let mut serialized = json!(outcome);
    serialized["event"] = json!(event);
    is_valid("fire", &serialized);
    let mut printed = user.run(&with(&SUDO, &["--json"])).json();
    printed["event"] = serialized["event"].clone();
    let serialized = without_durations(serialized);
    assert_eq!(serialized, without_durations(printed));

    let error = outcome.check().unwrap_err();
    let mut blocked = json!(error);
    blocked["event"] = json!(event);
    assert_eq!(without_durations(blocked), serialized);
    let alone = json!(HookBlockedError::new(*error.result));
    assert_eq!(alone["reason"], serialized["reason"]);
    assert_eq!(alone["results"].as_array().unwrap().len(), 1);
}

#[test]
fn a_report_serializes_as_check_prints_it() {
    let user = user();
    let path = user.path("config/src/forge/hooks.json");
    let report = HookConfig::default().check(&path);
    assert!(!report.problems.is_empty());
    let serialized = json!(report);
    is_valid("check", &serialized);
    assert_eq!(report.to_json(), serialized);
    assert_eq!(json!(report.problems), serialized["problems"]);
    let mut check = user.command(&["check", "--json", path.to_str().unwrap()]);
    let printed = check.output().unwrap().stdout;
    let printed: Value = serde_json::from_slice(&printed).unwrap();
    assert_eq!(printed, serialized);
}

#[test]
fn an_approval_matches_its_schema() {
    let user = user();
    user.write("project/x.sh", "");
    let approval = |expected: &[&str]| {
        let list = user.run(&["list", "--json"]).json();
        is_valid("list", &list);
        assert_eq!(list["approvals"]["changes"], json!(expected), "{list:#}");
    };
    approval(&["`guard` is new", "`looker` is new"]);
    let file = r#"{"hooks": [{"event": "*", "command": "./x.sh", "name": "a"}, {"event": "*", "command": "true"}]}"#;
    user.write("project/.src/forge/hooks.json", file);
    user.run(&["trust", "--yes"]);
    approval(&[]);
    user.write("project/x.sh", "exit 1");
    approval(&["`x.sh` has changed"]);
    user.write(
        "project/.src/forge/hooks.json",
        &file.replace("./x.sh", "./y.sh"),
    );
    approval(&["the entry of `a` has changed"]);
    user.write("project/.src/forge/hooks.json", r#"{"hooks": []}"#);
    let lost = user.run(&["list", "--json"]).json();
    is_valid("list", &lost);
    let hooks = lost["hooks"].as_array().unwrap().iter();
    assert_eq!(
        hooks
            .filter(|hook| hook["state"] == "approval_lost")
            .count(),
        2
    );
}
