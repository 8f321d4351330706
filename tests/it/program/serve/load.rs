//! `serve` under load: hosts that do not read, many fires, and requests that race with responses.

use std::collections::HashMap;
use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Served, bash, code, request, unread, user_with};
use crate::program::User;
use crate::support::all_cases;

const MIB: usize = 1024 * 1024;

/// A `fire` of an event of this size, without hooks: its response has the same size.
fn large(id: usize, size: usize) -> String {
    let event = json!({"type": "session:start", "data": {"text": "TEXT"}});
    let line = request(&json!(id), "fire", &json!({"event": event})).to_string() + "\n";
    line.replace("TEXT", &"x".repeat(size))
}

/// More than may wait to be read, which is 64 MiB, and than the program has in hand.
const LARGE: usize = 12;

#[test]
fn a_host_that_does_not_read_is_told_when_it_does() {
    let user = user_with(&json!([{"event": "tool:pre_execute", "command": "sleep 60"}]));
    let mut child = unread(user.command(&["serve"]));
    let mut input = child.stdin.take().unwrap();
    let first = request(&json!("first"), "initialize", &json!({}));
    let slow = request(&json!("slow"), "fire", &json!({"event": bash("ls")}));
    input
        .write_all(format!("{first}\n{slow}\n").as_bytes())
        .unwrap();
    for id in 0..LARGE {
        input.write_all(large(id, 8 * MIB).as_bytes()).unwrap();
    }
    // Cancelling and the end work all the same.
    let cancel = json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "slow"}});
    let shutdown = request(&json!("last"), "shutdown", &json!({"deadline": 20}));
    let begun = Instant::now();
    input
        .write_all(format!("{cancel}\n{shutdown}\n").as_bytes())
        .unwrap();
    let served = Served::reading(child, input);
    let mut responses = HashMap::new();
    for _ in 0..LARGE + 3 {
        // Not compared with the schema, which takes long for a large one.
        let response = served.lines.recv_timeout(super::PATIENCE).unwrap();
        let id = response["id"].to_string();
        assert!(responses.insert(id, response).is_none());
    }
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "the hook was not cancelled"
    );
    let refused = (0..LARGE).filter(|id| responses[&id.to_string()].get("error").is_some());
    let refused: Vec<_> = refused.collect();
    assert!((1..=4).contains(&refused.len()), "{refused:?}");
    assert!(
        refused
            .iter()
            .all(|id| code(&responses[&id.to_string()]) == -32001)
    );
    assert_eq!(responses["\"last\""]["result"], Value::Null);
}

#[test]
fn so_many_bytes_of_fires_may_wait() {
    let user = user_with(&json!([{"event": "tool:pre_execute", "command": "sleep 2"}]));
    let mut served = Served::new(&user);
    let event = bash(&"x".repeat(15 * MIB));
    let fire = |id| request(&json!(id), "fire", &json!({"event": event})).to_string() + "\n";
    served.send_text(&(0..5).map(fire).collect::<String>());
    let response = served.lines.recv_timeout(super::PATIENCE).unwrap();
    assert_eq!((&response["id"], code(&response)), (&4.into(), -32000));
}

#[test]
fn so_many_other_requests_may_wait() {
    let mut served = Served::new(&user_with(&json!([])));
    let reload = |id| request(&json!(id), "reload", &json!({})).to_string() + "\n";
    served.send_text(&(0..1000).map(reload).collect::<String>());
    let mut refused = 0;
    for _ in 0..1000 {
        let response = served.lines.recv_timeout(super::PATIENCE).unwrap();
        if response.get("error").is_some() {
            assert_eq!(code(&response), -32000);
            refused += 1;
        }
    }
    assert!(refused > 0);
}

#[test]
fn a_host_that_never_reads_does_not_hold_up_the_end() {
    let user = User::new();
    let mut child = unread(user.command(&["serve"]));
    let mut input = child.stdin.take().unwrap();
    let first = request(&json!("first"), "initialize", &json!({}));
    input
        .write_all(format!("{first}\n{}", large(1, MIB)).as_bytes())
        .unwrap();
    let output = child.stdout.take();
    let mut served = Served::without_output(child, input);
    served.request(&json!(2), "shutdown", &json!({"deadline": 0}));
    assert_eq!(served.ended().0, Some(0));
    drop(output);
}

#[test]
fn half_a_line_holds_up_no_other_fire() {
    let user = user_with(&json!([{"event": "tool:pre_execute", "command": "sleep 0.2"}]));
    let mut served = Served::new(&user);
    served.request(&json!(1), "fire", &json!({"event": bash("ls")}));
    let second = request(&json!(2), "fire", &json!({"event": bash("ls")})).to_string();
    let (half, rest) = second.split_at(second.len() / 2);
    served.send_text(half);
    assert_eq!(served.receive()["id"], 1);
    served.send_text(&format!("{rest}\n"));
    assert_eq!(served.receive()["id"], 2);
}

#[test]
fn of_thousands_of_fires_at_once_each_has_its_response() {
    let fires: usize = if all_cases() { 10_000 } else { 1_500 };
    let user = user_with(&json!([{"event": "tool:pre_execute", "args": ["true"]}]));
    let mut served = Served::new(&user);
    let fire = |id| request(&json!(id), "fire", &json!({"event": bash("ls")})).to_string() + "\n";
    let lines: String = (0..fires).map(fire).collect();
    // All are sent before a response is read.
    served.send_text(&lines);
    let mut seen = vec![false; fires];
    let mut results = 0;
    for _ in 0..fires {
        let response = served.lines.recv_timeout(super::PATIENCE).unwrap();
        let id = response["id"].as_u64().unwrap() as usize;
        assert!(
            !std::mem::replace(&mut seen[id], true),
            "{id} has two responses"
        );
        match response.get("error") {
            None => results += 1,
            Some(_) => assert_eq!(code(&response), -32000),
        }
    }
    assert!(results >= 1000, "{results}");
    assert_eq!(served.fire("ls")["allowed"], true);
}

#[test]
fn a_cancel_that_races_a_response_leaves_one() {
    let user = user_with(&json!([{"event": "tool:pre_execute", "args": ["true"]}]));
    let mut served = Served::new(&user);
    let (mut cancelled, mut finished) = (0, 0);
    for round in 0..100_u64 {
        // Each id is used again at once.
        let id = json!(round % 2);
        served.request(&id, "fire", &json!({"event": bash("ls")}));
        std::thread::sleep(Duration::from_micros(round * 30));
        served.cancel(&id);
        let response = served.receive();
        assert_eq!(response["id"], id);
        match response["result"]["results"][0]["failure"].as_str() {
            Some("cancelled") => cancelled += 1,
            None => finished += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(cancelled > 0 && finished > 0, "{cancelled} {finished}");
    served.result("events", &json!({}));
}

#[test]
fn a_fire_that_waits_can_be_cancelled() {
    let user = user_with(&json!([{"event": "tool:pre_execute", "command": "sleep 60"}]));
    let mut served = Served::new(&user);
    for id in 0..50 {
        served.request(&json!(id), "fire", &json!({"event": bash("ls")}));
    }
    for id in (0..50).rev() {
        served.cancel(&json!(id));
    }
    let mut ids: Vec<_> = (0..50)
        .map(|_| {
            let response = served.receive();
            assert_eq!(response["result"]["results"][0]["failure"], "cancelled");
            response["id"].as_u64().unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..50));
}

#[test]
fn a_fire_sees_the_hooks_before_a_reload_or_those_after_it() {
    let file = |name| json!([{"event": "tool:pre_execute", "name": name, "command": "sleep 0.3"}]);
    let user = user_with(&file("old"));
    let mut served = Served::new(&user);
    served.request(&json!(1), "fire", &json!({"event": bash("ls")}));
    let new = json!({"hooks": file("new")}).to_string();
    user.write("config/src/forge/hooks.json", &new);
    assert_eq!(
        served.call(&json!(2), "reload", &json!({}))["result"]["in_use"],
        1
    );
    served.request(&json!(3), "fire", &json!({"event": bash("ls")}));
    let mut names = [Value::Null, Value::Null];
    for _ in 0..2 {
        let mut response = served.receive();
        let place = usize::from(response["id"] == 3);
        names[place] = response["result"]["results"][0]["hook"]["name"].take();
    }
    assert_eq!(names, [json!("old"), json!("new")]);
}
