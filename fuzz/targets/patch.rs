//! Any text as a patch of Codex, and as a shell command with one: a line that names a file is found wherever it stands, or
//! the text is no patch.
#![no_main]

use forge_hooks::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    fuzzing::check_patch(text);
});
