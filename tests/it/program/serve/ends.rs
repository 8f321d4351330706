//! The end of `serve`, and of every hook with it.

use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{Served, bash, code, protocol, request, user_with};
use crate::program::{PROGRAM, User};
use crate::support::{PATIENCE, eventually, is_alive};

/// Long enough for a busy machine, and shorter than what the hooks would take.
const SOON: Duration = Duration::from_secs(30);

/// A hook that has to be killed, and one in the background.
fn stubborn() -> User {
    let hook = |name: &str| {
        format!(
            "trap '' TERM; echo $$ > {name}.new; mv {name}.new {name}; while :; do sleep 1; done"
        )
    };
    user_with(&json!([
        {"event": "session:start", "command": hook("behind"), "background": true, "timeout": 600},
        {"event": "tool:pre_execute", "command": hook("before"), "timeout": 600},
    ]))
}

/// The hooks of this user, once they run.
fn running(user: &User) -> [String; 2] {
    ["project/behind", "project/before"].map(|name| {
        eventually("the hook runs", || user.path(name).exists());
        user.read(name)
    })
}

#[track_caller]
fn all_end(hooks: &[String]) {
    let begun = Instant::now();
    while hooks.iter().any(|pid| is_alive(pid)) {
        assert!(begun.elapsed() < SOON, "{hooks:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[track_caller]
fn ends_soon((status, took): (Option<i32>, Duration), expected: i32) {
    assert!(
        status == Some(expected) && took < SOON,
        "{status:?} {took:?}"
    );
}

#[track_caller]
fn is_cancelled(response: &Value) {
    let failure = &response["result"]["results"][0]["failure"];
    assert_eq!(failure, "cancelled", "{response}");
}

fn with_running_hooks() -> (User, Served, [String; 2]) {
    let user = stubborn();
    let mut served = Served::new(&user);
    served.result("fire", &json!({"event": {"type": "session:start"}}));
    served.request(&json!(1), "fire", &json!({"event": bash("ls")}));
    let hooks = running(&user);
    (user, served, hooks)
}

/// Also behind half a line, and while a shutdown waits.
#[test]
fn the_end_of_the_input_ends_it() {
    let deadline = json!({"deadline": PATIENCE.as_secs()});
    let shutdown = request(&json!(2), "shutdown", &deadline).to_string() + "\n";
    for before in ["", r#"{"jsonrpc": "2.0", "id": 2, "met"#, &shutdown] {
        let (_user, mut served, hooks) = with_running_hooks();
        served.send_text(before);
        ends_soon(served.end(), 0);
        all_end(&hooks);
    }
}

/// The files that an approval covers are read on a thread of their own, here for much longer than the program takes
/// to end.
#[test]
fn it_ends_while_it_reads_what_an_approval_covers() {
    let user = User::with_project_file(
        r#"{"hooks": [{"event": "*", "command": "true", "inputs": ["large"]}]}"#,
    );
    let large = std::fs::File::create(user.path("project/large")).unwrap();
    large.set_len(250 << 20).unwrap();
    let mut served = Served::start(&mut user.command(&["serve"]));
    served.request(&json!(1), "initialize", &protocol());
    drop(served.input.take());
    ends_soon(served.ended(), 0);
    let response = served.lines.recv_timeout(PATIENCE);
    assert!(response.is_err(), "it has not waited: {response:?}");
}

/// Returns true if these tests run under `nohup`, which `serve` respects, or on a system where it does not handle the
/// signal.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_none_or(|ignored| ignored & 1 == 1)
}

#[test]
fn a_signal_ends_it() {
    let hangup = (Signal::HUP, 129);
    let signals = [(Signal::TERM, 143), (Signal::INT, 130), (Signal::QUIT, 131)].into_iter();
    for (signal, expected) in signals.chain((!ignores_hangup()).then_some(hangup)) {
        let (_user, mut served, hooks) = with_running_hooks();
        kill_process(Pid::from_child(&served.child), signal).unwrap();
        ends_soon(served.ended(), expected);
        // The open request still gets its response.
        is_cancelled(&served.receive());
        all_end(&hooks);
    }
}

/// The host has a child that keeps the pipe open, so the input does not end.
#[test]
fn the_death_of_the_host_ends_it() {
    let user = stubborn();
    let first = request(&json!(1), "initialize", &protocol());
    let start = request(
        &json!(2),
        "fire",
        &json!({"event": {"type": "session:start"}}),
    );
    let fire = request(&json!(3), "fire", &json!({"event": bash("ls")}));
    user.write("project/lines", &format!("{first}\n{start}\n{fire}\n"));
    let mut host = Command::new("sh");
    user.set(&mut host);
    let script =
        "mkfifo pipe; exec 3<>pipe; cat lines >&3; \"$0\" serve <pipe >out & echo $! >served; wait";
    let mut host = host.args(["-c", script, PROGRAM]).spawn().unwrap();
    let hooks = running(&user);
    host.kill().unwrap();
    host.wait().unwrap();
    all_end(&hooks);
    all_end(&[user.read("project/served")]);
}

#[test]
fn a_shutdown_lets_hooks_end_until_its_deadline() {
    let user = user_with(&json!([
        {"event": "tool:pre_execute", "command": "touch started; until test -e go; do sleep 0.01; done", "timeout": 60},
    ]));
    let mut served = Served::new(&user);
    served.request(&json!(1), "fire", &json!({"event": bash("ls")}));
    eventually("the hook runs", || user.path("project/started").exists());
    served.request(&json!(2), "shutdown", &json!({"deadline": 60}));
    for (method, params) in [
        ("shutdown", json!({"deadline": 0})),
        ("fire", json!({"event": bash("ls")})),
    ] {
        assert_eq!(served.code(method, &params), -32003, "{method}");
    }
    let same_id = served.call(&json!(2), "events", &json!({}));
    assert_eq!(code(&same_id), -32600, "that of the shutdown");
    user.write("project/go", "");
    let fired = served.receive();
    let response = json!([fired["id"], fired["result"]["allowed"]]);
    assert_eq!(response, json!([1, true]));
    let ended = json!({"jsonrpc": "2.0", "id": 2, "result": null});
    assert_eq!(served.receive(), ended);
    assert_eq!(served.ended().0, Some(0));
}

#[test]
fn a_shutdown_ends_hooks_at_its_deadline() {
    let (_user, mut served, hooks) = with_running_hooks();
    served.request(&json!(2), "shutdown", &json!({"deadline": 0.1}));
    is_cancelled(&served.receive());
    assert_eq!(served.receive()["result"], Value::Null);
    ends_soon(served.ended(), 0);
    all_end(&hooks);
}

/// A kept process starts this in another process group, and the end of its input does not end it.
#[cfg(all(target_os = "linux", not(forge_hooks_no_pidfd)))]
#[test]
fn it_ends_what_a_kept_process_has_started() {
    let hook = json!({"event": "*", "args": ["sh", "hook.sh"], "resident": true});
    let user = user_with(&json!([hook]));
    let script = r#"IFS= read -r event; id=${event##*\"id\":\"}; printf '{"id":"%s"}\n' "${id%\"\}}"
        timeout 60 sh -c 'echo $$ >part; mv part ready; exec sleep 60'"#;
    user.write("project/hook.sh", script);
    let mut served = Served::new(&user);
    let fired = served.fire("ls");
    assert_eq!(fired["allowed"], true, "{fired}");
    let ready = "project/ready";
    eventually("it has started it", || user.path(ready).exists());
    let pid = user.read(ready);
    assert!(is_alive(&pid));
    ends_soon(served.end(), 0);
    all_end(&[pid]);
}
