//! What follows from each way in which a hook can end: every event of every tool, times exit codes, times output.
//!
//! `fire.txt` has a table for each set of events that behave alike. A line is: the output, exit codes, and what
//! follows. Codes of one line have the same consequence; `KILL` is a signal.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::program::User;

const CODES: [&str; 7] = ["0", "1", "2", "3", "126", "127", "KILL"];

/// The name of an output, what is written to standard output, and what to standard error. `EVENT` is the tool's
/// name of the event.
const OUTPUTS: [(&str, &str, &str); 42] = [
    ("nothing", "", ""),
    ("stderr", "", "why"),
    ("text", "text", ""),
    ("text, stderr", "text", "why"),
    ("{}", "{}", ""),
    ("allow", r#"{"decision":"allow","reason":"r"}"#, "why"),
    ("approve", r#"{"decision":"approve"}"#, ""),
    ("block", r#"{"decision":"block","reason":"r"}"#, "why"),
    ("block, no reason", r#"{"decision":"block"}"#, "why"),
    ("deny", r#"{"decision":"deny","reason":"r"}"#, ""),
    ("ask", r#"{"decision":"ask","reason":"r"}"#, ""),
    (
        "nested allow",
        r#"{"hookSpecificOutput":{"hookEventName":"EVENT","permissionDecision":"allow","permissionDecisionReason":"r"}}"#,
        "",
    ),
    (
        "nested deny",
        r#"{"hookSpecificOutput":{"hookEventName":"EVENT","permissionDecision":"deny","permissionDecisionReason":"r"}}"#,
        "",
    ),
    (
        "nested ask",
        r#"{"hookSpecificOutput":{"hookEventName":"EVENT","permissionDecision":"ask","permissionDecisionReason":"r"}}"#,
        "",
    ),
    (
        "nested defer",
        r#"{"hookSpecificOutput":{"hookEventName":"EVENT","permissionDecision":"defer"}}"#,
        "",
    ),
    (
        "block, nested allow",
        r#"{"decision":"block","reason":"o","hookSpecificOutput":{"hookEventName":"EVENT","permissionDecision":"allow","permissionDecisionReason":"r"}}"#,
        "",
    ),
    (
        "no event name",
        r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#,
        "",
    ),
    (
        "another event's name",
        r#"{"hookSpecificOutput":{"hookEventName":"Other","permissionDecision":"deny"}}"#,
        "",
    ),
    (
        "behavior allow",
        r#"{"hookSpecificOutput":{"hookEventName":"EVENT","decision":{"behavior":"allow"}}}"#,
        "",
    ),
    (
        "behavior deny",
        r#"{"hookSpecificOutput":{"hookEventName":"EVENT","decision":{"behavior":"deny","message":"r"}}}"#,
        "",
    ),
    (
        "continue false",
        r#"{"continue":false,"stopReason":"r"}"#,
        "",
    ),
    (
        "system message",
        r#"{"systemMessage":"m","suppressOutput":true}"#,
        "",
    ),
    ("context", r#"{"additionalContext":"c"}"#, ""),
    (
        "nested context",
        r#"{"hookSpecificOutput":{"hookEventName":"EVENT","additionalContext":"c"}}"#,
        "",
    ),
    ("updatedInput", r#"{"updatedInput":{"command":"new"}}"#, ""),
    (
        "nested updatedInput",
        r#"{"hookSpecificOutput":{"hookEventName":"EVENT","permissionDecision":"allow","updatedInput":{"command":"new"}}}"#,
        "",
    ),
    (
        "tool_input",
        r#"{"hookSpecificOutput":{"hookEventName":"EVENT","tool_input":{"command":"new"}}}"#,
        "",
    ),
    ("updatedOutput", r#"{"updatedOutput":"new"}"#, ""),
    (
        "nested updatedToolOutput",
        r#"{"hookSpecificOutput":{"hookEventName":"EVENT","updatedToolOutput":"new"}}"#,
        "",
    ),
    ("unknown key", r#"{"note":1}"#, ""),
    ("typo", r#"{"descision":"block"}"#, ""),
    ("wrong type", r#"{"decision":1}"#, ""),
    ("unknown decision", r#"{"decision":"blok"}"#, ""),
    (
        "a key twice",
        r#"{"decision":"allow","decision":"block"}"#,
        "",
    ),
    ("broken", r#"{"decision":"bl"#, ""),
    (
        "two objects",
        "{\"systemMessage\":\"m\"}\n{\"decision\":\"block\"}",
        "",
    ),
    (
        "text before",
        "checking\n{\"decision\":\"block\",\"reason\":\"r\"}",
        "",
    ),
    (
        "text after",
        "{\"decision\":\"block\",\"reason\":\"r\"}\ndone",
        "",
    ),
    (
        "pretty, mark",
        "\u{FEFF}\n{\n  \"decision\": \"block\",\n  \"reason\": \"r\"\n}\n",
        "",
    ),
    ("a list", "[{\"decision\":\"block\"}]", ""),
    (
        "block on stderr",
        "",
        r#"{"decision":"block","reason":"r"}"#,
    ),
    (
        "text, block on stderr",
        "text",
        r#"{"decision":"block","reason":"r"}"#,
    ),
];

/// Outputs of which the middle is not kept: this text, and blanks. They take long, and so are fired alone.
const CUT: [(&str, &str); 3] = [
    ("cut, blank", ""),
    ("cut text", "text"),
    ("cut object", "{"),
];

/// What a tool calls its events, with the fields that are not in each event.
const EVENTS: [(&str, &[&str]); 4] = [
    (
        "claude",
        &[
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "PermissionRequest",
            "UserPromptSubmit",
            "SessionStart",
            "SessionEnd",
            "Notification",
            "Stop",
            "SubagentStart",
            "SubagentStop",
            "PreCompact",
            "PostCompact",
            "ConfigChange",
            "Setup",
            "Unknown",
        ],
    ),
    (
        "codex",
        &[
            "PreToolUse",
            "PostToolUse",
            "PermissionRequest",
            "UserPromptSubmit",
            "SessionStart",
            "Stop",
            "SubagentStart",
            "SubagentStop",
            "PreCompact",
            "PostCompact",
            "Unknown",
        ],
    ),
    (
        "gemini",
        &[
            "BeforeTool",
            "AfterTool",
            "BeforeAgent",
            "AfterAgent",
            "BeforeModel",
            "AfterModel",
            "SessionStart",
            "SessionEnd",
            "PreCompress",
            "Notification",
            "BeforeToolSelection",
            "Unknown",
        ],
    ),
    (
        "native",
        &[
            "tool:pre_execute",
            "tool:post_execute",
            "tool:error",
            "llm:pre_request",
            "llm:post_response",
            "llm:stream_start",
            "llm:stream_end",
            "session:start",
            "session:end",
            "session:message",
            "permission:check",
            "permission:prompt",
            "permission:granted",
            "permission:denied",
            "user:prompt_submit",
            "user:interrupt",
            "agent:stop",
            "agent:subagent_start",
            "agent:subagent_stop",
            "context:pre_compact",
            "context:post_compact",
            "notification:show",
            "level:loaded",
        ],
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
    let args = if tool == "native" {
        let hooks: Vec<_> = hooks
            .map(|text| json!({"event": "*", "command": text}))
            .collect();
        let file = user.write("hooks.json", &json!({"hooks": hooks}).to_string());
        let args = [
            "fire",
            "--event-json",
            "-",
            "--json",
            "--keep-going",
            "--parallel",
            "--custom",
            "--config",
            file.to_str().unwrap(),
        ];
        args.map(str::to_owned).to_vec()
    } else {
        let hooks: Vec<_> = hooks
            .map(|text| json!({"type": "command", "command": text, "name": "h"}))
            .collect();
        let file = user.write(
            "settings.json",
            &json!({"hooks": {event: [{"hooks": hooks}]}}).to_string(),
        );
        let args = [
            "fire",
            "--as",
            tool,
            "--event-json",
            "-",
            "--json",
            "--settings",
            file.to_str().unwrap(),
        ];
        args.map(str::to_owned).to_vec()
    };
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut program = user.command(&args);
    program.env("SHELL", user.path("shell"));
    let printed = user.feed(program, &payload);
    (printed.status, printed.json())
}

/// Fires an event at this command alone, and describes what the whole event comes to.
fn alone_line(
    user: &User,
    (tool, event): (&str, &str),
    code: &'static str,
    text: String,
) -> (&'static str, String) {
    let (status, report) = fire(user, tool, event, &[text]);
    (code, without_code(&whole(status, &report), code))
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

    fn text(&self, event: &str) -> String {
        let entries = self
            .0
            .iter()
            .map(|(outputs, lines)| format!("  {}\n{lines}", outputs.join("; ")));
        entries.collect::<String>().replace(event, "EVENT")
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

/// What follows at an event from each output and code.
fn table_of(user: &User, tool: &str, event: &str) -> String {
    let all: Vec<_> = OUTPUTS
        .iter()
        .flat_map(|output| CODES.map(|code| (*output, code)))
        .collect();
    let written = |text: &str| text.replace("EVENT", event);
    let commands: Vec<_> = all
        .iter()
        .map(|((_, out, err), code)| command(&written(out), &written(err), code))
        .collect();
    let (status, report) = fire(user, tool, event, &commands);
    let Some(results) = report["results"]
        .as_array()
        .filter(|results| !results.is_empty())
    else {
        return format!("  all | {}\n", whole(status, &report));
    };
    assert_eq!(results.len(), all.len(), "{tool} {event}: {report:#}");
    let diagnostics: Vec<_> = report["diagnostics"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let mut table = Table::default();
    for (index, (name, ..)) in OUTPUTS.iter().enumerate() {
        let by_code = CODES.iter().enumerate().map(|(nth, code)| {
            let place = index * CODES.len() + nth;
            let mut words = consequence(&results[place]);
            // Each command is named by its place in the file.
            let named = format!("[0].hooks[{place}]");
            for note in diagnostics.iter().filter_map(|note| note.as_str()) {
                if note.starts_with("hook `")
                    && note.contains(&named)
                    && !note.contains("is discarded")
                {
                    write!(
                        words,
                        " # {}",
                        note.split(": ").skip(1).collect::<Vec<_>>().join(": ")
                    )
                    .unwrap();
                }
            }
            (*code, without_code(&words, code))
        });
        table.add(name, &by_code.collect::<Vec<_>>());
    }
    table.text(event)
}

/// What the whole event comes to, if one hook alone ends in this way.
fn alone(user: &User, tool: &str, event: &str) -> String {
    let mut table = Table::default();
    for (name, out, err) in OUTPUTS {
        let written = |text: &str| text.replace("EVENT", event);
        let by_code = ["0", "2"].map(|code| {
            alone_line(
                user,
                (tool, event),
                code,
                command(&written(out), &written(err), code),
            )
        });
        table.add(name, &by_code);
    }
    for (name, start) in CUT.iter().filter(|_| event.contains("re")) {
        let by_code =
            ["0", "2"].map(|code| alone_line(user, (tool, event), code, long(start, code)));
        table.add(name, &by_code);
    }
    table.text(event)
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
                    done.lock().unwrap().insert(index, user.normal(&result));
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
        .flat_map(|(tool, events)| events.iter().map(move |event| (*tool, *event)))
        .collect();
    let tables = at_once(&jobs, |user, (tool, event)| table_of(user, tool, event));
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
    let alone = at_once(&ALONE, |user, (tool, event)| alone(user, tool, event));
    for ((tool, event), table) in ALONE.iter().zip(&alone) {
        writeln!(text, "alone, {tool}: {event}\n{table}").unwrap();
    }
    super::same_as_corpus("fire.txt", &text);
}
