//! Any bytes as what a hook wrote to its standard output: an answer is one JSON object and all of the output, and says the
//! same when it is written and read again; a block on lines of its own is not overlooked; without a word of `may` an answer
//! stops something at most; other agents' answers can always be read.
#![no_main]

use forge_hooks::{Decision, fuzzing, serde_json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|stdout: &[u8]| {
    fuzzing::answers_of_other_agents(stdout);
    fuzzing::check_may(stdout);
    let block = [stdout, b"\n{\"decision\":\"block\"}\n"].concat();
    let read = fuzzing::answer(&block);
    let is_blank = String::from_utf8_lossy(stdout).chars().all(|c| c.is_whitespace() || c == '\u{FEFF}');
    match read {
        Ok(read) => assert!(is_blank && read.and_then(|answer| answer.decision) == Some(Decision::Block)),
        Err(_) => assert!(!is_blank),
    }
    let Ok(Some(mut output)) = fuzzing::answer(stdout) else {
        return;
    };
    let text = std::str::from_utf8(stdout).unwrap().trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}');
    assert!(serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok());
    // serde_json reads a number of many digits as one that is near to it.
    output.updated_input = None;
    output.updated_output = None;
    let written = serde_json::to_vec(&output).unwrap();
    assert_eq!(fuzzing::answer(&written), Ok(Some(output)));
});
