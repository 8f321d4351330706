//! A pattern on the first line, an event on the second, a tool on the third: what matches has no
//! mismatch, and what does not match has one.
#![no_main]

use forge_hooks::pattern::EventPattern;
use forge_hooks::{EventType, Hook, HookEvent};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut lines = text.split('\n');
    let Ok(pattern) = EventPattern::new(lines.next().unwrap_or_default()) else {
        return;
    };
    assert_eq!(pattern, EventPattern::new(pattern.as_str()).unwrap());
    let name = lines.next().unwrap_or_default();
    let Ok(event_type) = name.parse().or_else(|_| EventType::custom(name)) else {
        return;
    };
    let mut event = HookEvent::new(event_type);
    if let Some(tool) = lines.next() {
        event = event.with_tool_name(tool);
    }
    let hook = Hook::new(pattern.as_str(), "true").unwrap();
    assert_eq!(
        pattern.matches(&event),
        hook.mismatch(&event, true).is_none()
    );
});
