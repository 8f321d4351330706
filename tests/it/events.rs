//! Events: their names, what the factories put into them, and their form as JSON.

use std::time::{SystemTime, UNIX_EPOCH};

use forge_hooks::{EventType, HookEvent};
use serde_json::{Map, Value, json};

use crate::support::{custom, eventually, known_events};

#[test]
fn the_specification_has_sixteen_events() {
    let names = "tool:pre_execute tool:post_execute tool:error \
        llm:pre_request llm:post_response llm:stream_start llm:stream_end \
        session:start session:end session:message \
        permission:check permission:prompt permission:granted permission:denied \
        user:prompt_submit user:interrupt";
    let names: Vec<_> = names.split_whitespace().collect();
    assert_eq!(EventType::BUILTIN.map(|event| event.to_string()), *names);
    for (event, name) in EventType::BUILTIN.into_iter().zip(names) {
        assert_eq!(event.as_str(), name);
        assert_eq!(name.parse::<EventType>().unwrap(), event);
        let parts = (event.category(), event.action());
        assert_eq!(name.split_once(':'), Some(parts));
        assert_eq!(json!(event), json!(name));
        let empty = HookEvent::new(event);
        assert!(empty.data().is_empty() && empty.tool_name.is_none() && empty.session_id.is_none());
    }
}

/// The type, tool, session and data of the events of the test.
const FACTORIES: &str = r#"
tool:pre_execute bash - {"tool_args":{"command":"ls"}}
tool:post_execute bash - {"tool_args":{"command":"ls"},"tool_result":true}
tool:error bash - {"error":"e","tool_args":{"command":"ls"}}
llm:pre_request - - {"llm_model":"m","message_count":7}
llm:post_response - - {"llm_model":"m","llm_tokens":9}
llm:stream_start - - {"llm_model":"m"}
llm:stream_end - - {"llm_model":"m","llm_tokens":0}
session:start - s {}
session:end - s {}
session:message - s {"content":"hi","role":"user"}
permission:check t - {"perm_level":"ask"}
permission:check t - {"perm_level":"ask","perm_rule":"r"}
permission:prompt t - {"perm_level":"ask","perm_rule":"r"}
permission:granted t - {"perm_level":"ask","perm_rule":"r"}
permission:denied t - {"perm_level":"ask","perm_rule":"r"}
user:prompt_submit - - {"content":"do it"}
user:interrupt - - {}
llm:error - - {"error":"e","llm_model":"m"}
agent:stop - - {"stop_hook_active":true}
agent:subagent_start - - {"agent_type":"a"}
agent:subagent_stop - - {"agent_type":"a","stop_hook_active":false}
context:pre_compact - - {"trigger":"auto"}
context:post_compact - - {"trigger":"auto"}
notification:show - - {"message":"hi"}
game:loaded loader s {"level":"four"}
"#;

#[test]
fn each_known_event_has_a_factory() {
    for spec in &known_events() {
        let name = spec.event_type().as_str();
        let mut rows = FACTORIES.lines().map(|row| row.split(' ').next());
        assert!(rows.any(|first_word| first_word == Some(name)), "{name}");
        let read: EventType = serde_json::from_value(json!(name)).unwrap();
        assert_eq!(&read, spec.event_type());
    }
}

#[test]
fn each_factory_sets_its_type_and_data() {
    let args = || json!({"command": "ls"});
    let rule = Some("r");
    let custom = custom("game:loaded").with_data("level", 3);
    let custom = custom.with_tool_name("map").with_tool_name("loader");
    let events = [
        HookEvent::tool_pre_execute("bash", args()),
        HookEvent::tool_post_execute("bash", args(), true),
        HookEvent::tool_error("bash", args(), "e"),
        HookEvent::llm_pre_request("m", 7),
        HookEvent::llm_post_response("m", 9),
        HookEvent::llm_stream_start("m"),
        HookEvent::llm_stream_end("m", 0),
        HookEvent::session_start("s"),
        HookEvent::session_end("s"),
        HookEvent::session_message("s", "user", "hi"),
        HookEvent::permission_check("t", "ask", None),
        HookEvent::permission_check("t", "ask", rule),
        HookEvent::permission_prompt("t", "ask", rule),
        HookEvent::permission_granted("t", "ask", rule),
        HookEvent::permission_denied("t", "ask", rule),
        HookEvent::user_prompt_submit("do it"),
        HookEvent::user_interrupt(),
        HookEvent::llm_error("m", "e"),
        HookEvent::agent_stop(true),
        HookEvent::agent_subagent_start("a"),
        HookEvent::agent_subagent_stop("a", false),
        HookEvent::context_pre_compact("auto"),
        HookEvent::context_post_compact("auto"),
        HookEvent::notification_show("hi"),
        custom.with_data("level", "four").with_session_id("s"),
    ];
    let known = known_events();
    let mut shown = "\n".to_owned();
    for event in events {
        if let Some(spec) = known
            .iter()
            .find(|spec| *spec.event_type() == event.event_type)
        {
            let declared = spec.data_keys().map(|(key, _)| key);
            let mut declared: Vec<_> = declared.collect();
            let optional = [
                "perm_rule",
                "last_assistant_message",
                "messages",
                "agent_id",
            ];
            let is_optional = |key| optional.contains(&key);
            declared.retain(|key| !is_optional(*key) || event.data().contains_key(*key));
            declared.sort_unstable();
            assert!(event.data().keys().eq(declared), "{}", event.event_type);
            let is_of_tool = ["tool", "permission"].contains(&event.event_type.category());
            assert_eq!(is_of_tool, event.tool_name.is_some());
            assert_eq!(spec.can_block(), event.event_type.can_block());
        }
        let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "-".to_owned());
        let (tool, session) = (name(&event.tool_name), name(&event.session_id));
        // Each key has a variable, and a field that is missing has none.
        let variables = event.to_env();
        let has = |name: &str| variables.contains_key(&format!("FORGE_{}", name.to_uppercase()));
        assert!(event.data().keys().all(|key| has(key)), "{variables:?}");
        assert_eq!(has("tool_name"), event.tool_name.is_some());
        assert_eq!(has("session_id"), event.session_id.is_some());
        let data = Value::from(event.data().clone());
        shown += &format!("{} {tool} {session} {data}\n", event.event_type);
    }
    assert_eq!(shown, FACTORIES);
}

#[test]
fn json_has_only_the_fields_that_are_set() {
    let call = HookEvent::tool_pre_execute("a\nb", json!({"a\nb": "c\nd"}));
    for (event, more) in [
        (HookEvent::user_interrupt(), ""),
        (HookEvent::user_prompt_submit("two\nlines\r\n\u{2028}"), ""),
        (HookEvent::session_start("s1\n"), " session_id"),
        (call.clone(), " tool_name"),
        (call.with_session_id("s1"), " tool_name session_id"),
    ] {
        let text = event.to_json();
        assert!(!text.contains(['\n', '\r']), "{text}");
        let object: Map<String, Value> = serde_json::from_str(&text).unwrap();
        let keys = format!("type timestamp data{more}");
        let places = keys.split(' ').map(|key| text.find(&format!("\"{key}\":")));
        assert!(places.is_sorted(), "{text}");
        assert_eq!(object.len(), keys.split(' ').count());
        assert_eq!(read(&text), event);
    }
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
        assert_about_now(before, &event);
        let mut expected = HookEvent::new(EventType::SessionEnd);
        expected.timestamp = event.timestamp;
        assert_eq!(event, expected);
    }
    let event = read(
        r#"{"hook_event_name": ["x"], "type": "tool:error", "timestamp": 5, "cwd": {"a": 1},
            "tool_name": "bash", "data": {"error": "e", "more": null}, "session_id": "s"}"#,
    );
    let expected = r#"{"type":"tool:error","timestamp":5.0,"data":{"error":"e","more":null},"tool_name":"bash","session_id":"s"}"#;
    assert_eq!(event.to_json(), expected, "unknown keys are ignored");
}

#[test]
fn a_non_event_is_not_read() {
    for (fields, complaint) in [
        ("", "missing field `type`"),
        (r#""type": 1"#, "expected a string"),
        (r#""type": "Tool:Pre""#, "invalid name `Tool:Pre`"),
        (r#""type": "tool""#, "expected `category:action`"),
        (r#""type": "a:b", "timestamp": "now""#, "expected f64"),
        (r#""type": "a:b", "data": []"#, "expected a map"),
        (r#""type": "a:b", "tool_name": 1"#, "expected a string"),
    ] {
        let error = serde_json::from_str::<HookEvent>(&format!("{{{fields}}}")).unwrap_err();
        assert!(error.to_string().contains(complaint), "{error}");
    }
    assert!(serde_json::from_str::<HookEvent>("[]").is_err());
}

fn seconds_now() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap().as_secs_f64()
}

#[track_caller]
fn assert_about_now(before: f64, event: &HookEvent) {
    let (time, after) = (event.timestamp, seconds_now());
    // The event knows microseconds, the clock more.
    let range = before - 2e-6..=after + 2e-6;
    assert!(range.contains(&time), "{time} is not within {range:?}");
}

#[test]
fn a_time_is_in_seconds_with_microseconds() {
    let mut finest = 0;
    eventually("a time with more than milliseconds", || {
        let before = seconds_now();
        let event = HookEvent::user_interrupt();
        assert_about_now(before, &event);
        let object: Value = serde_json::from_str(&event.to_json()).unwrap();
        let timestamp = object["timestamp"].to_string();
        let (_, fraction) = timestamp.split_once('.').unwrap();
        assert!(fraction.len() <= 6, "{timestamp}");
        finest = finest.max(fraction.len());
        finest > 3
    });
}

#[test]
fn a_nan_time_keeps_the_json_valid() {
    for time in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut event = HookEvent::session_start("s1");
        event.timestamp = time;
        let expected = r#"{"type":"session:start","timestamp":null,"data":{},"session_id":"s1"}"#;
        assert_eq!(event.to_json(), expected);
        assert!(!event.to_env()["FORGE_TIMESTAMP"].is_empty());
    }
}

#[test]
fn debug_shows_keys_and_no_values() {
    let secrets = json!({"password": "hunter2", "list": ["hunter3"]});
    let event = HookEvent::tool_post_execute("bash", secrets, "hunter4")
        .with_data("token", "hunter5")
        .with_data("pin", 48_151_623);
    for debug in [format!("{event:?}"), format!("{event:#?}")] {
        for name in "ToolPostExecute tool_args tool_result token bash".split(' ') {
            assert!(debug.contains(name), "{debug}");
        }
        let is_shown = debug.contains("hunter") || debug.contains("48151623");
        assert!(!is_shown, "{debug}");
    }
}

/// Texts of the kinds that break things, as keys, values and names; and times to the microsecond.
#[test]
fn whatever_is_in_an_event_comes_back() {
    let odd = "\"\\\u{0}\u{1f}\u{7f}\u{85}\u{2028}\u{2029}\u{feff}\u{fffd}$`'é😀\r\n";
    let values = json!([null, true, i64::MIN, u64::MAX, -1.5, "", odd, [], {}, {odd: [odd]}]);
    // From the year 2255 on, a float no longer tells microseconds apart.
    for (name, time) in [
        ("a:b", 0.0),
        ("game:level_loaded", 0.000_001),
        ("tool:compiled", 1_700_000_000.123_456),
        ("0:_", 9_007_199_254.740_991),
    ] {
        // As text a name is a built-in one or an error; only what was written down may be custom.
        assert!(name.parse::<EventType>().is_err());
        let event = custom(name).with_data(odd, values.clone());
        let event = event.with_data("", odd).with_tool_name(odd);
        let mut event = event.with_session_id(odd);
        event.timestamp = time;
        let text = event.to_json();
        assert!(!text.contains(['\n', '\r']), "{text}");
        assert_eq!(read(&text), event);
    }
}
