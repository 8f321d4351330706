//! `trace`: what a host wrote of its hooks, as a table and as a page.

use std::io::{Read, Seek, SeekFrom, Write};

use super::{User, json_of_page};

const TRACE: &str = r#"{"time":1760000001.25,"event":"tool:pre_execute","tool":"bash","session":"s1","hook":"guard","pattern":"*","command":"./guard.sh","source":"hooks.json: hooks[0]","host_pid":7,"queued":0.0,"duration":0.0042,"pid":9,"exit_code":1,"failure":"exit","decision":"block","should_continue":false,"reason":"no sudo\nreally"}
{"time":1760000002,"event":"session:end","session":"s1","hook":"log \u001b[2J","pattern":"*","command":"x","background":true,"host_pid":7,"queued":0.5,"duration":1.5,"exit_code":0,"decision":"allow","should_continue":true,"of_a_later_version":{}}
{"time":1760000003,"event":"session:end","hook":"late","pattern":"*","command":"x","host_pid":7,"queued":0.5,"dropped":"busy"}
{"time":1760000003,"event":"session:end","hook":"new","pattern":"*","skipped":"not_approved","decision":"allow","exit_code":-1}
{"time":1760000004,"event":"session:end","hook":"mild","failure":"timed_out","decision":"allow","duration":10,"resident":"replaced"}
{"time":1760000003.5,"host_pid":7,"lost":17}
no JSON at all
{"time":176"#;

#[test]
fn the_page_of_a_trace_is_self_contained() {
    let user = User::new();
    let hostile = "</script><img src=x onerror=alert(1)><!--<script>&amp;'";
    let hostile = TRACE.replace("no sudo", hostile);
    user.write("project/hooks.jsonl", &hostile);
    let printed = user.run(&["trace", "hooks.jsonl", "--html", "trace.html"]);
    assert_eq!((printed.status, &*printed.out), (0, "wrote trace.html\n"));
    let page = user.read("project/trace.html");
    let loads = page.contains("<img") || page.contains("https:");
    assert!(!loads, "it loads nothing");
    let scripts = ["<script", "</script>"].map(|it| page.matches(it).count());
    assert_eq!(scripts, [2, 2]);
    let trace = json_of_page(&page);
    assert_eq!(trace["entries"].as_array().unwrap().len(), 5);
    assert_eq!((&trace["lost"], &trace["broken"]), (&17.into(), &2.into()));
}

#[cfg(unix)]
#[test]
fn a_page_is_private_until_it_has_its_mode() {
    let user = User::new();
    let trace = user.write("project/hooks.jsonl", TRACE);
    std::fs::set_permissions(trace, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let page = user.write("project/page.html", "old");
    let mut opened_before = std::fs::File::open(&page).unwrap();
    user.run(&["trace", "hooks.jsonl", "--html", "page.html"]);
    let mut seen = String::new();
    opened_before.read_to_string(&mut seen).unwrap();
    assert!(seen == "old");
}

/// Where a shell can limit memory.
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
