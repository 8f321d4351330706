//! Globs see through the spellings of a path, and `not` spares a hook only if every spelling matches.

use std::path::Path;

use forge_hooks::{FailurePolicy, Hook, HookEvent, HostContext, Lifecycle};
use serde_json::{Value, json};

use crate::support::{World, hook};

/// A project with a secret, sources, and links.
fn project() -> World {
    let world = World::new();
    for name in [
        ".env",
        "src/main.rs",
        "src/deep/lib.rs",
        "docs/a.md",
        "outside/.env",
    ] {
        world.write(name, "x");
    }
    #[cfg(unix)]
    for (link, target) in [
        ("innocent", ".env"),
        ("src/link.rs", "../.env"),
        ("linked", "src"),
        ("chain", "innocent"),
        ("new", "gone.env"),
    ] {
        std::os::unix::fs::symlink(target, world.path(link)).unwrap();
    }
    world
}

fn event(path: &str) -> HookEvent {
    HookEvent::tool_pre_execute("write", json!({"path": path}))
}

fn runs(world: &World, condition: impl Into<Value>, path: &str) -> bool {
    let guard = hook("tool:pre_execute", "exit 1");
    let guard = guard.with_when("/tool_args/path", condition).unwrap();
    world.registry().clear();
    world.add(guard);
    !world.executor.hooks_for(&event(path)).is_empty()
}

#[test]
fn a_glob_sees_through_spellings() {
    let world = project();
    let root = world.directory().to_string_lossy().into_owned();
    for path in [
        ".env".to_owned(),
        "./.env".to_owned(),
        ".//.env".to_owned(),
        "././.env".to_owned(),
        ".env/".to_owned(),
        format!("{root}/.env"),
        format!("{root}//./.env"),
        "src/../.env".to_owned(),
        "none/../.env".to_owned(),
        // A path that cannot be tested runs the guard.
        #[cfg(unix)]
        "linked/../.env".to_owned(),
        "x\u{0}".to_owned(),
    ] {
        assert!(runs(&world, ".env", &path), "{path}");
    }
    for path in [
        "src/main.rs",
        "x.env",
        "env",
        ".envrc",
        "...",
        "..",
        "src/../src/main.rs",
        "../x/.env/y",
    ] {
        assert!(!runs(&world, ".env", path), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn a_glob_sees_where_links_lead() {
    let world = project();
    for (glob, path, expected) in [
        (".env", "innocent", true),
        (".env", "./innocent", true),
        (".env", "src/link.rs", true),
        (".env", "chain", true),
        ("src/**", "linked/main.rs", true),
        ("src/**", "linked/new/file.rs", true),
        ("gone.env", "new", true),
        ("docs/**", "linked/main.rs", false),
        (".env", "linked/main.rs", false),
    ] {
        assert_eq!(runs(&world, glob, path), expected, "{glob} {path}");
    }
}

fn not(globs: &[&str]) -> Value {
    json!({"not": globs})
}

#[test]
fn not_spares_what_matches_in_each_form() {
    let world = project();
    let root = world.directory().to_string_lossy().into_owned();
    for (path, is_spared) in [
        ("src/main.rs", true),
        ("docs/new.md", true),
        ("src/deep/lib.rs", true),
        (".env", false),
        ("outside/.env", false),
        ("srcx/a.rs", false),
        ("src", false),
        ("src/../.env", false),
        ("", false),
        ("./src/main.rs", true),
        ("docs/../src/main.rs", true),
        ("none/../src/main.rs", false),
        (&format!("{root}/src/main.rs"), true),
        #[cfg(unix)]
        ("src/link.rs", false),
        #[cfg(unix)]
        ("linked/main.rs", false),
        #[cfg(unix)]
        (r"src\main.rs", false),
        #[cfg(windows)]
        (r"src\main.rs", true),
    ] {
        let does_run = runs(&world, not(&["src/**", "docs/**"]), path);
        assert_eq!(does_run, !is_spared, "{path}");
    }
}

#[test]
fn not_with_an_expression_needs_the_whole_value() {
    let world = project();
    let not = |text: &str| json!({"not": {"regex": text}});
    for (text, command, is_spared) in [
        ("^ls [a-z]*$", "ls src", true),
        ("^ls [a-z]*$", "ls src; rm", false),
        ("^ls$|^pwd$", "pwd", true),
        ("^ls|pwd$", "ls; rm; pwd", false),
        ("(?m)^ls$", "ls\nrm", false),
        ("(?i)^ls$", "LS", true),
        ("^a)|(?:b$", "axx", false),
    ] {
        if text.contains(")|(") {
            let hook = Hook::new("*", "x").unwrap();
            assert!(hook.with_when("/a", not(text)).is_err());
            continue;
        }
        assert_eq!(
            runs(&world, not(text), command),
            !is_spared,
            "{text} {command}"
        );
    }
    for (condition, message) in [
        (not("ls"), "begin it with `^`"),
        (not("^ls"), "end it with `$`"),
        (json!({"not": not("^ls$")}), "`not` within `not`"),
        (not("^($"), "not a regular expression"),
        (json!({"not": []}), "at least one glob"),
    ] {
        let error = Hook::new("*", "x").unwrap().with_when("/a", condition);
        let error = error.unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn not_is_read_and_written() {
    for value in [
        json!({"not": "src/**"}),
        json!({"not": ["src/**", "docs/**"]}),
        json!({"not": {"regex": "^ls [a-z]*$"}}),
        json!({"path": "outside"}),
        json!({"not": {"path": "outside"}}),
    ] {
        let entry = json!({"event": "*", "when": {"/a": value}, "command": "x"});
        assert_eq!(Hook::from_json(&entry).unwrap().to_json(), entry);
    }
    for (value, message) in [
        (
            json!({"not": {"not": "x"}}),
            "`not` within `not`: remove both",
        ),
        (json!({"not": 5}), "`when./a.not`: expected a glob"),
        (
            json!({"not": "x", "regex": "y"}),
            "found an object with `not` and `regex`",
        ),
        (json!({"regx": "y"}), "found an object with `regx`"),
        (json!({"path": "inside"}), "found `inside` in `path`"),
        (json!({"path": 5}), "found a number in `path`"),
        (json!({}), "found an empty object"),
        (json!({"not": {"regex": "x"}}), "begin it with `^`"),
    ] {
        let entry = json!({"event": "*", "when": {"/a": value}, "command": "x"});
        let error = Hook::from_json(&entry).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let guard = hook("*", "x").with_when("/a", not(&["a", "b"])).unwrap();
    let event = HookEvent::session_start("s").with_data("a", "b");
    let mismatch = guard.mismatch(&event, true).unwrap();
    assert!(mismatch.contains("`not a, b`"), "{mismatch}");
}

/// The project of the hook and the directory of the session decide where a relative path leads.
#[test]
fn a_relative_path_is_meant_in_the_session() {
    let world = project();
    let fired = |cwd: &Path, path: &str| {
        let context = HostContext::new().with_cwd(cwd);
        let event = event(path).with_context(std::sync::Arc::new(context));
        !world.executor.hooks_for(&event).is_empty()
    };
    assert!(runs(&world, ".env", ".env"));
    assert!(!fired(&world.path("src"), "main.rs"));
    let guard = hook("tool:pre_execute", "exit 1");
    let guard = guard.with_when("/tool_args/path", "src/main.rs").unwrap();
    world.registry().clear();
    world.add(guard);
    assert!(fired(&world.path("src"), "main.rs"));
    assert!(!fired(&world.path("docs"), "main.rs"));
}

/// A value that is too long for a test is not looked up, and many values are looked up up to a limit.
#[test]
fn paths_have_limits() {
    let world = project();
    let long = "a/".repeat(1 << 20);
    assert!(runs(&world, ".env", &long));
    world.registry().clear();
    for index in 0..1050 {
        let guard = hook("tool:pre_execute", "exit 1");
        let pointer = format!("/tool_args/{index}");
        world.add(guard.with_when(pointer, "never").unwrap());
    }
    let args: Vec<_> = (0..1050).map(|index| format!("path{index}")).collect();
    let event = HookEvent::tool_pre_execute("write", json!(args));
    // A path that was not looked up counts as matched.
    assert_eq!(world.executor.hooks_for(&event).len(), 50);
}

/// A hook grants only what its condition surely means, whatever name a file is called by.
#[test]
fn no_other_name_of_a_file_is_granted() {
    let world = project();
    let root = world.directory().to_string_lossy().into_owned();
    world.write("secrets/key", "x");
    #[cfg(unix)]
    for (link, target) in [("docs/l", "../secrets/key"), ("docs/shadow", "/etc/passwd")] {
        std::os::unix::fs::symlink(target, world.path(link)).unwrap();
    }
    let says = world.says(r#"{"decision": "allow"}"#);
    let granted = |condition: Value, path: &str| {
        let grants = hook("permission:check", &says);
        world.registry().clear();
        world.add(grants.with_when("/tool_args/path", condition).unwrap());
        let lifecycle = Lifecycle::new(world.executor.clone());
        let request = lifecycle.permission("read", "execute");
        let request = request.with_args(json!({"path": path})).hooks_may_grant();
        request.run(|_| false).unwrap()
    };
    for (path, expected) in [
        ("docs/a.md", true),
        ("./docs//a.md", true),
        ("docs/new.md", true),
        ("secrets/key", false),
        ("./secrets/key", false),
        (&format!("{root}/secrets/key"), false),
        #[cfg(unix)]
        ("docs/l", false),
        (r"secrets\key", false),
        ("docs/../secrets/key", false),
        ("src/../docs/a.md", true),
        ("secrets/../docs/a.md", false),
    ] {
        assert_eq!(granted(not(&["secrets/**"]), path), expected, "not: {path}");
    }
    for (path, expected) in [
        ("docs/a.md", true),
        ("./docs/a.md", true),
        ("docs/new.md", true),
        ("secrets/key", false),
        #[cfg(unix)]
        ("docs/l", false),
        #[cfg(unix)]
        ("docs/shadow", false),
        ("docs/../secrets/key", false),
        ("docs/x/../a.md", true),
        ("secrets/../docs/a.md", false),
        (&format!("{root}/docs/a.md"), true),
    ] {
        assert_eq!(granted("docs/**".into(), path), expected, "{path}");
    }
}

#[test]
fn a_condition_is_tested_on_what_earlier_hooks_have_left() {
    let world = World::new();
    let redacts = world.says(r#"{"updatedOutput": "X"}"#);
    let redacts = hook("tool:post_execute", &redacts).with_on_failure(FailurePolicy::Withhold);
    world.add(redacts);
    let marks = world.says(r#"{"updatedOutput": "marked"}"#);
    let secret = json!({"regex": "secret"});
    let marks = hook("tool:post_execute", &marks);
    world.add(marks.with_when("/tool_result", secret).unwrap());
    let event = HookEvent::tool_post_execute("bash", json!({}), "a secret");
    assert_eq!(world.outcome(&event).updated_output(), Some(json!("X")));
}

/// One link to a deep directory, and a path that goes down to its end: the host does not wait for long.
#[cfg(unix)]
#[test]
fn a_deep_path_behind_a_link_runs_a_guard() {
    let world = World::new();
    let deep = "a/".repeat(1800);
    std::fs::create_dir_all(world.path(&deep)).unwrap();
    std::os::unix::fs::symlink("a", world.path("la")).unwrap();
    assert!(runs(&world, ".env", &format!("l{deep}x")));
    assert!(!runs(&world, ".env", "la/a/x"));
}

/// A text that is no path is compared as it is, too: `..` must not hide a part of it.
#[test]
fn a_text_is_not_shortened() {
    let world = World::new();
    let widens = |condition: &str, text: &str| {
        world.registry().clear();
        let entry = json!({"event": "*", "answer": {"additionalContext": "c"}});
        let adds = Hook::from_json(&entry).unwrap();
        world.add(adds.with_when("/tool_args/path", condition).unwrap());
        world.outcome(&event(text)).additional_context().is_some()
    };
    for (glob, text) in [
        ("sudo *", "sudo cat ../../etc/shadow"),
        ("*sudo*", "sudo x/../../../y"),
        ("https://evil/*", "https://evil/../docs.rs/x"),
    ] {
        assert!(runs(&world, glob, text), "{glob} {text}");
    }
    for (glob, text) in [
        ("git *", "rm -rf x/../git log"),
        ("https://docs.rs/*", "https://evil/../docs.rs/x"),
    ] {
        assert!(!widens(glob, text), "{glob} {text}");
    }
    assert!(widens("git *", "git log") && widens("https://docs.rs/*", "https://docs.rs/x"));
}

/// A relative path may be opened though the absolute one is too long to be.
#[cfg(unix)]
#[test]
fn a_long_relative_path_is_not_granted() {
    let world = project();
    let names = vec!["d".repeat(205); 19].join("/");
    let last = "e".repeat(4_090 - names.len() - 3);
    let long = format!("{names}/{last}/l");
    assert!(long.len() < 4_096 && world.path(&long).as_os_str().len() > 4_096);
    std::fs::create_dir_all(world.path(&names)).unwrap();
    let script = format!("cd {names} && mkdir {last} && ln -s \"$0\" {last}/l");
    let status = std::process::Command::new("sh")
        .args(["-c", &script])
        .arg(world.path(".env"))
        .current_dir(world.directory())
        .status();
    assert!(status.unwrap().success());
    assert!(runs(&world, ".env", &long));
    assert!(runs(&world, not(&["**/.env"]), &long));
}

/// A redactor without a process must not be evaded by a path that cannot be tested.
#[test]
fn an_answer_that_redacts_runs_in_doubt() {
    let world = World::new();
    let entry = json!({"event": "tool:post_execute:read", "when": {"/tool_args/path": "secrets/**"},
        "answer": {"updatedOutput": "[redacted]"}});
    world.add(Hook::from_json(&entry).unwrap());
    let output = |args: Value| {
        let event = HookEvent::tool_post_execute("read", args, "the secret");
        world.outcome(&event).updated_output()
    };
    assert_eq!(
        output(json!({"path": "secrets/key"})),
        Some(json!("[redacted]"))
    );
    assert_eq!(output(json!({"path": "src/a"})), None);
    for args in [
        json!({"path": "src/../secrets/key"}),
        json!({"path": ["secrets/key"]}),
        json!({"file_path": "secrets/key"}),
        json!({"path": "secrets/key\u{0}"}),
    ] {
        let withheld = output(args).unwrap();
        assert!(
            withheld.as_str().unwrap().starts_with("[output withheld"),
            "{withheld}"
        );
    }
}

/// A partial match of an expression leaves a doubt, and grants nothing.
#[test]
fn a_part_of_a_command_is_not_granted() {
    let world = World::new();
    for (text, command, granted) in [
        ("^rm|^sudo$", "rm -rf /", false),
        ("^a|^ab$", "ab", false),
        ("(?m)^a$", "a\nb", false),
        ("^rm .*$", "ls", true),
        ("^rm .*$", "rm x", false),
    ] {
        let not = json!({"not": {"regex": text}});
        let entry = json!({"event": "permission:check", "answer": {"decision": "allow"}});
        let grants = Hook::from_json(&entry).unwrap();
        world.registry().clear();
        world.add(grants.with_when("/tool_args/command", not).unwrap());
        let lifecycle = Lifecycle::new(world.executor.clone());
        let request = lifecycle.permission("bash", "execute");
        let request = request
            .with_args(json!({"command": command}))
            .hooks_may_grant();
        assert_eq!(request.run(|_| false).unwrap(), granted, "{text} {command}");
    }
}

/// A host may register the hook of a result.
#[test]
fn a_doubt_is_of_one_event() {
    let world = World::new();
    let entry = json!({"event": "*", "when": {"/tool_args/path": "a"}, "answer": {"additionalContext": "c"}});
    world.add(Hook::from_json(&entry).unwrap());
    let doubt = world.outcome(&event("a\u{0}"));
    assert_eq!(doubt.additional_context(), None);
    let hook = Hook::clone(doubt.results()[0].hook());
    world.registry().clear();
    world.add(hook);
    assert!(world.outcome(&event("a")).additional_context().is_some());
}
