//! Any text: what is masked once needs no second pass, and a known secret is nowhere in what is left.
#![no_main]

use forge_hooks::Redactor;
use libfuzzer_sys::fuzz_target;

const KNOWN: &str = "correct horse battery";

fuzz_target!(|text: &str| {
    let redactor = Redactor::new();
    let masked = redactor.text(text);
    assert_eq!(redactor.text(&masked), masked);
    let masked = redactor.text_with(text, [KNOWN]).into_owned();
    assert!(!masked.contains(KNOWN));
});
