//! Each kind of outcome of a whole event: hooks that cannot run, and several hooks together.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::program::User;

/// The keys of a result that the table shows.
const KEYS: &str = "decision should_continue exit_code failure error output stdout residency";

fn event(name: &str) -> Value {
    let data = json!({"tool_args": {"command": "ls"}, "tool_result": "secret"});
    json!({"type": name, "timestamp": 1.5, "tool_name": "bash", "data": data})
}

/// Returns the printed report without the parts that differ from run to run.
fn shown(report: &Value) -> String {
    let mut text = String::new();
    for (key, value) in report.as_object().unwrap() {
        if !matches!(key.as_str(), "event" | "results" | "background") {
            write!(text, " {key}: {value}").unwrap();
        }
    }
    let results = |key: &'static str| {
        let results = report[key].as_array().into_iter().flatten();
        results.map(move |result| (key, result))
    };
    for (key, result) in results("results").chain(results("background")) {
        let place = if key == "results" { "" } else { " background:" };
        write!(text, "\n   {place}").unwrap();
        for key in KEYS.split(' ') {
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
    let user = User::new();
    let rows = include_str!("outcomes_inputs.txt").lines();
    for row in rows.filter(|row| !row.starts_with('#')) {
        let [name, name_of_event, args, hooks] = row.splitn(4, " | ").collect::<Vec<_>>()[..]
        else {
            panic!("{row}");
        };
        let file = format!(r#"{{"disable":["DISABLED"],"hooks":{hooks}}}"#);
        let file = user.write("hooks.json", &file);
        let mut arguments = vec!["fire", "--event-json", "-", "--json", "--config"];
        arguments.push(file.to_str().unwrap());
        arguments.extend(args.split_whitespace());
        let printed = user.run_with_input(&arguments, &event(name_of_event).to_string());
        let again = |value: &Value| shown(value).replace("\n    ", "\n    again: ");
        let mut report = printed.json();
        let second = report.as_object_mut().unwrap().remove("again");
        let (status, report) = (printed.status, shown(&report));
        write!(text, "{name} | {name_of_event} | {status}{report}").unwrap();
        text += &second.as_ref().map(again).unwrap_or_default();
    }
    super::same_as_corpus("outcomes.txt", &user.normal(&text));
}
