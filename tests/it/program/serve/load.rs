//! `serve` under load: hosts that do not read, many fires, and requests that race with responses.

use std::collections::HashMap;
use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::{GLOBAL, Served, bash, code, protocol, request, user_with};
use crate::program::User;
use crate::thorough::all_cases;

const MIB: usize = 1024 * 1024;

/// A `fire` of this event, with a text of this size for `TEXT`. The response without hooks has the same size.
fn large(id: usize, event: &Value, size: usize) -> String {
    let line = request(&json!(id), "fire", &json!({"event": event})).to_string() + "\n";
    line.replace("TEXT", &"x".repeat(size))
}

/// An event without hooks.
fn start() -> Value {
    json!({"type": "session:start", "data": {"text": "TEXT"}})
}

/// A user with this one hook.
fn slow(command: &str) -> User {
    user_with(&json!([{"event": "tool:pre_execute", "command": command}]))
}

/// Serves a host that has said `initialize`, and does not read.
fn unread_by(user: &User) -> Served {
    let mut served = Served::unread(&mut user.command(&["serve"]));
    served.request(&json!("first"), "initialize", &protocol());
    served
}

/// 96 MiB of responses: less than the 128 MiB that may wait.
const LARGE: usize = 12;

#[test]
fn a_host_that_reads_late_loses_nothing() {
    let hook = json!({"event": "tool:pre_execute", "command": "sleep 600", "timeout": 600});
    let user = user_with(&json!([hook]));
    let mut served = unread_by(&user);
    served.request(&json!("slow"), "fire", &json!({"event": bash("ls")}));
    for id in 0..LARGE {
        served.send_text(&large(id, &start(), 8 * MIB));
    }
    // Cancelling and the end work all the same.
    served.cancel(&json!("slow"));
    served.request(&json!("last"), "shutdown", &json!({"deadline": 600}));
    served.read();
    let mut responses = HashMap::new();
    for _ in 0..LARGE + 3 {
        let response = served.receive();
        let id = response["id"].to_string();
        assert!(responses.insert(id, response).is_none());
    }
    for id in 0..LARGE {
        assert_eq!(responses[&id.to_string()]["result"]["allowed"], true);
    }
    assert_eq!(responses["\"last\""]["result"], Value::Null);
}

#[test]
fn a_host_that_never_reads_costs_a_bounded_amount() {
    let mut served = unread_by(&User::new());
    let input = served.input.as_mut().unwrap();
    // It ends while it is written to.
    let is_written = |id| {
        input
            .write_all(large(id, &start(), 8 * MIB).as_bytes())
            .is_ok()
    };
    let written = (0..10 * LARGE)
        .map(is_written)
        .take_while(|is_written| *is_written);
    assert!(written.count() < 3 * LARGE);
    assert_eq!(served.ended().0, Some(2));
}

#[test]
fn so_many_bytes_of_fires_may_wait() {
    // Without `reads` it would be refused at once: the event does not fit into a variable.
    let mut hook = json!({"event": "tool:pre_execute", "command": "sleep 60", "reads": "stdin"});
    hook["timeout"] = json!(60);
    let user = user_with(&json!([hook]));
    let mut served = Served::new(&user);
    for id in 0..5 {
        served.send_text(&large(id, &bash("TEXT"), 15 * MIB));
    }
    let response = served.receive();
    assert_eq!((&response["id"], code(&response)), (&4.into(), -32000));
    assert_eq!(served.end().0, Some(0));
}

#[test]
fn so_many_other_requests_may_wait() {
    // Reading so many hooks takes longer than sending all requests.
    let hook = |id| json!({"event": "tool:pre_execute", "command": format!("./guard.sh {id}")});
    let user = user_with(&(0..2_000).map(hook).collect());
    let mut served = Served::new(&user);
    let reload = |id| request(&json!(id), "reload", &json!({})).to_string() + "\n";
    served.send_text(&(0..300).map(reload).collect::<String>());
    let responses: Vec<_> = (0..300).map(|_| served.receive()).collect();
    let mut refused = responses
        .iter()
        .filter(|response| response.get("error").is_some());
    assert!(refused.clone().count() > 0);
    assert!(refused.all(|response| code(response) == -32000));
}

#[test]
fn a_host_that_never_reads_does_not_hold_up_the_end() {
    let user = User::new();
    let mut served = unread_by(&user);
    served.send_text(&large(1, &start(), MIB));
    served.request(&json!(2), "shutdown", &json!({"deadline": 0}));
    assert_eq!(served.ended().0, Some(0));
}

#[test]
fn half_a_line_holds_up_no_other_fire() {
    let user = slow("sleep 0.2");
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
    let user = slow("true");
    let mut served = Served::new(&user);
    let fire = |id| request(&json!(id), "fire", &json!({"event": bash("ls")})).to_string() + "\n";
    // All are sent before a response is read.
    served.send_text(&(0..fires).map(fire).collect::<String>());
    let responses: Vec<_> = (0..fires).map(|_| served.receive()).collect();
    let mut ids: Vec<_> = responses
        .iter()
        .map(|response| response["id"].as_u64())
        .collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq((0..fires as u64).map(Some)));
    let (refused, results): (Vec<_>, Vec<_>) =
        (responses.iter()).partition(|response| response.get("error").is_some());
    assert!(refused.into_iter().all(|response| code(response) == -32000));
    assert!(results.len() >= 1000, "{}", results.len());
    assert_eq!(served.fire("ls")["allowed"], true);
}

#[test]
fn a_cancel_that_races_a_response_leaves_one() {
    let user = slow("true");
    let mut served = Served::new(&user);
    let (mut cancelled, mut finished) = (0, 0);
    // On a slow machine, longer pauses are needed until a hook has ended.
    let pauses = (0..4).flat_map(|power| (0..100).map(move |step| step * 30 * 4_u64.pow(power)));
    for (round, pause) in pauses.enumerate() {
        if round >= 100 && cancelled > 0 && finished > 0 {
            break;
        }
        // Each id is used again at once.
        let id = json!(round % 2);
        served.request(&id, "fire", &json!({"event": bash("ls")}));
        std::thread::sleep(Duration::from_micros(pause));
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
    let user = slow("sleep 60");
    let mut served = Served::new(&user);
    for id in 0..50 {
        served.request(&json!(id), "fire", &json!({"event": bash("ls")}));
    }
    for id in (0..50).rev() {
        served.cancel(&json!(id));
    }
    let responses = (0..50).map(|_| served.receive());
    let id = |response: Value| {
        assert_eq!(response["result"]["results"][0]["failure"], "cancelled");
        response["id"].as_u64().unwrap()
    };
    let mut ids: Vec<_> = responses.map(id).collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..50));
}

#[test]
fn a_fire_sees_the_hooks_before_a_reload_or_those_after_it() {
    let waits = "until test -e go; do sleep 0.01; done";
    let file = |name| json!([{"event": "tool:pre_execute", "name": name, "command": waits}]);
    let user = user_with(&file("old"));
    let mut served = Served::new(&user);
    served.request(&json!(1), "fire", &json!({"event": bash("ls")}));
    user.write(GLOBAL, &json!({"hooks": file("new")}).to_string());
    assert_eq!(served.result("reload", &json!({}))["in_use"], 1);
    served.request(&json!(3), "fire", &json!({"event": bash("ls")}));
    user.write("project/go", "");
    let mut names = json!({});
    for _ in 0..2 {
        let mut response = served.receive();
        names[response["id"].to_string()] = response["result"]["results"][0]["hook"]["name"].take();
    }
    assert_eq!(names, json!({"1": "old", "3": "new"}));
}
