//! The output for programs: its keys are those of the pages, and values of the library serialize as the program prints them.

use std::collections::BTreeSet;

use forge_hooks::config::TrustPolicy;
use forge_hooks::{FireOptions, HookBlockedError, HookConfig, HookEvent, HookExecutor};
use serde_json::{Value, json};

use super::serve::Served;
use super::{GUARDED, LS, SUDO, User, with};

/// The rows of the tables whose head has this word: the name of the table, and a key. A head within a table is bold.
fn rows(page: &str, word: &str) -> BTreeSet<(String, String)> {
    let mut rows = BTreeSet::new();
    let mut tables: Vec<&str> = Vec::new();
    for line in page.lines() {
        let cell = line
            .strip_prefix("| ")
            .and_then(|line| line.split(" | ").next());
        let cell = cell.unwrap_or_default();
        let code = cell.split('`').skip(1).step_by(2);
        if cell.contains(word) {
            tables = code.collect();
        } else if cell.starts_with("**") {
            tables.clear();
        } else if line.starts_with("| ") {
            for key in code {
                rows.extend(
                    tables
                        .iter()
                        .map(|table| (table.to_string(), key.to_owned())),
                );
            }
        } else if !line.starts_with("|--") {
            tables.clear();
        }
    }
    rows
}

/// Objects without a table: an author or a host decides what they have, or another page describes them.
const OPAQUE: [&str; 10] = [
    "event",
    "changed_event",
    "hook",
    "output",
    "definition",
    "data",
    "updated_input",
    "report",
    "results",
    "entries",
];

/// The rows of a page, and the keys that the program has printed.
struct Keys {
    rows: BTreeSet<(String, String)>,
    printed: BTreeSet<(String, String)>,
}

impl Keys {
    fn of(page: &str) -> Self {
        Self {
            rows: rows(page, "key of"),
            printed: BTreeSet::new(),
        }
    }

    fn print(&mut self, table: &str, value: &Value) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.print(table, value)),
            Value::Object(members) if self.rows.iter().any(|(name, _)| name == table) => {
                for (key, member) in members {
                    self.printed.insert((table.to_owned(), key.clone()));
                    self.print(&format!("{table}.{key}"), member);
                }
            }
            Value::Object(_) => {
                let key = table.rsplit('.').next().unwrap();
                assert!(OPAQUE.contains(&key), "`{table}` has no table: {value}");
            }
            _ => {}
        }
    }

    #[track_caller]
    fn assert_same(&self) {
        let no_row: Vec<_> = self.printed.difference(&self.rows).collect();
        let not_printed: Vec<_> = self.rows.difference(&self.printed).collect();
        assert!(no_row.is_empty(), "keys without a row: {no_row:?}");
        assert!(
            not_printed.is_empty(),
            "rows without a key: {not_printed:?}"
        );
    }
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

/// Prints a report of `replay` with all its lists.
fn replayed() -> Value {
    let user = User::new();
    let hooks = |word: &str| {
        let guard = format!("case $FORGE_TOOL_ARGS in *{word}*) exit 1;; esac");
        json!({"hooks": [
            {"event": "tool:pre_execute:bash", "command": guard},
            {"event": "tool:pre_execute:bash", "command": "exit 1", "on_failure": "continue"},
        ]})
    };
    let file = "config/forge-hooks/hooks.json";
    user.write(file, &hooks("sudo").to_string());
    let secret = r#"{"command":"login --password hunter2hunter2"}"#;
    let masked = [
        "fire",
        "tool:pre_execute",
        "--tool",
        "bash",
        "--args",
        secret,
    ];
    for event in [&SUDO[..], &LS, &masked] {
        user.run(&with(event, &["--trace-events", "../events.jsonl"]));
    }
    user.write(file, &hooks(r#"'"ls'"#).to_string());
    let args = [
        "replay",
        "../events.jsonl",
        "--yes",
        "--unconfined",
        "--json",
    ];
    user.run(&args).json()
}

/// Returns the lines that `serve` writes on these requests.
fn served(user: &User, requests: &[(&str, Value)]) -> Vec<Value> {
    let mut served = Served::start(&mut user.command(&["serve"]));
    let mut lines = Vec::new();
    for (id, (method, params)) in requests.iter().enumerate() {
        served.request(&json!(id), method, params);
        let mut is_answered = false;
        while !is_answered {
            let line = served.receive();
            is_answered = line["id"] == json!(id);
            lines.push(line);
        }
    }
    lines
}

#[test]
fn each_key_has_a_row() {
    let user = user();
    let pages = [
        include_str!("../../../docs/program.md"),
        include_str!("../../../docs/serve.md"),
    ];
    let mut keys = Keys::of(&pages.concat());
    for (table, args) in [
        ("fire", with(&SUDO, &["--keep-going"])),
        ("fire", with(&LS, &["--keep-going"])),
        ("fire", vec!["fire", "session:start"]),
        ("fire", vec!["fire", "game:over"]),
        ("list", vec!["list"]),
        (
            "list EVENT",
            vec!["list", "tool:pre_execute", "--tool", "bash"],
        ),
        ("check", vec!["check"]),
        ("events", vec!["events"]),
    ] {
        keys.print(table, &user.run(&with(&args, &["--json"])).json());
    }
    let changing = User::new();
    let changes = json!({"hooks": [
        {"event": "tool:*", "answer": {"updatedInput": {"command": "pwd"}}},
        {"event": "tool:*", "command": "true", "background": true},
    ]});
    changing.write("config/src/forge/hooks.json", &changes.to_string());
    keys.print("fire", &changing.run(&with(&LS, &["--json"])).json());
    keys.print("replay", &replayed());
    let event = json!({"type": "tool:pre_execute", "tool_name": "bash", "data": {"tool_args": {"command": "ls"}}});
    let fire = json!({"event": event, "options": {"applies_updates": true}});
    let shutdown = ("shutdown", json!({}));
    let initialize = ("initialize", json!({"protocol": 2}));
    let requests = [
        initialize.clone(),
        ("approvals", json!({})),
        shutdown.clone(),
    ];
    let lines = [
        served(&user, &requests),
        served(&changing, &[initialize, ("fire", fire), shutdown]),
    ];
    for line in lines.iter().flatten() {
        let table = match line["id"].as_u64() {
            Some(0) => "initialize",
            Some(1) if line["result"].is_array() => "approvals",
            Some(1) => "fire",
            _ => continue,
        };
        keys.print(table, &line["result"]);
    }
    keys.assert_same();
}

/// The refusal of another parameter names all that there are.
#[test]
fn each_parameter_of_serve_has_a_row() {
    let rows = rows(include_str!("../../../docs/serve.md"), "parameter of");
    let wrong = json!({"nope": 1});
    let fire = |name: &str| json!({"event": {"type": "session:start"}, name: wrong});
    let requests = [
        ("initialize", json!({"protocol": 2})),
        ("initialize", wrong.clone()),
        ("fire", wrong.clone()),
        ("fire", fire("agent")),
        ("fire", fire("options")),
        ("approve", wrong.clone()),
        ("shutdown", wrong.clone()),
    ];
    let tables = [
        "initialize",
        "fire",
        "fire.agent",
        "fire.options",
        "approve",
        "shutdown",
    ];
    let user = User::new();
    let mut parameters = BTreeSet::new();
    for line in served(&user, &requests) {
        let Some(message) = line["error"]["message"].as_str() else {
            continue;
        };
        let table = tables[usize::try_from(line["id"].as_u64().unwrap()).unwrap() - 1];
        let names = message.split('`').skip(1).step_by(2).skip(1);
        parameters.extend(names.map(|name| (table.to_owned(), name.to_owned())));
    }
    assert_eq!(parameters, rows);
}

/// The answers of hooks have the keys that are set.
#[test]
fn an_answer_is_printed_as_it_was_given() {
    let user = user();
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
    assert_eq!(json!(report.problems), serialized["problems"]);
    let mut check = user.command(&["check", "--json", path.to_str().unwrap()]);
    let printed = check.output().unwrap().stdout;
    let printed: Value = serde_json::from_slice(&printed).unwrap();
    assert_eq!(printed, serialized);
}

#[test]
fn an_approval_names_the_changes() {
    let user = user();
    user.write("project/x.sh", "");
    let approval = |expected: &[&str]| {
        let list = user.run(&["list", "--json"]).json();
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
    let hooks = lost["hooks"].as_array().unwrap().iter();
    assert_eq!(
        hooks
            .filter(|hook| hook["state"] == "approval_lost")
            .count(),
        2
    );
}
