//! `replay` and `trace --check`: recorded events at the hooks of today, and what a host forgot.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use forge_hooks::cli::{self, Io};
use forge_hooks::compat::{CLAUDE, OtherAgents};
use forge_hooks::{AppProfile, Hooks, Sandbox};
use serde_json::{Value, json};

use super::{LS, Printed, SUDO, User, with};
use crate::examples::example;
use crate::support::{eventually, is_missing};

const FILE: &str = "../events.jsonl";

/// Fires events at these hooks, and records them.
fn recorded(hooks: &str, events: &[&[&str]]) -> User {
    let user = User::new();
    user.write("config/forge-hooks/hooks.json", hooks);
    for event in events {
        let printed = user.run(&with(event, &["--trace-events", FILE]));
        assert!(printed.status < 2, "{printed:?}");
    }
    user
}

const GUARD: &str = r#"{"hooks": [
  {"event": "tool:pre_execute:bash", "command": "case $FORGE_TOOL_ARGS in *sudo*) exit 1;; esac", "name": "guard"}
]}"#;

#[test]
fn the_same_hooks_decide_the_same() {
    let user = recorded(GUARD, &[&SUDO, &LS, &["fire", "session:start"]]);
    let printed = user.run(&["replay", FILE, "--yes"]);
    assert_eq!(printed.out, "2 events compared: 0 differ\n", "{printed:?}");
    assert_eq!(printed.status, 0);
}

#[test]
fn a_changed_guard_shows_exactly_its_differences() {
    // The id of an agent is in each of its events, and tells nothing about the difference.
    let of_agent = [&LS[..], &["--data", "agent_id=a1"]].concat();
    let user = recorded(GUARD, &[&SUDO, &of_agent, &SUDO]);
    user.write(
        "config/forge-hooks/hooks.json",
        &GUARD.replace("*sudo*", r#"*'\"ls'*"#),
    );
    let printed = user.run(&["replay", FILE, "--yes"]);
    let expected = r#"line 2: tool:pre_execute bash
    event:  {"tool_args":{"command":"sudo ls"}}
    before: block, by guard: exited with code 1
    now:    allow
line 4: tool:pre_execute bash
    event:  {"tool_args":{"command":"ls"}}
    before: allow
    now:    block, by guard: exited with code 1
line 6: tool:pre_execute bash
    event:  {"tool_args":{"command":"sudo ls"}}
    before: block, by guard: exited with code 1
    now:    allow
3 events compared: 3 differ
"#;
    assert_eq!(printed.out, expected, "{printed:?}");
    assert_eq!(printed.status, 1);
    let report = user.run(&["replay", FILE, "--yes", "--json"]).json();
    assert_eq!(report["compared"], 3);
    let differences = report["differences"].as_array().unwrap();
    let after: Vec<_> = differences
        .iter()
        .map(|difference| &difference["after"]["decision"])
        .collect();
    assert_eq!(after, ["allow", "block", "allow"]);
    assert_eq!(differences[1]["after"]["hook"], "guard");
}

/// A change of the input is a decision too; a reason is not.
#[test]
fn a_change_is_compared_and_a_reason_is_not() {
    let hooks = |text: &str| {
        let answer = json!({"updatedInput": {"command": text}});
        let changes = format!("echo '{answer}'; date >&2");
        json!({"hooks": [
            {"event": "tool:pre_execute:bash", "command": changes, "may": ["change_input"]},
            {"event": "tool:pre_execute:write", "command": "echo $$; exit 1"},
        ]})
        .to_string()
    };
    let write = [
        "fire",
        "tool:pre_execute",
        "--tool",
        "write",
        "--args",
        "{}",
    ];
    let user = recorded(&hooks("ls -l"), &[&LS, &write]);
    assert_eq!(user.run(&["replay", FILE, "--yes"]).status, 0);
    user.write("config/forge-hooks/hooks.json", &hooks("ls -a"));
    let printed = user.run(&["replay", FILE, "--yes"]);
    assert!(
        printed
            .out
            .contains(r#"now:    allow; it changes {"command":"ls -a"}"#),
        "{printed:?}"
    );
}

#[test]
fn an_event_that_is_not_whole_is_not_compared() {
    let secret = r#"{"command":"login --password hunter2hunter2"}"#;
    let bash = |args| ["fire", "tool:pre_execute", "--tool", "bash", "--args", args];
    let long = json!({"command": "x".repeat(70_000)}).to_string();
    let user = recorded(GUARD, &[&bash(secret), &bash(&long), &LS]);
    let report = user.run(&["replay", FILE, "--yes", "--json"]);
    assert_eq!(report.status, 0);
    let report = report.json();
    assert_eq!(report["compared"], 1);
    let why: Vec<_> = report["not_compared"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| &event["why"])
        .collect();
    assert_eq!(
        why,
        [
            "a part of its data was masked",
            "its data is not whole: `tool_args`"
        ]
    );
}

#[test]
fn without_an_event_to_compare_nothing_is_the_same() {
    let secret = r#"{"command":"login --password hunter2hunter2"}"#;
    let bash = |args| ["fire", "tool:pre_execute", "--tool", "bash", "--args", args];
    let user = recorded(GUARD, &[&bash(secret), &bash(secret)]);
    let printed = user.run(&["replay", FILE, "--yes"]);
    assert_eq!(printed.status, 2, "{printed:?}");
    let expected = "not comparable, a part of its data was masked: lines 2, 4\n0 events compared: 0 differ; 2 not comparable\n";
    assert_eq!(printed.out, expected);
}

/// A yes of a hook spares the user a question, so it is not the same as no objection.
#[test]
fn a_grant_is_compared() {
    let grants = r#"{"hooks": [{"event": "permission:check", "answer": {"decision": "allow"}}]}"#;
    let check = ["fire", "permission:check", "--tool", "bash"];
    let user = recorded(grants, &[&check]);
    assert_eq!(user.run(&["replay", FILE]).status, 0);
    user.write("config/forge-hooks/hooks.json", r#"{"hooks": []}"#);
    let printed = user.run(&["replay", FILE]);
    let expected = "    before: allow, which a hook grants\n    now:    allow\n";
    assert!(printed.out.contains(expected), "{printed:?}");
    assert!(printed.err.contains("there are no hooks"), "{printed:?}");
}

/// If a hook fails without blocking, the decision that it would have made is unknown.
#[test]
fn a_hook_that_fails_and_blocks_nothing_is_told() {
    let user = recorded(GUARD, &[&LS, &LS]);
    let fails = r#"{"hooks": [{"event": "tool:*", "command": "exit 3", "on_failure": "continue", "name": "log"}]}"#;
    user.write("config/forge-hooks/hooks.json", fails);
    let printed = user.run(&["replay", FILE, "--yes", "--unconfined"]);
    let expected = "log failed at 2 events, and blocked nothing: exited with code 3\n2 events compared: 0 differ\n";
    assert_eq!(
        (printed.out.as_str(), printed.status),
        (expected, 0),
        "{printed:?}"
    );
    let confined = user.run(&["replay", FILE, "--yes"]);
    if Sandbox::support().is_ok() {
        assert!(
            confined.err.contains("`--unconfined` runs it without one"),
            "{confined:?}"
        );
    }
}

/// The trace records everything else that influences a decision.
#[test]
fn unchanged_hooks_differ_in_no_way_of_firing() {
    let hooks = json!({"hooks": [
        {"event": "tool:pre_execute", "command": "exit 1", "name": "first"},
        {"event": "tool:pre_execute", "command": "echo '{\"continue\": false}'", "name": "second", "may": ["end_turn"]},
    ]});
    let ways = [with(&LS, &["--keep-going"]), LS.to_vec()];
    let ways: Vec<_> = ways.iter().map(Vec::as_slice).collect();
    let user = recorded(&hooks.to_string(), &ways);
    let printed = user.run(&["replay", FILE, "--yes"]);
    assert_eq!(printed.out, "2 events compared: 0 differ\n", "{printed:?}");
}

#[test]
fn what_was_disabled_is_not_compared() {
    let user = recorded(GUARD, &[]);
    let mut command = user.command(&with(&SUDO, &["--trace-events", FILE]));
    command.env("FORGE_HOOKS_DISABLE", "1");
    assert_eq!(user.printed(command.output().unwrap()).status, 0);
    let printed = user.run(&["replay", FILE, "--yes"]);
    assert!(
        printed
            .out
            .contains("the user had disabled the hooks: line 1"),
        "{printed:?}"
    );
}

/// The value of its `env` in a change is a secret, in the file and on the terminal.
#[test]
fn a_change_with_a_secret_is_not_compared() {
    let hooks = json!({"hooks": [{"event": "tool:pre_execute", "may": ["change_input"], "env": {"TARGET": "hunter2-host"},
        "command": "echo \"{\\\"updatedInput\\\": {\\\"command\\\": \\\"ssh $TARGET\\\"}}\""}]});
    let user = recorded(&hooks.to_string(), &[&LS]);
    let printed = user.run(&["replay", FILE, "--yes"]);
    assert!(printed.out.contains("not comparable"), "{printed:?}");
    let all = format!("{printed:?}{}", user.read("events.jsonl"));
    assert!(!all.contains("hunter2"), "{all}");
}

#[test]
fn a_change_of_all_is_not_one_of_some() {
    let hooks = |replaces: bool| {
        let answer = json!({"updatedInput": {"command": "ls"}, "replacesInput": replaces});
        let command = format!("echo '{answer}'");
        json!({"hooks": [{"event": "tool:pre_execute", "command": command, "may": ["change_input"]}]}).to_string()
    };
    let bash = [
        "fire",
        "tool:pre_execute",
        "--tool",
        "bash",
        "--args",
        r#"{"command":"ls","sandboxed":true}"#,
    ];
    let user = recorded(&hooks(false), &[&bash]);
    assert_eq!(user.run(&["replay", FILE, "--yes"]).status, 0);
    user.write("config/forge-hooks/hooks.json", &hooks(true));
    let printed = user.run(&["replay", FILE, "--yes"]);
    assert!(printed.out.contains("it replaces all by"), "{printed:?}");
}

/// A hook that changes each call answers the same to the changed one.
#[test]
fn a_changed_call_is_allowed_by_its_second_event() {
    let answer = json!({"updatedInput": {"timeout": 30}});
    let hooks = json!({"hooks": [{"event": "tool:pre_execute", "command": format!("echo '{answer}'"), "may": ["change_input"]}]});
    let ls = with(&LS, &["--session", "s1"]);
    let fired = [
        "fire",
        "tool:post_execute",
        "--tool",
        "bash",
        "--session",
        "s1",
        "--args",
    ];
    let post = |args| with(&fired, &[args]);
    let changed = r#"{"command":"ls","timeout":30}"#;
    let user = recorded(&hooks.to_string(), &[&ls, &post(changed)]);
    let printed = checked(&user);
    assert_eq!(printed.status, 0, "{printed:?}");
    let user = recorded(&hooks.to_string(), &[&ls, &post(r#"{"command":"ls"}"#)]);
    assert_eq!(
        checked(&user).status,
        1,
        "what it announced first was not allowed"
    );
}

/// Neither memory nor time grow faster than the file.
#[test]
fn a_hostile_record_is_read_in_linear_time() {
    let events = |name: &str, count: usize| {
        let line = |number: usize| {
            format!(
                r#"{{"time":1,"can_block":true,"decision":"allow","fired":{{"type":"{name}","session_id":"{name}{number}"}}}}"#
            )
        };
        (0..count)
            .map(|number| line(number) + "\n")
            .collect::<String>()
    };
    let took = |count: usize| {
        let user = User::new();
        let text = events("user:prompt_submit", count) + &events("user:interrupt", count);
        user.write("events.jsonl", &text);
        let started = std::time::Instant::now();
        assert_eq!(checked(&user).status, 1);
        started.elapsed()
    };
    took(500);
    let [few, many] = [5_000, 20_000].map(took);
    assert!(many < few * 10, "{few:?} {many:?}");
}

#[test]
fn a_broken_file_is_not_compared() {
    let user = recorded(GUARD, &[&LS]);
    user.write("config/forge-hooks/hooks.json", "{");
    let printed = user.run(&["replay", FILE, "--yes"]);
    assert_eq!(printed.status, 2, "{printed:?}");
    assert!(
        printed.err.contains("a hooks file has errors"),
        "{printed:?}"
    );
}

/// Between two events, as well as while a hook runs.
#[test]
fn a_signal_ends_it_and_the_rest_is_counted() {
    let line = json!({"time": 1, "event": "tool:pre_execute", "can_block": true, "decision": "allow",
        "fired": {"type": "tool:pre_execute", "tool_name": "bash", "data": {"tool_args": {"command": "ls"}}}});
    let user = recorded(GUARD, &[]);
    user.write("events.jsonl", &format!("{line}\n").repeat(20_000));
    let started = user.path("started");
    let hooks =
        json!({"hooks": [{"event": "tool:*", "command": format!(": >'{}'", started.display())}]});
    user.write("config/forge-hooks/hooks.json", &hooks.to_string());
    let mut command = user.command(&["replay", FILE, "--yes", "--unconfined", "--json"]);
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    eventually("a hook has run", || started.exists());
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let printed = user.printed(child.wait_with_output().unwrap());
    assert_eq!(printed.status, 130, "{printed:?}");
    let report = printed.json();
    let [compared, left] = ["compared", "left"].map(|key| report[key].as_u64().unwrap());
    assert!(left > 0 && compared + left == 20_000, "{compared} {left}");
}

/// A process is only started after a yes; what an entry answers needs none.
#[test]
fn it_asks_before_it_runs_a_process() {
    let user = recorded(GUARD, &[&SUDO, &LS]);
    let printed = user.run(&["replay", FILE]);
    assert_eq!(printed.status, 2);
    assert!(
        printed
            .out
            .contains("guard ([DIR]/config/forge-hooks/hooks.json:2): case $FORGE_TOOL_ARGS"),
        "{printed:?}"
    );
    assert!(printed.err.contains("add `--yes`"), "{printed:?}");
    let answer =
        r#"{"hooks": [{"event": "tool:*", "answer": {"decision": "block"}, "name": "no"}]}"#;
    user.write("config/forge-hooks/hooks.json", answer);
    let printed = user.run(&["replay", FILE]);
    assert_eq!(printed.status, 1, "{printed:?}");
    assert!(printed.out.contains("now:    block, by no"), "{printed:?}");
}

/// Says where it is, and tries to leave a file and to reach the network.
fn spying(user: &User) -> String {
    let left = user.path("left");
    let command = format!(
        "[ \"$FORGE_REPLAY\" = 1 ] || exit 0; (: > '{}') 2>/dev/null && exit 1; exit 3",
        left.display()
    );
    json!({"hooks": [{"event": "tool:pre_execute", "command": command}]}).to_string()
}

#[test]
fn a_hook_knows_that_it_is_replayed_and_cannot_write() {
    let user = recorded(GUARD, &[&LS]);
    user.write("config/forge-hooks/hooks.json", &spying(&user));
    let sandboxed = user.run(&["replay", FILE, "--yes"]);
    assert!(!user.path("left").exists());
    if Sandbox::support().is_ok() {
        assert!(
            sandboxed.out.contains("exited with code 3"),
            "{sandboxed:?}"
        );
    } else {
        assert!(
            sandboxed.out.contains("cannot run in a sandbox"),
            "{sandboxed:?}"
        );
    }
    let unconfined = user.run(&["replay", FILE, "--yes", "--unconfined"]);
    assert!(
        unconfined.out.contains("exited with code 1"),
        "{unconfined:?}"
    );
    assert!(user.path("left").exists());
}

/// The sandbox of a replay is one more: it allows to read what the hook's own does not.
#[test]
fn a_replayed_hook_keeps_its_own_sandbox() {
    if Sandbox::support().is_err() {
        return;
    }
    let user = recorded(GUARD, &[&LS]);
    user.write("secret", "");
    let command = format!(
        "if (: <'{}'); then exit 1; fi",
        user.path("secret").display()
    );
    let hook = json!({"event": "tool:pre_execute", "command": command, "sandbox": {"read": []}});
    let hooks = json!({"hooks": [hook]});
    user.write("config/forge-hooks/hooks.json", &hooks.to_string());
    let printed = user.run(&["replay", FILE, "--yes"]);
    assert_eq!(printed.out, "1 event compared: 0 differ\n", "{printed:?}");
}

/// A guard may allow more in a replay, so nobody else can say that it is one.
#[test]
fn no_variable_and_no_data_makes_it_a_replay() {
    let user = recorded(GUARD, &[]);
    user.write("config/forge-hooks/hooks.json", &spying(&user));
    let mut command = user.command(&with(&LS, &["--data", "replay=1", "--data", "REPLAY=1"]));
    command.env("FORGE_REPLAY", "1");
    let printed = user.printed(command.output().unwrap());
    assert_eq!(printed.status, 0, "{printed:?}");
}

/// A record is only data: what it says of hooks, files and hosts has no effect.
#[test]
fn a_record_from_elsewhere_runs_only_the_hooks_of_here() {
    let user = recorded(GUARD, &[]);
    let touched = user.path("touched");
    let evil = json!({
        "time": 1, "event": "tool:pre_execute", "can_block": true, "decision": "allow", "host_pid": 1,
        "hook": "\u{1b}[2Jevil", "command": format!("touch {}", touched.display()), "source": "/etc/passwd",
        "reason": "\u{1b}[2J", "call": "x", "config": "/etc/hooks.json", "how": ["everything"],
        "fired": {"type": "tool:pre_execute", "tool_name": "bash", "data": {
            "tool_args": {"command": "sudo ls"}, "cwd": "/", "working_dir": "/", "project": "/",
            "hooks": [{"event": "*", "command": format!("touch {}", touched.display())}],
        }},
    });
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let lines = [
        evil.to_string(),
        format!(
            r#"{{"time":1,"can_block":true,"decision":"allow","fired":{{"type":"tool:pre_execute","data":{{"a":{deep}}}}}}}"#
        ),
        r#"{"time":1,"can_block":true,"decision":"maybe","fired":{"type":"tool:pre_execute"}}"#
            .to_owned(),
        r#"{"time":1,"can_block":true,"decision":"allow","fired":{"type":"../../etc"}}"#.to_owned(),
        r#"{"time":1,"can_block":true,"decision":"allow","fired":7}"#.to_owned(),
        "\u{0}\u{1}no JSON".to_owned(),
        "x".repeat(5 * 1024 * 1024),
    ];
    user.write("events.jsonl", &(lines.join("\n") + "\n"));
    let printed = user.run(&["replay", FILE, "--yes"]);
    assert_eq!(printed.status, 1, "{printed:?}");
    assert!(
        printed.out.contains("now:    block, by guard"),
        "{printed:?}"
    );
    assert!(
        printed.out.contains("1 event compared: 1 differs"),
        "{printed:?}"
    );
    assert!(printed.err.contains("6 lines unreadable"), "{printed:?}");
    assert!(!printed.out.contains('\u{1b}') && !touched.exists());
    for args in [["trace", FILE], ["trace", "--check"]] {
        let args = with(&args, if args[1] == FILE { &[] } else { &[FILE] });
        assert!(!user.run(&args).out.contains('\u{1b}'));
    }
}

#[test]
fn a_file_without_events_is_an_error() {
    let user = recorded(GUARD, &[]);
    user.write(
        "events.jsonl",
        "{\"time\":1,\"event\":\"a:b\",\"hook\":\"x\"}\n",
    );
    for args in [["replay", FILE].as_slice(), &["trace", "--check", FILE]] {
        let printed = user.run(args);
        assert_eq!(printed.status, 2);
        assert!(printed.err.contains("found no events"), "{printed:?}");
    }
    assert!(
        user.run(&["replay", "missing.jsonl"])
            .err
            .contains("cannot read")
    );
}

#[test]
fn the_lines_of_events_are_not_those_of_hooks() {
    let user = recorded(GUARD, &[&LS]);
    let printed = user.run(&["trace", FILE]);
    assert!(printed.out.ends_with("\n1 line\n"), "{printed:?}");
}

#[test]
fn a_record_in_the_project_is_refused() {
    let user = recorded(GUARD, &[]);
    user.write("outside/x", "");
    std::os::unix::fs::symlink(user.project(), user.path("outside/way")).unwrap();
    for file in [
        "events.jsonl",
        "new/events.jsonl",
        "../outside/way/events.jsonl",
    ] {
        let printed = user.run(&with(&LS, &["--trace-events", file]));
        assert_eq!(printed.status, 2, "{printed:?}");
        assert!(
            printed.err.contains("an agent could read and change it"),
            "{printed:?}"
        );
    }
    assert!(!user.project().join("events.jsonl").exists());
}

/// `PREFIX_HOOKS_TRACE` of an agent must not keep what its user does.
#[test]
fn no_variable_records_events() {
    let user = recorded(GUARD, &[]);
    let mut command = user.command(&LS);
    let file = user.path("events.jsonl");
    for name in [
        "FORGE_HOOKS_TRACE",
        "FORGE_HOOKS_TRACE_EVENTS",
        "FORGE_TRACE_EVENTS",
    ] {
        command.env(name, &file);
    }
    assert!(command.output().unwrap().status.success());
    let text = user.read("events.jsonl");
    assert!(
        text.contains("\"hook\":\"guard\"") && !text.contains("\"fired\""),
        "{text}"
    );
}

/// Events fired over `serve` are recorded too.
#[test]
fn serve_records_events() {
    let user = recorded(GUARD, &[]);
    let requests = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocol": 2}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "fire", "params": {"event": {
            "type": "tool:pre_execute", "tool_name": "bash", "data": {"tool_args": {"command": "sudo ls"}}}}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "shutdown", "params": {}}),
    ];
    let input = requests.map(|line| format!("{line}\n")).concat();
    let mut serve = user.command(&["serve", "--trace-events", FILE]);
    serve.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut serve = serve.spawn().unwrap();
    // The end of the input would cancel what runs.
    let mut stdin = serve.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    assert!(serve.wait().unwrap().success());
    drop(stdin);
    let printed = user.run(&["replay", FILE, "--yes"]);
    assert_eq!(printed.out, "1 event compared: 0 differ\n");
    let refused = user.run_with_input(&["serve", "--trace-events", "x.jsonl"], &input);
    assert_eq!(refused.status, 2, "{refused:?}");
}

fn checked(user: &User) -> Printed {
    user.run(&["trace", "--check", FILE])
}

/// Writes a record of these events: the name, the session, the decision, and what tells the call from others.
fn with_events(events: &[(&str, &str, &str, &str)]) -> User {
    let user = User::new();
    let lines = events.iter().map(|(event, session, decision, call)| {
        let can_block = event.starts_with("tool:pre") || event.contains("prompt") || event.contains("stop");
        let line = json!({
            "time": 1, "event": event, "host_pid": 7, "call": call, "can_block": can_block, "decision": decision,
            "fired": {"type": event, "session_id": session, "tool_name": "bash", "data": {}},
        });
        format!("{line}\n")
    });
    user.write("events.jsonl", &lines.collect::<String>());
    user
}

#[test]
fn what_a_host_forgot_is_found() {
    let good = [
        ("session:start", "s", "allow", ""),
        ("user:prompt_submit", "s", "allow", ""),
        ("tool:pre_execute", "s", "allow", "a"),
        ("tool:pre_execute", "s", "block", "b"),
        ("tool:post_execute", "s", "allow", "a"),
        ("permission:check", "s", "ask", "p"),
        ("permission:granted", "s", "allow", "p"),
        ("agent:stop", "s", "block", ""),
        ("agent:stop", "s", "allow", ""),
        ("session:end", "s", "allow", ""),
    ];
    let printed = checked(&with_events(&good));
    assert_eq!(
        (printed.out.as_str(), printed.status),
        ("10 events: nothing was forgotten\n", 0)
    );
    for (removed, line, what) in [
        (
            2,
            4,
            "`tool:post_execute` of the tool `bash` without an allowed `tool:pre_execute` of the same call",
        ),
        (
            5,
            6,
            "`permission:granted` of the tool `bash` without an allowed `permission:check` of the same call",
        ),
        (9, 1, "the session `s` has no end in this trace"),
    ] {
        let mut events = good.to_vec();
        events.remove(removed);
        let printed = checked(&with_events(&events));
        let lines: Vec<_> = printed.out.lines().collect();
        assert_eq!(lines[0], format!("line {line}: {what}"), "{printed:?}");
        assert!(lines[1].starts_with("    fix: "), "{printed:?}");
        assert_eq!((lines[2], printed.status), ("9 events: 1 forgotten", 1));
    }
}

#[test]
fn a_turn_without_an_end_is_found() {
    let prompt = ("user:prompt_submit", "s", "allow", "");
    for end in ["session:end", "user:prompt_submit", "session:message"] {
        let printed = checked(&with_events(&[prompt, (end, "s", "allow", "")]));
        let message = "the turn of the session `s` has no end in this trace";
        assert!(printed.out.contains(message), "{end}: {printed:?}");
    }
    for end in [
        "agent:stop",
        "agent:stop_failure",
        "user:interrupt",
        "llm:error",
    ] {
        let printed = checked(&with_events(&[prompt, (end, "s", "allow", "")]));
        assert_eq!(printed.status, 0, "{end}: {printed:?}");
    }
}

#[test]
fn a_call_is_allowed_once_and_in_its_session() {
    for (events, forgotten) in [
        (
            &[
                ("tool:pre_execute", "s", "allow", "a"),
                ("tool:post_execute", "s", "allow", "a"),
                ("tool:error", "s", "allow", "a"),
            ][..],
            1,
        ),
        (
            &[
                ("tool:pre_execute", "s", "allow", "a"),
                ("tool:post_execute", "t", "allow", "a"),
            ],
            1,
        ),
        (
            &[
                ("tool:pre_execute", "s", "allow", "a"),
                ("tool:post_execute", "s", "allow", "b"),
            ],
            1,
        ),
        (
            &[
                ("tool:pre_execute", "s", "block", "a"),
                ("tool:error", "s", "allow", "a"),
            ],
            1,
        ),
        (
            &[
                ("tool:pre_execute", "s", "ask", "a"),
                ("tool:post_execute", "s", "allow", "a"),
            ],
            1,
        ),
        (&[("user:prompt_submit", "s", "block", "")], 0),
        (
            &[
                ("user:prompt_submit", "s", "allow", ""),
                ("user:interrupt", "s", "allow", ""),
            ],
            0,
        ),
        (
            &[
                ("user:prompt_submit", "s", "allow", ""),
                ("user:prompt_submit", "s", "allow", ""),
                ("agent:stop", "s", "allow", ""),
            ],
            1,
        ),
        (
            &[
                ("session:start", "s", "allow", ""),
                ("session:start", "t", "allow", ""),
            ],
            2,
        ),
    ] {
        let printed = checked(&with_events(events));
        let fixes = printed.out.matches("    fix: ").count();
        assert_eq!(fixes, forgotten, "{events:?}: {printed:?}");
    }
}

/// With the hooks and the plugin that the example has.
#[test]
fn nothing_differs_and_nothing_is_forgotten_in_the_example() {
    if is_missing("jq") || Sandbox::support().is_err() {
        return;
    }
    let user = User::new();
    let hooks = include_str!("../../../examples/config/myagent/hooks.json");
    user.write("config/myagent/hooks.json", hooks);
    let mut agent = Command::new(example("tool_executor"));
    user.set(&mut agent);
    let ran = user.printed(agent.args(["--trace-events", FILE]).output().unwrap());
    assert_eq!(ran.status, 0, "{ran:?}");
    let events = events_of(&user.path("events.jsonl"));
    assert!(events.len() > 10 && events.iter().any(|event| event["decision"] == "block"));
    let (status, replayed) = replayed_in_the_example(&user);
    assert_eq!(
        (status, &replayed["differences"]),
        (0, &json!([])),
        "{replayed:#}"
    );
    let checked = checked(&user);
    assert!(
        checked.out.ends_with("nothing was forgotten\n"),
        "{checked:?}"
    );
    // Without the user's hooks, exactly those that they had decided.
    user.write("config/myagent/hooks.json", "{\"hooks\": []}");
    let (status, replayed) = replayed_in_the_example(&user);
    let differences = replayed["differences"].as_array().unwrap();
    assert!(
        status == 1 && differences.len() < events.len(),
        "{replayed:#}"
    );
    let is_of_user = |hook: &str| hooks.contains(&format!("\"name\": \"{hook}\""));
    for difference in differences {
        let before = &difference["before"];
        let changes = !before["updated_input"].is_null();
        assert!(
            changes || is_of_user(before["hook"].as_str().unwrap_or_default()),
            "{difference:#}"
        );
    }
}

/// Replays with the hooks that the example loads. Returns the exit status and what is printed.
fn replayed_in_the_example(user: &User) -> (u8, Value) {
    let arguments = [("path", "file_path"), ("text", "content")];
    let plugin = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/plugin");
    let mut tools = OtherAgents::new([]).with_plugin(plugin);
    for (ours, theirs) in [("read", "Read"), ("write", "Write")] {
        tools = tools.with_tool(CLAUDE, ours, theirs, arguments);
    }
    let hooks = Hooks::builder(AppProfile::new("myagent"))
        .config_home(user.path("config"))
        .without_system_file()
        .project(user.project())
        .other_agents(tools)
        .load();
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let file = user.path("events.jsonl");
    let args = ["replay", file.to_str().unwrap(), "--yes", "--json"];
    let mut io = Io::new(
        "tool_executor hooks",
        std::io::empty(),
        &mut out,
        &mut errors,
    );
    let exit = cli::run(&hooks, args, &mut io);
    drop(io);
    let errors = String::from_utf8_lossy(&errors).into_owned();
    let report = serde_json::from_slice(&out).unwrap_or_else(|error| panic!("{error}: {errors}"));
    (exit, report)
}

fn events_of(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| !line["fired"].is_null()).collect()
}
