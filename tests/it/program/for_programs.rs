//! What is there for programs and authors: errors as JSON, arguments from files, the events.

use serde_json::json;

use super::schemas::is_valid;
use super::{GUARDED, User};

#[test]
fn an_error_is_an_object_for_programs() {
    let user = User::with_project_file(GUARDED);
    for (args, message, has_fix) in [
        (
            &["fire", "tool:pre_exec", "--json"][..],
            "unknown event `tool:pre_exec`; did you mean `tool:pre_execute`?",
            true,
        ),
        (
            &["fire", "--json", "--jsn"],
            "unexpected argument '--jsn' found",
            false,
        ),
        (
            &["fire", "tool:error", "--json", "--args", "{"],
            "`--args`: the JSON is incomplete (line 1, column 1)",
            true,
        ),
        (
            &["list", "--json", "--config", "none"],
            "cannot read `--config none`",
            true,
        ),
        (
            &["list", "--json", "--project", "none"],
            "the project `none` is not a directory",
            true,
        ),
        (
            &["validate", "--json", "--profile", "/"],
            "invalid value '/'",
            false,
        ),
        (
            &["test", "none.json", "--json"],
            "cannot read `none.json`",
            true,
        ),
    ] {
        let printed = user.run(args);
        assert_eq!(printed.status, 2, "{args:?}: {printed:?}");
        let report = printed.json();
        is_valid("error", &report);
        let found = report["error"]["message"].as_str().unwrap();
        assert!(found.starts_with(message), "{args:?}: {report}");
        assert_eq!(report["error"]["fix"].is_string(), has_fix, "{report}");
        assert!(printed.err.contains(message), "{args:?}: {printed:?}");
    }
}

#[test]
fn arguments_are_read_from_a_file() {
    let user = User::new();
    user.write("project/args.json", "{\"command\": \"x\"}\n");
    let fire = |option, value| {
        let args = ["fire", "tool:error", option, value, "--json"];
        user.run(&args)
    };
    let data = |option| fire(option, "@args.json").json()["event"]["data"].clone();
    assert_eq!(data("--args"), json!({"tool_args": {"command": "x"}}));
    assert_eq!(data("--result"), json!({"tool_result": {"command": "x"}}));
    user.write("project/text", "no JSON");
    let large = std::fs::File::create(user.path("project/large")).unwrap();
    large.set_len(16 * 1024 * 1024 + 1).unwrap();
    for (value, words) in [
        ("@none", "cannot read `--args @none`: "),
        ("@.", "a directory, expected a regular file"),
        (
            "@text",
            "not valid JSON: expected a value (line 1, column 2)",
        ),
        ("@large", "it is larger than 16 MiB"),
    ] {
        let printed = fire("--args", value);
        assert_eq!(printed.status, 2, "{value}: {printed:?}");
        assert!(printed.err.contains(words), "{value}: {printed:?}");
    }
}

#[test]
fn events_are_shown_with_their_variables() {
    let user = User::new();
    user.run(&["events"]).is_as_in("events.txt");
    let report = user
        .run(&["events", "--json", "--profile", "mygame"])
        .json();
    is_valid("events", &report);
    let events = report["events"].as_array().unwrap();
    assert_eq!(events.len(), 23);
    let data = json!([{"key": "tool_args", "description": "the tool's arguments", "variable": "FORGE_TOOL_ARGS"}]);
    assert_eq!(events[0]["data"], data);
    let variables = events[0]["variables"].as_array().unwrap();
    assert!(variables.contains(&json!("FORGE_TOOL_NAME")), "{report:#}");
}
