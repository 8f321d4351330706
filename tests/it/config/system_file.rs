//! The administrator's file: nothing of a user or a project switches its hooks off.

use forge_hooks::config::TrustPolicy;
use forge_hooks::{AppProfile, Hooks, HooksBuilder};
use serde_json::{Value, json};

use crate::support::{World, alone_with, blocking_event};

const SYSTEM: &str = "etc/mygame/hooks.json";
const USERS: &str = "config/mygame/hooks.json";
const PROJECTS: &str = "project/.mygame/hooks.json";

fn host(world: &World) -> HooksBuilder {
    Hooks::builder(AppProfile::new("mygame"))
        .config_home(world.path("config"))
        .project(world.path("project"))
        .trust(TrustPolicy::Everything)
        .system_file(world.path(SYSTEM))
}

fn guard(name: &str) -> Value {
    let then = if cfg!(windows) { "&" } else { ";" };
    json!({"event": "*", "command": format!("echo {name}>&2{then} exit 1"), "name": name})
}

fn file(entries: &[Value]) -> String {
    json!({"hooks": entries}).to_string()
}

fn names(hooks: &Hooks) -> Vec<String> {
    let hooks = hooks.executor().registry().hooks();
    let names = hooks.iter().map(|hook| hook.name().unwrap_or_default());
    names.map(str::to_owned).collect()
}

/// Returns why the event is blocked; none if it is not.
fn blocked(hooks: &Hooks) -> Option<String> {
    let outcome = hooks.execute(&blocking_event());
    outcome.reason().map(str::to_owned)
}

#[test]
fn its_hooks_come_first() {
    let world = World::new();
    assert!(host(&world).load().report().files.is_empty(), "no file");
    world.write(PROJECTS, &file(&[guard("project")]));
    world.write(USERS, &file(&[guard("user")]));
    world.write(SYSTEM, &file(&[guard("system")]));
    let hooks = host(&world).load();
    assert_eq!(names(&hooks), ["system", "user", "project"]);
    let files = [world.path(SYSTEM), world.path(USERS), world.path(PROJECTS)];
    assert_eq!(hooks.report().files, files);
    assert_eq!(hooks.to_builder().load().report().files.len(), 2);
    let without = host(&world).without_system_file().load();
    assert_eq!(names(&without), ["user", "project"]);
    let users = hooks.config().load_global();
    assert_eq!(users.len(), 1, "it is not saved with the user's");
}

#[test]
fn no_list_of_names_disables_its_hooks() {
    let world = World::new();
    world.write(SYSTEM, &file(&[guard("one"), guard("two")]));
    let disable = json!({"disable": ["one", "two"], "hooks": [guard("two")]});
    world.write(USERS, &disable.to_string());
    world.write(PROJECTS, &disable.to_string());
    let hooks = host(&world).load();
    assert_eq!(names(&hooks), ["one", "two"]);
    assert_eq!(blocked(&hooks).unwrap(), "one");
    #[cfg(feature = "cli")]
    for options in [&["list", "--json"][..], &["list", "--json", "--no-global"]] {
        let printed: Value = serde_json::from_str(&printed(&hooks, options).0).unwrap();
        let listed = &printed["hooks"];
        for entry in [&listed[0], &listed[1]] {
            assert_eq!(entry["file"], json!(world.path(SYSTEM)));
            assert_eq!(entry["state"], "enabled");
        }
    }
}

#[test]
fn it_disables_hooks_of_any_file() {
    let world = World::new();
    let mut off = guard("off");
    off["enabled"] = json!(false);
    let system = json!({"disable": ["own", "theirs"], "hooks": [guard("own"), off]});
    world.write(SYSTEM, &system.to_string());
    world.write(USERS, &file(&[guard("theirs"), guard("own")]));
    let hooks = host(&world).load();
    assert_eq!(names(&hooks), ["off"]);
    assert_eq!(hooks.report().disabled, ["own", "theirs", "own"]);
    #[cfg(feature = "cli")]
    {
        let (out, _) = printed(&hooks, &["list"]);
        assert_eq!(out.matches("disabled by name").count(), 3, "{out}");
    }
    assert_eq!(blocked(&hooks), None);
}

/// The user cannot change which hooks the administrator has disabled.
#[test]
fn what_both_disable_is_disabled() {
    let world = World::new();
    let disable = |name| json!({"disable": ["own", "theirs"], "hooks": [guard(name)]}).to_string();
    world.write(SYSTEM, &disable("own"));
    world.write(USERS, &disable("theirs"));
    let hooks = host(&world).load();
    assert_eq!(names(&hooks), [""; 0]);
    assert_eq!(hooks.report().disabled, ["own", "theirs"]);
    #[cfg(feature = "cli")]
    {
        let (out, _) = printed(&hooks, &["list"]);
        let by = "disabled by name in the administrator's file";
        assert_eq!(out.matches(by).count(), 2, "{out}");
    }
}

#[test]
fn a_broken_one_blocks() {
    let world = World::new();
    world.write(USERS, r#"{"disable": ["guard"], "hooks": []}"#);
    let entry = r#"{"hooks": [{"event": "*", "name": "guard"}]}"#;
    for broken in ["{", "[]", entry] {
        world.write(SYSTEM, broken);
        let hooks = host(&world).load();
        assert!(!hooks.report().is_ok());
        let reason = blocked(&hooks).unwrap().replace('\\', "/");
        assert!(reason.contains(SYSTEM), "{broken}: {reason}");
    }
}

#[cfg(unix)]
#[test]
fn one_that_others_can_write_is_not_used() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let world = World::new();
    world.write(SYSTEM, &file(&[]));
    let set = |path: &str, mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(world.path(path), mode).unwrap();
    };
    set("etc", 0o755);
    set("etc/mygame", 0o755);
    set(SYSTEM, 0o644);
    assert_eq!(blocked(&host(&world).load()), None);
    for (path, mode) in [
        (SYSTEM, 0o664),
        (SYSTEM, 0o646),
        ("etc/mygame", 0o775),
        ("etc", 0o777),
    ] {
        let before = if path == SYSTEM { 0o644 } else { 0o755 };
        set(path, mode);
        let why = blocked(&host(&world).load()).unwrap();
        assert!(why.contains("chmod"), "{why}");
        set(path, before);
    }
    std::fs::create_dir(world.path("open")).unwrap();
    std::fs::rename(world.path(SYSTEM), world.path("open/target.json")).unwrap();
    symlink(world.path("open/target.json"), world.path(SYSTEM)).unwrap();
    assert_eq!(blocked(&host(&world).load()), None);
    set("open", 0o775);
    assert!(blocked(&host(&world).load()).unwrap().contains("open"));
}

/// Only root can give a file away.
#[cfg(unix)]
#[test]
fn one_of_another_user_is_not_used() {
    let world = World::new();
    world.write(SYSTEM, r#"{"disable": ["user"], "hooks": []}"#);
    world.write(USERS, &file(&[guard("user")]));
    if std::os::unix::fs::chown(world.path(SYSTEM), Some(4711), None).is_err() {
        return;
    }
    let hooks = host(&world).load();
    assert!(blocked(&hooks).unwrap().contains("belongs to user 4711"));
    let names = names(&hooks);
    assert!(names.contains(&"user".to_owned()), "it disables nothing");
}

/// Runs a command of the program, and returns its two outputs.
#[cfg(feature = "cli")]
fn printed(hooks: &Hooks, command: &[&str]) -> (String, String) {
    use forge_hooks::cli::{self, Io};
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let mut io = Io::new("mygame hooks", std::io::empty(), &mut out, &mut errors);
    let _ = cli::run(hooks, command, &mut io);
    drop(io);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(out), text(errors))
}

#[test]
fn a_variable_does_not_disable_its_hooks() {
    let test = "config::system_file::a_variable_does_not_disable_its_hooks";
    if !alone_with(test, &[("MYGAME_HOOKS_DISABLE", "1")]) {
        return;
    }
    let world = World::new();
    std::fs::create_dir(world.path("project")).unwrap();
    world.write(USERS, &file(&[guard("from the user")]));
    let ran = |hooks: &Hooks| hooks.execute(&blocking_event()).results().len();
    assert_eq!(ran(&host(&world).load()), 0);
    for system in ["{", &file(&[guard("from the system")])] {
        world.write(SYSTEM, system);
        let hooks = host(&world).load();
        let variable = hooks.report().disabled_by.clone();
        assert_eq!(variable.as_deref(), Some("MYGAME_HOOKS_DISABLE"));
        assert_eq!(ran(&hooks), 1);
        assert!(!hooks.submit(blocking_event()).wait().allowed());
    }
    #[cfg(feature = "cli")]
    the_program_fires_it(&host(&world).load());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let by_all = std::fs::Permissions::from_mode(0o666);
        std::fs::set_permissions(world.path(SYSTEM), by_all).unwrap();
        assert!(blocked(&host(&world).load()).unwrap().contains("chmod"));
    }
}

#[cfg(feature = "cli")]
fn the_program_fires_it(hooks: &Hooks) {
    let fire = ["fire", "tool:pre_execute", "--tool", "bash", "--json"];
    let (out, errors) = printed(hooks, &fire);
    let fired: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(fired["results"].as_array().unwrap().len(), 1, "{out}");
    let stderr = fired["results"][0]["stderr"].as_str().unwrap();
    assert_eq!(stderr.trim_end(), "from the system");
    let note = "only the administrator's hooks run: `MYGAME_HOOKS_DISABLE` is set";
    assert!(errors.contains(note), "{errors}");
    let (out, _) = printed(hooks, &[&["list"], &fire[1..]].concat());
    let predicted: Value = serde_json::from_str(&out).unwrap();
    let verdicts =
        ["/hooks/0/verdict", "/hooks/1/verdict"].map(|pointer| predicted.pointer(pointer));
    let expected = ["runs", "does_not_run"].map(Value::from);
    assert_eq!(verdicts, expected.each_ref().map(Some), "{out}");
}
