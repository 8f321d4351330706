//! `trace`: what a host wrote of its hooks, as a table and for viewers.

use std::io::{Seek, SeekFrom, Write};

use serde_json::{Value, json};

use super::User;

const TRACE: &str = r#"{"time":1760000001.25,"event":"tool:pre_execute","tool":"bash","session":"s1","hook":"guard","pattern":"*","command":"./guard.sh","source":"hooks.json: hooks[0]","host_pid":7,"queued":0.0,"duration":0.0042,"pid":9,"exit_code":1,"failure":"exit","decision":"block","should_continue":false,"reason":"no sudo\nreally"}
{"time":1760000002,"event":"session:end","session":"s1","hook":"log \u001b[2J","pattern":"*","command":"x","background":true,"host_pid":7,"queued":0.5,"duration":1.5,"exit_code":0,"decision":"allow","should_continue":true,"of_a_later_version":{}}
{"time":1760000004,"event":"session:end","hook":"mild","failure":"timed_out","decision":"allow","duration":10,"resident":"replaced"}
{"time":1760000003.5,"host_pid":7,"lost":17}
no JSON at all
{"time":176"#;

#[test]
fn chrome_has_a_lane_for_hooks_at_the_same_time() {
    let user = User::new();
    let lines = [
        // Ends, takes: two at the same time, one that starts when another ends, one of another host.
        json!({"time": 12.5, "duration": 0.5, "host_pid": 7, "hook": "b", "event": "e", "decision": "block"}),
        json!({"time": 13, "duration": 1.5, "host_pid": 7, "hook": "a", "event": "e"}),
        json!({"time": 14, "duration": 1, "host_pid": 7, "pattern": "*"}),
        json!({"time": 14, "duration": 2, "host_pid": 8, "hook": "d"}),
        json!({"time": 15, "host_pid": 7, "hook": "late", "dropped": "busy"}),
        json!({"time": 15, "lost": 3}),
    ];
    user.write(
        "project/hooks.jsonl",
        &lines.map(|line| format!("{line}\n")).concat(),
    );
    let chrome = user.run(&["trace", "hooks.jsonl", "--chrome"]).json();
    let events = chrome["traceEvents"].as_array().unwrap();
    let [hooks, names] =
        ["X", "M"].map(|kind| events.iter().filter(move |event| event["ph"] == kind));
    let fields = |event: &Value| {
        ["name", "ts", "dur", "pid", "tid"]
            .map(|key| event[key].to_string())
            .join(" ")
    };
    let hooks = Vec::from_iter(hooks);
    assert_eq!(
        hooks.iter().map(|hook| fields(hook)).collect::<Vec<_>>(),
        [
            r#""a" 11500000 1500000 7 1"#,
            r#""b" 12000000 500000 7 2"#,
            r#""d" 12000000 2000000 8 1"#,
            r#""*" 13000000 1000000 7 2"#,
            r#""late" 15000000 0 7 1"#,
        ]
    );
    assert_eq!(
        (&hooks[1]["cat"], &hooks[1]["args"]["kind"]),
        (&json!("e"), &json!("block"))
    );
    let names: Vec<_> = names
        .map(|event| {
            format!(
                "{} {} {}",
                event["pid"], event["tid"], event["args"]["name"]
            )
        })
        .collect();
    let expected = [
        r#"7 0 "host 7""#,
        r#"7 1 "hooks 1""#,
        r#"7 2 "hooks 2""#,
        r#"8 0 "host 8""#,
        r#"8 1 "hooks 1""#,
    ];
    assert_eq!(names, expected);
    // Speedscope reads no trace in which one lacks a time.
    assert!(events.iter().all(|event| event["ts"].is_u64()));
    assert_eq!(
        chrome["otherData"],
        json!({"lost": 3, "broken": 0, "left_out": 0})
    );
}

/// The test needs a shell that can limit memory.
#[cfg(target_os = "linux")]
#[test]
fn a_line_without_an_end_takes_no_memory() {
    let user = User::new();
    let path = user.path("project/hooks.jsonl");
    let mut file = std::fs::File::create(&path).unwrap();
    // More than the limit below.
    file.set_len(1 << 28).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    write!(file, "\n{}\n", TRACE.lines().next().unwrap()).unwrap();
    // In KiB.
    let limited = user
        .shell("ulimit -v 200000 && exec forge-hooks trace hooks.jsonl")
        .output();
    let printed = user.printed(limited.unwrap());
    let end = "1 line, 1 blocked, 1 line unreadable\n";
    let is_read = printed.status == 0 && printed.out.ends_with(end);
    assert!(is_read, "{printed:?}");
    file.set_len(1 << 28).unwrap();
    let printed = user.run(&["trace", "hooks.jsonl"]);
    assert_eq!(printed.status, 2, "{printed:?}");
}
