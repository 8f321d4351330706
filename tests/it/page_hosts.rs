//! The hooks of README.md, docs/protocol.md and docs/porting.md, each in a host with a name of its own.
#![cfg(unix)]

use forge_hooks::{AppProfile, HookEvent, Hooks, Outcome};
use serde_json::json;

use crate::page_examples::{examples_of, host};
use crate::pages::blocks_of;
use crate::support::{World, hook, is_missing};

fn first(page: &str, language: &str) -> String {
    let blocks = blocks_of(page).into_iter();
    let mut blocks = blocks.filter(|block| block.language == language);
    blocks.next().unwrap().code
}

fn fire(world: &World, hooks_file: &str, command: &str) -> Outcome {
    world.write("config/pagehost/hooks.json", hooks_file);
    let hooks = Hooks::builder(AppProfile::new("pagehost"))
        .config_home(world.path("config"))
        .executor(forge_hooks::HookExecutor::builder().working_dir(world.directory()))
        .load();
    hooks.execute(&event(command))
}

fn event(command: &str) -> HookEvent {
    HookEvent::tool_pre_execute("bash", json!({"command": command}))
}

#[test]
fn the_guard_of_the_reference_blocks() {
    if is_missing("python3") {
        return;
    }
    let world = World::new();
    world.write("hooks/guard.py", &first("docs/protocol.md", "python"));
    let file = first("docs/protocol.md", "json");
    assert!(fire(&world, &file, "ls").allowed());
    let blocked = fire(&world, &file, "sudo ls");
    assert_eq!(blocked.reason(), Some("sudo is not allowed"));
}

/// Before and after: the first passes everything, the second blocks, also what it cannot read.
#[test]
fn a_script_for_claude_code_passes_until_it_is_ported() {
    if is_missing("jq") {
        return;
    }
    let examples = examples_of("docs/porting.md");
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
fn the_searches_of_the_trace_page_work() {
    if is_missing("jq") {
        return;
    }
    let blocks = blocks_of("docs/trace.md");
    let lines = blocks.iter().filter(|block| block.language == "json");
    let lines: String = lines.map(|block| &*block.code).collect();
    let searches = blocks.iter().filter(|block| block.code.starts_with("jq "));
    let mut printed = Vec::new();
    for search in searches {
        let world = host();
        world.write("hooks.jsonl", &lines);
        let result = world.run(hook("*", &search.code), &event(""));
        assert!(result.success(), "{}: {result:?}", search.code);
        printed.push(result.stdout);
    }
    assert_eq!(printed.len(), 3);
    assert!(printed[0].contains("sudo is not allowed"), "{printed:?}");
    assert!(printed[1].contains("\"runs\": 1"), "{printed:?}");
    assert_eq!(printed[2], "17\n");
}
