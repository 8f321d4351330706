//! An agent whose format is that of Claude Code, with other paths and fewer events, needs only one value.

use serde_json::{Value, json};

use super::settings::OtherAgents;
use crate::agents::CLAUDE;
use crate::agents::{Agent, EVENT, Effect, Event, TOOL_NAME};
use crate::events::HookEvent;
use crate::{FireOptions, HookConfig, HookExecutor};

static MADE_UP: Agent = Agent {
    name: "madeup",
    title: "Made Up",
    files: &[".madeup/settings.json"],
    events: &[
        Event {
            name: "PreToolUse",
            subject: Some(TOOL_NAME),
            effect: Effect::Blocks,
            ..EVENT
        },
        Event {
            name: "SessionStart",
            ..EVENT
        },
    ],
    ..*CLAUDE
};

#[test]
fn another_agent_is_one_value() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join(".madeup");
    std::fs::create_dir(&directory).unwrap();
    let handler = |command: &str| json!([{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]);
    let guard = handler("! grep -q '\"rm x\"' || { echo no >&2; exit 2; }");
    let hooks: Value = json!({"hooks": {"PreToolUse": guard, "Stop": handler("true")}});
    std::fs::write(directory.join("settings.json"), hooks.to_string()).unwrap();
    let tools = OtherAgents::new([&MADE_UP]).with_home(home.path());
    let config = HookConfig::default().with_config_home(home.path().join("config"));
    let hooks = config.with_other_agents(tools).load_global();
    assert_eq!(hooks.len(), 1);
    assert_eq!(hooks[0].protocol_name(), "madeup");
    let executor = HookExecutor::builder().build();
    executor.registry().load_hooks(hooks);
    let reason = |command: &str| {
        let event = HookEvent::tool_pre_execute("bash", json!({"command": command}));
        let outcome = executor.execute(&event, FireOptions::default());
        assert_eq!(outcome.results().len(), 1);
        outcome.reason().map(str::to_owned)
    };
    assert_eq!(reason("ls"), None);
    assert_eq!(reason("rm x").as_deref(), Some("no"));
}
