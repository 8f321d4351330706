//! Each file that the library writes, in a clone whose author has put a link to a file of the user in its place.

use std::path::Path;
use std::time::Duration;

use forge_hooks::{AppProfile, Hook, HookConfig, Hooks, Trace};

use crate::logging::{listen, reported};
use crate::support::{World, alone, blocking_event, hook, run_alone};

const MINE: &str = "# mine\n";
const PROJECT_FILE: &str = "project/.src/forge/hooks.json";

/// A clone, and a file of its user beside it.
fn user() -> World {
    let world = World::new();
    world.write("bashrc", MINE);
    world.write("project/README", "");
    world
}

fn link(world: &World, name: &str, to: &str) {
    let link = world.path(name);
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(world.path(to), link).unwrap();
}

fn save(world: &World, hooks: &[Hook]) -> bool {
    let config = HookConfig::default().with_config_home(world.path("config"));
    config.save_project(world.path("project"), hooks).is_ok()
}

/// Each place: the name of the link in the clone, what it leads to, and what writes there.
#[test]
fn no_link_in_a_clone_leads_to_a_file_of_the_user() {
    type Writes = fn(&World);
    let places: [(&str, &str, &str, Writes); 5] = [
        ("hooks.json", PROJECT_FILE, "bashrc", |world| {
            assert!(!save(world, &[hook("*", "true")]));
        }),
        ("its directory", "project/.src/forge", "", |world| {
            assert!(!save(world, &[hook("*", "true")]));
            assert!(!world.path("hooks.json").exists());
        }),
        (
            "its lock",
            "project/.src/forge/hooks.json.lock",
            "bashrc",
            |world| {
                assert!(!save(world, &[hook("*", "true")]));
            },
        ),
        (
            "a copy of a broken one",
            "project/.src/forge/hooks.json.broken",
            "bashrc",
            |world| {
                world.write(PROJECT_FILE, "broken");
                assert!(save(world, &[hook("*", "true")]));
                let copy = format!("{PROJECT_FILE}.broken.1");
                assert_eq!(world.read(&copy), "broken");
            },
        ),
        (
            "another copy",
            "project/.src/forge/hooks.json.broken",
            "nothing",
            |world| {
                world.write(PROJECT_FILE, "broken");
                assert!(save(world, &[hook("*", "true")]));
                assert!(!world.path("nothing").exists());
            },
        ),
    ];
    for (place, name, to, writes) in places {
        let world = user();
        link(&world, name, to);
        writes(&world);
        assert_eq!(world.read("bashrc"), MINE, "{place}");
    }
}

/// A trace names the commands of the clone's hooks, and a host may run in the clone.
#[test]
fn the_variable_of_a_trace_follows_no_link() {
    let test = "written_files::the_variable_of_a_trace_follows_no_link";
    const VARIABLE: &str = "LEADS_HOOKS_TRACE";
    let Ok(path) = std::env::var(VARIABLE) else {
        let world = user();
        link(&world, "project/trace.jsonl", "bashrc");
        link(&world, "project/new.jsonl", "bashrc.new");
        let absolute = |name: &str| world.path(name).to_str().unwrap().to_owned();
        for path in [
            "trace.jsonl".to_owned(),
            "./trace.jsonl".to_owned(),
            "other.jsonl".to_owned(),
            absolute("project/trace.jsonl"),
            absolute("project/new.jsonl"),
        ] {
            run_alone(test, |command| {
                command
                    .current_dir(world.path("project"))
                    .env(VARIABLE, &path)
            });
            assert_eq!(world.read("bashrc"), MINE, "{path}");
            assert!(!world.path("bashrc.new").exists(), "{path}");
            assert!(!world.path("project/other.jsonl").exists(), "{path}");
        }
        return;
    };
    listen();
    let hooks = Hooks::builder(AppProfile::new("leads")).load();
    hooks.executor().registry().register(hook("*", "true"));
    assert!(hooks.execute(&blocking_event()).allowed());
    assert!(hooks.shutdown(Duration::from_secs(10)));
    let warnings = reported(&format!(
        "`{VARIABLE}`: cannot open the trace file `{path}`: "
    ));
    let expected = if Path::new(&path).is_absolute() {
        "it is a link, expected a file; name the file itself"
    } else {
        "it is a relative path, expected an absolute one, as in `/"
    };
    let [(log::Level::Warn, warning)] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    assert!(warning.contains(expected), "{warning}");
}

/// A link that appears while the trace is written.
#[test]
fn a_trace_of_the_variable_follows_no_later_link() {
    let test = "written_files::a_trace_of_the_variable_follows_no_later_link";
    const VARIABLE: &str = "LATER_HOOKS_TRACE";
    let Some(path) = std::env::var_os(VARIABLE) else {
        let world = user();
        let path = world.path("project/trace.jsonl");
        run_alone(test, |command| command.env(VARIABLE, &path));
        assert_eq!(world.read("bashrc"), MINE);
        return;
    };
    let path = Path::new(&path);
    let hooks = Hooks::builder(AppProfile::new("later")).load();
    hooks.executor().registry().register(hook("*", "true"));
    std::fs::remove_file(path).unwrap();
    std::os::unix::fs::symlink(path.with_file_name("../bashrc"), path).unwrap();
    assert!(hooks.execute(&blocking_event()).allowed());
    assert!(hooks.shutdown(Duration::from_secs(10)));
}

/// The standard error of a host is a link in `/dev`.
#[cfg(target_os = "linux")]
#[test]
fn the_variable_of_a_trace_may_name_a_device() {
    let test = "written_files::the_variable_of_a_trace_may_name_a_device";
    const VARIABLE: &str = "DEVICE_HOOKS_TRACE";
    if std::env::var_os(VARIABLE).is_none() {
        let world = World::new();
        for path in ["/dev/stderr", "/dev/fd/2", "/dev/null"] {
            let errors = std::fs::File::create(world.path("errors")).unwrap();
            run_alone(test, |command| command.env(VARIABLE, path).stderr(errors));
            let is_there = world.read("errors").contains(r#""hook":"traced""#);
            assert_eq!(is_there, path != "/dev/null", "{path}");
        }
        return;
    }
    let hooks = Hooks::builder(AppProfile::new("device")).load();
    hooks
        .executor()
        .registry()
        .register(hook("*", "true").with_name("traced"));
    assert!(hooks.execute(&blocking_event()).allowed());
    assert!(hooks.shutdown(Duration::from_secs(10)));
}

/// A host that names a file decides itself what the file is.
#[test]
fn a_trace_of_the_host_may_be_relative() {
    if !alone("written_files::a_trace_of_the_host_may_be_relative") {
        return;
    }
    let world = user();
    link(&world, "link", "far.jsonl");
    world.write("far.jsonl", "");
    std::env::set_current_dir(world.directory()).unwrap();
    for path in ["near.jsonl", "link"] {
        let trace = Trace::builder(path).build().unwrap();
        assert!(trace.path().is_absolute());
    }
    assert!(world.path("near.jsonl").exists());
}
