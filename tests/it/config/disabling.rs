//! Hooks that a person has turned off: all of them, or some by their names.

use forge_hooks::{AppProfile, FireOptions, HookExecutor};

use super::{FORGE as GLOBAL, config, load};
use crate::support::{World, alone_with, blocking_event, printed};

const PROJECT: &str = "project/.src/forge/hooks.json";

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
    let all = config(&world).load_project(world.path("project"));
    assert_eq!(all.len(), 3, "who edits them sees all");
}

/// `golden/check.txt` has what is reported.
#[test]
fn another_list_disables_nothing() {
    let guard = r#""hooks": [{"event": "*", "command": "exit 1", "name": "guard"}]"#;
    let projects = r#"{"disable": ["guard"], "hooks": []}"#;
    for (global, project) in [
        (format!("{{{guard}}}"), projects),
        (format!(r#"{{"disable": "guard", {guard}}}"#), "{}"),
    ] {
        let world = World::new();
        world.write(GLOBAL, &global);
        world.write(PROJECT, project);
        let report = load(&world);
        assert!(!world.outcome(&blocking_event()).allowed());
        assert!(report.disabled.is_empty() && !report.problems.is_empty());
    }
}

#[test]
fn a_variable_disables_all_hooks() {
    let test = "config::disabling::a_variable_disables_all_hooks";
    let variables = [
        ("FORGE_HOOKS_DISABLE", "0"),
        ("OPENCODE_HOOKS_DISABLE", "1"),
        ("MYGAME_HOOKS_DISABLE", "0"),
    ];
    if !alone_with(test, &variables) {
        return;
    }
    let world = World::running(["exit 1"]);
    assert!(world.outcome(&blocking_event()).results().is_empty());
    assert!(world.submit(blocking_event()).wait().results().is_empty());

    let builder = HookExecutor::builder().registry(world.registry().clone());
    let of_another = builder.clone().profile(AppProfile::new("mygame"));
    for executor in [builder.allow_disable(false), of_another] {
        let executor = executor.build();
        let outcome = executor.execute(&blocking_event(), FireOptions::default());
        assert!(!outcome.allowed());
    }
}

/// If the host allows no variable to disable hooks, its commands allow none either.
#[cfg(feature = "cli")]
#[test]
fn a_host_that_forbids_it_forbids_it_to_its_commands() {
    use forge_hooks::Hooks;
    use forge_hooks::cli::{self, Io};
    let test = "config::disabling::a_host_that_forbids_it_forbids_it_to_its_commands";
    if !alone_with(test, &[("MYGAME_HOOKS_DISABLE", "1")]) {
        return;
    }
    let world = World::new();
    let text = r#"{"hooks": [{"event": "*", "command": "echo ran"}]}"#;
    world.write("config/mygame/hooks.json", text);
    for (is_allowed, ran) in [(true, 0), (false, 1)] {
        let hooks = Hooks::builder(AppProfile::new("mygame"))
            .config_home(world.path("config"))
            .executor(HookExecutor::builder().allow_disable(is_allowed))
            .load();
        assert_eq!(hooks.execute(&blocking_event()).results().len(), ran);
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        let mut io = Io::new("mygame hooks", std::io::empty(), &mut out, &mut errors);
        let _ = cli::run(&hooks, ["fire", "session:start", "--json"], &mut io);
        drop(io);
        let fired: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(fired["results"].as_array().unwrap().len(), ran, "{fired}");
    }
}
