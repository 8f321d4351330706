//! A condition in JSON on the first line, a tool on the second, then a value: a guard on a condition or one on its opposite runs;
//! nothing is granted by both; and an expression says what it says alone.
#![no_main]

use forge_hooks::serde_json::{self, Value, json};
use forge_hooks::{Hook, HookEvent, HookExecutor};
use libfuzzer_sys::fuzz_target;

const POINTER: &str = "/tool_args/path";

fuzz_target!(|text: &str| {
    let mut lines = text.splitn(3, '\n');
    let Ok(condition) = serde_json::from_str::<Value>(lines.next().unwrap_or_default()) else {
        return;
    };
    let tool = lines.next().unwrap_or_default();
    let args = lines.next().map_or(json!({}), |value| json!({"path": value}));
    let event = HookEvent::tool_pre_execute(tool, args.clone());
    let read = |condition: &Value| {
        let entry = json!({"event": "*", "when": {POINTER: condition}, "answer": {"additionalContext": "c"}});
        Hook::from_json(&entry).ok()
    };
    let Some(hook) = read(&condition) else {
        return;
    };
    let is_met = hook.matches(&event);
    let entry = hook.to_json();
    if let (Some(text), Some(value)) = (entry["when"][POINTER]["regex"].as_str(), args["path"].as_str()) {
        let alone = regex::Regex::new(text).unwrap().is_match(value);
        assert_eq!(alone, is_met);
        // What is unknown runs a guard, and nothing else.
        let runs = [true, false].map(|can_block| hook.mismatch(&event, can_block).is_none());
        assert_eq!(runs[0], runs[1]);
    }
    let Some(not) = read(&json!({"not": condition})) else {
        return;
    };
    assert!(is_met || not.matches(&event), "one of the two runs");
    let widens = |hook: Hook| {
        let executor = HookExecutor::builder().build();
        executor.registry().register(hook);
        executor.execute(&event, Default::default()).additional_context().is_some()
    };
    assert!(!(widens(hook) && widens(not)), "one of the two grants");
});
