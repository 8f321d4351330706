//! `test` and `fire --record`: tables of cases, and what hooks decide of them.

use serde_json::{Value, json};

use super::schemas::is_valid;
use super::{GUARDED, LS, SUDO, User, with};

/// The guard, one that asks, and one that changes what it sees.
fn user() -> User {
    let user = User::new();
    let mut hooks: Value = serde_json::from_str(GUARDED).unwrap();
    let more = [
        json!({"event": "tool:pre_execute:write", "name": "asker", "command": r#"echo '{"decision": "ask", "reason": "sure?"}'"#}),
        json!({"event": "tool:pre_execute:edit", "name": "changer", "command": r#"echo '{"updatedInput": {"command": "sudo x"}}'"#}),
        json!({"event": "tool:pre_execute:edit", "name": "second", "command": "case $FORGE_TOOL_ARGS in *sudo*) echo changed; exit 1;; esac"}),
        json!({"event": "tool:pre_execute", "name": "log", "command": "sleep 0.3; echo >>log", "background": true}),
    ];
    hooks["hooks"].as_array_mut().unwrap().extend(more);
    user.write("project/hooks.json", &hooks.to_string());
    user
}

const PRE: &str = "tool:pre_execute";

#[test]
fn a_table_is_compared_with_the_hooks() {
    let user = user();
    let sudo = json!({"command": "sudo ls"});
    let right = [
        json!({"name": "blocks", "event": PRE, "tool": "bash", "args": sudo, "expect": "block", "reason": "no *"}),
        json!({"event": PRE, "tool": "bash", "args": {"command": "ls"}, "expect": "allow"}),
        json!({"event": PRE, "tool": "write", "expect": "ask", "reason": "sure[?]"}),
        json!({"name": "changes", "event": PRE, "tool": "edit", "args": {"a": 1}, "expect": "block",
            "reason": "changed", "updatedInput": {"command": "sudo x"}}),
        json!({"event": "session:start", "data": {"x": [1]}, "expect": "allow"}),
    ];
    user.write("project/right.json", &json!(right).to_string());
    let test = |file: &str, more: &[&str]| {
        user.run(&with(&["test", file, "--config", "hooks.json"], more))
    };
    let printed = test("right.json", &[]);
    assert_eq!(printed.status, 0, "{printed:?}");
    assert!(printed.out.contains("5 cases: 0 failed"), "{printed:?}");
    assert!(!user.path("project/log").exists());

    let wrong = "[\n {\"name\": \"one\", \"event\": \"tool:pre_execute\", \"tool\": \"bash\", \
        \"args\": {\"command\": \"sudo ls\"}, \"expect\": \"allow\"},\n\
        {\"event\": \"tool:pre_execute\", \"tool\": \"write\", \"expect\": \"ask\", \"reason\": \"no\", \
        \"updatedInput\": {}},\n{\"event\": \"session:end\", \"expect\": \"allow\"}\n]";
    user.write("project/wrong.json", wrong);
    test("wrong.json", &[]).is_as_in("test_failed.txt");
    let printed = test("wrong.json", &["--json"]);
    assert_eq!(printed.status, 1);
    let report = printed.json();
    is_valid("test", &report);
    assert_eq!(report["failed"], 2);
    let differs: Vec<_> = (0..3).map(|at| &report["cases"][at]["differs"]).collect();
    assert_eq!(
        json!(differs),
        json!([["decision"], ["reason", "updatedInput"], []])
    );
    let piped = user.run_with_input(&["test", "-", "--config", "hooks.json"], wrong);
    assert_eq!(piped.status, 1, "{piped:?}");
}

#[test]
fn an_invalid_table_runs_nothing() {
    let user = user();
    let hook = r#"{"hooks": [{"event": "*", "command": "touch ran"}]}"#;
    user.write("project/hooks.json", hook);
    let good = r#"{"event": "session:start", "expect": "allow"}"#;
    for (text, words) in [
        ("[]".to_owned(), "found no cases in `t.json`"),
        (
            "{".to_owned(),
            "t.json:1:1: expected a list, found an object",
        ),
        (
            format!("[{good}, {{\"event\": \"tool:error:bash\", \"expect\": \"allow\"}}]"),
            "fix: name the event `tool:error` and the tool `bash`",
        ),
        (
            format!("[{}]", good.replace("allow", "deny")),
            "unknown value `deny`, expected one of `allow`, `ask`, `block`",
        ),
        (
            format!("[{good}, {{\"event\": \"*\"}}]"),
            "t.json:1:62: missing key `expect`",
        ),
        (
            format!("[{good},\n{{\"event\": \"session:strat\", \"expect\": \"allow\"}}]"),
            "t.json:2: unknown event `session:strat`; did you mean `session:start`?",
        ),
        (
            format!("[{good},\n {{\"event\": \"a:b\", \"expect\": \"allow\", \"reason\": \"[\"}}]"),
            "t.json:2: `reason` is not a glob",
        ),
        (
            format!(
                "[{good},\n {{\"event\": \"a:b\", \"expect\": \"allow\", \"reason\": \"{}\"}}]",
                "*a".repeat(60_000)
            ),
            "t.json:2: `reason` is longer than 1000 bytes",
        ),
        (
            format!("[{good},\n{{\"evnt\": \"a:b\"}}]"),
            "unknown key `evnt`",
        ),
    ] {
        user.write("project/t.json", &text);
        let printed = user.run(&["test", "t.json", "--config", "hooks.json"]);
        printed.is_refused(words);
        assert!(printed.err.contains("  fix: "), "{text}: {printed:?}");
    }
    assert!(!user.path("project/ran").exists());
    let piped = user.run_with_input(&["test", "-"], "{}");
    let words = "error: standard input:1:1: expected a list";
    assert!(piped.err.starts_with(words), "{piped:?}");
    let missing = user.run(&["test", "none.json"]);
    assert!(
        missing.err.contains("cannot read `none.json`"),
        "{missing:?}"
    );
}

#[test]
fn what_was_fired_is_recorded_as_a_case() {
    let user = user();
    let record = ["--config", "hooks.json", "--record", "cases.json"];
    assert_eq!(user.run(&with(&SUDO, &record)).status, 1);
    let kept = user
        .read("project/cases.json")
        .replace("  {", " /**/ {")
        .replace("/**/", "");
    user.write("project/cases.json", &kept);
    assert_eq!(user.run(&with(&LS, &record)).status, 0);
    let edit = [
        "fire",
        PRE,
        "--tool",
        "edit",
        "--args",
        r#"{"a": 1}"#,
        "--data",
        "n=1",
    ];
    assert_eq!(user.run(&with(&edit, &record)).status, 1);
    let cases = user.read("project/cases.json");
    assert!(
        cases.starts_with(kept.trim_end().trim_end_matches(']').trim_end()),
        "{cases}"
    );
    let cases: Value = serde_json::from_str(&cases).unwrap();
    assert_eq!(
        cases,
        json!([
            {"event": PRE, "tool": "bash", "args": {"command": "sudo ls"}, "expect": "block", "reason": "no sudo"},
            {"event": PRE, "tool": "bash", "args": {"command": "ls"}, "expect": "allow"},
            {"event": PRE, "tool": "edit", "args": {"a": 1}, "data": {"n": 1}, "expect": "block", "reason": "changed",
                "updatedInput": {"command": "sudo x"}},
        ])
    );
    let printed = user.run(&["test", "cases.json", "--config", "hooks.json"]);
    assert_eq!(printed.status, 0, "{printed:?}");
}

#[cfg(unix)]
#[test]
fn a_case_that_is_added_meanwhile_is_kept() {
    let user = User::new();
    let case = r#"{"event": "a:b", "expect": "allow"}"#;
    let hook = json!({"event": "*", "command": format!("echo '[{case}]' > cases.json")});
    user.write("project/hooks.json", &json!({"hooks": [hook]}).to_string());
    let record = ["--config", "hooks.json", "--record", "cases.json"];
    assert_eq!(user.run(&with(&LS, &record)).status, 0);
    let cases = user.read("project/cases.json");
    assert!(cases.starts_with(&format!("[{case},\n")), "{cases}");
}

#[test]
fn a_non_table_is_not_recorded_into() {
    let user = user();
    std::fs::remove_file(user.path("project/hooks.json")).unwrap();
    user.write(
        "project/hooks.json",
        r#"{"hooks": [{"event": "*", "command": "touch ran"}]}"#,
    );
    user.write("project/one.json", "{\"mine\": 1}");
    user.write("project/two.json", "[{\"event\": \"a:b\"}]");
    for (file, words) in [
        ("one.json", "one.json:1:1: "),
        ("two.json", "missing key `expect`"),
        (".", "a directory, expected a regular file"),
        ("none/cases.json", "cannot write `none/cases.json`"),
    ] {
        let printed = user.run(&with(&LS, &["--config", "hooks.json", "--record", file]));
        assert_eq!(printed.status, 2, "{file}: {printed:?}");
        assert!(printed.err.contains(words), "{file}: {printed:?}");
        let ran = std::fs::remove_file(user.path("project/ran")).is_ok();
        assert_eq!(ran, file.starts_with("none"), "{file}");
    }
    assert_eq!(user.read("project/one.json"), "{\"mine\": 1}");
}

#[test]
fn a_changed_call_is_shown_once_more() {
    let user = user();
    let edit = [
        "fire",
        PRE,
        "--tool",
        "edit",
        "--args",
        r#"{"a": 1}"#,
        "--config",
        "hooks.json",
    ];
    user.run(&edit).is_as_in("fire_changed.txt");
    assert_eq!(user.read("project/log"), "\n");
    let report = user.run(&with(&edit, &["--json"])).json();
    is_valid("fire", &report);
    assert_eq!(report["allowed"], true);
    assert_eq!(report["again"]["allowed"], false);
    let args = json!({"a": 1, "command": "sudo x"});
    assert_eq!(report["again"]["event"]["data"]["tool_args"], args);
}

#[test]
fn cases_recorded_at_once_all_arrive() {
    let user = user();
    for round in 1..=5 {
        let record = ["--config", "hooks.json", "--record", "cases.json"];
        let args = with(&LS, &record);
        for printed in user.run_at_once(&[&args[..]; 6]) {
            assert_eq!(printed.status, 0, "{printed:?}");
        }
        let cases: Vec<Value> = serde_json::from_str(&user.read("project/cases.json")).unwrap();
        assert_eq!(cases.len(), 6 * round);
    }
}
