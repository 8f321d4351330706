//! Any text as the settings of each agent whose hooks can run here: every problem is within the text.
#![no_main]

#[path = "../within.rs"]
mod within;

use std::path::Path;

use forge_hooks::compat::{AGENTS, OtherAgents};
use forge_hooks::{AppProfile, Hooks};
use libfuzzer_sys::fuzz_target;
use within::assert_within;

fuzz_target!(|text: &str| {
    for agent in AGENTS {
        let hooks = Hooks::builder(AppProfile::default())
            .config_home("/nowhere")
            .other_agents(OtherAgents::new([agent]))
            .load();
        let file = match agent.name() {
            "codex" => ".codex/hooks.json",
            _ => ".claude/settings.json",
        };
        let name = Path::new("/nowhere").join(file);
        let report = hooks.config().check_text(name, text);
        assert_within(&report, text);
    }
});
