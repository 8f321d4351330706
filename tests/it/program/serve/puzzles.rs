//! The messages about outputs that puzzle the author of a hook: `fire`, `fire --json` and `serve` report the same to
//! people and programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::super::{User, with};
use super::{GLOBAL, Served};
use crate::cases::at_once;
use crate::golden::same_as_corpus;

/// A hook's part of what `fire` prints: what stands behind each label, and the remarks.
#[derive(Debug, Default)]
struct Shown {
    headline: String,
    labelled: BTreeMap<String, String>,
    remarks: Vec<String>,
}

/// The labels, and the key of the result with the same text.
const LABELS: [(&str, &str); 10] = [
    ("out", "/stdout"),
    ("err", "/stderr"),
    ("reason", "/output/reason"),
    ("why it ends the turn", "/output/stopReason"),
    ("for the user", "/output/systemMessage"),
    ("for the model", "/output/additionalContext"),
    ("feedback", "/output/feedback"),
    ("changes", "/output/updatedInput"),
    ("new output", "/output/updatedOutput"),
    ("sets", "/env_file"),
];

/// One line of the inputs.
struct Row<'a> {
    name: &'a str,
    is_blind: bool,
    agent: &'a str,
    event: &'a str,
    hooks: &'a str,
}

fn rows() -> Vec<Row<'static>> {
    let rows = include_str!("../../golden/puzzles_inputs.txt").lines();
    let rows = rows.filter(|row| !row.starts_with('#'));
    let rows = rows.map(|row| {
        let [name, agent, event, hooks] = row.splitn(4, " | ").collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        Row {
            name: name.trim_start_matches("! "),
            is_blind: name.starts_with("! "),
            agent,
            event,
            hooks,
        }
    });
    rows.collect()
}

impl Row<'_> {
    fn event(&self) -> Value {
        let mut event = json!({"type": self.event, "timestamp": 1.5, "data": {"content": "hi"}});
        if self.event.starts_with("tool:") {
            event["tool_name"] = "bash".into();
            event["data"] = json!({"tool_args": {"command": "ls"}, "tool_result": "secret"});
        }
        event
    }

    /// Writes the hooks to the user's files, and returns the options that read them.
    fn write(&self, user: &User) -> Vec<&str> {
        for (script, text) in [("odd.sh", "#!/nope/sh\n"), ("plain.sh", "exit 0\n")] {
            user.write(&format!("project/{script}"), text);
        }
        let executable = Permissions::from_mode(0o755);
        std::fs::set_permissions(user.path("project/odd.sh"), executable).unwrap();
        if self.agent == "native" {
            let hooks: Value = serde_json::from_str(&format!("[{}]", self.hooks)).unwrap();
            let mut hooks = hooks.as_array().unwrap().clone();
            for hook in &mut hooks {
                hook["event"] = self.event.into();
            }
            user.write(GLOBAL, &json!({"hooks": hooks}).to_string());
            return Vec::new();
        }
        let name = match (self.agent, self.event) {
            (_, "tool:pre_execute") => "PreToolUse",
            (_, "session:start") => "SessionStart",
            (_, "user:prompt_submit") => "UserPromptSubmit",
            other => panic!("{other:?}"),
        };
        let handler = json!({"type": "command", "command": self.hooks, "name": "h"});
        let file = json!({"hooks": {name: [{"hooks": [handler]}]}}).to_string();
        user.write(&format!("home/.{}/{}", self.agent, self.file()), &file);
        vec!["--other-agents", self.agent]
    }

    fn file(&self) -> &str {
        if self.agent == "codex" {
            "hooks.json"
        } else {
            "settings.json"
        }
    }
}

/// The parts of what `fire` prints: each hook, and the conclusion.
fn parts(text: &str, hooks: usize) -> (Vec<Shown>, String) {
    let mut shown: Vec<Shown> = Vec::new();
    let mut conclusion = String::new();
    let mut lines = text.lines().filter(|line| !line.is_empty()).peekable();
    while let Some(line) = lines.next() {
        let is_hook = shown.len() < hooks;
        let Some(line) = line.strip_prefix("  ") else {
            if is_hook && !is_conclusion(line) {
                shown.push(Shown {
                    headline: line.to_owned(),
                    ..Shown::default()
                });
                continue;
            }
            conclusion += line;
            while let Some(line) = lines.next_if(|line| line.starts_with("  ")) {
                conclusion += &format!("\n{}", line.trim_start());
            }
            continue;
        };
        let part = shown.last_mut().unwrap();
        let labels = LABELS.iter();
        let mut labels = labels.filter_map(|(label, _)| {
            let rest = line.strip_prefix(label)?.strip_prefix("  ")?;
            Some((*label, rest))
        });
        match labels.next() {
            Some((label, rest)) => {
                let text = part.labelled.entry(label.to_owned()).or_default();
                *text += rest;
                *text += "\n";
            }
            None => part.remarks.push(line.to_owned()),
        }
    }
    (shown, conclusion)
}

/// Returns true if a line says what the host would do. A line about a hook names its place.
fn is_conclusion(line: &str) -> bool {
    let conclusions = ["blocked by", "asks the user", "the host would"];
    conclusions.iter().any(|beginning| line.contains(beginning))
}

/// A text as `fire` shows it: printable, in lines.
fn printable(text: &str) -> String {
    let lines = text.lines().map(|line| forge_hooks::printable(line) + "\n");
    lines.collect()
}

/// The text of a value, and of JSON its text.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Checks that people are told of a hook what programs are told.
fn same_of_hook(row: &str, shown: &Shown, result: &Value) {
    for (label, key) in LABELS {
        let value = result.pointer(key).unwrap_or(&Value::Null);
        let mut told = text_of(value);
        if matches!(label, "for the model" | "feedback") && told.chars().count() > 10_000 {
            // The rows have 12,000 characters, or fewer than 10,000.
            told = told.chars().take(10_000).collect::<String>() + " [... 2,000 more characters]";
        }
        // A text of JSON is shown as JSON.
        if label == "new output" && value.is_string() {
            told = value.to_string();
        }
        let actual = shown.labelled.get(label).cloned().unwrap_or_default();
        assert_eq!(actual, printable(&told), "{row}: {label}");
    }
    let diagnostics = result["diagnostics"].as_array().unwrap().iter();
    let diagnostics: Vec<_> = diagnostics
        .map(|note| forge_hooks::printable(note.as_str().unwrap()))
        .collect();
    assert_eq!(shown.remarks, diagnostics, "{row}");
    // Behind the label and the place.
    let (_, verdict) = shown.headline.split_once("): ").unwrap_or_else(|| {
        let headline = &shown.headline;
        headline
            .split_once(": ")
            .unwrap_or_else(|| panic!("{headline}"))
    });
    let verdict = verdict.trim_start_matches("in the background, ");
    let beginnings = ["failed", "blocks", "decides to block", "asks"];
    let has_failed = beginnings
        .iter()
        .any(|beginning| verdict.starts_with(beginning));
    assert_eq!(
        has_failed,
        result["should_continue"] == false || !result["failure"].is_null(),
        "{row}: {}",
        shown.headline
    );
}

/// Checks that people are told of an event what programs are told.
fn same_of_event(row: &str, conclusion: &str, report: &Value) {
    let (allowed, decision) = (&report["allowed"], &report["decision"]);
    assert_eq!(
        conclusion.contains("the host would continue"),
        *allowed == true,
        "{row}: {conclusion}"
    );
    if *allowed == false {
        let asks = conclusion.contains("asks the user: ");
        assert!(asks || conclusion.contains("blocked by "), "{row}");
        assert_eq!(
            *decision == "ask" || conclusion.contains("cannot ask"),
            asks
        );
        let reason = report["reason"]
            .as_str()
            .unwrap_or("no reason given")
            .trim();
        let reason = printable(reason);
        let reason = reason.trim_end();
        assert!(conclusion.contains(reason), "{row}: {conclusion}");
    }
    texts_of_event(row, conclusion, report);
}

fn texts_of_event(row: &str, conclusion: &str, report: &Value) {
    assert_eq!(
        conclusion.contains("would end its turn"),
        report["stop"] == true,
        "{row}"
    );
    let output = &report["updated_output"];
    let is_replaced = conclusion.contains("the output is replaced by");
    assert_eq!(is_replaced, !output.is_null(), "{row}: {conclusion}");
    assert!(output.is_null() || conclusion.contains(&output.to_string()));
    for what in ["context", "feedback"] {
        let text = report[what].as_str().unwrap_or_default();
        let message = format!("the model does not get all of the {what}");
        let is_cut = text.ends_with(" more characters]");
        assert_eq!(conclusion.contains(&message), is_cut, "{row}: {conclusion}");
    }
}

/// A report without what differs from run to run.
fn steady(mut report: Value) -> Value {
    report["event"]["timestamp"].take();
    for key in ["/results", "/background", "/again/results"] {
        let results = report.pointer_mut(key).and_then(Value::as_array_mut);
        for result in results.into_iter().flatten() {
            result["duration"] = Value::Null;
        }
    }
    if let Some(again) = report.get_mut("again") {
        again["event"]["timestamp"].take();
    }
    report
}

/// Returns the report to programs, with long texts cut to their end.
fn told(row: &Row<'_>, report: &Value) -> String {
    let short = |value: &Value| match value.as_str() {
        Some(text) if text.len() > 300 => {
            let end: String = text.chars().rev().take(40).collect();
            let end: String = end.chars().rev().collect();
            json!(format!("{} bytes, at the end {}", text.len(), end.trim()))
        }
        _ => value.clone(),
    };
    let mut text = format!("{} | {} | {}\n ", row.name, row.agent, row.event);
    for key in [
        "allowed",
        "decision",
        "reason",
        "context",
        "feedback",
        "updated_output",
        "stop",
        "messages",
    ] {
        let value = short(&report[key]);
        if !value.is_null() && value != json!([]) && value != json!(false) || key == "allowed" {
            write!(text, " {key}: {value}").unwrap();
        }
    }
    text.push('\n');
    for part in ["results", "background"] {
        for result in report[part].as_array().into_iter().flatten() {
            text += if part == "results" {
                "   "
            } else {
                "    in the background:"
            };
            for key in ["decision", "failure", "error"] {
                let value = short(&result[key]);
                if !value.is_null() {
                    write!(text, " {key}: {value}").unwrap();
                }
            }
            text.push('\n');
            for words in result["diagnostics"].as_array().unwrap() {
                writeln!(text, "      {words}").unwrap();
            }
        }
    }
    text
}

fn compared(user: &User, row: &Row<'_>) -> String {
    let options = row.write(user);
    let event = row.event();
    let fire = ["fire", "--event-json", "-"];
    let fired = user.run_with_input(&with(&fire, &options), &event.to_string());
    let json = with(&fire, &[&options[..], &["--json"]].concat());
    let printed = user.run_with_input(&json, &event.to_string());
    assert_eq!(fired.status, printed.status, "{}: {fired:?}", row.name);
    let report = steady(printed.json());
    let mut served = Served::with(user, &options);
    let answer = served.result(
        "fire",
        &json!({"event": event, "options": {"applies_updates": true}}),
    );
    let answer = serde_json::from_str(&user.normal(&answer.to_string())).unwrap();
    let mut alone = report.clone();
    // The host of `serve` does not wait for them.
    alone.as_object_mut().unwrap().remove("background");
    assert_eq!(steady(answer), alone, "{}", row.name);
    let results = |key: &str| report[key].as_array().cloned().unwrap_or_default();
    let all = [results("results"), results("background")].concat();
    let first = fired
        .out
        .split("\nonce more, with these changes:")
        .next()
        .unwrap();
    let (shown, conclusion) = parts(first, all.len());
    assert_eq!(shown.len(), all.len(), "{}: {fired:?}", row.name);
    for (shown, result) in shown.iter().zip(&all) {
        same_of_hook(row.name, shown, result);
    }
    same_of_event(row.name, &conclusion, &report);
    if row.is_blind {
        assert_eq!(report["allowed"], true, "{}", row.name);
        let messages = report["messages"].as_array().unwrap();
        assert!(!messages.is_empty(), "{}: {report:#}", row.name);
    }
    told(row, &report)
}

#[test]
fn people_and_programs_are_told_the_same() {
    let rows = rows();
    let text = at_once(&rows, || (), |(), row| compared(&User::new(), row)).concat();
    same_as_corpus("puzzles.txt", &text);
}
