//! The consequences of each way in which a hook can end: every event of every tool, times exit codes, times output.
//!
//! `fire.txt` has a table for each set of events that behave alike. A line is: the output, exit codes, and what
//! follows. Codes of one line have the same consequence; `KILL` is a signal.
//!
//! There are some 20,000 cases. One in a few is run, another one at each event, and the others are taken to be as the
//! file has them. With `FORGE_HOOKS_TEST_ALL=1` or `FORGE_HOOKS_BLESS=1` all are run.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::sync::LazyLock;

use forge_hooks::EventSpec;
use forge_hooks::hook::May;
use serde_json::{Value, json};

use crate::cases::at_once;
use crate::program::User;
use crate::support::known_events;
use crate::thorough::all_cases;

const INPUTS: &str = include_str!("fire_inputs.txt");

const CODES: [&str; 7] = ["0", "1", "2", "3", "126", "127", "KILL"];

/// The name of an output, what is written to standard output, and what to standard error.
type Written = (&'static str, String, String);

static OUTPUTS: LazyLock<Vec<Written>> = LazyLock::new(|| {
    let rows = INPUTS.lines().filter(|row| !row.starts_with(['#', '@']));
    let rows = rows.map(|row| {
        let mut parts = row.split(" | ").map(|part| part.trim_end_matches(" |"));
        let mut text = || parts.next().unwrap_or_default();
        let name = text();
        let written = |text: &str| text.replace('⏎', "\n").replace('⌂', "\u{FEFF}");
        (name, written(text()), written(text()))
    });
    rows.collect()
});

/// An event of a tool, at which hooks with these outputs are fired, each with each of the codes. If one is fired at a
/// time, it is told what the whole event comes to.
struct Table {
    tool: &'static str,
    event: &'static str,
    is_alone: bool,
    outputs: Vec<&'static Written>,
    codes: &'static [&'static str],
}

fn tables() -> Vec<Table> {
    let rows = INPUTS.lines().filter_map(|row| row.strip_prefix("@ "));
    let rows = rows.map(|row| row.split_once(": ").unwrap());
    let all: &'static [EventSpec] = known_events().leak();
    let tables = rows.flat_map(|(tool, events)| {
        let is_alone = tool.starts_with("alone, ");
        let known = all.iter().filter(move |_| tool == "native");
        let known = known.map(|spec| spec.event_type().as_str());
        known.chain(events.split(' ')).map(move |event| {
            // Those of which the middle is not kept take long.
            let is_fired = |output: &&Written| {
                !output.0.starts_with("cut") || is_alone && event.contains("re")
            };
            Table {
                tool,
                event,
                is_alone,
                outputs: OUTPUTS.iter().filter(is_fired).collect(),
                codes: if is_alone { &["0", "2"] } else { &CODES },
            }
        })
    });
    tables.collect()
}

fn payload(tool: &str, event: &str) -> Value {
    let of_tools = ["Tool", "tool:", "Permission", "permission:"];
    let is_tool = of_tools.iter().any(|part| event.contains(part));
    let input = json!({"command": "old"});
    if tool == "native" {
        let mut event = json!({"type": event, "timestamp": 1.5, "data": {}});
        if is_tool {
            event["tool_name"] = "bash".into();
            event["data"] = json!({"tool_args": input, "tool_result": "secret"});
        }
        return event;
    }
    let mut payload = json!({"hook_event_name": event, "session_id": "s"});
    if is_tool {
        payload["tool_name"] = "Bash".into();
        payload["tool_input"] = input;
        payload["tool_response"] = json!({"stdout": "secret"});
    }
    payload
}

/// Fires an event at this command, and returns the exit status and what was printed.
fn fire(user: &User, tool: &str, event: &str, command: &str) -> (i32, Value) {
    let payload = payload(tool, event).to_string();
    let (words, file) = if tool == "native" {
        let hook = json!({"event": "*", "command": command, "may": May::ALL});
        let file = user.write("hooks.json", &json!({"hooks": [hook]}).to_string());
        let words = "fire --event-json - --json --keep-going --custom --config";
        (words.to_owned(), file)
    } else {
        let hook = json!({"type": "command", "command": command, "name": "h"});
        let file = user.write(
            "settings.json",
            &json!({"hooks": {event: [{"hooks": [hook]}]}}).to_string(),
        );
        let words =
            format!("fire --agent {tool} --other-agents {tool} --event-json - --json --settings");
        (words, file)
    };
    let mut args: Vec<&str> = words.split(' ').collect();
    args.push(file.to_str().unwrap());
    let mut program = user.command(&args);
    program.env("SHELL", user.path("shell"));
    let printed = user.feed(program, &payload);
    (printed.status, printed.json())
}

/// Returns the consequences of one hook, in one line.
fn consequence(result: &Value) -> String {
    let mut words = result["decision"].as_str().unwrap().to_owned();
    let continues = result["should_continue"] == true;
    if continues != (words == "allow") {
        words += if continues {
            ", continues"
        } else {
            ", does not continue"
        };
    }
    if let Some(failure) = result["failure"].as_str() {
        let error = result["error"].as_str().unwrap_or_default();
        match failure {
            // The exit code tells which of them it is. The tables of events that are fired alone have the messages.
            "exit" | "signal" | "not_found" | "not_executable" => words += ", failed",
            _ => write!(words, ", {failure} ({error})").unwrap(),
        }
    }
    if !result["output"].is_null() {
        write!(words, " {}", result["output"]).unwrap();
    }
    words
}

/// The value with only the beginning of long text.
fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > 300 => {
            format!("{}... {} bytes", &text[..100], text.len()).into()
        }
        Value::Array(items) => items.iter().map(shortened).collect(),
        other => other.clone(),
    }
}

/// The top of a report without what is empty.
fn whole(status: i32, report: &Value) -> String {
    let mut kept = serde_json::Map::new();
    for (key, value) in report.as_object().unwrap() {
        let is_empty =
            value.is_null() || value == &json!([]) || value == &json!(false) && key != "allowed";
        if !is_empty && !matches!(key.as_str(), "results" | "event") {
            kept.insert(key.clone(), shortened(value));
        }
    }
    if let Some(changed) = kept.get_mut("changed_event") {
        *changed = changed["data"].take();
    }
    format!("{status} {}", Value::Object(kept)).replace("0 {}", "0")
}

impl Table {
    fn command(&self, index: usize) -> String {
        let (_, stdout, stderr) = self.outputs[index / self.codes.len()];
        let written = |text: &str| text.replace("EVENT", self.event).replace('\'', r"'\''");
        // The kept part of an output is shorter than this.
        let stdout = written(stdout).replace('⋯', "'; printf %1100000s '");
        let end = match self.codes[index % self.codes.len()] {
            "KILL" => "kill -KILL $$".to_owned(),
            // Within a variable, the code is not seen by those that read commands.
            code => format!("code={code}; exit $code"),
        };
        format!(
            "printf %s '{stdout}'; printf %s '{}' >&2; {end}",
            written(stderr)
        )
    }

    /// Returns the consequence of each of these cases, or only the status and the report if no hook has run.
    fn results(&self, user: &User, cases: &[usize]) -> Result<Vec<String>, String> {
        let commands = cases.iter().map(|case| self.command(*case));
        let commands: Vec<_> = commands.collect();
        let tool = self.tool.trim_start_matches("alone, ");
        let mut all = Vec::new();
        for command in &commands {
            let (status, report) = fire(user, tool, self.event, command);
            if self.is_alone {
                all.push(whole(status, &report));
                continue;
            }
            match report["results"].get(0) {
                Some(result) => all.push(consequence(result)),
                None => return Err(whole(status, &report)),
            }
        }
        Ok(all)
    }

    /// Returns the table with the consequence of each output and code. Cases that are not run are copied from the
    /// corpus.
    fn text(&self, user: &User, corpus: &HashMap<String, Known>) -> String {
        let head = format!("{}: {}", self.tool, self.event);
        let known = corpus.get(&head);
        let turn: usize = head.bytes().map(usize::from).sum();
        let is_run = |case: &usize| known.is_none() || (case + turn).is_multiple_of(ONE_IN);
        let all = 0..self.outputs.len() * self.codes.len();
        let run: Vec<_> = all.clone().filter(is_run).collect();
        let results = match self.results(user, &run) {
            Ok(results) => results,
            Err(whole) => return user.normal(&format!("  all | {whole}\n")),
        };
        let mut found: HashMap<_, _> = run.into_iter().zip(results).collect();
        let words = all.map(|case| {
            let code = self.codes[case % self.codes.len()];
            let (output, ..) = self.outputs[case / self.codes.len()];
            match found.remove(&case) {
                Some(words) => {
                    without_code(&user.normal(&words), code).replace(self.event, "EVENT")
                }
                None => known.unwrap()[&(*output, code)].to_owned(),
            }
        });
        self.grouped(&words.collect::<Vec<_>>())
    }

    /// Exit codes with the same consequence are one line, and outputs with the same lines one entry.
    fn grouped(&self, words: &[String]) -> String {
        let mut entries: Vec<(String, Vec<&str>)> = Vec::new();
        for (output, words) in self.outputs.iter().zip(words.chunks(self.codes.len())) {
            let mut lines: Vec<(&str, Vec<&str>)> = Vec::new();
            for (code, words) in self.codes.iter().zip(words) {
                add(&mut lines, words.as_str(), code);
            }
            let lines = lines
                .iter()
                .map(|(words, codes)| format!("    {} | {words}\n", codes.join(" ")));
            add(&mut entries, lines.collect(), output.0);
        }
        let entries = entries.iter();
        entries
            .map(|(lines, outputs)| format!("  {}\n{lines}", outputs.join("; ")))
            .collect()
    }
}

/// Adds the name to those of the same kind.
fn add<'a, K: PartialEq>(kinds: &mut Vec<(K, Vec<&'a str>)>, kind: K, name: &'a str) {
    match kinds.iter_mut().find(|(known, _)| *known == kind) {
        Some((_, names)) => names.push(name),
        None => kinds.push((kind, vec![name])),
    }
}

/// Messages with the exit code in them, so that codes with the same consequence are alike.
fn without_code(words: &str, code: &str) -> String {
    let mut words = words.replace("SIGKILL", "SIG");
    for before in ["code ", "exit code ", "status "] {
        words = words.replace(&format!("{before}{code}"), &format!("{before}N"));
    }
    words
}

/// One in so many cases is run.
const ONE_IN: usize = 29;

/// The consequences of an output and a code, by the names of both.
type Known = HashMap<(&'static str, &'static str), &'static str>;

/// Returns the file's table for each event, by the head of its part. Empty if all cases are to be run.
fn corpus() -> HashMap<String, Known> {
    let mut known = HashMap::new();
    if all_cases() || std::env::var_os("FORGE_HOOKS_BLESS").is_some() {
        return known;
    }
    for part in include_str!("fire.txt").split_terminator("\n\n") {
        let (head, table) = part.split_once('\n').unwrap();
        let (tool, events) = head.split_once(": ").unwrap();
        for event in events.split(", ") {
            known.insert(format!("{tool}: {event}"), known_of(table));
        }
    }
    known
}

fn known_of(table: &'static str) -> Known {
    let mut known = Known::new();
    let mut outputs = "";
    for line in table.lines() {
        let Some(line) = line.strip_prefix("    ") else {
            outputs = line.trim_start();
            continue;
        };
        let (codes, words) = line.split_once(" | ").unwrap();
        for output in outputs.split("; ") {
            known.extend(codes.split(' ').map(|code| ((output, code), words)));
        }
    }
    known
}

#[test]
fn hooks_end_as_they_did() {
    let user = || {
        let user = User::new();
        // Codex starts a login shell, which reads what this machine has for users.
        let shell = user.write("shell", "#!/bin/sh\nexec /bin/sh -c \"$2\"\n");
        std::fs::set_permissions(&shell, Permissions::from_mode(0o755)).unwrap();
        user
    };
    let (tables, corpus) = (tables(), corpus());
    let texts = at_once(&tables, user, |user, table| table.text(user, &corpus));
    let mut alike = Vec::new();
    for (table, text) in tables.iter().zip(&texts) {
        add(&mut alike, (table.tool, text), table.event);
    }
    let mut text = String::new();
    for ((tool, table), events) in alike {
        writeln!(text, "{tool}: {}\n{table}", events.join(", ")).unwrap();
    }
    super::same_as_corpus("fire.txt", &text);
}
