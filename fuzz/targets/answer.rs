//! Any bytes as what a hook wrote to its standard output: an answer that can be read says the same when it is written
//! and read again; a block behind any log without an open brace is not overlooked; other tools' answers can always
//! be read.
#![no_main]

use forge_hooks::{Decision, fuzzing, serde_json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|stdout: &[u8]| {
    fuzzing::answers_of_other_tools(stdout);
    let block = [stdout, b"\n{\"decision\":\"block\"}\n"].concat();
    if !stdout.contains(&b'{') {
        let read = fuzzing::answer(&block);
        assert_eq!(read.and_then(|output| output.decision), Some(Decision::Block));
    }
    let Some(mut output) = fuzzing::answer(stdout) else {
        return;
    };
    // serde_json reads a number of many digits as one that is near to it.
    output.updated_input = None;
    output.updated_output = None;
    let written = serde_json::to_vec(&output).unwrap();
    assert_eq!(fuzzing::answer(&written), Some(output));
});
