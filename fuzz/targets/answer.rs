//! Any bytes as what a hook wrote to its standard output: an answer that can be read says the same when
//! it is written and read again.
#![no_main]

use forge_hooks::{fuzzing, serde_json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|stdout: &[u8]| {
    if let Some(output) = fuzzing::answer(stdout) {
        let written = serde_json::to_vec(&output).unwrap();
        assert_eq!(fuzzing::answer(&written), Some(output));
    }
});
