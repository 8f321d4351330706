//! Saving hooks.json atomically and without a loss, while other processes save, read or are killed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use forge_hooks::hook::Shell;
use forge_hooks::{AppProfile, FailurePolicy, Hook, HookConfig};
use proptest::prelude::*;
use serde_json::Value;

use super::{FORGE, OPENCODE, commands, config, file_of, nearly_a_file};
use crate::executor::endurance::from_environment;
use crate::support::{World, eventually, hook};

/// Saves this hook alone as the user's.
#[track_caller]
fn save(world: &World, command: &str) {
    config(world).save_global([hook("*", command)]).unwrap();
}

#[test]
fn what_is_saved_is_loaded_again() {
    let world = World::new();
    let full = hook("tool:pre_execute:a|b, *", "a \"b\"\n\u{1}é")
        .with_shell(Shell::Bash)
        .with_timeout(Duration::from_millis(86_399_999))
        .with_working_dir("it's; here")
        .with_env("K", "v\t")
        .with_env("_", "")
        .with_inherit(["PATH"])
        .with_enabled(false)
        .with_name("n")
        .with_description("d")
        .with_on_failure(FailurePolicy::Continue)
        .without_stdin()
        .reading_stdin()
        .with_inputs(["lib"])
        .with_when("/a", "b*")
        .unwrap();
    let program = Hook::program("*", ["a", "b c", ""]).unwrap();
    let resident = program.clone().with_resident();
    let hooks = [full, program.with_background(), resident];
    let project = world.path("deep/er/project");
    config(&world).save_project(&project, &hooks).unwrap();
    let loaded = config(&world).load_project(&project);
    let json = |hooks: &[Hook]| hooks.iter().map(Hook::to_json).collect::<Vec<_>>();
    assert_eq!(json(&loaded), json(&hooks));
    // JSON alone would not show what both of them leave out.
    for (loaded, saved) in loaded.iter().zip(&hooks) {
        let shown = |hook: &Hook| {
            let times = (hook.timeout(), hook.working_dir().map(Path::to_owned));
            let ends = (hook.on_failure(), hook.background());
            format!("{times:?} {:?} {} {ends:?}", hook.env(), hook.enabled())
        };
        assert_eq!(shown(loaded), shown(saved));
    }
    let text = world.read("deep/er/project/.src/forge/hooks.json");
    assert!(text.starts_with("{\n  \"hooks\": [\n"), "{text}");
    assert!(text.ends_with("}\n"), "{text}");
}

#[test]
fn saving_keeps_unknown_and_unusable_entries() {
    let world = World::new();
    let kept = [
        r#""$schema": "https://example.com/hooks.schema.json""#,
        r#"{"timeout": 10.0, "enabled": true, "command": "1", "event": "*", "later": {"z": 1, "a": 2}}"#,
        r#"{"event": "*", "comand": "lost?"}"#,
        // A key that comes twice, and values out of range, are JSON all the same.
        r#"{"event": "*", "command": "guard", "env": {"A": "1", "A": "2"}}"#,
        r#"{"event": "*", "command": "guard", "later": 1e999}"#,
        r#""disable": ["x"], "later": [1]"#,
    ];
    let [schema, one, lost, twice, large, later] = kept;
    let two = r#"{"event": "*", "command": "2"}"#;
    let entries = [one, lost, twice, large, two].join(",\n    ");
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
    assert!(saved.contains(r#""description": "changed""#), "{saved}");
    let commands = commands(&config(&world).load_global());
    assert_eq!(commands.last().unwrap(), "3");
}

/// A hook that was loaded is saved at its own entry.
#[test]
fn of_equal_entries_the_right_one_stays() {
    let world = World::new();
    let entry = |note| format!(r#"{{"event": "*", /* {note} */ "command": "1"}}"#);
    let text = |entries: &[String]| format!("{{\"hooks\": [\n  {}\n]}}", entries.join(",\n  "));
    world.write(FORGE, &text(&["first", "second"].map(entry)));
    let hooks = config(&world).load_global();
    config(&world).save_global(&hooks[1..]).unwrap();
    assert_eq!(world.read(FORGE), text(&[entry("second")]));
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
        assert!(error.to_string().starts_with("cannot write `"), "{error:?}");
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

#[cfg(unix)]
#[test]
fn a_link_may_lead_out_and_in_again() {
    use std::os::unix::fs::symlink;

    let world = World::new();
    let save = |root: &str| config(&world).save_project(world.path(root), [hook("*", "2")]);
    let link = world.path("project/.src/forge/hooks.json");
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(world.path("project"), world.path("same")).unwrap();
    // Also by another name of the project, and to a file that does not exist.
    let by_another_name = world.path("same/new.json");
    for target in [Path::new("../../../project/a.json"), &by_another_name] {
        let _ = std::fs::remove_file(&link);
        symlink(target, &link).unwrap();
        save("project").unwrap();
        save("same").unwrap();
    }
    // Missing directories are not created to go up from there. No file is locked either, since a lock creates one.
    world.write("Cargo.lock", "");
    for target in ["nodir/../../../../Cargo", "nodir/../../../../new/x"] {
        std::fs::remove_file(&link).unwrap();
        symlink(target, &link).unwrap();
        assert!(save("project").is_err(), "{target}");
        let made = ["new", "project/.src/forge/nodir"].map(|path| world.path(path).exists());
        assert_eq!(made, [false; 2]);
        assert!(world.path("Cargo.lock").exists());
    }
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
    use super::*;
    use std::fs::set_permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

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
        if !crate::support::alone("config::saving::modes::a_full_disk_keeps_the_old_file") {
            return;
        }
        let world = World::new();
        save(&world, "old");
        largest_file(4096);
        let refused = config(&world).save_global(many("new"));
        // The coverage runtime writes its file at the end.
        largest_file(libc::RLIM_INFINITY);
        let error = refused.unwrap_err();
        let path = world.path(FORGE);
        assert_eq!(
            error.to_string(),
            format!("cannot write `{}`", path.display())
        );
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
    assert!(error.to_string().starts_with("several hooks files exist ("));
    let second = world.path(OPENCODE).display().to_string();
    assert!(error.to_string().contains(&second));
    for name in files {
        assert_eq!(world.read(name), file_of(&[name]));
    }
    let nowhere = HookConfig::new(AppProfile::new("x").with_global_files([] as [&str; 0]));
    let error = nowhere.save_global([hook("*", "1")]).unwrap_err();
    assert!(error.to_string().starts_with("no path for a hooks file: "));
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let world = World::new();
    world.write("config", "a file where a directory should be");
    let error = config(&world).save_global([hook("*", "1")]).unwrap_err();
    assert!(error.to_string().contains("hooks.json"), "{error}");
    assert!(std::error::Error::source(&error).is_some());
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
}

/// Tells a process of this binary to save over and over, and where.
const SAVER: &str = "FORGE_HOOKS_TEST_SAVER";

/// As many hooks as it takes for a save not to be one write.
fn many(command: &str) -> Vec<Hook> {
    vec![hook("*", command).with_env("K", "x".repeat(500)); 60]
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
        .args(["--exact", "config::saving::a_saver", "--nocapture"])
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
    let is_good = reported.problems.is_empty() && reported.loaded == 60;
    assert!(is_good, "{reported:?}");
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
