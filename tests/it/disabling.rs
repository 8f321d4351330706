//! Hooks that a person has turned off: all of them, or some by their names.

use forge_hooks::config::TrustPolicy;
use forge_hooks::{AppProfile, FireOptions, HookConfig, HookExecutor, LoadReport};

use crate::support::{World, alone_with, blocking_event, printed};

const GLOBAL: &str = "config/src/forge/hooks.json";
const PROJECT: &str = "project/.src/forge/hooks.json";

fn load(world: &World) -> LoadReport {
    let config = HookConfig::default().with_config_home(world.path("config"));
    config.load_into(
        world.registry(),
        world.path("project"),
        TrustPolicy::Everything,
    )
}

#[test]
fn the_user_disables_hooks_by_name() {
    let world = World::new();
    world.write(
        GLOBAL,
        r#"{"disable": ["mine", "theirs", "broken", "of another project"],
            "hooks": [{"event": "*", "command": "exit 1", "name": "mine"}]}"#,
    );
    world.write(
        PROJECT,
        r#"{"hooks": [
            {"event": "*", "command": "exit 2", "name": "theirs"},
            {"event": "*", "command": "", "name": "broken"},
            {"event": "*", "command": "echo stays", "name": "stays"},
            {"event": "*", "command": "echo nameless"}]}"#,
    );
    let report = load(&world);
    assert_eq!(report.disabled, ["mine", "theirs", "broken"]);
    let outcome = world.outcome(&blocking_event());
    assert_eq!(printed(outcome.results()), ["stays", "nameless"]);
    let config = HookConfig::default().with_config_home(world.path("config"));
    let all = config.load_project(world.path("project"));
    assert_eq!(all.len(), 3, "who edits them sees all");
}

#[test]
fn another_list_disables_nothing() {
    let guard = r#""hooks": [{"event": "*", "command": "exit 1", "name": "guard"}]"#;
    for (global, project, problem) in [
        (
            format!("{{{guard}}}"),
            r#"{"disable": ["guard"], "hooks": []}"#,
            "disable: a project's file cannot disable hooks: only the user's file can",
        ),
        (
            format!(r#"{{"disable": "guard", {guard}}}"#),
            "{}",
            "disable: expected a list of names of hooks",
        ),
    ] {
        let world = World::new();
        world.write(GLOBAL, &global);
        world.write(PROJECT, project);
        let report = load(&world);
        assert!(!world.outcome(&blocking_event()).allowed());
        assert!(report.disabled.is_empty());
        let reported = report.problems[0].to_string();
        assert!(reported.ends_with(problem), "{reported}");
    }
}

#[test]
fn a_variable_disables_all_hooks() {
    let test = "disabling::a_variable_disables_all_hooks";
    if !alone_with(test, &[("OPENCODE_HOOKS_DISABLE", "1")]) {
        return;
    }
    let world = World::running(["exit 1"]);
    assert_eq!(world.executor.disabled_by(), Some("OPENCODE_HOOKS_DISABLE"));
    assert!(world.outcome(&blocking_event()).results().is_empty());
    assert!(world.submit(blocking_event()).wait().results().is_empty());

    let strict = HookExecutor::builder()
        .registry(world.registry().clone())
        .allow_disable(false)
        .build();
    assert_eq!(strict.disabled_by(), None);
    let outcome = strict.execute(&blocking_event(), FireOptions::default());
    assert!(!outcome.allowed());

    let of_another = HookExecutor::builder()
        .profile(AppProfile::new("mygame"))
        .build();
    assert_eq!(of_another.disabled_by(), None);
}

#[test]
fn a_variable_set_to_0_disables_nothing() {
    let test = "disabling::a_variable_set_to_0_disables_nothing";
    if alone_with(test, &[("FORGE_HOOKS_DISABLE", "0")]) {
        let world = World::running(["exit 1"]);
        assert!(world.executor.disabled_by().is_none());
        assert!(!world.outcome(&blocking_event()).allowed());
    }
}
