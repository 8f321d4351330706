//! How `serve` ends, and every hook with it.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{PATIENCE, Served, bash, code, request, user_with};
use crate::program::{PROGRAM, User};
use crate::support::eventually;

/// What a user may wait for: a second, and the time of a busy machine.
const SOON: Duration = Duration::from_secs(4);

/// A hook that has to be killed, and one in the background.
fn stubborn() -> User {
    let hook = |name: &str| {
        format!(
            "trap '' TERM; echo $$ > {name}.new; mv {name}.new {name}; while :; do sleep 1; done"
        )
    };
    user_with(&json!([
        {"event": "tool:pre_execute", "command": hook("behind"), "background": true, "timeout": 600},
        {"event": "tool:pre_execute", "command": hook("before"), "timeout": 600},
    ]))
}

fn is_alive(pid: &str) -> bool {
    let mut kill = Command::new("kill");
    kill.args(["-0", pid.trim()]).stderr(Stdio::null());
    kill.status().unwrap().success()
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

fn with_running_hooks() -> (User, Served, [String; 2]) {
    let user = stubborn();
    let mut served = Served::new(&user);
    served.request(&json!(1), "fire", &json!({"event": bash("ls")}));
    let hooks = running(&user);
    (user, served, hooks)
}

#[test]
fn the_end_of_the_input_ends_it() {
    let (_user, served, hooks) = with_running_hooks();
    let (status, took) = served.end();
    assert!(status == Some(0) && took < SOON, "{status:?} {took:?}");
    all_end(&hooks);
}

#[test]
fn half_a_line_at_the_end_ends_it_too() {
    let (_user, mut served, hooks) = with_running_hooks();
    served.send_text(r#"{"jsonrpc": "2.0", "id": 2, "met"#);
    let (status, took) = served.end();
    assert!(status == Some(0) && took < SOON, "{status:?} {took:?}");
    all_end(&hooks);
}

/// What an approval covers is read on a thread of its own, here for much longer than a test may take.
#[test]
fn it_ends_while_it_reads_what_an_approval_covers() {
    let user = User::with_project_file(
        r#"{"hooks": [{"event": "*", "command": "true", "inputs": ["large"]}]}"#,
    );
    let large = std::fs::File::create(user.path("project/large")).unwrap();
    large.set_len(250 << 20).unwrap();
    let mut served = Served::start(user.command(&["serve"]));
    served.request(&json!(1), "initialize", &json!({}));
    let (status, took) = served.end();
    assert!(status == Some(0) && took < SOON, "{status:?} {took:?}");
}

#[test]
fn a_signal_ends_it() {
    let hangup = ("-HUP", 129);
    let signals = [("-TERM", 143), ("-INT", 130)].into_iter();
    for (signal, expected) in signals.chain(cfg!(target_os = "linux").then_some(hangup)) {
        let (_user, mut served, hooks) = with_running_hooks();
        let id = served.child.id().to_string();
        Command::new("kill").args([signal, &id]).status().unwrap();
        let (status, took) = served.ended();
        let as_expected = status == Some(expected) && took < SOON;
        assert!(as_expected, "{signal}: {status:?} {took:?}");
        // What was open has its response all the same.
        let response = served.receive();
        let failure = &response["result"]["results"][0]["failure"];
        assert_eq!(failure, "cancelled", "{response}");
        all_end(&hooks);
    }
}

/// The host has a child that keeps the pipe open, so the input does not end.
#[test]
fn the_death_of_the_host_ends_it() {
    let user = stubborn();
    let first = request(&json!(1), "initialize", &json!({}));
    let fire = request(&json!(2), "fire", &json!({"event": bash("ls")}));
    user.write("project/lines", &format!("{first}\n{fire}\n"));
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
    let again = served.call(&json!(3), "shutdown", &json!({"deadline": 0}));
    assert_eq!(code(&again), -32003);
    let late = served.call(&json!(4), "fire", &json!({"event": bash("ls")}));
    assert_eq!(code(&late), -32003);
    user.write("project/go", "");
    let fired = served.receive();
    assert_eq!(
        (&fired["id"], &fired["result"]["allowed"]),
        (&json!(1), &json!(true))
    );
    assert_eq!(
        served.receive(),
        json!({"jsonrpc": "2.0", "id": 2, "result": null})
    );
    assert_eq!(served.ended().0, Some(0));
}

#[test]
fn a_shutdown_ends_hooks_at_its_deadline() {
    let (_user, mut served, hooks) = with_running_hooks();
    served.request(&json!(2), "shutdown", &json!({"deadline": 0.1}));
    let fired = served.receive();
    assert_eq!(
        fired["result"]["results"][0]["failure"], "cancelled",
        "{fired}"
    );
    assert_eq!(served.receive()["result"], Value::Null);
    let (status, took) = served.ended();
    assert!(status == Some(0) && took < SOON, "{status:?} {took:?}");
    all_end(&hooks);
}

#[test]
fn the_end_of_the_input_ends_a_long_shutdown() {
    let (_user, mut served, hooks) = with_running_hooks();
    served.request(
        &json!(2),
        "shutdown",
        &json!({"deadline": PATIENCE.as_secs()}),
    );
    let (status, took) = served.end();
    assert!(status == Some(0) && took < SOON, "{status:?} {took:?}");
    all_end(&hooks);
}
