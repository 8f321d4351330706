//! Resident hooks: what `fire`, `list` and the others show of them.

use serde_json::json;

use super::{LS, Printed, User, with};
use crate::support::{eventually, is_alive, is_missing};

/// Notes its process; blocks `sudo`.
const GUARD: &str = r#"
import json, os, sys
for line in sys.stdin:
    event = json.loads(line)
    open("pids", "a").write(f"{os.getpid()}\n")
    answer = {"id": event.get("id")}
    if "sudo" in line: answer["decision"] = "block"
    print(json.dumps(answer), flush=True)
"#;

fn user(guard: &str) -> User {
    let user = User::new();
    let args = ["python3", "-I", "guard.py"];
    let hooks = json!({"hooks": [
        {"event": "tool:*", "args": args, "name": "guard", "resident": true},
        {"event": "tool:*", "command": "echo >ran", "name": "other"},
        {"event": "session:*", "command": "true"},
    ]});
    user.write("project/hooks.json", &hooks.to_string());
    user.write("project/guard.py", guard);
    user
}

fn fire(user: &User, more: &[&str]) -> Printed {
    let args = with(&LS, &["--config", "hooks.json"]);
    user.run(&with(&args, more))
}

/// The processes that events have reached, in their order.
fn pids(user: &User) -> Vec<String> {
    let all = user.read("project/pids");
    all.lines().map(str::to_owned).collect()
}

#[test]
fn fire_shows_how_a_hook_got_its_event() {
    if is_missing("python3") {
        return;
    }
    // It does not end when its input does.
    let user = user(&format!(
        "{GUARD}\nimport signal, time\nsignal.signal(15, 1)\ntime.sleep(600)\n"
    ));
    let printed = fire(&user, &[]);
    let message =
        "guard (hooks.json:1): ok, resident: its process was started for this event, [TIME]";
    let is_said = printed.status == 0 && printed.out.contains(message);
    assert!(is_said, "{printed:?}");
    let pid = &pids(&user)[0];
    eventually("its process has ended", || !is_alive(pid));
    let report = fire(&user, &["--json"]).json();
    let results = report["results"].as_array().unwrap();
    let ways: Vec<_> = results.iter().map(|result| &result["residency"]).collect();
    assert_eq!(json!(ways), json!(["started", null]));
}

#[test]
fn a_missing_answer_names_the_flush() {
    if is_missing("python3") {
        return;
    }
    let user = user("import sys\nfor line in sys.stdin: print('{}')\n");
    let text = user.read("project/hooks.json");
    let text = text.replace("\"resident\":true", "\"resident\":true,\"timeout\":0.5");
    user.write("project/hooks.json", &text);
    let printed = fire(&user, &[]);
    let hint = "hint: a resident hook must flush its output after each answer";
    assert!(printed.out.contains(hint), "{printed:?}");
}
