//! `HookExecutor::explain`: what would happen to each hook, and why.

use std::sync::Arc;

use forge_hooks::config::TrustPolicy;
use forge_hooks::protocol::GateVerdict;
use forge_hooks::{FailurePolicy, FireOptions, Hook, HookConfig, HookEvent, HookExecutor};

use crate::blocking::Says;
use crate::support::World;

fn hook(pattern: &str, name: &str) -> Hook {
    Hook::new(pattern, "exit 0").unwrap().with_name(name)
}

fn gated(name: &str, verdict: GateVerdict) -> Hook {
    hook("*", name).with_gate(Arc::new(Says(verdict)))
}

/// Each hook with its position and its fate.
fn explained(executor: &HookExecutor, event: &HookEvent, options: FireOptions) -> Vec<String> {
    let line = |it: forge_hooks::executor::Explanation| {
        let order = it.order.map(|order| format!("{order}. "));
        let order = order.unwrap_or_default();
        format!("{}: {order}{}", it.hook.label(), it.fate)
    };
    let all = executor.explain(event, options).into_iter();
    all.map(line).collect()
}

#[test]
fn each_hook_has_its_place_and_reason() {
    let executor = HookExecutor::builder().build();
    let lost = GateVerdict::ApprovalLost("it has changed".to_owned());
    let new = GateVerdict::NotApproved("it is not approved".to_owned());
    executor.registry().load_hooks([
        hook("tool:*", "first"),
        hook("tool:*", "off").with_enabled(false),
        hook("tool:*:Bash", "case"),
        gated("new", new),
        gated("lost", lost),
        hook("tool:*", "log").with_background(),
        hook("tool:post_execute", "redacts").with_on_failure(FailurePolicy::Withhold),
    ]);
    let event = HookEvent::tool_post_execute("bash", "ls", "");
    let all = [
        "redacts: 1. runs",
        "first: 2. runs",
        "new: does not run: it is not approved",
        "lost: 3. fails: it has changed",
        "log: does not run: `lost`, which is before it, fails and stops the hooks after it",
        "off: does not run: disabled by `\"enabled\": false`",
        "case: does not run: `tool:*:Bash` does not match: its tool is `Bash`, and the event's is `bash`",
    ];
    assert_eq!(explained(&executor, &event, FireOptions::default()), all);
    for options in [
        FireOptions::default().parallel(),
        FireOptions::default().stop_on_failure(false),
    ] {
        assert_eq!(explained(&executor, &event, options)[4], "log: 4. runs");
    }
    let without = FireOptions::default().without_background();
    assert_eq!(explained(&executor, &event, without).len(), 6);
    let results = executor.execute_hooks(&event, FireOptions::default());
    let ran: Vec<_> = results.iter().map(|it| it.hook.label()).collect();
    assert_eq!(ran, ["redacts", "first", "new", "lost"]);
}

#[test]
fn an_invalid_entry_fails() {
    let world = World::new();
    let config = HookConfig::default().with_config_home(world.directory());
    world.write(
        "src/forge/hooks.json",
        r#"{"hooks": [{"event": "tool:*"}]}"#,
    );
    let project = world.path("project");
    let _ = config.load_into(world.registry(), project, TrustPolicy::Everything);
    let event = HookEvent::tool_pre_execute("bash", "ls");
    let all = explained(&world.executor, &event, FireOptions::default());
    assert!(all[0].contains("1. fails: "), "{all:?}");
}
