//! `serve`: its messages, its errors, and that neither it nor a hook remains when it should end.

mod clients;
mod ends;
mod load;
mod may;
mod puzzles;
mod talks;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{User, hosted};
use crate::support::PATIENCE;

const GLOBAL: &str = "config/src/forge/hooks.json";

/// A program that serves, and its host.
pub(super) struct Served {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
}

impl Served {
    /// Without `initialize`.
    pub(super) fn start(command: &mut Command) -> Self {
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
        Self::with(user, &[])
    }

    fn with(user: &User, args: &[&str]) -> Self {
        let mut served = Self::start(&mut user.command(&[&["serve"], args].concat()));
        let initialized = served.call(&json!("first"), "initialize", &protocol());
        assert!(initialized["result"]["report"].is_object());
        served
    }

    fn send(&mut self, message: &Value) {
        self.send_text(&format!("{message}\n"));
    }

    fn send_text(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
    }

    pub(super) fn request(&mut self, id: &Value, method: &str, params: &Value) {
        self.send(&request(id, method, params));
    }

    fn cancel(&mut self, id: &Value) {
        let cancel = json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id}});
        self.send(&cancel);
    }

    /// The next line.
    #[track_caller]
    pub(super) fn receive(&mut self) -> Value {
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

/// The parameters of `initialize`.
fn protocol() -> Value {
    json!({"protocol": 2})
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
fn the_host_declares_its_events_and_tools() {
    let user = user_with(&json!([{"event": "game:saved", "command": "exit 1"}]));
    let mut vocabulary = Served::new(&user).result("events", &json!({}));
    let events = vocabulary["events"].as_array_mut().unwrap();
    events.push(json!({"name": "game:saved", "can_block": false, "data": [{"key": "slot"}]}));
    vocabulary["tools"] = json!(["bash"]);
    user.write("project/words.json", &vocabulary.to_string());
    let mut served = Served::with(&user, &["--vocabulary", "words.json"]);
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

/// A guard of Claude Code finds the path under its own name.
#[test]
fn the_host_maps_its_tools_for_other_agents() {
    let user = User::new();
    let guard = "case $(cat) in *'\"file_path\":\".env\"'*) exit 2;; esac";
    let handler = json!({"type": "command", "command": guard});
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [handler]}]}});
    user.write("home/.claude/settings.json", &settings.to_string());
    let write =
        |agents: &Value| user.write("project/words.json", &json!({"agents": agents}).to_string());
    let mapped = json!({"tool": "Write", "arguments": {"path": "file_path"}});
    write(&json!({"claude": {"fs_write": mapped}}));
    let args = ["--other-agents", "claude", "--vocabulary", "words.json"];
    let mut served = Served::with(&user, &args);
    for (path, allowed) in [(".env", false), ("notes", true)] {
        let event = json!({"type": "tool:pre_execute", "tool_name": "fs_write", "data": {"tool_args": {"path": path}}});
        assert_eq!(
            served.result("fire", &json!({"event": event}))["allowed"],
            allowed
        );
    }
    for (agents, message) in [
        (
            json!({"cloud": {}}),
            "expected one of `claude`, `codex`, found `cloud`",
        ),
        (
            json!({"claude": {"x": {"name": "Write"}}}),
            "unknown key `name`",
        ),
    ] {
        write(&agents);
        let refused = user.run(&["serve", "--vocabulary", "words.json"]);
        assert_eq!(refused.status, 2);
        assert!(refused.err.contains(message), "{}", refused.err);
    }
}

/// It would read those of the process instead.
#[test]
fn a_host_with_streams_of_its_own_is_refused() {
    let user = User::new();
    let printed = hosted::run(&user.path("config"), &["serve"]);
    let message = "standard input and output of the process";
    assert!(printed.err.contains(message), "{}", printed.err);
}

#[test]
fn a_background_hook_behind_a_change_runs_once() {
    let user = user_with(&json!([
        {"event": "tool:*", "may": ["change_input"],
            "command": "echo '{\"updatedInput\": {\"command\": \"id\"}}'; echo x >>before"},
        {"event": "tool:*", "command": "echo x >>ran", "background": true},
    ]));
    let mut served = Served::new(&user);
    let fire = json!({"event": bash("ls"), "options": {"applies_updates": true}});
    let fired = served.result("fire", &fire);
    let changed = &fired["changed_event"]["data"]["tool_args"];
    assert_eq!(changed["command"], "id");
    served.result("shutdown", &json!({"deadline": PATIENCE.as_secs()}));
    assert_eq!(user.read("project/before"), "x\n");
    assert_eq!(user.read("project/ran"), "x\n");
}

/// The cancellation is read when the hooks have ended, and their change was seen by no guard.
#[test]
fn what_is_cancelled_at_its_end_is_blocked() {
    let user = user_with(&json!([
        {"event": "tool:pre_execute", "may": ["change_input"], "when": {"/tool_args/command": "ls"},
            "command": "echo '{\"updatedInput\": {\"command\": \"rm -rf x\"}}'"},
        {"event": "tool:pre_execute", "when": {"/tool_args/command": "rm *"}, "command": "exec sleep 600"},
    ]));
    let mut served = Served::new(&user);
    let fire = |id: usize, event: &Value| {
        let params = json!({"event": event, "options": {"applies_updates": true}});
        request(&json!(id), "fire", &params).to_string() + "\n"
    };
    let mut lines = fire(0, &bash("ls"));
    // They take as long as the hooks of the first one.
    lines.extend((1..=500).map(|id| fire(id, &json!({"type": "tool:error"}))));
    served.send_text(&lines);
    served.cancel(&json!(0));
    let mut responses = std::iter::repeat_with(|| served.receive());
    let response = responses.find(|response| response["id"] == 0).unwrap();
    is_blocked_as_cancelled(&response);
}

/// Checks that no guard has let the change pass: either none has seen it, or it was cancelled.
#[track_caller]
fn is_blocked_as_cancelled(response: &Value) {
    let outcome = &response["result"];
    assert_eq!(outcome["allowed"], false, "{response}");
    let reason = outcome["reason"].as_str().unwrap();
    assert!(reason.contains("cancelled"), "{response}");
}

/// A guard of an agent that ignores failures runs in the project's root; in the home, which is no project, in the
/// directory of the program.
#[test]
fn a_guard_whose_directory_is_gone_blocks() {
    for (directory, message) in [("project", "does not exist"), ("home", "was removed")] {
        let user = User::new();
        let handler = json!({"type": "command", "command": "true"});
        let settings = json!({"hooks": {"PreToolUse": [{"hooks": [handler]}]}});
        user.write("home/.claude/settings.json", &settings.to_string());
        let mut command = user.command(&["serve", "--other-agents", "claude"]);
        let mut served = Served::start(command.current_dir(user.path(directory)));
        served.result("initialize", &protocol());
        assert_eq!(served.fire("ls")["allowed"], true);
        std::fs::remove_dir_all(user.path(directory)).unwrap();
        let fired = served.fire("ls");
        assert_eq!(fired["allowed"], false, "{fired}");
        let result = &fired["results"][0];
        assert_eq!(result["failure"], "no_working_dir", "{fired}");
        let reason = fired["reason"].as_str().unwrap();
        let is_said = reason.contains("working directory") && reason.contains(message);
        assert!(is_said, "{reason}");
    }
}
