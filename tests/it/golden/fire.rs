//! What follows from each way in which a hook can end: every event of every tool, times exit codes, times output.
//!
//! `fire.txt` has a table for each set of events that behave alike. A line is: the output, exit codes, and what
//! follows. Codes of one line have the same consequence; `KILL` is a signal.
//!
//! There are some 20,000 cases. One in a few is run, another one at each event, and the others are taken to be as the
//! file has them. With `FORGE_HOOKS_TEST_ALL=1` or `FORGE_HOOKS_BLESS=1` all are run.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::program::User;
use crate::support::all_cases;

const CODES: [&str; 7] = ["0", "1", "2", "3", "126", "127", "KILL"];

/// The name of an output, what is written to standard output, and what to standard error.
type Written = (&'static str, String, String);

static OUTPUTS: LazyLock<Vec<Written>> = LazyLock::new(|| {
    let rows = include_str!("fire_inputs.txt").lines();
    let rows = rows.filter(|row| !row.starts_with('#')).map(|row| {
        let mut parts = row.split(" | ").map(|part| part.trim_end_matches(" |"));
        let mut text = || parts.next().unwrap_or_default();
        let name = text();
        let written = |text: &str| text.replace('⏎', "\n").replace('⌂', "\u{FEFF}");
        (name, written(text()), written(text()))
    });
    rows.collect()
});

/// Outputs of which the middle is not kept: this text, and blanks. They take long, and so are fired alone.
const CUT: [(&str, &str); 3] = [
    ("cut, blank", ""),
    ("cut text", "text"),
    ("cut object", "{"),
];

/// What a tool calls its events.
const EVENTS: [(&str, &str); 4] = [
    (
        "claude",
        "PreToolUse PostToolUse PostToolUseFailure PermissionRequest UserPromptSubmit SessionStart \
            SessionEnd Notification Stop SubagentStart SubagentStop PreCompact PostCompact \
            ConfigChange Setup Unknown",
    ),
    (
        "codex",
        "PreToolUse PostToolUse PermissionRequest UserPromptSubmit SessionStart Stop SubagentStart \
            SubagentStop PreCompact PostCompact Unknown",
    ),
    (
        "gemini",
        "BeforeTool AfterTool BeforeAgent AfterAgent BeforeModel AfterModel SessionStart SessionEnd \
            PreCompress Notification BeforeToolSelection Unknown",
    ),
    (
        "native",
        "tool:pre_execute tool:post_execute tool:error llm:pre_request llm:post_response \
            llm:stream_start llm:stream_end session:start session:end session:message permission:check \
            permission:prompt permission:granted permission:denied user:prompt_submit user:interrupt \
            agent:stop agent:subagent_start agent:subagent_stop context:pre_compact \
            context:post_compact notification:show level:loaded",
    ),
];

/// The events at which each output is also fired alone, for what the whole event comes to.
const ALONE: [(&str, &str); 10] = [
    ("claude", "PreToolUse"),
    ("claude", "PostToolUse"),
    ("claude", "PermissionRequest"),
    ("claude", "UserPromptSubmit"),
    ("claude", "Stop"),
    ("codex", "PreToolUse"),
    ("gemini", "BeforeTool"),
    ("gemini", "SessionStart"),
    ("native", "tool:pre_execute"),
    ("native", "tool:post_execute"),
];

/// A command that writes this and ends in this way.
fn command(stdout: &str, stderr: &str, code: &str) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let end = match code {
        "KILL" => "kill -KILL $$",
        // Within a variable, the code is not seen by those that read commands.
        _ => &format!("code={code}; exit $code"),
    };
    format!(
        "printf %s {}; printf %s {} >&2; {end}",
        quoted(stdout),
        quoted(stderr)
    )
}

/// A command that writes more than is kept.
fn long(start: &str, code: &str) -> String {
    format!(
        "{}; printf %1100000s; {}",
        command(start, "", "0").replace("; code=0; exit $code", ""),
        command("", "", code)
    )
}

fn payload(tool: &str, event: &str) -> Value {
    let is_tool = event.contains("Tool")
        || event.starts_with("tool:")
        || event.starts_with("Permission")
        || event.starts_with("permission:");
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
        payload["tool_name"] = if tool == "gemini" {
            "run_shell_command"
        } else {
            "Bash"
        }
        .into();
        payload["tool_input"] = input;
        payload["tool_response"] = json!({"stdout": "secret"});
    }
    payload
}

/// Fires an event at these commands, and returns the exit status and what was printed.
fn fire(user: &User, tool: &str, event: &str, commands: &[String]) -> (i32, Value) {
    let payload = payload(tool, event).to_string();
    let hooks = commands.iter();
    let (words, file) = if tool == "native" {
        let hooks: Vec<_> = hooks
            .map(|text| json!({"event": "*", "command": text}))
            .collect();
        let file = user.write("hooks.json", &json!({"hooks": hooks}).to_string());
        let words = "fire --event-json - --json --keep-going --parallel --custom --config";
        (words.to_owned(), file)
    } else {
        let hooks: Vec<_> = hooks
            .map(|text| json!({"type": "command", "command": text, "name": "h"}))
            .collect();
        let file = user.write(
            "settings.json",
            &json!({"hooks": {event: [{"hooks": hooks}]}}).to_string(),
        );
        let words = format!("fire --as {tool} --event-json - --json --settings");
        (words, file)
    };
    let mut args: Vec<&str> = words.split(' ').collect();
    args.push(file.to_str().unwrap());
    let mut program = user.command(&args);
    program.env("SHELL", user.path("shell"));
    let printed = user.feed(program, &payload);
    (printed.status, printed.json())
}

/// What one hook came to, in one line.
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
    if let Some(skipped) = result["skipped"].as_str() {
        write!(words, ", skipped {skipped}").unwrap();
    }
    if let Some(failure) = result["failure"].as_str() {
        let error = result["error"].as_str().unwrap_or_default();
        match failure {
            // Which of them it is follows from the code; the messages stand in the tables of what is fired alone.
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
        if !is_empty && !matches!(key.as_str(), "results" | "event" | "ran" | "timeouts") {
            kept.insert(key.clone(), shortened(value));
        }
    }
    if let Some(again) = kept.get_mut("again") {
        *again = again["allowed"].clone();
    }
    format!("{status} {}", Value::Object(kept)).replace("0 {}", "0")
}

/// The consequences of outputs by exit code; those that are alike are one entry.
#[derive(Default)]
struct Table(Vec<(Vec<&'static str>, String)>);

impl Table {
    /// Groups exit codes with the same consequence, and outputs with the same groups.
    fn add(&mut self, output: &'static str, by_code: &[(&str, String)]) {
        let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
        for (code, words) in by_code {
            match groups.iter_mut().find(|(known, _)| known == words) {
                Some((_, codes)) => codes.push(code),
                None => groups.push((words, vec![code])),
            }
        }
        let lines = groups
            .iter()
            .map(|(words, codes)| format!("    {} | {words}\n", codes.join(" ")));
        let lines: String = lines.collect();
        match self.0.iter_mut().find(|(_, known)| *known == lines) {
            Some((outputs, _)) => outputs.push(output),
            None => self.0.push((vec![output], lines)),
        }
    }

    fn text(&self) -> String {
        let entries = self.0.iter();
        entries
            .map(|(outputs, lines)| format!("  {}\n{lines}", outputs.join("; ")))
            .collect()
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
const ONE_IN: usize = 9;

/// What follows from an output and a code, by the names of both.
type Known = HashMap<(&'static str, &'static str), &'static str>;

/// What the file has of each event, by the head of its part. Empty if all cases are to be run.
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

/// The cases at one event: names of outputs, each with all of the codes.
struct Part<'a> {
    event: &'a str,
    outputs: Vec<&'static str>,
    codes: &'a [&'static str],
    known: Option<&'a Known>,
    /// Which of the cases are run.
    run: Vec<usize>,
}

impl<'a> Part<'a> {
    fn new(
        corpus: &'a HashMap<String, Known>,
        (tool, event): (&str, &'a str),
        outputs: Vec<&'static str>,
        codes: &'a [&'static str],
    ) -> Self {
        let head = format!("{tool}: {event}");
        let known = corpus.get(&head);
        let turn: usize = head.bytes().map(usize::from).sum();
        let is_run = |case: &usize| known.is_none() || (case + turn).is_multiple_of(ONE_IN);
        let run = (0..outputs.len() * codes.len()).filter(is_run).collect();
        Self {
            event,
            outputs,
            codes,
            known,
            run,
        }
    }

    /// The place of its output, and its code.
    fn case(&self, index: usize) -> (usize, &'static str) {
        (
            index / self.codes.len(),
            self.codes[index % self.codes.len()],
        )
    }

    /// The table: these are the results of the cases that were run, in order.
    fn text(&self, user: &User, results: Vec<String>) -> String {
        let mut found: HashMap<_, _> = self.run.iter().copied().zip(results).collect();
        let mut table = Table::default();
        for (place, output) in self.outputs.iter().enumerate() {
            let by_code = self.codes.iter().enumerate().map(|(nth, code)| {
                let words = match found.remove(&(place * self.codes.len() + nth)) {
                    Some(words) => self.normal(user, &words, code),
                    None => self.known.unwrap()[&(*output, *code)].to_owned(),
                };
                (*code, words)
            });
            table.add(output, &by_code.collect::<Vec<_>>());
        }
        table.text()
    }

    /// As it stands in the file.
    fn normal(&self, user: &User, words: &str, code: &str) -> String {
        without_code(&user.normal(words), code).replace(self.event, "EVENT")
    }
}

/// What follows at an event from each output and code.
fn table_of(user: &User, corpus: &HashMap<String, Known>, (tool, event): (&str, &str)) -> String {
    let names = OUTPUTS.iter().map(|(name, ..)| *name).collect();
    let part = Part::new(corpus, (tool, event), names, &CODES);
    let commands = part.run.iter().map(|index| {
        let (place, code) = part.case(*index);
        let (_, out, err) = &OUTPUTS[place];
        let written = |text: &str| text.replace("EVENT", event);
        command(&written(out), &written(err), code)
    });
    let commands: Vec<_> = commands.collect();
    let (status, report) = fire(user, tool, event, &commands);
    let Some(results) = report["results"]
        .as_array()
        .filter(|results| !results.is_empty())
    else {
        return user.normal(&format!("  all | {}\n", whole(status, &report)));
    };
    assert_eq!(results.len(), commands.len(), "{tool} {event}: {report:#}");
    let notes = report["diagnostics"].as_array().into_iter().flatten();
    let notes: Vec<_> = notes.filter_map(Value::as_str).collect();
    let results = results.iter().enumerate().map(|(place, result)| {
        let mut words = consequence(result);
        // Each command is named by its place in the file.
        let named = format!("[0].hooks[{place}]");
        for note in &notes {
            if note.starts_with("hook `") && note.contains(&named) && !note.contains("is discarded")
            {
                let told: Vec<_> = note.split(": ").skip(1).collect();
                write!(words, " # {}", told.join(": ")).unwrap();
            }
        }
        words
    });
    part.text(user, results.collect())
}

/// What the whole event comes to, if one hook alone ends in this way.
fn alone(user: &User, corpus: &HashMap<String, Known>, (tool, event): (&str, &str)) -> String {
    let mut names: Vec<_> = OUTPUTS.iter().map(|(name, ..)| *name).collect();
    if event.contains("re") {
        names.extend(CUT.map(|(name, _)| name));
    }
    let head = format!("alone, {tool}");
    let part = Part::new(corpus, (&head, event), names, &["0", "2"]);
    let results = part.run.iter().map(|index| {
        let (place, code) = part.case(*index);
        let written = |text: &str| text.replace("EVENT", event);
        let text = match OUTPUTS.get(place) {
            Some((_, out, err)) => command(&written(out), &written(err), code),
            None => long(CUT[place - OUTPUTS.len()].1, code),
        };
        let (status, report) = fire(user, tool, event, &[text]);
        whole(status, &report)
    });
    part.text(user, results.collect())
}

/// Runs each job on one of a few threads, and returns the results in order.
fn at_once<T: Sync>(jobs: &[T], run: impl Fn(&User, &T) -> String + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let user = User::new();
                // Codex starts a login shell, which reads what this machine has for users.
                let shell = user.write("shell", "#!/bin/sh\nexec /bin/sh -c \"$2\"\n");
                std::fs::set_permissions(&shell, Permissions::from_mode(0o755)).unwrap();
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let index = jobs.iter().position(|it| std::ptr::eq(it, job)).unwrap();
                    let result = run(&user, job);
                    done.lock().unwrap().insert(index, result);
                }
            });
        }
    });
    done.into_inner().unwrap().into_values().collect()
}

#[test]
fn hooks_end_as_they_did() {
    let jobs: Vec<_> = EVENTS
        .iter()
        .flat_map(|(tool, events)| events.split(' ').map(|event| (*tool, event)))
        .collect();
    let corpus = corpus();
    let tables = at_once(&jobs, |user, job| table_of(user, &corpus, *job));
    let mut alike: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for ((tool, event), table) in jobs.iter().zip(&tables) {
        match alike
            .iter_mut()
            .find(|(same_tool, same, _)| same_tool == tool && same == table)
        {
            Some((.., events)) => events.push(event),
            None => alike.push((tool, table, vec![event])),
        }
    }
    let mut text = String::new();
    for (tool, table, events) in alike {
        writeln!(text, "{tool}: {}\n{table}", events.join(", ")).unwrap();
    }
    let alone = at_once(&ALONE, |user, job| alone(user, &corpus, *job));
    for ((tool, event), table) in ALONE.iter().zip(&alone) {
        writeln!(text, "alone, {tool}: {event}\n{table}").unwrap();
    }
    super::same_as_corpus("fire.txt", &text);
}
