//! hooks.json as the specification has it: found, loaded, and saved without a loss.

use std::path::{Path, PathBuf};
use std::thread;

use forge_hooks::{
    AppProfile, ConfigError, FailurePolicy, FireOptions, Hook, HookConfig, HookEvent, HookExecutor,
    Reads, Shell, Stdin, TrustPolicy,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::support::{World, hook};

const FORGE: &str = "config/src/forge/hooks.json";
const OPENCODE: &str = "config/src/opencode/hooks.json";

fn config(world: &World) -> HookConfig {
    HookConfig::default().with_config_home(world.path("config"))
}

/// A file with one hook for each of these commands.
fn file_of(commands: &[&str]) -> String {
    let hooks: Vec<_> = commands
        .iter()
        .map(|command| json!({"event": "*", "command": command}))
        .collect();
    json!({ "hooks": hooks }).to_string()
}

fn commands(hooks: &[Hook]) -> Vec<String> {
    hooks
        .iter()
        .map(|hook| hook.command().to_string())
        .collect()
}

#[test]
fn the_users_hooks_and_the_projects_are_loaded_under_both_names_in_order() {
    let world = World::new();
    world.write(FORGE, &file_of(&["1", "2"]));
    world.write(OPENCODE, &file_of(&["3"]));
    world.write("project/.src/opencode/hooks.json", &file_of(&["5"]));
    world.write("project/.src/forge/hooks.json", &file_of(&["4"]));
    let config = config(&world);
    let project = world.path("project");
    assert_eq!(commands(&config.load_global()), ["1", "2", "3"]);
    assert_eq!(commands(&config.load_project(&project)), ["4", "5"]);
    assert_eq!(
        commands(&config.load_all(&project)),
        ["1", "2", "3", "4", "5"]
    );
    let hooks = config.load_global();
    let source = hooks[1].source().unwrap();
    assert_eq!(
        (source.path.as_path(), source.index),
        (world.path(FORGE).as_path(), Some(1))
    );
}

#[test]
fn missing_files_have_no_hooks_and_are_no_error() {
    let world = World::new();
    assert!(config(&world).load_all(world.path("project")).is_empty());
    assert!(config(&world).default_hooks().is_empty());
}

#[test]
fn a_host_of_another_name_has_files_of_another_name() {
    let world = World::new();
    let config = HookConfig::new(AppProfile::new("mygame")).with_config_home(world.path("config"));
    assert_eq!(
        config.global_path(),
        Some(world.path("config/mygame/hooks.json"))
    );
    assert_eq!(
        config.project_path("/p"),
        Some(PathBuf::from("/p/.mygame/hooks.json"))
    );
    assert_eq!(config.profile().name(), "mygame");
    world.write(FORGE, &file_of(&["1"]));
    world.write("config/mygame/hooks.json", &file_of(&["2"]));
    assert_eq!(commands(&config.load_global()), ["2"]);
}

#[test]
fn the_path_is_that_of_the_file_that_exists_else_of_the_first() {
    let world = World::new();
    let config = config(&world);
    assert_eq!(config.global_path(), Some(world.path(FORGE)));
    world.write(OPENCODE, &file_of(&[]));
    assert_eq!(config.global_path(), Some(world.path(OPENCODE)));
    let without = HookConfig::new(AppProfile::new("x").with_project_files([] as [&str; 0]));
    assert_eq!(without.project_path("/p"), None);
}

#[test]
fn of_a_broken_file_what_can_be_used_is_loaded() {
    let world = World::new();
    let config = config(&world);
    world.write(FORGE, "{\"hooks\": [{\"event\": \"*\", ");
    assert!(
        config.load_global().is_empty(),
        "the default hooks are none"
    );
    world.write(
        FORGE,
        r#"{"hooks": [{"event": "*", "command": "1"}, {"event": "*"}, 7, {"event": "*", "command": "2"}]}"#,
    );
    assert_eq!(commands(&config.load_global()), ["1", "2"]);
    std::fs::write(
        world.path(FORGE),
        [b"\xEF\xBB\xBF", file_of(&["1"]).as_bytes()].concat(),
    )
    .unwrap();
    assert_eq!(
        commands(&config.load_global()),
        ["1"],
        "a mark at the beginning is passed over"
    );
}

#[test]
fn what_is_no_file_or_too_large_a_one_is_not_read() {
    let world = World::new();
    let config = config(&world);
    let path = world.write(FORGE, "");
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(16 * 1024 * 1024 + 1).unwrap();
    assert!(config.load_global().is_empty());
    drop(file);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(config.load_global().is_empty());
    assert!(matches!(
        config.save_global([hook("*", "1")]),
        Err(ConfigError::Write { path: named, .. }) if named == path
    ));
}

#[test]
fn a_file_of_16_mib_is_read_and_a_larger_one_is_not() {
    let world = World::new();
    let config = config(&world);
    let text = file_of(&["1"]);
    let largest = text.clone() + &" ".repeat(16 * 1024 * 1024 - text.len());
    world.write(FORGE, &largest);
    assert_eq!(commands(&config.load_global()), ["1"]);
    let path = world.write(FORGE, &(largest + " "));
    assert!(config.load_global().is_empty());
    config.save_global([hook("*", "2")]).unwrap();
    let copy = path.with_file_name("hooks.json.broken");
    assert_eq!(copy.metadata().unwrap().len(), 16 * 1024 * 1024 + 1);
    assert_eq!(commands(&config.load_global()), ["2"]);
}

#[test]
fn a_file_where_a_folder_would_be_is_a_missing_hooks_file() {
    let world = World::new();
    let config = config(&world);
    world.write("config/src", "");
    world.write("project/.src", "");
    let report = config.load_into(
        world.registry(),
        world.path("project"),
        TrustPolicy::Everything,
    );
    assert!(report.files.is_empty(), "{report:?}");
    assert!(report.is_ok() && world.registry().is_empty());
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_does_not_hold_up_the_host() {
    let world = World::new();
    let path = world.write(FORGE, "");
    std::fs::remove_file(&path).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
    assert!(config(&world).load_global().is_empty());
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
    let executor = HookExecutor::builder().build();
    executor
        .registry()
        .load_hooks(config(&world).load_project(world.path("project")));
    let event = HookEvent::user_interrupt();
    let results = executor.execute_hooks(&event, FireOptions::default());
    let project = world.path("project").canonicalize().unwrap();
    for (result, expected) in results.iter().zip([project.clone(), project.join("sub")]) {
        assert_eq!(
            Path::new(result.stdout.trim()).canonicalize().unwrap(),
            expected
        );
    }
    assert_eq!(results.len(), 2);
}

#[test]
fn only_a_projects_hooks_bring_along_where_their_paths_count_from() {
    let world = World::new();
    world.write(FORGE, &file_of(&["1"]));
    world.write("project/.src/forge/hooks.json", &file_of(&["2"]));
    let project = world.path("project");
    let hooks = config(&world).load_all(&project);
    let bases: Vec<_> = hooks.iter().map(Hook::base_dir).collect();
    assert_eq!(bases, [None, Some(project.as_path())]);
}

/// Or the hooks would run elsewhere once the host has changed its directory.
#[cfg(unix)]
#[test]
fn a_relative_project_is_one_below_the_directory_in_which_it_was_loaded() {
    let world = World::new();
    world.write("project/.src/forge/hooks.json", &file_of(&["1"]));
    let up = std::env::current_dir().unwrap().components().count() - 1;
    let project = world.path("project").canonicalize().unwrap();
    let relative = Path::new(&"../".repeat(up)).join(project.strip_prefix("/").unwrap());
    let hooks = config(&world).load_project(&relative);
    let base = hooks[0].base_dir().unwrap();
    assert!(relative.is_relative() && base.is_absolute());
    assert_eq!(base.canonicalize().unwrap(), project);
    assert!(hooks[0].source().unwrap().path.is_absolute());
}

#[test]
fn what_is_saved_is_loaded_again() {
    let world = World::new();
    let config = config(&world);
    let hooks = vec![
        hook("tool:error", "notify").with_description("Notify on errors"),
        Hook::program("*", ["a", "b c"])
            .unwrap()
            .with_env("K", "v")
            .with_enabled(false),
    ];
    config.save_global(&hooks).unwrap();
    let loaded: Vec<Value> = config.load_global().iter().map(Hook::to_json).collect();
    assert_eq!(loaded, hooks.iter().map(Hook::to_json).collect::<Vec<_>>());

    let project = world.path("deep/er/project");
    config.save_project(&project, &hooks[..1]).unwrap();
    assert_eq!(commands(&config.load_project(&project)), ["notify"]);
    let text = world.read("deep/er/project/.src/forge/hooks.json");
    assert!(
        text.starts_with("{\n  \"hooks\": [\n") && text.ends_with("}\n"),
        "{text}"
    );
}

#[test]
fn saving_keeps_what_this_version_does_not_know_and_what_it_cannot_use() {
    let world = World::new();
    let config = config(&world);
    world.write(
        FORGE,
        r#"{
  "$schema": "https://example.com/hooks.schema.json",
  "hooks": [
    {"timeout": 10.0, "enabled": true, "command": "1", "event": "*", "later": {"z": 1, "a": 2}},
    {"event": "*", "comand": "lost?"},
    {"event": "*", "command": "2"}
  ],
  "later": [1]
}"#,
    );
    let mut hooks = config.load_global();
    hooks[1] = hooks[1].clone().with_description("changed");
    hooks.push(hook("tool:*", "3"));
    config.save_global(&hooks).unwrap();
    let saved: Value = serde_json::from_str(&world.read(FORGE)).unwrap();
    let expected = json!({
        "$schema": "https://example.com/hooks.schema.json",
        "hooks": [
            {"timeout": 10.0, "enabled": true, "command": "1", "event": "*", "later": {"z": 1, "a": 2}},
            {"event": "*", "command": "2", "description": "changed"},
            {"event": "tool:*", "command": "3"},
            {"event": "*", "comand": "lost?"},
        ],
        "later": [1],
    });
    assert_eq!(
        saved.to_string(),
        expected.to_string(),
        "to the order of the keys"
    );
}

#[test]
fn a_corrupted_file_is_kept_aside_when_it_is_saved_over() {
    let world = World::new();
    let config = config(&world);
    let path = world.write(FORGE, "");
    let cases: [(&[u8], &str); 4] = [
        (b"{\"hooks\": [", "hooks.json.broken"),
        (b"[]", "hooks.json.broken.1"),
        (b"{\"hooks\": {}}", "hooks.json.broken.2"),
        (b"{\"hooks\": []}\xFF", "hooks.json.broken.3"),
    ];
    for (broken, copy) in cases {
        std::fs::write(&path, broken).unwrap();
        assert!(config.load_global().is_empty(), "{copy}");
        assert!(
            !path.with_file_name(copy).exists(),
            "loading changes nothing"
        );
        config.save_global([hook("*", "1")]).unwrap();
        assert_eq!(std::fs::read(path.with_file_name(copy)).unwrap(), broken);
        assert_eq!(commands(&config.load_global()), ["1"]);
    }
}

/// There may be a token in a hook's `env`.
#[cfg(unix)]
#[test]
fn the_copy_of_a_broken_file_is_as_private_as_the_file() {
    use std::os::unix::fs::PermissionsExt;

    let world = World::new();
    for (mode, copy) in [(0o600, "hooks.json.broken"), (0o664, "hooks.json.broken.1")] {
        let path = world.write(FORGE, "{\"hooks\": [");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        config(&world).save_global([hook("*", "1")]).unwrap();
        for name in ["hooks.json", copy] {
            let metadata = path.with_file_name(name).metadata().unwrap();
            assert_eq!(metadata.permissions().mode() & 0o777, mode, "{name}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_private_file_is_never_open_to_others_while_it_is_saved() {
    use std::os::unix::fs::PermissionsExt;

    let world = World::new();
    let config = config(&world);
    let path = world.write(FORGE, &file_of(&[]));
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    let secret = hook("*", "1").with_env("TOKEN", "x".repeat(1_000_000));
    thread::scope(|scope| {
        let writer = scope.spawn(|| (0..10).for_each(|_| config.save_global([&secret]).unwrap()));
        while !writer.is_finished() {
            for entry in path.parent().unwrap().read_dir().unwrap() {
                // One that is in its place by now is no longer found under its first name.
                let Ok(metadata) = entry.unwrap().metadata() else {
                    continue;
                };
                assert_eq!(metadata.permissions().mode() & 0o077, 0);
            }
        }
    });
}

#[test]
fn saving_is_refused_where_nobody_can_say_what_belongs_where() {
    let world = World::new();
    let config = config(&world);
    let files = [FORGE, OPENCODE].map(|name| (name, world.write(name, &file_of(&[name]))));
    let error = config.save_global([hook("*", "1")]).unwrap_err();
    assert!(matches!(&error, ConfigError::SeveralFiles { paths } if paths.len() == 2));
    assert!(
        error
            .to_string()
            .contains(&files[1].1.display().to_string())
    );
    for (name, path) in files {
        assert_eq!(std::fs::read_to_string(path).unwrap(), file_of(&[name]));
    }
    let nowhere = HookConfig::new(AppProfile::new("x").with_global_files([] as [&str; 0]));
    let error = nowhere.save_global([hook("*", "1")]).unwrap_err();
    assert!(matches!(error, ConfigError::NoPlace));
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let world = World::new();
    world.write("config", "a file where a folder should be");
    let error = config(&world).save_global([hook("*", "1")]).unwrap_err();
    assert!(error.to_string().contains("hooks.json"), "{error}");
    assert!(std::error::Error::source(&error).is_some());
}

#[cfg(unix)]
#[test]
fn saving_keeps_the_mode_and_the_link() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let world = World::new();
    let config = config(&world);
    let real = world.write("dotfiles/hooks.json", &file_of(&["1"]));
    std::fs::set_permissions(&real, PermissionsExt::from_mode(0o640)).unwrap();
    std::fs::create_dir_all(world.path(FORGE).parent().unwrap()).unwrap();
    symlink(&real, world.path(FORGE)).unwrap();
    config.save_global([hook("*", "2")]).unwrap();
    assert!(world.path(FORGE).is_symlink());
    assert_eq!(commands(&config.load_global()), ["2"]);
    let mode = real.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn a_new_file_has_the_mode_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;

    let world = World::new();
    config(&world).save_global([hook("*", "1")]).unwrap();
    let mode = |path: PathBuf| path.metadata().unwrap().permissions().mode();
    assert_eq!(mode(world.path(FORGE)), mode(world.write("other", "")));
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_to_keeps_the_old_file_whole() {
    use std::os::unix::fs::PermissionsExt;

    let world = World::new();
    let config = config(&world);
    for text in [file_of(&["1"]), "{".to_owned()] {
        let path = world.write(FORGE, &text);
        let folder = path.parent().unwrap();
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o555)).unwrap();
        // Modes mean nothing to root.
        let any_mode_will_do = std::fs::File::create(folder.join("probe")).is_ok();
        let saved = config.save_global([hook("*", "2")]);
        let left = folder.read_dir().unwrap().count();
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
        if any_mode_will_do {
            return;
        }
        assert!(
            matches!(&saved, Err(ConfigError::Write { path: named, .. }) if *named == path),
            "{text}: {saved:?}"
        );
        assert_eq!((world.read(FORGE), left), (text, 1));
    }
}

#[test]
fn nobody_ever_reads_half_a_file() {
    let world = World::new();
    let config = config(&world);
    config.save_global([hook("*", "0")]).unwrap();
    thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|number| {
                let config = &config;
                let hooks: Vec<_> = (0..=number * 50)
                    .map(|index| hook("*", &index.to_string()))
                    .collect();
                scope.spawn(move || {
                    for _ in 0..15 {
                        let saved = config.save_global(&hooks);
                        // Windows refuses a replacement too, if somebody reads all the time.
                        assert!(saved.is_ok() || cfg!(windows), "{saved:?}");
                    }
                })
            })
            .collect();
        while !writers.iter().all(thread::ScopedJoinHandle::is_finished) {
            let text = match std::fs::read_to_string(world.path(FORGE)) {
                // Windows refuses to open a file in the moment of its replacement.
                Err(_) if cfg!(windows) => continue,
                text => text.unwrap(),
            };
            assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
        }
    });
    let folder = world.path(FORGE).parent().unwrap().read_dir().unwrap();
    assert_eq!(folder.count(), 1, "no temporary file is left");
}

fn any_hook() -> impl Strategy<Value = Hook> {
    let text = "[^\\x00]{1,12}";
    let choices = (
        proptest::option::of(select(Shell::ALL)),
        select(FailurePolicy::ALL),
        select(Stdin::ALL),
        select(Reads::ALL),
    );
    let optional = (
        proptest::option::of(1_u32..86_400_000),
        proptest::option::of(text),
        proptest::collection::btree_map("[A-Z_]{1,5}", "[^\\x00]{0,8}", 0..3),
        any::<bool>(),
    );
    let args = proptest::option::of(proptest::collection::vec(text, 1..3));
    ("[a-z*]{1,4}:[a-z*]{1,4}", text, args, optional, choices).prop_filter_map(
        "a hook",
        |(event, command, args, (timeout, words, env, enabled), choices)| {
            let hook = match args {
                Some(args) => Hook::program(event, args),
                None => Hook::new(event, command),
            };
            let (shell, on_failure, stdin, reads) = choices;
            let hook = hook
                .ok()?
                .with_enabled(enabled)
                .with_on_failure(on_failure)
                .with_stdin(stdin)
                .with_reads(reads);
            let hook = shell.into_iter().fold(hook, Hook::with_shell);
            let hook = env
                .into_iter()
                .fold(hook, |hook, (key, value)| hook.with_env(key, value));
            let hook = words.into_iter().fold(hook, |hook, words| {
                hook.with_working_dir(&words)
                    .with_name(&words)
                    .with_description(words)
            });
            Some(timeout.into_iter().fold(hook, |hook, timeout| {
                hook.with_timeout(std::time::Duration::from_millis(timeout.into()))
            }))
        },
    )
}

/// But for where it comes from. JSON alone would not show what both of them leave out.
fn is_the_same(one: &Hook, other: &Hook) -> bool {
    one.event_pattern() == other.event_pattern()
        && one.command() == other.command()
        && one.own_timeout() == other.own_timeout()
        && one.working_dir() == other.working_dir()
        && one.env() == other.env()
        && one.enabled() == other.enabled()
        && one.name() == other.name()
        && one.description() == other.description()
        && one.on_failure() == other.on_failure()
        && one.stdin() == other.stdin()
        && one.reads() == other.reads()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_hooks_that_are_saved_are_loaded_again(
        hooks in proptest::collection::vec(any_hook(), 0..5),
    ) {
        let world = World::new();
        let config = config(&world);
        config.save_global(&hooks).unwrap();
        let loaded = config.load_global();
        prop_assert_eq!(loaded.len(), hooks.len());
        for (loaded, saved) in loaded.iter().zip(&hooks) {
            prop_assert_eq!(loaded.to_json(), saved.to_json());
            prop_assert!(is_the_same(loaded, saved), "{:?} {:?}", loaded, saved);
        }
        let before = world.read(FORGE);
        config.save_global(config.load_global()).unwrap();
        prop_assert_eq!(world.read(FORGE), before);
    }

    #[test]
    fn no_file_makes_loading_panic(content in proptest::collection::vec(any::<u8>(), 0..200)) {
        let world = World::new();
        std::fs::write(world.write(FORGE, ""), content).unwrap();
        let _ = config(&world).load_global();
    }
}

#[cfg(unix)]
#[test]
fn saving_through_a_link_that_leads_nowhere_makes_what_it_leads_to() {
    let world = World::new();
    let link = world.path(FORGE);
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    let target = world.path("dotfiles/hooks.json");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let told = config(&world).load_global();
    assert!(told.is_empty());
    config(&world).save_global([hook("*", "1")]).unwrap();
    assert!(
        link.symlink_metadata().unwrap().is_symlink(),
        "the link is still one"
    );
    assert_eq!(commands(&config(&world).load_global()), ["1"]);
    assert!(target.exists());
}
