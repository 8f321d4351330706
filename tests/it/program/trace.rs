//! `trace`: what a host wrote of its hooks, as a table and as a page.

use serde_json::json;

use super::{LS, User, with};

pub(super) const TRACE: &str = concat!(
    r#"{"time":1760000001.25,"event":"tool:pre_execute","tool":"bash","session":"s1","hook":"guard","pattern":"*","command":"./guard.sh","source":"hooks.json: hooks[0]","host_pid":7,"queued":0.0,"duration":0.0042,"pid":9,"exit_code":1,"failure":"exit","decision":"block","should_continue":false,"reason":"no sudo\nreally"}"#,
    "\n",
    r#"{"time":1760000002,"event":"session:end","session":"s1","hook":"log \u001b[2J","pattern":"*","command":"x","background":true,"host_pid":7,"queued":0.5,"duration":1.5,"exit_code":0,"decision":"allow","should_continue":true,"of_a_later_version":{}}"#,
    "\n",
    r#"{"time":1760000003,"event":"session:end","hook":"late","pattern":"*","command":"x","host_pid":7,"queued":0.5,"dropped":"busy"}"#,
    "\n",
    r#"{"time":1760000003,"event":"session:end","hook":"new","pattern":"*","skipped":"not_approved","decision":"allow","exit_code":-1}"#,
    "\n",
    r#"{"time":1760000004,"event":"session:end","hook":"mild","failure":"timed_out","decision":"allow","duration":10,"resident":"replaced"}"#,
    "\n",
    r#"{"time":1760000003.5,"host_pid":7,"lost":17}"#,
    "\nno JSON at all\n{\"time\":176",
);

#[test]
fn a_table_counts_unreadable_lines() {
    let user = User::new();
    user.write("project/hooks.jsonl", TRACE);
    user.run(&["trace", "hooks.jsonl"]).is_as_in("trace.txt");
    let piped = user.run_with_input(&["trace", "-"], TRACE);
    assert!(piped.out.contains("5 lines, 1 blocked"), "{piped:?}");
}

#[test]
fn the_page_of_a_trace_is_self_contained() {
    let user = User::new();
    let hostile = TRACE.replace("no sudo", "</script><img src=x onerror=alert(1)>");
    user.write("project/hooks.jsonl", &hostile);
    let printed = user.run(&["trace", "hooks.jsonl", "--html", "trace.html"]);
    assert_eq!(
        (printed.status, printed.out.as_str()),
        (0, "wrote trace.html\n")
    );
    let page = user.read("project/trace.html");
    assert!(
        !page.contains("<img") && !page.contains("https:"),
        "it loads nothing"
    );
    let (_, json) = page.split_once("type=\"application/json\">").unwrap();
    let json = json.split_once("</script>").unwrap().0;
    let trace: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(trace["entries"].as_array().unwrap().len(), 5);
    assert_eq!((&trace["lost"], &trace["broken"]), (&17.into(), &2.into()));
    user.run(&["trace", "hooks.jsonl", "--html", "./hooks.jsonl"])
        .is_refused("`--html ./hooks.jsonl` is the trace itself");
    let printed = user.run(&["trace", "hooks.jsonl", "--html", "-"]);
    assert_eq!(printed.out, page);
}

#[test]
fn fire_writes_each_line_of_a_trace() {
    let user = User::new();
    let guards = vec![json!({"event": "tool:*", "command": "exit 1"}); 20];
    user.write("h.json", &json!({"hooks": guards}).to_string());
    let hooks = user.path("h.json");
    let more = ["--keep-going", "--config", hooks.to_str().unwrap()];
    let mut fire = user.command(&with(&LS, &more));
    fire.env("FORGE_HOOKS_TRACE", user.path("trace"));
    assert_eq!(user.feed(fire, "").status, 1);
    assert_eq!(user.read("trace").lines().count(), 20);
}

#[test]
fn a_non_trace_is_refused() {
    let user = User::new();
    user.write("project/other.txt", "one\ntwo\n");
    for (file, words) in [("other.txt", "is not a trace"), ("none", "cannot read")] {
        let printed = user.run(&["trace", file]);
        assert_eq!(printed.status, 2, "{printed:?}");
        assert!(printed.err.contains(words), "{printed:?}");
        assert!(printed.err.contains("  fix: name a "), "{printed:?}");
    }
    user.write("project/empty.jsonl", "");
    assert_eq!(user.run(&["trace", "empty.jsonl"]).status, 0);
}

#[test]
fn thousands_of_lines_are_shown() {
    let user = User::new();
    let line = TRACE.lines().next().unwrap();
    user.write("project/long.jsonl", &format!("{line}\n").repeat(3_000));
    let printed = user.run(&["trace", "long.jsonl"]);
    assert!(printed.out.ends_with("3000 lines, 3000 blocked\n"));
    let printed = user.run(&["trace", "long.jsonl", "--html", "long.html"]);
    assert_eq!(printed.status, 0, "{printed:?}");
}
