//! Events: their names, what the factories put into them, and their form as JSON.

use std::collections::HashSet;
use std::time::{SystemTime, UNIX_EPOCH};

use forge_hooks::{EventType, HookEvent};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::{custom, eventually};

#[test]
fn the_specification_has_sixteen_events() {
    #[track_caller]
    fn case(event: EventType, name: &str) {
        assert_eq!(event.as_str(), name);
        assert_eq!(event.to_string(), name);
        assert_eq!(name.parse(), Ok(event.clone()));
        assert_eq!(
            name.split_once(':'),
            Some((event.category(), event.action()))
        );
        assert_eq!(json!(event), json!(name));
        assert!(EventType::BUILTIN.contains(&event));
    }
    case(EventType::ToolPreExecute, "tool:pre_execute");
    case(EventType::ToolPostExecute, "tool:post_execute");
    case(EventType::ToolError, "tool:error");
    case(EventType::LlmPreRequest, "llm:pre_request");
    case(EventType::LlmPostResponse, "llm:post_response");
    case(EventType::LlmStreamStart, "llm:stream_start");
    case(EventType::LlmStreamEnd, "llm:stream_end");
    case(EventType::SessionStart, "session:start");
    case(EventType::SessionEnd, "session:end");
    case(EventType::SessionMessage, "session:message");
    case(EventType::PermissionCheck, "permission:check");
    case(EventType::PermissionPrompt, "permission:prompt");
    case(EventType::PermissionGranted, "permission:granted");
    case(EventType::PermissionDenied, "permission:denied");
    case(EventType::UserPromptSubmit, "user:prompt_submit");
    case(EventType::UserInterrupt, "user:interrupt");
    assert_eq!(EventType::BUILTIN.iter().collect::<HashSet<_>>().len(), 16);
}

#[test]
fn each_factory_sets_its_type_and_data() {
    #[track_caller]
    fn case(event: HookEvent, name: &str, tool: Option<&str>, session: Option<&str>, data: Value) {
        assert_eq!(event.event_type.as_str(), name);
        assert_eq!(event.tool_name.as_deref(), tool);
        assert_eq!(event.session_id.as_deref(), session);
        assert_eq!(Value::from(event.data.clone()), data);
        let in_session = event.with_session_id("sess_123");
        assert_eq!(in_session.session_id.as_deref(), Some("sess_123"));
        assert_eq!(Value::from(in_session.data), data);
    }
    let args = || json!({"command": "ls"});
    let result = json!({"success": true});
    let bash = Some("bash");
    let s1 = Some("s1");
    case(
        HookEvent::tool_pre_execute("bash", args()),
        "tool:pre_execute",
        bash,
        None,
        json!({"tool_args": args()}),
    );
    case(
        HookEvent::tool_post_execute("bash", args(), result.clone()),
        "tool:post_execute",
        bash,
        None,
        json!({"tool_args": args(), "tool_result": result}),
    );
    case(
        HookEvent::tool_error("bash", args(), "Command failed"),
        "tool:error",
        bash,
        None,
        json!({"tool_args": args(), "error": "Command failed"}),
    );
    let model = "claude";
    case(
        HookEvent::llm_pre_request(model, 7),
        "llm:pre_request",
        None,
        None,
        json!({"llm_model": model, "message_count": 7}),
    );
    case(
        HookEvent::llm_post_response(model, u64::MAX),
        "llm:post_response",
        None,
        None,
        json!({"llm_model": model, "llm_tokens": u64::MAX}),
    );
    case(
        HookEvent::llm_stream_start(model),
        "llm:stream_start",
        None,
        None,
        json!({"llm_model": model}),
    );
    case(
        HookEvent::llm_stream_end(model, 0),
        "llm:stream_end",
        None,
        None,
        json!({"llm_model": model, "llm_tokens": 0}),
    );
    case(
        HookEvent::session_start("s1"),
        "session:start",
        None,
        s1,
        json!({}),
    );
    case(
        HookEvent::session_end("s1"),
        "session:end",
        None,
        s1,
        json!({}),
    );
    case(
        HookEvent::session_message("s1", "user", "hi"),
        "session:message",
        None,
        s1,
        json!({"role": "user", "content": "hi"}),
    );
    let ruled = json!({"perm_level": "ask", "perm_rule": "bash(*)"});
    let rule = Some("bash(*)");
    let checked = HookEvent::permission_check("bash", "ask", rule);
    case(checked, "permission:check", bash, None, ruled.clone());
    let prompted = HookEvent::permission_prompt("bash", "ask", rule);
    case(prompted, "permission:prompt", bash, None, ruled.clone());
    let granted = HookEvent::permission_granted("bash", "ask", rule);
    case(granted, "permission:granted", bash, None, ruled.clone());
    let denied = HookEvent::permission_denied("bash", "ask", rule);
    case(denied, "permission:denied", bash, None, ruled);
    let without_rule = HookEvent::permission_check("bash", "ask", None);
    case(
        without_rule,
        "permission:check",
        bash,
        None,
        json!({"perm_level": "ask"}),
    );
    case(
        HookEvent::user_prompt_submit("do it"),
        "user:prompt_submit",
        None,
        None,
        json!({"content": "do it"}),
    );
    case(
        HookEvent::user_interrupt(),
        "user:interrupt",
        None,
        None,
        json!({}),
    );
    for event_type in EventType::BUILTIN {
        let name = event_type.to_string();
        case(HookEvent::new(event_type), &name, None, None, json!({}));
    }
}

#[test]
fn data_and_tool_can_be_set_and_set_again() {
    let event = custom("game:level_loaded")
        .with_data("level", 3)
        .with_data("level", "four")
        .with_tool_name("map")
        .with_tool_name("loader");
    assert_eq!(Value::from(event.data.clone()), json!({"level": "four"}));
    assert_eq!(event.tool_name.as_deref(), Some("loader"));
}

#[test]
fn json_has_only_the_fields_that_are_set() {
    #[track_caller]
    fn case(event: &HookEvent, keys: &[&str]) {
        let text = event.to_json();
        assert_eq!(text.lines().count(), 1);
        assert!(!text.contains(['\n', '\r']), "{text}");
        let object: Map<String, Value> = serde_json::from_str(&text).unwrap();
        assert_eq!(object.len(), keys.len());
        let places = keys
            .iter()
            .map(|key| text.find(&format!("\"{key}\":")).unwrap());
        assert!(places.is_sorted(), "{text}");
        assert_eq!(object["type"], event.event_type.as_str());
        assert_eq!(object["data"], Value::from(event.data.clone()));
        assert_eq!(object["timestamp"].as_f64(), Some(event.timestamp));
    }
    let bare = ["type", "timestamp", "data"];
    case(&HookEvent::user_interrupt(), &bare);
    case(
        &HookEvent::user_prompt_submit("two\nlines\r\n\u{2028}\0"),
        &bare,
    );
    let event = HookEvent::session_start("s1\n");
    case(&event, &["type", "timestamp", "data", "session_id"]);
    let event = HookEvent::tool_pre_execute("a\nb", json!({"a\nb": "c\nd"}));
    case(&event, &["type", "timestamp", "data", "tool_name"]);
    let event = event.with_session_id("s1");
    case(
        &event,
        &["type", "timestamp", "data", "tool_name", "session_id"],
    );
}

#[track_caller]
fn read(text: &str) -> HookEvent {
    serde_json::from_str(text).unwrap()
}

#[test]
fn reading_an_event_needs_only_its_type() {
    for text in [
        r#"{"type": "session:end"}"#,
        r#"{"type": "session:end", "timestamp": null, "data": null,
            "tool_name": null, "session_id": null}"#,
    ] {
        let before = seconds_now();
        let event = read(text);
        assert_eq!(event.event_type, EventType::SessionEnd);
        assert_eq!((&event.tool_name, &event.session_id), (&None, &None));
        assert!(event.data.is_empty());
        assert_about_now(before, &event);
    }
}

#[test]
fn unknown_keys_of_an_event_are_ignored() {
    let event = read(
        r#"{"hook_event_name": ["x"], "type": "tool:error", "timestamp": 5, "cwd": {"a": 1},
            "tool_name": "bash", "data": {"error": "e", "more": null}, "session_id": "s"}"#,
    );
    let expected = json!({"error": "e", "more": null});
    assert_eq!(Value::from(event.data), expected);
    assert!((event.timestamp - 5.0).abs() < f64::EPSILON);
    assert_eq!(
        (event.tool_name.as_deref(), event.session_id.as_deref()),
        (Some("bash"), Some("s"))
    );
}

#[test]
fn a_non_event_is_not_read() {
    #[track_caller]
    fn case(text: &str, complaint: &str) {
        let error = serde_json::from_str::<HookEvent>(text)
            .unwrap_err()
            .to_string();
        assert!(error.contains(complaint), "{error}");
    }
    case("{}", "missing field `type`");
    case("[]", "HookEvent");
    case(r#"{"type": 1}"#, "expected a string");
    case(
        r#"{"type": "Tool:PreExecute"}"#,
        "invalid name `Tool:PreExecute`",
    );
    case(r#"{"type": "tool"}"#, "expected `category:action`");
    case(
        r#"{"type": "tool:error", "timestamp": "now"}"#,
        "expected f64",
    );
    case(r#"{"type": "tool:error", "data": []}"#, "expected a map");
    case(
        r#"{"type": "tool:error", "tool_name": 1}"#,
        "expected a string",
    );
}

#[test]
fn custom_events_come_back_as_they_went() {
    for name in ["game:level_loaded", "a:b", "tool:compiled", "0:_"] {
        let event = custom(name).with_data("level", 3).with_tool_name("t");
        let back = read(&event.to_json());
        assert_eq!(back, event);
        assert_eq!(back.event_type, EventType::custom(name).unwrap());
        assert!(back.event_type.can_block());
    }
    // As text a name is one of the sixteen or an error; only what was written down may be custom.
    assert!("game:level_loaded".parse::<EventType>().is_err());
    assert_eq!(
        read(r#"{"type": "tool:error"}"#).event_type,
        EventType::ToolError
    );
}

fn seconds_now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs_f64()
}

#[track_caller]
fn assert_about_now(before: f64, event: &HookEvent) {
    let after = seconds_now();
    // The event knows microseconds, the clock more.
    let range = before - 2e-6..=after + 2e-6;
    assert!(
        range.contains(&event.timestamp),
        "{} is not within {range:?}",
        event.timestamp
    );
}

#[test]
fn a_time_is_in_seconds_with_microseconds() {
    let before = seconds_now();
    let event = HookEvent::user_interrupt();
    assert_about_now(before, &event);

    let mut finest = 0;
    eventually("a time with more than milliseconds", || {
        let event = HookEvent::user_interrupt();
        let object: Value = serde_json::from_str(&event.to_json()).unwrap();
        let shown = object["timestamp"].to_string();
        let (_, fraction) = shown.split_once('.').unwrap();
        assert!(fraction.len() <= 6, "{shown}");
        finest = finest.max(fraction.len());
        finest > 3
    });
}

#[test]
fn a_nan_time_keeps_the_json_valid() {
    for time in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut event = HookEvent::session_start("s1");
        event.timestamp = time;
        let object: Value = serde_json::from_str(&event.to_json()).unwrap();
        assert_eq!(object["timestamp"], Value::Null);
        assert_eq!(object["session_id"], "s1");
        let before = seconds_now();
        assert_about_now(before, &read(&event.to_json()));
        assert!(!event.to_env()["FORGE_TIMESTAMP"].is_empty());
    }
}

#[test]
fn debug_shows_keys_and_no_values() {
    let secrets = json!({"password": "hunter2", "list": ["hunter3"]});
    let event = HookEvent::tool_post_execute("bash", secrets, "hunter4")
        .with_data("token", "hunter5")
        .with_data("pin", 48_151_623);
    for shown in [format!("{event:?}"), format!("{event:#?}")] {
        for name in [
            "ToolPostExecute",
            "tool_args",
            "tool_result",
            "token",
            "bash",
        ] {
            assert!(shown.contains(name), "{shown}");
        }
        assert!(
            !shown.contains("hunter") && !shown.contains("48151623"),
            "{shown}"
        );
    }
}

/// Texts of the kinds that break things: quotes, control characters, signs outside the first plane.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~]{0,12}",
        "[\"\\\\\u{0}-\u{1f}\u{7f}\u{85}\u{2028}\u{2029}\u{feff}\u{fffd}$`'é😀]{0,8}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(text(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn event_type() -> impl Strategy<Value = EventType> {
    prop_oneof![
        prop::sample::select(EventType::BUILTIN.to_vec()),
        "[a-z0-9_]{1,5}:[a-z0-9_]{1,5}".prop_map(|name| EventType::custom(name).unwrap()),
    ]
}

prop_compose! {
    fn event()(
        event_type in event_type(),
        // Up to the year 2255, from where on a float no longer tells microseconds apart.
        micros in 0..9_007_199_254_740_992_u64,
        data in prop::collection::hash_map(text(), value(), 0..6),
        tool in prop::option::of(text()),
        session in prop::option::of(text()),
    ) -> HookEvent {
        let mut event = HookEvent::new(event_type);
        #[allow(clippy::cast_precision_loss)]
        let seconds = micros as f64 / 1e6;
        event.timestamp = seconds;
        event.data = data.into_iter().collect();
        event.tool_name = tool;
        event.session_id = session;
        event
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_in_an_event_comes_back(event in event()) {
        let text = event.to_json();
        prop_assert!(!text.contains(['\n', '\r']));
        let back: HookEvent = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&back, &event);
        prop_assert!(!text.contains("tool_name\":null") && !text.contains("session_id\":null"));
    }
}
