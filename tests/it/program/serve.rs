//! `serve`: its messages, its errors, and that neither it nor a hook remains when it should end.

mod clients;
mod ends;
mod load;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::schemas::{is_valid, validator};
use super::{GUARDED, User, hosted};

/// Long enough for a busy machine: what comes later counts as never.
const PATIENCE: Duration = Duration::from_secs(60);

const GLOBAL: &str = "config/src/forge/hooks.json";

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
    fn start(command: &mut Command) -> Self {
        let mut served = Self::unread(command);
        served.read();
        served
    }

    /// Nothing of what it writes is read.
    fn unread(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let lines = channel().1;
        Self {
            child,
            input,
            lines,
        }
    }

    /// From now on.
    fn read(&mut self) {
        let output = BufReader::new(self.child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap();
                let _ = sender.send(line);
            }
        });
        self.lines = lines;
    }

    fn new(user: &User) -> Self {
        Self::with(user, &[], &json!({}))
    }

    fn with(user: &User, args: &[&str], params: &Value) -> Self {
        let mut served = Self::start(&mut user.command(&[&["serve"], args].concat()));
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
        let line = self.unchecked();
        assert!(OUTPUT.is_valid(&line), "{line}");
        line
    }

    /// Not compared with the schema, which takes long for a large line and for many.
    #[track_caller]
    fn unchecked(&mut self) -> Value {
        self.lines.recv_timeout(PATIENCE).unwrap()
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
    user.write(GLOBAL, &file);
    user
}

#[test]
fn each_request_has_its_response() {
    let user = User::new();
    user.write(GLOBAL, GUARDED);
    let mut served = Served::start(&mut user.command(&["serve"]));
    let first = served.result("initialize", &json!({}));
    let found = json!([first["report"]["in_use"], first["approvals"]]);
    assert_eq!(found, json!([2, 0]));
    let blocked = served.fire("sudo ls");
    let found = json!([blocked["allowed"], blocked["reason"]]);
    assert_eq!(found, json!([false, "no sudo"]));
    is_valid("fire", &blocked);
    assert_eq!(served.fire("ls")["allowed"], true);
    assert_eq!(served.result("reload", &json!({}))["in_use"], 2);
    assert_eq!(served.result("approvals", &json!({})), json!([]));
    is_valid("events", &served.result("events", &json!({})));
    let end = served.result("shutdown", &json!({"deadline": 1}));
    assert_eq!((end, served.ended().0), (Value::Null, Some(0)));
}

#[test]
fn changed_input_is_fired_once_more() {
    let changes = r#"case $FORGE_TOOL_ARGS in *-l*) ;; *) echo '{"updatedInput": {"command": "ls -l"}}';; esac"#;
    let user = user_with(&json!([
        {"event": "tool:pre_execute", "command": changes},
        {"event": "tool:pre_execute", "command": "case $FORGE_TOOL_ARGS in *-l*) exit 1;; esac"},
    ]));
    let result = Served::new(&user).fire("ls");
    is_valid("fire", &result);
    let again = &result["again"];
    let input = &again["event"]["data"]["tool_args"]["command"];
    let found = json!([result["allowed"], again["allowed"], input]);
    assert_eq!(found, json!([true, false, "ls -l"]));
}

#[test]
fn options_say_how_an_event_is_fired() {
    let user = user_with(&json!([
        {"event": "tool:pre_execute", "command": "echo '{\"decision\": \"ask\"}'"},
        {"event": "tool:pre_execute", "command": "true"},
    ]));
    let mut served = Served::new(&user);
    for (allowed, results, options) in [
        (false, 1, "{}"),
        (false, 2, r#"{"stop_on_failure": false, "ordered": "a"}"#),
        (false, 2, r#"{"parallel": true}"#),
        (true, 2, r#"{"handles_ask": true}"#),
    ] {
        let parsed: Value = serde_json::from_str(options).unwrap();
        let result = served.result("fire", &json!({"event": bash("ls"), "options": parsed}));
        let found = json!([
            result["allowed"],
            result["results"].as_array().unwrap().len()
        ]);
        assert_eq!(found, json!([allowed, results]), "{options}");
    }
}

/// The code of the error, the id of the response, and the line, in this order. `-` has no response, `0` a result;
/// `CALL` stands for a request as far as its method.
const LINES: &str = r#"
-32700 null half
-32700 null
-32700 null {"jsonrpc": "2.0", "id": 1
-32700 null �
-32600 null []
-32600 null [CALL "events"}]
-32600 null 1
-32600 1 {"id": 1, "method": "events"}
-32600 1 {"jsonrpc": "1.0", "id": 1, "method": "events"}
-32600 null {"jsonrpc": "2.0", "id": null, "method": "events"}
-32600 null {"jsonrpc": "2.0", "id": [1], "method": "events"}
-32600 "a" {"jsonrpc": "2.0", "id": "a", "method": 1}
-32600 "a" {"jsonrpc": "2.0", "id": "a", "result": 1}
-32002 2 CALL "events"}
-32002 2 CALL "nothing"}
-32602 2 CALL "initialize", "params": [1]}
-32602 2 CALL "initialize", "params": {"x": 1}}
0 2 CALL "initialize", "params": {}}
-32600 2 CALL "initialize"}
-32601 2 CALL "nothing"}
-32602 2 CALL "fire"}
-32602 2 CALL "fire", "params": {"event": {}}}
-32602 2 CALL "fire", "params": {"event": {"type": "no event"}}}
-32602 2 CALL "fire", "params": {"event": {"type": "tool:pre_exec"}}}
-32602 2 CALL "fire", "params": {"event": {"type": "session:start", "tool": "x"}}}
-32602 2 CALL "fire", "params": {"event": {"hook_event_name": "PreToolUse"}}}
-32602 2 CALL "fire", "params": {"event": {"type": "session:start"}, "options": {"x": 1}}}
-32602 2 CALL "shutdown", "params": {"deadline": -1}}
-32004 2 CALL "approve", "params": {"digest": "00"}}
- - {"jsonrpc": "2.0", "method": "nothing"}
- - {"jsonrpc": "2.0", "method": "fire"}
- - {"jsonrpc": "2.0", "method": "approve"}
- - {"jsonrpc": "2.0", "method": "$/cancelRequest"}
0 2 CALL "events"}
"#;

#[test]
fn errors_are_those_of_the_standard() {
    let user = User::new();
    let mut served = Served::start(&mut user.command(&["serve"]));
    for row in LINES.trim().lines() {
        let mut cells = row.splitn(3, ' ');
        let [expected, id, line] = [(); 3].map(|()| cells.next().unwrap_or_default());
        let line = line.replace("CALL", r#"{"jsonrpc": "2.0", "id": 2, "method":"#);
        served.send_text(&format!("{line}\n"));
        if expected != "-" {
            let response = served.receive();
            let code = response["error"]["code"].as_i64().unwrap_or_default();
            let found = format!("{code} {}", response["id"]);
            assert_eq!(found, format!("{expected} {id}"), "{line}: {response}");
        }
    }
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
        r#""command":""#,
        &format!(r#""command":"{}"#, &long[..rest]),
    );
    served.send_text(&format!("{exactly}\n"));
    assert_eq!(served.receive()["result"]["allowed"], true);
}

#[test]
fn an_open_id_cannot_be_used_again() {
    let user = user_with(&json!([{"event": "tool:pre_execute", "command": "sleep 60"}]));
    let mut served = Served::new(&user);
    let id = json!("a");
    served.request(&id, "fire", &json!({"event": bash("ls")}));
    assert_eq!(code(&served.call(&id, "events", &json!({}))), -32600);
    served.cancel(&id);
    let failure = served.receive()["result"]["results"][0]["failure"].take();
    assert_eq!(failure, "cancelled");
    // Now it is free.
    served.call(&id, "events", &json!({}));
}

#[test]
fn notifications_are_sent_to_a_host_that_asks_for_them() {
    let guard = json!({"event": "tool:pre_execute", "command": "true", "name": "guard"});
    let user = user_with(&json!([guard]));
    let mut served = Served::with(&user, &[], &json!({"notify": true}));
    served.request(&json!(5), "fire", &json!({"event": bash("ls")}));
    for method in ["hook/started", "hook/finished"] {
        let params = json!({"id": 5, "hook": "guard"});
        let expected = json!({"jsonrpc": "2.0", "method": method, "params": params});
        assert_eq!(served.receive(), expected);
    }
    assert_eq!(served.receive()["id"], 5);
    user.write(GLOBAL, r#"{"hooks": []}"#);
    served.call(&json!(6), "reload", &json!({}));
    let changed = served.receive();
    let found = json!([changed["method"], changed["params"]["in_use"]]);
    assert_eq!(found, json!(["report/changed", 0]));
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
fn a_person_approves_what_was_shown_and_revokes_it() {
    let user = stranger();
    let mut served = Served::start(&mut user.command(&["serve"]));
    assert_eq!(served.result("initialize", &json!({}))["approvals"], 1);
    let not_approved = |served: &mut Served| {
        let skipped = served.fire("ls")["results"][0]["skipped"].take();
        assert_eq!(skipped, "not_approved");
    };
    not_approved(&mut served);
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
    assert_eq!(served.fire("ls")["reason"], "no");
    assert_eq!(served.result("approvals", &json!({})), json!([]));
    assert_eq!(served.result("revoke", &json!({}))["in_use"], 0);
    not_approved(&mut served);
}

#[test]
fn a_host_knows_what_to_show_before_any_event() {
    let typo = user_with(&json!([{"event": "*", "comand": "true"}]));
    for (user, variable, words) in [
        (&User::new(), "UNUSED", "there is no hooks file: looked for"),
        (&typo, "UNUSED", "unknown key `comand`"),
        (
            &typo,
            "FORGE_HOOKS_DISABLE",
            "no hook runs: `FORGE_HOOKS_DISABLE` is set",
        ),
    ] {
        let mut command = user.command(&["serve"]);
        let mut served = Served::start(command.env(variable, "1"));
        let messages = served.result("initialize", &json!({}))["messages"].take();
        assert!(messages.to_string().contains(words), "{messages}");
    }
}

#[test]
fn a_hook_cannot_approve() {
    let user = stranger();
    let mut command = user.command(&["serve"]);
    let mut served = Served::start(command.env("FORGE_HOOK_CHAIN", "0123456789abcdef"));
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
    let misspelt = r#"{"events": [{"name": "game:saved", "canBlock": false}]}"#;
    user.write("project/words.json", misspelt);
    let refused = user.run(&["serve", "--vocabulary", "words.json"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("words.json`: unknown key `canBlock`"));
}

/// It would read those of the process instead.
#[test]
fn a_host_with_streams_of_its_own_is_refused() {
    let user = User::new();
    let printed = hosted::run(&user.path("config"), &["serve"]);
    let words = "standard input and output of the process";
    assert!(printed.err.contains(words), "{}", printed.err);
}
