//! Any text as hooks.json: every problem is within the text, and what is loaded says the same when it is
//! written and read again.
#![no_main]

#[path = "../within.rs"]
mod within;

use std::path::Path;

use forge_hooks::{Hook, HookConfig, serde_json};
use libfuzzer_sys::fuzz_target;
use within::assert_within;

fuzz_target!(|text: &str| {
    let report = HookConfig::default().check_text(Path::new("hooks.json"), text);
    assert_within(&report, text);
    let Ok(entry) = serde_json::from_str(text) else {
        return;
    };
    if let Ok(hook) = Hook::from_json(&entry) {
        let again = Hook::from_json(&hook.to_json());
        assert_eq!(again.ok(), Some(hook));
    }
});
