//! The hooks of docs/other-agents.md and the search of docs/program.md, in a host with a name of its own.
#![cfg(unix)]

use forge_hooks::HookEvent;
use serde_json::json;

use crate::page_examples::{examples_of, host};
use crate::pages::blocks_of;
use crate::support::{hook, is_missing};

fn event(command: &str) -> HookEvent {
    HookEvent::tool_pre_execute("bash", json!({"command": command}))
}

/// Before and after: the first passes everything, the second blocks, also what it cannot read.
#[test]
fn a_script_for_claude_code_passes_until_it_is_ported() {
    if is_missing("jq") {
        return;
    }
    let examples = examples_of("docs/other-agents.md");
    assert_eq!(examples.len(), 2);
    let blocks = |example: usize, event: &HookEvent| {
        let world = host();
        let result = world.run(examples[example].hook(&world), event);
        !result.should_continue()
    };
    assert!(!blocks(0, &event("sudo ls")));
    assert!(blocks(1, &event("sudo ls")));
    assert!(!blocks(1, &event("ls")));
    assert!(blocks(1, &HookEvent::tool_pre_execute("bash", json!({}))));
}

/// On the lines that the page shows.
#[test]
fn the_search_of_the_trace_page_works() {
    if is_missing("jq") {
        return;
    }
    let blocks = blocks_of("docs/program.md");
    let lines = blocks
        .iter()
        .filter(|block| block.heading == "The trace file" && block.language == "json");
    let lines: String = lines.map(|block| &*block.code).collect();
    let mut searches = blocks.iter().filter(|block| block.code.starts_with("jq "));
    let search = &searches.next().unwrap().code;
    let world = host();
    world.write("hooks.jsonl", &lines);
    let result = world.run(hook("*", search), &event(""));
    assert!(result.stdout().contains("\"runs\": 1"), "{result:?}");
    assert!(searches.next().is_none());
}
