//! `serve`: its messages, its errors, and that neither it nor a hook remains when it should end.

mod clients;
mod ends;
mod load;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use forge_hooks::cli::{self, Io};
use forge_hooks::{AppProfile, Hooks};
use jsonschema::Validator;
use serde_json::{Value, json};

use super::schemas::{is_valid, validator};
use super::{GUARDED, User};

/// Long enough for a busy machine: what comes later counts as never.
const PATIENCE: Duration = Duration::from_secs(60);

static INPUT: LazyLock<Validator> = LazyLock::new(|| validator("serve-input"));
static OUTPUT: LazyLock<Validator> = LazyLock::new(|| validator("serve-output"));

/// A program that serves, and its host.
struct Served {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
}

impl Served {
    /// Without `initialize`.
    fn start(command: Command) -> Self {
        let mut child = unread(command);
        let input = child.stdin.take().unwrap();
        Self::reading(child, input)
    }

    fn reading(mut child: Child, input: ChildStdin) -> Self {
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap();
                let _ = sender.send(line);
            }
        });
        Self {
            child,
            input: Some(input),
            lines,
        }
    }

    fn without_output(child: Child, input: ChildStdin) -> Self {
        Self {
            child,
            input: Some(input),
            lines: channel().1,
        }
    }

    fn new(user: &User) -> Self {
        Self::with(user, &[], &json!({}))
    }

    fn with(user: &User, args: &[&str], params: &Value) -> Self {
        let mut served = Self::start(user.command(&[&["serve"], args].concat()));
        let initialized = served.call(&json!("first"), "initialize", params);
        assert!(initialized["result"]["report"].is_object());
        served
    }

    fn send(&mut self, message: &Value) {
        assert!(INPUT.is_valid(message), "{message}");
        self.send_text(&format!("{message}\n"));
    }

    fn send_text(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
    }

    fn request(&mut self, id: &Value, method: &str, params: &Value) {
        self.send(&request(id, method, params));
    }

    fn cancel(&mut self, id: &Value) {
        let cancel = json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id}});
        self.send(&cancel);
    }

    /// The next line.
    #[track_caller]
    fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap();
        assert!(OUTPUT.is_valid(&line), "{line}");
        line
    }

    /// The response, when no other request is open and there are no notifications.
    #[track_caller]
    fn call(&mut self, id: &Value, method: &str, params: &Value) -> Value {
        self.request(id, method, params);
        let response = self.receive();
        assert_eq!(response["id"], *id, "{response}");
        response
    }

    #[track_caller]
    fn result(&mut self, method: &str, params: &Value) -> Value {
        let mut response = self.call(&json!(7), method, params);
        assert!(response.get("result").is_some(), "{response}");
        response["result"].take()
    }

    #[track_caller]
    fn code(&mut self, method: &str, params: &Value) -> i64 {
        code(&self.call(&json!("refused"), method, params))
    }

    #[track_caller]
    fn fire(&mut self, command: &str) -> Value {
        self.result("fire", &json!({"event": bash(command)}))
    }

    /// Ends the input, and returns the exit status and how long it took.
    fn end(mut self) -> (Option<i32>, Duration) {
        drop(self.input.take());
        self.ended()
    }

    #[track_caller]
    fn ended(&mut self) -> (Option<i32>, Duration) {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status.code(), begun.elapsed());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("it did not end");
    }
}

/// Also when a test fails.
impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn unread(mut command: Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

fn request(id: &Value, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn bash(command: &str) -> Value {
    json!({"type": "tool:pre_execute", "tool_name": "bash", "data": {"tool_args": {"command": command}}})
}

#[track_caller]
fn code(response: &Value) -> i64 {
    response["error"]["code"]
        .as_i64()
        .unwrap_or_else(|| panic!("{response}"))
}

/// A user with these hooks of their own.
fn user_with(hooks: &Value) -> User {
    let user = User::new();
    let file = json!({"hooks": hooks}).to_string();
    user.write("config/src/forge/hooks.json", &file);
    user
}

#[test]
fn each_request_has_its_response() {
    let user = User::new();
    user.write("config/src/forge/hooks.json", GUARDED);
    let mut served = Served::start(user.command(&["serve"]));
    let first = served.call(&json!(1), "initialize", &json!({}));
    assert_eq!(first["result"]["report"]["in_use"], 2);
    assert_eq!(first["result"]["approvals"], 0);
    let blocked = served.fire("sudo ls");
    assert_eq!(
        (&blocked["allowed"], &blocked["reason"]),
        (&json!(false), &json!("no sudo"))
    );
    is_valid("fire", &blocked);
    assert_eq!(served.fire("ls")["allowed"], true);
    assert_eq!(served.result("reload", &json!({}))["in_use"], 2);
    assert_eq!(served.result("approvals", &json!({})), json!([]));
    let events = served.result("events", &json!({}));
    is_valid("events", &events);
    assert_eq!(
        served.result("shutdown", &json!({"deadline": 1})),
        Value::Null
    );
    assert_eq!(served.ended().0, Some(0));
}

#[test]
fn changed_input_is_fired_once_more() {
    let changes = r#"case $FORGE_TOOL_ARGS in *-l*) ;; *) echo '{"updatedInput": {"command": "ls -l"}}';; esac"#;
    let user = user_with(&json!([
        {"event": "tool:pre_execute", "command": changes},
        {"event": "tool:pre_execute", "command": "case $FORGE_TOOL_ARGS in *-l*) exit 1;; esac"},
    ]));
    let mut served = Served::new(&user);
    let result = served.fire("ls");
    is_valid("fire", &result);
    assert_eq!(
        (&result["allowed"], &result["again"]["allowed"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(
        result["again"]["event"]["data"]["tool_args"]["command"],
        "ls -l"
    );
}

#[test]
fn options_say_how_an_event_is_fired() {
    let user = user_with(&json!([
        {"event": "tool:pre_execute", "command": "echo '{\"decision\": \"ask\"}'"},
        {"event": "tool:pre_execute", "command": "true"},
    ]));
    let mut served = Served::new(&user);
    let mut fire = |options: Value| {
        let result = served.result("fire", &json!({"event": bash("ls"), "options": options}));
        (
            result["allowed"].clone(),
            result["results"].as_array().unwrap().len(),
        )
    };
    assert_eq!(fire(json!({})), (json!(false), 1));
    assert_eq!(
        fire(json!({"stop_on_failure": false, "ordered": "a"})),
        (json!(false), 2)
    );
    assert_eq!(fire(json!({"parallel": true})), (json!(false), 2));
    assert_eq!(fire(json!({"handles_ask": true})), (json!(true), 2));
}

#[test]
fn errors_are_those_of_the_standard() {
    let user = User::new();
    let mut served = Served::start(user.command(&["serve"]));
    for (line, expected, id) in [
        ("half", -32700, Value::Null),
        ("", -32700, Value::Null),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1", -32700, Value::Null),
        ("\u{fffd}", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        (
            r#"[{"jsonrpc": "2.0", "id": 1, "method": "events"}]"#,
            -32600,
            Value::Null,
        ),
        ("1", -32600, Value::Null),
        (r#"{"id": 1, "method": "events"}"#, -32600, json!(1)),
        (
            r#"{"jsonrpc": "1.0", "id": 1, "method": "events"}"#,
            -32600,
            json!(1),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": null, "method": "events"}"#,
            -32600,
            Value::Null,
        ),
        (
            r#"{"jsonrpc": "2.0", "id": [1], "method": "events"}"#,
            -32600,
            Value::Null,
        ),
        (
            r#"{"jsonrpc": "2.0", "id": "a", "method": 1}"#,
            -32600,
            json!("a"),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": "a", "result": 1}"#,
            -32600,
            json!("a"),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 2, "method": "events"}"#,
            -32002,
            json!(2),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 2, "method": "nothing"}"#,
            -32002,
            json!(2),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": [1]}"#,
            -32602,
            json!(2),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {"x": 1}}"#,
            -32602,
            json!(2),
        ),
    ] {
        served.send_text(&format!("{line}\n"));
        let response = served.receive();
        assert_eq!(
            (code(&response), &response["id"]),
            (expected, &id),
            "{line}: {response}"
        );
    }
    served.result("initialize", &json!({}));
    for (line, expected) in [
        (r#""method": "initialize""#, -32600),
        (r#""method": "nothing""#, -32601),
        (r#""method": "fire""#, -32602),
        (r#""method": "fire", "params": {"event": {}}"#, -32602),
        (
            r#""method": "fire", "params": {"event": {"type": "no event"}}"#,
            -32602,
        ),
        (
            r#""method": "fire", "params": {"event": {"type": "tool:pre_exec"}}"#,
            -32602,
        ),
        (
            r#""method": "fire", "params": {"event": {"type": "session:start", "tool": "x"}}"#,
            -32602,
        ),
        (
            r#""method": "fire", "params": {"event": {"hook_event_name": "PreToolUse"}}"#,
            -32602,
        ),
        (
            r#""method": "fire", "params": {"event": {"type": "session:start"}, "options": {"x": 1}}"#,
            -32602,
        ),
        (
            r#""method": "shutdown", "params": {"deadline": -1}"#,
            -32602,
        ),
        (r#""method": "approve", "params": {"digest": "00"}"#, -32004),
    ] {
        served.send_text(&format!("{{\"jsonrpc\": \"2.0\", \"id\": 3, {line}}}\n"));
        let response = served.receive();
        assert_eq!(code(&response), expected, "{line}: {response}");
    }
    // Notifications have no response, whatever is wrong with them.
    for method in ["nothing", "fire", "approve", "$/cancelRequest"] {
        served.send_text(&format!(
            "{{\"jsonrpc\": \"2.0\", \"method\": \"{method}\"}}\n"
        ));
    }
    served.result("events", &json!({}));
}

#[test]
fn a_line_that_is_too_long_is_refused_and_the_next_one_is_read() {
    let mut served = Served::new(&User::new());
    let long = "x".repeat(17 * 1024 * 1024);
    served.send_text(&format!("\"{long}\"\n"));
    assert_eq!(code(&served.receive()), -32600);
    let exactly = request(&json!(1), "fire", &json!({"event": bash("")})).to_string();
    let rest = 16 * 1024 * 1024 - exactly.len() - 1;
    let exactly = exactly.replace(
        r#""command":"""#,
        &format!(r#""command":"{}""#, &long[..rest]),
    );
    served.send_text(&format!("{exactly}\n"));
    assert_eq!(served.receive()["result"]["allowed"], true);
}

#[test]
fn an_open_id_cannot_be_used_again() {
    let user = user_with(&json!([{"event": "tool:pre_execute", "command": "sleep 60"}]));
    let mut served = Served::new(&user);
    served.request(&json!("a"), "fire", &json!({"event": bash("ls")}));
    assert_eq!(
        code(&served.call(&json!("a"), "events", &json!({}))),
        -32600
    );
    served.cancel(&json!("a"));
    assert_eq!(
        served.receive()["result"]["results"][0]["failure"],
        "cancelled"
    );
    // Now it is free.
    served.call(&json!("a"), "events", &json!({}));
}

#[test]
fn notifications_are_sent_to_a_host_that_asks_for_them() {
    let user =
        user_with(&json!([{"event": "tool:pre_execute", "command": "true", "name": "guard"}]));
    let mut served = Served::with(&user, &[], &json!({"notify": true}));
    served.request(&json!(5), "fire", &json!({"event": bash("ls")}));
    let of_hook =
        |method| json!({"jsonrpc": "2.0", "method": method, "params": {"id": 5, "hook": "guard"}});
    assert_eq!(served.receive(), of_hook("hook/started"));
    assert_eq!(served.receive(), of_hook("hook/finished"));
    assert_eq!(served.receive()["id"], 5);
    user.write("config/src/forge/hooks.json", r#"{"hooks": []}"#);
    served.request(&json!(6), "reload", &json!({}));
    assert_eq!(served.receive()["id"], 6);
    let changed = served.receive();
    assert_eq!(
        (&changed["method"], &changed["params"]["in_use"]),
        (&json!("report/changed"), &json!(0))
    );
}

const SCRIPT: &str = "#!/bin/sh\necho no; exit 1\n";

/// A user with a project whose hook is a script.
fn stranger() -> User {
    let user = User::with_project_file(
        r#"{"hooks": [{"event": "tool:pre_execute", "command": "sh ./guard.sh"}]}"#,
    );
    user.write("project/guard.sh", SCRIPT);
    user
}

/// The block that is shown to a person.
#[track_caller]
fn shown(served: &mut Served) -> Value {
    let mut blocks = served.result("approvals", &json!({}));
    assert_eq!(blocks.as_array().unwrap().len(), 1, "{blocks}");
    let block = blocks[0].take();
    let (text, digest) = (block["text"].as_str(), block["digest"].as_str());
    let (text, digest) = (text.unwrap(), digest.unwrap());
    assert!(text.contains("guard.sh") && text.contains(digest), "{text}");
    block
}

#[test]
fn a_person_approves_and_revokes() {
    let user = stranger();
    let mut served = Served::start(user.command(&["serve"]));
    assert_eq!(served.result("initialize", &json!({}))["approvals"], 1);
    assert_eq!(served.fire("ls")["results"][0]["skipped"], "not_approved");
    let digest = shown(&mut served)["digest"].take();
    let report = served.result("approve", &json!({"digest": digest}));
    assert_eq!(report["in_use"], 1);
    assert_eq!(served.fire("ls")["reason"], "no");
    assert_eq!(served.result("approvals", &json!({})), json!([]));
    assert_eq!(served.result("revoke", &json!({}))["in_use"], 0);
    assert_eq!(served.fire("ls")["results"][0]["skipped"], "not_approved");
}

#[test]
fn what_was_shown_is_what_is_approved() {
    let user = stranger();
    let mut served = Served::new(&user);
    let block = shown(&mut served);
    // Neither another digest, nor that of an entry.
    for digest in [&json!("00"), &json!(""), &block["entries"][0]["digest"]] {
        assert_eq!(served.code("approve", &json!({"digest": digest})), -32004);
    }
    // The script has changed since it was shown.
    user.write("project/guard.sh", "rm -rf /nothing\n");
    let digest = json!({"digest": block["digest"]});
    assert_eq!(served.code("approve", &digest), -32004);
    assert_eq!(served.fire("ls")["allowed"], true);
    user.write("project/guard.sh", SCRIPT);
    assert_eq!(served.result("approve", &digest)["in_use"], 1);
}

#[test]
fn a_host_knows_what_to_show_before_any_event() {
    let told = |user: &User, variable: &str| {
        let mut command = user.command(&["serve"]);
        command.env(variable, "1");
        let mut served = Served::start(command);
        let messages = served.result("initialize", &json!({}))["messages"].take();
        assert_eq!(served.result("shutdown", &json!({})), Value::Null);
        messages.to_string()
    };
    let shown = told(&User::new(), "UNUSED");
    assert!(
        shown.contains("there is no hooks file: looked for"),
        "{shown}"
    );
    let user = user_with(&json!([{"event": "*", "comand": "true"}]));
    let shown = told(&user, "FORGE_HOOKS_DISABLE");
    assert!(shown.contains("unknown key `comand`"), "{shown}");
    assert!(
        shown.contains("no hook runs: `FORGE_HOOKS_DISABLE` is set"),
        "{shown}"
    );
}

#[test]
fn a_hook_cannot_approve() {
    let user = stranger();
    let mut command = user.command(&["serve"]);
    command.env("FORGE_HOOK_CHAIN", "0123456789abcdef");
    let mut served = Served::start(command);
    served.result("initialize", &json!({}));
    let digest = served.result("approvals", &json!({}))[0]["digest"].take();
    assert_eq!(served.code("approve", &json!({"digest": digest})), -32004);
    assert_eq!(served.code("revoke", &json!({})), -32004);
    assert_eq!(served.result("approvals", &json!({}))[0]["digest"], digest);
}

#[test]
fn the_host_declares_its_events_and_tools() {
    let user = user_with(&json!([{"event": "game:saved", "command": "exit 1"}]));
    let mut words = Served::new(&user).result("events", &json!({}));
    let events = words["events"].as_array_mut().unwrap();
    events.push(json!({"name": "game:saved", "can_block": false, "data": [{"key": "slot"}]}));
    words["tools"] = json!(["bash"]);
    user.write("project/words.json", &words.to_string());
    let mut served = Served::with(&user, &["--vocabulary", "words.json"], &json!({}));
    let declared = served.result("events", &json!({}));
    assert_eq!(declared["tools"], json!(["bash"]));
    let event = json!({"event": {"type": "game:saved", "data": {"slot": 1}}});
    assert_eq!(served.result("fire", &event)["allowed"], true);
    let typo = json!({"event": {"type": "game:save"}});
    assert_eq!(served.code("fire", &typo), -32602);
    user.write(
        "project/words.json",
        r#"{"events": [{"name": "game:saved", "canBlock": false}]}"#,
    );
    let refused = user.run(&["serve", "--vocabulary", "words.json"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("words.json`: unknown key `canBlock`"));
}

/// It would read those of the process instead.
#[test]
fn a_host_with_streams_of_its_own_is_refused() {
    let user = User::new();
    let builder = Hooks::builder(AppProfile::new("mygame"));
    let hooks = builder.config_home(user.path("config")).load();
    let mut errors = Vec::new();
    let mut io = Io::new(
        "mygame hooks",
        std::io::empty(),
        std::io::sink(),
        &mut errors,
    );
    let _ = cli::run(&hooks, ["serve"], &mut io);
    drop(io);
    let errors = String::from_utf8(errors).unwrap();
    assert!(
        errors.contains("standard input and output of the process"),
        "{errors}"
    );
}
