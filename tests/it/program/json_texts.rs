//! A byte order mark before a JSON text, and half of a surrogate pair in it, in what the program reads.

use super::User;

const FILE: &str = r#"{"hooks": [{"event": "*", "command": "printf '%s\n' \"$FORGE_TOOL_ARGS\" \"$FORGE_X\"; exit 1"}]}"#;

fn user() -> User {
    let user = User::new();
    user.write("config/src/forge/hooks.json", FILE);
    user
}

#[test]
fn an_event_is_read() {
    let user = user();
    let event = "\u{FEFF}{\"type\": \"tool:pre_execute\", \"tool_name\": \"bash\", \"data\": {\"tool_args\": \"a \\ud83d\", \"x\": \"\\udc00\"}}";
    user.write("project/event.json", event);
    user.write("project/args.json", "\u{FEFF}\"a \\ud83d\"");
    let tool = [
        "fire",
        "tool:pre_execute",
        "--tool",
        "bash",
        "--data",
        "x=\"\\udc00\"",
        "--args",
    ];
    for args in [
        &["fire", "--event-json", "event.json"][..],
        &[&tool[..], &["\"a \\ud83d\""]].concat(),
        &[&tool[..], &["@args.json"]].concat(),
    ] {
        let printed = user.run(args);
        assert_eq!(printed.status, 1, "{args:?}: {printed:?}");
        assert!(
            printed.err.contains("\"a \u{FFFD}\"") || printed.out.contains("\"a \u{FFFD}\""),
            "{printed:?}"
        );
    }
    let printed = user.run_with_input(&["fire", "--event-json", "-"], event);
    assert_eq!(printed.status, 1, "{printed:?}");
}

#[test]
fn an_event_of_another_agent_is_read() {
    let user = User::new();
    let event = "\u{FEFF}{\"hook_event_name\": \"PreToolUse\", \"tool_name\": \"Bash\", \"tool_input\": {\"command\": \"a \\ud83d\"}}";
    let settings = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "grep -q 'a \ufffd' && exit 2"}]}]}}"#;
    user.write("home/.claude/settings.json", settings);
    let printed = user.run_with_input(
        &[
            "fire",
            "--other-agents",
            "claude",
            "--agent",
            "claude",
            "--event-json",
            "-",
        ],
        event,
    );
    assert_eq!(printed.status, 1, "{printed:?}");
}

#[test]
fn cases_are_read() {
    let user = user();
    let cases = "\u{FEFF}[\n  {\"event\": \"tool:pre_execute\", \"tool\": \"bash\", \"args\": \"a \\ud83d\", \"expect\": \"block\"},\n  {\"event\": \"session:start\", \"expect\": \"allow\"}\n]";
    user.write("project/cases.json", cases);
    let printed = user.run(&["test", "cases.json"]);
    assert_eq!(printed.status, 0, "{printed:?}");
}
