//! Calls that name a directory, which stands for what is below it; and paths outside of the project.

use forge_hooks::hook::Condition;
use forge_hooks::{FailurePolicy, Hook, HookEvent};
use serde_json::{Value, json};

use crate::support::{World, hook};

/// Returns whether a guard with this condition on the path runs for a call.
fn runs(world: &World, condition: &Condition, tool: &str, args: &Value) -> bool {
    world.registry().clear();
    let guard = hook("tool:pre_execute", "exit 1");
    world.add(
        guard
            .with_when("/tool_args/path", condition.clone())
            .unwrap(),
    );
    let event = HookEvent::tool_pre_execute(tool, args.clone());
    !world.executor.hooks_for(&event).is_empty()
}

/// Returns whether an answer with this condition adds something to a call.
fn widens(world: &World, condition: &Condition, tool: &str, args: &Value) -> bool {
    world.registry().clear();
    let entry = json!({"event": "tool:pre_execute", "answer": {"additionalContext": "c"}});
    let adds = Hook::from_json(&entry).unwrap();
    world.add(
        adds.with_when("/tool_args/path", condition.clone())
            .unwrap(),
    );
    let event = HookEvent::tool_pre_execute(tool, args.clone());
    world.outcome(&event).additional_context().is_some()
}

fn project() -> World {
    let world = World::new();
    for name in ["secrets/deep/key", "src/a.rs", ".env", "src/.env"] {
        world.write(name, "x");
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("secrets", world.path("linked")).unwrap();
    world
}

#[test]
fn a_guard_sees_a_call_on_its_directory() {
    let world = project();
    let root = world.directory().to_string_lossy().into_owned();
    let above = world
        .directory()
        .parent()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    let name = world.directory().file_name().unwrap().to_str().unwrap();
    for (glob, tool, args, expected) in [
        ("secrets/**", "move_file", json!({"path": "secrets"}), true),
        (
            "secrets/**",
            "move_file",
            json!({"path": "./secrets/"}),
            true,
        ),
        (
            "secrets/**",
            "move_file",
            json!({"path": format!("{root}/secrets")}),
            true,
        ),
        ("secrets/**", "grep", json!({"path": "secrets"}), true),
        ("secrets/**", "ls", json!({"path": "secrets"}), true),
        (
            "secrets/**",
            "glob",
            json!({"path": "secrets", "pattern": "*"}),
            true,
        ),
        ("secrets/deep/**", "grep", json!({"path": "secrets"}), true),
        (
            "secrets/deep/**",
            "grep",
            json!({"path": "secrets/deep/x"}),
            true,
        ),
        (
            "secrets/deep/key",
            "move_file",
            json!({"path": "secrets"}),
            true,
        ),
        #[cfg(unix)]
        ("secrets/**", "grep", json!({"path": "linked"}), true),
        ("secrets/**", "grep", json!({"path": "secrets2"}), false),
        ("secrets/**", "grep", json!({"path": "src"}), false),
        // A search of the whole project has its own reasons.
        ("secrets/**", "grep", json!({}), false),
        (
            "secrets/**",
            "grep",
            json!({"path": null, "pattern": "x"}),
            false,
        ),
        ("secrets/**", "grep", json!({"path": ""}), false),
        ("secrets/**", "grep", json!({"path": "."}), false),
        ("secrets/**", "grep", json!({"path": root}), false),
        ("secrets/**", "glob", json!({"pattern": "**/*"}), false),
        ("secrets/**", "ls", json!({"path": above}), false),
        ("secrets/**", "grep", json!({"glob": "secrets/*"}), true),
        (
            "secrets/**",
            "grep",
            json!({"path": ".", "glob": "secrets/**/*.key"}),
            true,
        ),
        (
            "secrets/**",
            "glob",
            json!({"pattern": "./secrets/*"}),
            true,
        ),
        (
            "secrets/**",
            "glob",
            json!({"pattern": "{secrets,src}/*"}),
            true,
        ),
        (
            "secrets/**",
            "glob",
            json!({"pattern": format!("{root}/secrets/*")}),
            true,
        ),
        (
            "secrets/**",
            "glob",
            json!({"pattern": "src/**/*.rs"}),
            false,
        ),
        ("secrets/**", "grep", json!({"glob": "!secrets/*"}), false),
        ("**/.env", "ls", json!({"path": "src"}), false),
        ("**/.env", "grep", json!({"path": "src"}), false),
        (
            "**/.env",
            "grep",
            json!({"path": "src", "glob": "*.rs"}),
            false,
        ),
        (
            "**/.env",
            "grep",
            json!({"path": "src", "glob": ".env"}),
            true,
        ),
        ("**/.env", "grep", json!({"glob": "*.env"}), true),
        ("**/.env", "grep", json!({"path": "src/.env"}), true),
        ("**/.env", "glob", json!({"pattern": "src/**/.e*"}), true),
        // What a search finds may lie in a directory that a mark names.
        (
            "packages/*/secrets/**",
            "grep",
            json!({"path": "packages/app/secrets"}),
            true,
        ),
        (
            "packages/*/secrets/**",
            "grep",
            json!({"path": "packages/app"}),
            true,
        ),
        (
            "packages/*/secrets/**",
            "grep",
            json!({"path": "packages"}),
            true,
        ),
        (
            "packages/*/secrets/**",
            "grep",
            json!({"path": "src"}),
            false,
        ),
        (
            "**/.ssh/**",
            "grep",
            json!({"path": "/somewhere/.ssh"}),
            true,
        ),
        (
            "**/secrets/**",
            "move_file",
            json!({"path": "secrets"}),
            true,
        ),
        ("**/secrets/**", "move_file", json!({"path": "src"}), false),
        (
            "secrets/*/private/**",
            "move_file",
            json!({"path": "secrets/a"}),
            true,
        ),
        ("docs/[[]x]/**", "grep", json!({"path": "docs/[x]"}), true),
        // The glob of a search is read as the search does, or is unknown.
        (
            "secrets/**",
            "glob",
            json!({"pattern": "docs/*/../../secrets/*"}),
            true,
        ),
        (
            "secrets/**",
            "glob",
            json!({"pattern": "docs/{../secrets,x}/*"}),
            true,
        ),
        (
            "secrets/key",
            "glob",
            json!({"pattern": "{a,{b,secrets}}/key"}),
            true,
        ),
        (
            "secrets/**",
            "glob",
            json!({"pattern": "@(secrets)/*"}),
            true,
        ),
        ("secrets/**", "glob", json!({"pattern": "!(src)/key"}), true),
        ("secrets/**", "grep", json!({"glob": "/secrets/*"}), true),
        (
            "secrets/**",
            "glob",
            json!({"path": "..", "pattern": format!("{}/secrets/*", &name[..4].replace('.', "?"))}),
            false,
        ),
        (
            "secrets/**",
            "glob",
            json!({"path": "..", "pattern": format!("{}*/secrets/*", &name[..4])}),
            true,
        ),
        ("**/.env", "glob", json!({"pattern": ".*"}), true),
        ("**/.env", "glob", json!({"pattern": "**/.*"}), true),
        ("secrets/**", "grep", json!({"glob": ["secrets/*"]}), true),
        ("secrets/**", "grep", json!({"include": "secrets/*"}), true),
        (
            "secrets/**",
            "glob",
            json!({"pattern": "src/**/*.{ts,tsx}"}),
            false,
        ),
        (
            "secrets/**",
            "glob",
            json!({"pattern": "app/(auth)/*.ts"}),
            false,
        ),
        // A file is no directory.
        ("secrets/**", "write", json!({"path": "secrets"}), false),
        ("secrets/**", "read", json!({"path": "secrets"}), false),
        // Elsewhere, a value that is missing runs a guard.
        ("secrets/**", "move_file", json!({}), true),
        ("secrets/**", "grep", json!({"path": ["secrets"]}), true),
    ] {
        let condition = Condition::from(glob);
        assert_eq!(
            runs(&world, &condition, tool, &args),
            expected,
            "{glob} {tool} {args}"
        );
    }
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
    let other = Condition::from(format!("{above}/other-{}/.ssh/**", std::process::id()).as_str());
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

/// What a directory contains must all have the same answer.
#[test]
fn a_directory_widens_little() {
    let world = project();
    world.write("src/deep/x", "");
    let not = |glob: &str| Condition::Not(Box::new(glob.into()));
    for (condition, tool, args, expected) in [
        (
            Condition::from("src/**"),
            "ls",
            json!({"path": "src/deep"}),
            true,
        ),
        ("src/*".into(), "grep", json!({"path": "src/deep"}), true),
        ("src/d*p".into(), "grep", json!({"path": "src/deep"}), false),
        ("src/deep/**".into(), "grep", json!({"path": "src"}), false),
        ("src/**".into(), "write", json!({"path": "src/deep"}), true),
        ("**".into(), "grep", json!({"path": "src"}), true),
        ("**".into(), "grep", json!({"path": "."}), false),
        ("**".into(), "grep", json!({}), false),
        (not("secrets/**"), "grep", json!({"path": "src"}), true),
        (not("secrets/**"), "grep", json!({"path": "secrets"}), false),
        (
            not("secrets/deep/**"),
            "grep",
            json!({"path": "secrets"}),
            false,
        ),
        (not("**/.env"), "grep", json!({"path": "src"}), false),
        (not("**/.env"), "read", json!({"path": "src/a"}), true),
        // What is one file, or nothing yet, has nothing below it.
        ("*.rs".into(), "create_file", json!({"path": "a.rs"}), true),
        (
            "src/*.rs".into(),
            "apply_patch",
            json!({"path": "src/a.rs"}),
            true,
        ),
        ("main".into(), "git_push", json!({"path": "main"}), true),
        (
            Condition::OneOf(vec!["src/**".to_owned(), "src".to_owned()]),
            "ls",
            json!({"path": "src/deep"}),
            true,
        ),
        (
            not("secrets/**"),
            "glob",
            json!({"pattern": "docs/*/../../secrets/*"}),
            false,
        ),
        (
            not("secrets/**"),
            "glob",
            json!({"pattern": "@(secrets)/*"}),
            false,
        ),
        (not("secrets/**"), "grep", json!({"path": "."}), false),
        (not("secrets/**"), "grep", json!({"path": ".."}), false),
        (not("secrets/**"), "grep", json!({}), false),
        (
            not("secrets/**"),
            "glob",
            json!({"pattern": "secrets/*"}),
            false,
        ),
        (not("secrets/**"), "glob", json!({"pattern": "src/*"}), true),
    ] {
        assert_eq!(
            widens(&world, &condition, tool, &args),
            expected,
            "{condition} {tool} {args}"
        );
    }
    // A guard of everything else runs, too.
    for args in [
        json!({"path": "."}),
        json!({}),
        json!({"path": "src"}),
        json!({"path": "secrets"}),
    ] {
        assert!(runs(&world, &not("src/**"), "grep", &args), "{args}");
    }
    assert!(!runs(
        &world,
        &not("src/**"),
        "grep",
        &json!({"path": "src/deep"})
    ));
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
    let not = Condition::Not(Box::new(Condition::Outside));
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
        assert_eq!(
            runs(&world, &Condition::Outside, "write", &args),
            expected,
            "{path}"
        );
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
    let not = Condition::Not(Box::new(Condition::Outside));
    for pattern in ["{/etc/passwd,x}", "*/../../../../../etc/*"] {
        let args = json!({"pattern": pattern});
        assert!(
            runs(&world, &Condition::Outside, "glob", &args),
            "{pattern}"
        );
    }
    for path in [json!("x\u{0}"), json!(5)] {
        let args = json!({"path": path});
        for condition in [&not, &Condition::Outside] {
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
            runs(&world, &glob.into(), "write", &args),
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
