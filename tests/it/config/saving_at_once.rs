//! Several threads and processes that edit one file: what was saved stays.

use std::process::{Child, Command, Stdio};
use std::thread;

use forge_hooks::HookConfig;
use forge_hooks::config::ConfigError;

use super::{FORGE, commands, config, file_of};
use crate::support::{World, hook};

/// Tells a process of this binary to edit, and where.
const EDITOR: &str = "FORGE_HOOKS_TEST_EDITOR";

const EACH: usize = 6;

/// Adds hooks one by one; a refused save is done again.
fn add_all(config: &HookConfig, name: &str) {
    for number in 0..EACH {
        loop {
            let mut file = config.global_file().unwrap();
            file.insert(number, hook("*", &format!("{name} {number}")));
            match file.save() {
                Ok(()) => break,
                Err(ConfigError::Changed { .. }) => {}
                Err(error) => panic!("{error}: {:?}", std::error::Error::source(&error)),
            }
        }
    }
}

/// No test of its own: the process that the one below starts.
#[test]
fn an_editor() {
    if let Some(home) = std::env::var_os(EDITOR) {
        let config = HookConfig::default().with_config_home(home);
        add_all(&config, &format!("process {}", std::process::id()));
    }
}

fn start_an_editor(world: &World) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "config::saving_at_once::an_editor",
            "--nocapture",
        ])
        .env(EDITOR, world.path("config"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn each_saved_edit_is_in_the_file() {
    let world = World::new();
    world.write(FORGE, "{\n  // mine\n  \"hooks\": [\n  ]\n}\n");
    let mut editors: Vec<Child> = (0..3).map(|_| start_an_editor(&world)).collect();
    thread::scope(|scope| {
        for name in ["one", "two", "three"] {
            let config = config(&world);
            scope.spawn(move || add_all(&config, name));
        }
    });
    for editor in &mut editors {
        assert!(editor.wait().unwrap().success());
    }
    let mut saved = commands(&config(&world).load_global());
    saved.sort();
    saved.dedup();
    assert_eq!(saved.len(), 6 * EACH, "{saved:?}");
    assert!(world.read(FORGE).contains("// mine"));
}

#[test]
fn a_list_saved_meanwhile_refuses_an_edit() {
    let world = World::new();
    world.write(FORGE, &file_of(&["1"]));
    let mut file = config(&world).global_file().unwrap();
    config(&world).save_global([hook("*", "2")]).unwrap();
    file.insert(0, hook("*", "3"));
    let error = file.save().unwrap_err();
    assert!(matches!(error, ConfigError::Changed { .. }), "{error}");
    let expected = format!(
        "`{}` has changed since it was read: open it again",
        world.path(FORGE).display()
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(commands(&config(&world).load_global()), ["2"]);
}

/// Both paths are one file.
#[cfg(unix)]
#[test]
fn edits_through_a_link_are_not_lost() {
    let world = World::new();
    world.write("dotfiles/hooks.json", &file_of(&[]));
    let homes = ["config", "other"].map(|home| {
        let link = world.path(&FORGE.replace("config", home));
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(world.path("dotfiles/hooks.json"), link).unwrap();
        HookConfig::default().with_config_home(world.path(home))
    });
    thread::scope(|scope| {
        for (config, name) in homes.iter().zip(["one", "two"]) {
            scope.spawn(move || add_all(config, name));
        }
    });
    assert_eq!(homes[0].load_global().len(), 2 * EACH);
}

/// A repository may contain a link with the name of the lock.
#[cfg(unix)]
#[test]
fn a_lock_is_not_created_through_a_link() {
    let world = World::new();
    let lock = world.write("project/.src/forge/x", "");
    let lock = lock.with_file_name("hooks.json.lock");
    std::os::unix::fs::symlink(world.path("outside"), &lock).unwrap();
    let error = config(&world)
        .save_project(world.path("project"), [hook("*", "1")])
        .unwrap_err();
    assert!(matches!(error, ConfigError::Write { .. }), "{error:?}");
    assert!(!world.path("outside").exists() && lock.is_symlink());
}
