//! A clone with very many files of plugins: they are read up to a limit, and what is left out is printed.

use serde_json::json;

use super::{Place, command, settings};

const EXTENSION: &str = "project/.gemini/extensions/x/gemini-extension.json";

#[test]
fn a_manifest_names_so_many_files() {
    let names: Vec<_> = (0..5000).map(|index| format!("{index}.json")).collect();
    let place = Place::new([(
        "project/p/.claude-plugin/plugin.json",
        json!({"hooks": names}).to_string().as_str(),
    )]);
    let tools = place.tools().with_plugin(place.world.path("project/p"));
    let config = place.config_with(tools);
    let report = place.load_with(&config, forge_hooks::TrustPolicy::Everything);
    assert_eq!(report.problems.len(), 101);
    let last = report.problems[100].to_string();
    assert!(
        last.ends_with("names more than 100 files; the others are left out"),
        "{last}"
    );
}

#[cfg(unix)]
#[test]
fn a_project_has_so_many_bytes_of_files() {
    let hook = settings("BeforeTool", "", &command("x"));
    let long = hook.replacen('{', &format!("{{{}", " ".repeat(9_000_000)), 1);
    let place = Place::new([(EXTENSION, "{}")]);
    let extensions = place.root().join(".gemini/extensions");
    place
        .world
        .write("project/.gemini/extensions/x/hooks/hooks.json", &long);
    for index in 0..10 {
        std::os::unix::fs::symlink(extensions.join("x"), extensions.join(format!("y{index}")))
            .unwrap();
    }
    let report = place.load();
    let problems = place.problems(&report);
    assert_eq!(place.commands().len(), 2, "{problems:?}");
    assert_eq!(problems.len(), 9);
    assert!(problems[0].contains("more than 16 MiB"), "{problems:?}");
}
