//! `hooks.d`: each case of hooks.json, for a file beside it.

use std::fs;
use std::path::Path;

use forge_hooks::config::{LoadReport, TrustPolicy};
use forge_hooks::trust::{Approval, TrustStore};
use forge_hooks::{AppProfile, Hook, HookEvent, Hooks};
use serde_json::{Value, json};

use crate::support::World;

const USERS: &str = "config/myagent/hooks.d/10-more.json";
const PROJECTS: &str = "project/.myagent/hooks.d/10-more.json";

fn load(world: &World, policy: TrustPolicy) -> Hooks {
    Hooks::builder(AppProfile::new("myagent"))
        .config_home(world.path("config"))
        .without_system_file()
        .project(world.path("project"))
        .trust(policy)
        .load()
}

fn host(world: &World) -> Hooks {
    load(world, TrustPolicy::Everything)
}

fn write(world: &World, path: &str, names: &[&str]) {
    let hooks = names.iter().map(|name| guard(name));
    let file = json!({"hooks": hooks.collect::<Vec<_>>()});
    world.write(path, &file.to_string());
}

fn guard(name: &str) -> Value {
    json!({"event": "tool:pre_execute", "name": name, "answer": {"decision": "block", "reason": name}})
}

/// The labels of the hooks, in their order.
fn names(hooks: &Hooks) -> Vec<String> {
    let hooks = hooks.executor().registry().hooks();
    hooks.iter().map(|hook| hook.label().to_owned()).collect()
}

fn is_blocked(hooks: &Hooks) -> bool {
    let event = HookEvent::tool_pre_execute("bash", json!({"command": "ls"}));
    hooks.execute(&event).blocked().is_some()
}

fn errors(report: &LoadReport) -> Vec<String> {
    let problems = report.problems.iter();
    let errors = problems.filter(|problem| problem.is_error());
    errors.map(|problem| problem.message.clone()).collect()
}

#[test]
fn files_are_read_behind_hooks_json_in_the_order_of_their_names() {
    let world = World::new();
    for path in [USERS, PROJECTS] {
        let directory = Path::new(path).parent().unwrap();
        let beside = directory.with_file_name("hooks.json");
        write(&world, beside.to_str().unwrap(), &["first"]);
        for (file, name) in [
            ("20-b.json", "third"),
            ("10-a.json", "second"),
            ("9.json", "fourth"),
            (".10-a.json.swp", "of an editor"),
            (".hidden.json", "hidden"),
            ("README.md", "no hooks"),
            ("deep/1.json", "deeper"),
        ] {
            write(&world, directory.join(file).to_str().unwrap(), &[name]);
        }
    }
    let hooks = host(&world);
    assert_eq!(errors(&hooks.report()), [""; 0]);
    let once = ["first", "second", "third", "fourth"];
    assert_eq!(names(&hooks), [once, once].concat());
    assert_eq!(hooks.report().files.len(), 8);
    // Without hooks.json too.
    fs::remove_file(world.path("config/myagent/hooks.json")).unwrap();
    let left = host(&world);
    assert_eq!(names(&left)[..3], ["second", "third", "fourth"]);
}

#[test]
fn a_directory_alone_makes_a_project() {
    let world = World::new();
    write(&world, PROJECTS, &["guard"]);
    fs::create_dir_all(world.path("project/src/deep")).unwrap();
    fs::create_dir_all(world.path(".git")).unwrap();
    let hooks = Hooks::builder(AppProfile::new("myagent"))
        .config_home(world.path("config"))
        .without_system_file()
        .discover_project(world.path("project/src/deep"))
        .trust(TrustPolicy::Everything)
        .load();
    assert_eq!(names(&hooks), ["guard"]);
    let project = hooks.project().unwrap().canonicalize().unwrap();
    assert_eq!(project, world.path("project").canonicalize().unwrap());
}

#[test]
fn a_hundred_files_are_read_and_more_block() {
    for path in [USERS, PROJECTS] {
        let world = World::new();
        let directory = Path::new(path).parent().unwrap();
        for index in 0..100 {
            let file = directory.join(format!("{index:03}.json"));
            write(&world, file.to_str().unwrap(), &[&format!("{index:03}")]);
        }
        let hooks = host(&world);
        assert_eq!(
            (names(&hooks).len(), errors(&hooks.report()).len()),
            (100, 0)
        );
        assert_eq!(names(&hooks)[99], "099");
        world.write(
            directory.join("more.json").to_str().unwrap(),
            "{\"hooks\": []}",
        );
        let hooks = host(&world);
        let expected = "the directory has more than 100 files `*.json`: join some of them";
        assert_eq!(errors(&hooks.report()), [expected]);
        assert!(is_blocked(&hooks));
    }
}

#[test]
fn a_projects_files_have_16_mib_together() {
    let world = World::new();
    let filler = " ".repeat(1024 * 1024 - 20);
    for index in 10..28 {
        let file = format!("project/.myagent/hooks.d/{index}.json");
        world.write(&file, &format!("{{\"hooks\": []}}{filler}"));
    }
    let hooks = host(&world);
    let expected = "the file is left out: the project has more than 16 MiB of files with hooks";
    assert_eq!(errors(&hooks.report()), [expected]);
    assert!(is_blocked(&hooks));
}

#[cfg(unix)]
#[test]
fn paths_in_a_file_begin_in_the_projects_root() {
    let world = World::new();
    let hook = json!({"event": "*", "command": "./guard.sh"});
    world.write(PROJECTS, &json!({"hooks": [hook]}).to_string());
    let problems = || {
        let report = host(&world).config().check(world.path(PROJECTS));
        report.problems.len()
    };
    assert_eq!(problems(), 1);
    world.script("project/guard.sh", "#!/bin/sh\nexit 0\n");
    assert_eq!(problems(), 0);
}

#[test]
fn what_cannot_be_read_blocks() {
    type Break = fn(&Path);
    let cases: &[(Break, &str)] = &[
        (|path| fs::write(path, "{").unwrap(), "`}` is missing"),
        (
            |path| fs::create_dir(path).unwrap(),
            "the file is a directory",
        ),
        #[cfg(unix)]
        (
            |path| std::os::unix::fs::symlink("nowhere", path).unwrap(),
            "the file is a link to a file that does not exist",
        ),
        #[cfg(unix)]
        (
            |path| {
                let directory = path.parent().unwrap();
                fs::remove_dir(directory).unwrap();
                std::os::unix::fs::symlink("nowhere", directory).unwrap();
            },
            "the directory cannot be read",
        ),
    ];
    for path in [USERS, PROJECTS] {
        for &(break_it, expected) in cases {
            let world = World::new();
            fs::create_dir_all(world.path(path).parent().unwrap()).unwrap();
            break_it(&world.path(path));
            let hooks = host(&world);
            let errors = errors(&hooks.report());
            assert!(
                errors.len() == 1 && errors[0].contains(expected),
                "{errors:?}"
            );
            assert!(is_blocked(&hooks), "{expected}");
        }
    }
}

#[test]
fn a_projects_file_runs_as_it_was_approved() {
    let world = World::new();
    let store = TrustStore::new(world.path("trust.json"));
    let approved = || load(&world, TrustPolicy::Approved(store.clone()));
    write(&world, PROJECTS, &["guard"]);
    let hooks = approved();
    assert_eq!(hooks.report().unapproved, ["guard"]);
    assert!(!is_blocked(&hooks));
    let root = world.path("project");
    let approval = Approval::of(&root, hooks.config().load_project(&root)).unwrap();
    store.approve(&approval).unwrap();
    assert!(is_blocked(&approved()));
    // A file that comes later is not approved, and one that is gone blocks.
    write(&world, "project/.myagent/hooks.d/20.json", &["new"]);
    assert_eq!(approved().report().unapproved, ["new"]);
    fs::remove_file(world.path(PROJECTS)).unwrap();
    let reason = |hooks: &Hooks| {
        let event = HookEvent::tool_pre_execute("bash", json!({}));
        hooks
            .execute(&event)
            .reason()
            .unwrap_or_default()
            .to_owned()
    };
    assert!(
        reason(&approved()).contains("approv"),
        "{}",
        reason(&approved())
    );
}

#[test]
fn an_approval_covers_the_scripts_beside_hooks_json() {
    let world = World::new();
    let store = TrustStore::new(world.path("trust.json"));
    let approved = || load(&world, TrustPolicy::Approved(store.clone()));
    let hook = json!({"event": "tool:pre_execute", "name": "guard", "command": "exit 0"});
    world.write(PROJECTS, &json!({"hooks": [hook]}).to_string());
    world.write("project/.myagent/hooks/deep/guard.sh", "exit 0\n");
    let hooks = approved();
    let root = world.path("project");
    let approval = Approval::of(&root, hooks.config().load_project(&root)).unwrap();
    store.approve(&approval).unwrap();
    assert!(!is_blocked(&approved()));
    world.write("project/.myagent/hooks/deep/guard.sh", "exit 1\n");
    assert!(is_blocked(&approved()));
}

#[test]
fn a_name_is_disabled_for_all_files() {
    let world = World::new();
    write(&world, USERS, &["one", "two"]);
    world.write(
        "config/myagent/hooks.json",
        r#"{"hooks": [], "disable": ["one"]}"#,
    );
    assert_eq!(names(&host(&world)), ["two"]);
    world.write(
        "config/myagent/hooks.d/20.json",
        r#"{"hooks": [], "disable": ["two"]}"#,
    );
    assert_eq!(names(&host(&world)), [""; 0]);
}

#[cfg(unix)]
#[test]
fn the_administrators_files_cannot_be_disabled_and_belong_to_nobody_else() {
    use std::os::unix::fs::PermissionsExt;

    let world = World::new();
    write(&world, "etc/hooks.d/10.json", &["of all", "other"]);
    world.write(
        "config/myagent/hooks.json",
        r#"{"hooks": [], "disable": ["of all"]}"#,
    );
    let load = || {
        Hooks::builder(AppProfile::new("myagent"))
            .config_home(world.path("config"))
            .system_file(world.path("etc/hooks.json"))
            .load()
    };
    assert_eq!(names(&load()), ["of all", "other"]);
    let directory = world.path("etc/hooks.d");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
    let hooks = load();
    assert!(!errors(&hooks.report()).is_empty());
    assert!(is_blocked(&hooks));
}

#[test]
fn saving_hooks_json_leaves_the_files_beside_it() {
    let world = World::new();
    write(&world, "config/myagent/hooks.json", &["first"]);
    write(&world, USERS, &["second"]);
    let before = world.read(USERS);
    let config = host(&world).config().clone();
    let mut hooks = config.load_global();
    assert_eq!(hooks.len(), 2);
    config.save_global(&hooks).unwrap();
    hooks.push(Hook::from_json(&guard("third")).unwrap());
    config.save_global(&hooks).unwrap();
    assert_eq!(names(&host(&world)), ["first", "third", "second"]);
    assert_eq!(world.read(USERS), before);
}

#[test]
fn two_installers_at_once_lose_nothing() {
    let world = World::new();
    let install = |installer: usize| {
        for round in 0..50 {
            let file = format!("config/myagent/hooks.d/{installer}-{round}.json");
            write(&world, &file, &[&format!("{installer}-{round}")]);
            if round % 2 == 1 {
                fs::remove_file(world.path(&file)).unwrap();
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| install(0));
        scope.spawn(|| install(1));
    });
    let hooks = host(&world);
    assert_eq!(
        (names(&hooks).len(), errors(&hooks.report()).len()),
        (50, 0)
    );
}
