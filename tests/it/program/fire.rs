//! `fire`: what is shown of an event and its hooks, and the exit status that follows.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{GUARDED, LS, SUDO, User, with};

fn user() -> (User, String) {
    let user = User::new();
    let config = user.write("project/hooks.json", GUARDED);
    (user, config.to_str().unwrap().to_owned())
}

#[test]
fn hooks_and_the_outcome_are_shown() {
    let (user, config) = user();
    let config = ["--config", config.as_str()];
    user.run(&with(&SUDO, &config)).is_as_in("fire_blocked.txt");
    user.run(&with(&LS, &config)).is_as_in("fire_allowed.txt");
    let keep_going = with(&SUDO, &["--keep-going"]);
    user.run(&with(&keep_going, &config))
        .is_as_in("fire_keep_going.txt");
    let dry_run = ["fire", "tool:pre_execute", "--tool", "write", "--dry-run"];
    user.run(&with(&dry_run, &config)).is_as_in("dry_run.txt");
}

/// Answers with this.
fn says(name: &str, event: &str, answer: &serde_json::Value) -> serde_json::Value {
    json!({"event": event, "name": name, "command": format!("printf %s '{answer}'")})
}

#[test]
fn an_answer_is_shown_as_the_host_reads_it() {
    let user = User::new();
    let changes = json!({"updatedInput": {"command": "ls -l"}, "systemMessage": "long\u{1b}er"});
    let tells = json!({"decision": "allow", "reason": "it reads", "additionalContext": "it is\nold", "additionalContexts": "x"});
    let asks = json!({"decision": "ask", "reason": "is it late?"});
    let stops = json!({"continue": false, "stopReason": "enough"});
    let hooks = json!({"hooks": [
        says("changes", "tool:pre_execute", &changes),
        says("tells", "tool:pre_execute", &tells),
        says("asks", "tool:pre_execute:write", &asks),
        says("blocks", "tool:pre_execute:rm", &json!({"decision": "block"})),
        says("breaks", "tool:pre_execute:mv", &json!({"decision": "maybe"})),
        says("stops", "tool:post_execute", &stops),
    ]});
    user.write("project/hooks.json", &hooks.to_string());
    let fire = |event, tool| user.run(&["fire", event, "--tool", tool, "--config", "hooks.json"]);
    let pre = "tool:pre_execute";
    fire(pre, "ls").is_as_in("fire_answers.txt");
    fire(pre, "write").is_as_in("fire_asks.txt");
    fire(pre, "rm").is_as_in("fire_answers_block.txt");
    fire(pre, "mv").is_as_in("fire_answers_broken.txt");
    fire("tool:post_execute", "ls").is_as_in("fire_stops.txt");
}

#[test]
fn parallel_runs_all_hooks_at_once() {
    let user = User::new();
    let hook = json!({"event": "*", "command": "sleep 0.4"});
    let file = json!({"hooks": [hook, hook, hook]}).to_string();
    user.write("project/hooks.json", &file);
    let args = [
        "fire",
        "session:start",
        "--parallel",
        "--config",
        "hooks.json",
    ];
    let start = Instant::now();
    let printed = user.run(&args);
    assert!(start.elapsed() < Duration::from_millis(1150), "{printed:?}");
    assert_eq!(printed.out.matches(": ok").count(), 3, "{printed:?}");
}

#[test]
fn the_exit_status_tells_what_came_of_it() {
    let user = User::new();
    let cases: [(&str, &str, &str, i32); 6] = [
        ("exit 0", "tool:pre_execute", "block", 0),
        ("exit 3", "tool:pre_execute", "block", 1),
        ("exit 3", "tool:pre_execute", "continue", 0),
        ("exit 3", "session:end", "block", 1),
        ("no_such_command_anywhere", "user:prompt_submit", "block", 1),
        ("kill -9 $$", "game:level_loaded", "block", 1),
    ];
    for (command, event, policy, status) in cases {
        let hook = json!({"event": "*", "command": command, "on_failure": policy});
        let file = json!({"hooks": [hook]}).to_string();
        user.write("project/hooks.json", &file);
        let printed = user.run(&["fire", event, "--config", "hooks.json"]);
        assert_eq!(
            printed.status, status,
            "{command} {event} {policy}: {printed:?}"
        );
    }
}

#[test]
fn an_unusable_entry_blocks_and_is_drawn() {
    let user = User::new();
    user.write(
        "project/hooks.json",
        r#"{"hooks": [{"event": "tool:*", "comand": "true"}]}"#,
    );
    let args = with(&LS, &["--config", "hooks.json"]);
    let printed = user.run(&args);
    assert_eq!(printed.status, 1, "{printed:?}");
    assert!(
        printed
            .err
            .contains("hooks[0].comand: unknown key `comand`"),
        "{printed:?}"
    );
    assert!(
        printed.out.contains("tool:pre_execute: blocked by"),
        "{printed:?}"
    );
    let dry = user.run(&with(&args, &["--dry-run"]));
    assert_eq!(dry.status, 1);
    assert!(dry.out.contains("1. fails:"), "{dry:?}");
}

#[test]
fn options_become_the_event() {
    let user = User::new();
    let file = json!({"hooks": [{"event": "*", "command": "cat"}]}).to_string();
    user.write("project/hooks.json", &file);
    let args = [
        "fire",
        "tool:error",
        "--tool",
        "bash",
        "--args",
        "[1]",
        "--result",
        "\"x\"",
        "--error",
        "e",
        "--session",
        "s",
        "--data",
        "n=5",
        "--data",
        "t=a=b",
        "--json",
        "--config",
        "hooks.json",
    ];
    let report = user.run(&args).json();
    let expected = json!({
        "type": "tool:error", "timestamp": report["event"]["timestamp"],
        "data": {"tool_args": [1], "tool_result": "x", "error": "e", "n": 5, "t": "a=b"},
        "tool_name": "bash", "session_id": "s",
    });
    assert_eq!(report["event"], expected);
    let input = report["results"][0]["stdout"].as_str().unwrap();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(input).unwrap(),
        expected
    );

    let whole = [
        "fire",
        "--event-json",
        "-",
        "--json",
        "--config",
        "hooks.json",
    ];
    let again = user.run_with_input(&whole, &expected.to_string()).json();
    assert_eq!(again["event"], expected);
    user.write("event.json", r#"{"type": "game:over"}"#);
    let whole = ["fire", "--event-json", "../event.json", "--json"];
    assert_eq!(user.run(&whole).json()["event"]["type"], "game:over");
}

#[test]
fn wrong_usage_names_option_and_fix() {
    let user = User::new();
    let cases: &[(&[&str], &str)] = &[
        (
            &["fire", "tool:pre_execute:bash"],
            "fix: name the event `tool:pre_execute` and the tool `bash`",
        ),
        (
            &["fire", "tool:pre_execute", "--args", "ls"],
            "fix: write it as in `--args '{\"command\":\"ls\"}'`",
        ),
        (
            &["fire", "tool:pre_exec"],
            "unknown event `tool:pre_exec`; did you mean `tool:pre_execute`?",
        ),
        (&["fire", "start"], "unknown event `start`"),
        (&["fire", "start"], "events` lists the events"),
        (
            &["fire", "tool:*"],
            "`tool:*` is a pattern, expected one event",
        ),
        (
            &["fire", "PreToolUse"],
            "unknown event `PreToolUse`; did you mean `tool:pre_execute`?",
        ),
        (
            &["fire", "BeforeTool", "--custom"],
            "unknown event `BeforeTool`; a custom event is `category:action`",
        ),
        (
            &["list", "--event", "tool:pre_exec"],
            "fix: `forge-hooks events` lists the events",
        ),
        (
            &["fire"],
            "no event given\n  fix: name one, as in `forge-hooks fire tool:pre_execute`, or use `--event-json FILE`",
        ),
        (
            &["fire", "--as", "claude"],
            "`--as claude` needs `--event-json FILE`, and no EVENT\n  fix: write it as in `forge-hooks ",
        ),
        (
            &["fire", "--as", "claude", "tool:pre_execute"],
            "`--as claude` needs `--event-json FILE`",
        ),
        (
            &["fire", "tool:error", "--result", "ls"],
            "and a text as in `--result '\"ls\"'`",
        ),
        (
            &["fire", "tool:error", "--result", "{a"],
            "`--result`: not valid JSON: key must be a string",
        ),
        (
            &["fire", "tool:error", "--data", "x"],
            "`--data x` has no key",
        ),
        (
            &["fire", "--event-json", "none.json"],
            "fix: name a file that exists, or `-` for standard input",
        ),
        (
            &["fire", "tool:error", "--event-json", "-"],
            "cannot be used with",
        ),
        (
            &["fire", "tool:error", "--jsn"],
            "a similar argument exists: '--json'",
        ),
        (&["frie"], "a similar subcommand exists: 'fire'"),
        (&["list", "--project", "nowhere"], "`--project DIR`"),
    ];
    for (args, words) in cases.iter().copied() {
        let printed = user.run(args);
        printed.is_refused(words);
    }
    let custom = user.run(&["fire", "tool:pre_exec", "--custom"]);
    assert_eq!(custom.status, 0, "{custom:?}");
}

#[test]
fn an_event_in_a_file_is_checked() {
    let user = User::new();
    let cases = [
        ("", "it is empty"),
        ("no", "not valid JSON: expected a value (line 1, column 2)"),
        ("[]", "expected an object, found a list"),
        ("{}", "missing key `type`"),
        (
            r#"{"type": "tool:pre_execute", "tool": "bash"}"#,
            "unknown key `tool`; did you mean `tool_name`?",
        ),
        (
            r#"{"type": "tool:pre_execute", "tool_args": {}}"#,
            "unknown key `tool_args`\n  fix: put other values into `data`",
        ),
        (
            r#"{"type": "tool:pre_exec"}"#,
            "unknown event `tool:pre_exec`; did you mean `tool:pre_execute`?",
        ),
        (
            r#"{"hook_event_name": "PreToolUse"}"#,
            "fix: add `--as claude`",
        ),
        (
            r#"{"hook_event_name": "BeforeTool"}"#,
            "fix: add `--as gemini`",
        ),
    ];
    let fire = ["fire", "--event-json", "-"];
    for (text, words) in cases {
        let printed = user.run_with_input(&fire, text);
        printed.is_refused(words);
        assert!(printed.err.contains("  fix: "), "{text}: {printed:?}");
    }
    let custom = with(&fire, &["--custom"]);
    let printed = user.run_with_input(&custom, r#"{"type": "tool:pre_exec", "id": "x"}"#);
    assert_eq!(printed.status, 0, "{printed:?}");
}

#[test]
fn hooks_that_do_not_run_are_explained() {
    let user = User::new();
    let hooks = json!({"disable": ["named"], "hooks": [
        {"event": "tool:*", "command": "touch ran", "name": "off", "enabled": false},
        {"event": "tool:*", "command": "touch ran", "name": "named"},
        {"event": "tool:*", "command": "touch ran", "name": "when", "when": {"/tool_args/command": "git *"}},
        {"event": "session:*", "command": "touch ran", "name": "other"},
    ]});
    user.write("project/hooks.json", &hooks.to_string());
    let args = with(&LS, &["--config", "hooks.json"]);
    user.run(&args).is_as_in("fire_none.txt");
    let many = json!({"event": "*", "command": "true", "enabled": false});
    user.write(
        "project/hooks.json",
        &json!({"hooks": vec![many; 8]}).to_string(),
    );
    let printed = user.run(&args);
    let words = "\n  `--dry-run` shows all\n";
    assert!(printed.out.ends_with(words), "{printed:?}");
}

#[test]
fn a_broken_file_without_hooks_is_named() {
    let user = User::with_project_file("{");
    let printed = user.run(&LS);
    let words = "tool:pre_execute: no hook ran; the host would continue\n  \
        `.src/forge/hooks.json` has errors, so its hooks may be missing\n  \
        fix: fix the errors above\n";
    assert_eq!((printed.status, &*printed.out), (0, words), "{printed:?}");
    let listed = user.run(&["list"]);
    assert!(listed.out.starts_with("no usable hooks\n"), "{listed:?}");
    assert_eq!(listed.status, 1, "{listed:?}");
    let named = user.run(&with(&LS, &["--config", ".src/forge/hooks.json"]));
    let words = "a file that cannot be used (.src/forge/hooks.json): blocks";
    assert!(named.out.starts_with(words), "{named:?}");
}

#[test]
fn probable_mistakes_of_a_hook_are_shown() {
    let user = User::new();
    let answer = json!({"updatedOutput": "x"});
    let untested = json!({"event": "tool:*", "name": "u", "command": "true", "when": {"/tool_args/comand": "git *"}});
    let hooks = json!({"hooks": [untested, says("r", "tool:*", &answer)]});
    user.write("project/hooks.json", &hooks.to_string());
    let printed = user.run(&with(&LS, &["--config", "hooks.json"]));
    for words in [
        "\n  the condition of `/tool_args/comand` was not tested: ",
        "\n  new output  \"x\"\n  `updatedOutput` has an effect only on `tool:post_execute`\n",
    ] {
        assert!(printed.out.contains(words), "{printed:?}");
    }
    let after = [
        "fire",
        "tool:post_execute",
        "--tool",
        "bash",
        "--result",
        "1",
    ];
    let printed = user.run(&with(&after, &["--config", "hooks.json"]));
    let words = "the host would continue\n  the output is replaced by: \"x\"\n";
    assert!(printed.out.ends_with(words), "{printed:?}");
    assert!(!printed.out.contains("has an effect only"), "{printed:?}");
}

#[cfg(unix)]
#[test]
fn a_process_that_holds_the_output_is_reported() {
    let user = User::new();
    let hook = json!({"event": "*", "command": "sleep 60 & echo hi"});
    user.write("project/hooks.json", &json!({"hooks": [hook]}).to_string());
    let printed = user.run(&["fire", "session:end", "--config", "hooks.json"]);
    let words = "  out  hi\n  a process that it started still holds its output open\n";
    assert!(printed.out.contains(words), "{printed:?}");
}

#[test]
fn dry_run_says_why_a_hook_does_not_run() {
    let user = User::new();
    let hooks = json!({"disable": ["named"], "hooks": [
        {"event": "tool:*", "command": "touch ran", "name": "runs", "inherit": ["PATH", "HOME"]},
        {"event": "tool:*", "command": "touch ran", "name": "untested", "when": {"/tool_arg/command": "git *"}},
        {"event": "tool:*", "command": "touch ran", "name": "off", "enabled": false},
        {"event": "tool:*", "command": "touch ran", "name": "named"},
        {"event": "tool:pre_execute:write|edit", "command": "touch ran", "name": "tool"},
        {"event": "tool:post_execute, llm:*", "command": "touch ran", "name": "two"},
        {"event": "s*", "command": "touch ran", "name": "whole"},
        {"event": "tool:*", "command": "touch ran", "name": "when", "when": {"/tool_args/command": {"regex": "\\bsudo\\b"}}},
        {"event": "tool:*", "args": [], "name": "broken"},
        {"event": "tool:*", "command": "touch ran", "name": "behind"},
    ]});
    user.write("project/hooks.json", &hooks.to_string());
    let args = with(&LS, &["--config", "hooks.json", "--dry-run"]);
    user.run(&args).is_as_in("dry_run_why.txt");
    assert!(!user.path("project/ran").exists());
    let keeps_going = user.run(&with(&args, &["--keep-going"]));
    assert!(
        keeps_going.out.contains("behind (hooks.json:1): 4. runs"),
        "{keeps_going:?}"
    );
}

#[test]
fn background_hooks_are_awaited_and_shown() {
    let user = User::new();
    let hook = json!({"event": "*", "command": "sleep 0.3; echo late; echo >ran", "name": "log", "background": true});
    user.write("project/hooks.json", &json!({"hooks": [hook]}).to_string());
    let printed = user.run(&["fire", "session:end", "--config", "hooks.json"]);
    assert_eq!(printed.status, 0, "{printed:?}");
    assert!(user.path("project/ran").exists());
    assert!(
        printed.out.contains("in the background, ok") && printed.out.contains("late"),
        "{printed:?}"
    );
}

#[test]
fn disabled_hooks_are_reported() {
    let (user, config) = user();
    let args = with(&SUDO, &["--config", &config]);
    let run = |args: &[&str]| {
        let mut command = user.command(args);
        user.printed(command.env("FORGE_HOOKS_DISABLE", "1").output().unwrap())
    };
    let printed = run(&args);
    assert_eq!(printed.status, 0, "{printed:?}");
    assert!(
        printed.err.contains("`FORGE_HOOKS_DISABLE` is set"),
        "{printed:?}"
    );
    let words = "no hook ran; the host would continue\n  `FORGE_HOOKS_DISABLE` is set\n";
    assert!(printed.out.contains(words), "{printed:?}");
    let dry = run(&with(&args, &["--dry-run"]));
    assert!(
        dry.out
            .contains("does not run: `FORGE_HOOKS_DISABLE` is set"),
        "{dry:?}"
    );
    let listed = run(&["list", "--config", &config]);
    assert_eq!(listed.err, "no hook runs: `FORGE_HOOKS_DISABLE` is set\n");
}

#[test]
fn the_readme_example_blocks_sudo_only() {
    let user = User::new();
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/sudo.json");
    let sudo = user.run(&with(&SUDO, &["--config", config]));
    assert_eq!(sudo.status, 1);
    let words = "tool:pre_execute: blocked by block_sudo: sudo is not allowed";
    assert!(sudo.out.contains(words), "{sudo:?}");
    let ls = user.run(&with(&LS, &["--config", config]));
    assert_eq!(ls.status, 0, "{ls:?}");
    assert_eq!(user.run(&["validate", "--strict", config]).status, 0);
}

#[test]
fn a_dry_run_has_the_order_of_the_engine() {
    let user = User::new();
    let hooks = json!({"hooks": [
        {"event": "tool:post_execute", "command": "true", "name": "plain"},
        {"event": "tool:post_execute", "command": "true", "name": "redacts", "on_failure": "withhold"},
    ]});
    user.write("project/hooks.json", &hooks.to_string());
    let args = ["fire", "tool:post_execute", "--dry-run"];
    let printed = user.run(&with(&args, &["--config", "hooks.json"]));
    let words = "redacts (hooks.json:1): 1. runs\nplain (hooks.json:1): 2. runs\n";
    assert!(printed.out.starts_with(words), "{printed:?}");
}
