//! Resident hooks: what `fire`, `list` and the others show of them, and `fire --resident N`.

use std::process::Stdio;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;

use super::schemas::is_valid;
use super::{LS, Printed, User, with};
use crate::support::{eventually, is_missing};

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

fn is_gone(pid: &str) -> bool {
    let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
    test_kill_process(pid) == Err(Errno::SRCH)
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
    let words =
        "guard (hooks.json:1): ok, resident: its process was started for this event, [TIME]";
    assert!(
        printed.status == 0 && printed.out.contains(words),
        "{printed:?}"
    );
    let pid = &pids(&user)[0];
    eventually("its process has ended", || is_gone(pid));
    let report = fire(&user, &["--json"]).json();
    is_valid("fire", &report);
    let results = report["results"].as_array().unwrap();
    let ways: Vec<_> = results.iter().map(|it| &it["residency"]).collect();
    assert_eq!(json!(ways), json!(["started", null]));
}

#[test]
fn a_kept_process_is_timed() {
    if is_missing("python3") {
        return;
    }
    let user = user(GUARD);
    let printed = fire(&user, &["--resident", "50"]);
    assert_eq!(
        (printed.status, printed.err.as_str()),
        (0, ""),
        "{printed:?}"
    );
    for words in [
        "guard (hooks.json:1): ok, resident: its process was started for this event",
        "  kept      median ",
        "  50 events\n",
        "  one-shot  median ",
        "  5 runs\n",
        "tool:pre_execute: fired at 1 resident hook\n",
        "  1 hook without `\"resident\": true` did not run\n",
    ] {
        assert!(printed.out.contains(words), "{words}: {printed:?}");
    }
    assert!(!user.path("project/ran").exists());
    let pids = pids(&user);
    assert_eq!(pids.len(), 51 + 5);
    assert!(pids[..51].iter().all(|pid| *pid == pids[0]), "{pids:?}");
    assert!(!pids[51..].contains(&pids[0]), "{pids:?}");
}

#[test]
fn what_is_timed_is_printed_for_programs() {
    if is_missing("python3") {
        return;
    }
    let user = user(GUARD);
    let report = fire(&user, &["--resident", "1001", "--json"]).json();
    is_valid("fire-resident", &report);
    assert_eq!(
        (&report["events"], &report["not_resident"]),
        (&json!(1001), &json!(1))
    );
    let hook = &report["hooks"][0];
    assert_eq!(
        (&hook["answered"], &hook["replaced"]),
        (&json!(1001), &json!(1))
    );
    let seconds = |key: &str| hook[key].as_f64().unwrap();
    assert!(seconds("median") <= seconds("p99"), "{hook:#}");
    assert!(seconds("median") < seconds("one_shot_median"), "{hook:#}");
    assert_eq!(hook["result"]["residency"], "started");
    let none = user.run(&[
        "fire",
        "session:end",
        "--resident",
        "1",
        "--config",
        "hooks.json",
    ]);
    assert_eq!(none.status, 0, "{none:?}");
    let words = "session:end: no resident hook is for this event\n  1 hook without `\"resident\": true` did not run\n";
    assert_eq!(none.out, words);
}

#[test]
fn a_failed_answer_ends_the_measurement() {
    if is_missing("python3") {
        return;
    }
    let user = user(
        &GUARD
            .replace("for line", "for number, line")
            .replace("sys.stdin", "enumerate(sys.stdin)")
            .replace(
                "    print(",
                "    if number == 3: print('hello', flush=True)\n    print(",
            ),
    );
    let printed = fire(&user, &["--resident", "50"]);
    assert_eq!(printed.status, 1, "{printed:?}");
    assert!(
        printed.out.contains("guard (hooks.json:1): blocks, "),
        "{printed:?}"
    );
    assert!(
        printed.out.contains("  2 events\n") && !printed.out.contains("one-shot"),
        "{printed:?}"
    );
    let report = fire(&user, &["--resident", "50", "--json"]).json();
    is_valid("fire-resident", &report);
    assert_eq!(report["hooks"][0]["result"]["failure"], "invalid_answer");

    user.write("project/guard.py", GUARD);
    let sudo = with(&super::SUDO, &["--config", "hooks.json", "--resident", "3"]);
    let printed = user.run(&sudo);
    assert_eq!(printed.status, 1, "{printed:?}");
    assert!(printed.out.contains("  3 events\n"), "{printed:?}");
}

#[test]
fn what_did_not_start_got_no_event() {
    let user = User::new();
    let hook = json!({"event": "tool:*", "args": ["/nowhere/guard"], "resident": true});
    user.write("project/hooks.json", &json!({"hooks": [hook]}).to_string());
    for more in [&[][..], &["--resident", "3"]] {
        let printed = fire(&user, more);
        let words = "blocks, program `/nowhere/guard` not found\n";
        assert!(
            printed.status == 1 && printed.out.contains(words),
            "{printed:?}"
        );
    }
}

#[test]
fn a_number_out_of_range_is_wrong_usage() {
    let user = user(GUARD);
    for number in ["0", "100001", "-1", "x", "1.5", ""] {
        let option = format!("--resident={number}");
        let printed = fire(&user, &[&option]);
        printed.is_refused("--resident <N>");
    }
    for other in ["--dry-run", "--parallel", "--keep-going"] {
        assert_eq!(
            fire(&user, &["--resident", "5", other]).status,
            2,
            "{other}"
        );
    }
}

#[test]
fn ctrl_c_ends_the_kept_process() {
    if is_missing("python3") {
        return;
    }
    // After some events, one takes long.
    let slow = "open(\"pids\", \"a\").write";
    let slow = GUARD.replace(
        slow,
        &format!("import time, os.path as p\n    if p.exists(\"pids\") and p.getsize(\"pids\") > 20: time.sleep(600)\n    {slow}"),
    );
    let user = user(&slow);
    let args = with(&LS, &["--config", "hooks.json", "--resident", "100000"]);
    let mut command = user.command(&args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let program = command.spawn().unwrap();
    let noted = || std::fs::read_to_string(user.path("project/pids")).unwrap_or_default();
    eventually("it takes long", || noted().len() > 20);
    kill_process(Pid::from_child(&program), Signal::INT).unwrap();
    let printed = user.printed(program.wait_with_output().unwrap());
    assert_eq!(printed.status, 130, "{printed:?}");
    assert!(printed.out.contains("  kept      median "), "{printed:?}");
    assert!(
        printed.out.contains("tool:pre_execute: interrupted"),
        "{printed:?}"
    );
    let pid = &pids(&user)[0];
    eventually("its process has ended", || is_gone(pid));
}

#[test]
fn an_unapproved_hook_is_not_timed() {
    let hook = json!({"event": "tool:*", "command": "echo >ran", "resident": true});
    let user = User::with_project_file(&json!({"hooks": [hook]}).to_string());
    let printed = user.run(&with(&LS, &["--resident", "5"]));
    assert!(
        printed.out.contains("skipped") && !printed.out.contains("median"),
        "{printed:?}"
    );
    assert!(!user.path("project/ran").exists());
}

#[test]
fn a_resident_hook_is_called_so() {
    let user = user(GUARD);
    let listed = user.run(&["list", "--config", "hooks.json"]).out;
    let line = "  resident its process is kept for many events\n";
    assert_eq!(listed.matches(line).count(), 1, "{listed}");
    let dry = fire(&user, &["--dry-run"]).out;
    assert!(
        dry.contains("guard (hooks.json:1): 1. runs, resident\n"),
        "{dry}"
    );
    let project = user.read("project/hooks.json");
    user.write("project/.src/forge/hooks.json", &project);
    let status = user.run(&["status"]).out;
    assert!(status.contains("+   \"resident\": true"), "{status}");
    let status = user.run(&["status", "--json"]).json();
    is_valid("status", &status);
}

#[test]
fn a_hook_whose_conditions_differ_is_not_timed() {
    let user = User::new();
    let hook = json!({"event": "tool:*", "command": "echo >ran", "resident": true, "when": {"/tool_args/command": "sudo *"}});
    user.write("project/hooks.json", &json!({"hooks": [hook]}).to_string());
    let printed = fire(&user, &["--resident", "5"]);
    let words = "tool:pre_execute: no resident hook is for this event\n";
    assert_eq!((printed.status, &*printed.out), (0, words), "{printed:?}");
}
