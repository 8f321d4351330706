//! hooks.json as the specification has it: where it is found, and what is loaded of it.

mod default_places;
mod disabling;
mod editing;
mod hooks_d;
#[cfg(unix)]
mod links_to_nothing;
mod load_into;
mod saving;
mod saving_at_once;
mod system_file;

use std::path::Path;

use forge_hooks::config::TrustPolicy;
use forge_hooks::{AppProfile, Hook, HookConfig, HookEvent, LoadReport};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::support::{World, hook};

pub(crate) const OPENCODE: &str = "config/src/opencode/hooks.json";

pub(crate) const FORGE: &str = "config/src/forge/hooks.json";

pub(crate) fn config(world: &World) -> HookConfig {
    HookConfig::default().with_config_home(world.path("config"))
}

/// A file with one hook for each of these commands.
pub(crate) fn file_of(commands: &[&str]) -> String {
    let hooks: Vec<_> = commands
        .iter()
        .map(|command| json!({"event": "*", "command": command}))
        .collect();
    json!({ "hooks": hooks }).to_string()
}

pub(crate) fn commands(hooks: &[Hook]) -> Vec<String> {
    hooks.iter().map(|hook| hook.command()).collect()
}

/// Loads the user's hooks, and those of the project `project`.
pub(crate) fn load(world: &World) -> LoadReport {
    let project = world.path("project");
    config(world).load_into(world.registry(), project, TrustPolicy::Everything)
}

#[test]
fn both_names_are_loaded_in_order() {
    let world = World::new();
    world.write(FORGE, &file_of(&["1", "2"]));
    world.write(OPENCODE, &file_of(&["3"]));
    world.write("project/.src/opencode/hooks.json", &file_of(&["5"]));
    world.write("project/.src/forge/hooks.json", &file_of(&["4"]));
    let config = config(&world);
    let project = world.path("project");
    assert_eq!(commands(&config.load_global()), ["1", "2", "3"]);
    assert_eq!(commands(&config.load_project(&project)), ["4", "5"]);
    let all = config.load_all(&project);
    assert_eq!(commands(&all), ["1", "2", "3", "4", "5"]);
    assert_eq!(all[1].file(), Some(&*world.path(FORGE)));
}

#[test]
fn the_path_is_the_existing_or_first_file() {
    let world = World::new();
    let ours = config(&world);
    assert_eq!(ours.global_path(), Some(world.path(FORGE)));
    world.write(OPENCODE, &file_of(&[]));
    assert_eq!(ours.global_path(), Some(world.path(OPENCODE)));
    let without = HookConfig::new(AppProfile::new("x").with_project_files([] as [&str; 0]));
    assert_eq!(without.project_path("/p"), None);

    let game = HookConfig::new(AppProfile::new("mygame")).with_config_home(world.path("config"));
    let project = Path::new("/p/.mygame/hooks.json");
    assert_eq!(game.project_path("/p").as_deref(), Some(project));
    let path = world.write("config/mygame/hooks.json", &file_of(&["2"]));
    assert_eq!(game.global_path(), Some(path));
    assert_eq!(commands(&game.load_global()), ["2"]);
}

#[test]
fn a_directory_is_not_replaced() {
    let world = World::new();
    std::fs::create_dir_all(world.path(FORGE)).unwrap();
    let error = config(&world).save_global([hook("*", "1")]).unwrap_err();
    let expected = format!("cannot write `{}`", world.path(FORGE).display());
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_file_as_directory_is_a_missing_file() {
    let world = World::new();
    let config = config(&world);
    for _ in 0..2 {
        let project = world.path("project");
        assert!(config.load_all(&project).is_empty());
        let report = config.load_into(world.registry(), project, TrustPolicy::Everything);
        assert!(report.is_ok() && report.files.is_empty(), "{report:?}");
        assert!(world.registry().is_empty() && config.default_hooks().is_empty());
        world.write("config/src", "");
        world.write("project/.src", "");
    }
}

#[test]
fn a_projects_hooks_run_in_its_root() {
    let world = World::new();
    let command = if cfg!(windows) { "cd" } else { "pwd -P" };
    let entry = json!({"event": "*", "command": command});
    let below = json!({"event": "*", "command": command, "working_dir": "sub"});
    let file = json!({"hooks": [entry, below]}).to_string();
    world.write("project/.src/forge/hooks.json", &file);
    std::fs::create_dir(world.path("project/sub")).unwrap();
    let hooks = config(&world).load_project(world.path("project"));
    world.registry().load_hooks(hooks);
    let project = world.path("project").canonicalize().unwrap();
    let results = world.fire(&HookEvent::user_interrupt());
    let directories = results
        .iter()
        .map(|result| Path::new(result.stdout().trim()));
    let directories: Vec<_> = directories
        .map(|directory| directory.canonicalize().unwrap())
        .collect();
    assert_eq!(directories, [project.clone(), project.join("sub")]);
}

/// Or the hooks would run elsewhere once the host has changed its directory.
#[cfg(unix)]
#[test]
fn a_relative_project_stays_where_it_was() {
    let world = World::new();
    world.write(FORGE, &file_of(&["1"]));
    world.write("project/.src/forge/hooks.json", &file_of(&["2"]));
    let up = std::env::current_dir().unwrap().components().count() - 1;
    let project = world.path("project").canonicalize().unwrap();
    let relative = Path::new(&"../".repeat(up)).join(project.strip_prefix("/").unwrap());
    let hooks = config(&world).load_all(&relative);
    let [users, projects] = &hooks[..] else {
        panic!("{hooks:?}");
    };
    let base = projects.base_dir().unwrap();
    assert!(users.base_dir().is_none() && relative.is_relative() && base.is_absolute());
    assert_eq!(base.canonicalize().unwrap(), project);
    assert!(projects.file().unwrap().is_absolute());
}

/// Generates JSON similar to a hooks file, with mistakes of every kind.
pub(crate) fn nearly_a_file() -> impl Strategy<Value = String> {
    const KEYS: &str = "event command args timeout env hooks disable shell enabled ä";
    const TEXTS: &str = "tool:* * a: [ x '$FORGE_EVENT' [[ \u{1b}[2J";
    let one_of = |words: &'static str| select(words.split(' ').collect::<Vec<_>>());
    let word = prop_oneof![
        one_of(KEYS).prop_map(Value::from),
        one_of(TEXTS).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    let value = word.prop_recursive(4, 64, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((one_of(KEYS), inner), 0..6).prop_map(Value::from_iter),
        ]
    });
    let whole = value.prop_map(|value| json!({"hooks": [value]}).to_string());
    let at = any::<proptest::sample::Index>();
    (whole, at, any::<u8>(), 0..3_u8).prop_map(|(mut text, at, byte, change)| {
        let at = at.index(text.len());
        if change > 0 && text.is_char_boundary(at) && text.is_char_boundary(at + 1) {
            let with = char::from(byte % 128).to_string();
            text.replace_range(at..=at, if change == 1 { "" } else { &with });
        }
        text
    })
}

#[test]
fn every_broken_file_is_reported() {
    let world = World::new();
    proptest!(ProptestConfig::with_cases(64), |(text in nearly_a_file())| {
        world.registry().clear();
        let path = world.write(FORGE, &text);
        let report = config(&world).load_into(world.registry(), world.path("p"), TrustPolicy::Everything);
        let entries = serde_json::from_str::<Value>(&text).ok().and_then(|file| {
            file.get("hooks")?.as_array().map(Vec::len)
        });
        if let Some(entries) = entries {
            prop_assert!(report.loaded == entries || !report.problems.is_empty());
        } else {
            let is_object = serde_json::from_str::<serde_json::Map<String, Value>>(&text);
            let says_nothing = is_object.is_ok_and(|file| !file.contains_key("hooks"));
            prop_assert!(says_nothing || !report.is_ok(), "{text}");
        }
        let drawn = report.to_string();
        prop_assert!(!drawn.contains('\u{1b}'), "{}", drawn);
        prop_assert_eq!(config(&world).check(&path).problems, report.problems);
    });
}
