//! Each kind of outcome of a whole event: hooks that cannot run, and several hooks together.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::program::User;

const PRE: &str = "tool:pre_execute";
const POST: &str = "tool:post_execute";

/// A name, the project's hooks in short, the event, and more arguments.
type Case = (&'static str, Value, &'static str, &'static [&'static str]);

fn cases() -> Vec<Case> {
    let says = |answer: Value| json!({"event": "*", "command": format!("echo '{answer}'")});
    let hook = |command: &str| json!({"event": "*", "command": command});
    let with = |command: &str, more: Value| {
        let mut hook = hook(command);
        let more = more.as_object().unwrap().clone();
        hook.as_object_mut().unwrap().extend(more);
        hook
    };
    let post = |command: &str| {
        with(
            command,
            json!({"event": POST, "on_failure": "withhold", "name": "redactor"}),
        )
    };
    let context = || says(json!({"additionalContext": "$FORGE_TOOL_RESULT"}));
    let sees = || hook(r#"printf '{"additionalContext": %s}' "$FORGE_TOOL_RESULT""#);
    vec![
        ("no hooks", json!([]), PRE, &[]),
        (
            "time out",
            json!([with("exec sleep 9", json!({"timeout": 0.05}))]),
            PRE,
            &[],
        ),
        (
            "time out, continue",
            json!([with(
                "exec sleep 9",
                json!({"timeout": 0.05, "on_failure": "continue"})
            )]),
            PRE,
            &[],
        ),
        ("no such command", json!([hook("./nope.sh")]), PRE, &[]),
        (
            "no such program",
            json!([{"event": "*", "args": ["./nope"]}]),
            PRE,
            &[],
        ),
        (
            "no such directory",
            json!([with("true", json!({"working_dir": "nope"}))]),
            PRE,
            &[],
        ),
        (
            "a directory",
            json!([{"event": "*", "args": ["./.src"]}]),
            PRE,
            &[],
        ),
        (
            "an invalid entry",
            json!([{"event": PRE}, hook("echo runs")]),
            PRE,
            &[],
        ),
        (
            "an invalid entry, another event",
            json!([{"event": "session:start"}]),
            PRE,
            &[],
        ),
        (
            "an invalid pattern",
            json!([{"event": "TOOL:x", "command": "true"}]),
            PRE,
            &[],
        ),
        ("not a list", json!("x"), PRE, &[]),
        (
            "switched off",
            json!([with("exit 1", json!({"enabled": false}))]),
            PRE,
            &[],
        ),
        (
            "disabled by name",
            json!([with("exit 1", json!({"name": "DISABLED"}))]),
            PRE,
            &[],
        ),
        (
            "continue",
            json!([with("exit 1", json!({"on_failure": "continue"}))]),
            PRE,
            &[],
        ),
        (
            "background",
            json!([with("exit 1", json!({"background": true}))]),
            PRE,
            &[],
        ),
        (
            "the first blocks",
            json!([hook("exit 1"), hook("echo second")]),
            PRE,
            &[],
        ),
        (
            "the first blocks, keep going",
            json!([hook("exit 1"), hook("echo second")]),
            PRE,
            &["--keep-going"],
        ),
        (
            "the first blocks, parallel",
            json!([hook("exit 1"), hook("echo second")]),
            PRE,
            &["--parallel"],
        ),
        (
            "an observer fails",
            json!([hook("exit 1"), hook("echo second")]),
            "session:start",
            &[],
        ),
        (
            "ask over allow",
            json!([
                says(json!({"decision": "allow"})),
                says(json!({"decision": "ask", "reason": "r"}))
            ]),
            PRE,
            &[],
        ),
        (
            "block over ask",
            json!([
                says(json!({"decision": "ask"})),
                says(json!({"decision": "block"}))
            ]),
            PRE,
            &["--keep-going"],
        ),
        (
            "stops the turn",
            json!([
                says(json!({"continue": false, "stopReason": "r"})),
                hook("echo second")
            ]),
            "session:start",
            &[],
        ),
        (
            "contexts",
            json!([
                says(json!({"additionalContext": "a"})),
                says(json!({"additionalContext": "b", "systemMessage": "m"}))
            ]),
            PRE,
            &[],
        ),
        (
            "inputs",
            json!([
                says(json!({"updatedInput": {"a": 1, "b": 1}})),
                says(json!({"updatedInput": {"b": 2}}))
            ]),
            PRE,
            &[],
        ),
        (
            "an input, and a failure",
            json!([
                says(json!({"updatedInput": {"a": 1}})),
                with("exit 1", json!({"on_failure": "continue"}))
            ]),
            PRE,
            &[],
        ),
        (
            "a condition",
            json!([with(
                "exit 1",
                json!({"when": {"/tool_args/command": "git *"}})
            )]),
            PRE,
            &[],
        ),
        (
            "an untested condition",
            json!([with("exit 1", json!({"when": {"/nope": "git *"}}))]),
            PRE,
            &[],
        ),
        (
            "an untested condition, observer",
            json!([with("exit 1", json!({"when": {"/nope": "git *"}}))]),
            POST,
            &[],
        ),
        (
            "outputs",
            json!([says(json!({"updatedOutput": "new"})), sees()]),
            POST,
            &[],
        ),
        (
            "withhold, text",
            json!([post("echo text"), sees()]),
            POST,
            &["--keep-going"],
        ),
        (
            "withhold, fails",
            json!([post("exit 1"), sees()]),
            POST,
            &["--keep-going"],
        ),
        (
            "withhold, fails, stops",
            json!([post("exit 1"), sees()]),
            POST,
            &[],
        ),
        (
            "withhold, replaces",
            json!([post(r#"echo '{"updatedOutput": "clean"}'"#), sees()]),
            POST,
            &[],
        ),
        (
            "withhold, typo",
            json!([post(r#"echo '{"updatedOutputt": "clean"}'"#), sees()]),
            POST,
            &["--keep-going"],
        ),
        ("quoted variable", json!([context()]), POST, &[]),
        (
            "resident, no answer",
            json!([with(
                "cat >/dev/null",
                json!({"resident": true, "timeout": 1})
            )]),
            PRE,
            &[],
        ),
        (
            "resident, text",
            json!([{"event": "*", "args": ["sh", "-c", "read x; echo text"], "resident": true}]),
            PRE,
            &[],
        ),
        (
            "a bad variable",
            json!([with("true", json!({"env": {"A=B": "c"}}))]),
            PRE,
            &[],
        ),
    ]
}

fn event(name: &str) -> Value {
    let data = json!({"tool_args": {"command": "ls"}, "tool_result": "secret"});
    json!({"type": name, "timestamp": 1.5, "tool_name": "bash", "data": data})
}

/// What was printed, without what differs from run to run.
fn shown(report: &Value) -> String {
    let mut text = String::new();
    for (key, value) in report.as_object().unwrap() {
        if !matches!(key.as_str(), "event" | "results") {
            write!(text, " {key}: {value}").unwrap();
        }
    }
    for result in report["results"].as_array().into_iter().flatten() {
        write!(text, "\n   ").unwrap();
        for key in [
            "decision",
            "should_continue",
            "exit_code",
            "failure",
            "error",
            "skipped",
            "output",
            "stdout",
            "residency",
        ] {
            if !result[key].is_null() && result[key] != "" {
                write!(text, " {key}: {}", result[key]).unwrap();
            }
        }
    }
    text + "\n"
}

#[test]
fn events_come_to_what_they_did() {
    let mut text = String::new();
    let mut add = |name: &str, user: &User, name_of_event: &str, args: &[&str]| {
        let fire = ["fire", "--event-json", "-", "--json"];
        let printed =
            user.run_with_input(&[&fire, args].concat(), &event(name_of_event).to_string());
        let again = |value: &Value| shown(value).replace("\n    ", "\n    again: ");
        let mut report = printed.json();
        let second = report.as_object_mut().unwrap().remove("again");
        write!(
            text,
            "{name} | {name_of_event} | {}{}",
            printed.status,
            shown(&report)
        )
        .unwrap();
        text += &second.as_ref().map(again).unwrap_or_default();
    };
    let user = User::new();
    for (name, hooks, event, args) in cases() {
        let file = json!({"hooks": hooks, "disable": ["DISABLED"]}).to_string();
        let file = user.write("hooks.json", &file);
        add(
            name,
            &user,
            event,
            &[args, &["--config", file.to_str().unwrap()]].concat(),
        );
    }
    for (name, hooks) in [
        ("not approved", json!([{"event": "*", "command": "exit 1"}])),
        ("not approved, invalid", json!([{"event": PRE}])),
        (
            "not approved, withhold",
            json!([{"event": POST, "command": "true", "on_failure": "withhold"}]),
        ),
    ] {
        let user = User::with_project_file(&json!({"hooks": hooks}).to_string());
        for event in [PRE, POST] {
            add(name, &user, event, &[]);
        }
    }
    let user = User::with_project_file(
        r#"{"hooks": [{"event": "*", "command": "./x.sh", "on_failure": "continue"}]}"#,
    );
    user.write("project/x.sh", "exit 1\n");
    assert_eq!(user.run(&["trust", "--yes"]).status, 0);
    add("approved", &user, PRE, &[]);
    user.write("project/x.sh", "exit 0\n");
    add("approved, a changed script", &user, PRE, &[]);
    user.write("project/.src/forge/hooks.json", r#"{"hooks": []}"#);
    add("approved, gone", &user, PRE, &[]);
    super::same_as_corpus("outcomes.txt", &user.normal(&text));
}
