//! Calls that name a directory, which stands for what is below it; and paths outside of the project.

use std::path::Path;

use forge_hooks::{FailurePolicy, Hook, HookEvent};
use serde_json::{Value, json};

use crate::support::{World, hook};

/// Registers a hook alone, with this condition on the path. `effect` is its command or its answer.
fn register(world: &World, condition: &Value, effect: (&str, Value)) {
    let (key, value) = effect;
    let entry =
        json!({"event": "tool:pre_execute", "when": {"/tool_args/path": condition}, key: value});
    world.registry().clear();
    world.add(Hook::from_json(&entry).unwrap());
}

/// Returns whether a guard with this condition on the path runs for a call.
fn runs(world: &World, condition: &Value, tool: &str, args: &Value) -> bool {
    register(world, condition, ("command", json!("exit 1")));
    let event = HookEvent::tool_pre_execute(tool, args.clone());
    !world.executor.hooks_for(&event).is_empty()
}

/// Returns whether an answer with this condition adds something to a call.
fn widens(world: &World, condition: &Value, tool: &str, args: &Value) -> bool {
    register(
        world,
        condition,
        ("answer", json!({"additionalContext": "c"})),
    );
    let event = HookEvent::tool_pre_execute(tool, args.clone());
    world.outcome(&event).additional_context().is_some()
}

fn project() -> World {
    let world = World::new();
    for name in [
        "secrets/deep/key",
        "src/a.rs",
        "src/deep/x",
        ".env",
        "src/.env",
    ] {
        world.write(name, "x");
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("secrets", world.path("linked")).unwrap();
    world
}

/// Compares what a hook does with the lines of a section of `directories.txt`.
fn assert_lines(section: &str, does: fn(&World, &Value, &str, &Value) -> bool) {
    let world = project();
    let root = world.directory();
    let name = root.file_name().unwrap().to_str().unwrap();
    let in_json = |path: &Path| json!(path).to_string().trim_matches('"').to_owned();
    let (_, lines) = include_str!("directories.txt")
        .split_once(&format!("== {section}\n"))
        .unwrap();
    for line in lines.lines().take_while(|line| !line.starts_with("==")) {
        let is_other = line.is_empty() || line.starts_with('#');
        if is_other || cfg!(windows) && line.contains("linked") {
            continue;
        }
        let case = line
            .replace("ROOT", &in_json(root))
            .replace("ABOVE", &in_json(root.parent().unwrap()))
            .replace("NAME", &name[1..4]);
        let (sign, case) = case.split_once(' ').unwrap();
        let [condition, tool, args] = case.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let [condition, args] = [condition, args].map(|text| serde_json::from_str(text).unwrap());
        assert_eq!(does(&world, &condition, tool, &args), sign == "+", "{line}");
    }
}

#[test]
fn a_guard_sees_a_call_on_its_directory() {
    assert_lines("a guard runs", runs);
}

#[test]
fn a_directory_widens_little() {
    assert_lines("an answer adds something", widens);
}

/// The root, and what is above it, stand for what lies outside of the root.
#[test]
fn a_guard_elsewhere_sees_a_search_above_it() {
    let world = project();
    let above = world
        .directory()
        .parent()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    let other = json!(format!("{above}/other-{}/.ssh/**", std::process::id()));
    for (path, expected) in [
        (above.clone(), true),
        ("..".to_owned(), true),
        ("/".to_owned(), true),
        (".".to_owned(), false),
        ("src".to_owned(), false),
        (format!("{above}/another"), false),
    ] {
        let args = json!({"path": path});
        assert_eq!(runs(&world, &other, "grep", &args), expected, "{path}");
    }
}

#[test]
fn what_is_outside_of_the_project_is_seen() {
    let world = project();
    let root = world.directory().to_string_lossy().into_owned();
    #[cfg(unix)]
    for (link, target) in [
        ("etc", "/etc"),
        ("src/hosts", "/etc/hosts"),
        ("temporary", "/tmp"),
    ] {
        std::os::unix::fs::symlink(target, world.path(link)).unwrap();
    }
    let outside = json!({"path": "outside"});
    let not = json!({"not": outside});
    for (path, expected) in [
        ("src/a.rs", false),
        (".", false),
        ("", false),
        ("new/file", false),
        (&format!("{root}/src"), false),
        ("src/../x", false),
        #[cfg(unix)]
        ("/etc/hosts", true),
        #[cfg(unix)]
        ("src/hosts", true),
        #[cfg(unix)]
        ("etc/hosts", true),
        #[cfg(unix)]
        ("etc", true),
        #[cfg(unix)]
        ("../../../../../../../../etc/hosts", true),
        #[cfg(unix)]
        ("/tmp/x", false),
        #[cfg(unix)]
        ("temporary/x", false),
        #[cfg(unix)]
        ("/tmp/../etc/x", true),
        ("~/x", true),
    ] {
        let args = json!({"path": path});
        assert_eq!(runs(&world, &outside, "write", &args), expected, "{path}");
        assert_eq!(runs(&world, &not, "write", &args), !expected, "not: {path}");
        assert_eq!(
            widens(&world, &not, "write", &args),
            !expected,
            "not: {path}"
        );
    }
}

#[test]
fn what_is_unknown_may_be_outside() {
    let world = project();
    let outside = json!({"path": "outside"});
    let not = json!({"not": outside});
    for pattern in ["{/etc/passwd,x}", "*/../../../../../etc/*"] {
        let args = json!({"pattern": pattern});
        assert!(runs(&world, &outside, "glob", &args), "{pattern}");
    }
    for path in [json!("x\u{0}"), json!(5)] {
        let args = json!({"path": path});
        for condition in [&not, &outside] {
            assert!(runs(&world, condition, "write", &args));
            assert!(!widens(&world, condition, "write", &args));
        }
    }
}

/// A guard knows a directory by the link that its own glob goes through, too.
#[cfg(unix)]
#[test]
fn a_glob_may_go_through_a_link() {
    let world = World::new();
    for name in ["vault/key", "project/src/a"] {
        world.write(name, "x");
    }
    std::os::unix::fs::symlink("../vault", world.path("project/secrets")).unwrap();
    std::os::unix::fs::symlink("vault", world.path("other")).unwrap();
    let vault = world.path("vault").to_string_lossy().into_owned();
    let other = world.path("other").to_string_lossy().into_owned();
    let event = |tool: &str, path: &str| {
        let context = forge_hooks::HostContext::new().with_cwd(world.path("project"));
        let event = HookEvent::tool_pre_execute(tool, json!({"path": path}));
        event.with_context(std::sync::Arc::new(context))
    };
    for (glob, path, expected) in [
        (format!("{other}/**"), format!("{vault}/key"), true),
        (format!("{other}/**"), "secrets/key".to_owned(), true),
        (format!("{other}/*.pem"), format!("{vault}/key"), false),
        (format!("{vault}/**"), format!("{other}/key"), true),
        (
            "project/secrets/**".to_owned(),
            format!("{vault}/key"),
            true,
        ),
        (
            "project/secrets/**".to_owned(),
            format!("{vault}2/key"),
            false,
        ),
        ("project/secrets/**".to_owned(), "src/a".to_owned(), false),
    ] {
        world.registry().clear();
        let guard = hook("tool:pre_execute", "exit 1");
        world.add(guard.with_when("/tool_args/path", glob.as_str()).unwrap());
        let matching = world.executor.hooks_for(&event("write", &path)).len();
        assert_eq!(matching == 1, expected, "{glob} {path}");
        let directory = path.rsplit_once('/').unwrap().0;
        let matching = world.executor.hooks_for(&event("grep", directory)).len();
        assert!(!expected || matching == 1, "{glob} {directory}");
    }
}

/// `~` is the user's home, in a glob and in a path.
#[test]
fn a_home_is_known_by_its_name() {
    let world = project();
    let home = home::home_dir().unwrap().to_string_lossy().into_owned();
    for (glob, path, expected) in [
        ("~/.ssh/**", format!("{home}/.ssh/id"), true),
        ("~/.ssh/**", "~/.ssh/id".to_owned(), true),
        ("~/.ssh/**", format!("{home}/.sshx/id"), false),
        (&format!("{home}/.ssh/**"), "~/.ssh/id".to_owned(), true),
        ("**/.ssh/**", "~/.ssh/id".to_owned(), true),
        ("*/.ssh/*", ".ssh/id".to_owned(), true),
    ] {
        let args = json!({"path": path});
        assert_eq!(
            runs(&world, &json!(glob), "write", &args),
            expected,
            "{glob} {path}"
        );
    }
}

/// A redactor sees what a search has found below its directory.
#[test]
fn a_redactor_sees_a_search() {
    let world = project();
    let redacts = hook("tool:post_execute", "exit 1").with_on_failure(FailurePolicy::Withhold);
    world.add(redacts.with_when("/tool_args/path", "secrets/**").unwrap());
    let event =
        |path: &str| HookEvent::tool_post_execute("grep", json!({"path": path}), "the secret");
    assert!(world.outcome(&event("secrets")).updated_output().is_some());
    assert!(world.outcome(&event("src")).updated_output().is_none());
}
