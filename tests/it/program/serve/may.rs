//! Each answer that needs a word, printed without it, through `fire --json` and `serve`: it stops something at most.

use serde_json::{Value, json};

use super::super::User;
use super::{GLOBAL, Served};

/// Each key that needs a word, and the word.
fn answers() -> Vec<(Value, &'static str)> {
    vec![
        (json!({"decision": "allow"}), "grant"),
        (json!({"permissionDecision": "approve"}), "grant"),
        (
            json!({"hookSpecificOutput": {"decision": {"behavior": "allow"}}}),
            "grant",
        ),
        (json!({"additionalContext": "c"}), "add_context"),
        (
            json!({"hookSpecificOutput": {"additionalContext": "c"}}),
            "add_context",
        ),
        (json!({"feedback": "f"}), "add_context"),
        (json!({"updatedInput": {"command": "id"}}), "change_input"),
        (
            json!({"hookSpecificOutput": {"updatedInput": {"command": "id"}}}),
            "change_input",
        ),
        (
            json!({"updatedInput": {"a": 1}, "replacesInput": true}),
            "change_input",
        ),
        (json!({"updatedOutput": "o"}), "change_output"),
        (json!({"continue": false}), "end_turn"),
    ]
}

const EVENTS: [&str; 5] = [
    "tool:pre_execute",
    "tool:post_execute",
    "permission:check",
    "agent:stop",
    "session:start",
];

fn event(name: &str) -> Value {
    let data = json!({"tool_args": {"command": "ls"}, "tool_result": "r"});
    if name.starts_with("tool:") || name.starts_with("permission:") {
        json!({"type": name, "timestamp": 1.5, "tool_name": "bash", "data": data})
    } else {
        json!({"type": name, "timestamp": 1.5, "data": {}})
    }
}

/// Checks what a host is told of an event whose only hook has no word.
fn stops_at_most(report: &Value, event: &str, case: &str) {
    assert!(report["again"].is_null(), "{case}: {report}");
    for key in ["context", "feedback"] {
        assert!(report[key].is_null(), "{case}: {report}");
    }
    assert_ne!(report["decision"], "allow", "{case}: {report}");
    let is_stop = event == "agent:stop";
    assert!(!is_stop || report["stop"] == false, "{case}: {report}");
    let output = &report["results"][0]["output"];
    let widening = [
        "updatedInput",
        "updatedOutput",
        "additionalContext",
        "feedback",
    ];
    assert!(widening.iter().all(|key| output[key].is_null()), "{case}");
    assert_ne!(output["decision"], "allow", "{case}");
    // A note for the model takes the place of what may have been meant to be changed.
    let changed = report["updated_output"].as_str();
    assert!(
        changed.is_none_or(|output| output.starts_with("[output withheld")),
        "{case}"
    );
}

#[test]
fn without_its_word_an_answer_stops_something_at_most() {
    let user = User::new();
    let answer_file = user.write("project/answer.json", "");
    let entry = json!({"event": "*", "command": format!("cat '{}'", answer_file.display())});
    user.write(GLOBAL, &json!({"hooks": [entry]}).to_string());
    let mut served = Served::new(&user);
    for (answer, word) in answers() {
        user.write("project/answer.json", &answer.to_string());
        for name in EVENTS {
            let event = event(name);
            let case = format!("{answer} on {name}");
            let fired = served.result("fire", &json!({"event": event}));
            stops_at_most(&fired, name, &case);
            let printed =
                user.run_with_input(&["fire", "--event-json", "-", "--json"], &event.to_string());
            let printed = printed.json();
            stops_at_most(&printed, name, &case);
            let message = format!("{printed}");
            let is_other_stop = word == "end_turn" && name != "agent:stop";
            assert!(message.contains(word) || is_other_stop, "{case}: {message}");
        }
    }
}
