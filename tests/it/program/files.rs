//! `init` and `templates`: files that are written, also by several programs at once.

use serde_json::Value;

use super::{User, with};

#[test]
fn init_writes_what_its_schema_describes() {
    for (args, path) in [
        (&["init"][..], "project/.forge-hooks/hooks.json"),
        (&["init", "--global"], "config/forge-hooks/hooks.json"),
    ] {
        let user = User::new();
        assert_eq!(user.run(args).status, 0);
        assert_eq!(user.run(&["validate", "--strict"]).status, 0);
        let content: Value = serde_json::from_str(&user.read(path)).unwrap();
        assert_eq!(content["$schema"], "./hooks.schema.json");
        let schema = user.read(&path.replace("hooks.json", "hooks.schema.json"));
        let schema = serde_json::from_str(&schema).unwrap();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        assert!(validator.is_valid(&content), "{content:#}");
        assert_eq!(user.run(args).status, 2);
    }
}

/// A broken file is in the log once, and not at all where only names are needed.
#[test]
fn hooks_files_are_read_where_they_are_needed() {
    let user = User::with_project_file("{");
    user.write("trace.jsonl", "");
    for (args, times) in [
        (&["schema"][..], 0),
        (&["completions", "bash"], 0),
        (&["events"], 0),
        (&["trace", "trace.jsonl"], 0),
        (&["validate"], 1),
        (&["fire", "session:start", "--no-global"], 1),
        (&["fire", "session:start"], 1),
    ] {
        let mut command = user.command(args);
        let printed = user.printed(command.env("RUST_LOG", "warn").output().unwrap());
        let warnings = printed.err.matches("[WARN ").count();
        assert_eq!(warnings, times, "{args:?} {printed:?}");
    }
}

#[test]
fn templates_added_at_once_all_arrive() {
    let names = "block_sudo git_auto_commit log_all notify_session_start";
    let names: Vec<_> = names.split(' ').collect();
    for global in [None, Some("--global")] {
        for _ in 0..5 {
            let user = User::new();
            let add = |name: &&'static str| with(&["templates", *name, "--add"], global.as_slice());
            let args: Vec<_> = names.iter().map(add).collect();
            let args: Vec<&[&str]> = args.iter().map(Vec::as_slice).collect();
            for printed in user.run_at_once(&args) {
                assert_eq!(printed.status, 0, "{printed:?}");
            }
            let text = user.read(match global {
                None => "project/.forge-hooks/hooks.json",
                Some(_) => "config/forge-hooks/hooks.json",
            });
            for name in &names {
                assert!(text.contains(&format!("\"{name}\"")), "{name}: {text}");
            }
        }
    }
}

#[test]
fn a_template_added_during_init_is_not_lost() {
    for _ in 0..10 {
        let user = User::new();
        let [init, add] = &user.run_at_once(&[&["init"], &["templates", "log_all", "--add"]])[..]
        else {
            panic!("two commands");
        };
        assert_eq!(add.status, 0, "{add:?}");
        let text = user.read("project/.forge-hooks/hooks.json");
        assert!(text.contains("\"log_all\""), "{init:?} {text}");
        let has_all = text.contains("\"session_log\"");
        assert_eq!(has_all, init.status == 0, "{init:?}");
    }
}

#[test]
fn a_file_of_an_older_place_is_edited() {
    for (global, older) in [
        (None, "project/.src/opencode/hooks.json"),
        (Some("--global"), "config/src/forge/hooks.json"),
    ] {
        let user = User::new();
        user.write(older, r#"{"hooks": []}"#);
        let init = user.run(&with(&["init"], global.as_slice()));
        assert!(init.err.contains("already exists"), "{init:?}");
        let added = user.run(&with(&["templates", "log_all", "--add"], global.as_slice()));
        assert_eq!(added.status, 0, "{added:?}");
        assert!(user.read(older).contains("\"log_all\""));
    }
}

/// A link that leads nowhere is a file too: all hooks are blocked until the user has looked at it.
#[cfg(unix)]
#[test]
fn init_writes_no_file_beside_a_link_to_nothing() {
    let user = User::new();
    let link = user
        .write("config/src/forge/x", "")
        .with_file_name("hooks.json");
    std::os::unix::fs::symlink("missing", link).unwrap();
    let init = user.run(&["init", "--global"]);
    assert!(init.err.contains("already exists"), "{init:?}");
    assert!(!user.path("config/forge-hooks").exists());
}
