//! Each kind of outcome of a whole event: hooks that cannot run, and several hooks together.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::program::User;

const PRE: &str = "tool:pre_execute";
const POST: &str = "tool:post_execute";

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
    let rows = include_str!("outcomes_inputs.txt").lines();
    for row in rows.filter(|row| !row.starts_with('#')) {
        let [name, event, args, hooks] = row.splitn(4, " | ").collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let file = format!(r#"{{"disable":["DISABLED"],"hooks":{hooks}}}"#);
        let file = user.write("hooks.json", &file);
        let mut args: Vec<_> = args.split_whitespace().collect();
        args.extend(["--config", file.to_str().unwrap()]);
        add(name, &user, event, &args);
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
