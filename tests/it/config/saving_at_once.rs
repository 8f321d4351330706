//! Several threads and processes that save one file: it is always one of the saved lists, as a whole.

use std::process::{Child, Command, Stdio};
use std::thread;

use forge_hooks::HookConfig;

use super::{FORGE, commands, config};
use crate::support::{World, hook};

/// Tells a process of this binary to save, and where.
const EDITOR: &str = "FORGE_HOOKS_TEST_EDITOR";

const EACH: usize = 6;

/// Saves lists with the same command in each place, one after the other.
fn save_all(config: &HookConfig, name: &str) {
    for length in 1..=EACH {
        let list = (0..length).map(|_| hook("*", name));
        config.save_global(list.collect::<Vec<_>>()).unwrap();
    }
}

/// No test of its own: the process that the one below starts.
#[test]
fn an_editor() {
    if let Some(home) = std::env::var_os(EDITOR) {
        let config = HookConfig::default().with_config_home(home);
        save_all(&config, &format!("process {}", std::process::id()));
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
fn the_file_is_one_of_the_saved_lists() {
    let world = World::new();
    world.write(FORGE, "{\n  // mine\n  \"hooks\": [\n  ]\n}\n");
    let mut editors: Vec<Child> = (0..3).map(|_| start_an_editor(&world)).collect();
    thread::scope(|scope| {
        for name in ["one", "two", "three"] {
            let config = config(&world);
            scope.spawn(move || save_all(&config, name));
        }
    });
    for editor in &mut editors {
        assert!(editor.wait().unwrap().success());
    }
    let mut saved = commands(&config(&world).load_global());
    assert_eq!(saved.len(), EACH, "{saved:?}");
    saved.dedup();
    assert_eq!(saved.len(), 1, "{saved:?}");
    assert!(world.read(FORGE).contains("// mine"));
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
    assert!(error.to_string().starts_with("cannot write `"), "{error:?}");
    assert!(!world.path("outside").exists() && lock.is_symlink());
}
