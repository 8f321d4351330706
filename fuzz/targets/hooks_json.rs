//! Any text as hooks.json: every problem is within the text, and what is loaded says the same when it is
//! written and read again.
#![no_main]

use std::path::Path;

use forge_hooks::{Hook, HookConfig, serde_json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let report = HookConfig::default().check_text(Path::new("hooks.json"), text);
    for problem in &report.problems {
        if let Some(range) = &problem.range {
            assert!(
                range.start.offset <= range.end.offset && range.end.offset <= text.len(),
                "{problem}"
            );
        }
        assert!(!problem.to_string().is_empty());
    }
    let Ok(entry) = serde_json::from_str(text) else {
        return;
    };
    if let Ok(hook) = Hook::from_json(&entry) {
        let again = Hook::from_json(&hook.to_json());
        assert_eq!(again.ok(), Some(hook));
    }
});
