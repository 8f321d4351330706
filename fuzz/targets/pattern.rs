//! A pattern on the first line, an event on the second, a tool on the third: what matches has no
//! mismatch, and what does not match has one.
#![no_main]

use forge_hooks::{EventType, Hook, HookEvent};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut lines = text.split('\n');
    let Ok(hook) = Hook::new(lines.next().unwrap_or_default(), "true") else {
        return;
    };
    let name = lines.next().unwrap_or_default();
    let Ok(event_type) = name.parse().or_else(|_| EventType::custom(name)) else {
        return;
    };
    let mut event = HookEvent::new(event_type);
    if let Some(tool) = lines.next() {
        event = event.with_tool_name(tool);
    }
    assert_eq!(hook.matches(&event), hook.mismatch(&event, true).is_none());
});
