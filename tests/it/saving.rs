//! Saving hooks.json atomically and without a loss, while other processes save, read or are killed.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use forge_hooks::config::ConfigError;
use forge_hooks::hook::{Reads, Shell, Stdin};
use forge_hooks::{AppProfile, FailurePolicy, Hook, HookConfig};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use crate::config::{FORGE, OPENCODE, commands, config, file_of, nearly_a_file};
use crate::endurance::from_environment;
use crate::support::{World, eventually, hook};

/// Saves this hook alone as the user's.
#[track_caller]
fn save(world: &World, command: &str) {
    config(world).save_global([hook("*", command)]).unwrap();
}

#[test]
fn what_is_saved_is_loaded_again() {
    let world = World::new();
    let project = world.path("deep/er/project");
    let hooks = [hook("tool:error", "notify").with_description("Notify on errors")];
    config(&world).save_project(&project, &hooks).unwrap();
    let loaded = config(&world).load_project(&project);
    assert_eq!(loaded[0].to_json(), hooks[0].to_json());
    let text = world.read("deep/er/project/.src/forge/hooks.json");
    assert!(text.starts_with("{\n  \"hooks\": [\n"), "{text}");
    assert!(text.ends_with("}\n"), "{text}");
}

#[test]
fn saving_keeps_unknown_and_unusable_entries() {
    let world = World::new();
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let kept = [
        r#""$schema": "https://example.com/hooks.schema.json""#,
        r#"{"timeout": 10.0, "enabled": true, "command": "1", "event": "*", "later": {"z": 1, "a": 2}}"#,
        r#"{"event": "*", "comand": "lost?"}"#,
        // A key that comes twice, and values out of range, are JSON all the same.
        r#"{"event": "*", "command": "guard", "env": {"A": "1", "A": "2"}}"#,
        r#"{"event": "*", "command": "guard", "later": 1e999}"#,
        &format!(r#"{{"event": "*", "command": "guard", "later": {deep}}}"#),
        r#""disable": ["x"], "later": [1]"#,
    ];
    let [schema, one, lost, twice, large, nested, later] = kept;
    let two = r#"{"event": "*", "command": "2"}"#;
    let entries = [one, lost, twice, large, nested, two].join(",\n    ");
    let text = format!("{{\n  {schema},\n  \"hooks\": [\n    {entries}\n  ],\n  {later}\n}}");
    world.write(FORGE, &text);
    let mut hooks = config(&world).load_global();
    config(&world).save_global(&hooks).unwrap();
    assert_eq!(world.read(FORGE), text);
    let last = hooks.len() - 1;
    hooks[last] = hooks[last].clone().with_description("changed");
    hooks.push(hook("tool:*", "3"));
    config(&world).save_global(&hooks).unwrap();
    let saved = world.read(FORGE);
    for part in kept {
        assert!(saved.contains(part), "{part}: {saved}");
    }
    let changed = r#"{"event": "*", "command": "2", "description": "changed"}"#;
    assert!(saved.contains(changed), "{saved}");
    let commands = commands(&config(&world).load_global());
    assert_eq!(commands.last().unwrap(), "3");
}

/// A repository may bring along a link to a file of the user's.
#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_refused() {
    use std::os::unix::fs::symlink;

    let world = World::new();
    let save = |root: &str| config(&world).save_project(world.path(root), [hook("*", "2")]);
    world.write(FORGE, &file_of(&["guard"]));
    let own = world.path("project/.src/forge");
    std::fs::create_dir_all(&own).unwrap();
    let link = own.join("hooks.json");
    for target in [FORGE, "new/hooks.json"] {
        symlink(world.path(target), &link).unwrap();
        let error = save("project").unwrap_err();
        assert!(matches!(error, ConfigError::Write { .. }), "{error:?}");
        std::fs::remove_file(&link).unwrap();
    }
    std::fs::remove_dir(&own).unwrap();
    symlink(world.path(FORGE).parent().unwrap(), &own).unwrap();
    assert!(save("project").is_err());
    assert_eq!(world.read(FORGE), file_of(&["guard"]));
    std::fs::remove_file(&own).unwrap();
    symlink(world.path("project"), world.path("same")).unwrap();
    world.write("project/shared.json", "{}");
    std::fs::create_dir_all(&own).unwrap();
    symlink("../../shared.json", &link).unwrap();
    save("same").unwrap();
    assert!(world.read("project/shared.json").contains("\"2\""));
}

#[test]
fn saving_keeps_a_copy_of_a_broken_file() {
    let world = World::new();
    let path = world.write(FORGE, "");
    let cases: [&[u8]; 6] = [
        b"{\"hooks\": [",
        b"[]",
        b"{\"hooks\": {}}",
        b"{\"hooks\": []}\xFF",
        b"{\"hook\": [{\"event\": \"*\", \"command\": \"x\"}]}",
        b"{\"hooks\": [{\"event\": \"*\", \"command\": \"x\"}], \"hooks\": []}",
    ];
    for (number, broken) in cases.into_iter().enumerate() {
        let copy = match number {
            0 => "hooks.json.broken".to_owned(),
            number => format!("hooks.json.broken.{number}"),
        };
        let copy = path.with_file_name(copy);
        std::fs::write(&path, broken).unwrap();
        let _ = config(&world).load_global();
        assert!(!copy.exists(), "loading changes nothing");
        save(&world, "1");
        assert_eq!(std::fs::read(copy).unwrap(), broken);
        assert_eq!(commands(&config(&world).load_global()), ["1"]);
    }
}

#[cfg(unix)]
mod modes {
    use std::fs::set_permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use super::*;

    fn mode(path: impl AsRef<Path>) -> u32 {
        path.as_ref().metadata().unwrap().permissions().mode() & 0o777
    }

    /// There may be a token in a hook's `env`.
    #[test]
    fn the_copy_of_a_private_file_is_private() {
        let world = World::new();
        for (private, copy) in [(0o600, "hooks.json.broken"), (0o664, "hooks.json.broken.1")] {
            let path = world.write(FORGE, "{\"hooks\": [");
            set_permissions(&path, PermissionsExt::from_mode(private)).unwrap();
            save(&world, "1");
            assert_eq!(mode(&path), private);
            assert_eq!(mode(path.with_file_name(copy)), private);
        }
    }

    #[test]
    fn a_private_file_stays_private_in_a_save() {
        let world = World::new();
        let path = world.write(FORGE, &file_of(&[]));
        set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        let secret = hook("*", "1").with_env("TOKEN", "x".repeat(500_000));
        thread::scope(|scope| {
            let save = || config(&world).save_global([&secret]).unwrap();
            let writer = scope.spawn(move || (0..2).for_each(|_| save()));
            while !writer.is_finished() {
                for entry in path.parent().unwrap().read_dir().unwrap() {
                    // A file that has been renamed is no longer found under its first name.
                    let Ok(metadata) = entry.unwrap().metadata() else {
                        continue;
                    };
                    assert_eq!(metadata.permissions().mode() & 0o077, 0);
                }
            }
        });
    }

    #[test]
    fn saving_keeps_the_mode_and_the_link() {
        let world = World::new();
        save(&world, "1");
        let new = world.path(FORGE);
        assert_eq!(mode(&new), mode(world.write("other", "")));
        std::fs::remove_file(&new).unwrap();
        // Also of a link to a file that is not there yet.
        let real = world.write("dotfiles/x", "").with_file_name("hooks.json");
        symlink(&real, &new).unwrap();
        for command in ["1", "2"] {
            save(&world, command);
            assert!(new.is_symlink());
            assert_eq!(commands(&config(&world).load_global()), [command]);
            set_permissions(&real, PermissionsExt::from_mode(0o640)).unwrap();
        }
        save(&world, "3");
        assert_eq!(mode(real), 0o640);
    }

    /// For this process alone. A write beyond it is an error, not a signal.
    fn largest_file(bytes: libc::rlim_t) {
        let limit = libc::rlimit {
            rlim_cur: bytes,
            rlim_max: libc::RLIM_INFINITY,
        };
        // SAFETY: plain calls; the struct is initialised.
        #[allow(unsafe_code)]
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit), 0);
        }
    }

    /// As on a full disk: the system takes no more than a part of it.
    #[test]
    fn a_full_disk_keeps_the_old_file() {
        if !crate::support::alone("saving::modes::a_full_disk_keeps_the_old_file") {
            return;
        }
        let world = World::new();
        save(&world, "old");
        largest_file(4096);
        let refused = config(&world).save_global(many("new"));
        // What measures coverage writes at the end.
        largest_file(libc::RLIM_INFINITY);
        let error = refused.unwrap_err();
        let path = world.path(FORGE);
        assert!(matches!(&error, ConfigError::Write { path: it, .. } if *it == path));
        assert_eq!(commands(&config(&world).load_global()), ["old"]);
        let left = path.parent().unwrap().read_dir().unwrap();
        assert_eq!(left.count(), 1, "nothing half written is left");
    }
}

#[test]
fn ambiguous_saves_are_refused() {
    let world = World::new();
    let files = [FORGE, OPENCODE];
    for name in files {
        world.write(name, &file_of(&[name]));
    }
    let error = config(&world).save_global([hook("*", "1")]).unwrap_err();
    assert!(matches!(&error, ConfigError::SeveralFiles { paths } if paths.len() == 2));
    let second = world.path(OPENCODE).display().to_string();
    assert!(error.to_string().contains(&second));
    for name in files {
        assert_eq!(world.read(name), file_of(&[name]));
    }
    let nowhere = HookConfig::new(AppProfile::new("x").with_global_files([] as [&str; 0]));
    let error = nowhere.save_global([hook("*", "1")]).unwrap_err();
    assert!(matches!(error, ConfigError::NoPlace));
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let world = World::new();
    world.write("config", "a file where a directory should be");
    let error = config(&world).save_global([hook("*", "1")]).unwrap_err();
    assert!(error.to_string().contains("hooks.json"), "{error}");
    assert!(std::error::Error::source(&error).is_some());
}

fn any_hook() -> impl Strategy<Value = Hook> {
    let text = "[^\\x00]{1,12}";
    let choices = (
        proptest::option::of(select(Shell::ALL)),
        // The third is for one event alone.
        select(&FailurePolicy::ALL[..2]),
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
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn loading_and_saving_changes_no_byte(text in nearly_a_file()) {
        let world = World::new();
        let path = world.write(FORGE, &text);
        let is_hooks_file = serde_json::from_str::<Value>(&text)
            .is_ok_and(|file| file.get("hooks").is_some_and(Value::is_array));
        if is_hooks_file {
            config(&world).save_global(config(&world).load_global()).unwrap();
            prop_assert_eq!(std::fs::read_to_string(path).unwrap(), text);
        }
    }

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
}

/// Tells a process of this binary to save over and over, and where.
const SAVER: &str = "FORGE_HOOKS_TEST_SAVER";

/// As many hooks as it takes for a save not to be one write.
fn many(command: &str) -> Vec<Hook> {
    (0..300).map(|_| hook("*", command)).collect()
}

/// No test of its own: the process that those below start and kill.
#[test]
fn a_saver() {
    let Some(home) = std::env::var_os(SAVER) else {
        return;
    };
    let config = HookConfig::default().with_config_home(home);
    println!("saving");
    loop {
        for command in ["one", "other"] {
            config.save_global(many(command)).unwrap();
        }
    }
}

fn start_a_saver(world: &World) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "saving::a_saver", "--nocapture"])
        .env(SAVER, world.path("config"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The file is one of the two that are saved, whole.
#[track_caller]
fn is_whole(world: &World) {
    let reported = config(world).check(world.path(FORGE));
    assert!(
        reported.problems.is_empty() && reported.loaded == 300,
        "{reported:?}"
    );
    let commands = commands(&config(world).load_global());
    assert!(commands.iter().all(|command| *command == commands[0]));
}

/// At moments drawn by the clock: `FORGE_HOOKS_TEST_KILLS` says how often.
#[test]
fn a_killed_save_leaves_a_whole_file() {
    let times: u64 = from_environment("FORGE_HOOKS_TEST_KILLS", 3);
    let world = World::new();
    config(&world).save_global(many("first")).unwrap();
    let started = Instant::now();
    let mut saver = start_a_saver(&world);
    eventually("it has saved", || {
        commands(&config(&world).load_global())[0] != "first"
    });
    let first_save = u64::try_from(started.elapsed().as_micros()).unwrap();
    saver.kill().unwrap();
    saver.wait().unwrap();
    for round in 0..times {
        let mut saver = start_a_saver(&world);
        // From before its first save to within its tenth or so.
        let drawn = round * 7919 % 9000;
        thread::sleep(Duration::from_micros(first_save / 2 + drawn));
        saver.kill().unwrap();
        saver.wait().unwrap();
        is_whole(&world);
    }
}

#[test]
fn concurrent_saves_keep_the_file_whole() {
    let world = World::new();
    config(&world).save_global(many("first")).unwrap();
    let mut savers = [start_a_saver(&world), start_a_saver(&world)];
    let end = Instant::now() + Duration::from_millis(150);
    while Instant::now() < end {
        is_whole(&world);
    }
    for saver in &mut savers {
        assert!(saver.try_wait().unwrap().is_none(), "it saves to the end");
        saver.kill().unwrap();
        saver.wait().unwrap();
    }
}
